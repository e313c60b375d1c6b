//! Does it hold, can it be broken: promises rechecked from the files, attacks, scores.
//!
//! The audit shares no code with the publisher: it reads what was written.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::release::{Manifest, Release};

/// What an audit found.
#[derive(Debug, Clone)]
pub struct Report {
    /// Rows in the release.
    pub rows: u64,
    /// Each promise, rechecked.
    pub promises: Vec<Checked>,
    /// Each attack, tried.
    pub attacks: Vec<Attack>,
    /// What the release costs, by every loss; empty without the original.
    pub loss: BTreeMap<String, f64>,
    /// How large groups are: size, and how many groups have it, ascending.
    pub group_sizes: Vec<(u64, u64)>,
}

/// A promise, rechecked.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Its name.
    pub name: String,
    /// What was asked.
    pub asked: Value,
    /// What was reached.
    pub measured: Value,
    /// Whether it holds.
    pub holds: bool,
    /// Rows in groups of which it does not hold.
    pub rows_at_risk: u64,
}

/// An attack and how it went.
#[derive(Debug, Clone)]
pub struct Attack {
    /// Its name.
    pub name: String,
    /// The share of people for whom the guess is right, on average.
    pub success: f64,
    /// The share without the release's quasi cells.
    pub chance: f64,
    /// The most certain guess about anybody.
    pub worst: f64,
    /// Further numbers.
    pub detail: Map<String, Value>,
}

impl Report {
    /// Whether every promise holds.
    pub fn holds(&self) -> bool {
        self.promises.iter().all(|promise| promise.holds)
    }
}

/// Audits a release.
pub fn audit(
    _release: &Release,
    _original: Option<&Microdata>,
    _progress: &(dyn Fn(u64) + Sync),
) -> Result<Report> {
    Err(crate::error::Error::input("stub"))
}

/// Writes `report.html`.
pub fn write_page(
    _directory: &std::path::Path,
    _manifest: &Manifest,
    _report: &Report,
) -> Result<()> {
    Ok(())
}

/// The columns of the original, as the manifest describes them.
pub fn original_columns(_manifest: &Manifest) -> Vec<crate::hierarchy::ColumnSpec> {
    Vec::new()
}
