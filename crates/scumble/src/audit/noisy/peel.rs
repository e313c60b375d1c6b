//! Who is published how, by the public rule: frames, and levels within a frame.
//!
//! Anybody with the true table can do this. That the published classes have as many rows
//! as the rule says is what ties a release to its table.

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::audit::given::canonical_number;
use crate::audit::noisy::law::Tails;
use crate::audit::noisy::{Axes, Company, Guesses, NoiseLaw, RowNeeds};
use crate::error::{Error, Result};
use crate::release::{BlurNote, FrameNote};
use crate::table::{Numbers, Reading};
use crate::watch::Watch;

/// A row must have a little more company than is promised, so that no promise rests on
/// rounding. Part of the rule.
pub(crate) const MARGIN: f64 = 1.0 + 1e-9;

/// The rule bounds the best guess by this part of what is promised: the rest is for the
/// error of the quadrature.
pub(crate) const GUESS_MARGIN: f64 = 0.9;

/// The true rows of a frame, and at which level each is.
#[derive(Debug)]
pub(crate) struct Framed {
    /// Its axes.
    pub(crate) axes: Axes,
    /// The rows of the table.
    pub(crate) rows: Vec<u32>,
    /// Coordinates along the axes, row after row.
    pub(crate) coordinates: Vec<f64>,
    /// How many people each row must be hidden among.
    pub(crate) wishes: Vec<f64>,
    /// Whose each row is; empty if nobody of the table has several.
    pub(crate) persons: Vec<u32>,
    /// The law of each level.
    pub(crate) laws: Vec<NoiseLaw>,
    /// The rows of the frame at each level.
    pub(crate) levels: Vec<Vec<u32>>,
}

impl Framed {
    /// The rows at one level, as companies.
    pub(crate) fn companies(&self, level: usize) -> Vec<Company<'_>> {
        Company::all(&self.laws[level], &self.levels[level], self, 0.0)
    }

    /// The coordinates of a row of the frame.
    pub(crate) fn at(&self, row: u32) -> &[f64] {
        let dims = self.axes.dims();
        &self.coordinates[row as usize * dims..][..dims]
    }

    /// Puts every row at the first level where it is hidden well enough.
    fn peel(&mut self, best_guess: Option<(f64, &Guesses)>, watch: &dyn Watch) {
        let needs: Vec<f64> = self.wishes.iter().map(|k| k * MARGIN).collect();
        let least = needs.iter().copied().fold(f64::INFINITY, f64::min);
        let mut unplaced: Vec<u32> = (0..self.rows.len() as u32).collect();
        let mut levels = Vec::new();
        for law in &self.laws {
            if watch.is_cancelled() {
                return;
            }
            let tails = Tails::new(law.reach() + 0.1);
            let needs = RowNeeds { company: &needs, best_guess, watch };
            let companies = Company::all(law, &unplaced, self, least);
            let mut placed: Vec<u32> = companies
                .into_par_iter()
                .flat_map_iter(|mut company| company.settle(needs, &tails))
                .collect();
            placed.sort_unstable();
            unplaced.retain(|row| placed.binary_search(row).is_err());
            levels.push(placed);
        }
        self.levels = levels;
    }

    /// For each level its people, and how many rows each has there.
    pub(crate) fn people_of_levels(&self) -> Vec<HashMap<u32, u64>> {
        let person = |row: &u32| self.persons.get(*row as usize).copied();
        let level = |rows: &Vec<u32>| {
            let mut people: HashMap<u32, u64> = HashMap::new();
            for row in rows {
                *people.entry(person(row).unwrap_or(*row)).or_default() += 1;
            }
            people
        };
        self.levels.iter().map(level).collect()
    }

    /// The most rows at a level that are one fact: the same numbers of a person, which are
    /// published with the same noise.
    pub(crate) fn most_alike(&self, level: usize) -> usize {
        if self.persons.is_empty() {
            return 1;
        }
        let mut rows: HashMap<(u32, Vec<u64>), usize> = HashMap::new();
        for row in &self.levels[level] {
            let bits = self.at(*row).iter().map(|x| (x + 0.0).to_bits()).collect();
            *rows.entry((self.persons[*row as usize], bits)).or_default() += 1;
        }
        rows.into_values().max().unwrap_or(1)
    }
}

/// The frames of a table, in the manifest's order, and how many rows none of them has.
pub(crate) fn peel(
    note: &BlurNote,
    readings: &[Reading],
    numbers: &Numbers,
    wishes: &[f64],
    watch: &dyn Watch,
) -> Result<(Vec<Framed>, u64)> {
    let (mut frames, outside) = divide(note, readings, numbers, wishes)?;
    let guesses = note.best_guess.map(|share| {
        (GUESS_MARGIN * share, Guesses::new(note.shape, note.columns.len()))
    });
    let best_guess = guesses.as_ref().map(|(share, guesses)| (*share, guesses));
    frames.par_iter_mut().for_each(|frame| frame.peel(best_guess, watch));
    watch.check()?;
    Ok((frames, outside))
}

/// Divides the rows of a table into frames.
fn divide(
    note: &BlurNote,
    readings: &[Reading],
    numbers: &Numbers,
    wishes: &[f64],
) -> Result<(Vec<Framed>, u64)> {
    let n_columns = note.columns.len();
    let mut frames = Vec::new();
    for frame in &note.frames {
        let axes = Axes::of(note, frame)?;
        let laws = frame.levels.iter().map(|spreads| axes.law(spreads)).collect();
        let (rows, coordinates, levels) = (Vec::new(), Vec::new(), Vec::new());
        let (wishes, persons) = (Vec::new(), Vec::new());
        frames.push(Framed { axes, rows, coordinates, wishes, persons, laws, levels });
    }
    let of_kind: Vec<Vec<usize>> = numbers
        .kind_cells
        .iter()
        .map(|cells| kind_frames(note, readings, cells))
        .collect();
    let missing: Vec<Vec<bool>> = note
        .frames
        .iter()
        .map(|frame| {
            note.columns.iter().map(|c| frame.missing.contains(&c.name)).collect()
        })
        .collect();
    let parts: Vec<Vec<(usize, [Option<f64>; 2])>> =
        note.frames.iter().map(|frame| part(note, frame)).collect();
    let mut outside = 0;
    for row in 0..numbers.n_rows {
        let values = &numbers.row(row)[..n_columns];
        let fits = |frame: &&usize| {
            let missing = missing[**frame].iter().zip(values);
            missing.fold(true, |all, (missing, v)| all && *missing == v.is_nan())
                && parts[**frame].iter().all(|(column, [low, high])| {
                    let value = values[*column];
                    low.is_none_or(|low| value >= low)
                        && high.is_none_or(|high| value < high)
                })
        };
        let mut fitting = of_kind[numbers.kinds[row] as usize].iter().filter(fits);
        let Some(number) = fitting.next() else {
            outside += 1;
            continue;
        };
        if let Some(second) = fitting.next() {
            return Err(Error::input(format!(
                "the manifest has frames {} and {} that a row is in both of",
                number + 1,
                second + 1
            )));
        }
        let frame = &mut frames[*number];
        frame.rows.push(row as u32);
        frame.wishes.push(wishes[row]);
        frame.persons.extend(numbers.persons.get(row));
        frame.axes.place(values, &mut frame.coordinates);
    }
    Ok((frames, outside))
}

/// The frames whose rows have these exact cells.
fn kind_frames(
    note: &BlurNote,
    readings: &[Reading],
    cells: &[Box<str>],
) -> Vec<usize> {
    let frames = || note.frames.iter().enumerate();
    let of = |same: &dyn Fn(&Reading, &str, &str) -> bool| -> Vec<usize> {
        let fits = |frame: &FrameNote| {
            let columns = note.exact.iter().zip(readings).zip(cells);
            columns.fold(true, |all, ((name, reading), cell)| {
                let known = frame.exact.get(name);
                all && known.is_some_and(|known| same(reading, known, cell))
            })
        };
        frames().filter(|(_, frame)| fits(frame)).map(|(number, _)| number).collect()
    };
    let found = of(&|_, known, cell| known == cell);
    if !found.is_empty() {
        return found;
    }
    // Dates and numbers may be written another way than in the table.
    of(&|reading, known, cell| {
        let published = Reading { date_format: None, ..reading.clone() };
        let cell = canonical_number(reading, cell);
        cell.is_some() && canonical_number(&published, known) == cell
    })
}

/// The limits of a frame, by column.
fn part(note: &BlurNote, frame: &FrameNote) -> Vec<(usize, [Option<f64>; 2])> {
    let place = |name: &String| note.columns.iter().position(|c| c.name == *name);
    let limits = frame.part.iter();
    limits.filter_map(|(name, ends)| Some((place(name)?, *ends))).collect()
}
