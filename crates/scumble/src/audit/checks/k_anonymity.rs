//! k-anonymity: every row is one of at least k that share their quasi cells, or stands for so
//! many.
//!
//! # Guarantee
//! Sizes are whole numbers: a class exactly at k is large enough. Where people are promised
//! and the original is at hand, they are counted; without it only rows can be.
//!
//! # Limits
//! The recheck believes the manifest's roles: it cannot know that a column called sensitive
//! is known to the adversary. Of noisy quasi columns k-anonymity says nothing.
//!
//! # Cost
//! One pass over the published rows.
//!
//! # Source
//! `sweeney2002kanonymity`.

use serde_json::json;

use crate::audit::checks::{Check, says_nothing, whole};
use crate::audit::{Case, Checked};
use crate::error::{Error, Result};
use crate::release::{Manifest, PromiseNote};

/// Rechecks k-anonymity.
#[derive(Debug)]
pub struct KAnonymity;

impl Check for KAnonymity {
    fn name(&self) -> &'static str {
        "k-anonymity"
    }

    fn recheck(&self, promise: &PromiseNote, case: &Case<'_>) -> Result<Checked> {
        let k = asked(promise)?;
        let (smallest, failing) = if let Some(sizes) = case.views.sample()? {
            let failing = sizes.iter().filter(|(size, _)| *size < k);
            (sizes.first().map_or(0, |size| size.0), failing.map(|(_, n)| n).sum())
        } else if let Some(classes) = case.views.cells()? {
            if classes.quasi.is_empty() {
                return Err(without_quasi(promise));
            }
            let people = case.group_people()?;
            let sizes = people.map_or(&classes.sizes, |people| &people.sizes);
            let failing = sizes.iter().zip(&classes.sizes).filter(|(n, _)| **n < k);
            let failing = failing.map(|(_, rows)| rows).sum();
            (sizes.iter().min().copied().unwrap_or(0), failing)
        } else {
            return Err(says_nothing(promise, case));
        };
        let mut measured = json!({ "k": smallest });
        if let Some(word) = case.counted_word() {
            measured["counted"] = json!(word);
        }
        Ok(Checked::of(promise, measured, failing))
    }
}

/// The k that was asked.
pub(crate) fn asked(promise: &PromiseNote) -> Result<u64> {
    whole(promise, "k")
}

/// The k of the first k-anonymity of a manifest.
pub(crate) fn first(manifest: &Manifest) -> Option<u64> {
    let mut notes = manifest.promises.iter();
    notes.find(|note| note.name == KAnonymity.name()).and_then(|note| asked(note).ok())
}

/// That a promise about cells has none.
pub(super) fn without_quasi(promise: &PromiseNote) -> Error {
    Error::input(format!(
        "the manifest promises {} without a quasi column",
        promise.name
    ))
}
