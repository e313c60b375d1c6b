//! How long publishing takes, file to file, and what the release costs.
//!
//! `cargo bench` prints one line per case: rows, lattice, seconds by stage (the best of
//! several runs), loss. Growth with rows and with the lattice is what to look at: machines
//! differ.
#![allow(missing_docs, reason = "a benchmark has no interface")]
#![expect(clippy::disallowed_types, reason = "a benchmark measures time")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]
#![expect(clippy::unwrap_used, reason = "a benchmark may stop at any error")]

mod people;
mod wide;

use std::sync::Mutex;
use std::time::Instant;

use scumble::recipe::{Request, Spec, publish};
use scumble::watch::{Stage, Watch};

struct Clock(Mutex<Vec<(Stage, Instant)>>);

impl Watch for Clock {
    fn stage(&self, stage: Stage, _bytes: u64) {
        self.0.lock().unwrap().push((stage, Instant::now()));
    }
}

/// Rows are then those of the population; the table has every 25th.
const PRESENCE: &str = "delta-presence = { min = 0.0, max = 0.2 }";

fn main() {
    let largest: u32 = std::env::args()
        .find_map(|argument| argument.strip_prefix("--largest=")?.parse().ok())
        .unwrap_or(1_000_000);
    println!(
        "{:<12} {:<34} {:>9} {:>7} {:>8} {:>6} {:>6} {:>6} {:>6} {:>6}  loss",
        "method",
        "promise",
        "rows",
        "lattice",
        "checked",
        "read",
        "search",
        "write",
        "audit",
        "all"
    );
    let cases = [
        ("full-domain", "k-anonymity = 5", "suppression = 0.0"),
        ("full-domain", "k-anonymity = 5", "suppression = 0.05"),
        ("full-domain", "k-anonymity = 5\nl-diversity = 3", "suppression = 0.05"),
        ("full-domain", "t-closeness = 0.2", "suppression = 0.0"),
        ("mondrian", "k-anonymity = 5", ""),
        ("mondrian", "k-anonymity = 5\nl-diversity = 3", ""),
        ("full-domain", PRESENCE, "suppression = 0.0"),
        ("full-domain", PRESENCE, "suppression = 0.05"),
        ("full-domain", PRESENCE, "cells = \"pdf\""),
        ("mondrian", PRESENCE, ""),
        ("mondrian", PRESENCE, "looks = \"free\""),
    ];
    // `--only=presence` runs the cases whose promise or method has this in it.
    let only: String = std::env::args()
        .find_map(|argument| Some(argument.strip_prefix("--only=")?.to_owned()))
        .unwrap_or_default();
    let columns = [9, 12, 15, 20, 25].into_iter();
    let many: Vec<usize> = columns.filter(|_| "many columns".contains(&only)).collect();
    if !many.is_empty() {
        let home = tempfile::tempdir().unwrap();
        let rows = largest.min(100_000);
        std::fs::write(home.path().join("wide.csv"), wide::table(rows as usize))
            .unwrap();
        for n_columns in many {
            let text = wide::recipe(n_columns, "suppression = 0.05");
            let about = format!("{n_columns} columns, k = 5, 5 % left out");
            timed(home.path(), rows, ("full-domain", &about), &text, 1);
        }
    }
    for rows in
        [10_000, 100_000, 1_000_000, 1_193_504].into_iter().filter(|n| *n <= largest)
    {
        let home = tempfile::tempdir().unwrap();
        let survey = people::survey(rows as usize);
        std::fs::write(home.path().join("survey.csv"), &survey).unwrap();
        std::fs::write(home.path().join("part.csv"), people::part(&survey)).unwrap();
        for (method, promise, more) in
            cases.into_iter().filter(|case| format!("{case:?}").contains(&only))
        {
            run(home.path(), rows, method, promise, more);
        }
    }
}

fn run(home: &std::path::Path, rows: u32, method: &str, promise: &str, more: &str) {
    let text = people::recipe(promise, &format!("name = \"{method}\"\n{more}"));
    let about = format!("{} {more}", promise.replace('\n', ", "));
    let times = if rows > 200_000 { 3 } else { 5 };
    timed(home, rows, (method, &about), &text, times);
}

fn timed(
    home: &std::path::Path,
    rows: u32,
    (method, about): (&str, &str),
    text: &str,
    times: usize,
) {
    let spec = Spec::parse(text, "recipe.toml").unwrap();
    let mut best: Option<(f64, Vec<f64>, String)> = None;
    for _ in 0..times {
        let clock = Clock(Mutex::new(Vec::new()));
        let start = Instant::now();
        let request = Request { replace: true, ..Request::new(&spec, home) };
        let published = publish(request, &clock).unwrap();
        let all = start.elapsed().as_secs_f64();
        let marks: Vec<Instant> =
            clock.0.into_inner().unwrap().into_iter().map(|(_, at)| at).collect();
        let ends = marks.iter().skip(1).copied().chain([start + start.elapsed()]);
        let stages = marks
            .iter()
            .zip(ends)
            .map(|(from, to)| (to - *from).as_secs_f64())
            .collect();
        let about = format!(
            "{method:<12} {about:<34} {rows:>9} {:>7} {:>8}",
            published.search.lattice, published.search.checked,
        );
        let loss = published.manifest.loss["loss"];
        let gap = published.search.proven.and_then(|proven| proven.gap());
        let gap = gap.filter(|gap| *gap > 0.0);
        let gap = gap.map(|gap| format!(", at most {:.0} % above", gap * 100.0));
        let line = format!("{about}\u{0}{loss:.4}{}", gap.unwrap_or_default());
        if best.as_ref().is_none_or(|(held, ..)| all < *held) {
            best = Some((all, stages, line));
        }
    }
    let (all, stages, line) = best.unwrap();
    let (about, loss) = line.split_once('\u{0}').unwrap();
    let stages: Vec<String> = stages.iter().map(|s| format!("{s:>6.3}")).collect();
    println!("{about} {} {all:>6.3}  {loss}", stages.join(" "));
}
