//! Linkage: who could be whom.
//!
//! The adversary knows the quasi values of everybody in the original, and looks for the
//! groups whose every cell contains them: the rows of these groups are the person's
//! candidates. They then pick a candidate at random.
//!
//! # Guarantee
//! A person whose row was published is among their candidates, as cells contain the values
//! they stand for. So nobody who knows no more than quasi values picks the right row with
//! a probability above 1 / candidates.
//!
//! # Limits
//! A person who was left out may still have candidates, and counts as if one of them were
//! right: the success is an upper bound. An adversary who also knows that everybody's row
//! is there, once, could exclude more by matching all people at once.
//!
//! # Cost
//! If no value is in two cells of a column, one lookup for each distinct tuple. Otherwise
//! groups stand in a trie over the columns, the most selective first, and the sorted tuples
//! walk through it together. If that takes more than [`MOST_STEPS`], people are sampled at
//! equal distances, and the result says so.
//!
//! # Source
//! `sweeney2002kanonymity`; METHODS G.

use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::audit::covers::Covers;
use crate::audit::homogeneity::{Guess, Guesser};
use crate::audit::view::View;
use crate::hierarchy::Microdata;

/// More steps than this are not taken.
pub(super) const MOST_STEPS: u64 = 500_000_000;

/// Tuples one worker takes at a time.
const PORTION: usize = 1024;

/// What the adversary knows: quasi values, and no others.
#[derive(Debug)]
pub(super) struct Knowledge<'a> {
    /// For each quasi column of the manifest, the code of every distinct tuple.
    pub(super) tuples: Vec<&'a [u32]>,
    /// How many people have each tuple.
    pub(super) people: &'a [u64],
}

/// What the adversary concludes.
#[derive(Debug)]
pub(super) struct Guesses {
    /// The tuples looked at, and how many people each stands for.
    pub(super) tuples: Vec<(u32, u64)>,
    /// For each of them, how many rows it could be.
    pub(super) candidates: Vec<u64>,
    /// For each sensitive column, the guess for each of them.
    pub(super) values: Vec<Vec<Guess>>,
    /// How many people could be in each group; nothing if people were sampled.
    pub(super) people_of_group: Option<Vec<u64>>,
}

impl<'a> Knowledge<'a> {
    /// The quasi values of everybody; `places` are those of the quasi columns.
    pub(super) fn of(original: &'a Microdata, places: &[usize]) -> Self {
        let census = &original.census;
        let tuples = places.iter().map(|place| census.quasi[*place].as_slice());
        Self { tuples: tuples.collect(), people: &census.rows }
    }
}

/// Links everybody.
pub(super) fn guess(view: &View, covers: &Covers, known: &Knowledge<'_>) -> Guesses {
    guess_within(view, covers, known, MOST_STEPS)
}

fn guess_within(
    view: &View,
    covers: &Covers,
    known: &Knowledge<'_>,
    most_steps: u64,
) -> Guesses {
    let guesser = Guesser::new(view);
    let n_tuples = known.people.len();
    let everybody = || known.people.iter().copied().zip(0u32..).map(|(n, t)| (t, n));
    if let Some(lookup) = Lookup::new(view, covers) {
        let tuples = everybody().collect();
        return gather(tuples, view, &guesser, |portion, emit| {
            for (tuple, people) in portion {
                let group = lookup.group(covers, known, *tuple as usize);
                emit(*people, group.as_slice());
            }
        });
    }

    let trie = Trie::new(view, covers);
    let probes = n_tuples.min(64);
    let mut walk = Walk::new(&trie, covers, known);
    for probe in 0..probes {
        walk.forget();
        let groups = walk.groups((probe * n_tuples / probes) as u32);
        let values: usize = groups.iter().map(|g| view.n_entries(*g as usize)).sum();
        walk.steps += values as u64 * view.sensitive.len() as u64;
    }
    let steps = walk.steps / probes.max(1) as u64 + 1;
    let affordable = (most_steps / steps).max(1000);
    let sampled = affordable < n_tuples as u64;
    let mut tuples: Vec<(u32, u64)> =
        if sampled { sample(known.people, affordable) } else { everybody().collect() };
    tuples.par_sort_unstable_by(|a, b| {
        let key = |tuple: u32| {
            trie.order.iter().map(move |c| known.tuples[*c][tuple as usize])
        };
        key(a.0).cmp(key(b.0))
    });
    let mut found = gather(tuples, view, &guesser, |portion, emit| {
        let mut walk = Walk::new(&trie, covers, known);
        for (tuple, people) in portion {
            emit(*people, walk.groups(*tuple));
        }
    });
    if sampled {
        found.people_of_group = None;
    }
    found
}

/// People at equal distances in the order of their tuples: the tuple of each, and how many
/// of the chosen have it.
fn sample(people: &[u64], n: u64) -> Vec<(u32, u64)> {
    let total: u64 = people.iter().sum();
    let n = n.min(total);
    // The person at place p is chosen if a multiple of total / n falls on it.
    let chosen_before = |person: u64| {
        (u128::from(person) * u128::from(n)).div_ceil(u128::from(total.max(1)))
    };
    let mut before = 0;
    let mut chosen = Vec::new();
    for (tuple, n_people) in (0u32..).zip(people) {
        let here = chosen_before(before + n_people) - chosen_before(before);
        before += n_people;
        if here > 0 {
            chosen.push((tuple, here as u64));
        }
    }
    chosen
}

/// Runs `link` over portions of the tuples on all threads, and guesses from the groups it
/// emits. The result does not depend on the threads.
fn gather<L>(
    tuples: Vec<(u32, u64)>,
    view: &View,
    guesser: &Guesser<'_>,
    link: L,
) -> Guesses
where
    L: Fn(&[(u32, u64)], &mut dyn FnMut(u64, &[u32])) + Sync,
{
    let people_of_group: Vec<AtomicU64> =
        (0..view.n_groups()).map(|_| AtomicU64::new(0)).collect();
    let portions: Vec<(Vec<u64>, Vec<Vec<Guess>>)> = tuples
        .par_chunks(PORTION)
        .map_init(
            || guesser.scratch(),
            |scratch, portion| {
                let mut candidates = Vec::with_capacity(portion.len());
                let mut values: Vec<Vec<Guess>> =
                    vec![Vec::with_capacity(portion.len()); view.sensitive.len()];
                link(portion, &mut |people, groups| {
                    for group in groups {
                        people_of_group[*group as usize]
                            .fetch_add(people, Ordering::Relaxed);
                    }
                    candidates
                        .push(groups.iter().map(|g| view.sizes[*g as usize]).sum());
                    for (place, values) in values.iter_mut().enumerate() {
                        values.push(guesser.guess(place, groups, &mut scratch[place]));
                    }
                });
                (candidates, values)
            },
        )
        .collect();
    let mut candidates = Vec::with_capacity(tuples.len());
    let mut values: Vec<Vec<Guess>> =
        vec![Vec::with_capacity(tuples.len()); view.sensitive.len()];
    for (more, guesses) in portions {
        candidates.extend(more);
        for (column, guesses) in values.iter_mut().zip(guesses) {
            column.extend(guesses);
        }
    }
    let people_of_group = people_of_group.into_iter().map(AtomicU64::into_inner);
    let people_of_group = Some(people_of_group.collect());
    Guesses { tuples, candidates, values, people_of_group }
}

/// The group of every combination of cells, for columns whose cells do not overlap.
struct Lookup {
    // One a column: what a cell's number is multiplied with.
    factors: Vec<u128>,
    groups: HashMap<u128, u32>,
}

impl Lookup {
    /// Nothing if cells overlap or there are too many combinations to number.
    fn new(view: &View, covers: &Covers) -> Option<Self> {
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

    fn group(
        &self,
        covers: &Covers,
        known: &Knowledge<'_>,
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
struct Trie {
    /// The columns in the order of the trie.
    order: Vec<usize>,
    /// Nodes of each depth, children of a node side by side and ascending by their cell.
    depths: Vec<Vec<Branch>>,
    /// The group of each node of the last depth.
    groups: Vec<u32>,
}

struct Branch {
    cell: u32,
    // Its children are nodes `start..end` of the next depth.
    start: u32,
    end: u32,
}

impl Trie {
    fn new(view: &View, covers: &Covers) -> Self {
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
        let mut depths: Vec<Vec<Branch>> = order.iter().map(|_| Vec::new()).collect();
        for (place, group) in groups.iter().enumerate() {
            let shared = place.checked_sub(1).map_or(0, |last| {
                let same =
                    |depth: &usize| cell(*depth, groups[last]) == cell(*depth, *group);
                (0..order.len()).take_while(same).count()
            });
            for depth in shared..order.len() {
                let start = depths.get(depth + 1).map_or(0, Vec::len) as u32;
                depths[depth].push(Branch {
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
}

/// One worker's way through the trie: what the last tuple matched at every depth, so that
/// the next one starts where they differ.
struct Walk<'a> {
    trie: &'a Trie,
    covers: &'a Covers,
    known: &'a Knowledge<'a>,
    last: Option<u32>,
    // Nodes of each depth that match the last tuple.
    matching: Vec<Vec<u32>>,
    groups: Vec<u32>,
    steps: u64,
}

impl<'a> Walk<'a> {
    fn new(trie: &'a Trie, covers: &'a Covers, known: &'a Knowledge<'a>) -> Self {
        let matching = vec![Vec::new(); trie.order.len()];
        Self { trie, covers, known, last: None, matching, groups: Vec::new(), steps: 0 }
    }

    fn forget(&mut self) {
        self.last = None;
    }

    /// The groups that could be the tuple's, ascending.
    fn groups(&mut self, tuple: u32) -> &[u32] {
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
    nodes: &[Branch],
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

#[cfg(test)]
#[path = "linkage_tests.rs"]
mod tests;
