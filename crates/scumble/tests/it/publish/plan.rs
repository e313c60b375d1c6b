//! Plans are saved, read back, and applied to rows one by one.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use scumble::method::Plan;
use scumble::random::Randomness;
use scumble::recipe::{Published, Request, Spec, publish};
use scumble::table::{Kind, Role, Said, Schema, Source};
use scumble::watch::Unwatched;

const COLUMNS: &str = "columns.age = { role = \"quasi\", hierarchy = { widths = [10, 20] } }\n\
    columns.zip = { role = \"quasi\", hierarchy = { mask = \"right\" } }\n\
    columns.sex = \"quasi\"\ncolumns.illness = \"sensitive\"\n";

fn table(n: usize, shift: usize) -> String {
    let mut text = String::from("age,zip,sex,illness\n");
    for row in 0..n {
        let place = row + shift;
        let age = if place.is_multiple_of(17) {
            String::new()
        } else {
            (place * 7 % 60).to_string()
        };
        let zip = 47_900 + place * 13 % 40;
        let sex = if place.is_multiple_of(3) { "f" } else { "m" };
        text.push_str(&format!(
            "{age},{zip},{sex},{}\n",
            ["flu", "cough", "ulcer"][place % 3]
        ));
    }
    text
}

fn run(
    home: &Path,
    method: &str,
    plan: Option<Plan>,
) -> scumble::error::Result<Published> {
    let text = format!(
        "input.table = \"table.csv\"\n{COLUMNS}promise.k-anonymity = 4\nmethod = {{ {method} }}\n"
    );
    let spec = Spec::parse(&text, "recipe.toml")?;
    let request = Request { replace: true, plan, ..Request::new(&spec, home) };
    publish(request, &Unwatched)
}

/// The cells a plan gives to rows with these quasi columns.
fn applied(plan: &Plan, names: &[&str], rows: &[Vec<&str>]) -> Vec<Vec<String>> {
    let columns = names.iter().enumerate().map(|(place, name)| {
        let cells = rows.iter().map(|row| row[place]);
        (*name, Arc::new(StringArray::from_iter_values(cells)) as ArrayRef)
    });
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let source = Source::from_batches("rows", vec![batch.clone()]).unwrap();
    let said: Vec<Said> = names
        .iter()
        .map(|name| Said {
            name: (*name).to_owned(),
            role: Role::Quasi,
            kind: Some(Kind::Category),
            date_format: None,
        })
        .collect();
    let schema = Schema::read(&source, &said, &[String::new()], &Unwatched).unwrap();
    let applier = plan.bind(&schema).unwrap();
    let done = applier.apply(&batch, 0, 0, &Randomness::of_seed(1)).unwrap();
    let text = |column: usize, row: usize| {
        let texts = done.column(column).as_any().downcast_ref::<StringArray>();
        texts.unwrap().value(row).to_owned()
    };
    let row = |row: usize| (0..done.num_columns()).map(|c| text(c, row)).collect();
    (0..done.num_rows()).map(row).collect()
}

/// The quasi cells of the published rows, sorted.
fn published_cells(home: &Path) -> Vec<Vec<String>> {
    let mut reader =
        csv_rows(&fs::read_to_string(home.join("release/data.csv")).unwrap());
    for row in &mut reader {
        row.truncate(3);
    }
    reader.sort();
    reader
}

/// Splits CSV lines whose quoted cells hold commas but no quotes.
fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let mut cells = vec![String::new()];
        let mut quoted = false;
        for character in line.chars() {
            match character {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                other => cells.last_mut().unwrap().push(other),
            }
        }
        cells
    };
    text.lines().skip(1).map(cells).collect()
}

const METHODS: [&str; 5] = [
    "name = \"full-domain\", suppression = 0.1",
    "name = \"full-domain\", cells = \"set\", suppression = 0.1",
    "name = \"full-domain\", cells = \"interval\"",
    "name = \"mondrian\"",
    "name = \"mondrian\", cells = \"taxonomy\"",
];

#[test]
fn applying_a_plan_row_by_row_gives_what_was_published() {
    for method in METHODS {
        let home = tempfile::tempdir().unwrap();
        let text = table(200, 0);
        fs::write(home.path().join("table.csv"), &text).unwrap();
        let published = run(home.path(), method, None).unwrap();
        let saved = published.plan.to_json().unwrap();
        let plan = Plan::from_json(&saved, "plan.json").unwrap();
        assert_eq!(plan, published.plan);

        let rows = csv_rows(&text);
        let mut cells: Vec<Vec<String>> = Vec::new();
        // Batches of any size, even of one row, give the same.
        for batch in rows.chunks(7) {
            let batch: Vec<Vec<&str>> = batch
                .iter()
                .map(|row| row[..3].iter().map(String::as_str).collect())
                .collect();
            cells.extend(applied(&plan, &["age", "zip", "sex"], &batch));
        }
        cells.sort();
        assert_eq!(cells, published_cells(home.path()), "{method}");
    }
}

#[test]
fn a_plan_is_applied_to_other_rows_and_certified() {
    for method in METHODS {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("table.csv"), table(200, 0)).unwrap();
        let plan = run(home.path(), method, None).unwrap().plan;
        fs::write(home.path().join("table.csv"), table(400, 1000)).unwrap();
        let limited = method.replace(", suppression = 0.1", "");
        let again =
            run(home.path(), &format!("{limited}, suppression = 0.5"), Some(plan));
        let again = again.unwrap();
        assert!(again.audit.holds(), "{method}");
        assert_eq!(again.manifest.rows + again.manifest.left_out, 400);
    }
}

#[test]
fn a_plan_that_would_break_the_promise_is_refused() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("table.csv"), table(200, 0)).unwrap();
    let plan = run(home.path(), "name = \"mondrian\"", None).unwrap().plan;
    fs::remove_dir_all(home.path().join("release")).unwrap();
    fs::write(home.path().join("table.csv"), table(20, 3)).unwrap();
    let error = run(home.path(), "name = \"mondrian\"", Some(plan)).unwrap_err();
    assert_eq!(error.exit_code(), 1, "{error}");
    assert!(!home.path().join("release").exists());
}

#[test]
fn a_damaged_plan_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("table.csv"), table(60, 0)).unwrap();
    let json =
        run(home.path(), "name = \"mondrian\"", None).unwrap().plan.to_json().unwrap();
    for (from, to) in [
        ("\"version\":2", "\"version\":1"),
        ("\"below\":1", "\"below\":0"),
        ("\"rest\":", "\"rest\":9999"),
        ("{", "["),
    ] {
        let damaged = json.replacen(from, to, 1);
        assert_ne!(damaged, json, "{from}");
        assert!(Plan::from_json(&damaged, "plan.json").is_err(), "{from}");
    }
}

#[test]
fn a_plan_that_cuts_off_what_is_missing_suits_a_table_where_nothing_is() {
    {
        let columns = "columns.q = \"quasi\"\ncolumns.z = \"quasi\"\n";
        let home = tempfile::tempdir().unwrap();
        let recipe = format!(
            "input.table = \"table.csv\"\n{columns}promise.k-anonymity = 2\n\
             method = {{ name = \"mondrian\", suppression = 1.0 }}\n"
        );
        let spec = Spec::parse(&recipe, "recipe.toml").unwrap();
        let table = home.path().join("table.csv");
        fs::write(&table, "q,z\n1,a\n1,a\n,b\n,b\n").unwrap();
        let first = publish(Request::new(&spec, home.path()), &Unwatched).unwrap();
        fs::write(&table, "q,z\n1,a\n1,a\n").unwrap();
        let request = Request {
            replace: true,
            plan: Some(first.plan),
            ..Request::new(&spec, home.path())
        };
        let second = publish(request, &Unwatched).unwrap();
        assert_eq!(second.manifest.rows, 2);
        // Rows are read one by one, too.
        let cells = applied(&second.plan, &["q", "z"], &[vec!["1", "a"]]);
        assert_eq!(cells.len(), 1);
    }
}
