//! What the shares of single columns say of an answer: all of it, or limits.
//!
//! # Guarantee
//! A question about one column whose shares are published is answered by these: exactly,
//! unless it parts an entry. Any other count has the limits that its columns leave it: no more
//! rows than satisfy what it asks of one of them, and, if all that it asks is about such
//! columns, no fewer than all rows less those that fail one.
//!
//! # Source
//! `frechet1951tableaux`.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::estimate::evidence::Evidence;
use crate::estimate::laws::reconstruct::Way;
use crate::estimate::query::question::Question;
use crate::estimate::query::{Condition, Measure, Query};
use crate::watch::{Watch, Watched};

/// Limits of a count, by the values that are counted apart.
pub(super) struct MarginLimits {
    columns: Vec<ColumnLimits>,
    /// Whether nothing is asked of other columns.
    covered: bool,
    /// How many rows the table has.
    all: f64,
}

/// Limits of how many rows satisfy what is asked of one column.
struct ColumnLimits {
    /// Which of the columns that are counted apart it is, if it is one.
    place: Option<usize>,
    by_value: BTreeMap<Vec<String>, (f64, f64)>,
}

impl MarginLimits {
    /// The limits of an answer; nothing if its columns say nothing.
    pub(super) fn of(&self, values: &[String]) -> Option<(f64, f64)> {
        let limits = self.columns.iter().map(|column| {
            let key = column.place.map(|place| values[place].clone());
            let key: Vec<String> = key.into_iter().collect();
            column.by_value.get(&key).copied().unwrap_or((0.0, 0.0))
        });
        let limits: Vec<(f64, f64)> = limits.collect();
        let high = limits.iter().map(|(_, high)| *high).reduce(f64::min)?;
        let failing: f64 = limits.iter().map(|(low, _)| self.all - low).sum();
        let low = if self.covered { (self.all - failing).max(0.0) } else { 0.0 };
        Some((low, high.max(low)))
    }
}

impl Evidence {
    /// The shares of the one column that a question is about, if the release has them.
    pub(super) fn margin_of(&self, query: &Query) -> Result<Option<&Evidence>> {
        if self.margins.is_empty() || matches!(query.measure, Measure::Share(_)) {
            return Ok(None);
        }
        let question = Question::new(self, Watched::from(query))?;
        let [place] = question.places(&query.measure)?[..] else { return Ok(None) };
        let name = &self.columns[place].name;
        Ok(self.margins.iter().find(|margin| margin.columns[0].name == *name))
    }

    /// The limits of a count that single columns leave.
    pub(super) fn limits(
        &self,
        query: Watched<'_, Query>,
    ) -> Result<Option<MarginLimits>> {
        let Watched { task: Query { measure, group_by, condition }, watch } = query;
        if self.margins.is_empty() || *measure != Measure::Count {
            return Ok(None);
        }
        let mut parts = Vec::new();
        flatten(condition, &mut parts);
        let mut about: Vec<Option<usize>> = Vec::with_capacity(parts.len());
        for part in &parts {
            about.push(self.only_column(part)?);
        }
        let groups = group_by.iter().map(|name| self.column(name));
        let groups: Vec<usize> = groups.collect::<Result<_>>()?;
        let (mut columns, mut n_covered) = (Vec::new(), 0);
        for margin in &self.margins {
            let own = self.column(&margin.columns[0].name)?;
            let place = groups.iter().position(|place| *place == own);
            let asked =
                parts.iter().zip(&about).filter(|(_, about)| **about == Some(own));
            let asked: Vec<Condition> =
                asked.map(|(part, _)| (*part).clone()).collect();
            if place.is_none() && asked.is_empty() {
                continue;
            }
            n_covered += asked.len() + usize::from(place.is_some());
            columns.push(margin.limits_alone(asked, place, watch)?);
        }
        let covered = n_covered == parts.len() + groups.len();
        let all = self.n_rows() + self.left_out;
        Ok(Some(MarginLimits { columns, covered, all }))
    }

    /// The limits of how many rows satisfy conditions on the only column there is.
    fn limits_alone(
        &self,
        asked: Vec<Condition>,
        place: Option<usize>,
        watch: &dyn Watch,
    ) -> Result<ColumnLimits> {
        let own = place.map(|_| self.columns[0].name.clone());
        let query = Query {
            measure: Measure::Count,
            group_by: own.into_iter().collect(),
            condition: Condition::And(asked),
        };
        let answers = self.answer_by_law(watch.over(&query), Way::Inverse)?.into_iter();
        let limits =
            answers.map(|answer| (answer.values, (answer.at_least, answer.at_most)));
        Ok(ColumnLimits { place, by_value: limits.collect() })
    }

    /// The place of the only column that a condition is about; nothing if there are several.
    fn only_column(&self, condition: &Condition) -> Result<Option<usize>> {
        let mut names = Vec::new();
        columns(condition, &mut names);
        let places = names.into_iter().map(|name| self.column(name));
        let mut places: Vec<usize> = places.collect::<Result<_>>()?;
        places.sort_unstable();
        places.dedup();
        Ok(match places[..] {
            [only] => Some(only),
            _ => None,
        })
    }
}

/// The conditions that must all hold.
fn flatten<'c>(condition: &'c Condition, parts: &mut Vec<&'c Condition>) {
    match condition {
        Condition::And(all) => all.iter().for_each(|part| flatten(part, parts)),
        other => parts.push(other),
    }
}

/// The columns of the tests of a condition.
fn columns<'c>(condition: &'c Condition, names: &mut Vec<&'c str>) {
    match condition {
        Condition::Test(test) => names.push(&test.column),
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| columns(part, names));
        }
        Condition::Not(part) | Condition::NotTrue(part) => columns(part, names),
    }
}
