//! The Delta bound: how far beliefs in a group may be apart, by its size.
//!
//! Of a value that one row of N has, let f(v) be the belief that row v has it, f the largest
//! and Delta the largest minus the smallest. The bound asks Delta to be at most
//! (N - r) f / (f (r - 1) / (1 - f) + N - 1). For comparison only: the source takes it for a
//! guarantee, which it is not.
//!
//! # Guarantee
//! To somebody who only tells x from not-x, the posterior of row v is o(v) / sum o(u), with
//! odds o = f / (1 - f). If the bound holds, none is above 1/r; and there is no wider bound
//! by N, f and Delta alone.
//!
//! *Proof.* A world has x in one row: its weight is f(v) times the product of 1 - f(u) over
//! the others, which is o(v) times the product of all 1 - f(u). The posterior is largest for
//! the largest f and, for a given Delta, if all other rows are at g = f - Delta: then it is
//! o(f) / (o(f) + (N - 1) o(g)). That is at most 1/r if (N - 1) o(g) >= (r - 1) o(f), and
//! this solved for Delta is the bound. ∎
//!
//! # Limits
//! **No guarantee against all possible worlds**, though the source claims it: there several
//! values tell about a row at once. With r = 2 and values x, y, z, once each, row 1
//! at (.3, .1765, .1765) and rows 2 and 3 at (.1765, .3, .3) keep the bound for every value
//! (Delta = .1235); yet row 1 has x with probability .591.
//! The experiment shows how often that happens.
//!
//! # Cost
//! O(N) for each value.
//!
//! # Source
//! `wong2010inference`, theorem 1; docs/methods.md, "The Delta bound".

/// Beliefs that are at the bound but for rounding keep it.
const ROUNDING: f64 = 1e-12;

/// The largest Delta that keeps the bound, for a group of `n` rows whose largest belief is
/// `f`; zero if nobody or somebody is sure to have the value.
pub(super) fn delta_ceil(n: usize, r: f64, f: f64) -> f64 {
    if f <= 0.0 || f >= 1.0 {
        return 0.0;
    }
    (n as f64 - r) * f / (f * (r - 1.0) / (1.0 - f) + n as f64 - 1.0)
}

/// How far the beliefs of a value are apart.
pub(super) fn delta_max(shares: &[f64]) -> f64 {
    let (least, most) = ends(shares.iter().copied());
    most - least
}

/// Whether every value of a group with `n` rows keeps the bound, where
/// `priors[row * n + value]` is what is believed before.
pub(super) fn within_bound(priors: &[f64], n: usize, r: f64) -> bool {
    n as f64 >= r
        && (0..n).all(|x| {
            let (least, most) = ends((0..n).map(|row| priors[row * n + x]));
            most - least <= delta_ceil(n, r, most) + ROUNDING
        })
}

/// The least and the greatest.
fn ends(shares: impl Iterator<Item = f64>) -> (f64, f64) {
    shares.fold((f64::INFINITY, 0.0), |(least, most), share| {
        (least.min(share), most.max(share))
    })
}

#[cfg(test)]
mod tests {
    use super::super::TABLE;
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;
    use scumble::decimal::Decimal;
    use scumble::promise::{RRobustness, Scratch, binary_posteriors};

    #[test]
    fn the_numbers_of_the_source() {
        for (n, r, f, printed) in TABLE {
            let found = delta_ceil(n, r, f);
            assert!((found - printed).abs() <= 5e-5, "{n} {r} {f}: {found}");
        }
        assert_eq!((delta_ceil(3, 2.0, 0.0), delta_ceil(3, 2.0, 1.0)), (0.0, 0.0));
        // Example 2.
        let shares = [0.1, 0.08, 0.09];
        assert!((delta_max(&shares) - 0.02).abs() < 1e-12);
        assert!(delta_max(&shares) <= delta_ceil(3, 2.0, 0.1));
        assert!(binary_posteriors(&shares).unwrap().iter().all(|share| *share <= 0.5));
    }

    #[test]
    fn the_bound_is_the_worst_case_of_x_and_not_x() {
        let mut rng = ChaCha20Rng::seed_from_u64(8);
        let largest = |shares: &[f64]| {
            binary_posteriors(shares).unwrap().into_iter().fold(0.0, f64::max)
        };
        for _ in 0..2000 {
            let n = rng.random_range(2..20);
            let r = rng.random_range(1.01..n as f64);
            let f = rng.random_range(0.001..0.999);
            let ceil = delta_ceil(n, r, f);
            assert!(ceil >= 0.0 && ceil < f && ceil < delta_ceil(n + 1, r, f));
            let mut shares: Vec<f64> =
                (0..n).map(|_| f - ceil * rng.random::<f64>()).collect();
            shares[0] = f;
            assert!(largest(&shares) <= 1.0 / r + 1e-12);
            // All others as low as allowed: at 1/r. Any lower: above.
            shares[1..].fill(f - ceil);
            assert!((largest(&shares) - 1.0 / r).abs() < 1e-9);
            shares[1..].fill(f - ceil - (f - ceil) * 1e-3);
            assert!(largest(&shares) > 1.0 / r);
        }
    }

    #[test]
    fn every_value_must_keep_the_bound() {
        let ceil = delta_ceil(2, 2.0, 0.3);
        assert_eq!(ceil, 0.0);
        assert!(within_bound(&[0.3, 0.2, 0.3, 0.2], 2, 2.0));
        assert!(!within_bound(&[0.3, 0.2, 0.3, 0.21], 2, 2.0));
        assert!(!within_bound(&[0.3], 1, 2.0));
    }

    #[test]
    fn the_bound_of_the_source_is_no_guarantee() {
        let (high, n, r) = (0.3, 3, 2.0);
        let low = high - delta_ceil(n, r, high);
        let priors = [high, low, low, low, high, high, low, high, high];
        assert!((delta_ceil(n, r, high) - 0.1235).abs() < 5e-5);
        assert!(within_bound(&priors, n, r));
        let judged = RRobustness::new(Decimal::from_f64("r", r).unwrap()).unwrap();
        let verdict = judged.judge(&priors, n, &mut Scratch::default());
        assert!(verdict.exact && !verdict.holds);
        assert!((verdict.posterior - 0.591).abs() < 5e-4, "{}", verdict.posterior);
        // Whoever tells only one value from all others stays at 1/2.
        for x in 0..n {
            let shares: Vec<f64> = (0..n).map(|row| priors[row * n + x]).collect();
            let posteriors = binary_posteriors(&shares).unwrap();
            assert!(posteriors.iter().all(|posterior| *posterior <= 0.5 + 1e-12));
        }
    }
}
