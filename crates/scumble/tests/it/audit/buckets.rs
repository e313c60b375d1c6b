//! Releases of buckets, written by hand: rechecked, attacked, tampered with.

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::audit::{Audit, Given, Knowledge, Original, Report, audit, write_page};
use scumble::error::Result;
use scumble::table::Stated;
use scumble::watch::Unwatched;
use serde_json::{Value, json};

use crate::builder::{ByHand, attack, column, source, with};

/// A person: the group they are published in, quasi values, and their disease.
type Person = (usize, Vec<String>, String);

/// A release of people with a sex and an age, and a disease.
struct Hand {
    made: ByHand,
    people: Vec<Person>,
}

fn person(group: usize, quasi: &[&str], disease: &str) -> Person {
    let quasi = quasi.iter().map(|text| (*text).to_owned()).collect();
    (group, quasi, disease.to_owned())
}

impl Hand {
    /// `quasi` are names of columns.
    fn new(quasi: &[&str], people: Vec<Person>) -> Self {
        let columns = quasi.iter().map(|name| {
            let column = column(name, "quasi", "category");
            with(column, "hierarchy", json!({ "rule": "plain" }))
        });
        let columns = columns.chain([column("disease", "sensitive", "category")]);
        let groups = people.iter().map(|(group, ..)| *group).max().unwrap();
        let rows = people
            .iter()
            .map(|(group, cells, _)| format!("{group},{}", cells.join(",")));
        let mut values = String::from("group,value,count\n");
        let mut counts = std::collections::BTreeMap::new();
        for (group, _, disease) in &people {
            *counts.entry((group, disease)).or_insert(0) += 1;
        }
        for ((group, disease), n) in counts {
            let _ = writeln!(values, "{group},{disease},{n}");
        }
        let buckets =
            json!({ "file": "sensitive.csv", "column": "disease", "groups": groups });
        let made = ByHand::new(columns.collect::<Vec<Value>>())
            .with("buckets", buckets)
            .with("method", json!({ "name": "robust" }))
            .with("not_promised", json!(["linkage"]))
            .rows(&format!("group,{}", quasi.join(",")), &rows.collect::<Vec<_>>())
            .file("sensitive.csv", &values);
        Self { made, people }
    }

    fn promise(mut self, name: &str, asked: Value) -> Self {
        self.made = self.made.promise(name, asked);
        self
    }

    fn original(&self) -> Original<'static> {
        let names: Vec<&str> = self.made.manifest["columns"]
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

    fn table(&self, text: &str) -> Original<'static> {
        let manifest = self.made.open().unwrap().manifest;
        Original::read(&source(text), &manifest, &Unwatched).unwrap()
    }

    fn audit(&self) -> Result<Report> {
        self.audit_given(None, None)
    }

    fn audit_given(
        &self,
        original: Option<&Original<'_>>,
        knowledge: Option<&Knowledge>,
    ) -> Result<Report> {
        self.audit_all(original, knowledge).map(|audit| audit.private)
    }

    fn audit_all(
        &self,
        original: Option<&Original<'_>>,
        knowledge: Option<&Knowledge>,
    ) -> Result<Audit> {
        let given = Given { original, knowledge, ..Given::default() };
        audit(&self.made.open()?, &given, &Unwatched)
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
    hand.made.manifest["method"]["name"] = json!("anatomy");
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

/// The one text for the people who share a signature at a step up: ages in tens, in
/// twenties, all; sexes, all.
fn signature(columns: &[&str], cells: &[String], step: usize) -> String {
    let mut text = String::new();
    for column in columns {
        if *column == "sex" {
            text += if step == 0 { &cells[0] } else { "*" };
        } else {
            let age: usize = cells[1].parse().unwrap();
            let width = [1, 10, 20, 1000][step.min(3)];
            let _ = write!(text, " {}", age / width);
        }
    }
    text
}

/// What is believed before, by the rule: so many steps up as it takes to have enough rows.
fn prior(
    hand: &Hand,
    columns: &[&str],
    support: usize,
    (cells, disease): (&[String], &str),
) -> f64 {
    let top = if columns.contains(&"age") { 3 } else { 1 };
    for step in 0..=top {
        let own = signature(columns, cells, step);
        let same = |person: &&Person| signature(columns, &person.1, step) == own;
        let alike: Vec<&Person> = hand.people.iter().filter(same).collect();
        if alike.len() >= support || step == top {
            let have = alike.iter().filter(|person| person.2 == disease).count();
            return have as f64 / alike.len() as f64;
        }
    }
    0.0
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
                let age = rng.random_range(20..60).to_string();
                let place = rng.random_range(0..5) + usize::from(sex == "m");
                people.push(person(group, &[sex, &age], names[place.min(4)]));
            }
        }
        let sets = json!([["sex"], ["age", "sex"]]);
        let support = rng.random_range(1..=12usize);
        let mut hand = Hand::new(&["sex", "age"], people)
            .promise("r-robustness", by_table(1.5, sets, support as u64));
        hand.made.manifest["columns"][1]["type"] = json!("number");
        hand.made.manifest["columns"][1]["hierarchy"] =
            json!({ "rule": "widths", "widths": [10, 20], "origin": 0 });
        let original = hand.original();
        let report = hand.audit_given(Some(&original), None).unwrap();
        let found = report.promises[0].measured["posterior"].as_f64().unwrap();
        let mut wanted = 0.0f64;
        for columns in [vec!["sex"], vec!["age", "sex"]] {
            for group in 1..=8 {
                let members: Vec<&Person> =
                    hand.people.iter().filter(|person| person.0 == group).collect();
                let mut values: Vec<&str> =
                    members.iter().map(|person| person.2.as_str()).collect();
                values.sort_unstable();
                let counts: Vec<(&str, usize)> = values
                    .chunk_by(|a, b| a == b)
                    .map(|alike| (alike[0], alike.len()))
                    .collect();
                let row = |person: &&Person| -> Vec<f64> {
                    let values = counts.iter();
                    let of =
                        |value| prior(&hand, &columns, support, (&person.1, value));
                    values.map(|(value, _)| of(value)).collect()
                };
                let priors: Vec<Vec<f64>> = members.iter().map(row).collect();
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
    // The same value in two ways of writing it.
    let twice = stated("age,disease,probability\n41,Flu,0.5\n41.0,Flu,0.1\n");
    let mut people = alan_and_betty().people;
    people.iter_mut().for_each(|person| person.1[1] = "41".to_owned());
    let mut hand = Hand::new(&["sex", "age"], people)
        .promise("r-robustness", robust(2.0, json!([["age"]])));
    hand.made.manifest["columns"][1]["type"] = json!("number");
    let error = hand.audit_given(None, Some(&twice)).unwrap_err().to_string();
    assert!(error.contains("people or values twice"), "{error}");
    let once = stated("age,disease,probability\n41.0,Flu,0.5\n");
    assert!(hand.audit_given(None, Some(&once)).unwrap().holds());
}

/// What is listed in another order, or of other values, adds up to the same: rows are alike,
/// and two of them are enough for r = 2.
#[test]
fn rounding_does_not_make_people_differ() {
    let people = vec![person(1, &["m"], "p"), person(1, &["f"], "q")];
    let known = stated(
        "sex,disease,probability\nm,a,0.1\nm,b,0.2\nm,c,0.3\nm,d,0.01\n\
         f,d,0.01\nf,c,0.3\nf,a,0.2\nf,b,0.1\n",
    );
    let hand = Hand::new(&["sex"], people).promise("r-robustness", robust_two());
    assert!(hand.audit_given(None, Some(&known)).unwrap().holds());
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
fn diversity_of_any_kind_bounds_shares() {
    let people = |values: &[&str]| -> Vec<_> {
        values.iter().map(|value| person(1, &["m"], value)).collect()
    };
    for method in ["anatomy", "robust", "zz"] {
        for (asked, values, share) in [
            (json!({ "l": 2, "kind": "distinct" }), &["a", "a", "b"][..], 2.0 / 3.0),
            (
                json!({ "l": 2, "kind": "entropy" }),
                &["a", "a", "a", "a", "a", "a", "b", "c", "d", "e"],
                0.6,
            ),
            (
                json!({ "l": 2, "c": 9, "kind": "recursive" }),
                &["a", "a", "a", "b", "c"],
                0.6,
            ),
        ] {
            let mut hand =
                Hand::new(&["sex"], people(values)).promise("l-diversity", asked);
            hand.made.manifest["method"]["name"] = json!(method);
            let report = hand.audit().unwrap();
            assert!(!report.holds());
            assert_eq!(report.promises[0].measured["share"], share);
            assert_eq!(report.promises[0].rows_at_risk, values.len() as u64);
        }
        let asked = json!({ "l": 2, "kind": "distinct" });
        let mut hand =
            Hand::new(&["sex"], people(&["a", "b"])).promise("l-diversity", asked);
        hand.made.manifest["method"]["name"] = json!(method);
        assert!(hand.audit().unwrap().holds());
    }
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

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// A man and a woman in each group; men have diseases of their own, and so have women.
fn couples(n: usize) -> Vec<Person> {
    let couple = |group: usize| {
        let (his, hers) = (format!("x{}", group % 4), format!("y{}", group / 4 % 4));
        [
            person(group + 1, &["m", &format!("{}", 2 * group)], &his),
            person(group + 1, &["f", &format!("{}", 2 * group + 1)], &hers),
        ]
    };
    (0..n).flat_map(couple).collect()
}

/// Each group has each of four diseases once, and everybody has each as often.
fn balanced(n: usize) -> Vec<Person> {
    let four = |group: usize| {
        let member = move |place: usize| {
            let sex = ["m", "m", "f", "f"][place];
            let number = (4 * group + place).to_string();
            let disease = ["a", "b", "c", "d"][(place + group) % 4];
            person(group + 1, &[sex, &number], disease)
        };
        (0..4).map(member)
    };
    (0..n).flat_map(four).collect()
}

#[test]
fn background_knowledge_tells_men_from_women() {
    let hand = Hand::new(&["sex", "number"], couples(48))
        .promise("l-diversity", json!({ "l": 2, "kind": "distinct" }));
    let original = hand.original();
    let report = hand.audit_given(Some(&original), None).unwrap();
    assert!(report.holds(), "2-diverse");
    let found = attack(&report, "background-knowledge");
    assert!(near(found.success, 1.0) && near(found.worst, 1.0), "{found:?}");
    assert!(near(found.chance, 0.25), "who knows the sex has four to choose from");
    assert_eq!(found.detail["set"], "sex");
    assert_eq!(found.detail["exact"], 48);
    assert_eq!(found.detail["above"], 1.0);
    assert!(near(found.detail["posterior"]["number"].as_f64().unwrap(), 0.5));
    let homogeneity = attack(&report, "homogeneity");
    assert!(near(homogeneity.worst, 0.5) && homogeneity.success < 0.6);
    // The same from a file, without the original: what is expected.
    let mut known = String::from("sex,disease,probability\n");
    for value in 0..4 {
        let _ = writeln!(known, "m,x{value},0.25\nf,y{value},0.25");
    }
    let report = hand.audit_given(None, Some(&stated(&known))).unwrap();
    let found = attack(&report, "background-knowledge");
    assert!(near(found.success, 1.0) && near(found.chance, 0.25), "{found:?}");
    assert_eq!(found.detail["expected"], true);
}

#[test]
fn attacks_on_groups_like_the_whole_do_no_better_than_chance() {
    let hand = Hand::new(&["sex", "number"], balanced(40));
    let original = hand.original();
    for knowledge in [None, Some(&Knowledge::Table)] {
        let report = hand.audit_given(Some(&original), knowledge).unwrap();
        for name in ["homogeneity", "background-knowledge"] {
            let found = attack(&report, name);
            assert!(near(found.success, 0.25) && near(found.chance, 0.25), "{found:?}");
            assert!(near(found.worst, 0.25), "{found:?}");
        }
        assert_eq!(attack(&report, "homogeneity").detail["certain"], 0.0);
        assert!(!report.attacks.iter().any(|attack| attack.name == "linkage"));
    }
    let report = hand.audit().unwrap();
    assert!(near(attack(&report, "homogeneity").success, 0.25));
    assert_eq!(report.attacks.len(), 3, "nothing is known, and little learned");
}

#[test]
fn groups_with_one_value_are_certain() {
    let mut people = balanced(8);
    for (group, _, disease) in &mut people {
        *disease = format!("d{group}");
    }
    let hand = Hand::new(&["sex", "number"], people);
    let original = hand.original();
    for original in [None, Some(&original)] {
        let report = hand.audit_given(original, None).unwrap();
        let found = attack(&report, "homogeneity");
        assert_eq!((found.success, found.worst), (1.0, 1.0));
        assert_eq!(found.detail["certain"], 1.0);
        assert!(near(found.chance, 1.0 / 8.0));
    }
}

/// Whoever is in several groups is guessed from all of them.
#[test]
fn people_who_are_alike_in_several_groups_are_guessed_from_all() {
    let people = vec![
        person(1, &["m"], "a"),
        person(1, &["f"], "b"),
        person(2, &["m"], "a"),
        person(2, &["f"], "c"),
    ];
    let hand = Hand::new(&["sex"], people);
    let original = hand.original();
    let report = hand.audit_given(Some(&original), None).unwrap();
    let found = attack(&report, "homogeneity");
    // Of both, a: right for the men.
    assert!(near(found.success, 0.5) && near(found.chance, 0.5), "{found:?}");
}

#[test]
fn knowing_others_is_subtracted() {
    // Two in a group: somebody who knows one knows the other.
    let hand = Hand::new(&["sex", "number"], couples(20));
    let found = &hand.audit().unwrap();
    let found = attack(found, "corruption");
    assert_eq!((found.success, found.chance, found.worst), (1.0, 0.5, 1.0));
    assert_eq!(found.detail["certain_after"], 1);
    // Four in a group: 1/4, 1/3, 1/2, 1.
    let hand = Hand::new(&["sex", "number"], balanced(20));
    let found = &hand.audit().unwrap();
    let found = attack(found, "corruption");
    assert!(near(found.success, 1.0 / 3.0) && near(found.chance, 0.25), "{found:?}");
    assert_eq!(found.detail["certain_after"], 3);
    assert_eq!(found.detail["known"]["2"]["worst"], 0.5);
    assert_eq!(found.detail["known"]["3"]["mean"], 1.0);
    // One large group: another's value tells next to nothing.
    let mut people = balanced(100);
    people.iter_mut().for_each(|person| person.0 = 1);
    let hand = Hand::new(&["sex", "number"], people);
    let found = &hand.audit().unwrap();
    let found = attack(found, "corruption");
    assert!((found.success - found.chance).abs() < 0.001, "{found:?}");
    assert_eq!(found.detail["certain_after"], 300);
}

/// A release without buckets: everybody's sex is hidden, and a couple shares a town.
fn towns(sensitive: &[&str]) -> (Hand, String) {
    let mut hand = Hand::new(&["town", "sex"], vec![person(1, &["a", "m"], "x")]);
    hand.made.manifest.as_object_mut().unwrap().remove("buckets");
    hand.made.manifest["checksums"] = json!({});
    let columns = hand.made.manifest["columns"].as_array_mut().unwrap();
    columns.pop();
    columns.iter_mut().for_each(|column| column["cells"] = json!("taxonomy"));
    columns.extend(sensitive.iter().map(|name| column(name, "sensitive", "category")));
    let mut data = format!("town,sex,{}\n", sensitive.join(","));
    let mut original = data.clone();
    let people = couples(48);
    for (group, cells, disease) in &people {
        let values = vec![disease.as_str(); sensitive.len()].join(",");
        let _ = writeln!(data, "town {group},*,{values}");
        let _ = writeln!(original, "town {group},{},{values}", cells[0]);
    }
    hand.made.manifest["rows"] = json!(people.len());
    hand.made.manifest["method"]["name"] = json!("full-domain");
    hand.made.write("data.csv", &data);
    (hand, original)
}

#[test]
fn background_knowledge_turns_groups_of_generalized_releases_into_worlds() {
    let (hand, people) = towns(&["disease"]);
    let hand = hand.promise("k-anonymity", json!({ "k": 2 }));
    let original = hand.table(&people);
    let plain = hand.audit_given(Some(&original), None).unwrap();
    assert!(plain.attacks.iter().all(|a| a.name != "background-knowledge"));
    let report = hand.audit_given(Some(&original), Some(&Knowledge::Table)).unwrap();
    let found = attack(&report, "background-knowledge");
    assert!(near(found.success, 1.0) && near(found.chance, 0.25), "{found:?}");
    assert_eq!((found.detail["exact"].as_u64(), found.worst), (Some(48), 1.0));
    let error = hand.audit_given(None, Some(&Knowledge::Table)).unwrap_err();
    assert!(error.hints()[0].contains("--original"), "{error}");
    let known = "sex,disease,probability\nm,x0,0.5\nm,x1,0.5\nf,y0,1\n";
    let report = hand.audit_given(Some(&original), Some(&stated(known))).unwrap();
    let found = attack(&report, "background-knowledge");
    assert!(found.detail["impossible"].as_u64().unwrap() > 0, "wrong knowledge");
    let known = "shoe,disease,probability\n41,x0,0.5\n";
    let error = hand.audit_given(Some(&original), Some(&stated(known))).unwrap_err();
    assert!(error.to_string().contains("no quasi column"), "{error}");
    // Of several columns each is attacked, but a file is about one.
    let (hand, people) = towns(&["disease", "cure"]);
    let original = hand.table(&people);
    let report = hand.audit_given(Some(&original), Some(&Knowledge::Table)).unwrap();
    let names = report.attacks.iter().filter(|a| a.name == "background-knowledge");
    assert_eq!(names.count(), 2);
    let known = "sex,disease,probability\nm,x0,0.5\nf,y0,0.5\n";
    let error = hand.audit_given(Some(&original), Some(&stated(known))).unwrap_err();
    assert!(error.to_string().contains("one sensitive column"), "{error}");
}

#[test]
fn tampering_is_noticed() {
    let fresh = || Hand::new(&["sex", "number"], balanced(3));
    let changes: [(&str, &str, &str, &str); 9] = [
        // A row moved to another group.
        ("data.csv", "\n1,m,0\n", "\n2,m,0\n", "not as many as its rows"),
        ("sensitive.csv", "1,a,1", "1,a,2", "not as many as its rows"),
        ("sensitive.csv", "1,a,1\n", "", "not as many as its rows"),
        ("sensitive.csv", "1,a,1", "1,a,0", "whole number from 1"),
        ("sensitive.csv", "1,b,1", "1,a,1", "two lines for the same value"),
        ("data.csv", "\n1,m,0\n", "\n4,m,0\n", "the manifest says 3 groups"),
        ("sensitive.csv", "1,a,1", "4,a,1", "the manifest says 3 groups"),
        ("sensitive.csv", "value,count", "count,value", "not `group,value,count`"),
        ("data.csv", "group,sex", "group,gender", "not those of the manifest"),
    ];
    for (file, from, to, wanted) in changes {
        let mut hand = fresh();
        hand.made.replace(file, from, to);
        let error = hand.error();
        assert!(error.contains(wanted), "{error}");
    }
    // Names that are no numbers, though they fit each other.
    let mut hand = fresh();
    for file in ["data.csv", "sensitive.csv"] {
        let text = hand.made.text(file).replace("\n1,", "\n01,");
        hand.made.write(file, &text);
    }
    assert!(hand.error().contains("not those of the values"), "{}", hand.error());
    // More than there can be.
    let mut hand = fresh();
    hand.made.replace("sensitive.csv", "1,a,1", "1,a,18446744073709551615");
    assert!(hand.error().contains("not as many as its rows"));
    // Without a checksum, or with a wrong one.
    let mut hand = fresh();
    hand.made.manifest["checksums"].as_object_mut().unwrap().remove("sensitive.csv");
    assert!(hand.error().contains("no checksum of sensitive.csv"));
    let mut hand = fresh();
    hand.made.manifest["checksums"]["sensitive.csv"] = json!("0");
    assert!(hand.error().contains("not the one that was published"));
}

#[test]
fn manifests_that_cannot_be_are_refused() {
    let fresh = || Hand::new(&["sex", "number"], balanced(3));
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 6] = [
        (|m| m["buckets"]["column"] = json!("sex"), "not those of the manifest"),
        (|m| m["buckets"]["file"] = json!("data.csv"), "in the file of the rows"),
        (|m| m["buckets"]["groups"] = json!(u64::MAX), "but the rows have 3"),
        (|m| m["rows"] = json!(5), "the manifest says 5 rows"),
        (|m| m["columns"][2]["role"] = json!("quasi"), "not a sensitive column"),
        (|m| m["columns"][2]["type"] = json!("number"), "not of its type"),
    ];
    for (change, wanted) in changes {
        let mut hand = fresh();
        change(&mut hand.made.manifest);
        let error = hand.error();
        assert!(error.contains(wanted), "{error}");
    }
    let mut hand = fresh();
    hand.made.manifest["buckets"]["file"] = json!("../sensitive.csv");
    assert!(hand.audit().is_err());
    // Two ways to write the same number.
    let mut hand = fresh();
    hand.made.manifest["columns"][2]["type"] = json!("number");
    let text = hand.made.text("sensitive.csv");
    let text = text.replace(",a,", ",7,").replace(",b,", ",7.0,");
    let text = text.replace(",c,", ",8,").replace(",d,", ",9,");
    hand.made.write("sensitive.csv", &text);
    assert!(hand.error().contains("two lines for the same value"), "{}", hand.error());
}

#[test]
fn another_table_is_refused() {
    let hand = Hand::new(&["sex", "number"], couples(12));
    let original = hand.original();
    assert!(hand.audit_given(Some(&original), None).is_ok());
    let refused = |hand: &Hand, original: &Original<'_>| {
        let error = hand.audit_given(Some(original), None).unwrap_err().to_string();
        assert!(error.contains("not of this table"), "{error}");
    };
    // Two women swapped their groups: values no longer fit.
    let mut swapped = Hand::new(&["sex", "number"], couples(12));
    swapped.made.replace("data.csv", "\n1,f,1\n", "\n5,f,1\n");
    swapped.made.replace("data.csv", "\n5,f,9\n", "\n1,f,9\n");
    assert!(swapped.audit().is_ok(), "the files alone do not tell");
    refused(&swapped, &original);
    // A row too many, a value that is not there, other people.
    let mut text = String::from("sex,number,disease\n");
    for (_, quasi, disease) in &hand.people {
        let _ = writeln!(text, "{},{disease}", quasi.join(","));
    }
    refused(&hand, &hand.table(&format!("{text}m,99,x0\n")));
    refused(&hand, &hand.table(&text.replacen("x0", "x9", 1)));
    refused(&hand, &hand.table(&text.replacen("m,0,", "m,98,", 1)));
    // Rows that were left out are said.
    let mut fewer = Hand::new(&["sex", "number"], couples(12));
    fewer.made.manifest["left_out"] = json!(1);
    let more = fewer.table(&format!("{text}m,99,x0\n"));
    let report = fewer.audit_given(Some(&more), None).unwrap();
    assert_eq!(report.loss["average-group"], 25.0 / 13.0);
}

/// Eighteen different people with eighteen different values have too many worlds: only x
/// and not x is certified, and a manifest must not say more.
fn crowd() -> (Hand, Knowledge) {
    let member =
        |place: usize| person(1, &[&format!("p{place}")], &format!("v{place}"));
    let mut known = String::from("who,disease,probability\n");
    for place in 0..18 {
        for value in 0..18 {
            let share = 0.01 + 0.002 * ((7 * place + 3 * value) % 18) as f64;
            let _ = writeln!(known, "p{place},v{value},{share}");
        }
    }
    let hand = Hand::new(&["who"], (0..18).map(member).collect())
        .promise("r-robustness", robust(4.0, json!([["who"]])));
    (hand, stated(&known))
}

#[test]
fn nobody_claims_more_than_was_certified() {
    let (mut hand, known) = crowd();
    let audit = |hand: &Hand| hand.audit_given(None, Some(&known)).unwrap();
    let report = audit(&hand);
    assert!(report.holds());
    let measured = &report.promises[0].measured;
    assert_eq!((&measured["groups"], &measured["exact"]), (&json!(1), &json!(0)));
    assert_eq!(attack(&report, "background-knowledge").detail["binary"], 1);
    hand.made.manifest["promises"][0]["measured"] = measured.clone();
    assert!(audit(&hand).holds());
    for claimed in [json!(1), json!(7)] {
        hand.made.manifest["promises"][0]["measured"]["exact"] = claimed;
        let report = audit(&hand);
        assert_eq!(report.promises[0].rows_at_risk, 18);
    }
    hand.made.manifest["promises"][0]["measured"] = json!({ "posterior": 0.1 });
    assert!(!audit(&hand).holds(), "who does not say claims all");
    hand.made.manifest["promises"][0]["measured"] = json!({ "exact": "all" });
    assert!(hand.audit_given(None, Some(&known)).is_err());
}

#[test]
fn the_page_says_what_was_certified() {
    let page = |hand: &Hand, audit: &Audit| {
        let manifest = hand.made.open().unwrap().manifest;
        write_page(&hand.made.path(), &manifest, &audit.public).unwrap();
        hand.made.text("report.html").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (hand, known) = crowd();
    let text = page(&hand, &hand.audit_all(None, Some(&known)).unwrap());
    for wanted in [
        "Nobody who knows how values depend on “who”, and nothing else, can be surer than 1 in 4 of",
        "certified over all possible worlds of 0 of 1 groups",
        "knowledge was taken from a file",
        "which row of a group has which of its values is not",
        "Of none of all people something is believed with more than 25.0%",
        "how often each value is in each group, in sensitive.csv; not who has it",
        "sensitive values in <code>sensitive.csv</code>",
        "has this release and knows which row is whose",
    ] {
        assert!(text.contains(wanted), "no “{wanted}” in {text}");
    }
    let mut hand = Hand::new(&["sex", "number"], balanced(40))
        .promise("r-robustness", by_table(3.0, json!([["sex"], ["number", "sex"]]), 30))
        .promise("l-diversity", json!({ "l": 3, "kind": "distinct" }));
    hand.made.manifest["method"]["name"] = json!("anatomy");
    let original = hand.original();
    let audit = hand.audit_all(Some(&original), None).unwrap();
    assert!(audit.private.holds());
    let text = page(&hand, &audit);
    for wanted in [
        "depend on “sex”, or on “number” and “sex”, and nothing else",
        "certified over all possible worlds of every group",
        "where fewer than 30 rows have the same values, from coarser ones",
        "No sensitive value has more than 1 in 3 of the rows of a group.",
        "signatures = sex; number + sex",
        "3 others can be enough to be certain",
    ] {
        assert!(text.contains(wanted), "no “{wanted}” in {text}");
    }
    assert!(!text.contains("cannot be told apart"), "{text}");
}
