//! From the bounds of the rows to a matrix, and from floats to multiples of the grain.

use super::super::verify::ONE;
use super::super::{GRAIN, Limits, Operator, keeps};
use super::RowEntries;

/// How often more of the even matrix is mixed in before giving up.
const ATTEMPTS: usize = 16;

impl RowEntries {
    /// The smallest and the largest entry that column of this γ may have in a row.
    fn range(&self, row: usize, gamma: f64) -> (f64, f64) {
        let low = self.low[row];
        match &self.high {
            None if gamma == f64::INFINITY => (low, gamma),
            None => (low, gamma * low),
            Some(high) => {
                let least = low.max(high[row] / gamma);
                (least, high[row].min(gamma * low).max(least))
            }
        }
    }

    /// The sums of the smallest and the largest entries.
    fn sums(&self, gamma: f64) -> (f64, f64) {
        (0..self.low.len())
            .map(|row| self.range(row, gamma))
            .fold((0.0, 0.0), |all, own| (all.0 + own.0, all.1 + own.1))
    }

    /// Whether every column can be filled, but for what a solver is wrong by.
    pub(super) fn feasible(&self, lowest: f64) -> bool {
        let (least, most) = self.sums(lowest);
        least < 1.0 + 1e-6 && most > 1.0 - 1e-6
    }

    /// The matrix with the largest diagonal. The rest of each column goes to all rows in
    /// proportion to the room they have; upward this is in proportion to their minima, so
    /// that a value is either kept or drawn from one distribution for all.
    pub(super) fn fill(mut self, gammas: &[f64]) -> Vec<Vec<f64>> {
        // The smallest γ has the least room; scaling rows keeps all ratios.
        let lowest = gammas.iter().copied().fold(f64::INFINITY, f64::min);
        let (least, most) = self.sums(lowest);
        let scale = if most < 1.0 { most } else { least.max(1.0) };
        let rows = self.low.iter_mut().chain(self.high.iter_mut().flatten());
        rows.for_each(|bound| *bound /= scale);
        gammas
            .iter()
            .enumerate()
            .map(|(code, gamma)| self.column(code, *gamma))
            .collect()
    }

    fn column(&self, code: usize, gamma: f64) -> Vec<f64> {
        let size = self.low.len();
        let (least, most): (Vec<f64>, Vec<f64>) =
            (0..size).map(|row| self.range(row, gamma)).unzip();
        let others = |bounds: &[f64]| bounds.iter().sum::<f64>() - bounds[code];
        let own = most[code].min(1.0 - others(&least)).max(least[code]);
        let missing = 1.0 - own - others(&least);
        let mut column = least.clone();
        column[code] = own;
        if missing > 0.0 {
            let room =
                |row: usize| if row == code { 0.0 } else { most[row] - least[row] };
            let all: f64 = (0..size).map(room).sum();
            if all > 0.0 && all.is_finite() {
                let share = (missing / all).min(1.0);
                column
                    .iter_mut()
                    .enumerate()
                    .for_each(|(row, p)| *p += share * room(row));
            }
        }
        let total: f64 = column.iter().sum();
        column.iter().map(|p| p / total).collect()
    }
}

/// The matrix in multiples of the grain, each column summing to 1 exactly, mixed with as
/// much of the even matrix as rounding needs, which is about as many grains as there are
/// values; nothing if that is not enough.
pub(super) fn rounded(columns: &[Vec<f64>], limits: Limits<'_>) -> Option<Operator> {
    let size = columns.len() as f64;
    let mut even = size * GRAIN;
    for _ in 0..ATTEMPTS {
        let mixed = columns.iter().map(|column| {
            column.iter().map(|p| p + even * (1.0 / size - p)).collect::<Vec<f64>>()
        });
        let columns = mixed.map(|column| to_grains(&column)).collect();
        let operator = Operator::General { columns };
        if keeps(&operator, limits) {
            return Some(operator);
        }
        even = (even * 4.0).min(1.0);
    }
    None
}

/// Each rounded down, and those up again that lost most, until they sum to 1.
fn to_grains(column: &[f64]) -> Vec<f64> {
    let scaled: Vec<f64> = column.iter().map(|p| p / GRAIN).collect();
    let mut counts: Vec<u64> =
        scaled.iter().map(|count| count.floor() as u64).collect();
    let missing = ONE.saturating_sub(counts.iter().sum()) as usize;
    let mut order: Vec<usize> = (0..column.len()).collect();
    order.sort_by(|a, b| scaled[*b].fract().total_cmp(&scaled[*a].fract()));
    for row in order.into_iter().cycle().take(missing.min(4 * column.len())) {
        counts[row] += 1;
    }
    counts.into_iter().map(|count| count as f64 * GRAIN).collect()
}
