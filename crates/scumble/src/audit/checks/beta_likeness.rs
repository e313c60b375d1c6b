//! β-likeness: no sensitive value is much commoner in a group than in the whole release.
//!
//! # Guarantee
//! Gains are fractions of whole numbers, compared as such with β. The logarithm of the
//! enhanced form is a float; a gain too near to it to tell fails.
//!
//! # Limits
//! Columns are looked at one by one.
//!
//! # Cost
//! O(values) for each group.
//!
//! # Source
//! `cao2012betalikeness`.

use serde_json::json;

use crate::audit::checks::values::{
    AskedOfValues, ComparedValues, Finding, PromisedValues,
};
use crate::audit::checks::{Check, decimal, finite, malformed, word};
use crate::audit::{Case, Checked};
use crate::decimal::Decimal;
use crate::error::Result;
use crate::release::PromiseNote;

/// A gain and a logarithm must be this far apart, which is more than both can be off: gains
/// that pass are below 45, the logarithm of the largest count.
const MARGIN: f64 = 1e-13;

/// Rechecks β-likeness.
#[derive(Debug)]
pub struct BetaLikeness;

/// What was asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct AskedLikeness {
    beta: Decimal,
    enhanced: bool,
}

impl Check for BetaLikeness {
    fn name(&self) -> &'static str {
        "beta-likeness"
    }

    /// Measures the least β with which the promise would hold; nothing if there is none.
    fn recheck(&self, promise: &PromiseNote, case: &Case<'_>) -> Result<Checked> {
        let promised = PromisedValues::of(promise, case)?;
        let found = promised.measure(&asked(promise)?, case)?;
        Ok(Checked::of(promise, json!({ "beta": finite(found.worst) }), found.at_risk))
    }
}

impl AskedOfValues for AskedLikeness {
    /// Risk: the largest gain, or infinite if no β allows it.
    fn judge(&self, values: &ComparedValues<'_>) -> Finding {
        let (group, whole) = (values.group, values.whole);
        let mut found = Finding { holds: true, risk: 0.0, rows: group.total() };
        for (code, _) in group.present() {
            let excess = u128::try_from(values.excess(code)).unwrap_or(0);
            if excess == 0 {
                continue;
            }
            let of_all = whole.count(code);
            let before = u128::from(of_all) * u128::from(group.total());
            let gain = excess as f64 / before as f64;
            let others = (whole.total() - of_all) as f64;
            // ln (1 + others / own) is minus the logarithm of the share.
            let sure =
                self.enhanced && gain > (others / of_all as f64).ln_1p() - MARGIN;
            found.holds &= !sure && self.beta.at_least(excess, before);
            found.risk = found.risk.max(if sure { f64::INFINITY } else { gain });
        }
        found
    }
}

/// What was asked.
pub(super) fn asked(promise: &PromiseNote) -> Result<AskedLikeness> {
    let enhanced = match word(promise, "form") {
        Some("basic") => false,
        Some("enhanced") => true,
        _ => return Err(malformed(promise, "known `form`")),
    };
    let wanted = "number `beta` above 0";
    let beta = decimal(promise, "beta", |beta| beta.exceeds(0, 1), wanted)?;
    Ok(AskedLikeness { beta, enhanced })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Histogram;

    fn found(enhanced: bool, group: &[u64], whole: &[u64]) -> (bool, f64) {
        let (group, whole) = (&Histogram::of(group), &Histogram::of(whole));
        let values = ComparedValues { group, whole, hierarchy: None, apart: false };
        let beta = Decimal::from_f64("beta", 2.0).unwrap();
        let found = AskedLikeness { beta, enhanced }.judge(&values);
        (found.holds, found.risk)
    }

    #[test]
    fn gains_are_measured_and_certainty_is_infinite() {
        assert_eq!(found(false, &[3, 7], &[10, 90]), (true, 2.0));
        assert_eq!(found(true, &[3, 7], &[10, 90]), (true, 2.0));
        assert_eq!(found(false, &[4, 6], &[10, 90]), (false, 3.0));
        assert_eq!(found(false, &[5, 0], &[50, 50]), (true, 1.0));
        assert_eq!(found(true, &[5, 0], &[50, 50]), (false, f64::INFINITY));
        assert_eq!(found(true, &[5], &[50]), (true, 0.0));
    }
}
