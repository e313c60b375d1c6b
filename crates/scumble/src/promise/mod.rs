//! What must hold of a release, one file a promise.
//!
//! A promise looks at one group at a time: its size, how often each sensitive value occurs
//! in it, and how often in the whole published table.

mod k_anonymity;
mod l_diversity;
mod t_closeness;

use std::fmt;

pub use k_anonymity::KAnonymity;
pub use l_diversity::{Diversity, LDiversity};
pub use t_closeness::{Distance, TCloseness};

use crate::table::Histogram;

/// Rows published with the same quasi cells, as a promise sees them.
#[derive(Debug, Clone, Copy)]
pub struct Group<'a> {
    /// How many rows.
    pub rows: u64,
    /// For each sensitive column, how many rows have each value.
    pub values: &'a [Histogram],
}

/// Something that must hold of every group.
///
/// What implementers owe: `holds` and `measure` agree, do not depend on how values are
/// named or rows are ordered, and the promise *survives merging*: if it holds of two
/// groups, it holds of their union. The contract suite checks it.
pub trait Promise: fmt::Debug + Send + Sync {
    /// Its name in recipes and manifests.
    fn name(&self) -> &'static str;

    /// Its parameters as they stand in the manifest.
    fn asked(&self) -> serde_json::Value;

    /// The promise in a few words, such as "5-anonymity".
    fn title(&self) -> String;

    /// Whether it looks at sensitive values.
    fn looks_at_values(&self) -> bool;

    /// Whether it compares a group with the whole table.
    fn looks_at_whole(&self) -> bool {
        false
    }

    /// Whether it holds of `group` in a table whose published rows are `whole`.
    fn holds(&self, group: Group<'_>, whole: Group<'_>) -> bool;

    /// The strongest promise implied by this one that, once it holds of a group, holds of
    /// every larger group; nothing if there is none. When failing groups may be left out,
    /// only such promises fail less often in a coarser table.
    fn absorbing(&self) -> Option<Box<dyn Promise>>;

    /// Why no release of `whole` without left-out rows can keep it, in words that give
    /// nothing away but sizes.
    fn obstacle(&self, whole: Group<'_>) -> String;
}

/// All promises of a recipe: every one must hold.
#[derive(Debug)]
pub struct Promises(Vec<Box<dyn Promise>>);

impl Promises {
    /// All of these.
    pub fn new(promises: Vec<Box<dyn Promise>>) -> Self {
        Self(promises)
    }

    /// Whether every one holds of `group`.
    pub fn hold(&self, group: Group<'_>, whole: Group<'_>) -> bool {
        self.0.iter().all(|promise| promise.holds(group, whole))
    }

    /// Whether any looks at sensitive values.
    pub fn look_at_values(&self) -> bool {
        self.0.iter().any(|promise| promise.looks_at_values())
    }

    /// Whether any compares groups with the whole table.
    pub fn look_at_whole(&self) -> bool {
        self.0.iter().any(|promise| promise.looks_at_whole())
    }

    /// What they imply that only gets better as groups grow.
    pub fn absorbing(&self) -> Self {
        Self(self.0.iter().filter_map(|promise| promise.absorbing()).collect())
    }

    /// Whether growing groups never break any of them.
    pub fn all_absorbing(&self) -> bool {
        self.0.iter().all(|promise| {
            promise.absorbing().is_some_and(|weaker| weaker.asked() == promise.asked())
        })
    }

    /// The promises one by one.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Promise> {
        self.0.iter().map(|promise| &**promise)
    }

    /// The titles, joined by "and".
    pub fn title(&self) -> String {
        let titles: Vec<String> = self.iter().map(Promise::title).collect();
        titles.join(" and ")
    }
}
