//! Presence: who of the population is in the table.
//!
//! The adversary holds the population with all its quasi values. A person fits the group
//! whose every cell contains their values; of the N people who fit a group of n rows, n
//! are in the table, and nothing in the group tells which. People who fit no group are one
//! group to a reader, and the rows that were left out are spread over them.
//!
//! # Guarantee
//! If no person fits two groups, the presence of everybody is the exact share of worlds
//! with them in the table, all tables that give these groups being equally likely; it is
//! compared with the range in whole numbers. Nobody is forgotten: people in groups that
//! were not published count, and so do cells that were taken from the rows of the table
//! alone, since then fewer people fit.
//!
//! # Limits
//! If somebody fits two groups, the number of worlds is not a matter of one group at a
//! time: the promise then counts as broken, and the attack takes the sum of the shares.
//! Knowing how the release was searched for helps a little: see `reversal`. Weights of pdf
//! cells may say more: see `counting`.
//!
//! # Cost
//! A way through a trie of the groups for each distinct tuple of the population, or one
//! lookup if no value is in two cells of a column.
//!
//! # Source
//! `nergiz2007presence`, section 3; METHODS A4.

use hashbrown::HashSet;
use serde_json::{Value, json};

use crate::audit::people::People;
use crate::audit::view::View;
use crate::decimal::Decimal;

/// Between which shares the presence of everybody must lie, both included.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) min: Decimal,
    pub(super) max: Decimal,
}

impl Range {
    /// Whether `rows` of `people` is a share in the range, exactly.
    pub(super) fn holds(self, rows: u64, people: u64) -> bool {
        let (rows, people) = (u128::from(rows), u128::from(people));
        !self.min.exceeds(rows, people) && self.max.at_least(rows, people)
    }
}

/// Measures delta-presence for cells without weights, and counts the people at risk.
pub(super) fn check(range: Range, view: &View, people: &People<'_>) -> (Value, u64) {
    let mut found = Extremes::default();
    let mut keeps = |rows: u64, n: u64| {
        if n > 0 {
            found.add(rows, n);
        }
        n == 0 || range.holds(rows, n)
    };
    let groups = view.sizes.iter().zip(&people.of_group);
    let of_group: Vec<bool> = groups.map(|(rows, n)| keeps(*rows, *n)).collect();
    let of_others = keeps(people.left_out, people.unpublished);
    let overlapping: HashSet<u32> =
        people.several.iter().map(|(tuple, _)| *tuple).collect();
    let at_risk = |tuple: u32, group: Option<u32>| {
        let keeps = group.map_or(of_others, |group| of_group[group as usize]);
        !keeps || overlapping.contains(&tuple)
    };
    let tuples = (0u32..).zip(&people.group_of).zip(people.known.people);
    let rows_at_risk = tuples
        .filter(|((tuple, group), _)| at_risk(*tuple, **group))
        .map(|(_, n)| n)
        .sum();
    let mut measured = json!({ "min": found.smallest(), "max": found.largest() });
    note_others(people, &mut measured);
    (measured, rows_at_risk)
}

/// Adds what was found about people who fit no group, or several.
pub(super) fn note_others(people: &People<'_>, measured: &mut Value) {
    if people.unpublished > 0 {
        let share = people.left_out as f64 / people.unpublished as f64;
        measured["unpublished"] = json!(share);
    }
    if !people.several.is_empty() {
        measured["overlapping"] = json!(people.overlapping());
    }
}

/// For each distinct tuple, how likely somebody with it is in the table.
pub(super) fn believe(view: &View, people: &People<'_>) -> Vec<f64> {
    let share = |rows: u64, n: u64| rows as f64 / n.max(1) as f64;
    let of_group: Vec<f64> = view
        .sizes
        .iter()
        .zip(&people.of_group)
        .map(|(rows, n)| share(*rows, *n))
        .collect();
    let unpublished = share(people.left_out, people.unpublished);
    let mut beliefs: Vec<f64> = people
        .group_of
        .iter()
        .map(|group| group.map_or(unpublished, |group| of_group[group as usize]))
        .collect();
    for (tuple, groups) in &people.several {
        let sum: f64 = groups.iter().map(|group| of_group[*group as usize]).sum();
        beliefs[*tuple as usize] = sum.min(1.0);
    }
    beliefs
}

/// The smallest and the largest of some shares.
#[derive(Debug, Default)]
pub(super) struct Extremes(Option<[(u64, u64); 2]>);

impl Extremes {
    /// Adds the share `rows / people`, where `people` is above nought.
    pub(super) fn add(&mut self, rows: u64, people: u64) {
        let below = |a: (u64, u64), b: (u64, u64)| {
            u128::from(a.0) * u128::from(b.1) < u128::from(b.0) * u128::from(a.1)
        };
        let share = (rows, people);
        let [smallest, largest] = self.0.unwrap_or([share, share]);
        let smallest = if below(share, smallest) { share } else { smallest };
        let largest = if below(largest, share) { share } else { largest };
        self.0 = Some([smallest, largest]);
    }

    fn smallest(&self) -> f64 {
        self.0.map_or(0.0, |[(rows, people), _]| rows as f64 / people as f64)
    }

    fn largest(&self) -> f64 {
        self.0.map_or(0.0, |[_, (rows, people)]| rows as f64 / people as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_compared_as_fractions() {
        let mut found = Extremes::default();
        // As floats the three are one number.
        let large = 1u64 << 60;
        found.add(large + 1, 2 * large);
        found.add(large, 2 * large);
        found.add(large - 1, 2 * large);
        let [smallest, largest] = found.0.expect("three shares");
        assert_eq!((smallest.0, largest.0), (large - 1, large + 1));
    }

    #[test]
    fn both_ends_are_in_the_range() {
        let decimal = |value| Decimal::from_f64("share", value).unwrap();
        let range = Range { min: decimal(0.1), max: decimal(0.3) };
        assert!(range.holds(1, 10) && range.holds(3, 10));
        assert!(!range.holds(0, 10) && !range.holds(31, 100));
    }
}
