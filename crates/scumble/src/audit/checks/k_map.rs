//! k-map: every row could be that of at least k people of the population.
//!
//! # Guarantee
//! People are counted as whole numbers, each in every group that fits them: a group exactly
//! at k is large enough.
//!
//! # Limits
//! The recheck believes the manifest's roles and the population it is given.
//!
//! # Cost
//! That of finding everybody's class, see `people`.
//!
//! # Source
//! `sweeney2002kanonymity`, section 4.3; `elemam2008kmap`.

use serde_json::json;

use crate::audit::checks::k_anonymity::without_quasi;
use crate::audit::checks::{Check, says_nothing, whole, without_population};
use crate::audit::{Case, Checked};
use crate::error::Result;
use crate::release::PromiseNote;

/// Rechecks k-map.
#[derive(Debug)]
pub struct KMap;

impl Check for KMap {
    fn name(&self) -> &'static str {
        "k-map"
    }

    fn recheck(&self, promise: &PromiseNote, case: &Case<'_>) -> Result<Checked> {
        let k = asked(promise)?;
        let classes = case.views.cells()?.ok_or_else(|| says_nothing(promise, case))?;
        if classes.quasi.is_empty() {
            return Err(without_quasi(promise));
        }
        let crowd = case.crowd()?.ok_or_else(|| without_population(promise))?;
        let of_group = &crowd.people.of_group;
        let groups = of_group.iter().zip(&classes.sizes);
        let failing = groups.filter(|(people, _)| **people < k).map(|(_, rows)| rows);
        let smallest = of_group.iter().min().copied().unwrap_or(0);
        Ok(Checked::of(promise, json!({ "k": smallest }), failing.sum()))
    }
}

/// The k that was promised.
pub(crate) fn asked(promise: &PromiseNote) -> Result<u64> {
    whole(promise, "k")
}
