//! Shares: one count by another.
//!
//! # Guarantee
//! The share is the ratio of the two counts, each estimated as it is alone. Where both are
//! exact, so is the share. Its error follows how the ratio moves with its parts: with `m` the
//! share, `N` the part and `D` the whole, it is that of `N - m D`, divided by `D`.
//!
//! *Why only counts are needed.* The rest `M` of the whole is a count, too, and `D = N + M`.
//! So the covariance of `N` and `D` is half of `var D + var N - var M`, whatever the kind of
//! release.
//!
//! # Limits
//! Rough where the whole is uncertain itself. Shares of groups that are counted apart ask one
//! more question for each group, unless the whole is exact.
//!
//! # Cost
//! Three counts; for shares of a whole that is not exact, one more for each group.
//!
//! # Source
//! docs/methods.md, "The weight of a row"; the delta method.

use crate::error::{Error, Result};
use crate::estimate::evidence::Evidence;
use crate::estimate::laws::answer::Trust;
use crate::estimate::laws::estimate::{Basis, Estimate};
use crate::estimate::laws::reconstruct::Way;
use crate::estimate::query::{
    Check, Comparison, Condition, Literal, Measure, Query, Test,
};
use crate::watch::Watched;

impl Evidence {
    /// Shares of rows: those that satisfy `part` of those that satisfy the condition, or,
    /// without it, each group of all.
    pub(crate) fn shares(
        &self,
        query: Watched<'_, Query>,
        part: Option<&Condition>,
        way: Way,
        trust: Trust,
    ) -> Result<Vec<Estimate>> {
        let question = |group_by: &[String], condition: Condition| {
            let (measure, group_by) = (Measure::Count, group_by.to_vec());
            Query { measure, group_by, condition }
        };
        let count = |group_by: &[String], condition: Condition| {
            let count = question(group_by, condition);
            let count = query.watch.over(&count);
            let answers = self.answer_by_law(count, way)?;
            if self.margins.is_empty() {
                return Ok(answers);
            }
            // Counts of a single column are about the table, so all must be.
            let probes = self.of_table(count, answers)?.into_iter();
            Ok(probes.map(|probe| probe.estimate).collect::<Vec<_>>())
        };
        // What the publisher found adds to errors.
        let more = |of: &Query, estimate: &Estimate| match trust {
            Trust::Law => Ok(Some(0.0)),
            Trust::Measured => self.excess(of, estimate),
        };
        let Query { group_by, condition, .. } = query.task;
        let Some(part) = part else {
            let whole = match group_by.is_empty() {
                true => Condition::always(),
                false => condition.clone(),
            };
            let whole = count(&[], whole)?.remove(0);
            let parts = count(group_by, condition.clone())?;
            let asked = question(group_by, condition.clone());
            let share = |part: &Estimate| {
                let rest = match whole.standard_error {
                    Some(0.0) => None,
                    _ => {
                        let others = Condition::NotTrue(Box::new(of(group_by, part)));
                        Some(count(&[], condition.and(&others))?.remove(0))
                    }
                };
                let found = ratio(part, &whole, rest.as_ref());
                let (own, all) = (more(&asked, part)?, more(&asked, &whole)?);
                Ok(found.map(|share| share.uncertain(own, all, &whole)))
            };
            let shares: Vec<_> = parts.iter().map(share).collect::<Result<_>>()?;
            return listed(shares, group_by);
        };
        let wholes = count(group_by, condition.clone())?;
        let parts = count(group_by, condition.and(part))?;
        let others = Condition::NotTrue(Box::new(part.clone()));
        let rests = count(group_by, condition.and(&others))?;
        let of_group = |all: &[Estimate], values: &[String]| {
            let found = all.iter().find(|estimate| estimate.values == values);
            found.cloned().unwrap_or_else(|| Estimate {
                values: values.to_vec(),
                count: 0.0,
                unbiased: Some(0.0),
                standard_error: Some(0.0),
                at_least: 0.0,
                at_most: 0.0,
                rows: 0.0,
                basis: Basis::Law,
            })
        };
        let (of_whole, of_part) = (
            question(group_by, condition.clone()),
            question(group_by, condition.and(part)),
        );
        let shares = wholes.iter().map(|whole| {
            let part = of_group(&parts, &whole.values);
            let found = ratio(&part, whole, Some(&of_group(&rests, &whole.values)));
            let (own, all) = (more(&of_part, &part)?, more(&of_whole, whole)?);
            Ok(found.map(|share| share.uncertain(own, all, whole)))
        });
        listed(shares.collect::<Result<_>>()?, group_by)
    }
}

/// The shares that there are.
fn listed(shares: Vec<Option<Estimate>>, group_by: &[String]) -> Result<Vec<Estimate>> {
    let shares: Vec<Estimate> = shares.into_iter().flatten().collect();
    if shares.is_empty() && group_by.is_empty() {
        return Err(Error::recipe("there is no share: no row satisfies the condition"));
    }
    Ok(shares)
}

/// The rows that are counted in this answer.
fn of(group_by: &[String], answer: &Estimate) -> Condition {
    let test = |(column, value): (&String, &String)| {
        // The text for "missing" asks for missing values.
        let literal = Literal::Text(value.clone());
        let check = Check::Compare(Comparison::Equal, literal);
        Condition::Test(Test { column: column.clone(), check })
    };
    Condition::And(group_by.iter().zip(&answer.values).map(test).collect())
}

/// One count by another; without the rest the whole is exact. Nothing if there is no whole.
fn ratio(
    part: &Estimate,
    whole: &Estimate,
    rest: Option<&Estimate>,
) -> Option<Estimate> {
    if whole.count <= 0.0 {
        return None;
    }
    let share = part.count / whole.count;
    let variance = |estimate: &Estimate| estimate.standard_error.map(|e| e * e);
    let standard_error = || {
        let (own, all) = (variance(part)?, variance(whole)?);
        let together = match rest {
            Some(rest) => (all + own - variance(rest)?) / 2.0,
            None => 0.0,
        };
        let moved = own - 2.0 * share * together + share * share * all;
        let moved = if moved > 1e-12 * (own + all) { moved } else { 0.0 };
        Some(moved.sqrt() / whole.count)
    };
    Some(Estimate {
        values: part.values.clone(),
        count: share,
        unbiased: part.unbiased.zip(whole.unbiased).map(|(part, whole)| part / whole),
        standard_error: standard_error(),
        at_least: if share < 0.0 { f64::NEG_INFINITY } else { 0.0 },
        at_most: if share > 1.0 { f64::INFINITY } else { 1.0 },
        rows: whole.rows,
        basis: Basis::Law,
    })
}

impl Estimate {
    /// A share whose two counts have more variance than their laws say; nothing if nobody
    /// knows how much.
    fn uncertain(mut self, part: Option<f64>, all: Option<f64>, whole: &Self) -> Self {
        match part.zip(all) {
            None => (self.standard_error, self.basis) = (None, Basis::Limits),
            Some((part, all)) if part + all > 0.0 => {
                let more = (part + self.count.powi(2) * all) / whole.count.powi(2);
                let error =
                    self.standard_error.map(|error| (error * error + more).sqrt());
                (self.standard_error, self.basis) = (error, Basis::Calibrated);
            }
            Some(_) => {}
        }
        self
    }
}
