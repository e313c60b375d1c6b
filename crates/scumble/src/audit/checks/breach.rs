//! breach: no belief rises from at most `prior` to above `posterior` by looking at a randomized
//! value.
//!
//! Guarantee, limits, cost and source: see `bounds`, which this shares with fine-grain.

use serde_json::Value;

use crate::audit::checks::bounds::{self, AskedBound};
use crate::audit::checks::{Check, malformed, says_nothing};
use crate::audit::{Case, Checked};
use crate::error::Result;
use crate::release::PromiseNote;

/// Rechecks breach.
#[derive(Debug)]
pub struct Breach;

impl Check for Breach {
    fn name(&self) -> &'static str {
        "breach"
    }

    fn recheck(&self, promise: &PromiseNote, case: &Case<'_>) -> Result<Checked> {
        let drawn = case.views.drawn()?.ok_or_else(|| says_nothing(promise, case))?;
        let number = |name: &str| promise.asked.get(name).and_then(Value::as_f64);
        let (prior, posterior) = number("prior")
            .zip(number("posterior"))
            .filter(|(prior, posterior)| {
                0.0 < *prior && prior < posterior && *posterior < 1.0
            })
            .ok_or_else(|| malformed(promise, "`prior` below a `posterior`"))?;
        let asked = AskedBound::Breach { prior, posterior };
        bounds::recheck(promise, asked, drawn, case)
    }

    fn is_sharper_with_original(&self) -> bool {
        true
    }
}
