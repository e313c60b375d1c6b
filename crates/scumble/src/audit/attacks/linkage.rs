//! Linkage: who could be whom.
//!
//! The adversary knows the quasi values of everybody in the original, and looks for the
//! groups whose every cell contains them: the rows of these groups are the person's
//! candidates. They then pick a candidate at random.
//!
//! # Guarantee
//! A person whose row was published is among their candidates, as cells contain the values
//! they stand for. So nobody who knows no more than quasi values picks the right row with
//! a probability above 1 / candidates.
//!
//! # Limits
//! A person who was left out may still have candidates, and counts as if one of them were
//! right: the success is an upper bound. An adversary who also knows that everybody's row
//! is there, once, could exclude more by matching all people at once.
//!
//! # Cost
//! If no value is in two cells of a column, one lookup for each distinct tuple. Otherwise
//! groups stand in a trie over the columns, the most selective first, and the sorted tuples
//! walk through it together. If that takes more than [`MOST_STEPS`], people are sampled at
//! equal distances, and the result says so.
//!
//! # Source
//! `sweeney2002kanonymity`; docs/methods.md, "Audit and attacks".

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use serde_json::json;

use crate::audit::attacks::homogeneity::{Guesser, ValueGuess};
use crate::audit::attacks::{
    Attack, NEEDS_ORIGINAL, PublicAttacks, Stopped, no_cell_classes,
};
use crate::audit::cells::{
    CellClasses, Covers, GroupPeople, Lookup, QuasiKnowledge, Trie, Walk,
};
use crate::audit::checks::k_anonymity;
use crate::audit::redrawn::RedrawnGroups;
use crate::audit::{Attacked, Case, Public, detail};
use crate::error::Result;
use crate::release::Manifest;
use crate::watch::Watch;

/// Tries to find everybody's row.
#[derive(Debug)]
pub struct Linkage;

impl Attack for Linkage {
    fn name(&self) -> &'static str {
        "linkage"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        if let Some(groups) = case.views.redrawn()? {
            return Ok(vec![of_redrawn(groups, case.manifest)]);
        }
        let classes = case.views.cells()?.ok_or_else(|| no_cell_classes(case))?;
        let linked = case.linked()?.ok_or(NEEDS_ORIGINAL)?;
        let k = k_anonymity::first(case.manifest);
        if let Some(people) = case.group_people()? {
            return Ok(vec![of_people(people, classes.rows, k)]);
        }
        Ok(vec![linked.truth.linkage(&linked.guesses, classes.rows, k)])
    }

    fn shown(&self, tried: &[Attacked], readers: &Case<'_>) -> Result<PublicAttacks> {
        let Some(classes) = readers.views.cells()? else {
            return Ok(Public::because("counted on published groups", tried.to_vec()));
        };
        if readers.manifest.person.is_some() {
            return Ok(Public::rounded(tried));
        }
        let k = k_anonymity::first(readers.manifest);
        Ok(Public::because("counted on published groups", vec![by_group(classes, k)]))
    }
}

/// Somebody who knows which group a person is in picks one of its rows, and is right with
/// every row of theirs. Everybody counts once in each of their groups.
fn of_people(people: &GroupPeople, rows: u64, k: Option<u64>) -> Attacked {
    let n = people.shares.len().max(1) as f64;
    let alone = people.shares.iter().filter(|share| **share >= 1.0).count();
    let small =
        |k: u64| people.sizes.iter().filter(move |size| **size < k).sum::<u64>();
    let mut detail = detail(json!({
        "alone": alone as f64 / n, "below_k": k.map_or(0, small) as f64 / n,
        "no_candidates": 0.0, "smallest": people.sizes.iter().min(),
        "people": people.shares.len(), "sampled": false,
    }));
    if k.is_none() {
        detail.shift_remove("below_k");
    }
    Attacked {
        name: "linkage".into(),
        success: people.shares.iter().sum::<f64>() / n,
        chance: 1.0 / rows.max(1) as f64,
        worst: people.shares.iter().copied().fold(0.0, f64::max),
        detail,
    }
}

/// The same where everybody has a row: how many candidates there are at least, whoever knows
/// which group a person is in, and whatever other groups the cells of a person fit.
fn by_group(view: &CellClasses, k: Option<u64>) -> Attacked {
    let rows = view.rows.max(1) as f64;
    let smallest = view.sizes.iter().min().copied().unwrap_or(0);
    let of = |small: &dyn Fn(u64) -> bool| {
        view.sizes.iter().filter(|size| small(**size)).sum::<u64>() as f64 / rows
    };
    let mut detail = detail(json!({
        "alone": of(&|size| size == 1), "no_candidates": 0.0, "smallest": smallest,
        "people": view.rows, "sampled": false,
    }));
    if let Some(k) = k {
        detail.insert("below_k".to_owned(), json!(of(&|size| size < k)));
    }
    Attacked {
        name: "linkage".to_owned(),
        success: view.n_groups() as f64 / rows,
        chance: 1.0 / rows,
        worst: 1.0 / smallest.max(1) as f64,
        detail,
    }
}

/// Somebody who knows which group a person is in picks one of its rows.
fn of_redrawn(groups: &RedrawnGroups, manifest: &Manifest) -> Attacked {
    let (rows, smallest) = (manifest.rows, groups.smallest());
    Attacked {
        name: "linkage".to_owned(),
        success: groups.sizes.len() as f64 / rows.max(1) as f64,
        chance: 1.0 / (rows + manifest.left_out).max(1) as f64,
        worst: 1.0 / smallest.max(1) as f64,
        detail: detail(json!({ "smallest": smallest })),
    }
}

/// More steps than this are not taken.
pub(crate) const MOST_STEPS: u64 = 500_000_000;

/// Tuples one worker takes at a time.
const PORTION: usize = 1024;

/// What the adversary concludes.
#[derive(Debug)]
pub(crate) struct LinkageGuesses {
    /// The tuples looked at, and how many people each stands for.
    pub(crate) tuples: Vec<(u32, u64)>,
    /// For each of them, how many rows it could be.
    pub(crate) candidates: Vec<u64>,
    /// For each sensitive column, the guess for each of them.
    pub(crate) values: Vec<Vec<ValueGuess>>,
    /// How many people could be in each group; nothing if people were sampled.
    pub(crate) people_of_group: Option<Vec<u64>>,
}

/// Links everybody.
pub(crate) fn guess(
    view: &CellClasses,
    covers: &Covers,
    known: &QuasiKnowledge<'_>,
) -> LinkageGuesses {
    guess_within(view, covers, known, MOST_STEPS)
}

fn guess_within(
    view: &CellClasses,
    covers: &Covers,
    known: &QuasiKnowledge<'_>,
    most_steps: u64,
) -> LinkageGuesses {
    let guesser = Guesser::new(view);
    let n_tuples = known.people.len();
    let everybody = || known.people.iter().copied().zip(0u32..).map(|(n, t)| (t, n));
    if let Some(lookup) = Lookup::new(view, covers) {
        let tuples = everybody().collect();
        return gather(tuples, view, &guesser, known.watch, |portion, emit| {
            for (tuple, people) in portion {
                let group = lookup.group(covers, known, *tuple as usize);
                emit(*people, group.as_slice());
            }
        });
    }

    let trie = Trie::new(view, covers);
    let probes = n_tuples.min(64);
    let mut walk = Walk::new(&trie, covers, known);
    for probe in 0..probes {
        walk.forget();
        let groups = walk.groups((probe * n_tuples / probes) as u32);
        let values: usize = groups.iter().map(|g| view.n_entries(*g as usize)).sum();
        walk.steps += values as u64 * view.sensitive.len() as u64;
    }
    let steps = walk.steps / probes.max(1) as u64 + 1;
    let affordable = (most_steps / steps).max(1000);
    let sampled = affordable < n_tuples as u64;
    let mut tuples: Vec<(u32, u64)> =
        if sampled { sample(known.people, affordable) } else { everybody().collect() };
    trie.sort(known, &mut tuples, |(tuple, _)| tuple);
    let mut found = gather(tuples, view, &guesser, known.watch, |portion, emit| {
        let mut walk = Walk::new(&trie, covers, known);
        for (tuple, people) in portion {
            emit(*people, walk.groups(*tuple));
        }
    });
    if sampled {
        found.people_of_group = None;
    }
    found
}

/// People at equal distances in the order of their tuples: the tuple of each, and how many
/// of the chosen have it.
fn sample(people: &[u64], n: u64) -> Vec<(u32, u64)> {
    let total: u64 = people.iter().sum();
    let n = n.min(total);
    // The person at place p is chosen if a multiple of total / n falls on it.
    let chosen_before = |person: u64| {
        (u128::from(person) * u128::from(n)).div_ceil(u128::from(total.max(1)))
    };
    let mut before = 0;
    let mut chosen = Vec::new();
    for (tuple, n_people) in (0u32..).zip(people) {
        let here = chosen_before(before + n_people) - chosen_before(before);
        before += n_people;
        if here > 0 {
            chosen.push((tuple, here as u64));
        }
    }
    chosen
}

/// Runs `link` over portions of the tuples on all threads, and guesses from the groups it
/// emits. The result does not depend on the threads.
fn gather<L>(
    tuples: Vec<(u32, u64)>,
    view: &CellClasses,
    guesser: &Guesser<'_>,
    watch: &dyn Watch,
    link: L,
) -> LinkageGuesses
where
    L: Fn(&[(u32, u64)], &mut dyn FnMut(u64, &[u32])) + Sync,
{
    let people_of_group: Vec<AtomicU64> =
        (0..view.n_groups()).map(|_| AtomicU64::new(0)).collect();
    let portions: Vec<(Vec<u64>, Vec<Vec<ValueGuess>>)> = tuples
        .par_chunks(PORTION)
        .map_init(
            || guesser.scratch(),
            |scratch, portion| {
                let mut candidates = Vec::with_capacity(portion.len());
                let mut values: Vec<Vec<ValueGuess>> =
                    vec![Vec::with_capacity(portion.len()); view.sensitive.len()];
                let portion = if watch.is_cancelled() { &[] } else { portion };
                link(portion, &mut |people, groups| {
                    for group in groups {
                        people_of_group[*group as usize]
                            .fetch_add(people, Ordering::Relaxed);
                    }
                    candidates
                        .push(groups.iter().map(|g| view.sizes[*g as usize]).sum());
                    for (place, values) in values.iter_mut().enumerate() {
                        values.push(guesser.guess(place, groups, &mut scratch[place]));
                    }
                });
                (candidates, values)
            },
        )
        .collect();
    let mut candidates = Vec::with_capacity(tuples.len());
    let mut values: Vec<Vec<ValueGuess>> =
        vec![Vec::with_capacity(tuples.len()); view.sensitive.len()];
    for (more, guesses) in portions {
        candidates.extend(more);
        for (column, guesses) in values.iter_mut().zip(guesses) {
            column.extend(guesses);
        }
    }
    let people_of_group = people_of_group.into_iter().map(AtomicU64::into_inner);
    let people_of_group = Some(people_of_group.collect());
    LinkageGuesses { tuples, candidates, values, people_of_group }
}

#[cfg(test)]
#[path = "linkage_tests.rs"]
mod tests;
