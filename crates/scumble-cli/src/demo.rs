//! `scumble demo`: a city, its hospital, and a release of every family.

mod recipes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use scumble::audit::{Checked, Report};
use scumble::error::{Error, Result};
use scumble::recipe::{Published, Request, Spec, publish};
use scumble_lab::city;
use serde_json::{Value, json};

use crate::demo::recipes::RECIPES;
use crate::output::{aligned, grouped, note, percent, print, print_json, short, write};
use crate::progress::Progress;
use crate::result::{SCHEMA, as_json};

/// Make sample data and a release of every family, and compare them.
///
/// The data are invented: a city of 60,000 people, and those of them who were in hospital.
/// Recipes stand beside the data, to be read and changed.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The folder to make.
    #[arg(default_value = "scumble-demo", value_name = "DIR")]
    directory: PathBuf,
    /// Write into the folder even if it was not made by this command.
    #[arg(long)]
    force: bool,
    /// Invent another city.
    #[arg(long, value_name = "N", default_value_t = city::SEED, hide_default_value = true)]
    seed: u64,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
    /// Print errors only.
    #[arg(long, short)]
    quiet: bool,
}

/// Says that a folder was made by this command and may be made again.
const MARKER: &str = ".scumble-demo";

/// A published recipe and how long it took.
struct Shown {
    name: &'static str,
    published: Published,
    stages: Vec<(scumble::watch::Stage, f64)>,
}

/// Runs the command.
pub(crate) fn run(args: &DemoArgs) -> Result<ExitCode> {
    let folder = &args.directory;
    prepare(folder, args.force)?;
    let recipes = RECIPES.map(|(name, text)| (format!("{name}.toml"), text.to_owned()));
    let data =
        city::files(args.seed).into_iter().map(|(name, text)| (name.to_owned(), text));
    for (name, text) in data {
        write(&folder.join(name), &text)?;
    }
    for (name, text) in recipes {
        // A recipe that somebody changed is theirs.
        let path = folder.join(&name);
        match fs::read_to_string(&path) {
            Ok(held) if held != text && !args.force => {
                note(&format!(
                    "{name} was changed, so it is kept; `--force` replaces it"
                ));
            }
            _ => write(&path, &text)?,
        }
    }

    let mut shown = Vec::new();
    for (name, _) in RECIPES {
        let spec = Spec::read(&folder.join(format!("{name}.toml")))?;
        let progress = Progress::new(args.quiet || args.json);
        let request = Request { replace: true, ..Request::new(&spec, folder) };
        let published = publish(request, &progress);
        let stages = progress.finish();
        shown.push(Shown { name, published: published?, stages });
    }

    if args.json {
        print_json(&all_json(folder, &shown))?;
    } else if !args.quiet {
        print(&summary(folder, &shown))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes the folder, unless it is somebody else's.
fn prepare(folder: &Path, force: bool) -> Result<()> {
    let name = || folder.display().to_string();
    let marker = folder.join(MARKER);
    if folder.exists() && !force && !marker.exists() {
        let mut entries = fs::read_dir(folder)
            .map_err(|error| Error::io("read the folder", name(), error))?;
        if entries.next().is_some() {
            return Err(Error::input("the folder exists and was not made by `demo`")
                .in_file(name())
                .with_hint("name another folder, or use `--force` to write into it"));
        }
    }
    fs::create_dir_all(folder)
        .map_err(|error| Error::io("create the folder", name(), error))?;
    write(&marker, "made by `scumble demo`, which may replace what is here\n")
}

/// What a person reads.
fn summary(folder: &Path, shown: &[Shown]) -> String {
    let heading = [
        "recipe",
        "method",
        "rows",
        "groups",
        "asked → measured",
        "loss",
        "found (chance)",
        "sec",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for Shown { name, published, stages } in shown {
        let report = &published.audit;
        let seconds: f64 = stages.iter().map(|(_, seconds)| seconds).sum();
        let mut changes = report.promises.iter().map(change);
        rows.push(vec![
            (*name).to_owned(),
            published.manifest.method.name.clone(),
            grouped(published.manifest.rows),
            match report.group_sizes.iter().map(|(_, n)| n).sum() {
                0 => "-".to_owned(),
                groups => grouped(groups),
            },
            changes.next().unwrap_or_default(),
            cost(report),
            linkage(report),
            format!("{seconds:.1}"),
        ]);
        for change in changes {
            rows.push([vec![String::new(); 4], vec![change]].concat());
        }
    }
    let folder = folder.display();
    format!(
        "{}\n\
         loss: 0 if all cells are as they were, 1 if all are `*`.\n\
         kept: randomized values that are published as they are.\n\
         a group: how many people a value may belong to, on average.\n\
         noise: how wide it is on average; 1 is as wide as the column.\n\
         found: patients whose row is guessed by who knows their quasi columns; by chance \
         without them.\n\
         Where values are randomized or given by group: patients whose value is guessed.\n\n\
         Next:\n    \
         scumble inspect {folder}/patients.csv\n    \
         scumble audit {folder}/hospital --original {folder}/patients.csv\n    \
         scumble audit {folder}/k-anonymity --original {folder}/patients.csv\n    \
         scumble audit {folder}/pdf --population {folder}/city.csv\n    \
         scumble estimate {folder}/breach \"SELECT disease, COUNT(*) FROM release GROUP BY disease\"\n    \
         scumble estimate {folder}/blur \"SELECT AVG(cost) FROM release WHERE age BETWEEN 60 AND 69\"\n    \
         scumble estimate {folder}/mondrian \"SELECT sex, COUNT(*), AVG(age) FROM release WHERE age >= 65 GROUP BY sex\"\n    \
         scumble sample {folder}/anatomy --draws 5 --output draws.csv\n    \
         scumble compare {folder}/mondrian.toml --vary promise.k-anonymity.k=3,5,10,25\n    \
         scumble publish --force {folder}/k-anonymity.toml      (read and change it first)\n\
         and open {folder}/hospital/report.html in a browser.\n",
        aligned(&rows)
    )
}

/// The number asked for, and what it became: `k-anonymity 5 → 7`.
fn change(promise: &Checked) -> String {
    let number = |value: &Value| value.as_f64().map_or(value.to_string(), short);
    // Nobody becomes surer than 1/r.
    let surest = promise.measured.get("posterior").and_then(Value::as_f64);
    if let (Some(r), Some(surest)) = (promise.asked.get("r"), surest) {
        return format!("{} {} → {}", promise.name, number(r), short(1.0 / surest));
    }
    let asked = promise.asked.as_object().into_iter().flatten();
    let changes: Vec<String> = asked
        .filter(|(_, value)| value.is_number())
        .filter_map(|(key, value)| match promise.measured.get(key) {
            Some(measured) => Some(format!("{} → {}", number(value), number(measured))),
            // A prior is what somebody believes before; a factor has no number of its own.
            None if promise.measured.is_object() => {
                (key != "prior").then(|| number(value))
            }
            None => Some(format!("{} → {}", number(value), number(&promise.measured))),
        })
        .collect();
    format!("{} {}", promise.name, changes.join(", "))
}

/// The loss, or how many randomized values stay as they are, or how large groups are.
fn cost(report: &Report) -> String {
    let loss = report.loss.get("loss").map(|loss| short(*loss));
    let kept = report.loss.get("record-utility");
    let kept = kept.map(|kept| format!("{} kept", percent(*kept)));
    let size = report.loss.get("average-group");
    let size = size.map(|size| format!("{size:.1} a group"));
    let noise =
        report.loss.get("spread").map(|noise| format!("{} noise", short(*noise)));
    loss.or(kept).or(size).or(noise).unwrap_or_else(|| "-".to_owned())
}

fn linkage(report: &Report) -> String {
    let named = |name: &str| report.attacks.iter().find(|attack| attack.name == name);
    let attack = named("linkage").or(named("inference"));
    let attack = attack.or(named("background-knowledge")).or(named("best-guess"));
    attack.map_or("-".to_owned(), |attack| {
        format!("{} ({})", percent(attack.success), percent(attack.chance))
    })
}

/// What a program reads.
fn all_json(folder: &Path, shown: &[Shown]) -> Value {
    let releases = shown.iter().map(|Shown { name, published, stages }| {
        let directory = published.directory.display().to_string();
        let mut object = json!({ "recipe": name, "directory": directory });
        let more = as_json(&published.manifest, &published.audit, stages);
        let more = more.as_object().into_iter().flatten();
        more.for_each(|(key, value)| object[key] = value.clone());
        object
    });
    let releases: Vec<Value> = releases.collect();
    let folder = folder.display().to_string();
    json!({ "schema": SCHEMA, "directory": folder, "releases": releases })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_somebody_else_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("demo");
        prepare(&own, false).unwrap();
        prepare(&own, false).unwrap();
        let foreign = folder.path().join("mine");
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join("thesis.txt"), "text").unwrap();
        let error = prepare(&foreign, false).unwrap_err();
        let message = error.to_string();
        assert!(message.ends_with("the folder exists and was not made by `demo`"));
        prepare(&foreign, true).unwrap();
        assert!(foreign.join("thesis.txt").exists());
    }

    #[test]
    fn a_promise_shows_what_became_of_its_numbers() {
        let promise = Checked {
            name: "l-diversity".to_owned(),
            columns: vec!["illness".to_owned()],
            asked: json!({ "l": 4, "kind": "entropy" }),
            measured: json!({ "l": 4.25, "kind": "entropy" }),
            holds: true,
            rows_at_risk: 0,
        };
        assert_eq!(change(&promise), "l-diversity 4 → 4.25");
    }
}
