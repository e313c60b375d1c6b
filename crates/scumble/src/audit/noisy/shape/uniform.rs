//! Even noise in a box, for the audit.

use std::ops::ControlFlow;

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::{CountBounds, LeafSums, NoiseBounds, NoiseShape, Rivals};
use crate::audit::noisy::law::Tails;
use crate::audit::noisy::{Company, NoiseLaw};
use crate::space::{Cube, LEAF, Leaf};

pub(super) struct Uniform;

impl NoiseShape for Uniform {
    fn words(&self) -> [&'static str; 2] {
        [
            "the side of the box it is in",
            "The side of the box that the noise of a row is in, as a share of the \
             column’s domain.",
        ]
    }

    /// The side of the box.
    fn width(&self) -> f64 {
        12f64.sqrt()
    }

    fn in_steps(&self) -> bool {
        true
    }

    fn cut(&self, turned: bool, cell: f64) -> f64 {
        if turned { cell } else { 0.0 }
    }

    fn draw(&self, turned: bool, spread: f64, cell: f64, rng: &mut ChaCha20Rng) -> f64 {
        if turned {
            return spread * (rng.random::<f64>() - 0.5);
        }
        let half = ((spread / cell - 1.0) / 2.0).round().min(4e15) as i64;
        rng.random_range(-half..=half) as f64 * cell
    }

    fn deviation(&self, turned: bool, spread: f64, cell: f64) -> f64 {
        match turned {
            true => spread / 12f64.sqrt(),
            false => ((spread * spread - cell * cell).max(0.0) / 12.0).sqrt(),
        }
    }

    fn reach(&self, _: usize) -> f64 {
        0.5
    }

    fn farthest(&self, _: f64) -> f64 {
        0.5
    }

    fn count(&self, law: &NoiseLaw, this: &[f64], other: &[f64], _: f64) -> f64 {
        let laws = law.spreads.iter().zip(&law.cuts);
        let common = |((a, b), (side, cut)): ((&f64, &f64), (&f64, &f64))| {
            if *side == 0.0 {
                return if a - b == 0.0 { 1.0 } else { 0.0 };
            }
            (side - 2.0 * cut).min(side - cut - (a - b).abs()).max(0.0) / side
        };
        other.iter().zip(this).zip(laws).map(common).product()
    }

    fn bounds(
        &self,
        look: &CountBounds<'_>,
        centre: &[f64],
        point: &[f64],
        _: f64,
    ) -> (f64, f64) {
        let mut common = 1.0;
        for ((a, b), cut) in point.iter().zip(centre).zip(look.cuts) {
            common *= (1.0 - 2.0 * cut).min(1.0 - cut - (a - b).abs()).max(0.0);
        }
        ((common - look.slip).max(0.0), common + look.slip)
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
            let (distances, len) = leaf.distances::<Cube>(centre, first);
            let mut common = [1.0; LEAF];
            for ((axis, value), cut) in centre.iter().enumerate().zip(look.cuts) {
                let (widest, edge) = (1.0 - 2.0 * cut, 1.0 - cut);
                let column = &leaf.column(axis)[first..first + len];
                for (common, other) in common.iter_mut().zip(column) {
                    *common *= widest.min(edge - (other - value).abs()).max(0.0);
                }
            }
            for (far, common) in distances[..len].iter().zip(common) {
                if *far > limit {
                    continue;
                }
                sums.farthest = sums.farthest.max(*far);
                if *far == 0.0 {
                    sums.equal += 1.0;
                    continue;
                }
                sums.low += (common - look.slip).max(0.0);
                sums.high += common + look.slip;
            }
        }
        sums.low += sums.equal;
        sums.high += sums.equal;
        sums
    }

    fn as_visited(&self, squared: f64) -> f64 {
        squared.sqrt()
    }

    fn fitting(
        &self,
        company: &Company<'_>,
        cells: &[f64],
        _: usize,
        place: &[f64],
    ) -> Vec<(usize, f64)> {
        let mut fitting = Vec::new();
        // After rounding a turned box is seen through the cells it touches.
        let turned = company.law.cuts.iter().any(|cut| *cut > 0.0);
        let slack: Vec<f64> = match turned {
            true => company.in_spreads(cells),
            false => vec![0.0; company.n_moving()],
        };
        let half = |axis: usize| 0.5 + 0.5 * slack[axis] + 1e-9;
        let widest = (0..slack.len()).map(half).fold(0.5, f64::max);
        company.space.within::<Cube>(place, widest, |row, other, _| {
            let axes = other.iter().zip(place).enumerate();
            let mut fits = axes.map(|(axis, (x, z))| (x - z).abs() <= half(axis));
            if fits.all(|fits| fits) {
                fitting.push((row, 0.0));
            }
            ControlFlow::Continue(())
        });
        fitting
    }

    fn misfit(
        &self,
        company: &Company<'_>,
        row: usize,
        place: &[f64],
        squared: f64,
    ) -> Option<f64> {
        let axes = company.space.point(row).iter().zip(place).zip(company.cuts());
        let mut inside =
            axes.map(|((x, z), cut)| (x - z).abs() <= 0.5 + 0.5 * cut + 1e-9);
        inside.all(|inside| inside).then_some(squared * 1e-3)
    }

    fn is_even(&self) -> bool {
        true
    }

    /// A place in the box.
    fn point(&self, point: &mut [f64]) {
        point.iter_mut().for_each(|part| *part -= 0.5);
    }

    /// How many fit.
    fn start(&self) -> f64 {
        1.0
    }

    fn add(&self, rivals: &mut Rivals<'_>, apart: &[f64], _: &dyn Fn() -> bool) {
        if apart.iter().any(|v| v.abs() > 1.0) {
            return;
        }
        let equal = apart.iter().all(|v| *v == 0.0);
        let points = rivals.points.chunks_exact(apart.len());
        for (point, fitting) in points.zip(&mut rivals.state) {
            let axes = point.iter().zip(apart).zip(&rivals.cuts);
            let mut fits = axes.map(|((o, v), cut)| {
                let cut = if equal { 0.0 } else { *cut };
                (o - v).abs() <= 0.5 - cut
            });
            if fits.all(|fits| fits) {
                *fitting += 1.0;
            }
        }
    }

    fn sum(&self, rivals: &Rivals<'_>) -> f64 {
        rivals.state.iter().map(|fitting| 1.0 / fitting).sum()
    }

    fn seen(&self, apart: Vec<f64>) -> Vec<f64> {
        let largest = apart.iter().copied().fold(0.0, f64::max);
        [vec![largest], apart].concat()
    }

    fn company(&self, equal: f64, others: &[Vec<f64>], f: f64, _: &Tails) -> f64 {
        let near = others.iter().take_while(|other| other[0] < f);
        let common = |other: &Vec<f64>| -> f64 {
            other[1..].iter().map(|v| 1.0 - v / f).product()
        };
        near.fold(equal, |sum, other| sum + common(other))
    }

    fn concentration(&self, turned: bool, spread: f64, cell: f64) -> (f64, f64, f64) {
        match turned {
            true => (cell / 2.0, spread * spread / 12.0, spread / 2.0),
            false => {
                let variance = (spread * spread - cell * cell).max(0.0) / 12.0;
                (0.0, variance, spread / 2.0)
            }
        }
    }

    fn squares(&self, bounds: &NoiseBounds, n: f64, x: f64) -> (f64, f64) {
        let moved = bounds.rounding * n.sqrt();
        let wide = bounds.spread.powi(2) / 4.0 * (n * x / 2.0).sqrt();
        let low = (n * bounds.variance - wide).max(0.0).sqrt() - moved;
        let high = (n * bounds.variance + wide).sqrt() + moved;
        let mean = 2.0 * bounds.most.powi(2) * x;
        (low.max(0.0).powi(2) - mean, high.powi(2))
    }
}
