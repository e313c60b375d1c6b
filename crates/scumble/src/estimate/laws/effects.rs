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

use crate::estimate::laws::moments::{AnswerMoments, add_times, paired, products};
use crate::estimate::query::facets::Odd;

/// For each label of a column, first moments of count and sum given the label; of the summed
/// column itself, the probability of counting in place of the sum.
pub(crate) type Effect = Vec<[f64; 2]>;

/// What rows of a group add to an answer, and how that depends on columns whose values are
/// counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shuffled {
    moments: AnswerMoments,
    /// For each such column.
    effects: Vec<Effect>,
}

/// A column of a group whose values are counted.
pub(crate) struct CountedColumn<'a> {
    pub(crate) odds: &'a [Odd],
    /// Whether it is the one that is added up.
    pub(crate) added: bool,
}

impl Shuffled {
    pub(crate) fn add(
        &mut self,
        moments: &AnswerMoments,
        effects: &[Effect],
        rows: f64,
    ) {
        self.moments.add(moments);
        self.effects.resize_with(effects.len(), Vec::new);
        for (all, own) in self.effects.iter_mut().zip(effects) {
            all.resize(own.len(), [0.0; 2]);
            all.iter_mut().zip(own).for_each(|(sum, add)| add_times(sum, rows, *add));
        }
    }

    /// What a group of `n` rows adds.
    pub(crate) fn settled(self, n: f64, columns: &[CountedColumn]) -> AnswerMoments {
        let Self { mut moments, effects } = self;
        let before = moments.variance;
        for (effect, column) in effects.iter().zip(columns) {
            let (mut means, mut seconds) = ([0.0; 2], [0.0; 3]);
            let (mut possible, mut sure) = (0.0, 0.0);
            for ([count, sum], odd) in effect.iter().zip(column.odds) {
                let (count, sum) = (count / n, sum / n);
                // Of the column that is added up, its own moments within the label.
                let (one, first, second) = match column.added {
                    true => (odd.chance, odd.first, odd.second),
                    false => (odd.chance, odd.chance, odd.chance),
                };
                add_times(&mut means, 1.0, [one * count, first * sum]);
                let [counts, sums, both] = products([count, sum]);
                add_times(
                    &mut seconds,
                    1.0,
                    [one * counts, second * sums, first * both],
                );
                if count > 0.0 {
                    possible += n * odd.chance;
                }
                if count > 1.0 - 1e-12 {
                    sure += n * odd.chance;
                }
            }
            let known = paired(seconds, products(means), |second, mean| second - mean);
            add_times(&mut moments.variance, -n, known);
            moments.possible = moments.possible.min(whole(possible));
            moments.sure = moments.sure.max(whole(sure));
        }
        let factor = n / (n - 1.0).max(1.0);
        let [counts, sums, _] = paired(moments.variance, before, |after, before| {
            // What rounding leaves of nothing.
            if after > 1e-9 * before && n > 1.0 { after * factor } else { 0.0 }
        });
        let moves = counts > 0.0 && sums > 0.0;
        let both = if moves { moments.variance[2] * factor } else { 0.0 };
        moments.variance = [counts, sums, both];
        if counts == 0.0 {
            moments.mean[0] = whole(moments.mean[0]);
            (moments.sure, moments.possible) = (moments.mean[0], moments.mean[0]);
        }
        moments
    }
}

/// A number of rows that rounding has moved.
fn whole(rows: f64) -> f64 {
    if (rows - rows.round()).abs() < 1e-6 { rows.round() } else { rows }
}
