#![doc = include_str!("robust.md")]

mod features;
mod judge;
mod place;
#[cfg(test)]
mod tests;
mod tree;

use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::method::Buckets;
use crate::method::buckets::without_excess;
use crate::promise::{Group, Priors, Promises, RRobustness};
use crate::random::Randomness;
use crate::table::{EntryId, Histogram};
use crate::watch::Watched;
use features::Features;
use judge::{Judge, KeptGroup};
use tree::{Grouper, Outcome};

/// What to deal.
#[derive(Debug, Clone, Copy)]
pub struct RobustTask<'a> {
    /// The table; its first sensitive column is published apart.
    pub data: &'a Microdata,
    /// What must hold of every group.
    pub promises: &'a Promises,
    /// Groups have at least so many rows; 1 asks for nothing.
    pub parts: u64,
    /// No posterior above 1/r.
    pub robustness: &'a RRobustness,
    /// What is believed before, by each set of columns.
    pub priors: &'a Priors,
    /// The most rows of a group.
    pub largest: usize,
    /// How many rows may be left out.
    pub limit: u64,
    /// Where chance comes from.
    pub randomness: &'a Randomness,
}

/// Rows dealt into groups that keep their values secret from who knows how they depend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Robust {
    /// The groups.
    pub buckets: Buckets,
    /// How many groups are certified only against somebody who tells each value from all
    /// others and nothing else, for some set of columns.
    pub binary: u64,
}

/// Deals rows into groups.
pub fn robust<'a>(task: impl Into<Watched<'a, RobustTask<'a>>>) -> Result<Robust> {
    let Watched { task, watch } = task.into();
    let census = &task.data.census;
    let r = task.robustness.r();
    let least = (r.to_f64().ceil() as u64).max(task.parts).max(2);
    let title = || title(task);
    let dealt = without_excess(census, least, task.limit, &title, task.randomness)?;
    let (mut rows, mut left_out) = (dealt.rows, dealt.left_out);
    let values = &census.sensitive[0];
    let tuple_of = census.tuple_of();
    let mut whole = [Histogram::new(census.sensitive_sizes[0])];
    rows.iter().for_each(|row| whole[0].add(values[*row], 1));
    check_whole(task, &whole)?;

    let features = Features::of(task.data, task.priors);
    let grouper = Grouper {
        task,
        watch,
        features: &features,
        tuple_of: &tuple_of,
        whole: &whole,
        least: least as usize,
        most: task.largest.max(least as usize),
    };
    let mut outcome = grouper.group(&mut rows, 0)?;
    grouper.place(&mut outcome)?;
    left_out.append(&mut outcome.left);
    let binary = settle(&grouper, &mut outcome, &mut left_out)?;
    let n_rows = census.n_rows();
    if left_out.len() as u64 > task.limit || (outcome.groups.is_empty() && n_rows > 0) {
        return Err(unplaced(task, &outcome, left_out.len() as u64));
    }
    let mut buckets = Buckets { starts: vec![0], left_out, ..Buckets::default() };
    for group in outcome.groups {
        buckets.entries.extend(group);
        buckets.starts.push(buckets.entries.len());
    }
    Ok(Robust { buckets, binary })
}

/// Judges every group once more, against the rows that are published. Groups that fail are
/// left out, until none does. Returns how many groups are not certified exactly.
fn settle(
    grouper: &Grouper<'_>,
    outcome: &mut Outcome,
    left_out: &mut Vec<EntryId>,
) -> Result<u64> {
    let Grouper { task, watch, tuple_of, .. } = grouper;
    let values = &task.data.census.sensitive[0];
    outcome.groups.retain(|group| !group.is_empty());
    loop {
        let mut whole = [Histogram::new(task.data.census.sensitive_sizes[0])];
        for row in outcome.groups.iter().flatten() {
            whole[0].add(values[*row], 1);
        }
        let mut judge = Judge::new(task, tuple_of, &whole);
        let (mut binary, before) = (0, left_out.len());
        outcome.groups.retain(|group| {
            if watch.is_cancelled() {
                return true;
            }
            let kept = judge.of(group);
            binary += u64::from(kept == Some(KeptGroup::Binary));
            if kept.is_none() {
                left_out.extend(group);
            }
            kept.is_some()
        });
        watch.check()?;
        if left_out.len() == before {
            return Ok(binary);
        }
    }
}

fn check_whole(task: &RobustTask<'_>, whole: &[Histogram; 1]) -> Result<()> {
    let n_rows = whole[0].total();
    let group = Group { rows: n_rows, people: n_rows, values: whole };
    for promise in task.promises.iter() {
        if n_rows > 0 && !promise.holds(group, group) {
            return Err(Error::unsatisfiable(promise.title(), promise.obstacle(group))
                .with_hint("add rows, or weaken the promise"));
        }
    }
    Ok(())
}

/// What is asked, in a few words.
fn title(task: &RobustTask<'_>) -> String {
    let own = format!("{}-robustness", task.robustness.r());
    match task.promises.iter().next() {
        Some(_) => format!("{own} and {}", task.promises.title()),
        None => own,
    }
}

/// Rows are over, for which no group was found.
fn unplaced(task: &RobustTask<'_>, outcome: &Outcome, n_left: u64) -> Error {
    let n_rows = task.data.census.n_rows();
    let worst =
        outcome.broken.iter().enumerate().max_by_key(|(at, n)| (**n, usize::MAX - at));
    let mut reason = format!("no group was found for {n_left} of {n_rows} rows");
    if let Some((at, n)) = worst
        && *n > 0
    {
        let columns = task.priors.sets[at].columns.iter();
        let names: Vec<String> =
            columns.map(|at| format!("`{}`", task.data.quasi[*at].name)).collect();
        reason.push_str(&format!(
            "; most groups tried fail against who knows how values depend on {}",
            names.join(" and ")
        ));
    }
    let hopeless = task.robustness.hopeless(task.priors, &task.data.census);
    if hopeless > 0 {
        reason.push_str(&format!(
            "; of {hopeless} rows a value is believed with more than 1/r from the start, and \
             these can hardly be hidden"
        ));
    }
    // Another run has other rows left.
    let share = (1100.0 * n_left as f64 / n_rows.max(1) as f64).ceil() / 1000.0;
    let leave_out = match share < 1.0 {
        true => format!(
            ", or `suppression = {share}` (who is missing from the release is then known to \
             be one of these)"
        ),
        false => String::new(),
    };
    Error::unsatisfiable(title(task), reason).with_hint(format!(
        "a smaller `r`, fewer or other `signatures`, a larger `largest-group` than \
         {}{leave_out}",
        task.largest
    ))
}
