//! Releases of buckets, written by hand: rechecked, attacked, tampered with.
#![expect(clippy::unwrap_used, reason = "a test may stop at any error")]

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::audit::{self, Given, Knowledge, Report, original_columns};
use scumble::error::Result;
use scumble::hierarchy::Microdata;
use scumble::release::{Release, checksum};
use scumble::table::{ReadOptions, Source, Stated};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A person: the group they are published in, quasi values, and their disease.
type Person = (usize, Vec<String>, String);

/// A release of people with a sex and an age, and a disease.
struct Hand {
    home: TempDir,
    manifest: Value,
    people: Vec<Person>,
}

fn person(group: usize, quasi: &[&str], disease: &str) -> Person {
    let quasi = quasi.iter().map(|text| (*text).to_owned()).collect();
    (group, quasi, disease.to_owned())
}

impl Hand {
    /// `quasi` are names of columns.
    fn new(quasi: &[&str], people: Vec<Person>) -> Self {
        let column = |name: &str, role: &str| json!({ "name": name, "role": role, "type": "category", "missing": [""] });
        let mut columns: Vec<Value> = quasi
            .iter()
            .map(|name| {
                let mut column = column(name, "quasi");
                column["cells"] = json!("taxonomy");
                column["hierarchy"] = json!({ "rule": "plain" });
                column
            })
            .collect();
        columns.push(column("disease", "sensitive"));
        let groups = people.iter().map(|(group, ..)| *group).max().unwrap();
        let manifest = json!({
            "format": 1, "software": "by hand", "experiment": false,
            "rows": people.len(), "left_out": 0,
            "data": { "file": "data.csv", "format": "csv" },
            "columns": columns,
            "buckets": { "file": "sensitive.csv", "column": "disease", "groups": groups },
            "method": { "name": "robust" },
            "promises": [], "loss": {}, "not_promised": ["linkage"], "checksums": {},
        });
        let mut hand = Self { home: tempfile::tempdir().unwrap(), manifest, people };
        let (data, values) = hand.files(quasi);
        hand.write("data.csv", &data);
        hand.write("sensitive.csv", &values);
        hand
    }

    fn files(&self, quasi: &[&str]) -> (String, String) {
        let mut data = format!("group,{}\n", quasi.join(","));
        let mut values = String::from("group,value,count\n");
        let mut counts = std::collections::BTreeMap::new();
        for (group, cells, disease) in &self.people {
            let _ = writeln!(data, "{group},{}", cells.join(","));
            *counts.entry((group, disease)).or_insert(0) += 1;
        }
        for ((group, disease), n) in counts {
            let _ = writeln!(values, "{group},{disease},{n}");
        }
        (data, values)
    }

    fn write(&mut self, file: &str, text: &str) {
        let path = self.home.path().join(file);
        std::fs::write(&path, text).unwrap();
        self.manifest["checksums"][file] = json!(checksum(&path).unwrap());
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.home.path().join(file)).unwrap()
    }

    /// Replaces text in a file, which must have it.
    fn replace(&mut self, file: &str, from: &str, to: &str) {
        let text = self.text(file);
        assert!(text.contains(from), "{text}");
        self.write(file, &text.replacen(from, to, 1));
    }

    fn promise(mut self, name: &str, asked: Value) -> Self {
        let promises = self.manifest["promises"].as_array_mut().unwrap();
        promises.push(json!({
            "name": name, "asked": asked, "measured": null, "holds": true,
            "certified": "",
        }));
        self
    }

    fn open(&self) -> Result<Release> {
        let text = self.manifest.to_string();
        std::fs::write(self.home.path().join("manifest.json"), text).unwrap();
        Release::open(self.home.path())
    }

    fn original(&self) -> Microdata {
        let names: Vec<&str> = self.manifest["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|column| column["name"].as_str().unwrap())
            .collect();
        let mut text = names.join(",") + "\n";
        for (_, quasi, disease) in &self.people {
            let _ = writeln!(text, "{},{disease}", quasi.join(","));
        }
        self.table(&text)
    }

    fn table(&self, text: &str) -> Microdata {
        let bytes = text.as_bytes().to_vec();
        let source =
            Source::from_bytes("people.csv", bytes, &ReadOptions::default()).unwrap();
        let manifest = self.open().unwrap().manifest;
        Microdata::read(&source, &original_columns(&manifest), &|_| ()).unwrap()
    }

    fn audit(&self) -> Result<Report> {
        self.audit_given(None, None)
    }

    fn audit_given(
        &self,
        original: Option<&Microdata>,
        knowledge: Option<&Knowledge>,
    ) -> Result<Report> {
        let given = Given { original, knowledge, ..Given::default() };
        audit::audit(&self.open()?, given, &|_| ())
    }

    fn error(&self) -> String {
        self.audit().expect_err("refused").to_string()
    }
}

fn stated(text: &str) -> Knowledge {
    Knowledge::Stated(Stated::parse(text.as_bytes(), "known.csv").unwrap())
}

fn robust(r: f64, sets: Value) -> Value {
    json!({ "r": r, "knowledge": "file", "signatures": sets })
}

fn by_table(r: f64, sets: Value, support: u64) -> Value {
    json!({ "r": r, "knowledge": "table", "signatures": sets, "support": support })
}

/// `wong2010inference`, Tables III and IV.
fn alan_and_betty() -> Hand {
    Hand::new(
        &["sex", "age"],
        vec![
            person(1, &["Male", "41"], "Lung Cancer"),
            person(1, &["Female", "42"], "Hypertension"),
            person(2, &["Female", "63"], "Flu"),
            person(2, &["Female", "64"], "HIV"),
        ],
    )
}

const TABLE_IV: &str = "sex,disease,probability\n\
    Male,Lung Cancer,0.1\nMale,Hypertension,0.9\n\
    Female,Lung Cancer,0.003\nFemale,Hypertension,0.21\n";

#[test]
fn who_knows_how_diseases_depend_on_sex_undoes_two_diversity() {
    let hand = alan_and_betty()
        .promise("l-diversity", json!({ "l": 2, "kind": "distinct" }))
        .promise("r-robustness", robust(2.0, json!([["sex"]])));
    let report = hand.audit_given(None, Some(&stated(TABLE_IV))).unwrap();
    let [diversity, robust] = report.promises.as_slice() else { panic!() };
    assert!(diversity.holds);
    assert_eq!(diversity.measured, json!({ "l": 2, "share": 0.5 }));
    assert!(!robust.holds, "2-diverse, and yet it says too much");
    assert_eq!(robust.rows_at_risk, 2, "the women of the second group are alike");
    let posterior = robust.measured["posterior"].as_f64().unwrap();
    let wanted = 0.1 * 0.21 / (0.1 * 0.21 + 0.9 * 0.003);
    assert!((posterior - wanted).abs() < 1e-12);
    assert_eq!(robust.measured["exact"], 2);
    // The paper has but two diseases: 97 %.
    let known = "sex,disease,probability\n\
        Male,Lung Cancer,0.1\nMale,Hypertension,0.9\n\
        Female,Lung Cancer,0.003\nFemale,Hypertension,0.997\n";
    let mut hand = Hand::new(&["sex", "age"], alan_and_betty().people[..2].to_vec())
        .promise("r-robustness", robust_two());
    hand.manifest["method"]["name"] = json!("anatomy");
    let report = hand.audit_given(None, Some(&stated(known))).unwrap();
    let posterior = report.promises[0].measured["posterior"].as_f64().unwrap();
    assert_eq!(format!("{posterior:.4}"), "0.9736");
}

fn robust_two() -> Value {
    robust(2.0, json!([["sex"]]))
}

/// Every Delta is within the bound of the paper's theorem, and yet 59 % is more than 1/2.
#[test]
fn the_counterexample_to_the_delta_bound_is_refused() {
    let people =
        vec![person(1, &["m"], "x"), person(1, &["f"], "y"), person(1, &["f"], "z")];
    let low = 0.3 - 0.3 / (0.3 / 0.7 + 2.0);
    let known = format!(
        "sex,disease,probability\nm,x,0.3\nm,y,{low}\nm,z,{low}\nm,other,0.1\n\
         f,x,{low}\nf,y,0.3\nf,z,0.3\n"
    );
    let hand = Hand::new(&["sex"], people).promise("r-robustness", robust_two());
    let report = hand.audit_given(None, Some(&stated(&known))).unwrap();
    let checked = &report.promises[0];
    assert!(!checked.holds);
    assert_eq!(checked.rows_at_risk, 3);
    let posterior = checked.measured["posterior"].as_f64().unwrap();
    assert_eq!(format!("{posterior:.3}"), "0.591");
}

/// All worlds of a group, added up: the largest belief.
fn largest(priors: &[Vec<f64>], counts: &[usize]) -> f64 {
    fn go(
        row: usize,
        weight: f64,
        left: &mut [usize],
        chosen: &mut Vec<usize>,
        (priors, masses): (&[Vec<f64>], &mut [Vec<f64>]),
    ) -> f64 {
        if row == priors.len() {
            for (row, value) in chosen.iter().enumerate() {
                masses[row][*value] += weight;
            }
            return weight;
        }
        let mut sum = 0.0;
        for value in 0..left.len() {
            if left[value] > 0 {
                left[value] -= 1;
                chosen.push(value);
                sum += go(
                    row + 1,
                    weight * priors[row][value],
                    left,
                    chosen,
                    (priors, masses),
                );
                chosen.pop();
                left[value] += 1;
            }
        }
        sum
    }
    let mut masses = vec![vec![0.0; counts.len()]; priors.len()];
    let all = go(0, 1.0, &mut counts.to_vec(), &mut Vec::new(), (priors, &mut masses));
    let shares = masses.iter().flatten().map(|mass| mass / all);
    shares.fold(0.0, f64::max)
}

/// Groups of up to seven rows with repeated values, knowledge counted from the table: the
/// audit's largest belief is that of enumerating every world of every group.
#[test]
fn posteriors_are_those_of_all_worlds() {
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    for _ in 0..40 {
        let names = ["a", "b", "c", "d", "e"];
        let mut people = Vec::new();
        for group in 1..=8 {
            for _ in 0..rng.random_range(2..=7) {
                let sex = ["m", "f", "n"][rng.random_range(0..3)];
                let age = ["young", "old"][rng.random_range(0..2)];
                let place = rng.random_range(0..5) + usize::from(sex == "m");
                people.push(person(group, &[sex, age], names[place.min(4)]));
            }
        }
        let sets = json!([["sex"], ["age", "sex"]]);
        let support = rng.random_range(1..=12u64);
        let hand = Hand::new(&["sex", "age"], people)
            .promise("r-robustness", by_table(1.5, sets, support));
        let original = hand.original();
        let report = hand.audit_given(Some(&original), None).unwrap();
        let found = report.promises[0].measured["posterior"].as_f64().unwrap();
        let mut wanted = 0.0f64;
        for columns in [vec![0], vec![0, 1]] {
            let prior = |cells: &[String], disease: &str| {
                let same = |person: &&Person| {
                    columns.iter().all(|place| person.1[*place] == cells[*place])
                };
                let alike: Vec<&Person> = hand.people.iter().filter(same).collect();
                let alike = if (alike.len() as u64) < support {
                    hand.people.iter().collect()
                } else {
                    alike
                };
                let have = alike.iter().filter(|person| person.2 == disease).count();
                have as f64 / alike.len() as f64
            };
            for group in 1..=8 {
                let members: Vec<&Person> =
                    hand.people.iter().filter(|person| person.0 == group).collect();
                let mut values: Vec<&str> =
                    members.iter().map(|person| person.2.as_str()).collect();
                values.sort_unstable();
                let mut counts = Vec::new();
                for (place, value) in values.iter().enumerate() {
                    match counts.last_mut() {
                        Some((known, n)) if place > 0 && known == value => *n += 1,
                        _ => counts.push((*value, 1)),
                    }
                }
                let priors: Vec<Vec<f64>> = members
                    .iter()
                    .map(|person| {
                        counts
                            .iter()
                            .map(|(value, _)| prior(&person.1, value))
                            .collect()
                    })
                    .collect();
                let counts: Vec<usize> = counts.iter().map(|(_, n)| *n).collect();
                wanted = wanted.max(largest(&priors, &counts));
            }
        }
        assert!((found - wanted).abs() < 1e-10, "{found} {wanted}");
        assert_eq!(report.promises[0].holds, wanted <= 1.0 / 1.5);
    }
}

#[test]
fn groups_of_people_who_are_alike_are_judged_in_whole_numbers() {
    let people = |size: usize| {
        let member = |place: usize| person(1, &["m"], &format!("disease {place}"));
        (0..size).map(member).collect()
    };
    for r in [3.0, 7.0, 49.0] {
        let asked = by_table(r, json!([["sex"]]), 30);
        let size = r as usize;
        let hand =
            Hand::new(&["sex"], people(size)).promise("r-robustness", asked.clone());
        let original = hand.original();
        assert!(hand.audit_given(Some(&original), None).unwrap().holds());
        let hand = Hand::new(&["sex"], people(size - 1)).promise("r-robustness", asked);
        let original = hand.original();
        assert!(!hand.audit_given(Some(&original), None).unwrap().holds());
    }
}

#[test]
fn knowledge_that_is_asked_for_is_needed() {
    let hand = alan_and_betty().promise("r-robustness", robust_two());
    assert!(
        hand.error().contains("cannot be rechecked without the file"),
        "{}",
        hand.error()
    );
    let error = hand.audit().unwrap_err();
    assert!(error.hints()[0].contains("--knowledge"));
    let hand =
        alan_and_betty().promise("r-robustness", by_table(2.0, json!([["sex"]]), 30));
    assert!(hand.error().contains("cannot be rechecked without the original"));
    // A file that does not speak of everybody, or not by these columns.
    let hand = alan_and_betty().promise("r-robustness", robust_two());
    let some = stated("sex,disease,probability\nMale,Flu,0.5\n");
    let error = hand.audit_given(None, Some(&some)).unwrap_err().to_string();
    assert!(error.contains("says nothing of 1 combination"), "{error}");
    assert!(!error.contains("Female"), "{error}");
    let other = stated("age,disease,probability\n41,Flu,0.5\n");
    let error = hand.audit_given(None, Some(&other)).unwrap_err().to_string();
    assert!(error.contains("says nothing by `sex`"), "{error}");
}

#[test]
fn a_world_that_cannot_be_fails() {
    let known =
        stated("sex,disease,probability\nMale,Flu,1\nFemale,Flu,0.5\nFemale,HIV,0.5\n");
    let hand = alan_and_betty().promise("r-robustness", robust_two());
    let report = hand.audit_given(None, Some(&known)).unwrap();
    assert_eq!(report.promises[0].rows_at_risk, 2, "Alan has no disease to have");
}

#[test]
fn other_promises_are_refused() {
    for (name, asked) in [
        ("k-anonymity", json!({ "k": 2 })),
        ("delta-presence", json!({ "min": 0, "max": 1 })),
        ("breach", json!({ "prior": 0.1, "posterior": 0.2 })),
    ] {
        let error = alan_and_betty().promise(name, asked).error();
        assert!(
            error.contains("says nothing of rows in buckets")
                || error.contains("does not know"),
            "{error}"
        );
    }
    for asked in [
        json!({ "r": 1, "knowledge": "file", "signatures": [["sex"]] }),
        json!({ "r": 2, "knowledge": "rumour", "signatures": [["sex"]] }),
        json!({ "r": 2, "knowledge": "file", "signatures": [] }),
        json!({ "r": 2, "knowledge": "file", "signatures": [[]] }),
        json!({ "r": 2, "knowledge": "file", "signatures": [["disease"]] }),
        json!({ "r": 2, "knowledge": "file", "signatures": [["sex", "sex"]] }),
        json!({ "r": 2, "knowledge": "table", "signatures": [["sex"]] }),
        json!({ "r": 2, "knowledge": "table", "signatures": [["sex"]], "support": 0 }),
        json!("everything"),
    ] {
        let error = alan_and_betty().promise("r-robustness", asked).error();
        assert!(error.contains("`r-robustness` is malformed"), "{error}");
    }
}

/// Anatomy promises that no value has more than 1/l of a group; others only l of them.
#[test]
fn anatomy_promises_shares() {
    let people = || {
        let values = ["a", "a", "b"];
        values.map(|value| person(1, &["m"], value)).to_vec()
    };
    let asked = json!({ "l": 2, "kind": "distinct" });
    let mut hand = Hand::new(&["sex"], people()).promise("l-diversity", asked);
    assert!(hand.audit().unwrap().holds());
    hand.manifest["method"]["name"] = json!("anatomy");
    let report = hand.audit().unwrap();
    assert!(!report.holds());
    assert_eq!(report.promises[0].measured, json!({ "l": 2, "share": 2.0 / 3.0 }));
    assert_eq!(report.promises[0].rows_at_risk, 3);
}

#[test]
fn closeness_is_measured_against_all_values() {
    let people = vec![
        person(1, &["m"], "a"),
        person(1, &["m"], "b"),
        person(2, &["m"], "a"),
        person(2, &["m"], "a"),
    ];
    let hand = Hand::new(&["sex"], people)
        .promise("t-closeness", json!({ "t": 0.25, "distance": "equal" }))
        .promise("t-closeness", json!({ "t": 0.2, "distance": "equal" }))
        .promise("l-diversity", json!({ "l": 1.5, "kind": "entropy" }))
        .promise("l-diversity", json!({ "l": 2, "c": 3, "kind": "recursive" }));
    let report = hand.audit().unwrap();
    let holds: Vec<bool> = report.promises.iter().map(|p| p.holds).collect();
    assert_eq!(holds, [true, false, false, false]);
    assert_eq!(report.promises[0].measured, json!({ "t": 0.25 }));
    assert_eq!(report.promises[2].rows_at_risk, 2);
    assert_eq!(report.group_sizes, [(2, 2)]);
    assert_eq!(report.loss["average-group"], 2.0);
}
