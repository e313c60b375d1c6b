//! All that depends on the shape of noise, for the audit: a file for each shape.
//!
//! # Guarantee
//! [`NoiseLaw::count`] is the published rule: how much a row at a given difference counts
//! towards another one's anonymity. [`NoiseShape::draw`] draws from the law that the manifest
//! states.
//!
//! # Limits
//! The publisher has code of its own for all this.
//!
//! # Cost
//! That of whoever asks.
//!
//! # Source
//! `aggarwal2008unifying`, lemmas 2.1 and 2.2; docs/methods.md, "Expected anonymity".

mod gaussian;
mod uniform;

use rand_chacha::ChaCha20Rng;

use crate::audit::noisy::law::Tails;
use crate::audit::noisy::{Axes, Company, NoiseLaw};
use crate::space::{Leaf, Shape};

/// What the audit knows of a shape.
pub(crate) fn of(shape: Shape) -> &'static dyn NoiseShape {
    match shape {
        Shape::Gaussian => &gaussian::Gaussian,
        Shape::Uniform => &uniform::Uniform,
    }
}

/// What the audit must know of a shape. `far` is a distance as [`Shape::within`] says it,
/// in units of the spread; halves are halves of the distance by the spread.
pub(crate) trait NoiseShape: Sync {
    /// What the report says of noise: what a spread is, and what the width is of.
    fn words(&self) -> [&'static str; 2];

    /// How wide noise is, in standard deviations.
    fn width(&self) -> f64;

    /// Whether spreads along columns are an odd number of steps, so that rounding changes
    /// nothing. Others may be any number, published with ten digits.
    fn in_steps(&self) -> bool {
        false
    }

    /// How much rounding may take from a row's box along an axis with cells so wide.
    fn cut(&self, _turned: bool, _cell: f64) -> f64 {
        0.0
    }

    /// Noise along an axis, drawn anew; before it is rounded, if axes are turned.
    fn draw(&self, turned: bool, spread: f64, cell: f64, rng: &mut ChaCha20Rng) -> f64;

    /// The standard deviation of noise along an axis, rounding left aside.
    fn deviation(&self, turned: bool, spread: f64, cell: f64) -> f64;

    /// How far rows count on so many axes, in halves.
    fn reach(&self, dims: usize) -> f64;

    /// How far rows may count that count up to a reach, in halves.
    fn farthest(&self, reach: f64) -> f64 {
        reach
    }

    /// How much a row at `other` counts towards one at `this`, up to a reach. The order of the
    /// operations is part of the rule: whether a row is just within reach must not depend on
    /// who computes it.
    fn count(&self, law: &NoiseLaw, this: &[f64], other: &[f64], reach: f64) -> f64;

    /// Between what a row at `point` counts towards one at `centre` that differs.
    fn bounds(
        &self,
        look: &CountBounds<'_>,
        centre: &[f64],
        point: &[f64],
        far: f64,
    ) -> (f64, f64);

    /// The same for all points of a leaf up to a limit, as the metric adds it up.
    fn sums(
        &self,
        look: &CountBounds<'_>,
        centre: &[f64],
        leaf: Leaf<'_>,
        limit: f64,
    ) -> LeafSums;

    /// How much a row counts, to about a millionth, if its distance tells.
    fn roughly(&self, _far: f64, _tails: &Tails) -> Option<f64> {
        None
    }

    /// How far a point at this squared distance may be.
    fn as_visited(&self, squared: f64) -> f64;

    /// The rows that fit a published place at least as well as a row, itself among them, and
    /// how ill each fits. The place is in units of the spread, on axes with noise.
    fn fitting(
        &self,
        company: &Company<'_>,
        cells: &[f64],
        row: usize,
        place: &[f64],
    ) -> Vec<(usize, f64)>;

    /// How ill a row fits a published place at this squared distance: minus the logarithm of
    /// the density, and a little for the distance where that is the same everywhere; nothing
    /// if it cannot have been published there.
    fn misfit(
        &self,
        company: &Company<'_>,
        row: usize,
        place: &[f64],
        squared: f64,
    ) -> Option<f64>;

    /// Whether all rows that fit a place fit it alike.
    fn is_even(&self) -> bool {
        false
    }

    /// Makes a point that stands for the noise from numbers between 0 and 1.
    fn point(&self, point: &mut [f64]);

    /// What is known of a point before any rival.
    fn start(&self) -> f64;

    /// Adds a rival that is so far apart; `counts` says whether it is within reach.
    fn add(&self, rivals: &mut Rivals<'_>, apart: &[f64], counts: &dyn Fn() -> bool);

    /// How often the row fits best, ties shared, summed over the points.
    fn sum(&self, rivals: &Rivals<'_>) -> f64;

    /// How [`Self::company`] sees a row that is so far apart along each axis: how far at
    /// most, and what else it needs.
    fn seen(&self, apart: Vec<f64>) -> Vec<f64>;

    /// The company at a spread of `f`: rows that are equal, and others as [`Self::seen`], the
    /// nearest first.
    fn company(&self, equal: f64, others: &[Vec<f64>], f: f64, tails: &Tails) -> f64;

    /// What noise on an axis may be: how much rounding may move it, its variance, and as
    /// concentrated as which normal noise it is.
    fn concentration(&self, turned: bool, spread: f64, cell: f64) -> (f64, f64, f64);

    /// Between what the sum of squares of n such numbers around their mean is.
    fn squares(&self, bounds: &NoiseBounds, n: f64, x: f64) -> (f64, f64);
}

impl NoiseLaw {
    /// How far rows count, in halves of the distance by the spread.
    pub(crate) fn reach(&self) -> f64 {
        of(self.shape).reach(self.spreads.len())
    }

    /// How much a row counts whose coordinates are `other`, towards one at `this`.
    pub(crate) fn count(&self, this: &[f64], other: &[f64], reach: f64) -> f64 {
        let equal = other.iter().zip(this).all(|(a, b)| a - b == 0.0);
        if equal { 1.0 } else { of(self.shape).count(self, this, other, reach) }
    }
}

/// What rows count, within bounds, in units of the spread.
pub(crate) struct CountBounds<'a> {
    pub(crate) tails: &'a Tails,
    /// How much rounding may take from a box.
    pub(crate) cuts: &'a [f64],
    /// Rows surely count up to here, by half their distance.
    pub(crate) within: f64,
    /// How far a difference may be off by rounding.
    pub(crate) slip: f64,
}

/// What the points of a leaf count together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LeafSums {
    /// At least.
    pub(crate) low: f64,
    /// At most.
    pub(crate) high: f64,
    /// How many are equal.
    pub(crate) equal: f64,
    /// How far the last one is.
    pub(crate) farthest: f64,
}

/// What is known so far of how often a row fits best.
pub(crate) struct Rivals<'a> {
    shape: &'static dyn NoiseShape,
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
        let shape = of(shape);
        let state = vec![shape.start(); points.len() / cuts.len()];
        Self { shape, points, cuts, state, equal: 1.0 }
    }

    /// Adds one that is so far apart, in units of the spread.
    pub(crate) fn add(&mut self, apart: &[f64], counts: &dyn Fn() -> bool) {
        self.shape.add(self, apart, counts);
    }

    /// How often the row fits best.
    pub(crate) fn share(&self) -> f64 {
        self.shape.sum(self) / self.state.len() as f64
    }
}

/// What noise on an axis may be.
pub(crate) struct NoiseBounds {
    shape: &'static dyn NoiseShape,
    spread: f64,
    variance: f64,
    /// How much rounding may move it.
    rounding: f64,
    /// As concentrated as normal noise of this spread.
    pub(crate) most: f64,
}

impl NoiseBounds {
    /// Those of an axis, at a spread.
    pub(crate) fn of(axes: &Axes, axis: usize, spread: f64) -> Self {
        let (shape, turned) = (of(axes.shape), axes.is_turned());
        let (rounding, variance, most) =
            shape.concentration(turned, spread, axes.cells[axis]);
        let rounding = if spread == 0.0 && !turned { 0.0 } else { rounding };
        Self { shape, spread, variance, rounding, most: most + rounding }
    }

    /// Between what the sum of squares of n such numbers around their mean is.
    pub(crate) fn squares(&self, n: f64, x: f64) -> (f64, f64) {
        self.shape.squares(self, n, x)
    }
}
