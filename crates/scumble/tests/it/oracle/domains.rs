//! Cells of columns with a public domain against enumeration: a row may be any value of the
//! domain that its cell stands for, each as likely as the others.

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde_json::{Value, json};

use crate::builder::{ByHand, ask, with};

const ZIPS: [&str; 6] = ["1000", "1010", "1100", "2000", "2010", "21"];
const NATIONS: [(&str, &str); 5] =
    [("a1", "A"), ("a2", "A"), ("a3", "A"), ("b1", "B"), ("b2", "B")];
/// The domain has fewer nations than the tree.
const PUBLIC: [&str; 3] = ["a1", "a3", "b2"];
const AGES: std::ops::RangeInclusive<i32> = 17..=34;

fn quasi(name: &str, kind: &str, hierarchy: &Value, domain: &Value) -> Value {
    json!({
        "name": name, "role": "quasi", "type": kind, "missing": ["", "?"],
        "cells": "taxonomy", "hierarchy": hierarchy, "domain": domain,
    })
}

fn columns() -> Value {
    let lines: Vec<Value> =
        NATIONS.iter().map(|(leaf, node)| json!([leaf, node, "*"])).collect();
    let age = json!({ "rule": "cuts", "cuts": [[20.0, 30.0]] });
    let age = quasi("age", "number", &age, &json!([17, 34]));
    json!([
        with(age, "decimals", json!(0)),
        quasi(
            "zip",
            "category",
            &json!({ "rule": "mask", "side": "right", "length": 4 }),
            &json!(ZIPS)
        ),
        quasi(
            "nation",
            "category",
            &json!({ "rule": "tree", "lines": lines }),
            &json!(PUBLIC)
        ),
    ])
}

/// The values that each cell may stand for, written out.
fn ages(cell: &str) -> Vec<i32> {
    let all = AGES.filter(|age| match cell {
        "*" => true,
        "(-inf, 20)" => *age < 20,
        "[20, 30)" => (20..30).contains(age),
        "[30, inf)" => *age >= 30,
        own => own.parse() == Ok(*age),
    });
    all.collect()
}

fn zips(cell: &str) -> Vec<&'static str> {
    let fits = |zip: &&str| {
        cell == "*"
            || zip.len() == cell.len()
                && zip.bytes().zip(cell.bytes()).all(|(z, c)| c == b'*' || c == z)
    };
    ZIPS.into_iter().filter(fits).collect()
}

fn nations(cell: &str) -> Vec<&'static str> {
    let fits = |name: &&str| {
        cell == "*"
            || *name == cell
            || NATIONS.iter().any(|(leaf, node)| leaf == name && *node == cell)
    };
    PUBLIC.into_iter().filter(fits).collect()
}

type Holds = fn(i32, &str, &str) -> bool;

const QUESTIONS: [(&str, Holds); 8] = [
    ("age < 19", |age, _, _| age < 19),
    ("age >= 31", |age, _, _| age >= 31),
    ("age BETWEEN 18 AND 32 AND zip = '1010'", |age, zip, _| {
        (18..=32).contains(&age) && zip == "1010"
    }),
    ("zip IN ('1100', '21')", |_, zip, _| zip == "1100" || zip == "21"),
    ("zip <> '2000' OR nation = 'a3'", |_, zip, nation| {
        zip != "2000" || nation == "a3"
    }),
    ("nation = 'b2'", |_, _, nation| nation == "b2"),
    ("nation = 'a2'", |_, _, nation| nation == "a2"),
    ("NOT (nation = 'a1' AND age > 25)", |age, _, nation| {
        !(nation == "a1" && age > 25)
    }),
];

#[test]
fn stars_masks_and_open_ranges_are_even_over_the_domain() {
    let random = &mut ChaCha20Rng::seed_from_u64(16);
    for _ in 0..40 {
        let rows: Vec<[&str; 3]> = (0..random.random_range(1..12))
            .map(|_| {
                let mut cell = |cells: &[&'static str]| *cells.choose(random).unwrap();
                [
                    cell(&["*", "(-inf, 20)", "[20, 30)", "[30, inf)", "25", "17"]),
                    cell(&["*", "10**", "1***", "1100", "20**", "**", "21"]),
                    cell(&["*", "A", "B", "a1", "b2"]),
                ]
            })
            .collect();
        let lines: Vec<String> =
            rows.iter().map(|[a, z, n]| format!("\"{a}\",{z},{n}")).collect();
        let made = ByHand::new(columns()).rows("age,zip,nation", &lines);
        made.audit(None, None).unwrap();
        let evidence = made.evidence().unwrap();
        for (question, holds) in QUESTIONS {
            let (mut mean, mut variance) = (0.0, 0.0);
            for [age, zip, nation] in &rows {
                let (mut all, mut fit) = (0.0, 0.0);
                for age in ages(age) {
                    for zip in zips(zip) {
                        for nation in nations(nation) {
                            all += 1.0;
                            fit += f64::from(u8::from(holds(age, zip, nation)));
                        }
                    }
                }
                mean += fit / all;
                variance += fit / all * (1.0 - fit / all);
            }
            let asked = format!("SELECT COUNT(*) WHERE {question}");
            let found = &ask(&evidence, &asked)[0];
            assert!((found.count - mean).abs() < 1e-9, "{asked}: {rows:?}");
            let error = found.standard_error.unwrap();
            assert!((error * error - variance).abs() < 1e-9, "{asked}: {rows:?}");
        }
    }
}

#[test]
fn cells_that_stand_for_values_outside_only_are_refused() {
    for (cells, column) in [
        ("\"[20, 30)\",9***,*", "zip"),
        ("\"[20, 30)\",*,b1", "nation"),
        ("35,*,*", "age"),
        ("16,*,*", "age"),
    ] {
        let made = ByHand::new(columns()).rows("age,zip,nation", &[cells]);
        let error = made.audit(None, None).unwrap_err().to_string();
        let expected = format!("1 published cell is outside the domain of `{column}`");
        assert!(error.contains(&expected), "{cells}: {error}");
        let error = made.evidence().map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("which is none"), "{cells}: {error}");
    }
}
