#![doc = include_str!("full_domain.md")]

mod groups;
mod judge;
mod lattice;
mod projection;

use std::sync::Mutex;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::hierarchy::Column;
use crate::loss::Loss;
use crate::method::full_domain::groups::Tuples;
use crate::method::full_domain::judge::{Judge, Scratch};
use crate::method::full_domain::lattice::{Lattice, Node, below, height};
use crate::method::full_domain::projection::{Candidate, Projections};
use crate::method::{Grouping, Route, Task};
use crate::promise::Promises;

/// Publishes every column on one level of its hierarchy.
#[derive(Debug, Clone, Copy, Default)]
pub struct FullDomain {
    /// Looks at every node of the lattice; for comparisons only.
    pub exhaustive: bool,
}

/// The best node, and how much work it was to find it.
#[derive(Debug, Clone)]
pub struct Found {
    /// Groups and cells.
    pub grouping: Grouping,
    /// The level of each column.
    pub levels: Vec<usize>,
    /// What the release costs.
    pub loss: f64,
    /// Nodes of the lattice.
    pub lattice: u128,
    /// Nodes that were left when projections were done.
    pub candidates: usize,
    /// Nodes at which all columns were looked at.
    pub checked: usize,
}

/// How many candidates are checked between two looks at the bounds. Fixed, so that the
/// search takes the same course on any number of threads.
const BATCH: usize = 16;

/// Two sums of the same numbers in another order differ by less than this share.
const ROUNDING: f64 = 1e-12;

/// How many nodes the lattice of these columns has.
pub fn lattice_size(columns: &[Column]) -> u128 {
    Lattice::of(columns).size()
}

impl FullDomain {
    /// The least-loss node at which the promises hold with at most `task.limit` rows left
    /// out. Of equally good nodes the one with the smallest sum of levels, then the first
    /// in order.
    pub fn find(&self, task: &Task<'_>) -> Result<Found> {
        let judge = Judge::new(*task);
        let lattice = Lattice::of(task.columns);
        let weaker = task.promises.absorbing();
        // Without left-out rows every promise survives merging; with them only absorbing
        // ones only get easier to keep. See the note.
        let necessary = if task.limit == 0 { task.promises } else { &weaker };
        let pool = Pool::new(&judge);
        let projections = Projections::new(&judge, &lattice, necessary, &pool);
        let (tuples, candidates) = if self.exhaustive {
            let base = Tuples::of(task.census, task.promises.look_at_values());
            (base, projection::every_node(&judge, &lattice))
        } else {
            projections.candidates(task.promises.look_at_values())?
        };
        let mut search = Search {
            judge: &judge,
            tuples: &tuples,
            necessary,
            exhaustive: self.exhaustive,
            checked: 0,
            best: None,
            floors: Vec::new(),
        };
        let n_candidates = candidates.len();
        search.run(candidates, &pool);
        let checked = search.checked;
        let Some((loss, node)) = search.best else {
            return Err(cannot_be_met(task, &judge));
        };
        let grouping = grouping(&judge, &node, &pool);
        Ok(Found {
            grouping,
            levels: node.iter().map(|level| usize::from(*level)).collect(),
            loss,
            lattice: lattice.size(),
            candidates: n_candidates,
            checked,
        })
    }
}

struct Search<'a> {
    judge: &'a Judge<'a>,
    tuples: &'a Tuples,
    necessary: &'a Promises,
    exhaustive: bool,
    checked: usize,
    best: Option<(f64, Node)>,
    /// What nothing above a node can cost less than, as long as that is below the best.
    floors: Vec<(f64, Node)>,
}

/// What a look at one candidate told.
struct Look {
    /// The necessary promises fail, so everything finer fails, too.
    hopeless: bool,
    /// The loss, if the node is allowed.
    loss: Option<f64>,
    /// A loss that nothing coarser can be below, if known.
    floor: Option<f64>,
}

impl Search<'_> {
    /// Looks at candidates in ascending order of their bound (then of height, then of
    /// levels) until no bound is below the best loss.
    fn run(&mut self, mut open: Vec<Candidate>, pool: &Pool<'_>) {
        open.sort_by(|a, b| {
            let by_height = || height(&a.node).cmp(&height(&b.node));
            a.bound
                .total_cmp(&b.bound)
                .then_with(by_height)
                .then_with(|| a.node.cmp(&b.node))
        });
        let mut open = std::collections::VecDeque::from(open);
        while !open.is_empty() {
            let mut batch: Vec<Candidate> = Vec::with_capacity(BATCH);
            while batch.len() < BATCH {
                let Some(candidate) = open.pop_front() else { break };
                if self.exhaustive || !self.beaten(candidate.bound) {
                    batch.push(candidate);
                }
            }
            self.checked += batch.len();
            let looks: Vec<Look> = batch
                .par_iter()
                .map(|candidate| {
                    pool.with(|scratch| self.look(&candidate.node, scratch))
                })
                .collect();
            let mut hopeless = Vec::new();
            for (candidate, look) in batch.into_iter().zip(looks) {
                if let Some(loss) = look.loss {
                    self.offer(loss, &candidate.node);
                }
                if let Some(floor) = look.floor {
                    self.floors.push((floor, candidate.node.clone()));
                }
                if look.hopeless {
                    hopeless.push(candidate.node);
                }
            }
            if self.exhaustive {
                continue;
            }
            let floors = std::mem::take(&mut self.floors);
            let (beaten, floors): (Vec<_>, Vec<_>) =
                floors.into_iter().partition(|(floor, _)| self.beaten_above(*floor));
            self.floors = floors;
            open.retain(|candidate| {
                !hopeless.iter().any(|node| below(&candidate.node, node))
                    && !beaten.iter().any(|(_, node)| below(node, &candidate.node))
            });
        }
    }

    /// Whether no release that costs at least `bound` can be better than the best.
    fn beaten(&self, bound: f64) -> bool {
        self.best.as_ref().is_some_and(|(best, _)| bound > best + best.abs() * ROUNDING)
    }

    /// As `beaten`, but for everything above a node of this floor. Without left-out rows a
    /// node above an allowed one costs at least as much and stands higher, so it loses
    /// ties, too.
    fn beaten_above(&self, floor: f64) -> bool {
        let Some((best, _)) = &self.best else { return false };
        if self.judge.task.limit == 0 { floor >= *best } else { self.beaten(floor) }
    }

    fn offer(&mut self, loss: f64, node: &Node) {
        let better = match &self.best {
            None => true,
            Some((best, held)) => loss
                .total_cmp(best)
                .then_with(|| height(node).cmp(&height(held)))
                .then_with(|| node.cmp(held))
                .is_lt(),
        };
        if better {
            self.best = Some((loss, node.clone()));
        }
    }

    fn look(&self, node: &Node, scratch: &mut Scratch) -> Look {
        let (judge, task) = (self.judge, &self.judge.task);
        let left_out = judge.left_out(task.promises, self.tuples, node, scratch);
        let loss = left_out.map(|_| judge.loss(self.tuples, node, scratch));
        let hopeless = left_out.is_none()
            && (task.limit == 0
                || task.promises.all_absorbing()
                || judge
                    .left_out(self.necessary, self.tuples, node, scratch)
                    .is_none());
        // Losses without a bound from columns alone grow upwards: what the node would cost
        // with nothing left out is a floor for all above it.
        let floor = match (judge.bound(node), loss) {
            (Some(_), _) => None,
            (None, Some(loss)) if task.limit == 0 => Some(loss),
            // Cells have to be gathered from the table: not for a node that failed.
            (None, _) if hopeless && matches!(task.loss, Loss::Cells(_)) => None,
            (None, _) => {
                scratch.fails.fill(false);
                Some(judge.loss(self.tuples, node, scratch))
            }
        };
        Look { hopeless, loss, floor }
    }
}

/// Groups the census at the best node and takes failing groups out.
fn grouping(judge: &Judge<'_>, node: &Node, pool: &Pool<'_>) -> Grouping {
    let task = &judge.task;
    pool.with(|scratch| {
        let tuples = Tuples::of(task.census, task.promises.look_at_values());
        // The node was found allowed, so this marks what is left out and cannot fail.
        let _ = judge.left_out(task.promises, &tuples, node, scratch);
        scratch.groups.sort_members();
        let covers = judge.covers(node, scratch);
        let mut number = vec![None; covers.len()];
        let mut kept = Vec::new();
        for (group, cells) in covers.into_iter().enumerate() {
            if !scratch.fails[group] {
                number[group] = Some(kept.len() as u32);
                kept.push(cells);
            }
        }
        let of = &scratch.groups.of;
        Grouping {
            group_of: of.iter().map(|group| number[*group as usize]).collect(),
            covers: kept,
            route: Route::Levels(
                node.iter().map(|level| usize::from(*level)).collect(),
            ),
        }
    })
}

fn cannot_be_met(task: &Task<'_>, judge: &Judge<'_>) -> Error {
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
struct Pool<'a> {
    judge: &'a Judge<'a>,
    free: Mutex<Vec<Scratch>>,
}

impl<'a> Pool<'a> {
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
