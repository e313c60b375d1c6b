//! Writing rows that only say which group they are in, and the values of each group.
//!
//! Groups are numbered by chance, rows of a group are sorted by their text: nothing tells
//! in which order they were made or read. Values are written as counts, so no line of one
//! file can be laid beside a line of the other.

use std::path::Path;

use hashbrown::HashMap;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::method::Buckets;
use crate::random::Randomness;
use crate::release::buckets::HEADER;
use crate::release::shuffle::{Pile, Shuffle};
use crate::release::sink::{Sink, line, push_quoted, quoted};
use crate::release::{DataFormat, Origin};
use crate::table::{ColumnForm, Folded, Source, Spot};

/// What is written.
#[derive(Debug, Clone, Copy)]
pub struct BucketsTask<'a> {
    /// The table, counted; its first sensitive column is the one that is written apart.
    pub data: &'a Microdata,
    /// Which rows are in which group.
    pub buckets: &'a Buckets,
    /// The table itself.
    pub source: &'a Source,
    /// The columns of the data, in order: the group, quasi columns, and others as they are.
    pub columns: &'a [(String, Origin)],
    /// Where numbers of groups come from.
    pub randomness: &'a Randomness,
    /// How the data is written.
    pub format: DataFormat,
}

/// Writes the rows to `data` and the values of the groups to `sensitive`.
pub fn write_buckets(
    task: &BucketsTask<'_>,
    data: &Path,
    sensitive: &Path,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<()> {
    let number_of = numbers(task);
    let header: Vec<&str> =
        task.columns.iter().map(|(name, _)| name.as_str()).collect();
    let forms: Vec<ColumnForm> =
        task.columns.iter().map(|(name, origin)| form(task, name, *origin)).collect();
    let mut sink = Sink::create(data, task.format, &header, &forms)?;
    let writer = Writer::new(task, &number_of);
    let counted =
        task.columns.iter().all(|(_, origin)| !matches!(origin, Origin::Other(_)));
    match counted {
        true => writer.write_counted(&mut sink)?,
        false => writer.write_streamed(&mut sink, data, progress)?,
    }
    sink.finish()?;
    writer.write_values(sensitive)
}

/// What a column of the data is.
fn form(task: &BucketsTask<'_>, name: &str, origin: Origin) -> ColumnForm {
    if origin == Origin::Group {
        return ColumnForm::Integer;
    }
    let place = task.source.header().iter().position(|known| known == name);
    place.map_or(ColumnForm::Text, |place| task.source.forms()[place])
}

/// The number of each group, from 0, given by chance.
fn numbers(task: &BucketsTask<'_>) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..task.buckets.n_groups() as u32).collect();
    numbers.shuffle(&mut task.randomness.stream("groups", 0));
    numbers
}

/// How many groups are prepared at once, in parallel, before they are written.
const WAVE: usize = 1 << 16;

/// How many of these a worker takes at a time.
const HANDFUL: usize = 1 << 10;

struct Writer<'a> {
    task: &'a BucketsTask<'a>,
    /// The number of each group.
    number_of: &'a [u32],
    /// The group of each number.
    group_of: Vec<u32>,
    /// The tuple of each entry.
    tuple_of: Vec<u32>,
    /// For each quasi column, the text of every value as it stands in a line.
    texts: Vec<Vec<Vec<u8>>>,
}

impl<'a> Writer<'a> {
    fn new(task: &'a BucketsTask<'a>, number_of: &'a [u32]) -> Self {
        let mut group_of = vec![0; number_of.len()];
        for (group, number) in (0..).zip(number_of) {
            group_of[*number as usize] = group;
        }
        let census = &task.data.census;
        let mut tuple_of = Vec::with_capacity(census.entries.len());
        for (tuple, ends) in (0..).zip(census.starts.windows(2)) {
            tuple_of.resize(tuple_of.len() + (ends[1] - ends[0]), tuple);
        }
        let texts = task.data.quasi.par_iter().map(|column| {
            column.domain.texts().iter().map(|text| quoted(text)).collect()
        });
        Self { task, number_of, group_of, tuple_of, texts: texts.collect() }
    }

    /// The entries of a group's rows.
    fn entries(&self, group: u32) -> &[u32] {
        let starts = &self.task.buckets.starts;
        let group = group as usize;
        &self.task.buckets.entries[starts[group]..starts[group + 1]]
    }

    /// Adds a row's line; `others` are its cells in columns of role “other”, in order.
    fn push_line(&self, line: &mut Vec<u8>, number: u32, entry: u32, others: &[&str]) {
        let census = &self.task.data.census;
        let tuple = self.tuple_of[entry as usize] as usize;
        let mut others = others.iter();
        for (place, (_, origin)) in self.task.columns.iter().enumerate() {
            if place > 0 {
                line.push(b',');
            }
            match origin {
                Origin::Group => {
                    line.extend_from_slice((number + 1).to_string().as_bytes());
                }
                Origin::Quasi(column) => {
                    let code = census.quasi[*column][tuple];
                    line.extend_from_slice(&self.texts[*column][code as usize]);
                }
                Origin::Other(_) => {
                    push_quoted(line, others.next().copied().unwrap_or_default());
                }
                Origin::Sensitive(_) => {}
            }
        }
        line.push(b'\n');
    }

    /// Writes what `lines` adds for each group, and says how many lines that is, in the order
    /// of their numbers.
    fn write_groups(
        &self,
        sink: &mut Sink,
        lines: impl Fn(u32, &[u32], &mut Vec<u8>) -> usize + Sync,
    ) -> Result<()> {
        let numbers: Vec<u32> = (0..self.group_of.len() as u32).collect();
        for wave in numbers.chunks(WAVE) {
            let written: Vec<(Vec<u8>, usize)> = wave
                .par_chunks(HANDFUL)
                .map(|numbers| {
                    let (mut all, mut n_lines) = (Vec::new(), 0);
                    for number in numbers {
                        let entries = self.entries(self.group_of[*number as usize]);
                        n_lines += lines(*number, entries, &mut all);
                    }
                    (all, n_lines)
                })
                .collect();
            for (lines, n_lines) in written {
                sink.write_lines(&lines, n_lines)?;
            }
        }
        Ok(())
    }

    /// Rows are known from the counts.
    fn write_counted(&self, sink: &mut Sink) -> Result<()> {
        self.write_groups(sink, |number, entries, all| {
            let line = |entry: &u32| {
                let mut line = Vec::with_capacity(64);
                self.push_line(&mut line, number, *entry, &[]);
                line
            };
            let mut lines: Vec<Vec<u8>> = entries.iter().map(line).collect();
            lines.sort_unstable();
            all.extend(lines.into_iter().flatten());
            entries.len()
        })
    }

    /// Rows have cells that were not counted: the table is read again, first to decide which
    /// of several rows of an entry goes where, by chance, then to write them.
    fn write_streamed(
        &self,
        sink: &mut Sink,
        path: &Path,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<()> {
        let (group_of_row, first) = self.assign(progress)?;
        let finder = Finder::new(self.task);
        let folder = path.parent().unwrap_or(Path::new("."));
        let shuffle = Shuffle::new(self.task.source.bytes(), folder);
        // Keys ascend with the number of the group; rows of one key are sorted by text.
        let step = u64::MAX / (self.number_of.len() as u64).max(1);
        let folded = self.task.source.fold(
            &finder.places,
            || shuffle.pile(),
            |pile: &mut Pile, spot, cells| {
                let row = first.row_number(spot) as usize - 1;
                let (entry, others) = finder.find(cells)?;
                let group = group_of_row.get(row).ok_or_else(changed)?;
                let Some(group) = group else { return Ok(()) };
                let number = self.number_of[*group as usize];
                let key = u64::from(number) * step;
                shuffle.push(pile, key, |line| {
                    self.push_line(line, number, entry, others);
                })
            },
            progress,
        )?;
        shuffle.write(folded.states, sink)?;
        Ok(())
    }

    /// The group of each row of the table; nothing for those that are left out.
    fn assign(
        &self,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(Vec<Option<u32>>, Folded<()>)> {
        let task = self.task;
        let finder = Finder::new(task);
        let stream = |block: u32| task.randomness.stream("rows", u64::from(block));
        let folded = task.source.fold(
            &finder.places,
            || (None, stream(0), Vec::new()),
            |(block, random, tickets): &mut (Option<u32>, ChaCha20Rng, Vec<_>),
             spot: Spot,
             cells| {
                if *block != Some(spot.block) {
                    (*block, *random) = (Some(spot.block), stream(spot.block));
                }
                let (entry, _) = finder.find(cells)?;
                tickets.push((entry, random.random::<u64>(), spot));
                Ok(())
            },
            progress,
        )?;
        let (block_starts, n_rows) = (folded.block_starts, folded.n_rows);
        let tickets = folded.states.into_iter().flat_map(|(_, _, tickets)| tickets);
        let mut tickets: Vec<(u32, u64, Spot)> = tickets.collect();
        tickets.par_sort_unstable();
        let rows = Folded { states: Vec::new(), n_rows, block_starts };
        // The groups of each entry, in any order: tickets are random.
        let mut wanted: Vec<(u32, Option<u32>)> = Vec::with_capacity(tickets.len());
        for group in 0..self.number_of.len() as u32 {
            wanted
                .extend(self.entries(group).iter().map(|entry| (*entry, Some(group))));
        }
        wanted.extend(task.buckets.left_out.iter().map(|entry| (*entry, None)));
        wanted.par_sort_unstable();
        if wanted.len() != tickets.len() {
            return Err(changed());
        }
        let mut group_of_row = vec![None; wanted.len()];
        for ((entry, _, spot), (same, group)) in tickets.iter().zip(&wanted) {
            if entry != same {
                return Err(changed());
            }
            group_of_row[rows.row_number(*spot) as usize - 1] = *group;
        }
        Ok((group_of_row, rows))
    }

    /// Values by group, in the order of numbers and of the domain.
    fn write_values(&self, path: &Path) -> Result<()> {
        let task = self.task;
        let forms = [ColumnForm::Text; HEADER.len()];
        let mut sink = Sink::create(path, DataFormat::Csv, &HEADER, &forms)?;
        let (Some(column), Some(codes)) =
            (task.data.sensitive.first(), task.data.census.sensitive.first())
        else {
            return Err(Error::input("there is no sensitive column"));
        };
        let texts: Vec<Vec<u8>> =
            column.domain.texts().iter().map(|text| quoted(text)).collect();
        self.write_groups(&mut sink, |number, entries, all| {
            let mut values: Vec<u32> =
                entries.iter().map(|entry| codes[*entry as usize]).collect();
            values.sort_unstable();
            let name = (number + 1).to_string();
            let mut n_lines = 0;
            for same in values.chunk_by(|a, b| a == b) {
                let count = same.len().to_string();
                let text = &texts[same[0] as usize];
                all.extend(line([name.as_bytes(), text, count.as_bytes()].into_iter()));
                n_lines += 1;
            }
            n_lines
        })?;
        sink.finish()
    }
}

fn changed() -> Error {
    Error::input("the table has changed since it was counted")
}

/// Finds the entry of a row.
struct Finder<'a> {
    data: &'a Microdata,
    /// The columns of the table that are read: quasi, sensitive, then others.
    places: Vec<usize>,
    entries: HashMap<Vec<u32>, u32>,
}

impl<'a> Finder<'a> {
    fn new(task: &BucketsTask<'a>) -> Self {
        let data = task.data;
        let header = task.source.header();
        let counted = data.quasi.iter().chain(&data.sensitive).map(|c| &c.name);
        let mut places: Vec<usize> = counted
            .filter_map(|name| header.iter().position(|known| known == name))
            .collect();
        places.extend(task.columns.iter().filter_map(|(_, origin)| match origin {
            Origin::Other(place) => Some(*place),
            _ => None,
        }));
        let census = &data.census;
        let mut entries = HashMap::with_capacity(census.entries.len());
        for tuple in 0..census.n_tuples() {
            for entry in census.starts[tuple]..census.starts[tuple + 1] {
                let quasi = census.quasi.iter().map(|codes| codes[tuple]);
                let sensitive = census.sensitive.iter().map(|codes| codes[entry]);
                entries.insert(quasi.chain(sensitive).collect(), entry as u32);
            }
        }
        Self { data, places, entries }
    }

    /// The entry, and the cells of the other columns.
    fn find<'b>(&self, cells: &'b [&'b str]) -> Result<(u32, &'b [&'b str])> {
        let (counted, others) = cells.split_at(self.data.codes.len());
        let codes = counted.iter().zip(&self.data.codes);
        let key: Option<Vec<u32>> =
            codes.map(|(cell, codes)| codes.get(*cell).copied()).collect();
        let entry = key.and_then(|key| self.entries.get(&key).copied());
        Ok((entry.ok_or_else(changed)?, others))
    }
}
