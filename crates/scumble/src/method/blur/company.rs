//! Rows in units of a law's spreads, and how much company each has.
//!
//! # Guarantee
//! [`Company::judge`] answers as the public rule does: whether the counts of the living rows
//! within reach sum up to what a row needs. A table of the normal tail and coordinates
//! scaled once give a sum that is a little uncertain; where that matters the law itself is
//! asked, row by row.
//!
//! # Limits
//! Sums of doubles in different orders differ in the last digits; the rule's margin of
//! 1e-9 is there for that.
//!
//! # Cost
//! A visit of the tree, which stops as soon as there is enough.
//!
//! # Source
//! docs/methods.md, "The calibration attack".

use std::ops::ControlFlow;
use std::sync::OnceLock;

use super::Frame;
use crate::promise::{Law, tail};
use crate::space::{Leaf, Shape, Space};

/// Cells of the table of tails in a unit.
const CELLS: f64 = 512.0;

/// By how much the table exceeds the tail, at most: a chord over a cell, and the second
/// derivative of the tail is below 0.2420.
const TABLE_SLIP: f64 = 0.2420 / (8.0 * CELLS * CELLS);

/// Tails from 0 to 40; chords between them are never below the tail, which is convex.
pub(super) fn table() -> &'static [f64] {
    static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
    TABLE.get_or_init(|| {
        (0..=40 * CELLS as usize).map(|cell| tail(cell as f64 / CELLS)).collect()
    })
}

/// The tail, too large by at most [`TABLE_SLIP`]; `u` is at most 39.
#[inline(always)]
pub(super) fn quick_tail(table: &[f64], u: f64) -> f64 {
    let place = u * CELLS;
    let cell = place as usize;
    let (low, high) = (table[cell], table[cell + 1]);
    low + (place - cell as f64) * (high - low)
}

/// Points measured at once.
const BATCH: usize = 24;

/// Rows of a frame in units of a law's spreads.
#[derive(Debug)]
pub(super) struct Company<'a> {
    frame: &'a Frame,
    law: &'a Law,
    rows: &'a [u32],
    pub(super) space: Space,
    table: &'static [f64],
    cuts: Vec<f64>,
    /// How far rows count: the square of a distance, or the largest difference.
    limit: f64,
    /// How far a summand may be off.
    slip: f64,
    /// What a row at the very end of the reach counts.
    edge: f64,
}

/// What a look at a row's company found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    /// There is enough: at least so much.
    Enough(f64),
    /// There is not.
    Short,
}

/// A sum that is a little uncertain.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    total: f64,
    terms: f64,
    edges: f64,
}

impl<'a> Company<'a> {
    /// Arranges some of a frame's rows; the law has noise on some axis.
    pub(super) fn new(frame: &'a Frame, law: &'a Law, rows: &'a [u32]) -> Self {
        let dims = frame.dims;
        let (limit, weightless) = match law.shape {
            Shape::Gaussian => {
                ((2.0 * Law::reach(dims)).powi(2), 4.0 * Law::reach(dims))
            }
            Shape::Uniform => (1.0, 2.0),
        };
        // On an axis without noise any difference is out of reach.
        let weight = |axis: usize| match (law.spreads[axis], frame.steps[axis]) {
            (0.0, 0.0) => 1e200,
            (0.0, step) => weightless / step,
            (spread, _) => 1.0 / spread,
        };
        let weights: Vec<f64> = (0..dims).map(weight).collect();
        let origin: Vec<f64> = rows.first().map_or(vec![0.0; dims], |row| {
            frame.coordinates[*row as usize * dims..][..dims].to_vec()
        });
        let mut points = Vec::with_capacity(rows.len() * dims);
        let mut largest = 0.0f64;
        for row in rows {
            let point = &frame.coordinates[*row as usize * dims..][..dims];
            for axis in 0..dims {
                let value = (point[axis] - origin[axis]) * weights[axis];
                largest = largest.max(value.abs());
                points.push(value);
            }
        }
        let cuts = (0..dims).map(|axis| match law.spreads[axis] {
            0.0 => 0.0,
            spread => law.cuts[axis] / spread,
        });
        let table_slip = if law.shape == Shape::Gaussian { TABLE_SLIP } else { 0.0 };
        Self {
            frame,
            law,
            rows,
            space: Space::new(dims, &points),
            table: table(),
            cuts: cuts.collect(),
            limit,
            slip: table_slip + dims as f64 * largest * 4e-16 + 1e-13,
            edge: tail(Law::reach(dims)),
        }
    }

    /// Whether a row (a number in the space) has what it needs; looking stops when
    /// `plenty` is found.
    pub(super) fn judge(&self, row: usize, need: f64, plenty: f64) -> Verdict {
        let mut sum = Sum::default();
        let mut lower = 0.0;
        let slip = self.slip;
        self.sweep(row, |batch, _| {
            batch.add_to(&mut sum);
            lower = sum.total - sum.terms * slip - sum.edges * self.edge;
            if lower >= plenty {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if lower >= need {
            return Verdict::Enough(lower);
        }
        if sum.total + sum.terms * slip >= need {
            let exact = self.exact(row);
            if exact >= need {
                return Verdict::Enough(exact);
            }
        }
        // Equal rows are counted, so enough of them need no margin.
        let equal = self.equal(row);
        if super::need(equal) >= need { Verdict::Enough(equal) } else { Verdict::Short }
    }

    /// How many living rows are equal to a row, itself included.
    fn equal(&self, row: usize) -> f64 {
        let mut equal = 0.0;
        self.space.within_ball(self.space.point(row), 0.0, |_, _, _| {
            equal += 1.0;
            ControlFlow::Continue(())
        });
        equal
    }

    /// Visits the living rows near a row, and how much each counts, not less than by law.
    pub(super) fn each(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        let slip = self.slip;
        self.sweep(row, |batch, rows| {
            for (count, other) in batch.counts.iter().zip(rows) {
                if *count > 0.0 {
                    visit(*other as usize, count + slip);
                }
            }
            ControlFlow::Continue(())
        });
    }

    /// The sum by law.
    fn exact(&self, row: usize) -> f64 {
        let dims = self.frame.dims;
        let point = |row: usize| {
            &self.frame.coordinates[self.rows[row] as usize * dims..][..dims]
        };
        let centre = point(row);
        let mut difference = vec![0.0; dims];
        let mut sum = 0.0;
        let mut add = |other: usize, _: &[f64], _: f64| {
            for (w, (a, b)) in
                difference.iter_mut().zip(point(other).iter().zip(centre))
            {
                *w = a - b;
            }
            sum += self.law.count(&difference);
            ControlFlow::Continue(())
        };
        let place = self.space.point(row);
        // A little further, so that rounding leaves nobody out.
        match self.law.shape {
            Shape::Gaussian => {
                let radius = self.limit.sqrt();
                self.space.within_ball(
                    place,
                    radius + radius * self.slip + 1e-6,
                    &mut add,
                );
            }
            Shape::Uniform => {
                self.space.within_cube(place, 1.0 + self.slip + 1e-6, &mut add)
            }
        }
        sum
    }

    fn sweep(
        &self,
        row: usize,
        mut visit: impl FnMut(&Batch, &[u32]) -> ControlFlow<()>,
    ) {
        let centre = self.space.point(row);
        match self.law.shape {
            Shape::Gaussian => {
                let (low, high) =
                    (self.limit * (1.0 - 1e-6), self.limit * (1.0 + 1e-6));
                self.space.leaves_within::<false>(centre, high, |leaf| {
                    batches(leaf, |first, len| {
                        let mut batch = Batch::new(0.0);
                        for (axis, value) in centre.iter().enumerate() {
                            let column = &leaf.column(axis)[first..first + len];
                            for (sum, other) in batch.counts.iter_mut().zip(column) {
                                *sum += (other - value) * (other - value);
                            }
                        }
                        for count in &mut batch.counts[..len] {
                            let square = *count;
                            *count = 0.0;
                            if square > high {
                                continue;
                            }
                            batch.terms += 1.0;
                            batch.edges += f64::from(u8::from(square > low));
                            *count = if square == 0.0 {
                                1.0
                            } else {
                                quick_tail(self.table, 0.5 * square.sqrt())
                            };
                        }
                        visit(&batch, &leaf.rows[first..first + len])
                    })
                });
            }
            Shape::Uniform => {
                self.space.leaves_within::<true>(centre, 1.0, |leaf| {
                    batches(leaf, |first, len| {
                        let mut batch = Batch::new(1.0);
                        let mut apart = [0.0f64; BATCH];
                        for (axis, value) in centre.iter().enumerate() {
                            let cut = self.cuts[axis];
                            let column = &leaf.column(axis)[first..first + len];
                            for ((product, apart), other) in
                                batch.counts.iter_mut().zip(&mut apart).zip(column)
                            {
                                let w = (other - value).abs();
                                *apart += w;
                                *product *=
                                    (1.0 - 2.0 * cut).min(1.0 - cut - w).max(0.0);
                            }
                        }
                        for (count, apart) in batch.counts.iter_mut().zip(&apart) {
                            if *apart == 0.0 {
                                *count = 1.0;
                            }
                        }
                        batch.counts[len..].fill(0.0);
                        batch.terms = len as f64;
                        visit(&batch, &leaf.rows[first..first + len])
                    })
                });
            }
        }
    }
}

/// How much the points of a leaf count, up to [`BATCH`] of them.
struct Batch {
    counts: [f64; BATCH],
    terms: f64,
    edges: f64,
}

impl Batch {
    fn new(counts: f64) -> Self {
        Self { counts: [counts; BATCH], terms: 0.0, edges: 0.0 }
    }

    fn add_to(&self, sum: &mut Sum) {
        sum.total += self.counts.iter().sum::<f64>();
        sum.terms += self.terms;
        sum.edges += self.edges;
    }
}

fn batches(
    leaf: Leaf<'_>,
    mut each: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let len = leaf.rows.len();
    for first in (0..len).step_by(BATCH) {
        each(first, BATCH.min(len - first))?;
    }
    ControlFlow::Continue(())
}
