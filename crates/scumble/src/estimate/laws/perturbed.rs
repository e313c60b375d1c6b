//! Counts of the true table, estimated from a release with randomized columns.
//!
//! # Guarantee
//! By the inverse way every estimate is unbiased: its mean over the noise is the number of
//! rows of the table (those that were published) that satisfy the condition. Its standard
//! error follows from the matrices. Where the release lost nothing (the condition is about
//! untouched columns, or every value is kept) the answer is exact and its error zero.
//!
//! *Why.* Rows are sorted by what their untouched cells leave open: which values of the
//! randomized columns would satisfy the condition. Within such a class and within one
//! sub-table, reconstruction gives how many rows had each value, and the answer is the sum
//! over the values that satisfy it. Noise is independent from row to row, so variances of
//! classes add up; and from column to column, so a question about several randomized
//! columns is one about their combinations.
//!
//! If rows are a sample, one of each group, a row counts for the rows of its group, and
//! which row was drawn is random, too: the variance is the expected sum of the squares of
//! weight times size, less the square of their mean. As if groups were alike: where they
//! are not, this is too large, never too small.
//!
//! Whatever the way, the interval is that of the inverse, around its own count: the error of
//! the inverse says nothing about the distance of another estimate from the truth. Cut to
//! what is possible it covers the truth as often, because the truth is possible.
//!
//! # Limits
//! Intervals are normal: for a handful of rows they are rough. If of some rows none was
//! published that counts, their variance is estimated as zero; then their number is added.
//! Iterative and simplex counts are reconstructed class by class, so the sum over classes may
//! differ from that of all rows at once. Rows whose noise was drawn from the same key and the same identifier
//! do not have independent noise: where people have several rows, errors are larger.
//!
//! # Cost
//! One pass over the distinct rows, and a reconstruction for each class; for each value
//! asked for, a solution of the matrix if the condition is about other randomized columns.
//!
//! # Source
//! docs/methods.md, "Reconstruction" and "The weight of a row".

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::estimate::laws::estimate::{Basis, Estimate};
use crate::estimate::laws::reconstruct::{
    ErrorTerms, VarianceTerms, Way, reconstruct_watched,
};
use crate::estimate::query::question::{Open, OpenClass, Question};

/// What is added up for an answer.
#[derive(Debug, Default)]
struct AnswerSum {
    count: f64,
    at_most: f64,
    unbiased: f64,
    moments: VarianceTerms,
    /// Rows of which noise may hide more than the published ones show.
    hidden: f64,
    unknown: bool,
}

impl AnswerSum {
    fn add(
        &mut self,
        count: f64,
        at_most: f64,
        unbiased: Option<(f64, VarianceTerms)>,
    ) {
        self.count += count;
        self.at_most += at_most;
        match unbiased {
            Some((unbiased, moments)) => {
                self.unbiased += unbiased;
                self.moments.squares += moments.squares;
                self.moments.rows += moments.rows;
            }
            None => self.unknown = true,
        }
    }
}

impl<'a> Question<'a> {
    /// Counts where nothing but noise has to be undone.
    pub(in crate::estimate) fn answer_noisy(&self, way: Way) -> Result<Vec<Estimate>> {
        let evidence = self.evidence;
        let mut sums: BTreeMap<Vec<u32>, AnswerSum> = BTreeMap::new();
        if self.group_by.is_empty() {
            sums.entry(Vec::new()).or_default();
        }
        let (opens, classes) = self.classes()?;
        for class in &classes {
            self.watch.check()?;
            self.add(class, &opens[class.open], way, &mut sums)?;
        }
        let all = (0..evidence.rows.len()).map(|entry| evidence.weight(entry).1);
        let all: f64 = all.sum();
        let estimate = |(codes, sum): (Vec<u32>, AnswerSum)| {
            let VarianceTerms { squares, rows } = sum.moments;
            let variance = match evidence.stands_for {
                None => sum.moments.variance(),
                Some(_) => (squares - rows * rows / all).max(0.0),
            };
            Estimate {
                values: self.texts(&codes),
                count: sum.count,
                unbiased: (!sum.unknown).then_some(sum.unbiased),
                // Where nothing was published that counts, no error can be seen either.
                standard_error: (!sum.unknown).then(|| (variance + sum.hidden).sqrt()),
                at_least: 0.0,
                at_most: sum.at_most,
                rows: sum.at_most,
                basis: Basis::Law,
            }
        };
        Ok(sums.into_iter().map(estimate).collect())
    }

    /// Adds the rows of a class to the answers they belong to.
    fn add(
        &self,
        class: &OpenClass,
        open: &Open<'a>,
        way: Way,
        sums: &mut BTreeMap<Vec<u32>, AnswerSum>,
    ) -> Result<()> {
        let size = open.joint.size();
        let (mut published, mut squares) = (vec![0.0; size], vec![0.0; size]);
        for (cell, rows, square) in &class.published {
            published[*cell] += rows;
            squares[*cell] += square;
        }
        let total: f64 = published.iter().sum();
        // A code is 0 on one side.
        let codes = |noisy: &[u32]| {
            noisy.iter().zip(&class.group).map(|(a, b)| a + b).collect()
        };
        if let [(noisy, cells)] = open.answers.as_slice()
            && cells.len() == size
        {
            // Whatever the values are, these rows count.
            let rows: f64 = squares.iter().sum();
            sums.entry(codes(noisy)).or_default().add(
                total,
                total,
                Some((total, VarianceTerms { squares: rows, rows })),
            );
            return Ok(());
        }
        let done = reconstruct_watched(&open.joint, &published, way, self.watch)
            .map_err(|place| self.singular(&open.subtables, place))?;
        self.watch.check()?;
        let spread = match self.evidence.stands_for {
            None => done.spread,
            Some(_) => ErrorTerms::new(&open.joint, &squares),
        };
        let alone = open.answers.iter().all(|(_, cells)| cells.len() == 1);
        let single = spread.as_ref().filter(|_| alone).map(ErrorTerms::single);
        let mut set = vec![false; size];
        for (noisy, cells) in &open.answers {
            cells.iter().for_each(|cell| set[*cell] = true);
            let moments = spread.as_ref().map(|spread| match &single {
                Some(single) => single[cells[0]],
                None => spread.of_set(&set),
            });
            let hidden = match (&spread, moments) {
                (Some(spread), Some(moments))
                    if moments.squares < 1e-6 && !spread.is_exact(&set) =>
                {
                    total
                }
                _ => 0.0,
            };
            cells.iter().for_each(|cell| set[*cell] = false);
            let sum =
                |counts: &Vec<f64>| cells.iter().map(|cell| counts[*cell]).sum::<f64>();
            let unbiased = done.unbiased.as_ref().map(sum).zip(moments);
            let answer = sums.entry(codes(noisy)).or_default();
            answer.add(sum(&done.counts), total, unbiased);
            answer.hidden += hidden;
        }
        Ok(())
    }

    /// That the matrix of a noise cannot be inverted.
    pub(crate) fn singular(&self, subtables: &[u32], place: usize) -> Error {
        let noise = &self.evidence.noises[self.noises[place]];
        let which = match noise.subtables.len() {
            1 => format!("the matrix of `{}`", noise.name),
            _ => format!(
                "the matrix of sub-table {} of `{}`",
                subtables[place] + 1,
                noise.name
            ),
        };
        Error::input(format!(
            "{which} cannot be inverted: it publishes different values alike"
        ))
        .with_hint("`--way iterative` still finds likely counts, but not their errors")
    }
}
