//! The worlds in which all events happen: all of them where they are few, drawn ones else.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use crate::audit::attacks::search::{Event, Rule};
use crate::random::Randomness;
use crate::watch::Watch;

/// Who has which label in how many worlds.
#[derive(Debug)]
pub(in crate::audit::attacks) struct Tally {
    /// For each group and place, how many worlds give which label.
    pub(in crate::audit::attacks) counts: Vec<Vec<Vec<u64>>>,
    /// How many worlds there are in which all events happen.
    pub(in crate::audit::attacks) worlds: u64,
    /// How many were drawn to find them; nothing if all were gone through.
    pub(in crate::audit::attacks) drawn: Option<u64>,
}

/// Labels of the people of some groups, each ascending, and what happened.
#[derive(Clone, Copy)]
pub(in crate::audit::attacks) struct Question<'a> {
    pub(in crate::audit::attacks) groups: &'a [Vec<u32>],
    pub(in crate::audit::attacks) n_labels: usize,
    pub(in crate::audit::attacks) events: &'a [Event],
    pub(in crate::audit::attacks) rule: &'a dyn Rule,
    pub(in crate::audit::attacks) watch: &'a dyn Watch,
}

/// How many ways there are to give out labels, in floats.
pub(in crate::audit::attacks) fn n_ways(labels: &[u32]) -> f64 {
    let mut ways = 1.0;
    let mut same = 0.0;
    for (place, label) in labels.iter().enumerate() {
        same = if place > 0 && labels[place - 1] == *label { same + 1.0 } else { 1.0 };
        ways *= (place as f64 + 1.0) / same;
    }
    ways
}

impl Question<'_> {
    fn nothing(&self) -> Tally {
        let group = |labels: &Vec<u32>| vec![vec![0; self.n_labels]; labels.len()];
        let counts = self.groups.iter().map(group).collect();
        Tally { counts, worlds: 0, drawn: None }
    }

    fn add(&self, tally: &mut Tally, world: &[Vec<u32>], scratch: &mut Vec<u64>) {
        let mut events = self.events.iter();
        if !events.all(|event| event.happens(world, self.rule, scratch)) {
            return;
        }
        tally.worlds += 1;
        for (counts, labels) in tally.counts.iter_mut().zip(world) {
            for (counts, label) in counts.iter_mut().zip(labels) {
                counts[*label as usize] += 1;
            }
        }
    }

    /// Goes through all worlds.
    pub(in crate::audit::attacks) fn all(&self) -> Tally {
        let mut tally = self.nothing();
        let mut world = self.groups.to_vec();
        let mut scratch = Vec::new();
        loop {
            if self.watch.is_cancelled() {
                return tally;
            }
            self.add(&mut tally, &world, &mut scratch);
            // The last group goes on first; one that begins anew moves the one before it.
            if !world.iter_mut().rev().any(|labels| next_order(labels)) {
                return tally;
            }
        }
    }

    /// Draws so many worlds.
    pub(in crate::audit::attacks) fn some(&self, draws: u64, number: u64) -> Tally {
        let mut tally = self.nothing();
        // The adversary may draw as they like; the same numbers give the same report.
        let mut rng = Randomness::of_seed(0).stream("worlds", number);
        let mut world = self.groups.to_vec();
        let mut scratch = Vec::new();
        for _ in 0..draws {
            if self.watch.is_cancelled() {
                break;
            }
            world.iter_mut().for_each(|labels| shuffle(labels, &mut rng));
            self.add(&mut tally, &world, &mut scratch);
        }
        tally.drawn = Some(draws);
        tally
    }
}

fn shuffle(labels: &mut [u32], rng: &mut ChaCha20Rng) {
    for last in (1..labels.len()).rev() {
        labels.swap(last, rng.random_range(0..=last));
    }
}

/// The next order of the labels; the first, and false, after the last.
fn next_order(labels: &mut [u32]) -> bool {
    let Some(rise) = labels.windows(2).rposition(|pair| pair[0] < pair[1]) else {
        labels.reverse();
        return false;
    };
    if let Some(larger) = labels.iter().rposition(|label| *label > labels[rise]) {
        labels.swap(rise, larger);
    }
    labels[rise + 1..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_are_gone_through_once() {
        let mut labels = vec![0, 0, 1, 2, 2];
        let mut seen = vec![labels.clone()];
        while next_order(&mut labels) {
            seen.push(labels.clone());
        }
        assert_eq!(labels, [0, 0, 1, 2, 2]);
        assert_eq!(seen.len() as f64, n_ways(&labels));
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 30);
    }
}
