//! Which groups a person may be in: those whose every cell contains the person's values.

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::audit::cells::{CellClasses, Covers};
use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::table::Code;
use crate::watch::Watch;

/// Tuples one worker takes at a time.
const PORTION: usize = 4096;

/// What the adversary knows: quasi values, and no others.
#[derive(Debug)]
pub(crate) struct QuasiKnowledge<'a> {
    /// For each quasi column of the manifest, the code of every distinct tuple.
    pub(crate) tuples: Vec<&'a [Code]>,
    /// How many people have each tuple.
    pub(crate) people: &'a [u64],
    /// Who follows what is made of it. Once that is no longer wanted, it means nothing.
    pub(crate) watch: &'a dyn Watch,
}

impl<'a> QuasiKnowledge<'a> {
    /// The quasi values of everybody; `places` are those of the quasi columns.
    pub(crate) fn of(
        original: &'a Microdata,
        places: &[usize],
        watch: &'a dyn Watch,
    ) -> Self {
        let census = &original.census;
        let tuples = places.iter().map(|place| &*census.quasi[*place]);
        Self { tuples: tuples.collect(), people: &census.rows, watch }
    }
}

/// Every tuple and the groups that fit it, in no particular order of tuples.
pub(crate) fn fitting(
    view: &CellClasses,
    covers: &Covers,
    known: &QuasiKnowledge<'_>,
) -> Result<Vec<(u32, Vec<u32>)>> {
    known.watch.check()?;
    let mut tuples: Vec<u32> = (0..known.people.len() as u32).collect();
    if let Some(lookup) = Lookup::new(view, covers) {
        let group = |tuple: &u32| lookup.group(covers, known, *tuple as usize);
        return Ok(tuples
            .par_iter()
            .map(|tuple| (*tuple, group(tuple).into_iter().collect()))
            .collect());
    }
    let trie = Trie::new(view, covers);
    trie.sort(known, &mut tuples, |tuple| tuple);
    let portions = tuples.par_chunks(PORTION).flat_map_iter(|portion| {
        let portion = if known.watch.is_cancelled() { &[] } else { portion };
        let mut walk = Walk::new(&trie, covers, known);
        portion.iter().map(move |tuple| (*tuple, walk.groups(*tuple).to_vec()))
    });
    let found = portions.collect();
    known.watch.check()?;
    Ok(found)
}

/// The group of every combination of cells, for columns whose cells do not overlap.
#[derive(Debug)]
pub(crate) struct Lookup {
    // For each column, what a cell's number is multiplied by.
    factors: Vec<u128>,
    groups: HashMap<u128, u32>,
}

impl Lookup {
    /// Nothing if cells overlap or there are too many combinations to number.
    pub(crate) fn new(view: &CellClasses, covers: &Covers) -> Option<Self> {
        if !covers.columns.iter().all(|column| column.is_partition()) {
            return None;
        }
        let mut factors = Vec::with_capacity(covers.columns.len());
        let mut next = 1u128;
        for column in &covers.columns {
            factors.push(next);
            next = next.checked_mul(column.covers.len().max(1) as u128)?;
        }
        let key = |group: usize| {
            let cells = view.quasi.iter().zip(&factors);
            cells
                .map(|(column, factor)| u128::from(column.of_group[group]) * factor)
                .sum()
        };
        let groups =
            (0..view.n_groups()).map(|group| (key(group), group as u32)).collect();
        Some(Self { factors, groups })
    }

    /// The group of a tuple, if it is in one.
    pub(crate) fn group(
        &self,
        covers: &Covers,
        known: &QuasiKnowledge<'_>,
        tuple: usize,
    ) -> Option<u32> {
        let mut key = 0;
        for ((column, codes), factor) in
            covers.columns.iter().zip(&known.tuples).zip(&self.factors)
        {
            key += u128::from(*column.containing(codes[tuple]).first()?) * factor;
        }
        self.groups.get(&key).copied()
    }
}

/// The groups as a trie over their cells.
#[derive(Debug)]
pub(crate) struct Trie {
    /// The columns in the order of the trie.
    order: Vec<usize>,
    /// Nodes of each depth, children of a node side by side and ascending by their cell.
    depths: Vec<Vec<CellBranch>>,
    /// The group of each node of the last depth.
    groups: Vec<u32>,
}

#[derive(Debug)]
struct CellBranch {
    cell: u32,
    // Its children are nodes `start..end` of the next depth.
    start: u32,
    end: u32,
}

impl Trie {
    pub(crate) fn new(view: &CellClasses, covers: &Covers) -> Self {
        let mut order: Vec<usize> = (0..view.quasi.len()).collect();
        order.sort_by(|a, b| {
            covers.columns[*a].overlap().total_cmp(&covers.columns[*b].overlap())
        });
        let cell = |depth: usize, group: u32| {
            view.quasi[order[depth]].of_group[group as usize]
        };
        let mut groups: Vec<u32> = (0..view.n_groups() as u32).collect();
        groups.par_sort_unstable_by(|a, b| {
            let key = |group: u32| (0..order.len()).map(move |depth| (depth, group));
            let cells = |group| key(group).map(|(depth, group)| cell(depth, group));
            cells(*a).cmp(cells(*b))
        });
        let mut depths: Vec<Vec<CellBranch>> =
            order.iter().map(|_| Vec::new()).collect();
        for (place, group) in groups.iter().enumerate() {
            let shared = place.checked_sub(1).map_or(0, |last| {
                let same =
                    |depth: &usize| cell(*depth, groups[last]) == cell(*depth, *group);
                (0..order.len()).take_while(same).count()
            });
            for depth in shared..order.len() {
                let start = depths.get(depth + 1).map_or(0, Vec::len) as u32;
                depths[depth].push(CellBranch {
                    cell: cell(depth, *group),
                    start,
                    end: start,
                });
            }
            for depth in 0..order.len().saturating_sub(1) {
                let end = depths[depth + 1].len() as u32;
                if let Some(last) = depths[depth].last_mut() {
                    last.end = end;
                }
            }
        }
        Self { order, depths, groups }
    }

    /// Puts tuples in an order in which neighbours share as much of the way as they can.
    pub(crate) fn sort<T: Copy + Send>(
        &self,
        known: &QuasiKnowledge<'_>,
        tuples: &mut [T],
        tuple: impl Fn(T) -> u32 + Sync,
    ) {
        let key = |item: T| {
            let tuple = tuple(item) as usize;
            self.order.iter().map(move |column| known.tuples[*column][tuple])
        };
        tuples.par_sort_unstable_by(|a, b| key(*a).cmp(key(*b)));
    }
}

/// One worker's way through the trie: what the last tuple matched at every depth, so that
/// the next one starts where they differ.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    trie: &'a Trie,
    covers: &'a Covers,
    known: &'a QuasiKnowledge<'a>,
    last: Option<u32>,
    // Nodes of each depth that match the last tuple.
    matching: Vec<Vec<u32>>,
    groups: Vec<u32>,
    /// How much work it was so far.
    pub(crate) steps: u64,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        trie: &'a Trie,
        covers: &'a Covers,
        known: &'a QuasiKnowledge<'a>,
    ) -> Self {
        let matching = vec![Vec::new(); trie.order.len()];
        Self { trie, covers, known, last: None, matching, groups: Vec::new(), steps: 0 }
    }

    /// Starts the next tuple from the root.
    pub(crate) fn forget(&mut self) {
        self.last = None;
    }

    /// The groups that could be the tuple's, ascending.
    pub(crate) fn groups(&mut self, tuple: u32) -> &[u32] {
        let trie = self.trie;
        let code = |depth: usize, tuple: u32| {
            self.known.tuples[trie.order[depth]][tuple as usize]
        };
        let shared = self.last.map_or(0, |last| {
            let same = |depth: &usize| code(*depth, last) == code(*depth, tuple);
            (0..trie.order.len()).take_while(same).count()
        });
        self.last = Some(tuple);
        for depth in shared..trie.order.len() {
            let column = &self.covers.columns[trie.order[depth]];
            let wanted = column.containing(code(depth, tuple));
            let (done, rest) = self.matching.split_at_mut(depth);
            let found = &mut rest[0];
            found.clear();
            let nodes = &trie.depths[depth];
            let whole = 0..nodes.len() as u32;
            match done.last() {
                None => self.steps += intersect(nodes, whole, wanted, found),
                Some(parents) => {
                    for parent in parents {
                        let parent = &trie.depths[depth - 1][*parent as usize];
                        let children = parent.start..parent.end;
                        self.steps += intersect(nodes, children, wanted, found);
                    }
                }
            }
        }
        self.groups.clear();
        if let Some(last) = self.matching.last() {
            self.groups.extend(last.iter().map(|node| trie.groups[*node as usize]));
        }
        self.groups.sort_unstable();
        &self.groups
    }
}

/// Adds the nodes of a range whose cell is wanted: from the shorter of both lists, each is
/// looked for in the longer. Returns the number of steps.
fn intersect(
    nodes: &[CellBranch],
    range: std::ops::Range<u32>,
    wanted: &[u32],
    found: &mut Vec<u32>,
) -> u64 {
    let children = &nodes[range.start as usize..range.end as usize];
    if children.len() <= wanted.len() {
        let hits = (range.start..).zip(children);
        found.extend(
            hits.filter(|(_, child)| wanted.binary_search(&child.cell).is_ok())
                .map(|(node, _)| node),
        );
    } else {
        found.extend(wanted.iter().filter_map(|cell| {
            let place = children.binary_search_by_key(cell, |child| child.cell).ok()?;
            Some(range.start + place as u32)
        }));
    }
    let (short, long) = if children.len() <= wanted.len() {
        (children.len(), wanted.len())
    } else {
        (wanted.len(), children.len())
    };
    1 + short as u64 * u64::from(long.max(1).ilog2() + 1)
}
