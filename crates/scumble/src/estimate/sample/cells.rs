//! Values drawn from generalized and pdf cells.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::estimate::evidence::Column;
use crate::estimate::evidence::cells::{Cells, Meaning};
use crate::estimate::sample::draw::Distribution;
use crate::estimate::sample::{BLOCK, DrawnColumn, coded};
use crate::table::{Kind, format_date, format_number};

/// How a cell is drawn from.
enum Source {
    /// One of the values by their codes.
    Values(Distribution),
    /// So many numbers from the first on, the one after the last being "not known" if there
    /// is one.
    Numbers {
        low: f64,
        high: f64,
        missing: bool,
    },
    Missing,
    /// From one of these cells.
    Like(Distribution),
    /// Not at all.
    Open,
}

/// Draws a value for the cell of each row. `stream` gives every block its randomness.
pub(crate) fn draw(
    column: &Column,
    cells: &Cells,
    codes: &[u32],
    stream: &(dyn Fn(u64) -> ChaCha20Rng + Sync),
) -> Result<DrawnColumn> {
    let sources: Vec<Source> =
        cells.meanings.iter().map(Source::of).collect::<Result<_>>()?;
    // An open cell is a value of its own, after all others.
    let mut texts = column.texts.clone();
    let first_open = texts.len() as u32;
    let mut open_of = vec![0; sources.len()];
    let mut open_texts = Vec::new();
    for (place, source) in sources.iter().enumerate() {
        if matches!(source, Source::Open) {
            open_of[place] = open_texts.len() as u32;
            open_texts.push(cells.texts[place].clone());
        }
    }
    let Some(lattice) = &cells.lattice else {
        let drawn = codes.par_chunks(BLOCK).enumerate().map(|(block, codes)| {
            let mut random = stream(block as u64);
            let one = |code: &u32| match sources[*code as usize]
                .value(&sources, &mut random)
            {
                Some(value) => value,
                None => first_open + open_of[*code as usize],
            };
            codes.iter().map(one).collect::<Vec<u32>>()
        });
        let mut drawn = drawn.collect::<Vec<Vec<u32>>>().concat();
        deal(cells, codes, &mut drawn, stream);
        texts.extend(open_texts);
        return Ok(column.drawn(texts, drawn));
    };
    let drawn = codes.par_chunks(BLOCK).enumerate().map(|(block, codes)| {
        let mut random = stream(block as u64);
        // Open cells stand for "not known" until all numbers are listed.
        let one = |code: &u32| sources[*code as usize].step(&sources, &mut random);
        codes.iter().map(one).collect::<Vec<f64>>()
    });
    let steps: Vec<f64> = drawn.collect::<Vec<_>>().concat();
    let text = |step: f64| match column.reading.kind {
        Kind::Date => format_date(step),
        _ => format_number(step / lattice.scale + 0.0),
    };
    let (mut texts, mut drawn) =
        coded::steps(&steps, text, column.reading.missing_text());
    if !open_texts.is_empty() {
        let first_open = texts.len() as u32;
        for (drawn, code) in drawn.iter_mut().zip(codes) {
            if matches!(sources[*code as usize], Source::Open) {
                *drawn = first_open + open_of[*code as usize];
            }
        }
        texts.extend(open_texts);
    }
    Ok(column.drawn(texts, drawn))
}

/// Deals the values of cells whose weights are counts out among their rows.
fn deal(
    cells: &Cells,
    codes: &[u32],
    drawn: &mut [u32],
    stream: &(dyn Fn(u64) -> ChaCha20Rng + Sync),
) {
    if !cells.counted.contains(&true) {
        return;
    }
    let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); cells.meanings.len()];
    for (row, code) in codes.iter().enumerate() {
        rows_of[*code as usize].push(row);
    }
    for (cell, rows) in rows_of.iter().enumerate() {
        let Meaning::Values(values) = &cells.meanings[cell] else { continue };
        let n = rows.len() as f64;
        let counts = values.iter().map(|(code, chance)| (*code, (chance * n).round()));
        let mut hand: Vec<u32> = counts
            .flat_map(|(code, n)| std::iter::repeat_n(code, n as usize))
            .collect();
        // Weights that are no counts of these rows are drawn by.
        if !cells.counted[cell] || hand.len() != rows.len() {
            continue;
        }
        hand.shuffle(&mut stream((1 << 32) + cell as u64));
        for (row, value) in rows.iter().zip(hand) {
            drawn[*row] = value;
        }
    }
}

impl Source {
    fn of(meaning: &Meaning) -> Result<Self> {
        Ok(match meaning {
            Meaning::Values(values) => Self::Values(Distribution::new(values)?),
            Meaning::Numbers { low, high, missing } => {
                Self::Numbers { low: *low, high: *high, missing: *missing }
            }
            Meaning::Missing => Self::Missing,
            Meaning::Like(others) => Self::Like(Distribution::new(others)?),
            Meaning::Open => Self::Open,
        })
    }

    /// The code of a value; nothing if the cell is open.
    fn value(&self, all: &[Self], random: &mut ChaCha20Rng) -> Option<u32> {
        match self {
            Self::Values(values) => Some(values.draw(random)),
            Self::Like(cells) => {
                let cell = cells.draw(random);
                all[cell as usize].value(all, random)
            }
            // Lists have no such cells.
            Self::Numbers { .. } | Self::Missing | Self::Open => None,
        }
    }

    /// A number in steps of the lattice; NaN if it is not known.
    fn step(&self, all: &[Self], random: &mut ChaCha20Rng) -> f64 {
        match self {
            Self::Numbers { low, high, missing } => {
                let n = high - low + 1.0 + f64::from(u8::from(*missing));
                let step = low + (random.random::<f64>() * n).floor();
                // The product may round up to `n`.
                match step > *high {
                    true if *missing => f64::NAN,
                    true => *high,
                    false => step,
                }
            }
            Self::Like(cells) => {
                let cell = cells.draw(random);
                all[cell as usize].step(all, random)
            }
            // Lattices have no lists.
            Self::Missing | Self::Values(_) | Self::Open => f64::NAN,
        }
    }
}
