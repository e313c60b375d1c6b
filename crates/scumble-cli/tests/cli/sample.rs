//! What users see of drawn tables: real runs of the command.

use std::fs;
use std::path::Path;

use scumble::table::{ReadOptions, Source, scan};
use scumble::watch::Unwatched;
use serde_json::{Value, json};

use crate::builder::{ByHand, column, with};
use crate::command::saved;

/// A release with ages in ranges, and heights that nobody knows.
fn home(first: &str) -> tempfile::TempDir {
    let row = |row: usize| {
        let low = 20 + 10 * (row % 4);
        format!("\"[{low}, {}]\",*,\"c,{}\",{row}.5", low + 9, row % 3)
    };
    let range =
        |name| with(column(name, "quasi", "number"), "cells", json!("interval"));
    let (city, weight) =
        (column(first, "other", "category"), column("weight", "other", "number"));
    let made = ByHand::new(vec![range("age"), range("height"), city, weight])
        .plain_rows(&(0..40).map(row).collect::<Vec<_>>());
    saved(made)
}

/// What comes of a sample, with its options.
fn run(home: &Path, arguments: &[&str]) -> String {
    crate::command::run(home, &[&["sample", "release"], arguments].concat())
}

/// The header and distinct texts of each column of a file.
fn read(path: &Path) -> (Vec<String>, Vec<Vec<String>>) {
    let source = Source::open(path, &ReadOptions::default()).unwrap();
    let columns: Vec<_> = source.columns().collect();
    let found = scan(&source, &columns, &Unwatched).unwrap();
    let texts = found.dictionaries.iter().map(|dictionary| {
        let mut texts: Vec<String> =
            dictionary.texts.iter().map(|text| text.to_string()).collect();
        texts.sort();
        texts
    });
    (source.header().to_vec(), texts.collect())
}

const KEPT: &str = "note: the release does not say which values some cells of `height` stand \
                    for: these are kept as they are published\n";

#[test]
fn tables_go_to_standard_output() {
    let home = home("city");
    let found = run(home.path(), &["--draws", "2", "--seed", "1"]);
    assert_eq!(found, run(home.path(), &["--draws", "2", "--seed", "1"]));
    assert_ne!(found, run(home.path(), &["--draws", "2"]));
    let (out, err) = found.split_once("--- err\n").unwrap();
    assert_eq!(err, KEPT);
    let lines: Vec<&str> = out.lines().skip(2).collect();
    assert_eq!(lines.len(), 81);
    assert_eq!(lines[0], "draw,age,height,city,weight");
    let is =
        |line: &&&str| line.starts_with("2,5") && line.ends_with(",*,\"c,0\",39.5");
    assert_eq!(lines.iter().filter(is).count(), 1);
    assert!(run(home.path(), &["--quiet"]).ends_with("--- err\n"));
    // The first draws do not depend on how many follow.
    let more = run(home.path(), &["--draws", "3", "--seed", "1", "-q"]);
    assert!(more.starts_with(out));
}

#[test]
fn files_read_back() {
    let home = home("city");
    let wrote = "exit 0\n--- out\n3 draws of 40 rows written to a.csv\n--- err\n";
    let found = run(home.path(), &["--draws", "3", "--seed", "1", "--output", "a.csv"]);
    assert_eq!(found, format!("{wrote}{KEPT}"));
    let arguments = ["--draws", "3", "--seed", "1", "--output", "a.parquet", "--json"];
    let found = run(home.path(), &arguments);
    let json = found.strip_prefix("exit 0\n--- out\n").unwrap();
    let json: Value =
        serde_json::from_str(json.strip_suffix("--- err\n").unwrap()).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["file"], "a.parquet");
    assert_eq!((&json["rows"], &json["draws"]), (&json!(40), &json!(3)));
    assert_eq!(json["columns"], json!(["draw", "age", "height", "city", "weight"]));
    assert_eq!(json["notes"].as_array().unwrap().len(), 1);
    let (csv, parquet) =
        (read(&home.path().join("a.csv")), read(&home.path().join("a.parquet")));
    assert_eq!(csv, parquet);
    assert_eq!(csv.1[0], ["1", "2", "3"]);
    let is = |text: &str| parquet.1[1].iter().any(|age| age == text);
    assert!(is("21") || is("22") || is("23"));
    // The format can be said, whatever the name.
    run(home.path(), &["--seed", "1", "--output", "b", "--format", "csv", "-q"]);
    assert!(fs::read_to_string(home.path().join("b")).unwrap().starts_with("draw,age"));
    // Nothing else is left behind.
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 4);
}

#[test]
fn a_column_may_be_called_draw() {
    let home = home("draw");
    let found = run(home.path(), &["--draws", "1", "-q"]);
    assert!(
        found.starts_with("exit 0\n--- out\nscumble.draw,age,height,draw,weight\n1,")
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let home = home("city");
    fs::write(home.path().join("old.csv"), "mine").unwrap();
    let refused = |arguments: &[&str], message: &str| {
        let found = run(home.path(), arguments);
        let start = "exit 2\n--- out\n--- err\nerror: ";
        let told = found.strip_prefix(start).unwrap_or(&found);
        assert_eq!(told, message);
    };
    let hint = "hint: 5 to 20 are enough for most; with 100, errors are known to 7 %\n";
    refused(
        &["--draws", "0"],
        &format!("`--draws` is 0, but must be from 1 to 1000\n\n{hint}"),
    );
    refused(
        &["--draws", "1001"],
        &format!("`--draws` is 1001, but must be from 1 to 1000\n\n{hint}"),
    );
    refused(
        &["--format", "parquet"],
        "Parquet cannot be written to standard output\n\nhint: name a file with `--output`\n",
    );
    refused(
        &["--output", "draws.txt"],
        "`draws.txt` ends neither in .csv nor .parquet\n\nhint: say `--format csv` or \
         `--format parquet`\n",
    );
    refused(
        &["--output", "old.csv"],
        "old.csv: the file exists already and is kept\n\nhint: use `--force` to replace it\n",
    );
    assert_eq!(fs::read_to_string(home.path().join("old.csv")).unwrap(), "mine");
    assert!(
        run(home.path(), &["--output", "old.csv", "--force"]).starts_with("exit 0")
    );
    assert!(
        fs::read_to_string(home.path().join("old.csv")).unwrap().starts_with("draw")
    );
    let found = crate::command::run(home.path(), &["sample", "nowhere"]);
    assert!(found.starts_with("exit 2") && found.contains("a release is a directory"));
}
