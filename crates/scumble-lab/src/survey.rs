//! Many experiments in turn, and a page about all of them.

use std::path::Path;

use scumble::error::Result;
use serde_json::{Value, json};

use crate::clock::timed;
use crate::index::page;
use crate::outcome::Claim;
use crate::{Data, Experiment, Ran, RequiredData, write};

/// The page about all experiments.
const INDEX_FILE: &str = "index.html";

/// What became of many experiments.
#[derive(Debug)]
pub struct Survey<'a> {
    entries: Vec<Entry<'a>>,
    index: String,
}

/// An experiment and what became of it.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) found: Ending,
    seconds: f64,
}

/// What became of an experiment.
#[derive(Debug)]
pub(crate) enum Ending {
    Ran(Ran),
    Failed(String),
    Skipped(&'static str),
}

impl Ending {
    /// What the source said, and what was found.
    pub(crate) fn claims(&self) -> &[Claim] {
        match self {
            Self::Ran(ran) => &ran.outcome.claims,
            _ => &[],
        }
    }
}

/// Runs those of the experiments that there are data for, and writes a page about all. One
/// that fails does not stop the others; `tell` hears how far this is, a line at a time.
pub fn survey<'a>(
    chosen: &[&'a Experiment],
    data: &Data,
    folder: &Path,
    tell: &dyn Fn(&str),
) -> Result<Survey<'a>> {
    // A folder that is not there is a mistake, not ten experiments that fail.
    data.if_any()?;
    let mut entries = Vec::with_capacity(chosen.len());
    for (place, experiment) in (1..).zip(chosen) {
        let (name, n) = (experiment.name, chosen.len());
        let say = |what: &str| tell(&format!("[{place}/{n}] {name}: {what}"));
        let (found, seconds) =
            if data.folder.is_none() && experiment.needs == RequiredData::Data {
                say("skipped, it needs `--data`");
                (Ending::Skipped("it needs a folder with its data: `--data DIR`"), 0.0)
            } else {
                say("running");
                let (ran, seconds) = timed(|| experiment.run(data, folder));
                match ran {
                    Ok(ran) => {
                        say(&format!("done in {seconds:.1} s"));
                        (Ending::Ran(ran), seconds)
                    }
                    Err(error) => {
                        say(&format!("failed: {error}"));
                        (Ending::Failed(error.to_string()), seconds)
                    }
                }
            };
        entries.push(Entry { experiment, found, seconds });
    }
    let index = write(folder, INDEX_FILE, &page(&entries, data.rows))?;
    Ok(Survey { entries, index })
}

impl Survey<'_> {
    /// The page about all experiments: where it is.
    pub fn index(&self) -> &str {
        &self.index
    }

    /// Whether an experiment failed.
    pub fn has_failed(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.found, Ending::Failed(_)))
    }

    /// What a person reads: how much agreed and differed, in a few lines.
    pub fn text(&self) -> String {
        let count = |fits: fn(&Ending) -> bool| {
            self.entries.iter().filter(|entry| fits(&entry.found)).count()
        };
        let ran = count(|found| matches!(found, Ending::Ran(_)));
        let failed = count(|found| matches!(found, Ending::Failed(_)));
        let skipped = count(|found| matches!(found, Ending::Skipped(_)));
        let claims = self.entries.iter().flat_map(|entry| entry.found.claims());
        let (agree, differ): (Vec<bool>, Vec<bool>) =
            claims.map(|claim| claim.agrees).partition(|agrees| *agrees);
        format!(
            "{ran} experiments ran, {failed} failed, {skipped} skipped.\n\
             Of what the sources say, {} claims agree with what we found and {} differ.\n",
            agree.len(),
            differ.len(),
        )
    }

    /// What a program reads: an object for each experiment.
    pub fn json(&self) -> Vec<Value> {
        self.entries.iter().map(as_json).collect()
    }
}

fn as_json(entry: &Entry<'_>) -> Value {
    let (status, mut object) = match &entry.found {
        Ending::Ran(ran) => {
            let mut object = ran.json();
            object["files"] = json!(ran.files);
            ("ran", object)
        }
        Ending::Failed(error) => ("failed", json!({ "error": error })),
        Ending::Skipped(why) => ("skipped", json!({ "reason": why })),
    };
    object["experiment"] = json!(entry.experiment.name);
    object["source"] = json!(entry.experiment.source);
    object["about"] = json!(entry.experiment.about);
    object["status"] = json!(status);
    object["seconds"] = json!(entry.seconds);
    object
}
