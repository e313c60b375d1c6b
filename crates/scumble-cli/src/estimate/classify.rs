//! `scumble estimate --classify`: classes of new rows, by the published ones that fit best.

use std::path::Path;
use std::process::ExitCode;

use scumble::error::{Error, Result};
use scumble::estimate::{Classifier, Evidence};
use scumble::release::Release;
use scumble::table::{Numbers, NumbersTask, ReadOptions, Reading, Source};
use scumble::watch::{Stage, Watch};
use serde_json::{Map, Value, json};

use crate::estimate::EstimateArgs;
use crate::output::{aligned, counted, grouped, note, percent, print};
use crate::progress::Progress;
use crate::result::SCHEMA;

/// What came of the rows of a file.
struct Classified<'a> {
    classes: Vec<&'a str>,
    /// How many rows were taken for each class.
    predicted: Vec<u64>,
    /// How many have a known class, and how many of these were taken for it.
    known: Option<(u64, u64)>,
    /// Rows with missing numbers.
    skipped: u64,
}

pub(super) fn run(args: &EstimateArgs, file: &Path, class: &str) -> Result<ExitCode> {
    if args.neighbours == 0 {
        return Err(Error::out_of_range("--neighbours", 0, "at least 1"));
    }
    let release = Release::open(&args.release)?;
    let progress = Progress::new(args.quiet || args.json);
    progress.stage(Stage::Read, release.rows()?.bytes());
    let evidence = Evidence::read(&release, &progress);
    progress.finish();
    let classifier = Classifier::of(&evidence?, class)?;
    let source = Source::open(file, &ReadOptions::default())?;
    let outcome = classified(args, &classifier, &source, class, &progress)?;
    if args.json {
        print(&format!("{:#}\n", as_json(args, class, &outcome)))?;
    } else if !args.quiet {
        print(&as_text(class, &outcome))?;
        if outcome.skipped > 0 {
            let rows = counted(outcome.skipped, "row");
            note(&format!("not classified, for missing numbers: {rows}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn classified<'a>(
    args: &EstimateArgs,
    classifier: &'a Classifier,
    source: &Source,
    class: &str,
    watch: &dyn Watch,
) -> Result<Classified<'a>> {
    let numbers = classifier.columns().iter();
    let numbers = numbers.map(|name| (name.as_str(), Reading::number())).collect();
    let labelled = source.header().iter().find(|name| name.eq_ignore_ascii_case(class));
    let exact = labelled.map(|name| (name.as_str(), Reading::category()));
    let exact: Vec<(&str, Reading)> = exact.into_iter().collect();
    let is_labelled = !exact.is_empty();
    let task = NumbersTask { numbers, exact, wish: None, person: None };
    let rows = Numbers::read(source, &task, watch)?;
    let classes: Vec<&str> = classifier.classes().collect();
    let mut predicted = vec![0; classes.len()];
    let (mut known, mut right, mut skipped) = (0, 0, 0);
    for row in 0..rows.n_rows {
        watch.check()?;
        let point = rows.row(row);
        if point.iter().any(|number| number.is_nan()) {
            skipped += 1;
            continue;
        }
        let found = classifier.classify(point, args.neighbours).class;
        predicted[found] += 1;
        if is_labelled {
            let label = &rows.kind_cells[rows.kinds[row] as usize][0];
            known += 1;
            right += u64::from(classifier.class_of(label) == Some(found));
        }
    }
    let known = is_labelled.then_some((known, right));
    Ok(Classified { classes, predicted, known, skipped })
}

fn as_json(args: &EstimateArgs, class: &str, outcome: &Classified) -> Value {
    let names = outcome.classes.iter().map(|name| (*name).to_owned());
    let predicted: Map<String, Value> =
        names.zip(outcome.predicted.iter().map(|n| json!(n))).collect();
    let accuracy =
        outcome.known.filter(|(known, _)| *known > 0).map(|(known, right)| {
            let (low, high) = wilson(right, known);
            json!({
                "rows": known, "right": right, "share": right as f64 / known as f64,
                "low": low, "high": high,
            })
        });
    json!({
        "schema": SCHEMA,
        "class": class,
        "neighbours": args.neighbours,
        "predicted": predicted,
        "accuracy": accuracy,
        "skipped": outcome.skipped,
    })
}

fn as_text(class: &str, outcome: &Classified) -> String {
    let header = vec![class.to_owned(), "rows".to_owned()];
    let rows = outcome.classes.iter().zip(&outcome.predicted);
    let rows = rows.map(|(name, n)| vec![(*name).to_owned(), grouped(*n)]);
    let mut text =
        aligned(&std::iter::once(header).chain(rows).collect::<Vec<Vec<String>>>());
    if let Some((known, right)) = outcome.known.filter(|(known, _)| *known > 0) {
        let (low, high) = wilson(right, known);
        text += &format!(
            "right: {} of {} ({}), 95 % interval {} to {}\n",
            grouped(right),
            grouped(known),
            percent(right as f64 / known as f64),
            percent(low),
            percent(high)
        );
    }
    text
}

/// Where a share lies with 95 %, if `hits` of `n` were seen: Wilson's interval, which stays
/// within 0 and 1.
fn wilson(hits: u64, n: u64) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    let (n, share) = (n as f64, hits as f64 / n as f64);
    let square = Z * Z / n;
    let middle = (share + square / 2.0) / (1.0 + square);
    let spread = share * (1.0 - share) / n + square / (4.0 * n);
    let reach = Z * spread.sqrt() / (1.0 + square);
    ((middle - reach).max(0.0), (middle + reach).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_shares() {
        let (low, high) = wilson(81, 263);
        assert!((low - 0.2553).abs() < 1e-4 && (high - 0.3662).abs() < 1e-4);
        assert_eq!(wilson(0, 10).0, 0.0);
        assert!((wilson(0, 10).1 - 0.2775).abs() < 1e-4);
    }
}
