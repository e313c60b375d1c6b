//! The largest set of rows in which every row has enough company.
//!
//! # Guarantee
//! [`largest_set`] finds it: among sets of the given rows in which each row's counts by the
//! law, summed over the set, are at least what the row needs (and the row is not guessed too
//! often, if that is asked), one contains all the others.
//!
//! *Proof.* The union of two such sets is one, because more rows only add company, and make
//! guesses harder: so there is one largest set S, the union of all. Rows are removed one after another, each when it
//! falls short among those left, a superset of S at the start. If those left contain S,
//! then a row of S has at least the company it has in S and is not removed: those left
//! contain S for ever. In the end nobody falls short, so those left are such a set, within
//! S, and equal to it. The order plays no part. ∎
//!
//! # Limits
//! None beyond those of sums of doubles (`company.rs`).
//!
//! # Cost
//! Each row is looked at once, and again only when the rows removed near it have taken all
//! that it had to spare.
//!
//! # Source
//! Ours; it is the k-core of a graph whose edges have weights.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use rayon::prelude::*;

use super::Frame;
use super::company::{Company, Verdict};
use super::guess::{Guesses, MARGIN};
use crate::promise::Law;
use crate::space::Space;
use crate::watch::Watch;

/// What rows need.
#[derive(Debug, Clone, Copy)]
pub struct RowNeeds<'a> {
    /// The least company of each row of the frame.
    pub company: &'a [f64],
    /// How often the best guess may be right.
    pub best_guess: Option<f64>,
    /// Who follows the search. Once it is no longer wanted, what it finds means nothing.
    pub watch: &'a dyn Watch,
}

/// What a row that asks to be hidden among `k` people needs: a little more, because sums of
/// doubles differ in their last digits; `k` equal rows are enough as they are. Part of the
/// format.
pub fn need(k: f64) -> f64 {
    k * (1.0 + 1e-9)
}

/// Sums are kept as whole numbers of this many parts of one, so that the order in which
/// threads subtract plays no part.
const PARTS: f64 = (1u64 << 36) as f64;

/// Rows are looked at first in so many turns, each all over the table: where too many fall
/// short, one or a few turns tell.
const STRIDE: usize = 16;

/// The largest set of `rows` in which each has enough company, in ascending order; nothing
/// if more than `spare` rows are not in it.
pub fn largest_set(
    frame: &Frame,
    law: &Law,
    rows: &[u32],
    needs: RowNeeds<'_>,
    spare: usize,
) -> Option<Vec<u32>> {
    if law.spreads.iter().all(|spread| *spread == 0.0) {
        let kept = equal_rows(frame, rows, needs);
        return (rows.len() - kept.len() <= spare).then_some(kept);
    }
    if needs.watch.is_cancelled() {
        return None;
    }
    let company = Company::new(frame, law, rows);
    let units: Vec<f64> = law
        .spreads
        .iter()
        .map(|spread| if *spread > 0.0 { *spread } else { 1.0 })
        .collect();
    let guessing = needs.best_guess.map(|share| {
        let points: Vec<f64> = rows
            .iter()
            .flat_map(|row| {
                &frame.coordinates[*row as usize * frame.dims..][..frame.dims]
            })
            .zip(units.iter().cycle())
            .map(|(value, unit)| value / unit)
            .collect();
        let space = Space::new(frame.dims, &points);
        Guessing { guesses: Guesses::new(law, &units), space, most: MARGIN * share }
    });
    let mut search = CoreSearch {
        had: (0..rows.len()).map(|_| AtomicI64::new(0)).collect(),
        touched: (0..rows.len()).map(|_| AtomicBool::new(true)).collect(),
        company,
        guessing,
        needs,
        rows,
    };
    search.run(spare)
}

/// The places in `rows` of those that have too little company among all of them.
pub(super) fn falling_short(
    frame: &Frame,
    law: &Law,
    rows: &[u32],
    needs: RowNeeds<'_>,
) -> Vec<u32> {
    if law.spreads.iter().all(|spread| *spread == 0.0) {
        let kept = equal_rows(frame, rows, needs);
        let lost = |place: &u32| kept.binary_search(&rows[*place as usize]).is_err();
        return (0..rows.len() as u32).filter(lost).collect();
    }
    if needs.watch.is_cancelled() {
        return Vec::new();
    }
    let company = Company::new(frame, law, rows);
    let short = |place: &u32| {
        if needs.watch.is_cancelled() {
            return false;
        }
        let need = needs.company[rows[*place as usize] as usize];
        company.judge(*place as usize, need, need) == Verdict::Short
    };
    let mut found: Vec<u32> =
        company.space.in_order().par_iter().copied().filter(short).collect();
    found.sort_unstable();
    found
}

struct CoreSearch<'a> {
    company: Company<'a>,
    guessing: Option<Guessing<'a>>,
    needs: RowNeeds<'a>,
    rows: &'a [u32],
    /// What each row has at least, in parts.
    had: Vec<AtomicI64>,
    /// Whether a row near it was removed since its condition was looked at.
    touched: Vec<AtomicBool>,
}

/// How often rows are guessed, in a space in units of the spreads.
struct Guessing<'a> {
    guesses: Guesses<'a>,
    space: Space,
    most: f64,
}

impl CoreSearch<'_> {
    fn run(&mut self, spare: usize) -> Option<Vec<u32>> {
        let n_rows = self.rows.len();
        // Neighbours stand together, and find the same boxes in the cache.
        let order = self.company.space.in_order().to_vec();
        let mut queue = order.clone();
        let mut first = Some(self.short_among_all(&order, spare)?);
        loop {
            let mut failing = match first.take() {
                Some(failing) => failing,
                None => self.falling_short(&queue),
            };
            if self.needs.watch.is_cancelled() {
                return None;
            }
            if failing.is_empty() {
                failing = self.easily_guessed(&order);
                if failing.is_empty() {
                    let lives = |row: &u32| self.company.space.lives(*row as usize);
                    let mut kept: Vec<u32> = (0..n_rows as u32).filter(lives).collect();
                    for row in &mut kept {
                        *row = self.rows[*row as usize];
                    }
                    kept.sort_unstable();
                    return Some(kept);
                }
            }
            for row in &failing {
                self.company.space.remove(*row as usize);
                if let Some(guessing) = &mut self.guessing {
                    guessing.space.remove(*row as usize);
                }
            }
            let living = self.company.space.n_living();
            if n_rows - living > spare {
                return None;
            }
            queue = if failing.len() > living / 2 {
                for touched in &self.touched {
                    touched.store(true, Ordering::Relaxed);
                }
                let lives = |row: &&u32| self.company.space.lives(**row as usize);
                order.iter().filter(lives).copied().collect()
            } else {
                self.take_away(&failing)
            };
        }
    }

    /// The rows that have too little among all; nothing once they are more than `spare`:
    /// none of them is in any set that holds.
    fn short_among_all(&self, order: &[u32], spare: usize) -> Option<Vec<u32>> {
        let mut failing = Vec::new();
        for first in 0..STRIDE {
            let some: Vec<u32> =
                order.iter().skip(first).step_by(STRIDE).copied().collect();
            failing.extend(self.falling_short(&some));
            if failing.len() > spare {
                return None;
            }
        }
        Some(failing)
    }

    fn need(&self, row: usize) -> f64 {
        self.needs.company[self.rows[row] as usize]
    }

    /// The rows of a queue that have too little.
    fn falling_short(&self, queue: &[u32]) -> Vec<u32> {
        queue
            .par_chunks(64)
            .flat_map_iter(|rows| {
                let rows = if self.needs.watch.is_cancelled() { &[] } else { rows };
                rows.iter().copied().filter(|row| {
                    let row = *row as usize;
                    let need = self.need(row);
                    // With some in reserve a row need not be looked at again so soon.
                    match self.company.judge(row, need, need * 1.1) {
                        Verdict::Enough(sum) => {
                            let parts =
                                (sum * PARTS).floor().max((need * PARTS).ceil());
                            self.had[row].store(parts as i64, Ordering::Relaxed);
                            false
                        }
                        Verdict::Short => true,
                    }
                })
            })
            .collect()
    }

    /// The rows that are guessed too often.
    fn easily_guessed(&self, order: &[u32]) -> Vec<u32> {
        let Some(Guessing { guesses, space, most }) = &self.guessing else {
            return Vec::new();
        };
        let fails = |row: &u32| {
            let row = *row as usize;
            !self.needs.watch.is_cancelled()
                && space.lives(row)
                && self.touched[row].swap(false, Ordering::Relaxed)
                && guesses.best_guess(space, row) > *most
        };
        order.par_iter().copied().filter(fails).collect()
    }

    /// Takes what removed rows counted from those near them; which of these must be looked
    /// at again.
    fn take_away(&self, removed: &[u32]) -> Vec<u32> {
        let mut queue: Vec<u32> = removed
            .par_iter()
            .flat_map_iter(|row| {
                let mut short = Vec::new();
                if self.needs.watch.is_cancelled() {
                    return short;
                }
                self.company.each(*row as usize, |other, count| {
                    let parts = (count * PARTS).ceil() as i64;
                    let need = (self.need(other) * PARTS).ceil() as i64;
                    let before = self.had[other].fetch_sub(parts, Ordering::Relaxed);
                    self.touched[other].store(true, Ordering::Relaxed);
                    if before >= need && before - parts < need {
                        short.push(other as u32);
                    }
                });
                short
            })
            .collect();
        queue.sort_unstable();
        queue
    }
}

/// Without noise only people with equal rows are company.
fn equal_rows(frame: &Frame, rows: &[u32], needs: RowNeeds<'_>) -> Vec<u32> {
    let point =
        |row: u32| &frame.coordinates[row as usize * frame.dims..][..frame.dims];
    let by_point = |a: u32, b: u32| {
        let pairs = point(a).iter().zip(point(b));
        // Both zeros are the same.
        pairs.map(|(a, b)| (a + 0.0).total_cmp(&(b + 0.0))).find(|order| order.is_ne())
    };
    let mut sorted = rows.to_vec();
    sorted.par_sort_unstable_by(|a, b| by_point(*a, *b).unwrap_or_else(|| a.cmp(b)));
    let mut kept = Vec::new();
    for group in sorted.chunk_by(|a, b| by_point(*a, *b).is_none()) {
        let mut size = frame.n_people(group.iter());
        // The best guess at one of so many equal rows is right one time in as many.
        let rare = |size: usize| {
            let most = needs.best_guess.map(|share| MARGIN * share);
            most.is_none_or(|most| 1.0 / size as f64 <= most)
        };
        let enough = |size: usize| {
            move |row: &&u32| {
                rare(size) && needs.company[**row as usize] <= need(size as f64)
            }
        };
        loop {
            let left = frame.n_people(group.iter().filter(enough(size)));
            if left == size {
                break;
            }
            size = left;
        }
        kept.extend(group.iter().filter(enough(size)));
    }
    kept.sort_unstable();
    kept
}
