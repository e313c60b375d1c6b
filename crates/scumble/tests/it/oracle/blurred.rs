//! Blur against plain sums over all pairs, and against its own noise.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rand_distr::{Distribution, StandardNormal};
use scumble::method::{
    BlurTask, Blurred, ClassRules, Frame, RowNeeds, anonymity, blur, largest_set,
    least_factors, most_company, need,
};
use scumble::promise::Law;
use scumble::space::{FrameKind, Shape};
use scumble::table::Numbers;
use scumble::watch::Unwatched;

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
        people: Vec::new(),
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
                let found = anonymity(&frame, &law, row);
                // The oracle itself is good to 1e-11 a term.
                assert!((found - sum).abs() < 5e-9, "{shape:?} {seed}: {found} {sum}");
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
            let apart =
                |other: &u32| differences(frame, *row as usize, *other as usize);
            let equal = |other: &&u32| apart(other).iter().all(|w| *w == 0.0);
            let equal = left.iter().filter(equal).count();
            let sum: f64 = left.iter().map(|other| law.count(&apart(other))).sum();
            // Equal rows need no margin.
            sum < needs[*row as usize] && need(equal as f64) < needs[*row as usize]
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
                let asked =
                    RowNeeds { company: &needs, best_guess: None, watch: &Unwatched };
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
    // Most of these sets are neither empty nor everybody.
    let between = sizes.iter().filter(|size| **size > 4 && **size < 120).count();
    assert!(between > 100, "{between} of {}", sizes.len());
}

fn numbers(frame: &Frame, seed: u64) -> Numbers {
    let mut random = ChaCha20Rng::seed_from_u64(seed);
    let n_rows = frame.rows.len();
    let mut values = frame.coordinates.clone();
    for value in &mut values {
        if random.random_range(0..40) == 0 {
            *value = f64::NAN;
        }
    }
    Numbers {
        n_rows,
        decimals: vec![2; frame.dims],
        values,
        kinds: (0..n_rows).map(|_| random.random_range(0..2)).collect(),
        kind_cells: vec![vec!["f".into()], vec!["m".into()]],
        wishes: Vec::new(),
        persons: Vec::new(),
    }
}

fn task<'a>(numbers: &'a Numbers, wishes: &'a [f64], shape: Shape) -> BlurTask<'a> {
    BlurTask {
        numbers,
        decimals: &numbers.decimals,
        shape,
        frame: FrameKind::Global,
        wishes,
        strict: true,
        best_guess: None,
        levels: 4,
        parts: None,
        limit: 0,
        classes: ClassRules::default(),
    }
}

/// How much company each row has among rows of its frame and level, by plain counting.
fn company(task: &BlurTask<'_>, blurred: &Blurred) -> Vec<Option<f64>> {
    let place = |row: usize| blurred.places[row];
    (0..task.numbers.n_rows)
        .map(|row| {
            let (frame, level) = place(row)?;
            let note = &blurred.frames[frame as usize];
            let law = Law {
                shape: task.shape,
                spreads: note.levels[level as usize].clone(),
                cuts: vec![0.0; note.columns.len()],
            };
            let point = |row: usize| task.numbers.row(row);
            let missing = |row: usize| point(row).iter().map(|value| value.is_nan());
            let same =
                (0..task.numbers.n_rows).filter(|other| place(*other) == place(row));
            let counts = same.map(|other| {
                assert_eq!(task.numbers.kinds[other], task.numbers.kinds[row]);
                assert!(missing(other).eq(missing(row)));
                let columns = note.columns.iter();
                let w: Vec<f64> = columns
                    .map(|column| point(other)[*column] - point(row)[*column])
                    .collect();
                law.count(&w)
            });
            Some(counts.sum())
        })
        .collect()
}

#[test]
fn everybody_has_company_at_his_level() {
    let mut left_out = 0;
    for seed in 0..10 {
        for shape in SHAPES {
            let frame = frame(shape, 1 + seed as usize % 4, 400, seed);
            let numbers = numbers(&frame, seed);
            let mut random = ChaCha20Rng::seed_from_u64(seed);
            let wishes: Vec<f64> = (0..400)
                .map(|_| 2.0 + f64::from(random.random_range(0..4u8)))
                .collect();
            let task = BlurTask { limit: 150, ..task(&numbers, &wishes, shape) };
            let blurred = blur(&task).unwrap();
            let company = company(&task, &blurred);
            for (wish, found) in wishes.iter().zip(&company) {
                assert!(found.is_none_or(|found| found >= *wish));
            }
            let missing = company.iter().filter(|found| found.is_none()).count();
            assert!(missing <= 150);
            left_out += missing;
            for note in &blurred.frames {
                assert!(!note.levels.is_empty() && note.levels.len() <= 4);
                for pair in note.levels.windows(2) {
                    assert!(pair[0].iter().zip(&pair[1]).all(|(a, b)| a <= b));
                    assert_ne!(pair[0], pair[1]);
                }
            }
            let again = blur(&task).unwrap();
            assert_eq!(again.places, blurred.places);
        }
    }
    assert!(left_out > 0);
}

#[test]
fn equal_rows_need_no_noise() {
    for shape in SHAPES {
        let numbers = Numbers {
            n_rows: 24,
            decimals: vec![0, 0],
            values: (0..24).flat_map(|row| [f64::from(row % 4), 7.0]).collect(),
            kinds: vec![0; 24],
            kind_cells: vec![Vec::new()],
            wishes: Vec::new(),
            persons: Vec::new(),
        };
        let wishes = vec![5.0; 24];
        let task = task(&numbers, &wishes, shape);
        let blurred = blur(&task).unwrap();
        assert_eq!(blurred.frames[0].levels, [[0.0, 0.0]]);
        assert!(blurred.places.iter().all(|place| *place == Some((0, 0))));
        let plain = blur(&BlurTask { strict: false, ..task }).unwrap();
        assert!(plain.spreads.iter().all(|spread| *spread == 0.0));
    }
}

#[test]
fn rows_without_numbers_hide_among_each_other() {
    let numbers = Numbers {
        n_rows: 6,
        decimals: vec![0],
        values: vec![f64::NAN; 6],
        kinds: vec![0; 6],
        kind_cells: vec![Vec::new()],
        wishes: Vec::new(),
        persons: Vec::new(),
    };
    let (few, many) = ([4.0; 6], [7.0; 6]);
    let blurred = blur(&task(&numbers, &few, Shape::Gaussian)).unwrap();
    assert_eq!(blurred.frames[0].levels, [Vec::<f64>::new()]);
    assert!(blurred.places.iter().all(|place| *place == Some((0, 0))));
    assert!(blur(&task(&numbers, &many, Shape::Gaussian)).is_err());
}

#[test]
fn what_cannot_be_met_says_what_can() {
    let numbers = Numbers {
        n_rows: 15,
        decimals: vec![0],
        values: (0..15).map(f64::from).collect(),
        kinds: vec![0; 15],
        kind_cells: vec![Vec::new()],
        wishes: Vec::new(),
        persons: Vec::new(),
    };
    let refused = |k: f64, shape: Shape| {
        let wishes = vec![k; 15];
        let error = blur(&task(&numbers, &wishes, shape)).unwrap_err();
        assert_eq!(error.exit_code(), 1);
        error.to_string()
    };
    // One of its own and half of fourteen.
    assert_eq!(
        refused(8.5, Shape::Gaussian),
        "expected-anonymity cannot be met: the table has 15 rows, and gaussian noise hides \
         nobody among more than 8 of them, fewer than k = 8.5"
    );
    assert_eq!(
        refused(16.0, Shape::Uniform),
        "expected-anonymity cannot be met: the table has 15 rows, fewer than k = 16"
    );
    let wishes = vec![7.5; 15];
    assert!(blur(&task(&numbers, &wishes, Shape::Gaussian)).is_ok());
}

/// Lemmas 2.1 and 2.2, and rounding: over the noise, on average at least as many rows fit as
/// well as the true one as the law counts.
#[test]
fn the_noise_hides_as_many_as_the_law_counts() {
    const DRAWS: usize = 4000;
    for (shape, seed) in [(Shape::Gaussian, 1), (Shape::Uniform, 2)] {
        let mut frame = frame(shape, 2, 120, seed);
        // Coarse steps, so that rounding matters.
        for value in &mut frame.coordinates {
            *value = value.round();
        }
        frame.steps.fill(1.0);
        let law = frame.law(0.4);
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let (mut ranks, mut squares, mut counted) = (0.0, 0.0, 0.0);
        for row in (0..120).step_by(6) {
            counted += DRAWS as f64
                * (0..120)
                    .map(|j| law.count(&differences(&frame, row, j)))
                    .sum::<f64>();
            for _ in 0..DRAWS {
                let noise: Vec<f64> = law
                    .spreads
                    .iter()
                    .map(|spread| match shape {
                        Shape::Gaussian => {
                            let z: f64 = StandardNormal.sample(&mut random);
                            (z * spread).round()
                        }
                        Shape::Uniform => {
                            let half = ((spread - 1.0) / 2.0).round() as i32;
                            f64::from(random.random_range(-half..=half))
                        }
                    })
                    .collect();
                let fit = |j: usize| -> f64 {
                    let w = differences(&frame, row, j);
                    let off = noise.iter().zip(w).zip(&law.spreads);
                    match shape {
                        Shape::Gaussian => {
                            -off.map(|((z, w), s)| ((z + w) / s).powi(2)).sum::<f64>()
                        }
                        Shape::Uniform => {
                            let mut inside =
                                off.map(|((z, w), s)| (z + w).abs() <= s / 2.0);
                            f64::from(u8::from(inside.all(|inside| inside)))
                        }
                    }
                };
                let own = fit(row);
                let rank = (0..120).filter(|j| fit(*j) >= own - 1e-12).count() as f64;
                ranks += rank;
                squares += rank * rank;
            }
        }
        let n_draws = (20 * DRAWS) as f64;
        let (mean, claimed) = (ranks / n_draws, counted / n_draws);
        // The variance over all draws bounds that of the mean from above; 4.9 deviations
        // are exceeded once in a million.
        let error = 4.9 * ((squares / n_draws - mean * mean) / n_draws).sqrt();
        assert!(mean >= claimed - error, "{shape:?}: {mean} {claimed} {error}");
        // The broken twin: somebody who counts everybody twice as close is caught.
        let twin: f64 = (0..120)
            .step_by(6)
            .map(|row| {
                let near = |j: usize| {
                    let w = differences(&frame, row, j);
                    law.count(&w.iter().map(|w| w / 2.0).collect::<Vec<f64>>())
                };
                (0..120).map(near).sum::<f64>()
            })
            .sum::<f64>()
            / 20.0;
        assert!(mean < twin - error, "{shape:?}: {mean} {twin} {error}");
    }
}
