//! Which sets of columns single people out.

use rayon::prelude::*;

use crate::error::Result;
use crate::inspect::Risk;
use crate::inspect::choose::measured;
use crate::inspect::sample::{Sample, hash, mixed};
use crate::table::{ColumnId, Source};
use crate::watch::Watched;

/// Sets of up to so many columns are looked at.
const LARGEST_SET: usize = 3;

/// All sets of up to three among so many columns are 175; further columns are looked at
/// alone only.
const MOST_COLUMNS: usize = 10;

/// How many tuples of a set are kept to find the worst sets, and to measure those.
const FIRST_CAPACITY: usize = 1 << 11;
const LAST_CAPACITY: usize = 1 << 17;

/// How many tuples are kept to find out what columns contribute, and what follows from what.
const ORDER_CAPACITY: usize = 1 << 13;
const COUNT_CAPACITY: usize = 1 << 16;

/// In so many orders columns become known, half of them backwards.
const ORDERS: usize = 8;

/// How many sets are reported.
const WORST: usize = 10;

/// Rows are taken in batches, so that the counts of one set stay in the cache.
const BATCH_ROWS: usize = 512;

/// The worst sets of columns, then all columns together. `columns` are those that
/// matter most first; `distinct` is how many values each has.
pub(super) fn risks(
    source: Watched<'_, Source>,
    columns: &[ColumnId],
    distinct: &[u64],
    rows: u64,
) -> Result<(Vec<Risk>, Option<Sizes>)> {
    let sets = telling(sets(columns.len()), distinct, rows);
    let measured = measure(source, columns, &sets, FIRST_CAPACITY)?;
    let mut worst = worst(&sets, &measured);
    let all: Vec<usize> = (0..columns.len()).collect();
    worst.retain(|set| *set != all);
    worst.push(all);
    let (samples, _) = samples(source, columns, &worst, LAST_CAPACITY)?;
    let sizes = samples.last().filter(|sample| sample.is_exact()).map(Sample::sizes);
    let mut risks: Vec<Risk> = worst
        .iter()
        .zip(&samples)
        .map(|(set, sample)| {
            let (unique, below_5, exact) = shares_of(sample, rows);
            let tuples = (sample.distinct() as f64 / rows.max(1) as f64).min(1.0);
            let mut set: Vec<ColumnId> = set.iter().map(|at| columns[*at]).collect();
            set.sort_unstable();
            let names = set.iter().map(|column| source.name_of(*column).to_owned());
            Risk { columns: names.collect(), unique, below_5, tuples, exact }
        })
        .collect();
    let n_worst = risks.len() - 1;
    risks[..n_worst].sort_by(|a, b| {
        let key = |risk: &Risk| (risk.unique, risk.below_5);
        key(b).partial_cmp(&key(a)).unwrap_or(std::cmp::Ordering::Equal)
    });
    Ok((risks, sizes))
}

/// All sets worth a look, smaller ones first.
fn sets(n_columns: usize) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = (0..n_columns).map(|column| vec![column]).collect();
    let mut start = 0;
    for _ in 1..LARGEST_SET {
        let end = sets.len();
        for place in start..end {
            let last = sets[place].last().copied().unwrap_or(0);
            for column in last + 1..n_columns.min(MOST_COLUMNS) {
                let mut larger = sets[place].clone();
                larger.push(column);
                sets.push(larger);
            }
        }
        start = end;
    }
    sets
}

/// Leaves out sets that have too few tuples to tell many people apart, if enough are left:
/// with `n` tuples, at most `4 n` rows are in groups below 5.
fn telling(sets: Vec<Vec<usize>>, distinct: &[u64], rows: u64) -> Vec<Vec<usize>> {
    let tuples = |set: &[usize]| {
        set.iter().fold(1, |n: u64, column| n.saturating_mul(distinct[*column]))
    };
    let tells = |set: &[usize]| tuples(set).saturating_mul(4) >= rows / 50;
    let n_telling = sets.iter().filter(|set| tells(set)).count();
    if n_telling < 2 * WORST {
        return sets;
    }
    sets.into_iter().filter(|set| tells(set)).collect()
}

/// How large groups are, ascending, and how many are so.
pub(super) type Sizes = Vec<(u64, u64)>;

/// Share of rows that are unique, share in groups below 5, and whether both are exact.
type Uniqueness = (f64, f64, bool);

/// The sets with most unique rows. A set that hardly adds to one already listed is left
/// out: with `id` listed, `id` and `age` is no news.
fn worst(sets: &[Vec<usize>], measured: &[Uniqueness]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..sets.len()).collect();
    let news = |place: &usize| {
        let within = |small: &[usize]| small.iter().all(|c| sets[*place].contains(c));
        !(0..*place).any(|other| {
            sets[other].len() < sets[*place].len()
                && within(&sets[other])
                && measured[other].0 >= 0.9 * measured[*place].0
        })
    };
    order.retain(|place| measured[*place].1 > 0.0 && news(place));
    order.sort_by(|a, b| {
        let (a, b) = (&measured[*a], &measured[*b]);
        (b.0, b.1).partial_cmp(&(a.0, a.1)).unwrap_or(std::cmp::Ordering::Equal)
    });
    order.into_iter().take(WORST).map(|place| sets[place].clone()).collect()
}

struct Worker {
    samples: Vec<Sample>,
    // Hashes of the cells of rows not counted yet, row by row.
    batch: Vec<u64>,
}

impl Worker {
    fn flush(&mut self, sets: &[Vec<usize>], n_columns: usize) {
        for (set, sample) in sets.iter().zip(&mut self.samples) {
            for row in self.batch.chunks_exact(n_columns) {
                // Each column has hashes of its own, so that a sum tells tuples apart.
                let sum = |key: u64, column: &usize| key.wrapping_add(row[*column]);
                sample.add(set.iter().fold(0, sum));
            }
        }
        self.batch.clear();
    }
}

/// How many tuples each set of columns has, and whether that is a count.
pub(super) fn count(
    source: Watched<'_, Source>,
    sets: &[Vec<ColumnId>],
) -> Result<Vec<(u64, bool)>> {
    let mut columns: Vec<ColumnId> = sets.iter().flatten().copied().collect();
    columns.sort_unstable();
    columns.dedup();
    let place = |id: &ColumnId| columns.partition_point(|column| column < id);
    let sets: Vec<Vec<usize>> =
        sets.iter().map(|set| set.iter().map(place).collect()).collect();
    let (samples, _) = samples(source, &columns, &sets, COUNT_CAPACITY)?;
    Ok(samples.iter().map(|sample| (sample.distinct(), sample.is_exact())).collect())
}

/// How much each column adds to the share of rows that all of them single out: on average over
/// orders in which they become known, in each of which the shares add up to that of all.
/// (Shapley values, over eight orders.)
pub(super) fn contributions(
    source: Watched<'_, Source>,
    columns: &[ColumnId],
) -> Result<Vec<f64>> {
    let columns = measured(columns);
    let n = columns.len();
    let orders: Vec<Vec<usize>> = (0..ORDERS / 2)
        .flat_map(|turn| {
            let start = turn * n / (ORDERS / 2);
            let order: Vec<usize> = (0..n).map(|at| (start + at) % n).collect();
            let back = order.iter().rev().copied().collect();
            [order, back]
        })
        .collect();
    let prefixes =
        orders.iter().flat_map(|order| (1..=n).map(|to| order[..to].to_vec()));
    let sets: Vec<Vec<usize>> = prefixes.collect();
    let found = measure(source, columns, &sets, ORDER_CAPACITY)?;
    let mut shares = vec![0.0; n];
    for (order, found) in orders.iter().zip(found.chunks_exact(n)) {
        let mut before = 0.0;
        for (column, (unique, ..)) in order.iter().zip(found) {
            shares[*column] += (unique - before) / orders.len() as f64;
            before = *unique;
        }
    }
    Ok(shares)
}

fn measure(
    source: Watched<'_, Source>,
    columns: &[ColumnId],
    sets: &[Vec<usize>],
    capacity: usize,
) -> Result<Vec<Uniqueness>> {
    let (samples, rows) = samples(source, columns, sets, capacity)?;
    Ok(samples.iter().map(|sample| shares_of(sample, rows)).collect())
}

fn shares_of(sample: &Sample, rows: u64) -> Uniqueness {
    let share = |n: u64| (n as f64 / rows as f64).min(1.0);
    (share(sample.rows_below(2)), share(sample.rows_below(5)), sample.is_exact())
}

/// The counts of the tuples of every set, and how many rows there are.
fn samples(
    source: Watched<'_, Source>,
    columns: &[ColumnId],
    sets: &[Vec<usize>],
    capacity: usize,
) -> Result<(Vec<Sample>, u64)> {
    let n_columns = columns.len();
    let start = || Worker {
        samples: sets.iter().map(|_| Sample::new(capacity)).collect(),
        batch: Vec::with_capacity(BATCH_ROWS * n_columns),
    };
    let mut folded = source.fold(
        columns,
        start,
        |worker, _, cells| {
            let cells = cells.iter().zip(1..);
            worker.batch.extend(cells.map(|(cell, salt)| mixed(hash(cell), salt)));
            if worker.batch.len() >= BATCH_ROWS * n_columns {
                worker.flush(sets, n_columns);
            }
            Ok(())
        },
        source.watch,
    )?;
    folded.states.par_iter_mut().for_each(|worker| worker.flush(sets, n_columns));
    let mut workers = folded.states.into_iter().map(|worker| worker.samples);
    let mut samples = workers.next().unwrap_or_default();
    for others in workers {
        for (sample, other) in samples.iter_mut().zip(others) {
            sample.merge(other);
        }
    }
    Ok((samples, folded.n_rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ReadOptions;

    fn source(text: &str) -> Source {
        let bytes = text.as_bytes().to_vec();
        Source::from_bytes("t.csv", bytes, &ReadOptions::default()).unwrap()
    }

    fn all_risks(source: &Source, distinct: &[u64], rows: u64) -> Result<Vec<Risk>> {
        let columns: Vec<ColumnId> = source.columns().collect();
        Ok(risks(source.into(), &columns, distinct, rows)?.0)
    }

    #[test]
    fn work_is_limited_however_many_columns_there_are() {
        assert_eq!(sets(2), [vec![0], vec![1], vec![0, 1]]);
        assert_eq!(sets(10).len(), 175);
        assert_eq!(sets(60).len(), 225);
    }

    #[test]
    fn sets_with_few_tuples_are_left_out_of_long_tables() {
        let distinct = [2; 10];
        assert_eq!(telling(sets(10), &distinct, 100).len(), 175);
        let distinct = [10; 10];
        let left = telling(sets(10), &distinct, 100_000);
        assert_eq!((left.len(), left[0].len()), (120, 3));
    }

    #[test]
    fn shares_are_of_rows() {
        let rows: String = (0..10)
            .map(|row| {
                let color = if row < 7 { "red" } else { "blue" };
                format!("{color},{}\n", row / 2)
            })
            .collect();
        let risks =
            all_risks(&source(&format!("color,pair\n{rows}")), &[2, 5], 10).unwrap();
        let all = risks.last().unwrap();
        // Red 6 and blue 7 are alone.
        assert_eq!((all.unique, all.below_5, all.exact), (0.2, 1.0, true));
        let pair = risks.iter().find(|risk| risk.columns == ["pair"]).unwrap();
        assert_eq!((pair.unique, pair.below_5), (0.0, 1.0));
    }

    #[test]
    fn contributions_add_up_to_what_all_columns_single_out() {
        // `a` alone singles everybody out; `b` adds something where it is known first.
        let rows: String =
            (0..40).map(|row| format!("{row},{},x\n", row.min(9))).collect();
        let source = source(&format!("a,b,c\n{rows}"));
        let columns: Vec<ColumnId> = source.columns().collect();
        let shares = contributions((&source).into(), &columns).unwrap();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{shares:?}");
        assert!(shares[0] > shares[1] && shares[1] > 0.0, "{shares:?}");
        assert_eq!(shares[2], 0.0);
    }

    #[test]
    fn what_adds_nothing_is_not_listed() {
        let rows: String = (0..40).map(|row| format!("{row},{}\n", row % 2)).collect();
        let risks = all_risks(&source(&format!("a,b\n{rows}")), &[40, 2], 40).unwrap();
        let listed: Vec<_> = risks.iter().map(|risk| risk.columns.concat()).collect();
        assert_eq!(listed, ["a", "ab"]);
    }
}
