//! `scumble hierarchy`: how one column could coarsen, as a file to be reviewed.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use scumble::error::Result;
use scumble::inspect::{Proposal, propose, template_names};
use scumble::table::Source;
use scumble::watch::{Stage, Watch};
use serde_json::json;

use crate::output::{
    exists_already, grouped, harmless, print, print_json, write_private,
};
use crate::progress::Progress;
use crate::result::SCHEMA;
use crate::table::TableArgs;

/// Propose a hierarchy for one column: by a template, by its values, or of words that look
/// alike.
#[derive(Debug, Args)]
pub(crate) struct HierarchyArgs {
    /// The table; `-` is standard input.
    file: PathBuf,
    /// The column.
    column: String,
    /// A hierarchy that everybody knows: icd9, icd10, un-region, age-clinical, age-hipaa,
    /// postal.
    #[arg(long, value_name = "NAME", value_parser = known_template)]
    template: Option<String>,
    /// Write it to this file, a line for each value. The file is private: it holds the values
    /// of the table.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file if it exists.
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    table: TableArgs,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    quiet: bool,
}

fn known_template(name: &str) -> Result<String, String> {
    let names = template_names();
    match names.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(format!("there are {}", names.join(", "))),
    }
}

impl HierarchyArgs {
    /// Whether it goes to a file.
    pub(crate) fn writes(&self) -> bool {
        self.output.is_some()
    }
}

/// Runs the command.
pub(crate) fn run(args: &HierarchyArgs) -> Result<ExitCode> {
    if let Some(path) =
        args.output.as_deref().filter(|path| !args.force && path.exists())
    {
        return Err(exists_already(path).with_hint("use `--force` to replace it"));
    }
    let source = Source::open(&args.file, &args.table.options()?)?;
    let progress = Progress::new(args.quiet || args.json);
    let watch: &dyn Watch = &progress;
    watch.stage(Stage::Read, 2 * source.bytes());
    let proposal = propose(watch.over(&source), &args.column, args.template.as_deref());
    progress.finish();
    let proposal = proposal?;
    if let Some(path) = &args.output {
        write_private(path, proposal.csv().as_bytes())?;
    }
    if args.json {
        print_json(&json!({
            "schema": SCHEMA,
            "column": args.column,
            "from": proposal.from,
            "recipe": proposal.recipe,
            "nodes": proposal.nodes(),
            "lacking": proposal.lacking,
            "lines": proposal.lines,
            "rows": proposal.rows,
        }))?;
    } else if !args.quiet {
        print(&report(args, &proposal))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// So many lines are shown.
const SHOWN: usize = 20;

fn report(args: &HierarchyArgs, proposal: &Proposal) -> String {
    let mut text = String::new();
    let column = harmless(&args.column);
    let nodes: Vec<String> =
        proposal.nodes().iter().map(|n| grouped(*n as u64)).collect();
    let _ = writeln!(
        text,
        "{column}: {}\n{} nodes, level by level\n",
        proposal.from,
        nodes.join(" > ")
    );
    // The values that most rows have, in the order of the file.
    let mut most: Vec<usize> = (0..proposal.rows.len()).collect();
    most.sort_by_key(|at| std::cmp::Reverse(proposal.rows[*at]));
    most.truncate(SHOWN);
    most.sort_unstable();
    for at in &most {
        let line = proposal.lines[*at].join(" > ");
        let _ = writeln!(
            text,
            "{:>10} rows  {}",
            grouped(proposal.rows[*at]),
            harmless(&line)
        );
    }
    let more = proposal.lines.len() - most.len();
    if more > 0 {
        let _ = writeln!(text, "{:>10} values more", grouped(more as u64));
    }
    text.push('\n');
    if proposal.lacking > 0 {
        let _ = writeln!(
            text,
            "{} values have no place in it and are `other`",
            grouped(proposal.lacking as u64)
        );
    }
    match (&proposal.recipe, &args.output) {
        (Some(recipe), _) => {
            let _ = writeln!(
                text,
                "In a recipe, without a file: {{ role = \"quasi\", hierarchy = {{ {recipe} }} }}"
            );
        }
        (None, Some(path)) => {
            let _ = writeln!(
                text,
                "Review {0}, then: {{ role = \"quasi\", hierarchy = {{ csv = \"{0}\" }} }}",
                path.display()
            );
        }
        (None, None) => text.push_str(
            "Write it with `--output FILE`, review it, and name the file in the recipe: a \
             release\ncan only be as good as the groups make sense.\n",
        ),
    }
    if args.output.is_some() {
        text.push_str(
            "The file holds the values of the table, and a release lists its leaves: leave out \
             those that\nnobody may know of.\n",
        );
    }
    text
}
