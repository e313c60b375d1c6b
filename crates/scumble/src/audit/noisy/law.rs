//! The noise of a class: its axes, and tails.
//!
//! # Guarantee
//! [`Axes::noise`] draws from the law that the manifest states. [`NoiseLaw::count`] is the
//! published rule: it is in `shape/`, with all that depends on the shape.
//!
//! # Limits
//! Draws are the auditor's own, by a fixed seed: they are for measuring, not for hiding.
//!
//! # Cost
//! O(d) a row, with one normal tail; O(d²) a draw if axes are turned.
//!
//! # Source
//! `aggarwal2008unifying`, lemmas 2.1 and 2.2; docs/methods.md, "Expected anonymity".

use libm::erfc;
use nalgebra::DMatrix;
use rand_chacha::ChaCha20Rng;

use crate::audit::noisy::shape;
use crate::error::{Error, Result};
use crate::release::{BlurNote, FrameNote};
use crate::space::Shape;
use crate::table::snapped;

/// The axes of a frame.
#[derive(Debug, Clone)]
pub(crate) struct Axes {
    /// The shape of the noise.
    pub(crate) shape: Shape,
    /// The blurred columns that rows of the frame have.
    pub(crate) columns: Vec<usize>,
    /// How many decimals these have.
    decimals: Vec<u32>,
    /// The weights of the columns along each axis, and back, if axes are turned.
    turned: Option<(DMatrix<f64>, DMatrix<f64>)>,
    /// How wide a cell of rounding is along each axis.
    pub(crate) cells: Vec<f64>,
}

impl Axes {
    /// The axes of one of the manifest's frames.
    pub(crate) fn of(note: &BlurNote, frame: &FrameNote) -> Result<Self> {
        let mut axes = Self::straight(note, note.present(frame));
        let Some(weights) = frame.axes.as_ref().filter(|axes| !axes.is_empty()) else {
            return Ok(axes);
        };
        let dims = axes.dims();
        let matrix = DMatrix::from_fn(dims, dims, |axis, column| weights[axis][column]);
        let back = matrix.clone().try_inverse();
        let back = back.filter(|back| back.iter().all(|weight| weight.is_finite()));
        let back = back.ok_or_else(|| {
            Error::input(format!(
                "the manifest has a frame {} whose axes do not fit its columns",
                frame.frame
            ))
        })?;
        axes.cells = weights
            .iter()
            .map(|axis| {
                axis.iter().zip(&axes.cells).map(|(weight, h)| weight.abs() * h).sum()
            })
            .collect();
        axes.turned = Some((matrix, back));
        Ok(axes)
    }

    /// Axes along these columns.
    pub(crate) fn straight(note: &BlurNote, columns: Vec<usize>) -> Self {
        let decimals: Vec<u32> =
            columns.iter().map(|column| note.columns[*column].decimals).collect();
        let cells = decimals.iter().map(|p| 1.0 / 10f64.powi(*p as i32)).collect();
        Self { shape: note.shape, columns, decimals, turned: None, cells }
    }

    /// How many there are.
    pub(crate) fn dims(&self) -> usize {
        self.columns.len()
    }

    /// Whether they are not the columns.
    pub(crate) fn is_turned(&self) -> bool {
        self.turned.is_some()
    }

    /// Adds the coordinates along the axes of a row with numbers in all blurred columns.
    pub(crate) fn place(&self, row: &[f64], coordinates: &mut Vec<f64>) {
        let number = |place: usize| row[self.columns[place]];
        match &self.turned {
            None => coordinates.extend((0..self.dims()).map(number)),
            Some((matrix, _)) => coordinates.extend((0..self.dims()).map(|axis| {
                (0..self.dims())
                    .map(|place| matrix[(axis, place)] * number(place))
                    .sum::<f64>()
            })),
        }
    }

    /// The law of a level.
    pub(crate) fn law(&self, spreads: &[f64]) -> NoiseLaw {
        let (shape, turned) = (shape::of(self.shape), self.is_turned());
        NoiseLaw {
            shape: self.shape,
            spreads: spreads.to_vec(),
            cuts: self.cells.iter().map(|cell| shape.cut(turned, *cell)).collect(),
        }
    }

    /// Noise along the axes, drawn anew, and rounded as published numbers are: its
    /// coordinates.
    pub(crate) fn noise(&self, spreads: &[f64], rng: &mut ChaCha20Rng) -> Vec<f64> {
        let (shape, turned) = (shape::of(self.shape), self.is_turned());
        let axes = spreads.iter().zip(&self.cells);
        let drawn = axes.map(|(spread, cell)| match *spread {
            0.0 => 0.0,
            spread => shape.draw(turned, spread, *cell, rng),
        });
        let drawn: Vec<f64> = drawn.collect();
        let rounded = |place: usize, value: f64| snapped(value, self.decimals[place]);
        match &self.turned {
            // True numbers are on the lattice, so rounding the noise is rounding the sum.
            None => drawn.iter().enumerate().map(|(a, n)| rounded(a, *n)).collect(),
            Some((matrix, back)) => {
                let moved = back * DMatrix::from_vec(self.dims(), 1, drawn);
                let moved =
                    DMatrix::from_fn(self.dims(), 1, |c, _| rounded(c, moved[c]));
                (matrix * moved).iter().copied().collect()
            }
        }
    }

    /// The standard deviation of the noise on each column, rounding left aside.
    pub(crate) fn deviations(&self, spreads: &[f64]) -> Vec<f64> {
        let (shape, turned) = (shape::of(self.shape), self.is_turned());
        let axes = spreads.iter().zip(&self.cells);
        let along: Vec<f64> =
            axes.map(|(s, cell)| shape.deviation(turned, *s, *cell)).collect();
        match &self.turned {
            None => along,
            Some((_, back)) => (0..self.dims())
                .map(|column| {
                    let parts = along.iter().enumerate();
                    parts
                        .map(|(axis, s)| (back[(column, axis)] * s).powi(2))
                        .sum::<f64>()
                })
                .map(f64::sqrt)
                .collect(),
        }
    }
}

/// The law of the noise at one level of a frame.
#[derive(Debug, Clone)]
pub(crate) struct NoiseLaw {
    /// The shape of the noise.
    pub(crate) shape: Shape,
    /// Standard deviation or side of the box along each axis.
    pub(crate) spreads: Vec<f64>,
    /// How much rounding may take from the box along each axis.
    pub(crate) cuts: Vec<f64>,
}

/// The probability that a standard normal number is at least `u`.
pub(crate) fn tail(u: f64) -> f64 {
    0.5 * erfc(u * std::f64::consts::FRAC_1_SQRT_2)
}

/// Bounds of [`tail`] that need no function call.
#[derive(Debug)]
pub(crate) struct Tails {
    values: Vec<f64>,
}

/// Steps of the table for a unit.
const STEPS: f64 = 512.0;

/// How much the chord of a step is above the curve at most: a square of the step by eight
/// times the largest second derivative, which is 0.242 at 1.
pub(crate) const CHORD: f64 = 0.2420 / (8.0 * STEPS * STEPS) + 1e-15;

impl Tails {
    /// For numbers from 0 up to `most`.
    pub(crate) fn new(most: f64) -> Self {
        let n = (most * STEPS).ceil() as usize + 3;
        Self { values: (0..n).map(|place| tail(place as f64 / STEPS)).collect() }
    }

    /// At least the tail, by no more than [`CHORD`].
    pub(crate) fn above(&self, u: f64) -> f64 {
        let place = u * STEPS;
        let low = place as usize;
        match self.values.get(low..low + 2) {
            Some([first, second]) => {
                let part = place - low as f64;
                first + (second - first) * part
            }
            _ => tail(u),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_are_above_and_near() {
        let tails = Tails::new(4.0);
        for place in 0..40_000 {
            let u = f64::from(place) * 1e-4;
            let (above, exact) = (tails.above(u), tail(u));
            assert!(above >= exact - 1e-16 && above - exact <= CHORD, "{u}");
        }
        assert_eq!(tail(0.0), 0.5);
        assert!((tail(1.0) - 0.158_655_253_931_457).abs() < 1e-14);
    }
}
