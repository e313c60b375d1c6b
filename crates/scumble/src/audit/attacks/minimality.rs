//! Minimality: what is learned of sensitive values from where the search for groups ended.
//!
//! The adversary knows everybody's quasi values, and so who is in which group, and knows the
//! method and what it was asked. They take all ways to give the values of a group to its people
//! for equally likely, and exclude those in which the search would have gone further:
//!
//! - `full-domain`: every node one level finer in one column failed;
//! - `mondrian`: of every cut that would have been taken before the one that was, or that was
//!   left when a group stayed whole, a side failed (`search/cuts.rs`).
//!
//! # Guarantee
//! Where all arrangements of the table are few, all are gone through with all events: beliefs
//! are the exact ones given these events, for `mondrian` everything that the search tells.
//! Otherwise `mondrian` is attacked group by group, with the events that divide no other
//! group, and groups with too many arrangements by draws. Of whom a value is said to be
//! certain, it is: that comes from exhaustion only.
//!
//! # Limits
//! - Events that divide several groups, nodes that were not taken for their loss, and what
//!   costs too much are not used: numbers are lower bounds then, and marked `at_least`.
//! - Where no row was left out, and none could have been, and rows are people. Levels only if
//!   nobody fits several groups; of cuts whose cells are nodes only groups whose people are
//!   known and that are surely one part, and of these only that they were not cut. Where cuts were looked at by coins a refusal tells nothing harmful, and the
//!   attack is not tried; that the manifest says so is believed.
//!
//! # Cost
//! At most [`MOST_STEPS`] times a look at an event.
//!
//! # Source
//! `wong2007minimality`.

mod rule;
mod score;

use rayon::prelude::*;

use crate::audit::attacks::minimality::rule::ValueRule;
use crate::audit::attacks::minimality::score::scored;
use crate::audit::attacks::search::cuts::CutOrder;
use crate::audit::attacks::search::worlds::{Question, Tally, n_ways};
use crate::audit::attacks::search::{Event, Placed, Seats, levels};
use crate::audit::attacks::{
    Attack, NEEDS_ORIGINAL, Stopped, by_coins, no_cell_classes, nothing_left_out,
};
use crate::audit::case::Linked;
use crate::audit::cells::{CellClasses, fitting};
use crate::audit::{Attacked, Case};
use crate::error::Result;
use crate::hierarchy::{Cells, Column, Cover};
use crate::release::MethodNote;
use crate::table::Code;

/// Tries to guess sensitive values from what the search refused.
#[derive(Debug)]
pub struct Minimality;

/// All arrangements of a table are gone through if they are no more.
const MOST_WORLDS: f64 = 20_000.0;

/// Worlds, times the events that are looked at in each: no more are.
const MOST_STEPS: usize = 4_000_000;

/// People of events, times the worlds that are drawn.
const MOST_LOOKS: usize = 40_000_000;

/// Kinds of rows, times rows: more are not counted.
const MOST_COUNTS: usize = 4_000_000;

/// So many worlds must be left of those drawn for a belief to be worth anything.
const LEAST_WORLDS: u64 = 100;

impl Attack for Minimality {
    fn name(&self) -> &'static str {
        "minimality"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        let classes = case.views.cells()?.ok_or_else(|| no_cell_classes(case))?;
        let manifest = case.manifest;
        let rule = ValueRule::of(manifest, classes)??;
        let first = &classes.quasi.first().ok_or("there are no quasi columns")?;
        let method = manifest.method_of(&manifest.columns[first.place].name);
        if by_coins(method) {
            return Err(
                "cuts were looked at by coins: a refusal tells no more than is \
                        promised"
                    .into(),
            );
        }
        if !matches!(&*method.name, "mondrian" | "full-domain") {
            return Err("it is not known how this method searches".into());
        }
        if manifest.person.is_some() {
            return Err("people have several rows".into());
        }
        if !nothing_left_out(manifest, method) {
            return Err("rows were left out, or could have been".into());
        }
        if rule.kinds.len().saturating_mul(classes.rows as usize) > MOST_COUNTS {
            return Err("there are too many rows, or values".into());
        }
        let linked = case.linked()?.ok_or(NEEDS_ORIGINAL)?;
        let group_of = groups_of(classes, linked)?;
        let placed = Placed {
            columns: &linked.columns,
            codes: &linked.known.tuples,
            people: linked.known.people,
            group_of: &group_of,
            watch: case.watch,
        };
        let found = excluded(method, classes, &placed, &rule)?;
        case.watch.check()?;
        Ok(scored(classes, linked, &placed, &rule, &found))
    }
}

/// The group of each tuple that fits one only.
fn groups_of(classes: &CellClasses, linked: &Linked<'_>) -> Result<Vec<Option<u32>>> {
    let mut group_of = vec![None; linked.known.people.len()];
    for (tuple, groups) in fitting(classes, &linked.covers, &linked.known)? {
        if let [group] = groups[..] {
            group_of[tuple as usize] = Some(group);
        }
    }
    Ok(group_of)
}

/// What the search tells.
pub(super) struct Excluded {
    pub(super) seats: Seats,
    /// The groups of each question, and the worlds that are left of them.
    pub(super) tallies: Vec<(Vec<u32>, Tally)>,
    pub(super) n_events: usize,
    /// Groups with events that were not looked at.
    pub(super) skipped: usize,
    /// Whether all that the search tells was used.
    pub(super) is_all: bool,
}

/// The arrangements that are left.
fn excluded(
    method: &MethodNote,
    classes: &CellClasses,
    placed: &Placed<'_>,
    rule: &ValueRule<'_>,
) -> Result<Excluded, Stopped> {
    let seats = placed.seats(classes.n_groups());
    let counts = rule.counts(classes);
    let labels: Vec<Vec<u32>> = counts.iter().map(|counts| listed(counts)).collect();
    let ways: f64 = labels.iter().map(|labels| n_ways(labels)).product();
    // Whoever fits no other group has a seat in theirs; if all are taken, its people are known.
    let is_known =
        |group: &u32| seats.sizes[*group as usize] == classes.sizes[*group as usize];
    let all_known = (0..classes.n_groups() as u32).all(|group| is_known(&group));
    let few = all_known && ways <= MOST_WORLDS;
    let by_levels = method.name == "full-domain";
    let n_labels = rule.kinds.len();
    const UNKNOWN: &str = "the manifest does not tell how the search went";
    let mut cut_again = false;
    let events = if by_levels {
        if !all_known {
            return Err("somebody fits several groups".into());
        }
        levels::events(method, placed, &seats, n_labels).ok_or(UNKNOWN)?
    } else {
        let one = sure_parts(placed, classes.n_groups());
        let sure = |group: &u32| is_known(group) && one[*group as usize].is_some();
        cut_again = (0..classes.n_groups() as u32).all(|group| sure(&group));
        let recut = if cut_again {
            let order = CutOrder::of(method).ok_or(UNKNOWN)?;
            let recut = placed.recut(order, |side| rule.keeps_groups(&counts, side));
            recut.ok_or(
                "the groups are too many, or not of the cuts that the manifest says",
            )?
        } else {
            // No more is sure than that these groups were not cut.
            let parts = (0u32..).zip(one.iter()).filter(|(group, _)| sure(group));
            placed.uncut(parts.filter_map(|(_, tuples)| tuples.clone()).collect())
        };
        let most = if few && cut_again { usize::MAX } else { 1 };
        recut.events(placed, &seats, &counts, most, |people| people < rule.k)
    };
    if events.is_empty() {
        return Err("nothing finer was refused for its values".into());
    }
    let n_events = events.len();
    let ask = |groups: &[u32], events: &[Event], worlds: usize, number: u64| {
        let own: Vec<Vec<u32>> =
            groups.iter().map(|group| labels[*group as usize].clone()).collect();
        let (rule, watch) = (rule as &dyn super::search::Rule, placed.watch);
        let question = Question { groups: &own, n_labels, events, rule, watch };
        let ways: f64 = own.iter().map(|labels| n_ways(labels)).product();
        match ways <= (worlds as f64).min(MOST_WORLDS) {
            true => question.all(),
            false => question.some(worlds as u64, number),
        }
    };
    let whole: Vec<u32> = (0..labels.len() as u32).collect();
    if few && cut_again || by_levels {
        let looks: usize =
            events.iter().flat_map(|e| &e.sides).map(|s| s.members.len()).sum();
        let worlds = if few { MOST_WORLDS as usize } else { MOST_LOOKS / looks.max(1) };
        let worlds = worlds.min(MOST_WORLDS as usize);
        if worlds < 4 * LEAST_WORLDS as usize {
            return Err("the table is too large to draw worlds of it".into());
        }
        let tally = ask(&whole, &events, worlds, 0);
        let is_all = few && !by_levels;
        let tallies = vec![(whole, tally)];
        return Ok(Excluded { seats, tallies, n_events, skipped: 0, is_all });
    }
    let mut by_group: Vec<(u32, Vec<Event>)> = Vec::new();
    let mut sorted: Vec<(u32, Event)> = events
        .into_iter()
        .filter_map(|event| Some((*event.groups().first()?, event)))
        .collect();
    sorted.sort_by_key(|(group, _)| *group);
    for (group, mut event) in sorted {
        // The group is the only one of its question.
        let members = event.sides.iter_mut().flat_map(|side| &mut side.members);
        members.for_each(|(group, _)| *group = 0);
        match by_group.last_mut() {
            Some((last, events)) if *last == group => events.push(event),
            _ => by_group.push((group, vec![event])),
        }
    }
    let steps = n_events.max(1);
    let worlds =
        (MOST_STEPS / steps).clamp(4 * LEAST_WORLDS as usize, MOST_WORLDS as usize);
    let mut left = MOST_STEPS;
    let n_groups = by_group.len();
    by_group.retain(|(_, events)| {
        let steps = events.len() * worlds;
        let enough = steps <= left;
        left -= if enough { steps } else { 0 };
        enough
    });
    let skipped = n_groups - by_group.len();
    let tallies = by_group.par_iter().map(|(group, events)| {
        (vec![*group], ask(&[*group], events, worlds, u64::from(*group) + 1))
    });
    Ok(Excluded { seats, tallies: tallies.collect(), n_events, skipped, is_all: false })
}

/// Labels one by one, ascending.
fn listed(counts: &[u64]) -> Vec<u32> {
    let each = (0u32..).zip(counts);
    each.flat_map(|(label, n)| std::iter::repeat_n(label, *n as usize)).collect()
}

/// The tuples of each group that is surely one part; nothing where several may have the same
/// cells: where a cut of a column of nodes leaves the node of both sides that of the whole group.
fn sure_parts(placed: &Placed<'_>, n_groups: usize) -> Vec<Option<Vec<u32>>> {
    let columns = placed.columns.iter().map(|column| &**column).enumerate();
    let nodes: Vec<(usize, &Column)> =
        columns.filter(|(_, column)| column.cells == Cells::Taxonomy).collect();
    let mut tuples = vec![Vec::new(); n_groups];
    for (tuple, group) in (0u32..).zip(placed.group_of) {
        if let Some(group) = group {
            tuples[*group as usize].push(tuple);
        }
    }
    let several = |tuples: &[u32]| {
        nodes.iter().any(|(place, column)| {
            let codes =
                tuples.iter().map(|tuple| placed.codes[*place][*tuple as usize]);
            let mut codes: Vec<Code> = codes.collect();
            codes.sort_unstable();
            codes.dedup();
            let node = |codes: &[Code]| Cover::node_over(&column.hierarchy, codes);
            (1..codes.len()).any(|at| {
                let (below, rest) = codes.split_at(at);
                node(below) == node(&codes) && node(rest) == node(&codes)
            })
        })
    };
    tuples.into_iter().map(|tuples| (!several(&tuples)).then_some(tuples)).collect()
}
