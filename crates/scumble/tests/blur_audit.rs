//! Blurred releases, written by hand: rechecked, attacked, tampered with.
#![expect(clippy::unwrap_used, reason = "a test may stop at any error")]

use std::fmt::Write;

use libm::erfc;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rand_distr::StandardNormal;
use scumble::audit::{self, Attack, Given, Report, original_numbers, write_page};
use scumble::error::Result;
use scumble::release::{Release, checksum};
use scumble::table::{Numbers, ReadOptions, Source};
use serde_json::{Value, json};
use tempfile::TempDir;

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
    home: TempDir,
    manifest: Value,
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
            let _ = write!(line, "ill,{}", level + 1);
            if with_frames {
                let kind = (person.0, person.1[1].is_nan());
                let frame = kinds.iter().position(|known| *known == kind).unwrap() + 1;
                let _ = write!(line, ",{frame}");
            }
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
        let mut header = "sex,x,x.spread,y,y.spread,disease,level".to_owned();
        if rotated {
            header = header.replace(",x.spread", "").replace(",y.spread", "");
        }
        if with_frames {
            header.push_str(",frame");
        }
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
        let column = |name: &str, role: &str, kind: &str| json!({ "name": name, "role": role, "type": kind, "missing": [""] });
        let manifest = json!({
            "format": 1, "software": "by hand", "experiment": false,
            "rows": lines.len(), "left_out": left_out,
            "data": { "file": "data.csv", "format": "csv" },
            "columns": [
                column("sex", "quasi", "category"), column("x", "quasi", "number"),
                column("y", "quasi", "number"), column("disease", "sensitive", "category"),
            ],
            "blur": blur,
            "method": { "name": "blur" },
            "promises": [{
                "name": "expected-anonymity", "asked": promise,
                "measured": null, "holds": true, "certified": "",
            }],
            "loss": {}, "not_promised": [], "checksums": {},
        });
        Self { home: tempfile::tempdir().unwrap(), manifest, lines, original }
    }

    /// Writes the files.
    fn publish(&mut self, header: &str) {
        let path = self.home.path().join("data.csv");
        let text = format!("{header}\n{}\n", self.lines.join("\n"));
        std::fs::write(&path, text).unwrap();
        self.manifest["checksums"]["data.csv"] = checksum(&path).unwrap().into();
    }

    fn header(&self) -> String {
        let text = std::fs::read_to_string(self.home.path().join("data.csv")).unwrap();
        text.lines().next().unwrap().to_owned()
    }

    fn open(&self) -> Release {
        let text = self.manifest.to_string();
        std::fs::write(self.home.path().join("manifest.json"), text).unwrap();
        Release::open(self.home.path()).unwrap()
    }

    fn numbers(&self, release: &Release) -> Numbers {
        let bytes = self.original.clone().into_bytes();
        let source =
            Source::from_bytes("original.csv", bytes, &ReadOptions::default()).unwrap();
        let task = original_numbers(&release.manifest).unwrap();
        Numbers::read(&source, &task, &|_| ()).unwrap()
    }

    fn audit(&self) -> Result<(Report, Report)> {
        let release = self.open();
        let numbers = self.numbers(&release);
        audit::audit_blur(&release, &numbers, &|_| ())
    }

    fn alone(&self) -> Result<Report> {
        audit::audit(&self.open(), Given::default(), &|_| ())
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

fn attack<'a>(report: &'a Report, name: &str) -> &'a Attack {
    report.attacks.iter().find(|attack| attack.name == name).unwrap()
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
            assert_eq!(public.promises[0].measured, *measured);
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
        assert!((measured["k"].as_f64().unwrap() - smallest).abs() < 1e-8);
        assert!((measured["mean"].as_f64().unwrap() - mean).abs() < 1e-8);
        assert_eq!(measured["counted"], "all company");
    }
}
