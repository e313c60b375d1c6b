//! A group as counts: how many rows there are of each kind, and how often each value occurs.
//!
//! # Guarantee
//! Worlds are those of the rows and values one by one: rows of a kind are alike, and which of
//! several equal values somebody has makes no difference.
//!
//! # Limits
//! Posteriors are known only where `worlds.rs` can sum the worlds.
//!
//! # Cost
//! The number of kinds times that of values; summing worlds, see `worlds.rs`.
//!
//! # Source
//! docs/methods.md, "Robust groups of cells".

use crate::promise::r_robustness::worlds::{Scratch, Worlds};

/// A group told by counts: kinds of rows, of each of which the same is believed, and how often
/// the group has each value.
#[derive(Debug, Clone, Default)]
pub struct GroupBeliefs {
    /// How many rows each kind has; none has none.
    pub sizes: Vec<u64>,
    /// How often each value occurs, as often as there are rows in all; none never.
    pub counts: Vec<u64>,
    /// What is believed before, kind after kind, of each value.
    pub priors: Vec<f64>,
}

impl GroupBeliefs {
    /// How many rows.
    pub fn rows(&self) -> u64 {
        self.sizes.iter().sum()
    }

    /// How often the commonest value occurs.
    pub fn most(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    /// The posterior of each kind of rows and value, kind after kind; nothing if there are too
    /// many states or no world is possible.
    pub fn posteriors(&self, scratch: &mut Scratch) -> Option<Vec<f64>> {
        match scratch.weigh(self) {
            Worlds::Alike => {
                let n = self.rows() as f64;
                Some(self.counts.iter().map(|count| *count as f64 / n).collect())
            }
            Worlds::Largest(_) => Some(scratch.beliefs.clone()),
            Worlds::None | Worlds::TooMany => None,
        }
    }

    /// What is believed of each value, with the largest of each at 1: worlds all have the same
    /// values, so this changes their weights by the same factor. Nothing if nobody can have
    /// one.
    pub(super) fn evened(&self) -> Option<Vec<f64>> {
        let n_values = self.counts.len();
        let of = |value: usize| self.priors.iter().skip(value).step_by(n_values);
        let most = |value: usize| of(value).copied().fold(0.0, f64::max);
        let most: Vec<f64> = (0..n_values).map(most).collect();
        let possible = most.iter().all(|most| *most > 0.0);
        let evened = self.priors.iter().enumerate();
        possible.then(|| evened.map(|(at, p)| p / most[at % n_values]).collect())
    }
}

/// Kinds of things, each with its number, as one list of things.
pub(super) fn one_by_one(numbers: &[u64]) -> Vec<usize> {
    let kinds = numbers.iter().enumerate();
    kinds.flat_map(|(kind, n)| (0..*n).map(move |_| kind)).collect()
}
