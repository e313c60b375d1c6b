//! Experiments of the literature: each a table, a picture, and what the source said beside
//! what was found.
//!
//! An experiment draws its data or reads them from a folder, runs methods of the library, and
//! returns what it found; it writes files where it is told to, and prints nothing. Schemes
//! that only a paper has, and that do not keep what they promise, live here and not in the
//! library, unless a recipe can ask for them.

mod adult;
mod anonymity;
mod belief;
mod blurred;
mod bucketed;
mod census;
mod chart;
pub mod city;
mod clock;
mod compared;
mod delta;
mod experiments;
mod index;
mod mined;
mod outcome;
mod perturbed;
mod private;
mod queries;
mod ranges;
mod survey;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};

use scumble::error::{Error, Result};
use serde_json::Value;

pub use crate::experiments::EXPERIMENTS;
use crate::outcome::Outcome;
pub use crate::survey::{Survey, survey};

/// An experiment that can be repeated.
#[derive(Debug)]
pub struct Experiment {
    /// What it is called.
    pub name: &'static str,
    /// The paper's key and the figure.
    pub source: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// What it cannot run without.
    pub needs: RequiredData,
    run: fn(&Data) -> Result<Outcome>,
}

/// What an experiment cannot run without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredData {
    /// It draws its tables, and takes more from the folder if there is one.
    Nothing,
    /// The folder with the data.
    Data,
}

/// What experiments are run on.
#[derive(Debug, Clone, Default)]
pub struct Data {
    /// The folder with the data, which not every experiment needs.
    pub folder: Option<PathBuf>,
    /// How many rows drawn tables have, if not as many as in the source.
    pub rows: Option<u32>,
}

/// What an experiment found, and the files that say so.
#[derive(Debug)]
pub struct Ran {
    outcome: Outcome,
    files: Vec<String>,
    /// The picture, which is in one of the files.
    picture: String,
}

impl Experiment {
    /// Runs it, and writes table and picture into `folder`.
    pub fn run(&self, data: &Data, folder: &Path) -> Result<Ran> {
        let outcome = (self.run)(data)?;
        let picture = chart::svg(&outcome.figure)?;
        let mut files = Vec::new();
        for (ending, text) in [("csv", &outcome.csv()), ("svg", &picture)] {
            files.push(write(folder, &format!("{}.{ending}", self.name), text)?);
        }
        Ok(Ran { outcome, files, picture })
    }
}

impl Ran {
    /// What a person reads: tables, and what the source said.
    pub fn text(&self) -> String {
        self.outcome.text()
    }

    /// What a program reads: `rows` and `claims`.
    pub fn json(&self) -> Value {
        self.outcome.json()
    }

    /// The files that were written.
    pub fn files(&self) -> &[String] {
        &self.files
    }
}

impl Data {
    /// How many rows a table has that is drawn.
    fn rows(&self, unless_said: usize) -> usize {
        self.rows.map_or(unless_said, |rows| rows as usize)
    }

    /// The folder, if one was named at all.
    fn if_any(&self) -> Result<Option<&Path>> {
        self.folder.as_ref().map(|_| self.folder()).transpose()
    }

    /// The folder, if it was named and is there.
    fn folder(&self) -> Result<&Path> {
        let Some(folder) = &self.folder else {
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

/// Writes a file into a folder, which is made if need be; where it is.
fn write(folder: &Path, name: &str, text: &str) -> Result<String> {
    fs::create_dir_all(folder).map_err(|error| {
        Error::io("create the folder", folder.display().to_string(), error)
    })?;
    let path = folder.join(name);
    let shown = path.display().to_string();
    fs::write(&path, text).map_err(|error| Error::io("write", &shown, error))?;
    Ok(shown)
}
