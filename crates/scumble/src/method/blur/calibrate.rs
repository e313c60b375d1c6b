//! The least noise with which a row is hidden, if everybody counts: the paper's scheme.
//!
//! # Guarantee
//! [`anonymity`] is the sum over all rows of the frame, to 1e-9. [`least_factors`] gives
//! each row a factor that is never below the least one with which its anonymity reaches
//! what it asks for, and at most 1 % above it.
//!
//! *Proof.* Rows within a radius are listed; the sum over the list is a lower bound of the
//! anonymity, and with the rest counted as if all stood at the radius an upper bound. Both
//! grow with the factor. The factor returned satisfies the lower bound, and the upper bound
//! fails at 1/1.01 of it, or all rows were listed. ∎
//!
//! # Limits
//! Publishing such factors tells who is who (docs/methods.md, "The calibration attack"): they
//! serve for comparison, and to propose ladders.
//!
//! # Cost
//! For a row of a dense place, one visit of the tree for the rows within reach; for a row
//! far from all others, the whole table.
//!
//! # Source
//! `aggarwal2008unifying`, sections 2.A and 2.B; bounds: docs/methods.md,
//! "Expected anonymity".

use rayon::prelude::*;

use super::Frame;
use crate::promise::Law;
use crate::promise::shape::{self, Listed, NoiseShape};
use crate::space::{Shape, Space};
use crate::watch::{Unwatched, Watch};

/// How much company a row of the frame has among all rows under a law, far ones included.
pub fn anonymity(frame: &Frame, law: &Law, row: usize) -> f64 {
    let dims = frame.dims;
    let centre = &frame.coordinates[row * dims..][..dims];
    let mut difference = vec![0.0; dims];
    let mut sum = 0.0;
    for place in 0..frame.rows.len() {
        let point = &frame.coordinates[place * dims..][..dims];
        for (w, (a, b)) in difference.iter_mut().zip(point.iter().zip(centre)) {
            *w = a - b;
        }
        sum += law.count_without_reach(&difference);
    }
    sum
}

/// The most company any noise can give a row that has so many equals, itself included.
pub fn most_company(shape: Shape, n_rows: usize, n_equal: usize) -> f64 {
    shape::of(shape).most_company(n_rows, n_equal)
}

/// Factors are found to this precision.
const PRECISION: f64 = 1.0002;

/// What is returned is at most so far above the least.
const WITHIN: f64 = 1.01;

/// For some rows of the frame, the least factor of its scales with which `wanted` (by row
/// of the frame) is reached if all rows count; infinite if none is.
pub fn least_factors(frame: &Frame, wanted: &[f64], rows: &[u32]) -> Vec<f64> {
    watched_factors(frame, wanted, rows, &Unwatched)
}

/// The same, and any factors once the work is no longer wanted.
pub(super) fn watched_factors(
    frame: &Frame,
    wanted: &[f64],
    rows: &[u32],
    watch: &dyn Watch,
) -> Vec<f64> {
    factors(frame, wanted, rows, true, watch)
}

/// The same without looking at far rows: a little above the least, by how much is not known.
pub(super) fn rough_factors(
    frame: &Frame,
    wanted: &[f64],
    rows: &[u32],
    watch: &dyn Watch,
) -> Vec<f64> {
    factors(frame, wanted, rows, false, watch)
}

fn factors(
    frame: &Frame,
    wanted: &[f64],
    rows: &[u32],
    certain: bool,
    watch: &dyn Watch,
) -> Vec<f64> {
    if watch.is_cancelled() {
        return vec![f64::INFINITY; rows.len()];
    }
    let used: Vec<usize> =
        (0..frame.dims).filter(|axis| frame.scales[*axis] > 0.0).collect();
    let n_rows = frame.rows.len();
    let mut points = Vec::with_capacity(n_rows * used.len());
    for row in 0..n_rows {
        let point = &frame.coordinates[row * frame.dims..][..frame.dims];
        let origin = &frame.coordinates[..frame.dims];
        points.extend(
            used.iter()
                .map(|axis| (point[*axis] - origin[*axis]) / frame.scales[*axis]),
        );
    }
    let field = Field {
        shape: shape::of(frame.shape),
        cuts: used.iter().map(|axis| frame.cuts[*axis] / frame.scales[*axis]).collect(),
        space: Space::new(used.len(), &points),
        n_rows,
        certain,
    };
    if used.is_empty() {
        let least = |row: &u32| {
            if wanted[*row as usize] <= n_rows as f64 { 0.0 } else { f64::INFINITY }
        };
        return rows.iter().map(least).collect();
    }
    // Rows that stand together find the same boxes in the cache.
    let mut asked = vec![false; n_rows];
    for row in rows {
        asked[*row as usize] = true;
    }
    let order: Vec<u32> = field
        .space
        .in_order()
        .iter()
        .copied()
        .filter(|row| asked[*row as usize])
        .collect();
    let found: Vec<f64> = order
        .par_chunks(64)
        .flat_map_iter(|rows| {
            if watch.is_cancelled() {
                return vec![f64::INFINITY; rows.len()];
            }
            let mut near = Listed::default();
            let least = |row: &u32| {
                field.least(*row as usize, wanted[*row as usize], &mut near)
            };
            rows.iter().map(least).collect::<Vec<f64>>()
        })
        .collect();
    let mut by_row = vec![0.0; n_rows];
    for (row, factor) in order.iter().zip(found) {
        by_row[*row as usize] = factor;
    }
    rows.iter().map(|row| by_row[*row as usize]).collect()
}

/// All rows in units of the frame's scales.
struct Field {
    shape: &'static dyn NoiseShape,
    cuts: Vec<f64>,
    space: Space,
    n_rows: usize,
    /// Whether factors must be within 1 % of the least.
    certain: bool,
}

/// No search takes so many turns, unless numbers are beyond what floats can hold.
const MOST_TURNS: u32 = 10_000;

impl Field {
    fn least(&self, row: usize, wanted: f64, near: &mut Listed) -> f64 {
        let centre = self.space.point(row);
        let mut factor = self.first_guess(centre, wanted);
        let mut wide = self.wide(wanted);
        let mut radius = 0.0;
        near.clear();
        // The factor grows by a fifth at least, or the reach does: long before so many turns
        // all rows are listed, and the noise is without end.
        for _ in 0..MOST_TURNS {
            if near.n_listed < self.n_rows {
                near.clear();
                radius = 2.0 * wide * factor;
                self.shape.list(&self.space, centre, radius, near);
            }
            if super::need(near.n_equal as f64) >= wanted {
                return 0.0;
            }
            let all = near.n_listed == self.n_rows;
            let most = self.shape.most_company(self.n_rows, near.n_equal);
            // Just below the most, noise would have to be without end.
            if all && (wanted >= most || factor > 1e7 * radius) {
                return f64::INFINITY;
            }
            let high = self.sum(near, factor);
            if high < wanted {
                let grow = (wanted / high).powf(1.0 / self.space.dims() as f64);
                factor *= (grow * 1.1).clamp(1.2, 4.0);
                continue;
            }
            let found = self.solve(near, wanted, factor);
            let below = found / WITHIN;
            let rest = if all || !self.certain {
                0.0
            } else {
                let far = (self.n_rows - near.n_listed) as f64;
                far * self.shape.at_most(radius / (2.0 * below))
                    + self.shape.rounding() * wanted
            };
            if rest == 0.0 || self.sum(near, below) + rest < wanted {
                return found;
            }
            factor = found * 1.05;
            wide *= 1.15;
        }
        f64::INFINITY
    }

    /// How far to look, in halves of the distance by the spread: so far that the rest does
    /// not matter much.
    fn wide(&self, wanted: f64) -> f64 {
        let mut wide = self.shape.reach(self.space.dims());
        let dims = self.space.dims() as f64;
        let little = 0.004 * dims * (wanted - 1.0).max(0.1);
        while self.certain && self.n_rows as f64 * self.shape.at_most(wide) > little {
            wide += 0.1;
        }
        wide
    }

    fn first_guess(&self, centre: &[f64], wanted: f64) -> f64 {
        let count = (4.0 * wanted).ceil().min(64.0) as usize;
        let found = self.space.nearest(centre, count.max(2));
        let distance = found.last().map_or(1.0, |(square, _)| square.sqrt());
        let distance = if distance > 0.0 { distance } else { 1.0 };
        let more = (4.0 * wanted / count.max(2) as f64).max(1.0);
        distance * more.powf(1.0 / self.space.dims() as f64)
            / self.shape.usual_distance()
    }

    /// The sum over the list.
    fn sum(&self, near: &Listed, factor: f64) -> f64 {
        near.n_equal as f64 + self.shape.sum(near, factor, &self.cuts)
    }

    /// The least factor with which the list suffices, given one with which it does.
    fn solve(&self, near: &Listed, wanted: f64, mut high: f64) -> f64 {
        // Sums grow about as a power of the factor: the dimension, at most.
        let power = 1.0 / self.space.dims() as f64;
        let mut low = 0.0;
        let mut guess = high;
        // What is left is halved at least every other time.
        for _ in 0..MOST_TURNS {
            let sum = self.sum(near, guess);
            let aside = if sum >= wanted {
                high = guess;
                1.0 / PRECISION
            } else {
                low = guess;
                PRECISION
            };
            if high <= low * PRECISION * PRECISION {
                return high;
            }
            let equal = near.n_equal as f64;
            let ratio = (wanted - equal) / (sum - equal).max(1e-3 * (wanted - equal));
            let next = guess * ratio.powf(power) * aside;
            let middle = if low > 0.0 { (low * high).sqrt() } else { high / 1.5 };
            guess = if next > low && next < high { next } else { middle };
        }
        high
    }
}
