//! Everybody of a class matched to the rows of the class at once.
//!
//! # Guarantee
//! Noise is drawn by the auditor himself, from the stated law. Of all ways to give each drawn
//! row one of the people who are among the [`NEAR`] nearest to it, the one with the largest
//! likelihood is taken; somebody is left over only if nobody else can be.
//!
//! # Limits
//! Under even noise many ways are as likely as each other, and the one nearest to the numbers
//! is taken. One draw for each row. Classes of more than [`MOST_ROWS`] rows are not tried.
//!
//! # Cost
//! One augmenting path for each row, which is short where people are near each other; no
//! further class is begun after [`MOST_STEPS`] steps.
//!
//! # Source
//! Shortest augmenting paths (`jonker1987assignment`); docs/methods.md, "Audit and attacks".

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde_json::json;

use crate::audit::noisy::{Company, Framed, MeasuredCompany, shape};
use crate::audit::{Attacked, detail};
use crate::watch::Watch;

/// So many people near a drawn row are candidates.
const NEAR: usize = 64;

/// Larger classes are not tried.
const MOST_ROWS: usize = 20_000;

/// After so many steps no further class is begun.
const MOST_STEPS: u64 = 50_000_000;

/// What it costs to leave a row without anybody: more than any way round it.
const ALONE: f64 = 1e7;

/// Draws noise for everybody, and matches. Nothing if all classes are too large.
pub(crate) fn matched(
    frames: &[Framed],
    measured: &MeasuredCompany,
    watch: &dyn Watch,
) -> Option<Attacked> {
    let (mut people, mut right, mut alone) = (0u64, 0.0, 0.0);
    let (mut classes, mut skipped, mut steps, mut stream) = (0u64, 0u64, 0u64, 0u64);
    for frame in frames {
        for level in 0..frame.laws.len() {
            stream += 1;
            for company in frame.companies(level) {
                let n = company.rows.len();
                if n > MOST_ROWS || steps > MOST_STEPS || watch.is_cancelled() {
                    skipped += n as u64;
                    continue;
                }
                let found = match company.n_moving() {
                    0 => Hits { matched: 1.0, alone: 1.0, steps: n as u64 },
                    _ => attempt(&company, frame, stream, watch),
                };
                classes += 1;
                people += n as u64;
                right += found.matched;
                alone += found.alone;
                steps += found.steps;
            }
        }
    }
    let n = people.max(1) as f64;
    (people > 0).then(|| Attacked {
        name: "matching".to_owned(),
        success: right / n,
        chance: classes as f64 / n,
        worst: measured.best_guess,
        detail: detail(json!({
            "row_by_row": alone / n, "people": people, "sampled": skipped > 0,
        })),
    })
}

/// How many rows of a class were given to the right person: all at once, and each alone.
struct Hits {
    matched: f64,
    alone: f64,
    steps: u64,
}

fn attempt(
    company: &Company<'_>,
    frame: &Framed,
    stream: u64,
    watch: &dyn Watch,
) -> Hits {
    let n = company.rows.len();
    // In an order by chance: who comes first must not tell who is who.
    let mut rng = ChaCha20Rng::seed_from_u64(0x6d61_7463 + stream);
    let mut order: Vec<usize> = (0..n).collect();
    for place in (1..n).rev() {
        order.swap(place, rng.random_range(0..=place));
    }
    let mut edges: Vec<Vec<(usize, f64)>> = Vec::with_capacity(n);
    for row in &order {
        let noise = frame.axes.noise(&company.law.spreads, &mut rng);
        let place = company.coordinates(*row).iter().zip(&noise).map(|(x, e)| x + e);
        let place = company.scaled(&place.collect::<Vec<f64>>());
        edges.push(candidates(company, &place));
    }
    let is_own = |row: usize, other: usize| match company.person(row) {
        Some(person) => company.person(other) == Some(person),
        None => row == other,
    };
    let share = |row: usize, best: &[usize]| {
        let own = best.iter().filter(|other| is_own(row, **other)).count();
        own as f64 / best.len().max(1) as f64
    };
    let even = shape::of(company.law.shape).is_even();
    let alone = order.iter().zip(&edges).map(|(row, edges)| {
        let least = edges.iter().map(|(_, cost)| *cost).fold(f64::INFINITY, f64::min);
        let fits = |cost: f64| even || cost <= least + 1e-12;
        let best = edges.iter().filter(|(_, cost)| fits(*cost));
        share(*row, &best.map(|(other, _)| *other).collect::<Vec<usize>>())
    });
    let alone = alone.sum();
    let (given, steps) = assigned(n, &edges, watch);
    let right = order.iter().zip(&given);
    let right = right.filter(|(row, given)| given.is_some_and(|g| is_own(**row, g)));
    Hits { matched: right.count() as f64, alone, steps }
}

/// The people who may have been published at a place, and how unlikely that is.
fn candidates(company: &Company<'_>, place: &[f64]) -> Vec<(usize, f64)> {
    let shape = shape::of(company.law.shape);
    let near = company.space.nearest(place, NEAR).into_iter();
    let fits = near.filter_map(|(squared, row)| {
        Some((row, shape.misfit(company, row, place, squared)?))
    });
    fits.collect()
}

/// Who gets which of `n` things at the least cost in all; by everybody's own costs, nobody
/// twice. Also says how many steps that took.
fn assigned(
    n: usize,
    edges: &[Vec<(usize, f64)>],
    watch: &dyn Watch,
) -> (Vec<Option<usize>>, u64) {
    let mut given: Vec<Option<usize>> = vec![None; edges.len()];
    let mut holder: Vec<Option<usize>> = vec![None; n];
    // Prices: what a row pays, and a person costs.
    let (mut pays, mut costs) = (vec![0.0; edges.len()], vec![0.0; n]);
    let mut distance = vec![f64::INFINITY; n];
    let mut from: Vec<usize> = vec![0; n];
    let mut settled = vec![false; n];
    let mut steps = 0u64;
    for start in 0..edges.len() {
        if watch.is_cancelled() {
            break;
        }
        let (mut touched, mut done): (Vec<usize>, Vec<usize>) = (vec![], vec![]);
        let mut queue: BinaryHeap<(Reverse<Distance>, usize)> = BinaryHeap::new();
        let (mut row, mut base) = (start, 0.0);
        let mut give_up = (f64::INFINITY, start);
        // The person at the end of the path, or nobody; and how long it is.
        let (end, length) = loop {
            if base + ALONE - pays[row] < give_up.0 {
                give_up = (base + ALONE - pays[row], row);
            }
            for (person, cost) in &edges[row] {
                steps += 1;
                if settled[*person] {
                    continue;
                }
                let next = base + cost - pays[row] - costs[*person];
                if next < distance[*person] {
                    if distance[*person].is_infinite() {
                        touched.push(*person);
                    }
                    distance[*person] = next;
                    from[*person] = row;
                    queue.push((Reverse(Distance(next)), *person));
                }
            }
            let next = loop {
                match queue.pop() {
                    None => break None,
                    Some((Reverse(Distance(known)), person)) => {
                        if known <= distance[person] && !settled[person] {
                            break Some(person);
                        }
                    }
                }
            };
            let Some(person) = next.filter(|p| distance[*p] <= give_up.0) else {
                break (None, give_up.0);
            };
            match holder[person] {
                None => break (Some(person), distance[person]),
                Some(held) => {
                    done.push(person);
                    settled[person] = true;
                    (row, base) = (held, distance[person]);
                }
            }
        };
        for person in &done {
            let less = length - distance[*person];
            costs[*person] -= less;
            if let Some(held) = holder[*person] {
                pays[held] += less;
            }
        }
        pays[start] += length;
        // Hands on along the path, from its end.
        let mut person = end;
        let mut row = end.map_or(give_up.1, |person| from[person]);
        loop {
            let before = given[row].take();
            given[row] = person;
            if let Some(person) = person {
                holder[person] = Some(row);
            }
            if row == start {
                break;
            }
            let Some(before) = before else { break };
            person = Some(before);
            row = from[before];
        }
        for person in touched {
            distance[person] = f64::INFINITY;
            settled[person] = false;
        }
    }
    (given, steps)
}

/// A distance that can be sorted.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Distance(f64);

impl Eq for Distance {}

impl PartialOrd for Distance {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Distance {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    /// The least cost over every way.
    fn least(edges: &[Vec<(usize, f64)>], taken: &mut [bool]) -> f64 {
        let Some((first, rest)) = edges.split_first() else { return 0.0 };
        let mut best = ALONE + least(rest, taken);
        for (person, cost) in first {
            if !taken[*person] {
                taken[*person] = true;
                best = best.min(cost + least(rest, taken));
                taken[*person] = false;
            }
        }
        best
    }

    #[test]
    fn no_other_way_costs_less() {
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        for _ in 0..400 {
            let n = rng.random_range(1..7);
            let edges: Vec<Vec<(usize, f64)>> = (0..n)
                .map(|_| {
                    let all = (0..n).filter(|_| rng.random_range(0..3) > 0);
                    let all: Vec<usize> = all.collect();
                    let cost = |p| (p, f64::from(rng.random_range(0..20)));
                    all.into_iter().map(cost).collect()
                })
                .collect();
            let (given, _) = assigned(n, &edges, &Unwatched);
            let mut taken = vec![false; n];
            let mut cost = 0.0;
            for (edges, given) in edges.iter().zip(&given) {
                cost += given.map_or(ALONE, |person| {
                    assert!(!std::mem::replace(&mut taken[person], true));
                    edges.iter().find(|(known, _)| *known == person).unwrap().1
                });
            }
            let wanted = least(&edges, &mut vec![false; n]);
            assert!(
                (cost - wanted).abs() < 1e-6,
                "{edges:?} {given:?} {cost} {wanted}"
            );
        }
    }
}
