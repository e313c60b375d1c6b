//! Published cells as likelihoods over the values of their columns.

/// Columns of distinct rows, each as how likely its cells are given a value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observed {
    pub(crate) columns: Vec<ObservedColumn>,
    /// How many rows each distinct row stands for.
    pub(crate) rows: Vec<f64>,
    /// Distinct rows of the same unit, a group, are held out together.
    pub(crate) unit_of: Vec<u32>,
    /// How many units there are.
    pub(crate) n_units: usize,
}

/// A column of distinct rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct ObservedColumn {
    /// The share of each value it may have if all numbers of its domain, or all words, are
    /// as likely.
    pub(crate) even: Vec<f64>,
    pub(crate) cells: Likelihoods,
    /// The cell of each distinct row.
    pub(crate) cell_of: Vec<u32>,
    /// What is known of the ends of cells; empty if nothing is.
    pub(crate) ends: Vec<Option<OccupiedEnds>>,
    /// The share of all rows that each value has, if the release says so.
    pub(crate) margin: Option<Vec<f64>>,
}

/// That somebody of a group is in the first step of its range, and somebody in the last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OccupiedEnds {
    /// How many rows the group has.
    pub(crate) rows: f64,
    /// How many values of the cell are in its first step, and how many in its last: fewer
    /// together than the cell has, or as many.
    pub(crate) first: usize,
    pub(crate) last: usize,
}

impl OccupiedEnds {
    /// How likely a row's group has both ends occupied, if the row itself is in the first
    /// step, between the steps, or in the last, and each other row is in the first step with
    /// the probability `a` and in the last with `b`.
    pub(crate) fn factors(&self, a: f64, b: f64) -> [f64; 3] {
        let others = (self.rows - 1.0).max(0.0);
        let (a, b) = (a.clamp(0.0, 1.0), b.clamp(0.0, 1.0));
        let none = |share: f64| (1.0 - share).max(0.0).powf(others);
        let (no_first, no_last, neither) = (none(a), none(b), none(a + b));
        let factors =
            [1.0 - no_last, 1.0 - no_first - no_last + neither, 1.0 - no_first];
        // A group of one row has no two ends; nothing is known then.
        if factors.iter().all(|factor| *factor <= 1e-12) { [1.0; 3] } else { factors }
    }

    /// Which of the three a value of a cell is in.
    pub(crate) fn part(&self, place: usize, n_values: usize) -> usize {
        match place {
            _ if place < self.first => 0,
            _ if place + self.last >= n_values => 2,
            _ => 1,
        }
    }
}

/// For each cell, how likely it is given each value; zero outside a window of values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Likelihoods {
    firsts: Vec<u32>,
    starts: Vec<usize>,
    weights: Vec<f32>,
}

impl Likelihoods {
    /// Adds a cell that can stand for the values from `first` on.
    pub(crate) fn push(&mut self, first: usize, weights: impl Iterator<Item = f64>) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.firsts.push(first as u32);
        self.weights.extend(weights.map(|weight| weight as f32));
        self.starts.push(self.weights.len());
    }

    /// Adds a cell that stands for these values, each as likely as it is said.
    pub(crate) fn push_sparse(&mut self, values: &[(usize, f64)]) {
        let low = values.iter().map(|(value, _)| *value).min().unwrap_or(0);
        let high = values.iter().map(|(value, _)| *value).max().unwrap_or(0);
        let mut window = vec![0.0; high - low + 1];
        values.iter().for_each(|(value, weight)| window[value - low] = *weight);
        self.push(low, window.into_iter());
    }

    /// How many cells there are.
    pub(crate) fn len(&self) -> usize {
        self.firsts.len()
    }

    /// The first value of a cell, and how likely the cell is given it and those after it.
    pub(crate) fn window(&self, cell: usize) -> (usize, &[f32]) {
        let weights = &self.weights[self.starts[cell]..self.starts[cell + 1]];
        (self.firsts[cell] as usize, weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_occupied_by_somebody() {
        // Against all ways that three rows can lie in the parts of a range.
        let shares = [0.2, 0.5, 0.3];
        let ends = OccupiedEnds { rows: 3.0, first: 1, last: 1 };
        let found = ends.factors(shares[0], shares[2]);
        for (own, found) in found.into_iter().enumerate() {
            let mut sum = 0.0;
            for one in 0..3 {
                for other in 0..3 {
                    let parts = [own, one, other];
                    if parts.contains(&0) && parts.contains(&2) {
                        sum += shares[one] * shares[other];
                    }
                }
            }
            assert!((found - sum).abs() < 1e-12, "{own}");
        }
        let alone = OccupiedEnds { rows: 1.0, first: 1, last: 1 };
        assert_eq!(alone.factors(0.4, 0.1), [1.0; 3]);
        assert_eq!([0, 1, 2, 3].map(|place| ends.part(place, 4)), [0, 1, 1, 2]);
    }

    #[test]
    fn windows_hold_what_was_pushed() {
        let mut cells = Likelihoods::default();
        cells.push_sparse(&[(5, 1.0), (3, 0.5)]);
        cells.push(0, [1.0].into_iter());
        assert_eq!(cells.len(), 2);
        assert_eq!(cells.window(0), (3, [0.5f32, 0.0, 1.0].as_slice()));
        assert_eq!(cells.window(1), (0, [1.0f32].as_slice()));
    }
}
