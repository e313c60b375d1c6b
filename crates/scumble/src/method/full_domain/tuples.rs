//! Distinct tuples of nodes, as fine as they are still needed.

use hashbrown::HashMap;

use crate::method::full_domain::groups::{Groups, Ladder};
use crate::method::full_domain::lattice::Node;
use crate::table::{Census, Histogram};

/// Distinct tuples of nodes, with their rows and sensitive values.
#[derive(Debug, Clone)]
pub(super) struct Tuples {
    /// The lattice node whose nodes the codes are.
    pub(super) at: Node,
    /// For each column, the code of every tuple.
    pub(super) codes: Vec<Vec<u32>>,
    /// How many rows have the tuple.
    pub(super) rows: Vec<u64>,
    /// How many people have it, if there is a population.
    pub(super) people: Option<Vec<u64>>,
    /// Which sensitive values occur; nothing if no promise looks.
    values: Option<Values>,
}

/// The sensitive values of tuples. Several sensitive columns are one here.
#[derive(Debug, Clone)]
struct Values {
    /// Tuple t has the entries `starts[t]..starts[t + 1]`.
    starts: Vec<u32>,
    /// The combination of values of each entry, and its rows.
    entries: Vec<(u32, u64)>,
    /// For each combination, the code in each sensitive column.
    combinations: std::sync::Arc<Vec<Vec<u32>>>,
}

impl Tuples {
    /// The tuples of a census, on level 0 of every column.
    pub(super) fn of(census: &Census, with_values: bool) -> Self {
        Self {
            at: vec![0; census.quasi.len()],
            codes: census.quasi.clone(),
            rows: census.rows.clone(),
            people: census.people.clone(),
            values: with_values.then(|| Values::of(census)),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds the sensitive values of a tuple to one histogram per sensitive column.
    pub(super) fn add_to(&self, tuple: usize, histograms: &mut [Histogram]) {
        let Some(values) = &self.values else { return };
        for (combination, rows) in values.of_tuple(tuple) {
            let codes = &values.combinations[*combination as usize];
            for (code, histogram) in codes.iter().zip(histograms.iter_mut()) {
                histogram.add(*code, *rows);
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
        match self.values {
            Some(_) => groups.assign(self, ladder, node),
            None => groups.count(self, ladder, node),
        }
        self.merged(ladder, node, groups)
    }

    /// As `coarsened`, when `groups` were made of these tuples at this node already.
    pub(super) fn merged(
        &self,
        ladder: &Ladder,
        node: &Node,
        groups: &mut Groups,
    ) -> Self {
        let columns = self.codes.iter().enumerate().map(|(column, fine)| {
            let map = ladder.map(column, self.at[column], node[column]);
            groups
                .first
                .iter()
                .map(|tuple| map[fine[*tuple as usize] as usize])
                .collect()
        });
        Self {
            at: node.clone(),
            codes: columns.collect(),
            rows: groups.sizes.clone(),
            people: groups.all_people().cloned(),
            values: self.values.as_ref().map(|values| {
                groups.sort_members();
                values.merged(groups)
            }),
        }
    }
}

impl Values {
    fn of(census: &Census) -> Self {
        let mut index: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut combinations = Vec::new();
        let mut entries = Vec::with_capacity(census.entries.len());
        let mut key = Vec::with_capacity(census.sensitive.len());
        for (entry, rows) in census.entries.iter().enumerate() {
            key.clear();
            key.extend(census.sensitive.iter().map(|codes| codes[entry]));
            let combination = match index.get(&key) {
                Some(combination) => *combination,
                None => {
                    combinations.push(key.clone());
                    index.insert(key.clone(), combinations.len() as u32 - 1);
                    combinations.len() as u32 - 1
                }
            };
            entries.push((combination, *rows));
        }
        let starts = census.starts.iter().map(|start| *start as u32).collect();
        Self { starts, entries, combinations: combinations.into() }
    }

    fn of_tuple(&self, tuple: usize) -> &[(u32, u64)] {
        &self.entries[self.starts[tuple] as usize..self.starts[tuple + 1] as usize]
    }

    /// Adds up the entries of each group.
    fn merged(&self, groups: &Groups) -> Self {
        let mut starts = vec![0];
        let mut entries = Vec::new();
        let mut sums = vec![0u64; self.combinations.len()];
        let mut seen: Vec<u32> = Vec::new();
        for group in 0..groups.n_groups() {
            for tuple in groups.members(group) {
                for (combination, rows) in self.of_tuple(*tuple as usize) {
                    let sum = &mut sums[*combination as usize];
                    if *sum == 0 {
                        seen.push(*combination);
                    }
                    *sum += rows;
                }
            }
            for combination in seen.drain(..) {
                entries.push((combination, sums[combination as usize]));
                sums[combination as usize] = 0;
            }
            starts.push(entries.len() as u32);
        }
        Self { starts, entries, combinations: self.combinations.clone() }
    }
}
