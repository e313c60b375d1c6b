//! Ruling out nodes by looking at few columns at a time.
//!
//! If the necessary promises fail when all columns but a few stand on their highest level,
//! they fail at every node with those few on the same or a lower level.

use std::sync::Arc;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::method::full_domain::ScratchPool;
use crate::method::full_domain::judge::{Judge, Price, Scratch};
use crate::method::full_domain::lattice::{Lattice, LatticeNode};
use crate::method::full_domain::tuples::MergedTuples;
use crate::promise::Promises;

/// A node that no projection rules out.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) node: LatticeNode,
    /// No release at this node costs less.
    pub(super) bound: f64,
}

/// More candidates than this are refused: 100 bytes each, and a check each in the worst
/// case.
pub const MOST_CANDIDATES: u128 = 4_000_000;

/// With at most this many candidates, checking them costs less than projecting on three
/// columns.
const FEW_CANDIDATES: usize = 48;

/// Whether the search is still wanted is asked once for so many candidates.
const CHECKED_EVERY: usize = 1 << 14;

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

    /// The nodes that may be allowed, and the tuples to check them with: merged at the
    /// finest levels that occur among the candidates.
    pub(super) fn candidates(
        mut self,
        with_values: bool,
    ) -> Result<(Arc<MergedTuples>, Vec<Candidate>)> {
        let all = Arc::new(MergedTuples::of(self.judge.task.census, with_values));
        let n_columns = all.nodes.len();
        let mut tuples = self.merged(&all, &self.lattice.lowest.clone());
        drop(all);

        let singles = self.project(&tuples, subsets(n_columns, 1), &[])?;
        for table in &singles {
            let column = table.columns[0];
            let first = table.left_out.iter().position(Option::is_some);
            match first {
                Some(rise) => self.lattice.lowest[column] += rise as u8,
                None => return Ok((tuples, Vec::new())),
            }
        }
        tuples = self.merged(&tuples, &self.lattice.lowest.clone());

        let mut tables = self.project(&tuples, subsets(n_columns, 2), &[])?;
        if n_columns == 1 {
            tables = self.project(&tuples, subsets(1, 1), &[])?;
        }
        let mut candidates = self.consistent(&tables)?;
        tuples = self.merged(&tuples, &self.meet(&candidates));
        if candidates.len() > FEW_CANDIDATES && n_columns > 3 {
            let triples = self.project(&tuples, subsets(n_columns, 3), &tables)?;
            candidates.retain_mut(|candidate| self.refine(candidate, &triples));
            tuples = self.merged(&tuples, &self.meet(&candidates));
        }
        Ok((tuples, candidates))
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

    /// The finest level of each column among the candidates.
    fn meet(&self, candidates: &[Candidate]) -> LatticeNode {
        let mut meet = self.lattice.highest.clone();
        for candidate in candidates {
            for (level, found) in meet.iter_mut().zip(&candidate.node) {
                *level = (*level).min(*found);
            }
        }
        meet
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

    /// All nodes that no table rules out, column by column.
    fn consistent(&self, tables: &[LeftOutTable]) -> Result<Vec<Candidate>> {
        let n_columns = self.lattice.lowest.len();
        // The tables that can be asked once the first columns have their levels.
        let ready: Vec<Vec<&LeftOutTable>> = (0..n_columns)
            .map(|column| {
                let last =
                    |table: &&LeftOutTable| table.columns.iter().max() == Some(&column);
                tables.iter().filter(last).collect()
            })
            .collect();
        let mut candidates = Vec::new();
        let mut node = self.lattice.lowest.clone();
        self.extend(0, 0, &mut node, &ready, &mut candidates)?;
        Ok(candidates)
    }

    fn extend(
        &self,
        column: usize,
        left_out: u64,
        node: &mut LatticeNode,
        ready: &[Vec<&LeftOutTable>],
        candidates: &mut Vec<Candidate>,
    ) -> Result<()> {
        if column == node.len() {
            if candidates.len() as u128 == MOST_CANDIDATES {
                return Err(too_many(&self.lattice));
            }
            if candidates.len().is_multiple_of(CHECKED_EVERY) {
                self.judge.watch.check()?;
            }
            candidates.push(self.candidate(node.clone(), left_out));
            return Ok(());
        }
        for level in self.lattice.levels(column) {
            node[column] = level;
            let worst = ready[column]
                .iter()
                .try_fold(left_out, |worst, table| Some(worst.max(table.at(node)?)));
            if let Some(worst) = worst {
                self.extend(column + 1, worst, node, ready, candidates)?;
            }
        }
        node[column] = self.lattice.lowest[column];
        Ok(())
    }

    /// At least `left_out` rows are left out at the node, since as many are where other
    /// columns are coarser.
    fn candidate(&self, node: LatticeNode, left_out: u64) -> Candidate {
        Candidate { bound: self.judge.bound(&node, left_out), node }
    }

    /// Raises a candidate's bound by what three columns tell; false if they rule it out.
    fn refine(&self, candidate: &mut Candidate, triples: &[LeftOutTable]) -> bool {
        let worst = triples
            .iter()
            .try_fold(0, |worst, table| Some(table.at(&candidate.node)?.max(worst)));
        let Some(worst) = worst else { return false };
        let refined = self.candidate(candidate.node.clone(), worst);
        candidate.bound = candidate.bound.max(refined.bound);
        true
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

fn too_many(lattice: &Lattice) -> Error {
    Error::recipe(format!(
        "the lattice has {} nodes, and more than {MOST_CANDIDATES} of them may be allowed",
        lattice.size()
    ))
    .with_hint("give columns fewer levels (`lowest`, `highest`), or use `mondrian`")
}
