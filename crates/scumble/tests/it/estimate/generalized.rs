//! Questions to releases with generalized cells, alone and beside randomized columns: what
//! enumeration of everything a row may have been gives, exact where nothing was lost.

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::estimate::{Estimate, Evidence, Query, Way};
use serde_json::{Value, json};

use crate::builder::{ByHand, ask, column, with};

/// The true values that a row may have.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    nation: &'static str,
    age: i32,
    income: Option<i32>,
    city: Option<&'static str>,
    disease: &'static str,
    cost: i32,
}

/// A published row, and what each of its cells stands for.
#[derive(Debug, Clone)]
struct Published {
    texts: [String; 6],
    nations: Vec<&'static str>,
    ages: Vec<i32>,
    incomes: Vec<Option<i32>>,
    cities: Vec<Option<&'static str>>,
    disease: &'static str,
    cost: i32,
}

const NATIONS: [(&str, &str); 5] =
    [("a1", "A"), ("a2", "A"), ("a3", "A"), ("b1", "B"), ("b2", "B")];
const CITIES: [&str; 4] = ["p", "q, r", "s", "t"];

fn columns() -> Value {
    let lines: Vec<Value> =
        NATIONS.iter().map(|(leaf, node)| json!([leaf, node, "*"])).collect();
    let column = |name: &str, kind: &str, more: Value| {
        let mut column = json!({
            "name": name, "role": "quasi", "type": kind, "missing": ["", "?"],
        });
        for (key, value) in more.as_object().unwrap() {
            column[key] = value.clone();
        }
        column
    };
    json!([
        column(
            "nation",
            "category",
            json!({
                "cells": "taxonomy", "hierarchy": { "rule": "tree", "lines": lines },
            })
        ),
        column(
            "age",
            "number",
            json!({
                "cells": "taxonomy", "decimals": 0,
                "hierarchy": { "rule": "widths", "widths": [5.0, 10.0], "origin": 0.0 },
            })
        ),
        column(
            "income",
            "number",
            json!({
                "cells": "interval", "decimals": 0, "hierarchy": { "rule": "plain" },
            })
        ),
        column(
            "city",
            "category",
            json!({
                "cells": "set", "hierarchy": { "rule": "plain" },
            })
        ),
        column("disease", "category", json!({ "role": "sensitive" })),
        column("cost", "number", json!({ "role": "other" })),
    ])
}

fn publish(random: &mut ChaCha20Rng) -> Published {
    let (leaf, node) = NATIONS[random.random_range(0..5)];
    let below = |name: &str| {
        let own = NATIONS.iter().filter(|(_, node)| *node == name);
        own.map(|(leaf, _)| *leaf).collect::<Vec<_>>()
    };
    let (nation, nations) = match random.random_range(0..4) {
        0 => (leaf, vec![leaf]),
        1 | 2 => (node, below(node)),
        _ => ("*", NATIONS.iter().map(|(leaf, _)| *leaf).collect()),
    };
    let age: i32 = random.random_range(20..40);
    let (age, ages) = match random.random_range(0..3) {
        0 => (age.to_string(), vec![age]),
        level => {
            let width = 5 * level;
            let low = age / width * width;
            (format!("[{low}, {})", low + width), (low..low + width).collect())
        }
    };
    let low: i32 = random.random_range(10..18);
    let high = low + random.random_range(0..4);
    let mut incomes: Vec<Option<i32>> = (low..=high).map(Some).collect();
    let mut income =
        if low == high { low.to_string() } else { format!("[{low}, {high}]") };
    match random.random_range(0..6) {
        0 => {
            income += " or missing";
            incomes.push(None);
        }
        1 => (income, incomes) = (String::new(), vec![None]),
        _ => {}
    }
    let first = random.random_range(0..4);
    let mut places: Vec<usize> = vec![first, (first + random.random_range(0..3)) % 4];
    places.sort_unstable();
    places.dedup();
    let mut cities: Vec<Option<&str>> =
        places.iter().map(|p| Some(CITIES[*p])).collect();
    let shown = |place: &usize| match CITIES[*place] {
        city if city.contains(',') && places.len() > 1 => format!("\"{city}\""),
        city => city.to_owned(),
    };
    let mut city = match places.as_slice() {
        [one] => shown(one),
        _ => format!("{{{}}}", places.iter().map(shown).collect::<Vec<_>>().join(", ")),
    };
    if random.random_range(0..5) == 0 {
        city += " or missing";
        cities.push(None);
    }
    let disease = ["flu", "cold"][random.random_range(0..2)];
    let cost = random.random_range(1..7);
    let texts =
        [nation.to_owned(), age, income, city, disease.to_owned(), cost.to_string()];
    Published { texts, nations, ages, incomes, cities, disease, cost }
}

impl Published {
    /// Everything the row may have been; all equally likely.
    fn possible(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for nation in &self.nations {
            for age in &self.ages {
                for income in &self.incomes {
                    for city in &self.cities {
                        rows.push(Row {
                            nation,
                            age: *age,
                            income: *income,
                            city: *city,
                            disease: self.disease,
                            cost: self.cost,
                        });
                    }
                }
            }
        }
        rows
    }
}

fn read(rows: &[Published], more: &Value) -> Evidence {
    let line = |row: &Published| {
        let cells = row.texts.iter().map(|text| {
            let special = text.contains([',', '"']);
            if special {
                format!("\"{}\"", text.replace('"', "\"\""))
            } else {
                text.clone()
            }
        });
        cells.collect::<Vec<_>>().join(",")
    };
    let lines: Vec<String> = rows.iter().map(line).collect();
    let made = ByHand::new(columns()).with_all(more);
    made.rows("nation,age,income,city,disease,cost", &lines).evidence().unwrap()
}

type Truth = fn(&Row) -> Option<bool>;
type Number = fn(&Row) -> Option<f64>;

/// Conditions in SQL, and what they mean.
const TESTS: &[(&str, Truth)] = &[
    ("nation = 'a1'", |r| Some(r.nation == "a1")),
    ("nation = 'A'", |r| Some(r.nation.starts_with('a'))),
    ("nation <> 'B'", |r| Some(!r.nation.starts_with('b'))),
    ("nation IN ('a2', 'B')", |r| Some(r.nation == "a2" || r.nation.starts_with('b'))),
    ("age < 23", |r| Some(r.age < 23)),
    ("age > 22.5", |r| Some(r.age >= 23)),
    ("age BETWEEN 21 AND 36", |r| Some((21..=36).contains(&r.age))),
    ("age = '[20, 30)'", |r| Some(r.age < 30)),
    ("age <> 31", |r| Some(r.age != 31)),
    ("age IN (24, 25, 38)", |r| Some([24, 25, 38].contains(&r.age))),
    ("income >= 13", |r| r.income.map(|income| income >= 13)),
    ("income IS NULL", |r| Some(r.income.is_none())),
    ("income = 12", |r| r.income.map(|income| income == 12)),
    ("city = 'p'", |r| r.city.map(|city| city == "p")),
    ("city <> 'q, r'", |r| r.city.map(|city| city != "q, r")),
    ("city >= 's'", |r| r.city.map(|city| city >= "s")),
    ("city IS NOT NULL", |r| Some(r.city.is_some())),
    ("disease = 'flu'", |r| Some(r.disease == "flu")),
    ("cost > 3", |r| Some(r.cost > 3)),
];

/// A condition as a tree over the tests.
enum Asked {
    Test(usize),
    And(Box<Asked>, Box<Asked>),
    Or(Box<Asked>, Box<Asked>),
    Not(Box<Asked>),
}

impl Asked {
    fn draw(depth: usize, random: &mut ChaCha20Rng) -> Self {
        if depth == 0 {
            return Self::Test(random.random_range(0..TESTS.len()));
        }
        let mut part = || Box::new(Self::draw(depth - 1, random));
        let (a, b) = (part(), part());
        match random.random_range(0..4) {
            0 => *a,
            1 => Self::And(a, b),
            2 => Self::Or(a, b),
            _ => Self::Not(a),
        }
    }

    fn sql(&self) -> String {
        match self {
            Self::Test(test) => TESTS[*test].0.to_owned(),
            Self::And(a, b) => format!("({} AND {})", a.sql(), b.sql()),
            Self::Or(a, b) => format!("({} OR {})", a.sql(), b.sql()),
            Self::Not(a) => format!("NOT ({})", a.sql()),
        }
    }

    fn truth(&self, row: &Row) -> Option<bool> {
        match self {
            Self::Test(test) => TESTS[*test].1(row),
            Self::And(a, b) => match (a.truth(row), b.truth(row)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Self::Or(a, b) => match (a.truth(row), b.truth(row)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Self::Not(a) => a.truth(row).map(|truth| !truth),
        }
    }
}

/// Mean and covariance of two sums over rows, if every row is one of those it may have been.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    a: f64,
    b: f64,
    aa: f64,
    bb: f64,
    ab: f64,
}

fn sums(rows: &[Published], adds: &dyn Fn(&Row) -> (f64, f64)) -> Sums {
    let mut all = Sums::default();
    for row in rows {
        let possible = row.possible();
        let n = possible.len() as f64;
        let mean = |f: &dyn Fn((f64, f64)) -> f64| {
            possible.iter().map(|row| f(adds(row))).sum::<f64>() / n
        };
        let (a, b) = (mean(&|x| x.0), mean(&|x| x.1));
        all.a += a;
        all.b += b;
        all.aa += mean(&|x| x.0 * x.0) - a * a;
        all.bb += mean(&|x| x.1 * x.1) - b * b;
        all.ab += mean(&|x| x.0 * x.1) - a * b;
    }
    all
}

impl Sums {
    /// The first by the second, and its standard error.
    fn ratio(&self) -> (f64, f64) {
        let m = self.a / self.b;
        (m, (self.aa - 2.0 * m * self.ab + m * m * self.bb).max(0.0).sqrt() / self.b)
    }
}

fn near(found: &Estimate, number: f64, error: f64, question: &str) {
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-7 * b.abs().max(1.0);
    let own = found.standard_error.unwrap();
    assert!(close(found.count, number), "{question}: {} for {number}", found.count);
    // Roots of what rounding leaves.
    assert!(
        close(own, error) || (own * own - error * error).abs() < 1e-9,
        "{question}: {own} for {error}"
    );
}

fn number(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

#[test]
fn answers_are_those_of_enumeration() {
    let random = &mut ChaCha20Rng::seed_from_u64(71);
    let (mut exact, mut open) = (0, 0);
    for _ in 0..60 {
        let n = random.random_range(1..25);
        let rows: Vec<Published> = (0..n).map(|_| publish(random)).collect();
        let evidence = read(&rows, &json!({}));
        for depth in [0, 1, 2] {
            let (asked, part) = (Asked::draw(depth, random), Asked::draw(1, random));
            let text = asked.sql();
            let holds = |row: &Row| asked.truth(row) == Some(true);

            let question = format!("SELECT COUNT(*) WHERE {text}");
            let true_sums = sums(&rows, &|row| (number(holds(row)), 0.0));
            let found = &ask(&evidence, &question)[0];
            near(found, true_sums.a, true_sums.aa.sqrt(), &question);
            assert!(
                found.at_least - 1e-9 <= true_sums.a
                    && true_sums.a <= found.at_most + 1e-9
            );
            if true_sums.aa < 1e-12 {
                exact += 1;
                assert_eq!(found.standard_error, Some(0.0), "{question}");
                assert_eq!(found.count, found.count.round(), "{question}");
            } else {
                open += 1;
            }

            let columns: [(&str, Number); 3] = [
                ("cost", |row| Some(f64::from(row.cost))),
                ("age", |row| Some(f64::from(row.age))),
                ("income", |row| row.income.map(f64::from)),
            ];
            for (column, value) in columns {
                let adds = |row: &Row| match value(row) {
                    Some(value) if holds(row) => (value, 1.0),
                    _ => (0.0, 0.0),
                };
                let true_sums = sums(&rows, &adds);
                let question = format!("SELECT SUM({column}) WHERE {text}");
                near(
                    &ask(&evidence, &question)[0],
                    true_sums.a,
                    true_sums.aa.sqrt(),
                    &question,
                );
                if true_sums.b > 0.0 {
                    let question = format!("SELECT AVG({column}) WHERE {text}");
                    let (mean, error) = true_sums.ratio();
                    near(&ask(&evidence, &question)[0], mean, error, &question);
                }
            }

            let question = format!("SELECT SHARE({}) WHERE {text}", part.sql());
            let both = |row: &Row| holds(row) && part.truth(row) == Some(true);
            let true_sums = sums(&rows, &|row| (number(both(row)), number(holds(row))));
            if true_sums.b > 0.0 {
                let (share, error) = true_sums.ratio();
                near(&ask(&evidence, &question)[0], share, error, &question);
            }
        }
    }
    assert!(exact > 10 && open > 100, "{exact} exact, {open} open");
}

#[test]
fn groups_add_up_and_are_those_of_enumeration() {
    let random = &mut ChaCha20Rng::seed_from_u64(72);
    let missing = |value: Option<String>| value.unwrap_or_default();
    for _ in 0..30 {
        let n = random.random_range(1..25);
        let rows: Vec<Published> = (0..n).map(|_| publish(random)).collect();
        let evidence = read(&rows, &json!({}));
        let asked = Asked::draw(1, random);
        let holds = |row: &Row| asked.truth(row) == Some(true);
        let text = asked.sql();
        let total = &ask(&evidence, &format!("SELECT COUNT(*) WHERE {text}"))[0];
        for columns in
            ["nation", "age", "income, disease", "city", "nation, age", "city, cost"]
        {
            let key = |row: &Row| -> Vec<String> {
                let one = |column: &str| match column {
                    "nation" => row.nation.to_owned(),
                    "age" => row.age.to_string(),
                    "income" => missing(row.income.map(|i| i.to_string())),
                    "city" => missing(row.city.map(str::to_owned)),
                    "disease" => row.disease.to_owned(),
                    _ => row.cost.to_string(),
                };
                columns.split(", ").map(one).collect()
            };
            let question =
                format!("SELECT {columns}, COUNT(*) WHERE {text} GROUP BY {columns}");
            let found = ask(&evidence, &question);
            let sum: f64 = found.iter().map(|estimate| estimate.count).sum();
            assert!((sum - total.count).abs() < 1e-7, "{question}");
            let possible = rows.iter().flat_map(Published::possible).filter(holds);
            let expected: BTreeSet<Vec<String>> =
                possible.map(|row| key(&row)).collect();
            assert_eq!(found.len(), expected.len(), "{question}");
            for values in &expected {
                let own = |row: &Row| holds(row) && key(row) == *values;
                let true_sums =
                    sums(&rows, &|row| (number(own(row)), number(holds(row))));
                let estimate = found.iter().find(|e| e.values == *values).unwrap();
                near(estimate, true_sums.a, true_sums.aa.sqrt(), &question);
            }
            let question =
                format!("SELECT {columns}, SHARE(*) WHERE {text} GROUP BY {columns}");
            if columns == "nation" && total.count > 0.0 {
                let shares = ask(&evidence, &question);
                let sum: f64 = shares.iter().map(|estimate| estimate.count).sum();
                assert!((sum - 1.0).abs() < 1e-9, "{question}");
                for estimate in shares {
                    let own =
                        |row: &Row| holds(row) && row.nation == estimate.values[0];
                    let true_sums =
                        sums(&rows, &|row| (number(own(row)), number(holds(row))));
                    let (share, error) = true_sums.ratio();
                    near(&estimate, share, error, &question);
                }
            }
        }
        // Cells as they are published are exact.
        let cells = ask(&evidence, "SELECT CELL(age), COUNT(*) GROUP BY CELL(age)");
        for estimate in &cells {
            let own = rows.iter().filter(|row| row.texts[1] == estimate.values[0]);
            near(estimate, own.count() as f64, 0.0, "cells");
        }
        assert_eq!(cells.iter().map(|cell| cell.count).sum::<f64>(), n as f64);
    }
}

#[test]
fn intervals_cover_if_cells_are_even() {
    let random = &mut ChaCha20Rng::seed_from_u64(73);
    let (mut covered, mut asked_for) = (0u32, 0u32);
    for _ in 0..12 {
        let rows: Vec<Published> = (0..300).map(|_| publish(random)).collect();
        let possible: Vec<Vec<Row>> = rows.iter().map(Published::possible).collect();
        let evidence = read(&rows, &json!({}));
        let questions: Vec<(Asked, (f64, f64))> = (0..12)
            .map(|_| {
                let asked = Asked::draw(1, random);
                let question = format!("SELECT COUNT(*) WHERE {}", asked.sql());
                let interval =
                    ask(&evidence, &question)[0].possible_interval().unwrap();
                (asked, interval)
            })
            .filter(|(_, (low, high))| high - low > 8.0)
            .collect();
        for _ in 0..40 {
            let table: Vec<&Row> = possible
                .iter()
                .map(|rows| &rows[random.random_range(0..rows.len())])
                .collect();
            for (asked, (low, high)) in &questions {
                let truth = table.iter().filter(|row| asked.truth(row) == Some(true));
                let truth = truth.count() as f64;
                covered += u32::from(*low <= truth && truth <= *high);
                asked_for += 1;
            }
        }
    }
    let share = f64::from(covered) / f64::from(asked_for);
    assert!(
        asked_for > 2000 && (0.93..=0.97).contains(&share),
        "{share} of {asked_for}"
    );
}

/// A release of one row with the disease randomized: kept with `keep`, else drawn evenly.
fn noisy(row: &Published, published: &str, keep: f64) -> Evidence {
    let mut row = row.clone();
    row.texts[4] = published.to_owned();
    let bounds = vec![Value::Null; 2];
    let subtable = json!({
        "rows": 1, "domain": [["flu"], ["cold"]], "bounds": bounds,
        "operator": "uniform", "keep": keep,
    });
    let note = json!({
        "columns": ["disease"], "breaches": "upward", "noise": "fresh",
        "subtables": [subtable],
    });
    read(&[row], &json!({ "perturbation": [note] }))
}

#[test]
fn noise_beside_cells_is_undone_on_average() {
    let random = &mut ChaCha20Rng::seed_from_u64(74);
    for round in 0..25 {
        let row = publish(random);
        let keep = [0.3, 0.6, 0.9][round % 3];
        let asked = Asked::draw(2, random);
        for (measure, value) in [
            ("COUNT(*)", (|_: &Row| 1.0) as fn(&Row) -> f64),
            ("SUM(age)", |row: &Row| f64::from(row.age)),
            ("SUM(cost)", |row: &Row| f64::from(row.cost)),
        ] {
            let question = format!("SELECT {measure} WHERE {}", asked.sql());
            let answers = ["flu", "cold"].map(|published| {
                let evidence = noisy(&row, published, keep);
                let found = ask(&evidence, &question).remove(0);
                let variance = found.standard_error.unwrap().powi(2);
                (found.count, variance)
            });
            for truth in ["flu", "cold"] {
                let mut row = row.clone();
                row.disease = truth;
                let adds = |row: &Row| match asked.truth(row) {
                    Some(true) => (value(row), 0.0),
                    _ => (0.0, 0.0),
                };
                let expected = sums(std::slice::from_ref(&row), &adds);
                let chance = |published: &str| {
                    (1.0 - keep) / 2.0 + if published == truth { keep } else { 0.0 }
                };
                let chances = ["flu", "cold"].map(chance);
                let mean: f64 =
                    chances.iter().zip(&answers).map(|(p, (count, _))| p * count).sum();
                assert!(
                    (mean - expected.a).abs() < 1e-7,
                    "{question}: {mean} {expected:?}"
                );
                // The variance of the difference from what the row truly adds; an error of
                // less than zero is shown as zero.
                let spread: f64 = chances
                    .iter()
                    .zip(&answers)
                    .map(|(p, (count, _))| p * (count - expected.a).powi(2))
                    .sum();
                let stated: f64 =
                    chances.iter().zip(&answers).map(|(p, (_, v))| p * v).sum();
                let true_variance = spread + expected.aa;
                assert!(
                    stated > true_variance - 1e-7,
                    "{question}: {stated} {true_variance}"
                );
            }
        }
    }
}

#[test]
fn what_cells_do_not_tell_is_not_made_up() {
    let column = |name: &str, kind: &str, hierarchy: Value| {
        json!({
            "name": name, "role": "quasi", "type": kind, "missing": [""],
            "cells": "taxonomy", "hierarchy": hierarchy,
        })
    };
    let columns = json!([
        column(
            "zip",
            "category",
            json!({ "rule": "mask", "side": "right", "length": 5 })
        ),
        column("sex", "category", json!({ "rule": "plain" })),
        column(
            "age",
            "number",
            json!({ "rule": "cuts", "cuts": [[18.0, 65.0], [18.0]] })
        ),
        column(
            "born",
            "date",
            json!({ "rule": "calendar", "grains": ["month", "year"] })
        ),
    ]);
    let data = "zip,sex,age,born\n479**,f,\"[18, 65)\",2024-05\n479**,f,\"[65, inf)\",2024\n\
                4790*,*,\"(-inf, 18)\",2023\n4790*,m,*,2024-02-29\n";
    let made = ByHand::new(columns).with("rows", json!(4)).file("data.csv", data);
    let evidence = made.evidence().unwrap();
    let count = |condition: &str| {
        ask(&evidence, &format!("SELECT COUNT(*) WHERE {condition}")).remove(0).count
    };
    let refused = |question: &str| {
        let query = Query::parse(question).unwrap();
        let error = evidence.answer_by_law(&query, Way::Inverse).unwrap_err();
        (error.to_string(), error.hints().join(", "))
    };

    // Which zip codes a mask hides is not in the release, but which it does not hide is.
    let (message, hint) = refused("SELECT COUNT(*) WHERE zip = '47906'");
    assert!(
        message.contains("`479**`") && hint.contains("CELL(zip)"),
        "{message} {hint}"
    );
    assert_eq!(count("zip = '479**'"), 4.0);
    assert_eq!(count("zip = '12345'"), 0.0);
    assert_eq!(count("CELL(zip) = '479**'"), 2.0);
    assert!(refused("SELECT zip, COUNT(*) GROUP BY zip").0.contains("`479**`"));
    // The mask hides none that is not of its length.
    assert_eq!(count("zip IN ('479**', '12')"), 4.0);
    // Somebody of unknown sex is like the others: two women and one man.
    assert!((count("sex = 'f'") - 8.0 / 3.0).abs() < 1e-12);
    // But may be of any: nobody else is called so, and still nothing is certain.
    let found = ask(&evidence, "SELECT COUNT(*) WHERE sex = 'x'").remove(0);
    assert_eq!((found.count, found.at_least, found.at_most), (0.0, 0.0, 1.0));
    let found = ask(&evidence, "SELECT COUNT(*) WHERE sex IN ('f', 'm')").remove(0);
    assert_eq!((found.count, found.at_least, found.at_most), (4.0, 3.0, 4.0));
    let guessed =
        evidence.guessed(&Query::parse("SELECT sex, SUM(age) GROUP BY sex").unwrap());
    let guessed = guessed.unwrap();
    let guessed: Vec<_> = guessed.iter().map(|g| (g.column.as_str(), g.rows)).collect();
    assert_eq!(guessed, [("sex", 1), ("age", 3)]);
    // Open ranges are as long as the widest that is not, and `*` is like the three others.
    assert!((count("age >= 65") - 4.0 / 3.0).abs() < 1e-12);
    let below = 2.0 + 24.0 / 47.0;
    assert!((count("age < 88.5") - below * 4.0 / 3.0).abs() < 1e-12);
    // A day of May, one of 366 and one of 365, and the 29th of February.
    let may = 1.0 + 31.0 / 366.0;
    assert!((count("born BETWEEN '2024-05-01' AND '2024-05-31'") - may).abs() < 1e-12);
    assert!((count("born = '2024-05'") - may).abs() < 1e-12);
    assert_eq!(count("born < '2024-01-01'"), 1.0);
    assert!((count("born = '2024-02-29'") - (1.0 + 1.0 / 366.0)).abs() < 1e-12);
    let message = refused("SELECT SUM(born)").0;
    assert_eq!(message, "`born` does not have numbers to take SUM of");
    let message = refused("SELECT SUM(sex)").0;
    assert_eq!(message, "`sex` does not have numbers to take SUM of");
}

/// A row of a group with counted values: x and y are uncertain, z stands as it is.
type Counted = (u32, u32, u32);

fn orders(items: &[u32]) -> Vec<Vec<u32>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for place in 0..items.len() {
        let mut rest = items.to_vec();
        let first = rest.remove(place);
        for mut order in orders(&rest) {
            order.insert(0, first);
            all.push(order);
        }
    }
    all
}

/// Every table that a group may have been: each column in any order.
fn worlds(group: &[Counted]) -> Vec<Vec<Counted>> {
    let column = |of: fn(&Counted) -> u32| group.iter().map(of).collect::<Vec<u32>>();
    let mut worlds = Vec::new();
    for x in orders(&column(|row| row.0)) {
        for y in orders(&column(|row| row.1)) {
            let rows = group.iter().zip(&x).zip(&y);
            worlds.push(rows.map(|((row, x), y)| (*x, *y, row.2)).collect());
        }
    }
    worlds
}

fn counted(groups: &[Vec<Counted>]) -> Evidence {
    let (mut rows, mut cells) = (Vec::new(), "group,column,value,weight\n".to_owned());
    for (number, group) in (1..).zip(groups) {
        for row in group {
            rows.push(format!("{number},{}", row.2));
        }
        for (name, of) in [("x", (|r| r.0) as fn(&Counted) -> u32), ("y", |r| r.1)] {
            for value in 0..4 {
                let n = group.iter().filter(|row| of(row) == value).count();
                if n > 0 {
                    let weight = n as f64 / group.len() as f64;
                    cells += &format!("{number},{name},{value},{weight}\n");
                }
            }
        }
    }
    let quasi = |name| with(column(name, "quasi", "number"), "cells", json!("pdf"));
    ByHand::new(vec![quasi("x"), quasi("y"), column("z", "other", "number")])
        .with("weights", json!({ "file": "cells.csv", "kind": "table" }))
        .rows("group,z", &rows)
        .file("cells.csv", &cells)
        .evidence()
        .unwrap()
}

#[test]
fn counted_weights_leave_open_only_which_row_has_which_value() {
    let random = &mut ChaCha20Rng::seed_from_u64(75);
    type Test = (&'static str, fn(&Counted) -> bool);
    // Of one uncertain column, or of two of all three.
    let exact: [Test; 3] = [
        ("x >= 2", |r| r.0 >= 2),
        ("y IN (0, 3)", |r| r.1 == 0 || r.1 == 3),
        ("z = 1", |r| r.2 == 1),
    ];
    let open: [Test; 4] = [
        ("x >= 2 AND y < 2", |r| r.0 >= 2 && r.1 < 2),
        ("x = 1 OR z = 1", |r| r.0 == 1 || r.2 == 1),
        ("NOT (y > 0 AND z = 0)", |r| !(r.1 > 0 && r.2 == 0)),
        ("(x = 0 AND z = 0) OR (x > 1 AND z = 1)", |r| {
            r.0 == 0 && r.2 == 0 || r.0 > 1 && r.2 == 1
        }),
    ];
    for _ in 0..12 {
        let mut row = || {
            (
                random.random_range(0..4),
                random.random_range(0..4),
                random.random_range(0..2),
            )
        };
        let groups: Vec<Vec<Counted>> =
            (1..=4).map(|n| (0..n).map(|_| row()).collect()).collect();
        let evidence = counted(&groups);
        let worlds: Vec<Vec<Vec<Counted>>> = groups.iter().map(|g| worlds(g)).collect();
        // Mean, variance, least and most of a sum over rows.
        let oracle = |adds: &dyn Fn(&Counted) -> f64| {
            let mut all = (0.0, 0.0, 0.0, 0.0);
            for worlds in &worlds {
                let sums: Vec<f64> =
                    worlds.iter().map(|rows| rows.iter().map(adds).sum()).collect();
                let n = sums.len() as f64;
                let mean = sums.iter().sum::<f64>() / n;
                all.0 += mean;
                all.1 += sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / n;
                all.2 += sums.iter().copied().fold(f64::INFINITY, f64::min);
                all.3 += sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            }
            all
        };
        for (text, holds) in exact.iter().chain(&open) {
            let question = format!("SELECT COUNT(*) WHERE {text}");
            let (mean, variance, least, most) = oracle(&|row| number(holds(row)));
            let found = &ask(&evidence, &question)[0];
            near(found, mean, variance.sqrt(), &question);
            assert!(
                found.at_least <= least && most <= found.at_most,
                "{question}: {found:?}"
            );
            if variance < 1e-12 {
                assert_eq!(found.standard_error, Some(0.0), "{question}");
                assert_eq!(
                    (found.at_least, found.at_most),
                    (mean.round(), mean.round())
                );
            }
        }
        for (text, holds) in &exact {
            for (column, of) in
                [("x", (|r| r.0) as fn(&Counted) -> u32), ("z", |r| r.2)]
            {
                let question = format!("SELECT SUM({column}) WHERE {text}");
                let adds = |row: &Counted| number(holds(row)) * f64::from(of(row));
                let (mean, variance, ..) = oracle(&adds);
                near(&ask(&evidence, &question)[0], mean, variance.sqrt(), &question);
            }
        }
        let all = ask(&evidence, "SELECT AVG(x)").remove(0);
        let rows: Vec<f64> =
            groups.iter().flatten().map(|row| f64::from(row.0)).collect();
        near(&all, rows.iter().sum::<f64>() / rows.len() as f64, 0.0, "AVG(x)");
        let shares = ask(&evidence, "SELECT y, SHARE(*) GROUP BY y");
        assert!(shares.iter().all(|share| share.standard_error == Some(0.0)));
    }
}
