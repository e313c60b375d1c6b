//! Uniform perturbation: keep a value with one probability, whatever it is, otherwise draw
//! from the whole domain, the value itself included.
//!
//! # Guarantee
//! Every limit holds, both ways, and no larger probability would do (but for rounding down
//! to a multiple of [`GRAIN`]).
//!
//! *Proof.* The smallest γ binds. A value's own column holds p + (1 - p)/m on the diagonal
//! and (1 - p)/m elsewhere, so a row's largest ratio is ((m - 1) p + 1) / (1 - p), which is
//! γ at p = (γ - 1)/(m - 1 + γ) and grows with p. ∎
//!
//! # Limits
//! One value that needs much protection costs all the others as much.
//!
//! # Cost
//! O(m) for m values.
//!
//! # Source
//! `evfimievski2003limiting`; `chaytor2010randomization`, chapter 3; docs/methods.md,
//! "Uniform perturbation".

use super::{GRAIN, Limits, Operator, keeps, round_down};

/// The best operator that keeps every value with the same probability. A domain of one
/// value is published as it is.
pub fn uniform(limits: Limits<'_>) -> Operator {
    let size = limits.gammas.len();
    let gamma = limits.gammas.iter().copied().fold(f64::INFINITY, f64::min);
    if size < 2 || gamma == f64::INFINITY {
        return Operator::Uniform { keep: 1.0, size };
    }
    let best = ((gamma - 1.0) / ((size - 1) as f64 + gamma)).clamp(0.0, 1.0);
    let operator = Operator::Uniform { keep: round_down(best), size };
    if keeps(&operator, limits) {
        return operator;
    }
    // The division was rounded up to a multiple of the grain.
    Operator::Uniform { keep: (round_down(best) - GRAIN).max(0.0), size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promise::{Breaches, amplification};

    fn keep_of(gammas: &[f64]) -> f64 {
        let limits = Limits { gammas, breaches: Breaches::Both };
        let operator = uniform(limits);
        assert!(keeps(&operator, limits));
        match operator {
            Operator::Uniform { keep, .. } => keep,
            _ => unreachable!("uniform"),
        }
    }

    #[test]
    fn the_worked_numbers_of_the_source() {
        let gamma = amplification(0.2, 0.25);
        let limits = Limits { gammas: &[gamma; 3], breaches: Breaches::Upward };
        let operator = uniform(limits);
        assert!((operator.entry(1, 1) - 0.4).abs() < 1e-9);
        assert!((operator.entry(0, 1) - 0.3).abs() < 1e-9);
        for (size, percent) in [(77, 5), (50, 7), (14, 22), (9, 31), (2, 67)] {
            let keep = keep_of(&vec![5.0; size]);
            assert_eq!((keep * 100.0).round() as i32, percent, "{size}");
        }
    }

    #[test]
    fn nothing_more_would_do() {
        for gamma in [1.0, 1.0 + 1e-13, 1.001, 3.0, 4.5, 1e6, 1e300] {
            for size in [2, 3, 1001] {
                let gammas = vec![gamma; size];
                let keep = keep_of(&gammas) + 2.0 * GRAIN;
                let limits = Limits { gammas: &gammas, breaches: Breaches::Upward };
                assert!(!keeps(&Operator::Uniform { keep, size }, limits), "{gamma}");
            }
        }
    }

    #[test]
    fn without_limits_every_value_is_kept() {
        assert_eq!(keep_of(&[f64::INFINITY; 4]), 1.0);
        assert_eq!(keep_of(&[2.0]), 1.0);
        assert!(keep_of(&[f64::INFINITY, 3.0]) < 1.0);
    }
}
