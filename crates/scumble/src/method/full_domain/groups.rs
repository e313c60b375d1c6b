//! Grouping tuples at a node of the lattice, fast.

use std::mem;

use hashbrown::HashMap;

use crate::hierarchy::Column;
use crate::method::full_domain::codes::{KeyShares, NodeCodes};
use crate::method::full_domain::lattice::LatticeNode;
use crate::method::full_domain::tuples::MergedTuples;
use crate::table::{GroupId, NodeId, Of, TupleId};

/// For each column, how the nodes of one level map to those of a higher one.
#[derive(Debug)]
pub(super) struct LevelMaps {
    // maps[column][from][to][node on level from] = node on level to.
    maps: Vec<Vec<Vec<Of<NodeId, NodeId>>>>,
    // sizes[column][level] = number of nodes.
    sizes: Vec<Vec<u64>>,
}

impl LevelMaps {
    pub(super) fn of(columns: &[Column]) -> Self {
        let maps = columns.iter().map(|column| {
            let levels = column.hierarchy.levels();
            let from = levels.iter().map(|fine| {
                let to = levels.iter().map(|coarse| {
                    let mut map = Of::repeat(NodeId::default(), fine.nodes.len());
                    for (node, above) in fine.node_of.iter().zip(&coarse.node_of) {
                        map[*node] = *above;
                    }
                    map
                });
                to.collect()
            });
            from.collect()
        });
        let sizes = columns.iter().map(|column| {
            column
                .hierarchy
                .levels()
                .iter()
                .map(|level| level.nodes.len() as u64)
                .collect()
        });
        Self { maps: maps.collect(), sizes: sizes.collect() }
    }

    /// How many tuples of nodes there could be at a lattice node.
    pub(super) fn n_combinations(&self, node: &[u8]) -> f64 {
        let sizes = self.sizes.iter().zip(node);
        sizes.map(|(sizes, level)| sizes[usize::from(*level)] as f64).product()
    }

    /// How many nodes a column has on a level.
    pub(super) fn n_nodes(&self, column: usize, level: u8) -> u64 {
        self.sizes[column][level as usize]
    }

    pub(super) fn map(&self, column: usize, from: u8, to: u8) -> &Of<NodeId, NodeId> {
        &self.maps[column][from as usize][to as usize]
    }
}

/// Scratch space that assigns tuples to groups; reused from node to node.
#[derive(Debug, Default)]
pub(super) struct GroupAssigner {
    /// The rows of each group.
    pub(super) sizes: Of<GroupId, u64>,
    /// The first tuple of each group.
    pub(super) first: Of<GroupId, TupleId>,
    // The people of each group, if there is a population.
    people: Option<Of<GroupId, u64>>,
    // The group of each tuple, if it was asked for.
    of: Of<TupleId, GroupId>,
    // Between calls every slot is EMPTY.
    slots: Vec<GroupId>,
    // Rows by key; between calls all are 0.
    counts: Vec<u64>,
    used: Vec<u32>,
    index: HashMap<u64, GroupId, Mix>,
    members: Vec<TupleId>,
    member_starts: Vec<u32>,
}

const EMPTY: GroupId = GroupId::new(u32::MAX);

/// Key spaces up to this size are looked up in a plain array; larger ones in a hash table.
const DIRECT: u64 = 1 << 22;

/// Keys are made for so many tuples at a time: they stay in the first-level cache.
const BLOCK: usize = 1024;

/// A plain array may have so many places for each tuple: more of them are looked up more
/// slowly than a hash table.
const PLACES: u64 = 8;

/// So many places are few in any case.
const FEW_PLACES: u64 = 1 << 14;

/// A column that enters a key, with the share of the key that each node stands for.
type KeyPart<'a> = (&'a NodeCodes, KeyShares);

impl GroupAssigner {
    pub(super) fn n_groups(&self) -> usize {
        self.sizes.len()
    }

    /// The people of a group: of the population, or else its rows.
    pub(super) fn people(&self, group: GroupId) -> u64 {
        self.people.as_ref().map_or(self.sizes[group], |people| people[group])
    }

    /// The people of each group, if there is a population.
    pub(super) fn all_people(&self) -> Option<&Of<GroupId, u64>> {
        self.people.as_ref()
    }

    /// The group of each tuple, after `assign`.
    pub(super) fn of(&self) -> &Of<TupleId, GroupId> {
        &self.of
    }

    /// Sizes and first tuples of the groups at `node`, which must not lie below the node
    /// the tuples are at.
    pub(super) fn count(
        &mut self,
        tuples: &MergedTuples,
        ladder: &LevelMaps,
        node: &LatticeNode,
    ) {
        self.group::<false>(tuples, ladder, node);
    }

    /// As `count`, and the group of each tuple.
    pub(super) fn assign(
        &mut self,
        tuples: &MergedTuples,
        ladder: &LevelMaps,
        node: &LatticeNode,
    ) {
        self.group::<true>(tuples, ladder, node);
    }

    fn group<const WITH_OF: bool>(
        &mut self,
        tuples: &MergedTuples,
        ladder: &LevelMaps,
        node: &LatticeNode,
    ) {
        let mut parts: Vec<KeyPart<'_>> = Vec::new();
        let mut space: u64 = 1;
        // Groups of the columns so far, if their key and the rest do not fit in 64 bits.
        let mut so_far: Of<TupleId, GroupId> = Of::new();
        for (column, nodes) in tuples.nodes.iter().enumerate() {
            let size = ladder.sizes[column][node[column] as usize];
            if size == 1 {
                continue;
            }
            let map = ladder.map(column, tuples.at[column], node[column]);
            if space.checked_mul(size).is_none() {
                self.number::<true>(&tuples.rows, &so_far, &parts, space);
                space = self.sizes.len() as u64;
                so_far = mem::take(&mut self.of);
                parts.clear();
            }
            let stride = space;
            space *= size;
            let share = |node: NodeId| u64::from(node.get()) * stride;
            parts.push((nodes, nodes.shares(map, share)));
        }
        let Some(people) = &tuples.people else {
            self.people = None;
            return self.number::<WITH_OF>(&tuples.rows, &so_far, &parts, space);
        };
        self.number::<true>(&tuples.rows, &so_far, &parts, space);
        let sums = self.people.get_or_insert_default();
        sums.list().clear();
        sums.list().resize(self.sizes.len(), 0);
        for (group, n) in self.of.iter().zip(people) {
            sums[*group] += n;
        }
    }

    /// Numbers the distinct keys in the order of their first tuple.
    fn number<const WITH_OF: bool>(
        &mut self,
        rows: &[u64],
        so_far: &[GroupId],
        parts: &[KeyPart<'_>],
        space: u64,
    ) {
        self.of.list().clear();
        self.sizes.list().clear();
        self.first.list().clear();
        let direct = space <= DIRECT.min(PLACES * rows.len() as u64 + FEW_PLACES);
        // Counts alone stand in the array itself, if no tuple is without rows.
        let counting = direct && !WITH_OF && !rows.contains(&0);
        if counting && self.counts.len() < space as usize {
            self.counts.resize(space as usize, 0);
        }
        if direct && !counting && self.slots.len() < space as usize {
            self.slots.resize(space as usize, EMPTY);
        }
        self.index.clear();
        self.used.clear();
        let mut keys = [0u64; BLOCK];
        for (block, rows) in rows.chunks(BLOCK).enumerate() {
            let start = block * BLOCK;
            let keys = &mut keys[..rows.len()];
            match so_far.get(start..start + rows.len()) {
                Some(groups) => {
                    for (key, group) in keys.iter_mut().zip(groups) {
                        *key = u64::from(group.get());
                    }
                }
                None => keys.fill(0),
            }
            for (nodes, share) in parts {
                nodes.add(share, start, keys);
            }
            if counting {
                for (place, (key, n)) in keys.iter().zip(rows).enumerate() {
                    let count = &mut self.counts[*key as usize];
                    if *count == 0 {
                        self.used.push(*key as u32);
                        self.first.push(TupleId::new((start + place) as u32));
                    }
                    *count += n;
                }
                continue;
            }
            for (place, (key, n)) in keys.iter().zip(rows).enumerate() {
                let next = GroupId::new(self.sizes.len() as u32);
                let group = if direct {
                    let slot = &mut self.slots[*key as usize];
                    if *slot == EMPTY {
                        *slot = next;
                        self.used.push(*key as u32);
                    }
                    *slot
                } else {
                    *self.index.entry(*key).or_insert(next)
                };
                if group == next {
                    self.sizes.push(0);
                    self.first.push(TupleId::new((start + place) as u32));
                }
                self.sizes[group] += n;
                if WITH_OF {
                    self.of.list().push(group);
                }
            }
        }
        for key in &self.used {
            match counting {
                true => {
                    self.sizes.list().push(mem::take(&mut self.counts[*key as usize]))
                }
                false => self.slots[*key as usize] = EMPTY,
            }
        }
    }

    /// Lists the tuples of each group, for `members`, after `assign`.
    pub(super) fn sort_members(&mut self) {
        self.member_starts.clear();
        self.member_starts.resize(self.n_groups() + 1, 0);
        for group in &self.of {
            self.member_starts[group.index() + 1] += 1;
        }
        for group in 0..self.n_groups() {
            self.member_starts[group + 1] += self.member_starts[group];
        }
        let mut next = self.member_starts.clone();
        self.members.clear();
        self.members.resize(self.of.len(), TupleId::default());
        for (tuple, group) in self.of.pairs() {
            let place = &mut next[group.index()];
            self.members[*place as usize] = tuple;
            *place += 1;
        }
    }

    /// The tuples of a group, after `sort_members`.
    pub(super) fn members(&self, group: GroupId) -> &[TupleId] {
        let place = group.index();
        let range = self.member_starts[place]..self.member_starts[place + 1];
        &self.members[range.start as usize..range.end as usize]
    }
}

/// Keys are mixed-radix numbers: one multiplication spreads them well enough.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Mix(u64);

impl std::hash::Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        let product = u128::from(self.0 ^ key) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl std::hash::BuildHasher for Mix {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Self(0x243F_6A88_85A3_08D3)
    }
}
