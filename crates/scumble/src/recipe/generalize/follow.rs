//! Groups of a plan that was made for another table.

use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::method::Plan;
use crate::promise::Promises;
use crate::recipe::generalize::ChosenGroups;
use crate::recipe::generalize::looks::{self, looks};
use crate::recipe::methods::Task;
use crate::recipe::{Looks, Search};

/// Groups rows by a saved plan.
pub(super) fn follow(
    name: &str,
    plan: &Plan,
    data: &Microdata,
    promises: &Promises,
    task: &Task<'_>,
) -> Result<ChosenGroups> {
    let presence = task.spec.presence().is_some();
    let safely = presence && looks(name, task.spec) == Some(Looks::Coins);
    let limit = match safely {
        true => looks::limit_of_plan(plan)?,
        false => task.spec.method.suppression.share_of(data.n_rows()),
    };
    let groups =
        plan.groups().ok_or_else(|| Error::recipe("the plan has no groups"))?;
    let columns = data.quasi.clone();
    let grouping = groups.grouping(&columns, &data.census, promises, limit);
    let grouping = match safely {
        true => grouping.map_err(|error| looks::refused_plan(error, promises))?,
        false => grouping?,
    };
    Ok(ChosenGroups { columns, grouping, search: Search::default() })
}
