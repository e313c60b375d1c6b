#![doc = include_str!("anatomy.md")]

mod cut;
mod deal;
mod hold;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Microdata;
use crate::method::Buckets;
use crate::method::buckets::without_excess;
use crate::promise::{Group, Promises};
use crate::random::Randomness;
use crate::table::Histogram;
use crate::watch::Watched;
use cut::Cutter;
use deal::Dealer;

/// What to deal.
#[derive(Debug, Clone, Copy)]
pub struct AnatomyTask<'a> {
    /// The table; its first sensitive column is published apart.
    pub data: &'a Microdata,
    /// What must hold of every group.
    pub promises: &'a Promises,
    /// No value has more than 1/parts of a group; 1 asks for nothing.
    pub parts: u64,
    /// How many rows may be left out.
    pub limit: u64,
    /// Where chance comes from.
    pub randomness: &'a Randomness,
}

/// Deals rows into groups.
pub fn anatomy<'a>(task: impl Into<Watched<'a, AnatomyTask<'a>>>) -> Result<Buckets> {
    let task = task.into();
    let census = &task.data.census;
    let parts = task.parts.max(1);
    let title = || title(task.promises, parts);
    let dealt = without_excess(census, parts, task.limit, &title, task.randomness)?;
    let mut rows = dealt.rows;
    let values = &census.sensitive[0];

    let mut whole = [Histogram::new(census.sensitive_sizes[0])];
    for row in &rows {
        whole[0].add(values[*row], 1);
    }
    let n_rows = rows.len() as u64;
    let group = Group { rows: n_rows, people: n_rows, values: &whole };
    for promise in task.promises.iter() {
        if n_rows > 0 && !promise.holds(group, group) {
            return Err(Error::unsatisfiable(promise.title(), promise.obstacle(group))
                .with_hint("add rows, or weaken the promise"));
        }
    }

    let sure = sure_parts(task.promises, parts, &whole[0]);
    let blocks = match sure {
        Some(parts) => Cutter::new(task, parts).cut_all(&mut rows)?,
        None => vec![rows.len()],
    };
    let dealer = Dealer {
        values,
        parts,
        sure,
        promises: task.promises,
        whole: group,
        randomness: task.randomness,
        watch: task.watch,
    };
    let (mut rest, mut start) = (rows.as_mut_slice(), 0);
    let mut jobs = Vec::with_capacity(blocks.len());
    for len in blocks {
        let (block, others) = rest.split_at_mut(len);
        jobs.push((start, block));
        (rest, start) = (others, start + len);
    }
    let sizes: Vec<Vec<usize>> = jobs
        .into_par_iter()
        .map_init(
            || Histogram::new(census.sensitive_sizes[0]),
            |scratch, (start, block)| dealer.deal(start, block, scratch),
        )
        .collect::<Result<Option<_>>>()?
        .ok_or_else(broken)?;
    let mut starts = vec![0];
    let mut end = 0;
    for size in sizes.into_iter().flatten() {
        end += size;
        starts.push(end);
    }
    Ok(Buckets { entries: rows, starts, left_out: dealt.left_out })
}

/// What is asked, in a few words.
fn title(promises: &Promises, parts: u64) -> String {
    if promises.iter().next().is_some() {
        promises.title()
    } else {
        format!("at most 1/{parts} of a group for each value")
    }
}

/// The least number of parts, from `parts` on, such that all promises hold of every group
/// that has from that many to twice as many values, each once; nothing if there is none or
/// a value is too common for it.
///
/// Promises do not depend on how values are named: one group of each size tells of all.
fn sure_parts(promises: &Promises, parts: u64, whole: &Histogram) -> Option<u64> {
    if promises.look_at_whole() || (parts == 1 && promises.iter().next().is_none()) {
        return None;
    }
    let most = whole.present().map(|(_, count)| count).max()?;
    let most_parts = whole.total() / most;
    let n_values = whole.n_present() as u64;
    let mut sets = [Histogram::new(whole.counts().len())];
    let mut sure = parts;
    for size in 1..=n_values.min(2 * most_parts) {
        sets[0].clear();
        let codes = whole.present().take(size as usize);
        codes.for_each(|(code, _)| sets[0].add(code, 1));
        let set = Group { rows: size, people: size, values: &sets };
        if size >= sure && size < 2 * sure && !promises.hold(set, set) {
            sure = size + 1;
        }
    }
    (sure <= most_parts && sure <= n_values).then_some(sure)
}

fn broken() -> Error {
    let message = "a group of dealt rows does not keep what it must";
    Error::new(ErrorKind::Broken(message.to_owned()))
        .with_hint("this is a mistake in scumble: please report it")
}
