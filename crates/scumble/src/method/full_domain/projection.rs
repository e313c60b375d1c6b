//! Ruling out nodes by looking at few columns at a time.
//!
//! If the necessary promises fail when all columns but a few stand on their highest level,
//! they fail at every node with those few on the same or a lower level.

use std::sync::Arc;

use rayon::prelude::*;

use crate::error::Result;
use crate::method::full_domain::ScratchPool;
use crate::method::full_domain::judge::{Judge, Price, Scratch};
use crate::method::full_domain::lattice::{Lattice, LatticeNode, below};
use crate::method::full_domain::tuples::MergedTuples;
use crate::promise::Promises;

/// With at most this many nodes left, looking at them costs less than projecting on three
/// columns.
const FEW_NODES: usize = 48;

/// With more sets of three columns than this they are not looked at: of 33 columns and more.
const MOST_TRIPLES: usize = 5_000;

/// What few columns at a time tell of nodes.
pub(super) struct Facts {
    /// The lowest levels at which one column alone does not fail.
    pub(super) lowest: LatticeNode,
    /// The coarsest nodes that fail.
    pub(super) hopeless: Vec<LatticeNode>,
    /// The tuples at the lowest levels.
    pub(super) tuples: Arc<MergedTuples>,
    tables: Vec<LeftOutTable>,
}

impl Facts {
    /// How many rows are left out at a node at least: as many as where other columns are
    /// coarser. Nothing if these fail.
    pub(super) fn left_out(&self, node: &[u8]) -> Option<u64> {
        self.tables.iter().try_fold(0, |worst, table| Some(table.at(node)?.max(worst)))
    }
}

/// What was learned from one, two and three columns at a time.
pub(super) struct Projections<'a> {
    judge: &'a Judge<'a>,
    lattice: Lattice,
    necessary: &'a Promises,
    pool: &'a ScratchPool<'a>,
}

/// Rows left out when only a few columns are below their highest level.
#[derive(Debug)]
struct LeftOutTable {
    columns: Vec<usize>,
    lowest: Vec<u8>,
    sizes: Vec<usize>,
    // Nothing where the necessary promises fail.
    left_out: Vec<Option<u64>>,
}

impl LeftOutTable {
    fn place(&self, level_of: impl Fn(usize) -> u8) -> usize {
        let mut place = 0;
        for ((column, lowest), size) in
            self.columns.iter().zip(&self.lowest).zip(&self.sizes)
        {
            place = place * size + usize::from(level_of(*column) - lowest);
        }
        place
    }

    fn at(&self, node: &[u8]) -> Option<u64> {
        self.left_out[self.place(|column| node[column])]
    }
}

impl<'a> Projections<'a> {
    pub(super) fn new(
        judge: &'a Judge<'a>,
        lattice: &Lattice,
        necessary: &'a Promises,
        pool: &'a ScratchPool<'a>,
    ) -> Self {
        Self { judge, lattice: lattice.clone(), necessary, pool }
    }

    /// Looks at few columns at a time; nothing if one of them fails alone.
    pub(super) fn facts(mut self, with_values: bool) -> Result<Option<Facts>> {
        let all = Arc::new(MergedTuples::of(self.judge.task.census, with_values));
        let n_columns = all.nodes.len();
        let mut tuples = self.merged(&all, &self.lattice.lowest.clone());
        drop(all);

        let mut tables = self.project(&tuples, subsets(n_columns, 1), &[])?;
        for table in &tables {
            let column = table.columns[0];
            match table.left_out.iter().position(Option::is_some) {
                Some(rise) => self.lattice.lowest[column] += rise as u8,
                None => return Ok(None),
            }
        }
        tuples = self.merged(&tuples, &self.lattice.lowest.clone());

        if n_columns > 1 {
            tables = self.project(&tuples, subsets(n_columns, 2), &[])?;
        }
        if n_columns > 3 && self.more_than(FEW_NODES, &tables) {
            let triples = subsets(n_columns, 3);
            if triples.len() <= MOST_TRIPLES {
                let more = self.project(&tuples, triples, &tables)?;
                tables.extend(more);
            }
        }
        let failing = tables.iter().flat_map(|table| {
            let border = table.coarsest_failing();
            border.map(|place| self.node_at(table, place))
        });
        let lowest = &self.lattice.lowest;
        let failing = failing.filter(|node| below(lowest, node));
        Ok(Some(Facts {
            hopeless: failing.collect(),
            lowest: self.lattice.lowest.clone(),
            tuples,
            tables,
        }))
    }

    /// `tuples` at a coarser node, or as they are if nothing would merge.
    fn merged(
        &self,
        tuples: &Arc<MergedTuples>,
        node: &LatticeNode,
    ) -> Arc<MergedTuples> {
        if tuples.at == *node {
            return tuples.clone();
        }
        let merge = |scratch: &mut Scratch| {
            tuples.coarsened(&self.judge.ladder, node, &mut scratch.groups)
        };
        Arc::new(self.pool.with(merge))
    }

    /// Looks at each set of columns on all their levels. Sets that share columns are
    /// projected together first, so that few passes over all tuples are needed.
    fn project(
        &self,
        tuples: &MergedTuples,
        sets: Vec<Vec<usize>>,
        known: &[LeftOutTable],
    ) -> Result<Vec<LeftOutTable>> {
        let n_nodes =
            |column: usize| self.judge.ladder.n_nodes(column, tuples.at[column]) as f64;
        let tables: Vec<Vec<LeftOutTable>> = bundles(sets, n_nodes)
            .into_par_iter()
            .map(|(columns, sets)| {
                self.judge.watch.check()?;
                self.pool.with(|scratch| {
                    let few = self.projected(tuples, &columns, scratch);
                    sets.into_iter()
                        .map(|set| {
                            let fewest = self.projected(&few, &set, scratch);
                            self.table(&fewest, set, known, scratch)
                        })
                        .collect()
                })
            })
            .collect::<Result<_>>()?;
        Ok(tables.into_iter().flatten().collect())
    }

    /// The tuples with all columns but a few on their highest level.
    fn projected(
        &self,
        tuples: &MergedTuples,
        columns: &[usize],
        scratch: &mut Scratch,
    ) -> MergedTuples {
        let levels: Vec<(usize, u8)> =
            columns.iter().map(|column| (*column, tuples.at[*column])).collect();
        let node = self.lattice.top_with(&levels);
        tuples.coarsened(&self.judge.ladder, &node, &mut scratch.groups)
    }

    /// Rows left out for a few columns on all their levels, from coarse to fine.
    fn table(
        &self,
        tuples: &MergedTuples,
        columns: Vec<usize>,
        known: &[LeftOutTable],
        scratch: &mut Scratch,
    ) -> Result<LeftOutTable> {
        let lowest: Vec<u8> = columns.iter().map(|column| tuples.at[*column]).collect();
        let sizes: Vec<usize> = columns
            .iter()
            .zip(&lowest)
            .map(|(column, lowest)| {
                usize::from(self.lattice.highest[*column] - lowest) + 1
            })
            .collect();
        let left_out = vec![None; sizes.iter().product()];
        let mut table = LeftOutTable { columns, lowest, sizes, left_out };
        for place in (0..table.left_out.len()).rev() {
            self.judge.watch.check()?;
            let node = self.node_at(&table, place);
            if table.coarser_places(place).all(|place| table.left_out[place].is_some())
                && self.allowed(&node, &table.columns, known)
            {
                table.left_out[place] = self.judge.left_out(
                    self.necessary,
                    Price::Least,
                    tuples,
                    &node,
                    scratch,
                );
            }
        }
        Ok(table)
    }

    fn node_at(&self, table: &LeftOutTable, mut place: usize) -> LatticeNode {
        let mut node = self.lattice.highest.clone();
        for index in (0..table.columns.len()).rev() {
            let size = table.sizes[index];
            node[table.columns[index]] = table.lowest[index] + (place % size) as u8;
            place /= size;
        }
        node
    }

    /// Whether no known table over a part of `columns` rules the node out.
    fn allowed(
        &self,
        node: &LatticeNode,
        columns: &[usize],
        known: &[LeftOutTable],
    ) -> bool {
        known
            .iter()
            .filter(|table| table.columns.iter().all(|column| columns.contains(column)))
            .all(|table| table.at(node).is_some())
    }

    /// Whether the tables leave more nodes than `few`.
    fn more_than(&self, few: usize, tables: &[LeftOutTable]) -> bool {
        let n_columns = self.lattice.lowest.len();
        // The tables that can be asked once the first columns have their levels.
        let ready: Vec<Vec<&LeftOutTable>> = (0..n_columns)
            .map(|column| {
                let last =
                    |table: &&LeftOutTable| table.columns.iter().max() == Some(&column);
                tables.iter().filter(last).collect()
            })
            .collect();
        let mut node = self.lattice.lowest.clone();
        let mut left = few + 1;
        self.count_down(0, &mut node, &ready, &mut left);
        left == 0
    }

    /// Takes the nodes that no table rules out from `left`, column by column.
    fn count_down(
        &self,
        column: usize,
        node: &mut LatticeNode,
        ready: &[Vec<&LeftOutTable>],
        left: &mut usize,
    ) {
        if column == node.len() {
            *left -= 1;
            return;
        }
        // From the top: what holds there is never a dead end.
        for level in self.lattice.levels(column).rev() {
            node[column] = level;
            if *left == 0 || ready[column].iter().any(|table| table.at(node).is_none())
            {
                break;
            }
            self.count_down(column + 1, node, ready, left);
        }
        node[column] = self.lattice.highest[column];
    }
}

impl LeftOutTable {
    /// The places one level coarser in one column.
    fn coarser_places(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        let mut stride = 1;
        (0..self.sizes.len()).rev().filter_map(move |index| {
            let size = self.sizes[index];
            let step = stride;
            stride *= size;
            ((place / step) % size + 1 < size).then_some(place + step)
        })
    }

    /// The places that fail, though all coarser ones do not.
    fn coarsest_failing(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.left_out.len()).filter(|place| {
            self.left_out[*place].is_none()
                && self
                    .coarser_places(*place)
                    .all(|place| self.left_out[place].is_some())
        })
    }
}

/// Columns that are projected together have at most this many combinations of nodes.
const BUNDLE: f64 = (1 << 17) as f64;

/// Distributes sets of columns over larger sets that contain them.
fn bundles(
    mut sets: Vec<Vec<usize>>,
    n_nodes: impl Fn(usize) -> f64,
) -> Vec<(Vec<usize>, Vec<Vec<usize>>)> {
    let mut bundles = Vec::new();
    while let Some(first) = sets.first() {
        let mut columns = first.clone();
        let mut others: Vec<usize> = sets.iter().flatten().copied().collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|column| !columns.contains(column));
        // The smallest columns first: most of them fit.
        others.sort_by(|a, b| n_nodes(*a).total_cmp(&n_nodes(*b)));
        let mut size: f64 = columns.iter().map(|column| n_nodes(*column)).product();
        for column in others {
            if size * n_nodes(column) <= BUNDLE {
                size *= n_nodes(column);
                columns.push(column);
            }
        }
        let inside =
            |set: &Vec<usize>| set.iter().all(|column| columns.contains(column));
        let (bundled, rest): (Vec<_>, Vec<_>) = sets.into_iter().partition(inside);
        bundles.push((columns, bundled));
        sets = rest;
    }
    bundles
}

/// All sets of `size` columns out of `n`.
fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..size {
        let longer = sets.iter().flat_map(|set| {
            let next = set.last().map_or(0, |last| last + 1);
            (next..n).map(|column| {
                let mut set = set.clone();
                set.push(column);
                set
            })
        });
        sets = longer.collect();
    }
    sets
}
