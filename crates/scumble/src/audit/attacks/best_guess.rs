//! Best guess: who holds the true table takes the one who fits a published row best.
//!
//! Guarantee, limits, cost and source are those of `noisy::ranked`.

use crate::audit::attacks::rank::not_ranked;
use crate::audit::attacks::{Attack, NO_NOISE, Tried};
use crate::audit::{Held, Views};
use crate::error::Result;

/// Tries to find the one who fits best.
#[derive(Debug)]
pub struct BestGuess;

impl Attack for BestGuess {
    fn name(&self) -> &'static str {
        "best-guess"
    }

    fn attempt(&self, views: &Views<'_>, held: &Held<'_>) -> Result<Tried> {
        let Some(rows) = views.noisy()? else { return Tried::not(NO_NOISE) };
        match held.ranked()? {
            Some(ranked) => Ok(Tried::Attacked(vec![ranked.best_guess.clone()])),
            None => Tried::not(not_ranked(rows)),
        }
    }
}
