//! How many rows of a group satisfy a condition, if its values are arranged at random.
//!
//! # Guarantee
//! If every arrangement of the values among the rows is equally likely, `count` is the mean
//! and `variance` the variance of the number of rows that get a value they can use, both
//! exact up to the last division. No arrangement gives fewer than `at_least` or more than
//! `at_most`.
//!
//! *Why.* Let `a(i, j)` be 1 if row `i` can use value `j` (of `N` rows and `N` values, equal
//! values each for itself), else 0. The number is the sum over rows of `a(i, w(i))` for a
//! random permutation `w`. Its mean is the sum of all `a(i, j)` divided by `N`, and its
//! variance is the sum of `(a(i, j) - row mean - column mean + mean)²` divided by `N - 1`.
//! That sum is `T - sum P²/N - sum Q²/N + T²/N²`, where `P` counts the values that a row can
//! use, `Q` the rows that can use a value and `T` both. Rows that can use the same values
//! have the same `P`, equal values have the same `Q`: classes of them are enough. All but
//! the division is done in whole numbers, so that a variance of zero is zero.
//!
//! If all rows that can use anything can use the same values, this is the hypergeometric
//! distribution.
//!
//! Choose some classes of rows, and take all values that another class can use: every row
//! that gets a value it can use is of a chosen class, or its value was taken. So the rows
//! and the values taken are together at least as many as such rows, whatever is chosen; the
//! best choice is exact (König's theorem). A row either gets a value it can use or one it
//! cannot, so the same bound for the latter gives the least number.
//!
//! # Limits
//! With more than [`MOST_CHOICES`] classes of rows only the choice of all and of none is
//! tried: bounds stay right, but need not be the best.
//!
//! # Cost
//! Classes of rows times distinct values; for the bounds, times the choices.
//!
//! # Source
//! `hoeffding1951combinatorial`; docs/methods.md, "Anatomy".

/// The most classes of rows of which all choices are tried.
const MOST_CHOICES: usize = 6;

/// The most rows of a group: whole numbers below have room for the fourth power.
pub(crate) const MOST_ROWS: u64 = i32::MAX as u64;

/// How many rows of a group get a value they can use.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Arranged {
    /// The mean over all arrangements.
    pub count: f64,
    /// Their variance.
    pub variance: f64,
    /// The certain minimum.
    pub at_least: f64,
    /// The certain maximum.
    pub at_most: f64,
}

impl Arranged {
    /// A group of `size` rows, of which `rows` can use the same `values`, and the others
    /// none.
    pub fn plain(size: u64, rows: u64, values: u64) -> Self {
        let chosen = u128::from(rows) * u128::from(values);
        if chosen == 0 {
            return Self::default();
        }
        let others = u128::from(size.saturating_sub(rows))
            * u128::from(size.saturating_sub(values));
        let n = size as f64;
        // A single row leaves nothing to chance.
        let variance = (chosen * others) as f64 / (n * n * (n - 1.0).max(1.0));
        Self {
            count: chosen as f64 / n,
            variance,
            at_least: (rows + values).saturating_sub(size) as f64,
            at_most: rows.min(values) as f64,
        }
    }

    /// A group of `size` rows: `rows` in each class, `values` of each kind, and whether a
    /// class can use a kind. Rows in no class can use nothing, and values of no kind are of
    /// no use.
    pub fn new(
        size: u64,
        rows: &[u64],
        values: &[u64],
        fits: impl Fn(usize, usize) -> bool,
    ) -> Self {
        let sum = |counts: &[u64], fits: &dyn Fn(usize) -> bool| -> i128 {
            let chosen = (0..counts.len()).filter(|place| fits(*place));
            chosen.map(|place| i128::from(counts[place])).sum()
        };
        let (mut total, mut squares) = (0, 0);
        for (class, n) in rows.iter().enumerate() {
            let usable = sum(values, &|kind| fits(class, kind));
            total += i128::from(*n) * usable;
            squares += i128::from(*n) * usable * usable;
        }
        for (kind, n) in values.iter().enumerate() {
            let users = sum(rows, &|class| fits(class, kind));
            squares += i128::from(*n) * users * users;
        }
        let n = i128::from(size);
        if n == 0 || total == 0 {
            return Self::default();
        }
        let above = n * n * total - n * squares + total * total;
        let below = n * n * (n - 1);
        let asked: u64 = rows.iter().sum();
        let rest = size.saturating_sub(values.iter().sum());
        let missed = cover(rows, values, rest, &|class, kind| !fits(class, kind));
        Self {
            count: total as f64 / n as f64,
            variance: if above > 0 { above as f64 / below as f64 } else { 0.0 },
            at_least: asked.saturating_sub(missed) as f64,
            at_most: cover(rows, values, 0, &fits) as f64,
        }
    }
}

/// The most rows that can get a value that fits; every class can use the `rest` of values.
pub(crate) fn cover(
    rows: &[u64],
    values: &[u64],
    rest: u64,
    fits: &dyn Fn(usize, usize) -> bool,
) -> u64 {
    let bound = |chosen: &dyn Fn(usize) -> bool| {
        let others = || (0..rows.len()).filter(|class| !chosen(*class));
        let own: u64 =
            rows.iter().sum::<u64>() - others().map(|c| rows[c]).sum::<u64>();
        let taken = (0..values.len()).filter(|kind| others().any(|c| fits(c, *kind)));
        let taken: u64 = taken.map(|kind| values[kind]).sum();
        own + taken + if others().next().is_some() { rest } else { 0 }
    };
    let all_or_none = bound(&|_| true).min(bound(&|_| false));
    if rows.len() == 1 || rows.len() > MOST_CHOICES {
        return all_or_none;
    }
    let choices = 1..(1u32 << rows.len()) - 1;
    let bounds = choices.map(|choice| bound(&|class| choice >> class & 1 == 1));
    bounds.fold(all_or_none, u64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// All orders of `items`, each handed to `see`.
    fn orders(items: &mut [usize], done: usize, see: &mut dyn FnMut(&[usize])) {
        if done == items.len() {
            return see(items);
        }
        for next in done..items.len() {
            items.swap(done, next);
            orders(items, done + 1, see);
            items.swap(done, next);
        }
    }

    #[test]
    fn all_arrangements_have_this_mean_and_variance_and_these_limits() {
        let mut random = ChaCha20Rng::seed_from_u64(21);
        for round in 0..400 {
            let mut pick = |n: usize| (random.random::<f64>() * n as f64) as usize;
            let (size, n_classes, n_kinds) = (1 + pick(7), 1 + pick(4), 1 + pick(4));
            // Class or kind 0 stands for what is not listed.
            let rows: Vec<usize> = (0..size).map(|_| pick(n_classes + 1)).collect();
            let mut values: Vec<usize> = (0..size).map(|_| pick(n_kinds + 1)).collect();
            let table: Vec<bool> =
                (0..n_classes * n_kinds).map(|_| pick(2) == 0).collect();
            let fits = |class: usize, kind: usize| table[class * n_kinds + kind];
            let count = |all: &[usize], n: usize| -> Vec<u64> {
                let each =
                    |which| all.iter().filter(|v| **v == which + 1).count() as u64;
                (0..n).map(each).collect()
            };
            let found = Arranged::new(
                size as u64,
                &count(&rows, n_classes),
                &count(&values, n_kinds),
                fits,
            );
            let mut seen = Vec::new();
            orders(&mut values, 0, &mut |values| {
                let used = rows.iter().zip(values);
                let used = used
                    .filter(|(r, v)| **r > 0 && **v > 0 && fits(**r - 1, **v - 1))
                    .count();
                seen.push(used as f64);
            });
            let n = seen.len() as f64;
            let mean = seen.iter().sum::<f64>() / n;
            let variance = seen.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            assert!((found.count - mean).abs() < 1e-9, "{round}: {found:?}, {mean}");
            assert!((found.variance - variance).abs() < 1e-9, "{round}: {variance}");
            assert_eq!(found.at_least, seen.iter().copied().fold(f64::MAX, f64::min));
            assert_eq!(found.at_most, seen.iter().copied().fold(0.0, f64::max));
            if variance < 1e-12 {
                assert_eq!((found.variance, found.count), (0.0, mean.round()));
            }
        }
    }

    #[test]
    fn a_plain_condition_is_hypergeometric() {
        for size in 2..12u64 {
            for (rows, values) in
                (0..=size).flat_map(|a| (0..=size).map(move |c| (a, c)))
            {
                let (n, a, c) = (size as f64, rows as f64, values as f64);
                let found = Arranged::plain(size, rows, values);
                let share = c / n;
                let variance = a * share * (1.0 - share) * (n - a) / (n - 1.0);
                assert!((found.count - a * share).abs() < 1e-12);
                assert!((found.variance - variance).abs() < 1e-12);
                let limits = ((a + c - n).max(0.0), a.min(c));
                assert_eq!((found.at_least, found.at_most), limits);
                let general = Arranged::new(size, &[rows], &[values], |_, _| true);
                assert!((found.variance - general.variance).abs() < 1e-12);
                assert_eq!(Arranged { variance: found.variance, ..general }, found);
                assert_eq!(found.variance == 0.0, general.variance == 0.0);
            }
        }
        let large = Arranged::plain(MOST_ROWS, MOST_ROWS / 2, MOST_ROWS / 2);
        assert!((large.variance / (MOST_ROWS as f64 / 16.0) - 1.0).abs() < 1e-6);
        assert_eq!(Arranged::plain(MOST_ROWS, MOST_ROWS, 5).variance, 0.0);
        assert_eq!(Arranged::plain(0, 0, 0), Arranged::default());
        assert_eq!(Arranged::plain(1, 1, 1).count, 1.0);
    }

    #[test]
    fn limits_of_many_classes_are_safe() {
        // Row i can use value i only: all can be right, or none.
        let ones = [1; 9];
        let found = Arranged::new(9, &ones, &ones, |class, kind| class == kind);
        assert_eq!((found.count, found.at_least, found.at_most), (1.0, 0.0, 9.0));
        assert!((found.variance - 1.0).abs() < 1e-12);
    }
}
