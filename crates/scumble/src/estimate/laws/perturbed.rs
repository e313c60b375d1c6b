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
use crate::estimate::evidence::groups::GroupMembers;
use crate::estimate::evidence::{Evidence, Nature};
use crate::estimate::laws::reconstruct::{
    ErrorTerms, VarianceTerms, Way, reconstruct_watched,
};
use crate::estimate::query::question::{Open, OpenClass, Question};
use crate::estimate::query::{Measure, Query};
use crate::watch::Watched;

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
    /// estimate, also below zero.
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

impl Evidence {
    /// Estimates how many rows of the table satisfy the condition, for all values of the
    /// columns that are counted apart, in the order of these values.
    pub fn answer<'q>(
        &self,
        query: impl Into<Watched<'q, Query>>,
        way: Way,
    ) -> Result<Vec<Estimate>> {
        self.answer_watched(query.into(), way)
    }

    fn answer_watched(
        &self,
        query: Watched<'_, Query>,
        way: Way,
    ) -> Result<Vec<Estimate>> {
        query.watch.check()?;
        if let Measure::Share(part) = &query.measure {
            return self.shares(query, part.as_ref(), way);
        }
        self.check_way(way)?;
        let question = Question::new(self, query)?;
        let measure = &query.measure;
        let asked = question.natures(measure)?;
        let all = |of: fn(&Nature) -> bool| asked.iter().all(of);
        let any = |of: fn(&Nature) -> bool| asked.iter().any(of);
        let counts = *measure == Measure::Count;
        let drawn = !question.noises.is_empty();
        let plain = all(|n| matches!(n, Nature::Kept | Nature::Drawn(..)));
        let shared = question.shared(measure)?;
        if drawn && counts && plain && !question.splits {
            return Ok(widened(question.answer_noisy(way)?, shared));
        }
        if drawn && way != Way::Inverse {
            return Err(Error::recipe(
                "only counts of columns that are randomized or untouched can be kept possible",
            )
            .with_hint("leave out `--way`, or write `--way inverse`"));
        }
        let numbers = self.blurred.as_ref();
        let numbers = numbers.filter(|_| any(|n| matches!(n, Nature::Number(_))));
        let places = question.places(measure)?;
        let own = |groups: &&GroupMembers| places.contains(&groups.sensitive);
        let apart: Vec<&GroupMembers> = self.groups.iter().filter(own).collect();
        let answers = match (&*apart, numbers) {
            ([], None) => question.answer_uncertain(measure),
            ([groups], None)
                if counts && all(|n| matches!(n, Nature::Kept | Nature::Apart)) =>
            {
                question.answer_arranged(groups)
            }
            ([], Some(numbers)) => question.answer_rows(numbers, measure),
            ([groups], _) => question.answer_exchangeable(groups, measure),
            (_, None) if !drawn => question.answer_jointly(&apart, measure),
            _ => Err(Error::recipe(
                "several columns that stand apart cannot be asked about together with \
                 randomized or blurred ones",
            )
            .with_hint("ask about one column that stands apart at a time")),
        };
        Ok(widened(answers?, shared))
    }

    /// That there is a way to choose, if one was.
    fn check_way(&self, way: Way) -> Result<()> {
        let why = match (&*self.groups, &self.blurred) {
            _ if way == Way::Inverse || !self.noises.is_empty() => return Ok(()),
            ([_, ..], _) => "nothing is randomized, so there is no way to choose",
            ([], Some(_)) => "no matrix is undone, so there is no way to choose",
            ([], None) => return Ok(()),
        };
        Err(Error::recipe(why).with_hint("leave out `--way`"))
    }
}

/// Answers of rows of which so many share their noise on average: variances are as many times
/// those of rows whose noise is their own.
fn widened(mut answers: Vec<Estimate>, shared: f64) -> Vec<Estimate> {
    for error in answers.iter_mut().filter_map(|answer| answer.standard_error.as_mut())
    {
        *error *= shared.sqrt();
    }
    answers
}

impl<'a> Question<'a> {
    /// How many rows share the noise of a row in the columns that are asked about, on
    /// average; 1 if each has its own.
    fn shared(&self, measure: &Measure) -> Result<f64> {
        let evidence = self.evidence;
        let names = self.places(measure)?.into_iter();
        let names = names.map(|place| &evidence.columns[place].name);
        let shared = names.filter_map(|name| evidence.shared.get(name).copied());
        Ok(shared.fold(1.0, f64::max))
    }

    /// What was done to the columns that the question is about.
    fn natures(&self, measure: &Measure) -> Result<Vec<Nature>> {
        let columns = &self.evidence.columns;
        let blurry =
            |place: &&usize| matches!(columns[**place].nature, Nature::Number(_));
        if let Some(place) = self.group_by.iter().find(blurry) {
            let name = &columns[*place].name;
            return Err(Error::recipe(format!(
                "`{name}` is blurred: its published numbers are not groups"
            ))
            .with_hint(format!("ask for ranges: WHERE {name} BETWEEN 30 AND 39")));
        }
        let places = self.places(measure)?;
        Ok(places.iter().map(|place| columns[*place].nature).collect())
    }

    /// The places of the columns that the question is about.
    fn places(&self, measure: &Measure) -> Result<Vec<usize>> {
        let measured = measure.column().map(|name| self.evidence.column(name));
        Ok(self.asked(measured.transpose()?))
    }

    /// Counts where nothing but noise has to be undone.
    fn answer_noisy(&self, way: Way) -> Result<Vec<Estimate>> {
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
