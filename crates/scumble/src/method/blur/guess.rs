//! How often the one who fits best is the true one: a fixed average over the noise.
//!
//! # Guarantee
//! [`Guesses::best_guess`] is the share of `POINTS` fixed places of the noise in which the
//! row fits best, ties shared evenly, among the living rows. Rivals beyond the law's reach
//! are not looked at, and taking rivals away never lowers it: so the largest set of rows
//! that keep a bound is one, whatever the order in which others are dropped.
//! Everybody who holds the table computes the same number.
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

use crate::promise::Law;
use crate::promise::shape::{self, Rivals};
use crate::space::Space;

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

impl<'a> Guesses<'a> {
    /// Of a law, in a space whose coordinates times `units` are those of the law.
    pub(super) fn new(law: &'a Law, units: &'a [f64]) -> Self {
        let noisy: Vec<usize> =
            (0..law.spreads.len()).filter(|axis| law.spreads[*axis] > 0.0).collect();
        let mut points = sequence(noisy.len());
        for point in points.chunks_exact_mut(noisy.len().max(1)) {
            shape::of(law.shape).point(point);
        }
        Self { law, units, noisy, points }
    }

    /// How often the row fits best among the living rows, itself included.
    pub(super) fn best_guess(&self, space: &Space, row: usize) -> f64 {
        let rivals = self.rivals(space, row);
        if rivals.differences.is_empty() {
            return 1.0 / rivals.equal as f64;
        }
        let cuts = self.noisy.iter().map(|a| self.law.cuts[*a] / self.law.spreads[*a]);
        let cuts: Vec<f64> = cuts.collect();
        let shape = shape::of(self.law.shape);
        let sum = shape.sum_of_guesses(&self.points, &rivals, &cuts);
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
        let shape = self.law.shape;
        let reach = shape::of(shape).reach(self.law.spreads.len());
        let mut rivals = Rivals::default();
        let mut own = Vec::with_capacity(self.noisy.len());
        let visit = |_: usize, point: &[f64], distance: f64| {
            if distance == 0.0 {
                rivals.equal += 1;
                return ControlFlow::Continue(());
            }
            own.clear();
            for (axis, spread) in self.law.spreads.iter().enumerate() {
                let w = (point[axis] - centre[axis]) * self.units[axis];
                if *spread > 0.0 {
                    own.push(w / spread);
                } else if w != 0.0 {
                    return ControlFlow::Continue(());
                }
            }
            if 0.5 * shape.length(&own) <= reach {
                rivals.differences.extend(&own);
            }
            ControlFlow::Continue(())
        };
        shape.within(space, centre, 2.0 * reach * widest, visit);
        rivals
    }
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

    use super::*;
    use crate::space::Shape;

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
                    let shape = shape::of(law.shape);
                    of(row)[axis] + shape.draw(law.spreads[axis], None, &mut generator)
                })
                .collect();
            let misfit = |other: usize| {
                let mut sum = 0.0;
                for (axis, z) in published.iter().enumerate() {
                    let spread = law.spreads[axis];
                    let w = (z - of(other)[axis]).abs();
                    sum += match law.shape {
                        _ if spread == 0.0 && w == 0.0 => 0.0,
                        _ if spread == 0.0 => f64::INFINITY,
                        shape => shape.misfit(w / spread),
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
            let shape = Shape::ALL[seed as usize % Shape::ALL.len()];
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
        for shape in Shape::ALL {
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
}
