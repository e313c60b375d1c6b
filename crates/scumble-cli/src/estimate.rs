//! `scumble estimate`: what a release tells about the table, with its error.

mod about;
mod classify;
mod notes;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use scumble::error::{Error, Result};
use scumble::estimate::{Estimate, Evidence, Model, Query, Way};
use scumble::release::{Manifest, Release};
use scumble::watch::{Stage, Watch};
use serde_json::json;

use crate::estimate::about::Treatments;
use crate::estimate::notes::notes;
use crate::estimate::show::{as_csv, as_json, as_text};
use crate::output::{note, print, print_table};
use crate::progress::Progress;

/// Estimate numbers of the table from a release, with standard errors.
///
/// Generalized cells count where they may lie, noise in randomized columns is undone on
/// average, values that are published by group are shared out among its rows, and the answer
/// says how far it may be off. A question is SQL: COUNT(*), COUNT(column), SUM(column),
/// AVG(column), SHARE(condition) and SHARE(*), with WHERE and GROUP BY over any columns of
/// the table; CELL(column) is a generalized cell as it is published. FROM may name anything.
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
    #[arg(long, value_name = "FILE", requires = "class", conflicts_with_all = ["way", "csv", "model"])]
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
    /// What is taken for granted where the release leaves values open [default: what the
    /// publisher measured, else learned].
    #[arg(long, value_enum)]
    model: Option<ModelName>,
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

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ModelName {
    /// Rows are of classes that the release teaches; even where it teaches nothing.
    Learned,
    /// All values that a cell or a blur can stand for are as likely, columns independent.
    Even,
}

impl ModelName {
    fn model(self) -> Model {
        match self {
            Self::Learned => Model::Learned,
            Self::Even => Model::Even,
        }
    }
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
    let asked = Query::parse_all(question)?;
    let release = Release::open(&args.release)?;
    let way = chosen(args, &release.manifest)?;
    let progress = Progress::new(args.quiet || args.json || args.csv);
    progress.stage(Stage::Read, release.rows()?.bytes());
    let evidence = Evidence::read(&release, &progress);
    progress.finish();
    let mut evidence = evidence?;
    if let Some(model) = args.model {
        evidence = evidence.with_model(model.model());
    }
    let watch: &dyn Watch = &progress;
    let mut answers = Vec::with_capacity(asked.len());
    for (name, query) in asked {
        let estimates = evidence
            .answer(watch.over(&query), way.map_or(Way::Inverse, WayName::way))?;
        let open = Treatments::asked(&release.manifest, &query).are_open();
        let model = open.then(|| evidence.model_of(&query)).transpose()?;
        answers.push(Answer { name, query, estimates, model });
    }
    // Where errors were measured, answers are about rows that were left out, too.
    let left_out = match release.manifest.calibration {
        Some(_) => 0,
        None => release.manifest.left_beside(evidence.n_rows() as u64),
    };
    let notes = notes(&release.manifest, left_out, &evidence, &answers)?;
    if args.json {
        let rows = evidence.n_rows();
        let instead = || Treatments::of(&release.manifest).instead();
        let way = way.map_or_else(instead, WayName::name);
        let asked = json!({ "question": question, "way": way, "rows": rows as u64 });
        print(&format!("{:#}\n", as_json(&asked, left_out, &answers, &notes)))?;
    } else if args.csv {
        print_table(&as_csv(&answers))?;
    } else if !args.quiet {
        let manifest = &release.manifest;
        let drawn = |a: &Answer| Treatments::asked(manifest, &a.query).drawn;
        let way = way.filter(|_| answers.iter().any(drawn));
        print(&as_text(manifest, left_out, &answers, way))?;
    }
    if !args.json && !args.quiet {
        notes.iter().for_each(|text| note(text));
    }
    Ok(ExitCode::SUCCESS)
}

/// One number that was asked for, of all rows or of each group.
struct Answer {
    /// What it is called in the question.
    name: String,
    query: Query,
    estimates: Vec<Estimate>,
    /// What it takes for granted, if the release leaves something open.
    model: Option<Model>,
}

/// The way to undo noise; nothing if there is none to choose.
fn chosen(args: &EstimateArgs, manifest: &Manifest) -> Result<Option<WayName>> {
    let refused = |why: &str| {
        let message = format!("`--way` undoes noise, but {why}");
        Err(Error::recipe(message).with_hint("leave it out"))
    };
    let treatments = Treatments::of(manifest);
    match args.way {
        Some(_) if !treatments.drawn => refused(treatments.without_choice()),
        None if !treatments.drawn => Ok(None),
        way => Ok(Some(way.unwrap_or(WayName::Inverse))),
    }
}
