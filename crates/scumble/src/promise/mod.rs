//! What must hold of a release, one file a promise.
//!
//! A promise looks at one group at a time: its size, how many people of the population
//! belong to it, how often each sensitive value occurs in it, and how often in the whole
//! published table.

mod advice;
mod breach;
mod delta_presence;
mod expected_anonymity;
mod fine_grain;
mod k_anonymity;
mod l_diversity;
mod r_robustness;
mod t_closeness;

use std::fmt;

pub use advice::{PresenceAdvice, PresenceRisk};
pub use breach::{Bound, Breach, Breaches, amplification};
pub use delta_presence::{Adversary, DeltaPresence};
pub use expected_anonymity::{ExpectedAnonymity, Law, Wish, tail};
pub use fine_grain::{FineGrain, Sensitivity};
pub use k_anonymity::KAnonymity;
pub use l_diversity::{Diversity, LDiversity};
pub use r_robustness::{
    MOST_STATES, PriorSet, Priors, RRobustness, Scratch, Verdict, binary_posteriors,
    delta_safe, posteriors, swap_bound,
};
pub use t_closeness::{Distance, TCloseness};

use crate::table::Histogram;

/// Rows published with the same quasi cells, as a promise sees them.
#[derive(Debug, Clone, Copy)]
pub struct Group<'a> {
    /// How many rows.
    pub rows: u64,
    /// How many people of the population could be in it; without a population, `rows`.
    pub people: u64,
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

    /// Whether it says something about people of the population who are not published. Of
    /// a group without rows only such promises can fail.
    fn looks_at_people(&self) -> bool {
        false
    }

    /// Whether it holds of `group` in a table whose published rows are `whole`.
    fn holds(&self, group: Group<'_>, whole: Group<'_>) -> bool;

    /// A promise implied by this one whose toll does not shrink when a group is divided;
    /// nothing if there is none. When failing groups may be left out, only such promises
    /// tell something about finer tables. Most often that is one that, once it holds of a
    /// group, holds of every larger one.
    fn absorbing(&self) -> Option<Box<dyn Promise>>;

    /// For what `absorbing` returns: how many rows of a group of which it fails are left
    /// out at least, however the group is divided.
    fn toll(&self, group: Group<'_>) -> u64 {
        group.rows
    }

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
        self.0.iter().all(|promise| {
            (group.rows == 0 && !promise.looks_at_people())
                || promise.holds(group, whole)
        })
    }

    /// Whether they hold of the people who are not published, of whom `group.rows` are in
    /// the table. To a reader these are one group.
    pub fn hold_of_unpublished(&self, group: Group<'_>) -> bool {
        let about_people = self.0.iter().filter(|promise| promise.looks_at_people());
        group.rows == 0
            || about_people.into_iter().all(|promise| promise.holds(group, group))
    }

    /// How many rows of a group must be left out at least, if these are what promises
    /// imply; nothing if that cannot help.
    pub fn toll(&self, group: Group<'_>, whole: Group<'_>) -> Option<u64> {
        let failing = self.0.iter().filter(|promise| {
            (group.rows > 0 || promise.looks_at_people())
                && !promise.holds(group, whole)
        });
        let tolls = failing.map(|promise| promise.toll(group));
        match tolls.max() {
            Some(_) if group.rows == 0 => None,
            toll => Some(toll.unwrap_or(0)),
        }
    }

    /// Whether any looks at sensitive values.
    pub fn look_at_values(&self) -> bool {
        self.0.iter().any(|promise| promise.looks_at_values())
    }

    /// Whether any compares groups with the whole table.
    pub fn look_at_whole(&self) -> bool {
        self.0.iter().any(|promise| promise.looks_at_whole())
    }

    /// Whether any says something about people who are not published.
    pub fn look_at_people(&self) -> bool {
        self.0.iter().any(|promise| promise.looks_at_people())
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
