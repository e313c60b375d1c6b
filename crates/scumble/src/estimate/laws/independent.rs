//! Counts, sums and means of the true table, estimated row by row: from generalized cells,
//! pdf cells, randomized columns, and all of them together.
//!
//! # Guarantee
//! If every cell's value was drawn from the distribution it stands for, independently of
//! other cells, every estimate is unbiased, and so is the square of its standard error.
//! Where the release lost nothing (conditions that all values of a row's cells satisfy
//! alike, or none) the answer is exact and its error zero. The parts of `GROUP BY` add up
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
//! One pass over the distinct rows for each column asked about; then for each combination of
//! cells that occurs, the combinations of values that the question tells apart.
//!
//! # Source
//! docs/methods.md, "The weight of a row".

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::estimate::laws::effects::{Effect, Shuffled};
use crate::estimate::laws::estimate::Estimate;
use crate::estimate::laws::moments::{
    AnswerMoments, RowMoments, add_times, paired, products,
};
use crate::estimate::laws::valuation::{Given, Valuation};
use crate::estimate::laws::worth::Worth;
use crate::estimate::query::Measure;
use crate::estimate::query::classes::Alike;
use crate::estimate::query::question::Question;

/// What rows of a class add to an answer.
struct Contribution {
    key: Vec<u32>,
    moments: AnswerMoments,
    effects: Vec<Effect>,
}

impl Question<'_> {
    /// The answers, in the order of the values that are counted apart.
    pub(crate) fn answer_uncertain(&self, measure: &Measure) -> Result<Vec<Estimate>> {
        let valuation = Valuation::new(self, measure)?;
        let classes = self.alike(valuation.measured, &valuation.facets);
        let each = classes.par_iter().map(|class| {
            self.watch.check()?;
            valuation.contributions(class)
        });
        let each: Vec<Vec<Contribution>> = each.collect::<Result<_>>()?;
        let mut sums: BTreeMap<Vec<u32>, AnswerMoments> = BTreeMap::new();
        // By answer and group, where the values of a group are counted.
        let mut shuffled: BTreeMap<(Vec<u32>, usize), Shuffled> = BTreeMap::new();
        for (class, found) in classes.iter().zip(each) {
            let group = valuation.group(class.entry);
            for Contribution { key, moments, effects } in found {
                match group {
                    None => sums.entry(key).or_default().add(&moments),
                    Some(group) => {
                        let shuffled = shuffled.entry((key, group)).or_default();
                        shuffled.add(&moments, &effects, class.n_rows());
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
            sums.values_mut().for_each(|moments| moments.centre(all));
        }
        valuation.settled(sums, measure)
    }
}

impl Valuation<'_, '_> {
    /// The answers, from what rows add to each.
    pub(crate) fn settled(
        &self,
        mut sums: BTreeMap<Vec<u32>, AnswerMoments>,
        measure: &Measure,
    ) -> Result<Vec<Estimate>> {
        let group_by = &self.question.group_by;
        if group_by.is_empty() {
            sums.entry(Vec::new()).or_default();
        }
        sums.values_mut().for_each(AnswerMoments::guessed);
        let estimates = sums.iter().filter_map(|(key, moments)| {
            let names = group_by.iter().zip(key);
            let name = |(place, code): (&usize, &u32)| self.name(*place, *code);
            let listed = group_by.is_empty() || moments.possible > 0.0;
            let values = || names.map(name).collect();
            if listed { moments.estimate(measure, values()) } else { None }
        });
        let estimates: Vec<Estimate> = estimates.collect();
        if estimates.is_empty() && group_by.is_empty() {
            let message = "there is no mean: no row satisfies the condition";
            return Err(Error::recipe(message));
        }
        Ok(estimates)
    }

    /// What the rows of a class add to each answer.
    fn contributions(&self, class: &Alike) -> Result<Vec<Contribution>> {
        let subtables = self.question.subtables(class.entry);
        let joint = self.question.joint(&subtables)?;
        let worths =
            self.enumerate(class.entry, &subtables, &joint, Given::default())?;
        let inverse = joint.inverse();
        let mut found = Vec::with_capacity(worths.len());
        for worth in worths {
            let moments = if worth.is_even() {
                self.known(class, &worth)
            } else {
                let inverse = inverse
                    .as_ref()
                    .map_err(|place| self.question.singular(&subtables, *place))?;
                self.undone(class, &worth, &|values| inverse.weights(values))
            };
            let Worth { key, effects, .. } = worth;
            found.push(Contribution { key, moments, effects });
        }
        Ok(found)
    }

    /// What rows add if no noise has to be undone.
    fn known(&self, class: &Alike, worth: &Worth) -> AnswerMoments {
        let (rows, moments) = (class.n_rows(), worth.moments[0]);
        let squares: f64 = class.published.iter().map(|(_, _, squares)| squares).sum();
        let mut found = AnswerMoments { possible: rows, ..AnswerMoments::default() };
        add_times(&mut found.mean, rows, moments.first());
        if self.sampled() {
            found.draws.add(squares, moments.first());
        }
        if worth.guessed {
            found.guess.add(rows, moments);
        } else {
            add_times(&mut found.variance, rows, moments.variance());
            found.sure = if worth.open { 0.0 } else { rows };
        }
        found
    }

    /// What rows add if noise has to be undone, which `undo` does.
    fn undone(
        &self,
        class: &Alike,
        worth: &Worth,
        undo: &dyn Fn(&[f64]) -> Vec<f64>,
    ) -> AnswerMoments {
        let each = |of: &dyn Fn(RowMoments) -> f64| -> Vec<f64> {
            undo(&worth.moments.iter().map(|m| of(*m)).collect::<Vec<f64>>())
        };
        let (counts, sums) = (each(&|m| m.count), each(&|m| m.sum));
        // What the variances lack: `2 s² - q`.
        let lacking = [0, 1, 2]
            .map(|pair| each(&|m| 2.0 * products(m.first())[pair] - m.second()[pair]));
        let mut found = AnswerMoments::default();
        for (cell, rows, squares) in &class.published {
            let first = [counts[*cell], sums[*cell]];
            add_times(&mut found.mean, *rows, first);
            found.possible += rows;
            if self.sampled() {
                // Which row was drawn is in the squares of the weights, and so is its noise.
                found.draws.add(*squares, first);
            } else {
                let lacking = [0, 1, 2].map(|pair| lacking[pair][*cell]);
                let open = paired(products(first), lacking, |own, lacks| own - lacks);
                add_times(&mut found.variance, *rows, open);
            }
        }
        found
    }

    /// Whether another row of the same group would have given another answer.
    fn sampled(&self) -> bool {
        self.varies && self.question.evidence.stands_for.is_some()
    }
}
