//! Grouping tuples at a node of the lattice, fast.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use crate::hierarchy::Column;
use crate::method::full_domain::lattice::Node;
use crate::table::Census;

/// For each column, how the nodes of one level map to those of a higher one.
#[derive(Debug)]
pub(super) struct Ladder {
    // maps[column][from][to][node on level from] = node on level to.
    maps: Vec<Vec<Vec<Vec<u32>>>>,
    // sizes[column][level] = number of nodes.
    sizes: Vec<Vec<u64>>,
}

impl Ladder {
    pub(super) fn of(columns: &[Column]) -> Self {
        let maps = columns.iter().map(|column| {
            let levels = column.hierarchy.levels();
            let from = levels.iter().map(|fine| {
                let to = levels.iter().map(|coarse| {
                    let mut map = vec![0; fine.nodes.len()];
                    for (node, above) in fine.node_of.iter().zip(&coarse.node_of) {
                        map[*node as usize] = *above;
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

    pub(super) fn map(&self, column: usize, from: u8, to: u8) -> &[u32] {
        &self.maps[column][from as usize][to as usize]
    }
}

/// Distinct tuples of nodes, with their rows and sensitive values.
#[derive(Debug, Clone)]
pub(super) struct Tuples {
    /// The lattice node whose nodes the codes are.
    pub(super) at: Node,
    pub(super) codes: Vec<Vec<u32>>,
    pub(super) rows: Vec<u64>,
    /// Sensitive entries of tuple t: `starts[t]..starts[t + 1]`; empty if no promise looks.
    starts: Vec<usize>,
    values: Vec<Vec<u32>>,
    entries: Vec<u64>,
}

impl Tuples {
    /// The tuples of a census, on level 0 of every column.
    pub(super) fn of(census: &Census, with_values: bool) -> Self {
        let at = vec![0; census.quasi.len()];
        let (codes, rows) = (census.quasi.clone(), census.rows.clone());
        let (starts, values, entries) = if with_values {
            (census.starts.clone(), census.sensitive.clone(), census.entries.clone())
        } else {
            (Vec::new(), Vec::new(), Vec::new())
        };
        Self { at, codes, rows, starts, values, entries }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    fn has_values(&self) -> bool {
        !self.starts.is_empty()
    }

    /// Adds the sensitive values of a tuple to one histogram per sensitive column.
    pub(super) fn add_to(
        &self,
        tuple: usize,
        histograms: &mut [crate::table::Histogram],
    ) {
        for (codes, histogram) in self.values.iter().zip(histograms) {
            for entry in self.starts[tuple]..self.starts[tuple + 1] {
                histogram.add(codes[entry], self.entries[entry]);
            }
        }
    }

    /// The same rows at a coarser node, tuples that fall together merged.
    pub(super) fn coarsened(
        &self,
        ladder: &Ladder,
        node: &Node,
        groups: &mut Groups,
    ) -> Self {
        groups.assign(self, ladder, node);
        let n = groups.n_groups();
        let mut codes: Vec<Vec<u32>> = Vec::with_capacity(self.codes.len());
        for (column, fine) in self.codes.iter().enumerate() {
            let map = ladder.map(column, self.at[column], node[column]);
            codes.push(
                groups
                    .first
                    .iter()
                    .map(|tuple| map[fine[*tuple as usize] as usize])
                    .collect(),
            );
        }
        let mut coarse = Self {
            at: node.clone(),
            codes,
            rows: groups.sizes.clone(),
            starts: Vec::new(),
            values: vec![Vec::new(); self.values.len()],
            entries: Vec::new(),
        };
        if self.has_values() {
            groups.sort_members();
            coarse.starts.push(0);
            let mut merged: HashMap<Vec<u32>, usize> = HashMap::new();
            for group in 0..n {
                merged.clear();
                for tuple in groups.members(group) {
                    let tuple = *tuple as usize;
                    for entry in self.starts[tuple]..self.starts[tuple + 1] {
                        let value =
                            self.values.iter().map(|codes| codes[entry]).collect();
                        match merged.entry(value) {
                            Entry::Occupied(place) => {
                                coarse.entries[*place.get()] += self.entries[entry];
                            }
                            Entry::Vacant(place) => {
                                for (column, code) in
                                    coarse.values.iter_mut().zip(place.key())
                                {
                                    column.push(*code);
                                }
                                place.insert(coarse.entries.len());
                                coarse.entries.push(self.entries[entry]);
                            }
                        }
                    }
                }
                coarse.starts.push(coarse.entries.len());
            }
        }
        coarse
    }
}

/// Scratch space that assigns tuples to groups; reused from node to node.
#[derive(Debug)]
pub(super) struct Groups {
    /// The group of each tuple.
    pub(super) of: Vec<u32>,
    /// The rows of each group.
    pub(super) sizes: Vec<u64>,
    /// The first tuple of each group.
    pub(super) first: Vec<u32>,
    keys: Vec<u64>,
    // Between calls every slot is EMPTY.
    slots: Vec<u32>,
    index: HashMap<u64, u32, Mix>,
    members: Vec<u32>,
    member_starts: Vec<u32>,
}

const EMPTY: u32 = u32::MAX;

/// Key spaces up to this size are looked up in a plain array of 4 MB, which stays in the
/// second-level cache where it matters; larger ones in a hash table.
const DIRECT: u64 = 1 << 20;

impl Groups {
    pub(super) fn new() -> Self {
        Self {
            of: Vec::new(),
            sizes: Vec::new(),
            first: Vec::new(),
            keys: Vec::new(),
            slots: Vec::new(),
            index: HashMap::default(),
            members: Vec::new(),
            member_starts: Vec::new(),
        }
    }

    pub(super) fn n_groups(&self) -> usize {
        self.sizes.len()
    }

    /// Groups `tuples` at `node`, which must not lie below the node they are at.
    pub(super) fn assign(&mut self, tuples: &Tuples, ladder: &Ladder, node: &Node) {
        self.keys.clear();
        self.keys.resize(tuples.len(), 0);
        let mut space: u64 = 1;
        for (column, codes) in tuples.codes.iter().enumerate() {
            let size = ladder.sizes[column][node[column] as usize];
            if size == 1 {
                continue;
            }
            if space.checked_mul(size).is_none() {
                // The key would not fit: number what there is so far and go on with that.
                self.number(tuples.len(), space);
                for (key, group) in self.keys.iter_mut().zip(&self.of) {
                    *key = u64::from(*group);
                }
                space = self.first.len() as u64;
            }
            space *= size;
            let map = ladder.map(column, tuples.at[column], node[column]);
            for (key, code) in self.keys.iter_mut().zip(codes) {
                *key = *key * size + u64::from(map[*code as usize]);
            }
        }
        self.number(tuples.len(), space);
        self.sizes.clear();
        self.sizes.resize(self.first.len(), 0);
        for (group, rows) in self.of.iter().zip(&tuples.rows) {
            self.sizes[*group as usize] += rows;
        }
    }

    /// Numbers the distinct keys in the order of their first tuple.
    fn number(&mut self, n_tuples: usize, space: u64) {
        self.of.clear();
        self.of.reserve(n_tuples);
        self.first.clear();
        if space <= DIRECT {
            if self.slots.len() < space as usize {
                self.slots.resize(space as usize, EMPTY);
            }
            for (tuple, key) in self.keys.iter().enumerate() {
                let slot = &mut self.slots[*key as usize];
                if *slot == EMPTY {
                    *slot = self.first.len() as u32;
                    self.first.push(tuple as u32);
                }
                self.of.push(*slot);
            }
            for tuple in &self.first {
                self.slots[self.keys[*tuple as usize] as usize] = EMPTY;
            }
        } else {
            self.index.clear();
            for (tuple, key) in self.keys.iter().enumerate() {
                let group = *self.index.entry(*key).or_insert_with(|| {
                    self.first.push(tuple as u32);
                    self.first.len() as u32 - 1
                });
                self.of.push(group);
            }
        }
    }

    /// Lists the tuples of each group, for `members`.
    pub(super) fn sort_members(&mut self) {
        self.member_starts.clear();
        self.member_starts.resize(self.n_groups() + 1, 0);
        for group in &self.of {
            self.member_starts[*group as usize + 1] += 1;
        }
        for group in 0..self.n_groups() {
            self.member_starts[group + 1] += self.member_starts[group];
        }
        let mut next = self.member_starts.clone();
        self.members.clear();
        self.members.resize(self.of.len(), 0);
        for (tuple, group) in self.of.iter().enumerate() {
            let place = &mut next[*group as usize];
            self.members[*place as usize] = tuple as u32;
            *place += 1;
        }
    }

    /// The tuples of a group, after `sort_members`.
    pub(super) fn members(&self, group: usize) -> &[u32] {
        let range = self.member_starts[group]..self.member_starts[group + 1];
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
        let product =
            u128::from(self.0 ^ key) * 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl std::hash::BuildHasher for Mix {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Self(0x243F_6A88_85A3_08D3)
    }
}
