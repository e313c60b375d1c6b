//! `scumble advise breach`: prior and posterior of breach, and what they cost.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use scumble::decimal::Decimal;
use scumble::error::{Error, Result};
use scumble::method::perturb::partition::{Inside, PartitionTask, partition};
use scumble::method::perturb::{Limits, Operator, uniform};
use scumble::promise::{Breach, Breaches};
use scumble::table::{ReadOptions, Source, scan};
use scumble::watch::Watch;
use serde_json::{Value, json};

use crate::advise::Risk;
use crate::output::{aligned, counted, grouped, percent, print};
use crate::progress::Progress;
use crate::result::SCHEMA;

/// `prior` and `posterior` of breach.
///
/// Before a release, others believe a person to have a value as it is common. Say how large
/// a change of that belief is acceptable, as a probability or as a cost beside the cost of
/// the value becoming known; the result is the promise, and what each method would leave of
/// the column under it.
#[derive(Debug, Args)]
pub(crate) struct BreachArgs {
    /// The table.
    #[arg(long, value_name = "FILE")]
    table: PathBuf,
    /// The sensitive column.
    #[arg(long, value_name = "NAME")]
    column: String,
    /// The largest belief before; how common the commonest value is, if not given.
    #[arg(long, value_name = "SHARE")]
    prior: Option<f64>,
    #[command(flatten)]
    risk: Risk,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    /// Print errors only; the exit code tells whether the numbers can be.
    #[arg(long, short)]
    quiet: bool,
}

/// Advice is rounded to this many parts.
const PARTS: f64 = 1e4;

/// What a method leaves of a column.
struct Left {
    method: &'static str,
    /// The share of rows published as they are.
    kept: f64,
    /// The standard error of the commonest and of the middle value, as shares of their rows.
    errors: [f64; 2],
}

pub(super) fn run(args: &BreachArgs) -> Result<ExitCode> {
    let change = args.risk.change()?;
    if !(change > 0.0 && change < 1.0) {
        return Err(Error::out_of_range("misuse", change, "between 0 and 1"));
    }
    let counts = counts(args)?;
    let rows: u64 = counts.iter().sum();
    let largest = counts.iter().copied().max().unwrap_or_default();
    let common = (largest as f64 / rows as f64 * PARTS).ceil() / PARTS;
    let prior = args.prior.unwrap_or(common);
    let posterior = ((prior + change) * PARTS + 1e-6).floor() / PARTS;
    let decimals = Decimal::from_f64("prior", prior)
        .and_then(|prior| Ok((prior, Decimal::from_f64("posterior", posterior)?)));
    let (least, most) = decimals?;
    if args.prior.is_none() && posterior >= 1.0 {
        return Err(Error::out_of_range(
            "misuse",
            change,
            format!(
                "below {:.4}: the commonest value is that of {} of all",
                1.0 - common,
                percent(common)
            ),
        )
        .with_hint("give a smaller `--prior` to protect rarer values only"));
    }
    let breach = Breach::new(least, most, Breaches::Upward)?;
    let left = [uniformly(&breach, &counts), partitioned(&breach, &counts)?];
    let left: Vec<Left> = left.into_iter().flatten().collect();
    if args.json {
        let method = |left: &Left| {
            json!({
                "name": left.method,
                "kept": left.kept,
                "error_of_commonest": left.errors[0],
                "error_of_middle": left.errors[1],
            })
        };
        let object = json!({
            "schema": SCHEMA,
            "promise": "breach",
            "prior": prior,
            "posterior": posterior,
            "gamma": breach.bound().gamma(),
            "values": counts.len(),
            "rows": rows,
            "change": change,
            "methods": left.iter().map(method).collect::<Value>(),
        });
        print(&format!("{object:#}\n"))?;
    } else if !args.quiet {
        print(&text(args, &breach, &counts, &left))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(args: &BreachArgs, breach: &Breach, counts: &[u64], left: &[Left]) -> String {
    let rows: u64 = counts.iter().sum();
    let bound = breach.bound();
    let protected =
        counts.iter().filter(|count| breach.protects(**count, rows)).count();
    let mut text = format!(
        "`{}` has {} in {} rows, {protected} of them in at most {} of the rows.\n\n\
         prior = {}\n    What others may believe of somebody's having a value before.\n\
         posterior = {}\n    What they may believe afterwards, at most.\n\n",
        args.column,
        counted(counts.len() as u64, "value"),
        grouped(rows),
        percent(bound.prior),
        bound.prior,
        bound.posterior,
    );
    let heading = [
        "method",
        "published as they are",
        "error, commonest value",
        "error, middle value",
    ];
    let mut table = vec![heading.map(str::to_owned).to_vec()];
    for left in left {
        let mut row = vec![left.method.to_owned(), percent(left.kept)];
        row.extend(left.errors.iter().map(|error| format!("± {}", percent(*error))));
        table.push(row);
    }
    text.push_str(&aligned(&table));
    text.push_str(&format!(
        "\nError: the standard error of an estimated count, beside the count. The sub-tables of\n\
         partitioned-perturbation promise less: see GUARANTEES.md. Bounds of their own for each\n\
         value (`fine-grain`) are not compared here.\n\n\
         [promise]\nbreach = {{ prior = {}, posterior = {} }}\n",
        bound.prior, bound.posterior,
    ));
    text
}

/// How many rows have each value.
fn counts(args: &BreachArgs) -> Result<Vec<u64>> {
    let source = Source::open(&args.table, &ReadOptions::default())?;
    let found = scan(&source, &[source.column(&args.column)?], &Progress::new(true))?;
    let counts: Vec<u64> = found
        .dictionaries
        .iter()
        .flat_map(|known| known.rows.iter().copied())
        .collect();
    if counts.len() < 2 {
        return Err(Error::input(format!(
            "column `{}` has one value only: there is nothing to hide it among",
            args.column
        ))
        .in_file(source.name()));
    }
    Ok(counts)
}

/// The whole column, kept with one probability.
fn uniformly(breach: &Breach, counts: &[u64]) -> Option<Left> {
    let gammas = vec![breach.bound().gamma(); counts.len()];
    let part: Vec<(usize, u64)> = counts.iter().copied().enumerate().collect();
    Some(left("uniform-perturbation", counts, &[(part, gammas)]))
}

/// Sub-tables; nothing if there are none that keep the promise.
fn partitioned(breach: &Breach, counts: &[u64]) -> Result<Option<Left>> {
    let rows: u64 = counts.iter().sum();
    let posterior = breach.bound().posterior;
    let posteriors: Vec<Option<f64>> = counts
        .iter()
        .map(|count| breach.protects(*count, rows).then_some(posterior))
        .collect();
    let task = PartitionTask {
        counts,
        posteriors: &posteriors,
        inside: Inside::Uniform,
        weights: None,
    };
    let progress = Progress::new(true);
    let watch: &dyn Watch = &progress;
    let found = partition(watch.over(&task));
    watch.check()?;
    let Ok(found) = found else { return Ok(None) };
    let parts: Vec<PartRows> = found
        .subtables
        .into_iter()
        .map(|part| {
            let codes = part.values.iter().map(|value| value.index());
            (codes.zip(part.counts).collect(), part.gammas)
        })
        .collect();
    Ok(Some(left("partitioned-perturbation", counts, &parts)))
}

/// A part of the rows: values with their counts, and what is allowed for each.
type PartRows = (Vec<(usize, u64)>, Vec<f64>);

/// The share of rows kept, and the errors of the inverse of each part, added up.
fn left(method: &'static str, counts: &[u64], parts: &[PartRows]) -> Left {
    let mut variances = vec![0.0; counts.len()];
    let mut kept = 0.0;
    for (values, gammas) in parts {
        let operator = uniform(Limits { gammas, breaches: Breaches::Upward });
        let Operator::Uniform { keep, .. } = operator else { continue };
        let n: f64 = values.iter().map(|(_, count)| *count as f64).sum();
        let other = (1.0 - keep) / values.len() as f64;
        let stays = keep + other;
        kept += n * stays;
        for (value, count) in values {
            let count = *count as f64;
            variances[*value] += (count * stays * (1.0 - stays)
                + (n - count) * other * (1.0 - other))
                / (keep * keep);
        }
    }
    let rows: u64 = counts.iter().sum();
    let mut order: Vec<usize> =
        (0..counts.len()).filter(|value| counts[*value] > 0).collect();
    order.sort_by_key(|value| std::cmp::Reverse(counts[*value]));
    let error = |place: usize| {
        let value = order[place.min(order.len() - 1)];
        variances[value].sqrt() / counts[value] as f64
    };
    Left {
        method,
        kept: kept / rows as f64,
        errors: [error(0), error(order.len() / 2)],
    }
}
