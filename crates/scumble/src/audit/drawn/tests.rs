//! Matrices, limits and estimates against brute force.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use crate::audit::checks::bounds::gamma;
use crate::audit::drawn::Matrix;
use crate::audit::drawn::matrix::Amplified;
use crate::audit::drawn::shares::{Estimate, likely};
use crate::release::OperatorNote;

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// A matrix of any kind, sometimes with zeros.
fn some_matrix(rng: &mut ChaCha20Rng) -> Matrix {
    let size = rng.random_range(2..7);
    let share = |rng: &mut ChaCha20Rng| match rng.random_range(0..8) {
        0 => 0.0,
        1 => 1.0,
        _ => rng.random::<f64>(),
    };
    let note = match rng.random_range(0..3) {
        0 => OperatorNote::Uniform { keep: share(rng) },
        1 => OperatorNote::FineGrain { keep: (0..size).map(|_| share(rng)).collect() },
        _ => {
            let columns: Vec<Vec<f64>> = (0..size)
                .map(|_| {
                    let mut column: Vec<f64> = (0..size).map(|_| share(rng)).collect();
                    column[rng.random_range(0..size)] += 0.1;
                    let sum: f64 = column.iter().sum();
                    column.iter().map(|entry| entry / sum).collect()
                })
                .collect();
            let row = |j: usize| columns.iter().map(|column| column[j]).collect();
            OperatorNote::General { matrix: (0..size).map(row).collect() }
        }
    };
    Matrix::of(&note, size).unwrap()
}

fn ratio(above: f64, below: f64) -> f64 {
    if above == 0.0 { 0.0 } else { above / below }
}

/// Every triple.
fn amplified(matrix: &Matrix, value: usize) -> Amplified {
    let size = matrix.size();
    let mut found = Amplified { up: 0.0, down: 0.0 };
    for published in 0..size {
        for other in (0..size).filter(|other| *other != value) {
            let (own, other) =
                (matrix.entry(published, value), matrix.entry(published, other));
            found.up = found.up.max(ratio(own, other));
            found.down = found.down.max(ratio(other, own));
        }
    }
    found
}

#[test]
fn amplification_is_that_of_all_triples() {
    let mut rng = rng(1);
    for _ in 0..3000 {
        let matrix = some_matrix(&mut rng);
        let found = matrix.amplified();
        for (value, found) in found.iter().enumerate() {
            assert_eq!(*found, amplified(&matrix, value), "{matrix:?} {value}");
        }
        let limits: Vec<(usize, f64)> = (0..matrix.size())
            .map(|value| (value, 1.0 + 3.0 * rng.random::<f64>()))
            .collect();
        for both in [false, true] {
            let passing = matrix.passing(&limits, both);
            for (published, passing) in passing.iter().enumerate() {
                let expected = limits.iter().any(|(value, limit)| {
                    let others = (0..matrix.size()).filter(|other| other != value);
                    let own = matrix.entry(published, *value);
                    others.map(|other| matrix.entry(published, other)).any(|other| {
                        ratio(own, other) > *limit || both && ratio(other, own) > *limit
                    })
                });
                assert_eq!(*passing, expected, "{matrix:?} {published} {limits:?}");
            }
        }
    }
}

/// No prior with at most `prior` on a value gets above `posterior`, if and only if the value
/// is within its gamma: the worst prior is on two values.
#[test]
fn random_priors_stay_within_the_bound_and_the_worst_one_reaches_it() {
    let mut rng = rng(2);
    for _ in 0..2000 {
        let matrix = some_matrix(&mut rng);
        let size = matrix.size();
        let value = rng.random_range(0..size);
        let prior = 0.02 + 0.4 * rng.random::<f64>();
        let posterior = prior + (0.98 - prior) * rng.random::<f64>();
        let reached = matrix.amplified()[value].up;
        let after = |priors: &[f64], published: usize| {
            let all = matrix.published(priors)[published];
            priors[value] * matrix.entry(published, value) / all
        };
        let mut largest = 0.0f64;
        for _ in 0..20 {
            let mut priors: Vec<f64> =
                (0..size).map(|_| rng.random::<f64>().powi(4)).collect();
            priors[value] = 0.0;
            let rest: f64 = priors.iter().sum();
            let own = prior * rng.random::<f64>();
            priors.iter_mut().for_each(|p| *p *= (1.0 - own) / rest);
            priors[value] = own;
            for published in 0..size {
                largest = largest.max(after(&priors, published));
            }
        }
        let fits = reached <= gamma(prior, posterior);
        assert!(!fits || largest <= posterior * (1.0 + 1e-12), "{matrix:?}");
        // All other belief on one other value.
        for other in (0..size).filter(|other| *other != value) {
            let mut priors = vec![0.0; size];
            (priors[value], priors[other]) = (prior, 1.0 - prior);
            for published in 0..size {
                largest = largest.max(after(&priors, published));
            }
        }
        assert_eq!(fits, largest <= posterior, "{matrix:?} {largest} {posterior}");
    }
}

#[test]
fn a_single_value_is_known() {
    let matrix = Matrix::of(&OperatorNote::Uniform { keep: 0.1 }, 1).unwrap();
    assert!(matrix.amplified()[0].up.is_infinite());
    assert_eq!(matrix.passing(&[(0, 9.0)], false), [true]);
}

/// The same matrix entry by entry.
fn as_general(matrix: &Matrix) -> Matrix {
    let size = matrix.size();
    let row = |j| (0..size).map(|i| matrix.entry(j, i)).collect();
    Matrix::General((0..size).map(row).collect())
}

#[test]
fn estimates_of_the_worked_example() {
    let matrix = Matrix::of(&OperatorNote::Uniform { keep: 0.1 }, 3).unwrap();
    for matrix in [matrix.clone(), as_general(&matrix)] {
        let found = |o: &[u64]| Estimate::of(&matrix, o).unwrap().counts;
        for (published, expected) in
            [([30, 35, 35], [0.0, 50.0, 50.0]), ([50, 30, 20], [200.0, 0.0, -100.0])]
        {
            for (found, expected) in found(&published).iter().zip(expected) {
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }
    }
}

#[test]
fn both_ways_to_estimate_agree() {
    let mut rng = rng(3);
    for _ in 0..200 {
        let size = rng.random_range(2..7);
        let mut keep: Vec<f64> =
            (0..size).map(|_| 0.05 + 0.9 * rng.random::<f64>()).collect();
        // One value may never be kept.
        if rng.random_range(0..3) == 0 {
            keep[rng.random_range(0..size)] = 0.0;
        }
        let matrix = Matrix::of(&OperatorNote::FineGrain { keep }, size).unwrap();
        let general = as_general(&matrix);
        let published: Vec<u64> = (0..size).map(|_| rng.random_range(0..500)).collect();
        let a = Estimate::of(&matrix, &published).unwrap();
        let b = Estimate::of(&general, &published).unwrap();
        let near = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6 * (1.0 + b.abs()))
        };
        assert!(near(&a.counts, &b.counts));
        assert!(near(&a.variances, &b.variances));
        // Rather too large than too small.
        assert!(a.steps.iter().zip(&b.steps).all(|(a, b)| *a > *b - 1e-6));
        let shares = [0.3; 6];
        assert!(near(
            &matrix.published(&shares[..size]),
            &general.published(&shares[..size])
        ));
        assert!(near(
            &matrix.gathered(&shares[..size]),
            &general.gathered(&shares[..size])
        ));
        if published.iter().sum::<u64>() > 0 {
            let a = likely(&matrix, &published, Some(&a));
            let b = likely(&general, &published, Some(&b));
            assert!(near(&a, &b));
        }
    }
}

#[test]
fn with_two_values_that_are_never_kept_there_is_no_estimate() {
    for keep in [vec![0.5, 0.0, 0.0], vec![0.5, 1e-14, 1e-13], vec![0.0; 3]] {
        let matrix = Matrix::of(&OperatorNote::FineGrain { keep }, 3).unwrap();
        for matrix in [as_general(&matrix), matrix] {
            assert!(Estimate::of(&matrix, &[3, 4, 5]).is_none(), "{matrix:?}");
        }
    }
}

/// The likeliest shares are those of the inverse where that has no negative count.
#[test]
fn likely_shares_are_found_and_never_negative() {
    let matrix = Matrix::of(&OperatorNote::Uniform { keep: 0.5 }, 3).unwrap();
    let shares = likely(&matrix, &[40, 35, 25], None);
    let exact = Estimate::of(&matrix, &[40, 35, 25]).unwrap().counts;
    for (share, count) in shares.iter().zip(&exact) {
        assert!((share - count / 100.0).abs() < 1e-6, "{share} {count}");
    }
    let shares = likely(&matrix, &[90, 10, 0], None);
    assert!((shares[0] - 1.0).abs() < 1e-3 && shares.iter().all(|s| *s >= 0.0));
}

/// The margin covers what estimates stray, and half a hundredth of it does not.
#[test]
fn estimates_stray_less_than_their_margin() {
    let mut rng = rng(4);
    let keep = vec![0.5, 0.3, 0.2, 0.4];
    let matrix =
        Matrix::of(&OperatorNote::FineGrain { keep: keep.clone() }, 4).unwrap();
    let truth = [400u64, 300, 200, 100];
    let mut outside = 0;
    for _ in 0..500 {
        let mut published = [0u64; 4];
        for (value, count) in truth.iter().enumerate() {
            for _ in 0..*count {
                let kept = rng.random::<f64>() < keep[value];
                published[if kept { value } else { rng.random_range(0..4) }] += 1;
            }
        }
        let estimate = Estimate::of(&matrix, &published).unwrap();
        for (value, count) in truth.iter().enumerate() {
            let off = (estimate.counts[value] - *count as f64).abs();
            assert!(off < estimate.margin(value, 4));
            outside += u32::from(off > estimate.margin(value, 4) / 10.0);
        }
    }
    assert!(outside > 100, "the margin is not a hundred times too wide: {outside}");
}

#[test]
fn malformed_matrices_are_refused() {
    let refused = |note: OperatorNote| Matrix::of(&note, 2).is_err();
    assert!(refused(OperatorNote::Uniform { keep: 1.01 }));
    assert!(refused(OperatorNote::Uniform { keep: f64::NAN }));
    assert!(refused(OperatorNote::FineGrain { keep: vec![0.5] }));
    assert!(refused(OperatorNote::FineGrain { keep: vec![0.5, -0.1] }));
    let matrix = |rows: &[&[f64]]| OperatorNote::General {
        matrix: rows.iter().map(|row| row.to_vec()).collect(),
    };
    assert!(refused(matrix(&[&[0.5, 0.5]])));
    assert!(refused(matrix(&[&[0.5, 0.5], &[0.5]])));
    assert!(refused(matrix(&[&[0.5, 0.5], &[0.5, 0.51]])));
    assert!(refused(matrix(&[&[0.5, 1.5], &[0.5, -0.5]])));
    assert!(!refused(matrix(&[&[0.5, 0.1], &[0.5, 0.9]])));
}
