//! Questions to releases with blurred numbers: the posterior on the lattice, unbiased where
//! data are as even as assumed, exact where nothing was lost, and as wrong as they say.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rand_distr::{Distribution, StandardNormal};
use scumble::estimate::{
    Check, Classifier, Comparison, Condition, Estimate, Evidence, Literal, Measure,
    Query, Test, Way,
};
use serde_json::{Value, json};

use crate::builder::{ByHand, ask, column};

const HEADER: &str = "x,x.spread,y,y.spread,sex,batch";

/// A release: the columns `x` and `y` are blurred, `sex` and `batch` are not.
fn made(header: &str, rows: &[String], blur: Value) -> ByHand {
    let columns = vec![
        column("x", "quasi", "number"),
        column("y", "quasi", "number"),
        column("sex", "other", "category"),
        column("batch", "other", "number"),
    ];
    ByHand::new(columns).with("blur", blur).rows(header, rows)
}

fn refused(evidence: &Evidence, question: &str) -> String {
    let query = Query::parse(question).unwrap();
    evidence.answer_by_law(&query, Way::Inverse).unwrap_err().to_string()
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
        Condition::NotTrue(part) => Some(truth(part, x, sex) != Some(true)),
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
                Check::Like(_) => panic!("this is not asked of numbers"),
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
        let evidence = made(&header, &lines, note).evidence().unwrap();
        for _ in 0..12 {
            let condition = drawn(3, &mut random);
            let query = Query {
                measure: Measure::Count,
                group_by: vec!["sex".into()],
                condition: condition.clone(),
            };
            let found = evidence.answer_by_law(&query, Way::Inverse).unwrap();
            let known = Condition::Not(Box::new(Condition::Test(Test {
                column: "y".into(),
                check: Check::Missing,
            })));
            let sums = Query {
                measure: Measure::Sum("y".into()),
                condition: Condition::And(vec![condition.clone(), known.clone()]),
                ..query
            };
            let sums = evidence.answer_by_law(&sums, Way::Inverse).unwrap();
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

/// A false alarm of one in a million, to both sides.
const ALARM: f64 = 4.9;

/// By how many standard errors estimates are off together, and how many intervals cover.
fn judged(found: &[Estimate], truths: &[f64]) -> (f64, f64) {
    assert_eq!(found.len(), truths.len());
    let (mut off, mut variance, mut covered) = (0.0, 0.0, 0);
    for (estimate, truth) in found.iter().zip(truths) {
        off += estimate.count - truth;
        variance += estimate.standard_error.unwrap().powi(2);
        let (low, high) = estimate.interval().unwrap();
        covered += usize::from(low <= *truth && *truth <= high);
    }
    (off / variance.sqrt(), covered as f64 / truths.len() as f64)
}

const BATCHES: usize = 1500;
const BATCH: usize = 120;

/// Noise in steps and its spread.
fn noise(shape: &str, width: f64, random: &mut ChaCha20Rng) -> f64 {
    match shape {
        "gaussian" => width * normal(random),
        _ => {
            let reach = ((width - 1.0) / 2.0) as i64;
            random.random_range(-reach..=reach) as f64
        }
    }
}

#[test]
fn counts_of_even_data_are_unbiased_and_as_wrong_as_they_say() {
    let mut random = ChaCha20Rng::seed_from_u64(2);
    for (shape, width) in [("gaussian", 12.0), ("uniform", 41.0)] {
        let mut rows = Vec::new();
        let mut low = vec![0.0; BATCHES];
        let mut middle = vec![0.0; BATCHES];
        let mut sums = vec![0.0; BATCHES];
        let mut naive = vec![0.0; BATCHES];
        for batch in 0..BATCHES {
            for _ in 0..BATCH {
                let x = f64::from(random.random_range(0..100i32));
                low[batch] += f64::from(u8::from(x < 15.0));
                middle[batch] += f64::from(u8::from((40.0..=60.0).contains(&x)));
                sums[batch] += if x < 15.0 { x } else { 0.0 };
                let z = (x + noise(shape, width, &mut random)).round();
                rows.push(format!("{z},{width},1,0,f,{batch}"));
                naive[batch] += match shape {
                    "gaussian" => tail((-0.5 - z) / width) - tail((14.5 - z) / width),
                    _ => {
                        let reach = (width - 1.0) / 2.0;
                        let n = (z + reach).min(14.0) - (z - reach).max(0.0) + 1.0;
                        n.max(0.0) / width
                    }
                };
            }
        }
        let note = straight(shape, [0, 0], [[0.0, 99.0], [0.0, 5.0]]);
        let evidence = made(HEADER, &rows, note).evidence().unwrap();
        let by = |what: &str, condition: &str| {
            ask(
                &evidence,
                &format!("SELECT batch, {what} WHERE {condition} GROUP BY batch"),
            )
        };
        let found = by("COUNT(*)", "x < 15");
        let questions = [
            (found.clone(), &low),
            (by("COUNT(*)", "x BETWEEN 40 AND 60"), &middle),
            (by("SUM(x)", "x < 15"), &sums),
        ];
        for (found, truths) in questions {
            let (off, covered) = judged(&found, truths);
            assert!(off.abs() < ALARM, "{shape}: {off}");
            assert!((0.93..=0.97).contains(&covered), "{shape}: {covered}");
        }
        // Twins that must be caught: what leaves the domain is not given back to it, and
        // errors half as large.
        let mut twin = found.clone();
        twin.iter_mut().zip(&naive).for_each(|(e, naive)| e.count = *naive);
        assert!(judged(&twin, &low).0.abs() > ALARM, "{shape}");
        let mut twin = found;
        let half =
            |e: &mut Estimate| e.standard_error = e.standard_error.map(|s| s / 2.0);
        twin.iter_mut().for_each(half);
        assert!(judged(&twin, &low).1 < 0.93, "{shape}");
    }
}

#[test]
fn sums_are_unbiased_whatever_the_data() {
    let mut random = ChaCha20Rng::seed_from_u64(3);
    for (shape, width) in [("gaussian", 9.0), ("gaussian", 0.4), ("uniform", 31.0)] {
        let mut rows = Vec::new();
        let (mut sums, mut counts) = (vec![0.0; BATCHES], vec![0.0; BATCHES]);
        for batch in 0..BATCHES {
            for row in 0..BATCH {
                // Nearly everybody has the same number, and a few the largest.
                let steps = if random.random_range(0..20) == 0 { 1000.0 } else { 3.0 };
                let sex = ["f", "m"][row % 2];
                if sex == "f" {
                    sums[batch] += steps / 10.0;
                    counts[batch] += 1.0;
                }
                let z = (steps + noise(shape, width, &mut random)).round();
                rows.push(format!("1,0,{},{},{sex},{batch}", z / 10.0, width / 10.0));
            }
        }
        let note = straight(shape, [0, 1], [[0.0, 5.0], [0.0, 100.0]]);
        let evidence = made(HEADER, &rows, note).evidence().unwrap();
        let by = |what: &str| {
            let question =
                format!("SELECT batch, {what} WHERE sex = 'f' GROUP BY batch");
            ask(&evidence, &question)
        };
        let means: Vec<f64> = sums.iter().zip(&counts).map(|(s, n)| s / n).collect();
        for (found, truths) in [(by("SUM(y)"), &sums), (by("AVG(y)"), &means)] {
            let (off, covered) = judged(&found, truths);
            assert!(off.abs() < ALARM, "{shape}: {off}");
            // Sums of noise of less than a step jump too far for an interval to be hit.
            let honest = if width < 1.0 { 0.91..=0.97 } else { 0.93..=0.97 };
            assert!(honest.contains(&covered), "{shape} {width}: {covered}");
        }
    }
}

#[test]
fn where_nothing_is_lost_the_answer_is_exact() {
    let rows: Vec<String> = (0..200)
        .map(|row| {
            let y =
                if row % 10 == 0 { ",".to_owned() } else { format!("{},0", row % 7) };
            let sex = ["f", "m"][row % 2];
            // `x` is published as it was for a half, and far from the limit for the rest.
            let x = if row < 100 { format!("{row},0") } else { "900,21".to_owned() };
            format!("{x},{y},{sex},{}", row % 4)
        })
        .collect();
    let note = straight("uniform", [0, 0], [[0.0, 1000.0], [0.0, 10.0]]);
    let evidence = made(HEADER, &rows, note).evidence().unwrap();
    assert_eq!(evidence.n_rows(), 200.0);
    let one = |question: &str| {
        let found = &ask(&evidence, question)[0];
        assert_eq!(found.standard_error, Some(0.0), "{question}");
        found.count
    };
    assert_eq!(one("SELECT COUNT(*)"), 200.0);
    assert_eq!(one("SELECT COUNT(*) WHERE sex = 'f' AND batch IN (0, 1)"), 50.0);
    assert_eq!(one("SELECT COUNT(*) WHERE x BETWEEN 10 AND 19"), 10.0);
    assert_eq!(one("SELECT COUNT(*) WHERE x BETWEEN 10 AND 19 OR x > 500"), 110.0);
    assert_eq!(one("SELECT COUNT(*) WHERE x <> 5 AND x < 500"), 99.0);
    assert_eq!(one("SELECT COUNT(y)"), 180.0);
    assert_eq!(one("SELECT COUNT(*) WHERE y IS NULL"), 20.0);
    // A missing number satisfies neither.
    assert_eq!(
        one("SELECT COUNT(*) WHERE y < 3") + one("SELECT COUNT(*) WHERE NOT y < 3"),
        180.0
    );
    let sum: usize = (0..200).filter(|row| row % 10 != 0).map(|row| row % 7).sum();
    assert_eq!(one("SELECT SUM(y)"), sum as f64);
    assert_eq!(one("SELECT AVG(y)"), sum as f64 / 180.0);
    assert_eq!(one("SELECT SUM(batch)"), 300.0);
    assert_eq!(one("SELECT AVG(batch) WHERE x < 500"), 1.5);
    let open = &ask(&evidence, "SELECT COUNT(*) WHERE x > 895 AND sex = 'f'")[0];
    assert!((open.count - 50.0 * 15.0 / 21.0).abs() < 1e-9);
    assert_eq!((open.at_least, open.at_most), (0.0, 50.0));
    for question in ["COUNT(*)", "SUM(x)", "SUM(y)", "SUM(batch)"] {
        let condition = "WHERE x > 895 OR y > 2";
        let all = ask(&evidence, &format!("SELECT {question} {condition}"))[0].count;
        let parts =
            format!("SELECT sex, batch, {question} {condition} GROUP BY sex, batch");
        let parts = ask(&evidence, &parts);
        let sum: f64 = parts.iter().map(|part| part.count).sum();
        assert!((sum - all).abs() < 1e-9 * all.abs(), "{question}: {sum} {all}");
        assert!(parts.len() > 3);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let rows = vec!["3,5,1,0,f,0".to_owned(), "4,5,2,0,m,1".to_owned()];
    let note = straight("uniform", [0, 0], [[0.0, 9.0], [0.0, 9.0]]);
    let good = || made(HEADER, &rows, note.clone());
    let found = good().evidence().unwrap();
    assert_eq!(
        refused(&found, "SELECT x, COUNT(*) GROUP BY x"),
        "`x` is blurred: its published numbers are not groups"
    );
    assert_eq!(
        refused(&found, "SELECT SUM(sex)"),
        "`sex` does not have numbers to take SUM of"
    );
    assert_eq!(
        refused(&found, "SELECT AVG(x) WHERE sex = 'd'"),
        "there is no mean: no row satisfies the condition"
    );
    assert_eq!(
        refused(&found, "SELECT COUNT(*) WHERE x = 'many'"),
        "`x` has numbers, but not `many`"
    );
    let query = Query::parse("SELECT COUNT(*)").unwrap();
    assert_eq!(
        found.answer_by_law(&query, Way::Simplex).unwrap_err().to_string(),
        "no matrix is undone, so there is no way to choose"
    );
    let many = (0..7).map(|n| format!("x <> {n} AND y <> {n}"));
    let many = many.collect::<Vec<_>>().join(" OR ");
    assert_eq!(ask(&found, &format!("SELECT COUNT(*) WHERE {many}"))[0].count, 2.0);
    let broken = |change: &dyn Fn(&mut ByHand)| {
        let mut made = good();
        change(&mut made);
        let error = made.evidence().unwrap_err().to_string();
        error
            .split_once("data.csv: ")
            .map_or(error.clone(), |(_, rest)| rest.to_owned())
    };
    assert_eq!(
        broken(&|made| made.replace("data.csv", "4,5,", "12,5,")),
        "row 2: the noise of `x` cannot lead from its domain to this number"
    );
    assert_eq!(
        broken(&|made| made.replace("data.csv", "4,5,", "4,,")),
        "row 2: the noise of `x` cannot lead from its domain to this number"
    );
    assert_eq!(
        broken(
            &|made| made.manifest["blur"]["columns"][0]["domain"] = json!([3.2, 3.4])
        ),
        "`x` has an empty domain"
    );
    assert_eq!(
        broken(&|made| made.manifest["blur"]["strict"] = json!(true)),
        "the columns are not those of the manifest"
    );
}

/// Two frames, turned by different angles, with a level each and a part of `x` each.
fn turned(shape: &str, angles: [f64; 2], spreads: [f64; 2]) -> Value {
    let mut note = straight(shape, [0, 0], [[0.0, 40.0], [0.0, 30.0]]);
    note["frame"] = json!("rotated");
    note["strict"] = json!(true);
    let frame = |number: usize, part: Value| {
        let (sin, cos) = angles[number - 1].sin_cos();
        json!({
            "frame": number, "part": { "x": part },
            "axes": [[cos, sin], [-sin, cos]], "levels": [[1.0, 1.0], spreads],
        })
    };
    note["frames"] =
        json!([frame(1, json!([null, 20.0])), frame(2, json!([20.0, null]))]);
    note
}

#[test]
fn turned_noise_is_tried_out() {
    let mut random = ChaCha20Rng::seed_from_u64(4);
    let angles: [f64; 2] = [0.5, -1.1];
    for (shape, spreads) in [("gaussian", [6.0, 1.5]), ("uniform", [16.0, 5.0])] {
        let step = |frame: usize, random: &mut ChaCha20Rng| -> [f64; 2] {
            let mut unit = || match shape {
                "gaussian" => normal(random),
                _ => random.random_range(-0.5..0.5),
            };
            let (sin, cos) = angles[frame].sin_cos();
            let (a, b) = (spreads[0] * unit(), spreads[1] * unit());
            [cos * a - sin * b, sin * a + cos * b]
        };
        let mut published = Vec::new();
        for row in 0..60 {
            let frame = row % 2;
            let low = 20 * frame as i32;
            let x = f64::from(random.random_range(low..20 + low + frame as i32));
            let y = f64::from(random.random_range(0..31i32));
            let noise = step(frame, &mut random);
            published.push((frame, [(x + noise[0]).round(), (y + noise[1]).round()]));
        }
        let lines: Vec<String> = published
            .iter()
            .map(|(frame, [x, y])| format!("{x},{y},f,1,2,{}", frame + 1))
            .collect();
        let note = turned(shape, angles, spreads);
        let evidence =
            made("x,y,sex,batch,level,frame", &lines, note).evidence().unwrap();

        // Plain draws of what may be behind each row.
        let n_draws = 10_000;
        let (mut count, mut count_variance) = (0.0, 0.0);
        let (mut sum, mut sum_variance) = (0.0, 0.0);
        for (frame, z) in &published {
            let (mut seen, mut hits, mut first, mut second) = (0.0, 0.0, 0.0, 0.0);
            for _ in 0..n_draws {
                let noise = step(*frame, &mut random);
                let [x, y] = [(z[0] - noise[0]).round(), (z[1] - noise[1]).round()];
                let own = if *frame == 0 { 0.0..=19.0 } else { 20.0..=40.0 };
                if !own.contains(&x) || !(0.0..=30.0).contains(&y) {
                    continue;
                }
                seen += 1.0;
                if (5.0..=25.0).contains(&x) && y > 12.0 || x < 2.0 {
                    hits += 1.0;
                    first += y;
                    second += y * y;
                }
            }
            let (w, first) = (hits / seen, first / seen);
            count += w;
            count_variance += w * (1.0 - w);
            sum += first;
            sum_variance += second / seen - first * first;
        }
        let condition = "WHERE x BETWEEN 5 AND 25 AND y > 12 OR x < 2";
        let close = |found: &Estimate, number: f64, variance: f64| {
            let error = found.standard_error.unwrap();
            // 256 noises a row are off by a few hundredths each, to both sides.
            assert!((found.count - number).abs() < 0.05 * error, "{found:?} {number}");
            assert!(
                (error / variance.sqrt() - 1.0).abs() < 0.03,
                "{found:?} {variance}"
            );
        };
        close(
            &ask(&evidence, &format!("SELECT COUNT(*) {condition}"))[0],
            count,
            count_variance,
        );
        close(
            &ask(&evidence, &format!("SELECT SUM(y) {condition}"))[0],
            sum,
            sum_variance,
        );

        // Without a condition numbers are added up as they are.
        let found = &ask(&evidence, "SELECT SUM(x)")[0];
        assert_eq!(found.count, published.iter().map(|(_, z)| z[0]).sum::<f64>());
        let of_unit = if shape == "gaussian" { 1.0 } else { 1.0 / 12.0 };
        let variance: f64 = published
            .iter()
            .map(|(frame, _)| {
                let (sin, cos) = angles[*frame].sin_cos();
                let squares = (cos * spreads[0]).powi(2) + (sin * spreads[1]).powi(2);
                squares * of_unit + 1.0 / 12.0
            })
            .sum();
        assert!((found.standard_error.unwrap() - variance.sqrt()).abs() < 1e-9);
    }
}

#[test]
fn levels_and_frames_must_be_known() {
    let note = turned("gaussian", [0.1, 0.2], [2.0, 1.0]);
    let message = |line: &str| {
        let lines = ["3,5,f,1,2,1".to_owned(), line.to_owned()];
        let made = made("x,y,sex,batch,level,frame", &lines, note.clone());
        let error = made.evidence().unwrap_err().to_string();
        error.split_once("data.csv: ").unwrap().1.to_owned()
    };
    assert_eq!(message("3,5,f,1,3,1"), "row 2: no `level` has this number");
    assert_eq!(message("3,5,f,1,1,0"), "row 2: no `frame` has this number");
    assert_eq!(message("3,,f,1,1,1"), "row 2: numbers are missing that its frame has");
}

/// A release whose rows were drawn anew: the group, both numbers and the sex of each.
fn anew(rows: &[(usize, f64, f64, &str)], decimals: u32) -> ByHand {
    let lines: Vec<String> = rows
        .iter()
        .map(|(group, x, y, sex)| format!("{group},{x},{y},{sex},0"))
        .collect();
    let column = |name: &str| json!({ "name": name, "decimals": decimals, "domain": [0.0, 100.0] });
    let condensed = json!({ "groups": 2, "columns": [column("x"), column("y")] });
    made("group,x,y,sex,batch", &lines, Value::Null).with("condensed", condensed)
}

#[test]
fn rows_that_were_drawn_anew_count_as_they_are() {
    let rows = [
        (1, 1.0, 10.0, "f"),
        (1, 2.0, 20.0, "f"),
        (1, 3.0, 30.0, "m"),
        (1, 6.0, 40.0, "m"),
        (2, 50.0, 7.0, "f"),
        (2, 52.0, 9.0, "m"),
    ];
    let evidence = anew(&rows, 0).evidence().unwrap();
    let one = |question: &str| {
        let found = &ask(&evidence, question)[0];
        (found.count, found.standard_error.unwrap().powi(2))
    };
    let close = |found: (f64, f64), wanted: (f64, f64)| {
        assert!((found.0 - wanted.0).abs() < 1e-9, "{found:?} {wanted:?}");
        assert!((found.1 - wanted.1).abs() < 1e-9, "{found:?} {wanted:?}");
    };
    close(one("SELECT COUNT(*) WHERE sex = 'f'"), (3.0, 0.0));
    // Half of the first group: 2 * 4 * 1/4 * 4/3; nothing of the second.
    close(one("SELECT COUNT(*) WHERE x < 2.5"), (2.0, 2.0 * 4.0 / 3.0));
    // Women are two of the first group.
    close(one("SELECT COUNT(*) WHERE x < 2.5 AND sex = 'f'"), (2.0, 4.0 / 3.0));
    // All of both groups: only the draws vary. Their variances are 14/3 and 2.
    close(one("SELECT SUM(x)"), (114.0, 4.0 * 14.0 / 3.0 + 2.0 * 2.0));
    close(one("SELECT AVG(x)"), (19.0, (56.0 / 3.0 + 4.0) / 36.0));
    // Two of four and one of two: the others share what is known of the mean.
    close(
        one("SELECT SUM(x) WHERE sex = 'f'"),
        (53.0, 2.0 * 1.5 * 14.0 / 3.0 + 1.5 * 2.0),
    );
    close(one("SELECT SUM(batch)"), (0.0, 0.0));
}

#[test]
fn errors_of_drawn_rows_are_those_of_their_model() {
    let mut random = ChaCha20Rng::seed_from_u64(6);
    let (n_groups, size, n_runs) = (40, 12, 400);
    let (mut off, mut variance, mut covered) = (0.0, 0.0, 0);
    for _ in 0..n_runs {
        let (mut truth, mut rows) = (0.0, Vec::new());
        for group in 0..n_groups {
            let low = f64::from(random.random_range(0..60i32));
            for _ in 0..size {
                let x: f64 = low + random.random_range(0.0..30.0);
                truth += f64::from(u8::from(x < 45.0));
                let drawn: f64 = low + random.random_range(0.0..30.0);
                let drawn = (drawn * 1e4).round() / 1e4;
                rows.push((group + 1, drawn, 0.0, "f"));
            }
        }
        let found =
            &ask(&anew(&rows, 4).evidence().unwrap(), "SELECT COUNT(*) WHERE x < 45")
                [0];
        off += found.count - truth;
        variance += found.standard_error.unwrap().powi(2);
        let (low, high) = found.interval().unwrap();
        covered += usize::from(low <= truth && truth <= high);
    }
    assert!(off.abs() < ALARM * variance.sqrt());
    // 4.9 standard deviations of 400 runs.
    let covered = f64::from(covered as u32) / f64::from(n_runs);
    assert!((0.897..=1.0).contains(&covered), "{covered}");
}

#[test]
fn neighbours_from_a_release() {
    let mut random = ChaCha20Rng::seed_from_u64(7);
    // Women are in the lower left of each frame's half.
    let point = |sex: &str, random: &mut ChaCha20Rng| {
        let from = if sex == "f" { 5.0 } else { 22.0 };
        [from + random.random_range(0.0..8.0), from + random.random_range(0.0..8.0)]
            .map(f64::round)
    };
    let mut sexes = ["f", "m"].into_iter().cycle();
    let mut straight_rows = Vec::new();
    let mut turned_rows = Vec::new();
    let mut anew_rows = Vec::new();
    for row in 0..400usize {
        let sex = sexes.next().unwrap();
        let [x, y] = point(sex, &mut random);
        let level = if row % 3 == 0 { 0.0 } else { 2.0 };
        let [u, v] =
            [normal(&mut random), normal(&mut random)].map(|e| (level * e).round());
        straight_rows.push(format!("{},{level},{},{level},{sex},0", x + u, y + v));
        let frame = if x < 20.0 { 1 } else { 2 };
        turned_rows.push(format!("{},{},{sex},0,2,{frame}", x + u, y + v));
        anew_rows.push((row / 8 + 1, x, y, sex));
    }
    turned_rows.push("3,9,,0,2,1".to_owned());
    let note = straight("gaussian", [0, 0], [[0.0, 40.0], [0.0, 30.0]]);
    let turned_note = turned("gaussian", [0.3, 0.9], [2.0, 2.0]);
    for made in [
        made(HEADER, &straight_rows, note),
        made("x,y,sex,batch,level,frame", &turned_rows, turned_note),
        anew(&anew_rows, 0),
    ] {
        let evidence = made.evidence().unwrap();
        let classifier = Classifier::of(&evidence, "sex").unwrap();
        assert_eq!(classifier.columns(), ["x", "y"]);
        assert_eq!(classifier.classes().collect::<Vec<_>>(), ["f", "m"]);
        assert_eq!(classifier.class_of("m"), Some(1));
        assert_eq!(classifier.class_of("d"), None);
        let mut right = 0;
        for row in 0..200 {
            let sex = ["f", "m"][row % 2];
            let found = classifier.classify(&point(sex, &mut random), 5);
            right += usize::from(found.class == row % 2);
            assert!((found.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
        assert!(right > 190, "{right}");
        let error = Classifier::of(&evidence, "x").unwrap_err().to_string();
        assert_eq!(error, "`x` has numbers that were changed: it cannot be the class");
    }
}
