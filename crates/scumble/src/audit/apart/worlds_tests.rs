//! Beliefs against adding up all worlds.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::*;

/// Every world, one after the other.
fn enumerated(priors: &[f64], counts: &[u64]) -> Option<Vec<f64>> {
    fn go(
        row: usize,
        weight: f64,
        left: &mut [u64],
        chosen: &mut Vec<usize>,
        (priors, masses): (&[f64], &mut [f64]),
    ) -> f64 {
        let n_values = left.len();
        if row * n_values == priors.len() {
            for (row, value) in chosen.iter().enumerate() {
                masses[row * n_values + value] += weight;
            }
            return weight;
        }
        let mut sum = 0.0;
        for value in 0..n_values {
            if left[value] > 0 {
                left[value] -= 1;
                chosen.push(value);
                let weight = weight * priors[row * n_values + value];
                sum += go(row + 1, weight, left, chosen, (priors, masses));
                chosen.pop();
                left[value] += 1;
            }
        }
        sum
    }
    let mut masses = vec![0.0; priors.len()];
    let mut left = counts.to_vec();
    let total = go(0, 1.0, &mut left, &mut Vec::new(), (priors, &mut masses));
    (total > 0.0).then(|| masses.iter().map(|mass| mass / total).collect())
}

/// Of every row.
fn all(found: &RowBeliefs, n_rows: usize) -> Vec<f64> {
    let rows = 0..n_rows;
    let row = |row| (0..found.n_values).map(move |value| found.share(row, value));
    rows.flat_map(row).collect()
}

fn near(found: &[f64], wanted: &[f64]) -> bool {
    found.len() == wanted.len()
        && found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-11)
}

/// A random group: counts of its values, and priors with repeated rows and zeros.
fn group(rng: &mut ChaCha20Rng) -> (Vec<f64>, Vec<u64>) {
    let n_rows = rng.random_range(1..=7usize);
    let mut counts = vec![0u64; rng.random_range(1..=n_rows)];
    for place in 0..n_rows {
        let value = if place < counts.len() {
            place
        } else {
            rng.random_range(0..counts.len())
        };
        counts[value] += 1;
    }
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for _ in 0..n_rows {
        if !rows.is_empty() && rng.random::<f64>() < 0.4 {
            rows.push(rows[rng.random_range(0..rows.len())].clone());
            continue;
        }
        let mut draw = || match rng.random::<f64>() {
            share if share < 0.15 => 0.0,
            share => share.powi(3) / counts.len() as f64,
        };
        rows.push(counts.iter().map(|_| draw()).collect());
    }
    (rows.concat(), counts)
}

#[test]
fn beliefs_are_those_of_all_worlds_added_up() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let mut scratch = Scratch::default();
    let (mut possible, mut repeated) = (0, 0);
    for _ in 0..3000 {
        let (priors, counts) = group(&mut rng);
        let wanted = enumerated(&priors, &counts);
        let found = believe(&priors, &counts, &mut scratch);
        let by_kind = Kinds::of(&priors, counts.len());
        let by_kind = by_kind.fill(&priors, &counts, &mut scratch);
        match (wanted, found) {
            (Some(wanted), Posteriors::Beliefs(found)) => {
                let found = all(&found, priors.len() / counts.len());
                assert!(near(&found, &wanted), "{priors:?} {counts:?}");
                assert!(near(&by_kind.unwrap(), &wanted), "{priors:?} {counts:?}");
                for row in wanted.chunks(counts.len()) {
                    assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                }
                possible += 1;
                repeated += usize::from(counts.iter().any(|n| *n > 1));
            }
            (None, Posteriors::Impossible) => assert!(by_kind.is_none()),
            (wanted, found) => panic!("{wanted:?} {found:?} {priors:?} {counts:?}"),
        }
    }
    assert!(possible > 1500 && repeated > 800, "{possible} {repeated}");
}

/// Against the odds formula where the value is there once, and against the worlds of "x or
/// not x" where it is there more often.
#[test]
fn one_value_alone_is_the_world_of_two_values() {
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let mut scratch = Scratch::default();
    let mut bounded = 0;
    for _ in 0..300 {
        let (mut priors, counts) = group(&mut rng);
        // Somebody may be known to have it.
        if rng.random::<f64>() < 0.1 {
            priors[0] = 1.0;
        }
        let n_values = counts.len();
        let n_rows = priors.len() / n_values;
        let Posteriors::Beliefs(found) = one_by_one(&priors, &counts, &mut scratch)
        else {
            continue;
        };
        let How::Binary { bound } = found.how else { panic!("each value alone") };
        if let Some(all) = enumerated(&priors, &counts) {
            let largest = all.iter().copied().fold(0.0, f64::max);
            assert!(largest <= bound + 1e-12, "{largest} {bound}");
            bounded += usize::from(bound < 1.0);
        }
        for (value, count) in counts.iter().enumerate() {
            let of_value: Vec<f64> =
                priors.iter().skip(value).step_by(n_values).copied().collect();
            let pairs: Vec<f64> = of_value.iter().flat_map(|f| [*f, 1.0 - f]).collect();
            let both = [*count, n_rows as u64 - count];
            let wanted = enumerated(&pairs, &both).unwrap();
            let odds: f64 = of_value.iter().map(|f| f / (1.0 - f)).sum();
            for row in 0..n_rows {
                let share = found.shares[row * n_values + value];
                assert!((share - wanted[2 * row]).abs() < 1e-10);
                if *count == 1 && odds.is_finite() {
                    let f = of_value[row];
                    assert!((share - f / (1.0 - f) / odds).abs() < 1e-10);
                }
            }
        }
    }
    assert!(bounded > 50, "{bounded}");
}

/// `wong2010inference`, Example 1: 97 % instead of one half.
#[test]
fn a_man_and_a_woman() {
    let priors = [0.1, 0.9, 0.003, 0.997];
    let Posteriors::Beliefs(found) = believe(&priors, &[1, 1], &mut Scratch::default())
    else {
        panic!("there are worlds");
    };
    assert!(
        (found.largest() - 0.1 * 0.997 / (0.1 * 0.997 + 0.9 * 0.003)).abs() < 1e-12
    );
    assert_eq!(format!("{:.4}", found.largest()), "0.9736");
}

#[test]
fn rows_that_are_alike_have_the_shares_of_the_group() {
    let priors = [0.2, 0.3].repeat(5);
    let found = believe(&priors, &[2, 3], &mut Scratch::default());
    let shares = RowBeliefs { shares: vec![0.4, 0.6], n_values: 2, how: How::Alike };
    assert_eq!(all(&shares, 5), [0.4, 0.6].repeat(5));
    assert_eq!(found, Posteriors::Beliefs(shares));
    assert_eq!(found, believe(&[0.2, 0.3], &[2, 3], &mut Scratch::default()));
    let impossible = [0.0, 0.3].repeat(5);
    let found = believe(&impossible, &[2, 3], &mut Scratch::default());
    assert_eq!(found, Posteriors::Impossible);
}

/// Hundreds of rows with very unlikely values: masses would vanish if they were not scaled.
#[test]
fn large_groups_do_not_underflow() {
    let n_rows = 400;
    let prior = |row: usize| [1e-9 * (1.0 + (row % 3) as f64), 0.5];
    let priors: Vec<f64> = (0..n_rows).flat_map(prior).collect();
    let Posteriors::Beliefs(found) =
        believe(&priors, &[100, 300], &mut Scratch::default())
    else {
        panic!("there are worlds");
    };
    assert_eq!(found.how, How::Worlds);
    let sum: f64 = found.shares.iter().step_by(2).sum();
    assert!((sum - 100.0).abs() < 1e-6, "a hundred rows have the first value");
}

/// Too many states both ways: one value alone; and groups too large even for that.
#[test]
fn what_is_too_large_is_said() {
    let different = |n: usize, values: usize| -> Vec<f64> {
        let prior = |place: usize| 0.01 + 0.001 * (place % 97) as f64;
        (0..n * values).map(prior).collect()
    };
    let mut scratch = Scratch::default();
    let Posteriors::Beliefs(found) =
        believe(&different(18, 18), &[1; 18], &mut scratch)
    else {
        panic!("there are worlds");
    };
    assert!(matches!(found.how, How::Binary { .. }));
    let Posteriors::Beliefs(found) =
        believe(&different(13, 13), &[1; 13], &mut scratch)
    else {
        panic!("there are worlds");
    };
    assert_eq!(found.how, How::Worlds);
    let found = believe(&different(4000, 2), &[2000, 2000], &mut scratch);
    assert!(matches!(found, Posteriors::TooLarge { .. }), "{found:?}");
}
