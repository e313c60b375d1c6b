//! Somebody who tells each value from all others, and knows nothing else.
//!
//! # Guarantee
//! Of a value x that one row of a group has, let f(v) be the belief that row v has it. To
//! somebody who only tells x from not-x, the posterior of row v is o(v) / sum o(u), with odds
//! o = f / (1 - f).
//!
//! *Proof.* A world has x in one row: its weight is f(v) times the product of 1 - f(u) over
//! the others, which is o(v) times the product of all 1 - f(u). ∎
//!
//! # Limits
//! Somebody who knows of several values at once may be surer: the posteriors of `worlds.rs`.
//! The source's Delta bound limits these posteriors and is taken for a guarantee there
//! (`reproduce delta-bound`).
//!
//! # Cost
//! O(N) for each value.
//!
//! # Source
//! `wong2010inference`, theorem 1; docs/methods.md, "The Delta bound".

/// For somebody who only tells x from not-x: the posterior of each row, given what is
/// believed of it before, if exactly one of them has x. Nothing if that cannot be.
pub fn binary_posteriors(shares: &[f64]) -> Option<Vec<f64>> {
    let mut sure = shares.iter().enumerate().filter(|(_, share)| **share >= 1.0);
    match (sure.next(), sure.next()) {
        (None, _) => {
            let odds = |share: &f64| share / (1.0 - share);
            let sum: f64 = shares.iter().map(odds).sum();
            (sum > 0.0).then(|| shares.iter().map(|share| odds(share) / sum).collect())
        }
        (Some((row, _)), None) => {
            let mut posteriors = vec![0.0; shares.len()];
            posteriors[row] = 1.0;
            Some(posteriors)
        }
        (Some(_), Some(_)) => None,
    }
}

/// The largest of these posteriors, of all rows and values; 1 if some value can be nobody's.
pub(super) fn largest_binary(priors: &[f64], n: usize) -> f64 {
    let of_value = |x: usize| {
        let shares: Vec<f64> = (0..n).map(|row| priors[row * n + x]).collect();
        let posteriors = binary_posteriors(&shares);
        posteriors.map_or(1.0, |all| all.into_iter().fold(0.0, f64::max))
    };
    (0..n).map(of_value).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_sure_leaves_nothing_to_others() {
        assert_eq!(binary_posteriors(&[0.2, 1.0]), Some(vec![0.0, 1.0]));
        assert_eq!(binary_posteriors(&[1.0, 1.0]), None);
        assert_eq!(binary_posteriors(&[0.0, 0.0]), None);
        assert_eq!(binary_posteriors(&[0.5, 0.0]), Some(vec![1.0, 0.0]));
        assert_eq!(largest_binary(&[0.0, 0.5, 0.0, 0.5], 2), 1.0);
    }
}
