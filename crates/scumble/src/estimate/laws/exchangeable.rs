//! Answers about values that stand apart, beside whatever else was done to other columns:
//! any order of a group's values among its rows is as likely.
//!
//! # Guarantee
//! If within each group every arrangement of its values among its rows is equally likely (or,
//! where groups teach how values depend on other columns, as likely as they teach;
//! `../evidence/taught.rs`), and other cells are as their own laws say, every estimate is the mean of the true number over
//! all tables that fit the release (beside drawn columns, right on average over their noise),
//! and the square of its standard error is exact (or unbiased). No table that fits is outside
//! the limits.
//!
//! *Why.* Let `a(i, j)` be the mean of what row `i` adds if it gets value `j`, given its true
//! drawn values, and `q(i, j)` that of the square. With `w` a random permutation of `N` the
//! true sum of a group has the mean `sum a / N`. Its variance is that of independent cells,
//! the mean over `j` of `q - a²` summed over rows, and that of the arrangement: the sum of
//! `(a - row mean - column mean + mean)²` divided by `N - 1` (Hoeffding), which is
//! `(sum a² - N sum r² - sum c²/N + t²) / (N - 1)` with `r` the row means, `c` the sums of
//! columns, `t` the sum of row means. For two numbers of the same rows the same holds of the
//! products.
//!
//! Of drawn columns only `h` is known, with mean `a`. Its noise adds the variance of the mean
//! of `h` over `j`. Squares of `a` and `r` are undone as a whole. In `c²` and `t²` products
//! of different rows are those of `h`, because noise of different rows is independent, and
//! squares are undone.
//!
//! Limits: a row that may use a value is one that some cells let count; see
//! `arrangement.rs`.
//!
//! # Limits
//! The assumption is the whole of it: values must not depend on the columns asked about
//! within a group, beyond what groups teach; beside drawn columns what they teach is not
//! used. Of what is taught the error has the difference between what two halves of the groups
//! teach, and of groups too large to be gone through it is right to first order. Columns with
//! counted weights are taken as independent here. Intervals are
//! normal: rough for a handful of rows.
//!
//! # Cost
//! For each group and answer, classes of its rows (or its rows, if numbers are asked about)
//! times its distinct values that the question tells apart.
//!
//! # Source
//! `hoeffding1951combinatorial`; docs/methods.md, "Anatomy" and "The weight of a row".

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::error::Result;
use crate::estimate::evidence::groups::{GroupMembers, Lists, ValueGroup};
use crate::estimate::evidence::taught::{Taught, TaughtGroup};
use crate::estimate::laws::arrangement::cover;
use crate::estimate::laws::estimate::Estimate;
use crate::estimate::laws::moments::{
    AnswerMoments, RowMoments, add_times, paired, products,
};
use crate::estimate::laws::numbers::{Blurred, RedrawnGroup};
use crate::estimate::laws::prospect::{Prospects, RowPosterior};
use crate::estimate::laws::rows::Undone;
use crate::estimate::laws::valuation::{ApartColumn, Valuation};
use crate::estimate::query::Measure;
use crate::estimate::query::classes::Numbered;
use crate::estimate::query::question::Question;
use crate::learn::arrangements::{Alike, moments};

/// Rows of a group that are alike.
struct Unit {
    rows: u64,
    entry: usize,
    /// Its place among the distinct rows of the group.
    member: usize,
    /// The row, if numbers are asked about.
    row: Option<usize>,
    /// The place of what its class is worth.
    class: usize,
}

/// What a unit adds to an answer if it gets a value.
struct Use {
    answer: u32,
    unit: usize,
    label: usize,
    /// For each combination of drawn values.
    moments: Vec<RowMoments>,
    /// What undoes noise, if there is something to undo.
    kernel: Option<Vec<f64>>,
    sure: bool,
    possible: bool,
    guessed: bool,
}

impl Question<'_> {
    /// The answers, in the order of the values that are counted apart.
    pub(crate) fn answer_exchangeable(
        &self,
        groups: &GroupMembers,
        measure: &Measure,
    ) -> Result<Vec<Estimate>> {
        let valuation = Valuation::new(self, measure)?;
        let (class_of, _) = self.sorted(valuation.measured, &valuation.facets);
        let blurred =
            self.evidence.blurred.as_ref().filter(|_| !valuation.cuts.is_empty());
        let rows_of = blurred.map(|blurred| Lists::of(blurred.kinds(), class_of.len()));
        let [apart] = &*valuation.apart else { return Ok(Vec::new()) };
        let context = GroupContext {
            valuation: &valuation,
            taught: self.evidence.taught(groups, self.watch)?,
            apart,
            class_of: &class_of,
            numbers: blurred.zip(rows_of.as_ref()),
            limited: *measure == Measure::Count,
        };
        let all: Vec<ValueGroup<'_>> = groups.iter().collect();
        let found = all.par_iter().enumerate().map(|(number, group)| {
            self.watch.check()?;
            context.moments(number, group)
        });
        let found: Vec<Vec<(Vec<u32>, AnswerMoments)>> =
            found.collect::<Result<_>>()?;
        let mut sums: BTreeMap<Vec<u32>, AnswerMoments> = BTreeMap::new();
        for (key, moments) in found.into_iter().flatten() {
            sums.entry(key).or_default().add(&moments);
        }
        valuation.settled(sums, measure)
    }
}

/// What all groups share.
struct GroupContext<'c, 'q, 'a> {
    valuation: &'c Valuation<'q, 'a>,
    taught: Option<&'c Taught>,
    apart: &'c ApartColumn,
    class_of: &'c [u32],
    numbers: Option<(&'c Blurred, &'c Lists)>,
    /// Whether limits are of use.
    limited: bool,
}

impl<'a> GroupContext<'_, '_, 'a> {
    /// What a group adds to each answer.
    fn moments(
        &self,
        number: usize,
        group: &ValueGroup<'_>,
    ) -> Result<Vec<(Vec<u32>, AnswerMoments)>> {
        let (size, entries, values) = group;
        let mut labels: BTreeMap<u32, u64> = BTreeMap::new();
        for (code, n) in *values {
            *labels.entry(self.apart.label_of[*code as usize]).or_default() += n;
        }
        let counts: Vec<u64> = labels.values().copied().collect();
        let (units, classes) = self.units(entries, labels.keys().copied())?;
        let mut answers = Numbered::default();
        let mut uses = self.uses(&units, &classes, &mut answers)?;
        uses.sort_by_key(|own| own.answer);
        let weights =
            self.taught.and_then(|taught| taught.group(number)).map(|group| {
                let label = |(code, _): &(u32, u64)| {
                    let label = self.apart.label_of[*code as usize];
                    labels.keys().position(|own| *own == label).unwrap_or_default()
                };
                let label_of = values.iter().map(label).collect();
                Weights { group, label_of, n_labels: counts.len() }
            });
        let found = uses.chunk_by(|a, b| a.answer == b.answer).map(|uses| {
            let (mut moments, is_open) = arranged(*size, &counts, &units, uses);
            let noisy = uses.iter().any(|own| own.kernel.is_some());
            if let Some(weights) = weights.as_ref().filter(|_| is_open && !noisy) {
                moments = weights.weighed(*size, &units, uses);
            }
            if self.limited {
                (moments.sure, moments.possible) = limits(&counts, &units, uses);
            }
            (answers.items[uses[0].answer as usize].clone(), moments)
        });
        let mut found: Vec<(Vec<u32>, AnswerMoments)> = found.collect();
        if let Some((blurred, _)) = self.numbers.filter(|(b, _)| b.is_anew()) {
            let rows: Vec<usize> = units.iter().filter_map(|unit| unit.row).collect();
            let class_of = units.iter().map(|unit| unit.class).collect();
            let shares = counts.iter().map(|n| *n as f64 / *size as f64);
            let shares: Vec<f64> = shares.collect();
            let group =
                RedrawnGroup { blurred, rows: &rows, class_of, shares: &shares };
            let of_class = |class: usize| classes[class].as_slice();
            for (key, variance) in self.valuation.redrawn(&group, &of_class)? {
                let own = found.iter_mut().filter(|(other, _)| *other == key);
                own.for_each(|(_, m)| add_times(&mut m.variance, 1.0, variance));
            }
        }
        Ok(found)
    }

    /// The rows of a group, and for each class of them what they are worth with each label.
    fn units(
        &self,
        entries: &[u32],
        labels: impl Iterator<Item = u32> + Clone,
    ) -> Result<(Vec<Unit>, Vec<Vec<Prospects<'a>>>)> {
        let mut units: Vec<Unit> = Vec::new();
        let mut classes: Vec<Vec<Prospects<'a>>> = Vec::new();
        let mut class_at: HashMap<(u32, Option<Vec<bool>>), usize> = HashMap::new();
        let mut unit_at: HashMap<(usize, usize, usize), usize> = HashMap::new();
        let valuation = self.valuation;
        let mut class = |entry: usize, missing: Option<Vec<bool>>| -> Result<usize> {
            let key = (self.class_of[entry], missing);
            if let Some(class) = class_at.get(&key) {
                return Ok(*class);
            }
            let codes = labels.clone().map(|label| self.apart.examples[label as usize]);
            let missing = key.1.as_deref();
            let each = codes.map(|code| valuation.prospects(entry, &[code], missing));
            classes.push(each.collect::<Result<_>>()?);
            class_at.insert(key, classes.len() - 1);
            Ok(classes.len() - 1)
        };
        for (member, entry) in entries.iter().map(|entry| *entry as usize).enumerate() {
            if let Some((blurred, rows_of)) = self.numbers {
                for row in rows_of.of_list(entry).iter().map(|row| *row as usize) {
                    let class = class(entry, blurred.missing(row, &valuation.cuts))?;
                    units.push(Unit { rows: 1, entry, member, row: Some(row), class });
                }
                continue;
            }
            let class = class(entry, Some(Vec::new()))?;
            let rows = valuation.question.evidence.rows[entry];
            let published = valuation.question.published(entry);
            // Rows that are alike for the question may differ in what groups teach of them.
            let own = if self.taught.is_some() { member } else { 0 };
            let unit = *unit_at.entry((class, published, own)).or_insert_with(|| {
                units.push(Unit { rows: 0, entry, member, row: None, class });
                units.len() - 1
            });
            units[unit].rows += rows;
        }
        Ok((units, classes))
    }

    /// What units add to answers with each value they may get.
    fn uses(
        &self,
        units: &[Unit],
        classes: &[Vec<Prospects<'a>>],
        answers: &mut Numbered<Vec<u32>>,
    ) -> Result<Vec<Use>> {
        let valuation = self.valuation;
        let (mut uses, mut law) = (Vec::new(), RowPosterior::default());
        for (number, unit) in units.iter().enumerate() {
            let blurred = self.numbers.map(|(blurred, _)| blurred);
            let numbers = blurred.zip(unit.row);
            for (label, prospects) in classes[unit.class].iter().enumerate() {
                valuation.locate(numbers, unit.entry, prospects, &mut law);
                for answer in &prospects.answers {
                    let (sure, possible) = valuation.limits(answer, &law);
                    if !possible {
                        continue;
                    }
                    let drawn =
                        if answer.uneven { 0..prospects.joint.size() } else { 0..1 };
                    let moments = drawn.map(|drawn| {
                        valuation.moments(answer, &law, drawn).shifted(law.number)
                    });
                    let kernel =
                        answer.uneven.then(|| valuation.kernel(prospects, unit.entry));
                    uses.push(Use {
                        answer: answers.number(answer.key.clone()),
                        unit: number,
                        label,
                        moments: moments.collect(),
                        kernel: kernel.transpose()?,
                        sure,
                        possible,
                        guessed: answer.guessed,
                    });
                }
            }
        }
        Ok(uses)
    }
}

/// How likely values are in the rows of a group, by what groups teach.
struct Weights<'t> {
    group: TaughtGroup<'t>,
    /// The place of each value's label.
    label_of: Vec<usize>,
    n_labels: usize,
}

impl Weights<'_> {
    /// Moments of count and sum, over all arrangements, each as likely as it is; nothing was
    /// drawn.
    fn weighed(&self, size: u64, units: &[Unit], uses: &[Use]) -> AnswerMoments {
        let mut found =
            AnswerMoments { possible: size as f64, ..AnswerMoments::default() };
        let mut adds = vec![[0.0; 2]; units.len() * self.n_labels];
        let mut shares = vec![0.0; self.n_labels];
        let mut apart = vec![0.0; self.n_labels];
        for uses in uses.chunk_by(|a, b| a.unit == b.unit) {
            let unit = &units[uses[0].unit];
            let rows = unit.rows as f64;
            shares.fill(0.0);
            apart.fill(0.0);
            for (value, label) in self.label_of.iter().enumerate() {
                shares[*label] += self.group.share(unit.member, value);
                apart[*label] += self.group.apart(unit.member, value);
            }
            let guessed = uses.iter().any(|own| own.guessed);
            let (mut mean, mut square) = ([0.0; 2], 0.0);
            for own in uses {
                let share = shares[own.label];
                let Undone { first, product, second } = Undone::new(None, &own.moments);
                add_times(&mut mean, share, first);
                add_times(&mut found.apart, rows * apart[own.label], first);
                square += share * second[1];
                adds[own.unit * self.n_labels + own.label] = first;
                if !guessed {
                    let open = paired(second, product, still_open);
                    add_times(&mut found.variance, rows * share, open);
                }
            }
            add_times(&mut found.mean, rows, mean);
            if guessed {
                let [count, sum] = mean;
                found.guess.add(rows, RowMoments { count, sum, square });
            }
        }
        let (members, counts) = self.group.rows();
        let rows = units.iter().map(|unit| {
            let (_, fits) = &members[unit.member];
            (unit.rows as f64, fits.clone())
        });
        let rows: Vec<Alike> = rows.collect();
        let (_, spread) = moments(&rows, &counts, &|unit, value| {
            adds[unit * self.n_labels + self.label_of[value]]
        });
        add_times(&mut found.variance, 1.0, spread);
        found
    }
}

/// What is open in a row itself, but for what is left by rounding.
fn still_open(second: f64, product: f64) -> f64 {
    let open = second - product;
    if open.abs() > 1e-13 * second.abs() { open } else { 0.0 }
}

/// Moments of count and sum of a group of `size` rows with these counts of values, over all
/// arrangements, and whether arrangements differ.
fn arranged(
    size: u64,
    values: &[u64],
    units: &[Unit],
    uses: &[Use],
) -> (AnswerMoments, bool) {
    let n = size as f64;
    let mut found = AnswerMoments { possible: n, ..AnswerMoments::default() };
    let (mut cells, mut rows) = ([0.0; 3], [0.0; 3]);
    let (mut within, mut noise) = ([0.0; 3], [0.0; 3]);
    let mut columns = vec![([0.0; 2], [0.0; 3]); values.len()];
    for uses in uses.chunk_by(|a, b| a.unit == b.unit) {
        let rows_of = units[uses[0].unit].rows as f64;
        let guessed = uses.iter().any(|own| own.guessed);
        let (mut mean, mut square) = ([0.0; 2], 0.0);
        for own in uses {
            let value = values[own.label] as f64;
            let share = value / n;
            let Undone { first, product, second } =
                Undone::new(own.kernel.as_deref(), &own.moments);
            add_times(&mut mean, share, first);
            square += share * second[1];
            let open = paired(second, product, still_open);
            if !guessed {
                add_times(&mut within, rows_of * share, open);
            }
            add_times(&mut cells, rows_of * value, product);
            let (column, same) = &mut columns[own.label];
            add_times(column, rows_of, first);
            add_times(same, rows_of, paired(products(first), product, |a, b| a - b));
        }
        let squares = mean_products(n, values, uses, mean);
        add_times(&mut rows, rows_of, squares);
        add_times(&mut noise, rows_of, paired(products(mean), squares, |a, b| a - b));
        add_times(&mut found.mean, rows_of, mean);
        if guessed {
            let [count, sum] = mean;
            found.guess.add(rows_of, RowMoments { count, sum, square });
        }
    }
    let both = products(found.mean);
    let noisy = uses.iter().any(|own| own.kernel.is_some());
    let mut is_open = false;
    found.variance = [0, 1, 2].map(|pair| {
        let of_columns = columns.iter().zip(values).map(|((column, same), value)| {
            *value as f64 * (products(*column)[pair] - same[pair])
        });
        let of_columns: f64 = of_columns.sum();
        let spread =
            cells[pair] - n * rows[pair] - of_columns / n + both[pair] - noise[pair];
        // What is left by rounding where nothing is open, and a single row leaves nothing.
        let least = 1e-12 * (cells[pair].abs() + both[pair].abs());
        let spread =
            if spread.abs() > least && size > 1 { spread / (n - 1.0) } else { 0.0 };
        is_open |= spread != 0.0;
        // Estimates of variances may be below zero where there is noise.
        let spread = if noisy || pair == 2 { spread } else { spread.max(0.0) };
        spread + within[pair] + if noisy { noise[pair] } else { 0.0 }
    });
    (found, is_open)
}

/// Products of the means over values of what a unit adds, undone.
fn mean_products(n: f64, values: &[u64], uses: &[Use], mean: [f64; 2]) -> [f64; 3] {
    let Some(kernel) = uses.iter().find_map(|own| own.kernel.as_ref()) else {
        return products(mean);
    };
    let mut found = [0.0; 3];
    for (drawn, weight) in kernel.iter().enumerate() {
        let mut means = [0.0; 2];
        for own in uses {
            let share = values[own.label] as f64 / n;
            // What does not depend on drawn values is the same for all.
            let moments = own.moments.get(drawn).unwrap_or(&own.moments[0]);
            add_times(&mut means, share, moments.first());
        }
        add_times(&mut found, *weight, products(means));
    }
    found
}

/// As many rows as count in every table that fits, and as many as count in some.
fn limits(values: &[u64], units: &[Unit], uses: &[Use]) -> (f64, f64) {
    let mut classes: BTreeMap<(Vec<bool>, Vec<bool>), u64> = BTreeMap::new();
    for uses in uses.chunk_by(|a, b| a.unit == b.unit) {
        let mut can = (vec![false; values.len()], vec![false; values.len()]);
        for own in uses {
            can.0[own.label] = own.possible;
            can.1[own.label] = own.sure;
        }
        *classes.entry(can).or_default() += units[uses[0].unit].rows;
    }
    let rows: Vec<u64> = classes.values().copied().collect();
    let can: Vec<&(Vec<bool>, Vec<bool>)> = classes.keys().collect();
    let most = cover(&rows, values, 0, &|class, label| can[class].0[label]);
    let missed = cover(&rows, values, 0, &|class, label| !can[class].1[label]);
    (rows.iter().sum::<u64>().saturating_sub(missed) as f64, most as f64)
}
