//! `scumble estimate`: what a release tells about the table, with its error.

mod classify;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use scumble::error::{Error, Result};
use scumble::estimate::{Check, Condition, Estimate, Evidence, Measure, Query, Way};
use scumble::recipe::{Stage, Watch};
use scumble::release::{Manifest, Release};
use serde_json::{Map, Value, json};

use crate::output::{aligned, counted, grouped, note, print};
use crate::progress::Progress;
use crate::result::SCHEMA;

/// Estimate counts of the table from a release, with standard errors.
///
/// Noise in randomized columns is undone on average, values that are published by group are
/// shared out among its rows, blurred numbers count where they may lie, and the answer says
/// how far it may be off. A question is SQL: COUNT(*) or COUNT(column) with WHERE and GROUP
/// BY, over columns that were published as they are, randomized, by group, blurred or
/// condensed; of blurred and condensed releases also SUM(column) and AVG(column). FROM may
/// name anything.
///
/// With --classify, rows of a file get the class that blurred or condensed rows suggest.
///
/// Example: scumble estimate release "SELECT disease, COUNT(*) FROM release WHERE age > 30
/// GROUP BY disease"
#[derive(Debug, Args)]
pub(crate) struct EstimateArgs {
    /// The release, a directory.
    release: PathBuf,
    /// The question.
    #[arg(
        value_name = "SQL",
        required_unless_present = "classify",
        conflicts_with = "classify"
    )]
    question: Option<String>,
    /// A file with rows to classify by those of the release.
    #[arg(long, value_name = "FILE", requires = "class", conflicts_with_all = ["way", "csv"])]
    classify: Option<PathBuf>,
    /// The column that has the class.
    #[arg(long, value_name = "COLUMN", requires = "classify")]
    class: Option<String>,
    /// How many rows of the release decide about a class.
    #[arg(long, value_name = "Q", default_value_t = 10, requires = "classify")]
    neighbours: usize,
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
    if let (Some(file), Some(class)) = (&args.classify, &args.class) {
        return classify::run(args, file, class);
    }
    let question = args.question.as_deref().unwrap_or_default();
    let query = Query::parse(question)?;
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
        let way = way.map_or_else(|| without_way(&release.manifest), WayName::name);
        let asked = json!({ "question": question, "way": way, "rows": rows as u64 });
        let object = as_json(asked, &query, &estimates, &notes);
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

/// The way to undo noise; nothing if there is none to choose.
fn chosen(args: &EstimateArgs, manifest: &Manifest) -> Result<Option<WayName>> {
    let refused = |why: &str| {
        let message = format!("`--way` undoes noise, but {why}");
        Err(Error::recipe(message).with_hint("leave it out"))
    };
    let by_group = manifest.buckets.is_some();
    let numbers = manifest.blur.is_some() || manifest.condensed.is_some();
    match args.way {
        Some(_) if by_group => {
            refused("this release has no noise: it has values by group")
        }
        Some(_) if numbers => refused("blurred numbers have one way only"),
        None if by_group || numbers => Ok(None),
        way => Ok(Some(way.unwrap_or(WayName::Inverse))),
    }
}

/// What stands in place of a way if there is none to choose.
fn without_way(manifest: &Manifest) -> &'static str {
    if manifest.blur.is_some() {
        "posterior"
    } else if manifest.condensed.is_some() {
        "pseudo-rows"
    } else {
        "arrangements"
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
    let counting = query.measure == Measure::Count;
    if counting && estimates.iter().any(|e| amount(e.count).starts_with('-')) {
        notes.push(
            "counts below 0 come from the noise: read them as small; `--way iterative` \
             keeps them possible"
                .to_owned(),
        );
    }
    let wild = estimates.iter().filter(|estimate| estimate.tells_nothing()).count();
    if wild > 0 {
        let why = if manifest.perturbation.is_empty() {
            "few rows are asked about"
        } else {
            "their values are hardly ever published as they are, or few rows are asked \
             about"
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
    let open = estimates.iter().any(|estimate| estimate.standard_error != Some(0.0));
    if manifest.blur.is_some() && open && asks_of_numbers(manifest, &query.condition) {
        notes.push(
            "true numbers are taken as evenly spread within their blur: where they are \
             much more concentrated, estimates lean towards even, and the error does not \
             show it"
                .to_owned(),
        );
    }
    if manifest.condensed.is_some() && open {
        notes.push(
            "rows were drawn anew, group by group: the error is that of rows that are \
             spread alike within their group"
                .to_owned(),
        );
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

/// Whether a condition tests blurred columns.
fn asks_of_numbers(manifest: &Manifest, condition: &Condition) -> bool {
    let blurred = |name: &str| {
        let columns = manifest.blur.iter().flat_map(|blur| &blur.columns);
        columns.into_iter().any(|column| column.name.eq_ignore_ascii_case(name))
    };
    match condition {
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().any(|part| asks_of_numbers(manifest, part))
        }
        Condition::Not(part) => asks_of_numbers(manifest, part),
        Condition::Test(test) => test.check != Check::Missing && blurred(&test.column),
    }
}

/// What the estimates of a question are called.
fn called(query: &Query) -> &'static str {
    match query.measure {
        Measure::Count => "count",
        Measure::Sum(_) => "sum",
        Measure::Mean(_) => "mean",
    }
}

/// `asked` says how the question was put; the rest follows it.
fn as_json(
    asked: Value,
    query: &Query,
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
            called(query): rounded(estimate.count),
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
        "question": asked["question"],
        "way": asked["way"],
        "rows": asked["rows"],
        "estimates": estimates.collect::<Vec<Value>>(),
        "notes": notes,
    })
}

fn as_csv(query: &Query, estimates: &[Estimate]) -> String {
    let names = [called(query), "standard_error", "low", "high"].map(str::to_owned);
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
    let decimals = decimals(query, estimates);
    let amount = |number: f64| match decimals {
        None => amount(number),
        Some(decimals) => decimal(number, decimals),
    };
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

/// How many decimals sums and means are shown with: two digits of the smallest error.
/// Nothing for counts.
fn decimals(query: &Query, estimates: &[Estimate]) -> Option<usize> {
    if query.measure == Measure::Count {
        return None;
    }
    let errors = estimates.iter().filter_map(|estimate| estimate.standard_error);
    let least = errors.filter(|error| *error > 0.0).fold(f64::INFINITY, f64::min);
    let digits = if least.is_finite() { 1.0 - least.log10().floor() } else { 3.0 };
    Some(digits.clamp(0.0, 6.0) as usize)
}

/// A number with so many decimals, and commas.
fn decimal(number: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", number.abs());
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let nought = text.bytes().all(|byte| byte == b'0' || byte == b'.');
    let sign = if number < 0.0 && !nought { "-" } else { "" };
    let point = if rest.is_empty() { "" } else { "." };
    match whole.parse() {
        Ok(whole) => format!("{sign}{}{point}{rest}", grouped(whole)),
        Err(_) => format!("{number:e}"),
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
        assert_eq!(decimal(-12_345.678, 1), "-12,345.7");
        assert_eq!(decimal(-0.04, 1), "0.0");
        assert_eq!(decimal(1e30, 0), "1e30");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
