//! The search: regions of the lattice in the order of their bounds, and descents from the
//! best node found.

mod descend;

use std::sync::{Arc, RwLock};

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::error::Result;
use crate::loss::Loss;
use crate::method::full_domain::ScratchPool;
use crate::method::full_domain::borders::{HopefulNodes, HopelessNodes};
use crate::method::full_domain::judge::{Judge, Price, Scratch};
use crate::method::full_domain::lattice::{LatticeNode, below, height};
use crate::method::full_domain::projection::Facts;
use crate::method::full_domain::regions::{OpenRegions, Region};
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

/// After so many nodes, or a quarter of the effort, a search is long: it pays to make the
/// best node better by descents.
const LONG: usize = 400;

/// More regions than this are not kept: some hundred bytes each.
const MOST_REGIONS: usize = 1_000_000;

/// For each node that may be looked at, so many regions may be taken.
const REGIONS_A_NODE: usize = 500;

/// Whether the search is still wanted is asked once for so many regions.
const CHECKED_EVERY: usize = 1 << 10;

pub(super) struct LatticeSearch<'a> {
    judge: &'a Judge<'a>,
    necessary: &'a Promises,
    facts: Facts,
    highest: LatticeNode,
    /// How many nodes may be looked at.
    effort: usize,
    /// How many nodes were looked at.
    pub(super) checked: usize,
    /// The least loss and its node.
    pub(super) best: Option<(f64, LatticeNode)>,
    /// Nodes that were looked at, with their loss if they are allowed.
    looked: HashMap<LatticeNode, Option<f64>>,
    hopeless: HopelessNodes,
    hopeful: HopefulNodes,
    /// What nothing above a node can cost less than, as long as that is below the best.
    floors: Vec<(f64, LatticeNode)>,
    /// Nodes above which nothing can be better than the best.
    walls: Vec<LatticeNode>,
    /// Tuples merged at nodes that were looked at, to look at coarser ones with.
    merged: RwLock<Vec<Arc<MergedTuples>>>,
    /// What is still in question.
    open: OpenRegions,
    /// How many regions were taken.
    taken: usize,
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

/// A way up from a node, and where on it hope begins: somewhere in `low..=high`.
struct Climb {
    way: Vec<LatticeNode>,
    low: usize,
    high: usize,
}

impl<'a> LatticeSearch<'a> {
    pub(super) fn new(
        judge: &'a Judge<'a>,
        necessary: &'a Promises,
        facts: Facts,
        highest: &LatticeNode,
        effort: usize,
    ) -> Self {
        let mut hopeless = HopelessNodes::new(&facts.lowest, highest);
        for node in &facts.hopeless {
            hopeless.push(node.clone());
        }
        Self {
            judge,
            necessary,
            facts,
            highest: highest.clone(),
            effort,
            checked: 0,
            best: None,
            looked: HashMap::new(),
            hopeless,
            hopeful: HopefulNodes::default(),
            floors: Vec::new(),
            walls: Vec::new(),
            merged: RwLock::new(Vec::new()),
            open: OpenRegions::new(),
            taken: 0,
        }
    }

    /// Takes regions in the order of their bound until none is left that could be better
    /// than the best, or until as many nodes were looked at as may be.
    ///
    /// If the lowest node of a region lies below one that is known to fail, what is left of
    /// the region are the nodes that are higher in some column. If nothing is known of it,
    /// the search climbs from it towards the root, by bisection, to where the necessary
    /// promises begin to hold: the last node where they fail rules out all below it, and a
    /// node where they hold gives a loss to compare with. Coarse nodes are looked at faster
    /// than fine ones.
    pub(super) fn run(&mut self, pool: &ScratchPool<'_>) -> Result<()> {
        // There is a plan from the first look on, if the coarsest node is one.
        self.look_at(vec![self.highest.clone()], pool)?;
        let low = self.facts.lowest.clone();
        let whole = Region::new(self.judge.bound(&low, 0), &low, &self.highest);
        self.open.push(whole);
        let mut long = false;
        while !self.is_done() {
            if !long && self.checked >= LONG.min(self.effort / 4) {
                long = true;
                self.improve(pool)?;
            }
            let regions = self.next_regions()?;
            if regions.is_empty() {
                break;
            }
            self.look_into(regions, pool)?;
            if let (Some((best, _)), (bound, _)) = (&self.best, self.bound()) {
                self.judge.watch.found(*best, bound);
            }
        }
        if !long && !self.is_done() {
            self.improve(pool)?;
        }
        Ok(())
    }

    /// A loss that no release is below, and whether the best one is known to reach it.
    pub(super) fn bound(&self) -> (f64, bool) {
        let open = self.open.peek().map_or(f64::INFINITY, |region| region.bound);
        match &self.best {
            Some((best, _)) if self.open.is_empty() || self.beaten(open) => {
                (*best, true)
            }
            Some((best, _)) => (open.min(*best), false),
            None => (open, self.open.is_empty()),
        }
    }

    fn is_done(&self) -> bool {
        self.open.is_empty() || self.is_spent()
    }

    /// Whether the effort is spent: never before there is a plan.
    fn is_spent(&self) -> bool {
        self.checked >= self.effort && self.best.is_some()
    }

    /// The next few regions whose lowest node must be looked at, or climbed from.
    fn next_regions(&mut self) -> Result<Vec<Region>> {
        let mut next = Vec::new();
        while next.len() < CLIMBS {
            let room = self.open.len() <= MOST_REGIONS
                && self.taken / REGIONS_A_NODE <= self.effort;
            if !room && self.best.is_some() {
                break;
            }
            let Some(region) = self.open.pop() else { break };
            self.taken += 1;
            if self.taken.is_multiple_of(CHECKED_EVERY) {
                self.judge.watch.check()?;
            }
            if self.beaten(region.bound) {
                self.open.clear();
                break;
            }
            if self.walls.iter().any(|wall| below(wall, region.low()))
                || self.hopeless.cover(region.high())
            {
                continue;
            }
            match self.hopeless.narrowest(region.low(), region.high()) {
                Some(node) => {
                    let node = node.clone();
                    self.leave_beyond(&region, &node);
                }
                None => match self.looked.get(region.low()) {
                    None if region.is_node() || !self.hopeful.support(region.low()) => {
                        next.push(region);
                    }
                    // What is above an allowed node costs as much at least, unless it leaves
                    // out fewer rows; and it loses ties.
                    Some(Some(_)) if self.judge.task.limit == 0 => {}
                    look => {
                        let fresh = look.is_none();
                        let node = region.low().to_vec();
                        self.leave_beyond(&region, &node);
                        if fresh {
                            self.leave_node(&region, &node);
                        }
                    }
                },
            }
        }
        Ok(next)
    }

    /// What is left of a region are the nodes above `node` in some column.
    fn leave_beyond(&mut self, region: &Region, node: &[u8]) {
        let (judge, best) = (self.judge, self.best.as_ref());
        let open = &mut self.open;
        let bound = |low: &[u8]| judge.bound(low, 0);
        region.beyond(node, bound, |rest| {
            if !best.is_some_and(|(best, _)| is_beaten(rest.bound, *best)) {
                open.push(rest);
            }
        });
    }

    /// What few columns tell of how many rows are left out at a node is part of its bound.
    fn leave_node(&mut self, region: &Region, node: &[u8]) {
        let Some(left_out) = self.facts.left_out(node) else { return };
        let bound = self.judge.bound(node, left_out).max(region.bound);
        if !self.beaten(bound) {
            self.open.push(Region::new(bound, node, node));
        }
    }

    /// Climbs from the lowest nodes of regions, or looks at them, so that something is known.
    fn look_into(
        &mut self,
        regions: Vec<Region>,
        pool: &ScratchPool<'_>,
    ) -> Result<()> {
        let climb = |region: &Region| match region.is_node() {
            true => Climb { way: vec![region.low().to_vec()], low: 0, high: 0 },
            false => self.climb_from(region.low().to_vec()),
        };
        let mut climbs: Vec<Climb> = regions.iter().map(climb).collect();
        self.open.extend(regions);
        while !self.is_spent() {
            let mut wanted: Vec<LatticeNode> =
                climbs.iter_mut().filter_map(|climb| self.next_on(climb)).collect();
            wanted.sort_unstable();
            wanted.dedup();
            if wanted.is_empty() {
                break;
            }
            self.look_at(wanted, pool)?;
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
            if self.hopeless.cover(node) {
                climb.low = middle + 1;
            } else if self.hopeful.support(node) {
                climb.high = middle;
            } else {
                return Some(node.clone());
            }
        }
        // There is hope for the lowest node itself: it must be looked at.
        let start = &climb.way[0];
        (climb.high == 0 && !self.looked.contains_key(start)).then(|| start.clone())
    }

    /// Looks at nodes, as many as the effort allows.
    fn look_at(
        &mut self,
        mut nodes: Vec<LatticeNode>,
        pool: &ScratchPool<'_>,
    ) -> Result<()> {
        let left = match self.best {
            Some(_) => self.effort.saturating_sub(self.checked),
            None => nodes.len(),
        };
        nodes.truncate(left);
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
            match look.hopeless {
                true => self.hopeless.push(node.clone()),
                false => self.hopeful.push(node.clone()),
            }
            self.looked.insert(node, look.loss);
        }
        let floors = std::mem::take(&mut self.floors);
        let (beaten, floors): (Vec<_>, Vec<_>) =
            floors.into_iter().partition(|(floor, _)| self.beaten_above(*floor));
        self.floors = floors;
        self.walls.extend(beaten.into_iter().map(|(_, node)| node));
        Ok(())
    }

    /// Whether no release that costs at least `bound` can be better than the best.
    fn beaten(&self, bound: f64) -> bool {
        self.best.as_ref().is_some_and(|(best, _)| is_beaten(bound, *best))
    }

    /// As `beaten`, but for everything above a node of this floor. Without left-out rows a
    /// node above an allowed one costs at least as much and stands higher, so it loses
    /// ties, too.
    fn beaten_above(&self, floor: f64) -> bool {
        let Some((best, _)) = &self.best else { return false };
        if self.judge.task.limit == 0 {
            floor >= *best
        } else {
            is_beaten(floor, *best)
        }
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
        let Ok(merged) = self.merged.read() else { return self.facts.tuples.clone() };
        let finer = merged.iter().filter(|tuples| below(&tuples.at, node));
        finer.min_by_key(|tuples| tuples.len()).unwrap_or(&self.facts.tuples).clone()
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
        let room = self.facts.tuples.len().max(MERGED_AT_LEAST);
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

/// Whether a release that costs at least `bound` is no better than one that costs `best`.
fn is_beaten(bound: f64, best: f64) -> bool {
    bound > best + best.abs() * ROUNDING
}
