//! Best guess: somebody who holds the true table takes the one who fits a published row best.
//!
//! Guarantee, limits, cost and source are those of `noisy::ranked`.

use crate::audit::attacks::rank::ranked;
use crate::audit::attacks::{Attack, Stopped};
use crate::audit::{Attacked, Case};
use crate::error::Result;

/// Tries to find the one who fits best.
#[derive(Debug)]
pub struct BestGuess;

impl Attack for BestGuess {
    fn name(&self) -> &'static str {
        "best-guess"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        ranked(case).map(|attacks| vec![attacks.best_guess.clone()])
    }
}
