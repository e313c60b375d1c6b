use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::*;

fn points(dims: usize, n_rows: usize, seed: u64) -> Vec<f64> {
    let mut generator = ChaCha20Rng::seed_from_u64(seed);
    // Few different values, so that many points are equal.
    (0..dims * n_rows).map(|_| f64::from(generator.random_range(0..12u8))).collect()
}

#[test]
fn a_visit_sees_what_is_within_reach_and_alive() {
    for seed in 0..20 {
        let (dims, n_rows) = (1 + seed as usize % 4, 40 * seed as usize);
        let all = points(dims, n_rows, seed);
        let mut space = Space::new(dims, &all);
        for row in (0..n_rows).step_by(3) {
            space.remove(row);
            space.remove(row);
        }
        assert_eq!(space.n_living(), n_rows - n_rows.div_ceil(3));
        for row in (0..n_rows).step_by(7) {
            let centre = space.point(row).to_vec();
            assert_eq!(centre, all[row * dims..][..dims]);
            let other = |row: usize| all[row * dims..][..dims].iter().zip(&centre);
            let living: Vec<usize> = (0..n_rows).filter(|row| row % 3 != 0).collect();
            let straight =
                |row: usize| other(row).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            let expected: Vec<usize> =
                living.iter().copied().filter(|row| straight(*row) <= 9.0).collect();
            let mut seen = Vec::new();
            space.within::<Ball>(&centre, 3.0, |row, _, distance| {
                assert_eq!(distance, straight(row));
                seen.push(row);
                ControlFlow::Continue(())
            });
            seen.sort_unstable();
            assert_eq!(seen, expected);
            let expected: Vec<usize> = living
                .iter()
                .copied()
                .filter(|row| other(*row).all(|(a, b)| (a - b).abs() <= 2.0))
                .collect();
            let mut seen = Vec::new();
            space.within::<Cube>(&centre, 2.0, |row, _, _| {
                seen.push(row);
                ControlFlow::Continue(())
            });
            seen.sort_unstable();
            assert_eq!(seen, expected);
            let mut expected: Vec<(f64, usize)> =
                living.iter().map(|row| (straight(*row), *row)).collect();
            expected.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            expected.truncate(5);
            assert_eq!(space.nearest(&centre, 5), expected);
        }
    }
}

#[test]
fn a_visit_stops_when_told() {
    let space = Space::new(2, &points(2, 500, 1));
    let mut seen = 0;
    space.within::<Ball>(&[5.0, 5.0], 100.0, |_, _, _| {
        seen += 1;
        if seen == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(seen, 10);
}

#[test]
fn no_points_are_no_trouble() {
    let space = Space::new(3, &[]);
    assert!(space.is_empty() && space.nearest(&[0.0; 3], 4).is_empty());
}
