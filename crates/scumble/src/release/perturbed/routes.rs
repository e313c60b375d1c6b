//! Which sub-table a row goes to: exactly as many rows of each value as the plan says, chosen
//! by chance, or by the key.

use rand::Rng;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::random::Key;
use crate::release::perturbed::{PerturbedTask, Place, Randomized, Streams};
use crate::table::Spot;

/// Finds the values of a row.
pub(super) struct Reader<'a> {
    task: &'a PerturbedTask<'a>,
    /// The columns of the table that are read.
    pub(super) places: Vec<usize>,
    /// For each randomized column, where its parts stand among them.
    parts: Vec<Vec<usize>>,
    /// Where the columns that tell people apart stand among them.
    id: Vec<usize>,
    /// For each randomized column, what decides on the sub-table of a person.
    part_keys: Vec<Key>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(task: &'a PerturbedTask<'a>, plain: bool) -> Self {
        let mut places: Vec<usize> = Vec::new();
        let mut seek = |place: usize| {
            places.iter().position(|known| *known == place).unwrap_or_else(|| {
                places.push(place);
                places.len() - 1
            })
        };
        let parts = task
            .randomized
            .iter()
            .map(|column| column.places.iter().map(|place| seek(*place)).collect())
            .collect();
        let id = task.keyed.map_or(&[][..], |keyed| keyed.id);
        let id = id.iter().map(|place| seek(*place)).collect();
        for (_, place) in task.columns.iter().filter(|_| plain) {
            if let Place::Plain(place) = place {
                seek(*place);
            }
        }
        let part_key = |column: &Randomized| {
            let names = column.names.iter().map(String::as_str);
            task.keyed
                .map(|keyed| keyed.key.narrowed(["sub-table"].into_iter().chain(names)))
        };
        let part_keys = task.randomized.iter().filter_map(part_key).collect();
        Self { task, places, parts, id, part_keys }
    }

    /// The value of a row in a randomized column.
    pub(super) fn value(&self, of: usize, cells: &[&str]) -> Result<u32> {
        let column = &self.task.randomized[of];
        let changed = || Error::input("the table has changed since it was counted");
        let code = |part: usize| {
            let cell = cells[self.parts[of][part]];
            column.codes[part].get(cell).copied().ok_or_else(changed)
        };
        if column.codes.len() == 1 {
            return code(0);
        }
        let codes: Vec<u32> =
            (0..column.codes.len()).map(code).collect::<Result<_>>()?;
        column.tuples.get(&codes).copied().ok_or_else(changed)
    }

    /// What tells a person apart, with lengths between the texts.
    pub(super) fn write_id(&self, cells: &[&str], id: &mut Vec<u8>) {
        id.clear();
        for place in &self.id {
            id.extend_from_slice(&(cells[*place].len() as u64).to_le_bytes());
            id.extend_from_slice(cells[*place].as_bytes());
        }
    }

    /// The ticket that decides on the sub-table of a row.
    pub(super) fn ticket(&self, of: usize, parts: &mut ChaCha20Rng, id: &[u8]) -> u64 {
        match self.part_keys.get(of) {
            Some(key) => key.words(id).next_u64(),
            None => parts.next_u64(),
        }
    }
}

/// A ticket and the row it was drawn for: rows are told apart by them.
pub(super) type Ticket = (u64, Spot);

/// The sub-tables of a value in order, each with the last ticket that leads there.
pub(super) type Route = Vec<(u32, Ticket)>;

/// For each randomized column and value, which tickets lead to which sub-table: exactly as
/// many rows go to each as the plan says, chosen by chance. Empty for columns in one piece.
pub(super) fn routes(
    task: &PerturbedTask<'_>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<Vec<Route>>> {
    let reader = Reader::new(task, false);
    if task.randomized.iter().all(|column| column.subtables.len() == 1) {
        return Ok(vec![Vec::new(); task.randomized.len()]);
    }
    let folded = task.source.fold(
        &reader.places,
        || (vec![Vec::new(); task.randomized.len()], Streams::new(task.randomness)),
        |(tickets, streams): &mut (Vec<Vec<(u32, Ticket)>>, Streams), spot, cells| {
            streams.enter(task.randomness, spot);
            reader.write_id(cells, &mut streams.id);
            for (of, tickets) in tickets.iter_mut().enumerate() {
                if task.randomized[of].subtables.len() > 1 {
                    let value = reader.value(of, cells)?;
                    let ticket = reader.ticket(of, &mut streams.parts, &streams.id);
                    tickets.push((value, (ticket, spot)));
                }
            }
            Ok(())
        },
        progress,
    )?;
    let mut states: Vec<Vec<Vec<(u32, Ticket)>>> =
        folded.states.into_iter().map(|(tickets, _)| tickets).collect();
    let mut routes = Vec::with_capacity(task.randomized.len());
    for (of, column) in task.randomized.iter().enumerate() {
        let mut tickets: Vec<(u32, Ticket)> = states
            .iter_mut()
            .flat_map(|state| std::mem::take(&mut state[of]))
            .collect();
        if column.subtables.len() == 1 {
            routes.push(Vec::new());
            continue;
        }
        tickets.par_sort_unstable();
        routes.push(routes_of(column, &tickets));
    }
    Ok(routes)
}

/// Cuts the sorted tickets of each value where its rows in a sub-table end.
fn routes_of(column: &Randomized, tickets: &[(u32, Ticket)]) -> Vec<Route> {
    let mut routes = vec![Vec::new(); column.texts.len()];
    let mut ends: Vec<usize> = Vec::with_capacity(column.texts.len());
    for value in 0..column.texts.len() {
        ends.push(tickets.partition_point(|(known, _)| (*known as usize) < value));
    }
    for (number, part) in (0..).zip(&column.subtables) {
        for (value, rows) in part.values.iter().zip(&part.rows) {
            let end = &mut ends[*value as usize];
            *end += *rows as usize;
            if let (1.., Some((_, last))) = (*rows, tickets.get(end.wrapping_sub(1))) {
                routes[*value as usize].push((number, *last));
            }
        }
    }
    routes
}
