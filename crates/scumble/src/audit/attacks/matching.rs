//! Matching: somebody who holds the true table matches all people of a class to all rows of
//! it at once, where `best-guess` takes one row at a time.
//!
//! Guarantee, limits, cost and source are those of `noisy::matched`.

use crate::audit::attacks::{Attack, NEEDS_ORIGINAL, NO_NOISE, Stopped};
use crate::audit::noisy::{NoisyFindings, matched};
use crate::audit::{Attacked, Case};
use crate::error::Result;

/// Tries to match everybody at once.
#[derive(Debug)]
pub struct Matching;

impl Attack for Matching {
    fn name(&self) -> &'static str {
        "matching"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        let rows = case.views.noisy()?.ok_or(NO_NOISE)?;
        if !rows.note.strict {
            return Err(
                "every row has spreads of its own: calibration finds them".into()
            );
        }
        let truth = case.noisy_truth()?.ok_or(NEEDS_ORIGINAL)?;
        let NoisyFindings::Strict { frames, measured, .. } = &truth.found else {
            return Err(NEEDS_ORIGINAL.into());
        };
        let found = matched::matched(frames, measured, case.watch);
        case.watch.check()?;
        Ok(vec![found.ok_or("classes are too large to be matched at once")?])
    }
}
