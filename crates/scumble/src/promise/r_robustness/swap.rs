//! The swap bound: the Delta bound mended, a guarantee for groups of any size.
//!
//! # Guarantee
//! Of a group with N rows and N values, each once, the posterior of row t and value x is at
//! most 1 / (1 + sum over rows u of the least p(t : y) p(u : x) / (p(t : x) p(u : y))), over
//! the other rows u and values y. So 1/r is kept if for every value the smallest belief is at
//! least the largest times the square root of (r - 1) / (N - 1).
//!
//! *Proof.* Take a world in which t has x and let t swap values with another row u, who had
//! y. The new world weighs p(t : y) p(u : x) / (p(t : x) p(u : y)) times the old one, and t
//! no longer has x in it. Every world in which t does not have x comes from exactly one such
//! pair of a world and a row: t swaps back with the row that has x. So the worlds without "t
//! has x" weigh at least the sum of the least ratios times those with it. If smallest and
//! largest beliefs have a ratio of at least q for every value, every ratio above is at least
//! q^2, and the posterior at most 1 / (1 + (N - 1) q^2). ∎
//!
//! Of a group in which x occurs c times, t swaps with one of the N - c rows that do not have
//! x, and a world without "t has x" comes of c such pairs: t swaps back with any row that has
//! x. So the posterior is at most 1 / (1 + (N - c) / c q(x) q(y)), for the least q(y) of the
//! other values (`of_counts`).
//!
//! By N and q alone no wider bound is possible: if row t has the largest belief in x and the
//! smallest in all else, and the other rows the other way round, every swap has the ratio q^2.
//! The Delta bound asks about q >= (r - 1) / (N - 1) for small beliefs, without the root: there
//! the posterior of this group is about 1 / (1 + (r - 1)^2 / (N - 1)), and with N goes to 1.
//!
//! # Limits
//! An upper bound, not the posterior: a group that fails may still be safe. A belief of
//! zero makes it 1.
//!
//! # Cost
//! O(N^4), or O(N^2) for the simple form; by counts, the number of kinds times that of values.
//!
//! # Source
//! Ours; it mends theorem 1 of `wong2010inference`.

use crate::promise::r_robustness::GroupBeliefs;

/// The largest Delta that is safe for a group of `n` rows whose largest belief is `f`, if all
/// values keep it. Below zero if the group is too small.
pub fn delta_safe(n: usize, r: f64, f: f64) -> f64 {
    if n < 2 {
        return -f;
    }
    f * (1.0 - ((r - 1.0) / (n as f64 - 1.0)).sqrt())
}

/// No posterior of any row and value is above this, where `priors[row * n + value]` is what
/// is believed before.
pub fn swap_bound(priors: &[f64], n: usize) -> f64 {
    if n < 2 || priors.iter().any(|share| *share <= 0.0) {
        return 1.0;
    }
    let mut least = f64::INFINITY;
    for t in 0..n {
        let own = &priors[t * n..(t + 1) * n];
        for x in 0..n {
            let others = (0..n).filter(|u| *u != t).map(|u| {
                let other = &priors[u * n..(u + 1) * n];
                let ratios = own.iter().zip(other).enumerate();
                let ratios = ratios.filter(|(y, _)| *y != x);
                let smallest = ratios.map(|(_, (own, other))| own / other);
                smallest.fold(f64::INFINITY, f64::min) * (other[x] / own[x])
            });
            least = least.min(others.sum());
        }
    }
    1.0 / (1.0 + least)
}

/// A bound on all posteriors that is found in no time for groups of any size: for every
/// value the ratio of the smallest to the largest belief takes the place of all others.
pub(super) fn largest(priors: &[f64], n: usize) -> f64 {
    if n < 2 {
        return 1.0;
    }
    let ratio = |value: usize| {
        let beliefs = (0..n).map(|row| priors[row * n + value]);
        let ends = beliefs.fold((f64::INFINITY, 0.0f64), |(low, high), share| {
            (low.min(share), high.max(share))
        });
        if ends.1 > 0.0 { ends.0 / ends.1 } else { 0.0 }
    };
    let mut ratios: Vec<f64> = (0..n).map(ratio).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    // The least of a value and another one are the two least of all.
    1.0 / (1.0 + (n - 1) as f64 * ratios[0] * ratios[1])
}

/// The same of a group whose values may occur several times.
pub(super) fn of_counts(group: &GroupBeliefs) -> f64 {
    let (n_rows, n_values) = (group.rows(), group.counts.len());
    let ratio = |value: usize| {
        let beliefs = group.priors.iter().skip(value).step_by(n_values);
        let ends = beliefs.fold((f64::INFINITY, 0.0f64), |(low, high), share| {
            (low.min(*share), high.max(*share))
        });
        if ends.1 > 0.0 { ends.0 / ends.1 } else { 0.0 }
    };
    let ratios: Vec<f64> = (0..n_values).map(ratio).collect();
    let mut sorted = ratios.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let [least, second, ..] = sorted[..] else { return 1.0 };
    let bound = |(own, count): (&f64, &u64)| {
        // The least of the others.
        let other = if *own == least { second } else { least };
        1.0 / (1.0 + (n_rows - count) as f64 / *count as f64 * own * other)
    };
    ratios.iter().zip(&group.counts).map(bound).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::{Scratch, posteriors};
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    fn largest(priors: &[f64], n: usize) -> f64 {
        let all = posteriors(priors, n, &mut Scratch::default()).unwrap();
        all.into_iter().fold(0.0, f64::max)
    }

    #[test]
    fn no_posterior_is_above_the_swap_bound() {
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        for round in 0..600 {
            let n = 2 + round % 7;
            let least = [1e-3, 0.3, 0.8][round % 3];
            let priors: Vec<f64> =
                (0..n * n).map(|_| rng.random_range(least..1.0)).collect();
            let (posterior, bound) = (largest(&priors, n), swap_bound(&priors, n));
            assert!(posterior <= bound + 1e-12, "{posterior} {bound}");
            let simple = super::largest(&priors, n);
            assert!(bound <= simple + 1e-12, "{bound} {simple}");
        }
        assert_eq!(super::largest(&[0.5; 41 * 41], 41), 1.0 / 41.0);
        let mut uneven = vec![0.5; 41 * 41];
        uneven[7] = 0.25;
        assert_eq!(super::largest(&uneven, 41), 1.0 / 21.0);
        uneven[8] = 0.25;
        assert_eq!(super::largest(&uneven, 41), 1.0 / 11.0);
        assert!(swap_bound(&uneven, 41) <= 1.0 / 11.0);
        assert_eq!(swap_bound(&[0.5, 0.0, 0.5, 0.5], 2), 1.0);
        assert_eq!(swap_bound(&[0.5], 1), 1.0);
    }

    #[test]
    fn the_worst_group_is_at_the_bound() {
        for (n, r) in [(3, 2.0), (4, 2.0), (8, 2.0), (8, 3.5), (12, 4.0)] {
            let high = 1.0 / n as f64;
            let group = |delta: f64| -> Vec<f64> {
                let low = high - delta;
                let belief = |at: usize| (at < n) == at.is_multiple_of(n);
                (0..n * n).map(|at| if belief(at) { high } else { low }).collect()
            };
            let safe = group(delta_safe(n, r, high));
            assert!((swap_bound(&safe, n) - 1.0 / r).abs() < 1e-9);
            assert!((largest(&safe, n) - 1.0 / r).abs() < 1e-9);
            // A little wider lets more through.
            let wider = group(delta_safe(n, r, high) * 1.1);
            assert!(largest(&wider, n) > 1.0 / r + 1e-3);
        }
        assert!(delta_safe(2, 3.0, 0.5) < 0.0 && delta_safe(1, 3.0, 0.5) < 0.0);
    }
}
