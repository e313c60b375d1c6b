//! How a protected value depends on what is seen beside it: learned from one half of the rows,
//! judged by the other.

use rayon::prelude::*;

use super::problem::{Contexts, Guess, Problem};
use super::rows::Feature;
use crate::watch::Watch;

/// No more rounds of learning.
const ROUNDS: usize = 100;

/// Rounds without getting better before it is given up.
const PATIENCE: usize = 4;

/// How much likelier, in nats, rows must become for a round to count as getting better: through
/// noise and groups it goes slowly.
const BETTER: f64 = 1e-3;

/// The same where values are shown, which is quick.
const ENOUGH: f64 = 0.1;

/// How much likelier, in nats, rows must become that nothing was learned from. Of what tells
/// nothing a half of a chi-square with one degree of freedom is expected at most.
const LEARNED: f64 = 6.0;

/// No more columns are put together.
const MOST: usize = 4;

/// What was learned from a column.
#[derive(Debug)]
pub(super) struct Learned<'a> {
    /// The column.
    pub(super) feature: &'a Feature,
    /// How much likelier it makes what is published, in nats.
    pub(super) gain: f64,
    // For each half that was learned from, for each value of the feature and of the protected
    // column: how much oftener they are found together than apart.
    ratios: [Vec<f64>; 2],
    n_values: usize,
}

impl Learned<'_> {
    /// How much likelier a protected value is for what is seen of the column.
    pub(super) fn factor(&self, half: usize, seen: u32, value: u32) -> f64 {
        let likely = self.feature.values[seen as usize].iter();
        let ratios = &self.ratios[half];
        likely
            .map(|(code, share)| {
                share * ratios[*code as usize * self.n_values + value as usize]
            })
            .sum()
    }
}

/// Learns from a column, beside what is `known` from others; `seen` of the contexts are these
/// and, last, the column.
fn learn<'a>(
    contexts: &Contexts<'_>,
    n_values: usize,
    known: &[Learned<'a>],
    feature: &'a Feature,
    watch: &dyn Watch,
) -> Learned<'a> {
    let even = vec![1.0; feature.n_values * n_values];
    let mut best =
        Learned { feature, gain: 0.0, ratios: [even.clone(), even], n_values };
    if !may_tell(contexts, n_values, known, feature) {
        return best;
    }
    for half in 0..2 {
        let start = contexts.beliefs(known, half);
        let mut beliefs = start.clone();
        scale(contexts, &mut beliefs);
        let nothing = contexts.likelihood(&beliefs, 1 - half);
        let (mut ratios, mut reached, mut since) =
            (best.ratios[half].clone(), nothing, 0);
        for _ in 0..ROUNDS {
            if since == PATIENCE || watch.check().is_err() {
                break;
            }
            step(contexts, &beliefs, half, feature, &mut ratios, n_values);
            beliefs.clone_from(&start);
            see(contexts, &mut beliefs, feature, &ratios, n_values);
            scale(contexts, &mut beliefs);
            let likely = contexts.likelihood(&beliefs, 1 - half);
            since += 1;
            let better = if contexts.is_shown() { ENOUGH } else { BETTER };
            if likely > reached + better {
                since = 0;
            }
            if likely > reached {
                best.ratios[half].clone_from(&ratios);
                reached = likely;
            }
        }
        best.gain += reached - nothing;
    }
    best
}

/// Whether what is published differs more with what is seen of the column, which is the last
/// of the contexts, than chance explains: a sum of squares like that of Pearson's test, and two
/// of its standard deviations. What can be learned and be of use for other rows is far more, so
/// this only spares the rounds for columns that tell nothing.
fn may_tell(
    contexts: &Contexts<'_>,
    n_values: usize,
    known: &[Learned<'_>],
    feature: &Feature,
) -> bool {
    if feature.values.iter().any(|values| values.len() != 1) {
        return true;
    }
    let mut tables: Vec<Vec<(f64, f64)>> = vec![Vec::new(); feature.values.len()];
    for half in 0..2 {
        // What one half taught is held against the other.
        let mut beliefs = contexts.beliefs(known, half);
        scale(contexts, &mut beliefs);
        for (context, seen, n) in contexts.of_half(1 - half) {
            let Some(seen) = seen.last() else { return true };
            let table = &mut tables[*seen as usize];
            table.resize(n_values, (0.0, 0.0));
            let belief = &beliefs[contexts.own(context)];
            if !contexts.foresee(context, belief, |place, share| {
                table[place].1 += n * share;
            }) {
                return true;
            }
            for (value, n) in contexts.published(context, 1 - half) {
                table[value as usize].0 += n;
            }
        }
    }
    let n_seen = tables.iter().filter(|table| !table.is_empty()).count();
    let cells = || tables.iter().flatten().filter(|(_, expected)| *expected > 0.0);
    let squares: f64 =
        cells().map(|(found, expected)| (found - expected).powi(2) / expected).sum();
    let n_foreseen = cells().count() as f64 / n_seen.max(1) as f64;
    let freedom = (n_seen.saturating_sub(1) as f64 * (n_foreseen - 1.0)).max(0.0);
    let is_found = |cell: &&(f64, f64)| cell.0 > 0.0;
    let surprising = tables.iter().flatten().filter(is_found).any(|cell| cell.1 <= 0.0);
    surprising || squares > freedom + 2.0 * (2.0 * freedom).sqrt()
}

/// Multiplies beliefs by what is seen of the last column.
fn see(
    contexts: &Contexts<'_>,
    beliefs: &mut [f64],
    feature: &Feature,
    ratios: &[f64],
    n_values: usize,
) {
    for context in 0..contexts.len() {
        let Some(seen) = contexts.last_seen(context) else { continue };
        let own = beliefs[contexts.own(context)].iter_mut();
        let values = contexts.values(context).iter().zip(own);
        match feature.values[seen as usize].as_slice() {
            [(code, share)] => {
                let ratios = &ratios[*code as usize * n_values..][..n_values];
                for ((value, _), belief) in values {
                    *belief *= share * ratios[*value as usize];
                }
            }
            likely => {
                for ((value, _), belief) in values {
                    let ratio = |(code, share): &(u32, f64)| {
                        share * ratios[*code as usize * n_values + *value as usize]
                    };
                    *belief *= likely.iter().map(ratio).sum::<f64>();
                }
            }
        }
    }
}

/// Moves ratios so that values are found together with those of the column as often as what is
/// published says, and not as often as believed.
fn step(
    contexts: &Contexts<'_>,
    beliefs: &[f64],
    half: usize,
    feature: &Feature,
    ratios: &mut [f64],
    n_values: usize,
) {
    // More than an honest half of a row must speak for a change.
    const SLOWNESS: f64 = 0.5;
    // Noise and groups hide most of the way that is left.
    let speed = if contexts.is_shown() { 1.0 } else { 1.8 };
    let (mut found, mut expected) = (vec![0.0; ratios.len()], vec![0.0; ratios.len()]);
    let add = |sums: &mut [f64], seen: u32, value: usize, n: f64| {
        let likely = feature.values[seen as usize].as_slice();
        if let [(code, _)] = likely {
            sums[*code as usize * n_values + value] += n;
            return;
        }
        let weight = |(code, share): &(u32, f64)| {
            share * ratios[*code as usize * n_values + value]
        };
        let total: f64 = likely.iter().map(weight).sum();
        if total > 0.0 {
            for part in likely {
                sums[part.0 as usize * n_values + value] += n * weight(part) / total;
            }
        }
    };
    contexts.counted(beliefs, half, |context, place, n| {
        let value = contexts.values(context)[place].0 as usize;
        if let Some(seen) = contexts.last_seen(context) {
            add(&mut found, seen, value, n);
        }
    });
    for (context, seen, n) in contexts.of_half(half) {
        let Some(seen) = seen.last() else { continue };
        let own = &beliefs[contexts.own(context)];
        for ((value, _), belief) in contexts.values(context).iter().zip(own) {
            add(&mut expected, *seen, *value as usize, n * belief);
        }
    }
    for (ratio, (found, expected)) in ratios.iter_mut().zip(found.iter().zip(&expected))
    {
        let moved = (found + SLOWNESS) / (expected + SLOWNESS);
        let moved = if speed == 1.0 { moved } else { moved.powf(speed) };
        *ratio = (*ratio * moved).clamp(1e-6, 1e6);
    }
}

/// Makes the beliefs of each context add up to 1.
fn scale(contexts: &Contexts<'_>, beliefs: &mut [f64]) {
    for context in 0..contexts.len() {
        let own = &mut beliefs[contexts.own(context)];
        let total: f64 = own.iter().sum();
        if total > 0.0 {
            own.iter_mut().for_each(|share| *share /= total);
        }
    }
}

/// Learns from the column that tells most, then from that which tells most beside it, and so
/// on as long as they tell anything.
pub(super) fn learned<'a>(
    problem: &Problem<'_>,
    base: Vec<Learned<'a>>,
    features: &[&'a Feature],
    watch: &dyn Watch,
) -> Vec<Learned<'a>> {
    let n_base = base.len();
    let (mut known, mut left) = (base, features.to_vec());
    while known.len() < n_base + MOST {
        let told: Vec<Learned<'a>> = left
            .par_iter()
            .map(|feature| {
                let seen = known.iter().map(|known| known.feature).chain([*feature]);
                let contexts = Contexts::of(problem, &seen.collect::<Vec<_>>());
                learn(&contexts, problem.n_values, &known, feature, watch)
            })
            .collect();
        let mut told: Vec<Learned<'a>> =
            told.into_iter().filter(|learned| learned.gain > LEARNED).collect();
        told.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        left = told.iter().skip(1).map(|learned| learned.feature).collect();
        let Some(best) = told.into_iter().next() else { break };
        known.push(best);
        if left.is_empty() {
            break;
        }
    }
    known
}

/// The best guess about every row by what was learned from the half it is not in.
pub(super) fn guesses(problem: &Problem<'_>, known: &[Learned<'_>]) -> Vec<Guess> {
    let seen: Vec<&Feature> = known.iter().map(|known| known.feature).collect();
    let contexts = Contexts::of(problem, &seen);
    let halves = [0, 1].map(|half| {
        let mut beliefs = contexts.beliefs(known, 1 - half);
        scale(&contexts, &mut beliefs);
        contexts.guesses(&beliefs, half)
    });
    let [first, second] = halves;
    let both = first.into_iter().zip(second);
    let nothing = Guess { value: 0, belief: 0.0 };
    both.map(|(first, second)| first.or(second).unwrap_or(nothing)).collect()
}
