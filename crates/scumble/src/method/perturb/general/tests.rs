//! General operators against a general solver, and the worked numbers.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::method::perturb::keeps;
use crate::method::perturb::linear::{Program, Row};
use crate::method::perturb::testing::{random_limits, worked};

/// The optimum of the linear program over all entries, row minima and row maxima:
/// docs/methods.md, "Optimal general matrices".
fn by_solver(limits: Limits<'_>, weights: &[f64], floor: f64) -> Option<f64> {
    let m = weights.len();
    let entry = |row: usize, column: usize| column * m + row;
    let (low, high) = (|row: usize| m * m + row, |row: usize| m * m + m + row);
    let mut program =
        Program { factors: vec![0.0; m * m + 2 * m], ..Program::default() };
    let both = limits.breaches == Breaches::Both;
    let total: f64 = weights.iter().sum();
    for (column, gamma) in limits.gammas.iter().enumerate() {
        program.factors[entry(column, column)] = weights[column] / total;
        let terms = (0..m).map(|row| (entry(row, column), 1.0)).collect();
        program.equal.push(Row { terms, bound: 1.0 });
        let mut at_most = |terms, bound| program.at_most.push(Row { terms, bound });
        at_most(vec![(entry(column, column), -1.0)], -floor);
        for row in 0..m {
            let own = entry(row, column);
            at_most(vec![(own, -1.0)], 0.0);
            at_most(vec![(low(row), 1.0), (own, -1.0)], 0.0);
            at_most(vec![(own, 1.0), (high(row), -1.0)], 0.0);
            if gamma.is_finite() {
                at_most(vec![(own, 1.0 / gamma), (low(row), -1.0)], 0.0);
                if both {
                    at_most(vec![(high(row), 1.0 / gamma), (own, -1.0)], 0.0);
                }
            }
        }
    }
    for row in 0..m {
        program.at_most.push(Row { terms: vec![(low(row), -1.0)], bound: 0.0 });
        program.at_most.push(Row { terms: vec![(high(row), 1.0)], bound: 1.0 });
    }
    let found = program.solve(&Unwatched)?;
    Some(found.iter().zip(&program.factors).map(|(x, factor)| x * factor).sum())
}

#[test]
fn the_worked_numbers() {
    let (gammas, weights) = worked();
    for (breaches, expected) in [(Breaches::Upward, 0.654), (Breaches::Both, 0.632)] {
        let limits = Limits { gammas: &gammas, breaches };
        let operator = general(limits, &weights, Floor::None).unwrap();
        assert!(keeps(&operator, limits));
        let utility = operator.record_utility(&weights);
        assert!((utility - expected).abs() < 5e-4, "{utility}");
        // The rarest value is never published.
        assert!(operator.entry(4, 4) < 1e-6 && condition(&operator) > 1e9);

        let floored = general(limits, &weights, Floor::Default).unwrap();
        assert!(keeps(&floored, limits));
        assert!(condition(&floored) < 12.0, "{}", condition(&floored));
        let less = floored.record_utility(&weights);
        let simple = fine_grain(limits, &weights).record_utility(&weights);
        assert!(less < utility && less > simple, "{less} {simple}");
    }
}

#[test]
fn the_best_by_a_general_solver() {
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    for round in 0..120 {
        let m = rng.random_range(2..=9usize);
        let (gammas, weights) = random_limits(&mut rng, m);
        let breaches = [Breaches::Upward, Breaches::Both][round % 2];
        let limits = Limits { gammas: &gammas, breaches };
        let even = uniform(limits);
        let share = even.entry(0, 0) * rng.random::<f64>() * 0.99;
        let floor = if round % 4 < 2 { Floor::None } else { Floor::At(share) };
        let operator = general(limits, &weights, floor).unwrap();
        assert!(keeps(&operator, limits), "{gammas:?}");
        let found = operator.record_utility(&weights);
        let least = if floor == Floor::None { 0.0 } else { share };
        let expected = by_solver(limits, &weights, least).unwrap();
        let error = (found - expected).abs() / expected;
        let rounding = if floor == Floor::None { 2e-8 } else { 1e-6 };
        assert!(error < rounding, "{round}: {found} {expected} {gammas:?} {weights:?}");
        let lowest = (0..m).map(|code| operator.entry(code, code)).fold(1.0, f64::min);
        assert!(lowest >= least);
        if floor == Floor::None {
            assert!(found >= fine_grain(limits, &weights).record_utility(&weights));
        }
    }
}

#[test]
fn every_frequency_can_be_estimated_by_default() {
    let mut rng = ChaCha20Rng::seed_from_u64(10);
    for round in 0..80 {
        let m = rng.random_range(2..=12usize);
        let (gammas, weights) = random_limits(&mut rng, m);
        let breaches = [Breaches::Upward, Breaches::Both][round % 2];
        let limits = Limits { gammas: &gammas, breaches };
        let operator = general(limits, &weights, Floor::Default).unwrap();
        assert!(keeps(&operator, limits));
        let even = uniform(limits);
        let simple = fine_grain(limits, &weights);
        let own = Some(condition(&simple)).filter(|condition| *condition <= 1e6);
        let usual = 4.0 / (m as f64 * even.entry(0, 0) - 1.0) * (m - 1) as f64 - 1.0;
        let bound = usual.max(own.unwrap_or(0.0)) * (1.0 + 1e-6) + 1e-6;
        assert!(condition(&operator) <= bound, "{} {bound}", condition(&operator));
        let utility = operator.record_utility(&weights);
        if own.is_some() {
            let least = simple.record_utility(&weights) * (1.0 - 1e-9);
            assert!(utility >= least, "never below fine-grain: {gammas:?}");
        }
        assert!(utility >= even.record_utility(&weights) * (1.0 - 1e-9), "{gammas:?}");
    }
}

#[test]
fn a_floor_that_is_too_high_is_named() {
    let (gammas, weights) = worked();
    for breaches in [Breaches::Upward, Breaches::Both] {
        let limits = Limits { gammas: &gammas, breaches };
        let error = general(limits, &weights, Floor::At(0.9)).unwrap_err();
        assert_eq!(error.exit_code(), 1);
        let text = error.to_string();
        let largest: f64 = text.rsplit(' ').next().unwrap().parse().unwrap();
        let operator = general(limits, &weights, Floor::At(largest - 1e-6)).unwrap();
        assert!((0..5).all(|code| operator.entry(code, code) >= largest - 1e-6));
        let above = general(limits, &weights, Floor::At(largest + 1e-5));
        assert!(above.is_err(), "{text}");
    }
}

#[test]
fn domains_without_limits_are_published_as_they_are() {
    let limits = Limits { gammas: &[f64::INFINITY; 2], breaches: Breaches::Both };
    let operator = general(limits, &[1.0, 2.0], Floor::Default).unwrap();
    assert_eq!(operator.record_utility(&[1.0, 2.0]), 1.0);
    let limits = Limits { gammas: &[2.0], breaches: Breaches::Both };
    assert_eq!(general(limits, &[1.0], Floor::None).unwrap().entry(0, 0), 1.0);
}

#[test]
fn a_value_that_must_not_be_told_apart_leaves_nothing_to_gain() {
    for breaches in [Breaches::Upward, Breaches::Both] {
        let limits = Limits { gammas: &[1.0, 7.0, 7.0], breaches };
        let operator = general(limits, &[1.0; 3], Floor::Default).unwrap();
        assert!(keeps(&operator, limits));
        assert!(general(limits, &[1.0; 3], Floor::At(0.5)).is_err());
    }
}

#[test]
fn many_values_keep_their_limits() {
    let mut rng = ChaCha20Rng::seed_from_u64(12);
    for breaches in [Breaches::Upward, Breaches::Both] {
        let (gammas, weights) = random_limits(&mut rng, 50);
        let limits = Limits { gammas: &gammas, breaches };
        let operator = general(limits, &weights, Floor::Default).unwrap();
        assert!(keeps(&operator, limits));
        assert_eq!(general(limits, &weights, Floor::Default).unwrap(), operator);
    }
}
