//! Rank: somebody who holds the true table ranks the people of a class by how well they fit a
//! published row.
//!
//! Guarantee, limits, cost and source are those of `noisy::ranked`.

use crate::audit::attacks::{Attack, NEEDS_ORIGINAL, NO_NOISE, Stopped};
use crate::audit::noisy::RankAttacks;
use crate::audit::{Attacked, Case};
use crate::error::Result;

/// Tries to rank people by how well they fit.
#[derive(Debug)]
pub struct Rank;

impl Attack for Rank {
    fn name(&self) -> &'static str {
        "rank"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        ranked(case).map(|attacks| vec![attacks.rank.clone()])
    }
}

/// How people fit published rows; or why nobody is ranked.
pub(super) fn ranked<'b>(case: &'b Case<'_>) -> Result<&'b RankAttacks, Stopped> {
    let rows = case.views.noisy()?.ok_or(NO_NOISE)?;
    let why = match rows.note.strict {
        true => NEEDS_ORIGINAL,
        false => "every row has spreads of its own: calibration finds them",
    };
    Ok(case.ranked()?.ok_or(why)?)
}
