//! The search among candidates: climb to where groups become large enough, prune, repeat.

use std::collections::VecDeque;
use std::sync::{Arc, RwLock};

use hashbrown::HashSet;
use rayon::prelude::*;

use crate::error::Result;
use crate::loss::Loss;
use crate::method::full_domain::ScratchPool;
use crate::method::full_domain::judge::{Judge, Price, Scratch};
use crate::method::full_domain::lattice::{LatticeNode, below, height};
use crate::method::full_domain::projection::Candidate;
use crate::method::full_domain::tuples::MergedTuples;
use crate::promise::Promises;

/// How many climbs go on side by side. Fixed, so that the search takes the same course on
/// any number of threads.
const CLIMBS: usize = 4;

/// Two sums of the same numbers in another order differ by less than this share.
const ROUNDING: f64 = 1e-12;

/// Fewer tuples than this are grouped faster than looked up.
const SMALL: usize = 2_000;

/// Merged tuples may be kept up to this many, or as many as the table has.
const MERGED_AT_LEAST: usize = 500_000;

pub(super) struct LatticeSearch<'a> {
    judge: &'a Judge<'a>,
    necessary: &'a Promises,
    tuples: Arc<MergedTuples>,
    /// How many nodes were looked at.
    pub(super) checked: usize,
    /// The least loss and its node.
    pub(super) best: Option<(f64, LatticeNode)>,
    /// Nodes that were looked at.
    looked: HashSet<LatticeNode>,
    /// Nodes where the necessary promises fail: all below them fail, too.
    hopeless: Vec<LatticeNode>,
    /// Nodes where they hold: so they do above.
    hopeful: Vec<LatticeNode>,
    /// Those of them that candidates were not yet compared with.
    new_hopeless: Vec<LatticeNode>,
    /// What nothing above a node can cost less than, as long as that is below the best.
    floors: Vec<(f64, LatticeNode)>,
    /// Tuples merged at nodes that were looked at, to look at coarser ones with.
    merged: RwLock<Vec<Arc<MergedTuples>>>,
}

/// What a look at one node told.
struct NodeLook {
    /// The necessary promises fail, so everything finer fails, too.
    hopeless: bool,
    /// The loss, if the node is allowed.
    loss: Option<f64>,
    /// A loss that nothing coarser can be below, if known.
    floor: Option<f64>,
}

/// A way up from a candidate, and where on it hope begins: somewhere in `low..=high`.
struct Climb {
    way: Vec<LatticeNode>,
    low: usize,
    high: usize,
}

impl<'a> LatticeSearch<'a> {
    pub(super) fn new(
        judge: &'a Judge<'a>,
        tuples: Arc<MergedTuples>,
        necessary: &'a Promises,
    ) -> Self {
        Self {
            judge,
            necessary,
            tuples,
            checked: 0,
            best: None,
            looked: HashSet::new(),
            hopeless: Vec::new(),
            new_hopeless: Vec::new(),
            hopeful: Vec::new(),
            floors: Vec::new(),
            merged: RwLock::new(Vec::new()),
        }
    }

    /// Takes candidates in ascending order of their bound (then of height, then of levels)
    /// until none is left that could be better than the best.
    ///
    /// From the first few it climbs towards the root, by bisection, to where the necessary
    /// promises begin to hold: the last node where they fail rules out all below it, which
    /// are mostly the cheap candidates, and a node where they hold gives a loss to compare
    /// with. Coarse nodes are looked at faster than fine ones.
    pub(super) fn run(
        &mut self,
        mut candidates: Vec<Candidate>,
        pool: &ScratchPool<'_>,
    ) -> Result<()> {
        candidates.sort_by(|a, b| {
            let by_height = || height(&a.node).cmp(&height(&b.node));
            let by_bound = a.bound.total_cmp(&b.bound);
            by_bound.then_with(by_height).then_with(|| a.node.cmp(&b.node))
        });
        let mut open = VecDeque::from(candidates);
        while !open.is_empty() {
            let mut climbs: Vec<Climb> = open
                .iter()
                .take(CLIMBS)
                .map(|candidate| self.climb_from(candidate.node.clone()))
                .collect();
            loop {
                let mut wanted: Vec<LatticeNode> =
                    climbs.iter_mut().filter_map(|climb| self.next_on(climb)).collect();
                wanted.sort_unstable();
                wanted.dedup();
                if wanted.is_empty() {
                    break;
                }
                self.look_at(wanted, pool)?;
            }
            let floors = std::mem::take(&mut self.floors);
            let (beaten, floors): (Vec<_>, Vec<_>) =
                floors.into_iter().partition(|(floor, _)| self.beaten_above(*floor));
            self.floors = floors;
            let hopeless = std::mem::take(&mut self.new_hopeless);
            open.retain(|candidate| {
                !self.looked.contains(&candidate.node)
                    && !self.beaten(candidate.bound)
                    && !hopeless.iter().any(|node| below(&candidate.node, node))
                    && !beaten.iter().any(|(_, node)| below(node, &candidate.node))
            });
        }
        Ok(())
    }

    /// The way up on which each step saves the most groups for its loss.
    fn climb_from(&self, node: LatticeNode) -> Climb {
        let mut way = vec![node];
        while let Some(next) = way.last().and_then(|node| self.judge.next_above(node)) {
            way.push(next);
        }
        Climb { low: 0, high: way.len(), way }
    }

    /// Narrows a climb down by what is known; the next node to look at, if any.
    fn next_on(&self, climb: &mut Climb) -> Option<LatticeNode> {
        while climb.low < climb.high {
            let middle = usize::midpoint(climb.low, climb.high);
            let node = &climb.way[middle];
            if self.hopeless.iter().any(|coarse| below(node, coarse)) {
                climb.low = middle + 1;
            } else if self.hopeful.iter().any(|fine| below(fine, node)) {
                climb.high = middle;
            } else {
                return Some(node.clone());
            }
        }
        // There is hope for the candidate itself: it must be looked at.
        let start = &climb.way[0];
        (climb.high == 0 && !self.looked.contains(start)).then(|| start.clone())
    }

    fn look_at(
        &mut self,
        nodes: Vec<LatticeNode>,
        pool: &ScratchPool<'_>,
    ) -> Result<()> {
        self.checked += nodes.len();
        let looks: Vec<NodeLook> = nodes
            .par_iter()
            .map(|node| {
                self.judge.watch.check()?;
                Ok(pool.with(|scratch| self.look(node, scratch)))
            })
            .collect::<Result<_>>()?;
        for (node, look) in nodes.into_iter().zip(looks) {
            if let Some(loss) = look.loss {
                self.offer(loss, &node);
            }
            if let Some(floor) = look.floor {
                self.floors.push((floor, node.clone()));
            }
            if look.hopeless {
                self.hopeless.retain(|known| !below(known, &node));
                self.hopeless.push(node.clone());
                self.new_hopeless.push(node.clone());
            } else {
                self.hopeful.retain(|known| !below(&node, known));
                self.hopeful.push(node.clone());
            }
            self.looked.insert(node);
        }
        Ok(())
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

    fn offer(&mut self, loss: f64, node: &LatticeNode) {
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

    fn look(&self, node: &LatticeNode, scratch: &mut Scratch) -> NodeLook {
        let (judge, task) = (self.judge, &self.judge.task);
        let tuples = &*self.finest_needed(node);
        let left_out =
            judge.left_out(task.promises, Price::Whole, tuples, node, scratch);
        let loss = left_out.map(|_| judge.loss(tuples, node, scratch));
        self.keep_merged(tuples, node, scratch);
        let hopeless = left_out.is_none()
            && (judge.is_monotone()
                || task.promises.all_absorbing()
                || judge
                    .left_out(self.necessary, Price::Least, tuples, node, scratch)
                    .is_none());
        // Losses that do not add up over columns grow upwards: what the node would cost
        // with nothing left out is a floor for all above it.
        let floor = match loss {
            _ if judge.adds_up() => None,
            Some(loss) if task.limit == 0 => Some(loss),
            // Cells have to be gathered from the table: not for a node that failed.
            _ if hopeless && matches!(task.loss, Loss::Cells(_)) => None,
            _ => {
                scratch.fails.fill(false);
                Some(judge.loss(tuples, node, scratch))
            }
        };
        NodeLook { hopeless, loss, floor }
    }

    /// The fewest tuples that still tell the groups of `node` apart. Which ones they are
    /// changes the time a look takes, not what it sees.
    fn finest_needed(&self, node: &LatticeNode) -> Arc<MergedTuples> {
        let Ok(merged) = self.merged.read() else { return self.tuples.clone() };
        let finer = merged.iter().filter(|tuples| below(&tuples.at, node));
        finer.min_by_key(|tuples| tuples.len()).unwrap_or(&self.tuples).clone()
    }

    /// Keeps the groups of `node` as tuples if that saves later looks much, and memory
    /// allows.
    fn keep_merged(
        &self,
        tuples: &MergedTuples,
        node: &LatticeNode,
        scratch: &mut Scratch,
    ) {
        let n_groups = scratch.groups.n_groups();
        if n_groups * 2 > tuples.len() || tuples.len() < SMALL {
            return;
        }
        let room = self.tuples.len().max(MERGED_AT_LEAST);
        let held = |merged: &Vec<Arc<MergedTuples>>| {
            merged.iter().map(|t| t.len()).sum::<usize>()
        };
        if self.merged.read().is_ok_and(|merged| held(&merged) + n_groups <= room) {
            let kept = tuples.merged(&self.judge.ladder, node, &mut scratch.groups);
            if let Ok(mut merged) = self.merged.write() {
                merged.push(Arc::new(kept));
            }
        }
    }
}
