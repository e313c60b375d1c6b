//! Answers about numbers that rows have one by one, if rows are independent given their
//! classes.
//!
//! # Guarantee
//! If within its blur every number of a row's domain was equally likely, every count is the
//! mean of the true count given the release, and its standard error is exact
//! (`numbers/law.rs`); beside drawn columns both are unbiased. Whatever the data, a sum or
//! mean that no blurred column decides about is unbiased: noise has mean zero, and its
//! variance is known. Where the release lost nothing the answer is exact and its error
//! zero. The parts of `GROUP BY` add up to the whole.
//!
//! *Why.* Noise of a row does not depend on other rows, so variances add up. Given the true
//! drawn values `x` of a row let `s(x)` be the mean of what it adds and `q(x)` that of its
//! square (`prospect.rs`). As in `independent.rs`, what was published in place of `x` is
//! undone by `h` with mean `s(x)`, and `h² - 2 s² + q` estimates the variance.
//!
//! Rows that were drawn anew are taken as they are, and what true and drawn rows of a group
//! vary by is added (`numbers/redrawn.rs`).
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
use crate::estimate::laws::estimate::Estimate;
use crate::estimate::laws::learned::LearnedMoments;
use crate::estimate::laws::moments::{
    AnswerMoments, RowMoments, add_times, paired, products,
};
use crate::estimate::laws::numbers::{Blurred, LearnedCuts, RedrawnGroup};
use crate::estimate::laws::prospect::{Prospects, RowPosterior};
use crate::estimate::laws::valuation::Valuation;
use crate::estimate::learn::latent::Learned;
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
        for (weight, moments) in kernel.unwrap_or(&[1.0]).iter().zip(moments) {
            add_times(&mut all.first, *weight, moments.first());
            add_times(&mut all.product, *weight, products(moments.first()));
            add_times(&mut all.second, *weight, moments.second());
        }
        all
    }
}

impl Question<'_> {
    /// The answers, in the order of the values that are counted apart.
    pub(crate) fn answer_rows(
        &self,
        blurred: &Blurred,
        learned: Option<&Learned>,
        measure: &Measure,
    ) -> Result<Vec<Estimate>> {
        let valuation = Valuation::new(self, measure)?;
        let learned = learned.and_then(|own| LearnedCuts::of(own, &valuation.cuts));
        let (class_of, _) = self.sorted(valuation.measured, &valuation.facets);
        let mut prospects: Vec<Prospects<'_>> = Vec::new();
        let mut numbers: HashMap<(u32, Vec<bool>), usize> = HashMap::new();
        let mut prospects_of = Vec::with_capacity(blurred.n_rows());
        for row in 0..blurred.n_rows() {
            let entry = blurred.kind(row);
            let missing = blurred.missing(row, &valuation.cuts);
            let key = (class_of[entry], missing.clone().unwrap_or_default());
            prospects_of.push(match numbers.get(&key) {
                Some(number) => *number,
                None => {
                    self.watch.check()?;
                    let missing = missing.as_deref();
                    prospects.push(valuation.prospects(entry, &[], missing)?);
                    numbers.insert(key, prospects.len() - 1);
                    prospects.len() - 1
                }
            });
        }
        let blocks = prospects_of.par_chunks(BLOCK).enumerate();
        let sums = blocks.map(|(block, numbers)| {
            self.watch.check()?;
            let mut sums: HashMap<(usize, usize), LearnedMoments> = HashMap::new();
            let mut law = RowPosterior::default();
            for (row, number) in (block * BLOCK..).zip(numbers) {
                let (own, entry) = (&prospects[*number], blurred.kind(row));
                valuation.locate(Some((blurred, row)), entry, own, &mut law);
                if let Some(learned) = &learned {
                    valuation.locate_learned((blurred, row), own, learned, &mut law);
                }
                for answer in 0..own.answers.len() {
                    let moments = valuation.of_row(own, answer, &law, entry)?;
                    let sum = sums.entry((*number, answer)).or_default();
                    sum.moments.add(&moments);
                    valuation.by_fit(&own.answers[answer], &mut law, &mut sum.by_fit);
                }
            }
            let mut sums: Vec<_> = sums.into_iter().collect();
            sums.sort_unstable_by_key(|(place, _)| *place);
            Ok(sums)
        });
        let sums: Vec<Vec<((usize, usize), LearnedMoments)>> =
            sums.collect::<Result<_>>()?;
        let mut by_key: BTreeMap<Vec<u32>, LearnedMoments> = BTreeMap::new();
        for ((number, answer), moments) in sums.iter().flatten() {
            let key = &prospects[*number].answers[*answer].key;
            match by_key.get_mut(key) {
                Some(sum) => sum.add(moments),
                None => by_key.entry(key.clone()).or_default().add(moments),
            }
        }
        let mut by_key: BTreeMap<Vec<u32>, AnswerMoments> =
            by_key.into_iter().map(|(key, sum)| (key, sum.settled())).collect();
        let redrawn = blurred.groups().into_par_iter().map(|rows| {
            self.watch.check()?;
            let class_of = rows.iter().map(|row| prospects_of[*row]).collect();
            let of_class = |class: usize| std::slice::from_ref(&prospects[class]);
            let group = RedrawnGroup { blurred, rows: &rows, class_of, shares: &[1.0] };
            valuation.redrawn(&group, &of_class)
        });
        let redrawn: Vec<Vec<(Vec<u32>, [f64; 3])>> = redrawn.collect::<Result<_>>()?;
        for (key, variance) in redrawn.into_iter().flatten() {
            add_times(&mut by_key.entry(key).or_default().variance, 1.0, variance);
        }
        valuation.settled(by_key, measure)
    }
}

impl Valuation<'_, '_> {
    /// What a row adds to an answer.
    fn of_row(
        &self,
        prospects: &Prospects<'_>,
        answer: usize,
        law: &RowPosterior,
        entry: usize,
    ) -> Result<AnswerMoments> {
        let answer = &prospects.answers[answer];
        let (sure, possible) = self.limits(answer, law);
        let mut found = AnswerMoments::default();
        if answer.uneven {
            let kernel = self.kernel(prospects, entry)?;
            let drawn = 0..prospects.joint.size();
            let moments: Vec<RowMoments> =
                drawn.map(|drawn| self.moments(answer, law, drawn)).collect();
            let Undone { first, product, second } =
                Undone::new(Some(&kernel), &moments);
            let open =
                paired(second, product, |second, product| second - 2.0 * product);
            found.mean = first;
            found.variance = paired(products(first), open, |own, open| own + open);
            found = found.shifted(law.number);
        } else {
            let moments = self.moments(answer, law, 0);
            if answer.guessed {
                let moments = moments.shifted(law.number);
                found.mean = moments.first();
                found.guess.add(1.0, moments);
            } else {
                (found.mean, found.variance) = (moments.first(), moments.variance());
                found = found.shifted(law.number);
            }
        }
        found.sure = f64::from(u8::from(sure));
        found.possible = f64::from(u8::from(possible));
        Ok(found)
    }

    /// How much a row counts for each combination of drawn values that it may have had.
    pub(crate) fn kernel(
        &self,
        prospects: &Prospects<'_>,
        entry: usize,
    ) -> Result<Vec<f64>> {
        let mut published = vec![0.0; prospects.joint.size()];
        published[self.question.published(entry)] = 1.0;
        let inverse = prospects.joint.inverse();
        let inverse = inverse
            .map_err(|place| self.question.singular(&prospects.subtables, place))?;
        Ok(inverse.solve(&published))
    }
}
