//! Between which numbers a count of several columns that stand apart must be: by each column
//! alone, whatever the others are.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::error::Result;
use crate::estimate::laws::arrangement::cover;
use crate::estimate::laws::jointly::{Context, Known, digits};
use crate::estimate::laws::moments::AnswerMoments;

impl Context<'_, '_, '_> {
    /// As many rows as count in every table that fits, and as many as count in some, by each
    /// column.
    pub(super) fn limit(
        &self,
        sums: &mut BTreeMap<Vec<u32>, AnswerMoments>,
    ) -> Result<()> {
        let question = self.valuation.question;
        for column in 0..self.groups.len() {
            let all: Vec<_> = self.groups[column].iter().collect();
            let groups =
                all.par_iter().enumerate().map(|(group, (size, entries, _))| {
                    question.watch.check()?;
                    let labels = &self.labels[column][group];
                    let counts =
                        labels.iter().map(|(_, s)| (s * *size as f64).round() as u64);
                    let counts: Vec<u64> = counts.collect();
                    self.limits_in(column, entries, &counts)
                });
            let groups: Vec<BTreeMap<Vec<u32>, (u64, u64)>> =
                groups.collect::<Result<_>>()?;
            let mut own: BTreeMap<Vec<u32>, (u64, u64)> = BTreeMap::new();
            for (key, (sure, possible)) in groups.into_iter().flatten() {
                let sum = own.entry(key).or_default();
                (sum.0, sum.1) = (sum.0 + sure, sum.1 + possible);
            }
            for (key, sum) in sums.iter_mut() {
                let (sure, possible) = own.get(key).copied().unwrap_or_default();
                sum.sure = sum.sure.max(sure as f64);
                sum.possible = sum.possible.min(possible as f64);
            }
        }
        Ok(())
    }

    /// The same of the rows of a group with so many values of each label.
    fn limits_in(
        &self,
        column: usize,
        entries: &[u32],
        counts: &[u64],
    ) -> Result<BTreeMap<Vec<u32>, (u64, u64)>> {
        // By answer: which labels let rows count for certain, or at all, and how many rows.
        type Uses = BTreeMap<(Vec<bool>, Vec<bool>), u64>;
        let mut uses: BTreeMap<Vec<u32>, Uses> = BTreeMap::new();
        let mut known = Known::new();
        for entry in entries.iter().map(|entry| *entry as usize) {
            let shape = self.shape(entry);
            for (key, tensor) in self.tensors(entry, &mut known)? {
                let (mut sure, mut may) =
                    (vec![true; counts.len()], vec![false; counts.len()]);
                let each = tensor.sure.iter().zip(&tensor.possible);
                for (cell, (is_sure, is_possible)) in each.enumerate() {
                    let label = digits(cell, &shape)[column];
                    sure[label] &= *is_sure;
                    may[label] |= is_possible;
                }
                *uses.entry(key).or_default().entry((sure, may)).or_default() +=
                    self.valuation.question.evidence.rows[entry];
            }
        }
        let limits = uses.into_iter().map(|(key, uses)| {
            let rows: Vec<u64> = uses.values().copied().collect();
            let can: Vec<&(Vec<bool>, Vec<bool>)> = uses.keys().collect();
            let most = cover(&rows, counts, 0, &|class, label| can[class].1[label]);
            let missed = cover(&rows, counts, 0, &|class, label| !can[class].0[label]);
            let all: u64 = rows.iter().sum();
            (key, (all.saturating_sub(missed), most))
        });
        Ok(limits.collect())
    }
}
