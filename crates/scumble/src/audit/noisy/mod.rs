//! Blurred numbers: who is published at which level, by the public rule, and whether the
//! noise is as stated.
//!
//! Who is at which level can be computed from the true table. The audit does so in code of
//! its own and compares; then it measures everybody's company, and whether published
//! numbers lie around the true ones as the stated noise would have them.

pub(crate) mod alike;
pub(crate) mod classes;
pub(crate) mod company;
pub(crate) mod guess;
pub(crate) mod law;
pub(crate) mod local;
pub(crate) mod loose;
pub(crate) mod matched;
pub(crate) mod measure;
pub(crate) mod noise;
pub(crate) mod peel;
pub(crate) mod ranked;
pub(crate) mod rows;
pub(crate) mod shape;

pub(crate) use alike::AlikeRows;
pub(crate) use classes::RowClasses;
pub(crate) use company::{Company, RowNeeds};
pub(crate) use guess::Guesses;
pub(crate) use law::{Axes, NoiseLaw};
pub(crate) use loose::LooseFindings;
pub(crate) use measure::MeasuredCompany;
pub(crate) use peel::Framed;
pub(crate) use ranked::RankAttacks;
pub(crate) use rows::NoisyRows;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::audit::Width;
use crate::audit::given::no_column;
use crate::error::{Error, Result};
use crate::release::{BlurNote, Manifest, PromiseNote};
use crate::table::{Numbers, Reading};
use crate::watch::Watch;

/// The promise of blurred numbers.
pub(crate) const PROMISE: &str = "expected-anonymity";

/// What the true numbers tell about a release.
#[derive(Debug)]
pub(crate) struct NoisyTruth {
    /// The standard deviations of the true columns.
    pub(crate) deviations: Vec<f64>,
    /// What was found.
    pub(crate) found: NoisyFindings,
}

/// What was found, by whether only rows of the same frame and level count.
#[derive(Debug)]
pub(crate) enum NoisyFindings {
    /// They do.
    Strict {
        /// Who is where, by the public rule.
        frames: Vec<Framed>,
        /// Everybody's company.
        measured: Box<MeasuredCompany>,
        /// Rows whose noise is not as stated.
        unlike: u64,
    },
    /// Every row has spreads of its own.
    Loose(Box<LooseFindings>),
}

impl NoisyTruth {
    /// Finds who is where. Fails if the release cannot be of this table.
    pub(crate) fn of(
        manifest: &Manifest,
        rows: &NoisyRows,
        numbers: &Numbers,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let (note, wish) = (&rows.note, noise_asked(manifest)?);
        check_columns(note, numbers)?;
        let mut numbers = numbers.clone();
        let decimals: Vec<u32> = note.columns.iter().map(|c| c.decimals).collect();
        numbers.snap(&decimals);
        let mut wishes = wish.of_rows(&numbers)?;
        level_wishes(&mut wishes, &numbers);
        if rows.n_rows() as u64 + manifest.left_out != numbers.n_rows as u64 {
            return Err(another_table());
        }
        let true_rows = (0..numbers.n_rows).map(|row| numbers.row(row));
        let deviations = variances(note.columns.len(), true_rows);
        let deviations = deviations.into_iter().map(f64::sqrt).collect();
        let readings = note
            .exact
            .iter()
            .map(|name| rows::published(manifest, name).map(|column| column.reading()));
        let readings: Vec<Reading> = readings.collect::<Result<_>>()?;
        if !note.strict {
            let rows = watch.over(rows);
            let found = loose::recheck(rows, &readings, &numbers, &wishes)?;
            let found = NoisyFindings::Loose(Box::new(found));
            return Ok(Self { deviations, found });
        }
        let (frames, _) = peel::peel(note, &readings, &numbers, &wishes, watch)?;
        let classes = rows.classes();
        let as_many = frames.iter().zip(&classes).all(|(frame, published)| {
            frame.levels.iter().map(Vec::len).eq(published.iter().map(Vec::len))
        });
        if !as_many {
            return Err(another_table());
        }
        let measured = Box::new(measure::measure(&frames, note.best_guess, watch));
        watch.check()?;
        let unlike = noise::unlike(&frames, &classes, watch.over(rows));
        watch.check()?;
        Ok(Self {
            deviations,
            found: NoisyFindings::Strict { frames, measured, unlike },
        })
    }
}

/// What the manifest says of columns must be true of the table's.
fn check_columns(note: &BlurNote, numbers: &Numbers) -> Result<()> {
    for (place, column) in note.columns.iter().enumerate() {
        let wrong = |what: &str| {
            Err(Error::input(format!(
                "{what} of `{}` is not true of this table",
                column.name
            ))
            .with_hint("give the same file it was made from"))
        };
        if column.decimals > numbers.decimals[place] {
            return wrong("the manifest's number of decimals");
        }
        let [low, high] = column.domain;
        let half = 0.5 * 10f64.powi(-(column.decimals as i32));
        let outside = |row: usize| {
            let value = numbers.row(row)[place];
            value < low - half || value > high + half
        };
        if (0..numbers.n_rows).any(outside) {
            return wrong("the manifest's domain");
        }
    }
    Ok(())
}

/// Among how many people everybody should be hidden.
#[derive(Debug)]
pub(crate) enum Wish<'a> {
    /// As many for everybody.
    Same(f64),
    /// As a column says.
    Column(&'a str),
}

/// What is promised of blurred numbers.
pub(crate) fn noise_asked(manifest: &Manifest) -> Result<Wish<'_>> {
    let of_noise = |note: &&PromiseNote| note.name == PROMISE;
    let promise = manifest.promises.iter().find(of_noise).ok_or_else(|| {
        Error::input("the manifest promises nothing of blurred numbers")
    })?;
    let wish = wish(&promise.asked)
        .ok_or_else(|| Error::input(format!("the manifest's {PROMISE} has no k")))?;
    let strict = promise.asked.get("strict").and_then(Value::as_bool);
    let guess = promise.asked.get("best-guess").and_then(Value::as_f64);
    match manifest.blur() {
        Some(note)
            if strict.unwrap_or(true) != note.strict || guess != note.best_guess =>
        {
            Err(Error::input(format!(
                "the manifest promises another {PROMISE} than its noise was made for"
            )))
        }
        _ => Ok(wish),
    }
}

impl Wish<'_> {
    /// What each row of the table asks for.
    fn of_rows(&self, numbers: &Numbers) -> Result<Vec<f64>> {
        match self {
            Self::Same(k) => Ok(vec![*k; numbers.n_rows]),
            Self::Column(name) if numbers.wishes.len() != numbers.n_rows => {
                Err(no_column("original", name))
            }
            Self::Column(_) => Ok(numbers.wishes.clone()),
        }
    }
}

/// Rows of a person with the same cells and numbers are one fact, which is published as the
/// largest of their wishes asks.
fn level_wishes(wishes: &mut [f64], numbers: &Numbers) {
    let Some(same) = numbers.same_of_person() else { return };
    let mut most: BTreeMap<u32, f64> = BTreeMap::new();
    for (first, wish) in same.iter().zip(&*wishes) {
        let known = most.entry(*first).or_insert(*wish);
        *known = known.max(*wish);
    }
    for (first, wish) in same.iter().zip(wishes) {
        *wish = most[first];
    }
}

/// The k of a promise.
pub(crate) fn wish(asked: &Value) -> Option<Wish<'_>> {
    match asked.get("k")? {
        Value::String(name) => Some(Wish::Column(name)),
        number => number.as_f64().filter(|k| *k >= 1.0).map(Wish::Same),
    }
}

impl NoisyRows {
    /// How wide the noise is beside the domain.
    pub(crate) fn widths(&self) -> Vec<Width> {
        let columns = &self.note.columns;
        let mut widths: Vec<Width> =
            columns.iter().map(|c| Width::new(&c.name)).collect();
        let wide = shape::of(self.note.shape).width();
        self.for_noise(|column, deviation| {
            let [low, high] = columns[column].domain;
            let share = if high > low { wide * deviation / (high - low) } else { 0.0 };
            widths[column].add(share, 1);
        });
        widths
    }

    /// The standard deviation of the noise on each column of each row that has it.
    fn for_noise(&self, mut each: impl FnMut(usize, f64)) {
        let straight = |row: usize| {
            let values = self.row(row);
            let columns = (0..values.len()).filter(|c| !values[*c].is_nan()).collect();
            Axes::straight(&self.note, columns)
        };
        let mut known: BTreeMap<(u32, u32), Vec<(usize, f64)>> = BTreeMap::new();
        for row in 0..self.n_rows() {
            let on_columns = |axes: &Axes, spreads: &[f64]| {
                axes.columns.iter().copied().zip(axes.deviations(spreads)).collect()
            };
            let place = (self.frames[row], self.levels[row]);
            let found = match self.note.strict {
                true => known.entry(place).or_insert_with(|| {
                    let frame = &self.note.frames[place.0 as usize];
                    let axes = Axes::of(&self.note, frame);
                    let axes = axes.unwrap_or_else(|_| straight(row));
                    on_columns(&axes, &frame.levels[place.1 as usize])
                }),
                false => {
                    let (axes, all) = (straight(row), self.spreads(row));
                    let spreads: Vec<f64> =
                        axes.columns.iter().map(|column| all[*column]).collect();
                    &mut on_columns(&axes, &spreads)
                }
            };
            for (column, deviation) in found {
                each(*column, *deviation);
            }
        }
    }

    /// How wide the noise is on average, in standard deviations of the columns.
    pub(crate) fn spread(&self, deviations: &[f64]) -> f64 {
        let (mut sum, mut n) = (0.0, 0u64);
        self.for_noise(|column, deviation| {
            n += 1;
            // A column that says nothing loses nothing.
            if deviations[column] > 0.0 {
                sum += deviation / deviations[column];
            }
        });
        sum / n.max(1) as f64
    }

    /// The deviations of the true columns, as far as published numbers tell: their variance
    /// without that of the noise.
    pub(crate) fn published_deviations(&self) -> Vec<f64> {
        let n_columns = self.note.columns.len();
        let mut noise = vec![(0.0, 0.0); n_columns];
        self.for_noise(|column, deviation| {
            noise[column].0 += 1.0;
            noise[column].1 += deviation * deviation;
        });
        let rows = 0..self.n_rows();
        let variances = variances(n_columns, rows.map(|row| self.row(row)));
        let pairs = variances.iter().zip(noise);
        pairs
            .map(|(all, (n, sum))| (all - sum / f64::max(n, 1.0)).max(0.0).sqrt())
            .collect()
    }
}

/// The variance of each column, missing numbers left aside.
pub(crate) fn variances<'a>(
    n_columns: usize,
    rows: impl Iterator<Item = &'a [f64]> + Clone,
) -> Vec<f64> {
    let column = |column: usize| {
        let numbers = rows.clone().map(move |row| row[column]);
        let numbers = numbers.filter(|value| !value.is_nan());
        let (n, sum) =
            numbers.clone().fold((0.0, 0.0), |(n, sum), v| (n + 1.0, sum + v));
        let mean = sum / f64::max(n, 1.0);
        numbers.map(|value| (value - mean).powi(2)).sum::<f64>() / f64::max(n, 1.0)
    };
    (0..n_columns).map(column).collect()
}

/// A number with few digits, not above it: all of them would be somebody's.
pub(crate) fn shortened(number: f64, parts: f64) -> f64 {
    (number * parts).floor() / parts
}

/// That the classes are not those of the table.
pub(crate) fn another_table() -> Error {
    Error::input("the release is not of this table, or not made by its own rule")
        .with_hint("give the same file it was made from")
}
