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
    for half in 0..2 {
        let start = contexts.beliefs(known, half);
        let nothing = contexts.likelihood(&scaled(start.clone()), 1 - half);
        let (mut ratios, mut reached, mut since) =
            (best.ratios[half].clone(), nothing, 0);
        for _ in 0..ROUNDS {
            if since == PATIENCE || watch.check().is_err() {
                break;
            }
            let beliefs = scaled(with(contexts, &start, feature, &ratios, n_values));
            step(contexts, &beliefs, half, feature, &mut ratios, n_values);
            let beliefs = scaled(with(contexts, &start, feature, &ratios, n_values));
            let likely = contexts.likelihood(&beliefs, 1 - half);
            since += 1;
            if likely > reached + 1e-3 {
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

/// Beliefs after a column is seen, too.
fn with(
    contexts: &Contexts<'_>,
    start: &[Vec<f64>],
    feature: &Feature,
    ratios: &[f64],
    n_values: usize,
) -> Vec<Vec<f64>> {
    let mut beliefs = start.to_vec();
    for (place, belief) in beliefs.iter_mut().enumerate() {
        let Some(seen) = contexts.last_seen(place) else { continue };
        let values = contexts.values(place).iter().zip(belief);
        for ((value, _), belief) in values {
            let likely = feature.values[seen as usize].iter();
            let ratio = |(code, share): &(u32, f64)| {
                share * ratios[*code as usize * n_values + *value as usize]
            };
            *belief *= likely.map(ratio).sum::<f64>();
        }
    }
    beliefs
}

/// Moves ratios so that values are found together with those of the column as often as what is
/// published says, and not as often as believed.
fn step(
    contexts: &Contexts<'_>,
    beliefs: &[Vec<f64>],
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
    let add = |sums: &mut Vec<f64>, context: usize, place: usize, n: f64| {
        let value = contexts.values(context)[place].0 as usize;
        let Some(seen) = contexts.last_seen(context) else { return };
        let likely = &feature.values[seen as usize];
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
        add(&mut found, context, place, n);
    });
    for (context, _, n) in contexts.of_half(half) {
        for (place, belief) in beliefs[context].iter().enumerate() {
            add(&mut expected, context, place, n * belief);
        }
    }
    for (ratio, (found, expected)) in ratios.iter_mut().zip(found.iter().zip(&expected))
    {
        let moved = ((found + SLOWNESS) / (expected + SLOWNESS)).powf(speed);
        *ratio = (*ratio * moved).clamp(1e-6, 1e6);
    }
}

fn scaled(mut beliefs: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for belief in &mut beliefs {
        let total: f64 = belief.iter().sum();
        if total > 0.0 {
            belief.iter_mut().for_each(|share| *share /= total);
        }
    }
    beliefs
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
        let beliefs = scaled(contexts.beliefs(known, 1 - half));
        contexts.guesses(&beliefs, half)
    });
    let [first, second] = halves;
    let both = first.into_iter().zip(second);
    let nothing = Guess { value: 0, belief: 0.0 };
    both.map(|(first, second)| first.or(second).unwrap_or(nothing)).collect()
}
