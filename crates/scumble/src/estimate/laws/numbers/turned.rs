//! Noise along axes that are not columns: a fixed set of noises in place of an integral.
//!
//! # Guarantee
//! A true number is equally likely, before, anywhere on the lattice of the domain; then given
//! the published row it is the published number less noise, rounded: the noise that leads
//! from x to z by rounding is the noise that leads from z into the cell of x. So shares of
//! noises that lead into a range estimate its posterior probability.
//!
//! # Limits
//! 256 noises a row, spread out evenly (an additive sequence, each row with a run of its
//! own): shares are off by a few thousandths, and errors of rows do not go together. Noises
//! that lead out of the domain are dropped; if fewer than 16 are left, more are tried, and
//! if none is, the nearest point of the domain stands for the row.
//!
//! # Cost
//! 256 times the columns squared for each row.
//!
//! # Source
//! Ours; the sequence is that of the best guess (the root of `x^(d+1) = x + 1`).

use nalgebra::DMatrix;

use crate::estimate::laws::numbers::law::quantile_of_unit;
use crate::estimate::laws::numbers::{Bounds, Lattice};
use crate::release::FrameNote;
use crate::space::Shape;

/// How many noises a row is tried with.
const TRIED: usize = 256;

/// How many runs there are to choose from.
const RUNS: usize = 4096;

/// With fewer noises within the domain more are tried.
const FEWEST: usize = 16;

/// The noise of a frame.
#[derive(Debug)]
pub(crate) struct Turned {
    /// The columns that its rows have.
    present: Vec<usize>,
    bounds: Bounds,
    /// The axes, and the spreads along them at each level.
    pub(crate) axes: Vec<Vec<f64>>,
    pub(crate) spreads: Vec<Vec<f64>>,
    /// For each level, how far a unit along each axis leads along each present column, in
    /// steps.
    levels: Vec<Vec<Vec<f64>>>,
    /// The variance of each column's noise at each level, in steps.
    variances: Vec<Vec<f64>>,
    /// Noises along the axes, in units of the spread.
    units: Vec<f64>,
}

impl Turned {
    /// A frame's noise; nothing if its numbers do not fit together.
    pub(crate) fn new(
        shape: Shape,
        present: &[usize],
        frame: &FrameNote,
        lattices: &[Lattice],
        bounds: Bounds,
    ) -> Option<Self> {
        let dims = present.len();
        let straight = |a: usize| (0..dims).map(move |c| f64::from(u8::from(a == c)));
        let axes = match &frame.axes {
            Some(axes) => axes.clone(),
            None => (0..dims).map(|axis| straight(axis).collect()).collect(),
        };
        let square = axes.len() == dims && axes.iter().all(|axis| axis.len() == dims);
        let known = frame.levels.iter().all(|spreads| spreads.len() == dims);
        if !(square && known) {
            return None;
        }
        // Noise is drawn along coordinates, which are the axes times the numbers: what it does
        // to the numbers is the inverse of that.
        let matrix = DMatrix::from_fn(dims, dims, |axis, column| axes[axis][column]);
        let inverse = matrix.try_inverse()?;
        let level = |spreads: &Vec<f64>| -> Vec<Vec<f64>> {
            let along = |(axis, spread): (usize, &f64)| -> Vec<f64> {
                let column =
                    |c: usize| inverse[(c, axis)] * spread * lattices[present[c]].scale;
                (0..dims).map(column).collect()
            };
            spreads.iter().enumerate().map(along).collect()
        };
        let levels: Vec<Vec<Vec<f64>>> = frame.levels.iter().map(level).collect();
        let of_unit = shape.variance();
        let variances = levels.iter().map(|axes| {
            let mut all = vec![0.0; lattices.len()];
            for (c, column) in present.iter().enumerate() {
                let squares: f64 = axes.iter().map(|axis| axis[c] * axis[c]).sum();
                // Without noise nothing is rounded.
                all[*column] =
                    if squares > 0.0 { squares * of_unit + 1.0 / 12.0 } else { 0.0 };
            }
            all
        });
        let variances = variances.collect();
        let (present, spreads) = (present.to_vec(), frame.levels.clone());
        let units = units(shape, dims);
        Some(Self { present, bounds, axes, spreads, levels, variances, units })
    }

    pub(crate) fn n_levels(&self) -> usize {
        self.levels.len()
    }

    /// Whether a row has the numbers that the frame's rows have.
    pub(crate) fn fits(&self, row: &[f64]) -> bool {
        let has = |column| self.present.contains(&column);
        row.iter().enumerate().all(|(column, z)| has(column) != z.is_nan())
    }

    /// The variance of each column's noise at a level, in steps.
    pub(crate) fn variances(&self, level: u32) -> &[f64] {
        &self.variances[level as usize]
    }

    /// Calls `visit` with true rows that may be behind a published one, and returns how many
    /// these were.
    pub(crate) fn visit(
        &self,
        number: usize,
        row: &[f64],
        level: u32,
        mut visit: impl FnMut(&[f64]),
    ) -> usize {
        let axes = &self.levels[level as usize];
        let dims = self.present.len();
        let mut true_row = row.to_vec();
        let first = number.wrapping_mul(2_654_435_761) % RUNS;
        let n_units = self.units.len() / dims.max(1);
        let mut seen = 0;
        for t in 0..n_units.max(1) {
            if t >= TRIED && seen >= FEWEST {
                break;
            }
            let unit = &self.units[(first + t) % n_units.max(1) * dims..][..dims];
            let mut inside = true;
            for (c, column) in self.present.iter().enumerate() {
                let noise: f64 =
                    axes.iter().zip(unit).map(|(axis, unit)| axis[c] * unit).sum();
                let x = (row[*column] - noise).round();
                let (low, high) = self.bounds[*column];
                inside &= low <= x && x <= high;
                true_row[*column] = x;
            }
            if inside {
                seen += 1;
                visit(&true_row);
            }
        }
        if seen > 0 {
            return seen;
        }
        for column in &self.present {
            let (low, high) = self.bounds[*column];
            true_row[*column] = row[*column].max(low).min(high);
        }
        visit(&true_row);
        1
    }
}

/// The logarithm of how many times larger a volume is along axes than along columns; 0 if
/// there are no axes but the columns.
pub(crate) fn stretch(axes: &[Vec<f64>]) -> f64 {
    let matrix =
        DMatrix::from_fn(axes.len(), axes.len(), |axis, column| axes[axis][column]);
    matrix.determinant().abs().ln()
}

/// Noises in units of the spread.
fn units(shape: Shape, dims: usize) -> Vec<f64> {
    let mut phi = 1.5f64;
    for _ in 0..64 {
        phi = (phi + 1.0).powf(1.0 / (dims as f64 + 1.0));
    }
    let mut units = Vec::with_capacity((RUNS + TRIED) * dims);
    for t in 0..RUNS + TRIED {
        for axis in 0..dims {
            let point = 0.5 + (t as f64 + 1.0) * phi.powi(-(axis as i32 + 1));
            let point = point.fract().clamp(1e-12, 1.0 - 1e-12);
            units.push(quantile_of_unit(shape, point));
        }
    }
    units
}
