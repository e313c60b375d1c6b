//! t-closeness: the sensitive values of a group are spread as in the whole release.
//!
//! # Guarantee
//! Distances are fractions of whole numbers, compared as such with t.
//!
//! # Limits
//! Columns are looked at one by one. A hierarchy whose leaves are dates in another form than
//! YYYY-MM-DD cannot be compared with published values.
//!
//! # Cost
//! O(values) for each group.
//!
//! # Source
//! `li2007tcloseness`.

use serde_json::json;

use crate::audit::checks::values::{AskedOfValues, PromisedValues};
use crate::audit::checks::{Check, decimal, finite, malformed, word};
use crate::audit::{Case, Checked};
use crate::decimal::Decimal;
use crate::error::Result;
use crate::release::PromiseNote;

/// Rechecks t-closeness.
#[derive(Debug)]
pub struct TCloseness;

/// How far values are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Distance {
    Equal,
    Ordered,
    Hierarchical,
}

impl Check for TCloseness {
    fn name(&self) -> &'static str {
        "t-closeness"
    }

    fn recheck(&self, promise: &PromiseNote, case: &Case<'_>) -> Result<Checked> {
        let promised = PromisedValues::of(promise, case)?;
        let (t, distance) = asked(promise)?;
        let found = promised.measure(AskedOfValues::Closeness(t, distance), case)?;
        Ok(Checked::of(promise, json!({ "t": finite(found.worst) }), found.at_risk))
    }
}

/// What was asked.
pub(super) fn asked(promise: &PromiseNote) -> Result<(Decimal, Distance)> {
    let distance = match word(promise, "distance") {
        Some("equal") => Distance::Equal,
        Some("ordered") => Distance::Ordered,
        Some("hierarchical") => Distance::Hierarchical,
        _ => return Err(malformed(promise, "known `distance`")),
    };
    let t = decimal(promise, "t", |t| t.exceeds(0, 1), "number `t` above 0")?;
    match t.exceeds(1, 1) {
        true => Err(malformed(promise, "number `t` of at most 1")),
        false => Ok((t, distance)),
    }
}
