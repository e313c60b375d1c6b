//! All that depends on the shape of noise: the other files ask here.
//!
//! # Guarantee
//! [`NoiseLaw::count`] is the published rule: how much a row at a given difference counts
//! towards another one's anonymity. [`draw`] draws from the law that the manifest states.
//!
//! # Limits
//! Whoever adds a shape says what each function here does for it, with a proof where there
//! is one: that of [`NoiseBounds`] is in `noise.rs`.
//!
//! # Cost
//! That of whoever asks. Shapes are matched once for each row or pair of rows.
//!
//! # Source
//! `aggarwal2008unifying`, lemmas 2.1 and 2.2; docs/methods.md, "Expected anonymity".

use std::ops::ControlFlow;

use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rand_distr::StandardNormal;
use statrs::function::erf::erf_inv;

use crate::audit::noisy::guess::within;
use crate::audit::noisy::law::{CHORD, Tails, tail};
use crate::audit::noisy::{Axes, Company, NoiseLaw};
use crate::space::{Ball, Cube, Shape};

/// What the report says of noise: what a spread is, and what [`width`] is of.
pub(crate) fn words(shape: Shape) -> [&'static str; 2] {
    match shape {
        Shape::Gaussian => [
            "its standard deviation",
            "How far 95 of 100 draws of the noise of a row reach, from end to end, as a \
             share of the column’s domain.",
        ],
        Shape::Uniform => [
            "the side of the box it is in",
            "The side of the box that the noise of a row is in, as a share of the \
             column’s domain.",
        ],
    }
}

/// How wide noise is, in standard deviations: the side of its box, or what has 95 of 100
/// draws of normal noise.
pub(crate) fn width(shape: Shape) -> f64 {
    match shape {
        Shape::Gaussian => 2.0 * 1.96,
        Shape::Uniform => 12f64.sqrt(),
    }
}

/// Whether spreads along columns are an odd number of steps, so that rounding changes
/// nothing. Others may be any number, published with ten digits.
pub(crate) fn in_steps(shape: Shape) -> bool {
    match shape {
        Shape::Gaussian => false,
        Shape::Uniform => true,
    }
}

/// How much rounding may take from a row's box.
pub(crate) fn cuts(axes: &Axes) -> Vec<f64> {
    match axes.shape {
        Shape::Uniform if axes.is_turned() => axes.cells.clone(),
        Shape::Gaussian | Shape::Uniform => vec![0.0; axes.dims()],
    }
}

/// Noise along an axis, drawn anew; before it is rounded, if axes are turned.
pub(crate) fn draw(
    (shape, turned): (Shape, bool),
    spread: f64,
    cell: f64,
    rng: &mut ChaCha20Rng,
) -> f64 {
    match shape {
        _ if spread == 0.0 => 0.0,
        Shape::Gaussian => spread * rng.sample::<f64, _>(StandardNormal),
        Shape::Uniform if turned => spread * (rng.random::<f64>() - 0.5),
        Shape::Uniform => {
            let half = ((spread / cell - 1.0) / 2.0).round().min(4e15) as i64;
            rng.random_range(-half..=half) as f64 * cell
        }
    }
}

/// The standard deviation of noise along an axis, rounding left aside.
pub(crate) fn deviation((shape, turned): (Shape, bool), spread: f64, cell: f64) -> f64 {
    match shape {
        Shape::Gaussian => spread,
        Shape::Uniform if turned => spread / 12f64.sqrt(),
        Shape::Uniform => ((spread * spread - cell * cell).max(0.0) / 12.0).sqrt(),
    }
}

impl NoiseLaw {
    /// How much a row counts whose coordinates are `other`, towards one at `this`. The
    /// order of the operations is part of the rule: whether a row is just within reach must
    /// not depend on who computes it.
    pub(crate) fn count(&self, this: &[f64], other: &[f64], reach: f64) -> f64 {
        let differences = || other.iter().zip(this).map(|(a, b)| a - b);
        if differences().all(|w| w == 0.0) {
            return 1.0;
        }
        match self.shape {
            Shape::Gaussian => {
                let mut sum = 0.0;
                for (w, spread) in differences().zip(&self.spreads) {
                    if w != 0.0 {
                        sum += (w / spread).powi(2);
                    }
                }
                let half = 0.5 * sum.sqrt();
                if half <= reach { tail(half) } else { 0.0 }
            }
            Shape::Uniform => {
                let laws = self.spreads.iter().zip(&self.cuts);
                let common = |(w, (side, cut)): (f64, (&f64, &f64))| {
                    if *side == 0.0 {
                        return if w == 0.0 { 1.0 } else { 0.0 };
                    }
                    (side - 2.0 * cut).min(side - cut - w.abs()).max(0.0) / side
                };
                differences().zip(laws).map(common).product()
            }
        }
    }
}

/// How far rows may count that count up to a reach, in halves of the distance by the spread.
pub(crate) fn farthest(shape: Shape, reach: f64) -> f64 {
    match shape {
        Shape::Gaussian => reach,
        Shape::Uniform => 0.5,
    }
}

/// How far a point at this squared distance is at most, as [`Shape::within`] says it.
pub(crate) fn as_visited(shape: Shape, squared: f64) -> f64 {
    match shape {
        Shape::Gaussian => squared,
        Shape::Uniform => squared.sqrt(),
    }
}

/// How much a row counts, to about a millionth, from how far [`Shape::within`] says it is;
/// nothing if that does not tell it.
pub(crate) fn roughly(shape: Shape, tails: &Tails) -> Option<impl Fn(f64) -> f64> {
    match shape {
        Shape::Gaussian => Some(|far: f64| match far == 0.0 {
            true => 1.0,
            false => tails.above(0.5 * far.sqrt()),
        }),
        Shape::Uniform => None,
    }
}

/// Between what a row counts towards another that differs, in units of the spread.
pub(crate) struct CountBounds<'a> {
    pub(crate) shape: Shape,
    pub(crate) tails: &'a Tails,
    /// How much rounding may take from a box.
    pub(crate) cuts: Vec<f64>,
    /// Rows surely count up to here, by half their distance.
    pub(crate) within: f64,
    /// How far a difference may be off by rounding.
    pub(crate) slip: f64,
}

impl CountBounds<'_> {
    /// For a row at `point`, which is as far from `centre` as [`Shape::within`] says.
    #[inline]
    pub(crate) fn of(&self, centre: &[f64], point: &[f64], far: f64) -> (f64, f64) {
        match self.shape {
            Shape::Gaussian => {
                let half = 0.5 * far.sqrt();
                let above = self.tails.above(half);
                let low = match half <= self.within {
                    true => (above - CHORD - self.slip).max(0.0),
                    false => 0.0,
                };
                (low, above + self.slip)
            }
            Shape::Uniform => {
                let mut common = 1.0;
                for ((a, b), cut) in point.iter().zip(centre).zip(&self.cuts) {
                    let free = (1.0 - 2.0 * cut).min(1.0 - cut - (a - b).abs());
                    common *= free.max(0.0);
                }
                ((common - self.slip).max(0.0), common + self.slip)
            }
        }
    }
}

/// How many rows fit a published place at least as well as a row, itself among them, and how
/// many better. The place is in units of the spread, on axes with noise.
pub(crate) fn fitting(
    company: &Company<'_>,
    cells: &[f64],
    row: usize,
    place: &[f64],
) -> (f64, f64) {
    let (mut fitting, mut better) = (0.0, 0.0);
    match company.law.shape {
        Shape::Gaussian => {
            let this = company.space.point(row);
            let apart = place.iter().zip(this).map(|(z, x)| (z - x) * (z - x));
            let far: f64 = apart.sum();
            let radius = (far * (1.0 + 1e-9)).sqrt();
            company.space.within::<Ball>(place, radius, |_, _, other| {
                fitting += 1.0;
                better += f64::from(u8::from(other < far * (1.0 - 1e-9)));
                ControlFlow::Continue(())
            });
        }
        Shape::Uniform => {
            // After rounding a turned box is seen through the cells it touches.
            let turned = company.law.cuts.iter().any(|cut| *cut > 0.0);
            let slack: Vec<f64> = match turned {
                true => company.in_spreads(cells),
                false => vec![0.0; company.n_moving()],
            };
            let half = |axis: usize| 0.5 + 0.5 * slack[axis] + 1e-9;
            let widest = (0..slack.len()).map(half).fold(0.5, f64::max);
            company.space.within::<Cube>(place, widest, |_, other, _| {
                let axes = other.iter().zip(place).enumerate();
                let mut fits = axes.map(|(axis, (x, z))| (x - z).abs() <= half(axis));
                fitting += f64::from(u8::from(fits.all(|fits| fits)));
                ControlFlow::Continue(())
            });
        }
    }
    (fitting, better)
}

/// Makes a point that stands for the noise from numbers between 0 and 1: a direction, or a
/// place in the box.
pub(crate) fn point(shape: Shape, point: &mut [f64]) {
    match shape {
        Shape::Gaussian => {
            let normal =
                |part: f64| std::f64::consts::SQRT_2 * erf_inv(2.0 * part - 1.0);
            point.iter_mut().for_each(|part| *part = normal(*part));
            let length = point.iter().map(|g| g * g).sum::<f64>().sqrt();
            point.iter_mut().for_each(|g| *g /= length);
        }
        Shape::Uniform => point.iter_mut().for_each(|part| *part -= 0.5),
    }
}

/// What is known so far of how often a row fits best.
pub(crate) struct Rivals<'a> {
    shape: Shape,
    /// The points that stand for the noise.
    points: &'a [f64],
    /// How much rounding may take from a box, in units of the spread.
    cuts: Vec<f64>,
    /// For each point the radius to the first rival, or how many fit.
    state: Vec<f64>,
    /// How many rows are equal.
    equal: f64,
}

impl<'a> Rivals<'a> {
    /// Nobody but the row itself.
    pub(crate) fn none(shape: Shape, points: &'a [f64], cuts: Vec<f64>) -> Self {
        let start = match shape {
            Shape::Gaussian => f64::INFINITY,
            Shape::Uniform => 1.0,
        };
        let state = vec![start; points.len() / cuts.len()];
        Self { shape, points, cuts, state, equal: 1.0 }
    }

    /// Adds one that is so far apart, in units of the spread; `counts` says whether it is
    /// within reach.
    pub(crate) fn add(&mut self, apart: &[f64], counts: impl FnOnce() -> bool) {
        let equal = apart.iter().all(|v| *v == 0.0);
        let points = self.points.chunks_exact(apart.len());
        match self.shape {
            Shape::Gaussian if equal => self.equal += 1.0,
            Shape::Gaussian if counts() => {
                let square: f64 = apart.iter().map(|v| v * v).sum();
                for (point, radius) in points.zip(&mut self.state) {
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
            Shape::Uniform if apart.iter().all(|v| v.abs() <= 1.0) => {
                for (point, fitting) in points.zip(&mut self.state) {
                    let axes = point.iter().zip(apart).zip(&self.cuts);
                    let mut fits = axes.map(|((o, v), cut)| {
                        let cut = if equal { 0.0 } else { *cut };
                        (o - v).abs() <= 0.5 - cut
                    });
                    if fits.all(|fits| fits) {
                        *fitting += 1.0;
                    }
                }
            }
            // Too far away.
            Shape::Gaussian | Shape::Uniform => {}
        }
    }

    /// How often the row fits best, ties shared.
    pub(crate) fn share(&self) -> f64 {
        let states = self.state.iter();
        let sum: f64 = match self.shape {
            Shape::Gaussian => {
                let dims = self.cuts.len();
                states.map(|radius| within(dims, *radius)).sum::<f64>() / self.equal
            }
            Shape::Uniform => states.map(|fitting| 1.0 / fitting).sum(),
        };
        sum / self.state.len() as f64
    }
}

/// How [`company`] sees a row that is so far apart along each axis: how far at most, and what
/// else it needs.
pub(crate) fn seen(shape: Shape, apart: Vec<f64>, largest: f64) -> Vec<f64> {
    match shape {
        Shape::Gaussian => vec![0.5 * apart.iter().map(|v| v * v).sum::<f64>().sqrt()],
        Shape::Uniform => [vec![largest], apart].concat(),
    }
}

/// The company of a row at a spread of `f`: rows that are equal, and others as [`seen`], the
/// nearest first.
pub(crate) fn company(
    shape: Shape,
    (equal, others): &(f64, Vec<Vec<f64>>),
    f: f64,
    tails: &Tails,
) -> f64 {
    let mut sum = *equal;
    for other in others {
        match shape {
            Shape::Gaussian if other[0] > 8.0 * f => break,
            Shape::Gaussian => sum += tails.above(other[0] / f),
            Shape::Uniform if other[0] >= f => break,
            Shape::Uniform => {
                sum += other[1..].iter().map(|v| 1.0 - v / f).product::<f64>();
            }
        }
    }
    sum
}

/// What noise on an axis may be.
pub(crate) struct NoiseBounds {
    shape: Shape,
    spread: f64,
    /// Its variance, if it is bounded.
    variance: f64,
    /// How much rounding may move it.
    rounding: f64,
    /// As concentrated as normal noise of this spread.
    pub(crate) most: f64,
}

impl NoiseBounds {
    /// Those of an axis, at a spread.
    pub(crate) fn of(axes: &Axes, axis: usize, spread: f64) -> Self {
        let (shape, cell) = (axes.shape, axes.cells[axis]);
        let (rounding, variance, most) = match shape {
            Shape::Gaussian => (cell / 2.0, 0.0, spread),
            Shape::Uniform if axes.is_turned() => {
                (cell / 2.0, spread * spread / 12.0, spread / 2.0)
            }
            Shape::Uniform => {
                let variance = (spread * spread - cell * cell).max(0.0) / 12.0;
                (0.0, variance, spread / 2.0)
            }
        };
        let still = spread == 0.0 && !axes.is_turned();
        let rounding = if still { 0.0 } else { rounding };
        Self { shape, spread, variance, rounding, most: most + rounding }
    }

    /// Between what the sum of squares of n such numbers around their mean is.
    pub(crate) fn squares(&self, n: f64, x: f64) -> (f64, f64) {
        let moved = self.rounding * n.sqrt();
        match self.shape {
            Shape::Gaussian => {
                let (free, wide) = (n - 1.0, 2.0 * ((n - 1.0) * x).sqrt());
                let low = self.spread * (free - wide).max(0.0).sqrt() - moved;
                let high = self.spread * (free + wide + 2.0 * x).sqrt() + moved;
                (low.max(0.0).powi(2), high.powi(2))
            }
            Shape::Uniform => {
                let wide = self.spread.powi(2) / 4.0 * (n * x / 2.0).sqrt();
                let low = (n * self.variance - wide).max(0.0).sqrt() - moved;
                let high = (n * self.variance + wide).sqrt() + moved;
                let mean = 2.0 * self.most.powi(2) * x;
                (low.max(0.0).powi(2) - mean, high.powi(2))
            }
        }
    }
}
