//! Presence: who of the population is in the table.
//!
//! The adversary holds the population, and believes of everybody what their class of cells
//! tells; guarantee, limits, cost and source are those of `cells::presence`.

use crate::audit::attacks::{Attack, Tried, no_cell_classes};
use crate::audit::cells::classes::CellClasses;
use crate::audit::cells::people::People;
use crate::audit::cells::shares::Shares;
use crate::audit::checks::delta_presence;
use crate::audit::held::Crowd;
use crate::audit::{Held, Views};
use crate::error::Result;

/// Tries to say who is in the table.
#[derive(Debug)]
pub struct Presence;

impl Attack for Presence {
    fn name(&self) -> &'static str {
        "presence"
    }

    fn attempt(&self, views: &Views<'_>, held: &Held<'_>) -> Result<Tried> {
        let (classes, crowd) = match crowd(views, held)? {
            Ok(found) => found,
            Err(reason) => return Tried::not(reason),
        };
        let beliefs = believe(classes, &crowd.people, &crowd.presence.plain);
        let scored = held.members(crowd)?.score(self.name(), &beliefs);
        Ok(Tried::Attacked(vec![scored]))
    }
}

/// The population and the classes it may be in; or why there is none.
pub(super) fn crowd<'b, 'a>(
    views: &'b Views<'_>,
    held: &'b Held<'a>,
) -> Result<std::result::Result<(&'b CellClasses, &'b Crowd<'a>), &'static str>> {
    let Some(classes) = views.cells()? else { return Ok(Err(no_cell_classes(views))) };
    Ok(match held.crowd()? {
        Some(crowd) => Ok((classes, crowd)),
        None if delta_presence::is_promised(views.manifest) => {
            Err("no population was given")
        }
        None => Err("the release has no presence promise and no population was given"),
    })
}

/// What the best reader of cells believes of each distinct tuple.
pub(in crate::audit) fn best(view: &CellClasses, crowd: &Crowd<'_>) -> Vec<f64> {
    let Crowd { people, presence } = crowd;
    match &presence.counted {
        Some(counted) => counted.shares.beliefs(),
        None => believe(view, people, &presence.plain),
    }
}

/// What an adversary believes of each distinct tuple. Who fits several groups is in the
/// table if they are in any: the sum of the shares, which may be too much.
fn believe(view: &CellClasses, people: &People<'_>, shares: &Shares) -> Vec<f64> {
    let mut beliefs = shares.beliefs();
    for (tuple, groups) in &people.several {
        let share = |group: &u32| {
            let group = *group as usize;
            view.sizes[group] as f64 / people.of_group[group].max(1) as f64
        };
        let sum: f64 = groups.iter().map(share).sum();
        beliefs[*tuple as usize] = sum.min(1.0);
    }
    beliefs
}
