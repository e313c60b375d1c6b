//! Questions to releases with blurred numbers: the posterior on the lattice, unbiased where
//! data are as even as assumed, exact where nothing was lost, and as wrong as they say.
#![expect(clippy::unwrap_used, reason = "a test may stop at any error")]

use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rand_distr::{Distribution, StandardNormal};
use scumble::estimate::{
    Check, Comparison, Condition, Estimate, Evidence, Literal, Measure, Query, Test,
    Way,
};
use scumble::release::{Release, checksum};
use serde_json::{Value, json};

/// A release as a test makes it: the columns `x` and `y` are blurred, `sex` and `batch` are
/// not.
struct Made {
    data: String,
    manifest: Value,
}

const HEADER: &str = "x,x.spread,y,y.spread,sex,batch";

/// What all releases here have.
fn made(header: &str, rows: &[String], blur: Value) -> Made {
    let column = |name: &str, role: &str, kind: &str| json!({ "name": name, "role": role, "type": kind, "missing": [""] });
    let data = std::iter::once(header).chain(rows.iter().map(String::as_str));
    let data: String = data.flat_map(|line| [line, "\n"]).collect();
    let manifest = json!({
        "format": 1, "software": "a test", "experiment": true,
        "rows": rows.len(), "left_out": 0,
        "data": { "file": "data.csv", "format": "csv" },
        "columns": [
            column("x", "quasi", "number"), column("y", "quasi", "number"),
            column("sex", "other", "category"), column("batch", "other", "number"),
        ],
        "blur": blur,
        "method": { "name": "blur" },
        "promises": [], "loss": {}, "not_promised": [], "checksums": {},
    });
    Made { data, manifest }
}

fn write(home: &Path, made: &Made) {
    fs::write(home.join("data.csv"), &made.data).unwrap();
    let mut manifest = made.manifest.clone();
    manifest["checksums"]["data.csv"] =
        json!(checksum(&home.join("data.csv")).unwrap());
    fs::write(home.join("manifest.json"), manifest.to_string()).unwrap();
}

fn read(made: &Made) -> scumble::error::Result<Evidence> {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), made);
    Evidence::read(&Release::open(home.path()).unwrap(), &|_| ())
}

fn evidence(made: &Made) -> Evidence {
    read(made).unwrap()
}

fn ask(evidence: &Evidence, question: &str) -> Vec<Estimate> {
    evidence.answer(&Query::parse(question).unwrap(), Way::Inverse).unwrap()
}

fn refused(evidence: &Evidence, question: &str) -> String {
    let query = Query::parse(question).unwrap();
    evidence.answer(&query, Way::Inverse).unwrap_err().to_string()
}

/// The note of a blur along the columns, not strict.
fn straight(shape: &str, decimals: [u32; 2], domains: [[f64; 2]; 2]) -> Value {
    json!({
        "shape": shape, "frame": "global", "strict": false,
        "columns": [
            { "name": "x", "decimals": decimals[0], "domain": domains[0] },
            { "name": "y", "decimals": decimals[1], "domain": domains[1] },
        ],
    })
}

fn normal(random: &mut ChaCha20Rng) -> f64 {
    StandardNormal.sample(random)
}

fn tail(u: f64) -> f64 {
    0.5 * libm_erfc(u / 2f64.sqrt())
}

/// The complementary error function, by a continued fraction or a series.
fn libm_erfc(u: f64) -> f64 {
    if u < 0.0 {
        return 2.0 - libm_erfc(-u);
    }
    if u < 2.0 {
        let (mut term, mut sum, mut n) = (u, u, 0.0);
        while term.abs() > 1e-17 {
            n += 1.0;
            term *= -u * u / n;
            sum += term / (2.0 * n + 1.0);
        }
        return 1.0 - sum * 2.0 / std::f64::consts::PI.sqrt();
    }
    let mut fraction = u;
    for n in (1..200).rev() {
        fraction = u + f64::from(n) / 2.0 / fraction;
    }
    (-u * u).exp() / fraction / std::f64::consts::PI.sqrt()
}

/// A row of the oracle: numbers in steps, and their laws.
#[derive(Debug, Clone)]
struct Row {
    z: [Option<i64>; 2],
    spread: [f64; 2],
    frame: usize,
    sex: &'static str,
}

/// How likely `z` comes from `x`, in steps.
fn likelihood(shape: &str, z: i64, x: i64, spread: f64) -> f64 {
    let d = (z - x) as f64;
    match shape {
        _ if spread == 0.0 => f64::from(u8::from(d == 0.0)),
        "gaussian" => tail((d - 0.5) / spread) - tail((d + 0.5) / spread),
        _ => f64::from(u8::from(2.0 * d.abs() < spread)) / spread,
    }
}

/// Whether a true row satisfies a condition, as SQL has it.
fn truth(condition: &Condition, x: [Option<f64>; 2], sex: &str) -> Option<bool> {
    match condition {
        Condition::Not(part) => truth(part, x, sex).map(|truth| !truth),
        Condition::And(parts) => kleene(parts, x, sex, false),
        Condition::Or(parts) => kleene(parts, x, sex, true),
        Condition::Test(test) if test.column == "sex" => match &test.check {
            Check::Compare(_, Literal::Text(text)) => Some(sex == text),
            _ => panic!("this is not asked of words"),
        },
        Condition::Test(test) => {
            let own = x[usize::from(test.column == "y")];
            let equal = |own: f64, literal: &Literal| match literal {
                Literal::Number(number) => (own - number).abs() < 1e-9,
                Literal::Text(_) => panic!("no texts are asked for"),
            };
            match &test.check {
                Check::Missing => Some(own.is_none()),
                Check::Among(literals) => {
                    own.map(|own| literals.iter().any(|l| equal(own, l)))
                }
                Check::Compare(comparison, literal) => own.map(|own| {
                    let Literal::Number(number) = literal else {
                        panic!("no texts are asked for")
                    };
                    let (less, same) = (own < number - 1e-9, equal(own, literal));
                    match comparison {
                        Comparison::Equal => same,
                        Comparison::NotEqual => !same,
                        Comparison::Less => less,
                        Comparison::AtMost => less || same,
                        Comparison::Greater => !less && !same,
                        Comparison::AtLeast => !less,
                    }
                }),
            }
        }
    }
}

/// One part with this truth decides; else one that is open leaves the whole open.
fn kleene(
    parts: &[Condition],
    x: [Option<f64>; 2],
    sex: &str,
    decides: bool,
) -> Option<bool> {
    let truths: Vec<Option<bool>> =
        parts.iter().map(|part| truth(part, x, sex)).collect();
    if truths.contains(&Some(decides)) {
        Some(decides)
    } else if truths.contains(&None) {
        None
    } else {
        Some(!decides)
    }
}

/// A condition of up to this depth.
fn drawn(depth: usize, random: &mut ChaCha20Rng) -> Condition {
    let parts = |random: &mut ChaCha20Rng| {
        (0..random.random_range(1..4)).map(|_| drawn(depth - 1, random)).collect()
    };
    match if depth == 0 { 3 } else { random.random_range(0..5) } {
        0 => Condition::And(parts(random)),
        1 => Condition::Or(parts(random)),
        2 => Condition::Not(Box::new(drawn(depth - 1, random))),
        _ => {
            let column = ["x", "y", "x", "y", "sex"][random.random_range(0..5)];
            let mut number = || {
                let steps = f64::from(random.random_range(-3i32..18));
                // `y` has one decimal; and some are between the numbers of the lattice.
                Literal::Number(if column == "y" {
                    steps / 10.0 + if steps == 4.0 { 0.05 } else { 0.0 }
                } else {
                    steps
                })
            };
            let (first, second) = (number(), number());
            let comparison = [
                Comparison::Equal,
                Comparison::NotEqual,
                Comparison::Less,
                Comparison::AtMost,
                Comparison::Greater,
                Comparison::AtLeast,
            ][random.random_range(0..6)];
            let check = match random.random_range(0..5) {
                _ if column == "sex" => {
                    Check::Compare(Comparison::Equal, Literal::Text("f".into()))
                }
                0 => Check::Missing,
                1 => Check::Among(vec![first, second]),
                _ => Check::Compare(comparison, first),
            };
            Condition::Test(Test { column: column.to_owned(), check })
        }
    }
}

#[test]
fn the_posterior_on_the_lattice() {
    let mut random = ChaCha20Rng::seed_from_u64(1);
    let mut open = 0;
    for round in 0..60 {
        let shape = ["gaussian", "uniform"][round % 2];
        // Two frames that divide `x` at 7.
        let mut note = straight(shape, [0, 1], [[0.0, 14.0], [-0.2, 1.1]]);
        note["strict"] = json!(true);
        note["frames"] = json!([
            { "frame": 1, "part": { "x": [null, 7.0] }, "levels": [[1.0, 1.0]] },
            { "frame": 2, "part": { "x": [7.0, null] }, "levels": [[1.0, 1.0]] },
        ]);
        let boxes = [[(0, 6), (-2, 11)], [(7, 14), (-2, 11)]];
        let mut rows = Vec::new();
        for _ in 0..6 {
            let frame = random.random_range(0..2usize);
            let (mut z, mut spread) = ([None; 2], [0.0; 2]);
            for (column, (low, high)) in boxes[frame].into_iter().enumerate() {
                let x = random.random_range(low..=high);
                let width = random.random_range(0..4i64);
                if random.random_range(0..8) == 0 {
                    continue;
                }
                let (noise, own) = match shape {
                    "uniform" => {
                        let noise = random.random_range(-width..=width);
                        (noise, if width == 0 { 0.0 } else { (2 * width + 1) as f64 })
                    }
                    _ => {
                        let noise = (width as f64 * normal(&mut random)).round();
                        (noise as i64, width as f64)
                    }
                };
                z[column] = Some(x + noise);
                spread[column] = own;
            }
            let sex = ["f", "m"][random.random_range(0..2)];
            rows.push(Row { z, spread, frame, sex });
        }
        let lines: Vec<String> = rows
            .iter()
            .map(|row| {
                let cell = |column: usize, scale: f64| match row.z[column] {
                    None => ",".to_owned(),
                    Some(z) => {
                        format!("{},{}", z as f64 / scale, row.spread[column] / scale)
                    }
                };
                let (x, y) = (cell(0, 1.0), cell(1, 10.0));
                format!("{x},{y},{},0,1,{}", row.sex, row.frame + 1)
            })
            .collect();
        let header = format!("{HEADER},level,frame");
        let evidence = evidence(&made(&header, &lines, note));
        for _ in 0..12 {
            let condition = drawn(3, &mut random);
            let query = Query {
                measure: Measure::Count,
                group_by: vec!["sex".into()],
                condition: condition.clone(),
            };
            let found = evidence.answer(&query, Way::Inverse).unwrap();
            let known = Condition::Not(Box::new(Condition::Test(Test {
                column: "y".into(),
                check: Check::Missing,
            })));
            let sums = Query {
                measure: Measure::Sum("y".into()),
                condition: Condition::And(vec![condition.clone(), known.clone()]),
                ..query
            };
            let sums = evidence.answer(&sums, Way::Inverse).unwrap();
            for sex in ["f", "m"] {
                let (mut count, mut variance) = (0.0, 0.0);
                let (mut sum, mut sum_variance) = (0.0, 0.0);
                for row in rows.iter().filter(|row| row.sex == sex) {
                    let ways = |column: usize| -> Vec<(Option<f64>, f64)> {
                        let Some(z) = row.z[column] else {
                            return vec![(None, 1.0)];
                        };
                        let (low, high) = boxes[row.frame][column];
                        let scale = [1.0, 10.0][column];
                        (low..=high)
                            .map(|x| {
                                let spread = row.spread[column];
                                let likely = likelihood(shape, z, x, spread);
                                (Some(x as f64 / scale), likely)
                            })
                            .collect()
                    };
                    let mut all = 0.0;
                    let (mut inside, mut first, mut second) = (0.0, 0.0, 0.0);
                    // Whether numbers matter at all, also those of the other frame.
                    let known = |column: usize| -> Vec<Option<f64>> {
                        match (row.z[column], column) {
                            (None, _) => vec![None],
                            (_, 0) => (0..=14).map(|x| Some(f64::from(x))).collect(),
                            _ => (-2..=11).map(|y| Some(f64::from(y) / 10.0)).collect(),
                        }
                    };
                    let satisfied = |x, y| truth(&condition, [x, y], sex) == Some(true);
                    let truths = known(0).into_iter().flat_map(|x| {
                        known(1).into_iter().map(move |y| satisfied(x, y))
                    });
                    let truths: Vec<bool> = truths.collect();
                    let decided = truths.iter().all(|truth| *truth == truths[0]);
                    for (x, px) in ways(0) {
                        for (y, py) in ways(1) {
                            all += px * py;
                            if satisfied(x, y) {
                                inside += px * py;
                                first += px * py * y.unwrap_or(0.0);
                                second += px * py * y.unwrap_or(0.0).powi(2);
                            }
                        }
                    }
                    open += usize::from(!decided);
                    let w = inside / all;
                    count += w;
                    variance += w * (1.0 - w);
                    match row.z[1] {
                        // As published, whatever the domain.
                        Some(z) if decided && w > 0.5 => {
                            sum += z as f64 / 10.0;
                            let spread = row.spread[1];
                            let square = |d: i64| {
                                (d * d) as f64 * likelihood(shape, d, 0, spread)
                            };
                            sum_variance += (-60..=60).map(square).sum::<f64>() / 100.0;
                        }
                        Some(_) => {
                            sum += first / all;
                            sum_variance += second / all - (first / all).powi(2);
                        }
                        None => {}
                    }
                }
                let of = |estimates: &[Estimate]| {
                    let own = estimates.iter().find(|e| e.values == [sex]);
                    own.map_or((0.0, 0.0), |e| (e.count, e.standard_error.unwrap()))
                };
                let (found, error) = of(&found);
                let what = format!("{shape} {sex} {condition:?} {rows:?}");
                assert!((found - count).abs() < 1e-9, "{found} {count} {what}");
                assert!((error.powi(2) - variance).abs() < 1e-9, "{what}");
                let (found, error) = of(&sums);
                assert!((found - sum).abs() < 1e-9, "{found} {sum} {what}");
                let found = error.powi(2);
                assert!(
                    (found - sum_variance).abs() < 1e-6 + 2e-6 * sum_variance,
                    "{found} {sum_variance} {what}"
                );
            }
        }
    }
    assert!(open > 300, "{open}");
}
