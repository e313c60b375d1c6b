//! Every experiment in turn, and a page about all of them.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use scumble::error::{Error, Result};
use serde_json::{Value, json};

use crate::output::{message, print};
use crate::reproduce::clock::timed;
use crate::reproduce::index::{Entry, Found, page};
use crate::reproduce::{
    ALONE, Data, EXPERIMENTS, Experiment, ReproduceArgs, pretty, write,
};
use crate::result::SCHEMA;

/// The page about all experiments.
const INDEX_FILE: &str = "index.html";

/// Runs the experiments that there are data for. One that fails does not stop the others.
pub(super) fn run(args: &ReproduceArgs, data: &Data) -> Result<ExitCode> {
    // A folder that is not there is a mistake, not ten experiments that fail.
    data.if_any()?;
    let wanted = |known: &&Experiment| {
        args.only.is_empty() || args.only.iter().any(|name| name == known.name)
    };
    let chosen: Vec<&Experiment> = EXPERIMENTS.iter().filter(wanted).collect();
    let mut entries = Vec::with_capacity(chosen.len());
    for (place, experiment) in (1..).zip(&chosen) {
        let say = |what: &str| {
            if !args.quiet {
                let (name, n) = (experiment.name, chosen.len());
                message(&format!("[{place}/{n}] {name}: {what}\n"));
            }
        };
        let (found, seconds) =
            if data.typed.is_none() && !ALONE.contains(&experiment.name) {
                say("skipped, it needs `--data`");
                (Found::Skipped("it needs a folder with its data: `--data DIR`"), 0.0)
            } else {
                say("running");
                let (found, seconds) = timed(|| tried(experiment, data, &args.output));
                match &found {
                    Found::Failed(error) => say(&format!("failed: {error}")),
                    _ => say(&format!("done in {seconds:.1} s")),
                }
                (found, seconds)
            };
        entries.push(Entry { experiment, found, seconds });
    }
    let index = write_index(&args.output, &entries, data.rows)?;
    if args.json {
        let experiments: Vec<Value> = entries.iter().map(as_json).collect();
        let object =
            json!({ "schema": SCHEMA, "experiments": experiments, "index": index });
        print(&pretty(&object)?)?;
    } else if !args.quiet {
        print(&summary(&entries, &index))?;
    }
    let failed = entries.iter().any(|entry| matches!(entry.found, Found::Failed(_)));
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Runs one experiment and writes its files.
fn tried(experiment: &Experiment, data: &Data, folder: &Path) -> Found {
    let ran = (experiment.run)(data).and_then(|outcome| {
        let written = write(folder, experiment.name, &outcome)?;
        Ok(Found::Ran { outcome, written })
    });
    ran.unwrap_or_else(|error| Found::Failed(error.to_string()))
}

fn write_index(
    folder: &Path,
    entries: &[Entry<'_>],
    rows: Option<u32>,
) -> Result<String> {
    let path = folder.join(INDEX_FILE);
    let shown = path.display().to_string();
    fs::create_dir_all(folder).map_err(|error| {
        Error::io("create the folder", folder.display().to_string(), error)
    })?;
    let text = page(entries, rows);
    fs::write(&path, text).map_err(|error| Error::io("write", &shown, error))?;
    Ok(shown)
}

/// What was agreed and differed, in a few lines.
fn summary(entries: &[Entry<'_>], index: &str) -> String {
    let count = |fits: fn(&Found) -> bool| {
        entries.iter().filter(|entry| fits(&entry.found)).count()
    };
    let ran = count(|found| matches!(found, Found::Ran { .. }));
    let failed = count(|found| matches!(found, Found::Failed(_)));
    let skipped = count(|found| matches!(found, Found::Skipped(_)));
    let claims = entries.iter().flat_map(|entry| entry.found.claims());
    let (agree, differ): (Vec<bool>, Vec<bool>) =
        claims.map(|claim| claim.agrees).partition(|agrees| *agrees);
    format!(
        "{ran} experiments ran, {failed} failed, {skipped} skipped.\n\
         Of what the sources say, {} claims agree with what we found and {} differ.\n\
         wrote {index}\n",
        agree.len(),
        differ.len(),
    )
}

fn as_json(entry: &Entry<'_>) -> Value {
    let (status, mut object) = match &entry.found {
        Found::Ran { outcome, written } => {
            let mut object = outcome.json();
            object["files"] = json!(written.files);
            ("ran", object)
        }
        Found::Failed(error) => ("failed", json!({ "error": error })),
        Found::Skipped(why) => ("skipped", json!({ "reason": why })),
    };
    object["experiment"] = json!(entry.experiment.name);
    object["source"] = json!(entry.experiment.source);
    object["about"] = json!(entry.experiment.about);
    object["status"] = json!(status);
    object["seconds"] = json!(entry.seconds);
    object
}
