//! What may be published of an audit.
//!
//! # Guarantee
//! A [`Public`] can only be made by stating why it may be published; nothing private becomes
//! public by forgetting to remove it.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde_json::{Value, json};

use crate::audit::attacks::PublicAttacks;
use crate::audit::{Attacked, Checked, Report};

/// Something that may be published.
#[derive(Debug, Clone)]
pub struct Public<T>(T);

impl<T> Public<T> {
    /// States that `value` may be published, `because` of what it was computed from.
    pub(super) fn because(_because: &'static str, value: T) -> Self {
        Self(value)
    }
}

impl Public<Vec<Attacked>> {
    /// Shares over all people that were scored on the table, and are listed in GUARANTEES with
    /// what they are a function of: with three digits.
    pub(super) fn rounded(tried: &[Attacked]) -> Self {
        let detail = |attack: &Attacked| {
            let of = attack.detail.iter();
            of.map(|(name, value)| (name.clone(), rounded_value(value))).collect()
        };
        let attack = |attack: &Attacked| Attacked {
            name: attack.name.clone(),
            success: rounded(attack.success),
            chance: rounded(attack.chance),
            worst: rounded(attack.worst),
            detail: detail(attack),
        };
        Self(tried.iter().map(attack).collect())
    }
}

/// A number with three digits.
fn rounded(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

/// The same of every number that is not whole, however deep.
pub(super) fn rounded_value(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map_or(Value::Null, |number| json!(rounded(number)))
        }
        Value::Array(values) => values.iter().map(rounded_value).collect(),
        Value::Object(map) => {
            let all = map.iter();
            all.map(|(name, value)| (name.clone(), rounded_value(value))).collect()
        }
        other => other.clone(),
    }
}

impl<T> Deref for Public<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl Public<Report> {
    /// A report of which promises, attacks and losses are stated to be public. All else is
    /// computed from published cells, or told in bands only.
    pub(super) fn of_report(
        report: &Report,
        promises: Vec<Public<Checked>>,
        attacks: Vec<PublicAttacks>,
        loss: Public<BTreeMap<String, f64>>,
    ) -> Self {
        // Every field is named: a new one must say why it may be published.
        let Report { rows, not_applicable, group_sizes, risks, widths, .. } = report;
        let undecided = &report.undecided;
        Self(Report {
            rows: *rows,
            promises: promises.into_iter().map(|promise| promise.0).collect(),
            undecided: undecided.clone(),
            attacks: attacks.into_iter().flat_map(|attacks| attacks.0).collect(),
            not_applicable: not_applicable.clone(),
            loss: loss.0,
            group_sizes: group_sizes.clone(),
            risks: risks.clone(),
            widths: widths.clone(),
        })
    }
}
