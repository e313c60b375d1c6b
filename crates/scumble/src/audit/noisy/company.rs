//! Rows that may be taken for each other, and the largest set of them that is hidden well
//! enough.
//!
//! # Guarantee
//! [`Company::settle`] keeps the largest set of rows in which everybody has the company they
//! need by the published rule, and, if that is asked, is the best guess seldom enough. There
//! is one such set, whatever the order: taking a row away lowers the company of all others
//! and makes them the best guess more often, so a row that fails among all that are left
//! fails in every smaller set, and none that was taken away belongs to a set that holds.
//!
//! Somebody with several rows counts once, as much as the row that counts most.
//!
//! # Limits
//! Sums of up to a few thousand tails are exact to about 1e-12 of themselves. The rule asks
//! for 1e-9 more than is promised, so that this cannot break the promise.
//!
//! # Cost
//! A row with plenty of company is done after a few dozen neighbours; one without costs a
//! look at all within reach. Rows are looked at again only if somebody leaves whom they
//! counted on.
//!
//! # Source
//! docs/methods.md, "The calibration attack". The publisher has code of its own for this.

mod sums;

use std::ops::ControlFlow;

use hashbrown::HashSet;
use rayon::prelude::*;

use crate::audit::noisy::company::sums::Counted;
use crate::audit::noisy::law::Tails;
use crate::audit::noisy::peel::{Framed, MARGIN};
use crate::audit::noisy::shape::{self, CountBounds};
use crate::audit::noisy::{Guesses, NoiseLaw};
use crate::space::Space;
use crate::watch::Watch;

/// What is just within reach may be so by rounding alone, and is computed exactly.
const BORDER: f64 = 1e-9;

/// What each row needs to be hidden.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowNeeds<'a> {
    /// How much company each row of the frame needs.
    pub(crate) company: &'a [f64],
    /// How often the best guess may be right, and how that is computed.
    pub(crate) best_guess: Option<(f64, &'a Guesses)>,
    /// Who follows the audit. Once it is no longer wanted, what is found means nothing.
    pub(crate) watch: &'a dyn Watch,
}

/// Rows that do not differ where there is no noise.
#[derive(Debug)]
pub(crate) struct Company<'a> {
    /// The law of their noise.
    pub(crate) law: &'a NoiseLaw,
    /// Which rows of the frame they are.
    pub(crate) rows: Vec<u32>,
    /// Coordinates along all axes.
    exact: Vec<f64>,
    /// The axes with noise.
    moving: Vec<usize>,
    /// Coordinates along these axes in units of the spread.
    pub(crate) space: Space,
    /// Where the space begins: differences of small numbers are more exact.
    origin: Vec<f64>,
    /// How far a difference in the space may be off by rounding.
    slip: f64,
    /// How many are left, if no axis has noise: then the space is empty.
    left: usize,
    /// Whose each row is; empty if nobody of the table has several.
    persons: Vec<u32>,
}

/// How much company there is, and how far off the last one counted is.
pub(crate) struct CompanyCount {
    pub(crate) enough: bool,
    radius: f64,
}

impl<'a> Company<'a> {
    /// Divides rows of a frame with these coordinates into companies, and drops those that
    /// are too small for anybody.
    pub(crate) fn all(
        law: &'a NoiseLaw,
        rows: &[u32],
        frame: &Framed,
        least: f64,
    ) -> Vec<Self> {
        let coordinates = &frame.coordinates;
        let dims = law.spreads.len();
        let still: Vec<usize> =
            (0..dims).filter(|axis| law.spreads[*axis] == 0.0).collect();
        let at = |row: u32| &coordinates[row as usize * dims..][..dims];
        if rows.is_empty() {
            return Vec::new();
        }
        if still.is_empty() && dims > 0 {
            return vec![Self::new(law, rows.to_vec(), frame)];
        }
        let mut sorted = rows.to_vec();
        let compare = |a: u32, b: u32| {
            let axes = still.iter();
            let mut orders = axes.map(|axis| at(a)[*axis].total_cmp(&at(b)[*axis]));
            orders.find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        };
        sorted.par_sort_unstable_by(|a, b| compare(*a, *b).then(a.cmp(b)));
        let apart = sorted.chunk_by(|a, b| compare(*a, *b).is_eq());
        let apart = apart.filter(|rows| rows.len() as f64 * MARGIN >= least);
        apart.map(|rows| Self::new(law, rows.to_vec(), frame)).collect()
    }

    fn new(law: &'a NoiseLaw, rows: Vec<u32>, frame: &Framed) -> Self {
        let dims = law.spreads.len();
        let at = |row: u32| frame.at(row);
        let persons = match frame.persons.is_empty() {
            true => Vec::new(),
            false => rows.iter().map(|row| frame.persons[*row as usize]).collect(),
        };
        let moving: Vec<usize> =
            (0..dims).filter(|axis| law.spreads[*axis] > 0.0).collect();
        let mut exact = Vec::with_capacity(rows.len() * dims);
        let origin: Vec<f64> = rows.first().map_or(Vec::new(), |row| at(*row).to_vec());
        let mut scaled = Vec::with_capacity(rows.len() * moving.len());
        for row in &rows {
            exact.extend(at(*row));
            scaled.extend(
                moving.iter().map(|a| (at(*row)[*a] - origin[*a]) / law.spreads[*a]),
            );
        }
        let largest = scaled.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        let slip = dims as f64 * largest * 4e-16;
        let space = Space::new(moving.len(), &scaled);
        let left = rows.len();
        let mut company =
            Self { law, rows, exact, moving, space, origin, slip, left, persons };
        company.left = company.n_people(0..company.rows.len());
        company
    }

    /// Whose a row is, if people may have several.
    pub(crate) fn person(&self, row: usize) -> Option<u32> {
        self.persons.get(row).copied()
    }

    /// How many people some of the rows are of.
    pub(crate) fn n_people(&self, rows: impl ExactSizeIterator<Item = usize>) -> usize {
        match self.persons.is_empty() {
            true => rows.len(),
            false => rows.map(|row| self.persons[row]).collect::<HashSet<_>>().len(),
        }
    }

    /// How many people have not been taken away, where there is no noise.
    pub(crate) fn n_left(&self) -> usize {
        self.left
    }

    /// How many axes have noise.
    pub(crate) fn n_moving(&self) -> usize {
        self.moving.len()
    }

    /// The coordinates of a place, in units of the spread, on axes with noise.
    pub(crate) fn scaled(&self, coordinates: &[f64]) -> Vec<f64> {
        let axes = self.moving.iter();
        let scaled = axes.map(|axis| {
            (coordinates[*axis] - self.origin[*axis]) / self.law.spreads[*axis]
        });
        scaled.collect()
    }

    /// Lengths along all axes, in units of the spread, on axes with noise.
    pub(crate) fn in_spreads(&self, lengths: &[f64]) -> Vec<f64> {
        let axes = self.moving.iter();
        axes.map(|axis| lengths[*axis] / self.law.spreads[*axis]).collect()
    }

    /// The cuts of its law, in units of the spread, on axes with noise.
    pub(crate) fn cuts(&self) -> Vec<f64> {
        self.in_spreads(&self.law.cuts)
    }

    /// The coordinates of a row along all axes.
    pub(crate) fn coordinates(&self, row: usize) -> &[f64] {
        let dims = self.law.spreads.len();
        &self.exact[row * dims..][..dims]
    }

    /// Visits all that are left and might count: how far each is, as the metric adds it up.
    pub(crate) fn visit(
        &self,
        centre: &[f64],
        visit: impl FnMut(usize, &[f64], f64) -> ControlFlow<()>,
    ) {
        self.visit_up_to(self.law.reach(), centre, visit);
    }

    fn visit_up_to(
        &self,
        reach: f64,
        centre: &[f64],
        visit: impl FnMut(usize, &[f64], f64) -> ControlFlow<()>,
    ) {
        self.law.shape.within(&self.space, centre, self.distance(reach), visit);
    }

    /// How far those may be that count up to `reach`, in units of the spread.
    fn distance(&self, reach: f64) -> f64 {
        let farthest = shape::of(self.law.shape).farthest(reach);
        2.0 * (farthest * (1.0 + BORDER) + self.slip)
    }

    /// The company of a row, by the rule, but with rows up to `reach`; not more than is
    /// needed to know that it is at least `most`.
    pub(crate) fn anonymity(&self, row: usize, reach: f64, most: f64) -> f64 {
        if self.moving.is_empty() {
            return self.left as f64;
        }
        let this = self.coordinates(row);
        let mut counted = Counted::default();
        let add = |other: usize, _: &[f64], _: f64| {
            let count = self.law.count(this, self.coordinates(other), reach);
            counted.add(self.person(other), (count, count));
            match counted.low >= most {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        self.visit_up_to(reach, self.space.point(row), add);
        counted.low
    }

    /// Between what rows count, given [`Self::cuts`].
    pub(crate) fn count_bounds<'b>(
        &self,
        cuts: &'b [f64],
        tails: &'b Tails,
    ) -> CountBounds<'b> {
        let within = self.law.reach() * (1.0 - BORDER) - self.slip;
        CountBounds { tails, cuts, within, slip: self.slip }
    }

    /// Whether a row has the company it needs.
    pub(crate) fn enough(
        &self,
        row: usize,
        need: f64,
        look: &CountBounds<'_>,
    ) -> CompanyCount {
        // Bounds decide nearly always.
        let done = need * (1.0 + 1e-11);
        let sums = match self.persons.is_empty() {
            true => self.sums(row, done, look),
            false => self.sums_of_persons(row, done, look),
        };
        let enough = match (sums.low >= done, sums.high < need * (1.0 - 1e-11)) {
            (true, _) => true,
            // Equal rows are whole numbers and need no margin.
            _ if sums.equal * MARGIN >= need => true,
            (_, true) => false,
            _ => self.anonymity(row, self.law.reach(), f64::INFINITY) >= need,
        };
        CompanyCount { enough, radius: sums.farthest }
    }

    /// The company of a row, to about a millionth of the rows within reach: for means.
    pub(crate) fn roughly(&self, row: usize, tails: &Tails) -> f64 {
        let count = |far: f64| match far {
            0.0 => Some(1.0),
            _ => shape::of(self.law.shape).roughly(far, tails),
        };
        if self.moving.is_empty() || count(1.0).is_none() {
            return self.anonymity(row, self.law.reach(), f64::INFINITY);
        }
        let mut counted = Counted::default();
        self.visit(self.space.point(row), |other, _, far| {
            let count = count(far).unwrap_or(0.0);
            counted.add(self.person(other), (count, count));
            ControlFlow::Continue(())
        });
        counted.low
    }

    /// Takes rows away until all that are left have what they need; says which are left.
    pub(crate) fn settle(&mut self, needs: RowNeeds<'_>, tails: &Tails) -> Vec<u32> {
        if self.moving.is_empty() {
            return self.settle_still(needs);
        }
        let of = |row: u32| needs.company[self.rows[row as usize] as usize];
        let least = self.rows.iter().map(|row| needs.company[*row as usize]);
        if self.rows.len() as f64 * MARGIN < least.fold(f64::INFINITY, f64::min) {
            return Vec::new();
        }
        let n_rows = self.rows.len();
        let mut radii = vec![[0.0f64; 2]; n_rows];
        let all: Vec<u32> = self.space.in_order().to_vec();
        let mut dirty = [all.clone(), all];
        let cuts = self.cuts();
        let bounds = self.count_bounds(&cuts, tails);
        loop {
            if needs.watch.is_cancelled() {
                return Vec::new();
            }
            // Company first: the best guess takes longer.
            let which = usize::from(dirty[0].is_empty());
            let rows = std::mem::take(&mut dirty[which]);
            let rows: Vec<u32> = rows
                .into_iter()
                .filter(|row| self.space.lives(*row as usize))
                .collect();
            if which == 1 && needs.best_guess.is_none() {
                break;
            }
            let look = |row: &u32| match needs.best_guess {
                _ if needs.watch.is_cancelled() => {
                    CompanyCount { enough: true, radius: 0.0 }
                }
                Some((bound, guesses)) if which == 1 => {
                    let (share, radius) =
                        guesses.best_guess(self, *row as usize, bound);
                    CompanyCount { enough: share <= bound, radius }
                }
                _ => self.enough(*row as usize, of(*row), &bounds),
            };
            // Company is quickly counted, a best guess is not.
            let together = if which == 0 { 32 } else { 1 };
            let looked: Vec<CompanyCount> =
                rows.par_iter().with_min_len(together).map(look).collect();
            let mut failed = Vec::new();
            for (row, counted) in rows.iter().zip(looked) {
                match counted.enough {
                    true => radii[*row as usize][which] = counted.radius,
                    false => failed.push(*row),
                }
            }
            if failed.is_empty() && dirty.iter().all(Vec::is_empty) {
                break;
            }
            failed.iter().for_each(|row| self.space.remove(*row as usize));
            self.touched(&failed, &radii, &mut dirty);
        }
        let mut left: Vec<u32> =
            self.living().into_iter().map(|row| self.rows[row as usize]).collect();
        left.sort_unstable();
        left
    }

    /// The rows that have not been taken away, where there is noise.
    fn living(&self) -> Vec<u32> {
        let order = self.space.in_order().iter().copied();
        order.filter(|row| self.space.lives(*row as usize)).collect()
    }

    /// Adds the rows that counted on somebody who left.
    fn touched(&self, failed: &[u32], radii: &[[f64; 2]], dirty: &mut [Vec<u32>; 2]) {
        if failed.is_empty() {
            return;
        }
        if failed.len() * 32 > self.space.n_living() {
            // Most rows are touched.
            *dirty = [self.living(), self.living()];
            return;
        }
        let found: Vec<Vec<(u32, [bool; 2])>> = failed
            .par_iter()
            .map(|row| {
                let mut found = Vec::new();
                self.visit(self.space.point(*row as usize), |other, _, far| {
                    // Distances seen from both ends may differ by rounding.
                    let near = radii[other]
                        .map(|radius| far <= radius * (1.0 + BORDER) + BORDER);
                    if near != [false; 2] {
                        found.push((other as u32, near));
                    }
                    ControlFlow::Continue(())
                });
                found
            })
            .collect();
        for (other, near) in found.into_iter().flatten() {
            for (list, near) in dirty.iter_mut().zip(near) {
                if near {
                    list.push(other);
                }
            }
        }
        for list in dirty {
            list.sort_unstable();
            list.dedup();
        }
    }

    /// Without noise all rows are equal and are company for each other.
    fn settle_still(&mut self, needs: RowNeeds<'_>) -> Vec<u32> {
        let mut left: Vec<usize> = (0..self.rows.len()).collect();
        loop {
            let before = left.len();
            let people = self.n_people(left.iter().copied());
            let company = people as f64;
            let seldom = needs.best_guess.is_none_or(|(b, _)| 1.0 / company <= b);
            left.retain(|row| {
                company * MARGIN >= needs.company[self.rows[*row] as usize] && seldom
            });
            if left.len() == before {
                self.left = people;
                return left.into_iter().map(|row| self.rows[row]).collect();
            }
        }
    }
}
