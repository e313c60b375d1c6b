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

use crate::audit::checks::values::{AskedOfValues, PromisedValues};
use crate::audit::checks::{Check, decimal, finite, malformed, whole, word};
use crate::audit::{Case, Checked};
use crate::decimal::Decimal;
use crate::error::Result;
use crate::release::PromiseNote;

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
        let found = promised.measure(AskedOfValues::Diversity(asked), case)?;
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
    pub(super) fn parts(self) -> u64 {
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
