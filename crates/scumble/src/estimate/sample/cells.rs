//! Values drawn from generalized and pdf cells.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::estimate::evidence::Column;
use crate::estimate::evidence::cells::{ColumnCells, Meaning};
use crate::estimate::sample::draw::Distribution;
use crate::estimate::sample::{BLOCK, SampledColumn, coded};
use crate::table::{Kind, format_date, format_number};

/// The cells of a column, ready to be drawn from.
struct CellDrawer<'c> {
    meanings: &'c [Meaning],
    /// What values or other cells are drawn by, where there are some to choose from.
    choices: Vec<Option<Distribution>>,
}

/// Draws a value for the cell of each row. `stream` gives every block its randomness.
pub(crate) fn draw(
    column: &Column,
    cells: &ColumnCells,
    codes: &[u32],
    stream: &(dyn Fn(u64) -> ChaCha20Rng + Sync),
) -> Result<SampledColumn> {
    let drawer = CellDrawer::new(&cells.meanings)?;
    let drawn = codes.par_chunks(BLOCK).enumerate().map(|(block, codes)| {
        let mut random = stream(block as u64);
        codes.iter().map(|code| drawer.draw(*code, &mut random)).collect::<Vec<f64>>()
    });
    let points: Vec<f64> = drawn.collect::<Vec<_>>().concat();
    let (mut texts, mut drawn) = match &cells.lattice {
        Some(lattice) => {
            let text = |step: f64| match column.reading.kind {
                Kind::Date => format_date(step),
                _ => format_number(step / lattice.scale + 0.0),
            };
            coded::steps(&points, text, column.reading.missing_text())
        }
        None => {
            let codes_of = points.into_iter().map(|code| code as u32);
            let mut drawn: Vec<u32> = codes_of.collect();
            deal(cells, codes, &mut drawn, stream);
            (column.texts.clone(), drawn)
        }
    };
    // An open cell is a value of its own, after all others.
    let mut open_of = vec![None; cells.texts.len()];
    for (place, text) in cells.texts.iter().enumerate() {
        if cells.meanings[place] == Meaning::Open {
            open_of[place] = Some(texts.len() as u32);
            texts.push(text.clone());
        }
    }
    for (drawn, code) in drawn.iter_mut().zip(codes) {
        *drawn = open_of[*code as usize].unwrap_or(*drawn);
    }
    Ok(column.drawn(texts, drawn))
}

/// Deals the values of cells whose weights are counts out among their rows.
fn deal(
    cells: &ColumnCells,
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

impl<'c> CellDrawer<'c> {
    fn new(meanings: &'c [Meaning]) -> Result<Self> {
        let choice = |meaning: &Meaning| match meaning {
            Meaning::Values(weights) | Meaning::Like(weights) => {
                Distribution::new(weights).map(Some)
            }
            Meaning::Pieces { pieces, missing } => {
                // The one after the last is "not known".
                let chances =
                    pieces.iter().map(|(.., chance)| *chance).chain([*missing]);
                let weights: Vec<(u32, f64)> =
                    (0..).zip(chances).filter(|(_, chance)| *chance > 0.0).collect();
                Distribution::new(&weights).map(Some)
            }
            Meaning::Numbers { .. } | Meaning::Missing | Meaning::Open => Ok(None),
        };
        let choices = meanings.iter().map(choice).collect::<Result<_>>()?;
        Ok(Self { meanings, choices })
    }

    /// The code of a listed value, or a number in steps of the lattice; NaN if it is not
    /// known, or the cell open.
    fn draw(&self, cell: u32, random: &mut ChaCha20Rng) -> f64 {
        let cell = cell as usize;
        match (&self.meanings[cell], &self.choices[cell]) {
            (Meaning::Values(_), Some(values)) => f64::from(values.draw(random)),
            (Meaning::Like(_), Some(cells)) => self.draw(cells.draw(random), random),
            (Meaning::Pieces { pieces, .. }, Some(places)) => {
                let place = places.draw(random) as usize;
                pieces.get(place).map_or(f64::NAN, |(low, high, _)| {
                    let step = (random.random::<f64>() * (high - low + 1.0)).floor();
                    (low + step).min(*high)
                })
            }
            (Meaning::Numbers { low, high, missing }, _) => {
                // The one after the last is "not known", if there is one.
                let n = high - low + 1.0 + f64::from(u8::from(*missing));
                let step = low + (random.random::<f64>() * n).floor();
                // The product may round up to `n`.
                match step > *high {
                    true if *missing => f64::NAN,
                    true => *high,
                    false => step,
                }
            }
            _ => f64::NAN,
        }
    }
}
