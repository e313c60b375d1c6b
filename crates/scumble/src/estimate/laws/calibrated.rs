//! Errors that are as large as the publisher found them to be, about the whole table.
//!
//! # Guarantee
//! Of questions like those that the publisher asked, at least 95 % of intervals cover the
//! truth, on average over such questions: factors are upper quantiles of what would have been
//! needed (`recipe/calibrate.rs`).
//!
//! *The form.* The variance of an answer is that of its law and the square of a factor times
//! its leeway, the largest variance there can be. A count between limits `lo` and `hi` with
//! mean `e` has a variance of at most `(e - lo) (hi - e)` (Bhatia and Davis). The law takes
//! rows for independent; if all of them are off in the same way, the variance of a sum or
//! mean is that of its law times the number of rows it may be of.
//!
//! Rows that were left out are taken to be like the others, and their leeway is that of all
//! of them being alike: so what is exact about the published rows alone is not about the
//! table.
//!
//! # Limits
//! Releases whose publisher measured nothing are answered by their laws, about the published
//! rows alone. A mean over questions: of a single one, and of questions that are nothing like those
//! asked, nothing is promised. The limits hold always.
//!
//! # Source
//! docs/methods.md, "Errors that were measured"; `vovk2005conformal` for the quantile.

use crate::error::Result;
use crate::estimate::evidence::{Evidence, Nature};
use crate::estimate::laws::estimate::{Basis, Estimate, NORMAL_95};
use crate::estimate::laws::reconstruct::Way;
use crate::estimate::query::question::Question;
use crate::estimate::query::{Condition, Measure, Query};
use crate::release::AskedMeasure;
use crate::watch::Watched;

/// An answer with the error of its law, and what else may be wrong with it.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    /// The answer about the table.
    pub(crate) estimate: Estimate,
    /// The largest variance there can be.
    leeway: f64,
}

impl Probe {
    /// The least factor with which the interval covers a number; nothing if none does.
    pub(crate) fn needed(&self, truth: f64) -> Option<f64> {
        let Estimate { unbiased, standard_error, .. } = self.estimate;
        let distance = (unbiased? - truth).abs();
        // Sums of floats that should be whole numbers are not quite.
        let distance = (distance - 1e-6 * truth.abs().max(1.0)).max(0.0);
        let lacking = (distance / NORMAL_95).powi(2) - standard_error?.powi(2);
        match (lacking > 0.0, self.leeway > 0.0) {
            (false, _) => Some(0.0),
            (true, true) => Some((lacking / self.leeway).sqrt()),
            (true, false) => None,
        }
    }

    /// Whether the release leaves nothing open.
    pub(crate) fn is_exact(&self) -> bool {
        let Estimate { standard_error, .. } = self.estimate;
        standard_error == Some(0.0) && self.leeway == 0.0
    }
}

/// What is asked for, if the publisher may have asked for it.
fn asked(measure: &Measure) -> Option<AskedMeasure> {
    match measure {
        Measure::Count => Some(AskedMeasure::Count),
        Measure::Sum(_) => Some(AskedMeasure::Sum),
        Measure::Mean(_) => Some(AskedMeasure::Mean),
        Measure::Share(_) => None,
    }
}

/// Whether only an assumption about the table tells what values a column had.
fn is_open(nature: Nature) -> bool {
    match nature {
        Nature::Kept | Nature::Drawn(..) => false,
        Nature::Coarse(_) | Nature::Apart | Nature::Number(_) => true,
    }
}

impl Evidence {
    /// The columns a question is about of which the release leaves open what only an
    /// assumption about the table can tell.
    pub(crate) fn open_columns(&self, query: &Query) -> Result<Vec<&str>> {
        let question = Question::new(self, Watched::from(query))?;
        let places = question.places(&query.measure)?.into_iter();
        let open = places.map(|place| &self.columns[place]);
        let open = open.filter(|column| is_open(column.nature));
        let mut names: Vec<&str> = open.map(|column| column.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// Whether something is open about columns with these names, or rows were left out.
    pub(crate) fn leaves_open(&self, names: &[&str]) -> Result<bool> {
        let is_open = |name: &&str| {
            let column = self.columns.iter().find(|column| column.name == **name);
            column.is_some_and(|column| is_open(column.nature))
        };
        Ok(names.iter().any(is_open))
    }

    /// Answers with the errors of their laws, about the whole table, and their leeway.
    pub(crate) fn probe(&self, query: Watched<'_, Query>) -> Result<Vec<Probe>> {
        let open = !self.open_columns(query.task)?.is_empty();
        let answers = self.answer_by_law(query, Way::Inverse)?.into_iter();
        Ok(answers.map(|answer| self.of_table(query.task, open, answer)).collect())
    }

    /// Answers with the errors that the publisher found.
    pub(in crate::estimate) fn measured(
        &self,
        query: &Query,
        answers: Vec<Estimate>,
    ) -> Result<Vec<Estimate>> {
        let Some(calibration) = &self.calibration else { return Ok(answers) };
        let open = self.open_columns(query)?;
        let measured = self.measured_so(query)?;
        let factor = asked(&query.measure)
            .filter(|_| measured)
            .and_then(|measure| calibration.factor(measure, &open));
        let by_law = open.is_empty() && self.left_out == 0.0;
        let answers = answers.into_iter().map(|answer| {
            let Probe { mut estimate, leeway } =
                self.of_table(query, !open.is_empty(), answer);
            if by_law || leeway <= 0.0 {
                return estimate;
            }
            let error = estimate.standard_error.zip(factor);
            let error = error.map(|(error, factor)| {
                (error * error + factor.powi(2) * leeway).sqrt()
            });
            estimate.basis = match factor {
                Some(_) => Basis::Calibrated,
                None => Basis::Limits,
            };
            estimate.standard_error = error;
            estimate
        });
        Ok(answers.collect())
    }

    /// How much more variance a count has than its law says; nothing if nobody knows.
    pub(in crate::estimate) fn excess(
        &self,
        query: &Query,
        count: &Estimate,
    ) -> Result<Option<f64>> {
        let Some(calibration) = &self.calibration else { return Ok(Some(0.0)) };
        let open = self.open_columns(query)?;
        let Probe { leeway, .. } =
            self.of_table(query, !open.is_empty(), count.clone());
        if open.is_empty() && self.left_out == 0.0 || leeway <= 0.0 {
            return Ok(Some(0.0));
        }
        let factor = calibration.factor(AskedMeasure::Count, &open);
        let factor = if self.measured_so(query)? { factor } else { None };
        Ok(factor.map(|factor| factor.powi(2) * leeway))
    }

    /// Whether the publisher measured answers to a question that take the same for granted.
    fn measured_so(&self, query: &Query) -> Result<bool> {
        let question = Question::new(self, Watched::from(query))?;
        let mut places = question.places(&query.measure)?.into_iter();
        let learnable = places.any(|place| self.is_learnable(place));
        Ok(!learnable || self.model == self.own_model())
    }

    /// An answer about the published rows as one about the table, and what else may be wrong
    /// with it: of rows that were left out, and of columns that are open, if there are any.
    fn of_table(&self, query: &Query, open: bool, mut estimate: Estimate) -> Probe {
        let (published, left_out) = (self.n_rows(), self.left_out);
        let all = published + left_out;
        let unconditional =
            query.condition == Condition::always() && query.group_by.is_empty();
        let variance = estimate.standard_error.map_or(0.0, |error| error * error);
        // Sums of floats that should be whole numbers are not quite.
        let whole = |number: f64| if number > 1e-12 * all * all { number } else { 0.0 };
        let mut leeway = match query.measure {
            Measure::Count | Measure::Share(_) => 0.0,
            Measure::Sum(_) | Measure::Mean(_) if open => variance * estimate.rows,
            Measure::Sum(_) | Measure::Mean(_) => 0.0,
        };
        if left_out > 0.0 && published > 0.0 {
            let scale = all / published;
            let scaled = |estimate: &mut Estimate, more: f64| {
                estimate.count *= scale;
                estimate.unbiased = estimate.unbiased.map(|number| number * scale);
                let error = |error: f64| ((error * scale).powi(2) + more).sqrt();
                estimate.standard_error = estimate.standard_error.map(error);
            };
            match query.measure {
                Measure::Count if unconditional => {
                    for number in [&mut estimate.count, &mut estimate.at_least] {
                        *number += left_out;
                    }
                    estimate.unbiased =
                        estimate.unbiased.map(|number| number + left_out);
                    estimate.at_most += left_out;
                }
                Measure::Count | Measure::Share(_) => {
                    let share = (estimate.count / published).clamp(0.0, 1.0);
                    scaled(&mut estimate, left_out * share * (1.0 - share));
                    estimate.at_most += left_out;
                }
                Measure::Sum(_) => {
                    leeway += (estimate.count / published * left_out).powi(2);
                    scaled(&mut estimate, 0.0);
                }
                Measure::Mean(_) => leeway += (estimate.count * left_out / all).powi(2),
            }
        }
        if let Measure::Count | Measure::Share(_) = query.measure {
            let Estimate { unbiased, at_least, at_most, .. } = estimate;
            let middle = unbiased.unwrap_or(estimate.count);
            leeway = match open {
                true => (middle - at_least) * (at_most - middle),
                // Noise has its own law: only the rows that were left out are open.
                false if unconditional || all <= 0.0 => 0.0,
                false => {
                    let share = (middle / all).clamp(0.0, 1.0);
                    left_out.powi(2) * share * (1.0 - share)
                }
            };
            leeway = whole(leeway.max(0.0));
        }
        Probe { estimate, leeway }
    }
}
