//! A lattice: some group of every node one level finer breaks the promise.

use std::collections::BTreeMap;

use crate::audit::attacks::reversal::failing::{Event, Finer};
use crate::audit::attacks::reversal::{MOST_STEPS, SearchRule, Told, certainty};
use crate::audit::cells::People;
use crate::release::MethodNote;
use crate::table::NodeId;

/// What follows from each column's finer node having failed; nothing if the manifest does
/// not say which node was published.
pub(crate) fn tell(
    method: &MethodNote,
    people: &People<'_>,
    rule: SearchRule,
) -> Option<Told> {
    let levels = levels_of(method.levels.as_ref()?, people)?;
    let tuples = people.tuples_of_groups();
    let mut told = Told::before(people);
    let n_events = levels.iter().filter(|level| **level > 0).count() as u64;
    for (column, level) in levels.iter().enumerate() {
        if *level == 0 {
            continue;
        }
        let node = |tuple: u32| {
            let code = people.known.tuples[column][tuple as usize];
            vec![people.columns[column].hierarchy.node(level - 1, code)]
        };
        let finer: Vec<Finer> = tuples
            .iter()
            .zip(&people.inside.of_group)
            .map(|(tuples, rows)| Finer::of(people, tuples, *rows, node))
            .collect();
        let watch = people.known.watch;
        let event = Event::of(&finer, rule, MOST_STEPS / n_events, watch);
        if watch.is_cancelled() {
            return None;
        }
        told.skipped += event.skipped;
        let Some(posteriors) = event.posteriors(&finer) else {
            told.impossible += u64::from(event.skipped == 0);
            continue;
        };
        told.events += 1;
        told.add_beliefs(people, &finer, &posteriors, node);
    }
    Some(told)
}

/// What follows from the one finer node that the manifest calls refused, if coins decided:
/// it failed, or coins refused it with the least chance that keeps everybody in the range.
pub(crate) fn tell_refused(
    method: &MethodNote,
    people: &People<'_>,
    rule: SearchRule,
) -> Option<Told> {
    let mut told = Told::before(people);
    let Some(refused) = method.parameters.get("refused") else { return Some(told) };
    let levels = levels_of(refused.as_object()?, people)?;
    let node = |tuple: u32| {
        let columns = people.columns.iter().zip(&people.known.tuples).zip(&levels);
        let nodes = columns.map(|((column, codes), level)| {
            column.hierarchy.node(*level, codes[tuple as usize])
        });
        nodes.collect::<Vec<NodeId>>()
    };
    let finer: Vec<Finer> = people
        .tuples_of_groups()
        .iter()
        .zip(&people.inside.of_group)
        .map(|(tuples, rows)| Finer::of(people, tuples, *rows, node))
        .collect();
    let watch = people.known.watch;
    let event = Event::of(&finer, rule, MOST_STEPS, watch);
    if watch.is_cancelled() {
        return None;
    }
    told.skipped += event.skipped;
    match event.refused_by_coins(&finer, rule) {
        None => told.impossible += u64::from(event.skipped == 0),
        Some(posteriors) => {
            told.events += 1;
            told.add_beliefs(people, &finer, &posteriors, node);
        }
    }
    Some(told)
}

/// The level of each column, as a manifest has them.
fn levels_of(
    levels: &serde_json::Map<String, serde_json::Value>,
    people: &People<'_>,
) -> Option<Vec<usize>> {
    let level = |name: &str| levels.get(name)?.as_u64().map(|level| level as usize);
    let columns = people.columns.iter();
    columns
        .map(|column| level(&column.name).filter(|l| *l <= column.hierarchy.height()))
        .collect()
}

impl Told {
    /// Adds what one event tells of everybody.
    fn add_beliefs(
        &mut self,
        people: &People<'_>,
        finer: &[Finer],
        posteriors: &[BTreeMap<u64, f64>],
        node: impl Fn(u32) -> Vec<NodeId>,
    ) {
        // Somebody who fits no group is known to be absent, before and after.
        let mut sum = people.unpublished as f64;
        let tuples = people.tuples_of_groups();
        for ((tuples, posterior), finer) in tuples.iter().zip(posteriors).zip(finer) {
            for tuple in tuples {
                let size = finer.size_of[&node(*tuple)];
                let belief = posterior[&size];
                let n = people.known.people[*tuple as usize];
                sum += n as f64 * certainty(belief);
                self.add(*tuple, (belief, belief));
            }
        }
        self.certainty = self.certainty.max(sum);
    }
}
