//! Perturbation partitioning: cut the rows into sub-tables, so that each is randomized
//! within the few values it holds, and more of its rows stay as they are.
//!
//! 1. *Balance* ([`initial_groups`]): deal the rows into groups of few values, in which no
//!    protected value is much more common than in the whole table.
//! 2. *Rearrange*: put groups with the same values side by side, in several orders.
//! 3. *Merge*: of all ways to cut an order into runs, find the one with the least error
//!    bound. Up to about 17 groups every order is tried, otherwise a search improves the
//!    best one found.
//!
//! # Guarantee
//! In every sub-table the share of each protected value is below its posterior, and the
//! amplification given for it keeps a belief equal to this share from passing the
//! posterior. Every row is in exactly one sub-table. The error bound is never above that of
//! the groups as formed, or in the order of reverse Cuthill-McKee, merged in the best way.
//!
//! If one table of all rows keeps the promise, a partition is found: it is one of those
//! compared. If it does not, none exists: the share of a value in the whole table is a mean
//! of its shares in the sub-tables, so that one of them is no lower.
//!
//! # Limits
//! A row's sub-table tells that its value is one of the sub-domain. What is bounded is the
//! belief of somebody who starts from the shares of the sub-table. Which values share a
//! sub-table depends on the true counts.
//!
//! The groups of the balancing phase are never cut: moving single rows might do better. If
//! there are more than [`MOST_GROUPS`] of them, neighbours are joined first.
//!
//! # Cost
//! O(t² e) for each order, with t groups of e values each; the search stops after
//! [`MOST_STEPS`] steps. Memory O(t e + m), and 2^t numbers if every order is tried.
//!
//! # Source
//! `thesis2010randomization`, chapter 4; METHODS C3 and C6. Ours compares more orders, and
//! protects each value by its own posterior: where they are all equal, as in the source,
//! this is the source's rule.

mod arrange;
mod balance;
mod bound;
mod merge;
mod search;
#[cfg(test)]
mod tests;

pub use balance::initial_groups;
pub use bound::CONFIDENCE;
pub use search::MOST_STEPS;

use crate::error::{Error, ErrorKind, Result};
use crate::promise::amplification;
use arrange::orders;
use bound::{Tally, Values};
use merge::Merged;

/// More groups than this are joined with their neighbours before orders are compared.
pub const MOST_GROUPS: usize = 1024;

/// Some rows of one group: a position in the domain, and how many rows have this value.
pub type Entries = Vec<(usize, u64)>;

/// How sub-tables will be randomized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    /// The same probability to keep any value.
    Uniform,
    /// A probability of its own for each value.
    FineGrain,
}

/// A column to cut.
#[derive(Debug, Clone, Copy)]
pub struct PartitionTask<'a> {
    /// How many rows have each value. A value of no row is in no sub-table.
    pub counts: &'a [u64],
    /// For each value, the largest belief in it that may follow; nothing if it is not
    /// protected. At 1 or more it is not protected either.
    pub posteriors: &'a [Option<f64>],
    /// How sub-tables will be randomized.
    pub inside: Inside,
    /// How much each value matters in the error bound of fine-grain sub-tables; without
    /// weights as much as it has rows.
    pub weights: Option<&'a [f64]>,
}

/// Rows cut into sub-tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Partition {
    /// The sub-tables, by their codes.
    pub subtables: Vec<Subtable>,
    /// How many groups the balancing phase made.
    pub n_initial: usize,
    /// The mean of the sub-tables' error bounds, weighted by rows.
    pub bound: f64,
    /// The order of the groups that led to it.
    pub order: &'static str,
}

/// Rows to be randomized within their own domain.
#[derive(Debug, Clone, PartialEq)]
pub struct Subtable {
    /// Its domain, ascending.
    pub codes: Vec<u32>,
    /// How many of its rows have each value. Private.
    pub counts: Vec<u64>,
    /// The largest share of a protected value; 0 if there is none.
    pub prior: f64,
    /// For each value, how many times as likely it may lead to a published value as
    /// another: infinite if it is not protected, otherwise above 1. With
    /// [`Inside::Uniform`] the same for all protected values.
    pub gammas: Vec<f64>,
    /// Bounds the error of a share estimated from it, with probability [`CONFIDENCE`].
    pub bound: f64,
}

impl Subtable {
    /// How many rows it has.
    pub fn n_rows(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// Cuts the rows into sub-tables with a small error bound.
pub fn partition(task: &PartitionTask<'_>) -> Result<Partition> {
    check_input(task)?;
    let values = Values::new(task);
    if values.counts.is_empty() {
        let order = arrange::AS_FORMED;
        return Ok(Partition { subtables: vec![], n_initial: 0, bound: 0.0, order });
    }
    check_whole(task)?;
    let protected: Vec<bool> = values.class.iter().map(Option::is_some).collect();
    let mut groups = initial_groups(&values.counts, &protected);
    let n_initial = groups.len();
    while groups.len() > MOST_GROUPS {
        groups = groups.chunks(2).map(joined).collect();
    }

    let mut tally = Tally::new(&values);
    let mut best: Option<(Merged, &'static str)> = None;
    for (name, order) in orders(&groups) {
        // The whole table is allowed, so that each order has a merge.
        if let Some(merged) = merge::merge(&groups, &order, &mut tally)
            && best.as_ref().is_none_or(|(least, _)| merged.is_better_than(least))
        {
            best = Some((merged, name));
        }
    }
    let Some((merged, name)) = best else { return Err(broken()) };
    let (merged, name) = search::improve(&groups, merged, name, &mut tally);

    let n_rows: u64 = values.counts.iter().sum();
    let mut subtables = Vec::with_capacity(merged.blocks.len());
    for block in &merged.blocks {
        tally.clear();
        block.iter().for_each(|group| tally.add(&groups[*group]));
        subtables.push(tally.subtable().ok_or_else(broken)?);
    }
    subtables.sort_by(|a, b| (&a.codes, &a.counts).cmp(&(&b.codes, &b.counts)));
    let bound =
        subtables.iter().map(|part| part.n_rows() as f64 / n_rows as f64 * part.bound);
    let found = Partition { bound: bound.sum(), n_initial, order: name, subtables };
    verify(task, &found)?;
    Ok(found)
}

/// Groups as one.
fn joined(groups: &[Entries]) -> Entries {
    let mut all: Entries = groups.concat();
    all.sort_unstable();
    all.chunk_by(|a, b| a.0 == b.0)
        .map(|run| (run[0].0, run.iter().map(|(_, rows)| rows).sum()))
        .collect()
}

fn check_input(task: &PartitionTask<'_>) -> Result<()> {
    let lengths = [task.posteriors.len(), task.weights.map_or(0, <[f64]>::len)];
    let wanted = [task.counts.len(), task.weights.map_or(0, |_| task.counts.len())];
    if lengths != wanted {
        return Err(Error::input("counts, posteriors and weights differ in number"));
    }
    if task.posteriors.iter().flatten().any(|posterior| posterior.is_nan()) {
        return Err(Error::out_of_range("posterior", "not a number", "from 0 to 1"));
    }
    if task.weights.into_iter().flatten().any(|w| !(w.is_finite() && *w >= 0.0)) {
        let wanted = "0 or a positive number for each value";
        return Err(Error::out_of_range("weights", "something else", wanted));
    }
    Ok(())
}

/// The whole table keeps the promise, or nothing does.
fn check_whole(task: &PartitionTask<'_>) -> Result<()> {
    let n_rows: u64 = task.counts.iter().sum();
    for (&count, posterior) in task.counts.iter().zip(task.posteriors) {
        let Some(posterior) = posterior.filter(|_| count > 0) else { continue };
        let share = count as f64 / n_rows as f64;
        if amplification(share, posterior) <= 1.0 {
            let reason = format!(
                "a protected value has a share of at least {posterior}, the largest \
                 belief that may follow, in some sub-table however rows are cut"
            );
            return Err(Error::unsatisfiable("breach", reason).with_hint(
                "allow a larger belief after, or a smaller one before, so that fewer \
                 values are protected",
            ));
        }
    }
    Ok(())
}

/// Reads the result as a stranger would: every row once, every protected value rare enough.
fn verify(task: &PartitionTask<'_>, found: &Partition) -> Result<()> {
    let mut left = task.counts.to_vec();
    for part in &found.subtables {
        let n_rows = part.n_rows();
        let entries = part.codes.iter().zip(&part.counts).zip(&part.gammas);
        for ((&code, &count), &gamma) in entries {
            let code = code as usize;
            left[code] = left[code].checked_sub(count).ok_or_else(broken)?;
            let Some(posterior) = task.posteriors[code] else { continue };
            let share = count as f64 / n_rows as f64;
            let kept = posterior >= 1.0
                || share <= part.prior
                    && share < posterior
                    && gamma > 1.0
                    && gamma <= amplification(share, posterior);
            if !kept {
                return Err(broken());
            }
        }
    }
    if left.iter().any(|count| *count > 0) {
        return Err(broken());
    }
    Ok(())
}

fn broken() -> Error {
    let message = "the sub-tables of a randomized column do not keep what they must";
    Error::new(ErrorKind::Broken(message.to_owned()))
        .with_hint("this is a mistake in scumble: please report it")
}
