//! Rows in units of a law's spreads, and how much company each has.
//!
//! # Guarantee
//! [`Company::judge`] answers as the public rule does: whether the counts of the living rows
//! within reach sum up to what a row needs. Tables and coordinates scaled once give
//! a sum that is a little uncertain; where that matters the law itself is
//! asked, row by row.
//!
//! A person counts once, with the row that fits best: the largest of their rows' counts is at
//! most the probability that one of them fits at least as well as the true one. Their own
//! other rows add nothing. More rows never lower such a sum, so the largest set (`core.rs`)
//! is one here, too.
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

use hashbrown::{HashMap, HashSet};

use super::Frame;
use crate::promise::Law;
use crate::promise::shape::{self, BATCH, Batch, Look};
use crate::space::{Ball, Space};

/// Rows of a frame in units of a law's spreads.
#[derive(Debug)]
pub(super) struct Company<'a> {
    frame: &'a Frame,
    law: &'a Law,
    rows: &'a [u32],
    pub(super) space: Space,
    cuts: Vec<f64>,
    /// How far rows count, in halves of the distance by the spread.
    reach: f64,
    /// How far a summand may be off.
    slip: f64,
    /// What a row at the very end of the reach counts.
    edge: f64,
}

/// What everybody counts who has several rows: as much as the row that counts most.
#[derive(Debug, Default)]
struct Most(HashMap<u32, f64>);

impl Most {
    /// By how much a person's row that counts so much raises the sum.
    fn add(&mut self, person: Option<u32>, count: f64) -> f64 {
        let Some(person) = person else { return count };
        let known = self.0.entry(person).or_insert(0.0);
        let more = (count - *known).max(0.0);
        *known = known.max(count);
        more
    }
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
        let shape = shape::of(law.shape);
        let reach = shape.reach(dims);
        // On an axis without noise any difference is out of reach.
        let weight = |axis: usize| match (law.spreads[axis], frame.steps[axis]) {
            (0.0, 0.0) => 1e200,
            (0.0, step) => 4.0 * reach / step,
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
        Self {
            frame,
            law,
            rows,
            space: Space::new(dims, &points),
            cuts: cuts.collect(),
            reach,
            slip: shape.slip() + dims as f64 * largest * 4e-16 + 1e-13,
            edge: shape.at_most(reach),
        }
    }

    /// Whether a row (a number in the space) has what it needs; looking stops when
    /// `plenty` is found.
    pub(super) fn judge(&self, row: usize, need: f64, plenty: f64) -> Verdict {
        let mut sum = Sum::default();
        let mut lower = 0.0;
        let slip = self.slip;
        let mut most = Most::default();
        self.sweep(row, |batch, rows| {
            sum.add(batch);
            if !self.frame.people.is_empty() {
                let counted = batch.counts.iter().zip(rows).filter(|(n, _)| **n > 0.0);
                for (count, other) in counted {
                    let more = most.add(self.person(*other as usize), *count);
                    sum.total += more - count;
                }
            }
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

    /// How many people have living rows equal to a row, its own person included.
    fn equal(&self, row: usize) -> f64 {
        let mut equal = 0.0;
        let mut several = HashSet::new();
        self.space.within::<Ball>(self.space.point(row), 0.0, |other, _, _| {
            if self.person(other).is_none_or(|person| several.insert(person)) {
                equal += 1.0;
            }
            ControlFlow::Continue(())
        });
        equal
    }

    /// Whose a row is, if its person may have others.
    fn person(&self, row: usize) -> Option<u32> {
        self.frame.person(self.rows[row])
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
        let mut most = Most::default();
        let add = |other: usize, _: &[f64], _: f64| {
            for (w, (a, b)) in
                difference.iter_mut().zip(point(other).iter().zip(centre))
            {
                *w = a - b;
            }
            sum += most.add(self.person(other), self.law.count(&difference));
            ControlFlow::Continue(())
        };
        // A little further, so that rounding leaves nobody out.
        let distance = 2.0 * self.reach * (1.0 + self.slip + 1e-6);
        self.law.shape.within(&self.space, self.space.point(row), distance, add);
        sum
    }

    fn sweep(
        &self,
        row: usize,
        mut visit: impl FnMut(&Batch, &[u32]) -> ControlFlow<()>,
    ) {
        let (kind, centre) = (self.law.shape, self.space.point(row));
        let limit = kind.added(2.0 * self.reach);
        let limits = (limit * (1.0 - 1e-6), limit * (1.0 + 1e-6));
        let look = Look { centre, cuts: &self.cuts, limits };
        let shape = shape::of(kind);
        kind.leaves_within(&self.space, centre, limits.1, |leaf| {
            for first in (0..leaf.rows.len()).step_by(BATCH) {
                visit(&shape.counts(&look, leaf, first), &leaf.rows[first..])?;
            }
            ControlFlow::Continue(())
        });
    }
}

impl Sum {
    fn add(&mut self, batch: &Batch) {
        self.total += batch.counts.iter().sum::<f64>();
        self.terms += batch.terms;
        self.edges += batch.edges;
    }
}
