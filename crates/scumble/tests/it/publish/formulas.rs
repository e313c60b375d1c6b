//! Cells that a spreadsheet would take for formulas.

use scumble::estimate::{Evidence, Query, Way};
use scumble::recipe::{Published, Request, Spec, publish};
use scumble::release::Release;
use scumble::table::Input;
use scumble::watch::Unwatched;

use crate::builder::audited;

/// Towns, notes and illnesses that begin like formulas, and numbers that only look so.
fn table() -> String {
    let towns = ["=cmd|' /C calc'!A0", "Ghent", "@SUM(1)", "'quoted", "-5"];
    let row = |row: usize| {
        let illness = ["+flu", "\"=cough, dry\"", "ulcer"][row % 3];
        format!("{},{},{illness}\n", towns[row % 5], row as i64 - 30)
    };
    let rows: String = (0..60).map(row).collect();
    format!("town,=sum,illness\n{rows}")
}

fn made(method: &str, promise: &str, release: &str) -> Published {
    let recipe = format!(
        "[input]\ntable = \"table\"\n[columns]\ntown = \"quasi\"\n\"=sum\" = {{ role = \
         \"quasi\", type = \"number\" }}\nillness = \"sensitive\"\n[promise]\n{promise}\n\
         [method]\n{method}\n[release]\n{release}\n"
    );
    let spec = Spec::parse(&recipe, "recipe.toml").unwrap();
    let given = [("table".to_owned(), Input::Bytes(table().into_bytes()))];
    publish(Request { seed: Some(3), ..Request::in_memory(&spec, given) }, &Unwatched)
        .unwrap()
}

const WAYS: [(&str, &str); 5] = [
    ("name = \"mondrian\"", "k-anonymity = 4"),
    ("name = \"mondrian\"\ncells = \"pdf\"", "k-anonymity = 4"),
    ("name = \"full-domain\"", "k-anonymity = 4"),
    ("name = \"anatomy\"", "l-diversity = 2"),
    ("name = \"uniform-perturbation\"", "breach = { prior = 0.3, posterior = 0.6 }"),
];

fn count(release: &Release, question: &str) -> f64 {
    let evidence = Evidence::read(release, &Unwatched).unwrap();
    let query = Query::parse(question).unwrap();
    evidence.answer(&query, Way::Inverse).unwrap().remove(0).count
}

#[test]
fn a_guarded_release_reads_as_an_unguarded_one() {
    for (method, promise) in WAYS {
        let plain = made(method, promise, "");
        let safe = made(method, promise, "spreadsheet-safe = true");
        assert!(safe.manifest.data.spreadsheet_safe, "{method}");
        let warned =
            |made: &Published| made.notes.iter().any(|n| n.contains("a formula"));
        assert!(warned(&plain) && !warned(&safe), "{method}");
        let store = safe.release.store();
        for file in store.files().unwrap().iter().filter(|name| name.ends_with(".csv"))
        {
            let bytes = store.read(file).unwrap();
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).from_reader(&*bytes);
            for row in reader.records() {
                for cell in &row.unwrap() {
                    let begins = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
                    let number = cell.parse::<f64>().is_ok();
                    assert!(!begins || number, "{method} {file}: {cell}");
                }
            }
        }
        // What readers find is the same, to the last digit.
        let one = audited(&plain.release, Some(&table()), None).unwrap();
        let other = audited(&safe.release, Some(&table()), None).unwrap();
        assert_eq!(format!("{:?}", one.private), format!("{:?}", other.private));
        for question in [
            "SELECT COUNT(*) WHERE illness = '+flu'",
            "SELECT COUNT(*) WHERE town = '@SUM(1)' AND illness = 'ulcer'",
        ] {
            let (one, other) = (&plain.release, &safe.release);
            assert_eq!(count(one, question), count(other, question), "{method}");
        }
    }
}

#[test]
fn parquet_is_for_no_spreadsheet() {
    let recipe = "[input]\ntable = \"table\"\n[columns]\ntown = \"quasi\"\n[promise]\n\
         k-anonymity = 4\n[release]\nformat = \"parquet\"\nspreadsheet-safe = true\n";
    let spec = Spec::parse(recipe, "recipe.toml").unwrap();
    let given = [("table".to_owned(), Input::Bytes(table().into_bytes()))];
    let error = publish(Request::in_memory(&spec, given), &Unwatched).unwrap_err();
    assert_eq!(error.to_string(), "`spreadsheet-safe` is for CSV files");
}
