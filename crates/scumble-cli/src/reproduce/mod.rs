//! `scumble reproduce`: experiments of the literature, each a table and a picture.

mod adult;
mod all;
mod anonymity;
mod belief;
mod blur_classification;
mod blur_queries;
mod blurred;
mod bucket_queries;
mod bucketed;
mod calibration;
mod census;
mod chart;
mod clock;
mod compared;
mod delta;
mod delta_bound;
mod fine_grain_downward;
mod fine_grain_utility;
mod index;
mod mined;
mod mpalm_boxes;
mod outcome;
mod pdf_counts;
mod pdf_mining;
mod pdf_presence;
mod perturbation_queries;
mod perturbation_retention;
mod perturbation_runtime;
mod perturbation_zipf;
mod perturbed;
mod presence_grid;
mod presence_k;
mod presence_n2;
mod presence_strategies;
mod presence_vs_k;
mod private;
mod queries;
mod ranges;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use scumble::error::{Error, Result};
use serde_json::{Value, json};

use crate::output::print;
use crate::reproduce::outcome::Outcome;
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

/// An experiment that can be repeated.
struct Experiment {
    name: &'static str,
    /// The paper's key and the figure.
    source: &'static str,
    about: &'static str,
    run: fn(&Data) -> Result<Outcome>,
}

/// The folder with the data, which not every experiment needs.
struct Data {
    typed: Option<PathBuf>,
    /// How many rows drawn tables have, if that was said.
    rows: Option<u32>,
}

/// Every experiment, in the order of the sources.
const EXPERIMENTS: &[Experiment] = &[
    mpalm_boxes::EXPERIMENT,
    pdf_counts::EXPERIMENT,
    presence_k::EXPERIMENT,
    presence_vs_k::EXPERIMENT,
    presence_strategies::EXPERIMENT,
    presence_grid::EXPERIMENT,
    presence_n2::EXPERIMENT,
    pdf_mining::EXPERIMENT,
    pdf_presence::EXPERIMENT,
    delta_bound::EXPERIMENT,
    fine_grain_downward::EXPERIMENT,
    perturbation_retention::EXPERIMENT,
    perturbation_queries::EXPERIMENT,
    perturbation_zipf::EXPERIMENT,
    perturbation_runtime::EXPERIMENT,
    fine_grain_utility::EXPERIMENT,
    bucket_queries::EXPERIMENT,
    calibration::EXPERIMENT,
    blur_queries::EXPERIMENT,
    blur_classification::EXPERIMENT,
];

/// The experiments that need no data.
const ALONE: [&str; 10] = [
    "mpalm-boxes",
    "pdf-counts",
    "delta-bound",
    "fine-grain-downward",
    "perturbation-zipf",
    "perturbation-runtime",
    "bucket-queries",
    "calibration",
    "blur-queries",
    "blur-classification",
];

/// Runs the command.
pub(crate) fn run(args: &ReproduceArgs) -> Result<ExitCode> {
    let data =
        Data { typed: args.data.clone().or(args.folder.clone()), rows: args.rows };
    if args.all {
        return all::run(args, &data);
    }
    let wanted = args.name.as_deref();
    let Some(experiment) = EXPERIMENTS.iter().find(|known| Some(known.name) == wanted)
    else {
        print(&if args.json { pretty(&list_json())? } else { list() })?;
        return Ok(ExitCode::SUCCESS);
    };
    let outcome = (experiment.run)(&data)?;
    let Written { files, .. } = write(&args.output, experiment.name, &outcome)?;
    if args.json {
        let mut object = outcome.json();
        object["schema"] = json!(SCHEMA);
        object["experiment"] = json!(experiment.name);
        object["source"] = json!(experiment.source);
        object["files"] = json!(files);
        print(&pretty(&object)?)?;
    } else if !args.quiet {
        let Experiment { name, source, about, .. } = experiment;
        let text = outcome.text();
        let files = files.join(" and ");
        print(&format!("{name}: {about}\n({source})\n\n{text}\nwrote {files}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list() -> String {
    let entry = |known: &Experiment| {
        let Experiment { name, source, about, .. } = known;
        let needs = if ALONE.contains(name) { "" } else { " (needs `--data`)" };
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

fn pretty(value: &Value) -> Result<String> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n").map_err(|error| Error::input(error.to_string()))
}

impl Data {
    /// How many rows a table has that is drawn.
    fn rows(&self, unless_said: usize) -> usize {
        self.rows.map_or(unless_said, |rows| rows as usize)
    }

    /// The folder, if one was named at all.
    fn if_any(&self) -> Result<Option<&Path>> {
        self.typed.as_ref().map(|_| self.folder()).transpose()
    }

    /// The folder, if it was named and is there.
    fn folder(&self) -> Result<&Path> {
        let Some(folder) = &self.typed else {
            return Err(Error::recipe("this experiment needs a folder with its data")
                .with_hint(
                    "name it with `--data DIR`; `--help` says what it must hold",
                ));
        };
        if !folder.is_dir() {
            return Err(Error::input("there is no such folder")
                .in_file(folder.display().to_string())
                .with_hint("`--data` names the folder that has `adult/adult.csv`"));
        }
        Ok(folder)
    }
}

/// What was written of an experiment.
struct Written {
    files: Vec<String>,
    /// The picture, which is in one of them.
    picture: String,
}

/// Writes table and picture.
fn write(folder: &Path, name: &str, outcome: &Outcome) -> Result<Written> {
    let picture = chart::svg(&outcome.figure)?;
    fs::create_dir_all(folder).map_err(|error| {
        Error::io("create the folder", folder.display().to_string(), error)
    })?;
    let mut files = Vec::new();
    for (ending, text) in [("csv", &outcome.csv()), ("svg", &picture)] {
        let path = folder.join(format!("{name}.{ending}"));
        let shown = path.display().to_string();
        fs::write(&path, text).map_err(|error| Error::io("write", &shown, error))?;
        files.push(shown);
    }
    Ok(Written { files, picture })
}
