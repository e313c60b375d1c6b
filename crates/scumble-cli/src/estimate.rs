//! `scumble estimate`: what a release tells about the table, with its error.

mod about;
mod classify;
mod notes;
mod show;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap::{Args, ValueEnum};
use scumble::error::{Error, Result};
use scumble::estimate::{Ask, Estimate, Evidence, Model, Query, SortBy, SortKey, Way};
use scumble::release::{Manifest, Release};
use scumble::watch::{Stage, Watch};

use crate::estimate::about::Treatments;
use crate::estimate::notes::notes;
use crate::estimate::show::{About, all_as_json, as_csv, as_json, as_text};
use crate::output::{note, print, print_table};
use crate::progress::Progress;

/// Estimate numbers of the table from a release, with standard errors.
///
/// Generalized cells count where they may lie, noise in randomized columns is undone on
/// average, values that are published by group are shared out among its rows, and the answer
/// says how far it may be off. A question is SQL: COUNT(*), COUNT(column), SUM(column),
/// AVG(column), SHARE(condition) and SHARE(*), with WHERE and GROUP BY over any columns of
/// the table, ORDER BY columns or numbers of the answer, and LIMIT; CELL(column) is a
/// generalized cell as it is published. FROM may name anything.
///
/// With --file, the questions of a file (with ; between them) are answered at once, and the
/// release is read once for all of them.
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
        required_unless_present_any = ["classify", "file"],
        conflicts_with_all = ["classify", "file"]
    )]
    question: Option<String>,
    /// A file with questions, with `;` between them; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["classify", "csv"])]
    file: Option<PathBuf>,
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
    let asks = match &args.file {
        Some(file) => questions(file)?,
        None => vec![Ask::parse(args.question.as_deref().unwrap_or_default())?],
    };
    let release = Release::open(&args.release)?;
    let way = chosen(args, &release.manifest)?;
    let progress = Progress::new(args.quiet || args.json || args.csv);
    progress.stage(Stage::Read, release.rows()?.bytes());
    let mut evidence = Evidence::read(&release, &progress)?;
    if let Some(model) = args.model {
        evidence = evidence.with_model(model.model());
    }
    // Where errors were measured, or shares are those of the table, answers are about rows that
    // were left out, too.
    let of_table =
        release.manifest.calibration.is_some() || release.manifest.shares.is_some();
    let left_out = match of_table {
        true => 0,
        false => release.manifest.left_beside(evidence.n_rows() as u64),
    };
    let undone = way.map_or(Way::Inverse, WayName::way);
    progress.stage(Stage::Ask, 0);
    let mut replies = Vec::with_capacity(asks.len());
    for ask in asks {
        let read =
            Answered { manifest: &release.manifest, evidence: &evidence, left_out };
        replies.push(read.reply(ask, undone, &progress)?);
    }
    progress.finish();
    let manifest = &release.manifest;
    if args.json {
        let instead = || Treatments::of(manifest).instead();
        let way = way.map_or_else(instead, WayName::name);
        let about = About { way, rows: evidence.n_rows() as u64, left_out };
        let value = match (&args.file, &*replies) {
            (None, [reply]) => as_json(&about, reply),
            _ => all_as_json(&about, &replies),
        };
        print(&format!("{value:#}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.quiet {
        return Ok(ExitCode::SUCCESS);
    }
    let mut told: Vec<&String> = Vec::new();
    for (number, Reply { ask, answers, notes }) in replies.iter().enumerate() {
        if args.csv {
            print_table(&as_csv(answers))?;
        } else {
            let drawn = |a: &Answer| Treatments::asked(manifest, &a.query).drawn;
            let way = way.filter(|_| answers.iter().any(drawn));
            let text = as_text(manifest, left_out, answers, way);
            let blank = if number > 0 { "\n" } else { "" };
            match args.file {
                Some(_) => print(&format!("{blank}{}\n\n{text}", ask.text))?,
                None => print(&text)?,
            }
        }
        // What several answers have in common is said once.
        told.extend(
            notes.iter().filter(|text| !told.contains(text)).collect::<Vec<_>>(),
        );
    }
    told.iter().for_each(|text| note(text));
    Ok(ExitCode::SUCCESS)
}

/// The questions of a file.
fn questions(file: &Path) -> Result<Vec<Ask>> {
    let (name, text) = match file.as_os_str() == "-" {
        true => ("standard input".to_owned(), io::read_to_string(io::stdin())),
        false => (file.display().to_string(), fs::read_to_string(file)),
    };
    let text = text.map_err(|error| Error::io("read the file", &name, error))?;
    Ask::parse_several(&text, &name)
}

/// A release that was read.
struct Answered<'a> {
    manifest: &'a Manifest,
    evidence: &'a Evidence,
    left_out: u64,
}

/// A question and its answer.
struct Reply {
    ask: Ask,
    answers: Vec<Answer>,
    notes: Vec<String>,
}

impl Answered<'_> {
    fn reply(&self, ask: Ask, way: Way, watch: &dyn Watch) -> Result<Reply> {
        let mut estimates = Vec::with_capacity(ask.numbers.len());
        for (_, query) in &ask.numbers {
            estimates.push(self.evidence.answer(watch.over(query), way)?);
        }
        let (n_groups, shown) = ask.arrange(&mut estimates);
        let numbers = ask.numbers.iter().cloned().zip(estimates);
        let answers = numbers.map(|((name, query), estimates)| {
            let open = Treatments::asked(self.manifest, &query).are_open();
            let model = open.then(|| self.evidence.model_of(&query)).transpose()?;
            Ok(Answer { name, query, estimates, model })
        });
        let answers: Vec<Answer> = answers.collect::<Result<_>>()?;
        let mut notes = notes(self.manifest, self.left_out, self.evidence, &answers)?;
        let by_number = |key: &SortKey| matches!(key.by, SortBy::Number(_));
        if shown < n_groups && ask.order.first().is_some_and(by_number) {
            notes.push(format!(
                "the first {shown} of {n_groups} groups are so by their estimates; in the table \
                 others may be"
            ));
        }
        Ok(Reply { ask, answers, notes })
    }
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
