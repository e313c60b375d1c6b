//! Writing the rows, in an order that tells nothing.
//!
//! Groups are sorted by their cells, rows within a group by their text. Where only quasi
//! and sensitive columns are published, the counts are all there is to know, and rows are
//! written from them. Otherwise the table is read a second time.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::hierarchy::{Column, Microdata};
use crate::method::Grouping;
use crate::release::cell;
use crate::release::sink::{Sink, line, quoted};
use crate::release::{DataFormat, Weighted};
use crate::table::{ColumnForm, Source};

/// Where the cells of a published column come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A quasi column of the microdata.
    Quasi(usize),
    /// A sensitive column of the microdata.
    Sensitive(usize),
    /// A column of the table, as it is.
    Other(usize),
    /// The number of the group.
    Group,
}

/// What is written.
#[derive(Debug, Clone, Copy)]
pub struct RowsTask<'a> {
    /// The table, counted.
    pub data: &'a Microdata,
    /// Its groups and cells.
    pub grouping: &'a Grouping,
    /// The table itself.
    pub source: &'a Source,
    /// The published columns, in order.
    pub columns: &'a [(String, Origin)],
    /// For each group its distributions, if cells are pdf cells.
    pub weights: Option<&'a [Vec<Weighted>]>,
    /// How the file is written.
    pub format: DataFormat,
}

/// Rows are sorted in memory in portions of about this many bytes.
const PORTION: u64 = 128 << 20;

/// A worker hands on what it has for a portion when it is this large.
const HAND_ON: usize = 1 << 20;

/// What was written.
#[derive(Debug, Clone)]
pub struct Written {
    /// How many rows.
    pub rows: u64,
    /// The groups in the order of the file, as numbered in the grouping. Of groups that
    /// nobody can tell apart the first.
    pub groups: Vec<u32>,
}

/// Writes the published rows to `path`.
pub fn write_rows(
    task: &RowsTask<'_>,
    path: &Path,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Written> {
    let header: Vec<&str> =
        task.columns.iter().map(|(name, _)| name.as_str()).collect();
    let forms: Vec<ColumnForm> = task
        .columns
        .iter()
        .map(|(name, origin)| match origin {
            Origin::Quasi(_) => ColumnForm::Text,
            Origin::Group => ColumnForm::Integer,
            _ => {
                let place = task.source.header().iter().position(|known| known == name);
                place.map_or(ColumnForm::Text, |place| task.source.forms()[place])
            }
        })
        .collect();
    let mut sink = Sink::create(path, task.format, &header, &forms)?;
    let ranked = Ranked::of(task);
    let counted =
        task.columns.iter().all(|(_, origin)| !matches!(origin, Origin::Other(_)));
    let n_rows = if counted {
        write_counted(task, &ranked, &mut sink)?
    } else {
        write_streamed(task, &ranked, &mut sink, path, progress)?
    };
    sink.finish()?;
    Ok(Written { rows: n_rows, groups: ranked.groups })
}

/// Groups in the order of what is published.
struct Ranked {
    /// Quoted cells of each rank: one a quasi column, or the number of the group.
    cells: Vec<Vec<Vec<u8>>>,
    /// The first group of each rank.
    groups: Vec<u32>,
    /// The rank of each tuple; nothing if it is left out.
    of_tuple: Vec<Option<u32>>,
}

impl Ranked {
    /// Groups with the same cells are one rank: a reader cannot tell them apart. Groups
    /// without rows are none.
    fn of(task: &RowsTask<'_>) -> Self {
        let columns = &task.data.quasi;
        let texts: Vec<Vec<String>> = match task.weights {
            Some(weights) => {
                weights.par_iter().map(|cells| distributions(columns, cells)).collect()
            }
            None => task
                .grouping
                .covers
                .par_iter()
                .map(|covers| {
                    let cells = columns.iter().zip(covers);
                    cells.map(|(column, cover)| cell::text(column, cover)).collect()
                })
                .collect(),
        };
        let mut has_rows = vec![false; texts.len()];
        for (group, rows) in task.grouping.group_of.iter().zip(&task.data.census.rows) {
            if let (Some(group), 1..) = (group, rows) {
                has_rows[*group as usize] = true;
            }
        }
        let mut order: Vec<usize> =
            (0..texts.len()).filter(|group| has_rows[*group]).collect();
        order.par_sort_by(|a, b| texts[*a].cmp(&texts[*b]));
        let mut rank_of = vec![None; texts.len()];
        let mut cells: Vec<Vec<Vec<u8>>> = Vec::new();
        let mut groups: Vec<u32> = Vec::new();
        let mut last: Option<usize> = None;
        for group in order {
            if last.is_none_or(|last| texts[last] != texts[group]) {
                groups.push(group as u32);
                cells.push(match task.weights {
                    Some(_) => vec![groups.len().to_string().into_bytes()],
                    None => texts[group].iter().map(|text| quoted(text)).collect(),
                });
            }
            rank_of[group] = Some(cells.len() as u32 - 1);
            last = Some(group);
        }
        let of_tuple = task.grouping.group_of.iter();
        let of_tuple = of_tuple
            .map(|group| group.and_then(|group| rank_of[group as usize]))
            .collect();
        Self { cells, groups, of_tuple }
    }

    /// The tuples of each rank.
    fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.cells.len()];
        for (tuple, rank) in self.of_tuple.iter().enumerate() {
            if let Some(rank) = rank {
                members[*rank as usize].push(tuple as u32);
            }
        }
        members
    }
}

/// Distributions as texts that tell them apart and put them in order.
fn distributions(columns: &[Column], cells: &[Weighted]) -> Vec<String> {
    let one = |(column, cell): (&Column, &Weighted)| {
        let pair = |(code, weight): &(u32, f64)| {
            format!("{}\u{1f}{weight}", column.domain.text(*code))
        };
        cell.iter().map(pair).collect::<Vec<String>>().join("\u{1e}")
    };
    columns.iter().zip(cells).map(one).collect()
}

/// How many ranks are prepared at once, in parallel, before they are written.
const WAVE: usize = 8_192;

fn write_counted(task: &RowsTask<'_>, ranked: &Ranked, sink: &mut Sink) -> Result<u64> {
    let values: Vec<Vec<Vec<u8>>> = task
        .data
        .sensitive
        .iter()
        .map(|column| column.domain.texts().iter().map(|text| quoted(text)).collect())
        .collect();
    let mut n_rows = 0;
    let members = ranked.members();
    let ranks: Vec<usize> = (0..members.len()).collect();
    for wave in ranks.chunks(WAVE) {
        let lines: Vec<Vec<(Vec<u8>, u64)>> = wave
            .par_iter()
            .map(|rank| {
                counted_lines(task, &values, &ranked.cells[*rank], &members[*rank])
            })
            .collect();
        for (line, times) in lines.iter().flatten() {
            sink.write(line, *times)?;
            n_rows += times;
        }
    }
    Ok(n_rows)
}

/// The different lines of a group, sorted, and how often each occurs.
fn counted_lines(
    task: &RowsTask<'_>,
    values: &[Vec<Vec<u8>>],
    cells: &[Vec<u8>],
    tuples: &[u32],
) -> Vec<(Vec<u8>, u64)> {
    let census = &task.data.census;
    let mut counts: HashMap<Vec<u32>, u64> = HashMap::new();
    for tuple in tuples {
        let tuple = *tuple as usize;
        if census.sensitive.is_empty() {
            *counts.entry(Vec::new()).or_default() += census.rows[tuple];
            continue;
        }
        for entry in census.starts[tuple]..census.starts[tuple + 1] {
            let key = census.sensitive.iter().map(|codes| codes[entry]).collect();
            *counts.entry(key).or_default() += census.entries[entry];
        }
    }
    let mut lines: Vec<(Vec<u8>, u64)> = counts
        .into_iter()
        .map(|(codes, times)| {
            let published = task.columns.iter().map(|(_, origin)| match origin {
                Origin::Quasi(place) => cells[*place].as_slice(),
                Origin::Group => cells[0].as_slice(),
                Origin::Sensitive(place) => &values[*place][codes[*place] as usize],
                Origin::Other(_) => &[],
            });
            (line(published), times)
        })
        .collect();
    lines.sort_unstable();
    lines
}

/// Rows of one portion: rank, length and text, one after another.
#[derive(Default)]
struct Portion {
    file: Option<File>,
    bytes: Vec<u8>,
}

fn write_streamed(
    task: &RowsTask<'_>,
    ranked: &Ranked,
    sink: &mut Sink,
    path: &Path,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<u64> {
    let failed = |error| Error::io("write", path.display().to_string(), error);
    let portion_of = portions(task, ranked);
    let n_portions = portion_of.last().map_or(1, |last| *last as usize + 1);
    let portions: Vec<Mutex<Portion>> =
        (0..n_portions).map(|_| Mutex::new(Portion::default())).collect();
    let router = Router::new(task, ranked);
    let hand_on = |place: usize, bytes: &mut Vec<u8>| -> Result<()> {
        let Ok(mut portion) = portions[place].lock() else { return Ok(()) };
        if n_portions == 1 {
            portion.bytes.append(bytes);
            return Ok(());
        }
        if portion.file.is_none() {
            let folder = path.parent().unwrap_or(Path::new("."));
            portion.file = Some(tempfile::tempfile_in(folder).map_err(failed)?);
        }
        if let Some(file) = &mut portion.file {
            file.write_all(bytes).map_err(failed)?;
        }
        bytes.clear();
        Ok(())
    };
    let folded = task.source.fold(
        &router.places,
        || vec![Vec::new(); n_portions],
        |buffers: &mut Vec<Vec<u8>>, _, cells| {
            let Some((rank, text)) = router.publish(cells)? else { return Ok(()) };
            let place = portion_of[rank as usize] as usize;
            let buffer = &mut buffers[place];
            buffer.extend_from_slice(&rank.to_le_bytes());
            buffer.extend_from_slice(&(text.len() as u32).to_le_bytes());
            buffer.extend_from_slice(&text);
            if buffer.len() >= HAND_ON {
                hand_on(place, buffer)?;
            }
            Ok(())
        },
        progress,
    )?;
    for mut buffers in folded.states {
        for (place, buffer) in buffers.iter_mut().enumerate() {
            hand_on(place, buffer)?;
        }
    }
    let mut n_rows = 0;
    for portion in portions {
        let Ok(mut portion) = portion.into_inner() else { continue };
        if let Some(file) = &mut portion.file {
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            file.read_to_end(&mut portion.bytes).map_err(failed)?;
        }
        n_rows += write_sorted(&portion.bytes, sink)?;
    }
    Ok(n_rows)
}

/// The portion of each rank: consecutive ranks, about equally many rows each.
fn portions(task: &RowsTask<'_>, ranked: &Ranked) -> Vec<u32> {
    let mut rows = vec![0; ranked.cells.len()];
    for (rank, n) in ranked.of_tuple.iter().zip(&task.data.census.rows) {
        if let Some(rank) = rank {
            rows[*rank as usize] += n;
        }
    }
    let n_portions = task.source.bytes() / PORTION + 1;
    let share = (rows.iter().sum::<u64>() / n_portions).max(1);
    let mut before = 0;
    let mut portion_of = Vec::with_capacity(rows.len());
    let mut last_mark = None;
    let mut portion = 0;
    for n in rows {
        let mark = before / share;
        if last_mark.is_some_and(|last| last != mark) {
            portion += 1;
        }
        last_mark = Some(mark);
        portion_of.push(portion);
        before += n;
    }
    portion_of
}

/// Sorts one portion by rank and text, and writes it.
fn write_sorted(bytes: &[u8], sink: &mut Sink) -> Result<u64> {
    let number = |place: usize| {
        let digits: [u8; 4] =
            [bytes[place], bytes[place + 1], bytes[place + 2], bytes[place + 3]];
        u32::from_le_bytes(digits)
    };
    let mut rows: Vec<(u32, &[u8])> = Vec::new();
    let mut place = 0;
    while place < bytes.len() {
        let (rank, length) = (number(place), number(place + 4) as usize);
        rows.push((rank, &bytes[place + 8..place + 8 + length]));
        place += 8 + length;
    }
    rows.par_sort_unstable();
    for (_, text) in &rows {
        sink.write(text, 1)?;
    }
    Ok(rows.len() as u64)
}

/// Finds the published line of a row of the table.
struct Router<'a> {
    task: &'a RowsTask<'a>,
    ranked: &'a Ranked,
    /// Columns of the table that are needed: quasi, sensitive, then other ones.
    places: Vec<usize>,
    tuple_of: HashMap<Vec<u32>, u32>,
}

impl<'a> Router<'a> {
    fn new(task: &'a RowsTask<'a>, ranked: &'a Ranked) -> Self {
        let header = task.source.header();
        let data = task.data;
        let place =
            |name: &str| header.iter().position(|known| known == name).unwrap_or(0);
        let counted = data.quasi.iter().chain(&data.sensitive).map(|c| place(&c.name));
        let others = task.columns.iter().filter_map(|(_, origin)| match origin {
            Origin::Other(place) => Some(*place),
            _ => None,
        });
        let places = counted.chain(others).collect();
        let census = &data.census;
        let tuple_of = (0..census.n_tuples())
            .map(|tuple| {
                (census.quasi.iter().map(|codes| codes[tuple]).collect(), tuple as u32)
            })
            .collect();
        Self { task, ranked, places, tuple_of }
    }

    /// The rank and the line of a row; nothing if it is left out.
    fn publish(&self, cells: &[&str]) -> Result<Option<(u32, Vec<u8>)>> {
        let data = self.task.data;
        let n_quasi = data.quasi.len();
        let changed = || Error::input("the table has changed since it was counted");
        let code = |place: usize| {
            data.codes[place].get(cells[place]).copied().ok_or_else(changed)
        };
        let key: Vec<u32> = (0..n_quasi).map(code).collect::<Result<_>>()?;
        let tuple = *self.tuple_of.get(&key).ok_or_else(changed)?;
        let Some(rank) = self.ranked.of_tuple[tuple as usize] else { return Ok(None) };
        let mut texts: Vec<std::borrow::Cow<'_, [u8]>> =
            Vec::with_capacity(self.task.columns.len());
        let mut next_other = n_quasi + data.sensitive.len();
        for (_, origin) in self.task.columns {
            texts.push(match origin {
                Origin::Quasi(place) => {
                    self.ranked.cells[rank as usize][*place].as_slice().into()
                }
                Origin::Group => self.ranked.cells[rank as usize][0].as_slice().into(),
                Origin::Sensitive(place) => {
                    let code = code(n_quasi + place)?;
                    quoted(data.sensitive[*place].domain.text(code)).into()
                }
                Origin::Other(_) => {
                    next_other += 1;
                    quoted(cells[next_other - 1]).into()
                }
            });
        }
        Ok(Some((rank, line(texts.iter().map(|text| &**text)))))
    }
}
