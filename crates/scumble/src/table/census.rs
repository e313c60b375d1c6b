//! The counts as methods want them: per quasi tuple, how many rows and which values.

use crate::table::Counts;

/// Every distinct quasi tuple, how many rows have it, and with which sensitive values.
#[derive(Debug, Clone)]
pub struct Census {
    /// For each quasi column, the code of every tuple.
    pub quasi: Vec<Vec<u32>>,
    /// How many rows have the tuple.
    pub rows: Vec<u64>,
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
        Self { quasi, rows, sensitive, entries: counts.rows, starts, sensitive_sizes }
    }

    /// How many distinct quasi tuples there are.
    pub fn n_tuples(&self) -> usize {
        self.rows.len()
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> u64 {
        self.rows.iter().sum()
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
}
