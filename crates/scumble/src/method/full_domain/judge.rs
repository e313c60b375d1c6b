//! What a node of the lattice leaves out, and what it costs.

use crate::hierarchy::{Cells, Cover};
use crate::loss::{CellLoss, Loss, Sizes, scale};
use crate::method::full_domain::costs::NodeCosts;
use crate::method::full_domain::groups::{GroupAssigner, LevelMaps};
use crate::method::full_domain::lattice::LatticeNode;
use crate::method::full_domain::tuples::MergedTuples;
use crate::method::{GroupingTask, cover};
use crate::promise::{Group, Promises};
use crate::table::{Code, GroupId, Histogram, Of, TupleId};
use crate::watch::Watch;

/// Everything about a task that does not change from node to node.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    pub(super) task: GroupingTask<'a>,
    pub(super) watch: &'a dyn Watch,
    pub(super) ladder: LevelMaps,
    n_rows: u64,
    n_people: u64,
    n_tuples: usize,
    whole: Vec<Histogram>,
    costs: Option<NodeCosts>,
}

/// What a group that breaks a promise costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Price {
    /// All its rows: it is left out.
    Whole,
    /// What is left out of it at least at any finer node.
    Least,
}

/// Memory that is reused from node to node.
#[derive(Debug)]
pub(super) struct Scratch {
    pub(super) groups: GroupAssigner,
    pub(super) fails: Of<GroupId, bool>,
    values: Vec<Histogram>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(task: GroupingTask<'a>, watch: &'a dyn Watch) -> Self {
        let mut whole = task.census.histograms();
        for tuple in task.census.tuples() {
            task.census.add_to(tuple, &mut whole);
        }
        let plain = task.columns.iter().all(|column| column.cells == Cells::Taxonomy);
        let costs = match task.loss {
            Loss::Cells(loss) if plain => Some(NodeCosts::of(&task, loss)),
            _ => None,
        };
        let ladder = LevelMaps::of(task.columns);
        let n_tuples = task.census.n_tuples();
        let (n_rows, n_people) = (task.census.n_rows(), task.census.n_people());
        Self { task, watch, ladder, n_rows, n_people, n_tuples, whole, costs }
    }

    pub(super) fn scratch(&self) -> Scratch {
        let values = self.task.census.histograms();
        Scratch { groups: GroupAssigner::default(), fails: Of::new(), values }
    }

    /// Whether what fails at a node fails at all below it.
    pub(super) fn is_monotone(&self) -> bool {
        self.task.limit == 0 && self.task.promises.survive_merging()
    }

    /// The whole table as one group.
    pub(super) fn whole(&self) -> Group<'_> {
        Group { rows: self.n_rows, people: self.n_people, values: &self.whole }
    }

    /// How many rows are left out when `tuples` are grouped at `node` and groups that break
    /// `promises` have this price; nothing if more than may be. Marks these groups in
    /// `scratch.fails`.
    pub(super) fn left_out(
        &self,
        promises: &Promises,
        price: Price,
        tuples: &MergedTuples,
        node: &LatticeNode,
        scratch: &mut Scratch,
    ) -> Option<u64> {
        let with_values = promises.look_at_values();
        if with_values {
            scratch.groups.assign(tuples, &self.ladder, node);
            scratch.groups.sort_members();
        } else {
            scratch.groups.count(tuples, &self.ladder, node);
        }
        scratch.fails.list().clear();
        scratch.fails.list().resize(scratch.groups.n_groups(), false);
        let left_out = if with_values {
            self.left_out_by_values(promises, price, tuples, scratch)?
        } else {
            self.left_out_by_size(promises, price, scratch)?
        };
        if price == Price::Whole && left_out > 0 && promises.look_at_people() {
            let groups = &scratch.groups;
            let people = groups
                .sizes
                .ids()
                .filter(|group| scratch.fails[*group] || groups.sizes[*group] == 0)
                .map(|group| groups.people(group))
                .sum();
            let mut values = Vec::new();
            if with_values {
                values = self.task.census.histograms();
                for (tuple, group) in groups.of().pairs() {
                    if scratch.fails[*group] {
                        tuples.add_to(tuple, &mut values);
                    }
                }
            }
            let hidden = Group { rows: left_out, people, values: &values };
            if !promises.hold_of_unpublished(hidden) {
                return None;
            }
        }
        // A release without rows is no release.
        (left_out < self.n_rows).then_some(left_out)
    }

    /// What a group adds to the rows left out; nothing if leaving out cannot help.
    fn price(
        &self,
        promises: &Promises,
        price: Price,
        group: Group<'_>,
        whole: Group<'_>,
    ) -> Option<u64> {
        match price {
            Price::Least => promises.toll(group, whole),
            Price::Whole if promises.hold(group, whole) => Some(0),
            Price::Whole => (group.rows > 0).then_some(group.rows),
        }
    }

    fn left_out_by_size(
        &self,
        promises: &Promises,
        price: Price,
        scratch: &mut Scratch,
    ) -> Option<u64> {
        let whole = Group { values: &[], ..self.whole() };
        let mut left_out = 0;
        for (place, rows) in scratch.groups.sizes.pairs() {
            let (rows, people) = (*rows, scratch.groups.people(place));
            let group = Group { rows, people, values: &[] };
            let more = self.price(promises, price, group, whole)?;
            if more > 0 {
                scratch.fails[place] = true;
                left_out += more;
                if left_out > self.task.limit {
                    return None;
                }
            }
        }
        Some(left_out)
    }

    /// Leaving rows out changes what a reader takes for the whole table. If a promise
    /// compares with it, look again until nothing more fails: what is left then holds
    /// against what is published.
    fn left_out_by_values(
        &self,
        promises: &Promises,
        price: Price,
        tuples: &MergedTuples,
        scratch: &mut Scratch,
    ) -> Option<u64> {
        let mut whole: Option<Vec<Histogram>> = None;
        let mut left_out = 0;
        loop {
            let before = left_out;
            let values = whole.as_deref().unwrap_or(&self.whole);
            let published =
                Group { rows: self.n_rows - left_out, people: self.n_people, values };
            for group in scratch.groups.sizes.ids() {
                if scratch.fails[group] {
                    continue;
                }
                gather(tuples, &scratch.groups, group, &mut scratch.values);
                let (rows, people) =
                    (scratch.groups.sizes[group], scratch.groups.people(group));
                let looked_at = Group { rows, people, values: &scratch.values };
                let more = self.price(promises, price, looked_at, published)?;
                if more > 0 {
                    scratch.fails[group] = true;
                    left_out += more;
                    if left_out > self.task.limit {
                        return None;
                    }
                }
            }
            if left_out == before || !promises.look_at_whole() {
                return Some(left_out);
            }
            let mut rest = self.task.census.histograms();
            for (tuple, group) in scratch.groups.of().pairs() {
                if !scratch.fails[*group] {
                    tuples.add_to(tuple, &mut rest);
                }
            }
            whole = Some(rest);
        }
    }

    /// Whether the loss adds up over columns, so that it is known without looking at rows
    /// unless some are left out.
    pub(super) fn adds_up(&self) -> bool {
        self.costs.is_some()
    }

    /// What any release at `node` costs at least, if at least `left_out` rows are left out
    /// there.
    pub(super) fn bound(&self, node: &[u8], left_out: u64) -> f64 {
        match (&self.costs, self.task.loss) {
            (Some(costs), _) => {
                costs.bound(node) + left_out as f64 * costs.per_left_out(node)
            }
            (None, Loss::Sizes(loss)) => {
                let n_groups =
                    self.ladder.n_combinations(node).min(self.n_tuples as f64);
                loss.bound(self.n_rows, n_groups, left_out, self.task.limit)
            }
            // A cell costs nothing at least; a left-out row what it costs, unless part of
            // that is common to all releases and was subtracted.
            (None, Loss::Cells(loss)) => {
                let columns = self.task.columns;
                if columns.iter().any(|column| loss.offset(column) != 0.0) {
                    return 0.0;
                }
                let row: f64 =
                    columns.iter().map(|c| c.weight * loss.left_out(c)).sum();
                left_out as f64 * row * scale(loss, columns, self.n_rows)
            }
        }
    }

    /// The node one level higher in the column that saves the most groups for its loss;
    /// nothing at the top.
    pub(super) fn next_above(&self, node: &LatticeNode) -> Option<LatticeNode> {
        let price = |column: usize| {
            let level = usize::from(node[column]);
            let levels = self.task.columns[column].hierarchy.levels();
            let (fine, coarse) =
                (levels[level].nodes.len(), levels[level + 1].nodes.len());
            let saved = (fine as f64 / coarse as f64).ln().max(1e-9);
            let paid =
                self.costs.as_ref().map_or(1.0, |costs| costs.step(column, level));
            paid.max(1e-12) / saved
        };
        let rising = (0..node.len())
            .filter(|c| usize::from(node[*c]) < self.task.columns[*c].highest);
        let cheapest = rising.min_by(|a, b| price(*a).total_cmp(&price(*b)))?;
        let mut next = node.clone();
        next[cheapest] += 1;
        Some(next)
    }

    /// The loss at `node` with the groups in `scratch.fails` left out, after `left_out`.
    /// Does not depend on which `tuples` the groups were made of.
    pub(super) fn loss(
        &self,
        tuples: &MergedTuples,
        node: &LatticeNode,
        scratch: &Scratch,
    ) -> f64 {
        match (&self.costs, self.task.loss) {
            (Some(costs), _) => costs.total(&self.ladder, tuples, node, scratch),
            (None, Loss::Sizes(loss)) => {
                let mut sizes = Sizes::default();
                let mut left_out = 0;
                for (rows, fails) in scratch.groups.sizes.iter().zip(&scratch.fails) {
                    if *fails {
                        left_out += rows;
                    } else if *rows > 0 {
                        sizes.add(*rows);
                    }
                }
                sizes.left_out = left_out;
                sizes.n_rows += left_out;
                loss.total(&sizes)
            }
            (None, Loss::Cells(loss)) => {
                let mut fine = self.scratch();
                let all = MergedTuples::of(self.task.census, false);
                fine.groups.assign(&all, &self.ladder, node);
                fine.groups.sort_members();
                self.loss_of_covers(loss, node, &fine, |group| {
                    // Groups are numbered differently here: ask through a shared tuple.
                    self.fails_in(tuples, node, scratch, fine.groups.first[group])
                })
            }
        }
    }

    /// Whether the group that holds census tuple `tuple` fails in `scratch`.
    fn fails_in(
        &self,
        tuples: &MergedTuples,
        node: &LatticeNode,
        scratch: &Scratch,
        tuple: TupleId,
    ) -> bool {
        if !scratch.fails.contains(&true) {
            return false;
        }
        let census = self.task.census;
        let wanted = |column: usize| {
            let code = census.quasi[column][tuple];
            self.task.columns[column].hierarchy.node(node[column].into(), code)
        };
        scratch.groups.first.iter().zip(&scratch.fails).any(|(first, fails)| {
            *fails
                && (0..node.len()).all(|column| {
                    let map = self.ladder.map(column, tuples.at[column], node[column]);
                    map[tuples.nodes[column].node(*first)] == wanted(column)
                })
        })
    }

    fn loss_of_covers(
        &self,
        loss: &dyn CellLoss,
        node: &LatticeNode,
        fine: &Scratch,
        fails: impl Fn(GroupId) -> bool,
    ) -> f64 {
        let columns = self.task.columns;
        let mut totals = vec![0.0; columns.len()];
        for group in fine.groups.sizes.ids() {
            let rows = fine.groups.sizes[group] as f64;
            let left_out = fails(group);
            for (place, column) in columns.iter().enumerate() {
                let cost = if left_out {
                    loss.left_out(column)
                } else {
                    let members = fine.groups.members(group);
                    let codes = distinct(&self.task.census.quasi[place], members);
                    loss.cell(column, &cover(column, &codes, Some(node[place].into())))
                };
                totals[place] += rows * cost;
            }
        }
        let sum: f64 = columns
            .iter()
            .zip(totals)
            .map(|(column, total)| column.weight * (total - loss.offset(column)))
            .sum();
        sum * scale(loss, columns, self.n_rows)
    }

    /// The cells of every group at `node`, from census tuples grouped in `scratch`.
    pub(super) fn covers(
        &self,
        node: &LatticeNode,
        scratch: &Scratch,
    ) -> Vec<Vec<Cover>> {
        let census = self.task.census;
        let groups = scratch.groups.sizes.ids();
        groups
            .map(|group| {
                let members = scratch.groups.members(group);
                let columns = self.task.columns.iter().enumerate();
                columns
                    .map(|(place, column)| {
                        let level = usize::from(node[place]);
                        if column.cells == Cells::Taxonomy {
                            let code = census.quasi[place][members[0]];
                            let node = column.hierarchy.node(level, code);
                            return Cover::Node { level, node };
                        }
                        let codes = distinct(&census.quasi[place], members);
                        cover(column, &codes, Some(level))
                    })
                    .collect()
            })
            .collect()
    }
}

/// Fills one histogram per sensitive column with the values of a group.
fn gather(
    tuples: &MergedTuples,
    groups: &GroupAssigner,
    group: GroupId,
    values: &mut [Histogram],
) {
    for histogram in values.iter_mut() {
        histogram.clear();
    }
    for tuple in groups.members(group) {
        tuples.add_to(*tuple, values);
    }
}

/// The different codes of some tuples, ascending.
pub(super) fn distinct(codes: &Of<TupleId, Code>, tuples: &[TupleId]) -> Vec<Code> {
    let mut distinct: Vec<Code> = tuples.iter().map(|tuple| codes[*tuple]).collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}
