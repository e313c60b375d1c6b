//! delta-presence: everybody of the population is in the table with a probability in a range.
//!
//! # Guarantee
//! See `presence` for what is exact; a share is compared with the range in whole numbers, or
//! with a margin for rounding.
//!
//! # Limits
//! Holds against readers who do not know how the release was searched for: see `reversal`.
//!
//! # Cost
//! That of finding everybody's class, see `people`; of weights see `counting`.
//!
//! # Source
//! `nergiz2007presence`; of weights `nergiz2007pdf`.

use hashbrown::HashSet;
use serde_json::{Value, json};

use crate::audit::cells::{People, PresenceRange, Share, Shares};
use crate::audit::checks::k_anonymity::without_quasi;
use crate::audit::checks::{
    Check, decimal, malformed, says_nothing, without_population,
};
use crate::audit::given::needs_original;
use crate::audit::{Case, Checked};
use crate::error::Result;
use crate::release::{Manifest, PromiseNote};

/// Rechecks delta-presence.
#[derive(Debug)]
pub struct DeltaPresence;

/// Who reads the weights of pdf cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WeightReader {
    /// Somebody who sees that weights are counts.
    Counting,
    /// Somebody who takes them for likelihoods and nothing more.
    Paper,
}

impl Check for DeltaPresence {
    fn name(&self) -> &'static str {
        "delta-presence"
    }

    fn recheck(&self, promise: &PromiseNote, case: &Case<'_>) -> Result<Checked> {
        let (range, reader) = asked(promise)?;
        let classes = case.views.cells()?.ok_or_else(|| says_nothing(promise, case))?;
        if classes.quasi.is_empty() {
            return Err(without_quasi(promise));
        }
        let crowd = case.crowd()?.ok_or_else(|| without_population(promise))?;
        let presence = crowd.presence.as_ref().ok_or_else(|| {
            needs_original(&format!("{} of people cannot be rechecked", promise.name))
        })?;
        let shares = presence.seen_by(reader);
        let (mut measured, at_risk) = measured(range, shares, &crowd.people);
        if let Some(word) = case.counted_word() {
            measured["counted"] = json!(word);
        }
        Ok(Checked::of(promise, measured, at_risk))
    }
}

/// Whether a manifest promises it.
pub(crate) fn is_promised(manifest: &Manifest) -> bool {
    manifest.promises.iter().any(|note| note.name == DeltaPresence.name())
}

/// What was asked.
pub(crate) fn asked(promise: &PromiseNote) -> Result<(PresenceRange, WeightReader)> {
    let share = |name: &str| {
        let wanted = format!("share `{name}` from 0 to 1");
        decimal(promise, name, |share| !share.exceeds(1, 1), &wanted)
    };
    let range = PresenceRange { min: share("min")?, max: share("max")? };
    let reader = match promise.asked.get("adversary") {
        None => WeightReader::Counting,
        Some(name) if name == "paper" => WeightReader::Paper,
        Some(_) => return Err(malformed(promise, "known `adversary`")),
    };
    Ok((range, reader))
}

/// Measures presence, and counts the people at risk: those whose share is not known to be
/// in the range, and those who fit several groups.
fn measured(
    range: PresenceRange,
    shares: &Shares,
    people: &People<'_>,
) -> (Value, u64) {
    let keeps: Vec<bool> =
        shares.distinct.iter().map(|share| share.is_in(range)).collect();
    let several: HashSet<u32> =
        people.several.iter().map(|(tuple, _)| *tuple).collect();
    let (mut smallest, mut largest) = (1.0f64, 0.0f64);
    let (mut at_risk, mut uncertified) = (0, 0);
    for (tuple, n) in (0u32..).zip(people.known.people) {
        let place = shares.of_tuple[tuple as usize] as usize;
        match shares.distinct[place] {
            Share::Guess(_) => uncertified += n,
            share => {
                smallest = smallest.min(share.to_f64());
                largest = largest.max(share.to_f64());
            }
        }
        if !keeps[place] || several.contains(&tuple) {
            at_risk += n;
        }
    }
    let mut measured = match smallest <= largest {
        true => json!({ "min": smallest, "max": largest }),
        false => json!({ "min": null, "max": null }),
    };
    if people.unpublished > 0 {
        let share = people.inside.left_out as f64 / people.unpublished as f64;
        measured["unpublished"] = json!(share);
    }
    if !people.several.is_empty() {
        measured["overlapping"] = json!(people.overlapping());
    }
    if uncertified > 0 {
        measured["uncertified"] = json!(uncertified);
    }
    (measured, at_risk)
}
