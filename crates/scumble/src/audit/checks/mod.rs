//! Every promise, rechecked from the published files: a file for each promise.
//!
//! A check looks at the columns that its promise is about, and decides by what was done to
//! them where to look.

mod beta_likeness;
pub(crate) mod bounds;
mod breach;
mod delta_disclosure;
pub(crate) mod delta_presence;
mod expected_anonymity;
pub(crate) mod fine_grain;
pub(crate) mod k_anonymity;
pub(crate) mod k_map;
pub(crate) mod l_diversity;
pub(crate) mod r_robustness;
mod t_closeness;
mod values;

pub use beta_likeness::BetaLikeness;
pub(crate) use bounds::{AskedBound, believed_after};
pub use breach::Breach;
pub use delta_disclosure::DeltaDisclosure;
pub use delta_presence::DeltaPresence;
pub use expected_anonymity::ExpectedAnonymity;
pub use fine_grain::FineGrain;
pub use k_anonymity::KAnonymity;
pub use k_map::KMap;
pub use l_diversity::LDiversity;
pub use r_robustness::RRobustness;
pub use t_closeness::TCloseness;
pub(crate) use values::{AskedOfValues, ComparedValues, asked_of_values};

use std::fmt::Debug;

use serde_json::{Value, json};

use crate::audit::{Case, Checked};
use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::release::{Manifest, PromiseNote, PublishedColumn};

/// Rechecks a promise.
pub trait Check: Debug + Sync {
    /// The promise's name in the manifest.
    fn name(&self) -> &'static str;

    /// Measures what was promised, on the columns that the promise is about. Fails if what
    /// was asked cannot be read, or nothing in the release can be measured by it.
    fn recheck(&self, promise: &PromiseNote, case: &Case<'_>) -> Result<Checked>;

    /// Why it cannot be decided with what is given, although nothing is wrong.
    fn undecided(
        &self,
        _promise: &PromiseNote,
        _case: &Case<'_>,
    ) -> Result<Option<&'static str>> {
        Ok(None)
    }

    /// Whether what is measured with the original at hand tells more than anybody can
    /// measure: then only the latter may be published.
    fn is_sharper_with_original(&self) -> bool {
        false
    }
}

/// All of them.
pub static ALL: [&dyn Check; 11] = [
    &KAnonymity,
    &KMap,
    &LDiversity,
    &TCloseness,
    &BetaLikeness,
    &DeltaDisclosure,
    &DeltaPresence,
    &Breach,
    &FineGrain,
    &RRobustness,
    &ExpectedAnonymity,
];

/// The check of a promise.
pub(crate) fn of(promise: &PromiseNote) -> Result<&'static dyn Check> {
    let found = ALL.iter().find(|check| check.name() == promise.name);
    found.copied().ok_or_else(|| {
        Error::input("the manifest has a promise this program does not know")
            .with_hint("a newer version may know it")
    })
}

impl Checked {
    /// A promise of which so many rows are at risk.
    fn of(promise: &PromiseNote, measured: Value, rows_at_risk: u64) -> Self {
        Self {
            name: promise.name.clone(),
            columns: promise.columns.clone(),
            asked: promise.asked.clone(),
            measured,
            holds: rows_at_risk == 0,
            rows_at_risk,
        }
    }
}

/// The published columns that a promise is about.
fn columns_of<'a>(
    promise: &'a PromiseNote,
    manifest: &'a Manifest,
) -> Result<Vec<&'a PublishedColumn>> {
    let column = |name: &String| {
        manifest.column(name).ok_or_else(|| {
            Error::input(format!(
                "the manifest promises {} of `{name}`, which is not a published column",
                promise.name
            ))
        })
    };
    promise.columns.iter().map(column).collect()
}

/// That a promise is about columns that were treated otherwise.
fn says_nothing(promise: &PromiseNote, case: &Case<'_>) -> Error {
    let (name, present) = (&promise.name, case.views.present);
    let what = if present.apart {
        ", which says nothing of rows in buckets"
    } else if present.noisy {
        " of blurred numbers, where it cannot be rechecked"
    } else if present.redrawn {
        " of condensed numbers, where it cannot be rechecked"
    } else if present.drawn {
        " beside randomized columns, where it cannot be rechecked"
    } else {
        " of columns that were treated otherwise"
    };
    Error::input(format!("the manifest promises {name}{what}"))
        .with_hint("the release was changed, or a newer version may know it")
}

/// That a promise speaks of people who were not given.
fn without_population(promise: &PromiseNote) -> Error {
    Error::input(format!("{} cannot be rechecked without the population", promise.name))
        .with_hint("give it with `--population FILE`")
}

/// What was asked, but not understood.
fn malformed(promise: &PromiseNote, wanted: &str) -> Error {
    Error::input(format!(
        "the manifest's promise `{}` is malformed: `asked` has no {wanted}",
        promise.name
    ))
}

/// A decimal number that was asked for, if it suits.
fn decimal(
    promise: &PromiseNote,
    name: &str,
    suits: impl Fn(&Decimal) -> bool,
    wanted: &str,
) -> Result<Decimal> {
    let number = promise.asked.get(name).and_then(Value::as_f64);
    let number = number.and_then(|number| Decimal::from_f64(name, number).ok());
    number.filter(suits).ok_or_else(|| malformed(promise, wanted))
}

/// A word that was asked for.
fn word<'a>(promise: &'a PromiseNote, name: &str) -> Option<&'a str> {
    promise.asked.get(name).and_then(Value::as_str)
}

/// A whole number of at least 2.
fn whole(promise: &PromiseNote, name: &str) -> Result<u64> {
    let number = promise.asked.get(name).and_then(Value::as_u64);
    number.filter(|number| *number >= 2).ok_or_else(|| {
        malformed(promise, &format!("whole number `{name}` of at least 2"))
    })
}

/// A number, or null for one that is too large for any.
fn finite(number: f64) -> Value {
    if number.is_finite() { json!(number) } else { Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &str, asked: Value) -> PromiseNote {
        PromiseNote { holds: true, ..PromiseNote::unchecked(name, Vec::new(), asked) }
    }

    #[test]
    fn what_is_malformed_is_refused() {
        for (name, value) in [
            ("k-anonymity", json!({})),
            ("k-anonymity", json!({ "k": 1 })),
            ("k-anonymity", json!({ "k": -3 })),
            ("k-anonymity", json!("many")),
            ("l-diversity", json!({ "l": 3 })),
            ("l-diversity", json!({ "l": 1.0, "kind": "entropy" })),
            ("l-diversity", json!({ "l": 2, "kind": "recursive" })),
            ("t-closeness", json!({ "t": 1.5, "distance": "equal" })),
            ("t-closeness", json!({ "t": 0.5, "distance": "long" })),
            ("beta-likeness", json!({ "beta": 0, "form": "basic" })),
            ("beta-likeness", json!({ "beta": 2, "form": "best" })),
            ("beta-likeness", json!({ "form": "enhanced" })),
            ("delta-disclosure", json!({ "delta": 0.0 })),
            ("delta-disclosure", json!({ "delta": "small" })),
            ("delta-presence", json!({ "min": 0.1 })),
            ("delta-presence", json!({ "min": 0.1, "max": 1.5 })),
            ("delta-presence", json!({ "min": 0, "max": 1, "adversary": "weak" })),
        ] {
            let note = note(name, value);
            let error = match name {
                "k-anonymity" => k_anonymity::asked(&note).expect_err("malformed"),
                "l-diversity" => l_diversity::asked(&note).expect_err("malformed"),
                "t-closeness" => t_closeness::asked(&note).expect_err("malformed"),
                "beta-likeness" => beta_likeness::asked(&note).expect_err("malformed"),
                "delta-disclosure" => {
                    delta_disclosure::asked(&note).expect_err("malformed")
                }
                _ => delta_presence::asked(&note).expect_err("malformed"),
            };
            let start = format!("the manifest's promise `{name}` is malformed");
            assert!(error.to_string().starts_with(&start), "{error}");
        }
    }

    #[test]
    fn an_unknown_promise_is_refused() {
        let error = of(&note("x-privacy", json!({}))).expect_err("unknown");
        assert!(error.to_string().contains("does not know"));
    }
}
