//! Sums and means from a release that has sensitive values by group.
//!
//! # Guarantee
//! If within each group every arrangement of its values among its rows is equally likely,
//! every sum is the mean of the true sum over all tables that fit the release, and its
//! standard error is exact; a mean is the sum by the count, with the error of how the ratio
//! moves. Where nothing is lost both are exact and their error nought.
//!
//! *Why.* Let `a(i, j)` be what row `i` adds if it gets value `j`. The sum over rows of
//! `a(i, w(i))` for a random permutation `w` of `N` has the mean `sum a / N`, and two such
//! sums, of `a` and `b`, have the covariance `sum (centred a) (centred b) / (N - 1)`, where
//! row and column means are taken away (`arrangement.rs` has the same for counts).
//!
//! # Limits
//! Those of counts (`buckets.rs`).
//!
//! # Cost
//! For each group and answer, classes of its rows times its distinct values.
//!
//! # Source
//! `hoeffding1951combinatorial`; METHODS B1 and F.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::estimate::classes::{Numbers, refine};
use crate::estimate::groups::Groups;
use crate::estimate::perturbed::Estimate;
use crate::estimate::query::Measure;
use crate::estimate::question::Question;
use crate::estimate::tally::{Tally, answers, numbers};

/// What a row adds to the count and to the sum if it gets a value.
type Adds = (f64, f64);

impl Question<'_> {
    /// The answers, in the order of the values that are counted apart.
    pub(super) fn sums_by_group(
        &self,
        groups: &Groups,
        measure: &Measure,
    ) -> Result<Vec<Estimate>> {
        let (evidence, sensitive) = (self.evidence, groups.sensitive);
        let Some(name) = measure.column() else { return Ok(Vec::new()) };
        let measured = evidence.column(name)?;
        let numbers = numbers(&evidence.columns[measured], measure)?;
        let (class_of, examples) = self.sorted_with(sensitive, measured);
        let mut sums: BTreeMap<Vec<u32>, Tally> = BTreeMap::new();
        if self.group_by.is_empty() {
            sums.insert(Vec::new(), Tally::default());
        }
        let truths: Vec<_> = examples.iter().map(|entry| self.truths(*entry)).collect();
        // What a row of a class adds to which answer if it gets a value.
        let adds = |class: usize, code: u32| -> Option<(Vec<u32>, f64)> {
            if !self.satisfied(&truths[class], sensitive, code as usize) {
                return None;
            }
            let own = |place: usize| match place == sensitive {
                true => code,
                false => evidence.columns[place].codes[examples[class]],
            };
            let key = self.group_by.iter().map(|place| own(*place)).collect();
            Some((key, numbers[own(measured) as usize]))
        };
        for (size, entries, values) in groups.iter() {
            let mut rows_of: BTreeMap<u32, u64> = BTreeMap::new();
            for entry in entries {
                *rows_of.entry(class_of[*entry as usize]).or_default() +=
                    evidence.rows[*entry as usize];
            }
            let rows: Vec<(u32, u64)> = rows_of.into_iter().collect();
            let mut answers = Numbers::default();
            let mut cells = Vec::new();
            for (row, (class, _)) in rows.iter().enumerate() {
                for (place, (code, _)) in values.iter().enumerate() {
                    if let Some((key, number)) = adds(*class as usize, *code) {
                        cells.push((answers.number(key), row, place, number));
                    }
                }
            }
            for (answer, key) in (0u32..).zip(&answers.items) {
                let mut table = vec![(0.0, 0.0); rows.len() * values.len()];
                for (_, row, place, number) in cells.iter().filter(|c| c.0 == answer) {
                    table[row * values.len() + place] = (1.0, *number);
                }
                let rows = rows.iter().map(|(_, n)| *n as f64).collect::<Vec<_>>();
                let counts = values.iter().map(|(_, n)| *n as f64).collect::<Vec<_>>();
                let found = arranged(size as f64, &rows, &counts, &table);
                sums.entry(key.clone()).or_default().add(&found);
            }
        }
        let estimates = sums.iter().filter_map(|(key, tally)| {
            let text = |(place, code): (&usize, &u32)| {
                evidence.columns[*place].texts[*code as usize].to_string()
            };
            let values = self.group_by.iter().zip(key).map(text).collect();
            tally.estimate(measure, values)
        });
        answers(estimates.collect(), &self.group_by)
    }

    /// The class of each distinct row, and a row of each class: rows of a class are alike in
    /// all that the question is about.
    fn sorted_with(&self, sensitive: usize, measured: usize) -> (Vec<u32>, Vec<usize>) {
        let columns = &self.evidence.columns;
        let asked = self.asked(Some(measured));
        let (mut class_of, mut n_classes) = (vec![0; self.evidence.rows.len()], 1);
        for place in asked.into_iter().filter(|place| *place != sensitive) {
            let column = &columns[place];
            let n_codes = column.texts.len();
            let (labels, n_labels) = if place == measured {
                ((0..n_codes as u32).collect(), n_codes)
            } else {
                let (labels, examples) = self.labels(place, n_codes);
                (labels, examples.len())
            };
            n_classes =
                refine(&mut class_of, n_classes, &column.codes, &labels, n_labels);
        }
        let mut examples = vec![0; n_classes];
        for (entry, class) in class_of.iter().enumerate().rev() {
            examples[*class as usize] = entry;
        }
        (class_of, examples)
    }
}

/// Count and sum of a group, over all arrangements: `rows` in each class, `values` of each
/// kind, and for each pair what such a row adds.
fn arranged(size: f64, rows: &[f64], values: &[f64], table: &[Adds]) -> Tally {
    let mut totals = [0.0; 2];
    // For (count, count), (sum, sum) and (count, sum): products of cells, and of row and
    // column sums.
    let (mut cells, mut sides) = ([0.0; 3], [0.0; 3]);
    let products = |(count, sum): Adds| [count * count, sum * sum, count * sum];
    let mut columns: Vec<Adds> = vec![(0.0, 0.0); values.len()];
    for (n, line) in rows.iter().zip(table.chunks_exact(values.len())) {
        let mut own = (0.0, 0.0);
        for ((m, adds), column) in values.iter().zip(line).zip(&mut columns) {
            own = (own.0 + m * adds.0, own.1 + m * adds.1);
            *column = (column.0 + n * adds.0, column.1 + n * adds.1);
            for (all, product) in cells.iter_mut().zip(products(*adds)) {
                *all += n * m * product;
            }
        }
        totals = [totals[0] + n * own.0, totals[1] + n * own.1];
        for (all, product) in sides.iter_mut().zip(products(own)) {
            *all += n * product;
        }
    }
    for (m, column) in values.iter().zip(columns) {
        for (all, product) in sides.iter_mut().zip(products(column)) {
            *all += m * product;
        }
    }
    let both = products((totals[0], totals[1]));
    let spread = |which: usize| {
        let spread = cells[which] - sides[which] / size + both[which] / (size * size);
        // What is left by rounding where nothing is open, and a single row leaves nothing.
        let least = 1e-12 * (cells[which].abs() + both[which].abs() / (size * size));
        if spread.abs() > least && size > 1.0 { spread / (size - 1.0) } else { 0.0 }
    };
    Tally {
        count: totals[0] / size,
        sum: totals[1] / size,
        count_variance: spread(0).max(0.0),
        sum_variance: spread(1).max(0.0),
        covariance: spread(2),
        possible: totals[0] / size,
        ..Tally::default()
    }
}
