//! Corruption: somebody knows the values of some members of a group, and subtracts.
//!
//! # Guarantee
//! `known` says, for each number of known members, how sure somebody can be of another
//! member's value if the known ones are those that tell most: the worst over all groups, and
//! the mean over all people. That is exact: who knows c members, none of which has the
//! commonest value, believes in it with (its count) / (rows - c). `certain_after` is the
//! smallest number of known members that makes somebody else's value certain. The success is
//! that of knowing one other member, any of them with the same chance.
//!
//! # Limits
//! The adversary knows nothing else: with knowledge of how values depend on quasi columns
//! they may be surer.
//!
//! # Cost
//! O(values) a group.
//!
//! # Source
//! METHODS G.

use serde_json::{Map, Value, json};

use crate::audit::Attack;
use crate::audit::buckets::view::View;

/// The most members that are taken to be known.
const MOST: u64 = 5;

/// Tries the attack.
pub(super) fn attack(view: &View) -> Attack {
    let groups = &view.groups;
    let rows = view.rows.max(1) as f64;
    let mut known: Vec<(f64, f64)> = vec![(0.0, 0.0); MOST as usize + 1];
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
    let mut detail = Map::new();
    detail.insert("column".into(), json!(view.column.name));
    detail.insert("known".into(), Value::Object(by_number));
    detail.insert("certain_after".into(), json!(certain_after));
    let (name, chance, worst) = ("corruption".into(), known[0].1, known[1].0);
    Attack { name, success: success / rows, chance, worst, detail }
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
