//! What is not known of rows that were drawn anew, group by group.
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
//! the number where it counts and zero elsewhere. If all of the group is in the range its
//! true sum is no longer free: n rows have n times the mean, m of them vary by
//! `m (1 - m/n)` variances, and with the draws that makes `m (2 - m/n)`. Variances of the
//! law are those of the group's drawn rows; if all of these are in the range or none is, and
//! its end is no further than they are wide, half a row is taken to be on the other side.
//!
//! Other columns multiply. Let `r(c, x)` be the mean of what a row adds if its numbers are in
//! the cell `c` of the grid, over its cells and the values that stand apart, given its true
//! drawn values `x`. The variance of a sum is the mean of its variance given all `c`, which
//! is what other laws say of rows as they are, and the variance of `r` over `c`, which is
//! added here, for true and drawn rows; what depends on `x` is undone as everywhere. What
//! cells leave open given the numbers is taken as the mean over the group.
//!
//! # Limits
//! Rows of a group are drawn evenly along its axes, true ones seldom are; ranges smaller
//! than groups are estimated as if they were, and the error does not show it.
//!
//! # Cost
//! For each group, its rows times the classes of rows in it, times values that stand apart
//! and combinations of drawn ones.
//!
//! # Source
//! `aggarwal2004condensation`; errors are ours.

use crate::error::Result;
use crate::estimate::laws::moments::{RowMoments, add_times, paired, products};
use crate::estimate::laws::numbers::Blurred;
use crate::estimate::laws::prospect::{Prospect, Prospects};
use crate::estimate::laws::valuation::{Added, Valuation};
use crate::estimate::query::ranges::CutColumn;

/// The rows of a group that were drawn anew.
pub(crate) struct RedrawnGroup<'g> {
    pub(crate) blurred: &'g Blurred,
    pub(crate) rows: &'g [usize],
    /// The class of each of them.
    pub(crate) class_of: Vec<usize>,
    /// The share of the group that has each value that stands apart.
    pub(crate) shares: &'g [f64],
}

/// What a row with certain numbers adds, and what its other cells leave open of that.
type RowAdds = ([f64; 2], [f64; 3]);

impl<'a> Valuation<'_, 'a> {
    /// What the draw of a group adds to the variances of each answer, beyond those of rows as
    /// they are. `of_class` has what rows of a class are worth with each value that stands
    /// apart.
    pub(crate) fn redrawn<'p>(
        &self,
        group: &RedrawnGroup<'_>,
        of_class: &dyn Fn(usize) -> &'p [Prospects<'a>],
    ) -> Result<Vec<(Vec<u32>, [f64; 3])>>
    where
        'a: 'p,
    {
        let near = self.cuts.iter().any(|cut| reaches(group.blurred, cut, group.rows));
        let mut classes = group.class_of.clone();
        classes.sort_unstable();
        classes.dedup();
        let mut found = Vec::new();
        for class in classes {
            let prospects = of_class(class);
            let keys = prospects.iter().flat_map(|own| &own.answers).map(|a| &a.key);
            let mut keys: Vec<&Vec<u32>> = keys.collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let of_value = |own: &'p Prospects<'a>| {
                    (own, own.answers.iter().find(|answer| answer.key == *key))
                };
                let answers: Vec<_> = prospects.iter().map(of_value).collect();
                let variance = self.spread(group, class, &answers, near)?;
                found.push((key.clone(), variance));
            }
        }
        Ok(found)
    }

    /// The same for the rows of a class and one answer.
    fn spread(
        &self,
        group: &RedrawnGroup<'_>,
        class: usize,
        answers: &[(&Prospects<'a>, Option<&Prospect>)],
        near: bool,
    ) -> Result<[f64; 3]> {
        let any = |of: fn(&Prospect) -> bool| {
            answers.iter().any(|(_, answer)| answer.is_some_and(of))
        };
        // Whatever the numbers are, such rows count alike.
        let decided = !any(|answer| !answer.whole);
        let (uneven, guessed) = (any(|answer| answer.uneven), any(|a| a.guessed));
        let own: Vec<usize> = (0..group.rows.len())
            .filter(|place| group.class_of[*place] == class)
            .collect();
        let prospects = answers[0].0;
        let size = if uneven { prospects.joint.size() } else { 1 };
        let mut variances: Vec<(Vec<RowAdds>, [f64; 3])> = Vec::with_capacity(size);
        for drawn in 0..size {
            let added = group.rows.iter().map(|row| {
                self.row_adds(group.blurred, *row, answers, group.shares, drawn)
            });
            let added: Vec<RowAdds> = added.collect();
            let (m, near) = (own.len() as f64, near && !decided);
            let mut variance = self.of_law(group, &added, m, (near, decided));
            if !guessed {
                let n = group.rows.len() as f64;
                added
                    .iter()
                    .for_each(|(_, open)| add_times(&mut variance, 1.0 / n, *open));
            }
            variances.push((added, variance));
        }
        let mut sum = [0.0; 3];
        for place in own {
            let kernel = match uneven {
                true => {
                    self.kernel(prospects, group.blurred.kind(group.rows[place]))?
                }
                false => vec![1.0],
            };
            for (weight, (added, variance)) in kernel.iter().zip(&variances) {
                add_times(&mut sum, *weight, *variance);
                if !guessed {
                    // What its own numbers leave open was counted before.
                    add_times(&mut sum, -weight, added[place].1);
                }
            }
        }
        Ok(sum)
    }

    /// The variances of one of `m` rows, true and drawn, if rows of the group add this.
    fn of_law(
        &self,
        group: &RedrawnGroup<'_>,
        added: &[RowAdds],
        m: f64,
        (near, decided): (bool, bool),
    ) -> [f64; 3] {
        let n = added.len() as f64;
        let (mut first, mut second) = ([0.0; 2], [0.0; 3]);
        for (own, _) in added {
            add_times(&mut first, 1.0, *own);
            add_times(&mut second, 1.0, products(*own));
        }
        let [count, sum, mut both] =
            paired(second, products(first), |second, first| {
                (second - first / n) / (n - 1.0).max(1.0)
            });
        let (mut count, mut sum) = (count.max(0.0), sum.max(0.0));
        if near && count == 0.0 {
            // That all drawn rows are in or out does not say that all true ones are.
            let part = (first[0] + 0.5) / (n + 1.0);
            let numbers = group.rows.iter().map(|row| self.number(group.blurred, *row));
            let mean = numbers.sum::<f64>() / n;
            count = part * (1.0 - part);
            sum += mean * mean * count;
            both += mean * count;
        }
        let all = first[0] == n;
        let times = if all { 2.0 - m / n } else { 2.0 };
        let fixed = !matches!(self.added, Added::OwnCut(_));
        // Known numbers of rows that all count are added up as they are.
        let moved = if all && decided && fixed { 0.0 } else { times };
        [times * count, moved * sum, moved * both]
    }

    /// What a row adds with the numbers that it was published with.
    fn row_adds(
        &self,
        blurred: &Blurred,
        row: usize,
        answers: &[(&Prospects<'a>, Option<&Prospect>)],
        shares: &[f64],
        drawn: usize,
    ) -> RowAdds {
        let cell = blurred.cell(row, &self.cuts, &self.grid);
        let (mut first, mut open) = ([0.0; 2], [0.0; 3]);
        for ((prospects, answer), share) in answers.iter().zip(shares) {
            let worth = answer.and_then(|answer| prospects.worth(answer, cell));
            let Some(worth) = worth else { continue };
            let moments = match self.added {
                Added::Rows | Added::Numbers(..) | Added::Cells(_) => {
                    worth.moments[drawn]
                }
                Added::OwnKept(..) | Added::OwnCut(_) => {
                    let count = worth.moments[drawn].count;
                    RowMoments { count, sum: 0.0, square: 0.0 }
                        .shifted(self.number(blurred, row))
                }
            };
            let products = products(moments.first());
            add_times(&mut first, *share, moments.first());
            let left =
                paired(moments.second(), products, |second, product| second - product);
            add_times(&mut open, *share, left);
        }
        (first, open)
    }

    /// The number that a row adds if it counts.
    fn number(&self, blurred: &Blurred, row: usize) -> f64 {
        match &self.added {
            Added::Rows | Added::Numbers(..) | Added::Cells(_) => 0.0,
            Added::OwnKept(place, numbers) => {
                let column = &self.question.evidence.columns[*place];
                numbers[column.codes[blurred.kind(row)] as usize]
            }
            Added::OwnCut(cut) => blurred.number(row, self.cuts[*cut].column).0,
        }
    }
}

/// Whether a group that is as wide again to both sides would reach over a limit.
fn reaches(blurred: &Blurred, cut: &CutColumn, rows: &[usize]) -> bool {
    let values = rows.iter().map(|row| blurred.row(*row)[cut.column]);
    let known = values.filter(|value| !value.is_nan());
    let ends = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let width = ends.1 - ends.0;
    let leaves = |from: f64, to: f64| cut.class_of(from) != cut.class_of(to);
    width >= 0.0 && (leaves(ends.0, ends.0 - width) || leaves(ends.1, ends.1 + width))
}
