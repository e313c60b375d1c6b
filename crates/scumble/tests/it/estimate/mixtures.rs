//! Releases whose columns were treated in different ways, held against enumeration of all
//! that the true table may have been.
//!
//! Two halves: what cells, blurs and groups leave open is enumerated given the release; the
//! noise of drawn columns is enumerated given the truth. Where both meet, the estimate must be
//! right on average over noise, and so must the square of its error.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::estimate::{Estimate, Evidence, Query, Way};
use serde_json::{Value, json};

use crate::builder::{ByHand, column, with};

/// What a true row has: `ward` is kept, `age` coarse, `ill` drawn, `weight` noisy, `job`
/// apart.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Row {
    ward: u32,
    age: u32,
    ill: usize,
    weight: i32,
    job: u32,
}

/// What was published of a row.
#[derive(Debug, Clone, Copy)]
struct Published {
    ward: u32,
    /// From 0 on in steps of 3, each cell of 3 ages.
    age: u32,
    ill: usize,
    weight: i32,
    group: usize,
}

/// How likely each value of `ill` (the column) is published as each (the row).
const MATRIX: [[f64; 2]; 2] = [[0.8, 0.3], [0.2, 0.7]];
/// Noise of `weight` reaches one step to either side, and true weights are from 0 to 5.
const REACH: i32 = 1;
const HEAVIEST: i32 = 5;

/// Which columns the release has beside `ward`.
#[derive(Debug, Clone, Copy, Default)]
struct Has {
    age: bool,
    ill: bool,
    weight: bool,
    job: bool,
}

/// Jobs of each group, in any order.
type Jobs = Vec<Vec<u32>>;

fn evidence(has: Has, rows: &[Published], jobs: &Jobs) -> Evidence {
    let mut columns = vec![column("ward", "other", "number")];
    let mut names = vec!["ward"];
    let mut made = ByHand::new(json!([]));
    if has.age {
        columns.push(age());
        names.push("age");
    }
    if has.ill {
        columns.push(column("ill", "sensitive", "number"));
        names.push("ill");
        made = made.with("perturbation", json!([illness()]));
    }
    if has.weight {
        columns.push(column("weight", "quasi", "number"));
        names.extend(["weight", "weight.spread"]);
        let blur = json!({
            "shape": "uniform", "frame": "global", "strict": false,
            "columns": [{ "name": "weight", "decimals": 0, "domain": [0, HEAVIEST] }],
        });
        made = made.with("blur", blur);
    }
    if has.job {
        columns.push(column("job", "sensitive", "number"));
        names.push("group");
        let mut values = "group,value,count\n".to_owned();
        for (group, jobs) in (1..).zip(jobs) {
            let mut own = jobs.clone();
            own.sort_unstable();
            for same in own.chunk_by(|a, b| a == b) {
                values += &format!("{group},{},{}\n", same[0], same.len());
            }
        }
        let (file, n) = ("sensitive.csv", jobs.len());
        let buckets = json!({ "file": file, "column": "job", "groups": n });
        made = made.with("buckets", buckets).file(file, &values);
    }
    let line = |row: &Published| {
        let mut cells = vec![row.ward.to_string()];
        if has.age {
            cells.push(format!("\"[{}, {}]\"", row.age, row.age + 2));
        }
        if has.ill {
            cells.push(row.ill.to_string());
        }
        if has.weight {
            cells.extend([row.weight.to_string(), (2 * REACH + 1).to_string()]);
        }
        if has.job {
            cells.push((row.group + 1).to_string());
        }
        cells.join(",")
    };
    let lines: Vec<String> = rows.iter().map(line).collect();
    let made = made.with("columns", json!(columns)).rows(&names.join(","), &lines);
    made.evidence().unwrap()
}

fn age() -> Value {
    with(column("age", "quasi", "number"), "cells", json!("interval"))
}

/// How `ill` is drawn.
fn illness() -> Value {
    json!({
        "columns": ["ill"], "subtables": [{
            "rows": 0, "domain": [["0"], ["1"]], "bounds": [null, null],
            "operator": "general", "matrix": MATRIX,
        }],
    })
}

/// A question, which columns it is about, and what it makes of a row: whether it counts, and
/// the number it adds.
struct Asked {
    condition: &'static str,
    needs: Has,
    counts: fn(&Row) -> bool,
}

const fn has(age: bool, ill: bool, weight: bool, job: bool) -> Has {
    Has { age, ill, weight, job }
}

const CONDITIONS: &[Asked] = &[
    Asked {
        condition: "age < 2 AND job = 1",
        needs: has(true, false, false, true),
        counts: |r| r.age < 2 && r.job == 1,
    },
    Asked {
        condition: "(age > 3 OR job = 2) AND ward = 0",
        needs: has(true, false, false, true),
        counts: |r| (r.age > 3 || r.job == 2) && r.ward == 0,
    },
    Asked {
        condition: "age < 4 AND ill = 1",
        needs: has(true, true, false, false),
        counts: |r| r.age < 4 && r.ill == 1,
    },
    Asked {
        condition: "NOT (age = 1 AND ill = 0)",
        needs: has(true, true, false, false),
        counts: |r| !(r.age == 1 && r.ill == 0),
    },
    Asked {
        condition: "ill = 1 AND job = 0",
        needs: has(false, true, false, true),
        counts: |r| r.ill == 1 && r.job == 0,
    },
    Asked {
        condition: "ill = 1 AND ward = 1 OR job = 2",
        needs: has(false, true, false, true),
        counts: |r| r.ill == 1 && r.ward == 1 || r.job == 2,
    },
    Asked {
        condition: "weight BETWEEN 1 AND 3 AND age < 2",
        needs: has(true, false, true, false),
        counts: |r| (1..=3).contains(&r.weight) && r.age < 2,
    },
    Asked {
        condition: "weight < 2 OR age = 4",
        needs: has(true, false, true, false),
        counts: |r| r.weight < 2 || r.age == 4,
    },
    Asked {
        condition: "weight >= 3 AND ill = 1",
        needs: has(false, true, true, false),
        counts: |r| r.weight >= 3 && r.ill == 1,
    },
    Asked {
        condition: "weight <> 2 AND (ill = 0 OR ward = 0)",
        needs: has(false, true, true, false),
        counts: |r| r.weight != 2 && (r.ill == 0 || r.ward == 0),
    },
    Asked {
        condition: "weight > 1 AND job = 1",
        needs: has(false, false, true, true),
        counts: |r| r.weight > 1 && r.job == 1,
    },
    Asked {
        condition: "weight > 3 AND job = 0 OR weight < 1 AND job <> 0",
        needs: has(false, false, true, true),
        counts: |r| r.weight > 3 && r.job == 0 || r.weight < 1 && r.job != 0,
    },
    Asked {
        condition: "age < 4 AND ill = 1 AND weight > 1 AND job < 2",
        needs: has(true, true, true, true),
        counts: |r| r.age < 4 && r.ill == 1 && r.weight > 1 && r.job < 2,
    },
];

/// What may be added up: a column, and its number in a row.
type Number = (&'static str, fn(&Row) -> f64, fn(Has) -> bool);

const NUMBERS: &[Number] = &[
    ("ward", |r| f64::from(r.ward) + 0.0, |_| true),
    ("age", |r| f64::from(r.age), |h| h.age),
    ("ill", |r| r.ill as f64, |h| h.ill),
    ("weight", |r| f64::from(r.weight), |h| h.weight),
    ("job", |r| f64::from(r.job), |h| h.job),
];

/// Mean and second moments over tables: count, sum, squares, product.
#[derive(Debug, Default, Clone, Copy)]
struct Over {
    weight: f64,
    count: f64,
    sum: f64,
    counts: f64,
    sums: f64,
    least: f64,
    most: f64,
}

/// All true tables behind a release, given true drawn values, each as likely as any other:
/// rows in some order of jobs, with any age of their cell and any weight within reach.
fn worlds(has: Has, rows: &[Published], drawn: &[usize], jobs: &Jobs) -> Vec<Vec<Row>> {
    let mut tables = vec![Vec::new()];
    for (published, ill) in rows.iter().zip(drawn) {
        let ages = if has.age { published.age..published.age + 3 } else { 0..1 };
        let (low, high) = match has.weight {
            true => (
                (published.weight - REACH).max(0),
                (published.weight + REACH).min(HEAVIEST),
            ),
            false => (0, 0),
        };
        let mut next = Vec::new();
        for table in &tables {
            for age in ages.clone() {
                for weight in low..=high {
                    let mut table: Vec<Row> = Vec::clone(table);
                    let (ward, ill) = (published.ward, *ill);
                    table.push(Row { ward, age, ill, weight, job: 0 });
                    next.push(table);
                }
            }
        }
        tables = next;
    }
    if !has.job {
        return tables;
    }
    for (group, jobs) in jobs.iter().enumerate() {
        let places: Vec<usize> =
            (0..rows.len()).filter(|row| rows[*row].group == group).collect();
        let mut orders = Vec::new();
        permuted(&mut jobs.clone(), 0, &mut orders);
        tables = tables
            .iter()
            .flat_map(|table| {
                orders.iter().map(|order| {
                    let mut table = table.clone();
                    for (place, job) in places.iter().zip(order) {
                        table[*place].job = *job;
                    }
                    table
                })
            })
            .collect();
    }
    tables
}

fn permuted(items: &mut [u32], done: usize, all: &mut Vec<Vec<u32>>) {
    if done == items.len() {
        return all.push(items.to_vec());
    }
    for next in done..items.len() {
        items.swap(done, next);
        permuted(items, done + 1, all);
        items.swap(done, next);
    }
}

fn over(
    tables: &[Vec<Row>],
    counts: fn(&Row) -> bool,
    number: fn(&Row) -> f64,
) -> Over {
    let mut all = Over { least: f64::MAX, ..Over::default() };
    for table in tables {
        let own = table.iter().filter(|row| counts(row));
        let (count, sum) =
            own.fold((0.0, 0.0), |(n, sum), row| (n + 1.0, sum + number(row)));
        all.weight += 1.0;
        all.count += count;
        all.sum += sum;
        all.counts += count * count;
        all.sums += sum * sum;
        all.least = all.least.min(count);
        all.most = all.most.max(count);
    }
    all
}

/// A small release: rows of two groups, few enough to be enumerated.
fn release(has: Has, random: &mut ChaCha20Rng) -> (Vec<Published>, Jobs) {
    let sizes = if has.age && has.weight { [2, 1] } else { [3, 2] };
    let mut rows = Vec::new();
    for (group, size) in sizes.into_iter().enumerate() {
        rows.extend((0..size).map(|_| Published {
            ward: random.random_range(0..2),
            age: 3 * random.random_range(0..2),
            ill: random.random_range(0..2),
            weight: random.random_range(-1..=HEAVIEST + 1),
            group,
        }));
    }
    let jobs = sizes.map(|n| (0..n).map(|_| random.random_range(0..3)).collect());
    (rows, jobs.to_vec())
}

fn ask(evidence: &Evidence, question: &str) -> Estimate {
    let query = Query::parse(question).unwrap();
    evidence.answer_by_law(&query, Way::Inverse).unwrap().remove(0)
}

fn near(found: f64, wanted: f64, what: &str) {
    let scale = wanted.abs().max(1.0);
    assert!((found - wanted).abs() < 1e-9 * scale, "{what}: {found} is not {wanted}");
}

#[test]
fn answers_are_those_of_all_tables_that_fit() {
    let mut random = ChaCha20Rng::seed_from_u64(11);
    for asked in CONDITIONS.iter().filter(|asked| !asked.needs.ill) {
        let has = asked.needs;
        for _ in 0..6 {
            let (rows, jobs) = release(has, &mut random);
            let evidence = evidence(has, &rows, &jobs);
            let tables = worlds(has, &rows, &vec![0; rows.len()], &jobs);
            for (name, number, _) in NUMBERS.iter().filter(|number| number.2(has)) {
                let truth = over(&tables, asked.counts, *number);
                let n = truth.weight;
                let what =
                    format!("{name} where {}: {rows:?} {jobs:?}", asked.condition);
                let found = ask(
                    &evidence,
                    &format!("SELECT COUNT(*) WHERE {}", asked.condition),
                );
                near(found.count, truth.count / n, &what);
                let variance = truth.counts / n - (truth.count / n).powi(2);
                near(found.standard_error.unwrap().powi(2), variance, &what);
                assert!(found.at_least <= truth.least, "{what}: {found:?} {truth:?}");
                assert!(found.at_most >= truth.most, "{what}: {found:?} {truth:?}");
                let question = format!("SELECT SUM({name}) WHERE {}", asked.condition);
                let found = ask(&evidence, &question);
                near(found.count, truth.sum / n, &what);
                let variance = truth.sums / n - (truth.sum / n).powi(2);
                near(found.standard_error.unwrap().powi(2), variance, &what);
            }
        }
    }
}

#[test]
fn beside_drawn_columns_answers_are_right_on_average() {
    let mut random = ChaCha20Rng::seed_from_u64(12);
    for asked in CONDITIONS.iter().filter(|asked| asked.needs.ill) {
        let has = asked.needs;
        for _ in 0..2 {
            let (rows, jobs) = release(has, &mut random);
            let true_ill: Vec<usize> = rows.iter().map(|row| row.ill).collect();
            let tables = worlds(has, &rows, &true_ill, &jobs);
            for (name, number, _) in NUMBERS.iter().filter(|number| number.2(has)) {
                let truth = over(&tables, asked.counts, *number);
                let n = truth.weight;
                let what =
                    format!("{name} where {}: {rows:?} {jobs:?}", asked.condition);
                // Over all that may be published in place of the truth.
                let mut means = [0.0; 6];
                for noise in 0..1usize << rows.len() {
                    let mut published = rows.clone();
                    let mut chance = 1.0;
                    for (row, own) in published.iter_mut().enumerate() {
                        own.ill = noise >> row & 1;
                        chance *= MATRIX[own.ill][true_ill[row]];
                    }
                    let evidence = evidence(has, &published, &jobs);
                    let count = ask(
                        &evidence,
                        &format!("SELECT COUNT(*) WHERE {}", asked.condition),
                    );
                    let sum = ask(
                        &evidence,
                        &format!("SELECT SUM({name}) WHERE {}", asked.condition),
                    );
                    assert!(
                        count.at_least <= truth.least && count.at_most >= truth.most
                    );
                    for (place, found) in [count, sum].iter().enumerate() {
                        means[3 * place] += chance * found.count;
                        means[3 * place + 1] += chance * found.count.powi(2);
                        means[3 * place + 2] +=
                            chance * found.standard_error.unwrap().powi(2);
                    }
                }
                near(means[0], truth.count / n, &what);
                near(means[3], truth.sum / n, &what);
                // The error of the estimate: noise and truth are independent of each other.
                let counts = means[1] - means[0].powi(2) + truth.counts / n
                    - (truth.count / n).powi(2);
                let sums = means[4] - means[3].powi(2) + truth.sums / n
                    - (truth.sum / n).powi(2);
                // Estimated variances below zero are shown as zero: never too small.
                for (found, wanted) in [(means[2], counts), (means[5], sums)] {
                    let least = wanted - 1e-9 * wanted.abs().max(1.0);
                    assert!(found >= least, "{what}: {found} is less than {wanted}");
                    assert!(found < 1.5 * wanted + 0.5, "{what}: {found} for {wanted}");
                }
            }
        }
    }
}

#[test]
fn groups_of_every_kind_add_up() {
    let mut random = ChaCha20Rng::seed_from_u64(13);
    let all = has(true, true, true, true);
    for _ in 0..20 {
        let (rows, jobs) = release(all, &mut random);
        let evidence = evidence(all, &rows, &jobs);
        let whole = ask(&evidence, "SELECT COUNT(*) WHERE weight > 1").count;
        for by in ["ward", "age", "ill", "job", "CELL(age)", "job, ill", "age, job"] {
            let question =
                format!("SELECT {by}, COUNT(*) WHERE weight > 1 GROUP BY {by}");
            let parts =
                evidence.answer_by_law(&Query::parse(&question).unwrap(), Way::Inverse);
            let sum: f64 = parts.unwrap().iter().map(|part| part.count).sum();
            near(sum, whole, by);
        }
        let query = Query::parse("SELECT weight, COUNT(*) GROUP BY weight").unwrap();
        let error = evidence.answer_by_law(&query, Way::Inverse).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`weight` is blurred: its published numbers are not groups"
        );
    }
}

#[test]
fn draws_agree_with_answers() {
    let mut random = ChaCha20Rng::seed_from_u64(14);
    const DRAWS: u64 = 4000;
    for has in [
        has(true, false, true, false),
        has(true, false, false, true),
        has(false, false, true, true),
        has(true, false, true, true),
    ] {
        let (rows, jobs) = release(has, &mut random);
        let evidence = evidence(has, &rows, &jobs);
        type Test<'a> = (&'a str, &'a str, fn(f64) -> bool);
        let mut tests: Vec<Test<'_>> = vec![("ward", "ward = 0", |v| v == 0.0)];
        if has.age {
            tests.push(("age", "age < 4", |v| v < 4.0));
        }
        if has.weight {
            tests.push(("weight", "weight > 2", |v| v > 2.0));
        }
        if has.job {
            tests.push(("job", "job <> 1", |v| v != 1.0));
        }
        tests.remove(0);
        let condition: Vec<&str> = tests.iter().map(|test| test.1).collect();
        let question = format!("SELECT COUNT(*) WHERE {}", condition.join(" AND "));
        let wanted = ask(&evidence, &question);
        let (mut sum, mut squares) = (0.0, 0.0);
        for seed in 0..DRAWS {
            let drawn = evidence.draw(seed).unwrap();
            let counts = (0..drawn.n_rows()).filter(|row| {
                tests.iter().all(|(name, _, test)| {
                    let column =
                        drawn.columns.iter().find(|c| c.name == *name).unwrap();
                    let text = &column.texts[column.codes[*row] as usize];
                    test(text.parse().unwrap())
                })
            });
            let count = counts.count() as f64;
            sum += count;
            squares += count * count;
        }
        let n = DRAWS as f64;
        let (mean, error) = (sum / n, wanted.standard_error.unwrap());
        let off = (mean - wanted.count).abs();
        assert!(off <= 5.0 * error / n.sqrt() + 1e-9, "{has:?}: {mean} {wanted:?}");
        let variance = squares / n - mean * mean;
        assert!(
            (variance - error * error).abs() < 0.15 * error * error + 1e-9,
            "{has:?}: {variance} {wanted:?}"
        );
    }
}

#[test]
fn rows_drawn_anew_stand_beside_cells() {
    let rows = [
        "1,0,\"[0, 2]\",1",
        "1,1,\"[0, 2]\",2",
        "1,0,\"[3, 5]\",3",
        "1,1,\"[0, 2]\",6",
    ];
    let ill = column("ill", "sensitive", "number");
    let condensed = json!({
        "groups": 1, "columns": [{ "name": "x", "decimals": 0, "domain": [0, 100] }],
    });
    let evidence = ByHand::new(vec![ill, age(), column("x", "quasi", "number")])
        .with("perturbation", json!([illness()]))
        .with("condensed", condensed)
        .rows("group,ill,age,x", &rows)
        .evidence()
        .unwrap();
    // Of the three rows with low ages, those below 3 are two: each counts for a third. Drawn
    // and true rows vary by the variance of a third or zero, and ages by 1/3 * 2/3.
    let found = ask(&evidence, "SELECT COUNT(*) WHERE x < 3 AND age = 1");
    near(found.count, 2.0 / 3.0, "count");
    let (n, below, third) = (4.0, 2.0, 1.0f64 / 3.0);
    let drawn = (below * third * third - (below * third).powi(2) / n) / (n - 1.0);
    let ages = below / n * third * (1.0 - third);
    near(found.standard_error.unwrap().powi(2), 3.0 * (2.0 * drawn + ages), "variance");
    let found = ask(&evidence, "SELECT COUNT(*) WHERE ill = 1 AND age < 3");
    assert!(found.standard_error.unwrap() > 0.0);
}

/// A group of three rows whose `x` was drawn anew, beside `ward` (kept), `ill` (drawn) and
/// `job` (apart).
fn redrawn(wards: &[u32], ill: &[usize], x: &[u32], jobs: &[u32]) -> Evidence {
    let row = |row: usize| format!("1,{},{},{}", wards[row], ill[row], x[row]);
    let rows: Vec<String> = (0..wards.len()).map(row).collect();
    let mut values = "group,value,count\n".to_owned();
    for same in jobs.chunk_by(|a, b| a == b) {
        values += &format!("1,{},{}\n", same[0], same.len());
    }
    let columns = ["ward", "ill", "x", "job"];
    let columns = columns.map(|name| column(name, "sensitive", "number"));
    let condensed = json!({
        "groups": 1, "columns": [{ "name": "x", "decimals": 0, "domain": [0, 100] }],
    });
    let buckets = json!({ "file": "sensitive.csv", "column": "job", "groups": 1 });
    ByHand::new(columns.to_vec())
        .with("perturbation", json!([illness()]))
        .with("buckets", buckets)
        .with("condensed", condensed)
        .file("sensitive.csv", &values)
        .rows("group,ward,ill,x", &rows)
        .evidence()
        .unwrap()
}

/// Whether a row counts.
type Counts = fn(&Row) -> bool;

/// What a row adds.
type Adds = fn(&Row) -> f64;

/// Within a group, true and drawn numbers come from one law: here one of three is 1, others
/// are 5. Over all that may be drawn and published, estimates are the mean over all true
/// tables, and the squares of their errors are what both vary by.
#[test]
fn rows_drawn_anew_multiply_with_other_laws() {
    const WARDS: [u32; 3] = [0, 1, 0];
    const ILL: [usize; 3] = [1, 0, 1];
    const JOBS: [u32; 3] = [0, 1, 1];
    const LAW: [(u32, f64); 2] = [(1, 1.0 / 3.0), (5, 2.0 / 3.0)];
    let asked: [(&str, Counts); 5] = [
        ("x < 3 AND ward = 0", |r| r.weight < 3 && r.ward == 0),
        ("x < 3 AND ill = 1", |r| r.weight < 3 && r.ill == 1),
        ("x < 3 AND job = 1", |r| r.weight < 3 && r.job == 1),
        ("x > 2 AND job = 1 OR ward = 1", |r| {
            r.weight > 2 && r.job == 1 || r.ward == 1
        }),
        ("(x < 3 OR job = 0) AND ill = 1", |r| {
            (r.weight < 3 || r.job == 0) && r.ill == 1
        }),
    ];
    let numbers: [(&str, Adds); 3] = [
        ("COUNT(*)", |_| 1.0),
        ("SUM(job)", |r| f64::from(r.job)),
        ("SUM(ill)", |r| r.ill as f64),
    ];
    let mut orders = Vec::new();
    permuted(&mut JOBS.clone(), 0, &mut orders);
    let drawn = |choice: usize| [0, 1, 2].map(|row| LAW[choice >> row & 1]);
    for ((condition, counts), (measure, number)) in
        asked.iter().flat_map(|asked| numbers.iter().map(move |number| (asked, number)))
    {
        let what = format!("SELECT {measure} WHERE {condition}");
        let (mut truth, mut squares) = (0.0, 0.0);
        for (choice, jobs) in (0..8).flat_map(|c| orders.iter().map(move |o| (c, o))) {
            let x = drawn(choice);
            let chance: f64 = x.iter().map(|(_, chance)| chance).product();
            let row = |row: usize| Row {
                ward: WARDS[row],
                age: 0,
                ill: ILL[row],
                weight: x[row].0 as i32,
                job: jobs[row],
            };
            let own = (0..3).map(row).filter(counts);
            let sum: f64 = own.map(|row| number(&row)).sum();
            truth += chance / orders.len() as f64 * sum;
            squares += chance / orders.len() as f64 * sum * sum;
        }
        let (mut mean, mut second, mut variance) = (0.0, 0.0, 0.0);
        for (choice, noise) in (0..8).flat_map(|c| (0..8usize).map(move |n| (c, n))) {
            let x = drawn(choice);
            let published = [0, 1, 2].map(|row| noise >> row & 1);
            let chance: f64 = x.iter().map(|(_, chance)| chance).product::<f64>()
                * (0..3).map(|row| MATRIX[published[row]][ILL[row]]).product::<f64>();
            let evidence = redrawn(&WARDS, &published, &x.map(|(x, _)| x), &JOBS);
            let found = ask(&evidence, &what);
            mean += chance * found.count;
            second += chance * found.count * found.count;
            variance += chance * found.standard_error.unwrap().powi(2);
        }
        near(mean, truth, &what);
        let wanted = second - mean * mean + squares - truth * truth;
        match what.contains("ill") {
            false => near(variance, wanted, &what),
            // Estimated variances below zero are shown as zero: never too small.
            true => {
                let least = wanted - 1e-9 * wanted.abs().max(1.0);
                assert!(variance >= least, "{what}: {variance} is less than {wanted}");
                assert!(variance < 1.5 * wanted + 0.5, "{what}: {variance}, {wanted}");
            }
        }
    }
}
