//! Worlds against all permutations, the bound against what it says.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::*;

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

/// A group in which some rows are alike and some beliefs are nought.
fn random_group(rng: &mut ChaCha20Rng, n: usize) -> Vec<f64> {
    let n_kinds = rng.random_range(1..=n);
    let noughts = rng.random_range(0..4) == 0;
    let kinds: Vec<Vec<f64>> = (0..n_kinds)
        .map(|_| {
            let belief = |rng: &mut ChaCha20Rng| match rng.random_range(0..6) {
                0 if noughts => 0.0,
                1 => rng.random::<f64>() * 1e-6,
                _ => rng.random::<f64>(),
            };
            (0..n).map(|_| belief(rng)).collect()
        })
        .collect();
    (0..n).flat_map(|_| kinds[rng.random_range(0..n_kinds)].clone()).collect()
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
