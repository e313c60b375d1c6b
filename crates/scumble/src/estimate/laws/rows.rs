//! Answers about numbers that rows have one by one, if rows are independent given their
//! classes.
//!
//! # Guarantee
//! If within its blur every number of a row's domain was equally likely, every count is the
//! mean of the true count given the release, and its standard error is exact
//! (`numbers/law.rs`); beside drawn columns both are unbiased. Whatever the data, a sum or
//! mean that no blurred column decides about is unbiased: noise has mean nought, and its
//! variance is known. Where the release lost nothing the answer is exact and its error
//! nought. The parts of `GROUP BY` add up to the whole.
//!
//! *Why.* Noise of a row does not depend on other rows, so variances add up. Given the true
//! drawn values `x` of a row let `s(x)` be the mean of what it adds and `q(x)` that of its
//! square (`prospect.rs`). As in `independent.rs`, what was published in place of `x` is
//! undone by `h` with mean `s(x)`, and `h² - 2 s² + q` estimates the variance.
//!
//! # Limits
//! The even prior (`numbers/mod.rs`), and the assumptions about cells (`independent.rs`).
//!
//! # Cost
//! One pass over the rows, with a few tails for every column of numbers asked about; beside
//! drawn columns, the combinations of their values for each row.
//!
//! # Source
//! docs/methods.md, "The weight of a row".

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::error::Result;
use crate::estimate::laws::joint::Joint;
use crate::estimate::laws::numbers::Blurred;
use crate::estimate::laws::perturbed::Estimate;
use crate::estimate::laws::prospect::{Prospects, RowLaw, RowMoments};
use crate::estimate::laws::tally::{Guess, Tally};
use crate::estimate::laws::valuation::Valuation;
use crate::estimate::query::Measure;
use crate::estimate::query::question::Question;

/// Rows that are added up at once, in order, so that sums do not depend on threads.
const BLOCK: usize = 1 << 12;

/// Unbiased estimates of first moments of what a row adds, of their products, and of second
/// moments. Pairs are count and count, sum and sum, count and sum.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Undone {
    pub(crate) first: [f64; 2],
    pub(crate) product: [f64; 3],
    pub(crate) second: [f64; 3],
}

impl Undone {
    /// From the moments for each combination of drawn values, weighed by what undoes the
    /// noise; nothing was drawn if there is no such weight.
    pub(crate) fn new(kernel: Option<&[f64]>, moments: &[RowMoments]) -> Self {
        let mut all = Self::default();
        let one = [1.0];
        for (weight, m) in kernel.unwrap_or(&one).iter().zip(moments) {
            let first = [m.count, m.sum];
            let second = [m.count, m.square, m.sum];
            for (sum, value) in all.first.iter_mut().zip(first) {
                *sum += weight * value;
            }
            for (sum, value) in all.product.iter_mut().zip(products(first)) {
                *sum += weight * value;
            }
            for (sum, value) in all.second.iter_mut().zip(second) {
                *sum += weight * value;
            }
        }
        all
    }
}

/// Count by count, sum by sum, count by sum.
pub(crate) fn products([count, sum]: [f64; 2]) -> [f64; 3] {
    [count * count, sum * sum, count * sum]
}

/// How much a row counts for each combination of values that it may have had, if it was
/// published with this one; the place of a channel that nothing undoes.
pub(crate) fn kernel(
    joint: &Joint<'_>,
    published: usize,
) -> std::result::Result<Vec<f64>, usize> {
    let mut unit = vec![0.0; joint.size()];
    unit[published] = 1.0;
    Ok(joint.inverse()?.solve(&unit))
}

impl Question<'_> {
    /// The answers, in the order of the values that are counted apart.
    pub(crate) fn answer_rows(
        &self,
        blurred: &Blurred,
        measure: &Measure,
    ) -> Result<Vec<Estimate>> {
        let valuation = Valuation::new(self, measure)?;
        let (class_of, _) = self.sorted(valuation.measured, &valuation.facets);
        let mut prospects: Vec<Prospects<'_>> = Vec::new();
        let mut numbers: HashMap<(u32, Vec<bool>), u32> = HashMap::new();
        let mut prospects_of = Vec::with_capacity(blurred.n_rows());
        for row in 0..blurred.n_rows() {
            let entry = blurred.kind(row);
            let key = (class_of[entry], blurred.missing(row, &valuation.cuts));
            prospects_of.push(match numbers.get(&key) {
                Some(number) => *number,
                None => {
                    self.watch.check()?;
                    prospects.push(valuation.prospects(entry, None, Some(&key.1))?);
                    let number = prospects.len() as u32 - 1;
                    numbers.insert(key, number);
                    number
                }
            });
        }
        let blocks = prospects_of.par_chunks(BLOCK).enumerate();
        let sums = blocks.map(|(block, numbers)| {
            self.watch.check()?;
            let mut sums: HashMap<(u32, usize), Tally> = HashMap::new();
            let mut law = RowLaw::default();
            for (row, number) in (block * BLOCK..).zip(numbers) {
                let own = &prospects[*number as usize];
                valuation.locate(
                    Some((blurred, row)),
                    blurred.kind(row),
                    own,
                    &mut law,
                );
                for answer in 0..own.answers.len() {
                    let tally =
                        valuation.row_tally(own, answer, &law, blurred.kind(row))?;
                    sums.entry((*number, answer)).or_default().add(&tally);
                }
            }
            let mut sums: Vec<_> = sums.into_iter().collect();
            sums.sort_unstable_by_key(|(place, _)| *place);
            Ok(sums)
        });
        let sums: Vec<Vec<((u32, usize), Tally)>> = sums.collect::<Result<_>>()?;
        let mut by_key: BTreeMap<Vec<u32>, Tally> = BTreeMap::new();
        for ((number, answer), tally) in sums.iter().flatten() {
            let key = &prospects[*number as usize].answers[*answer].key;
            match by_key.get_mut(key) {
                Some(sum) => sum.add(tally),
                None => by_key.entry(key.clone()).or_default().add(tally),
            }
        }
        valuation.settled(by_key, measure)
    }
}

impl Valuation<'_, '_> {
    /// What a row adds to an answer.
    fn row_tally(
        &self,
        prospects: &Prospects<'_>,
        answer: usize,
        law: &RowLaw,
        entry: usize,
    ) -> Result<Tally> {
        let answer = &prospects.answers[answer];
        let (sure, possible) = self.limits(answer, law);
        let mut tally = if answer.uneven {
            let kernel = kernel(&prospects.joint, self.question.published(entry))
                .map_err(|place| self.singular(&prospects.subtables, place))?;
            let drawn = 0..prospects.joint.size();
            let moments: Vec<RowMoments> =
                drawn.map(|drawn| self.moments(answer, law, drawn)).collect();
            let Undone { first, product, second } =
                Undone::new(Some(&kernel), &moments);
            let own = products(first);
            let variance = |pair: usize| own[pair] - 2.0 * product[pair] + second[pair];
            let tally = Tally {
                count: first[0],
                sum: first[1],
                count_variance: variance(0),
                sum_variance: variance(1),
                covariance: variance(2),
                ..Tally::default()
            };
            tally.shifted(law.number)
        } else {
            let moments = self.moments(answer, law, 0);
            if answer.guessed {
                let RowMoments { count, sum, square } = moments.shifted(law.number);
                let guess = Guess { rows: 1.0, count, sum, square };
                Tally { count, sum, guess, ..Tally::default() }
            } else {
                moments.tally().shifted(law.number)
            }
        };
        tally.sure = f64::from(u8::from(sure));
        tally.possible = f64::from(u8::from(possible));
        Ok(tally)
    }
}
