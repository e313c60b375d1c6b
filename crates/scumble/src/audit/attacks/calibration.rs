//! Calibration: who holds the true table computes at which level, or with which spread,
//! everybody is published, and looks at nothing else.
//!
//! # Guarantee
//! Under `strict` nothing but frame and level can be computed: one guess in a class is right.
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

use serde_json::{Map, json};

use crate::audit::attacks::{Attack, NEEDS_ORIGINAL, NO_NOISE, Tried};
use crate::audit::noisy::rows::NoisyRows;
use crate::audit::noisy::{NoisyFindings, NoisyTruth};
use crate::audit::{Attacked, Held, Public, Views};
use crate::error::Result;

/// Tries to find everybody by how wide their noise is.
#[derive(Debug)]
pub struct Calibration;

impl Attack for Calibration {
    fn name(&self) -> &'static str {
        "calibration"
    }

    fn attempt(&self, views: &Views<'_>, held: &Held<'_>) -> Result<Tried> {
        let Some(rows) = views.noisy()? else { return Tried::not(NO_NOISE) };
        if rows.note.strict {
            let found = by_level(rows, views.manifest.left_out);
            return Ok(Tried::Attacked(vec![found]));
        }
        match held.noisy()? {
            Some(NoisyTruth { found: NoisyFindings::Loose(found), .. }) => {
                Ok(Tried::Attacked(vec![found.attack.clone()]))
            }
            _ => Tried::not(NEEDS_ORIGINAL),
        }
    }

    fn shown(
        &self,
        tried: &[Attacked],
        _: &Views<'_>,
        _: &Held<'_>,
    ) -> Result<Public<Vec<Attacked>>> {
        // A release without `strict` is for comparison only, and its page must say why.
        let because =
            "counted on published levels, or of a release that is not safe anyway";
        Ok(Public::because(because, tried.to_vec()))
    }
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
    let mut detail = Map::new();
    detail.insert("classes".into(), n_classes.into());
    detail.insert("smallest".into(), held().min().unwrap_or(0).into());
    detail.insert("rows".into(), json!(sizes));
    Attacked {
        name: Calibration.name().to_owned(),
        success: n_classes as f64 / rows.max(1) as f64,
        chance: 1.0 / (rows + left_out).max(1) as f64,
        worst: 1.0 / held().min().unwrap_or(1) as f64,
        detail,
    }
}
