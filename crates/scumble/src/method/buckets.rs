//! Rows dealt into groups whose sensitive values are published apart.

/// Which rows are in which group. A row is named by its entry of the census: rows with the
/// same quasi tuple and the same sensitive value are alike, and an entry stands here as often
/// as it has rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Buckets {
    /// The entry of each row, group after group.
    pub entries: Vec<u32>,
    /// Group `g` has the rows `entries[starts[g]..starts[g + 1]]`.
    pub starts: Vec<usize>,
    /// The entry of each row that is left out.
    pub left_out: Vec<u32>,
}

impl Buckets {
    /// How many groups there are.
    pub fn n_groups(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The entries of each group's rows.
    pub fn groups(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.entries[ends[0]..ends[1]])
    }
}
