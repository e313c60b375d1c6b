//! The counts as methods want them: per quasi tuple, how many rows and which values.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::table::{Code, Counts, EntryId, Ids, Of, Persons, TupleId};

/// Every distinct quasi tuple, how many rows have it, and with which sensitive values.
#[derive(Debug, Clone)]
pub struct Census {
    /// For each quasi column, the code of every tuple.
    pub quasi: Vec<Of<TupleId, Code>>,
    /// How many rows have the tuple.
    pub rows: Of<TupleId, u64>,
    /// How many people of the population have it, at least as many; nothing if there is no
    /// population. A tuple of the population need not have rows.
    pub people: Option<Of<TupleId, u64>>,
    /// For each sensitive column, the code of every entry.
    pub sensitive: Vec<Of<EntryId, Code>>,
    /// How many rows an entry stands for.
    pub entries: Of<EntryId, u64>,
    /// The first entry of each tuple, and at last the one behind all.
    starts: Of<TupleId, EntryId>,
    /// How many values each sensitive column has.
    pub sensitive_sizes: Vec<usize>,
    /// Who the rows are of, if the table says and somebody has several.
    pub persons: Option<Arc<Persons>>,
}

impl Census {
    /// Splits counts whose first `n_quasi` columns are the quasi columns.
    pub fn new(counts: Counts, n_quasi: usize, sensitive_sizes: Vec<usize>) -> Self {
        let mut columns = counts.columns;
        let sensitive = columns.split_off(n_quasi);
        let mut quasi: Vec<Of<TupleId, Code>> = vec![Of::new(); n_quasi];
        let mut rows: Of<TupleId, u64> = Of::new();
        let mut starts = Of::new();
        for (entry, n) in counts.rows.iter().enumerate() {
            let repeated = entry > 0
                && columns.iter().all(|column| column[entry] == column[entry - 1]);
            match rows.last_mut() {
                Some(last) if repeated => *last += n,
                _ => {
                    starts.push(EntryId::from_index(entry));
                    rows.push(*n);
                    for (column, codes) in columns.iter().zip(&mut quasi) {
                        codes.push(column[entry]);
                    }
                }
            }
        }
        starts.push(EntryId::from_index(counts.rows.len()));
        let (people, entries) = (None, counts.rows.into());
        let sensitive = sensitive.into_iter().map(Of::from).collect();
        let persons = None;
        Self {
            quasi,
            rows,
            people,
            sensitive,
            entries,
            starts,
            sensitive_sizes,
            persons,
        }
    }

    /// The same of counts that also tell people apart: who each is of, nothing if nobody
    /// knows.
    pub fn of_persons(
        counts: Counts,
        n_quasi: usize,
        sensitive_sizes: Vec<usize>,
        person: &[Option<Code>],
    ) -> Self {
        let differs = |columns: &[Vec<Code>], entry: usize| {
            entry == 0 || columns.iter().any(|codes| codes[entry] != codes[entry - 1])
        };
        let entries = 0..counts.rows.len();
        let mut tuple_of = Vec::with_capacity(counts.rows.len());
        let mut n_tuples = 0;
        for entry in entries.clone() {
            n_tuples += usize::from(differs(&counts.columns[..n_quasi], entry));
            tuple_of.push(TupleId::from_index(n_tuples - 1));
        }
        let sensitive = &counts.columns[n_quasi..];
        let persons =
            Persons::count(&tuple_of, n_tuples, sensitive, &counts.rows, person);
        let firsts: Vec<usize> =
            entries.filter(|entry| differs(&counts.columns, *entry)).collect();
        let ends = firsts.iter().skip(1).copied().chain([counts.rows.len()]);
        let rows = firsts.iter().zip(ends);
        let merged = Counts {
            rows: rows
                .map(|(start, end)| counts.rows[*start..end].iter().sum())
                .collect(),
            columns: counts
                .columns
                .iter()
                .map(|codes| firsts.iter().map(|entry| codes[*entry]).collect())
                .collect(),
        };
        let mut census = Self::new(merged, n_quasi, sensitive_sizes);
        census.persons = Some(Arc::new(persons));
        census
    }

    /// The same rows among the tuples of a population, which has these quasi codes, each
    /// tuple once, and so many people of each. Also how many rows have no person left in
    /// the population.
    pub fn within(
        self,
        quasi: Vec<Of<TupleId, Code>>,
        people: Of<TupleId, u64>,
    ) -> (Self, u64) {
        let key = |columns: &[Of<TupleId, Code>], tuple: TupleId| -> Vec<Code> {
            columns.iter().map(|codes| codes[tuple]).collect()
        };
        let mut held: HashMap<Vec<Code>, TupleId> =
            self.tuples().map(|tuple| (key(&self.quasi, tuple), tuple)).collect();
        let mut rows = Of::new();
        let mut starts = Of::from(EntryId::of([0]));
        let mut sensitive = vec![Vec::new(); self.sensitive.len()];
        let mut entries = Vec::with_capacity(self.entries.len());
        let mut missing = 0;
        let mut order = Vec::with_capacity(people.len());
        for (tuple, n) in people.pairs() {
            let held = held.remove(&key(&quasi, tuple));
            order.push(held);
            rows.push(held.map_or(0, |held| self.rows[held]));
            if let Some(held) = held {
                missing += self.people_of(held).saturating_sub(*n);
                let own = self.entries_of(held);
                for (to, from) in sensitive.iter_mut().zip(&self.sensitive) {
                    to.extend_from_slice(from.slice(&own));
                }
                entries.extend_from_slice(self.entries.slice(&own));
            }
            starts.push(EntryId::from_index(entries.len()));
        }
        missing += held.values().map(|tuple| self.people_of(*tuple)).sum::<u64>();
        let (people, entries) = (Some(people), entries.into());
        let persons =
            self.persons.as_ref().map(|persons| persons.reordered(&order).into());
        let sensitive = sensitive.into_iter().map(Of::from).collect();
        let within =
            Self { quasi, rows, people, sensitive, entries, starts, persons, ..self };
        (within, missing)
    }

    /// The same with people of the table in the place of rows, for whoever counts nothing
    /// else; nothing if a row is a person. Nobody may have rows of several tuples.
    pub fn of_people(&self) -> Option<Self> {
        self.persons.as_ref()?;
        let rows = self.tuples().map(|tuple| self.people_of(tuple)).collect();
        Some(Self { rows, persons: None, ..self.clone() })
    }

    /// How many people of the table have rows of a tuple.
    pub fn people_of(&self, tuple: TupleId) -> u64 {
        self.persons.as_ref().map_or(self.rows[tuple], |persons| persons.of(tuple))
    }

    /// The tuples that have rows, without the people who have none.
    #[must_use]
    pub fn without_others(&self) -> Self {
        let there = || self.tuples().filter(|tuple| self.rows[*tuple] > 0);
        let quasi = self.quasi.iter();
        let mut starts: Of<_, _> = there().map(|tuple| self.starts[tuple]).collect();
        starts.push(EntryId::from_index(self.entries.len()));
        let order: Vec<Option<TupleId>> = there().map(Some).collect();
        Self {
            persons: self.persons.as_ref().map(|all| all.reordered(&order).into()),
            quasi: quasi.map(|of| there().map(|tuple| of[tuple]).collect()).collect(),
            rows: there().map(|tuple| self.rows[tuple]).collect(),
            people: None,
            // Who has no rows has no entries, so these stay as they are.
            starts,
            ..self.clone()
        }
    }

    /// The tuples, in order.
    pub fn tuples(&self) -> Ids<TupleId> {
        self.rows.ids()
    }

    /// The entries of a tuple.
    #[inline]
    pub fn entries_of(&self, tuple: TupleId) -> Ids<EntryId> {
        Ids::between(self.starts[tuple], self.starts[tuple.next()])
    }

    /// The first entry of each tuple, and at last the one behind all.
    pub fn starts(&self) -> &Of<TupleId, EntryId> {
        &self.starts
    }

    /// The tuple of each entry.
    pub fn tuple_of(&self) -> Of<EntryId, TupleId> {
        let mut tuple_of = Vec::with_capacity(self.entries.len());
        for tuple in self.tuples() {
            tuple_of.resize(self.starts[tuple.next()].index(), tuple);
        }
        tuple_of.into()
    }

    /// How many distinct quasi tuples there are.
    pub fn n_tuples(&self) -> usize {
        self.rows.len()
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// How many people have each tuple: those of the population, or else the rows.
    pub fn people(&self) -> &Of<TupleId, u64> {
        self.people.as_ref().unwrap_or(&self.rows)
    }

    /// How many people there are.
    pub fn n_people(&self) -> u64 {
        self.people().iter().sum()
    }

    /// An empty histogram for each sensitive column; where people are told apart, and two
    /// for them.
    pub fn histograms(&self) -> Vec<Histogram> {
        let of_people = self.persons.iter().flat_map(|persons| persons.n_codes());
        let sizes = self.sensitive_sizes.iter().copied().chain(of_people);
        sizes.map(Histogram::new).collect()
    }

    /// Adds the sensitive values of a tuple to one histogram per sensitive column; where
    /// people are told apart, as these have them.
    pub fn add_to(&self, tuple: TupleId, histograms: &mut [Histogram]) {
        if let Some(persons) = &self.persons {
            for (place, code, n) in persons.each(tuple, self.sensitive.len()) {
                histograms[place].add(code, n);
            }
            return;
        }
        let entries = self.entries_of(tuple);
        for (codes, histogram) in self.sensitive.iter().zip(histograms) {
            for entry in entries.clone() {
                histogram.add(codes[entry], self.entries[entry]);
            }
        }
    }
}

/// How many rows of a group have each value of a sensitive column.
#[derive(Debug, Clone)]
pub struct Histogram {
    counts: Of<Code, u64>,
    // Every code whose count is above zero, once.
    seen: Vec<Code>,
    total: u64,
}

impl Histogram {
    /// An empty histogram over `size` values.
    pub fn new(size: usize) -> Self {
        Self { counts: Of::repeat(0, size), seen: Vec::new(), total: 0 }
    }

    /// A histogram with these counts.
    pub fn of(counts: &[u64]) -> Self {
        let mut histogram = Self::new(counts.len());
        for (code, n) in Code::first(counts.len()).zip(counts) {
            histogram.add(code, *n);
        }
        histogram
    }

    /// Adds `n` rows with the value `code`.
    pub fn add(&mut self, code: Code, n: u64) {
        let count = &mut self.counts[code];
        if *count == 0 && n > 0 {
            self.seen.push(code);
        }
        *count += n;
        self.total += n;
    }

    /// Takes `n` rows with the value `code` away again.
    pub fn take(&mut self, code: Code, n: u64) {
        self.counts[code] -= n;
        self.total -= n;
        if self.counts[code] == 0 {
            let place = self.seen.iter().position(|seen| *seen == code);
            place.map(|place| self.seen.swap_remove(place));
        }
    }

    /// How many rows have the value.
    pub fn count(&self, code: Code) -> u64 {
        self.counts[code]
    }

    /// The counts of all values, in the order of the domain.
    pub fn counts(&self) -> &Of<Code, u64> {
        &self.counts
    }

    /// The counts above zero, in no order.
    pub fn present(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        self.seen.iter().map(|code| (*code, self.counts[*code]))
    }

    /// How many different values occur.
    pub fn n_present(&self) -> usize {
        self.seen.len()
    }

    /// How many rows there are.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Forgets everything, in time proportional to the values seen.
    pub fn clear(&mut self) {
        for code in self.seen.drain(..) {
            self.counts[code] = 0;
        }
        self.total = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_census_groups_entries_by_quasi_tuple() {
        let columns = [[0, 0, 1], [3, 3, 3], [0, 1, 0]].map(Code::of).into();
        let census = Census::new(Counts { columns, rows: vec![4, 1, 2] }, 2, vec![2]);
        assert_eq!(*census.rows, [5, 2]);
        assert_eq!(census.quasi, [[0, 1], [3, 3]].map(|codes| Code::of(codes).into()));
        assert_eq!(*census.starts, EntryId::of([0, 2, 3]));
        let mut histograms = census.histograms();
        census.add_to(TupleId::new(0), &mut histograms);
        assert_eq!(**histograms[0].counts(), [4, 1]);
        histograms[0].clear();
        assert_eq!((histograms[0].total(), histograms[0].n_present()), (0, 0));
    }

    #[test]
    fn a_census_within_a_population_has_its_tuples() {
        let columns = [[0, 0, 1, 2], [0, 1, 0, 1]].map(Code::of).into();
        let census =
            Census::new(Counts { columns, rows: vec![4, 1, 2, 1] }, 1, vec![2]);
        let (quasi, people) = (Code::of([1, 3, 0]).into(), vec![1, 7, 5].into());
        let (census, missing) = census.within(vec![quasi], people);
        // One row of value 1 too many, and the only one of value 2.
        assert_eq!(missing, 2);
        assert_eq!(*census.rows, [2, 0, 5]);
        assert_eq!(census.n_people(), 13);
        assert_eq!(*census.starts, EntryId::of([0, 1, 1, 3]));
        let mut histograms = census.histograms();
        census.add_to(TupleId::new(2), &mut histograms);
        assert_eq!(**histograms[0].counts(), [4, 1]);
    }
}
