//! What must hold of a release, one file for each promise.
//!
//! Every promise is a [`Promise`]. What it is [`About`] says how it is judged: groups of
//! rows, the matrices that values are drawn by, what can be believed of the values of a
//! group, or the company that noise leaves somebody.

mod advice;
mod beta_likeness;
mod breach;
mod delta_disclosure;
mod delta_presence;
mod expected_anonymity;
mod fine_grain;
mod k_anonymity;
mod k_map;
mod l_diversity;
mod of_columns;
mod of_people;
mod r_robustness;
mod t_closeness;

use std::fmt;
use std::sync::Arc;

pub use advice::{PresenceAdvice, PresenceRisk};
pub use beta_likeness::{BetaLikeness, Likeness};
pub use breach::{Bound, Breach, Breaches, amplification};
pub use delta_disclosure::DeltaDisclosure;
pub use delta_presence::{Adversary, DeltaPresence};
pub(crate) use expected_anonymity::shape;
pub use expected_anonymity::{ExpectedAnonymity, Law, Wish};
pub use fine_grain::{FineGrain, Sensitivity};
pub use k_anonymity::KAnonymity;
pub use k_map::KMap;
pub use l_diversity::{Diversity, LDiversity};
pub use of_columns::OfColumns;
pub use of_people::OfPeople;
pub use r_robustness::{
    GroupBeliefs, MOST_STATES, PriorSet, Priors, RRobustness, RobustRows, Scratch,
    SignatureId, Verdict, binary_posteriors, delta_safe, posteriors, swap_bound,
};
pub use t_closeness::{Distance, TCloseness};

use crate::decimal::Decimal;
use crate::hierarchy::Hierarchy;
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

impl<'a> Group<'a> {
    /// The same with one sensitive column only.
    fn in_column(self, place: usize) -> Group<'a> {
        Group { values: &self.values[place..=place], ..self }
    }
}

/// Something that is promised to the people of a table.
///
/// The contract suite runs over every promise that a recipe can make.
pub trait Promise: fmt::Debug + Send + Sync {
    /// Its name in recipes and manifests.
    fn name(&self) -> &'static str;

    /// Its parameters as they stand in the manifest.
    fn asked(&self) -> serde_json::Value;

    /// The promise in a few words, such as "5-anonymity".
    fn title(&self) -> String;

    /// What must be looked at to tell whether it holds. Methods say by this which promises
    /// they keep.
    fn about(&self) -> About<'_>;
}

/// What a promise is about.
#[derive(Debug, Clone, Copy)]
pub enum About<'a> {
    /// Groups of rows with the same cells.
    Groups(&'a dyn GroupPromise),
    /// The matrices by which values are drawn.
    Draws(&'a dyn DrawPromise),
    /// What can be believed of anybody whose value stands among those of a group.
    Posteriors(&'a RRobustness),
    /// How many people somebody is hidden among by noise.
    Company(&'a ExpectedAnonymity),
}

impl About<'_> {
    /// Whether it speaks of sensitive values.
    pub fn looks_at_values(&self) -> bool {
        match self {
            Self::Groups(promise) => promise.looks_at_values(),
            Self::Draws(_) | Self::Posteriors(_) => true,
            Self::Company(_) => false,
        }
    }
}

/// A promise that bounds what a drawn value tells.
///
/// What implementers owe: bounds are probabilities, the prior below the posterior. If every
/// matrix keeps them, no belief in a value moves from its prior past its posterior.
pub trait DrawPromise: Promise {
    /// Which way a belief must not move.
    fn breaches(&self) -> Breaches;

    /// Whether each value has a bound of its own.
    fn is_fine_grain(&self) -> bool;

    /// The bound of each value, if so many rows have it; nothing where it needs none.
    fn bounds(&self, counts: &[u64]) -> Vec<Option<Bound>>;
}

/// A promise that must hold of every group.
///
/// What implementers owe: it does not depend on how values are named or rows are ordered,
/// and it *survives merging*: if it holds of two groups, it holds of their union. One that
/// looks at values looks at each sensitive column alone.
pub trait GroupPromise: Promise {
    /// Whether it looks at sensitive values.
    fn looks_at_values(&self) -> bool;

    /// Whether it compares a group with the whole table.
    fn looks_at_whole(&self) -> bool {
        false
    }

    /// Whether it compares values along their hierarchy.
    fn needs_hierarchy(&self) -> bool {
        false
    }

    /// The same for a sensitive column that coarsens like this; nothing if that does not
    /// matter.
    fn along(&self, _hierarchy: &Hierarchy) -> Option<Box<dyn GroupPromise>> {
        None
    }

    /// Whether it says something about people of the population who are not published. Of
    /// a group without rows only such promises can fail.
    fn looks_at_people(&self) -> bool {
        false
    }

    /// Whether it counts people of a population.
    fn needs_population(&self) -> bool {
        self.looks_at_people()
    }

    /// Whether it holds of the union of two groups that it holds of. Only where people are
    /// told apart some do not.
    fn survives_merging(&self) -> bool {
        true
    }

    /// Between which shares the presence of everybody must lie, if it asks that.
    fn presence(&self) -> Option<(Decimal, Decimal)> {
        None
    }

    /// Whether it holds of `group` in a table whose published rows are `whole`.
    fn holds(&self, group: Group<'_>, whole: Group<'_>) -> bool;

    /// A promise implied by this one whose toll does not shrink when a group is divided;
    /// nothing if there is none. When failing groups may be left out, only such promises
    /// tell something about finer tables. Most often that is one that, once it holds of a
    /// group, holds of every larger one; a group can be near to the whole and a larger one not.
    fn absorbing(&self) -> Option<Box<dyn GroupPromise>> {
        None
    }

    /// For what `absorbing` returns: how many rows of a group of which it fails are left
    /// out at least, however the group is divided.
    fn toll(&self, group: Group<'_>) -> u64 {
        group.rows
    }

    /// Of groups whose values stand apart from their rows it holds in a strong form: no
    /// value has more than one part in so many. One if there is no such form.
    fn parts(&self) -> u64 {
        1
    }

    /// Why no release of `whole` without left-out rows can keep it, in words that give
    /// nothing away but sizes.
    fn obstacle(&self, whole: Group<'_>) -> String;
}

/// All promises of a recipe about groups: every one must hold.
#[derive(Debug)]
pub struct Promises(Vec<Arc<dyn GroupPromise>>);

impl FromIterator<Arc<dyn GroupPromise>> for Promises {
    fn from_iter<I: IntoIterator<Item = Arc<dyn GroupPromise>>>(promises: I) -> Self {
        Self(promises.into_iter().collect())
    }
}

impl Promises {
    /// All of these.
    pub fn new(promises: Vec<Box<dyn GroupPromise>>) -> Self {
        promises.into_iter().map(Arc::from).collect()
    }

    /// These and more.
    pub fn with(&self, more: impl IntoIterator<Item = Arc<dyn GroupPromise>>) -> Self {
        self.0.iter().cloned().chain(more).collect()
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

    /// Those that look at sensitive values, and the others.
    pub fn by_values(&self) -> (Self, Self) {
        let promises = self.0.iter().cloned();
        let (values, others): (Vec<_>, Vec<_>) = promises
            .partition(|promise| promise.looks_at_values() || promise.looks_at_whole());
        (Self(values), Self(others))
    }

    /// Whether any compares groups with the whole table.
    pub fn look_at_whole(&self) -> bool {
        self.0.iter().any(|promise| promise.looks_at_whole())
    }

    /// Whether any says something about people who are not published.
    pub fn look_at_people(&self) -> bool {
        self.0.iter().any(|promise| promise.looks_at_people())
    }

    /// Between which shares the presence of everybody must lie, if any asks that.
    pub fn presence(&self) -> Option<(Decimal, Decimal)> {
        let asked = self.0.iter().filter_map(|promise| promise.presence());
        asked.reduce(|(min, max), (low, high)| {
            let min = if min.less_than(low) { low } else { min };
            (min, if high.less_than(max) { high } else { max })
        })
    }

    /// Whether each is a function of how many rows and people a group has.
    pub fn count_only(&self) -> bool {
        !self.look_at_values() && !self.look_at_whole()
    }

    /// What they imply that only gets better as groups grow.
    pub fn absorbing(&self) -> Self {
        Self::new(self.0.iter().filter_map(|promise| promise.absorbing()).collect())
    }

    /// Whether all survive merging.
    pub fn survive_merging(&self) -> bool {
        self.0.iter().all(|promise| promise.survives_merging())
    }

    /// Whether growing groups never break any of them.
    pub fn all_absorbing(&self) -> bool {
        self.0.iter().all(|promise| {
            promise.absorbing().is_some_and(|weaker| weaker.asked() == promise.asked())
        })
    }

    /// The promises one by one.
    pub fn iter(&self) -> impl Iterator<Item = &dyn GroupPromise> {
        self.0.iter().map(|promise| &**promise)
    }

    /// The titles, joined by "and".
    pub fn title(&self) -> String {
        let titles: Vec<String> = self.iter().map(|promise| promise.title()).collect();
        titles.join(" and ")
    }
}
