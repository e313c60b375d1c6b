//! Which law answers a question, and what its error is.

use crate::error::{Error, Result};
use crate::estimate::evidence::groups::GroupMembers;
use crate::estimate::evidence::{Evidence, Nature};
use crate::estimate::laws::estimate::Estimate;
use crate::estimate::laws::reconstruct::Way;
use crate::estimate::query::question::Question;
use crate::estimate::query::{Measure, Query};
use crate::watch::Watched;

/// What errors rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The laws of the release.
    Law,
    /// These, and what the publisher measured.
    Measured,
}

impl Evidence {
    /// Estimates how many rows of the table satisfy the condition, for all values of the
    /// columns that are counted apart, in the order of these values. If the publisher
    /// measured errors they are that large, and rows that were left out count, too; so they
    /// do if it says how often values occur in the table.
    pub fn answer<'q>(
        &self,
        query: impl Into<Watched<'q, Query>>,
        way: Way,
    ) -> Result<Vec<Estimate>> {
        let query = query.into();
        if let Measure::Share(part) = &query.measure {
            return self.shares(query, part.as_ref(), way, Trust::Measured);
        }
        let answers = self.answer_by_law(query, way)?;
        self.measured(query, answers)
    }

    /// The same about the published rows, with errors that follow from the laws of the
    /// release alone: as if values were even and independent where it leaves them open. What
    /// shares of one column tell is about the table.
    pub fn answer_by_law<'q>(
        &self,
        query: impl Into<Watched<'q, Query>>,
        way: Way,
    ) -> Result<Vec<Estimate>> {
        let query = query.into();
        query.watch.check()?;
        if let Measure::Share(part) = &query.measure {
            return self.shares(query, part.as_ref(), way, Trust::Law);
        }
        self.check_way(way)?;
        if let Some(margin) = self.margin_of(query.task)? {
            return margin.answer_by_law(query, Way::Inverse);
        }
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
        let learned = self.learned_for(&question, &places, query.watch)?;
        let answers = match (&*apart, numbers) {
            ([], None) => match learned {
                Some(learned) => question.answer_learned(learned, measure),
                None => question.answer_uncertain(measure),
            },
            ([groups], None)
                if counts && all(|n| matches!(n, Nature::Kept | Nature::Apart)) =>
            {
                question.answer_arranged(groups)
            }
            ([], Some(numbers)) => question.answer_rows(numbers, learned, measure),
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

impl Question<'_> {
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
    pub(in crate::estimate) fn places(&self, measure: &Measure) -> Result<Vec<usize>> {
        let measured = measure.column().map(|name| self.evidence.column(name));
        Ok(self.asked(measured.transpose()?))
    }
}
