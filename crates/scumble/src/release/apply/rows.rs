//! Which group each row goes to, where a plan only says how many rows of an entry of the
//! census go where: chance decides which.

use hashbrown::HashMap;
use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::method::ApartPlan;
use crate::release::apply::{Binding, changed};
use crate::table::{Code, ColumnId, EntryId, GroupId, RowPlace, Source};
use crate::watch::Watch;

/// The group of each row of the table, nothing for those that are left out; and how many rows
/// stand before each block. `step` is the place of the step in the plan, and among those of
/// its kind: each has coins of its own.
pub(super) fn assign(
    plan: &ApartPlan,
    (step, of_kind): (usize, u64),
    binding: Binding<'_>,
    watch: &dyn Watch,
) -> Result<(Vec<Option<GroupId>>, Vec<u64>)> {
    let data = binding.known(step).data.ok_or_else(changed)?;
    let finder = Finder::new(data, binding.source)?;
    let stream = |block: u32| {
        binding.randomness.stream("rows", u64::from(block) | of_kind << 32)
    };
    let folded = binding.source.fold(
        &finder.columns,
        || (None, stream(0), Vec::new()),
        |(block, random, tickets): &mut (Option<u32>, ChaCha20Rng, Vec<_>),
         spot: RowPlace,
         cells| {
            if *block != Some(spot.block) {
                (*block, *random) = (Some(spot.block), stream(spot.block));
            }
            tickets.push((finder.entry(cells)?, random.random::<u64>(), spot));
            Ok(())
        },
        watch,
    )?;
    let n_rows = folded.n_rows as usize;
    let numbers = |spot: RowPlace| {
        folded.block_starts[spot.block as usize] as usize + spot.row as usize
    };
    let tickets = folded.states.iter().flat_map(|(_, _, tickets)| tickets.iter());
    let mut tickets: Vec<(EntryId, u64, RowPlace)> = tickets.copied().collect();
    tickets.par_sort_unstable();
    // The groups of each entry, in any order: tickets are random.
    let mut wanted: Vec<(EntryId, Option<GroupId>)> = Vec::with_capacity(n_rows);
    let groups = GroupId::first(plan.buckets.n_groups());
    for (group, entries) in groups.zip(plan.buckets.groups()) {
        wanted.extend(entries.iter().map(|entry| (*entry, Some(group))));
    }
    wanted.extend(plan.buckets.left_out.iter().map(|entry| (*entry, None)));
    wanted.par_sort_unstable();
    if wanted.len() != tickets.len() {
        return Err(changed());
    }
    let mut group_of_row = vec![None; n_rows];
    for ((entry, _, spot), (same, group)) in tickets.iter().zip(&wanted) {
        if entry != same {
            return Err(changed());
        }
        group_of_row[numbers(*spot)] = *group;
    }
    Ok((group_of_row, folded.block_starts))
}

/// Finds the entry of a row.
struct Finder<'a> {
    data: &'a Microdata,
    /// The columns that were counted.
    columns: Vec<ColumnId>,
    entries: HashMap<Vec<Code>, EntryId>,
}

impl<'a> Finder<'a> {
    fn new(data: &'a Microdata, source: &Source) -> Result<Self> {
        let counted = data.quasi.iter().chain(&data.sensitive);
        let columns = counted.map(|column| source.column(&column.name));
        let census = &data.census;
        let mut entries = HashMap::with_capacity(census.entries.len());
        for tuple in census.tuples() {
            for entry in census.entries_of(tuple) {
                let quasi = census.quasi.iter().map(|codes| codes[tuple]);
                let sensitive = census.sensitive.iter().map(|codes| codes[entry]);
                entries.insert(quasi.chain(sensitive).collect(), entry);
            }
        }
        Ok(Self { data, columns: columns.collect::<Result<_>>()?, entries })
    }

    fn entry(&self, cells: &[&str]) -> Result<EntryId> {
        let codes = cells.iter().zip(&self.data.codes);
        let key: Option<Vec<Code>> =
            codes.map(|(cell, codes)| codes.get(*cell).copied()).collect();
        key.and_then(|key| self.entries.get(&key).copied()).ok_or_else(changed)
    }
}
