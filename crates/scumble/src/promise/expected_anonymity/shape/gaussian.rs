//! Normal noise, for the publisher.
//!
//! # Guarantee
//! *Company.* Before rounding the probability is `Q(u)`, u half the distance in units of the
//! spread (lemma 2.1), and rows beyond the reach are not counted. Rounding to a lattice that
//! holds both rows cannot lower it: the two rows' published laws differ in total variation by
//! no more than before, at most `1 - 2 Q(u)`. Reflection at the middle between the rows maps
//! the lattice to itself and swaps the laws, so a rule that prefers one row errs as often as
//! one that prefers the other: twice the strict errors and the ties make at least `2 Q(u)`,
//! and errors and ties together at least `Q(u)`. ∎
//!
//! *Best guess.* In a direction g the row fits best up to the first plane halfway to a rival,
//! at a radius `|v|² / 2 v·g`; the radius of normal noise in d dimensions does not depend on
//! its direction. So only directions are taken from the sequence, and radii are summed
//! exactly. ∎
//!
//! # Limits
//! It is drawn in double precision, and what was rounded away stays unknown.
//!
//! # Cost
//! A look at a table for each row.
//!
//! # Source
//! `aggarwal2008unifying`, lemma 2.1.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use libm::{erf, exp};
use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rand_distr::StandardNormal;
use statrs::function::erf::erfc_inv;

use super::{Batch, Law, Listed, Look, NoiseShape, Rivals};
use crate::space::{Ball, Leaf, Shape, Space};

#[derive(Debug)]
pub(super) struct Gaussian;

/// Cells of the table of tails in a unit.
const CELLS: f64 = 512.0;

/// Rows further than this are not worth counting, in halves.
const FARTHEST: f64 = 14.0;

/// Tails from 0 to 40; chords between them are never below the tail, which is convex.
fn table() -> &'static [f64] {
    static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let tail = |cell| Shape::Gaussian.above(cell as f64 / CELLS);
        (0..=40 * CELLS as usize).map(tail).collect()
    })
}

/// The tail, too large by at most [`Gaussian::slip`]; `u` is at most 39.
#[inline(always)]
fn quick_tail(table: &[f64], u: f64) -> f64 {
    let place = u * CELLS;
    let cell = place as usize;
    let (low, high) = (table[cell], table[cell + 1]);
    low + (place - cell as f64) * (high - low)
}

impl NoiseShape for Gaussian {
    fn reach(&self, dims: usize) -> f64 {
        ((dims.saturating_sub(1) as f64).sqrt() + 1.3).max(3.5)
    }

    fn count(&self, law: &Law, w: &[f64], reach: f64) -> f64 {
        let mut sum = 0.0;
        for (w, spread) in w.iter().zip(&law.spreads) {
            if *w != 0.0 {
                // A spread of zero makes this infinite.
                sum += (w / spread).powi(2);
            }
        }
        let u = 0.5 * sum.sqrt();
        if u <= reach { self.at_most(u) } else { 0.0 }
    }

    fn at_most(&self, halves: f64) -> f64 {
        Shape::Gaussian.above(halves)
    }

    fn draw(&self, spread: f64, _: Option<f64>, generator: &mut ChaCha20Rng) -> f64 {
        spread * generator.sample::<f64, _>(StandardNormal)
    }

    fn counts(&self, look: &Look<'_>, leaf: Leaf<'_>, first: usize) -> Batch {
        let mut batch = Batch::default();
        let (low, high) = look.limits;
        let table = table();
        let mut len = 0;
        for (_, value, column) in look.axes(leaf, first) {
            len = column.len();
            for (sum, other) in batch.counts.iter_mut().zip(column) {
                *sum += (other - value) * (other - value);
            }
        }
        for count in &mut batch.counts[..len] {
            let square = *count;
            *count = 0.0;
            if square > high {
                continue;
            }
            batch.terms += 1.0;
            batch.edges += f64::from(u8::from(square > low));
            *count = if square == 0.0 {
                1.0
            } else {
                quick_tail(table, 0.5 * square.sqrt())
            };
        }
        batch
    }

    /// A chord over a cell, and the second derivative of the tail is below 0.2420.
    fn slip(&self) -> f64 {
        0.2420 / (8.0 * CELLS * CELLS)
    }

    fn usual_distance(&self) -> f64 {
        3.0
    }

    fn list(&self, space: &Space, centre: &[f64], distance: f64, listed: &mut Listed) {
        space.within::<Ball>(centre, distance, |_, _, square| {
            listed.n_listed += 1;
            if square == 0.0 {
                listed.n_equal += 1;
            } else {
                listed.numbers.push(square.sqrt());
            }
            ControlFlow::Continue(())
        });
    }

    fn sum(&self, listed: &Listed, spread: f64, _: &[f64]) -> f64 {
        let half = 0.5 / spread;
        let table = table();
        let counts = listed.numbers.iter().map(|far| {
            let u = far * half;
            if u < FARTHEST { quick_tail(table, u) } else { 0.0 }
        });
        counts.sum::<f64>() * (1.0 - self.rounding())
    }

    /// The table is too high by less than this share up to [`FARTHEST`].
    fn rounding(&self) -> f64 {
        1e-4
    }

    /// A direction of length 1.
    fn point(&self, point: &mut [f64]) {
        for p in point.iter_mut() {
            *p = -std::f64::consts::SQRT_2 * erfc_inv(2.0 * *p);
        }
        let length = Shape::Gaussian.length(point);
        point.iter_mut().for_each(|p| *p /= length);
    }

    /// The probability of the region in which the row is nearest, summed over directions.
    fn sum_of_guesses(&self, points: &[f64], rivals: &Rivals, cuts: &[f64]) -> f64 {
        let dims = cuts.len();
        let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
        let differences = rivals.differences.chunks_exact(dims);
        let mut nearest: Vec<(f64, &[f64])> =
            differences.map(|v| (square(v), v)).collect();
        nearest.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let radius = |direction: &[f64]| {
            let mut radius = f64::INFINITY;
            for (square, rival) in &nearest {
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
        let sum: f64 = points.chunks_exact(dims).map(|g| within(radius(g), dims)).sum();
        sum / rivals.equal as f64
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

#[cfg(test)]
mod tests {
    use statrs::function::gamma::gamma_lr;

    use super::*;

    #[test]
    fn worked_numbers() {
        let law = |spread: f64| Law {
            shape: Shape::Gaussian,
            spreads: vec![spread; 2],
            cuts: vec![0.0; 2],
        };
        // A row two spreads away: Q(1).
        assert!((law(1.0).count(&[2.0, 0.0]) - 0.158_655_253_931_457).abs() < 1e-12);
        assert_eq!(law(1.0).count(&[0.0, 0.0]), 1.0);
        assert_eq!(law(0.0).count(&[0.0, 0.0]), 1.0);
        assert_eq!(law(0.0).count(&[0.0, 1e-3]), 0.0);
        assert_eq!(law(1.0).count(&[7.1, 0.0]), 0.0);
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
