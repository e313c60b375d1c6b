//! Rows dealt into groups whose sensitive values are published apart.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::random::Randomness;
use crate::table::{Census, Code, EntryId, Of};

/// Which rows are in which group. A row is named by its entry of the census: rows with the
/// same quasi tuple and the same sensitive value are alike, and an entry stands here as often
/// as it has rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buckets {
    /// The entry of each row, group after group.
    pub entries: Vec<EntryId>,
    /// Group `g` has the rows `entries[starts[g]..starts[g + 1]]`.
    pub starts: Vec<usize>,
    /// The entry of each row that is left out.
    pub left_out: Vec<EntryId>,
}

impl Buckets {
    /// How many groups there are.
    pub fn n_groups(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The entries of each group's rows.
    pub fn groups(&self) -> impl Iterator<Item = &[EntryId]> {
        self.starts.windows(2).map(|ends| &self.entries[ends[0]..ends[1]])
    }
}

/// The rows to deal, by their entries, and those too many.
#[derive(Debug)]
pub(super) struct Dealt {
    /// Those to deal, in the order of the census.
    pub(super) rows: Vec<EntryId>,
    /// Those left out.
    pub(super) left_out: Vec<EntryId>,
}

/// The rows of a census without those of values that have more than 1/`parts` of them. Of
/// such values, as few rows as possible are left out, drawn at random, `limit` at most.
///
/// With at most t rows of each value, no value has more than 1/parts of what is kept if and
/// only if the kept rows are at least `parts` t. What is kept grows with t, and the rows at
/// most t of each value minus `parts` t is concave in t and 0 at 0: so the largest t that
/// does is found by bisection, and keeps the most. ∎
pub(super) fn without_excess(
    census: &Census,
    parts: u64,
    limit: u64,
    promise: &dyn Fn() -> String,
    randomness: &Randomness,
) -> Result<Dealt> {
    let values = &census.sensitive[0];
    let mut counts: Of<Code, u64> = Of::repeat(0, census.sensitive_sizes[0]);
    for (value, rows) in values.iter().zip(&census.entries) {
        counts[*value] += rows;
    }
    let n_rows: u64 = counts.iter().sum();
    let most = counts.iter().copied().max().unwrap_or(0);
    let kept = |t: u64| counts.iter().map(|count| *count.min(&t)).sum::<u64>();
    let enough = |t: u64| u128::from(kept(t)) >= u128::from(parts) * u128::from(t);
    let t = largest(most, enough);
    let excess = n_rows - kept(t);
    if excess > limit || (t == 0 && n_rows > 0) {
        return Err(too_common(most, n_rows, parts, promise())
            .with_hint(remedy(excess, n_rows)));
    }
    let mut rng = randomness.stream("leave out", 0);
    // Of each value: how many rows are still to come, and how many of them are kept.
    let mut to_come = counts.clone();
    let mut to_keep: Of<Code, u64> =
        counts.iter().map(|count| *count.min(&t)).collect();
    let mut rows = Vec::with_capacity(kept(t) as usize);
    let mut left_out = Vec::with_capacity(excess as usize);
    for (entry, n) in census.entries.pairs() {
        let value = values[entry];
        for _ in 0..*n {
            let keeps = to_keep[value] == to_come[value]
                || rng.random_range(0..to_come[value]) < to_keep[value];
            to_come[value] -= 1;
            if keeps {
                to_keep[value] -= 1;
                rows.push(entry);
            } else {
                left_out.push(entry);
            }
        }
    }
    Ok(Dealt { rows, left_out })
}

/// The largest number up to `most` of which `holds` is true, if it is true of 0 and of
/// everything below such a number.
pub(super) fn largest(most: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// A value has more than its share.
fn too_common(most: u64, n_rows: u64, parts: u64, promise: String) -> Error {
    let share = most as f64 / n_rows.max(1) as f64;
    Error::unsatisfiable(
        promise,
        format!(
            "the commonest value has {:.1} % of the rows, and no value may have more than \
             1/{parts} = {:.1} %",
            100.0 * share,
            100.0 / parts as f64
        ),
    )
}

/// What helps against a value that is too common.
fn remedy(excess: u64, n_rows: u64) -> String {
    if excess >= n_rows {
        return "ask for less: there are too few different values".to_owned();
    }
    let share = (1000.0 * excess as f64 / n_rows as f64).ceil() / 1000.0;
    format!(
        "ask for less, or leave rows of this value out: `suppression = {share}` (who is \
         missing from the release is then known to have it)"
    )
}

/// Every order with equal probability.
pub(super) fn shuffle<T>(items: &mut [T], rng: &mut ChaCha20Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.random_range(0..=last));
    }
}
