//! `scumble audit`: rechecks a release and attacks it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use scumble::audit::{
    Attacked, Given, Knowledge, Original, audit, read_population, together,
};
use scumble::error::{Error, Result};
use scumble::hierarchy::Microdata;
use scumble::release::{Release, Treatment};
use scumble::table::{ReadOptions, Source, Stated, is_server};
use scumble::watch::{Stage, Watch};

use crate::output::{counted, note, print, print_json};
use crate::progress::Progress;
use crate::result::{
    as_json, attacks_text, loss_text, not_tried_text, promises_text, undecided_text,
};
use crate::table::TableArgs;
use crate::warnings::warnings;

/// Recheck what a release promises, from its files, and attack it.
///
/// Exits with 0 if every promise holds, with 1 if one does not, with 2 if one cannot be
/// decided with what is given.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// The release, a directory.
    release: PathBuf,
    /// The table it was made from: for attacks and for what the release costs.
    #[arg(long, value_name = "FILE")]
    original: Option<PathBuf>,
    /// The population the table is part of: for promises and attacks about presence.
    #[arg(long, value_name = "FILE")]
    population: Option<PathBuf>,
    /// What an adversary knows of how sensitive values depend on quasi columns: a CSV file of
    /// these columns, a value and its probability, or `table` for what the original tells.
    /// Can be given several times.
    #[arg(long, value_name = "FILE")]
    knowledge: Vec<PathBuf>,
    /// Another release of the same people, to be put together with this one: what their
    /// groups have in common, and what randomized columns then tell. Can be given several
    /// times.
    #[arg(long, value_name = "RELEASE", requires = "original")]
    also: Vec<PathBuf>,
    #[command(flatten)]
    table: TableArgs,
    /// The sheet of the population.
    #[arg(long, value_name = "NAME", requires = "population")]
    population_sheet: Option<String>,
    /// What to ask the database that has the population.
    #[arg(long, value_name = "SQL", requires = "population")]
    population_query: Option<String>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    /// Print errors only; the exit code tells the result.
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(args: &AuditArgs) -> Result<ExitCode> {
    let release = Release::open(&args.release)?;
    let progress = Progress::new(args.quiet || args.json);
    let (original, population) = read(args, &release, &progress)?;
    progress.stage(Stage::Audit, 0);
    let knowledge = knowledge(args)?;
    let given = Given {
        original: original.as_ref(),
        population: population.as_ref(),
        knowledge: knowledge.as_ref(),
    };
    let report = audit(&release, &given, &progress).map(|audit| audit.private);
    let report = report.and_then(|mut report| {
        if !args.also.is_empty() {
            let tried = put_together(args, &release, &progress)?;
            let is_tried = |name: &str| tried.iter().any(|tried| tried.name == name);
            report.attacks.retain(|attack| !is_tried(&attack.name));
            report.not_applicable.retain(|attack| !is_tried(&attack.name));
            report.attacks.extend(tried);
        }
        Ok(report)
    });
    let seconds = progress.finish();
    let report = report?;
    if args.json {
        print_json(&as_json(&release.manifest, &report, &seconds))?;
    } else if !args.quiet {
        let groups = match report.group_sizes.iter().map(|(_, n)| n).sum() {
            0 => String::new(),
            groups => format!(" in {}", counted(groups, "group")),
        };
        let mut text = format!(
            "{}: {}{groups}, checksums are right\n\n{}",
            args.release.display(),
            counted(report.rows, "row"),
            promises_text(&report),
        );
        text.push_str(&undecided_text(&report));
        if args.original.is_none() {
            note(&without_original(args, &release));
        }
        for warning in warnings(&release.manifest, &report) {
            note(&warning);
        }
        if !report.attacks.is_empty() {
            text.push_str(&format!("\n{}", attacks_text(&report)));
        }
        text.push_str(&not_tried_text(&report));
        if !report.loss.is_empty() {
            text.push_str(&format!("\nloss  {}\n", loss_text(&report)));
        }
        if release.manifest.experiment {
            note("randomness was fixed by a seed: this release is not for publication");
        }
        print(&text)?;
    }
    // What could not be decided is no answer.
    Ok(match (report.holds(), report.undecided.is_empty()) {
        (false, _) => ExitCode::from(1),
        (true, false) => ExitCode::from(2),
        (true, true) => ExitCode::SUCCESS,
    })
}

/// What the table would tell beside.
fn without_original(args: &AuditArgs, release: &Release) -> String {
    let has = |kind: fn(&Treatment) -> bool| {
        release.manifest.columns.iter().any(|column| kind(&column.treatment))
    };
    if has(|treatment| matches!(treatment, Treatment::Drawn { .. })) {
        return "shares of values are estimated from the release; for the true ones give the \
                table with `--original FILE`"
            .to_owned();
    }
    if args.population.is_some() {
        return "who is hit is only expected; what is true, linkage and losses need the table: \
                give it with `--original FILE`"
            .to_owned();
    }
    if has(|treatment| *treatment == Treatment::Apart) {
        let known = match args.knowledge.is_empty() {
            true => {
                ", and what somebody concludes who knows how values depend on quasi columns"
            }
            false => "",
        };
        return format!(
            "who is hit is only expected; what is true{known} needs the table: give it with \
             `--original FILE`"
        );
    }
    "attacks and losses need the table: give it with `--original FILE`".to_owned()
}

/// Tries what can be found out from this and the other releases together.
fn put_together(
    args: &AuditArgs,
    release: &Release,
    progress: &Progress,
) -> Result<Vec<Attacked>> {
    let others = args.also.iter().map(|path| Release::open(path));
    let others: Vec<Release> = others.collect::<Result<_>>()?;
    let all: Vec<&Release> = [release].into_iter().chain(&others).collect();
    let path = args.original.as_ref();
    let path = path.ok_or_else(|| Error::recipe("`--also` needs `--original`"))?;
    let original = Source::open(path, &args.table.options()?)?;
    let found = together(&all, &original, progress)?;
    if found.is_empty() {
        let what = "these releases have no sensitive column that can be put together";
        return Err(Error::input(what).with_hint(
            "it must be published by group in two of them, or randomized in all",
        ));
    }
    Ok(found)
}

/// Reads what the auditor was given: the table, within the population if that is given,
/// too, and the population.
fn read(
    args: &AuditArgs,
    release: &Release,
    progress: &Progress,
) -> Result<(Option<Original<'static>>, Option<Microdata>)> {
    let options =
        ReadOptions { shared: args.population.is_some(), ..args.table.options()? };
    let mut of_everyone = ReadOptions {
        shared: true,
        sheet: args.population_sheet.clone(),
        query: args.population_query.clone(),
        ..options.clone()
    };
    let is_server_too = args
        .population
        .as_ref()
        .is_some_and(|path| path.to_str().is_some_and(is_server));
    of_everyone.password = of_everyone.password.filter(|_| is_server_too);
    let open = |path: &Option<PathBuf>, options: &ReadOptions| {
        path.as_ref().map(|path| Source::open(path, options)).transpose()
    };
    let original = open(&args.original, &options)?;
    let everyone = open(&args.population, &of_everyone)?;
    let manifest = &release.manifest;
    if original.is_some() || everyone.is_some() {
        let sources = original.iter().chain(&everyone);
        progress.stage(Stage::Read, sources.map(Source::bytes).sum());
    }
    match (original, everyone) {
        (None, None) => Ok((None, None)),
        (None, Some(everyone)) => {
            let population = read_population(&everyone, manifest, progress)?;
            Ok((None, Some(population)))
        }
        (Some(table), everyone) => {
            let read =
                Original::read_within(&table, everyone.as_ref(), manifest, progress)?;
            Ok((Some(read.0), read.1))
        }
    }
}

/// What the adversary knows, if the auditor says so.
fn knowledge(args: &AuditArgs) -> Result<Option<Knowledge>> {
    match &*args.knowledge {
        [] => Ok(None),
        [word] if word.as_os_str() == "table" => match &args.original {
            Some(_) => Ok(Some(Knowledge::Table)),
            None => Err(Error::recipe("`--knowledge table` needs the table")
                .with_hint("give it with `--original FILE`")),
        },
        files => {
            let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
            Ok(Some(Knowledge::Stated(Stated::read(&paths)?)))
        }
    }
}
