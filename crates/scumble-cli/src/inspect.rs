//! `scumble inspect`: a first look at a table, and a recipe to begin with.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use scumble::error::{Error, Result};
use scumble::inspect::{Coarsening, ColumnFindings, Findings, Options, inspect};
use scumble::table::{Source, is_server, public_name};
use scumble::watch::{Stage, Watch};
use serde_json::{Value, json};

use crate::output::{cannot_write, exists_already, grouped, print, write};
use crate::progress::Progress;
use crate::result::SCHEMA;
use crate::table::TableArgs;

/// Look at a table: columns, who is singled out by what, a proposed recipe.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// The table: .csv, .tsv (also .gz, .zst), .parquet, .arrow or .xlsx; `-` is standard input;
    /// `sqlite:FILE` or `postgres://HOST/DATABASE` with `--query`.
    file: PathBuf,
    #[command(flatten)]
    table: TableArgs,
    /// How many people the population has that the table is a sample of: who is alone in it is
    /// then estimated, by two models.
    #[arg(long, value_name = "PEOPLE")]
    population_size: Option<u64>,
    /// Write the proposed recipe to this file.
    #[arg(long, value_name = "FILE")]
    recipe: Option<PathBuf>,
    /// Overwrite the recipe if it exists.
    #[arg(long, requires = "recipe")]
    force: bool,
    /// Print findings as JSON.
    #[arg(long)]
    json: bool,
    /// Print the recipe only, or nothing if it goes to a file.
    #[arg(long, short)]
    quiet: bool,
}

impl InspectArgs {
    /// Whether a recipe goes to a file.
    pub(crate) fn writes(&self) -> bool {
        self.recipe.is_some()
    }
}

/// Runs the command.
pub(crate) fn run(args: &InspectArgs) -> Result<ExitCode> {
    if let Some(recipe) = args.recipe.as_deref().filter(|_| !args.force)
        && recipe.exists()
    {
        return Err(exists(recipe));
    }
    let source = Source::open(&args.file, &args.table.options()?)?;
    let table = table_path(&args.file, args.recipe.as_deref())?;
    let (delimiter, more) = (args.table.delimiter, args.table.keys());
    let population = args.population_size;
    let options = Options { table, delimiter, more, population };
    let progress = Progress::new(args.quiet || args.json);
    let watch: &dyn Watch = &progress;
    // The table is read five times.
    watch.stage(Stage::Read, 5 * source.bytes());
    let findings = inspect(watch.over(&source), &options);
    progress.finish();
    let findings = findings?;
    if let Some(path) = &args.recipe {
        write_recipe(path, &findings.recipe, args.force)?;
    }
    let text = if args.json {
        format!("{:#}\n", as_json(&findings))
    } else {
        report(args, &findings)
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The table's path as a recipe in this place must have it.
fn table_path(table: &Path, recipe: Option<&Path>) -> Result<String> {
    let typed = table.to_str().unwrap_or_default();
    if is_server(typed) {
        return Ok(public_name(typed));
    }
    if let Some(file) = typed.strip_prefix("sqlite:") {
        return Ok(format!("sqlite:{}", table_path(Path::new(file), recipe)?));
    }
    let folder = recipe.and_then(Path::parent).unwrap_or(Path::new(""));
    let here = folder.as_os_str().is_empty() || folder == Path::new(".");
    if here || table.as_os_str() == "-" || table.is_absolute() {
        return Ok(table.display().to_string());
    }
    if let Ok(inside) = table.strip_prefix(folder) {
        return Ok(inside.display().to_string());
    }
    let shown = table.display().to_string();
    let path = std::path::absolute(table)
        .map_err(|error| Error::io("find the folder", shown, error))?;
    Ok(path.display().to_string())
}

/// The table as it was typed, without a password.
fn shown_file(args: &InspectArgs) -> String {
    public_name(&args.file.display().to_string())
}

fn write_recipe(path: &Path, text: &str, force: bool) -> Result<()> {
    if force {
        return write(path, text);
    }
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        _ => cannot_write(path, error),
    })
}

fn exists(path: &Path) -> Error {
    exists_already(path).with_hint("use `--force` to replace it")
}

/// What a person reads.
fn report(args: &InspectArgs, findings: &Findings) -> String {
    if args.quiet {
        let text = if args.recipe.is_none() { &*findings.recipe } else { "" };
        return text.to_owned();
    }
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {} rows, {} columns\n",
        shown_file(args),
        grouped(findings.rows),
        findings.columns.len()
    );
    columns(&mut text, &findings.columns);
    people(&mut text, findings);
    contributions(&mut text, &findings.columns);
    risks(&mut text, findings);
    match &args.recipe {
        Some(path) => {
            let path = path.display();
            let _ = writeln!(
                text,
                "Wrote {path}. Look at the roles in it, they are guesses; then:\n\n    \
                 scumble publish {path}"
            );
        }
        None => {
            let file = shown_file(args);
            let _ = writeln!(
                text,
                "Proposed recipe. Roles are guesses: look at them, then save and publish:\n\n    \
                 scumble inspect {file} --recipe recipe.toml\n    \
                 scumble publish recipe.toml\n\n{}",
                findings.recipe
            );
        }
    }
    text
}

fn columns(text: &mut String, columns: &[ColumnFindings]) {
    let names: Vec<String> = columns.iter().map(|column| shown(&column.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
    let _ = writeln!(
        text,
        "{:width$}  {:8} {:>10} {:>8} {:>8}  {:10}  {:7} why",
        "column", "type", "distinct", "missing", "unique", "role", "how sure"
    );
    for (name, column) in names.iter().zip(columns) {
        let about = if column.exact { "" } else { "~" };
        let _ = writeln!(
            text,
            "{name:width$}  {:8} {:>10} {:>8} {:>8}  {:10}  {:8} {}",
            column.kind.name(),
            format!("{about}{}", grouped(column.distinct)),
            percent(column.missing, true),
            percent(column.unique_share, column.exact),
            column.role.name(),
            column.sure.name(),
            column.reason,
        );
    }
    text.push_str("unique: rows whose value no other row has.");
    if columns.iter().any(|column| !column.exact) {
        text.push_str(" ~: estimated, off by about 1 in 100.");
    }
    text.push_str("\n\n");
}

/// Who has several rows, and what looks wrong.
fn people(text: &mut String, findings: &Findings) {
    if let Some(person) = &findings.person {
        let _ = writeln!(
            text,
            "person: {} ({}): {}\n",
            shown(&person.column),
            person.sure.name(),
            person.reason
        );
    }
    if !findings.oddities.is_empty() {
        text.push_str("looks wrong:\n");
        for oddity in &findings.oddities {
            let _ = writeln!(text, "  {}: {}", shown(&oddity.column), oddity.what);
        }
        text.push('\n');
    }
}

/// What each quasi column adds to what all single out.
fn contributions(text: &mut String, columns: &[ColumnFindings]) {
    let known =
        |column: &ColumnFindings| Some((column.name.clone(), column.contribution?));
    let mut shares: Vec<(String, f64)> = columns.iter().filter_map(known).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let most = shares.first().map_or(0.0, |first| first.1);
    if shares.len() < 2 || most <= 0.0 {
        return;
    }
    text.push_str("singled out by adding this column, on average over orders\n");
    for (name, share) in shares {
        let bar = "#".repeat((24.0 * share.max(0.0) / most).round() as usize);
        let name = shown(&name);
        let _ =
            writeln!(text, "{name:26}  {:>8}  {bar}", percent(share.max(0.0), true));
    }
    text.push('\n');
}

fn risks(text: &mut String, findings: &Findings) {
    const WIDTH: usize = 60;
    let Some((all, worst)) = findings.risk.split_last() else { return };
    let _ = writeln!(
        text,
        "{:WIDTH$}  {:>11}  {:>18}",
        "who knows only this about people ...", "finds alone", "among fewer than 5"
    );
    let mut line = |name: &str, risk: &scumble::inspect::Risk| {
        let unique = percent(risk.unique, risk.exact);
        let below = percent(risk.below_5, risk.exact);
        let _ = writeln!(text, "{name:WIDTH$}  {unique:>11}  {below:>18}");
    };
    for risk in worst {
        let names: Vec<String> = risk.columns.iter().map(|name| shown(name)).collect();
        line(&cut(&names.join(", "), WIDTH), risk);
    }
    let n_columns = all.columns.len();
    let name = if n_columns == 1 {
        "the quasi column".to_owned()
    } else {
        format!("all {n_columns} quasi columns")
    };
    line(&name, all);
    text.push('\n');
    models(text, findings, all);
}

/// Risks of the table as it is, under the names of ARX and sdcMicro.
fn models(text: &mut String, findings: &Findings, all: &scumble::inspect::Risk) {
    let share = |share: f64| percent(share, all.exact);
    let _ = writeln!(
        text,
        "The table as it is, by all quasi columns [as ARX and sdcMicro call it]:\n\
         prosecutor, who knows a person is in it [individual risk]: {} of rows are alone \
         [sample uniques], {} in groups below 5 [records at risk]\n\
         marketer, who looks for everybody [global risk]: finds {} by chance",
        share(all.unique),
        share(all.below_5),
        share(all.tuples),
    );
    match &findings.uniqueness {
        Some(found) => {
            let _ = writeln!(
                text,
                "journalist, who knows the population of {}: {} of rows are alone in it by \
                 Pitman's model ({} to {}), {} by Zayatz' [population uniques]{}",
                grouped(found.population),
                percent(found.pitman, false),
                percent(found.limits.0, false),
                percent(found.limits.1, false),
                percent(found.zayatz, false),
                match found.disagrees() {
                    true => "; the models disagree, trust neither",
                    false => "",
                }
            );
        }
        None => text.push_str(
            "journalist, who looks in a larger population: give its size with \
             `--population-size`\n",
        ),
    }
    text.push('\n');
}

/// A name of a column as it can be printed.
fn shown(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    cut(&plain, 26)
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}

/// A share; zero and one only if they are exactly that.
fn percent(share: f64, exact: bool) -> String {
    let about = if exact { "" } else { "~" };
    let percent = 100.0 * share;
    match percent {
        0.0 => "0 %".to_owned(),
        _ if percent < 0.1 => "< 0.1 %".to_owned(),
        _ if percent < 10.0 => format!("{about}{percent:.1} %"),
        _ if percent < 100.0 && percent > 99.9 => "> 99.9 %".to_owned(),
        _ if percent < 100.0 && percent > 99.0 => format!("{about}{percent:.1} %"),
        _ => format!("{about}{percent:.0} %"),
    }
}

/// What a program reads.
fn as_json(findings: &Findings) -> Value {
    let columns = findings.columns.iter().map(|column| {
        let hierarchy = column.coarsening.as_ref().map(Coarsening::as_key);
        json!({
            "name": column.name,
            "type": column.kind.name(),
            "format": column.date_format,
            "role": column.role.name(),
            "reason": column.reason,
            "sure": column.sure.name(),
            "contribution": column.contribution,
            "top_share": column.top_share,
            "distinct": column.distinct,
            "missing": column.missing,
            "unique_share": column.unique_share,
            "exact": column.exact,
            "hierarchy": hierarchy,
        })
    });
    let risk = findings.risk.iter().map(|risk| {
        json!({
            "columns": risk.columns,
            "unique": risk.unique,
            "below_5": risk.below_5,
            "tuples": risk.tuples,
            "exact": risk.exact,
        })
    });
    json!({
        "schema": SCHEMA,
        "rows": findings.rows,
        "columns": columns.collect::<Vec<_>>(),
        "risk": risk.collect::<Vec<_>>(),
        "uniqueness": findings.uniqueness.as_ref().map(|found| json!({
            "population": found.population,
            "sample": found.sample,
            "pitman": { "share": found.pitman, "low": found.limits.0, "high": found.limits.1 },
            "zayatz": { "share": found.zayatz },
            "disagree": found.disagrees(),
        })),
        "person": findings.person.as_ref().map(|person| json!({
            "column": person.column,
            "people": person.people,
            "reason": person.reason,
            "sure": person.sure.name(),
        })),
        "oddities": findings.oddities.iter().map(|oddity| json!({
            "column": oddity.column,
            "what": oddity.what,
        })).collect::<Vec<_>>(),
        "recipe": findings.recipe,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn shares_are_rounded_but_never_to_zero_or_one() {
        let shown = [0.0, 0.0001, 0.034, 0.5, 0.9999, 1.0].map(|n| percent(n, true));
        assert_eq!(shown, ["0 %", "< 0.1 %", "3.4 %", "50 %", "> 99.9 %", "100 %"]);
    }

    #[test]
    fn a_recipe_elsewhere_finds_its_table() {
        let path = |table: &str, recipe: Option<&str>| {
            table_path(Path::new(table), recipe.map(Path::new)).unwrap()
        };
        assert_eq!(path("a/t.csv", None), "a/t.csv");
        assert_eq!(path("a/t.csv", Some("r.toml")), "a/t.csv");
        assert_eq!(path("a/t.csv", Some("a/r.toml")), "t.csv");
        assert_eq!(path("-", Some("b/r.toml")), "-");
        assert!(Path::new(&path("a/t.csv", Some("b/r.toml"))).is_absolute());
        assert_eq!(path("sqlite:a/t.db", Some("a/r.toml")), "sqlite:t.db");
        assert_eq!(path("postgres://u:p@h/d", Some("a/r.toml")), "postgres://h/d");
    }

    #[test]
    fn a_recipe_is_not_overwritten_unasked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.toml");
        write_recipe(&path, "a", false).unwrap();
        let error = write_recipe(&path, "b", false).unwrap_err();
        assert!(error.to_string().ends_with("the file exists already and is kept"));
        assert_eq!(error.hints(), ["use `--force` to replace it"]);
        write_recipe(&path, "b", true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "b");
    }
}
