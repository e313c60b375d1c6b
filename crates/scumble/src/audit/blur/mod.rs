//! Blurred numbers: the promise rechecked by the public rule, the noise looked for, attacks.
//!
//! Who is at which level can be computed from the true table. The audit does so in code of
//! its own and compares; then it measures everybody's company, and whether published
//! numbers lie around the true ones as the stated noise would have them.

mod attack;
mod company;
mod guess;
mod kind;
mod law;
mod local;
mod loose;
mod measure;
mod noise;
mod peel;
mod view;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::audit::blur::law::Axes;
use crate::audit::blur::view::View;
use crate::audit::{Checked, Report, Width};
use crate::error::{Error, Result};
use crate::release::{BlurNote, Manifest, Release};
use crate::space::Shape;
use crate::table::{Numbers, NumbersTask, Reading};

/// The promise of blurred numbers.
pub(super) const PROMISE: &str = "expected-anonymity";

/// What is said if published numbers are not around true ones as they should be.
const NOT_AS_STATED: &str = "the noise is not as stated";

/// How the numbers of the table a release was made from are to be read, from the manifest
/// alone; nothing if it has no blurred or condensed numbers.
pub fn original_numbers(manifest: &Manifest) -> Option<NumbersTask<'_>> {
    let (columns, exact) = match (&manifest.blur, &manifest.condensed) {
        (Some(note), _) => (&note.columns, &note.exact),
        (_, Some(note)) => (&note.columns, &note.exact),
        _ => return None,
    };
    let reading = |name: &str, or: Reading| {
        let column = manifest.columns.iter().find(|column| column.name == name);
        column.map_or(or, |column| column.reading())
    };
    let wish = manifest.promises.iter().find_map(|note| note.asked.get("k")?.as_str());
    Some(NumbersTask {
        numbers: columns
            .iter()
            .map(|column| (&*column.name, reading(&column.name, Reading::number())))
            .collect(),
        exact: exact
            .iter()
            .map(|name| (&**name, reading(name, Reading::category())))
            .collect(),
        wish,
    })
}

/// Audits a blurred release: as the auditor can, and what of it can be published.
pub(super) fn audit(
    release: &Release,
    note: &BlurNote,
    numbers: Option<&Numbers>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(Report, Report)> {
    let manifest = &release.manifest;
    let view = View::read(release, note, progress)?;
    let asked = Asked::of(manifest)?;
    let seen = Seen { manifest, note, view };
    match numbers {
        None => seen.alone(&asked).map(|report| (report.clone(), report)),
        Some(numbers) => {
            check_columns(note, numbers)?;
            let mut numbers = numbers.clone();
            let decimals: Vec<u32> = note.columns.iter().map(|c| c.decimals).collect();
            numbers.snap(&decimals);
            seen.with(&asked, &numbers)
        }
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
pub(super) enum Wish<'a> {
    /// As many for everybody.
    Same(f64),
    /// As a column says.
    Column(&'a str),
}

/// What is promised.
#[derive(Debug)]
struct Asked<'a> {
    wish: Wish<'a>,
    value: &'a Value,
}

impl<'a> Asked<'a> {
    fn of(manifest: &'a Manifest) -> Result<Self> {
        let [promise] = &*manifest.promises else {
            return Err(Error::input(
                "a release with blurred numbers makes one promise, but the manifest has \
                 another number of them",
            ));
        };
        if promise.name != PROMISE {
            return Err(Error::input(format!(
                "the manifest promises {} of blurred numbers",
                promise.name
            )));
        }
        let wish = wish(&promise.asked).ok_or_else(|| {
            Error::input(format!("the manifest's {PROMISE} has no k"))
        })?;
        let strict = promise.asked.get("strict").and_then(Value::as_bool);
        let guess = promise.asked.get("best-guess").and_then(Value::as_f64);
        if let Some(note) = &manifest.blur
            && (strict.unwrap_or(true) != note.strict || guess != note.best_guess)
        {
            return Err(Error::input(format!(
                "the manifest promises another {PROMISE} than its noise was made for"
            )));
        }
        Ok(Self { wish, value: &promise.asked })
    }

    /// What each row of the table asks for.
    fn wishes(&self, numbers: &Numbers) -> Result<Vec<f64>> {
        match self.wish {
            Wish::Same(k) => Ok(vec![k; numbers.n_rows]),
            Wish::Column(name) if numbers.wishes.len() != numbers.n_rows => {
                Err(crate::audit::original::no_column("original", name))
            }
            Wish::Column(_) => Ok(numbers.wishes.clone()),
        }
    }
}

/// The k of a promise.
pub(super) fn wish(asked: &Value) -> Option<Wish<'_>> {
    match asked.get("k")? {
        Value::String(name) => Some(Wish::Column(name)),
        number => number.as_f64().filter(|k| *k >= 1.0).map(Wish::Same),
    }
}

/// A release and what its files say.
struct Seen<'a> {
    manifest: &'a Manifest,
    note: &'a BlurNote,
    view: View<'a>,
}

impl Seen<'_> {
    /// Without the table only that a promise is broken can be seen, not that it holds.
    fn alone(&self, asked: &Asked<'_>) -> Result<Report> {
        let sizes = self.view.classes().into_iter().flatten();
        let sizes: Vec<usize> =
            sizes.map(|rows| rows.len()).filter(|n| *n > 0).collect();
        let smallest = sizes.iter().min().copied().unwrap_or(0);
        match asked.wish {
            Wish::Same(k) if self.note.strict && (smallest as f64) < k => {
                let failing = sizes.iter().filter(|n| (**n as f64) < k).sum::<usize>();
                let promise = Checked {
                    name: PROMISE.to_owned(),
                    asked: asked.value.clone(),
                    measured: json!({ "k": smallest, "levels": sizes.len() }),
                    holds: false,
                    rows_at_risk: failing as u64,
                };
                Ok(self.report(vec![promise], self.published_deviations()))
            }
            _ => Err(Error::input(format!(
                "{PROMISE} cannot be rechecked without the original"
            ))
            .with_hint("give it with `--original FILE`")),
        }
    }

    /// With the table.
    fn with(&self, asked: &Asked<'_>, numbers: &Numbers) -> Result<(Report, Report)> {
        let wishes = asked.wishes(numbers)?;
        let left_out = self.manifest.left_out;
        if self.view.n_rows() as u64 + left_out != numbers.n_rows as u64 {
            return Err(another_table());
        }
        let deviations = true_deviations(self.note, numbers);
        let readings = self.note.exact.iter().map(|name| {
            view::published(self.manifest, name).map(|column| column.reading())
        });
        let readings: Vec<Reading> = readings.collect::<Result<_>>()?;
        if !self.note.strict {
            return self.loose(asked, &readings, numbers, (&wishes, deviations));
        }
        let (frames, _) = peel::peel(self.note, &readings, numbers, &wishes)?;
        let classes = self.view.classes();
        let as_many = frames.iter().zip(&classes).all(|(frame, published)| {
            frame.levels.iter().map(Vec::len).eq(published.iter().map(Vec::len))
        });
        if !as_many {
            return Err(another_table());
        }
        let promised = self.note.best_guess;
        let measured = measure::measure(&frames, promised);
        let unlike = noise::unlike(&frames, &classes, &self.view);
        let mut found = json!({
            "k": shortened(measured.smallest, 1000.0),
            "mean": shortened(measured.mean, 10.0),
            "levels": measured.classes,
            "counted": if measured.all { "all company" } else { "company within reach" },
        });
        let mut holds = measured.at_risk == 0 && unlike == 0;
        if let Some(bound) = promised {
            found["best-guess"] = measured.best_guess.into();
            holds &= measured.best_guess <= bound;
        }
        if unlike > 0 {
            found["noise"] = NOT_AS_STATED.into();
        }
        let promise = Checked {
            name: PROMISE.to_owned(),
            asked: asked.value.clone(),
            measured: found,
            holds,
            rows_at_risk: measured.at_risk.max(unlike),
        };
        let promises = vec![promise];
        let mut report = self.report(promises, deviations);
        report.risks.push(measured.risk.clone());
        let public = report.clone();
        report.attacks.extend(attack::drawn(&frames, &measured));
        Ok((report, public))
    }

    /// With the table, and every row with spreads of its own.
    fn loose(
        &self,
        asked: &Asked<'_>,
        readings: &[Reading],
        numbers: &Numbers,
        (wishes, deviations): (&[f64], Vec<f64>),
    ) -> Result<(Report, Report)> {
        let found = loose::recheck(&self.view, readings, numbers, wishes)?;
        let mut measured = json!({
            "k": shortened(found.smallest, 1000.0),
            "strict": false,
            "counted": if found.sampled { "a sample" } else { "all company" },
        });
        let mut failing = found.at_risk;
        if !found.noise_fits {
            measured["noise"] = NOT_AS_STATED.into();
            failing = self.view.n_rows() as u64;
        }
        let promises = vec![Checked {
            name: PROMISE.to_owned(),
            asked: asked.value.clone(),
            measured,
            holds: failing == 0,
            rows_at_risk: failing,
        }];
        let mut report = self.report(promises, deviations);
        report.attacks.push(found.attack);
        // Such a release is for comparison only, and its page must say why.
        Ok((report.clone(), report))
    }

    /// What anybody can say, given the deviations of the true columns.
    fn report(&self, promises: Vec<Checked>, deviations: Vec<f64>) -> Report {
        let rows = self.view.n_rows() as u64;
        let attacks = match self.note.strict {
            true => {
                let classes = self.view.classes();
                vec![attack::calibration(&classes, rows, self.manifest.left_out)]
            }
            false => Vec::new(),
        };
        let loss = BTreeMap::from([("spread".to_owned(), self.spread(&deviations))]);
        let (group_sizes, risks) = (Vec::new(), Vec::new());
        let widths = self.widths();
        Report { rows, promises, attacks, loss, group_sizes, risks, widths }
    }

    /// How wide the noise is beside the domain: the side of its box, or what has 95 of 100
    /// draws of normal noise.
    fn widths(&self) -> Vec<Width> {
        let columns = &self.note.columns;
        let mut widths: Vec<Width> =
            columns.iter().map(|c| Width::new(&c.name)).collect();
        let wide = match self.note.shape {
            Shape::Uniform => 12f64.sqrt(),
            Shape::Gaussian => 2.0 * 1.96,
        };
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
            let values = self.view.row(row);
            let columns = (0..values.len()).filter(|c| !values[*c].is_nan()).collect();
            Axes::straight(self.note, columns)
        };
        let mut known: BTreeMap<(u32, u32), Vec<(usize, f64)>> = BTreeMap::new();
        for row in 0..self.view.n_rows() {
            let axes = if self.note.strict {
                let place = (self.view.frames[row], self.view.levels[row]);
                let found = known.entry(place).or_insert_with(|| {
                    let frame = &self.note.frames[place.0 as usize];
                    let spreads = &frame.levels[place.1 as usize];
                    let axes = Axes::of(self.note, frame);
                    let axes = axes.unwrap_or_else(|_| straight(row));
                    axes.columns.iter().copied().zip(axes.deviations(spreads)).collect()
                });
                found.clone()
            } else {
                let axes = straight(row);
                let all = self.view.spreads(row);
                let spreads: Vec<f64> = axes.columns.iter().map(|c| all[*c]).collect();
                axes.columns.iter().copied().zip(axes.deviations(&spreads)).collect()
            };
            for (column, deviation) in axes {
                each(column, deviation);
            }
        }
    }

    /// How wide the noise is on average, in standard deviations of the columns.
    fn spread(&self, deviations: &[f64]) -> f64 {
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
    fn published_deviations(&self) -> Vec<f64> {
        let n_columns = self.note.columns.len();
        let mut noise = vec![(0.0, 0.0); n_columns];
        self.for_noise(|column, deviation| {
            noise[column].0 += 1.0;
            noise[column].1 += deviation * deviation;
        });
        let rows = 0..self.view.n_rows();
        let variances = variances(n_columns, rows.map(|row| self.view.row(row)));
        let pairs = variances.iter().zip(noise);
        pairs
            .map(|(all, (n, sum))| (all - sum / f64::max(n, 1.0)).max(0.0).sqrt())
            .collect()
    }
}

/// The standard deviations of the true columns.
fn true_deviations(note: &BlurNote, numbers: &Numbers) -> Vec<f64> {
    let rows = (0..numbers.n_rows).map(|row| numbers.row(row));
    variances(note.columns.len(), rows).into_iter().map(f64::sqrt).collect()
}

/// The variance of each column, missing numbers left aside.
fn variances<'a>(
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
fn shortened(number: f64, parts: f64) -> f64 {
    (number * parts).floor() / parts
}

/// That the classes are not those of the table.
fn another_table() -> Error {
    Error::input("the release is not of this table, or not made by its own rule")
        .with_hint("give the same file it was made from")
}
