//! Several columns that stand apart, each with groups of its own: judged from the published
//! files alone, and against every pair of arrangements.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::estimate::Evidence;
use scumble::recipe::Published;

use crate::builder::{Record, ask, folder, records, run};

const COLUMNS: &str =
    "columns = { age = \"quasi\", illness = \"sensitive\", ward = \"sensitive\" }\n";

/// Rows of an age, an illness and a ward.
fn table(rows: &[(usize, usize, usize)]) -> String {
    let mut text = String::from("age,illness,ward\n");
    for (age, illness, ward) in rows {
        text += &format!("{age},i{illness},w{ward}\n");
    }
    text
}

/// The values of each group of a column, by its file, each as often as it is there.
fn values(release: &Path, column: &str) -> BTreeMap<String, Vec<String>> {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in records(&release.join(format!("sensitive-{column}.csv"))) {
        let n: usize = line["count"].parse().unwrap();
        let own = values.entry(line["group"].clone()).or_default();
        own.extend(vec![line["value"].clone(); n]);
    }
    values
}

/// All ways to give the values of each group to its rows, one for each order of the values.
fn arrangements(
    rows: &[Record],
    values: &BTreeMap<String, Vec<String>>,
    told_by: &str,
) -> Vec<Vec<String>> {
    fn orders(values: &[String]) -> Vec<Vec<String>> {
        if values.is_empty() {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for place in 0..values.len() {
            let mut rest = values.to_vec();
            let first = rest.remove(place);
            for mut order in orders(&rest) {
                order.insert(0, first.clone());
                all.push(order);
            }
        }
        all
    }
    let mut all = vec![vec![String::new(); rows.len()]];
    for (group, values) in values {
        let members: Vec<usize> =
            (0..rows.len()).filter(|row| rows[*row][told_by] == *group).collect();
        assert_eq!(members.len(), values.len());
        let mut next = Vec::new();
        for order in orders(values) {
            for given in &all {
                let mut given = given.clone();
                for (row, value) in members.iter().zip(&order) {
                    given[*row] = value.clone();
                }
                next.push(given);
            }
        }
        all = next;
    }
    all
}

fn published(text: &str, promises: &str, seed: u64) -> (tempfile::TempDir, Published) {
    let home = folder(&[("table.csv", text)]);
    let published = run(home.path(), &format!("{COLUMNS}{promises}"), seed).unwrap();
    (home, published)
}

/// Whether a row counts, and what it adds.
type Counts = fn(age: &str, illness: &str, ward: &str) -> Option<f64>;

#[test]
fn answers_are_means_over_all_pairs_of_arrangements() {
    let questions: [(&str, Counts); 6] = [
        ("SELECT COUNT(*) WHERE illness = 'i0' AND ward = 'w0'", |_, i, w| {
            (i == "i0" && w == "w0").then_some(1.0)
        }),
        ("SELECT COUNT(*) WHERE illness = 'i0' OR ward = 'w1'", |_, i, w| {
            (i == "i0" || w == "w1").then_some(1.0)
        }),
        (
            "SELECT COUNT(*) WHERE NOT illness = 'i1' AND ward = 'w0' AND age = 1",
            |a, i, w| (i != "i1" && w == "w0" && a == "1").then_some(1.0),
        ),
        ("SELECT SUM(age) WHERE illness = 'i0' AND ward = 'w0'", |a, i, w| {
            (i == "i0" && w == "w0").then(|| a.parse().unwrap())
        }),
        ("SELECT COUNT(*) WHERE ward = 'w0'", |_, _, w| (w == "w0").then_some(1.0)),
        ("SELECT COUNT(*) WHERE illness = 'i1' AND age = 1", |a, i, _| {
            (i == "i1" && a == "1").then_some(1.0)
        }),
    ];
    let mut random = ChaCha20Rng::seed_from_u64(11);
    let (mut open, mut tried, mut crossed) = (0, 0, 0);
    for seed in 0..40 {
        let n = if random.random_bool(0.5) { 4 } else { 6 };
        let rows: Vec<(usize, usize, usize)> = (0..n)
            .map(|row| (random.random_range(0..3), row % 3, (row + seed) % 2))
            .collect();
        let promises = "promise.l-diversity = 2\nmethod.name = \"anatomy\"";
        let (_home, published) = published(&table(&rows), promises, seed as u64);
        let release = &published.directory;
        let rows = records(&release.join("data.csv"));
        let ill = arrangements(&rows, &values(release, "illness"), "illness.group");
        let ward = arrangements(&rows, &values(release, "ward"), "ward.group");
        let both: BTreeSet<(&str, &str)> =
            rows.iter().map(|r| (&*r["illness.group"], &*r["ward.group"])).collect();
        crossed += usize::from(both.len() < rows.len() && both.len() > 1);
        let evidence =
            Evidence::read(&published.release, &scumble::watch::Unwatched).unwrap();
        for (question, counts) in questions {
            let mut answers = Vec::with_capacity(ill.len() * ward.len());
            for ill in &ill {
                for ward in &ward {
                    let each = rows.iter().zip(ill).zip(ward);
                    let adds = each
                        .filter_map(|((r, ill), ward)| counts(&r["age"], ill, ward));
                    answers.push(adds.sum::<f64>());
                }
            }
            let n = answers.len() as f64;
            let mean = answers.iter().sum::<f64>() / n;
            let variance = answers.iter().map(|a| (a - mean).powi(2)).sum::<f64>() / n;
            let found = &ask(&evidence, question)[0];
            assert!((found.count - mean).abs() < 1e-9, "{question}: {found:?} {mean}");
            let error = found.standard_error.unwrap();
            assert!(
                (error * error - variance).abs() < 1e-9,
                "{question}: {} {variance} (seed {seed})",
                error * error
            );
            if question.contains("COUNT") {
                let least = answers.iter().copied().fold(f64::MAX, f64::min);
                let most = answers.iter().copied().fold(0.0, f64::max);
                assert!(found.at_least <= least && most <= found.at_most, "{question}");
            }
            tried += 1;
            open += usize::from(variance > 0.0);
        }
        // The parts of a question add up, and each is a mean.
        let parts = ask(&evidence, "SELECT COUNT(*) GROUP BY illness, ward");
        for part in &parts {
            let [i, w] = &part.values[..] else { panic!("{part:?}") };
            let mut mean = 0.0;
            for ill in &ill {
                for ward in &ward {
                    let both = ill.iter().zip(ward);
                    mean +=
                        both.filter(|both| (both.0, both.1) == (i, w)).count() as f64;
                }
            }
            mean /= (ill.len() * ward.len()) as f64;
            assert!((part.count - mean).abs() < 1e-9, "{part:?} {mean}");
        }
        let sum: f64 = parts.iter().map(|part| part.count).sum();
        assert!((sum - rows.len() as f64).abs() < 1e-9);
        // Drawn tables have the values of every group of both columns.
        let drawn = evidence.draw(seed as u64).unwrap();
        assert_eq!(drawn.columns.len(), 3);
    }
    assert!(open > tried / 2 && crossed > 3, "{open} of {tried}, {crossed}");
}

#[test]
fn every_column_keeps_its_promise_in_its_own_groups() {
    let mut random = ChaCha20Rng::seed_from_u64(5);
    for seed in 0..20 {
        let n = random.random_range(30..60);
        let rows: Vec<(usize, usize, usize)> = (0..n)
            .map(|row| (random.random_range(0..9), row * 7 % 11 % 5, row * 5 % 7 % 4))
            .collect();
        let promises = "promise.l-diversity = 3\nmethod.name = \"anatomy\"";
        let (_home, published) = published(&table(&rows), promises, seed);
        let release = &published.directory;
        let data = records(&release.join("data.csv"));
        assert_eq!(data.len(), n);
        for (column, truth) in [("illness", 1), ("ward", 2)] {
            let groups = values(release, column);
            for (group, values) in &groups {
                let told = format!("{column}.group");
                let members = data.iter().filter(|row| row[&told] == *group).count();
                assert_eq!(members, values.len());
                let most =
                    values.iter().map(|v| values.iter().filter(|w| *w == v).count());
                assert!(3 * most.max().unwrap() <= values.len(), "{column} {values:?}");
            }
            let mut all: Vec<&String> = groups.values().flatten().collect();
            let true_values = rows.iter().map(|row| match truth {
                1 => format!("i{}", row.1),
                _ => format!("w{}", row.2),
            });
            let mut true_values: Vec<String> = true_values.collect();
            all.sort();
            true_values.sort();
            assert!(all.into_iter().eq(&true_values));
        }
        let manifest = &published.manifest;
        assert_eq!(manifest.header(), ["illness.group", "ward.group", "age"]);
        assert_eq!(manifest.promises.len(), 2);
        assert!(manifest.promises.iter().all(|promise| promise.holds));
        assert!(manifest.not_promised.iter().any(|reason| {
            reason.starts_with("dependence between columns that stand apart")
        }));
        for name in ["homogeneity", "corruption"] {
            let tried = published.audit.attacks.iter().filter(|a| a.name == name);
            let columns: Vec<&str> =
                tried.map(|a| a.detail["column"].as_str().unwrap()).collect();
            assert_eq!(columns, ["illness", "ward"], "{name}");
        }
    }
}

/// Who shares a group with whom in both columns: how often each division comes about.
fn divisions(rows: &[(usize, usize, usize)], seeds: u64) -> BTreeMap<[usize; 2], u64> {
    let mut seen = BTreeMap::new();
    let home = folder(&[("table.csv", &table(rows))]);
    let recipe = format!("{COLUMNS}promise.l-diversity = 2\nmethod.name = \"anatomy\"");
    for seed in 0..seeds {
        let published = run(home.path(), &recipe, seed).unwrap();
        let data = records(&published.directory.join("data.csv"));
        // Everybody is known by their age: with whom is the first in a group?
        let partner = |told: &str| {
            let first = data.iter().find(|row| row["age"] == "0").unwrap();
            let same = data.iter().find(|r| r["age"] != "0" && r[told] == first[told]);
            same.unwrap()["age"].parse::<usize>().unwrap()
        };
        *seen.entry([partner("illness.group"), partner("ward.group")]).or_insert(0) +=
            1;
    }
    seen
}

/// Exchanging the values of two people of a group changes the probability of no division of
/// people into groups, neither of that column nor of the other: groups of one column are
/// dealt by coins that have nothing to do with those of the other. (If both were dealt by
/// the same coins, only two of the four divisions would ever come about here.)
#[test]
fn exchanging_values_in_a_group_changes_no_groups() {
    let seeds = 150;
    let table = [(0, 0, 0), (1, 0, 0), (2, 1, 1), (3, 1, 1)];
    // 0 and 2 exchange their illnesses.
    let changed = [(0, 1, 0), (1, 0, 0), (2, 0, 1), (3, 1, 1)];
    let (one, other) = (divisions(&table, seeds), divisions(&changed, seeds));
    let of = |seen: &BTreeMap<[usize; 2], u64>, ill: usize, ward: usize| {
        seen.get(&[ill, ward]).copied().unwrap_or(0) as f64 / seeds as f64
    };
    // Each of four divisions with probability 1/4; five standard errors are .18.
    for (ill, ward) in [(2, 2), (2, 3), (3, 2), (3, 3)] {
        assert!((of(&one, ill, ward) - 0.25).abs() < 0.18, "{one:?}");
    }
    for ward in [2, 3] {
        assert!((of(&other, 2, ward) - of(&one, 2, ward)).abs() < 0.25, "{other:?}");
    }
}

#[test]
fn r_robustness_of_several_columns_is_rechecked_for_each() {
    let mut random = ChaCha20Rng::seed_from_u64(8);
    let rows: Vec<(usize, usize, usize)> = (0..200)
        .map(|row| {
            let age = random.random_range(0..4);
            let leans =
                |n: usize, random: &mut ChaCha20Rng| match random.random_bool(0.2) {
                    true => age % n,
                    false => random.random_range(0..n),
                };
            (age, leans(6, &mut random), (leans(5, &mut random) + row) % 5)
        })
        .collect();
    let promises = "promise.r-robustness = { r = 2, support = 20 }";
    let (_home, published) = published(&table(&rows), promises, 3);
    let manifest = &published.manifest;
    let columns: Vec<&[String]> =
        manifest.promises.iter().map(|promise| &*promise.columns).collect();
    assert_eq!(columns, [["illness".to_owned()], ["ward".to_owned()]]);
    for promise in &manifest.promises {
        assert!(
            promise.holds && promise.measured["posterior"].as_f64().unwrap() <= 0.5
        );
    }
    let tried = published.audit.attacks.iter();
    let tried = tried.filter(|attack| attack.name == "background-knowledge");
    let columns: Vec<&str> =
        tried.map(|attack| attack.detail["column"].as_str().unwrap()).collect();
    assert_eq!(columns, ["illness", "ward"]);
}

#[test]
fn each_column_may_have_a_method_and_a_promise_of_its_own() {
    let rows: Vec<(usize, usize, usize)> =
        (0..90).map(|row| (row % 3, row * 7 % 11 % 6, row * 5 % 7 % 5)).collect();
    let recipe = "[promise]\nl-diversity = { l = 3, columns = [\"ward\"] }\n\
         r-robustness = { r = 2, columns = [\"illness\"] }\n\
         [[method]]\nname = \"anatomy\"\ncolumns = [\"ward\"]\n\
         [[method]]\nname = \"robust\"\ncolumns = [\"illness\"]";
    let (_home, published) = published(&table(&rows), recipe, 2);
    for values in values(&published.directory, "ward").values() {
        let most = values.iter().map(|v| values.iter().filter(|w| *w == v).count());
        assert!(3 * most.max().unwrap() <= values.len());
    }
    let methods = published.manifest.method.each().iter();
    let methods: Vec<(&str, &[String])> =
        methods.map(|method| (&*method.name, &*method.columns)).collect();
    assert!(methods.contains(&("anatomy", &["ward".to_owned()])), "{methods:?}");
    assert!(methods.contains(&("robust", &["illness".to_owned()])), "{methods:?}");
}

#[test]
fn what_does_not_go_with_several_columns_is_refused() {
    let rows: Vec<(usize, usize, usize)> =
        (0..12).map(|row| (row % 2, row % 4, row % 3)).collect();
    let known = "age,value,probability\n0,i0,0.5\n1,i0,0.2\n";
    for (promises, wanted) in [
        (
            "promise.r-robustness = { r = 2, knowledge = \"known.csv\" }",
            "what files say is known is about one column",
        ),
        (
            "promise.l-diversity = 2\nmethod = { name = \"anatomy\", suppression = 0.5 }",
            "`anatomy` leaves no rows out beside other methods",
        ),
        (
            "promise.l-diversity = 4\nmethod.name = \"anatomy\"",
            "no value may have more than 1/4",
        ),
    ] {
        let home = folder(&[("table.csv", &table(&rows)), ("known.csv", known)]);
        let error = run(home.path(), &format!("{COLUMNS}{promises}"), 1).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
        assert!(!home.path().join("release").exists());
    }
}
