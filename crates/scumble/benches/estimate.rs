//! How long an answer takes once a release is in memory, for every kind of release.
//!
//! `cargo bench -p scumble --bench estimate [-- --rows=1000000]` writes releases of so many
//! rows by hand (what an answer costs does not depend on who made them), reads them, and asks
//! each the same kind of question: best of several times, and beside it one plain loop over
//! the same number of rows that compares three columns of codes.
#![allow(missing_docs, reason = "a benchmark has no interface")]
#![expect(clippy::disallowed_types, reason = "a benchmark measures time")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]
#![expect(clippy::unwrap_used, reason = "a benchmark may stop at any error")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::estimate::{Evidence, Query, Way};
use scumble::release::{Release, checksum};
use scumble::watch::Unwatched;
use serde_json::{Value, json};

fn column(name: &str, role: &str, kind: &str) -> Value {
    let kept = json!({ "kind": "kept" });
    json!({ "name": name, "role": role, "type": kind, "missing": [""], "treatment": kept })
}

/// Age and district as `treatment` says, income as it is, and a disease.
fn columns(treatment: &Value, disease: Value) -> Value {
    let mut columns = json!([
        column("age", "quasi", "number"),
        column("district", "quasi", "number"),
        column("income", "other", "number"),
        column("disease", "sensitive", "category"),
    ]);
    for place in 0..2 {
        columns[place]["treatment"] = treatment.clone();
    }
    columns[3]["treatment"] = disease;
    columns
}

fn write(home: &Path, columns: &Value, data: &str, classes: Value) {
    fs::write(home.join("data.csv"), data).unwrap();
    let mut manifest = json!({
        "format": 2, "software": "a benchmark", "experiment": true,
        "rows": data.lines().count() - 1, "left_out": 0,
        "data": { "file": "data.csv", "format": "csv" }, "columns": columns,
        "classes": classes, "method": { "name": "a benchmark" }, "promises": [], "loss": {}, "not_promised": [],
        "checksums": { "data.csv": checksum(&home.join("data.csv")).unwrap() },
    });
    let file = home.join("sensitive.csv");
    if file.exists() {
        manifest["checksums"]["sensitive.csv"] = json!(checksum(&file).unwrap());
    }
    fs::write(home.join("manifest.json"), manifest.to_string()).unwrap();
}

/// Ranges of ages and districts, as Mondrian cuts them.
fn cells(home: &Path, rows: usize, random: &mut ChaCha20Rng) {
    let mut data = String::from("age,district,income,disease\n");
    for _ in 0..rows {
        let mut range = |from: u32, to: u32, widest: u32| {
            let low = random.random_range(from..to);
            (low, low + random.random_range(0..widest))
        };
        let (age, district) = (range(18, 90, 12), range(100, 400, 30));
        let (income, disease) =
            (random.random_range(10..99_999), random.random_range(0..50));
        writeln!(
            data,
            "\"[{}, {}]\",\"[{}, {}]\",{income},d{disease}",
            age.0, age.1, district.0, district.1
        )
        .unwrap();
    }
    let cells = json!({ "kind": "coarse", "cells": "interval" });
    let mut columns = columns(&cells, json!({ "kind": "kept" }));
    for place in 0..2 {
        columns[place]["decimals"] = json!(0);
    }
    write(home, &columns, &data, json!([]));
}

/// Ages and districts as they are; the disease is left to the caller.
fn plain_rows(
    rows: usize,
    random: &mut ChaCha20Rng,
    mut last: impl FnMut(usize, &mut ChaCha20Rng) -> String,
) -> String {
    let mut data = String::new();
    for row in 0..rows {
        let (age, district, income) = (
            random.random_range(18..90),
            random.random_range(100..400),
            random.random_range(10..99_999),
        );
        let last = last(row, random);
        writeln!(data, "{age},{district},{income}{last}").unwrap();
    }
    data
}

fn randomized(home: &Path, rows: usize, random: &mut ChaCha20Rng) {
    let data = plain_rows(rows, random, |_, random| {
        format!(",d{}", random.random_range(0..50))
    });
    let drawn = json!({ "kind": "drawn", "breaches": "upward", "noise": "fresh" });
    let columns = columns(&json!({ "kind": "kept" }), drawn);
    let domain: Vec<Value> = (0..50).map(|n| json!([format!("d{n}")])).collect();
    let classes = json!([{
        "of": ["disease"], "parameters": { "kind": "subtables", "subtables": [{
            "rows": rows, "domain": domain, "bounds": vec![Value::Null; 50],
            "operator": "uniform", "keep": 0.5,
        }] },
    }]);
    let data = format!("age,district,income,disease\n{data}");
    write(home, &columns, &data, classes);
}

fn buckets(home: &Path, rows: usize, random: &mut ChaCha20Rng) {
    let rows = rows / 5 * 5;
    let mut data = String::from("group,age,district,income\n");
    for (row, line) in
        plain_rows(rows, random, |_, _| String::new()).lines().enumerate()
    {
        writeln!(data, "{},{line}", row / 5 + 1).unwrap();
    }
    let mut values = String::from("group,value,count\n");
    for group in 1..=rows / 5 {
        let first = random.random_range(0..45);
        for disease in first..first + 5 {
            writeln!(values, "{group},d{disease},1").unwrap();
        }
    }
    fs::write(home.join("sensitive.csv"), values).unwrap();
    let kept = json!({ "kind": "kept" });
    let columns = columns(&kept, json!({ "kind": "apart" }));
    let classes = json!([{
        "column": "group", "of": ["disease"],
        "parameters": { "kind": "values", "file": "sensitive.csv", "groups": rows / 5 },
    }]);
    write(home, &columns, &data, classes);
}

fn blurred(home: &Path, rows: usize, random: &mut ChaCha20Rng) {
    let mut data =
        String::from("age,age.spread,district,district.spread,income,disease\n");
    for _ in 0..rows {
        let (age, district): (u32, u32) =
            (random.random_range(18..90), random.random_range(100..400));
        let (income, disease) =
            (random.random_range(10..99_999), random.random_range(0..50));
        writeln!(data, "{age},3.5,{district},12,{income},d{disease}").unwrap();
    }
    let noisy = json!({ "kind": "noisy", "shape": "gaussian" });
    let mut columns = columns(&noisy, json!({ "kind": "kept" }));
    let limits = [json!([0, 120]), json!([100, 400])];
    for (place, (name, domain)) in
        ["age", "district"].into_iter().zip(limits).enumerate()
    {
        columns[place]["treatment"]["spread"] = json!(format!("{name}.spread"));
        columns[place]["decimals"] = json!(0);
        columns[place]["domain"] = domain;
    }
    let classes = json!([{
        "of": ["age", "district"],
        "parameters": { "kind": "frames", "frame": "global", "strict": false },
    }]);
    write(home, &columns, &data, classes);
}

const QUESTIONS: [(&str, &str); 4] = [
    ("count", "SELECT COUNT(*) WHERE age BETWEEN 30 AND 45 AND district < 250"),
    (
        "count with disease",
        "SELECT COUNT(*) WHERE age < 40 AND disease IN ('d3', 'd7')",
    ),
    ("by disease", "SELECT disease, COUNT(*) WHERE age >= 65 GROUP BY disease"),
    ("mean", "SELECT AVG(income) WHERE age BETWEEN 30 AND 45"),
];

/// Writes a release of so many rows.
type Maker = fn(&Path, usize, &mut ChaCha20Rng);

fn best(times: usize, mut run: impl FnMut()) -> f64 {
    let one = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..times).map(one).fold(f64::INFINITY, f64::min)
}

fn main() {
    let asked = std::env::args().find_map(|a| a.strip_prefix("--rows=")?.parse().ok());
    let rows: usize = asked.unwrap_or(1_000_000);
    let random = &mut ChaCha20Rng::seed_from_u64(1);
    let codes: Vec<[u32; 3]> = (0..rows).map(|_| random.random()).collect();
    let mut found = 0;
    let plain = best(5, || {
        let holds =
            |row: &&[u32; 3]| row[0] < 1 << 31 && row[1] > 99 && row[2] % 50 < 9;
        found += codes.iter().filter(holds).count();
    });
    println!("{rows} rows; plain loop {:.1} ms ({found})", 1e3 * plain);
    println!("release        read s  milliseconds for an answer");
    let makers: [(&str, Maker); 4] = [
        ("cells", cells),
        ("randomized", randomized),
        ("buckets", buckets),
        ("blurred", blurred),
    ];
    for (name, make) in makers {
        let home = tempfile::tempdir().unwrap();
        make(home.path(), rows, random);
        let release = Release::open(home.path()).unwrap();
        let start = Instant::now();
        let evidence = Evidence::read(&release, &Unwatched).unwrap();
        let read = start.elapsed().as_secs_f64();
        let mut line = format!("{name:<12} {read:>8.2}  ");
        for (what, question) in QUESTIONS {
            let query = Query::parse(question).unwrap();
            let seconds = best(5, || {
                evidence.answer(&query, Way::Inverse).unwrap();
            });
            write!(line, "{what} {:.0}; ", 1e3 * seconds).unwrap();
        }
        println!("{}", line.trim_end_matches("; "));
    }
}
