//! `scumble compare`: what each privacy level costs, before one is chosen.

mod frontier;
mod page;
mod point;
mod table;
mod text;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use scumble::error::{Error, ErrorKind, Result};
use scumble::recipe::{
    Ends, Grid, Point, Questions, Spec, Vary, Yardstick, YardstickOptions,
};
use scumble::table::Inputs;
use scumble::watch::Watch;

use crate::compare::point::{PointOutcome, run_all};
use crate::output::{counted, listed, note, print, write_private};
use crate::progress::Progress;

/// Publish several recipes, or one with some of its keys varied, and measure every release.
///
/// Recipes must be about the same table. Every point of the grid is published into a temporary folder, audited, attacked, asked
/// random questions, learned from, and thrown away. One table goes to standard output;
/// `compare.csv` and `compare.html`, with the frontier between privacy and use, into a
/// folder. They are for the steward: their numbers are about the true table.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The recipes, TOML files about one table.
    #[arg(value_name = "RECIPE", required = true)]
    recipes: Vec<PathBuf>,
    /// A key of the recipe and its values, as in `promise.k-anonymity.k=2,5,10`. Can be given
    /// several times: then all combinations are tried. Of several recipes those are varied
    /// that have the key.
    #[arg(long, value_name = "KEY=VALUE,...")]
    vary: Vec<String>,
    /// Short for `--vary method.name=...`.
    #[arg(long, value_name = "NAME,...")]
    methods: Option<String>,
    /// The column that learners are to tell; by default the first sensitive one with at most
    /// 50 values.
    #[arg(long, value_name = "COLUMN")]
    class: Option<String>,
    /// How many random questions are asked.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    queries: u32,
    /// A file with questions in SQL to ask in place of random ones: one on each line, or
    /// ended by `;`, with `--` before comments.
    #[arg(long, value_name = "FILE", conflicts_with = "queries")]
    questions: Option<PathBuf>,
    /// How many tables are drawn from a release to learn from.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=1000))]
    draws: u32,
    /// Fixes all randomness.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Where `compare.csv` and `compare.html` go.
    #[arg(long, value_name = "DIR", default_value = "compare")]
    output: PathBuf,
    /// Print every column: what else was measured, and how each attack went. `compare.csv`,
    /// `compare.html` and `--json` have all of it in any case.
    #[arg(long)]
    all: bool,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    /// Print errors only.
    #[arg(long, short)]
    quiet: bool,
}

/// What was compared, and what came of it.
struct Compared {
    /// The recipes' files.
    recipes: Vec<String>,
    keys: Vec<String>,
    chosen: usize,
    ends: Ends,
    seed: u64,
    outcomes: Vec<PointOutcome>,
}

pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode> {
    let read = |path: &PathBuf| {
        let file = path.display().to_string();
        let text = fs::read_to_string(path)
            .map_err(|source| Error::io("read the file", &file, source))?;
        Ok((text, file))
    };
    let recipes: Vec<(String, String)> =
        args.recipes.iter().map(read).collect::<Result<_>>()?;
    let mut varies: Vec<Vary> =
        args.vary.iter().map(|typed| Vary::parse(typed)).collect::<Result<_>>()?;
    if let Some(names) = &args.methods {
        varies.push(Vary::methods(names)?);
    }
    let Grid { keys, points, chosen } = Grid::of_recipes(&recipes, &varies)?;
    let questions = args.questions.as_ref().map(|path| {
        let (text, file) = read(path)?;
        Questions::parse(&text, &file)
    });
    let options = YardstickOptions {
        class: args.class.clone(),
        queries: args.queries as usize,
        questions: questions.transpose()?,
        draws: args.draws as usize,
        seed: args.seed,
    };
    // Recipes as they stand say which columns there are.
    let progress = Progress::new(true);
    let standing = points.iter().filter(|point| point.as_it_stands);
    let specs: Vec<&Spec> = standing.map(|point| &point.spec).collect();
    let inputs = Inputs::in_folder(folder_of(&points[chosen]));
    let yardstick = Yardstick::of_recipes(&specs, &inputs, options, &progress)?;
    // An output that cannot be written is known before the work is done.
    let output = args.output.display().to_string();
    let missing = missing(&args.output);
    fs::create_dir_all(&args.output)
        .map_err(|error| Error::io("create the folder", &output, error))?;
    let loud = !args.quiet && !args.json;
    let outcomes = run_all(points, &yardstick, args.seed, loud);
    let outcomes = outcomes.and_then(|outcomes| {
        let watch: &dyn Watch = &progress;
        watch.check().map(|()| outcomes)
    });
    if outcomes.is_err() {
        // Folders that hold something are not ours alone.
        missing.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
    let mut outcomes = outcomes?;
    let hopeless = outcomes.iter().all(|outcome| match &outcome.result {
        Ok(_) => false,
        Err(error) => !matches!(error.kind(), ErrorKind::Unsatisfiable { .. }),
    });
    if hopeless {
        let failed = outcomes.swap_remove(chosen);
        return failed.result.map(|_| ExitCode::SUCCESS);
    }
    let ends = yardstick.ends();
    let recipes = recipes.into_iter().map(|(_, file)| file).collect();
    let compared = Compared { recipes, keys, chosen, ends, seed: args.seed, outcomes };
    // How well attacks do is for the steward.
    write_private(&args.output.join("compare.csv"), table::csv(&compared).as_bytes())?;
    write_private(&args.output.join("compare.html"), page::page(&compared).as_bytes())?;
    if args.json {
        print(&format!("{:#}\n", table::json(&compared)))?;
    } else if loud {
        say_what_is_missing(&compared.ends);
        print(&text::text(&compared, args.all))?;
        print(&format!(
            "\nopen {} in a browser\n",
            args.output.join("compare.html").display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the files of a recipe are looked for.
fn folder_of(point: &Point) -> &Path {
    Path::new(&point.file).parent().unwrap_or(Path::new(""))
}

/// The folders on the way to this one, and itself, that do not exist yet; the innermost first.
fn missing(folder: &Path) -> Vec<PathBuf> {
    let folders = folder.ancestors().filter(|folder| !folder.as_os_str().is_empty());
    folders.take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect()
}

/// What is not measured, and why.
fn say_what_is_missing(ends: &Ends) {
    if !ends.left_out.is_empty() {
        note(&format!(
            "not measured, because they have more than {} words: {}",
            scumble::recipe::MOST_WORDS,
            listed(&ends.left_out)
        ));
    }
    if !ends.not_in_all.is_empty() {
        note(&format!(
            "not measured, because not all recipes publish them: {}",
            listed(&ends.not_in_all)
        ));
    }
    if ends.class.is_none() {
        note(
            "no class: no sensitive column has between 2 and 50 values; name one with \
             `--class COLUMN`",
        );
    }
    if ends.rules == 0 {
        note("the table teaches no rules, so their error is not measured");
    }
    let empty = ends.questions.iter().filter(|n| **n == 0).count();
    if empty > 0 && ends.rows > 0 && !ends.own_questions {
        note(&format!(
            "{} found no question: the table is small, or its columns have few values",
            counted(empty as u64, "band")
        ));
    }
}
