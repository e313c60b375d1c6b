//! How many rows of each value must be held back, so that the others can be cut.

use crate::method::buckets::largest;

/// Rows of each value that are not cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hold {
    /// For each value, in the order of the counts.
    pub(super) rows: Vec<u64>,
    /// All of them.
    pub(super) total: u64,
}

/// Holds back as few rows as it can, such that
/// - no value has more than 1/parts of what is held back, and
/// - no value has more rows left than 1/parts of the smaller half, if the halves have the
///   shares of the rows left that `small` of all rows is.
///
/// No value may have more than 1/parts of all rows. Nothing if no row would be left.
///
/// With at most q rows left of each value, the commonest value, of c rows, has h = c - q
/// held back, so that at least `parts` h rows are held back, and no fewer than the rows
/// beyond q of all values. That many can be found: rows at most h of each value are at
/// least `parts` h, because rows at most c are at least `parts` c, and the difference is
/// concave. What is left must be at least q times `parts` n / small. All of it is true of
/// q = 0, and concave in q.
pub(super) fn hold(counts: &[u64], small: u64, parts: u64) -> Option<Hold> {
    let n_rows: u64 = counts.iter().sum();
    let most = counts.iter().copied().max().unwrap_or(0);
    let least = |q: u64| {
        let beyond: u64 = counts.iter().map(|count| count.saturating_sub(q)).sum();
        beyond.max(parts * (most - q))
    };
    let enough_left = |held: u64, q: u64| {
        u128::from(n_rows.saturating_sub(held)) * u128::from(small)
            >= u128::from(parts) * u128::from(n_rows) * u128::from(q)
    };
    let q = largest(most, |q| enough_left(least(q), q));
    if q == 0 {
        return None;
    }
    let h = most - q;
    let mut total = least(q);
    // A whole number of groups wastes nothing.
    let room: u64 = counts.iter().map(|count| (*count).min(h)).sum();
    let rounded = total.next_multiple_of(parts);
    if rounded <= room && enough_left(rounded, q) {
        total = rounded;
    }
    let mut rows: Vec<u64> =
        counts.iter().map(|count| count.saturating_sub(q)).collect();
    let mut missing = total - rows.iter().sum::<u64>();
    // What is missing comes from the values with most rows left.
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(counts[*at].min(q)));
    for at in order {
        let more = (counts[at].min(h) - rows[at]).min(missing);
        rows[at] += more;
        missing -= more;
    }
    (total < n_rows && missing == 0).then_some(Hold { rows, total })
}
