//! r-robustness of a column whose values stay in the rows.
//!
//! # Guarantee
//! Rows of a group have the same cells, and each its own value. Somebody who knows the quasi
//! values of everybody in the group, and by some quasi columns how likely each value is, does
//! not know whose row is whose: the worlds are all arrangements of the group's values over its
//! people. A group is said to hold only if no posterior is above 1/r for any of the sets of
//! columns, over all worlds.
//!
//! # Limits
//! It does not survive merging. A group with too many worlds, of which no bound does, counts as
//! failing, though it may be safe.
//!
//! # Cost
//! The entries of the group are sorted; then that of `worlds.rs` for each set of columns.
//!
//! # Source
//! `wong2010inference`, for groups of cells; docs/methods.md, "Robust groups of cells".

use crate::promise::r_robustness::{
    GroupBeliefs, Priors, RRobustness, Scratch, SignatureId,
};
use crate::table::{Census, Code, TupleId};

/// The promise of one sensitive column, and what its adversary believes.
#[derive(Debug, Clone, Copy)]
pub struct RobustRows<'a> {
    /// The promise.
    pub robustness: &'a RRobustness,
    /// What is believed before, by each set of columns.
    pub priors: &'a Priors,
    /// The place of the column among the sensitive ones.
    pub column: usize,
}

impl RobustRows<'_> {
    /// Whether it holds of the rows of some tuples as one group; of no rows it does.
    pub fn hold(&self, census: &Census, tuples: &[TupleId]) -> bool {
        let values = &census.sensitive[self.column];
        let entries = tuples.iter().flat_map(|tuple| census.entries_of(*tuple));
        let counted = entries.map(|entry| (values[entry], census.entries[entry]));
        let counted = added_up(counted.collect());
        if counted.is_empty() {
            return true;
        }
        let mut scratch = Scratch::default();
        let (codes, counts): (Vec<Code>, Vec<u64>) = counted.into_iter().unzip();
        let mut group = GroupBeliefs { counts, ..GroupBeliefs::default() };
        self.priors.sets.iter().all(|set| {
            let kinds =
                tuples.iter().map(|tuple| (set.of_tuple[*tuple], census.rows[*tuple]));
            let kinds: Vec<(SignatureId, u64)> = added_up(kinds.collect());
            group.sizes.clear();
            group.sizes.extend(kinds.iter().map(|(_, n)| *n));
            group.priors.clear();
            for (signature, _) in kinds {
                let shares = set.of_signature(signature);
                group.priors.extend(codes.iter().map(|code| shares[code.index()]));
            }
            self.robustness.judge_counts(&group, &mut scratch).holds
        })
    }

    /// How many rows can hardly be hidden.
    pub fn hopeless(&self, census: &Census) -> u64 {
        self.robustness.hopeless(self.priors, census)
    }
}

/// Each key once, ascending, with its numbers added up; none with zero.
fn added_up<K: Ord>(mut pairs: Vec<(K, u64)>) -> Vec<(K, u64)> {
    pairs.retain(|(_, n)| *n > 0);
    pairs.sort_unstable();
    pairs.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decimal::Decimal;
    use crate::promise::r_robustness::swap;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    fn robustness(r: f64) -> RRobustness {
        RRobustness::new(Decimal::from_f64("r", r).unwrap()).unwrap()
    }

    /// Adds up all ways to give the values that are left to the rows from `given` on, by how
    /// often each row gets each value.
    fn list(
        rows: &[&[f64]],
        left: &mut [u64],
        given: &mut Vec<usize>,
        weight: f64,
        sums: &mut [f64],
    ) -> f64 {
        let n_values = left.len();
        let Some(beliefs) = rows.get(given.len()) else {
            for (row, value) in given.iter().enumerate() {
                sums[row * n_values + value] += weight;
            }
            return weight;
        };
        let mut total = 0.0;
        for value in 0..n_values {
            if left[value] > 0 {
                left[value] -= 1;
                given.push(value);
                total += list(rows, left, given, weight * beliefs[value], sums);
                given.pop();
                left[value] += 1;
            }
        }
        total
    }

    /// The posteriors of each row by listing all arrangements; nothing if none is possible.
    fn by_listing(group: &GroupBeliefs) -> Option<Vec<f64>> {
        let n_values = group.counts.len();
        let kinds = group.sizes.iter().zip(group.priors.chunks(n_values));
        let rows: Vec<&[f64]> =
            kinds.flat_map(|(n, beliefs)| (0..*n).map(move |_| beliefs)).collect();
        let mut sums = vec![0.0; rows.len() * n_values];
        let mut left = group.counts.clone();
        let total = list(&rows, &mut left, &mut Vec::new(), 1.0, &mut sums);
        (total > 0.0).then(|| sums.into_iter().map(|sum| sum / total).collect())
    }

    fn random_group(rng: &mut ChaCha20Rng) -> GroupBeliefs {
        let n_kinds = rng.random_range(1..=4usize);
        let sizes: Vec<u64> = (0..n_kinds).map(|_| rng.random_range(1..=3)).collect();
        let n_rows: u64 = sizes.iter().sum();
        let mut counts = vec![0u64; rng.random_range(1..=4)];
        for _ in 0..n_rows {
            let value = rng.random_range(0..counts.len());
            counts[value] += 1;
        }
        counts.retain(|count| *count > 0);
        let zeros = rng.random_range(0..4) == 0;
        let belief = |_| match rng.random_range(0..6) {
            0 if zeros => 0.0,
            1 => rng.random::<f64>() * 1e-3,
            _ => rng.random::<f64>(),
        };
        let priors = (0..n_kinds * counts.len()).map(belief).collect();
        GroupBeliefs { sizes, counts, priors }
    }

    #[test]
    fn beliefs_are_those_of_all_arrangements() {
        let mut rng = ChaCha20Rng::seed_from_u64(41);
        let mut scratch = Scratch::default();
        let (mut possible, mut impossible, mut kept) = (0, 0, 0);
        for _ in 0..600 {
            let group = random_group(&mut rng);
            let n_values = group.counts.len();
            let found = group.posteriors(&mut scratch);
            let Some(listed) = by_listing(&group) else {
                assert_eq!(found, None);
                assert!(!robustness(1.1).judge_counts(&group, &mut scratch).holds);
                impossible += 1;
                continue;
            };
            let found = found.unwrap();
            let mut row = 0;
            for (kind, n) in group.sizes.iter().enumerate() {
                for _ in 0..*n {
                    for value in 0..n_values {
                        let found = found[kind * n_values + value];
                        let listed = listed[row * n_values + value];
                        assert!((found - listed).abs() < 1e-12, "{found} {listed}");
                    }
                    row += 1;
                }
            }
            let largest = listed.iter().copied().fold(0.0, f64::max);
            assert!(largest <= swap::of_counts(&group) + 1e-12);
            for r in [1.2, 1.5, 2.0, 2.5] {
                let verdict = robustness(r).judge_counts(&group, &mut scratch);
                if (largest - 1.0 / r).abs() > 2e-9 {
                    assert_eq!(verdict.holds, largest < 1.0 / r, "{group:?} {r}");
                }
                kept += u32::from(verdict.holds);
            }
            possible += 1;
        }
        assert!(possible > 400 && impossible > 10 && kept > 100, "{possible} {kept}");
    }

    #[test]
    fn merging_two_groups_can_break_it() {
        let first = [1.0 / 12.0, 3.0 / 4.0];
        let second = [3.0 / 5.0, 1.0 / 15.0];
        let mut scratch = Scratch::default();
        let two = robustness(2.0);
        for beliefs in [first, second] {
            let group = GroupBeliefs {
                sizes: vec![2],
                counts: vec![1, 1],
                priors: beliefs.to_vec(),
            };
            assert!(two.judge_counts(&group, &mut scratch).holds);
        }
        let merged = GroupBeliefs {
            sizes: vec![2, 2],
            counts: vec![2, 2],
            priors: [first, second].concat(),
        };
        let verdict = two.judge_counts(&merged, &mut scratch);
        assert!(!verdict.holds && verdict.exact);
        assert!((verdict.posterior - 0.976).abs() < 5e-4, "{}", verdict.posterior);
    }

    #[test]
    fn groups_with_too_many_worlds_need_a_bound() {
        let mut scratch = Scratch::default();
        let two = robustness(2.0);
        // All rows are alike: shares are exact, whatever the size.
        let alike = |counts: [u64; 2]| GroupBeliefs {
            sizes: vec![counts.iter().sum()],
            counts: counts.to_vec(),
            priors: vec![0.9, 0.1],
        };
        assert!(two.judge_counts(&alike([500_000, 500_000]), &mut scratch).holds);
        assert!(!two.judge_counts(&alike([500_001, 500_000]), &mut scratch).holds);
        // Twenty kinds of rows and twenty values: a bound does, or nothing.
        let many = |spread: f64| {
            let belief = |at: usize| 1.0 + spread * ((at * 7) % 9) as f64;
            GroupBeliefs {
                sizes: vec![2; 20],
                counts: vec![2; 20],
                priors: (0..400).map(belief).collect(),
            }
        };
        let verdict = two.judge_counts(&many(0.1), &mut scratch);
        assert!(verdict.holds && verdict.exact && verdict.posterior > 0.05);
        assert_eq!(many(0.1).posteriors(&mut scratch), None);
        let verdict = two.judge_counts(&many(9.0), &mut scratch);
        assert!(!verdict.holds && !verdict.exact);
        // Few kinds, or few values, are few states.
        let few_kinds = GroupBeliefs {
            sizes: vec![100, 100],
            counts: vec![10; 20],
            priors: (0..40).map(|at| 1.0 + (at % 3) as f64).collect(),
        };
        assert!(few_kinds.posteriors(&mut scratch).is_some());
        let few_values = GroupBeliefs {
            sizes: vec![10; 20],
            counts: vec![100, 100],
            priors: (0..40).map(|at| 1.0 + (at % 3) as f64).collect(),
        };
        assert!(few_values.posteriors(&mut scratch).is_some());
    }
}
