//! What cells stand for where the release says how often each value occurs in the table.
//!
//! # Guarantee
//! Of all distributions of the values over the cells that have as many rows in each cell as
//! were published, as many of each value as `shares.csv` says, and no value in a cell that
//! does not stand for it, the one nearest to even is taken: its entropy is the largest. Rows
//! that were left out are one more cell, which stands for every value.
//!
//! *Why.* Cells by entries is a table of which both margins are known. Scaling its rows and
//! columns in turn, from one that counts how many values of an entry a cell stands for,
//! converges to the table of these margins with the least divergence from where it began, if
//! there is one (`csiszar1975divergence`); within an entry values are even.
//!
//! # Limits
//! Which of the values that both margins allow a cell has stays open.
//!
//! # Cost
//! Some passes over the pairs of cells and entries that have a value in common, until margins
//! are met to nine digits, or [`MOST_WORK`].
//!
//! # Source
//! `deming1940adjustment`.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::estimate::evidence::cells::{
    ColumnCells, Form, Meaning, malformed, numbers, words,
};
use crate::estimate::evidence::lattice::Lattice;
use crate::release::{ColumnShares, PublishedColumn, cell};

/// Pairs times passes that are worth it.
const MOST_WORK: usize = 300_000_000;

/// The most passes.
const MOST_PASSES: usize = 2_000;

/// The cells of a column, and how often its values occur if the release says so.
#[derive(Debug)]
pub(crate) struct RakedCells {
    /// The values that cells stand for, unless they are numbers of a lattice.
    pub(crate) values: Vec<Box<str>>,
    pub(crate) cells: ColumnCells,
    pub(crate) margin: Option<Margin>,
}

/// How often the values of a column occur in the table.
#[derive(Debug)]
pub(crate) struct Margin {
    /// The entries, as cells of a column of their own.
    pub(crate) cells: ColumnCells,
    /// How many rows of the table each is of.
    pub(crate) rows: Vec<u64>,
    /// Which of the column's cells stands for a row that was left out, if any was.
    pub(crate) left: Option<u32>,
}

impl RakedCells {
    /// Reads the cells of a column, of which `rows` says how often each occurs, beside so many
    /// rows that were left out.
    pub(crate) fn read(
        listed: &PublishedColumn,
        mut texts: Vec<Box<str>>,
        rows: &[u64],
        shares: &ColumnShares,
        left_out: u64,
    ) -> Result<Self> {
        let mut totals: Vec<f64> = rows.iter().map(|rows| *rows as f64).collect();
        let left = (left_out > 0).then_some(texts.len() as u32);
        if left.is_some() {
            texts.push(crate::hierarchy::ROOT_LABEL.into());
            totals.push(left_out as f64);
        }
        let found = match listed.is_ranged() {
            true => of_numbers(listed, &texts, &totals, shares, left)?,
            false => of_words(listed, &texts, &totals, shares, left)?,
        };
        let cells = |lattice: Option<Lattice>, meanings: Vec<Meaning>, texts| {
            let counted = vec![false; meanings.len()];
            let (bounded, shared) = (true, true);
            ColumnCells { lattice, meanings, texts, counted, bounded, shared }
        };
        let Raked { values, lattice, meanings, entries } = found;
        let names = shares.entries.iter().map(|(text, _)| text.clone()).collect();
        let rows = shares.entries.iter().map(|(_, rows)| *rows).collect();
        let margin =
            Margin { cells: cells(lattice.clone(), entries, names), rows, left };
        Ok(Self {
            values,
            cells: cells(lattice, meanings, texts),
            margin: Some(margin),
        })
    }
}

/// What cells stand for, and entries.
struct Raked {
    values: Vec<Box<str>>,
    lattice: Option<Lattice>,
    meanings: Vec<Meaning>,
    entries: Vec<Meaning>,
}

/// That shares and cells do not go together.
fn at_odds(listed: &PublishedColumn) -> Error {
    let name = &listed.name;
    Error::input(format!("the shares of `{name}` do not agree with its cells"))
        .with_hint("the release was changed, or made by another version")
}

fn of_words(
    listed: &PublishedColumn,
    texts: &[Box<str>],
    totals: &[f64],
    shares: &ColumnShares,
    left: Option<u32>,
) -> Result<Raked> {
    let reading = listed.reading();
    let mut lists: Vec<Vec<Box<str>>> = Vec::with_capacity(shares.entries.len());
    for (text, _) in &shares.entries {
        let named = cell::named(Form::Set, text);
        let named = named.ok_or_else(|| malformed(listed, text))?;
        let mut list: Vec<Box<str>> =
            named.values.into_iter().map(String::into_boxed_str).collect();
        list.extend(named.missing.then(|| reading.missing_text().into()));
        lists.push(list);
    }
    let form = listed.cells().unwrap_or(Form::Taxonomy);
    let shared: Vec<Box<str>> = lists.iter().flatten().cloned().collect();
    let own = &texts[..texts.len() - usize::from(left.is_some())];
    let (values, mut meanings) = words(listed, form, own, &shared)
        .map_err(|place| malformed(listed, &texts[place]))?;
    let codes: HashMap<&str, u32> = values.iter().map(|v| &**v).zip(0..).collect();
    let mut entry_of: Vec<Option<usize>> = vec![None; values.len()];
    let mut entries = Vec::with_capacity(lists.len());
    for (entry, list) in lists.iter().enumerate() {
        let each = 1.0 / list.len() as f64;
        let mut even = Vec::with_capacity(list.len());
        for text in list {
            let code = *codes.get(&**text).ok_or_else(|| at_odds(listed))?;
            if entry_of[code as usize].replace(entry).is_some() {
                return Err(at_odds(listed));
            }
            even.push((code, each));
        }
        even.sort_unstable_by_key(|(code, _)| *code);
        entries.push(Meaning::Values(even));
    }
    drop(codes);
    if left.is_some() {
        let all = (0..values.len() as u32).map(|code| (code, 1.0));
        meanings.push(Meaning::Values(all.collect()));
    }
    let mut matrix: Matrix = Vec::with_capacity(meanings.len());
    for meaning in &meanings {
        let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
        let Meaning::Values(list) = meaning else { return Err(at_odds(listed)) };
        for (code, _) in list {
            if let Some(entry) = entry_of[*code as usize] {
                *counts.entry(entry).or_default() += 1.0;
            }
        }
        matrix.push(counts.into_iter().collect());
    }
    let counts = matrix.clone();
    rake(&mut matrix, totals, shares).ok_or_else(|| at_odds(listed))?;
    for ((meaning, raked), counts) in meanings.iter_mut().zip(&matrix).zip(&counts) {
        let Meaning::Values(list) = meaning else { return Err(at_odds(listed)) };
        let all: f64 = raked.iter().map(|(_, rows)| rows).sum();
        let both = raked.iter().zip(counts);
        let each: HashMap<usize, f64> =
            both.map(|((entry, rows), (_, n))| (*entry, rows / all / n)).collect();
        for (code, chance) in list.iter_mut() {
            let entry = entry_of[*code as usize];
            *chance = entry.and_then(|entry| each.get(&entry)).copied().unwrap_or(0.0);
        }
        list.retain(|(_, chance)| *chance > 0.0);
        if let [(_, chance)] = list.as_mut_slice() {
            *chance = 1.0;
        }
    }
    Ok(Raked { values, lattice: None, meanings, entries })
}

/// Numbers from the first to the last, if there are any, and whether "not known" is one more.
#[derive(Debug, Clone, Copy)]
struct Reach {
    ends: Option<(f64, f64)>,
    missing: bool,
}

impl Reach {
    fn of(meaning: &Meaning) -> Option<Self> {
        match meaning {
            Meaning::Numbers { low, high, missing } => {
                Some(Self { ends: Some((*low, *high)), missing: *missing })
            }
            Meaning::Missing => Some(Self { ends: None, missing: true }),
            _ => None,
        }
    }

    /// What two have in common.
    fn with(self, other: Self) -> Self {
        let both = self.ends.zip(other.ends);
        let both = both.map(|((a, b), (c, d))| (a.max(c), b.min(d)));
        let ends = both.filter(|(low, high)| low <= high);
        Self { ends, missing: self.missing && other.missing }
    }

    /// How many values it has.
    fn n(self) -> f64 {
        let numbers = self.ends.map_or(0.0, |(low, high)| high - low + 1.0);
        numbers + f64::from(u8::from(self.missing))
    }
}

fn of_numbers(
    listed: &PublishedColumn,
    texts: &[Box<str>],
    totals: &[f64],
    shares: &ColumnShares,
    left: Option<u32>,
) -> Result<Raked> {
    let form = listed.cells().unwrap_or(Form::Taxonomy);
    let read = |form, texts: &[Box<str>]| {
        numbers(listed, form, texts, false)
            .map_err(|place| malformed(listed, &texts[place]))
    };
    let own = &texts[..texts.len() - usize::from(left.is_some())];
    let (lattice, mut meanings) = read(form, own)?;
    let names: Vec<Box<str>> = shares.entries.iter().map(|(t, _)| t.clone()).collect();
    let (other, entries) = read(Form::Interval, &names)?;
    if lattice.scale != other.scale {
        return Err(at_odds(listed));
    }
    meanings.extend(left.map(|_| Meaning::Open));
    let reaches = entries.iter().map(Reach::of);
    let mut entries: Vec<Reach> =
        reaches.collect::<Option<_>>().ok_or_else(|| at_odds(listed))?;
    bound(&mut entries, &meanings);
    let ends = || entries.iter().filter_map(|entry| entry.ends);
    let low = ends().map(|(low, _)| low).fold(f64::INFINITY, f64::min);
    let high = ends().map(|(_, high)| high).fold(f64::NEG_INFINITY, f64::max);
    let everything = Reach {
        ends: (low <= high).then_some((low, high)),
        missing: entries.iter().any(|entry| entry.missing),
    };
    let mut matrix: Matrix = Vec::with_capacity(meanings.len());
    let mut parts: Vec<Vec<Reach>> = Vec::with_capacity(meanings.len());
    for meaning in &meanings {
        let reach = Reach::of(meaning).unwrap_or(everything);
        let common = entries.iter().map(|entry| reach.with(*entry)).enumerate();
        let common: Vec<(usize, Reach)> =
            common.filter(|(_, common)| common.n() > 0.0).collect();
        matrix
            .push(common.iter().map(|(entry, common)| (*entry, common.n())).collect());
        parts.push(common.into_iter().map(|(_, common)| common).collect());
    }
    rake(&mut matrix, totals, shares).ok_or_else(|| at_odds(listed))?;
    let meanings = matrix.iter().zip(&parts).map(|(raked, parts)| {
        let all: f64 = raked.iter().map(|(_, rows)| rows).sum();
        let shares = raked.iter().map(|(_, rows)| rows / all);
        spread(parts.iter().copied().zip(shares))
    });
    let meanings = meanings.collect();
    let entries = entries.iter().map(|entry| spread([(*entry, 1.0)].into_iter()));
    let entries = entries.collect();
    let (low, high) = everything.ends.unwrap_or((0.0, 0.0));
    let lattice = Some(Lattice { low, high, ..lattice });
    Ok(Raked { values: Vec::new(), lattice, meanings, entries })
}

/// Even over each of these, with its probability.
fn spread(parts: impl Iterator<Item = (Reach, f64)>) -> Meaning {
    let (mut pieces, mut unknown) = (Vec::new(), 0.0);
    for (reach, share) in parts.filter(|(_, share)| *share > 0.0) {
        let lacking = if reach.missing { share / reach.n() } else { 0.0 };
        unknown += lacking;
        if let Some((low, high)) = reach.ends {
            pieces.push((low, high, share - lacking));
        }
    }
    match (&pieces[..], unknown) {
        ([], _) => Meaning::Missing,
        ([(low, high, _)], 0.0) => {
            Meaning::Numbers { low: *low, high: *high, missing: false }
        }
        _ => Meaning::Pieces { pieces, missing: unknown },
    }
}

/// Ends entries that a grid leaves open where cells end, or else as wide as the widest.
fn bound(entries: &mut [Reach], cells: &[Meaning]) {
    let cells: Vec<(f64, f64)> =
        cells.iter().filter_map(Reach::of).filter_map(|reach| reach.ends).collect();
    let lowest = cells.iter().map(|(low, _)| *low).filter(|low| low.is_finite());
    let lowest = lowest.fold(f64::INFINITY, f64::min);
    let highest = cells.iter().map(|(_, high)| *high).filter(|high| high.is_finite());
    let highest = highest.fold(f64::NEG_INFINITY, f64::max);
    let widths = entries.iter().filter_map(|entry| entry.ends);
    let widths = widths.map(|(low, high)| high - low).filter(|width| width.is_finite());
    let widest = widths.fold(0.0, f64::max);
    for (low, high) in entries.iter_mut().filter_map(|entry| entry.ends.as_mut()) {
        if low.is_infinite() && high.is_infinite() {
            (*low, *high) = match lowest <= highest {
                true => (lowest, highest),
                false => (0.0, 0.0),
            };
        } else if low.is_infinite() {
            *low = if lowest <= *high { lowest } else { *high - widest };
        } else if high.is_infinite() {
            *high = if highest >= *low { highest } else { *low + widest };
        }
    }
}

/// For each cell the entries that have values in common with it, with a weight.
type Matrix = Vec<Vec<(usize, f64)>>;

/// Scales rows and columns in turn until their sums are these; nothing if a cell or an entry
/// has no place.
fn rake(matrix: &mut Matrix, rows: &[f64], shares: &ColumnShares) -> Option<()> {
    let columns: Vec<f64> =
        shares.entries.iter().map(|(_, rows)| *rows as f64).collect();
    let size: usize = matrix.iter().map(Vec::len).sum();
    let passes = (MOST_WORK / size.max(1)).clamp(1, MOST_PASSES);
    if matrix.iter().any(Vec::is_empty) {
        return None;
    }
    for _ in 0..passes {
        let mut sums = vec![0.0; columns.len()];
        let mut off: f64 = 0.0;
        for (cells, wanted) in matrix.iter_mut().zip(rows) {
            let sum: f64 = cells.iter().map(|(_, rows)| rows).sum();
            if sum <= 0.0 {
                return None;
            }
            off = off.max((sum / wanted - 1.0).abs());
            for (entry, rows) in cells {
                *rows *= wanted / sum;
                sums[*entry] += *rows;
            }
        }
        if sums.iter().any(|sum| *sum <= 0.0) {
            return None;
        }
        if off < 1e-9 {
            break;
        }
        for (entry, rows) in matrix.iter_mut().flatten() {
            *rows *= columns[*entry] / sums[*entry];
        }
    }
    Some(())
}
