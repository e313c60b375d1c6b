//! The counts as methods want them: per quasi tuple, how many rows and which values.

use hashbrown::HashMap;

use crate::table::Counts;

/// Every distinct quasi tuple, how many rows have it, and with which sensitive values.
#[derive(Debug, Clone)]
pub struct Census {
    /// For each quasi column, the code of every tuple.
    pub quasi: Vec<Vec<u32>>,
    /// How many rows have the tuple.
    pub rows: Vec<u64>,
    /// How many people of the population have it, at least as many; nothing if there is no
    /// population. A tuple of the population need not have rows.
    pub people: Option<Vec<u64>>,
    /// For each sensitive column, the code of every entry.
    pub sensitive: Vec<Vec<u32>>,
    /// How many rows an entry stands for.
    pub entries: Vec<u64>,
    /// Tuple `t` has the entries `starts[t]..starts[t + 1]`.
    pub starts: Vec<usize>,
    /// How many values each sensitive column has.
    pub sensitive_sizes: Vec<usize>,
}

impl Census {
    /// Splits counts whose first `n_quasi` columns are the quasi columns.
    pub fn new(counts: Counts, n_quasi: usize, sensitive_sizes: Vec<usize>) -> Self {
        let mut columns = counts.columns;
        let sensitive = columns.split_off(n_quasi);
        let mut quasi: Vec<Vec<u32>> = vec![Vec::new(); n_quasi];
        let mut rows: Vec<u64> = Vec::new();
        let mut starts = Vec::new();
        for (entry, n) in counts.rows.iter().enumerate() {
            let repeated = entry > 0
                && columns.iter().all(|column| column[entry] == column[entry - 1]);
            match rows.last_mut() {
                Some(last) if repeated => *last += n,
                _ => {
                    starts.push(entry);
                    rows.push(*n);
                    for (column, codes) in columns.iter().zip(&mut quasi) {
                        codes.push(column[entry]);
                    }
                }
            }
        }
        starts.push(counts.rows.len());
        let (people, entries) = (None, counts.rows);
        Self { quasi, rows, people, sensitive, entries, starts, sensitive_sizes }
    }

    /// The same rows among the tuples of a population, which has these quasi codes, each
    /// tuple once, and so many people of each. Also how many rows have no person left in
    /// the population.
    pub fn within(self, quasi: Vec<Vec<u32>>, people: Vec<u64>) -> (Self, u64) {
        let key = |columns: &[Vec<u32>], tuple: usize| -> Vec<u32> {
            columns.iter().map(|codes| codes[tuple]).collect()
        };
        let mut held: HashMap<Vec<u32>, usize> = (0..self.n_tuples())
            .map(|tuple| (key(&self.quasi, tuple), tuple))
            .collect();
        let mut rows = Vec::with_capacity(people.len());
        let mut starts = vec![0];
        let mut sensitive = vec![Vec::new(); self.sensitive.len()];
        let mut entries = Vec::with_capacity(self.entries.len());
        let mut missing = 0;
        for (tuple, n) in people.iter().enumerate() {
            let held = held.remove(&key(&quasi, tuple));
            rows.push(held.map_or(0, |held| self.rows[held]));
            if let Some(held) = held {
                missing += self.rows[held].saturating_sub(*n);
                let range = self.starts[held]..self.starts[held + 1];
                for (to, from) in sensitive.iter_mut().zip(&self.sensitive) {
                    to.extend_from_slice(&from[range.clone()]);
                }
                entries.extend_from_slice(&self.entries[range]);
            }
            starts.push(entries.len());
        }
        missing += held.values().map(|tuple| self.rows[*tuple]).sum::<u64>();
        let (people, sensitive_sizes) = (Some(people), self.sensitive_sizes);
        (
            Self { quasi, rows, people, sensitive, entries, starts, sensitive_sizes },
            missing,
        )
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
    pub fn people(&self) -> &[u64] {
        self.people.as_deref().unwrap_or(&self.rows)
    }

    /// How many people there are.
    pub fn n_people(&self) -> u64 {
        self.people().iter().sum()
    }

    /// An empty histogram for each sensitive column.
    pub fn histograms(&self) -> Vec<Histogram> {
        self.sensitive_sizes.iter().map(|size| Histogram::new(*size)).collect()
    }

    /// Adds the sensitive values of a tuple to one histogram per sensitive column.
    pub fn add_to(&self, tuple: usize, histograms: &mut [Histogram]) {
        let entries = self.starts[tuple]..self.starts[tuple + 1];
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
    counts: Vec<u64>,
    // Every code whose count is above nought, once.
    seen: Vec<u32>,
    total: u64,
}

impl Histogram {
    /// An empty histogram over `size` values.
    pub fn new(size: usize) -> Self {
        Self { counts: vec![0; size], seen: Vec::new(), total: 0 }
    }

    /// A histogram with these counts.
    pub fn of(counts: &[u64]) -> Self {
        let mut histogram = Self::new(counts.len());
        for (code, n) in counts.iter().enumerate() {
            histogram.add(code as u32, *n);
        }
        histogram
    }

    /// Adds `n` rows with the value `code`.
    pub fn add(&mut self, code: u32, n: u64) {
        let count = &mut self.counts[code as usize];
        if *count == 0 && n > 0 {
            self.seen.push(code);
        }
        *count += n;
        self.total += n;
    }

    /// How many rows have the value.
    pub fn count(&self, code: u32) -> u64 {
        self.counts[code as usize]
    }

    /// The counts of all values, in the order of the domain.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The counts above nought, in no order.
    pub fn present(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.seen.iter().map(|code| (*code, self.counts[*code as usize]))
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
            self.counts[code as usize] = 0;
        }
        self.total = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_census_groups_entries_by_quasi_tuple() {
        let columns = vec![vec![0, 0, 1], vec![3, 3, 3], vec![0, 1, 0]];
        let census = Census::new(Counts { columns, rows: vec![4, 1, 2] }, 2, vec![2]);
        assert_eq!(census.rows, [5, 2]);
        assert_eq!(census.quasi, [vec![0, 1], vec![3, 3]]);
        assert_eq!(census.starts, [0, 2, 3]);
        let mut histograms = census.histograms();
        census.add_to(0, &mut histograms);
        assert_eq!(histograms[0].counts(), [4, 1]);
        histograms[0].clear();
        assert_eq!((histograms[0].total(), histograms[0].n_present()), (0, 0));
    }

    #[test]
    fn a_census_within_a_population_has_its_tuples() {
        let columns = vec![vec![0, 0, 1, 2], vec![0, 1, 0, 1]];
        let census =
            Census::new(Counts { columns, rows: vec![4, 1, 2, 1] }, 1, vec![2]);
        let (census, missing) = census.within(vec![vec![1, 3, 0]], vec![1, 7, 5]);
        // One row of value 1 too many, and the only one of value 2.
        assert_eq!(missing, 2);
        assert_eq!(census.rows, [2, 0, 5]);
        assert_eq!(census.n_people(), 13);
        assert_eq!(census.starts, [0, 1, 1, 3]);
        let mut histograms = census.histograms();
        census.add_to(2, &mut histograms);
        assert_eq!(histograms[0].counts(), [4, 1]);
    }
}
