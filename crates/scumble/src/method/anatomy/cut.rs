//! Cuts rows into blocks whose rows are alike, without a look at who has which value.

use rand::RngExt;

use super::AnatomyTask;
use super::hold::{Hold, hold};
use crate::error::Result;
use crate::method::mondrian::relative_width;
use crate::table::{Code, EntryId, Of};
use crate::watch::Watched;

/// Halves below this many rows are not worth another thread.
const SMALL: usize = 4_000;

/// Halves less even than this are taken only if no other column is better.
const EVEN: usize = 4;

pub(super) struct Cutter<'a> {
    task: Watched<'a, AnatomyTask<'a>>,
    parts: u64,
    n_columns: usize,
    /// The quasi codes of each entry, entry after entry.
    codes: Vec<Code>,
}

/// Room to work in.
#[derive(Default)]
struct Scratch {
    /// How many rows have each value; all zero between uses.
    counts: Of<Code, u64>,
    /// For each value how many rows are still to be held back.
    held: Of<Code, u64>,
    /// The values of a block, ascending.
    present: Vec<Code>,
    codes: Vec<Code>,
    left: Vec<EntryId>,
}

/// A way to halve rows: those with a code below `code` in `column`.
#[derive(Clone, Copy)]
struct Cut {
    column: usize,
    code: Code,
    /// How many rows the smaller half has.
    small: usize,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(task: Watched<'a, AnatomyTask<'a>>, parts: u64) -> Self {
        let census = &task.data.census;
        let n_columns = census.quasi.len();
        let mut codes = Vec::with_capacity(census.entries.len() * n_columns);
        for tuple in &census.tuple_of() {
            codes.extend(census.quasi.iter().map(|column| column[*tuple]));
        }
        Self { task, parts, n_columns, codes }
    }

    /// Puts the rows of a block side by side; returns how many each block has.
    pub(super) fn cut_all(&self, rows: &mut [EntryId]) -> Result<Vec<usize>> {
        self.cut(rows, 0, &mut self.scratch())
    }

    fn scratch(&self) -> Scratch {
        let n_values = self.task.data.census.sensitive_sizes[0];
        let zero = Of::repeat(0, n_values);
        Scratch { counts: zero.clone(), held: zero, ..Scratch::default() }
    }

    /// `start` is the place of the first of these rows among all.
    fn cut(
        &self,
        rows: &mut [EntryId],
        start: usize,
        scratch: &mut Scratch,
    ) -> Result<Vec<usize>> {
        self.task.watch.check()?;
        let n_rows = rows.len();
        let whole = || Ok(if n_rows == 0 { vec![] } else { vec![n_rows] });
        if (n_rows as u64) < 2 * self.parts {
            return whole();
        }
        let counts = self.count(rows, scratch);
        let Some((cut, held)) = self.choose(rows, &counts, scratch) else {
            return whole();
        };
        let mut n_cut = n_rows;
        let mut cut = Some(cut);
        let mut most = counts.iter().copied().max().unwrap_or(0);
        if held.total > 0 {
            let number = (start as u64) << 32 | n_rows as u64;
            n_cut = self.hold_back(rows, &counts, &held, number, scratch);
            let left = counts.iter().zip(&held.rows).map(|(count, held)| count - held);
            most = left.max().unwrap_or(0);
            // Other rows, other medians.
            cut = self
                .cuts(&rows[..n_cut], scratch)
                .filter(|cut| self.is_sure(*cut, most))
                .max_by_key(|cut| cut.small);
        }
        let Some(cut) = cut.filter(|cut| self.is_sure(*cut, most)) else {
            let mut blocks = vec![n_cut];
            blocks.extend((n_cut < n_rows).then_some(n_rows - n_cut));
            return Ok(blocks);
        };
        let middle = self.part(&mut rows[..n_cut], cut, scratch);
        let (below, rest) = rows[..n_cut].split_at_mut(middle);
        let (blocks, more) = if below.len().min(rest.len()) > SMALL {
            rayon::join(
                || self.cut(below, start, scratch),
                || self.cut(rest, start + middle, &mut self.scratch()),
            )
        } else {
            (self.cut(below, start, scratch), self.cut(rest, start + middle, scratch))
        };
        let mut blocks = blocks?;
        blocks.extend(more?);
        blocks.extend((n_cut < n_rows).then_some(n_rows - n_cut));
        Ok(blocks)
    }

    /// Whether no value can be too common in a half.
    fn is_sure(&self, cut: Cut, most: u64) -> bool {
        cut.small > 0 && most * self.parts <= cut.small as u64
    }

    /// How many rows have each of the values present.
    fn count(&self, rows: &[EntryId], scratch: &mut Scratch) -> Vec<u64> {
        let values = &self.task.data.census.sensitive[0];
        scratch.present.clear();
        for row in rows {
            let value = values[*row];
            if scratch.counts[value] == 0 {
                scratch.present.push(value);
            }
            scratch.counts[value] += 1;
        }
        scratch.present.sort_unstable();
        let take = |value: &Code| std::mem::take(&mut scratch.counts[*value]);
        scratch.present.iter().map(take).collect()
    }

    /// The cut for which the fewest rows are held back; of those that are even and need
    /// none, the one along the widest column.
    fn choose(
        &self,
        rows: &[EntryId],
        counts: &[u64],
        scratch: &mut Scratch,
    ) -> Option<(Cut, Hold)> {
        let most = counts.iter().copied().max().unwrap_or(0);
        let mut best: Option<(Cut, Hold)> = None;
        for cut in self.cuts(rows, scratch) {
            let held = if self.is_sure(cut, most) {
                Hold { rows: vec![0; counts.len()], total: 0 }
            } else {
                // Chance may take more from one side.
                let small = (cut.small - cut.small / 16) as u64;
                let Some(held) = hold(counts, small, self.parts) else { continue };
                held
            };
            if held.total == 0 && cut.small * EVEN >= rows.len() {
                return Some((cut, held));
            }
            let better = best.as_ref().is_none_or(|(other, least)| {
                (held.total, other.small) < (least.total, cut.small)
            });
            if better {
                best = Some((cut, held));
            }
        }
        // What is cut should be worth it.
        best.filter(|(_, held)| rows.len() as u64 - held.total >= 2 * self.parts)
    }

    /// For each column with different values, the widest first, its most even cut.
    fn cuts<'b>(
        &'b self,
        rows: &'b [EntryId],
        scratch: &'b mut Scratch,
    ) -> impl Iterator<Item = Cut> + use<'a, 'b> {
        let mut ends = vec![(Code::new(u32::MAX), Code::new(0)); self.n_columns];
        for row in rows {
            for (code, (low, high)) in self.codes_of(*row).iter().zip(&mut ends) {
                *low = (*low).min(*code);
                *high = (*high).max(*code);
            }
        }
        let columns = self.task.data.quasi.iter().zip(&ends).enumerate();
        let mut order: Vec<(usize, f64)> = columns
            .filter(|(_, (_, (low, high)))| low < high)
            .map(|(at, (column, (low, high)))| {
                (at, relative_width(column, *low, *high))
            })
            .collect();
        // The sort is stable: of equally wide columns the first is tried first.
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        order
            .into_iter()
            .map(|(column, _)| self.median(rows, column, &mut scratch.codes))
    }

    fn codes_of(&self, row: EntryId) -> &[Code] {
        let start = row.index() * self.n_columns;
        &self.codes[start..start + self.n_columns]
    }

    /// The most even cut along a column.
    fn median(&self, rows: &[EntryId], column: usize, codes: &mut Vec<Code>) -> Cut {
        codes.clear();
        codes.extend(rows.iter().map(|row| self.codes_of(*row)[column]));
        let (below, median, _) = codes.select_nth_unstable(rows.len() / 2);
        let median = *median;
        let below = below.iter().filter(|code| **code < median).count();
        let up_to = codes.iter().filter(|code| **code <= median).count();
        let small = |cut: usize| cut.min(rows.len() - cut);
        if small(below) >= small(up_to) {
            Cut { column, code: median, small: small(below) }
        } else {
            Cut { column, code: median.next(), small: small(up_to) }
        }
    }

    /// Draws rows to hold back and puts them behind the others; returns how many others
    /// there are.
    fn hold_back(
        &self,
        rows: &mut [EntryId],
        counts: &[u64],
        held: &Hold,
        number: u64,
        scratch: &mut Scratch,
    ) -> usize {
        let values = &self.task.data.census.sensitive[0];
        let mut rng = self.task.randomness.stream("hold back", number);
        let present = scratch.present.iter().zip(counts.iter().zip(&held.rows));
        for (value, (count, held)) in present {
            scratch.counts[*value] = *count;
            scratch.held[*value] = *held;
        }
        scratch.left.clear();
        let mut n_cut = 0;
        for place in 0..rows.len() {
            let row = rows[place];
            let value = values[row];
            // Of the rows still to come every choice is equally likely.
            let (to_come, to_hold) =
                (&mut scratch.counts[value], &mut scratch.held[value]);
            if *to_hold > 0 && rng.random_range(0..*to_come) < *to_hold {
                *to_hold -= 1;
                scratch.left.push(row);
            } else {
                rows[n_cut] = row;
                n_cut += 1;
            }
            *to_come -= 1;
        }
        rows[n_cut..].copy_from_slice(&scratch.left);
        n_cut
    }

    /// Puts the rows below the cut before the others; returns how many they are.
    fn part(&self, rows: &mut [EntryId], cut: Cut, scratch: &mut Scratch) -> usize {
        scratch.left.clear();
        let mut n_below = 0;
        for place in 0..rows.len() {
            let row = rows[place];
            if self.codes_of(row)[cut.column] < cut.code {
                rows[n_below] = row;
                n_below += 1;
            } else {
                scratch.left.push(row);
            }
        }
        rows[n_below..].copy_from_slice(&scratch.left);
        n_below
    }
}
