//! Distinct tuples of nodes, as fine as they are still needed.

use hashbrown::HashMap;

use crate::method::full_domain::codes::NodeCodes;
use crate::method::full_domain::groups::{GroupAssigner, LevelMaps};
use crate::method::full_domain::lattice::LatticeNode;
use crate::table::{
    Census, Code, EntryId, Histogram, Ids, NodeId, Of, Persons, TupleId, ids,
};

ids! {
    /// Values of all sensitive columns together.
    CombinationId
}

/// Distinct tuples of nodes, with their rows and sensitive values.
#[derive(Debug, Clone)]
pub(super) struct MergedTuples {
    /// The levels of the nodes.
    pub(super) at: LatticeNode,
    /// For each column, the node of every tuple.
    pub(super) nodes: Vec<NodeCodes>,
    /// How many rows have the tuple.
    pub(super) rows: Of<TupleId, u64>,
    /// How many people have it, if there is a population.
    pub(super) people: Option<Of<TupleId, u64>>,
    /// Which sensitive values occur; nothing if no promise looks.
    values: Option<TupleValues>,
}

/// The sensitive values of tuples. Several sensitive columns are one here, unless people are
/// told apart: then each value is counted by itself, and so are they.
#[derive(Debug, Clone)]
struct TupleValues {
    /// The first entry of each tuple, and at last the one behind all.
    starts: Of<TupleId, EntryId>,
    /// The combination of values of each entry, and its rows.
    entries: Of<EntryId, (CombinationId, u64)>,
    /// For each combination, the first histogram it adds to, and the code in this and those
    /// that follow.
    combinations: std::sync::Arc<Of<CombinationId, (usize, Vec<Code>)>>,
}

impl MergedTuples {
    /// The tuples of a census, on level 0 of every column.
    pub(super) fn of(census: &Census, with_values: bool) -> Self {
        Self {
            at: vec![0; census.quasi.len()],
            // On level 0 every value is a node.
            nodes: census.quasi.iter().map(|codes| level_zero(codes)).collect(),
            rows: census.rows.clone(),
            people: census.people.clone(),
            values: with_values.then(|| TupleValues::of(census)),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds the sensitive values of a tuple to one histogram per sensitive column.
    pub(super) fn add_to(&self, tuple: TupleId, histograms: &mut [Histogram]) {
        let Some(values) = &self.values else { return };
        for (combination, rows) in values.of_tuple(tuple) {
            let (first, codes) = &values.combinations[*combination];
            for (code, histogram) in codes.iter().zip(&mut histograms[*first..]) {
                histogram.add(*code, *rows);
            }
        }
    }

    /// The same rows at a coarser node, tuples that fall together merged.
    pub(super) fn coarsened(
        &self,
        ladder: &LevelMaps,
        node: &LatticeNode,
        groups: &mut GroupAssigner,
    ) -> Self {
        match self.values {
            Some(_) => groups.assign(self, ladder, node),
            None => groups.count(self, ladder, node),
        }
        self.merged(ladder, node, groups)
    }

    /// As `coarsened`, when `groups` were made of these tuples at this node already.
    pub(super) fn merged(
        &self,
        ladder: &LevelMaps,
        node: &LatticeNode,
        groups: &mut GroupAssigner,
    ) -> Self {
        let columns = self.nodes.iter().enumerate().map(|(column, fine)| {
            let map = ladder.map(column, self.at[column], node[column]);
            let n_nodes = ladder.n_nodes(column, node[column]) as usize;
            NodeCodes::of(
                n_nodes,
                groups.first.iter().map(|tuple| map[fine.node(*tuple)]),
            )
        });
        Self {
            at: node.clone(),
            nodes: columns.collect(),
            rows: groups.sizes.to_vec().into(),
            people: groups.all_people().map(|people| people.to_vec().into()),
            values: self.values.as_ref().map(|values| {
                groups.sort_members();
                values.merged(groups)
            }),
        }
    }
}

fn level_zero(codes: &[Code]) -> NodeCodes {
    let n_nodes = codes.iter().map(|code| code.index() + 1).max().unwrap_or(0);
    NodeCodes::of(n_nodes, codes.iter().map(|code| NodeId::new(code.get())))
}

impl TupleValues {
    fn of(census: &Census) -> Self {
        if let Some(persons) = &census.persons {
            return Self::of_persons(census, persons);
        }
        let mut index: HashMap<Vec<Code>, CombinationId> = HashMap::new();
        let mut combinations = Of::new();
        let mut entries = Vec::with_capacity(census.entries.len());
        let mut key = Vec::with_capacity(census.sensitive.len());
        for (entry, rows) in census.entries.pairs() {
            key.clear();
            key.extend(census.sensitive.iter().map(|codes| codes[entry]));
            let combination = match index.get(&key) {
                Some(combination) => *combination,
                None => {
                    let new = combinations.push((0, key.clone()));
                    index.insert(key.clone(), new);
                    new
                }
            };
            entries.push((combination, *rows));
        }
        let starts = census.starts().clone();
        Self { starts, entries: entries.into(), combinations: combinations.into() }
    }

    /// As [`Census::add_to`] has them.
    fn of_persons(census: &Census, persons: &Persons) -> Self {
        let mut index: HashMap<(usize, Code), CombinationId> = HashMap::new();
        let mut combinations = Of::new();
        let (mut starts, mut entries) = (Of::from(EntryId::of([0])), Of::new());
        for tuple in census.tuples() {
            for (column, code, n) in persons.each(tuple, census.sensitive.len()) {
                let new = || combinations.push((column, vec![code]));
                entries.push((*index.entry((column, code)).or_insert_with(new), n));
            }
            starts.push(EntryId::from_index(entries.len()));
        }
        Self { starts, entries, combinations: combinations.into() }
    }

    fn of_tuple(&self, tuple: TupleId) -> &[(CombinationId, u64)] {
        let own = Ids::between(self.starts[tuple], self.starts[tuple.next()]);
        self.entries.slice(&own)
    }

    /// Adds up the entries of each group.
    fn merged(&self, groups: &GroupAssigner) -> Self {
        let mut starts = Of::from(EntryId::of([0]));
        let mut entries = Of::new();
        let mut sums: Of<CombinationId, u64> = Of::repeat(0, self.combinations.len());
        let mut seen: Vec<CombinationId> = Vec::new();
        for group in groups.sizes.ids() {
            for tuple in groups.members(group) {
                for (combination, rows) in self.of_tuple(*tuple) {
                    let sum = &mut sums[*combination];
                    if *sum == 0 {
                        seen.push(*combination);
                    }
                    *sum += rows;
                }
            }
            for combination in seen.drain(..) {
                entries.push((combination, sums[combination]));
                sums[combination] = 0;
            }
            starts.push(EntryId::from_index(entries.len()));
        }
        Self { starts, entries, combinations: self.combinations.clone() }
    }
}
