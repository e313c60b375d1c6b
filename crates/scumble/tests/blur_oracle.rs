//! Blur against plain sums over all pairs, and against its own noise.
#![expect(clippy::unwrap_used, reason = "a test may stop at any error")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::method::{
    Frame, Needs, anonymity, largest_set, least_factors, most_company, need,
};
use scumble::promise::Law;
use scumble::space::Shape;

const SHAPES: [Shape; 2] = [Shape::Gaussian, Shape::Uniform];

/// Numbers with few different values on some axes, so that rows are equal now and then.
fn frame(shape: Shape, dims: usize, n_rows: usize, seed: u64) -> Frame {
    let mut random = ChaCha20Rng::seed_from_u64(seed);
    let mut coordinates: Vec<f64> = Vec::with_capacity(dims * n_rows);
    for row in 0..n_rows {
        if row > 0 && random.random_range(0..5) == 0 {
            let other = random.random_range(0..row) * dims;
            coordinates.extend_from_within(other..other + dims);
            continue;
        }
        let far = if random.random_range(0..20) == 0 { 5.0 } else { 1.0 };
        for _ in 0..dims {
            let sum: f64 = (0..4).map(|_| random.random::<f64>() - 0.5).sum();
            coordinates.push((sum * far * 1000.0).round() / 100.0);
        }
    }
    Frame {
        rows: (0..n_rows as u32).collect(),
        dims,
        coordinates,
        scales: (1..=dims).map(|axis| 2.0 + axis as f64).collect(),
        steps: vec![0.01; dims],
        cuts: vec![0.0; dims],
        shape,
    }
}

fn differences(frame: &Frame, a: usize, b: usize) -> Vec<f64> {
    let point = |row: usize| &frame.coordinates[row * frame.dims..][..frame.dims];
    point(a).iter().zip(point(b)).map(|(a, b)| a - b).collect()
}

/// The paper's sum, term by term, with its own normal tail.
fn plain(frame: &Frame, spreads: &[f64], row: usize) -> f64 {
    let count = |other: usize| {
        let w = differences(frame, row, other);
        if w.iter().all(|w| *w == 0.0) {
            return 1.0;
        }
        match frame.shape {
            Shape::Gaussian => {
                let square: f64 =
                    w.iter().zip(spreads).map(|(w, s)| (w / s).powi(2)).sum();
                0.5 * statrs::function::erf::erfc(square.sqrt() / 8f64.sqrt())
            }
            Shape::Uniform => {
                w.iter().zip(spreads).map(|(w, s)| (s - w.abs()).max(0.0) / s).product()
            }
        }
    };
    (0..frame.rows.len()).map(count).sum()
}

#[test]
fn anonymity_is_the_plain_sum() {
    for seed in 0..12 {
        for shape in SHAPES {
            let frame = frame(shape, 1 + seed as usize % 5, 300, seed);
            let spreads: Vec<f64> = frame
                .scales
                .iter()
                .map(|scale| scale * 0.3 * (1.0 + seed as f64))
                .collect();
            let law =
                Law { shape, spreads: spreads.clone(), cuts: vec![0.0; frame.dims] };
            for row in 0..300 {
                let sum = plain(&frame, &spreads, row);
                assert!((anonymity(&frame, &law, row) - sum).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn factors_are_the_least_to_one_percent() {
    for seed in 0..16 {
        for shape in SHAPES {
            let n_rows = 500;
            let frame = frame(shape, 1 + seed as usize % 5, n_rows, seed);
            let mut random = ChaCha20Rng::seed_from_u64(seed);
            let wanted: Vec<f64> =
                (0..n_rows).map(|_| 1.5 + 60.0 * random.random::<f64>()).collect();
            let rows: Vec<u32> = (0..n_rows as u32).step_by(3).collect();
            let factors = least_factors(&frame, &wanted, &rows);
            for (row, factor) in rows.iter().zip(factors) {
                let row = *row as usize;
                let at = |factor: f64| {
                    let spreads: Vec<f64> =
                        frame.scales.iter().map(|scale| scale * factor).collect();
                    plain(&frame, &spreads, row)
                };
                if factor > 0.0 {
                    assert!(at(factor) >= wanted[row], "{shape:?} {seed} {row}");
                    assert!(at(factor / 1.01) < wanted[row], "{shape:?} {seed} {row}");
                } else {
                    assert!(at(1e-9) >= wanted[row]);
                }
            }
        }
    }
}

#[test]
fn what_no_noise_reaches_is_infinite() {
    for shape in SHAPES {
        let mut frame = frame(shape, 2, 40, 3);
        frame.coordinates[..8].fill(1.0);
        for row in 4..40 {
            frame.coordinates[2 * row] += 100.0 + row as f64;
        }
        // Four equal rows and thirty-six others.
        let most = most_company(shape, 40, 4);
        assert_eq!(most, if shape == Shape::Gaussian { 22.0 } else { 40.0 });
        let factor = |wanted: f64| least_factors(&frame, &[wanted; 40], &[0])[0];
        assert!(factor(most - 0.5).is_finite());
        assert!(factor(most + 0.01).is_infinite());
        assert_eq!(factor(4.0), 0.0);
    }
}

/// The rule as it is written: drop whoever falls short, one at a time, until nobody does.
fn plain_set(frame: &Frame, law: &Law, rows: &[u32], needs: &[f64]) -> Vec<u32> {
    let mut left = rows.to_vec();
    loop {
        let short = left.iter().position(|row| {
            let count = |other: &u32| {
                law.count(&differences(frame, *row as usize, *other as usize))
            };
            left.iter().map(count).sum::<f64>() < needs[*row as usize]
        });
        match short {
            Some(place) => left.remove(place),
            None => return left,
        };
    }
}

#[test]
fn the_largest_set_is_found() {
    let mut sizes = Vec::new();
    for seed in 0..60 {
        for shape in SHAPES {
            let n_rows = 150;
            let mut frame = frame(shape, 1 + seed as usize % 4, n_rows, seed);
            let mut random = ChaCha20Rng::seed_from_u64(seed);
            if seed % 3 == 0 && shape == Shape::Uniform {
                // Turned axes: rounding is a loss.
                frame.steps.fill(0.0);
                frame.cuts.fill(0.02);
            }
            if seed % 5 == 0 {
                frame.scales[0] = 1e-4;
            }
            let needs: Vec<f64> = (0..n_rows)
                .map(|_| need(2.0 + f64::from(random.random_range(0..6u8))))
                .collect();
            let rows: Vec<u32> =
                (0..n_rows as u32).filter(|_| random.random_range(0..8) > 0).collect();
            for factor in [0.0, 0.1, 0.3, 0.6, 1.0] {
                let law = frame.law(factor);
                let asked = Needs { company: &needs, condition: None };
                let kept = largest_set(&frame, &law, &rows, asked, n_rows).unwrap();
                assert_eq!(
                    kept,
                    plain_set(&frame, &law, &rows, &needs),
                    "{shape:?} {seed}"
                );
                let spare = rows.len() - kept.len();
                assert!(largest_set(&frame, &law, &rows, asked, spare).is_some());
                if spare > 0 {
                    assert!(
                        largest_set(&frame, &law, &rows, asked, spare - 1).is_none()
                    );
                }
                sizes.push(kept.len());
            }
        }
    }
    assert!(sizes.iter().filter(|size| **size > 10 && **size < 100).count() > 100);
}
