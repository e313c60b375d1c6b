//! `scumble estimate`: what a release tells about the table, with its error.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use scumble::error::{Error, Result};
use scumble::estimate::{Estimate, Evidence, Query, Way};
use scumble::recipe::{Stage, Watch};
use scumble::release::{Manifest, Release};
use serde_json::{Map, Value, json};

use crate::output::{aligned, counted, grouped, note, print};
use crate::progress::Progress;
use crate::result::SCHEMA;

/// Estimate counts of the table from a release, with standard errors.
///
/// Noise in randomized columns is undone on average, values that are published by group are
/// shared out among its rows, and the answer says how far it may be off. A question is SQL:
/// COUNT(*) or COUNT(column) with WHERE and GROUP BY, over columns that were published as
/// they are, randomized or by group; FROM may name anything.
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
    /// How the noise of randomized columns is undone [default: inverse].
    #[arg(long, value_enum)]
    way: Option<WayName>,
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
    /// The possible counts nearest to those of the inverse, each by its error.
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
    let way = chosen(args, &release.manifest)?;
    let progress = Progress::new(args.quiet || args.json || args.csv);
    progress.stage(Stage::Read, release.rows()?.bytes());
    let evidence = Evidence::read(&release, &|bytes| progress.advance(bytes));
    progress.finish();
    let evidence = evidence?;
    let estimates = evidence.answer(&query, way.map_or(Way::Inverse, WayName::way))?;
    let notes = notes(&release.manifest, &evidence, &query, &estimates)?;
    if args.json {
        let rows = evidence.n_rows();
        let object = as_json(args, way, &query, rows, &estimates, &notes);
        print(&format!("{object:#}\n"))?;
    } else if args.csv {
        print(&as_csv(&query, &estimates))?;
    } else if !args.quiet {
        let labels = labels(&release.manifest, &query, &estimates);
        print(&as_text(&query, labels, &estimates, way))?;
    }
    if !args.json && !args.quiet {
        notes.iter().for_each(|text| note(text));
    }
    Ok(ExitCode::SUCCESS)
}

/// The way to undo noise; nothing if there is none.
fn chosen(args: &EstimateArgs, manifest: &Manifest) -> Result<Option<WayName>> {
    match (args.way, &manifest.buckets) {
        (None, Some(_)) => Ok(None),
        (Some(_), Some(_)) => Err(Error::recipe(
            "`--way` undoes noise, but this release has no noise: it has values by group",
        )
        .with_hint("leave it out")),
        (way, None) => Ok(Some(way.unwrap_or(WayName::Inverse))),
    }
}

/// What a reader of the answer must know.
fn notes(
    manifest: &Manifest,
    evidence: &Evidence,
    query: &Query,
    estimates: &[Estimate],
) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for unknown in evidence.unknown(query)? {
        let mut text =
            format!("no row has `{}` in `{}`", unknown.value, unknown.column);
        if let Some(nearest) = unknown.nearest {
            text += &format!(": the release has `{nearest}`");
        }
        notes.push(text);
    }
    if estimates.iter().any(|estimate| amount(estimate.count).starts_with('-')) {
        notes.push(
            "counts below 0 come from the noise: read them as small; `--way iterative` \
             keeps them possible"
                .to_owned(),
        );
    }
    let wild = estimates.iter().filter(|estimate| estimate.tells_nothing()).count();
    if wild > 0 {
        let why = match manifest.buckets {
            None => {
                "their values are hardly ever published as they are, or few rows are asked \
                 about"
            }
            Some(_) => "few rows are asked about",
        };
        notes.push(format!(
            "{} of {} have errors so large that they tell nothing: {why}",
            grouped(wild as u64),
            counted(estimates.len() as u64, "count")
        ));
    }
    if let Some(buckets) = &manifest.buckets
        && estimates.iter().any(|estimate| estimate.standard_error != Some(0.0))
    {
        notes.push(format!(
            "within a group every arrangement of `{}` is taken as equally likely: where it \
             depends on the columns asked about, estimates lean towards independence, and \
             the error does not show it",
            buckets.column
        ));
    }
    let mut left_out = manifest.left_out;
    if manifest.sampled.is_some() {
        let groups = counted(manifest.rows, "group");
        notes.push(format!(
            "the counts rest on one row of each of {groups}: it stands for all rows of \
             its group"
        ));
        left_out = (manifest.rows + left_out).saturating_sub(evidence.n_rows() as u64);
    }
    if left_out > 0 {
        let rows = counted(left_out, "row");
        notes.push(format!("{rows} of the table were left out and are not counted"));
    }
    if manifest.experiment {
        notes.push(
            "randomness was fixed by a seed: this release is not for publication"
                .to_owned(),
        );
    }
    Ok(notes)
}

fn as_json(
    args: &EstimateArgs,
    way: Option<WayName>,
    query: &Query,
    rows: f64,
    estimates: &[Estimate],
    notes: &[String],
) -> Value {
    let estimates = estimates.iter().map(|estimate| {
        let names = query.group_by.iter().cloned();
        let values: Map<String, Value> =
            names.zip(estimate.values.iter().map(|text| json!(text))).collect();
        let (low, high) = estimate.possible_interval().unzip();
        let (uncut_low, uncut_high) = estimate.interval().unzip();
        json!({
            "values": values,
            "count": rounded(estimate.count),
            "unbiased": estimate.unbiased.map(rounded),
            "standard_error": estimate.standard_error.map(rounded),
            "low": low.map(rounded),
            "high": high.map(rounded),
            "uncut_low": uncut_low.map(rounded),
            "uncut_high": uncut_high.map(rounded),
        })
    });
    json!({
        "schema": SCHEMA,
        "question": args.question,
        "way": way.map_or("arrangements", WayName::name),
        "rows": rows as u64,
        "estimates": estimates.collect::<Vec<Value>>(),
        "notes": notes,
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

/// The values of each answer, as people read them.
fn labels(
    manifest: &Manifest,
    query: &Query,
    estimates: &[Estimate],
) -> Vec<Vec<String>> {
    // An empty value of a column that has no empty value for "missing" is a value.
    let missing: Vec<bool> = query
        .group_by
        .iter()
        .map(|name| {
            let column =
                manifest.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name));
            column.is_some_and(|column| column.reading().is_missing(""))
        })
        .collect();
    let label = |(text, missing): (&String, &bool)| match (text.as_str(), missing) {
        ("", true) => "(missing)".to_owned(),
        ("", false) => "''".to_owned(),
        _ => text.clone(),
    };
    let labels = |e: &Estimate| e.values.iter().zip(&missing).map(label).collect();
    estimates.iter().map(labels).collect()
}

fn as_text(
    query: &Query,
    labels: Vec<Vec<String>>,
    estimates: &[Estimate],
    way: Option<WayName>,
) -> String {
    let words = ["estimate", "± s.e.", "95 % interval"].map(str::to_owned);
    let header = query.group_by.iter().cloned().chain(words).collect();
    let counts: Vec<String> = estimates.iter().map(|e| amount(e.count)).collect();
    let errors: Vec<String> = estimates
        .iter()
        .map(|e| e.standard_error.map_or_else(|| "unknown".to_owned(), amount))
        .collect();
    let (counts, errors) = (to_the_right(counts, 8), to_the_right(errors, 6));
    let intervals = estimates.iter().map(|estimate| {
        // What is possible of a count below nought would look certain.
        let interval = match way {
            Some(WayName::Inverse) => estimate.interval(),
            _ => estimate.possible_interval(),
        };
        match (estimate.standard_error, interval) {
            (Some(0.0), _) => "exact".to_owned(),
            (_, Some((low, high))) => format!("{} to {}", amount(low), amount(high)),
            _ => "unknown".to_owned(),
        }
    });
    let rows = labels.into_iter().zip(counts).zip(errors).zip(intervals);
    let rows = rows.map(|(((mut cells, count), error), interval)| {
        cells.extend([count, error, interval]);
        cells
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
