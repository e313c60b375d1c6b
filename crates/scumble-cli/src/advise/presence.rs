//! `scumble advise presence`: the range of delta-presence.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use scumble::error::Result;
use scumble::promise::PresenceRisk;
use scumble::table::{ReadOptions, Source, scan};
use serde_json::json;

use crate::advise::Risk;
use crate::output::{grouped, percent, print, short};
use crate::progress::Progress;
use crate::result::SCHEMA;

/// `min` and `max` of delta-presence.
///
/// Everybody in the table has a condition; publishing the table changes what others believe
/// about who has it. Say how common the condition is and how large a change is acceptable:
/// as a probability, or as a cost beside the cost of the condition becoming known.
#[derive(Debug, Args)]
pub(super) struct PresenceArgs {
    /// The share of the population that has the condition.
    #[arg(long, value_name = "SHARE")]
    prior: f64,
    #[command(flatten)]
    risk: Risk,
    /// The population: how many people, or the file.
    #[arg(long, value_name = "N or FILE")]
    population: String,
    /// The table: how many rows, or the file.
    #[arg(long, value_name = "N or FILE")]
    table: String,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    /// Print errors only; the exit code tells whether the numbers can be.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(args: &PresenceArgs) -> Result<ExitCode> {
    let change = args.risk.change()?;
    let (people, rows) = (size(&args.population)?, size(&args.table)?);
    let risk = PresenceRisk { prior: args.prior, change, people, rows };
    let advice = risk.advise()?;
    if args.quiet && !args.json {
        return Ok(ExitCode::SUCCESS);
    }
    if args.json {
        let object = json!({
            "schema": SCHEMA,
            "promise": "delta-presence",
            "min": advice.min.to_f64(),
            "max": advice.max.to_f64(),
            "prior": args.prior,
            "change": change,
            "population": people,
            "table": rows,
            "belief": { "least": advice.least_belief, "largest": advice.largest_belief },
        });
        print(&format!("{object:#}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let share = rows as f64 / people as f64;
    let (min, max) = (advice.min.to_f64(), advice.max.to_f64());
    let mut text = format!(
        "{} of {} people are in the table, {}. {} of all have the condition, so\n\
         without a release that is what others believe of anybody.\n\n",
        grouped(rows),
        grouped(people),
        percent(share),
        percent(args.prior),
    );
    text.push_str(&format!(
        "max = {max}\n    Nobody is taken to be in the table with more than {}. Who is taken \
         to be there\n    with that is believed to have the condition with {} instead of {}.\n",
        percent(max),
        percent(advice.largest_belief),
        percent(args.prior),
    ));
    text.push_str(&if min > 0.0 {
        format!(
            "min = {min}\n    Nobody is taken to be in the table with less than {}. Who is \
             taken to be there\n    with that is believed to have the condition with {}.\n",
            percent(min),
            percent(advice.least_belief),
        )
    } else {
        format!(
            "min = 0\n    It may become known that somebody is not in the table. They are \
             then believed\n    to have the condition with {}, a change that is acceptable.\n",
            percent(advice.least_belief),
        )
    });
    text.push_str(&format!(
        "\nA range that does not contain {} cannot be kept by any release.\n\n\
         [promise]\ndelta-presence = {{ min = {min}, max = {max} }}\n",
        short(share),
    ));
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// A number, or how many rows a file has.
fn size(text: &str) -> Result<u64> {
    if let Ok(number) = text.replace([',', '_'], "").parse() {
        return Ok(number);
    }
    let source = Source::open(Path::new(text), &ReadOptions::default())?;
    Ok(scan(&source, &[], &Progress::new(true))?.n_rows)
}
