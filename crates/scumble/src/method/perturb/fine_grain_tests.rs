//! Fine-grain against a general solver, and the worked numbers.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::method::perturb::linear::{Program, Row};
use crate::method::perturb::testing::{random_limits, worked};
use crate::method::perturb::{keeps, uniform};
use crate::watch::Unwatched;

fn probabilities(operator: &Operator) -> &[f64] {
    match operator {
        Operator::FineGrain { keep } => keep,
        _ => unreachable!("fine-grain"),
    }
}

/// The linear program of docs/methods.md, "Fine-grain perturbation", by a general solver.
fn by_solver(limits: Limits<'_>, weights: &[f64]) -> Vec<f64> {
    let m = weights.len();
    let others = (m - 1) as f64;
    let mut rows = Vec::new();
    for (i, gamma) in limits.gammas.iter().enumerate() {
        rows.push(Row { terms: vec![(i, 1.0)], bound: 1.0 });
        rows.push(Row { terms: vec![(i, -1.0)], bound: 0.0 });
        if gamma.is_infinite() {
            continue;
        }
        for j in (0..m).filter(|j| *j != i) {
            let bound = (gamma - 1.0) / gamma;
            rows.push(Row { terms: vec![(i, others / gamma), (j, 1.0)], bound });
            if limits.breaches == Breaches::Both {
                rows.push(Row { terms: vec![(j, others / gamma), (i, 1.0)], bound });
            }
        }
    }
    let factors = weights.to_vec();
    Program { factors, equal: vec![], at_most: rows }.solve(&Unwatched).unwrap()
}

#[test]
fn the_best_by_a_general_solver() {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    for round in 0..160 {
        let m = rng.random_range(2..=30usize);
        let (gammas, weights) = random_limits(&mut rng, m);
        let breaches = [Breaches::Upward, Breaches::Both][round % 2];
        let limits = Limits { gammas: &gammas, breaches };
        let operator = fine_grain(limits, &weights);
        assert!(keeps(&operator, limits), "{gammas:?}");
        let expected = Operator::FineGrain { keep: by_solver(limits, &weights) };
        let (found, expected) =
            (operator.record_utility(&weights), expected.record_utility(&weights));
        let error = (found - expected).abs() / expected;
        assert!(error < 1e-9, "{found} {expected} {gammas:?} {weights:?}");
    }
}

#[test]
fn the_worked_numbers_of_the_source() {
    let (gammas, weights) = worked();
    let upward = Limits { gammas: &gammas, breaches: Breaches::Upward };
    let operator = fine_grain(upward, &weights);
    assert!(keeps(&operator, upward));
    let keep = probabilities(&operator);
    for (p, expected) in keep.iter().zip([0.5283, 0.5283, 0.5283, 0.2807, 0.1681]) {
        assert!((p - expected).abs() < 5e-5, "{keep:?}");
    }
    for (code, expected) in [0.623, 0.623, 0.623, 0.425, 0.334].iter().enumerate() {
        assert!((operator.entry(code, code) - expected).abs() < 6e-4);
    }
    assert!((operator.record_utility(&weights) - 0.574).abs() < 5e-4);
    assert!((uniform(upward).record_utility(&weights) - 0.470).abs() < 5e-4);

    let both = Limits { gammas: &gammas, breaches: Breaches::Both };
    assert!(!keeps(&operator, both), "Theorem 7 of the source is wrong");
    let operator = fine_grain(both, &weights);
    assert!(keeps(&operator, both));
    assert!((probabilities(&operator)[4] - 0.1219).abs() < 5e-5);
    assert!((operator.record_utility(&weights) - 0.571).abs() < 5e-4);
}

#[test]
fn a_value_without_a_limit_may_be_kept_most() {
    let gammas = [f64::INFINITY, 2.0, 2.0];
    for breaches in [Breaches::Upward, Breaches::Both] {
        let limits = Limits { gammas: &gammas, breaches };
        let operator = fine_grain(limits, &[1.0, 0.0, 0.0]);
        assert!(keeps(&operator, limits));
        // Nothing but 1 - 1/γ of the others, or two-sided (γ - 1)/(m - 1), holds it.
        assert!((probabilities(&operator)[0] - 0.5).abs() < 1e-11);
    }
    let all = [f64::INFINITY; 3];
    let limits = Limits { gammas: &all, breaches: Breaches::Both };
    assert_eq!(probabilities(&fine_grain(limits, &[1.0; 3])), [1.0; 3]);
}

#[test]
fn a_value_that_must_not_be_told_apart_holds_all() {
    let limits = Limits { gammas: &[1.0, 9.0, 9.0], breaches: Breaches::Upward };
    let operator = fine_grain(limits, &[1.0; 3]);
    assert_eq!(probabilities(&operator), [0.0; 3]);
    assert!(keeps(&operator, limits));
}

#[test]
fn many_values_keep_their_limits() {
    let mut rng = ChaCha20Rng::seed_from_u64(8);
    for breaches in [Breaches::Upward, Breaches::Both] {
        let (gammas, weights) = random_limits(&mut rng, 15_000);
        let limits = Limits { gammas: &gammas, breaches };
        let operator = fine_grain(limits, &weights);
        assert!(keeps(&operator, limits));
        assert!(
            operator.record_utility(&weights)
                >= uniform(limits).record_utility(&weights) * (1.0 - 1e-9)
        );
    }
}
