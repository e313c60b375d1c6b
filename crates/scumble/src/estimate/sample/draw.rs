//! Reconstruction: an ordinary table drawn from an uncertain one.
//!
//! # Guarantee
//! Every cell is drawn from its own distribution, independently of all others, and what
//! was published as it is stays as it is. The table has as many rows as the release. The
//! same groups and seed give the same table.
//!
//! # Limits
//! Cells are independent given their group: what tied columns together inside a group is
//! lost, because the release does not have it either. One drawn table is one possibility;
//! what is measured on it varies from draw to draw, so several are averaged.
//!
//! # Cost
//! O(log v) a cell of v values.
//!
//! # Source
//! `nergiz2007pdf`, section IV; docs/methods.md, "Cells of a group".

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use crate::error::{Error, Result};
use crate::estimate::CodeTable;

/// How likely a cell stands for each value.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    // Not empty, each value with the sum of the weights up to it: finite, never falling,
    // the last one above zero.
    sums: Vec<(u32, f64)>,
}

/// Rows that were published with the same uncertain cells.
#[derive(Debug, Clone)]
pub struct UncertainGroup {
    /// How many rows.
    pub rows: usize,
    /// One cell for each uncertain column.
    pub cells: Vec<Distribution>,
    /// For each column that was published as it is, the value of every row.
    pub kept: Vec<Vec<u32>>,
}

impl Distribution {
    /// Each value as likely as its weight says. Weights need not sum to 1.
    pub fn new(weights: &[(u32, f64)]) -> Result<Self> {
        let mut sum = 0.0;
        let mut sums = Vec::with_capacity(weights.len());
        for (code, weight) in weights {
            if !weight.is_finite() || *weight < 0.0 {
                return Err(Error::out_of_range(
                    "weight",
                    weight,
                    "a finite number of at least 0",
                ));
            }
            sum += weight;
            sums.push((*code, sum));
        }
        if !(sum > 0.0 && sum.is_finite()) {
            return Err(Error::out_of_range("sum of weights", sum, "above 0"));
        }
        Ok(Self { sums })
    }

    /// Every value of `codes` equally likely; there must be one.
    pub fn uniform(codes: &[u32]) -> Result<Self> {
        let weights: Vec<(u32, f64)> = codes.iter().map(|code| (*code, 1.0)).collect();
        Self::new(&weights)
    }

    /// A value.
    pub(crate) fn draw(&self, random: &mut ChaCha20Rng) -> u32 {
        let (last, total) = self.sums[self.sums.len() - 1];
        let point = random.random::<f64>() * total;
        // A value of weight zero ends where it begins, so no point is before its end.
        let place = self.sums.partition_point(|(_, sum)| *sum <= point);
        // The product may round up to the total.
        self.sums.get(place).map_or(last, |(code, _)| *code)
    }
}

/// A table drawn from `groups`, one after the other: first the uncertain columns, then
/// those that were kept.
///
/// All groups must have the same columns, and as many kept values as rows.
pub fn draw(groups: &[UncertainGroup], seed: u64) -> Result<CodeTable> {
    let Some(first) = groups.first() else { return CodeTable::new(Vec::new()) };
    let (n_drawn, n_kept) = (first.cells.len(), first.kept.len());
    let mut random = ChaCha20Rng::seed_from_u64(seed);
    let mut columns = vec![Vec::new(); n_drawn + n_kept];
    for (number, group) in groups.iter().enumerate() {
        let same = group.cells.len() == n_drawn
            && group.kept.len() == n_kept
            && group.kept.iter().all(|kept| kept.len() == group.rows);
        if !same {
            return Err(Error::input(format!(
                "group {} does not have the columns of the first, or not as many kept \
                 values as rows",
                number + 1
            )));
        }
        let (drawn, kept) = columns.split_at_mut(n_drawn);
        for (column, cell) in drawn.iter_mut().zip(&group.cells) {
            column.extend((0..group.rows).map(|_| cell.draw(&mut random)));
        }
        for (column, values) in kept.iter_mut().zip(&group.kept) {
            column.extend_from_slice(values);
        }
    }
    CodeTable::new(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a right sampler fails a test below.
    const FALSE_ALARM: f64 = 1e-6;
    const ROWS: usize = 40_000;

    /// The value that chi-square with an even number of degrees exceeds with the
    /// probability `FALSE_ALARM`. Its tail is `exp(-x/2) sum_{i < d/2} (x/2)^i / i!`.
    fn critical(degrees: u32) -> f64 {
        assert!(degrees.is_multiple_of(2));
        let tail = |x: f64| {
            let mut term = 1.0;
            let mut sum = 1.0;
            for i in 1..degrees / 2 {
                term *= x / 2.0 / f64::from(i);
                sum += term;
            }
            (-x / 2.0).exp() * sum
        };
        let (mut low, mut high) = (0.0, 1000.0);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if tail(middle) > FALSE_ALARM { low = middle } else { high = middle }
        }
        high
    }

    /// Distance of counts from what was expected.
    fn chi_square(found: &[u64], expected: &[f64]) -> f64 {
        let n: u64 = found.iter().sum();
        let cells = found.iter().zip(expected);
        cells
            .map(|(found, share)| {
                let expected = share * n as f64;
                (*found as f64 - expected).powi(2) / expected
            })
            .sum()
    }

    fn counts(codes: &[u32], size: usize) -> Vec<u64> {
        let mut counts = vec![0; size];
        for code in codes {
            counts[*code as usize] += 1;
        }
        counts
    }

    fn one(cells: Vec<Distribution>) -> UncertainGroup {
        UncertainGroup { rows: ROWS, cells, kept: Vec::new() }
    }

    #[test]
    fn values_come_as_often_as_their_weights_say() {
        // Weights need not sum to 1, and a weight of zero is never drawn.
        let weights = [(0, 6.0), (1, 3.0), (2, 0.0), (3, 1.0)];
        let cell = Distribution::new(&weights).unwrap();
        let table = draw(&[one(vec![cell])], 1).unwrap();
        let found = counts(&table.columns()[0], 4);
        assert_eq!(found[2], 0);
        let found = [found[0], found[1], found[3]];
        assert!(chi_square(&found, &[0.6, 0.3, 0.1]) < critical(2));
        // The broken twin: the same draws are not those of slightly other weights.
        assert!(chi_square(&found, &[0.58, 0.32, 0.1]) > critical(2));
    }

    #[test]
    fn columns_and_rows_are_independent() {
        let cell = Distribution::uniform(&[0, 1, 2]).unwrap();
        let table = draw(&[one(vec![cell.clone(), cell])], 2).unwrap();
        let [first, second] = table.columns() else { panic!("two columns") };
        let pairs: Vec<u32> =
            first.iter().zip(second).map(|(a, b)| 3 * a + b).collect();
        // Nine cells of known probability have eight degrees of freedom.
        assert!(chi_square(&counts(&pairs, 9), &[1.0 / 9.0; 9]) < critical(8));
        let neighbours: Vec<u32> =
            first.chunks_exact(2).map(|pair| 3 * pair[0] + pair[1]).collect();
        assert!(chi_square(&counts(&neighbours, 9), &[1.0 / 9.0; 9]) < critical(8));
        // The broken twin: a column beside itself.
        let same: Vec<u32> = first.iter().map(|a| 4 * a).collect();
        assert!(chi_square(&counts(&same, 9), &[1.0 / 9.0; 9]) > critical(8));
    }

    #[test]
    fn what_is_certain_stays_and_groups_follow_each_other() {
        let group = |code: u32, kept: Vec<u32>| UncertainGroup {
            rows: kept.len(),
            cells: vec![Distribution::uniform(&[code]).unwrap()],
            kept: vec![kept],
        };
        let groups = [group(4, vec![7, 8]), group(5, vec![9])];
        let table = draw(&groups, 3).unwrap();
        assert_eq!(table.columns(), [vec![4, 4, 5], vec![7, 8, 9]]);
        assert_eq!(draw(&[], 3).unwrap().n_rows(), 0);
    }

    #[test]
    fn a_seed_gives_the_same_table_and_another_seed_another() {
        let groups = [one(vec![Distribution::uniform(&[0, 1]).unwrap()])];
        assert_eq!(draw(&groups, 4).unwrap(), draw(&groups, 4).unwrap());
        assert_ne!(draw(&groups, 4).unwrap(), draw(&groups, 5).unwrap());
    }

    #[test]
    fn weights_and_groups_that_cannot_be_are_refused() {
        let message = |weights: &[(u32, f64)]| {
            Distribution::new(weights).unwrap_err().to_string()
        };
        assert_eq!(message(&[]), "`sum of weights` is 0, but must be above 0");
        assert_eq!(message(&[(0, 0.0)]), "`sum of weights` is 0, but must be above 0");
        let negative = "`weight` is -1, but must be a finite number of at least 0";
        assert_eq!(message(&[(0, 2.0), (1, -1.0)]), negative);
        assert!(Distribution::new(&[(0, f64::NAN)]).is_err());

        let cell = Distribution::uniform(&[0]).unwrap();
        let group = UncertainGroup { rows: 2, cells: vec![cell], kept: vec![vec![1]] };
        let error = draw(&[group], 1).unwrap_err();
        assert!(error.to_string().starts_with("group 1 does not have the columns"));
    }
}
