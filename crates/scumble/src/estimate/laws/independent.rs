//! Counts, sums and means of the true table, estimated row by row: from generalized cells,
//! pdf cells, randomized columns, and all of them together.
//!
//! # Guarantee
//! If every cell's value was drawn from the distribution it stands for, independently of
//! other cells, every estimate is unbiased, and so is the square of its standard error.
//! Where the release lost nothing (conditions that all values of a row's cells satisfy
//! alike, or none) the answer is exact and its error nought. The parts of `GROUP BY` add up
//! to the whole, and no count is outside what is possible.
//!
//! *Why.* Let `T` be what a row truly adds: 1 or its number if it satisfies the condition,
//! else 0. Given its randomized columns' true values `x`, let `s(x)` be the mean of `T` over
//! the distributions of its cells, and `q(x)` that of `T²`. Of what was published in their
//! place, `y`, the estimate takes `h(y)` with mean `s(x)`: the weights by which the inverse
//! matrix undoes noise (`matrix.rs`). Given cells and `x`, noise and `T` do not depend on
//! each other, so `E (h - T)² = E h² - 2 s² + q`, and rows are independent of each other. The
//! first term is the published mean of `h²`, the others are estimated by the inverse as
//! well. Without randomized columns `h = s`, and a count has the variance `s (1 - s)`.
//!
//! What cells are taken to stand for from other rows (`cells.rs`) may be wrong in the same
//! way for all of them: such rows count as one row, as often as there are.
//!
//! Where weights of pdf cells are counts, less is open (`effects.rs`).
//!
//! If rows are a sample, one of each group, a row counts for the rows of its group. All rows
//! of a group have the same cells, so that questions about these alone have only the
//! variance of cells; others add that of the draw, as `perturbed.rs` says.
//!
//! # Limits
//! The distributions are an assumption (`cells.rs`): where values lie otherwise within
//! cells, or columns depend on each other within them, estimates lean towards even and
//! independent, and the error does not show it. Intervals are normal: rough for a handful of
//! rows.
//!
//! # Cost
//! One pass over the distinct rows for each column valuation about; then for each combination of
//! cells that occurs, the combinations of values that the question tells apart.
//!
//! # Source
//! docs/methods.md, "The weight of a row".

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::error::Result;
use crate::estimate::laws::effects::{Effect, Shuffled};
use crate::estimate::laws::perturbed::Estimate;
use crate::estimate::laws::tally::{Draws, Guess, Tally, answers};
use crate::estimate::laws::valuation::{Given, Valuation};
use crate::estimate::laws::worth::Worth;
use crate::estimate::query::Measure;
use crate::estimate::query::classes::Alike;
use crate::estimate::query::question::Question;

/// What rows of a class add to an answer.
struct Contribution {
    key: Vec<u32>,
    tally: Tally,
    effects: Vec<Effect>,
}

impl Question<'_> {
    /// The answers, in the order of the values that are counted apart.
    pub(crate) fn answer_uncertain(&self, measure: &Measure) -> Result<Vec<Estimate>> {
        let valuation = Valuation::new(self, measure)?;
        let classes = self.alike(valuation.measured, &valuation.facets);
        let each = classes.par_iter().map(|class| {
            self.watch.check()?;
            valuation.tallies(class)
        });
        let each: Vec<Vec<Contribution>> = each.collect::<Result<_>>()?;
        let mut sums: BTreeMap<Vec<u32>, Tally> = BTreeMap::new();
        // By answer and group, where the values of a group are counted.
        let mut shuffled: BTreeMap<(Vec<u32>, usize), Shuffled> = BTreeMap::new();
        for (class, found) in classes.iter().zip(each) {
            let group = valuation.group(class.entry);
            for Contribution { key, tally, effects } in found {
                match group {
                    None => sums.entry(key).or_default().add(&tally),
                    Some(group) => {
                        let shuffled = shuffled.entry((key, group)).or_default();
                        shuffled.add(&tally, &effects, class.n_rows());
                    }
                }
            }
        }
        let sizes = if shuffled.is_empty() { Vec::new() } else { valuation.sizes() };
        for ((key, group), found) in shuffled {
            let settled = found.settled(sizes[group], &valuation.counted(group));
            sums.entry(key).or_default().add(&settled);
        }
        let evidence = self.evidence;
        if valuation.sampled() {
            let all = (0..evidence.rows.len()).map(|entry| evidence.weight(entry).1);
            let all: f64 = all.sum();
            sums.values_mut().for_each(|tally| tally.centre(all));
        }
        valuation.settled(sums, measure)
    }
}

impl Valuation<'_, '_> {
    /// The answers, from what rows add to each.
    pub(crate) fn settled(
        &self,
        mut sums: BTreeMap<Vec<u32>, Tally>,
        measure: &Measure,
    ) -> Result<Vec<Estimate>> {
        let group_by = &self.question.group_by;
        if group_by.is_empty() {
            sums.entry(Vec::new()).or_default();
        }
        sums.values_mut().for_each(Tally::guessed);
        let estimates = sums.iter().filter_map(|(key, tally)| {
            let names = group_by.iter().zip(key);
            let name = |(place, code): (&usize, &u32)| self.name(*place, *code);
            let listed = group_by.is_empty() || tally.possible > 0.0;
            let values = || names.map(name).collect();
            if listed { tally.estimate(measure, values()) } else { None }
        });
        answers(estimates.collect(), group_by)
    }

    /// What the rows of a class add to each answer.
    fn tallies(&self, class: &Alike) -> Result<Vec<Contribution>> {
        let (subtables, joint) = self.joint(class.entry)?;
        let worths =
            self.enumerate(class.entry, &subtables, &joint, Given::default())?;
        let inverse = joint.inverse();
        let mut tallies = Vec::with_capacity(worths.len());
        for worth in worths {
            let tally = if worth.is_even() {
                self.known(class, &worth)
            } else {
                let inverse = inverse
                    .as_ref()
                    .map_err(|place| self.singular(&subtables, *place))?;
                let undo = |values: &[f64]| inverse.weights(values);
                self.undone(class, &worth, &undo)
            };
            tallies.push(Contribution {
                key: worth.key,
                tally,
                effects: worth.effects,
            });
        }
        Ok(tallies)
    }

    /// What rows add if no noise has to be undone.
    fn known(&self, class: &Alike, worth: &Worth) -> Tally {
        let rows = class.n_rows();
        let squares = class.published.iter().map(|(_, _, squares)| squares).sum();
        let (count, sum, square) = (worth.count[0], worth.sum[0], worth.square[0]);
        let certain = |variance: f64, of: f64| {
            // What is left by rounding.
            if variance > 1e-13 * of { variance } else { 0.0 }
        };
        if worth.guessed {
            let (count, sum) = (rows * count, rows * sum);
            let guess = Guess { rows, count, sum, square: rows * square };
            let draws = self.draws(squares, worth.count[0], worth.sum[0]);
            return Tally {
                count,
                sum,
                possible: rows,
                draws,
                guess,
                ..Tally::default()
            };
        }
        Tally {
            count: rows * count,
            sum: rows * sum,
            count_variance: rows * count * (1.0 - count),
            sum_variance: rows * certain(square - sum * sum, square),
            covariance: rows * sum * (1.0 - count),
            sure: if worth.open { 0.0 } else { rows },
            possible: rows,
            draws: self.draws(squares, count, sum),
            guess: Guess::default(),
        }
    }

    /// What rows add if noise has to be undone, which `undo` does.
    fn undone(
        &self,
        class: &Alike,
        worth: &Worth,
        undo: &dyn Fn(&[f64]) -> Vec<f64>,
    ) -> Tally {
        let each = |f: &dyn Fn(f64, f64, f64) -> f64| -> Vec<f64> {
            let all = worth.count.iter().zip(&worth.sum).zip(&worth.square);
            undo(&all.map(|((c, s), q)| f(*c, *s, *q)).collect::<Vec<f64>>())
        };
        let (count, sum) = (undo(&worth.count), undo(&worth.sum));
        // What the variances lack: `2 s² - q`.
        let counts = each(&|c, _, _| 2.0 * c * c - c);
        let sums = each(&|_, s, q| 2.0 * s * s - q);
        let both = each(&|c, s, _| 2.0 * c * s - s);
        let mut tally = Tally::default();
        for (cell, rows, squares) in &class.published {
            let (c, s) = (count[*cell], sum[*cell]);
            tally.count += rows * c;
            tally.sum += rows * s;
            tally.possible += rows;
            if self.sampled() {
                // Which row was drawn is in the squares of the weights, and so is its noise.
                tally.draws.add(&self.draws(*squares, c, s));
            } else {
                tally.count_variance += rows * (c * c - counts[*cell]);
                tally.sum_variance += rows * (s * s - sums[*cell]);
                tally.covariance += rows * (c * s - both[*cell]);
            }
        }
        tally
    }

    /// Whether another row of the same group would have given another answer.
    fn sampled(&self) -> bool {
        self.varies && self.question.evidence.stands_for.is_some()
    }

    fn draws(&self, squares: f64, count: f64, sum: f64) -> Draws {
        if self.sampled() { Draws::new(squares, count, sum) } else { Draws::default() }
    }
}
