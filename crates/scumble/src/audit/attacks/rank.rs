//! Rank: who holds the true table ranks the people of a class by how well they fit a
//! published row.
//!
//! Guarantee, limits, cost and source are those of `noisy::ranked`.

use crate::audit::attacks::{Attack, NEEDS_ORIGINAL, NO_NOISE, Tried};
use crate::audit::noisy::rows::NoisyRows;
use crate::audit::{Held, Views};
use crate::error::Result;

/// Tries to rank people by how well they fit.
#[derive(Debug)]
pub struct Rank;

impl Attack for Rank {
    fn name(&self) -> &'static str {
        "rank"
    }

    fn attempt(&self, views: &Views<'_>, held: &Held<'_>) -> Result<Tried> {
        let Some(rows) = views.noisy()? else { return Tried::not(NO_NOISE) };
        match held.ranked()? {
            Some(ranked) => Ok(Tried::Attacked(vec![ranked.rank.clone()])),
            None => Tried::not(not_ranked(rows)),
        }
    }
}

/// Why nobody is ranked.
pub(super) fn not_ranked(rows: &NoisyRows) -> &'static str {
    match rows.note.strict {
        true => NEEDS_ORIGINAL,
        false => "every row has spreads of its own: calibration finds them",
    }
}
