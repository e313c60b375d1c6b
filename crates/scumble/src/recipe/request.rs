//! What is asked of a run, and what comes of it.

use std::path::{Path, PathBuf};

use crate::audit::Report;
use crate::error::Result;
use crate::method::{ColumnChoice, Plan, ValueChoice};
use crate::random::Randomness;
use crate::recipe::Spec;
use crate::release::{Draft, Manifest, Release};
use crate::table::{Input, Inputs};

/// What to publish.
#[derive(Debug)]
pub struct Request<'a> {
    /// The recipe.
    pub spec: &'a Spec,
    /// The folder it is in, which the release's directory is relative to.
    pub folder: &'a Path,
    /// What its names stand for: files of the folder, unless others are given.
    pub inputs: Inputs,
    /// Where the release goes, if not where the recipe says.
    pub directory: Option<PathBuf>,
    /// Whether an existing release is replaced.
    pub replace: bool,
    /// Whether the release stays in memory.
    pub in_memory: bool,
    /// A plan to apply instead of a search.
    pub plan: Option<Plan>,
    /// Fixes all randomness; the release is then marked as an experiment.
    pub seed: Option<u64>,
    /// The ledger of earlier releases, which this one is put together with before it appears,
    /// and recorded in.
    pub ledger: Option<PathBuf>,
    /// Whether a release that breaks a promise together with earlier ones is refused; else
    /// that is said.
    pub refuse_together: bool,
}

impl<'a> Request<'a> {
    /// What the recipe says, and nothing replaced.
    pub fn new(spec: &'a Spec, folder: &'a Path) -> Self {
        Self {
            spec,
            folder,
            inputs: Inputs::in_folder(folder),
            directory: None,
            replace: false,
            in_memory: false,
            plan: None,
            seed: None,
            ledger: None,
            refuse_together: false,
        }
    }

    /// A recipe whose inputs are all given, for a release that stays in memory.
    pub fn in_memory(
        spec: &'a Spec,
        given: impl IntoIterator<Item = (String, Input)>,
    ) -> Self {
        Self {
            inputs: Inputs::in_memory(given),
            in_memory: true,
            ..Self::new(spec, Path::new(""))
        }
    }

    /// The release that is begun.
    pub(super) fn draft(&self) -> Result<Draft> {
        match self.in_memory {
            true => Ok(Draft::in_memory()),
            false => Draft::new(&self.target(), self.replace),
        }
    }

    /// Where the release goes.
    pub(super) fn target(&self) -> PathBuf {
        let directory = self.directory.clone();
        directory.unwrap_or_else(|| self.folder.join(&self.spec.release.directory))
    }

    /// What all chance comes from.
    pub(super) fn randomness(&self) -> Result<Randomness> {
        match self.seed {
            Some(seed) => Ok(Randomness::of_seed(seed)),
            None => Randomness::fresh(),
        }
    }
}

/// What was published.
#[derive(Debug)]
pub struct Published {
    /// Where the release is; nothing if it is in memory.
    pub directory: PathBuf,
    /// The release.
    pub release: Release,
    /// What it says about itself.
    pub manifest: Manifest,
    /// The audit of its files, with the table at hand: private where presence is promised.
    pub audit: Report,
    /// What the method decided: private.
    pub plan: Plan,
    /// Columns of the table that the recipe does not name: left out.
    pub unnamed: Vec<String>,
    /// Identifiers and dropped columns: left out.
    pub removed: Vec<String>,
    /// How the search went.
    pub search: Search,
    /// What a steward should look at, and no file says.
    pub notes: Vec<String>,
}

/// How good the best of all is known to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proven {
    /// What was found costs so much.
    pub loss: f64,
    /// Nothing that is allowed costs less: a function of the table, and private.
    pub bound: f64,
    /// Whether what was found is known to be the best.
    pub optimal: bool,
}

impl Proven {
    /// By how much what was found may cost more than the best, as a share of that; nothing
    /// if that cannot be said.
    pub fn gap(&self) -> Option<f64> {
        match self.optimal {
            true => Some(0.0),
            false if self.bound > 0.0 => Some((self.loss - self.bound) / self.bound),
            false => None,
        }
    }
}

/// How a search went.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Nodes of the lattice, for `full-domain`.
    pub lattice: u128,
    /// Nodes at which all columns were looked at.
    pub checked: usize,
    /// For `full-domain`, unless by coins: how good the chosen levels are.
    pub proven: Option<Proven>,
    /// Groups published.
    pub n_groups: usize,
    /// For `full-domain`: each column, its level, and the level of `*`.
    pub levels: Vec<(String, usize, usize)>,
    /// For `full-domain` by coins: the levels that were looked at last and refused.
    pub refused: Option<Vec<usize>>,
    /// For `mondrian`: how columns and values were chosen.
    pub strategy: Option<(ColumnChoice, ValueChoice)>,
    /// The loss of each method that was tried, if the recipe names none.
    pub tried: Vec<(String, f64)>,
}
