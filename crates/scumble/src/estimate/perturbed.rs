//! Counts of the true table, estimated from a release with randomized columns.
//!
//! # Guarantee
//! By the inverse way every estimate is unbiased: its mean over the noise is the number of
//! rows of the table (those that were published) that satisfy the condition. Its standard
//! error follows from the matrices. Where the release lost nothing (the condition is about
//! untouched columns, or every value is kept) the answer is exact and its error nought.
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
//! published that counts, their variance is estimated as nought; then as many as they are are
//! added. Iterative and simplex
//! counts are reconstructed class by class, so the sum over classes may differ from that
//! of all rows at once. Rows whose noise was drawn from the same key and the same identifier
//! do not have independent noise: where people have several rows, errors are larger.
//!
//! # Cost
//! One pass over the distinct rows, and a reconstruction for each class; for each value
//! asked for, a solution of the matrix if the condition is about other randomized columns.
//!
//! # Source
//! METHODS C2 and F.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::estimate::evidence::{Evidence, Nature};
use crate::estimate::query::{Condition, Measure, Query};
use crate::estimate::question::{Class, Open, Question};
use crate::estimate::reconstruct::{Moments, Spread, Way, reconstruct};

/// How many standard errors an interval of 95 % reaches to either side.
const NORMAL_95: f64 = 1.959_963_984_540_054;

/// How many rows of the table have something, or the sum or mean of their numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The values of the columns that are counted apart.
    pub values: Vec<String>,
    /// The estimate; of a sum or mean, that.
    pub count: f64,
    /// The estimate by the inverse, whatever the way; nothing if a matrix cannot be inverted.
    pub unbiased: Option<f64>,
    /// The standard error of that; nothing if a matrix cannot be inverted.
    pub standard_error: Option<f64>,
    /// As many rows as have it for certain, as far as that is known.
    pub at_least: f64,
    /// As many rows as could have it.
    pub at_most: f64,
}

impl Estimate {
    /// Where the true count lies with 95 %, as far as noise goes: around the unbiased
    /// estimate, also below nought.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let (middle, reach) = (self.unbiased?, NORMAL_95 * self.standard_error?);
        Some((middle - reach, middle + reach))
    }

    /// The same within what is possible.
    ///
    /// If the unbiased estimate is not possible itself, the interval begins at the nearest
    /// count that is, and if the estimate lies outside, it reaches to it: both make it
    /// longer, so that it covers the truth no less often and never looks certain.
    pub fn possible_interval(&self) -> Option<(f64, f64)> {
        let possible = |count: f64| count.clamp(self.at_least, self.at_most);
        let (middle, reach) = (self.unbiased?, NORMAL_95 * self.standard_error?);
        let (middle, count) = (possible(middle), possible(self.count));
        let (low, high) = (possible(middle - reach), possible(middle + reach));
        Some((low.min(count), high.max(count)))
    }

    /// Whether the error is so large that the estimate tells nothing: a standard error of
    /// more than a quarter of the rows that are open, so that the interval would be as long
    /// as all there is.
    pub fn tells_nothing(&self) -> bool {
        let open = self.at_most;
        self.at_least == 0.0
            && self.standard_error.is_some_and(|error| error > open / 4.0)
    }
}

/// What is added up for an answer.
#[derive(Debug, Default)]
struct Sum {
    count: f64,
    at_most: f64,
    unbiased: f64,
    moments: Moments,
    /// Rows of which noise may hide more than the published ones show.
    hidden: f64,
    unknown: bool,
}

impl Sum {
    fn add(&mut self, count: f64, at_most: f64, unbiased: Option<(f64, Moments)>) {
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

impl Evidence {
    /// Estimates how many rows of the table satisfy the condition, for all values of the
    /// columns that are counted apart, in the order of these values.
    pub fn answer(&self, query: &Query, way: Way) -> Result<Vec<Estimate>> {
        if let Measure::Share(part) = &query.measure {
            return self.shares(query, part.as_ref(), way);
        }
        let question = Question::new(self, query)?;
        if let Some(blurred) = &self.blurred {
            return question.answer_blurred(blurred, &query.measure, way);
        }
        if let Some(groups) = &self.groups {
            return question.answer_by_group(groups, &query.measure, way);
        }
        if !question.noises.is_empty() && question.is_plain(&query.measure) {
            return question.answer_noisy(way);
        }
        if way != Way::Inverse && !question.noises.is_empty() {
            return Err(Error::recipe(
                "only counts of columns that are randomized or untouched can be kept possible",
            )
            .with_hint("leave out `--way`, or write `--way inverse`"));
        }
        question.answer_uncertain(&query.measure)
    }

    /// Estimates how many rows that satisfy the condition have each value of a column.
    pub fn distribution(
        &self,
        column: &str,
        condition: Condition,
        way: Way,
    ) -> Result<Vec<Estimate>> {
        let (measure, group_by) = (Measure::Count, vec![column.to_owned()]);
        self.answer(&Query { measure, group_by, condition }, way)
    }
}

impl<'a> Question<'a> {
    /// Whether rows are counted, and no uncertain cell decides about them.
    fn is_plain(&self, measure: &Measure) -> bool {
        let asked = self.tests.iter().map(|(place, _)| place).chain(&self.group_by);
        let uncertain = |place: &usize| {
            matches!(self.evidence.columns[*place].nature, Nature::Uncertain(_))
        };
        *measure == Measure::Count && !asked.into_iter().any(uncertain)
    }

    /// Counts where nothing but noise has to be undone.
    fn answer_noisy(&self, way: Way) -> Result<Vec<Estimate>> {
        let evidence = self.evidence;
        let mut sums: BTreeMap<Vec<u32>, Sum> = BTreeMap::new();
        if self.group_by.is_empty() {
            sums.entry(Vec::new()).or_default();
        }
        let (opens, classes) = self.classes()?;
        for class in &classes {
            self.add(class, &opens[class.open], way, &mut sums)?;
        }
        let all = (0..evidence.rows.len()).map(|entry| evidence.weight(entry).1);
        let all: f64 = all.sum();
        let estimate = |(codes, sum): (Vec<u32>, Sum)| {
            let values = self.group_by.iter().zip(codes);
            let text = |(place, code): (&usize, u32)| {
                evidence.columns[*place].texts[code as usize].to_string()
            };
            let Moments { squares, rows } = sum.moments;
            let variance = match evidence.stands_for {
                None => sum.moments.variance(),
                Some(_) => (squares - rows * rows / all).max(0.0),
            };
            Estimate {
                values: values.map(text).collect(),
                count: sum.count,
                unbiased: (!sum.unknown).then_some(sum.unbiased),
                // Where nothing was published that counts, no error can be seen either.
                standard_error: (!sum.unknown).then(|| (variance + sum.hidden).sqrt()),
                at_least: 0.0,
                at_most: sum.at_most,
            }
        };
        Ok(sums.into_iter().map(estimate).collect())
    }

    /// Adds the rows of a class to the answers they belong to.
    fn add(
        &self,
        class: &Class,
        open: &Open<'a>,
        way: Way,
        sums: &mut BTreeMap<Vec<u32>, Sum>,
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
                Some((total, Moments { squares: rows, rows })),
            );
            return Ok(());
        }
        let done = reconstruct(&open.joint, &published, way)
            .map_err(|place| self.singular(&open.subtables, place))?;
        let spread = match self.evidence.stands_for {
            None => done.spread,
            Some(_) => Spread::new(&open.joint, &squares),
        };
        let alone = open.answers.iter().all(|(_, cells)| cells.len() == 1);
        let single = spread.as_ref().filter(|_| alone).map(Spread::single);
        let mut set = vec![false; size];
        for (noisy, cells) in &open.answers {
            let moments = match (&spread, &single) {
                (None, _) => None,
                (Some(_), Some(single)) => Some(single[cells[0]]),
                (Some(spread), None) => {
                    cells.iter().for_each(|cell| set[*cell] = true);
                    let moments = spread.of_set(&set);
                    cells.iter().for_each(|cell| set[*cell] = false);
                    Some(moments)
                }
            };
            let sum =
                |counts: &Vec<f64>| cells.iter().map(|cell| counts[*cell]).sum::<f64>();
            let unbiased = done.unbiased.as_ref().map(sum).zip(moments);
            let count = sum(&done.counts);
            let hidden = match (&spread, moments) {
                (Some(spread), Some(moments)) if moments.squares < 1e-6 => {
                    cells.iter().for_each(|cell| set[*cell] = true);
                    let exact = spread.is_exact(&set);
                    cells.iter().for_each(|cell| set[*cell] = false);
                    if exact { 0.0 } else { total }
                }
                _ => 0.0,
            };
            let answer = sums.entry(codes(noisy)).or_default();
            answer.add(count, total, unbiased);
            answer.hidden += hidden;
        }
        Ok(())
    }

    /// That the matrix of a noise cannot be inverted.
    pub(super) fn singular(&self, subtables: &[u32], place: usize) -> Error {
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
