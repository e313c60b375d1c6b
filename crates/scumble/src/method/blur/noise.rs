//! Drawing noise.
//!
//! # Guarantee
//! Along the axes of its frame a row's noise is independent, of the shape and with the
//! level's spread. What is returned is rounded to the column's decimals; if axes are columns and noise is even, it is drawn
//! on the lattice, and rounding changes nothing. Rows have their streams by their place in
//! the table, so the result depends neither on threads nor on other rows; equal numbers of a
//! person in the same class have the stream of the first, so that ten rows of somebody tell
//! no more than one.
//!
//! # Limits
//! Normal noise is drawn in double precision, and what was rounded away stays unknown.
//!
//! # Cost
//! O(n d), and O(n d²) if axes are turned.
//!
//! # Source
//! `aggarwal2008unifying`, section II.

use nalgebra::{DMatrix, DVector};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::method::{BlurTask, Blurred, BlurredFrame};
use crate::promise::shape;
use crate::random::Randomness;
use crate::space::Shape;
use crate::table::snapped;
use crate::watch::Watched;

/// Draws what is published of rows.
pub struct NoiseDrawer<'a> {
    blurred: &'a Blurred,
    shape: Shape,
    decimals: Vec<u32>,
    frames: Vec<Turned>,
}

impl<'a> NoiseDrawer<'a> {
    /// For rows that are blurred in this way.
    pub fn new(blurred: &'a Blurred, shape: Shape, decimals: Vec<u32>) -> Result<Self> {
        let frames = blurred.frames.iter().map(Turned::of).collect::<Result<_>>()?;
        Ok(Self { blurred, shape, decimals, frames })
    }

    /// Whether the row of this number is published.
    pub fn publishes(&self, row: usize) -> bool {
        !self.blurred.spreads.is_empty() || self.blurred.places[row].is_some()
    }

    /// Writes what is published of the row of this number, which has the numbers `truth`,
    /// into `drawn`; NaN where a number is missing or the row is left out.
    pub fn draw(
        &self,
        row: usize,
        truth: &[f64],
        drawn: &mut [f64],
        randomness: &Randomness,
    ) {
        drawn.fill(f64::NAN);
        let drawn_as = self.blurred.drawn_as.get(row).map_or(row, |row| *row as usize);
        let mut generator = randomness.stream("blur", drawn_as as u64);
        let n_columns = self.decimals.len();
        if !self.blurred.spreads.is_empty() {
            let spreads = &self.blurred.spreads[row * n_columns..][..n_columns];
            for (column, spread) in spreads.iter().enumerate() {
                let noise = self.noise(*spread, Some(column), &mut generator);
                drawn[column] = snapped(truth[column] + noise, self.decimals[column]);
            }
        } else if let Some((frame, level)) = self.blurred.places[row] {
            let turned = &self.frames[frame as usize];
            let frame = &self.blurred.frames[frame as usize];
            let spreads = &frame.levels[level as usize];
            turned.add(self, frame, spreads, truth, drawn, &mut generator);
        }
    }

    /// The spread of a row's noise on a column, if it has one.
    pub fn spread(&self, row: usize, column: usize) -> Option<f64> {
        match self.blurred.places.get(row) {
            Some(Some((frame, level))) => {
                let frame = &self.blurred.frames[*frame as usize];
                let axis = frame.columns.iter().position(|known| *known == column)?;
                Some(frame.levels[*level as usize][axis])
            }
            _ => self.blurred.spreads.get(row * self.decimals.len() + column).copied(),
        }
    }

    /// Frame and level of a row, both from 0.
    pub fn place(&self, row: usize) -> Option<(u32, u32)> {
        self.blurred.places.get(row).copied().flatten()
    }

    /// Noise along an axis, on the lattice of a column if the axis is one.
    fn noise(
        &self,
        spread: f64,
        column: Option<usize>,
        generator: &mut ChaCha20Rng,
    ) -> f64 {
        if spread <= 0.0 || spread.is_nan() {
            return 0.0;
        }
        let steps = column.map(|column| 10f64.powi(self.decimals[column] as i32));
        shape::of(self.shape).draw(spread, steps, generator)
    }
}

/// Draws what is published of every row, row after row; NaN where a number is missing or the
/// row is left out.
pub fn draw_noise<'a>(
    task: impl Into<Watched<'a, BlurTask<'a>>>,
    blurred: &Blurred,
    randomness: &Randomness,
) -> Result<Vec<f64>> {
    let Watched { task, watch } = task.into();
    let drawer = NoiseDrawer::new(blurred, task.shape, task.decimals.to_vec())?;
    let n_columns = task.numbers.n_columns().max(1);
    let mut drawn = vec![f64::NAN; task.numbers.values.len()];
    drawn.par_chunks_mut(n_columns).enumerate().try_for_each(|(row, drawn)| {
        watch.check()?;
        drawer.draw(row, task.numbers.row(row), drawn, randomness);
        Ok(())
    })?;
    Ok(drawn)
}

/// How noise along the axes of a frame falls on its columns.
enum Turned {
    /// Axes are columns.
    No,
    /// The inverse of the axes.
    Yes(DMatrix<f64>),
}

impl Turned {
    fn of(frame: &BlurredFrame) -> Result<Self> {
        let Some(axes) = &frame.axes else { return Ok(Self::No) };
        let n_axes = axes.len();
        let matrix =
            DMatrix::from_fn(n_axes, n_axes, |axis, column| axes[axis][column]);
        let inverse = matrix.try_inverse();
        let inverse = inverse.filter(|inverse| inverse.iter().all(|x| x.is_finite()));
        inverse.map(Self::Yes).ok_or_else(|| {
            Error::input("the axes of a part of the table cannot be told apart")
                .with_hint("use `frame = \"local\"`")
        })
    }

    fn add(
        &self,
        task: &NoiseDrawer<'_>,
        frame: &BlurredFrame,
        spreads: &[f64],
        truth: &[f64],
        drawn: &mut [f64],
        generator: &mut ChaCha20Rng,
    ) {
        let columns = frame.columns.iter();
        match self {
            Self::No => {
                for (column, spread) in columns.zip(spreads) {
                    let noise = task.noise(*spread, Some(*column), generator);
                    drawn[*column] =
                        snapped(truth[*column] + noise, task.decimals[*column]);
                }
            }
            Self::Yes(inverse) => {
                let along = spreads.iter().map(|s| task.noise(*s, None, generator));
                let along = DVector::from_iterator(spreads.len(), along);
                let noise = inverse * along;
                for (column, noise) in columns.zip(noise.iter()) {
                    drawn[*column] =
                        snapped(truth[*column] + noise, task.decimals[*column]);
                }
            }
        }
    }
}
