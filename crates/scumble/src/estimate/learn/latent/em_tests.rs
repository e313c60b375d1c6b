//! The mixture against brute force.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use crate::estimate::learn::latent::em::{Mixture, normalized};
use crate::estimate::learn::latent::likelihood::{
    Likelihoods, Observed, ObservedColumn, OccupiedEnds,
};
use crate::estimate::learn::latent::smoothing::Smoothing;
use crate::watch::Unwatched;

const NONE: Smoothing = Smoothing { pull: 0.0, floor: 0.0 };

/// Rows of some columns with three values, whose cells are known values, sets, everything,
/// and draws by a matrix.
fn observed(n_columns: usize, n_rows: usize, random: &mut ChaCha20Rng) -> Observed {
    let mut columns = Vec::new();
    for _ in 0..n_columns {
        let mut cells = Likelihoods::default();
        (0..3).for_each(|value| cells.push(value, [1.0].into_iter()));
        cells.push(0, [1.0, 1.0].into_iter());
        cells.push_sparse(&[(0, 1.0), (2, 1.0)]);
        cells.push(0, [1.0; 3].into_iter());
        cells.push(0, [0.6, 0.3, 0.1].into_iter());
        let cell_of = (0..n_rows).map(|_| random.random_range(0..7u32)).collect();
        let even = vec![1.0 / 3.0; 3];
        columns.push(ObservedColumn { even, cells, cell_of, ..Default::default() });
    }
    let rows = (0..n_rows).map(|_| f64::from(random.random_range(1..4u8))).collect();
    let unit_of = (0..n_rows as u32).collect();
    Observed { columns, rows, unit_of, n_units: n_rows }
}

/// A mixture of any weights.
fn mixture(observed: &Observed, n: usize, random: &mut ChaCha20Rng) -> Mixture {
    let mut mixture = Mixture::even(observed);
    mixture.weights = (0..n).map(|_| random.random::<f64>() + 0.1).collect();
    normalized(&mut mixture.weights);
    for values in &mut mixture.values {
        let n_values = values.len();
        let mut by_class: Vec<Vec<f64>> = (0..n)
            .map(|_| (0..n_values).map(|_| random.random::<f64>() + 0.05).collect())
            .collect();
        by_class.iter_mut().for_each(|own| {
            normalized(own);
        });
        let value = |value: usize| by_class.iter().map(move |own| own[value]);
        *values = (0..n_values).flat_map(value).collect();
    }
    mixture
}

/// How likely a row is with a class and a value of each column, for all of them.
fn worlds(
    observed: &Observed,
    mixture: &Mixture,
    row: usize,
) -> Vec<(usize, Vec<usize>, f64)> {
    let n = mixture.weights.len();
    let mut worlds: Vec<(usize, Vec<usize>, f64)> =
        (0..n).map(|class| (class, Vec::new(), mixture.weights[class])).collect();
    for (column, values) in observed.columns.iter().zip(&mixture.values) {
        let (first, window) = column.cells.window(column.cell_of[row] as usize);
        worlds = worlds
            .into_iter()
            .flat_map(|(class, chosen, likely)| {
                let next = window.iter().enumerate().map(move |(place, weight)| {
                    let value = first + place;
                    let own = values[value * n + class] * f64::from(*weight);
                    let mut chosen = chosen.clone();
                    chosen.push(value);
                    (class, chosen, likely * own)
                });
                next.collect::<Vec<_>>()
            })
            .collect();
    }
    worlds
}

fn likelihood(observed: &Observed, mixture: &Mixture) -> f64 {
    let of_row = |row: usize| -> f64 {
        worlds(observed, mixture, row).iter().map(|(_, _, likely)| likely).sum()
    };
    let rows = observed.rows.iter().enumerate();
    rows.map(|(row, times)| times * of_row(row).ln()).sum()
}

#[test]
fn a_step_has_the_mean_counts_of_all_worlds() {
    let random = &mut ChaCha20Rng::seed_from_u64(1);
    for n in 1..4 {
        let observed = observed(2, 30, random);
        let before = mixture(&observed, n, random);
        let (after, found) =
            before.step(&observed, &observed.rows, NONE, &Unwatched).unwrap();
        let truth = likelihood(&observed, &before);
        assert!((found - truth).abs() < 1e-9 * truth.abs(), "{found} is not {truth}");
        let alone = before.likelihood(&observed, &observed.rows, &Unwatched).unwrap();
        assert!((alone - truth).abs() < 1e-9 * truth.abs());

        let mut weights = vec![0.0; n];
        let mut counts = vec![vec![0.0; 3 * n]; 2];
        for (row, times) in observed.rows.iter().enumerate() {
            let worlds = worlds(&observed, &before, row);
            let all: f64 = worlds.iter().map(|(_, _, likely)| likely).sum();
            for (class, values, likely) in worlds {
                weights[class] += times * likely / all;
                for (counts, value) in counts.iter_mut().zip(values) {
                    counts[value * n + class] += times * likely / all;
                }
            }
        }
        for class in 0..n {
            let total: f64 = weights.iter().sum();
            assert!((after.weights[class] - weights[class] / total).abs() < 1e-6);
            for (found, counts) in after.values.iter().zip(&counts) {
                for value in 0..3 {
                    let share = counts[value * n + class] / weights[class];
                    assert!((found[value * n + class] - share).abs() < 1e-6);
                }
            }
        }
    }
}

#[test]
fn no_step_makes_rows_less_likely_and_the_last_changes_nothing() {
    let random = &mut ChaCha20Rng::seed_from_u64(2);
    for n in 1..4 {
        let observed = observed(3, 40, random);
        let mut own = mixture(&observed, n, random);
        let mut before = f64::NEG_INFINITY;
        for _ in 0..3_000 {
            let (next, likelihood) =
                own.step(&observed, &observed.rows, NONE, &Unwatched).unwrap();
            // Responsibilities have the precision of f32.
            assert!(likelihood >= before - 1e-5, "{likelihood} after {before}");
            (own, before) = (next, likelihood);
        }
        // No mixture near it is likelier.
        let most = likelihood(&observed, &own);
        for _ in 0..200 {
            let mut other = own.clone();
            let column = random.random_range(0..3usize);
            let class = random.random_range(0..n);
            let own_values = &mut other.values[column];
            let sum: f64 = (0..3)
                .map(|value| {
                    let place = &mut own_values[value * n + class];
                    *place *= 1.0 + 0.01 * (random.random::<f64>() - 0.5);
                    *place
                })
                .sum();
            (0..3).for_each(|value| own_values[value * n + class] /= sum);
            let found = likelihood(&observed, &other);
            assert!(found <= most + 1e-4, "{found} beside {most}");
        }
    }
}

#[test]
fn what_no_cell_tells_apart_stays_even() {
    let random = &mut ChaCha20Rng::seed_from_u64(3);
    let mut observed = observed(2, 60, random);
    // Values 1 and 2 of the first column are never told apart.
    let mut cells = Likelihoods::default();
    cells.push(0, [1.0].into_iter());
    cells.push(1, [1.0, 1.0].into_iter());
    cells.push(0, [1.0; 3].into_iter());
    observed.columns[0].cells = cells;
    observed.columns[0].cell_of.iter_mut().for_each(|cell| *cell %= 3);
    let smoothing = Smoothing::default();
    let even = Mixture::even(&observed);
    let (whole, _) =
        even.step(&observed, &observed.rows, smoothing, &Unwatched).unwrap();
    let mut own = Mixture::start(&observed, &whole, 4, &observed.rows, random);
    for _ in 0..20 {
        own = own.step(&observed, &observed.rows, smoothing, &Unwatched).unwrap().0;
    }
    let mut differs = false;
    for class in 0..4 {
        let share = |value: usize| own.values[0][value * 4 + class];
        assert!((share(1) - share(2)).abs() < 1e-12);
        differs |= (share(0) - share(1)).abs() > 0.01;
    }
    assert!(differs);
}

#[test]
fn published_shares_are_kept() {
    let random = &mut ChaCha20Rng::seed_from_u64(4);
    let mut observed = observed(2, 60, random);
    observed.columns[1].margin = Some(vec![0.5, 0.1, 0.4]);
    let mut own = mixture(&observed, 3, random);
    for _ in 0..30 {
        own = own
            .step(&observed, &observed.rows, Smoothing::default(), &Unwatched)
            .unwrap()
            .0;
    }
    for (value, share) in [0.5, 0.1, 0.4].into_iter().enumerate() {
        let classes = own.values[1][value * 3..][..3].iter().zip(&own.weights);
        let found: f64 = classes.map(|(f, w)| f * w).sum();
        assert!((found - share).abs() < 0.01, "{found} is not {share}");
    }
}

#[test]
fn occupied_ends_move_rows_outwards() {
    // Groups of two in a range of four values: one is at each end.
    let mut cells = Likelihoods::default();
    cells.push(0, [1.0; 4].into_iter());
    let ends = vec![Some(OccupiedEnds { rows: 2.0, first: 1, last: 1 })];
    let (even, cell_of) = (vec![0.25; 4], vec![0; 10]);
    let column = ObservedColumn { even, cells, cell_of, ends, margin: None };
    let unit_of = (0..10).map(|row| row / 2).collect();
    let observed =
        Observed { columns: vec![column], rows: vec![1.0; 10], unit_of, n_units: 5 };
    let mut own = Mixture::even(&observed);
    for _ in 0..50 {
        own = own.step(&observed, &observed.rows, NONE, &Unwatched).unwrap().0;
    }
    let expected = [0.5, 0.0, 0.0, 0.5];
    for (found, share) in own.values[0].iter().zip(expected) {
        assert!((found - share).abs() < 1e-3, "{:?}", own.values[0]);
    }
}
