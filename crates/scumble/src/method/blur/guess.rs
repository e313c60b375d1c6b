//! How often the one who fits best is the true one: a fixed average over the noise.
//!
//! # Guarantee
//! [`Guesses::best_guess`] is the share of `POINTS` fixed places of the noise in which the
//! row fits best, ties shared evenly, among the living rows. Rivals beyond the law's reach
//! are not looked at, and taking rivals away never lowers it: so the largest set of rows
//! that keep a bound is one, whatever the order in which others are dropped.
//! Everybody who holds the table computes the same number.
//!
//! *Gaussian.* In a direction g the row fits best up to the first plane halfway to a rival,
//! at a radius `|v|² / 2 v·g`; the radius of normal noise in d dimensions does not depend on
//! its direction. So only directions are taken from the sequence, and radii are summed
//! exactly. *Uniform.* All rows whose box holds the point fit equally well.
//!
//! # Limits
//! The average has an error: relatively large where the truth is small and dimensions are
//! many. Around 2,000 normal rows, normal noise: where the truth was 0.08 or more it was at
//! most 9 % too low in up to 8 dimensions (15 % in 10), so the margin of 10 % covers bounds
//! from 0.1 on there; between 0.04 and 0.08 up to 10 % in 5 dimensions and 19 % in 8; below
//! that up to a third. Noise in boxes, measured in up to 3 dimensions: 5 % from 0.08 on, 10 %
//! from 0.04 on, and 22 % below.
//! Rounding of published numbers is not looked at.
//!
//! # Cost
//! O(POINTS d m) for m rivals within reach; normal noise looks only at rivals nearer than
//! the radius already found.
//!
//! # Source
//! Ours; the sequence is the additive one of Roberts, "The unreasonable effectiveness of
//! quasirandom sequences" (2018).

use std::ops::ControlFlow;

use libm::{erf, exp};
use statrs::function::erf::erfc_inv;

use crate::promise::Law;
use crate::space::{Shape, Space};

/// How many places of the noise are looked at. Part of the format.
const POINTS: usize = 512;

/// How much of the bound asked for the average may use: the rest is for its error. Part of
/// the format.
pub(super) const MARGIN: f64 = 0.9;

/// The places of the noise at one level of one frame.
#[derive(Debug)]
pub(super) struct Guesses<'a> {
    law: &'a Law,
    /// How long one unit of the space is along each axis.
    units: &'a [f64],
    /// The axes with noise.
    noisy: Vec<usize>,
    /// For each place a direction of length 1, or an offset in sides of the box.
    points: Vec<f64>,
}

/// The rows that may fit as well as one of them.
struct Rivals {
    /// How many rows are equal to it, itself included.
    equal: usize,
    /// Differences in spreads along the noisy axes, rival by rival.
    differences: Vec<f64>,
}

impl<'a> Guesses<'a> {
    /// Of a law, in a space whose coordinates times `units` are those of the law.
    pub(super) fn new(law: &'a Law, units: &'a [f64]) -> Self {
        let noisy: Vec<usize> =
            (0..law.spreads.len()).filter(|axis| law.spreads[*axis] > 0.0).collect();
        let mut points = sequence(noisy.len());
        for point in points.chunks_exact_mut(noisy.len().max(1)) {
            match law.shape {
                Shape::Uniform => point.iter_mut().for_each(|p| *p -= 0.5),
                Shape::Gaussian => {
                    for p in point.iter_mut() {
                        *p = -std::f64::consts::SQRT_2 * erfc_inv(2.0 * *p);
                    }
                    let length = point.iter().map(|p| p * p).sum::<f64>().sqrt();
                    point.iter_mut().for_each(|p| *p /= length);
                }
            }
        }
        Self { law, units, noisy, points }
    }

    /// How often the row fits best among the living rows, itself included.
    pub(super) fn best_guess(&self, space: &Space, row: usize) -> f64 {
        let rivals = self.rivals(space, row);
        if rivals.differences.is_empty() {
            return 1.0 / rivals.equal as f64;
        }
        let sum = match self.law.shape {
            Shape::Gaussian => {
                self.sum_of_cells(rivals.differences) / rivals.equal as f64
            }
            Shape::Uniform => self.sum_of_shares(&rivals),
        };
        sum / (self.points.len() / self.noisy.len()) as f64
    }

    fn rivals(&self, space: &Space, row: usize) -> Rivals {
        let centre = space.point(row);
        let widest = self
            .noisy
            .iter()
            .map(|axis| self.law.spreads[*axis] / self.units[*axis])
            .fold(0.0, f64::max);
        // A little more than the reach: who counts is decided below.
        let widest = widest * (1.0 + 1e-9);
        let reach = Law::reach(self.law.spreads.len());
        let mut rivals = Rivals { equal: 0, differences: Vec::new() };
        let mut own = Vec::with_capacity(self.noisy.len());
        let visit = |_: usize, point: &[f64], distance: f64| {
            if distance == 0.0 {
                rivals.equal += 1;
                return ControlFlow::Continue(());
            }
            own.clear();
            let (mut sum, mut inside) = (0.0, true);
            for (axis, spread) in self.law.spreads.iter().enumerate() {
                let w = (point[axis] - centre[axis]) * self.units[axis];
                if *spread > 0.0 {
                    let v = w / spread;
                    sum += v * v;
                    inside &= v.abs() <= 1.0;
                    own.push(v);
                } else if w != 0.0 {
                    return ControlFlow::Continue(());
                }
            }
            let counts = match self.law.shape {
                Shape::Gaussian => 0.5 * sum.sqrt() <= reach,
                Shape::Uniform => inside,
            };
            if counts {
                rivals.differences.extend(&own);
            }
            ControlFlow::Continue(())
        };
        match self.law.shape {
            Shape::Gaussian => space.within_ball(centre, 2.0 * reach * widest, visit),
            Shape::Uniform => space.within_cube(centre, widest, visit),
        }
        rivals
    }

    /// Normal noise: the probability of the region in which the row is nearest, summed over
    /// directions.
    fn sum_of_cells(&self, differences: Vec<f64>) -> f64 {
        let dims = self.noisy.len();
        let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
        let mut rivals: Vec<(f64, &[f64])> =
            differences.chunks_exact(dims).map(|v| (square(v), v)).collect();
        rivals.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let radius = |direction: &[f64]| {
            let mut radius = f64::INFINITY;
            for (square, rival) in &rivals {
                // A rival is never met before half its distance.
                if *square >= 4.0 * radius * radius {
                    break;
                }
                let along: f64 = rival.iter().zip(direction).map(|(a, b)| a * b).sum();
                if along > 0.0 {
                    radius = radius.min(square / (2.0 * along));
                }
            }
            radius
        };
        self.points.chunks_exact(dims).map(|g| within(radius(g), dims)).sum()
    }

    /// Noise in a box: the row's share among all whose box holds the point, summed over
    /// points.
    fn sum_of_shares(&self, rivals: &Rivals) -> f64 {
        let dims = self.noisy.len();
        let halves: Vec<f64> = self
            .noisy
            .iter()
            .map(|axis| 0.5 - self.law.cuts[*axis] / self.law.spreads[*axis])
            .collect();
        let holds = |rival: &[f64], offset: &[f64]| {
            let sides = rival.iter().zip(offset).zip(&halves);
            sides.into_iter().all(|((v, o), half)| (o - v).abs() <= *half)
        };
        let share = |offset: &[f64]| {
            let others = rivals.differences.chunks_exact(dims);
            let n = rivals.equal + others.filter(|rival| holds(rival, offset)).count();
            1.0 / n as f64
        };
        self.points.chunks_exact(dims).map(share).sum()
    }
}

/// The probability that the length of `dims` standard normal numbers is at most `radius`.
fn within(radius: f64, dims: usize) -> f64 {
    if radius == f64::INFINITY {
        return 1.0;
    }
    let x = radius * radius / 2.0;
    // The incomplete gamma function, half a dimension pair at a time:
    // P(a + 1, x) = P(a, x) - x^a e^-x / Gamma(a + 1).
    let tail = exp(-x);
    let (mut a, mut chance, mut term) = if dims.is_multiple_of(2) {
        (1.0, 1.0 - tail, x * tail)
    } else {
        (0.5, erf(x.sqrt()), x.sqrt() * tail * std::f64::consts::FRAC_2_SQRT_PI)
    };
    while 2.0 * a < dims as f64 {
        chance -= term;
        a += 1.0;
        term *= x / a;
    }
    chance.max(0.0)
}

/// Points of the cube spread evenly: multiples of powers of the root of `x^(d+1) = x + 1`.
fn sequence(dims: usize) -> Vec<f64> {
    let mut root = 2.0f64;
    for _ in 0..64 {
        root = (1.0 + root).powf(1.0 / (dims as f64 + 1.0));
    }
    let point = |t: usize| {
        (0..dims).map(move |axis| {
            (0.5 + (t + 1) as f64 * root.powi(-(axis as i32 + 1))).fract()
        })
    };
    (0..POINTS).flat_map(point).collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;
    use rand_distr::StandardNormal;
    use statrs::function::gamma::gamma_lr;

    use super::*;

    /// Clusters of different widths, on a lattice, so that some rows are equal.
    fn table(dims: usize, n_rows: usize, seed: u64) -> Vec<f64> {
        let mut generator = ChaCha20Rng::seed_from_u64(seed);
        let mut values = Vec::new();
        for row in 0..n_rows {
            let cluster = (row % 5) as f64;
            for axis in 0..dims {
                let noise: f64 = generator.sample(StandardNormal);
                let value = cluster * (axis as f64 - 1.0) + noise * (0.2 + cluster);
                values.push((value * 4.0).round() / 4.0);
            }
        }
        values
    }

    /// How often a row fits best, by drawing its noise.
    fn simulated(
        law: &Law,
        values: &[f64],
        living: &[usize],
        row: usize,
        draws: usize,
    ) -> f64 {
        let dims = law.spreads.len();
        let mut generator = ChaCha20Rng::seed_from_u64(row as u64);
        let of = |row: usize| &values[row * dims..][..dims];
        let mut sum = 0.0;
        for _ in 0..draws {
            let published: Vec<f64> = (0..dims)
                .map(|axis| {
                    let noise = match law.shape {
                        Shape::Gaussian => generator.sample::<f64, _>(StandardNormal),
                        Shape::Uniform => generator.random::<f64>() - 0.5,
                    };
                    of(row)[axis] + noise * law.spreads[axis]
                })
                .collect();
            // How badly it fits: squares of distances, or whether it is outside.
            let misfit = |other: usize| {
                let mut sum = 0.0;
                for (axis, z) in published.iter().enumerate() {
                    let spread = law.spreads[axis];
                    let w = (z - of(other)[axis]).abs();
                    sum += match law.shape {
                        _ if spread == 0.0 && w == 0.0 => 0.0,
                        _ if spread == 0.0 => f64::INFINITY,
                        Shape::Gaussian => (w / spread).powi(2),
                        Shape::Uniform => f64::from(u8::from(w > spread / 2.0)),
                    };
                }
                sum
            };
            let own = misfit(row);
            let misfits = living.iter().map(|other| (misfit(*other), *other));
            let (mut better, mut equal) = (0, 0);
            for (misfit, other) in misfits {
                let same = of(other) == of(row);
                equal += usize::from(same || misfit == own);
                better += usize::from(!same && misfit < own);
            }
            if better == 0 {
                sum += 1.0 / equal as f64;
            }
        }
        sum / draws as f64
    }

    /// The largest difference between the average and `draws` draws of the noise, in
    /// standard errors of a share, after the margin is taken off.
    fn largest_difference(spread: f64, units: f64) -> f64 {
        let draws = 4_000;
        let mut largest = 0.0f64;
        for seed in 0..10 {
            let (dims, n_rows) = (1 + seed as usize % 5, 120);
            let values = table(dims, n_rows, seed);
            let shape = if seed % 2 == 0 { Shape::Gaussian } else { Shape::Uniform };
            let mut spreads: Vec<f64> =
                (0..dims).map(|axis| spread * (1.0 + axis as f64)).collect();
            if seed > 7 {
                spreads[dims - 1] = 0.0;
            }
            let law = Law { shape, spreads, cuts: vec![0.0; dims] };
            let scaled: Vec<f64> = values.iter().map(|value| value / units).collect();
            let mut space = Space::new(dims, &scaled);
            for row in (0..n_rows).step_by(7) {
                space.remove(row);
            }
            let living: Vec<usize> = (0..n_rows).filter(|row| row % 7 != 0).collect();
            let all = vec![units; dims];
            let guesses = Guesses::new(&law, &all);
            for row in living.iter().copied().step_by(9) {
                let found = guesses.best_guess(&space, row);
                let truth = simulated(&law, &values, &living, row, draws);
                // Shares are between 0 and 1: no variance is larger than this.
                let error = (truth.max(0.002) / draws as f64).sqrt();
                let off = (found - truth).abs() - 0.1 * truth;
                largest = largest.max(off / error);
            }
        }
        largest
    }

    #[test]
    fn it_is_how_often_the_row_fits_best() {
        // About 130 rows, each with a false alarm below 1e-8: 5.7 standard errors.
        let largest = largest_difference(1.0, 1.0);
        assert!(largest < 5.7, "{largest}");
        assert!(largest_difference(0.7, 8.0) < 5.7);
    }

    #[test]
    fn rows_that_are_equal_share_and_rivals_only_lower_it() {
        let values = [0.0, 0.0, 0.0, 3.0, 50.0];
        for shape in [Shape::Gaussian, Shape::Uniform] {
            let law = Law { shape, spreads: vec![2.0], cuts: vec![0.0] };
            let mut space = Space::new(1, &values);
            let guesses = Guesses::new(&law, &[1.0]);
            assert_eq!(guesses.best_guess(&space, 4), 1.0);
            let mut last = guesses.best_guess(&space, 0);
            assert!(last <= 1.0 / 3.0, "{last}");
            for (removed, expected) in [(3, Some(1.0 / 3.0)), (1, Some(0.5)), (2, None)]
            {
                space.remove(removed);
                let next = guesses.best_guess(&space, 0);
                assert!(next >= last);
                assert_eq!(next, expected.unwrap_or(1.0));
                last = next;
            }
        }
        let silent = Law { shape: Shape::Uniform, spreads: vec![0.0], cuts: vec![0.0] };
        let space = Space::new(1, &values);
        assert_eq!(Guesses::new(&silent, &[1.0]).best_guess(&space, 1), 1.0 / 3.0);
    }

    #[test]
    fn a_turned_box_counts_only_rivals_well_inside() {
        let law = Law { shape: Shape::Uniform, spreads: vec![4.0], cuts: vec![1.0] };
        let space = Space::new(1, &[0.0, 0.5]);
        let guess = Guesses::new(&law, &[1.0]).best_guess(&space, 0);
        // The other's box is -0.5 to 1.5 of -2 to 2: half the draws are shared.
        assert!((guess - 0.75).abs() < 0.005, "{guess}");
    }

    #[test]
    fn the_lengths_of_normal_noise() {
        for dims in 1..=12 {
            for radius in [1e-3, 0.4, 1.0, 2.5, 7.0] {
                let expected = gamma_lr(dims as f64 / 2.0, radius * radius / 2.0);
                assert!((within(radius, dims) - expected).abs() < 1e-12);
            }
            assert_eq!(within(f64::INFINITY, dims), 1.0);
        }
    }
}
