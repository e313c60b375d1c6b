//! δ-disclosure: every sensitive value is about as common in a group as in the whole release.
//!
//! # Guarantee
//! Logarithms are floats; one too near to δ to tell fails.
//!
//! # Limits
//! Columns are looked at one by one.
//!
//! # Cost
//! O(values) for each group.
//!
//! # Source
//! `brickell2008cost`.

use serde_json::json;

use crate::audit::checks::values::{
    AskedOfValues, ComparedValues, Finding, PromisedValues,
};
use crate::audit::checks::{Check, decimal, finite};
use crate::audit::{Case, Checked};
use crate::error::Result;
use crate::release::PromiseNote;
use crate::table::Code;

/// How far logarithms must stay below δ, which is more than they can be off: each of the two
/// is below 45, so off by less than 1e-14.
const MARGIN: f64 = 1e-13;

/// Rechecks δ-disclosure.
#[derive(Debug)]
pub struct DeltaDisclosure;

/// What was asked: logarithms below this.
#[derive(Debug, Clone, Copy)]
pub(super) struct AskedDisclosure(f64);

impl Check for DeltaDisclosure {
    fn name(&self) -> &'static str {
        "delta-disclosure"
    }

    /// Measures the largest logarithm; nothing if a value is missing from a group.
    fn recheck(&self, promise: &PromiseNote, case: &Case<'_>) -> Result<Checked> {
        let promised = PromisedValues::of(promise, case)?;
        let found = promised.measure(&asked(promise)?, case)?;
        Ok(Checked::of(promise, json!({ "delta": finite(found.worst) }), found.at_risk))
    }
}

impl AskedOfValues for AskedDisclosure {
    /// Risk: the largest logarithm, up or down.
    fn judge(&self, values: &ComparedValues<'_>) -> Finding {
        let (group, whole) = (values.group, values.whole);
        let log = |n: u64, of: u64| (n as f64 / of as f64).ln();
        let change = |code: Code| match values.excess(code) {
            0 => 0.0,
            _ => {
                let before = log(whole.count(code), whole.total());
                (log(group.count(code), group.total()) - before).abs()
            }
        };
        let changes = whole.present().map(|(code, _)| change(code));
        let risk = changes.fold(0.0, f64::max);
        Finding {
            holds: risk == 0.0 || risk < self.0 - MARGIN,
            risk,
            rows: group.total(),
        }
    }
}

/// What was asked.
pub(super) fn asked(promise: &PromiseNote) -> Result<AskedDisclosure> {
    let wanted = "number `delta` above 0";
    let delta = decimal(promise, "delta", |delta| delta.exceeds(0, 1), wanted)?;
    Ok(AskedDisclosure(delta.to_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Histogram;

    fn found(delta: f64, group: &[u64], whole: &[u64]) -> Finding {
        let (group, whole) = (&Histogram::of(group), &Histogram::of(whole));
        let values = ComparedValues { group, whole, hierarchy: None, apart: false };
        AskedDisclosure(delta).judge(&values)
    }

    #[test]
    fn ups_and_downs_are_measured_and_a_missing_value_is_infinite() {
        assert!((found(1.0, &[2, 8], &[5, 5]).risk - 2.5f64.ln()).abs() < 1e-12);
        assert!(found(0.9163, &[2, 8], &[5, 5]).holds);
        assert!(!found(0.9162, &[2, 8], &[5, 5]).holds);
        let missing = found(900.0, &[7, 0], &[500, 1]);
        assert_eq!((missing.holds, missing.risk), (false, f64::INFINITY));
        let like = found(1e-12, &[7, 3], &[70, 30]);
        assert_eq!((like.holds, like.risk), (true, 0.0));
    }
}
