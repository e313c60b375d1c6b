//! Answers about several columns that stand apart: each has groups and arrangements of its
//! own, which do not depend on each other.
//!
//! # Guarantee
//! If within each group of each column every arrangement of its values among its rows is
//! equally likely, arrangements of different columns are independent, and other cells are as
//! their own laws say, every estimate is the mean of the true number over all tables that fit
//! the release, and the square of its standard error is exact. No table that fits is outside
//! the limits.
//!
//! *Why.* Let `a(i, j)` be the mean of what row `i` adds with the values `j`, one of each
//! column. Its mean over all values is divided as in an analysis of variance: `a` is the sum
//! over sets `S` of columns of `w(S, i, j)`, which depends on the values of the columns in
//! `S` and has mean zero over each of them. Parts of different sets are uncorrelated, for the
//! same row and for two rows. Two rows that share the groups of all columns in `S` draw
//! their values without replacement: the sum of `w` over the values that one row leaves is
//! minus `w` at its own, so the mean of `w(S, i, j) w(S, k, j')` is the mean over `j` of
//! `w(S, i, j) w(S, k, j)`, times `-1 / (N - 1)` for each column of `S` with its group's `N`
//! rows. If they share not all of these groups it is zero. To that comes what is open in the
//! rows themselves. With one column this is the formula of `exchangeable.rs`. ∎
//!
//! Limits are those of each column alone, whatever the others are; the narrowest are taken.
//!
//! # Limits
//! Which values go together is not published: columns are taken as independent within their
//! groups, and estimates lean towards that. Limits are not the narrowest possible. Not beside
//! randomized or blurred columns.
//!
//! # Cost
//! For each row and set of columns, the values of its groups that the question tells apart,
//! multiplied.
//!
//! # Source
//! `hoeffding1951combinatorial`; docs/methods.md, "Several columns apart".

mod limits;

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::estimate::evidence::groups::GroupMembers;
use crate::estimate::laws::estimate::Estimate;
use crate::estimate::laws::moments::{
    AnswerMoments, RowMoments, add_times, paired, products,
};
use crate::estimate::laws::prospect::RowPosterior;
use crate::estimate::laws::valuation::Valuation;
use crate::estimate::query::Measure;
use crate::estimate::query::question::Question;

/// First moments of rows summed up, for each combination of values, and the sum of each row's
/// own products.
type RowSums = (Vec<[f64; 2]>, [f64; 3]);

/// The most combinations of values that a row may have.
const MOST_COMBINATIONS: usize = 1 << 16;

/// Rows that are looked at at once, in order, so that sums do not depend on threads.
const BLOCK: usize = 1 << 10;

/// What a row adds to an answer with some values.
#[derive(Clone)]
struct Piece {
    key: Vec<u32>,
    moments: RowMoments,
    sure: bool,
    guessed: bool,
}

/// What rows add, by their class and the labels of their values.
type Known = HashMap<(u32, Vec<u32>), Arc<Vec<Piece>>>;

/// What a row adds to an answer, for each combination of labels.
struct Tensor {
    moments: Vec<RowMoments>,
    sure: Vec<bool>,
    possible: Vec<bool>,
    guessed: bool,
}

/// The labels of a group's values: each with the share of its rows that have it.
type Shares = Vec<(u32, f64)>;

struct Context<'c, 'q, 'a> {
    valuation: &'c Valuation<'q, 'a>,
    groups: Vec<&'c GroupMembers>,
    class_of: &'c [u32],
    /// For each column, the labels of each of its groups.
    labels: Vec<Vec<Shares>>,
}

impl Question<'_> {
    /// The answers, in the order of the values that are counted apart.
    pub(crate) fn answer_jointly(
        &self,
        apart: &[&GroupMembers],
        measure: &Measure,
    ) -> Result<Vec<Estimate>> {
        let valuation = Valuation::new(self, measure)?;
        let (class_of, _) = self.sorted(valuation.measured, &valuation.facets);
        let own = valuation.apart.iter().filter_map(|column| {
            apart.iter().copied().find(|groups| groups.sensitive == column.place)
        });
        let groups: Vec<&GroupMembers> = own.collect();
        let labels = groups.iter().zip(&valuation.apart).map(|(groups, column)| {
            let all = 0..groups.len() as u32;
            let shares = all.map(|group| {
                let (size, values) = groups.values(group);
                let mut labels: BTreeMap<u32, u64> = BTreeMap::new();
                for (code, n) in values {
                    *labels.entry(column.label_of[*code as usize]).or_default() += n;
                }
                let share = |(label, n)| (label, n as f64 / size as f64);
                labels.into_iter().map(share).collect()
            });
            shares.collect()
        });
        let labels = labels.collect();
        let context =
            Context { valuation: &valuation, groups, class_of: &class_of, labels };
        let mut sums = context.alone()?;
        for set in 1..1u32 << context.groups.len() {
            for (key, shared) in context.shared(set)? {
                let sum = sums.entry(key).or_default();
                add_times(&mut sum.variance, 1.0, shared);
            }
        }
        for sum in sums.values_mut() {
            // What is left by rounding where nothing is open.
            let least = 1e-12 * (1.0 + sum.mean[0].abs());
            sum.variance[0] =
                if sum.variance[0] > least { sum.variance[0] } else { 0.0 };
            sum.variance[1] = sum.variance[1].max(0.0);
        }
        if *measure == Measure::Count {
            context.limit(&mut sums)?;
        }
        valuation.settled(sums, measure)
    }
}

impl Context<'_, '_, '_> {
    /// How many labels the groups of a row have in each column.
    fn shape(&self, entry: usize) -> Vec<usize> {
        let columns = self.groups.iter().zip(&self.labels);
        let sizes = columns
            .map(|(groups, labels)| labels[groups.group_of[entry] as usize].len());
        sizes.collect()
    }

    /// The shares of the labels of a row's group in a column.
    fn shares(&self, entry: usize, column: usize) -> &Shares {
        &self.labels[column][self.groups[column].group_of[entry] as usize]
    }

    /// What a row adds to each answer, for each combination of labels.
    fn tensors(
        &self,
        entry: usize,
        known: &mut Known,
    ) -> Result<BTreeMap<Vec<u32>, Tensor>> {
        let shape = self.shape(entry);
        let size = shape.iter().try_fold(1usize, |n, own| n.checked_mul(*own));
        let size = size.filter(|n| *n <= MOST_COMBINATIONS).ok_or_else(|| {
            Error::recipe("the question tells too many combinations of values apart")
                .with_hint("ask about fewer columns at once")
        })?;
        let mut found: BTreeMap<Vec<u32>, Tensor> = BTreeMap::new();
        for cell in 0..size {
            let digits = digits(cell, &shape);
            let labels = digits.iter().enumerate();
            let labels: Vec<u32> =
                labels.map(|(column, d)| self.shares(entry, column)[*d].0).collect();
            for piece in self.pieces(entry, labels, known)?.iter() {
                let tensor = found.entry(piece.key.clone()).or_insert_with(|| Tensor {
                    moments: vec![RowMoments::default(); size],
                    sure: vec![false; size],
                    possible: vec![false; size],
                    guessed: false,
                });
                tensor.moments[cell] = piece.moments;
                tensor.sure[cell] = piece.sure;
                tensor.possible[cell] = true;
                tensor.guessed |= piece.guessed;
            }
        }
        Ok(found)
    }

    /// What a row adds to each answer with values of these labels.
    fn pieces(
        &self,
        entry: usize,
        labels: Vec<u32>,
        known: &mut Known,
    ) -> Result<Arc<Vec<Piece>>> {
        let key = (self.class_of[entry], labels);
        if let Some(pieces) = known.get(&key) {
            return Ok(Arc::clone(pieces));
        }
        let valuation = self.valuation;
        let columns = valuation.apart.iter().zip(&key.1);
        let codes = columns.map(|(column, label)| column.examples[*label as usize]);
        let codes: Vec<u32> = codes.collect();
        let prospects = valuation.prospects(entry, &codes, Some(&[]))?;
        let mut law = RowPosterior::default();
        valuation.locate(None, entry, &prospects, &mut law);
        let mut pieces = Vec::with_capacity(prospects.answers.len());
        for answer in &prospects.answers {
            let (sure, possible) = valuation.limits(answer, &law);
            if possible {
                pieces.push(Piece {
                    key: answer.key.clone(),
                    moments: valuation.moments(answer, &law, 0).shifted(law.number),
                    sure,
                    guessed: answer.guessed,
                });
            }
        }
        let pieces = Arc::new(pieces);
        known.insert(key, Arc::clone(&pieces));
        Ok(pieces)
    }

    /// How likely each combination of labels is for a row.
    fn chances(&self, entry: usize, shape: &[usize]) -> Vec<f64> {
        let mut chances = vec![1.0];
        for column in 0..shape.len() {
            let shares = self.shares(entry, column);
            let next = chances.iter();
            chances = next
                .flat_map(|chance| shares.iter().map(move |(_, share)| chance * share))
                .collect();
        }
        chances
    }

    /// What all rows add, each alone.
    fn alone(&self) -> Result<BTreeMap<Vec<u32>, AnswerMoments>> {
        let question = self.valuation.question;
        let entries: Vec<usize> = (0..self.class_of.len()).collect();
        let blocks = entries.par_chunks(BLOCK).map(|block| {
            question.watch.check()?;
            let (mut known, mut sums) = (Known::new(), BTreeMap::new());
            for entry in block {
                let rows = question.evidence.rows[*entry] as f64;
                let chances = self.chances(*entry, &self.shape(*entry));
                for (key, tensor) in self.tensors(*entry, &mut known)? {
                    let sum: &mut AnswerMoments = sums.entry(key).or_default();
                    let (mut first, mut second) = ([0.0; 2], [0.0; 3]);
                    let mut square = 0.0;
                    for (chance, moments) in chances.iter().zip(&tensor.moments) {
                        add_times(&mut first, *chance, moments.first());
                        square += chance * moments.square;
                        // What is open in a row of which something is guessed is counted
                        // with the guess.
                        let open = match tensor.guessed {
                            true => products(moments.first()),
                            false => moments.second(),
                        };
                        add_times(&mut second, *chance, open);
                    }
                    add_times(&mut sum.mean, rows, first);
                    let variance = paired(second, products(first), |a, b| a - b);
                    add_times(&mut sum.variance, rows, variance);
                    sum.possible += rows;
                    if tensor.guessed {
                        let [count, own] = first;
                        sum.guess.add(rows, RowMoments { count, sum: own, square });
                    }
                }
            }
            Ok(sums)
        });
        let blocks: Vec<BTreeMap<Vec<u32>, AnswerMoments>> =
            blocks.collect::<Result<_>>()?;
        let mut sums: BTreeMap<Vec<u32>, AnswerMoments> = BTreeMap::new();
        for (key, moments) in blocks.into_iter().flatten() {
            sums.entry(key).or_default().add(&moments);
        }
        Ok(sums)
    }

    /// What rows have in common that share the groups of a set of columns: what is to be
    /// added to the variance of each answer.
    fn shared(&self, set: u32) -> Result<BTreeMap<Vec<u32>, [f64; 3]>> {
        let question = self.valuation.question;
        let columns = 0..self.groups.len();
        let columns: Vec<usize> = columns.filter(|c| set >> c & 1 == 1).collect();
        let key = |entry: &usize| -> Vec<u32> {
            columns.iter().map(|column| self.groups[*column].group_of[*entry]).collect()
        };
        let mut entries: Vec<usize> = (0..self.class_of.len()).collect();
        entries.sort_by_cached_key(key);
        let cells: Vec<&[usize]> = entries.chunk_by(|a, b| key(a) == key(b)).collect();
        let blocks = cells.par_chunks(BLOCK).map(|block| {
            question.watch.check()?;
            let (mut known, mut sums) = (Known::new(), BTreeMap::new());
            for cell in block {
                for (key, shared) in self.shared_in(cell, &columns, &mut known)? {
                    add_times(sums.entry(key).or_insert([0.0; 3]), 1.0, shared);
                }
            }
            Ok(sums)
        });
        let blocks: Vec<BTreeMap<Vec<u32>, [f64; 3]>> =
            blocks.collect::<Result<_>>()?;
        let mut sums = BTreeMap::new();
        for (key, shared) in blocks.into_iter().flatten() {
            add_times(sums.entry(key).or_insert([0.0; 3]), 1.0, shared);
        }
        Ok(sums)
    }

    /// The same of rows that share the groups of these columns.
    fn shared_in(
        &self,
        entries: &[usize],
        columns: &[usize],
        known: &mut Known,
    ) -> Result<BTreeMap<Vec<u32>, [f64; 3]>> {
        let rows_of = |entry: usize| self.valuation.question.evidence.rows[entry];
        let n_rows: u64 = entries.iter().map(|entry| rows_of(*entry)).sum();
        let mut found = BTreeMap::new();
        if n_rows < 2 {
            return Ok(found);
        }
        let mut factor = 1.0;
        for column in columns {
            let groups = self.groups[*column];
            let (size, _) = groups.values(groups.group_of[entries[0]]);
            factor /= -(size.saturating_sub(1).max(1) as f64);
        }
        // Sums over rows, and the sum of each row's own products.
        let mut sums: BTreeMap<Vec<u32>, RowSums> = BTreeMap::new();
        let mut chances = Vec::new();
        for entry in entries {
            let rows = rows_of(*entry) as f64;
            for (key, tensor) in self.tensors(*entry, known)? {
                let (part, own) = self.part(*entry, &tensor, columns);
                let (sum, squares) = sums
                    .entry(key)
                    .or_insert_with(|| (vec![[0.0; 2]; part.len()], [0.0; 3]));
                for ((sum, part), chance) in sum.iter_mut().zip(&part).zip(&own) {
                    add_times(sum, rows, *part);
                    add_times(squares, rows * chance, products(*part));
                }
                chances = own;
            }
        }
        for (key, (sum, squares)) in sums {
            let mut together = [0.0; 3];
            for (sum, chance) in sum.iter().zip(&chances) {
                add_times(&mut together, *chance, products(*sum));
            }
            found.insert(key, paired(together, squares, |a, b| factor * (a - b)));
        }
        Ok(found)
    }

    /// The part of what a row adds that depends on the values of these columns together, and
    /// how likely each combination of them is.
    fn part(
        &self,
        entry: usize,
        tensor: &Tensor,
        columns: &[usize],
    ) -> (Vec<[f64; 2]>, Vec<f64>) {
        let shape = self.shape(entry);
        let mut part: Vec<[f64; 2]> =
            tensor.moments.iter().map(|moments| moments.first()).collect();
        // What is left of each axis: all its labels, or one.
        let mut left = shape.clone();
        for column in 0..shape.len() {
            let shares = self.shares(entry, column);
            let after: usize = left[column + 1..].iter().product();
            let (n, keeps) = (shape[column], columns.contains(&column));
            let mut next = Vec::with_capacity(part.len());
            for block in part.chunks(n * after) {
                let mut means = vec![[0.0; 2]; after];
                for (row, (_, share)) in block.chunks(after).zip(shares) {
                    for (mean, own) in means.iter_mut().zip(row) {
                        add_times(mean, *share, *own);
                    }
                }
                if keeps {
                    let rows = block.chunks(after);
                    next.extend(rows.flat_map(|row| {
                        let both = row.iter().zip(&means);
                        both.map(|(own, mean)| paired(*own, *mean, |a, b| a - b))
                    }));
                } else {
                    next.extend(means);
                }
            }
            part = next;
            left[column] = if keeps { n } else { 1 };
        }
        let mut chances = vec![1.0];
        for column in columns {
            let shares = self.shares(entry, *column);
            let next = chances.iter();
            chances = next
                .flat_map(|chance| shares.iter().map(move |(_, share)| chance * share))
                .collect();
        }
        (part, chances)
    }
}

/// The place of a combination on each axis; the last one runs fastest.
fn digits(mut cell: usize, shape: &[usize]) -> Vec<usize> {
    let mut digits = vec![0; shape.len()];
    for (digit, size) in digits.iter_mut().zip(shape).rev() {
        *digit = cell % size;
        cell /= size;
    }
    digits
}
