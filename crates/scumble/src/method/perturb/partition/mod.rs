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
//! posterior. Every row is in exactly one sub-table.
//!
//! If one table of all rows keeps the promise, a partition is found: it is one of those
//! compared. If it does not, none exists: the share of a value in the whole table is a mean
//! of its shares in the sub-tables, so that one of them is no lower.
//!
//! The error bound is never above that of the groups in the order of reverse Cuthill-McKee,
//! merged in the best way, which is what the source does. What else is best, [`Aim`] says:
//! sub-tables with the least error bound can be larger and keep fewer rows than the
//! source's.
//!
//! # Limits
//! A row's sub-table tells that its value is one of the sub-domain. What is bounded is the
//! belief of somebody who starts from the shares of the sub-table. Which values share a
//! sub-table depends on the true counts.
//!
//! The groups of the balancing phase are never cut: moving single rows might do better. If
//! there are more than [`MOST_GROUPS`] of them, neighbours are joined first.
//!
//! With fine-grain perturbation inside, the bound is that of the mean probability to keep a
//! value. Balanced groups leave it no differences to use, so that it mostly prefers one
//! table: there rare values keep more, and the commonest less than in sub-tables.
//!
//! # Cost
//! O(t² e) for each order, with t groups of e values each; the search stops after
//! [`MOST_STEPS`] steps. Memory O(t e + m), and 2^t numbers if every order is tried.
//!
//! # Source
//! `chaytor2010randomization`, chapter 4; docs/methods.md,
//! "Perturbation partitioning" and "Fine-grain inside sub-tables". Ours compares more
//! orders, and protects each value by its own posterior: where they are all equal, as in
//! the source, this is the source's rule.

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
use crate::method::perturb::ValueId;
use crate::promise::amplification;
use crate::table::Of;
use crate::watch::Watched;
use arrange::orders;
use bound::{MergedRows, PresentValues};
use merge::{Merged, merge};
use search::Goal;

/// More groups than this are joined with their neighbours before orders are compared.
pub const MOST_GROUPS: usize = 1024;

/// The name of what moves of groups lead to.
const LOCAL: &str = "local search";

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

/// Which partition is best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// The one with the least error bound.
    LeastError,
    /// The one with the least error bound of those that are no worse than the source's by
    /// its other measure: the mean probability to keep a value, over sub-tables, is not
    /// below that of the groups in the order of reverse Cuthill-McKee. The share of rows
    /// that keep their value may be.
    NoWorse,
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
    /// The sub-tables, by their values.
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
    pub values: Vec<ValueId>,
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

/// Cuts the rows into sub-tables, for [`Aim::NoWorse`].
pub fn partition<'a>(
    task: impl Into<Watched<'a, PartitionTask<'a>>>,
) -> Result<Partition> {
    partition_for(task, Aim::NoWorse)
}

/// Cuts the rows into sub-tables.
pub fn partition_for<'a>(
    task: impl Into<Watched<'a, PartitionTask<'a>>>,
    aim: Aim,
) -> Result<Partition> {
    let Watched { task, watch } = task.into();
    check_input(task)?;
    let values = PresentValues::new(task);
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

    let mut tally = MergedRows::new(&values, watch);
    let chosen = choose(&groups, aim, &mut tally);
    watch.check()?;
    let (merged, name) = chosen.ok_or_else(broken)?;

    let n_rows: u64 = values.counts.iter().sum();
    let mut subtables = Vec::with_capacity(merged.blocks.len());
    for block in &merged.blocks {
        tally.clear();
        block.iter().for_each(|group| tally.add(&groups[*group]));
        subtables.push(tally.subtable().ok_or_else(broken)?);
    }
    subtables.sort_by(|a, b| (&a.values, &a.counts).cmp(&(&b.values, &b.counts)));
    let bound =
        subtables.iter().map(|part| part.n_rows() as f64 / n_rows as f64 * part.bound);
    let found = Partition { bound: bound.sum(), n_initial, order: name, subtables };
    verify(task, &found)?;
    Ok(found)
}

/// The best partition found, and the name of the order that led to it.
fn choose(
    groups: &[Entries],
    aim: Aim,
    tally: &mut MergedRows<'_>,
) -> Option<(Merged, &'static str)> {
    let orders = orders(groups);
    let mut found = Vec::new();
    // At least as formed, and as in the source.
    for (name, order) in &orders {
        if found.len() < 2 || tally.steps < MOST_STEPS {
            found.push((merge(groups, order, tally, |worth| worth.cost)?, *name));
        }
    }
    let source = found[found.len().min(2) - 1].0.clone();
    let floor = if aim == Aim::NoWorse { source.mean() } else { 0.0 };

    let mut least = best(&found, 0.0)?;
    let end = tally.steps + MOST_STEPS;
    let (better, name) = if search::can_try_all(groups, tally) {
        (search::best_of_all(groups, tally)?, "every order")
    } else {
        (search::moved(groups, &least.0, Goal::default(), tally, end)?, LOCAL)
    };
    if better.is_better_than(&least.0) {
        least = (better, name);
    }
    if least.0.keeps(floor) {
        return Some(least);
    }

    // What keeps too little gives way to what is paid for keeping more.
    let end = tally.steps + MOST_STEPS / 2;
    for power in -6..=6 {
        let pay = source.total.cost * 2f64.powi(power);
        for (name, order) in &orders {
            if tally.steps >= end {
                break;
            }
            let paid = merge(groups, order, tally, |worth| worth.price(floor, pay))?;
            found.push((paid, *name));
        }
        let goal = Goal { floor: 0.0, mean: floor, pay };
        found.push((search::moved(groups, &least.0, goal, tally, end)?, LOCAL));
    }
    found.retain(|(merged, _)| merged.keeps(floor));
    found.sort_by(|(a, _), (b, _)| a.total.cost.total_cmp(&b.total.cost));
    found.dedup_by(|(a, _), (b, _)| a.total == b.total);
    let mut best = best(&found, floor)?;
    let end = tally.steps + MOST_STEPS / 2;
    let goal = Goal { floor, ..Goal::default() };
    for (from, _) in &found {
        if tally.steps >= end {
            break;
        }
        let better = search::moved(groups, from, goal, tally, end)?;
        if better.keeps(floor) && better.is_better_than(&best.0) {
            best = (better, LOCAL);
        }
    }
    Some(best)
}

/// The first with the least error of those that keep enough.
fn best(
    found: &[(Merged, &'static str)],
    floor: f64,
) -> Option<(Merged, &'static str)> {
    let mut best: Option<&(Merged, &'static str)> = None;
    for candidate in found.iter().filter(|(merged, _)| merged.keeps(floor)) {
        if best.is_none_or(|(least, _)| candidate.0.is_better_than(least)) {
            best = Some(candidate);
        }
    }
    best.cloned()
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
                "a protected value has {share:.4} of the rows, not below {posterior:.4}, \
                 the largest belief in it that may follow, and no less in some sub-table \
                 however rows are cut"
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
    let mut left: Of<ValueId, u64> = task.counts.to_vec().into();
    for part in &found.subtables {
        let n_rows = part.n_rows();
        let entries = part.values.iter().zip(&part.counts).zip(&part.gammas);
        for ((&value, &count), &gamma) in entries {
            left[value] = left[value].checked_sub(count).ok_or_else(broken)?;
            let Some(posterior) = task.posteriors[value.index()] else { continue };
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
