//! Presence: who of the population is in the table.
//!
//! The adversary holds the population, and believes of everybody what their class of cells
//! tells; guarantee, limits, cost and source are those of `cells::presence`.

use crate::audit::attacks::{Attack, Stopped, no_cell_classes};
use crate::audit::case::Crowd;
use crate::audit::cells::{CellClasses, People, PresenceShares, Shares};
use crate::audit::checks::delta_presence;
use crate::audit::{Attacked, Case};
use crate::error::Result;

/// Tries to say who is in the table.
#[derive(Debug)]
pub struct Presence;

impl Attack for Presence {
    fn name(&self) -> &'static str {
        "presence"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        let (_, crowd, presence) = crowd(case)?;
        let beliefs = believe(&crowd.people, &presence.plain);
        Ok(vec![case.members(crowd)?.score(self.name(), &beliefs)])
    }
}

/// The classes, the population and who of it is in the table; or why that is not known.
type Found<'b, 'a> = (&'b CellClasses, &'b Crowd<'a>, &'b PresenceShares);

/// The population and the classes it may be in; or why there is none.
pub(super) fn crowd<'b, 'a>(case: &'b Case<'a>) -> Result<Found<'b, 'a>, Stopped> {
    let classes = case.views.cells()?.ok_or_else(|| no_cell_classes(case))?;
    match case.crowd()? {
        Some(crowd) => match &crowd.presence {
            Some(presence) => Ok((classes, crowd, presence)),
            None => {
                Err("how many people rows are of is not known without the original"
                    .into())
            }
        },
        None if delta_presence::is_promised(case.manifest) => {
            Err("no population was given".into())
        }
        None => {
            Err("the release has no presence promise and no population was given"
                .into())
        }
    }
}

/// What the best reader of cells believes of each distinct tuple.
pub(in crate::audit) fn best(crowd: &Crowd<'_>) -> Option<Vec<f64>> {
    let presence = crowd.presence.as_ref()?;
    Some(match &presence.counted {
        Some(counted) => counted.shares.beliefs(),
        None => believe(&crowd.people, &presence.plain),
    })
}

/// What an adversary believes of each distinct tuple. Somebody who fits several groups is
/// in the table if they are in any: the sum of the shares, which may be too much.
fn believe(people: &People<'_>, shares: &Shares) -> Vec<f64> {
    let mut beliefs = shares.beliefs();
    for (tuple, groups) in &people.several {
        let sum: f64 = groups.iter().map(|group| people.share(*group)).sum();
        beliefs[*tuple as usize] = sum.min(1.0);
    }
    beliefs
}
