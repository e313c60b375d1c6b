//! l-diversity: the sensitive values of a group are diverse.
//!
//! # Guarantee
//! Counts are compared as whole numbers. Entropies are floats; one too near to ln l to tell
//! fails, unless its values are spread evenly. Where values stand apart more is promised:
//! that none has more than its share.
//!
//! # Limits
//! Columns are looked at one by one.
//!
//! # Cost
//! O(values) for each group.
//!
//! # Source
//! `machanavajjhala2006ldiversity`; where values stand apart `xiao2006anatomy`.

use serde_json::json;

use crate::audit::checks::values::{
    AskedOfValues, ComparedValues, Finding, PromisedValues,
};
use crate::audit::checks::{Check, decimal, finite, malformed, whole, word};
use crate::audit::grouped::most;
use crate::audit::{Case, Checked};
use crate::decimal::Decimal;
use crate::error::Result;
use crate::release::PromiseNote;
use crate::table::Histogram;

/// Rechecks l-diversity.
#[derive(Debug)]
pub struct LDiversity;

/// How diversity is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Diversity {
    Distinct(u64),
    Entropy(Decimal),
    Recursive { l: u64, c: Decimal },
}

impl Check for LDiversity {
    fn name(&self) -> &'static str {
        "l-diversity"
    }

    fn recheck(&self, promise: &PromiseNote, case: &Case<'_>) -> Result<Checked> {
        let promised = PromisedValues::of(promise, case)?;
        let asked = asked(promise)?;
        let found = promised.measure(&asked, case)?;
        let mut measured = match asked {
            Diversity::Recursive { .. } => json!({ "c": finite(found.worst) }),
            Diversity::Distinct(_) => json!({ "l": -found.worst as u64 }),
            Diversity::Entropy(_) => json!({ "l": finite((-found.worst).exp()) }),
        };
        if let Some(share) = found.share {
            measured["share"] = json!(share);
        }
        Ok(Checked::of(promise, measured, found.at_risk))
    }
}

impl Diversity {
    /// How many parts the rows of a group are at least divided into where values stand
    /// apart.
    pub(crate) fn parts(self) -> u64 {
        match self {
            Self::Distinct(l) | Self::Recursive { l, .. } => l,
            Self::Entropy(l) => l.to_f64().ceil() as u64,
        }
    }
}

/// What was asked; an error also if the promise is another one.
pub(crate) fn asked(promise: &PromiseNote) -> Result<Diversity> {
    let decimal = |name: &str, above: u128| {
        let wanted = format!("number `{name}` above {above}");
        decimal(promise, name, |number| number.exceeds(above, 1), &wanted)
    };
    match word(promise, "kind").filter(|_| promise.name == LDiversity.name()) {
        Some("distinct") => whole(promise, "l").map(Diversity::Distinct),
        Some("entropy") => decimal("l", 1).map(Diversity::Entropy),
        Some("recursive") => {
            Ok(Diversity::Recursive { l: whole(promise, "l")?, c: decimal("c", 0)? })
        }
        _ => Err(malformed(promise, "known `kind`")),
    }
}

impl AskedOfValues for Diversity {
    fn judge(&self, values: &ComparedValues<'_>) -> Finding {
        let mut found = diversity(values.group, *self);
        if values.apart {
            let even = u128::from(most(values.group)) * u128::from(self.parts());
            found.holds &= even <= u128::from(values.group.total());
        }
        found
    }
}

/// Risk: minus the number of values, minus the entropy, or the ratio c.
fn diversity(values: &Histogram, asked: Diversity) -> Finding {
    let (holds, risk) = match asked {
        Diversity::Distinct(l) => {
            let n = values.n_present() as u64;
            (n >= l, -(n as f64))
        }
        Diversity::Entropy(l) => entropy(values, l),
        Diversity::Recursive { l, c } => {
            let mut counts: Vec<u64> = values.present().map(|(_, n)| n).collect();
            counts.sort_unstable();
            let common = counts.last().copied().unwrap_or(0);
            let n_rare = counts.len().saturating_sub(l as usize - 1);
            let rare: u64 = counts[..n_rare].iter().sum();
            let holds = rare > 0 && c.exceeds(common.into(), rare.into());
            (holds, common as f64 / rare as f64)
        }
    };
    Finding { holds, risk, rows: values.total() }
}

/// Evenly spread values have the entropy ln n, exactly. Others must pass ln l by more than
/// the sum can be off: each of the terms by a few units in the last place.
fn entropy(values: &Histogram, l: Decimal) -> (bool, f64) {
    let n_present = values.n_present();
    let mut counts = values.present().map(|(_, n)| n);
    let first = counts.next();
    if counts.all(|n| Some(n) == first) {
        return (!l.exceeds(n_present as u128, 1), -(n_present as f64).ln());
    }
    let total = values.total() as f64;
    let surprise = |n: u64| {
        let share = n as f64 / total;
        -share * share.ln()
    };
    // Terms are added in the order of the domain, whichever rows came first.
    let entropy: f64 =
        values.counts().iter().filter(|n| **n > 0).map(|n| surprise(*n)).sum();
    let margin = 1e-15 * (n_present as f64 + 1000.0) * (1.0 + total.ln());
    (entropy - l.to_f64().ln() > margin, -entropy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(value: f64) -> Decimal {
        Decimal::from_f64("number", value).unwrap()
    }

    #[test]
    fn evenly_spread_values_reach_their_entropy() {
        let found = |counts: &[u64], l| {
            diversity(&Histogram::of(counts), Diversity::Entropy(decimal(l))).holds
        };
        for l in 2..40u64 {
            assert!(found(&vec![7; l as usize], l as f64), "{l}");
            assert!(!found(&vec![7; l as usize], l as f64 + 0.001), "{l}");
        }
        assert!(!found(&[2, 1], 2.0));
        assert!(found(&[2, 1], 1.8), "its entropy is ln 1.89");
    }

    #[test]
    fn the_commonest_value_is_compared_with_the_rare_ones() {
        let found = |counts: &[u64], c| {
            let asked = Diversity::Recursive { l: 2, c: decimal(c) };
            diversity(&Histogram::of(counts), asked)
        };
        let three = Finding { holds: true, risk: 2.5, rows: 7 };
        assert_eq!(found(&[5, 1, 1], 3.0), three);
        assert!(!found(&[5, 1, 1], 2.5).holds, "5 < 2.5 * 2 is false");
        let alone = Finding { holds: false, risk: f64::INFINITY, rows: 5 };
        assert_eq!(found(&[5], 100.0), alone);
    }
}
