#![doc = include_str!("full_domain.md")]

mod borders;
mod codes;
mod costs;
mod groups;
mod judge;
mod lattice;
mod look;
mod projection;
mod regions;
mod safe;
mod search;
mod tuples;

use std::sync::Mutex;

pub use safe::{FoundSafely, safe_levels};

use crate::error::{Error, Result};
use crate::method::full_domain::judge::{Judge, Price, Scratch};
use crate::method::full_domain::lattice::{Lattice, LatticeNode};
use crate::method::full_domain::projection::Projections;
use crate::method::full_domain::search::LatticeSearch;
use crate::method::full_domain::tuples::MergedTuples;
use crate::method::{Grouping, GroupingTask, Route};
use crate::table::{GroupId, Of};
use crate::watch::Watched;

/// Publishes every column on one level of its hierarchy.
#[derive(Debug, Clone, Copy)]
pub struct FullDomain {
    /// How many nodes are looked at, at most. The search goes on until it has a plan.
    pub effort: usize,
}

/// How many nodes are looked at if nobody says.
pub const EFFORT: usize = 20_000;

impl Default for FullDomain {
    fn default() -> Self {
        Self { effort: EFFORT }
    }
}

/// The best node, and how much work it was to find it.
#[derive(Debug, Clone)]
pub struct BestNode {
    /// Groups and cells.
    pub grouping: Grouping,
    /// The level of each column.
    pub levels: Vec<usize>,
    /// What the release costs.
    pub loss: f64,
    /// No node that is allowed costs less.
    pub bound: f64,
    /// Whether it is known that this one costs the least.
    pub optimal: bool,
    /// Nodes of the lattice.
    pub lattice: u128,
    /// Nodes at which all columns were looked at.
    pub checked: usize,
}

impl FullDomain {
    /// The least-loss node at which the promises hold with at most `task.limit` rows left
    /// out, as far as the effort reaches. Of equally good nodes the one with the smallest
    /// sum of levels, then the first in order.
    pub fn find<'a>(
        &self,
        task: impl Into<Watched<'a, GroupingTask<'a>>>,
    ) -> Result<BestNode> {
        let Watched { task, watch } = task.into();
        let judge = Judge::new(*task, watch);
        check_share(&judge)?;
        let lattice = Lattice::of(task.columns);
        let weaker = task.promises.absorbing();
        // Without left-out rows promises survive merging; with them only absorbing ones
        // only get easier to keep. See the note.
        let necessary = if judge.is_monotone() { task.promises } else { &weaker };
        let pool = ScratchPool::new(&judge);
        let projections = Projections::new(&judge, &lattice, necessary, &pool);
        let Some(facts) = projections.facts(task.promises.look_at_values())? else {
            return Err(cannot_be_met(task, &judge));
        };
        let highest = &lattice.highest;
        let mut search =
            LatticeSearch::new(&judge, necessary, facts, highest, self.effort);
        search.run(&pool)?;
        let (bound, optimal) = search.bound();
        let checked = search.checked;
        let Some((loss, node)) = search.best else {
            return Err(cannot_be_met(task, &judge));
        };
        let grouping = grouping(&judge, &node, &pool);
        watch.check()?;
        Ok(BestNode {
            grouping,
            levels: node.iter().map(|level| usize::from(*level)).collect(),
            loss,
            bound,
            optimal,
            lattice: lattice.size(),
            checked,
        })
    }
}

/// All groups and the unpublished people together are everybody: if the range does not hold
/// of everybody, it cannot hold of all parts.
fn check_share(judge: &Judge<'_>) -> Result<()> {
    let whole = judge.whole();
    let mut about_people = judge.task.promises.iter().filter(|p| p.looks_at_people());
    match about_people.find(|promise| !promise.holds(whole, whole)) {
        None => Ok(()),
        Some(promise) => {
            let reason = promise.obstacle(whole);
            Err(Error::unsatisfiable(promise.title(), reason).with_hint(
                "the share of the population in the table must lie in the range",
            ))
        }
    }
}

/// Groups the census at the best node and takes failing groups out.
fn grouping(judge: &Judge<'_>, node: &LatticeNode, pool: &ScratchPool<'_>) -> Grouping {
    let task = &judge.task;
    pool.with(|scratch| {
        let tuples = MergedTuples::of(task.census, task.promises.look_at_values());
        // The node was found allowed, so this marks what is left out and cannot fail.
        let _ = judge.left_out(task.promises, Price::Whole, &tuples, node, scratch);
        scratch.groups.assign(&tuples, &judge.ladder, node);
        scratch.groups.sort_members();
        let covers = judge.covers(node, scratch);
        let mut number: Of<GroupId, Option<GroupId>> = Of::new();
        let mut kept = Of::new();
        for (cells, fails) in covers.into_iter().zip(&scratch.fails) {
            number.push((!fails).then(|| kept.push(cells)));
        }
        let of = scratch.groups.of();
        Grouping {
            group_of: of.iter().map(|group| number[*group]).collect(),
            covers: kept,
            route: Route::Levels(
                node.iter().map(|level| usize::from(*level)).collect(),
            ),
        }
    })
}

fn cannot_be_met(task: &GroupingTask<'_>, judge: &Judge<'_>) -> Error {
    let whole = judge.whole();
    let failing = task.promises.iter().find(|promise| !promise.holds(whole, whole));
    if let Some(promise) = failing {
        return Error::unsatisfiable(promise.title(), promise.obstacle(whole))
            .with_hint("add rows, or weaken the promise");
    }
    let limited =
        task.columns.iter().any(|column| column.highest < column.hierarchy.height());
    let reason = if limited {
        "no allowed combination of levels is coarse enough"
    } else {
        "no combination of levels keeps it"
    };
    let error = Error::unsatisfiable(task.promises.title(), reason);
    if limited {
        error.with_hint("raise `highest` of a column, or allow `suppression`")
    } else {
        error.with_hint("allow more `suppression`, or weaken the promise")
    }
}

/// Scratch memory for whichever thread needs some.
struct ScratchPool<'a> {
    judge: &'a Judge<'a>,
    free: Mutex<Vec<Scratch>>,
}

impl<'a> ScratchPool<'a> {
    fn new(judge: &'a Judge<'a>) -> Self {
        Self { judge, free: Mutex::new(Vec::new()) }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let idle = self.free.lock().ok().and_then(|mut free| free.pop());
        let mut scratch = idle.unwrap_or_else(|| self.judge.scratch());
        let result = work(&mut scratch);
        if let Ok(mut free) = self.free.lock() {
            free.push(scratch);
        }
        result
    }
}
