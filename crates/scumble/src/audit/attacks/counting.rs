//! Counting: who of the population is in the table, if weights are taken for the counts they
//! are.
//!
//! Guarantee, limits, cost and source are those of `cells::counting`.

use crate::audit::attacks::presence::crowd;
use crate::audit::attacks::{Attack, Stopped};
use crate::audit::{Attacked, Case};
use crate::error::Result;

/// Tries to say who is in the table, by counting weights.
#[derive(Debug)]
pub struct Counting;

impl Attack for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        const NO_WEIGHTS: &str = "no cell has weights";
        if !case.views.present.weighted {
            return Err(NO_WEIGHTS.into());
        }
        let (_, crowd, presence) = crowd(case)?;
        let found = presence.counted.as_ref().ok_or(NO_WEIGHTS)?;
        let beliefs = found.shares.beliefs();
        let mut scored = case.members(crowd)?.score(self.name(), &beliefs);
        scored.worst = found.worst();
        scored.detail.insert("solved".into(), found.solved.into());
        scored.detail.insert("bounded".into(), found.bounded.into());
        scored.detail.insert("wrong".into(), found.wrong.into());
        Ok(vec![scored])
    }
}
