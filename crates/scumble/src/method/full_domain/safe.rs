#![doc = include_str!("safe.md")]

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use hashbrown::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::hierarchy::{Cells, Column};
use crate::loss::{Loss, SizeLoss, Sizes};
use crate::method::full_domain::costs::NodeCosts;
use crate::method::full_domain::groups::GroupAssigner;
use crate::method::full_domain::judge::{Judge, Price};
use crate::method::full_domain::lattice::{Lattice, LatticeNode};
use crate::method::full_domain::look::{LevelLook, Numbers, Part, Rule};
use crate::method::full_domain::tuples::MergedTuples;
use crate::method::full_domain::{ScratchPool, cannot_be_met, check_share, grouping};
use crate::method::mondrian::public_columns;
use crate::method::{Grouping, GroupingTask};
use crate::promise::Group;
use crate::table::{GroupId, Of, TupleId};
use crate::watch::{Watch, Watched};

/// At most so many nodes are estimated for a look.
const MOST_NODES: usize = 4_000;

/// The coins of so many nodes are computed, the best by their estimates.
const MOST_COINS: usize = 8;

/// Nodes less likely to be accepted than this are not thought of, nor what is below them.
const LEAST_LIKELY: f64 = 0.02;

/// A node that was found by looks that tell nothing harmful.
#[derive(Debug, Clone)]
pub struct FoundSafely {
    /// Groups and cells.
    pub grouping: Grouping,
    /// The level of each column of the last look, if it was refused. It is public.
    pub refused: Option<Vec<usize>>,
    /// Nodes of the lattice.
    pub lattice: u128,
    /// How often the table was looked at.
    pub looks: usize,
}

/// What a look is worth: its chance to some power, times what it saves, since a refusal
/// ends the search.
fn worth(accept: f64, saved: f64) -> f64 {
    accept * accept * saved
}

/// Publishes every column on one level, found by looks that tell nothing harmful of
/// anybody's presence. `coin` falls true with a probability of its argument in 2^64.
pub fn safe_levels<'a>(
    task: impl Into<Watched<'a, GroupingTask<'a>>>,
    mut coin: impl FnMut(u64) -> bool,
) -> Result<FoundSafely> {
    let Watched { task, watch } = task.into();
    let range = task.promises.presence().filter(|_| task.promises.count_only());
    let range = range.ok_or_else(|| {
        Error::recipe(
            "levels are safe for promises about presence that look at nothing but the \
             numbers of rows and people",
        )
    })?;
    let task = &GroupingTask { limit: 0, ..*task };
    let judge = Judge::new(*task, watch);
    check_share(&judge)?;
    let lattice = Lattice::of(task.columns);
    let pool = ScratchPool::new(&judge);
    let tuples = MergedTuples::of(task.census, false);
    // Nothing else reads who is in the table.
    let keeps = |node: &LatticeNode| {
        let promises = task.promises;
        let look = |scratch: &mut _| {
            judge.left_out(promises, Price::Whole, &tuples, node, scratch)
        };
        pool.with(look).is_some()
    };
    let mut node = lattice.highest.clone();
    if !keeps(&node) {
        return Err(cannot_be_met(task, &judge));
    }
    let rule = |rows: u64, people: u64| {
        let group = Group { rows, people, values: &[] };
        task.promises.hold(group, group)
    };
    let rule = Rule { range, keeps: &rule };
    let columns = public_columns(task);
    let mut chooser = Chooser::new(&judge, &lattice, &columns, &rule);
    let (mut looks, mut refused) = (0, None);
    while let Some((next, look)) = chooser.choose(&node, &tuples, watch)? {
        looks += 1;
        if !keeps(&next) || (look.chance > 0 && coin(look.chance)) {
            refused = Some(next.iter().map(|level| usize::from(*level)).collect());
            break;
        }
        node = next;
    }
    let grouping = grouping(&judge, &node, &pool);
    watch.check()?;
    Ok(FoundSafely { grouping, refused, lattice: lattice.size(), looks })
}

/// Chooses the node that is looked at from what is public.
struct Chooser<'a> {
    judge: &'a Judge<'a>,
    lattice: &'a Lattice,
    rule: &'a Rule<'a>,
    loss: PublicLoss,
    /// Tuples of the lowest node; their rows are people.
    people: MergedTuples,
    groups: GroupAssigner,
}

/// What nodes cost if everybody were in the table, with nodes as cells.
enum PublicLoss {
    Cells(NodeCosts),
    Sizes(&'static dyn SizeLoss),
}

/// A node below the one that is held, by its estimates.
#[derive(PartialEq)]
struct Estimate {
    worth: f64,
    saved: f64,
    node: LatticeNode,
}

impl Eq for Estimate {}

impl Ord for Estimate {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_worth = self.worth.total_cmp(&other.worth);
        by_worth.then_with(|| other.node.cmp(&self.node))
    }
}

impl PartialOrd for Estimate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A group of the node that is held: its people and rows.
type Held = (u64, u64);

impl<'a> Chooser<'a> {
    fn new(
        judge: &'a Judge<'a>,
        lattice: &'a Lattice,
        columns: &[Column],
        rule: &'a Rule<'a>,
    ) -> Self {
        let task = &judge.task;
        let loss = match task.loss {
            Loss::Sizes(loss) => PublicLoss::Sizes(loss),
            Loss::Cells(loss) => {
                let nodes = |column: &Column| Column {
                    cells: Cells::Taxonomy,
                    ..column.clone()
                };
                let columns: Vec<Column> = columns.iter().map(nodes).collect();
                PublicLoss::Cells(NodeCosts::of(
                    &GroupingTask { columns: &columns, ..*task },
                    loss,
                ))
            }
        };
        let mut people = MergedTuples::of(task.census, false);
        if let Some(counts) = people.people.take() {
            people.rows = counts;
        }
        let mut groups = GroupAssigner::default();
        let people = people.coarsened(&judge.ladder, &lattice.lowest, &mut groups);
        Self { judge, lattice, rule, loss, people, groups }
    }

    /// The node below `held` that is looked at, and how. Of the table only the numbers of
    /// rows in groups of `held` are read, which are public.
    fn choose(
        &mut self,
        held: &LatticeNode,
        tuples: &MergedTuples,
        watch: &dyn Watch,
    ) -> Result<Option<(LatticeNode, LevelLook)>> {
        let (parts, part_of) = self.parts(held, tuples);
        let cost = self.count(held);
        let mut known: HashMap<(u64, Held), Marginal> = HashMap::new();
        let mut seen: HashSet<LatticeNode> = HashSet::from([held.clone()]);
        let mut open = BinaryHeap::new();
        let mut estimated: Vec<Estimate> = Vec::new();
        open.push(Estimate { worth: 0.0, saved: 0.0, node: held.clone() });
        while let Some(from) = open.pop() {
            for column in 0..held.len() {
                if from.node[column] == self.lattice.lowest[column] {
                    continue;
                }
                let mut node = from.node.clone();
                node[column] -= 1;
                if seen.len() > MOST_NODES || !seen.insert(node.clone()) {
                    continue;
                }
                watch.check()?;
                let saved = cost - self.count(&node);
                let accept = self.estimate(&parts, &part_of, &mut known);
                if accept >= LEAST_LIKELY {
                    let worth = worth(accept, saved);
                    estimated.push(Estimate { worth, saved, node: node.clone() });
                    open.push(Estimate { worth, saved, node });
                }
            }
        }
        estimated.retain(|estimate| estimate.saved > 0.0);
        estimated.sort_by(|one, other| other.cmp(one));
        let mut best: Option<(f64, LatticeNode, LevelLook)> = None;
        for Estimate { saved, node, .. } in estimated.into_iter().take(MOST_COINS) {
            watch.check()?;
            self.count(&node);
            let Some(look) = LevelLook::of(&self.parted(&parts, &part_of), self.rule)
            else {
                continue;
            };
            let score = worth(look.accept, saved);
            if best.as_ref().is_none_or(|(held, ..)| score > *held) {
                best = Some((score, node, look));
            }
        }
        Ok(best.map(|(_, node, look)| (node, look)))
    }

    /// The groups of the node that is held, and to which each tuple belongs.
    fn parts(
        &mut self,
        held: &LatticeNode,
        tuples: &MergedTuples,
    ) -> (Of<GroupId, Held>, Of<TupleId, GroupId>) {
        self.groups.count(tuples, &self.judge.ladder, held);
        let sizes = self.groups.sizes.pairs();
        let parts = sizes.map(|(group, rows)| (self.groups.people(group), *rows));
        let parts: Of<GroupId, Held> = parts.collect();
        // Tuples at the lowest node come in the order of their first tuple, so groups do.
        self.groups.assign(&self.people, &self.judge.ladder, held);
        (parts, self.groups.of().iter().copied().collect())
    }

    /// Groups everybody at a node, and says what it costs.
    fn count(&mut self, node: &LatticeNode) -> f64 {
        self.groups.count(&self.people, &self.judge.ladder, node);
        match &self.loss {
            PublicLoss::Cells(costs) => costs.bound(node),
            PublicLoss::Sizes(loss) => {
                let mut sizes = Sizes::default();
                for people in &self.groups.sizes {
                    sizes.add(*people);
                }
                loss.total(&sizes)
            }
        }
    }

    /// The parts with the groups they fall into at the node that was counted last.
    fn parted(
        &self,
        parts: &Of<GroupId, Held>,
        part_of: &Of<TupleId, GroupId>,
    ) -> Vec<Part> {
        let part = |(people, rows): &Held| Part {
            people: *people,
            rows: *rows,
            sizes: BTreeMap::new(),
        };
        let mut parts: Of<GroupId, Part> = parts.iter().map(part).collect();
        for (first, people) in self.groups.first.iter().zip(&self.groups.sizes) {
            *parts[part_of[*first]].sizes.entry(*people).or_default() += 1;
        }
        parts.into_iter().collect()
    }

    /// About how likely the node that was counted last is accepted, as if the numbers of
    /// rows in its groups were independent.
    ///
    /// With A the chance that all keep the promises, k that one does, and q what its
    /// breaking them harms by what its keeping them helps, a refusal of all that keep them
    /// with the chance `(q + 1) k / A - 1` makes up for it: see `look.rs`.
    fn estimate(
        &self,
        parts: &Of<GroupId, Held>,
        part_of: &Of<TupleId, GroupId>,
        known: &mut HashMap<(u64, Held), Marginal>,
    ) -> f64 {
        let (mut all, mut most) = (1.0, 0.0f64);
        for (first, people) in self.groups.first.iter().zip(&self.groups.sizes) {
            let part = parts[part_of[*first]];
            // It stays as it is, or everything about it is known.
            if *people == part.0 || part.1 == 0 {
                continue;
            }
            let marginal = known
                .entry((*people, part))
                .or_insert_with(|| Marginal::of(*people, part, self.rule));
            all *= marginal.kept;
            most = most.max(marginal.with_harm);
            if all < LEAST_LIKELY {
                return 0.0;
            }
        }
        f64::min(all, 2.0 * all - most)
    }
}

/// What is known of one group by itself.
struct Marginal {
    /// How likely it keeps the promises.
    kept: f64,
    /// The same, times one more than what breaking them harms by what keeping them helps.
    with_harm: f64,
}

impl Marginal {
    fn of(size: u64, (people, rows): Held, rule: &Rule<'_>) -> Self {
        if rows == people {
            let kept = if (rule.keeps)(size, size) { 1.0 } else { 0.0 };
            return Self { kept, with_harm: kept };
        }
        let part = Part { people, rows, sizes: BTreeMap::new() };
        let [min, max] =
            [rule.range.0, rule.range.1].map(|share| share.to_f64() * size as f64);
        let (mut all_kept, mut harms, mut helps) = (0.0, [0.0; 2], [0.0; 2]);
        for (x, kept, broken) in Numbers::of(&part, size, rule).each() {
            all_kept += kept;
            let x = x as f64;
            for (side, beyond) in [x - max, min - x].into_iter().enumerate() {
                harms[side] += broken * beyond;
                helps[side] -= kept * beyond;
            }
        }
        let quotient = |side: usize| match harms[side] > 0.0 {
            true => harms[side] / helps[side].max(1e-300),
            false => 0.0,
        };
        let with_harm = all_kept * (1.0 + quotient(0).max(quotient(1)));
        Self { kept: all_kept, with_harm }
    }
}
