//! How well a release answers questions whose answers are known.
//!
//! # Guarantee
//! Every question counts in one of two ways. It is *exact* if the release leaves nothing
//! open and is right; all others are *open*, among them those that a release answers with
//! certainty and wrongly, and those that it cannot answer at all. Medians, coverage, widths
//! and scores of intervals are of open questions alone: exact ones would make a release look
//! perfect that publishes most columns as they are. The mean error is of all of them.
//!
//! # Limits
//! Which questions are open differs from release to release, and with it what medians are
//! about; how many are exact stands beside them. A question without an answer counts as
//! one that is answered with 0, and has no interval.
//!
//! # Cost
//! That of the answers.
//!
//! # Source
//! The interval score of `gneiting2007scoring`: the width of an interval, and 2/alpha times
//! the distance of a truth that lies outside; it is least, on average, for whoever gives the
//! true quantiles.

use rayon::prelude::*;

use crate::error::Result;
use crate::estimate::{Estimate, Evidence, Measure, Way};
use crate::recipe::compare::measure::Measured;
use crate::recipe::compare::workload::{Asked, BANDS, Workload};
use crate::watch::Watch;

/// What a truth outside costs for its distance from an interval of 95 %: 2 / 0.05.
const OUTSIDE: f64 = 40.0;

/// What was gathered of the answers of a release.
#[derive(Debug, Default)]
struct AnswerScores {
    /// Errors of open questions, by band.
    errors: [Vec<f64>; BANDS.len()],
    exact: usize,
    widths: Vec<f64>,
    covered: usize,
    /// The sum of interval scores.
    score: f64,
}

impl AnswerScores {
    /// An answer; nothing if there is none.
    fn add(&mut self, asked: &Asked, estimate: Option<&Estimate>) {
        let relative = |distance: f64| distance / asked.relative_to;
        let error = |answer: f64| relative((answer - asked.truth).abs());
        let Some(estimate) = estimate else {
            // As wrong as no rows at all.
            self.errors[asked.band].push(error(0.0));
            return;
        };
        // Sums of floats that should be whole numbers are not quite.
        let slack = 1e-6 * asked.truth.abs().max(asked.relative_to);
        let Some((low, high)) = estimate.possible_interval() else {
            self.errors[asked.band].push(error(estimate.count));
            return;
        };
        let outside = (low - asked.truth).max(asked.truth - high);
        let outside = if outside > slack { outside } else { 0.0 };
        let closed = estimate.at_most - estimate.at_least <= slack;
        if closed && outside == 0.0 {
            self.exact += 1;
            return;
        }
        self.errors[asked.band].push(error(estimate.count));
        self.covered += usize::from(outside == 0.0);
        self.widths.push(relative(high - low));
        self.score += relative(high - low) + OUTSIDE * relative(outside);
    }

    fn tell(self, measured: &mut Measured) {
        for (error, list) in measured.query_errors.iter_mut().zip(&self.errors) {
            *error = median(list.clone());
        }
        let all = self.errors.concat();
        let sum: f64 = all.iter().map(|error| error.min(1.0)).sum();
        let mean = |n: usize| (n > 0).then(|| sum / n as f64);
        (measured.open, measured.exact) = (all.len(), self.exact);
        measured.query_error = mean(all.len() + self.exact);
        measured.open_error = mean(all.len());
        let intervals = self.widths.len();
        let each = |sum: f64| (intervals > 0).then(|| sum / intervals as f64);
        measured.coverage = each(self.covered as f64);
        measured.interval_score = each(self.score);
        measured.width = median(self.widths);
    }
}

impl Workload {
    /// Asks all questions, and compares the answers with the truth.
    pub(super) fn score(
        &self,
        evidence: &Evidence,
        measured: &mut Measured,
        watch: &dyn Watch,
    ) -> Result<()> {
        let alike = |a: &Asked, b: &Asked| a.query == b.query;
        let questions: Vec<&[Asked]> = self.questions.chunk_by(alike).collect();
        // Once, before many threads ask.
        evidence.learn(watch)?;
        let answers: Vec<Result<Vec<Estimate>>> = questions
            .par_iter()
            .map(|groups| evidence.answer(watch.over(&groups[0].query), Way::Inverse))
            .collect();
        // Questions without an answer are counted, those no longer wanted are not.
        watch.check()?;
        let mut scores = AnswerScores::default();
        let (mut failed, mut why) = (0, None);
        for (groups, answer) in questions.into_iter().zip(answers) {
            match answer {
                Ok(estimates) => add_all(&mut scores, groups, &estimates),
                Err(error) => {
                    groups.iter().for_each(|asked| scores.add(asked, None));
                    failed += groups.len();
                    why.get_or_insert(error);
                }
            }
        }
        scores.tell(measured);
        if let Some(error) = why {
            let n_questions = self.questions.len();
            measured.notes.push(format!(
                "{failed} of {n_questions} questions have no answer, which counts as an error of \
                 100 %: {error}"
            ));
        }
        Ok(())
    }
}

/// The answers to a question, group by group.
fn add_all(scores: &mut AnswerScores, groups: &[Asked], estimates: &[Estimate]) {
    let mut used = vec![false; estimates.len()];
    for asked in groups {
        let place = estimates.iter().position(|other| other.values == asked.values);
        place.into_iter().for_each(|place| used[place] = true);
        scores.add(asked, place.map(|place| &estimates[place]));
    }
    // Groups that the table does not have: their truth is 0, and means have none.
    let of_all = match &groups[0].query.measure {
        Measure::Mean(_) | Measure::Share(Some(_)) => return,
        Measure::Count | Measure::Sum(_) | Measure::Share(None) => &groups[0],
    };
    let least =
        groups.iter().map(|asked| asked.relative_to).fold(f64::INFINITY, f64::min);
    for (estimate, _) in estimates.iter().zip(used).filter(|(_, used)| !used) {
        let asked = Asked {
            values: estimate.values.clone(),
            truth: 0.0,
            relative_to: least,
            band: 0,
            ..of_all.clone()
        };
        scores.add(&asked, Some(estimate));
    }
}

/// The middle one of several numbers, or between the two that are.
fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let n = numbers.len();
    let (low, high) = (numbers.get(n.checked_sub(1)? / 2)?, numbers.get(n / 2)?);
    Some(f64::midpoint(*low, *high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Basis, Query};

    fn asked(truth: f64) -> Asked {
        let query = Query::parse("SELECT COUNT(*)").unwrap();
        Asked { query, values: Vec::new(), truth, relative_to: truth, band: 1 }
    }

    fn estimate(count: f64, error: f64, limits: (f64, f64)) -> Estimate {
        Estimate {
            values: Vec::new(),
            count,
            unbiased: Some(count),
            standard_error: Some(error),
            at_least: limits.0,
            at_most: limits.1,
            rows: limits.1,
            basis: Basis::Law,
        }
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
    }

    #[test]
    fn exact_answers_are_counted_and_only_open_ones_scored() {
        let mut scores = AnswerScores::default();
        let question = asked(100.0);
        scores.add(&question, Some(&estimate(100.0, 0.0, (100.0, 100.0))));
        // From 80 to 120, cut at 110: the truth is inside.
        let reach = 20.0 / 1.959_963_984_540_054;
        scores.add(&question, Some(&estimate(100.0, reach, (0.0, 110.0))));
        // From 110 to 150: the truth is ten below.
        scores.add(&question, Some(&estimate(130.0, reach, (0.0, 500.0))));
        // Certain, and wrong.
        scores.add(&question, Some(&estimate(90.0, 0.0, (90.0, 90.0))));
        // Not answered.
        scores.add(&question, None);
        let mut measured = Measured::default();
        scores.tell(&mut measured);
        assert_eq!((measured.exact, measured.open), (1, 4));
        let near = |a: Option<f64>, b: f64| {
            assert!((a.unwrap() - b).abs() < 1e-9, "{a:?}, not {b}");
        };
        near(measured.query_errors[1], 0.2); // 0, .3, .1, 1
        assert_eq!(measured.query_errors[0], None);
        near(measured.query_error, 1.4 / 5.0);
        near(measured.open_error, 1.4 / 4.0);
        near(measured.coverage, 1.0 / 3.0);
        near(measured.width, 0.3); // 0, .3, .4
        near(measured.interval_score, (0.3 + (0.4 + 4.0) + 4.0) / 3.0);
    }
}
