//! `scumble reproduce`: experiments of the literature, which are a crate of their own.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use scumble::error::Result;
use scumble_lab::{Data, EXPERIMENTS, Experiment, RequiredData, survey};
use serde_json::{Value, json};

use crate::output::{message, print, print_json};
use crate::result::SCHEMA;

/// Repeat an experiment of the literature: a table, a picture, and what the source said.
///
/// Without a name, the experiments are listed; with `--all`, all are run that there are data
/// for, and `index.html` tells what they found. Data are not part of this program: `--data`
/// names a folder that has `adult/adult.csv`, `adult/hierarchies/` and the row numbers of
/// the private tables, `adult/subset_random_1957.idx` and `adult/subset_diabetes_1957.idx`;
/// for randomized columns `occ100k_counts.csv`, `edu100k_counts.csv` and the records
/// `acs_occ_500k.csv`, unpacked.
#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// The experiment.
    #[arg(value_parser = PossibleValuesParser::new(EXPERIMENTS.iter().map(|known| known.name)),
          hide_possible_values = true)]
    name: Option<String>,
    /// The folder with the data.
    #[arg(value_name = "DATA", conflicts_with = "data")]
    folder: Option<PathBuf>,
    /// The same, by name.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Run every experiment, and write a page about all of them.
    #[arg(long, conflicts_with_all = ["name", "folder"])]
    all: bool,
    /// With `--all`: only these, separated by commas.
    #[arg(long, value_name = "NAMES", requires = "all", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(EXPERIMENTS.iter().map(|known| known.name)),
          hide_possible_values = true)]
    only: Vec<String>,
    /// How many rows tables have that the experiment draws, where it blurs numbers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    rows: Option<u32>,
    /// Where table and picture go.
    #[arg(long, value_name = "DIR", default_value = "reproduce")]
    output: PathBuf,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    /// Print errors only.
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ReproduceArgs) -> Result<ExitCode> {
    let folder = args.data.clone().or(args.folder.clone());
    let data = Data { folder, rows: args.rows };
    if args.all {
        return all(args, &data);
    }
    let wanted = args.name.as_deref();
    match EXPERIMENTS.iter().find(|known| Some(known.name) == wanted) {
        Some(experiment) => one(args, experiment, &data)?,
        None if args.json => print_json(&list_json())?,
        None => print(&list())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn one(args: &ReproduceArgs, experiment: &Experiment, data: &Data) -> Result<()> {
    let Experiment { name, source, about, .. } = experiment;
    let ran = experiment.run(data, &args.output)?;
    if args.json {
        let mut object = ran.json();
        object["schema"] = json!(SCHEMA);
        object["experiment"] = json!(name);
        object["source"] = json!(source);
        object["files"] = json!(ran.files());
        return print_json(&object);
    }
    if args.quiet {
        return Ok(());
    }
    let (text, files) = (ran.text(), ran.files().join(" and "));
    print(&format!("{name}: {about}\n({source})\n\n{text}\nwrote {files}\n"))
}

/// Runs all experiments, or those that were named.
fn all(args: &ReproduceArgs, data: &Data) -> Result<ExitCode> {
    let wanted = |known: &&Experiment| {
        args.only.is_empty() || args.only.iter().any(|name| name == known.name)
    };
    let chosen: Vec<&Experiment> = EXPERIMENTS.iter().filter(wanted).collect();
    let tell = |line: &str| {
        if !args.quiet {
            message(&format!("{line}\n"));
        }
    };
    let survey = survey(&chosen, data, &args.output, &tell)?;
    let index = survey.index();
    if args.json {
        let object =
            json!({ "schema": SCHEMA, "experiments": survey.json(), "index": index });
        print_json(&object)?;
    } else if !args.quiet {
        print(&format!("{}wrote {index}\n", survey.text()))?;
    }
    Ok(if survey.has_failed() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn list() -> String {
    let entry = |known: &Experiment| {
        let Experiment { name, source, about, .. } = known;
        let needs = match known.needs {
            RequiredData::Nothing => "",
            RequiredData::Data => " (needs `--data`)",
        };
        format!("{name}{needs}\n    {about}\n    {source}\n")
    };
    let entries: String = EXPERIMENTS.iter().map(entry).collect();
    format!(
        "{entries}\nrun one with `scumble reproduce NAME --data DIR`, or all with \
         `scumble reproduce --all`\n(`--rows 1000` for a quick pass)\n"
    )
}

fn list_json() -> Value {
    let row = |known: &Experiment| json!({ "name": known.name, "source": known.source, "about": known.about });
    let experiments: Vec<Value> = EXPERIMENTS.iter().map(row).collect();
    json!({ "schema": SCHEMA, "experiments": experiments })
}
