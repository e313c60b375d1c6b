//! fine-grain: every randomized value has a bound of its own, listed or a multiple of its share.
//!
//! Guarantee, limits, cost and source: see `bounds`, which this shares with breach.

use serde_json::Value;

use crate::audit::checks::bounds::{self, AskedBound};
use crate::audit::checks::{Check, malformed, says_nothing, word};
use crate::audit::{Case, Checked};
use crate::error::Result;
use crate::release::PromiseNote;

/// Rechecks fine-grain.
#[derive(Debug)]
pub struct FineGrain;

impl Check for FineGrain {
    fn name(&self) -> &'static str {
        "fine-grain"
    }

    fn recheck(&self, promise: &PromiseNote, case: &Case<'_>) -> Result<Checked> {
        let drawn = case.views.drawn()?.ok_or_else(|| says_nothing(promise, case))?;
        bounds::recheck(promise, asked(promise)?, drawn, case)
    }

    fn is_sharper_with_original(&self) -> bool {
        true
    }
}

/// What was asked.
pub(crate) fn asked(promise: &PromiseNote) -> Result<AskedBound> {
    if word(promise, "values") == Some("listed") {
        return Ok(AskedBound::Listed);
    }
    let factor = promise.asked.get("factor").and_then(Value::as_f64);
    let factor = factor.filter(|factor| *factor > 1.0);
    let factor = factor.ok_or_else(|| malformed(promise, "`factor` above 1"))?;
    Ok(AskedBound::Factor(factor))
}
