//! All refusals together: who of the population may be in the table, if every cut that the
//! search saw and did not make was refused.
//!
//! Where the tables that give the published groups are few, all of them are gone through
//! (`search/worlds.rs`). Otherwise groups are looked at one by one (`reversal/groups.rs`).
//!
//! # Guarantee
//! For few tables beliefs are exact: those of all tables that give the same release. Otherwise
//! each is exact given what was used, and who is found for certain to be in the table, or not,
//! is so: every table that was excluded gives another release.

use crate::audit::attacks::reversal::groups::Groups;
use crate::audit::attacks::reversal::{SearchRule, Told, certainty};
use crate::audit::attacks::search::cuts::CutOrder;
use crate::audit::attacks::search::worlds::{Question, Tally};
use crate::audit::attacks::search::{Event, Placed, Rule, levels};
use crate::audit::cells::{People, ln_choose};
use crate::release::MethodNote;

/// All tables are gone through if they are no more.
const MOST_TABLES: f64 = 10_000.0;

/// People of events, times the tables that are drawn.
const MOST_LOOKS: usize = 40_000_000;

/// So many must be left of those drawn for a belief to be worth anything.
const LEAST_TABLES: u64 = 100;

/// Presence as labels: 0 for those who are not in the table, 1 for those who are.
struct Present(SearchRule);

impl Rule for Present {
    fn keeps(&self, labels: &[u64], people: u64) -> bool {
        self.0.keeps(labels[1], people)
    }
}

fn placed<'a>(people: &'a People<'a>) -> Placed<'a> {
    Placed {
        columns: &people.columns,
        codes: &people.known.tuples,
        people: people.known.people,
        group_of: &people.group_of,
        watch: people.known.watch,
    }
}

/// How many tables give the published groups.
fn n_tables(people: &People<'_>) -> f64 {
    let groups = people.inside.of_group.iter().zip(&people.of_group);
    groups.map(|(rows, n)| ln_choose(*n, *rows)).sum::<f64>().exp()
}

/// What all refused cuts tell, if it can be found out which these are; the second is for
/// groups that are too large, what is known of whom without.
pub(super) fn tell_cuts(
    method: &MethodNote,
    people: &People<'_>,
    rule: SearchRule,
    alone: &Told,
) -> Option<Told> {
    let placed = placed(people);
    let recut = placed.recut(CutOrder::of(method)?, |side| {
        let rows = side
            .groups
            .iter()
            .map(|group| people.inside.of_group[*group as usize])
            .sum();
        rule.keeps(rows, side.people)
    })?;
    if n_tables(people) <= MOST_TABLES * (1.0 + 1e-9) {
        let seats = placed.seats(people.of_group.len());
        let events =
            recut.events(&placed, &seats, &counts(people), usize::MAX, |_| false);
        let tally = question(people, &events, rule, None);
        return of_tally(&tally, people, events.len()).map(|mut told| {
            told.is_all = true;
            told
        });
    }
    Some(Groups::of(&placed, &recut, people, rule).tell(people, alone))
}

/// What it tells that all finer levels failed; nothing if that cannot be found out by going
/// through tables, or drawing them.
pub(super) fn tell_levels(
    method: &MethodNote,
    people: &People<'_>,
    rule: SearchRule,
) -> Option<Told> {
    let placed = placed(people);
    let events =
        levels::events(method, &placed, &placed.seats(people.of_group.len()), 2)?;
    let few = n_tables(people) <= MOST_TABLES * (1.0 + 1e-9);
    let looks: usize =
        events.iter().flat_map(|e| &e.sides).map(|side| side.members.len()).sum();
    let draws = (!few).then(|| (MOST_LOOKS / looks.max(1)).min(20_000) as u64);
    // Not worth the while.
    if draws.is_some_and(|draws| draws < 4 * LEAST_TABLES) {
        return None;
    }
    let tally = question(people, &events, rule, draws);
    of_tally(&tally, people, events.len())
}

fn counts(people: &People<'_>) -> Vec<Vec<u64>> {
    let groups = people.inside.of_group.iter().zip(&people.of_group);
    groups.map(|(rows, n)| vec![n - rows, *rows]).collect()
}

fn question(
    people: &People<'_>,
    events: &[Event],
    rule: SearchRule,
    draws: Option<u64>,
) -> Tally {
    let labels = |counts: &Vec<u64>| {
        let mut labels = vec![0; counts[0] as usize];
        labels.resize((counts[0] + counts[1]) as usize, 1);
        labels
    };
    let groups: Vec<Vec<u32>> = counts(people).iter().map(labels).collect();
    let (rule, watch) = (&Present(rule), people.known.watch);
    let question = Question { groups: &groups, n_labels: 2, events, rule, watch };
    draws.map_or_else(|| question.all(), |draws| question.some(draws, 0))
}

/// Beliefs of worlds; nothing if there are too few. Those of draws are taken back by four
/// times what they may be off.
fn of_tally(tally: &Tally, people: &People<'_>, n_events: usize) -> Option<Told> {
    let few = tally.drawn.is_some() && tally.worlds < LEAST_TABLES;
    if tally.worlds == 0 || few {
        return None;
    }
    let mut told = Told::before(people);
    told.events = n_events as u64;
    told.drawn = tally.drawn.map(|drawn| (drawn, tally.worlds));
    if tally.drawn == Some(tally.worlds) {
        return Some(told);
    }
    told.certainty = people.unpublished as f64;
    let seats = placed(people).seats(people.of_group.len());
    for (tuple, group) in (0u32..).zip(&people.group_of) {
        let Some(group) = group else { continue };
        let (first, n) =
            (seats.first[tuple as usize], people.known.people[tuple as usize]);
        let own = &tally.counts[*group as usize][first as usize..][..n as usize];
        let inside: u64 = own.iter().map(|labels| labels[1]).sum();
        let mut belief = inside as f64 / (n * tally.worlds) as f64;
        if tally.drawn.is_some() {
            let prior = people.share(*group);
            let error = (belief * (1.0 - belief) / tally.worlds as f64).sqrt()
                + 1.0 / tally.worlds as f64;
            let off = (belief - prior).clamp(-4.0 * error, 4.0 * error);
            belief -= off;
        }
        told.certainty += n as f64 * certainty(belief);
        told.add(tuple, (belief, belief));
    }
    Some(told)
}
