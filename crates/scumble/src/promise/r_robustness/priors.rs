//! What an adversary believes of each row before the release.

/// Beliefs by each set of quasi columns: each is an adversary of its own.
#[derive(Debug, Clone, Default)]
pub struct Priors {
    /// The sets.
    pub sets: Vec<PriorSet>,
}

/// Beliefs of somebody who looks at some quasi columns.
#[derive(Debug, Clone)]
pub struct PriorSet {
    /// The places of the columns among the quasi columns, ascending.
    pub columns: Vec<usize>,
    /// For each tuple of the census, its signature.
    pub of_tuple: Vec<u32>,
    /// How many sensitive values there are.
    pub n_values: usize,
    /// For each signature and value, value after value, the probability.
    pub shares: Vec<f64>,
    /// How many combinations of values the table has in these columns.
    pub signatures: u64,
    /// How many of them had too few rows, so that a coarser one took their place.
    pub rare: u64,
    /// How many rows these have.
    pub rare_rows: u64,
    /// How many rows have only the whole table in their place.
    pub whole_rows: u64,
}

impl PriorSet {
    /// What is believed of a tuple: the probability of each value.
    pub fn of(&self, tuple: usize) -> &[f64] {
        let start = self.of_tuple[tuple] as usize * self.n_values;
        &self.shares[start..start + self.n_values]
    }
}
