//! What a search that looks freely refused, as an adversary finds it out who knows the
//! program, everybody's quasi values and the published groups, and which worlds that leaves.
//!
//! A world gives every person of a group one of the group's labels: a sensitive value, or
//! whether they are in the table. An event is something that the search saw fail: of its
//! sides at least one breaks the promises.

pub(super) mod cuts;
pub(super) mod levels;
pub(super) mod worlds;

use std::borrow::Cow;

use crate::hierarchy::Column;
use crate::table::Code;
use crate::watch::Watch;

/// Everybody, by distinct tuples of quasi values, and the one group each is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) columns: &'a [Cow<'a, Column>],
    /// For each column the code of each tuple.
    pub(super) codes: &'a [&'a [Code]],
    /// How many people have each tuple.
    pub(super) people: &'a [u64],
    /// The group of each tuple, if it is published.
    pub(super) group_of: &'a [Option<u32>],
    pub(super) watch: &'a dyn Watch,
}

/// What must hold of people with these numbers of labels.
pub(super) trait Rule: Sync {
    /// Whether it holds.
    fn keeps(&self, labels: &[u64], people: u64) -> bool;
}

/// Something that failed: some side breaks the promises.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) sides: Vec<Side>,
}

/// People who would have been a group, or part of one.
#[derive(Debug, Clone)]
pub(super) struct Side {
    /// Labels that are known: those of whole groups.
    pub(super) base: Vec<u64>,
    /// How many people there are.
    pub(super) people: u64,
    /// People of other groups, by group and place in it.
    pub(super) members: Vec<(u32, u32)>,
}

impl Event {
    /// Whether it happens in a world.
    pub(super) fn happens(
        &self,
        world: &[Vec<u32>],
        rule: &dyn Rule,
        labels: &mut Vec<u64>,
    ) -> bool {
        self.sides.iter().any(|side| {
            labels.clear();
            labels.extend_from_slice(&side.base);
            for (group, place) in &side.members {
                labels[world[*group as usize][*place as usize] as usize] += 1;
            }
            !rule.keeps(labels, side.people)
        })
    }

    /// The groups it is about, ascending.
    pub(super) fn groups(&self) -> Vec<u32> {
        let members = self.sides.iter().flat_map(|side| &side.members);
        let mut groups: Vec<u32> = members.map(|(group, _)| *group).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }
}

/// Where everybody stands in their group: people of a tuple one after the other.
#[derive(Debug)]
pub(super) struct Seats {
    /// The first place of each tuple.
    pub(super) first: Vec<u32>,
    /// How many people each group has.
    pub(super) sizes: Vec<u64>,
}

impl Placed<'_> {
    pub(super) fn seats(&self, n_groups: usize) -> Seats {
        let mut sizes = vec![0; n_groups];
        let mut first = vec![0; self.people.len()];
        for ((group, n), first) in self.group_of.iter().zip(self.people).zip(&mut first)
        {
            if let Some(group) = group {
                *first = sizes[*group as usize] as u32;
                sizes[*group as usize] += n;
            }
        }
        Seats { first, sizes }
    }

    /// The people of some tuples of a group, by group and place.
    pub(super) fn members(&self, seats: &Seats, tuples: &[u32]) -> Vec<(u32, u32)> {
        let mut members = Vec::new();
        for tuple in tuples {
            let at = *tuple as usize;
            let Some(group) = self.group_of[at] else { continue };
            let first = seats.first[at];
            members.extend((first..first + self.people[at] as u32).map(|p| (group, p)));
        }
        members
    }

    pub(super) fn count(&self, tuples: &[u32]) -> u64 {
        tuples.iter().map(|tuple| self.people[*tuple as usize]).sum()
    }
}
