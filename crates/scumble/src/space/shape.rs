//! Shapes of noise: what anybody knows of them, and how far apart points are for each.
//!
//! What follows from a shape is worked out three times, by publisher, audit and estimate:
//! `promise/expected_anonymity/shape/`, `audit/noisy/shape/` and
//! `estimate/laws/numbers/law.rs`.

use std::ops::ControlFlow;

use libm::erfc;
use serde::{Deserialize, Serialize};

use crate::space::{Leaf, Space};

/// How noise is spread around a value, along each axis on its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Normal noise; its spread is the standard deviation.
    #[default]
    Gaussian,
    /// Even within a box; its spread is the length of the box's side.
    Uniform,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Gaussian, Self::Uniform];

    /// Its name in recipes and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "gaussian",
            Self::Uniform => "uniform",
        }
    }

    /// Its name in sentences.
    pub fn adjective(self) -> &'static str {
        match self {
            Self::Gaussian => "normal",
            Self::Uniform => "even",
        }
    }

    /// What its spread is.
    pub fn spread(self) -> &'static str {
        match self {
            Self::Gaussian => "standard deviation",
            Self::Uniform => "side of the box",
        }
    }

    /// The variance of noise whose spread is 1.
    pub fn variance(self) -> f64 {
        match self {
            Self::Gaussian => 1.0,
            Self::Uniform => 1.0 / 12.0,
        }
    }

    /// How badly a value fits that is `u` spreads away along an axis: by how much twice the
    /// logarithm of the density is below its top. The last digit does not count.
    pub fn misfit(self, u: f64) -> f64 {
        match self {
            Self::Gaussian => u * u,
            Self::Uniform if u.abs() <= 0.5 + 1e-9 => 0.0,
            Self::Uniform => f64::INFINITY,
        }
    }

    /// The probability that noise along an axis is at least `u` spreads.
    pub fn above(self, u: f64) -> f64 {
        match self {
            Self::Gaussian => 0.5 * erfc(u / std::f64::consts::SQRT_2),
            Self::Uniform => (0.5 - u).clamp(0.0, 1.0),
        }
    }

    /// Visits the living points within a distance, as [`Space::within`] does, in the metric
    /// in which whoever is nearer fits better.
    pub fn within(
        self,
        space: &Space,
        centre: &[f64],
        distance: f64,
        visit: impl FnMut(usize, &[f64], f64) -> ControlFlow<()>,
    ) {
        match self {
            Self::Gaussian => space.within::<Ball>(centre, distance, visit),
            Self::Uniform => space.within::<Cube>(centre, distance, visit),
        }
    }

    /// The same for leaves, with a distance as the metric adds it up.
    pub fn leaves_within(
        self,
        space: &Space,
        centre: &[f64],
        limit: f64,
        visit: impl FnMut(Leaf<'_>) -> ControlFlow<()>,
    ) {
        match self {
            Self::Gaussian => space.leaves_within::<Ball>(centre, limit, visit),
            Self::Uniform => space.leaves_within::<Cube>(centre, limit, visit),
        }
    }

    /// A distance as its metric adds it up.
    pub fn added(self, distance: f64) -> f64 {
        match self {
            Self::Gaussian => Ball::added(distance),
            Self::Uniform => Cube::added(distance),
        }
    }

    /// How long a difference is in its metric.
    pub fn length(self, difference: &[f64]) -> f64 {
        let along = difference.iter().copied();
        match self {
            Self::Gaussian => along.fold(0.0, Ball::add).sqrt(),
            Self::Uniform => along.fold(0.0, Cube::add),
        }
    }
}

/// How far apart points are.
pub trait Metric {
    /// What is known so far, and the difference along one more axis.
    fn add(so_far: f64, difference: f64) -> f64;

    /// A distance as `add` has it.
    fn added(distance: f64) -> f64;
}

/// The straight distance; its square is added up.
#[derive(Debug)]
pub struct Ball;

impl Metric for Ball {
    #[inline(always)]
    fn add(so_far: f64, difference: f64) -> f64 {
        so_far + difference * difference
    }

    fn added(distance: f64) -> f64 {
        distance * distance
    }
}

/// The largest difference of a coordinate.
#[derive(Debug)]
pub struct Cube;

impl Metric for Cube {
    #[inline(always)]
    fn add(so_far: f64, difference: f64) -> f64 {
        so_far.max(difference.abs())
    }

    fn added(distance: f64) -> f64 {
        distance
    }
}
