//! Reconstruction against worked numbers, brute force and chance.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::estimate::laws::matrix::Channel;
use crate::estimate::laws::matrix::tests::{drawn, fine_grain, general, uniform};

/// How often a right estimator fails a test below.
const FALSE_ALARM: f64 = 1e-6;

const WAYS: [Way; 3] = [Way::Inverse, Way::Iterative, Way::Simplex];

fn counts(channel: &Channel, published: &[f64], way: Way) -> Vec<f64> {
    let joint = Joint::new(vec![channel]).unwrap();
    reconstruct(&joint, published, way).unwrap().counts
}

fn assert_near(found: &[f64], wanted: &[f64], tolerance: f64) {
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() <= tolerance, "{found:?} is not {wanted:?}");
    }
}

/// What is published of rows with these counts, value by value.
fn publish(channel: &Channel, truth: &[u32], random: &mut ChaCha20Rng) -> Vec<f64> {
    let mut published = vec![0.0; truth.len()];
    for (original, n) in truth.iter().enumerate() {
        for _ in 0..*n {
            let mut point = random.random::<f64>();
            let mut value = 0;
            while value + 1 < truth.len() && point >= channel.entry(value, original) {
                point -= channel.entry(value, original);
                value += 1;
            }
            published[value] += 1.0;
        }
    }
    published
}

#[test]
fn the_worked_numbers_of_the_source() {
    let channel = uniform(0.1, 3);
    assert!((channel.entry(0, 0) - 0.4).abs() < 1e-12);
    for way in WAYS {
        assert_near(
            &counts(&channel, &[30.0, 35.0, 35.0], way),
            &[0.0, 50.0, 50.0],
            1e-3,
        );
    }
    let published = [50.0, 30.0, 20.0];
    assert_near(
        &counts(&channel, &published, Way::Inverse),
        &[200.0, 0.0, -100.0],
        1e-9,
    );
    // 200, 0, -100 less 100 each, but not below zero.
    assert_near(&counts(&channel, &published, Way::Simplex), &[100.0, 0.0, 0.0], 1e-9);
    assert_near(
        &counts(&channel, &published, Way::Iterative),
        &[100.0, 0.0, 0.0],
        1e-3,
    );
}

#[test]
fn iterative_and_simplex_counts_are_possible() {
    let mut random = ChaCha20Rng::seed_from_u64(3);
    for trial in 0..60 {
        let channel = match trial % 3 {
            0 => uniform(0.3, 5),
            1 => fine_grain(&[0.2, 0.5, 0.3, 0.4]),
            _ => drawn(6, &mut random),
        };
        let published: Vec<f64> = (0..channel.size())
            .map(|_| f64::from(random.random::<u32>() % 40))
            .collect();
        let total: f64 = published.iter().sum();
        for way in WAYS {
            let found = counts(&channel, &published, way);
            assert!((found.iter().sum::<f64>() - total).abs() < 1e-6 * total.max(1.0));
            assert!(way == Way::Inverse || found.iter().all(|count| *count >= 0.0));
        }
    }
}

/// Calls `see` with every way to give `total` to `size` values in steps of one.
fn for_all(total: u32, size: usize, start: &mut Vec<f64>, see: &mut dyn FnMut(&[f64])) {
    if size == 1 {
        start.push(f64::from(total));
        see(start);
        start.pop();
        return;
    }
    for n in 0..=total {
        start.push(f64::from(n));
        for_all(total - n, size - 1, start, see);
        start.pop();
    }
}

#[test]
fn nothing_possible_is_more_likely_or_nearer() {
    let mut random = ChaCha20Rng::seed_from_u64(4);
    for trial in 0..40 {
        let size = 2 + trial % 2;
        let channel = match trial % 4 {
            0 => uniform(0.2, size),
            1 => drawn(size, &mut random),
            2 => fine_grain(&[0.1, 0.6, 0.3][..size]),
            // A matrix that cannot be inverted.
            _ => uniform(0.0, size),
        };
        let published: Vec<f64> =
            (0..size).map(|_| f64::from(1 + random.random::<u32>() % 30)).collect();
        let total = published.iter().sum::<f64>() as u32;
        let likelihood = |counts: &[f64]| -> f64 {
            let expected = channel.apply(counts);
            let terms = published.iter().zip(&expected);
            terms.map(|(o, q)| if *o > 0.0 { o * q.ln() } else { 0.0 }).sum()
        };
        let found = counts(&channel, &published, Way::Iterative);
        let best = likelihood(&found) + 2.0 * LIKELIHOOD_GAP;
        let check = |other: &[f64]| assert!(likelihood(other) <= best, "{other:?}");
        for_all(total, size, &mut Vec::new(), &mut { check });
        if channel.inverse().is_none() {
            continue;
        }
        let inverse = counts(&channel, &published, Way::Inverse);
        // The unbiased variance: the squares of the weights of the rows, less the count.
        let variances: Vec<f64> = (0..size)
            .map(|i| {
                let weight = |j: usize| {
                    let mut unit = vec![0.0; size];
                    unit[j] = 1.0;
                    channel.inverse().unwrap().solve(&unit)[i]
                };
                (0..size).map(|j| published[j] * weight(j) * (weight(j) - 1.0)).sum()
            })
            .collect();
        assert!(variances.iter().all(|variance| *variance > 0.0), "{variances:?}");
        let distance = |counts: &[f64]| -> f64 {
            let pairs = counts.iter().zip(&inverse).zip(&variances);
            pairs.map(|((a, b), v)| (a - b).powi(2) / v).sum()
        };
        let nearest = distance(&counts(&channel, &published, Way::Simplex)) + 1e-9;
        let check = |other: &[f64]| assert!(distance(other) >= nearest - 2e-9);
        for_all(total, size, &mut Vec::new(), &mut { check });
    }
}

#[test]
fn what_is_too_much_is_taken_from_the_least_certain() {
    let counts = [1700.0, 900.0, -600.0];
    // The variances 100, 400 and 2500: 600 are taken as 1 to 4.
    let found = nearest_possible(&counts, &[100.0, 400.0, 2500.0], 2000.0);
    assert_near(&found, &[1580.0, 420.0, 0.0], 1e-9);
    // All equal, or all zero: the same of each.
    for variance in [0.0, 7.0] {
        let found = nearest_possible(&counts, &[variance; 3], 2000.0);
        assert_near(&found, &[1400.0, 600.0, 0.0], 1e-9);
    }
    // What is certain stays, unless nothing else is left.
    let found = nearest_possible(&counts, &[0.0, 3.0, 5.0], 2000.0);
    assert_near(&found, &[1700.0, 300.0, 0.0], 1e-9);
    let found = nearest_possible(&[1700.0, 900.0, -600.0], &[0.0, 0.0, 5.0], 2000.0);
    assert_near(&found, &[1400.0, 600.0, 0.0], 1e-9);
}

#[test]
fn a_matrix_that_cannot_be_inverted_leaves_the_iterative_way() {
    let channel = uniform(0.0, 3);
    let joint = Joint::new(vec![&channel]).unwrap();
    assert_eq!(reconstruct(&joint, &[1.0, 2.0, 3.0], Way::Inverse).unwrap_err(), 0);
    assert_eq!(reconstruct(&joint, &[1.0, 2.0, 3.0], Way::Simplex).unwrap_err(), 0);
    let done = reconstruct(&joint, &[1.0, 2.0, 3.0], Way::Iterative).unwrap();
    assert_eq!(done.counts, [2.0, 2.0, 2.0]);
    assert!(done.spread.is_none());
}

#[test]
fn the_covariance_is_that_of_the_formula() {
    let mut random = ChaCha20Rng::seed_from_u64(5);
    let channels = [fine_grain(&[0.3, 0.7, 0.5, 0.0]), drawn(4, &mut random)];
    for channel in channels {
        let published = [40.0, 30.0, 20.0, 25.0];
        let joint = Joint::new(vec![&channel]).unwrap();
        let f = counts(&channel, &published, Way::Inverse);
        let spread = ErrorTerms::new(&joint, &published).unwrap();
        let inverse = |i: usize, j: usize| {
            let mut unit = vec![0.0; 4];
            unit[j] = 1.0;
            channel.inverse().unwrap().solve(&unit)[i]
        };
        // Cov(O) = sum_k f_k (diag(P_k) - P_k P_k^T), and P^-1 on both sides.
        let observed = |a: usize, b: usize| -> f64 {
            (0..4)
                .map(|k| {
                    let own = if a == b { channel.entry(a, k) } else { 0.0 };
                    f[k] * (own - channel.entry(a, k) * channel.entry(b, k))
                })
                .sum()
        };
        let wanted = |i: usize, j: usize| -> f64 {
            let pairs = (0..16).map(|pair| (pair / 4, pair % 4));
            pairs.map(|(a, b)| inverse(i, a) * observed(a, b) * inverse(j, b)).sum()
        };
        for pair in 0..16 {
            let (i, j) = (pair / 4, pair % 4);
            let (found, wanted) = (spread.covariance(i, j), wanted(i, j));
            assert!((found - wanted).abs() < 1e-8 * wanted.abs().max(100.0));
        }
        let set = [true, false, true, true];
        let places = [0, 2, 3];
        let pairs = places.iter().flat_map(|i| places.iter().map(move |j| (*i, *j)));
        let wanted_sum: f64 = pairs.map(|(i, j)| wanted(i, j)).sum();
        assert!((spread.of_set(&set).variance() - wanted_sum).abs() < 1e-6);
        for (i, error) in spread.standard_errors().iter().enumerate() {
            assert!((error * error - wanted(i, i)).abs() < 1e-6);
        }
    }
}

/// How many standard deviations a normal number exceeds with the probability
/// `FALSE_ALARM / tests`, on either side: from the bound `exp(-z²/2)` of the tail.
fn reach(tests: usize) -> f64 {
    (2.0 * (2.0 * tests as f64 / FALSE_ALARM).ln()).sqrt()
}

#[test]
fn estimates_are_unbiased_and_spread_as_they_say() {
    let mut random = ChaCha20Rng::seed_from_u64(6);
    let truth = [150, 90, 60, 0];
    let n_runs = 3000;
    for channel in
        [uniform(0.4, 4), fine_grain(&[0.5, 0.3, 0.7, 0.2]), drawn(4, &mut random)]
    {
        let joint = Joint::new(vec![&channel]).unwrap();
        let f: Vec<f64> = truth.iter().map(|n| f64::from(*n)).collect();
        // The spread at the truth itself: nothing is left of chance.
        let exact = ErrorTerms::new(&joint, &channel.apply(&f)).unwrap();
        let runs: Vec<Vec<f64>> = (0..n_runs)
            .map(|_| {
                let published = publish(&channel, &truth, &mut random);
                counts(&channel, &published, Way::Inverse)
            })
            .collect();
        let mean =
            |i: usize| runs.iter().map(|run| run[i]).sum::<f64>() / n_runs as f64;
        let means: Vec<f64> = (0..4).map(mean).collect();
        for i in 0..4 {
            let error = (exact.covariance(i, i) / n_runs as f64).sqrt();
            assert!(
                (means[i] - f[i]).abs() < reach(12) * error,
                "{} {}",
                means[i],
                f[i]
            );
            // The broken twin: what is published, taken as it is.
            let raw = channel.apply(&f)[i];
            assert!((raw - f[i]).abs() > reach(12) * error || (raw - f[i]).abs() < 3.0);
            for j in 0..4 {
                let products = runs.iter().map(|run| (run[i] - f[i]) * (run[j] - f[j]));
                let found = products.sum::<f64>() / n_runs as f64;
                let (a, b) = (exact.covariance(i, i), exact.covariance(j, j));
                let wanted = exact.covariance(i, j);
                // The variance of a product of two normal numbers.
                let error = ((a * b + wanted * wanted) / n_runs as f64).sqrt();
                assert!((found - wanted).abs() < reach(48) * error, "{found} {wanted}");
                if i == j {
                    let twin = wanted / 2.0;
                    assert!((found - twin).abs() > reach(48) * error, "twin");
                }
            }
        }
    }
}

#[test]
fn the_closed_form_of_uniform_matrices() {
    // f_i = ((m - 1 + gamma) o_i - n) / (gamma - 1), with p = (gamma - 1)/(m - 1 + gamma).
    let (m, gamma) = (5.0, 3.0);
    let channel = uniform((gamma - 1.0) / (m - 1.0 + gamma), 5);
    let o = [30.0, 12.0, 9.0, 40.0, 9.0];
    let wanted: Vec<f64> =
        o.iter().map(|o| ((m - 1.0 + gamma) * o - 100.0) / (gamma - 1.0)).collect();
    assert_near(&counts(&channel, &o, Way::Inverse), &wanted, 1e-9);
    assert_near(&counts(&general(&channel), &o, Way::Inverse), &wanted, 1e-9);
}
