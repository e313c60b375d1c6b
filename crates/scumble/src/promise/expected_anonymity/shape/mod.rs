//! All that depends on the shape of noise, for the publisher: who counts as company, how
//! that is added up, and how noise is drawn. A file for each shape.
//!
//! # Guarantee
//! [`Law::count`] is at most the probability that a row at a difference `w` fits the
//! published row at least as well as the true one; summed over rows it is a lower bound of
//! the true row's expected rank, after rounding. The shape's file has the proof.
//!
//! # Limits
//! Each axis is rounded on its own, and rows are compared two at a time.
//!
//! # Cost
//! A shape is asked once for a list of rows or a leaf of the tree, not for every row.
//!
//! # Source
//! `aggarwal2008unifying`, lemmas 2.1 and 2.2; corrections: docs/methods.md,
//! "Expected anonymity". Rounding is ours.

mod gaussian;
mod uniform;

use std::fmt::Debug;

use rand_chacha::ChaCha20Rng;

use crate::space::{Leaf, Shape, Space};

/// What the publisher knows of a shape.
pub(crate) fn of(shape: Shape) -> &'static dyn NoiseShape {
    match shape {
        Shape::Gaussian => &gaussian::Gaussian,
        Shape::Uniform => &uniform::Uniform,
    }
}

/// What the publisher must know of a shape. Distances are straight, sums or the largest
/// difference, as [`Shape::within`] measures them; halves are halves of the distance by the
/// spread.
pub(crate) trait NoiseShape: Debug + Sync {
    /// How far rows count, in halves: further ones would add little or nothing, and looking
    /// at all of them takes long. Part of the format.
    fn reach(&self, dims: usize) -> f64;

    /// How much a row counts that differs by `w` along the axes, up to a reach.
    fn count(&self, law: &Law, w: &[f64], reach: f64) -> f64;

    /// The most that a row counts that is not nearer than this, in halves.
    fn at_most(&self, halves: f64) -> f64;

    /// The most company any noise can give a row that has so many equals, itself included.
    /// Most others fit better as often as worse.
    fn most_company(&self, n_rows: usize, n_equal: usize) -> f64 {
        n_equal as f64 + (n_rows - n_equal) as f64 / 2.0
    }

    /// Whether noise along a column is an even choice of steps: its spread is an odd number
    /// of them, and rounding changes nothing.
    fn in_steps(&self) -> bool {
        false
    }

    /// Noise along an axis; if that is a column, with so many steps in a unit.
    fn draw(&self, spread: f64, steps: Option<f64>, generator: &mut ChaCha20Rng)
    -> f64;

    /// How much points of a leaf count, in units of the spread. Not less than by law.
    fn counts(&self, look: &Look<'_>, leaf: Leaf<'_>, first: usize) -> Batch;

    /// By how much [`Self::counts`] may exceed a count.
    fn slip(&self) -> f64 {
        0.0
    }

    /// How many spreads there are, about, between a row and those it is hidden among.
    fn usual_distance(&self) -> f64;

    /// Lists the rows within a distance, for [`Self::sum`].
    fn list(&self, space: &Space, centre: &[f64], distance: f64, listed: &mut Listed);

    /// How much the rows of a list count that are not equal, if `spread` is that of all
    /// axes; not more than by law without a reach.
    fn sum(&self, listed: &Listed, spread: f64, cuts: &[f64]) -> f64;

    /// By which share [`Self::sum`] may be too low.
    fn rounding(&self) -> f64 {
        0.0
    }

    /// Makes a point that stands for noise from even numbers between 0 and 1.
    fn point(&self, point: &mut [f64]);

    /// How often a row fits best, ties shared, summed over points that stand for noise.
    fn sum_of_guesses(&self, points: &[f64], rivals: &Rivals, cuts: &[f64]) -> f64;
}

/// How noise is spread along the axes of a frame at one level.
#[derive(Debug, Clone, PartialEq)]
pub struct Law {
    /// Its shape.
    pub shape: Shape,
    /// Standard deviation or side on each axis, in the axis's own units; zero where there
    /// is no noise.
    pub spreads: Vec<f64>,
    /// How wide a cell of rounding is along each axis; zero if rounding is exact.
    pub cuts: Vec<f64>,
}

impl Law {
    /// How much a row counts that differs by `w` along the axes.
    pub fn count(&self, w: &[f64]) -> f64 {
        self.count_within(w, of(self.shape).reach(self.spreads.len()))
    }

    /// For comparison only: the same with far rows counted as well, the paper's sums.
    pub fn count_without_reach(&self, w: &[f64]) -> f64 {
        self.count_within(w, f64::MAX)
    }

    fn count_within(&self, w: &[f64], reach: f64) -> f64 {
        let equal = w.iter().all(|w| *w == 0.0);
        if equal { 1.0 } else { of(self.shape).count(self, w, reach) }
    }
}

/// Whether wide noise hides a row among all others.
pub(crate) fn hides_among_all(shape: Shape) -> bool {
    of(shape).most_company(2, 1) == 2.0
}

/// A look at the rows around one, in units of the spread.
#[derive(Debug)]
pub(crate) struct Look<'a> {
    /// Where the row is.
    pub(crate) centre: &'a [f64],
    /// The cuts of the law.
    pub(crate) cuts: &'a [f64],
    /// Rows surely count up to the first and may count up to the second, as the metric adds
    /// distances up.
    pub(crate) limits: (f64, f64),
}

impl Look<'_> {
    /// The axes of points of a leaf: number, where the row is, and where the points are.
    fn axes<'b>(
        &self,
        leaf: Leaf<'b>,
        first: usize,
    ) -> impl Iterator<Item = (usize, f64, &'b [f64])> {
        let end = leaf.rows.len().min(first + BATCH);
        let centre = self.centre.iter().enumerate();
        centre.map(move |(axis, value)| (axis, *value, &leaf.column(axis)[first..end]))
    }
}

/// Points measured at once.
pub(crate) const BATCH: usize = 24;

/// How much points of a leaf count.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// How much each counts; zero if it does not, or if there are fewer.
    pub(crate) counts: [f64; BATCH],
    /// How many may count.
    pub(crate) terms: f64,
    /// How many of these are so near the end of the reach that they may not.
    pub(crate) edges: f64,
}

/// The rows listed around one.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// What the shape needs to know of rows that differ.
    numbers: Vec<f64>,
    /// How many rows are equal, itself included.
    pub(crate) n_equal: usize,
    /// How many rows there are in all.
    pub(crate) n_listed: usize,
}

impl Listed {
    pub(crate) fn clear(&mut self) {
        self.numbers.clear();
        (self.n_equal, self.n_listed) = (0, 0);
    }
}

/// The rows that may fit as well as one of them.
#[derive(Debug, Default)]
pub(crate) struct Rivals {
    /// How many rows are equal to it, itself included.
    pub(crate) equal: usize,
    /// Differences in spreads along the noisy axes, rival by rival.
    pub(crate) differences: Vec<f64>,
}
