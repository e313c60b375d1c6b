//! Corruption: somebody knows the true values of others.
//!
//! # Guarantee
//! *Randomized columns.* `shift` is the largest change of a belief about somebody when the
//! true value of another row becomes known, over every pair of published values and every
//! true one, by adding up both rows' possible values. Rows are drawn one by one, so it is 0
//! but for rounding; what holds of one other row holds of any number, one after another.
//!
//! `subtraction` says whether the manifest itself gives counts away: a prior that is the
//! share of a value in a sub-table tells, times its rows, how many rows have the value, and
//! somebody who knows all other rows of it subtracts. `exposed` is the share of people whom
//! such an adversary then knows for certain. It is no failure of the promise, which bounds
//! what a published value tells. `fitted` says that the matrix was made to suit how common
//! values are, so that such an adversary may learn something by repeating the search for
//! it.
//!
//! *Values apart.* `known` says, for each number of known members, how sure somebody can be
//! of another member's value if the known ones are those that tell most: the worst over all
//! groups, and the mean over all people. That is exact: somebody who knows c members, none
//! of whom has the commonest value, believes in it with (its count) / (rows - c).
//! `certain_after` is the smallest number of known members that makes somebody else's value
//! certain. The success is that of knowing one other member, any of them with the same
//! chance.
//!
//! # Limits
//! Of values apart, the adversary knows nothing else. The shift is computed over the
//! [`MOST`] commonest values of a sub-table. Not followed: what an adversary who knows all
//! others learns from repeating the search for the matrix or for the sub-tables. Where all
//! priors of a sub-table are the same, they are taken for the share of its commonest
//! protected value, which is then taken to be alone so common.
//!
//! # Cost
//! O([`MOST`]⁵) for each sub-table, O(values) for each group.
//!
//! # Source
//! `chaytor2010randomization`; docs/methods.md, "Audit and attacks".

use serde_json::{Map, Value, json};

use crate::audit::apart::ApartValues;
use crate::audit::attacks::{Attack, Stopped, found_or, inference};
use crate::audit::checks::{AskedBound, fine_grain};
use crate::audit::drawn::{Drawn, DrawnColumn, Subtable, TrueCounts, apart};
use crate::audit::{Attacked, Case, detail};
use crate::error::Result;
use crate::release::Manifest;

/// How many values the shift is computed over.
const MOST: usize = 6;

/// Tries what knowing others tells.
#[derive(Debug)]
pub struct Corruption;

impl Attack for Corruption {
    fn name(&self) -> &'static str {
        "corruption"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        let mut found = Vec::new();
        if let Some(drawn) = case.views.drawn()? {
            found.extend(of_drawn(case.manifest, drawn, case.true_counts()?));
        }
        found.extend(case.views.apart()?.iter().map(of_apart));
        found_or(found, || Ok("no column is randomized, and no values stand apart"))
    }
}

/// Tries the attack on every randomized column.
fn of_drawn(
    manifest: &Manifest,
    drawn: &Drawn,
    truth: Option<&TrueCounts>,
) -> Vec<Attacked> {
    let by_share = manifest.promises.iter().any(|note| {
        note.name == "fine-grain"
            && matches!(fine_grain::asked(note), Ok(AskedBound::Factor(_)))
    });
    let attacks = drawn.each().map(|(place, column, believed)| {
        let guesses = inference::guesses(column, believed);
        let true_shares = inference::true_shares(column, place, truth);
        let before =
            inference::success(column, &guesses, believed, true_shares.as_deref());
        let moved = column.tables.iter().zip(believed).map(|(table, believed)| shift(table, &believed.shares));
        let moved = moved.fold(0.0, f64::max);
        let weights = manifest.method_of(&column.names[0]).parameters.get("weights");
        let fitted = weights.is_some_and(|weights| weights == "frequency");
        let exposed = exposed(column, by_share, apart(manifest, column));
        // A belief that moves by so much is right that much more often, at most.
        Attacked {
            name: "corruption".into(),
            success: (before + moved).min(1.0),
            chance: before,
            worst: (inference::surest(column, &guesses) + moved).min(1.0),
            detail: detail(json!({
                "column": column.name(), "known": manifest.rows.saturating_sub(1),
                "shift": moved, "subtraction": exposed > 0.0 || fitted, "fitted": fitted,
                "exposed": exposed,
            })),
        }
    });
    attacks.collect()
}

/// The largest change of a belief about one row by the true value of another.
fn shift(table: &Subtable, shares: &[f64]) -> f64 {
    let mut values: Vec<usize> = (0..shares.len()).collect();
    values.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
    values.truncate(MOST);
    let entry = |published: usize, value: usize| table.matrix.entry(published, value);
    let mut largest = 0.0f64;
    for (own, other) in pairs(&values) {
        // How likely it is that the first row has `mine` and the second `theirs`, and that
        // they are published as they are.
        let joint = |mine: usize, theirs: usize| {
            shares[mine] * entry(own, mine) * shares[theirs] * entry(other, theirs)
        };
        let all: f64 = pairs(&values).map(|(mine, theirs)| joint(mine, theirs)).sum();
        for known in &values {
            let seen: f64 = values.iter().map(|mine| joint(*mine, *known)).sum();
            if !(seen > 0.0 && all > 0.0) {
                continue;
            }
            for mine in &values {
                let before: f64 =
                    values.iter().map(|theirs| joint(*mine, *theirs)).sum();
                let moved = (joint(*mine, *known) / seen - before / all).abs();
                largest = largest.max(moved);
            }
        }
    }
    // Below this it is rounding.
    if largest < 1e-9 { 0.0 } else { largest }
}

fn pairs(values: &[usize]) -> impl Iterator<Item = (usize, usize)> + '_ {
    values.iter().flat_map(move |a| values.iter().map(move |b| (*a, *b)))
}

/// The share of people whose value follows from the manifest's priors, for somebody who
/// knows the values of all others. `by_share`: priors are the shares of values.
fn exposed(column: &DrawnColumn, by_share: bool, apart: bool) -> f64 {
    if !by_share && !apart {
        return 0.0;
    }
    let (mut exposed, mut rows) = (0.0, 0.0);
    for table in &column.tables {
        let n = table.rows as f64;
        rows += n;
        let counts: Vec<f64> =
            table.bounds.iter().flatten().map(|bound| bound.prior * n).collect();
        let told = |count: &f64| (count - count.round()).abs() < 1e-6 * count.max(1.0);
        if counts.is_empty() || !counts.iter().all(told) {
            continue;
        }
        let counts: Vec<f64> = counts.into_iter().map(f64::round).collect();
        let alike =
            counts.len() > 1 && counts.windows(2).all(|pair| pair[0] == pair[1]);
        exposed += if by_share || !alike {
            let all: f64 = counts.iter().sum();
            // A single value without a bound has all other rows.
            let rest = table.bounds.len() - counts.len();
            if rest == 1 { n } else { all.min(n) }
        } else {
            counts[0].min(n)
        };
    }
    exposed / f64::max(rows, 1.0)
}

/// The most members that are taken to be known.
const MOST_KNOWN: u64 = 5;

/// Tries the attack on values that stand apart.
fn of_apart(view: &ApartValues) -> Attacked {
    let groups = &view.groups;
    let rows = view.rows.max(1) as f64;
    let mut known: Vec<(f64, f64)> = vec![(0.0, 0.0); MOST_KNOWN as usize + 1];
    let (mut success, mut certain_after) = (0.0, u64::MAX);
    for group in 0..groups.len() {
        let (size, most) = (groups.size(group), groups.most(group));
        certain_after = certain_after.min(size - most);
        for (c, (worst, mean)) in (0..).zip(&mut known) {
            let sure = most as f64 / size.saturating_sub(c).max(most) as f64;
            *worst = f64::max(*worst, sure);
            *mean += sure * size as f64;
        }
        success += right_after_one(groups.values(group), size);
    }
    known.iter_mut().for_each(|(_, mean)| *mean /= rows);
    let by_number = known.iter().enumerate().skip(1).map(|(c, (worst, mean))| {
        (c.to_string(), json!({ "worst": worst, "mean": mean }))
    });
    let by_number: Map<String, Value> = by_number.collect();
    let detail = detail(json!({
        "column": view.column.name, "known": by_number, "certain_after": certain_after,
    }));
    let (name, chance, worst) = ("corruption".into(), known[0].1, known[1].0);
    Attacked { name, success: success / rows, chance, worst, detail }
}

/// How many members of a group are guessed right, in the mean over which other one is known.
fn right_after_one(values: &[(u32, u64)], size: u64) -> f64 {
    if size < 2 {
        return size as f64;
    }
    let mut counts: Vec<u64> = values.iter().map(|(_, n)| *n).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let (first, second) = (counts[0], counts.get(1).copied().unwrap_or(0));
    // With one of the commonest value known, that may not be the commonest any more.
    let with = first as f64 * second.max(first - 1) as f64;
    let without = (size - first) as f64 * first as f64;
    (with + without) / (size - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every member known, every other one guessed.
    #[test]
    fn one_known_member_is_subtracted() {
        for counts in
            [vec![1], vec![2], vec![1, 1], vec![2, 1], vec![3, 2, 2], vec![4, 4, 1]]
        {
            let values: Vec<(u32, u64)> = (0..).zip(counts.clone()).collect();
            let size: u64 = counts.iter().sum();
            let mut right = 0.0;
            for known in 0..counts.len() {
                let mut left = counts.clone();
                left[known] -= 1;
                let best = left.iter().max().unwrap();
                right += counts[known] as f64 * *best as f64;
            }
            let wanted = if size == 1 { 1.0 } else { right / (size - 1) as f64 };
            assert!(
                (right_after_one(&values, size) - wanted).abs() < 1e-12,
                "{counts:?}"
            );
        }
    }
}
