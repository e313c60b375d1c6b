//! Promises about randomized columns, rechecked from matrices, bounds and counts.
//!
//! # Guarantee
//! If a promise holds here, then no published value is more than γ times as likely from a
//! protected value as from another one of its sub-table (and, both ways, not less than 1/γ
//! times): so nobody's belief in it passes its bound by looking at the value. γ is
//! recomputed from the bounds, and bounds are compared with what was asked: with one table,
//! in every value; with sub-tables, of every value that is not commoner than the prior. A
//! release that fails a test by chance alone is rarer than one in a thousand million.
//!
//! # Limits
//! With sub-tables and without the original, the priors of sub-tables can only be compared
//! with estimates: a prior that is a little too small stays unseen, and even with the
//! original only its sum over the sub-tables is seen. That rows were drawn independently
//! cannot be seen.
//!
//! # Cost
//! That of the matrices, see `matrix` and `shares`.
//!
//! # Source
//! `evfimievski2003limiting`, `chaytor2010randomization`; docs/methods.md,
//! "Randomization".

use serde_json::json;

use crate::audit::checks::{columns_of, finite, malformed, word};
use crate::audit::drawn::matrix::UP;
use crate::audit::drawn::{Believed, Drawn, DrawnColumn, apart, margin, single};
use crate::audit::{Case, Checked};
use crate::decimal::Decimal;
use crate::error::Result;
use crate::release::{BoundNote, PromiseNote, Treatment};

/// What was asked of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum AskedBound {
    /// The same bound for every value.
    Breach { prior: f64, posterior: f64 },
    /// From a value's share to so many times as much.
    Factor(f64),
    /// The bounds that the manifest lists.
    Listed,
}

/// What the recheck of one randomized column found.
#[derive(Debug, Default)]
struct Amplification {
    /// Largest ratio to what is allowed.
    amplification: f64,
    /// The largest belief that follows one at its bound.
    posterior: f64,
    values: u64,
    rows: u64,
}

/// Rechecks a promise of randomized columns, each by itself.
pub(super) fn recheck(
    promise: &PromiseNote,
    asked: AskedBound,
    drawn: &Drawn,
    case: &Case<'_>,
) -> Result<Checked> {
    let both = match word(promise, "kind") {
        Some("upward") => false,
        Some("both") => true,
        _ => return Err(malformed(promise, "known `kind`")),
    };
    let truth = case.true_counts()?.filter(|truth| truth.exact);
    // A column that is promised and was not randomized is bare.
    let bare = columns_of(promise, case.manifest)?.into_iter().any(|column| {
        match &column.treatment {
            Treatment::Drawn { .. } => false,
            Treatment::Kept
            | Treatment::Coarse { .. }
            | Treatment::Weighted
            | Treatment::Noisy { .. }
            | Treatment::Apart
            | Treatment::Redrawn => true,
        }
    });
    let mut all = Amplification::default();
    for (place, column, believed) in drawn.each() {
        if !column.names.iter().any(|name| promise.columns.contains(name)) {
            continue;
        }
        let bounds = ColumnBounds {
            column,
            believed,
            truth: truth.map(|truth| (truth.rows, &*truth.counts[place])),
            apart: apart(case.manifest, column),
            // What the manifest says of itself must be true, too.
            both: both || column.both,
            sampled: drawn.sampled,
        };
        let found = bounds.check(asked);
        all.amplification = all.amplification.max(found.amplification);
        all.posterior = all.posterior.max(found.posterior);
        all.values += found.values;
        all.rows = all.rows.max(found.rows);
    }
    let measured = json!({
        "amplification": finite(all.amplification),
        "posterior": all.posterior,
        "values_at_risk": all.values,
    });
    let rows_at_risk = if bare { case.manifest.rows } else { all.rows };
    let holds = all.values == 0 && !bare;
    Ok(Checked { holds, ..Checked::of(promise, measured, rows_at_risk) })
}

/// One randomized column and what is known of its true values.
struct ColumnBounds<'a> {
    column: &'a DrawnColumn,
    believed: &'a [Believed],
    /// Rows of the table, and of each value, if those are the ones that were randomized.
    truth: Option<(u64, &'a [u64])>,
    /// Whether priors are those of sub-tables.
    apart: bool,
    /// Whether beliefs are bounded both ways.
    both: bool,
    sampled: bool,
}

impl ColumnBounds<'_> {
    fn check(&self, asked: AskedBound) -> Amplification {
        let (column, both, held) = (self.column, self.both, self.held());
        let mut found = Amplification::default();
        for (place, table) in column.tables.iter().enumerate() {
            let mut limits = Vec::new();
            let (mut at_risk, mut unbounded) = (0, false);
            let amplified = table.matrix.amplified();
            let values = table.values.iter().zip(&table.bounds).zip(&amplified);
            for (value, ((code, bound), amplified)) in values.enumerate() {
                let fault = self.is_faulty(asked, place, value, &held);
                let bound = bound.map(|bound| (bound.prior, bound.posterior));
                let bound = match asked {
                    AskedBound::Breach { prior, posterior } if !self.apart => {
                        // A stricter bound that the manifest says must be kept, too.
                        let (low, high) = bound.unwrap_or((0.0, 1.0));
                        Some((prior.max(low), posterior.min(high)))
                    }
                    AskedBound::Breach { posterior, .. } => {
                        bound.map(|(low, high)| (low, high.min(posterior)))
                    }
                    AskedBound::Factor(_) | AskedBound::Listed => bound,
                };
                let mut passes = false;
                if let Some((prior, posterior)) = bound {
                    let limit = gamma(prior, posterior);
                    let down = if both { amplified.down } else { 0.0 };
                    let reached = amplified.up.max(down);
                    let share = if limit.is_infinite() { 0.0 } else { reached / limit };
                    found.amplification = found.amplification.max(share);
                    let after = believed_after(prior, amplified.up);
                    found.posterior = found.posterior.max(after);
                    passes = reached * UP > limit;
                    if passes {
                        limits.push((value, limit));
                    }
                }
                let lost = self.cannot_hold(asked, *code, &held);
                at_risk += u64::from(fault || passes || lost);
                unbounded |= fault || lost;
            }
            found.values += at_risk;
            found.rows += if unbounded {
                table.published.iter().sum::<u64>()
            } else if limits.is_empty() {
                0
            } else {
                let passing = table.matrix.passing(&limits, both);
                let rows = table.published.iter().zip(passing);
                rows.map(|(rows, passing)| if passing { *rows } else { 0 }).sum()
            };
        }
        found
    }

    /// Whether what the manifest says of a value is not what was asked, or not true.
    fn is_faulty(
        &self,
        asked: AskedBound,
        table: usize,
        value: usize,
        held: &RoomOfPriors,
    ) -> bool {
        let here = &self.column.tables[table];
        let code = here.values[value];
        let bound = here.bounds[value];
        if bound.is_some_and(|bound| lies(&bound)) {
            return true;
        }
        match (asked, bound) {
            (AskedBound::Listed, _) => false,
            (AskedBound::Breach { prior, posterior }, Some(bound)) if !self.apart => {
                bound.prior < prior || bound.posterior > posterior
            }
            (AskedBound::Breach { .. }, None) if !self.apart => true,
            (AskedBound::Breach { prior, .. }, None) => !self.is_common(code, prior),
            (AskedBound::Breach { posterior, .. }, Some(bound)) => {
                let most = bound.prior * (1.0 + 1e-12);
                bound.posterior > posterior
                    || bound.prior >= bound.posterior
                    || self.share(table, value).is_some_and(|share| share.low > most)
            }
            (AskedBound::Factor(factor), Some(bound)) => {
                // In a sub-table a belief may grow from the share there to the factor times
                // the share in the whole table, if that is larger.
                let whole = held.shares[code].max(bound.prior);
                bound.posterior > factor * whole * (1.0 + 1e-9)
                    || self.share(table, value).is_some_and(|share| {
                        !(share.low..=share.high).contains(&bound.prior)
                    })
            }
            (AskedBound::Factor(factor), None) => {
                let here = self.share(table, value);
                let whole = self.whole(code);
                let most = here.into_iter().chain(whole).map(|share| share.high);
                let most = most.reduce(f64::max);
                // A value that does not occur needs no protection.
                most.is_some_and(|most| most > 0.0 && factor * most < 1.0 - 1e-9)
            }
        }
    }

    /// Whether the priors of sub-tables leave no room for all rows of a value.
    fn cannot_hold(&self, asked: AskedBound, code: usize, held: &RoomOfPriors) -> bool {
        let needed = self.true_share(code).map(|share| share * (1.0 - 1e-9));
        asked != AskedBound::Listed
            && self.apart
            && held.bounded[code]
            && needed.is_some_and(|needed| held.shares[code] < needed)
    }

    /// For each value the share of the table that its priors add up to, and whether it is
    /// bounded wherever it is.
    fn held(&self) -> RoomOfPriors {
        let tables = &self.column.tables;
        let rows: u64 = tables.iter().map(|table| table.rows).sum();
        let mut held = RoomOfPriors {
            shares: vec![0.0; self.column.values.len()],
            bounded: vec![true; self.column.values.len()],
        };
        for table in tables {
            for (code, bound) in table.values.iter().zip(&table.bounds) {
                let part = table.rows as f64 / rows.max(1) as f64;
                match bound {
                    Some(bound) => held.shares[*code] += bound.prior * part,
                    None => held.bounded[*code] = false,
                }
            }
        }
        held
    }

    /// Whether a value is commoner than a prior, as far as one can know.
    fn is_common(&self, code: usize, prior: f64) -> bool {
        if let Some((rows, counts)) = self.truth {
            let count = counts[code];
            return match Decimal::from_f64("prior", prior) {
                Ok(prior) => !prior.at_least(count.into(), rows.into()),
                Err(_) => count as f64 / rows as f64 > prior,
            };
        }
        self.whole(code).is_none_or(|share| share.high > prior)
    }

    /// Between which numbers the share of a value in the whole table lies.
    fn whole(&self, code: usize) -> Option<Between> {
        if let Some(share) = self.true_share(code) {
            return Some(Between::near(share));
        }
        if self.sampled {
            return None;
        }
        let (mut count, mut variance, mut step, mut rows) = (0.0, 0.0, 0.0f64, 0.0);
        for (table, believed) in self.column.tables.iter().zip(self.believed) {
            rows += table.rows as f64;
            let Some(place) = table.place(code) else { continue };
            let estimate = believed.estimate.as_ref()?;
            count += estimate.counts[place];
            variance += estimate.variances[place];
            step = step.max(estimate.steps[place]);
        }
        Some(Between::around(count, margin(variance, step, self.tests()), rows))
    }

    /// The true share of a value, if it is known.
    fn true_share(&self, code: usize) -> Option<f64> {
        self.truth.map(|(rows, counts)| counts[code] as f64 / rows.max(1) as f64)
    }

    /// Between which numbers the share of a value in a sub-table lies.
    fn share(&self, table: usize, value: usize) -> Option<Between> {
        let here = &self.column.tables[table];
        if let (true, Some((rows, counts))) = (single(self.column), self.truth) {
            // A value that nobody has is taken for one that one person has.
            let count = counts[here.values[value]].max(1);
            return Some(Between::near(count as f64 / rows.max(1) as f64));
        }
        if self.sampled || here.rows == 0 {
            return None;
        }
        let estimate = self.believed[table].estimate.as_ref()?;
        let margin = estimate.margin(value, self.tests());
        Some(Between::around(estimate.counts[value], margin, here.rows as f64))
    }

    fn tests(&self) -> usize {
        self.column.tables.iter().map(|table| table.values.len()).sum()
    }
}

struct RoomOfPriors {
    shares: Vec<f64>,
    bounded: Vec<bool>,
}

/// A range that a share is certain to be in.
#[derive(Debug, Clone, Copy)]
struct Between {
    low: f64,
    high: f64,
}

impl Between {
    /// A share that is known, but for rounding.
    fn near(share: f64) -> Self {
        Self { low: share * (1.0 - 1e-9), high: share * (1.0 + 1e-9) }
    }

    /// So many of `rows`, up to a margin.
    fn around(count: f64, margin: f64, rows: f64) -> Self {
        Self { low: (count - margin) / rows, high: (count + margin) / rows }
    }
}

/// How many times as likely a value may lead to what is published as another, never above
/// the exact number; the publisher's number is not looked at.
pub(crate) fn gamma(prior: f64, posterior: f64) -> f64 {
    if posterior >= 1.0 || prior <= 0.0 {
        return f64::INFINITY;
    }
    let odds = |belief: f64| belief / (1.0 - belief);
    odds(posterior) / odds(prior) * (1.0 - 8.0 * f64::EPSILON)
}

/// Whether the gamma of a bound is not that of its numbers.
fn lies(bound: &BoundNote) -> bool {
    let gamma = gamma(bound.prior, bound.posterior);
    gamma.is_finite() && (bound.gamma - gamma).abs() > 1e-9 * gamma
}

/// The belief that follows one of `prior`, if the value is so many times as likely.
pub(crate) fn believed_after(prior: f64, times: f64) -> f64 {
    if times.is_infinite() || prior >= 1.0 {
        return if prior > 0.0 { 1.0 } else { 0.0 };
    }
    prior * times / (1.0 - prior + prior * times)
}
