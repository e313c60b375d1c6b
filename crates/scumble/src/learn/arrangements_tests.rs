//! Arrangements against going through all of them.

use rand::{RngExt, SeedableRng};

use super::*;

/// Every arrangement of values among rows, with its weight.
fn listed(rows: &[&[f64]], counts: &[f64]) -> Vec<(Vec<usize>, f64)> {
    fn go(
        rows: &[&[f64]],
        left: &mut [f64],
        (given, weight): (&mut Vec<usize>, f64),
        found: &mut Vec<(Vec<usize>, f64)>,
    ) {
        let Some(fits) = rows.get(given.len()) else {
            found.push((given.clone(), weight));
            return;
        };
        for value in 0..fits.len() {
            if left[value] > 0.0 {
                left[value] -= 1.0;
                given.push(value);
                go(rows, left, (given, weight * fits[value]), found);
                given.pop();
                left[value] += 1.0;
            }
        }
    }
    let mut found = Vec::new();
    go(rows, &mut counts.to_vec(), (&mut Vec::new(), 1.0), &mut found);
    found
}

/// A random group: kinds of rows with fits, some of them impossible, and counts of values.
fn group(random: &mut ChaCha20Rng) -> (Vec<Alike>, Vec<f64>) {
    let n_values = random.random_range(1..=4usize);
    let kinds: Vec<f64> = (0..random.random_range(1..=3usize))
        .map(|_| f64::from(random.random_range(1..=2u32)))
        .collect();
    let size: f64 = kinds.iter().sum();
    let mut counts = vec![0.0; n_values];
    for _ in 0..size as usize {
        counts[random.random_range(0..n_values)] += 1.0;
    }
    counts.retain(|n| *n > 0.0);
    let rows = kinds.into_iter().map(|n| {
        let fits = counts.iter().map(|_| match random.random::<f64>() {
            zero if zero < 0.1 => 0.0,
            fit => fit * 5.0,
        });
        (n, fits.collect())
    });
    (rows.collect(), counts)
}

fn each(rows: &[Alike]) -> (Vec<&[f64]>, Vec<usize>) {
    let kinds = rows.iter().zip(0..).flat_map(|((n, fits), kind)| {
        std::iter::repeat_n((fits.as_slice(), kind), *n as usize)
    });
    kinds.unzip()
}

#[test]
fn small_groups_are_all_arrangements() {
    let mut random = ChaCha20Rng::seed_from_u64(11);
    let mut possible = 0;
    for _ in 0..300 {
        let (rows, counts) = group(&mut random);
        let (fits, kinds) = each(&rows);
        let all = listed(&fits, &counts);
        let total: f64 = all.iter().map(|(_, weight)| weight).sum();
        if total == 0.0 {
            continue;
        }
        possible += 1;
        let mut wanted = vec![vec![0.0; counts.len()]; rows.len()];
        for (given, weight) in &all {
            for (kind, value) in kinds.iter().zip(given) {
                wanted[*kind][*value] += weight / total;
            }
        }
        let dealt = deal(&rows, &counts);
        for (a, b) in dealt.iter().flatten().zip(wanted.iter().flatten()) {
            assert!((a - b).abs() < 1e-11, "{rows:?} {counts:?}");
        }
        let likely = likelihood(&rows, &counts);
        let wanted = (total / all.len() as f64).ln();
        assert!((likely - wanted).abs() < 1e-9, "{likely} {wanted}");

        let adds: Vec<Vec<[f64; 2]>> = rows
            .iter()
            .map(|_| {
                counts
                    .iter()
                    .map(|_| [f64::from(random.random::<bool>()), random.random()])
                    .collect()
            })
            .collect();
        let sum = |given: &[usize]| {
            kinds.iter().zip(given).fold([0.0; 2], |[a, b], (kind, value)| {
                let [x, y] = adds[*kind][*value];
                [a + x, b + y]
            })
        };
        let mean = |of: &dyn Fn([f64; 2]) -> f64| -> f64 {
            all.iter().map(|(given, weight)| weight * of(sum(given))).sum::<f64>()
                / total
        };
        let (a, b) = (mean(&|[a, _]| a), mean(&|[_, b]| b));
        let (means, [aa, bb, ab]) =
            moments(&rows, &counts, &|kind, value| adds[kind][value]);
        assert!((means[0] - a).abs() < 1e-11 && (means[1] - b).abs() < 1e-11);
        assert!((aa - mean(&|[x, _]| (x - a).powi(2))).abs() < 1e-10);
        assert!((bb - mean(&|[_, y]| (y - b).powi(2))).abs() < 1e-10);
        assert!((ab - mean(&|[x, y]| (x - a) * (y - b))).abs() < 1e-10);
    }
    assert!(possible > 200, "{possible}");
}

/// Of 20,000 draws each arrangement is had as often as it weighs: no share is off by more
/// than 5 standard errors, which chance alone does less than once in 10,000 runs.
#[test]
fn draws_are_as_often_as_they_weigh() {
    let rows: Vec<Alike> = vec![
        (1.0, vec![3.0, 1.0, 0.5]),
        (2.0, vec![0.2, 4.0, 1.0]),
        (1.0, vec![1.0; 3]),
    ];
    let counts = [1.0, 2.0, 1.0];
    let (fits, _) = each(&rows);
    let all = listed(&fits, &counts);
    let total: f64 = all.iter().map(|(_, weight)| weight).sum();
    let mut random = ChaCha20Rng::seed_from_u64(5);
    for own in [draw, swapped] {
        let drawn: Vec<Vec<usize>> =
            (0..20_000).map(|_| own(&rows, &counts, &mut random)).collect();
        for (given, weight) in &all {
            let share = weight / total;
            let found = drawn.iter().filter(|drawn| *drawn == given).count() as f64;
            let error = (share * (1.0 - share) / 20_000.0).sqrt();
            assert!((found / 20_000.0 - share).abs() < 5.0 * error, "{given:?}");
        }
    }
}

#[test]
fn large_groups_come_near_and_stay_below() {
    // Seven rows, each with a value of its own that fits better.
    // What is left of the way from scaling alone to the truth.
    for (fit, left) in [(1.2, 0.15), (2.0, 0.4), (6.0, 0.8)] {
        let n = 7;
        let row = |own: usize| -> Vec<f64> {
            (0..n).map(|value| if value == own { fit } else { 1.0 }).collect()
        };
        let rows: Vec<Alike> = (0..n).map(|own| (1.0, row(own))).collect();
        let counts = vec![1.0; n];
        let (truth, found) =
            (deal(&rows, &counts)[0][0], scaled(&rows, &counts, ROUNDS)[0][0]);
        let plain = fit / (fit + 6.0);
        assert!(
            plain < found && found < truth + 1e-3,
            "{fit}: {plain} {found} {truth}"
        );
        assert!(
            truth - found < left * (truth - plain),
            "{fit}: {plain} {found} {truth}"
        );
    }
}

/// Without weights the variance of a large group is that of all arrangements; with some it
/// comes near that of going through them.
#[test]
fn the_spread_of_large_groups_is_hoeffdings() {
    let adds = |kind: usize, value: usize| {
        [f64::from(u8::from((kind + value).is_multiple_of(3))), (kind * value) as f64]
    };
    let counts = [2.0, 1.0, 3.0];
    let even: Vec<Alike> = (0..3).map(|_| (2.0, vec![1.0; 3])).collect();
    let (exact, near) = (moments(&even, &counts, &adds), spread(&even, &counts, &adds));
    let all = |found: Moments| [&found.0[..], &found.1[..]].concat();
    for (a, b) in all(exact).iter().zip(all(near)) {
        assert!((a - b).abs() < 1e-6 * (1.0 + a.abs()), "{exact:?} {near:?}");
    }
    let rows: Vec<Alike> = (0..3)
        .map(|kind| (2.0, (0..3).map(|v| 1.0 + ((kind + v) % 2) as f64).collect()))
        .collect();
    let (exact, near) = (moments(&rows, &counts, &adds), spread(&rows, &counts, &adds));
    for (a, b) in all(exact).iter().zip(all(near)) {
        assert!((a - b).abs() < 0.1 * (1.0 + a.abs()), "{exact:?} {near:?}");
    }
}

#[test]
fn what_cannot_be_is_dealt_evenly() {
    let dealt = deal(&[(2.0, vec![0.0, 0.0])], &[1.0, 1.0]);
    assert_eq!(dealt, [[1.0, 1.0]]);
    assert!(likelihood(&[(2.0, vec![0.0, 0.0])], &[1.0, 1.0]).is_finite());
    let drawn =
        draw(&[(2.0, vec![0.0, 0.0])], &[1.0, 1.0], &mut ChaCha20Rng::seed_from_u64(1));
    assert_eq!(drawn.len(), 2);
}
