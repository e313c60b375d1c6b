//! Drawing noise.
//!
//! # Guarantee
//! Along the axes of its frame a row's noise is independent, and normal with the level's
//! spread as standard deviation or even in a box with the spread as side. What is returned
//! is rounded to the column's decimals; if axes are columns and noise is even, it is drawn
//! on the lattice, and rounding changes nothing. Rows have their streams by their place in
//! the table, so the result does not depend on threads.
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
use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rand_distr::StandardNormal;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::method::{BlurTask, Blurred, BlurredFrame};
use crate::random::Randomness;
use crate::space::Shape;
use crate::table::snapped;

/// Rows of one stream.
const BLOCK: usize = 4096;

/// Draws what is published of every row, row after row; NaN where a number is missing or the
/// row is left out.
pub fn draw_noise(
    task: &BlurTask<'_>,
    blurred: &Blurred,
    randomness: &Randomness,
) -> Result<Vec<f64>> {
    let numbers = task.numbers;
    let n_columns = numbers.n_columns().max(1);
    let frames: Vec<Turned> =
        blurred.frames.iter().map(Turned::of).collect::<Result<_>>()?;
    let mut drawn = vec![f64::NAN; numbers.values.len()];
    drawn.par_chunks_mut(BLOCK * n_columns).enumerate().for_each(|(block, rows)| {
        let mut generator = randomness.stream("blur", block as u64);
        for (place, drawn) in rows.chunks_exact_mut(n_columns).enumerate() {
            let row = block * BLOCK + place;
            let truth = numbers.row(row);
            if !blurred.spreads.is_empty() {
                let spreads = &blurred.spreads[row * n_columns..][..n_columns];
                for (column, spread) in spreads.iter().enumerate() {
                    let noise = task.noise(*spread, Some(column), &mut generator);
                    drawn[column] =
                        snapped(truth[column] + noise, task.decimals[column]);
                }
            } else if let Some((frame, level)) = blurred.places[row] {
                let (frame, turned) =
                    (&blurred.frames[frame as usize], &frames[frame as usize]);
                let spreads = &frame.levels[level as usize];
                turned.add(task, frame, spreads, truth, drawn, &mut generator);
            }
        }
    });
    Ok(drawn)
}

impl BlurTask<'_> {
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
        match (self.shape, column) {
            (Shape::Gaussian, _) => spread * generator.sample::<f64, _>(StandardNormal),
            (Shape::Uniform, Some(column)) => {
                let steps = 10f64.powi(self.decimals[column] as i32);
                let half = ((spread * steps - 1.0) / 2.0).round().max(0.0) as i64;
                generator.random_range(-half..=half) as f64 / steps
            }
            (Shape::Uniform, None) => spread * (generator.random::<f64>() - 0.5),
        }
    }
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
        task: &BlurTask<'_>,
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
