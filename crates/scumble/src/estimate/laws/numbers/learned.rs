//! Where true numbers may be, given the published ones and what all rows teach.
//!
//! # Guarantee
//! In a class of a fit a number has the probability of its stretch, evenly within it, times
//! that of the noise that leads from it to the published one. Columns are independent within a
//! class, so a cell of the grid has the product; a row has the mean over its classes. With one
//! class in which every number is as likely this is what `posterior.rs` has.
//!
//! # Limits
//! Only noise along the columns: turned noise mixes them. Normal noise counts up to seven
//! spreads.
//!
//! # Cost
//! For each row and column asked about, the stretches that its noise reaches, times classes.
//!
//! # Source
//! docs/methods.md, "Learned estimates".

use crate::estimate::laws::numbers::law::{Over, over, reach};
use crate::estimate::laws::numbers::{Blurred, GridCells, Noise};
use crate::estimate::learn::latent::Learned;
use crate::estimate::learn::latent::read::LearnedValues;
use crate::estimate::query::ranges::CutColumn;
use crate::space::Shape;

/// Normal noise of more than so many spreads does not occur.
const REACH: f64 = 7.0;

/// What was learned of the columns that a question cuts.
pub(crate) struct LearnedCuts<'l> {
    learned: &'l Learned,
    /// The learned column of each cut.
    columns: Vec<usize>,
}

impl<'l> LearnedCuts<'l> {
    /// Of these cuts; nothing if some column was not learned, or none is cut.
    pub(crate) fn of(learned: &'l Learned, cuts: &[CutColumn]) -> Option<Self> {
        let column = |cut: &CutColumn| {
            let own = |values: &LearnedValues| matches!(values, LearnedValues::Noisy { number, .. } if *number == cut.column);
            learned.columns.iter().position(|column| own(&column.values))
        };
        let columns: Vec<usize> = cuts.iter().map(column).collect::<Option<_>>()?;
        (!columns.is_empty()).then_some(Self { learned, columns })
    }
}

impl Blurred {
    /// Whether noise is along the columns.
    pub(crate) fn is_straight(&self) -> bool {
        matches!(self.noise, Noise::Straight { .. })
    }

    /// How likely the published number of a row is given a number of each stretch that its
    /// noise reaches, in units of the likeliest, into `window`; and the first of them. "Not
    /// known" comes after all stretches.
    pub(crate) fn window(
        &self,
        row: usize,
        column: usize,
        stretches: &[(f64, f64)],
        window: &mut Vec<f32>,
    ) -> usize {
        window.clear();
        let Some(met) = self.reached(row, column, stretches) else {
            window.push(1.0);
            return stretches.len();
        };
        let (shape, z, spread, (low, high)) = met.law;
        let own = stretches[met.first..met.last].iter().map(|(from, to)| {
            let part = (from.max(low), to.min(high));
            over(shape, z, spread, part, false).mass / (to - from + 1.0)
        });
        let own: Vec<f64> = own.collect();
        let most = own.iter().copied().fold(0.0, f64::max);
        let likely = |own: &f64| if most > 0.0 { (own / most) as f32 } else { 1.0 };
        window.extend(own.iter().map(likely));
        met.first
    }

    /// The stretches that the noise of a row reaches; nothing if its number is not known.
    fn reached(
        &self,
        row: usize,
        column: usize,
        stretches: &[(f64, f64)],
    ) -> Option<Reached> {
        let Noise::Straight { shape, spreads, box_of, boxes } = &self.noise else {
            return None;
        };
        let z = self.row(row)[column];
        if z.is_nan() {
            return None;
        }
        let spread = spreads[row * self.lattices.len() + column];
        let bounds = boxes[box_of[row] as usize][column];
        let far = match shape {
            Shape::Uniform => reach(spread),
            Shape::Gaussian => REACH * spread + 1.0,
        };
        // A number may have been led out of the box.
        let low = (z - far).max(bounds.0).min(bounds.1);
        let high = (z + far).min(bounds.1).max(bounds.0);
        let first = stretches.partition_point(|(_, to)| *to < low);
        let last = stretches.partition_point(|(from, _)| *from <= high);
        let law = (*shape, z, spread, bounds);
        Some(Reached { first, last: last.max(first + 1).min(stretches.len()), law })
    }

    /// For each fit and cell, how likely the true numbers of a row are in it, and first and
    /// second moment of the difference between true and published number of the cut `added`;
    /// nothing if what was learned says nothing.
    pub(crate) fn learned_posterior(
        &self,
        row: usize,
        (cuts, cells): (&[CutColumn], &GridCells),
        added: Option<usize>,
        of: &LearnedCuts<'_>,
    ) -> Option<Vec<Vec<Over>>> {
        let learned = of.learned;
        let n = learned.n_classes();
        let columns = cuts.iter().zip(&of.columns).enumerate();
        let by_class = columns.map(|(number, (cut, column))| {
            self.along_column(row, cut, learned, *column, added == Some(number))
        });
        let by_class: Vec<Vec<Vec<Over>>> = by_class.collect::<Option<_>>()?;
        let of_classes = learned.classes_of_row(row);
        let mut found = Vec::with_capacity(learned.fits.len());
        let mut start = 0;
        for fit in &learned.fits {
            let own = start..start + fit.n_classes();
            start = own.end;
            let all: f64 = own.clone().map(|class| f64::from(of_classes[class])).sum();
            let cells = cells.classes().iter().map(|classes| {
                let mut sum = Over::default();
                for class in own.clone() {
                    let share = f64::from(of_classes[class]) / all;
                    let (mut others, mut moved) = (share, None);
                    for (number, (by_class, place)) in
                        by_class.iter().zip(classes).enumerate()
                    {
                        let over = by_class[*place][class];
                        match added == Some(number) {
                            true => moved = Some(over),
                            false => others *= over.mass,
                        }
                    }
                    let Over { mass, first, second } =
                        moved.unwrap_or(Over { mass: 1.0, ..Over::default() });
                    sum.add(Over {
                        mass: mass * others,
                        first: first * others,
                        second: second * others,
                    });
                }
                sum
            });
            found.push(cells.collect());
        }
        debug_assert_eq!(start, n);
        Some(found)
    }

    /// For each class of a cut, in each class of each fit, how likely the number is there, and
    /// its moments.
    fn along_column(
        &self,
        row: usize,
        cut: &CutColumn,
        learned: &Learned,
        column: usize,
        moments: bool,
    ) -> Option<Vec<Vec<Over>>> {
        let LearnedValues::Noisy { stretches, .. } = &learned.columns[column].values
        else {
            return None;
        };
        let n = learned.n_classes();
        let mut found = vec![vec![Over::default(); n]; cut.classes.len()];
        let Some(met) = self.reached(row, cut.column, stretches) else {
            found[cut.missing()].iter_mut().for_each(|over| over.mass = 1.0);
            return Some(found);
        };
        let (shape, z, spread, (low, high)) = met.law;
        let mut all = vec![0.0; n];
        let reached = stretches.iter().enumerate().take(met.last).skip(met.first);
        for (place, (from, to)) in reached {
            for (class, own) in cut.classes.iter().enumerate() {
                let mut sum = Over::default();
                for (a, b) in own {
                    let part = (from.max(low).max(*a), to.min(high).min(*b));
                    if part.0 <= part.1 {
                        sum.add(over(shape, z, spread, part, moments));
                    }
                }
                if sum.mass <= 0.0 {
                    continue;
                }
                let sum = sum.share_of(to - from + 1.0);
                let mut number = 0;
                for fit in &learned.fits {
                    let own = fit.n_classes();
                    for likely in &fit.values[column][place * own..][..own] {
                        let (over, all) = (&mut found[class][number], &mut all[number]);
                        over.mass += likely * sum.mass;
                        over.first += likely * sum.first;
                        over.second += likely * sum.second;
                        *all += likely * sum.mass;
                        number += 1;
                    }
                }
            }
        }
        if all.iter().any(|all| *all <= f64::MIN_POSITIVE) {
            return None;
        }
        for overs in &mut found {
            let pairs = overs.iter_mut().zip(&all);
            pairs.for_each(|(over, all)| *over = over.share_of(*all));
        }
        Some(found)
    }
}

/// The stretches that noise reaches, and its law: shape, published number, spread and box.
struct Reached {
    first: usize,
    last: usize,
    law: (Shape, f64, f64, (f64, f64)),
}
