//! Calibration: somebody who holds the true table computes at which level, or with which spread,
//! everybody is published, and looks at nothing else.
//!
//! # Guarantee
//! Under `strict` nothing but frame and level can be computed: one guess in a class is right,
//! or, where people have several rows, as many as the person has there who has most.
//! Otherwise see `noisy::loose`.
//!
//! # Limits
//! Looks at no published number: see `rank` and `best_guess`.
//!
//! # Cost
//! O(rows); without `strict` see `noisy::loose`.
//!
//! # Source
//! docs/methods.md, "The calibration attack".

use serde_json::json;

use crate::audit::attacks::{Attack, NEEDS_ORIGINAL, NO_NOISE, PublicAttacks, Stopped};
use crate::audit::noisy::{Framed, NoisyFindings, NoisyRows, NoisyTruth};
use crate::audit::{Attacked, Case, Public, detail};
use crate::error::Result;

/// Tries to find everybody by how wide their noise is.
#[derive(Debug)]
pub struct Calibration;

impl Attack for Calibration {
    fn name(&self) -> &'static str {
        "calibration"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        let rows = case.views.noisy()?.ok_or(NO_NOISE)?;
        match case.noisy_truth()? {
            Some(NoisyTruth {
                found: NoisyFindings::Strict { frames, .. }, ..
            }) if case.manifest.person.is_some() => {
                Ok(vec![by_person(rows, frames, case.manifest.left_out)])
            }
            _ if rows.note.strict => Ok(vec![by_level(rows, case.manifest.left_out)]),
            Some(NoisyTruth { found: NoisyFindings::Loose(found), .. }) => {
                Ok(vec![found.attack.clone()])
            }
            _ => Err(NEEDS_ORIGINAL.into()),
        }
    }

    fn shown(&self, tried: &[Attacked], case: &Case<'_>) -> Result<PublicAttacks> {
        if let (Some(rows), Some(_)) = (case.views.noisy()?, &case.manifest.person)
            && rows.note.strict
        {
            let attack = by_level(rows, case.manifest.left_out);
            return Ok(Public::because("counted on published levels", vec![attack]));
        }
        // A release without `strict` is for comparison only, and its page must say why.
        let because =
            "counted on published levels, or of a release that is not safe anyway";
        Ok(Public::because(because, tried.to_vec()))
    }
}

/// The same of people: whoever has most rows of a class is guessed.
fn by_person(noisy: &NoisyRows, frames: &[Framed], left_out: u64) -> Attacked {
    let mut found = by_level(noisy, left_out);
    let rows = noisy.n_rows().max(1) as f64;
    let (mut hits, mut worst, mut smallest) = (0.0, 0.0f64, u64::MAX);
    for level in frames.iter().flat_map(Framed::people_of_levels) {
        let most = level.values().copied().max().unwrap_or(0) as f64;
        let all: u64 = level.values().sum();
        if all > 0 {
            hits += most;
            worst = worst.max(most / all as f64);
            smallest = smallest.min(level.len() as u64);
        }
    }
    found.success = hits / rows;
    found.worst = worst;
    found.detail.insert("people".to_owned(), smallest.into());
    found
}

/// Guesses by level and frame alone: one in a class is right.
fn by_level(noisy: &NoisyRows, left_out: u64) -> Attacked {
    let rows = noisy.n_rows() as u64;
    let sizes: Vec<Vec<usize>> = noisy
        .classes()
        .iter()
        .map(|levels| levels.iter().map(Vec::len).collect())
        .collect();
    let held = || sizes.iter().flatten().copied().filter(|n| *n > 0);
    let n_classes = held().count();
    let smallest = held().min();
    Attacked {
        name: Calibration.name().to_owned(),
        success: n_classes as f64 / rows.max(1) as f64,
        chance: 1.0 / (rows + left_out).max(1) as f64,
        worst: 1.0 / smallest.unwrap_or(1) as f64,
        detail: detail(json!({
            "classes": n_classes, "smallest": smallest.unwrap_or(0), "rows": sizes,
        })),
    }
}
