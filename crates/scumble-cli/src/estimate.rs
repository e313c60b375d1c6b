//! `scumble estimate`: what a release tells about the table, with its error.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use scumble::error::Result;
use scumble::estimate::{Estimate, Evidence, Query, Way};
use scumble::recipe::{Stage, Watch};
use scumble::release::Release;
use serde_json::{Map, Value, json};

use crate::output::{aligned, counted, grouped, note, print};
use crate::progress::Progress;
use crate::result::SCHEMA;

/// Estimate counts of the table from a release, with standard errors.
///
/// Noise in randomized columns is undone on average, and the answer says how far it may be
/// off. A question is SQL: COUNT(*) or COUNT(column) with WHERE and GROUP BY, over columns
/// that were published as they are or randomized; FROM may name anything.
///
/// Example: scumble estimate release "SELECT disease, COUNT(*) FROM release WHERE age > 30
/// GROUP BY disease"
#[derive(Debug, Args)]
pub(crate) struct EstimateArgs {
    /// The release, a directory.
    release: PathBuf,
    /// The question.
    #[arg(value_name = "SQL")]
    question: String,
    /// How the noise is undone.
    #[arg(long, value_enum, default_value_t = WayName::Inverse)]
    way: WayName,
    /// Print the result as JSON.
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print the result as CSV.
    #[arg(long)]
    csv: bool,
    /// Print errors only; the exit code tells whether there is an answer.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum WayName {
    /// By the inverse matrix: unbiased, but counts can be negative.
    Inverse,
    /// The most likely counts.
    Iterative,
    /// The possible counts nearest to those of the inverse.
    Simplex,
}

impl WayName {
    fn way(self) -> Way {
        match self {
            Self::Inverse => Way::Inverse,
            Self::Iterative => Way::Iterative,
            Self::Simplex => Way::Simplex,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Inverse => "inverse",
            Self::Iterative => "iterative",
            Self::Simplex => "simplex",
        }
    }
}

pub(crate) fn run(args: &EstimateArgs) -> Result<ExitCode> {
    let query = Query::parse(&args.question)?;
    let release = Release::open(&args.release)?;
    let progress = Progress::new(args.quiet || args.json || args.csv);
    progress.stage(Stage::Read, release.rows()?.bytes());
    let evidence = Evidence::read(&release, &|bytes| progress.advance(bytes));
    progress.finish();
    let evidence = evidence?;
    let estimates = evidence.answer(&query, args.way.way())?;
    if args.json {
        let object = as_json(args, &query, evidence.n_rows(), &estimates);
        print(&format!("{object:#}\n"))?;
    } else if args.csv {
        print(&as_csv(&query, &estimates))?;
    } else if !args.quiet {
        print(&as_text(&query, &estimates))?;
        let left_out = release.manifest.left_out;
        if left_out > 0 {
            let rows = counted(left_out, "row");
            note(&format!("{rows} of the table were left out and are not counted"));
        }
        if release.manifest.experiment {
            note("randomness was fixed by a seed: this release is not for publication");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(
    args: &EstimateArgs,
    query: &Query,
    rows: f64,
    estimates: &[Estimate],
) -> Value {
    let estimates = estimates.iter().map(|estimate| {
        let names = query.group_by.iter().cloned();
        let values: Map<String, Value> =
            names.zip(estimate.values.iter().map(|text| json!(text))).collect();
        let (low, high) = estimate.possible_interval().unzip();
        json!({
            "values": values,
            "count": rounded(estimate.count),
            "standard_error": estimate.standard_error.map(rounded),
            "low": low.map(rounded),
            "high": high.map(rounded),
        })
    });
    json!({
        "schema": SCHEMA,
        "question": args.question,
        "way": args.way.name(),
        "rows": rows as u64,
        "estimates": estimates.collect::<Vec<Value>>(),
    })
}

fn as_csv(query: &Query, estimates: &[Estimate]) -> String {
    let names = ["count", "standard_error", "low", "high"].map(str::to_owned);
    let header: Vec<String> = query.group_by.iter().cloned().chain(names).collect();
    let rows = estimates.iter().map(|estimate| {
        let (low, high) = estimate.possible_interval().unzip();
        let numbers = [Some(estimate.count), estimate.standard_error, low, high];
        let numbers =
            numbers.map(|n| n.map_or_else(String::new, |n| rounded(n).to_string()));
        estimate.values.iter().cloned().chain(numbers).collect::<Vec<String>>()
    });
    let lines = std::iter::once(header).chain(rows).map(|cells| {
        let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
        cells.join(",") + "\n"
    });
    lines.collect()
}

/// A number with at most six decimals: further ones are noise of the machine.
fn rounded(number: f64) -> f64 {
    // Minus nought is nought.
    (number * 1e6).round() / 1e6 + 0.0
}

/// A cell of a CSV file.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

fn as_text(query: &Query, estimates: &[Estimate]) -> String {
    let words = ["estimate", "± s.e.", "95 % interval"].map(str::to_owned);
    let header = query.group_by.iter().cloned().chain(words).collect();
    let counts: Vec<String> = estimates.iter().map(|e| amount(e.count)).collect();
    let errors: Vec<String> = estimates
        .iter()
        .map(|e| e.standard_error.map_or_else(|| "unknown".to_owned(), amount))
        .collect();
    let (counts, errors) = (to_the_right(counts, 8), to_the_right(errors, 6));
    let rows = estimates.iter().zip(counts.into_iter().zip(errors));
    let rows = rows.map(|(estimate, (count, error))| {
        let interval = match (estimate.standard_error, estimate.possible_interval()) {
            (Some(0.0), _) => "exact".to_owned(),
            (_, Some((low, high))) => format!("{} to {}", amount(low), amount(high)),
            _ => "unknown".to_owned(),
        };
        estimate.values.iter().cloned().chain([count, error, interval]).collect()
    });
    aligned(&std::iter::once(header).chain(rows).collect::<Vec<Vec<String>>>())
}

/// A number of rows with at most one decimal, and with none if it is large.
fn amount(number: f64) -> String {
    let tenths = (number.abs() * 10.0).round();
    let sign = if number < 0.0 && tenths > 0.0 { "-" } else { "" };
    if number.abs() >= 100.0 || tenths % 10.0 == 0.0 {
        format!("{sign}{}", grouped(number.abs().round() as u64))
    } else {
        format!("{sign}{:.1}", tenths / 10.0)
    }
}

/// Texts that end below each other.
fn to_the_right(texts: Vec<String>, least: usize) -> Vec<String> {
    let widths = texts.iter().map(|text| text.chars().count());
    let width = widths.max().unwrap_or(0).max(least);
    texts.into_iter().map(|text| format!("{text:>width$}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        assert_eq!(amount(12_345.6), "12,346");
        assert_eq!(amount(-12.34), "-12.3");
        assert_eq!(amount(-0.04), "0");
        assert_eq!(amount(-250.0), "-250");
        assert_eq!(amount(9.97), "10");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
