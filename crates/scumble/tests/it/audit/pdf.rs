//! Cells with weights under a population: rechecked, attacked, and tampered with.

use std::collections::BTreeMap;
use std::path::Path;

use scumble::error::Result;
use scumble::recipe::{Published, Request, Spec, publish};
use scumble::watch::Unwatched;
use serde_json::{Value, json};

use crate::builder::{ByHand, attack, audited, promise, quasi};

/// A release with weights: all quasi columns hold words. `sizes` are the rows of groups
/// 1, 2, ...; `cells` the lines of `cells.csv`.
fn by_hand(columns: &[&str], sizes: &[usize], cells: &str, kind: Value) -> ByHand {
    let columns = columns.iter().map(|name| quasi(name, "pdf"));
    let each = (1..).zip(sizes).map(|(number, rows)| vec![number.to_string(); *rows]);
    let rows: Vec<String> = each.flatten().collect();
    let hand = ByHand::new(columns.collect::<Vec<Value>>()).with("weights", kind);
    with_cells(hand.rows("group", &rows), cells)
}

fn with_cells(hand: ByHand, cells: &str) -> ByHand {
    hand.file("cells.csv", &format!("group,column,value,weight\n{cells}"))
}

fn presence(asked: Value) -> Value {
    json!([promise("delta-presence", asked)])
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// The running example of `nergiz2007pdf`: five men, four of them in the table.
const MEN: &str = "job,nation\nstudent,USA\nstudent,USA\nstudent,Canada\nprofessor,USA\n\
                   professor,Canada\n";
const FOUR: &str =
    "job,nation\nstudent,USA\nstudent,USA\nstudent,Canada\nprofessor,USA\n";
const OWN: &str = "1,job,professor,0.25\n1,job,student,0.75\n1,nation,Canada,0.25\n\
                   1,nation,USA,0.75\n";

fn men(kind: Value, asked: Value) -> ByHand {
    by_hand(&["job", "nation"], &[4], OWN, kind).with("promises", presence(asked))
}

#[test]
fn the_weights_of_the_paper_give_everybody_away() {
    let kind = json!({ "file": "cells.csv", "kind": "paper" });
    let asked = json!({ "min": 0.47, "max": 0.95, "adversary": "paper" });
    let report = men(kind.clone(), asked).audit(FOUR, MEN).unwrap();
    assert!(report.holds(), "its own adversary is content: {:?}", report.promises);
    let measured = &report.promises[0].measured;
    assert!(near(measured["min"].as_f64().unwrap(), 8.0 / 17.0));
    assert!(near(measured["max"].as_f64().unwrap(), 16.0 / 17.0));
    let counting = attack(&report, "counting");
    assert_eq!((counting.success, counting.worst), (1.0, 1.0));
    assert_eq!(counting.detail["certain"], json!(5));
    assert_eq!(counting.detail["solved"], json!(1));
    assert!(near(attack(&report, "presence").worst, 0.8));
    let report =
        men(kind, json!({ "min": 0.47, "max": 0.95 })).audit(FOUR, MEN).unwrap();
    assert_eq!((report.holds(), report.promises[0].rows_at_risk), (false, 5));
}

#[test]
fn the_weights_of_the_population_tell_nothing() {
    let kind = json!({ "file": "cells.csv", "kind": "population" });
    let cells = "1,job,professor,0.4\n1,job,student,0.6\n1,nation,Canada,0.4\n\
                 1,nation,USA,0.6\n";
    let asked = json!({ "min": 0.8, "max": 0.8 });
    let hand = with_cells(men(kind, asked), cells);
    let report = hand.audit(FOUR, MEN).unwrap();
    assert!(report.holds());
    let counting = attack(&report, "counting");
    assert!(near(counting.success, counting.chance) && near(counting.worst, 0.8));
    assert_eq!(counting.detail["certain"], json!(0));
    let kl = -(3.0 * 0.6f64.ln() + 0.4f64.ln()) * 2.0;
    assert!(near(report.loss["kl"], kl));

    // A hair off, and they are not the population's.
    let changed = cells.replace("professor,0.4", "professor,0.40000001");
    let changed = changed.replace("student,0.6", "student,0.59999999");
    let report = with_cells(hand, &changed).audit(FOUR, MEN).unwrap();
    assert_eq!((report.holds(), report.promises[0].rows_at_risk), (false, 5));
    assert_eq!(report.promises[0].measured["uncertified"], json!(5));
    assert_eq!(attack(&report, "counting").detail["wrong"], json!(1));
}

#[test]
fn a_changed_weight_of_the_table_is_noticed() {
    let counted = |table: Value| {
        let kind = json!({ "file": "cells.csv", "kind": "counted", "table": table });
        men(kind, json!({ "min": 0.0, "max": 1.0 }))
    };
    let mixed = "1,job,professor,0.25\n1,job,student,0.75\n1,nation,Canada,0.4\n\
                 1,nation,USA,0.6\n";
    let hand = with_cells(counted(json!({ "job": [1] })), mixed);
    let report = hand.audit(FOUR, MEN).unwrap();
    assert!(report.holds());
    // One of two professors, three of three students.
    assert_eq!(report.promises[0].measured, json!({ "min": 0.5, "max": 1.0 }));

    // Half a professor.
    let half = mixed.replace("0.25", "0.125").replace("0.75", "0.875");
    let hand = with_cells(counted(json!({ "job": [1] })), &half);
    assert_eq!(hand.audit(FOUR, MEN).unwrap_err().to_string(), NOT_OF_THIS_TABLE);
    // Two professors: people could be so, but the table is not.
    let two = mixed.replace("0.25", "0.5").replace("0.75", "0.5");
    let hand = with_cells(counted(json!({ "job": [1] })), &two);
    assert_eq!(hand.audit(FOUR, MEN).unwrap_err().to_string(), NOT_OF_THIS_TABLE);
    // Weights of the table under the name of the population's.
    let hand = with_cells(counted(json!({})), mixed);
    let hand = hand.with("promises", presence(json!({ "min": 0.1, "max": 0.9 })));
    assert_eq!(hand.audit(FOUR, MEN).unwrap().promises[0].rows_at_risk, 5);
    let hand = with_cells(counted(json!({ "job": [2] })), mixed);
    let error = hand.audit(FOUR, MEN).unwrap_err().to_string();
    assert_eq!(error, "the manifest speaks of weights that are not there");
}

const NOT_OF_THIS_TABLE: &str = "the release is not of this table";

#[test]
fn cells_that_are_no_distributions_are_refused() {
    let kind = || json!({ "file": "cells.csv", "kind": "population" });
    let asked = || json!({ "min": 0.0, "max": 1.0 });
    let error = |cells: &str| {
        let hand = with_cells(men(kind(), asked()), cells);
        hand.audit(FOUR, MEN).unwrap_err().to_string()
    };
    let found = error(&OWN.replace("0.75", "0.74"));
    assert_eq!(found, "cells.csv: the weights of a cell do not add up to 1");
    let found = error(&OWN.replace("professor", "student"));
    assert_eq!(found, "cells.csv: a cell has a value twice");
    let found = error(&OWN.replace("professor", "pirate"));
    assert_eq!(found, "a cell of column `job` cannot be read");
    let found = error(&format!("{OWN}{}", OWN.replace("1,", "2,")));
    assert_eq!(found, "cells.csv: a group has cells but no rows");
    let found = error(&OWN.replace("1,", "2,"));
    assert_eq!(found, "cells.csv: a group of the data has no cells");
    let mut hand = men(kind(), asked());
    hand.manifest["checksums"].as_object_mut().unwrap().remove("cells.csv");
    let found = hand.audit(FOUR, MEN).unwrap_err().to_string();
    assert_eq!(found, "the manifest has no checksum of cells.csv");
    let hand = men(json!({ "file": "cells.csv", "kind": "secret" }), asked());
    let found = hand.audit(FOUR, MEN).unwrap_err().to_string();
    assert_eq!(found, "the manifest has weights of a kind this program does not know");
}

/// Small random numbers, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % sides
    }
}

/// People of a city, and about a third of them.
fn city(seed: u64, n_people: u64) -> (String, String) {
    let dice = &mut Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let header = "age,town,job,illness\n";
    let (mut everybody, mut table) = (header.to_owned(), header.to_owned());
    for _ in 0..n_people {
        let age = 20 + dice.roll(12);
        let town = ["Oslo", "Rome", "Lima", "Bern"][dice.roll(4) as usize];
        let job = ["cook", "smith", "baker"][dice.roll(3) as usize];
        let person =
            format!("{age},{town},{job},{}\n", ["flu", "cough"][dice.roll(2) as usize]);
        everybody += &person;
        // The young and the cooks are there more often.
        let likely =
            20 + if age < 25 { 30 } else { 0 } + if job == "cook" { 15 } else { 0 };
        if dice.roll(100) < likely {
            table += &person;
        }
    }
    (everybody, table)
}

fn published(home: &Path, promise: &str, method: &str) -> Result<Published> {
    let recipe = format!(
        "[input]\ntable = \"table.csv\"\npopulation = \"everybody.csv\"\n[columns]\n\
         age = {{ role = \"quasi\", type = \"number\", hierarchy = {{ widths = [2, 4] }} }}\n\
         town = \"quasi\"\njob = \"quasi\"\nillness = \"sensitive\"\n\
         [promise]\n{promise}\n[method]\n{method}\n[release]\ndirectory = \"out\"\n"
    );
    let spec = Spec::parse(&recipe, "recipe.toml").unwrap();
    let request = Request { replace: true, ..Request::new(&spec, home) };
    publish(request, &Unwatched)
}

/// The lines of `cells.csv`: weights by group, column and value.
fn cells(release: &Path) -> BTreeMap<(String, String, String), f64> {
    let text = std::fs::read_to_string(release.join("cells.csv")).unwrap();
    let line = |line: &str| {
        let words: Vec<&str> = line.split(',').collect();
        let key = (words[0].to_owned(), words[1].to_owned(), words[2].to_owned());
        (key, words[3].parse().unwrap())
    };
    text.lines().skip(1).map(line).collect()
}

/// What the true values cost, from the files and the table alone.
fn kl(release: &Path, table: &str) -> f64 {
    let cells = cells(release);
    let names = ["age", "town", "job"];
    let mut sum = 0.0;
    for row in table.lines().skip(1) {
        let values: Vec<&str> = row.split(',').collect();
        let weights = |group: usize| -> Option<Vec<f64>> {
            let weight = |(name, value): (&&str, &&str)| {
                let key = (group.to_string(), (*name).to_owned(), (*value).to_owned());
                cells.get(&key).copied()
            };
            names.iter().zip(&values).map(weight).collect()
        };
        let mut fitting = (1..1000).filter_map(weights);
        let weights = fitting.next().expect("every row is in a group");
        assert!(fitting.next().is_none(), "and in one only");
        sum -= weights.iter().map(|weight| weight.ln()).sum::<f64>();
    }
    sum
}

#[test]
fn what_is_published_with_weights_keeps_its_promise() {
    let (mut releases, mut unsafe_ones) = (0, 0);
    for seed in 1..=8 {
        let (everybody, table) = city(seed, 60 + 60 * (seed % 4));
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("everybody.csv"), &everybody).unwrap();
        std::fs::write(home.path().join("table.csv"), &table).unwrap();
        for range in ["min = 0.1, max = 0.7", "min = 0.2, max = 0.6"] {
            for method in ["full-domain", "mondrian"] {
                for weights in ["counted", "population", "paper"] {
                    let adversary = match weights {
                        "paper" => ", adversary = \"paper\"",
                        _ => "",
                    };
                    let promise = format!("delta-presence = {{ {range}{adversary} }}");
                    let cells =
                        format!("{{ kind = \"pdf\", weights = \"{weights}\" }}");
                    let method = format!("name = \"{method}\"\ncells = {cells}");
                    let Ok(made) = published(home.path(), &promise, &method) else {
                        continue;
                    };
                    releases += 1;
                    assert!(made.audit.holds(), "{seed} {promise} {method}");
                    let given = (Some(&*table), Some(&*everybody));
                    let again = audited(&made.release, given.0, given.1);
                    let again = again.unwrap().private;
                    assert_eq!(again.loss, made.audit.loss);
                    assert_eq!(
                        again.promises[0].measured,
                        made.audit.promises[0].measured
                    );
                    let cost = kl(&made.directory, &table);
                    assert!(near(again.loss["kl"] / cost, 1.0), "{cost}");
                    let counting = attack(&again, "counting");
                    if weights == "paper" {
                        unsafe_ones += u32::from(counting.worst > 0.99);
                    } else {
                        let largest = counting.detail["largest"].as_f64().unwrap();
                        assert!(largest <= 0.7 + 1e-9, "{largest}");
                    }
                }
            }
        }
    }
    assert!(releases > 40, "{releases}");
    assert!(unsafe_ones > 5, "{unsafe_ones}");
}

#[test]
fn without_a_population_weights_are_the_tables() {
    let (_, table) = city(3, 200);
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("table.csv"), &table).unwrap();
    let recipe = "[input]\ntable = \"table.csv\"\n[columns]\n\
         age = { role = \"quasi\", type = \"number\" }\ntown = \"quasi\"\njob = \"quasi\"\n\
         illness = \"sensitive\"\n[promise]\nk-anonymity = { k = 3 }\n\
         [method]\nname = \"mondrian\"\ncells = \"pdf\"\n[release]\ndirectory = \"out\"\n";
    let spec = Spec::parse(recipe, "recipe.toml").unwrap();
    let made = publish(Request::new(&spec, home.path()), &Unwatched).unwrap();
    assert!(made.audit.holds());
    assert!(near(made.audit.loss["kl"] / kl(&made.directory, &table), 1.0));
    let names: Vec<&str> =
        made.audit.attacks.iter().map(|attack| attack.name.as_str()).collect();
    assert_eq!(names, ["linkage", "homogeneity", "learned"]);
}

/// If the attack knows the search, whoever it finds for certain is really found.
#[test]
fn who_is_found_by_reversing_the_search_is_there() {
    let mut found = 0;
    for seed in 1..=12 {
        let (everybody, table) = city(seed, 100 + 40 * (seed % 4));
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("everybody.csv"), &everybody).unwrap();
        std::fs::write(home.path().join("table.csv"), &table).unwrap();
        for range in ["min = 0.0, max = 0.5", "min = 0.2, max = 0.6"] {
            for method in
                ["full-domain\"\nlooks = \"free\"", "mondrian\"\nlooks = \"free\""]
            {
                for k in ["", "k-anonymity = 2\n"] {
                    let promise = format!("delta-presence = {{ {range} }}\n{k}");
                    let method = format!("name = \"{method}");
                    let Ok(made) = published(home.path(), &promise, &method) else {
                        continue;
                    };
                    let Some(reversal) =
                        made.audit.attacks.iter().find(|a| a.name == "reversal")
                    else {
                        continue;
                    };
                    let count = |name: &str| reversal.detail[name].as_u64().unwrap();
                    assert_eq!(count("certain"), count("certain_right"), "{seed}");
                    assert_eq!(count("impossible"), 0, "{seed} {promise} {method}");
                    found += count("certain");
                }
            }
        }
    }
    assert!(found > 20, "{found}");
}
