//! r-robustness: nobody's value becomes likelier than 1/r, even to somebody who knows how
//! values depend on quasi columns.
//!
//! # Guarantee
//! Rows are dealt into groups; of a group the rows are published, and apart from them its
//! values, each once. Somebody who knows who the rows are, and by some quasi columns how
//! likely each value is (`priors.rs`, `stated.rs`), weighs the ways to give the values to
//! the rows. Of a group that is judged to hold exactly, no row has any value with more than
//! 1/r of the weight of all ways (`worlds.rs`), for the set of columns that was judged.
//!
//! Values may also stay in the rows, whose quasi cells are the same for all of a group
//! (`rows.rs`). A group then has a value several times, and the worlds are the arrangements
//! of its values over its people. A group is judged over all worlds or by a bound on them.
//!
//! Rows of whom the same is believed have each value with probability 1/N, and N >= r is
//! compared exactly. Otherwise posteriors are floats, and must stay below 1/r by more than
//! they can err.
//!
//! # Limits
//! - A group with too many states to sum is judged by a bound on its posteriors (`swap.rs`)
//!   and, if that does not do, against somebody who tells each value from all others and
//!   nothing else (`binary.rs`); the verdict says so.
//! - Each set of columns is an adversary of its own; nobody puts two together.
//! - The adversary knows nothing of single people, nor how the groups were made.
//! - It does not survive merging: with r = 2, two rows of whom (1/12, 1/6, 3/4) is believed and
//!   that have the first and the third value, and two of whom (3/5, 1/3, 1/15) is believed that
//!   have the same, each pair alone gives 1/2. Of all four together, each of the second two has
//!   the first value with probability .976. So no search may prune by it.
//! - A posterior of exactly 1/r is refused if rows are not alike.
//! - The source has the Delta bound imply this promise. It does not: with r = 2, values x, y,
//!   z and rows (.3, .1765, .1765), (.1765, .3, .3), (.1765, .3, .3) every value keeps the
//!   bound, and the first row has x with probability .591. So nothing here rests on it;
//!   `swap.rs` has one that is a guarantee.
//!
//! # Cost
//! That of `worlds.rs` for each group and set of columns.
//!
//! # Source
//! `wong2010inference`; docs/methods.md, "Beliefs and possible worlds" and "The Delta bound".

mod binary;
mod counts;
mod priors;
mod rows;
mod stated;
mod swap;
mod worlds;

pub use binary::binary_posteriors;
pub use counts::GroupBeliefs;
pub use priors::{PriorSet, Priors, SignatureId};
pub use rows::RobustRows;
pub use swap::{delta_safe, swap_bound};
pub use worlds::{MOST_STATES, Scratch, posteriors};

use serde_json::json;

use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::promise::{About, Promise};
use crate::table::{Census, TupleId};
use worlds::Worlds;

/// No posterior above 1/r.
#[derive(Debug, Clone, Copy)]
pub struct RRobustness {
    r: Decimal,
}

/// What is found of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Whether no posterior is above 1/r.
    pub holds: bool,
    /// Whether that is of all possible worlds; else only of each value against all others.
    pub exact: bool,
    /// The largest posterior, or a bound on it if there are too many worlds; 1 if what is
    /// believed rules the group out.
    pub posterior: f64,
}

/// A posterior is made of positive floats and errs by a share below 1e-10 (`worlds.rs`). It is
/// taken to be above 1/r unless it is below by more than that.
const MARGIN: f64 = 1e-9;

/// Groups with more pairs of rows and values are not judged, unless all rows are alike:
/// whoever rechecks them lists these pairs.
const MOST_PAIRS: u64 = 1 << 22;

impl RRobustness {
    /// The promise; r must be above 1.
    pub fn new(r: Decimal) -> Result<Self> {
        if !r.exceeds(1, 1) {
            return Err(Error::out_of_range("r", r, "above 1")
                .with_hint("no belief passes 1/r: r = 1 asks for no protection"));
        }
        Ok(Self { r })
    }

    /// The bound is 1/r.
    pub fn r(&self) -> Decimal {
        self.r
    }

    /// Whether it holds of a group with `n` rows and `n` values, each value once, where
    /// `priors[row * n + value]` is what is believed before.
    pub fn judge(&self, priors: &[f64], n: usize, scratch: &mut Scratch) -> Verdict {
        let enough = n > 0 && !self.r.exceeds(n as u128, 1);
        let below =
            |posterior: f64| enough && posterior * self.r.to_f64() <= 1.0 - MARGIN;
        match scratch.sum(priors, n) {
            Worlds::Alike => {
                Verdict { holds: enough, exact: true, posterior: 1.0 / n as f64 }
            }
            Worlds::Largest(posterior) => {
                Verdict { holds: below(posterior), exact: true, posterior }
            }
            Worlds::None => Verdict { holds: false, exact: true, posterior: 1.0 },
            Worlds::TooMany => {
                let bound = swap::largest(priors, n);
                if below(bound) {
                    return Verdict { holds: true, exact: true, posterior: bound };
                }
                let posterior = binary::largest_binary(priors, n);
                Verdict { holds: below(posterior), exact: false, posterior }
            }
        }
    }
}

impl RRobustness {
    /// Whether it holds of a group that is told by counts, over all its worlds: if there are
    /// too many to sum, by a bound on them or not at all.
    pub fn judge_counts(&self, group: &GroupBeliefs, scratch: &mut Scratch) -> Verdict {
        let (n, most) = (group.rows(), group.most());
        // Over all rows a value is believed as often as it occurs, so of some row at least
        // as much as its share.
        let enough = n > 0 && !self.r.exceeds(n.into(), most.into());
        let below =
            |posterior: f64| enough && posterior * self.r.to_f64() <= 1.0 - MARGIN;
        let exactly =
            |holds: bool, posterior: f64| Verdict { holds, exact: true, posterior };
        let share = most as f64 / n.max(1) as f64;
        if !enough {
            return exactly(false, share);
        }
        if group.sizes.len() > 1 {
            if n.saturating_mul(group.counts.len() as u64) > MOST_PAIRS {
                return Verdict { holds: false, exact: false, posterior: 1.0 };
            }
            let bound = swap::of_counts(group);
            if below(bound) {
                return exactly(true, bound);
            }
        }
        match scratch.weigh(group) {
            Worlds::Alike => exactly(true, share),
            Worlds::Largest(posterior) => exactly(below(posterior), posterior),
            Worlds::None => exactly(false, 1.0),
            Worlds::TooMany => Verdict { holds: false, exact: false, posterior: 1.0 },
        }
    }

    /// How many rows have a signature of which some value is believed with more than 1/r: they
    /// can hardly be hidden.
    pub fn hopeless(&self, priors: &Priors, census: &Census) -> u64 {
        let most = 1.0 / self.r.to_f64();
        let strong = |tuple: &TupleId| {
            let beliefs = priors.sets.iter().flat_map(|set| set.of(*tuple));
            beliefs.into_iter().any(|belief| *belief > most)
        };
        let tuples = census.tuples().filter(strong);
        tuples.map(|tuple| census.rows[tuple]).sum()
    }
}

impl Promise for RRobustness {
    fn name(&self) -> &'static str {
        "r-robustness"
    }

    /// What is known stands beside it in the manifest.
    fn asked(&self) -> serde_json::Value {
        json!({ "r": self.r.to_f64() })
    }

    fn title(&self) -> String {
        format!("{}-robustness", self.r)
    }

    fn about(&self) -> About<'_> {
        About::Posteriors(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    fn robustness(r: f64) -> RRobustness {
        RRobustness::new(Decimal::from_f64("r", r).unwrap()).unwrap()
    }

    fn judge(r: f64, priors: &[f64], n: usize) -> Verdict {
        robustness(r).judge(priors, n, &mut Scratch::default())
    }

    /// Adds up the worlds that give the rows from `row` on the values not taken yet.
    fn add_worlds(
        priors: &[f64],
        n: usize,
        given: &mut Vec<usize>,
        weight: f64,
        sums: &mut [f64],
    ) -> f64 {
        let row = given.len();
        if row == n {
            for (row, value) in given.iter().enumerate() {
                sums[row * n + value] += weight;
            }
            return weight;
        }
        let mut total = 0.0;
        for value in 0..n {
            if !given.contains(&value) {
                given.push(value);
                let weight = weight * priors[row * n + value];
                total += add_worlds(priors, n, given, weight, sums);
                given.pop();
            }
        }
        total
    }

    /// The posteriors by listing all worlds.
    fn by_listing(priors: &[f64], n: usize) -> Option<Vec<f64>> {
        let mut sums = vec![0.0; n * n];
        let total = add_worlds(priors, n, &mut Vec::new(), 1.0, &mut sums);
        (total > 0.0).then(|| sums.into_iter().map(|sum| sum / total).collect())
    }

    /// A group in which some rows are alike and some beliefs are zero.
    fn random_group(rng: &mut ChaCha20Rng, n: usize) -> Vec<f64> {
        let n_kinds = rng.random_range(1..=n);
        let zeros = rng.random_range(0..4) == 0;
        let kinds: Vec<Vec<f64>> = (0..n_kinds)
            .map(|_| {
                let belief = |rng: &mut ChaCha20Rng| match rng.random_range(0..6) {
                    0 if zeros => 0.0,
                    1 => rng.random::<f64>() * 1e-6,
                    _ => rng.random::<f64>(),
                };
                (0..n).map(|_| belief(rng)).collect()
            })
            .collect();
        let kind =
            |row: usize| if n_kinds == n { row } else { rng.random_range(0..n_kinds) };
        (0..n).map(kind).flat_map(|kind| kinds[kind].clone()).collect()
    }

    #[test]
    fn posteriors_are_those_of_all_permutations() {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let mut scratch = Scratch::default();
        let (mut possible, mut impossible) = (0, 0);
        for round in 0..600 {
            let n = 1 + round % 7;
            let priors = random_group(&mut rng, n);
            let found = posteriors(&priors, n, &mut scratch);
            let Some(listed) = by_listing(&priors, n) else {
                assert_eq!(found, None);
                assert!(!robustness(1.5).judge(&priors, n, &mut scratch).holds);
                impossible += 1;
                continue;
            };
            let found = found.unwrap();
            for (found, listed) in found.iter().zip(&listed) {
                assert!((found - listed).abs() <= 1e-12, "{found} {listed}");
            }
            for i in 0..n {
                let row: f64 = found[i * n..(i + 1) * n].iter().sum();
                let column: f64 = (0..n).map(|row| found[row * n + i]).sum();
                assert!((row - 1.0).abs() < 1e-12 && (column - 1.0).abs() < 1e-12);
            }
            let largest = listed.iter().copied().fold(0.0, f64::max);
            for r in [1.5, 2.0, 2.25, 3.0] {
                let verdict = robustness(r).judge(&priors, n, &mut scratch);
                assert!(verdict.exact && (verdict.posterior - largest).abs() < 1e-12);
                if (largest - 1.0 / r).abs() > 2e-9 {
                    assert_eq!(verdict.holds, largest <= 1.0 / r, "{largest} {r}");
                }
            }
            possible += 1;
        }
        assert!(possible > 400 && impossible > 10, "{possible} {impossible}");
    }

    #[test]
    fn rows_that_are_alike_are_compared_exactly() {
        let alike = |n: usize| vec![0.1; n * n];
        for (r, n, holds) in [
            (3.0, 3, true),
            (3.0, 2, false),
            (2.5, 2, false),
            (2.5, 3, true),
            (3.1, 3, false),
        ] {
            let verdict = judge(r, &alike(n), n);
            let posterior = 1.0 / n as f64;
            assert_eq!(verdict, Verdict { holds, exact: true, posterior });
        }
        assert!(judge(4.0, &alike(900), 900).exact);
        // What nobody can have: the group is ruled out.
        let ruled_out = [0.0, 0.5, 0.0, 0.5];
        let verdict = Verdict { holds: false, exact: true, posterior: 1.0 };
        assert_eq!(judge(2.0, &ruled_out, 2), verdict);
        assert_eq!(judge(2.0, &[], 0), verdict);
    }

    #[test]
    fn the_first_example_of_the_source() {
        // Alan and Betty, Lung Cancer and not: 97 %.
        let priors = [0.1, 0.9, 0.003, 0.997];
        let verdict = judge(2.0, &priors, 2);
        assert!((verdict.posterior - 0.9736).abs() < 5e-5 && !verdict.holds);
        assert!(judge(1.02, &priors, 2).holds);
    }

    #[test]
    fn large_groups_are_judged_by_each_value_alone() {
        let mut rng = ChaCha20Rng::seed_from_u64(6);
        let mut priors = |n: usize| -> Vec<f64> {
            (0..n * n).map(|_| rng.random_range(0.03..0.06)).collect()
        };
        let most = priors(16);
        let verdict = judge(2.0, &most, 16);
        assert!(verdict.exact && verdict.holds);
        let found = posteriors(&most, 16, &mut Scratch::default()).unwrap();
        for row in found.chunks(16) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        let mut too_many = priors(17);
        assert_eq!(posteriors(&too_many, 17, &mut Scratch::default()), None);
        // A bound on all worlds is enough for 2, and not for 8.
        let verdict = judge(2.0, &too_many, 17);
        assert!(verdict.holds && verdict.exact);
        assert_eq!(verdict.posterior, swap::largest(&too_many, 17));
        assert!(verdict.posterior >= swap_bound(&too_many, 17));
        let verdict = judge(8.0, &too_many, 17);
        assert!(verdict.holds && !verdict.exact);
        assert_eq!(verdict.posterior, binary::largest_binary(&too_many, 17));
        too_many[40] = 1.0;
        assert!(!judge(2.0, &too_many, 17).holds);
        // Many rows of two kinds are few states.
        let two: Vec<f64> = (0..200 * 200)
            .map(|at| if at / 200 % 2 == at % 2 { 0.006 } else { 0.004 })
            .collect();
        let verdict = judge(100.0, &two, 200);
        assert!(verdict.exact && verdict.holds && verdict.posterior > 0.005);
    }

    #[test]
    fn tiny_beliefs_neither_vanish_nor_blow_up() {
        // The scale of a row or of a value changes nothing.
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let priors = random_group(&mut rng, 6);
        let scaled: Vec<f64> = (0..36)
            .map(|at| priors[at] * [1.0, 1e-40, 1e-3, 1e-200, 0.5, 1e-9][at % 6])
            .collect();
        let mut scratch = Scratch::default();
        let plain = posteriors(&priors, 6, &mut scratch).unwrap();
        let scaled = posteriors(&scaled, 6, &mut scratch).unwrap();
        for (plain, scaled) in plain.iter().zip(&scaled) {
            assert!((plain - scaled).abs() < 1e-12);
        }
        // Worlds that weigh next to nothing are none.
        let tiny = 1e-280;
        let hardly = [1.0, tiny, tiny, 1.0, tiny, tiny / 2.0, 1.0, 1.0, 1.0];
        assert!(!judge(1.1, &hardly, 3).holds);
    }
}
