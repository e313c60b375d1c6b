//! Blurred releases, written by hand: rechecked, attacked, tampered with.

use std::fmt::Write;

use libm::erfc;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rand_distr::StandardNormal;
use scumble::audit::{self, Public, Report};
use scumble::error::Result;
use serde_json::{Value, json};

use crate::builder::{ByHand, attack, column};

/// How a test's release is made.
#[derive(Clone)]
struct Make {
    uniform: bool,
    k: f64,
    best_guess: Option<f64>,
    /// For each level the spread on each of the columns `x` and `y`.
    ladder: Vec<[f64; 2]>,
    /// Weights of turned axes.
    axes: Option<[[f64; 2]; 2]>,
    /// How much of the stated noise is drawn.
    noise: f64,
    seed: u64,
}

impl Default for Make {
    fn default() -> Self {
        Self {
            uniform: false,
            k: 5.0,
            best_guess: None,
            ladder: vec![[0.6, 0.6], [1.5, 1.5], [4.0, 4.0]],
            axes: None,
            noise: 1.0,
            seed: 1,
        }
    }
}

/// A person: sex, and two numbers on a lattice of hundredths; the second may be missing.
type Person = (&'static str, [f64; 2]);

const STEP: f64 = 0.01;

fn tail(u: f64) -> f64 {
    0.5 * erfc(u / 2f64.sqrt())
}

impl Make {
    /// Coordinates along the axes.
    fn along(&self, x: [f64; 2]) -> [f64; 2] {
        self.axes.map_or(x, |axes| axes.map(|axis| axis[0] * x[0] + axis[1] * x[1]))
    }

    /// How much a row counts for another one: the rule, plainly.
    fn count(&self, a: [f64; 2], b: [f64; 2], spreads: [f64; 2]) -> f64 {
        let dims: Vec<usize> = (0..2).filter(|axis| !a[*axis].is_nan()).collect();
        let (a, b) = (self.along(a), self.along(b));
        let w = |axis: usize| b[axis] - a[axis];
        if dims.iter().all(|axis| w(*axis) == 0.0) {
            return 1.0;
        }
        if self.uniform {
            let common = |axis: &usize| {
                let cut = self.axes.map_or(0.0, |axes| {
                    axes[*axis].iter().map(|weight| weight.abs() * STEP).sum()
                });
                let side = spreads[*axis];
                if side == 0.0 {
                    return if w(*axis) == 0.0 { 1.0 } else { 0.0 };
                }
                (side - 2.0 * cut).min(side - cut - w(*axis).abs()).max(0.0) / side
            };
            return dims.iter().map(common).product();
        }
        let apart = |axis: &usize| match w(*axis) {
            0.0 => 0.0,
            w => (w / spreads[*axis]).powi(2),
        };
        let half = 0.5 * dims.iter().map(apart).sum::<f64>().sqrt();
        if half <= 3.5 { tail(half) } else { 0.0 }
    }

    /// The level of every row; nothing for those left out.
    fn peel(&self, people: &[Person]) -> Vec<Option<usize>> {
        let same =
            |a: &Person, b: &Person| a.0 == b.0 && a.1[1].is_nan() == b.1[1].is_nan();
        let mut levels = vec![None; people.len()];
        for (level, spreads) in self.ladder.iter().enumerate() {
            let mut here: Vec<usize> =
                (0..people.len()).filter(|row| levels[*row].is_none()).collect();
            loop {
                let company = |row: &usize| -> f64 {
                    let others = here.iter().map(|other| &people[*other]);
                    let others = others.filter(|other| same(&people[*row], other));
                    let (a, spreads) = (people[*row].1, *spreads);
                    others.map(|other| self.count(a, other.1, spreads)).sum()
                };
                let keeps = |row: &usize| company(row) >= self.k * (1.0 + 1e-9);
                let kept: Vec<usize> = here.iter().copied().filter(keeps).collect();
                if kept.len() == here.len() {
                    break;
                }
                here = kept;
            }
            for row in here {
                levels[row] = Some(level);
            }
        }
        levels
    }

    /// The noise on both columns, rounded.
    fn noise(&self, spreads: [f64; 2], rng: &mut ChaCha20Rng) -> [f64; 2] {
        let drawn = spreads.map(|spread| {
            let spread = spread * self.noise;
            if !self.uniform {
                return spread * rng.sample::<f64, _>(StandardNormal);
            }
            if self.axes.is_some() {
                return spread * (rng.random::<f64>() - 0.5);
            }
            let half = (((spread / STEP) - 1.0) / 2.0).round().max(0.0) as i64;
            rng.random_range(-half..=half) as f64 * STEP
        });
        self.axes.map_or(drawn, |[[a, b], [c, d]]| {
            let [u, v] = drawn;
            let determinant = a * d - b * c;
            [(d * u - b * v) / determinant, (a * v - c * u) / determinant]
        })
    }
}

/// A release by hand.
struct Hand {
    made: ByHand,
    lines: Vec<String>,
    original: String,
}

fn cell(value: f64) -> String {
    if value.is_nan() { String::new() } else { format!("{value:.2}") }
}

impl Hand {
    fn new(make: &Make, people: &[Person]) -> Self {
        let levels = make.peel(people);
        let mut kinds: Vec<(&str, bool)> =
            people.iter().map(|person| (person.0, person.1[1].is_nan())).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let rotated = make.axes.is_some();
        let with_frames = rotated || kinds.len() > 1;
        let frames: Vec<Value> = (1..)
            .zip(&kinds)
            .map(|(number, (sex, missing))| {
                let ladder: Vec<&[f64]> = make
                    .ladder
                    .iter()
                    .map(|spreads| if *missing { &spreads[..1] } else { &spreads[..] })
                    .collect();
                let mut frame = json!({
                    "frame": number, "exact": { "sex": sex }, "levels": ladder,
                });
                if *missing {
                    frame["missing"] = json!(["y"]);
                }
                if let Some(axes) = make.axes {
                    frame["axes"] = json!(axes);
                }
                frame
            })
            .collect();
        let mut rng = ChaCha20Rng::seed_from_u64(make.seed);
        let mut lines: Vec<String> = Vec::new();
        for (person, level) in people.iter().zip(&levels) {
            let Some(level) = level else { continue };
            let spreads = make.ladder[*level];
            let noise = make.noise(spreads, &mut rng);
            let mut line = format!("{},", person.0);
            for axis in 0..2 {
                let value = person.1[axis];
                let _ = write!(line, "{},", cell(value + noise[axis]));
                if !rotated && value.is_nan() {
                    line.push(',');
                } else if !rotated {
                    let _ = write!(line, "{},", spreads[axis]);
                }
            }
            line.push_str("ill");
            if with_frames {
                let kind = (person.0, person.1[1].is_nan());
                let frame = kinds.iter().position(|known| *known == kind).unwrap() + 1;
                let _ = write!(line, ",{frame}");
            }
            let _ = write!(line, ",{}", level + 1);
            lines.push(line);
        }
        for place in (1..lines.len()).rev() {
            lines.swap(place, rng.random_range(0..=place));
        }
        let mut promise = json!({ "k": make.k, "strict": true });
        let mut blur = json!({
            "shape": if make.uniform { "uniform" } else { "gaussian" },
            "frame": if rotated { "rotated" } else { "global" },
            "strict": true,
            "columns": [
                { "name": "x", "decimals": 2, "domain": [-100.0, 100.0] },
                { "name": "y", "decimals": 2, "domain": [-100.0, 100.0] },
            ],
            "exact": ["sex"],
            "frames": frames,
        });
        if let Some(share) = make.best_guess {
            promise["best-guess"] = share.into();
            blur["best_guess"] = share.into();
        }
        let mut header = "sex,x,x.spread,y,y.spread,disease".to_owned();
        if rotated {
            header = header.replace(",x.spread", "").replace(",y.spread", "");
        }
        if with_frames {
            header.push_str(",frame");
        }
        header.push_str(",level");
        let left_out = people.len() - lines.len();
        let original = Self::table(people);
        let mut hand = Self::with(blur, promise, left_out, lines, original);
        hand.publish(&header);
        hand
    }

    fn table(people: &[Person]) -> String {
        let mut text = "sex,x,y,disease\n".to_owned();
        for (sex, [x, y]) in people {
            let _ = writeln!(text, "{sex},{},{},ill", cell(*x), cell(*y));
        }
        text
    }

    fn with(
        blur: Value,
        promise: Value,
        left_out: usize,
        lines: Vec<String>,
        original: String,
    ) -> Self {
        let columns = vec![
            column("sex", "quasi", "category"),
            column("x", "quasi", "number"),
            column("y", "quasi", "number"),
            column("disease", "sensitive", "category"),
        ];
        let made = ByHand::new(columns)
            .with("rows", json!(lines.len()))
            .with("left_out", json!(left_out))
            .with("blur", blur)
            .with("method", json!({ "name": "blur" }))
            .promise("expected-anonymity", promise);
        Self { made, lines, original }
    }

    /// Writes the files.
    fn publish(&mut self, header: &str) {
        let text = format!("{header}\n{}\n", self.lines.join("\n"));
        self.made.write("data.csv", &text);
    }

    fn header(&self) -> String {
        self.made.text("data.csv").lines().next().unwrap().to_owned()
    }

    fn audit(&self) -> Result<(Report, Public<Report>)> {
        let audit = self.made.audited(&*self.original, None)?;
        Ok((audit.private, audit.public))
    }

    fn alone(&self) -> Result<Report> {
        self.made.audit(None, None)
    }
}

/// Clusters of people, and some far from all others.
fn people(n: usize, seed: u64) -> Vec<Person> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut normal = |spread: f64| spread * rng.sample::<f64, _>(StandardNormal);
    let rounded = |x: f64| (x * 100.0).round() / 100.0 + 0.0;
    (0..n)
        .map(|row| {
            let sex = if row % 3 == 0 { "f" } else { "m" };
            let centre = (row % 4) as f64 * 3.0;
            let wide = if row % 20 == 0 { 3.0 } else { 1.0 };
            let y = rounded(normal(wide));
            let y = if row % 11 == 5 { f64::NAN } else { y };
            (sex, [rounded(centre + normal(wide)), y])
        })
        .collect()
}

fn makes() -> Vec<Make> {
    let turned = Some([[0.8, 0.6], [-0.5, 0.9]]);
    let sides = vec![[1.01, 1.01], [3.01, 3.01], [9.01, 9.01]];
    let gaussian = Make::default();
    let uniform = Make { uniform: true, ladder: sides, ..Make::default() };
    vec![gaussian, uniform.clone(), Make { axes: turned, ..uniform }]
}

/// Turned frames speak of all columns: nobody's number is missing.
fn of(make: &Make, n: usize, seed: u64) -> Vec<Person> {
    let mut people = people(n, seed);
    if make.axes.is_some() {
        people.retain(|person| !person.1[1].is_nan());
    }
    people
}

#[test]
fn releases_by_the_rule_hold() {
    for make in makes() {
        for seed in 0..6 {
            let make = Make { seed, ..make.clone() };
            let people = of(&make, 260, seed + 100);
            let hand = Hand::new(&make, &people);
            let (report, public) = hand.audit().unwrap();
            assert!(report.holds(), "{:?}", report.promises);
            let measured = &report.promises[0].measured;
            assert!(measured["k"].as_f64().unwrap() >= make.k);
            assert!(measured["mean"].as_f64().unwrap() >= make.k);
            // What needs the table is published with three digits.
            for name in ["k", "mean"] {
                let told = public.promises[0].measured[name].as_f64().unwrap();
                let own = measured[name].as_f64().unwrap();
                assert!((told - own).abs() <= 0.005 * own, "{told} {own}");
                assert_eq!(told, format!("{told:.2e}").parse::<f64>().unwrap());
            }
            let names: Vec<&str> =
                public.attacks.iter().map(|attack| &*attack.name).collect();
            assert_eq!(names, ["calibration"]);
            let calibration = attack(&report, "calibration");
            let classes = calibration.detail["classes"].as_f64().unwrap();
            assert!((calibration.success - classes / report.rows as f64).abs() < 1e-12);
            assert_eq!(attack(&report, "rank").success, 0.0);
            assert!(attack(&report, "best-guess").success < 0.5);
            let error = hand.alone().unwrap_err();
            assert_eq!(
                error.to_string(),
                "expected-anonymity cannot be rechecked without the original"
            );
        }
    }
}

/// Company counted plainly, and the mean rank by draws.
#[test]
fn what_is_measured_is_what_plain_sums_give() {
    for make in makes() {
        let people = of(&make, 300, 7);
        let levels = make.peel(&people);
        let mut smallest = f64::INFINITY;
        let mut sum = 0.0;
        for (row, level) in levels.iter().enumerate() {
            let Some(level) = level else { continue };
            let spreads = make.ladder[*level];
            let company: f64 = (0..people.len())
                .filter(|other| levels[*other] == Some(*level))
                .map(|other| (&people[row], &people[other]))
                .filter(|(a, b)| a.0 == b.0 && a.1[1].is_nan() == b.1[1].is_nan())
                .map(|(a, b)| match make.uniform {
                    true => make.count(a.1, b.1, spreads),
                    // Beyond the reach, too.
                    false => {
                        let (a, b) = (make.along(a.1), make.along(b.1));
                        let apart = (0..2).filter(|axis| !a[*axis].is_nan());
                        let apart = apart
                            .map(|axis| ((b[axis] - a[axis]) / spreads[axis]).powi(2));
                        match apart.sum::<f64>() {
                            0.0 => 1.0,
                            square => tail(0.5 * square.sqrt()),
                        }
                    }
                })
                .sum();
            smallest = smallest.min(company);
            sum += company;
        }
        let (report, _) = Hand::new(&make, &people).audit().unwrap();
        let measured = &report.promises[0].measured;
        let mean = sum / levels.iter().flatten().count() as f64;
        // With few digits, rounded down.
        let below = |key: &str, exact: f64| exact - measured[key].as_f64().unwrap();
        assert!((-1e-8..1e-3).contains(&below("k", smallest)));
        assert!((-1e-8..0.1).contains(&below("mean", mean)));
        assert_eq!(measured["counted"], "all company");
    }
}

#[test]
fn missing_noise_is_noticed() {
    for make in makes() {
        let made = Make { noise: 0.0, ..make.clone() };
        let (report, _) = Hand::new(&made, &of(&make, 500, 3)).audit().unwrap();
        assert!(!report.holds(), "{}", make.uniform);
        let promise = &report.promises[0];
        assert_eq!(promise.measured["noise"], "the noise is not as stated");
        assert!(promise.rows_at_risk > 0);
    }
}

/// Half of the noise is seen where there is more noise than difference.
#[test]
fn half_of_the_noise_is_noticed() {
    for make in makes() {
        let people: Vec<Person> = people(1700, 3)
            .into_iter()
            .filter(|person| !person.1[1].is_nan())
            .map(|person| ("f", [person.1[0] / 4.0, person.1[1]]))
            .map(|(sex, x)| (sex, x.map(|x| (x * 100.0).round() / 100.0 + 0.0)))
            .collect();
        let spread = if make.uniform { 13.01 } else { 4.0 };
        for (noise, holds) in [(1.0, true), (0.5, false)] {
            let ladder = vec![[spread; 2]];
            let made = Make { noise, ladder, k: 100.0, ..make.clone() };
            let hand = Hand::new(&made, &people);
            assert!(hand.lines.len() > 1400);
            let (report, _) = hand.audit().unwrap();
            assert_eq!(report.holds(), holds, "{noise} {}", make.uniform);
        }
    }
}

/// Without noise numbers must be the true ones, and rows that are equal hide each other.
#[test]
fn without_noise_numbers_are_the_true_ones() {
    let make = Make { ladder: vec![[0.0, 0.0], [0.0, 2.0]], ..Make::default() };
    let mut people = vec![("f", [1.25, 1.0]); 7];
    people.extend((0..40).map(|row| ("f", [3.25, f64::from(row) * 0.11])));
    let hand = Hand::new(&make, &people);
    let (report, _) = hand.audit().unwrap();
    assert!(report.holds(), "{:?}", report.promises);
    assert_eq!(attack(&report, "calibration").detail["classes"], 2);
    let mut forged = Hand::new(&make, &people);
    let line =
        forged.lines.iter_mut().find(|line| line.contains(",1.25,0,1.00,")).unwrap();
    *line = line.replace(",1.25,0,1.00,", ",1.25,0,1.01,");
    let header = forged.header();
    forged.publish(&header);
    let (report, _) = forged.audit().unwrap();
    assert!(!report.holds());
}

#[test]
fn tampering_is_noticed() {
    let make = Make::default();
    let people = people(260, 5);
    let another = "the release is not of this table, or not made by its own rule";

    // A row dropped.
    let mut hand = Hand::new(&make, &people);
    let header = hand.header();
    hand.lines.pop();
    hand.publish(&header);
    assert!(hand.audit().unwrap_err().to_string().contains("but there are"));
    hand.made.manifest["rows"] = hand.lines.len().into();
    assert_eq!(hand.audit().unwrap_err().to_string(), another);
    let left_out = hand.made.manifest["left_out"].as_u64().unwrap();
    hand.made.manifest["left_out"] = (left_out + 1).into();
    assert_eq!(hand.audit().unwrap_err().to_string(), another);

    // A level moved: spreads of the cells no longer fit; then these, too.
    let mut hand = Hand::new(&make, &people);
    let place = hand.lines.iter().position(|line| line.ends_with(",2")).unwrap();
    let at = hand.lines[place].len() - 1;
    hand.lines[place].replace_range(at.., "1");
    hand.publish(&header);
    assert!(
        hand.audit()
            .unwrap_err()
            .to_string()
            .ends_with("the spread is not the one of its level")
    );
    hand.lines[place] = hand.lines[place].replace(",1.5,", ",0.6,");
    hand.publish(&header);
    assert_eq!(hand.audit().unwrap_err().to_string(), another);

    // A spread lowered in the manifest; then in the cells, too.
    let mut hand = Hand::new(&make, &people);
    let frames = hand.made.manifest["blur"]["frames"].as_array_mut().unwrap();
    for frame in frames {
        frame["levels"][1][0] = json!(0.7);
    }
    assert!(hand.audit().unwrap_err().to_string().contains(".spread`"));
    for line in &mut hand.lines {
        let mut cells: Vec<&str> = line.split(',').collect();
        if cells[7] == "2" {
            cells[2] = "0.7";
        }
        *line = cells.join(",");
    }
    hand.publish(&header);
    assert_eq!(hand.audit().unwrap_err().to_string(), another);

    // Another table.
    let mut hand = Hand::new(&make, &people);
    hand.original = Hand::table(&self::people(260, 6));
    assert_eq!(hand.audit().unwrap_err().to_string(), another);
}

#[test]
fn what_cannot_be_meant_is_an_error() {
    let make = Make::default();
    let message = |change: &dyn Fn(&mut Value)| {
        let mut hand = Hand::new(&make, &people(120, 5));
        change(&mut hand.made.manifest["blur"]);
        hand.audit().unwrap_err().to_string()
    };
    assert_eq!(
        message(&|blur| blur["frames"][0]["levels"] = json!([[2.0, 2.0], [1.0, 3.0]])),
        "the manifest has a frame 1 whose ladder does not ascend"
    );
    assert_eq!(
        message(&|blur| blur["columns"][0]["domain"] = json!([2.0, 1.0])),
        "the manifest gives `x` an impossible domain"
    );
    assert_eq!(
        message(&|blur| blur["shape"] = json!("uniform")),
        "the manifest has a frame 1 with a spread that cannot be"
    );
    assert_eq!(
        message(&|blur| blur["frames"][1]["frame"] = json!(7)),
        "the manifest has a frame 2 out of order"
    );
    assert!(
        message(&|blur| blur["columns"][1]["decimals"] = json!(1))
            .ends_with("the number has too many decimals")
    );
}

/// Classes smaller than k break the promise, and that is seen without the table.
#[test]
fn small_classes_are_seen_from_the_files() {
    let mut hand = Hand::new(&Make::default(), &people(260, 5));
    hand.made.manifest["promises"][0]["asked"]["k"] = json!(1000);
    let report = hand.alone().unwrap();
    assert!(!report.holds());
    assert_eq!(report.promises[0].rows_at_risk, report.rows);
}

/// The rule for the best guess, plainly: its own points and all rivals.
fn best_guess(
    make: &Make,
    people: &[Person],
    row: usize,
    here: &[usize],
    s: [f64; 2],
) -> f64 {
    let phi = 1.324_717_957_244_746_f64;
    let mut sum = 0.0;
    for t in 0..512 {
        let p = [1, 2].map(|a| (0.5 + f64::from(t + 1) * phi.powi(-a)).fract());
        let v = |other: &usize| {
            [0, 1].map(|a| (people[*other].1[a] - people[row].1[a]) / s[a])
        };
        let equal = here.iter().filter(|other| v(other) == [0.0, 0.0]).count() as f64;
        if make.uniform {
            let fits = |other: &&usize| {
                (0..2).all(|a| (p[a] - 0.5 - v(other)[a]).abs() <= 0.5)
            };
            sum += 1.0 / here.iter().filter(fits).count() as f64;
            continue;
        }
        let g = p.map(|p| 2f64.sqrt() * statrs::function::erf::erf_inv(2.0 * p - 1.0));
        let length = g[0].hypot(g[1]);
        let radius = here.iter().map(v).map(|v| {
            let along = (v[0] * g[0] + v[1] * g[1]) / length;
            let square = v[0] * v[0] + v[1] * v[1];
            match along > 0.0 && 0.5 * square.sqrt() <= 3.5 {
                true => square / (2.0 * along),
                false => f64::INFINITY,
            }
        });
        let radius = radius.fold(f64::INFINITY, f64::min);
        sum += (1.0 - (-radius * radius / 2.0).exp()) / equal;
    }
    sum / 512.0
}

#[test]
fn the_best_guess_is_bounded_as_the_rule_says() {
    for (uniform, spreads, bound) in
        [(false, [2.0, 2.0], 0.4), (true, [4.01, 4.01], 0.3)]
    {
        let make = Make {
            uniform,
            best_guess: Some(bound),
            ladder: vec![spreads],
            ..Make::default()
        };
        let people: Vec<Person> = people(170, 9)
            .into_iter()
            .filter(|person| !person.1[1].is_nan())
            .map(|person| ("f", person.1))
            .collect();
        let mut here: Vec<usize> = (0..people.len()).collect();
        loop {
            let company = |row: usize| -> f64 {
                here.iter()
                    .map(|o| make.count(people[row].1, people[*o].1, spreads))
                    .sum()
            };
            let keeps = |row: &usize| {
                company(*row) >= make.k * (1.0 + 1e-9)
                    && best_guess(&make, &people, *row, &here, spreads) <= 0.9 * bound
            };
            let kept: Vec<usize> = here.iter().copied().filter(keeps).collect();
            if kept.len() == here.len() {
                break;
            }
            here = kept;
        }
        let all =
            here.iter().map(|row| best_guess(&make, &people, *row, &here, spreads));
        let largest = all.fold(0.0, f64::max);
        assert!(here.len() > 50 && here.len() < people.len(), "{}", here.len());
        // Only those are published.
        let kept: Vec<Person> = here.iter().map(|row| people[*row]).collect();
        let mut hand = Hand::new(&make, &kept);
        assert_eq!(hand.lines.len(), kept.len());
        hand.original = Hand::table(&people);
        hand.made.manifest["left_out"] = (people.len() - kept.len()).into();
        let (report, _) = hand.audit().unwrap();
        assert!(report.holds(), "{:?}", report.promises);
        let measured = report.promises[0].measured["best-guess"].as_f64().unwrap();
        assert!((measured - largest).abs() < 1e-9, "{measured} {largest}");
        let tried = attack(&report, "best-guess");
        assert!(tried.success < bound && tried.worst == measured);
    }
}

/// The source's scheme: every row its own spread, the smallest one, with four digits.
fn loose(uniform: bool, people: &[Person], k: f64, part: f64) -> Hand {
    let scales = [0, 1].map(|axis| {
        let mean = people.iter().map(|p| p.1[axis]).sum::<f64>() / people.len() as f64;
        let squares = people.iter().map(|p| (p.1[axis] - mean).powi(2));
        (squares.sum::<f64>() / people.len() as f64).sqrt()
    });
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let mut lines = Vec::new();
    for person in people {
        let company = |factor: f64| -> f64 {
            let others = people.iter().map(|other| {
                let v = [0, 1]
                    .map(|a| (other.1[a] - person.1[a]).abs() / scales[a] / factor);
                match (v == [0.0, 0.0], uniform) {
                    (true, _) => 1.0,
                    (_, true) => v.iter().map(|v| (1.0 - v).max(0.0)).product(),
                    (_, false) => tail(0.5 * v[0].hypot(v[1])),
                }
            });
            others.sum()
        };
        let (mut low, mut high) = (0.0, 50.0);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if company(middle) >= k { high = middle } else { low = middle }
        }
        let spreads = scales.map(|scale| {
            let wanted = high * scale * part;
            if uniform {
                let half = ((wanted / STEP - 1.0) / 2.0).ceil();
                return ((2.0 * half + 1.0) * STEP * 100.0).round() / 100.0;
            }
            let unit = 10f64.powi(wanted.log10().floor() as i32 - 3);
            format!("{:.6e}", (wanted / unit).ceil() * unit).parse().unwrap()
        });
        let make = Make { uniform, ..Make::default() };
        let noise = make.noise(spreads, &mut rng);
        let [x, y] = [0, 1].map(|a| cell(person.1[a] + noise[a]));
        lines.push(format!("{},{x},{},{y},{},ill", person.0, spreads[0], spreads[1]));
    }
    for place in (1..lines.len()).rev() {
        lines.swap(place, rng.random_range(0..=place));
    }
    let column =
        |name: &str| json!({ "name": name, "decimals": 2, "domain": [-99.0, 99.0] });
    let blur = json!({
        "shape": if uniform { "uniform" } else { "gaussian" },
        "frame": "global", "strict": false, "exact": ["sex"],
        "columns": [column("x"), column("y")],
    });
    let promise = json!({ "k": k, "strict": false });
    let mut hand = Hand::with(blur, promise, 0, lines, Hand::table(people));
    hand.publish("sex,x,x.spread,y,y.spread,disease");
    hand
}

fn one_kind(n: usize) -> Vec<Person> {
    let people = people(n, 21).into_iter().filter(|person| !person.1[1].is_nan());
    people.map(|person| ("f", person.1)).collect()
}

#[test]
fn spreads_of_ones_own_tell_who_is_who() {
    let people = one_kind(165);
    let (report, public) = loose(false, &people, 5.0, 1.0).audit().unwrap();
    assert!(report.holds(), "{:?}", report.promises);
    let measured = &report.promises[0].measured;
    assert_eq!(measured["strict"], false);
    assert!((measured["k"].as_f64().unwrap() - 5.0).abs() < 0.01);
    let calibration = attack(&report, "calibration");
    assert!(calibration.success > 0.9, "{}", calibration.success);
    assert!(calibration.chance < 0.01);
    // Such a release is not handed out, and its page says why.
    assert_eq!(attack(&public, "calibration").success, calibration.success);

    let (report, _) = loose(true, &people, 5.0, 1.0).audit().unwrap();
    assert!(report.holds(), "{:?}", report.promises);
    let (uniform, strict) = (attack(&report, "calibration"), Make::default());
    assert!(uniform.success > 0.1, "{}", uniform.success);
    let (report, _) = Hand::new(&strict, &people).audit().unwrap();
    assert!(attack(&report, "calibration").success < 0.03);
}

#[test]
fn spreads_that_are_too_small_are_noticed() {
    for uniform in [false, true] {
        let (report, _) = loose(uniform, &one_kind(330), 5.0, 0.9).audit().unwrap();
        assert!(!report.holds());
        assert!(report.promises[0].rows_at_risk > 100);
        assert!(report.promises[0].measured["k"].as_f64().unwrap() < 4.95);
    }
}

/// Spreads by neighbours are a fingerprint, too.
#[test]
fn local_spreads_tell_who_is_who() {
    let mut hand = loose(false, &one_kind(330), 5.0, 1.0);
    hand.made.manifest["blur"]["frame"] = json!("local");
    let (report, _) = hand.audit().unwrap();
    assert!(report.holds(), "{:?}", report.promises);
    let calibration = attack(&report, "calibration");
    assert!(calibration.success > 0.4, "{}", calibration.success);
}

fn condensed(sizes: &[usize], k: &Value) -> (Hand, Vec<Person>) {
    let people = one_kind(220);
    let mut lines = Vec::new();
    for (group, size) in (1..).zip(sizes) {
        lines.extend((0..*size).map(|_| format!("{group},f,1.00,2.00,ill")));
    }
    let people: Vec<Person> = people.into_iter().cycle().take(lines.len()).collect();
    let mut hand =
        Hand::with(Value::Null, json!({ "k": k }), 0, lines, Hand::table(&people));
    hand.made.manifest["condensed"] = json!({
        "groups": sizes.len(), "exact": ["sex"],
        "columns": [{ "name": "x", "decimals": 2, "domain": [-9.0, 9.0] }],
    });
    hand.publish("group,sex,x,y,disease");
    (hand, people)
}

#[test]
fn condensed_groups_are_as_large_as_promised() {
    let (hand, _) = condensed(&[5, 6, 9], &json!(5));
    let report = hand.alone().unwrap();
    assert!(report.holds());
    assert_eq!(report.promises[0].measured, json!({ "k": 5 }));
    let linkage = attack(&report, "linkage");
    assert!((linkage.success - 3.0 / 20.0).abs() < 1e-12);
    assert_eq!((linkage.worst, linkage.chance), (0.2, 0.05));
    let (hand, _) = condensed(&[5, 4, 9], &json!(5));
    let report = hand.alone().unwrap();
    assert!(!report.holds());
    assert_eq!(report.promises[0].rows_at_risk, 4);
    let (mut hand, _) = condensed(&[5, 4, 9], &json!(2));
    hand.made.manifest["condensed"]["groups"] = json!(4);
    assert!(hand.alone().unwrap_err().to_string().contains("groups, but there are 3"));
}

#[test]
fn the_page_tells_of_the_noise() {
    let hand = Hand::new(&Make::default(), &people(260, 5));
    let page = hand.made.page(Some(&hand.original));
    let (_, public) = hand.audit().unwrap();
    for text in [
        "How wide the noise is",
        "at least 5 people who fit as well",
        "<th>frame and level</th>",
        "guesses among the rows of that level",
        "normal noise was added; numbers have 2 decimals",
        "in standard deviations of its column",
        "Anybody who has the original table can recheck",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("best-guess"));
    let [risk] = &*public.risks else { panic!("{:?}", public.risks) };
    assert_eq!((risk.what.name(), risk.total()), ("company", public.rows));
    assert!(risk.people[6..].iter().all(|n| *n == 0), "nobody above 1 in 5");
    assert!(page.contains("For nobody it is above 20%."));
    let rows = |width: &audit::Width| width.rows.iter().sum::<u64>();
    assert!(public.widths.iter().all(|width| (1..=public.rows).contains(&rows(width))));
    assert!(page.contains("How wide the noise is beside its column"));
}
