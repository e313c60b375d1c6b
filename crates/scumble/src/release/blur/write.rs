//! Writing blurred and condensed numbers, in an order that tells nothing.

use std::path::Path;

use rand::Rng;
use rand_chacha::ChaCha20Rng;

use crate::error::{Error, Result};
use crate::method::Blurred;
use crate::random::Randomness;
use crate::release::DataFormat;
use crate::release::shuffle::{Pile, Shuffle};
use crate::release::sink::{Sink, push_quoted};
use crate::table::{ColumnForm, Source, format_number};

/// What is written.
#[derive(Debug, Clone, Copy)]
pub struct BlurredTask<'a> {
    /// The table.
    pub source: &'a Source,
    /// How many rows stand before each of its blocks.
    pub block_starts: &'a [u64],
    /// The published columns, in order.
    pub columns: &'a [(String, BlurredPlace)],
    /// What is published instead of the numbers, row after row; NaN where missing.
    pub numbers: &'a [f64],
    /// How many decimals each column of numbers has.
    pub decimals: &'a [u32],
    /// What stands for a missing number.
    pub missing: &'a str,
    /// How rows were blurred, or which group they are in.
    pub made: Made<'a>,
    /// For the order of rows.
    pub randomness: &'a Randomness,
    /// How the file is written.
    pub format: DataFormat,
}

/// How numbers were made.
#[derive(Debug, Clone, Copy)]
pub enum Made<'a> {
    /// By blur.
    Blurred(&'a Blurred),
    /// By condensation: the number of each row's group, from 1.
    Condensed(&'a [u32]),
}

/// Where a published cell comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlurredPlace {
    /// A column of the table, as it is.
    Plain(usize),
    /// A column of numbers.
    Number(usize),
    /// The spread of a column of numbers.
    Spread(usize),
    /// The number of the frame.
    Frame,
    /// The number of the level.
    Level,
    /// The number of the group.
    Group,
}

/// Writes the rows to `path`, and says how many there are.
pub fn write_blurred(
    task: &BlurredTask<'_>,
    path: &Path,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<u64> {
    let header: Vec<&str> =
        task.columns.iter().map(|(name, _)| name.as_str()).collect();
    let plain: Vec<usize> =
        task.columns.iter().filter_map(|(_, p)| p.plain()).collect();
    let form = |(_, place): &(String, BlurredPlace)| match place {
        BlurredPlace::Plain(place) => task.source.forms()[*place],
        BlurredPlace::Number(column) if task.decimals[*column] == 0 => {
            ColumnForm::Integer
        }
        BlurredPlace::Number(_) | BlurredPlace::Spread(_) => ColumnForm::Float,
        _ => ColumnForm::Integer,
    };
    let forms: Vec<ColumnForm> = task.columns.iter().map(form).collect();
    let mut sink = Sink::create(path, task.format, &header, &forms)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let shuffle = Shuffle::new(2 * task.source.bytes(), folder);
    let n_rows = task.numbers.len() / task.decimals.len().max(1);
    let folded = task.source.fold(
        &plain,
        || (shuffle.pile(), None),
        |(pile, order): &mut (Pile, Option<(u32, ChaCha20Rng)>), spot, cells| {
            if order.as_ref().is_none_or(|(block, _)| *block != spot.block) {
                let block = u64::from(spot.block);
                *order = Some((spot.block, task.randomness.stream("order", block)));
            }
            let key = order.as_mut().map_or(0, |(_, order)| order.next_u64());
            let start = task.block_starts.get(spot.block as usize);
            let row = start.map(|start| start + u64::from(spot.row));
            let row = row.map(|row| row as usize).filter(|row| *row < n_rows);
            let row = row.ok_or_else(|| {
                Error::input("the table has changed since it was first read")
            })?;
            if !task.is_published(row) {
                return Ok(());
            }
            shuffle.push(pile, key, |line| task.push_line(line, row, cells))
        },
        progress,
    )?;
    let piles = folded.states.into_iter().map(|(pile, _)| pile).collect();
    let n_rows = shuffle.write(piles, &mut sink)?;
    sink.finish()?;
    Ok(n_rows)
}

impl BlurredPlace {
    fn plain(self) -> Option<usize> {
        match self {
            Self::Plain(place) => Some(place),
            _ => None,
        }
    }
}

impl BlurredTask<'_> {
    fn is_published(&self, row: usize) -> bool {
        match self.made {
            Made::Blurred(blurred) => {
                !blurred.spreads.is_empty() || blurred.places[row].is_some()
            }
            Made::Condensed(_) => true,
        }
    }

    fn push_line(&self, line: &mut Vec<u8>, row: usize, cells: &[&str]) {
        let start = line.len();
        let mut plain = cells.iter();
        for (place, (_, source)) in self.columns.iter().enumerate() {
            if place > 0 {
                line.push(b',');
            }
            match source {
                BlurredPlace::Plain(_) => {
                    push_quoted(line, plain.next().copied().unwrap_or_default());
                }
                BlurredPlace::Number(column) => self.push_number(line, row, *column),
                BlurredPlace::Spread(column) => self.push_spread(line, row, *column),
                BlurredPlace::Frame | BlurredPlace::Level | BlurredPlace::Group => {
                    line.extend_from_slice(self.class(row, *source).as_bytes());
                }
            }
        }
        if line.len() == start {
            // A line with one empty cell would be a blank line, which readers skip.
            line.extend_from_slice(b"\"\"");
        }
        line.push(b'\n');
    }

    fn push_number(&self, line: &mut Vec<u8>, row: usize, column: usize) {
        let value = self.numbers[row * self.decimals.len() + column];
        if value.is_nan() {
            push_quoted(line, self.missing);
        } else {
            let decimals = self.decimals[column] as usize;
            line.extend_from_slice(format!("{value:.decimals$}").as_bytes());
        }
    }

    fn push_spread(&self, line: &mut Vec<u8>, row: usize, column: usize) {
        let Made::Blurred(blurred) = self.made else { return };
        let n_columns = self.decimals.len();
        if self.numbers[row * n_columns + column].is_nan() {
            return;
        }
        let spread = match blurred.places.get(row) {
            Some(Some((frame, level))) => {
                let frame = &blurred.frames[*frame as usize];
                let axis = frame.columns.iter().position(|known| *known == column);
                axis.map(|axis| frame.levels[*level as usize][axis])
            }
            _ => blurred.spreads.get(row * n_columns + column).copied(),
        };
        if let Some(spread) = spread {
            line.extend_from_slice(format_number(spread).as_bytes());
        }
    }

    fn class(&self, row: usize, source: BlurredPlace) -> String {
        let number = match (self.made, source) {
            (Made::Condensed(groups), BlurredPlace::Group) => groups[row],
            (Made::Blurred(blurred), _) => match (blurred.places[row], source) {
                (Some((frame, _)), BlurredPlace::Frame) => frame + 1,
                (Some((_, level)), BlurredPlace::Level) => level + 1,
                _ => return String::new(),
            },
            _ => return String::new(),
        };
        number.to_string()
    }
}
