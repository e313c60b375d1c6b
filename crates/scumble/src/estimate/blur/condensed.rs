//! Answers from rows that were drawn anew, group by group.
//!
//! # Guarantee
//! Rows are counted as they are. Where the condition is about other columns only, the count
//! is exact. The sum over all rows of a group is unbiased: they are drawn around the group's
//! true mean.
//!
//! The standard error is that of a model: within a group, true rows and drawn ones come from
//! one law, each on its own. If m rows of a group have the other columns that are asked for,
//! and a share w of its law is in the range, true count and drawn count each vary by
//! `m w (1 - w)`, and their difference by twice that. So does a sum, with the variance of
//! the number where it counts and nought elsewhere. If all of the group is in the range its
//! true sum is no longer free: n rows have n times the mean, m of them vary by
//! `m (1 - m/n)` variances, and with the draws that makes `m (2 - m/n)`. Variances of the
//! law are those of the group's drawn rows; if all of these are in the range or none is, and
//! its end is no further than they are wide, half a row is taken to be on the other side.
//!
//! # Limits
//! Rows of a group are drawn evenly along its axes, true ones seldom are; ranges smaller
//! than groups are estimated as if they were, and the error does not show it.
//!
//! # Cost
//! For each group, its rows times the kinds of rows in it.
//!
//! # Source
//! `aggarwal2004condensation`; errors are ours.

use rayon::prelude::*;

use crate::estimate::blur::Noise;
use crate::estimate::blur::answer::Asked;
use crate::estimate::blur::measured::Measured;
use crate::estimate::ranges::Cut;
use crate::estimate::tally::Tally;

/// Adds up what rows contribute.
pub(super) fn add(asked: &Asked, sums: &mut [Tally]) {
    let Noise::Anew { group_of, n_groups } = &asked.blurred.noise else {
        return;
    };
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); *n_groups];
    for (row, group) in group_of.iter().enumerate() {
        groups[*group as usize].push(row);
    }
    let shares: Vec<Vec<(u32, Tally)>> =
        groups.par_iter().map(|rows| shares(asked, rows)).collect();
    for (answer, share) in shares.iter().flatten() {
        sums[*answer as usize].add(share);
    }
}

/// What the rows of a group add to each answer.
fn shares(asked: &Asked, rows: &[usize]) -> Vec<(u32, Tally)> {
    let blurred = asked.blurred;
    let cells: Vec<usize> = rows
        .iter()
        .map(|row| {
            let values = blurred.row(*row);
            let classes = asked.cuts.iter().map(|cut| cut.class_of(values[cut.column]));
            asked.grid.cell(classes)
        })
        .collect();
    let number = |row: usize| match &asked.measured {
        Measured::Rows => 0.0,
        Measured::Known(numbers) => numbers[blurred.kinds[row] as usize],
        Measured::Blurred(column) => {
            let z = blurred.row(row)[*column];
            if z.is_nan() { 0.0 } else { z / blurred.lattices[*column].scale }
        }
    };
    let fixed = !matches!(asked.measured, Measured::Blurred(_));
    let key = |row: usize| {
        let kind = blurred.kinds[row] as usize;
        (asked.answer_of[kind], asked.open_of[kind])
    };
    let mut kinds: Vec<(u32, u32)> = rows.iter().map(|row| key(*row)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let n = rows.len() as f64;
    let near = asked.cuts.iter().any(|cut| reaches(asked, cut, rows));
    let one = |kind: &(u32, u32)| {
        let set = &asked.sets[kind.1 as usize];
        let mut share = Tally::default();
        let mut m = 0.0;
        let mut moments = Moments::default();
        for (row, cell) in rows.iter().zip(&cells) {
            let (inside, number) = (set[*cell], number(*row));
            moments.add(f64::from(u8::from(inside)), number);
            if key(*row) != *kind {
                continue;
            }
            m += 1.0;
            if inside {
                share.count += 1.0;
                share.sum += number;
            }
        }
        let all = moments.count == n;
        let times = if all { m * (2.0 - m / n) } else { 2.0 * m };
        let (mut count, mut sum, mut both) = moments.variances(n);
        // Whatever the numbers are, such rows count, or they do not.
        let decided = set.iter().all(|inside| *inside == set[0]);
        if !decided && count == 0.0 && near {
            // That all drawn rows are in or out does not say that all true ones are.
            let share = (moments.count + 0.5) / (n + 1.0);
            let mean = rows.iter().map(|row| number(*row)).sum::<f64>() / n;
            count = share * (1.0 - share);
            sum += mean * mean * count;
            both += mean * count;
        }
        let all = all && decided;
        share.count_variance = times * count;
        // Known numbers of rows that all count are added up as they are.
        if !(all && fixed) {
            share.sum_variance = times * sum;
            share.covariance = times * both;
        }
        share.possible = if decided { share.count } else { m };
        share.sure = if decided { share.count } else { 0.0 };
        (kind.0, share)
    };
    kinds.iter().map(one).collect()
}

/// Whether a group that is as wide again to both sides would reach over a limit.
fn reaches(asked: &Asked, cut: &Cut, rows: &[usize]) -> bool {
    let values = rows.iter().map(|row| asked.blurred.row(*row)[cut.column]);
    let known = values.filter(|value| !value.is_nan());
    let ends = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let width = ends.1 - ends.0;
    let leaves = |from: f64, to: f64| cut.class_of(from) != cut.class_of(to);
    width >= 0.0 && (leaves(ends.0, ends.0 - width) || leaves(ends.1, ends.1 + width))
}

/// Sums over the rows of a group.
#[derive(Debug, Default)]
struct Moments {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, inside: f64, number: f64) {
        self.count += inside;
        self.sum += inside * number;
        self.squares += inside * number * number;
    }

    /// The variances of counting, of the number where it counts, and of both together.
    fn variances(&self, n: f64) -> (f64, f64, f64) {
        let less =
            |squares: f64, a: f64, b: f64| (squares - a * b / n) / (n - 1.0).max(1.0);
        let count = less(self.count, self.count, self.count).max(0.0);
        let sum = less(self.squares, self.sum, self.sum).max(0.0);
        (count, sum, less(self.sum, self.sum, self.count))
    }
}
