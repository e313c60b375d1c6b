//! How long randomizing takes: file to file beside the least that anybody could do, and the
//! search for matrices by the number of values.
//!
//! `cargo bench -p scumble --bench perturb` prints one line per case, the best of several
//! runs. The plain loop reads the file, replaces the last cell of each line by coin and
//! draw, and writes: no quotes, no check, no shuffle, no audit. Ratios and growth are what
//! to look at: machines differ.
#![allow(missing_docs, reason = "a benchmark has no interface")]
#![expect(clippy::disallowed_types, reason = "a benchmark measures time")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]
#![expect(clippy::unwrap_used, reason = "a benchmark may stop at any error")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::method::perturb::{Floor, Limits, fine_grain, general};
use scumble::promise::{Breaches, amplification};
use scumble::recipe::{Request, Spec, publish};
use scumble::watch::Unwatched;

/// The best of several runs, in seconds.
fn best(runs: usize, mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..runs).map(time).fold(f64::INFINITY, f64::min)
}

/// People sorted by disease, 50 of them, the commonest 15 times as common as the rarest.
fn table(rows: usize) -> String {
    let mut random = ChaCha20Rng::seed_from_u64(1);
    let weights: Vec<f64> = (0..50).map(|value| 1.0 / f64::from(value + 3)).collect();
    let total: f64 = weights.iter().sum();
    let mut text = String::with_capacity(rows * 24);
    text.push_str("age,sex,zip,disease\n");
    for (value, weight) in weights.iter().enumerate() {
        for _ in 0..(rows as f64 * weight / total).round() as usize {
            let (age, zip) =
                (random.random_range(18..90), random.random_range(10_000..99_999));
            let sex = if random.random::<bool>() { 'f' } else { 'm' };
            writeln!(text, "{age},{sex},{zip},disease{value:02}").unwrap();
        }
    }
    text
}

/// What somebody would write by hand.
fn plain(from: &Path, to: &Path) {
    let text = fs::read_to_string(from).unwrap();
    let mut random = ChaCha20Rng::seed_from_u64(2);
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let (rest, value) = line.rsplit_once(',').unwrap();
        out.push_str(rest);
        out.push(',');
        if random.next_u64() >> 56 < 20 {
            out.push_str(value);
        } else {
            write!(out, "disease{:02}", random.random_range(0..50)).unwrap();
        }
        out.push('\n');
    }
    fs::write(to, out).unwrap();
}

fn file_to_file(largest: usize) {
    println!(
        "{:<30} {:>10} {:>8} {:>14}",
        "file to file", "rows", "seconds", "to plain loop"
    );
    for rows in [100_000, 1_000_000, 10_000_000].into_iter().filter(|n| *n <= largest) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("table.csv");
        fs::write(&path, table(rows)).unwrap();
        let runs = if rows > 1_000_000 { 2 } else { 7 };
        let base = best(runs, || plain(&path, &home.path().join("plain.csv")));
        println!("{:<30} {rows:>10} {base:>8.3} {:>14.2}", "plain loop", 1.0);
        for (name, more) in [
            ("uniform-perturbation", ""),
            ("partitioned-perturbation", ""),
            ("fine-grain-perturbation", ""),
            ("general-perturbation", ""),
            ("uniform-perturbation", "format = \"parquet\""),
        ] {
            let text = format!(
                "[input]\ntable = \"table.csv\"\n[columns]\nage = \"quasi\"\nsex = \"quasi\"\n\
                 zip = \"quasi\"\ndisease = \"sensitive\"\n[promise]\nbreach = {{ prior = 0.12, \
                 posterior = 0.4 }}\n[method]\nname = \"{name}\"\n[release]\n{more}\n"
            );
            let spec = Spec::parse(&text, "recipe.toml").unwrap();
            let seconds = best(runs, || {
                let request =
                    Request { replace: true, ..Request::new(&spec, home.path()) };
                publish(request, &Unwatched).unwrap();
            });
            let title = if more.is_empty() {
                name.to_owned()
            } else {
                format!("{name}, parquet")
            };
            println!("{title:<30} {rows:>10} {seconds:>8.3} {:>14.2}", seconds / base);
        }
    }
}

fn matrices() {
    println!("\n{:<26} {:>10} {:>8} {:>14}", "matrix", "values", "seconds", "kept");
    for (size, most) in [(50, 3), (200, 3), (1000, 2), (15_000, 2)] {
        // Zipf's law, and beliefs that may grow threefold.
        let weights: Vec<f64> = (1..=size).map(|rank| 1.0 / f64::from(rank)).collect();
        let total: f64 = weights.iter().sum();
        let gammas: Vec<f64> = weights
            .iter()
            .map(|weight| amplification(weight / total, 3.0 * weight / total))
            .collect();
        for breaches in [Breaches::Upward, Breaches::Both] {
            let limits = Limits { gammas: &gammas, breaches };
            let mut kept = 0.0;
            let seconds = best(3, || {
                kept = fine_grain(limits, &weights).record_utility(&weights);
            });
            let name = format!("fine-grain, {}", breaches.name());
            println!("{name:<26} {size:>10} {seconds:>8.4} {kept:>14.4}");
            if most < 3 {
                continue;
            }
            let seconds = best(3, || {
                let operator = general(limits, &weights, Floor::Default).unwrap();
                kept = operator.record_utility(&weights);
            });
            let name = format!("general, {}", breaches.name());
            println!("{name:<26} {size:>10} {seconds:>8.4} {kept:>14.4}");
        }
    }
}

fn main() {
    let largest = std::env::args()
        .find_map(|argument| argument.strip_prefix("--largest=")?.parse().ok())
        .unwrap_or(1_000_000);
    file_to_file(largest);
    matrices();
}
