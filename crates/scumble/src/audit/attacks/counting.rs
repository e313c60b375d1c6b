//! Counting: who of the population is in the table, if weights are taken for the counts they
//! are.
//!
//! Guarantee, limits, cost and source are those of `cells::counting`.

use crate::audit::attacks::presence::crowd;
use crate::audit::attacks::{Attack, Tried};
use crate::audit::{Held, Views};
use crate::error::Result;

/// Tries to say who is in the table, by counting weights.
#[derive(Debug)]
pub struct Counting;

impl Attack for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn attempt(&self, views: &Views<'_>, held: &Held<'_>) -> Result<Tried> {
        if !views.present.weighted {
            return Tried::not("no cell has weights");
        }
        let crowd = match crowd(views, held)? {
            Ok((_, crowd)) => crowd,
            Err(reason) => return Tried::not(reason),
        };
        let Some(found) = &crowd.presence.counted else {
            return Tried::not("no cell has weights");
        };
        let beliefs = found.shares.beliefs();
        let mut scored = held.members(crowd)?.score(self.name(), &beliefs);
        scored.worst = found.worst();
        scored.detail.insert("solved".into(), found.solved.into());
        scored.detail.insert("bounded".into(), found.bounded.into());
        scored.detail.insert("wrong".into(), found.wrong.into());
        Ok(Tried::Attacked(vec![scored]))
    }
}
