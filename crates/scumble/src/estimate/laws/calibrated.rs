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

use std::collections::BTreeMap;

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
        let answers = self.answer_by_law(query, Way::Inverse)?;
        self.of_table(query, answers)
    }

    /// Answers with the errors that the publisher found.
    pub(in crate::estimate) fn measured(
        &self,
        query: Watched<'_, Query>,
        answers: Vec<Estimate>,
    ) -> Result<Vec<Estimate>> {
        if self.calibration.is_none() && self.margins.is_empty() {
            return Ok(answers);
        }
        let open = self.open_columns(query.task)?;
        let measured = self.measured_so(query.task)?;
        let by_law = open.is_empty() && self.left_out == 0.0;
        let probes = self.of_table(query, answers)?.into_iter();
        let Some(calibration) = self.calibration.as_ref().filter(|_| !by_law) else {
            return Ok(probes.map(|probe| probe.estimate).collect());
        };
        let factor = asked(&query.measure)
            .filter(|_| measured)
            .and_then(|measure| calibration.factor(measure, &open));
        let answers = probes.map(|Probe { mut estimate, leeway }| {
            if leeway <= 0.0 {
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

    /// How much more variance a count about the table has than its law says; nothing if nobody
    /// knows.
    pub(in crate::estimate) fn excess(
        &self,
        query: &Query,
        count: &Estimate,
    ) -> Result<Option<f64>> {
        let Some(calibration) = &self.calibration else { return Ok(Some(0.0)) };
        let open = self.open_columns(query)?;
        let leeway = match self.margins.is_empty() {
            true => {
                self.scaled(query, !open.is_empty(), count.clone(), None, None).leeway
            }
            false => self.leeway_of_count(query, !open.is_empty(), count),
        };
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

    /// Answers by law as answers about the table, and what else may be wrong with them: with
    /// columns that are open, if there are any, and with rows that were left out.
    pub(in crate::estimate) fn of_table(
        &self,
        query: Watched<'_, Query>,
        answers: Vec<Estimate>,
    ) -> Result<Vec<Probe>> {
        let open = !self.open_columns(query.task)?.is_empty();
        if let Some(margin) = self.margin_of(query.task)? {
            // The shares are those of the whole table.
            let probe = |answer| margin.scaled(query.task, open, answer, None, None);
            return Ok(answers.into_iter().map(probe).collect());
        }
        let left = self.of_left_out(query)?;
        let limits = self.limits(query)?;
        let (answers, left) = match left {
            None => (answers, None),
            Some(left) => {
                let answers = match query.group_by.is_empty() {
                    true => answers,
                    false => with_left_out(answers, &left),
                };
                let left = left.into_iter().map(|left| (left.values.clone(), left));
                (answers, Some(left.collect::<BTreeMap<_, _>>()))
            }
        };
        let probe = |answer: Estimate| {
            let left = left.as_ref().map(|all| all.get(&answer.values));
            let within = limits.as_ref().and_then(|limits| limits.of(&answer.values));
            self.scaled(query.task, open, answer, left, within)
        };
        Ok(answers.into_iter().map(probe).collect())
    }

    /// What is asked of rows that were left out, if shares tell something of them: as if they
    /// were as many as the published ones.
    fn of_left_out(&self, query: Watched<'_, Query>) -> Result<Option<Vec<Estimate>>> {
        let Some(left) = self.left.as_ref().filter(|_| self.left_out > 0.0) else {
            return Ok(None);
        };
        let question = Question::new(self, query)?;
        let places = question.places(&query.measure)?;
        // A cell that a row would have had is not known.
        let is_cell = |place: &usize| self.columns[*place].name.starts_with("CELL(");
        if places.iter().any(is_cell) || matches!(query.measure, Measure::Mean(_)) {
            return Ok(None);
        }
        left.answer_by_law(query, Way::Inverse).map(Some)
    }

    /// An answer about the published rows as one about the table, and its leeway. Rows that
    /// were left out are like the others, unless `left` has an answer about them, or has
    /// nothing because none counts; no count is outside the limits.
    fn scaled(
        &self,
        query: &Query,
        open: bool,
        mut estimate: Estimate,
        left: Option<Option<&Estimate>>,
        limits: Option<(f64, f64)>,
    ) -> Probe {
        let (published, left_out) = (self.n_rows(), self.left_out);
        let all = published + left_out;
        let variance = estimate.standard_error.map_or(0.0, |error| error * error);
        let mut leeway = match query.measure {
            Measure::Count | Measure::Share(_) => 0.0,
            Measure::Sum(_) | Measure::Mean(_) if open => variance * estimate.rows,
            Measure::Sum(_) | Measure::Mean(_) => 0.0,
        };
        if left_out > 0.0 && published > 0.0 {
            let part = left_out / published;
            // What left-out rows add, and the variance of that.
            let (own, theirs) = match left {
                None => (estimate.count, variance * part * part),
                Some(None) => (0.0, 0.0),
                Some(Some(left)) => {
                    (left.count, left.standard_error.map_or(0.0, |e| e * e) * part)
                }
            };
            match query.measure {
                Measure::Count if is_unconditional(query) => {
                    for number in [&mut estimate.count, &mut estimate.at_least] {
                        *number += left_out;
                    }
                    estimate.unbiased =
                        estimate.unbiased.map(|number| number + left_out);
                    estimate.at_most += left_out;
                }
                Measure::Count | Measure::Share(_) => {
                    let share = (own / published).clamp(0.0, 1.0);
                    let binomial = left_out * share * (1.0 - share);
                    let more = match left {
                        // The rows of the law count with the same weights.
                        None => variance * (1.0 + 2.0 * part) + theirs + binomial,
                        Some(_) => variance + theirs,
                    };
                    estimate.add(own * part, more);
                    estimate.at_most += left_out;
                }
                Measure::Sum(_) => {
                    leeway += (own * part).powi(2);
                    let more = match left {
                        None => variance * (1.0 + 2.0 * part) + theirs,
                        Some(_) => variance + theirs,
                    };
                    estimate.add(own * part, more);
                }
                Measure::Mean(_) => leeway += (estimate.count * left_out / all).powi(2),
            }
        }
        if let Measure::Count | Measure::Share(_) = query.measure {
            if let Some((low, high)) = limits {
                estimate.at_least = estimate.at_least.max(low);
                estimate.at_most = estimate.at_most.min(high).max(estimate.at_least);
            }
            leeway = self.leeway_of_count(query, open, &estimate);
        }
        Probe { estimate, leeway }
    }

    /// The largest variance that a count about the table can have beside that of its law.
    fn leeway_of_count(&self, query: &Query, open: bool, count: &Estimate) -> f64 {
        let all = self.n_rows() + self.left_out;
        let Estimate { unbiased, at_least, at_most, .. } = *count;
        let middle = unbiased.unwrap_or(count.count);
        let leeway = match open {
            true => (middle - at_least) * (at_most - middle),
            // Noise has its own law: only the rows that were left out are open.
            false if is_unconditional(query) || all <= 0.0 => 0.0,
            false => {
                let share = (middle / all).clamp(0.0, 1.0);
                self.left_out.powi(2) * share * (1.0 - share)
            }
        };
        // Sums of floats that should be whole numbers are not quite.
        if leeway > 1e-12 * all * all { leeway } else { 0.0 }
    }
}

/// Answers with those that only rows that were left out may have, all in their order.
fn with_left_out(answers: Vec<Estimate>, left: &[Estimate]) -> Vec<Estimate> {
    let places = answers.iter().zip(0usize..);
    let places: BTreeMap<&[String], usize> =
        places.map(|(answer, place)| (&answer.values[..], place)).collect();
    let (mut all, mut next) = (Vec::with_capacity(answers.len()), 0);
    for own in left {
        match places.get(&own.values[..]) {
            Some(place) => {
                all.extend(answers[next..(place + 1).max(next)].iter().cloned());
                next = next.max(place + 1);
            }
            None if own.count > 0.0 => all.push(Estimate {
                values: own.values.clone(),
                count: 0.0,
                unbiased: Some(0.0),
                standard_error: Some(0.0),
                at_least: 0.0,
                at_most: 0.0,
                rows: 0.0,
                basis: Basis::Law,
            }),
            None => {}
        }
    }
    all.extend(answers[next..].iter().cloned());
    all
}

/// Whether every row counts.
fn is_unconditional(query: &Query) -> bool {
    query.condition == Condition::always() && query.group_by.is_empty()
}

impl Estimate {
    /// Adds a number, and has this variance.
    fn add(&mut self, more: f64, variance: f64) {
        self.count += more;
        self.unbiased = self.unbiased.map(|number| number + more);
        self.standard_error = self.standard_error.map(|_| variance.sqrt());
    }
}
