//! Normal noise, for the audit.

use std::f64::consts::SQRT_2;
use std::ops::ControlFlow;

use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rand_distr::StandardNormal;
use statrs::function::erf::erf_inv;

use super::{CountBounds, LeafSums, NoiseBounds, NoiseShape, Rivals};
use crate::audit::noisy::guess::within;
use crate::audit::noisy::law::{CHORD, Tails, tail};
use crate::audit::noisy::{Company, NoiseLaw};
use crate::space::{Ball, LEAF, Leaf};

pub(super) struct Gaussian;

impl NoiseShape for Gaussian {
    fn words(&self) -> [&'static str; 2] {
        [
            "its standard deviation",
            "How far 95 of 100 draws of the noise of a row reach, from end to end, as a \
             share of the column’s domain.",
        ]
    }

    fn width(&self) -> f64 {
        2.0 * 1.96
    }

    fn draw(&self, _: bool, spread: f64, _: f64, rng: &mut ChaCha20Rng) -> f64 {
        spread * rng.sample::<f64, _>(StandardNormal)
    }

    fn deviation(&self, _: bool, spread: f64, _: f64) -> f64 {
        spread
    }

    fn reach(&self, dims: usize) -> f64 {
        f64::max(3.5, (dims as f64 - 1.0).max(0.0).sqrt() + 1.3)
    }

    fn count(&self, law: &NoiseLaw, this: &[f64], other: &[f64], reach: f64) -> f64 {
        let mut sum = 0.0;
        for ((a, b), spread) in other.iter().zip(this).zip(&law.spreads) {
            if a - b != 0.0 {
                sum += ((a - b) / spread).powi(2);
            }
        }
        let half = 0.5 * sum.sqrt();
        if half <= reach { tail(half) } else { 0.0 }
    }

    fn bounds(
        &self,
        look: &CountBounds<'_>,
        _: &[f64],
        _: &[f64],
        far: f64,
    ) -> (f64, f64) {
        let half = 0.5 * far.sqrt();
        let above = look.tails.above(half);
        let sure = half <= look.within;
        let low = if sure { (above - CHORD - look.slip).max(0.0) } else { 0.0 };
        (low, above + look.slip)
    }

    fn sums(
        &self,
        look: &CountBounds<'_>,
        centre: &[f64],
        leaf: Leaf<'_>,
        limit: f64,
    ) -> LeafSums {
        let mut sums = LeafSums::default();
        for first in (0..leaf.rows.len()).step_by(LEAF) {
            let (squares, len) = leaf.distances::<Ball>(centre, first);
            for far in squares[..len].iter().filter(|far| **far <= limit) {
                sums.farthest = sums.farthest.max(*far);
                if *far == 0.0 {
                    sums.equal += 1.0;
                    continue;
                }
                let (low, high) = self.bounds(look, &[], &[], *far);
                sums.low += low;
                sums.high += high;
            }
        }
        sums.low += sums.equal;
        sums.high += sums.equal;
        sums
    }

    fn roughly(&self, far: f64, tails: &Tails) -> Option<f64> {
        Some(tails.above(0.5 * far.sqrt()))
    }

    fn as_visited(&self, squared: f64) -> f64 {
        squared
    }

    fn fitting(
        &self,
        company: &Company<'_>,
        _: &[f64],
        row: usize,
        place: &[f64],
    ) -> Vec<(usize, f64)> {
        let mut fitting = Vec::new();
        let this = company.space.point(row);
        let far: f64 = place.iter().zip(this).map(|(z, x)| (z - x) * (z - x)).sum();
        let radius = (far * (1.0 + 1e-9)).sqrt();
        company.space.within::<Ball>(place, radius, |other, _, misfit| {
            fitting.push((other, misfit));
            ControlFlow::Continue(())
        });
        fitting
    }

    fn misfit(
        &self,
        _: &Company<'_>,
        _: usize,
        _: &[f64],
        squared: f64,
    ) -> Option<f64> {
        Some(squared / 2.0)
    }

    /// A direction.
    fn point(&self, point: &mut [f64]) {
        point.iter_mut().for_each(|part| *part = SQRT_2 * erf_inv(2.0 * *part - 1.0));
        let length = point.iter().map(|g| g * g).sum::<f64>().sqrt();
        point.iter_mut().for_each(|g| *g /= length);
    }

    /// The radius to the first rival.
    fn start(&self) -> f64 {
        f64::INFINITY
    }

    fn add(&self, rivals: &mut Rivals<'_>, apart: &[f64], counts: &dyn Fn() -> bool) {
        let square: f64 = apart.iter().map(|v| v * v).sum();
        if apart.iter().all(|v| *v == 0.0) {
            rivals.equal += 1.0;
        } else if counts() {
            let points = rivals.points.chunks_exact(apart.len());
            for (point, radius) in points.zip(&mut rivals.state) {
                // No point of the border is nearer than half the way.
                if 4.0 * *radius * *radius <= square {
                    continue;
                }
                let along: f64 = point.iter().zip(apart).map(|(g, v)| g * v).sum();
                if along > 0.0 {
                    *radius = radius.min(square / (2.0 * along));
                }
            }
        }
    }

    fn sum(&self, rivals: &Rivals<'_>) -> f64 {
        let dims = rivals.cuts.len();
        let inside = rivals.state.iter().map(|radius| within(dims, *radius));
        inside.sum::<f64>() / rivals.equal
    }

    fn seen(&self, apart: Vec<f64>) -> Vec<f64> {
        vec![0.5 * apart.iter().map(|v| v * v).sum::<f64>().sqrt()]
    }

    fn company(&self, equal: f64, others: &[Vec<f64>], f: f64, tails: &Tails) -> f64 {
        let near = others.iter().take_while(|other| other[0] <= 8.0 * f);
        near.fold(equal, |sum, other| sum + tails.above(other[0] / f))
    }

    fn concentration(&self, _: bool, spread: f64, cell: f64) -> (f64, f64, f64) {
        (cell / 2.0, spread * spread, spread)
    }

    fn squares(&self, bounds: &NoiseBounds, n: f64, x: f64) -> (f64, f64) {
        let moved = bounds.rounding * n.sqrt();
        let (free, wide) = (n - 1.0, 2.0 * ((n - 1.0) * x).sqrt());
        let low = bounds.spread * (free - wide).max(0.0).sqrt() - moved;
        let high = bounds.spread * (free + wide + 2.0 * x).sqrt() + moved;
        (low.max(0.0).powi(2), high.powi(2))
    }
}
