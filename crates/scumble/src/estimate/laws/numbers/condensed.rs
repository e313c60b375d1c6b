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
//! Beside cells that stand for several values a row counts with a probability; what that
//! leaves open given the numbers is added, once.
//!
//! # Limits
//! Rows of a group are drawn evenly along its axes, true ones seldom are; ranges smaller
//! than groups are estimated as if they were, and the error does not show it. Questions that
//! are also about drawn columns, or about values that stand apart, are refused: how both
//! depend on each other within a group is in neither model.
//!
//! # Cost
//! For each group, its rows times the kinds of rows in it.
//!
//! # Source
//! `aggarwal2004condensation`; errors are ours.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::estimate::laws::numbers::{Blurred, Noise};
use crate::estimate::laws::perturbed::Estimate;
use crate::estimate::laws::tally::{Guess, Tally};
use crate::estimate::laws::valuation::{Given, OwnNumber, Valuation};
use crate::estimate::laws::worth::Worth;
use crate::estimate::query::Measure;
use crate::estimate::query::question::Question;
use crate::estimate::query::ranges::Cut;

/// For each cell of the grid, what rows of a class are worth for an answer.
type ByCell = Vec<Option<Worth>>;

/// A question to rows that were drawn anew.
struct Condensed<'c, 'q, 'a> {
    valuation: &'c Valuation<'q, 'a>,
    blurred: &'c Blurred,
    /// The class of each distinct row.
    class_of: &'c [u32],
    /// For each class, what its rows are worth for each answer.
    worths: Vec<Vec<(Vec<u32>, ByCell)>>,
}

impl Question<'_> {
    /// The answers, in the order of the values that are counted apart.
    pub(crate) fn answer_condensed(
        &self,
        blurred: &Blurred,
        measure: &Measure,
    ) -> Result<Vec<Estimate>> {
        let Noise::Anew { group_of, n_groups } = &blurred.noise else {
            return Ok(Vec::new());
        };
        let valuation = Valuation::new(self, measure)?;
        if valuation.apart.is_some() || !self.noises.is_empty() {
            let name = &blurred.lattices[valuation.cuts[0].column].name;
            return Err(Error::recipe(format!(
                "`{name}` was drawn anew for each group: nothing tells how it goes with \
                 columns that were randomized or stand apart"
            ))
            .with_hint("ask about one of them at a time"));
        }
        let (class_of, n_classes) = self.sorted(valuation.measured, &valuation.facets);
        let mut examples = vec![0; n_classes];
        for (entry, class) in class_of.iter().enumerate().rev() {
            examples[*class as usize] = entry;
        }
        let worths = examples.iter().map(|entry| by_cell(&valuation, *entry));
        let worths = worths.collect::<Result<_>>()?;
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); *n_groups];
        for (row, group) in group_of.iter().enumerate() {
            groups[*group as usize].push(row);
        }
        let (valuation, class_of) = (&valuation, &class_of[..]);
        let condensed = Condensed { valuation, blurred, class_of, worths };
        let shares = groups.par_iter().map(|rows| {
            self.watch.check()?;
            Ok(condensed.shares(rows))
        });
        let shares: Vec<Vec<(&Vec<u32>, Tally)>> = shares.collect::<Result<_>>()?;
        let mut sums: BTreeMap<Vec<u32>, Tally> = BTreeMap::new();
        for (key, share) in shares.into_iter().flatten() {
            sums.entry(key.clone()).or_default().add(&share);
        }
        valuation.settled(sums, measure)
    }
}

/// What rows like `entry` are worth in each cell, for each answer.
fn by_cell(
    valuation: &Valuation<'_, '_>,
    entry: usize,
) -> Result<Vec<(Vec<u32>, ByCell)>> {
    let (subtables, joint) = valuation.joint(entry)?;
    let mut answers: Vec<(Vec<u32>, ByCell)> = Vec::new();
    let mut places: HashMap<Vec<u32>, usize> = HashMap::new();
    for cell in 0..valuation.grid.len() {
        let given = Given { cell, code: None };
        for worth in valuation.enumerate(entry, &subtables, &joint, given)? {
            let place = *places.entry(worth.key.clone()).or_insert_with_key(|key| {
                answers.push((key.clone(), vec![None; valuation.grid.len()]));
                answers.len() - 1
            });
            answers[place].1[cell] = Some(worth);
        }
    }
    Ok(answers)
}

impl Condensed<'_, '_, '_> {
    /// What the rows of a group add to each answer.
    fn shares(&self, rows: &[usize]) -> Vec<(&Vec<u32>, Tally)> {
        let (blurred, valuation) = (self.blurred, self.valuation);
        let cell = |row: &usize| blurred.cell(*row, &valuation.cuts, &valuation.grid);
        let cells: Vec<usize> = rows.iter().map(cell).collect();
        let class = |row: usize| self.class_of[blurred.kind(row)];
        let mut classes: Vec<u32> = rows.iter().map(|row| class(*row)).collect();
        classes.sort_unstable();
        classes.dedup();
        let near = valuation.cuts.iter().any(|cut| reaches(blurred, cut, rows));
        let mut shares = Vec::new();
        for own in classes {
            for (key, worths) in &self.worths[own as usize] {
                let of_class = |row: usize| class(row) == own;
                let share = self.share(rows, &cells, worths, near, &of_class);
                shares.push((key, share));
            }
        }
        shares
    }

    /// What the rows of a class add to an answer.
    fn share(
        &self,
        rows: &[usize],
        cells: &[usize],
        worths: &[Option<Worth>],
        near: bool,
        of_class: &dyn Fn(usize) -> bool,
    ) -> Tally {
        let n = rows.len() as f64;
        let mut share = Tally::default();
        let mut m = 0.0;
        let mut moments = Moments::default();
        let (mut guess, mut open) = (Guess::default(), [0.0; 3]);
        let mut guessed = false;
        for (row, cell) in rows.iter().zip(cells) {
            let (count, sum, square) = self.worth(*row, worths[*cell].as_ref());
            moments.add(count, sum);
            open[0] += count - count * count;
            open[1] += square - sum * sum;
            open[2] += sum - count * sum;
            if !of_class(*row) {
                continue;
            }
            m += 1.0;
            share.count += count;
            share.sum += sum;
            guessed |= worths[*cell].as_ref().is_some_and(|worth| worth.guessed);
            guess.add(&Guess { rows: 1.0, count, sum, square });
        }
        let all = moments.count == n;
        let times = if all { m * (2.0 - m / n) } else { 2.0 * m };
        let (mut count, mut sum, mut both) = moments.variances(n);
        // Whatever the numbers are, such rows count alike.
        let decided = match &worths[0] {
            None => false,
            Some(first) => {
                worths.iter().all(|w| w.as_ref().is_some_and(|w| w.is_like(first)))
            }
        };
        if !decided && count == 0.0 && near {
            // That all drawn rows are in or out does not say that all true ones are.
            let part = (moments.count + 0.5) / (n + 1.0);
            let mean = rows.iter().map(|row| self.number(*row)).sum::<f64>() / n;
            count = part * (1.0 - part);
            sum += mean * mean * count;
            both += mean * count;
        }
        let fixed = !matches!(self.valuation.own, OwnNumber::Cut(_));
        share.count_variance = times * count;
        // Known numbers of rows that all count are added up as they are.
        if !(all && decided && fixed) {
            share.sum_variance = times * sum;
            share.covariance = times * both;
        }
        if guessed {
            share.guess = guess;
        } else {
            share.count_variance += m * open[0] / n;
            share.sum_variance += m * open[1] / n;
            share.covariance += m * open[2] / n;
        }
        let certain = decided && worths[0].as_ref().is_some_and(|worth| !worth.open);
        share.possible = if certain { share.count } else { m };
        share.sure = if certain { share.count } else { 0.0 };
        share
    }

    /// First moments of count and sum of a row, and the second of the sum.
    fn worth(&self, row: usize, worth: Option<&Worth>) -> (f64, f64, f64) {
        let Some(worth) = worth else { return (0.0, 0.0, 0.0) };
        let count = worth.count[0];
        match self.valuation.own {
            OwnNumber::Nought => (count, worth.sum[0], worth.square[0]),
            OwnNumber::Kept(..) | OwnNumber::Cut(_) => {
                let number = self.number(row);
                (count, count * number, count * number * number)
            }
        }
    }

    /// The number that a row adds if it counts.
    fn number(&self, row: usize) -> f64 {
        let valuation = self.valuation;
        match &valuation.own {
            OwnNumber::Nought => 0.0,
            OwnNumber::Kept(place, numbers) => {
                let column = &valuation.question.evidence.columns[*place];
                numbers[column.codes[self.blurred.kind(row)] as usize]
            }
            OwnNumber::Cut(cut) => {
                self.blurred.number(row, valuation.cuts[*cut].column).0
            }
        }
    }
}

/// Whether a group that is as wide again to both sides would reach over a limit.
fn reaches(blurred: &Blurred, cut: &Cut, rows: &[usize]) -> bool {
    let values = rows.iter().map(|row| blurred.row(*row)[cut.column]);
    let known = values.filter(|value| !value.is_nan());
    let ends = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let width = ends.1 - ends.0;
    let leaves = |from: f64, to: f64| cut.class_of(from) != cut.class_of(to);
    width >= 0.0 && (leaves(ends.0, ends.0 - width) || leaves(ends.1, ends.1 + width))
}

/// Sums over the rows of a group: first moments, and their products.
#[derive(Debug, Default)]
struct Moments {
    count: f64,
    sum: f64,
    counts: f64,
    sums: f64,
    both: f64,
}

impl Moments {
    fn add(&mut self, count: f64, sum: f64) {
        self.count += count;
        self.sum += sum;
        self.counts += count * count;
        self.sums += sum * sum;
        self.both += count * sum;
    }

    /// The variances of counting, of the number where it counts, and of both together.
    fn variances(&self, n: f64) -> (f64, f64, f64) {
        let less =
            |squares: f64, a: f64, b: f64| (squares - a * b / n) / (n - 1.0).max(1.0);
        let count = less(self.counts, self.count, self.count).max(0.0);
        let sum = less(self.sums, self.sum, self.sum).max(0.0);
        (count, sum, less(self.both, self.sum, self.count))
    }
}
