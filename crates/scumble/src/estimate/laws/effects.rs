//! Less variance where the weights of a cell are counts: how many rows of a group have each
//! value is then known, only which of them is not.
//!
//! # Guarantee
//! Questions about one such column are exact. For several columns (or one, and columns that
//! stand as they are) the variance is that of columns that are shuffled within the group,
//! each on its own: exact for two, and to first order for more.
//!
//! *Why.* Let `T` be what a row adds, and `m(v)` its mean over the rows of the group given
//! that a column has the value `v`. With independent rows the variance of the sum has the
//! part `n var m` for that column; but the sum of `m(v)` over rows is fixed, because it is
//! known how often each value occurs. What is left is due to combinations of columns, and
//! shuffling makes it larger by `n / (n - 1)` (`arrangement.rs` has this for one column).
//!
//! The truth has limits, too: rows whose value of one column decides are as many as have it.
//!
//! # Limits
//! For three columns and more the factor is a little too small.
//!
//! # Cost
//! That of the labels of each group.
//!
//! # Source
//! `hoeffding1951combinatorial`; ours for several columns.

use crate::estimate::laws::tally::Tally;
use crate::estimate::query::facets::Odd;

/// For each label of a column, what rows with it add to count and sum; of the column that is
/// added up, with which chance they count, twice.
pub(crate) type Effect = Vec<(f64, f64)>;

/// What rows of a group add to an answer, and how that depends on columns whose values are
/// counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shuffled {
    pub(crate) tally: Tally,
    /// For each such column.
    pub(crate) effects: Vec<Effect>,
}

/// A column of a group whose values are counted.
pub(crate) struct Counted<'a> {
    pub(crate) odds: &'a [Odd],
    /// Whether it is the one that is added up.
    pub(crate) added: bool,
}

impl Shuffled {
    pub(crate) fn add(&mut self, tally: &Tally, effects: &[Effect], rows: f64) {
        self.tally.add(tally);
        self.effects.resize_with(effects.len(), Vec::new);
        for (all, own) in self.effects.iter_mut().zip(effects) {
            all.resize(own.len(), (0.0, 0.0));
            for (sum, add) in all.iter_mut().zip(own) {
                *sum = (sum.0 + rows * add.0, sum.1 + rows * add.1);
            }
        }
    }

    /// What a group of `n` rows adds.
    pub(crate) fn settled(mut self, n: f64, columns: &[Counted]) -> Tally {
        let before = self.tally;
        let tally = &mut self.tally;
        for (effect, column) in self.effects.iter().zip(columns) {
            let (mut means, mut products) = ((0.0, 0.0), (0.0, 0.0, 0.0));
            let (mut possible, mut sure) = (0.0, 0.0);
            for ((count, sum), odd) in effect.iter().zip(column.odds) {
                let (count, sum) = (count / n, sum / n);
                // Of the column that is added up, its own moments within the label.
                let (one, first, second) = match column.added {
                    true => (odd.chance, odd.first, odd.second),
                    false => (odd.chance, odd.chance, odd.chance),
                };
                means = (means.0 + one * count, means.1 + first * sum);
                products.0 += one * count * count;
                products.1 += second * sum * sum;
                products.2 += first * count * sum;
                if count > 0.0 {
                    possible += n * odd.chance;
                }
                if count > 1.0 - 1e-12 {
                    sure += n * odd.chance;
                }
            }
            tally.count_variance -= n * (products.0 - means.0 * means.0);
            tally.sum_variance -= n * (products.1 - means.1 * means.1);
            tally.covariance -= n * (products.2 - means.0 * means.1);
            tally.possible = tally.possible.min(whole(possible));
            tally.sure = tally.sure.max(whole(sure));
        }
        let factor = n / (n - 1.0).max(1.0);
        let left = |after: f64, before: f64| {
            // What rounding leaves of nothing.
            if after > 1e-9 * before && n > 1.0 { after * factor } else { 0.0 }
        };
        tally.count_variance = left(tally.count_variance, before.count_variance);
        tally.sum_variance = left(tally.sum_variance, before.sum_variance);
        let moves = tally.count_variance > 0.0 && tally.sum_variance > 0.0;
        tally.covariance = if moves { tally.covariance * factor } else { 0.0 };
        if tally.count_variance == 0.0 {
            tally.count = whole(tally.count);
            (tally.sure, tally.possible) = (tally.count, tally.count);
        }
        self.tally
    }
}

/// A number of rows that rounding has moved.
fn whole(rows: f64) -> f64 {
    if (rows - rows.round()).abs() < 1e-6 { rows.round() } else { rows }
}
