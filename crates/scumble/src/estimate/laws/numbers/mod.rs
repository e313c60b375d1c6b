//! Counts, sums and means of the true table, estimated from numbers that were blurred or
//! drawn anew.
//!
//! # Guarantee
//! If within its blur every number of a row's domain was equally likely, every count is the
//! mean of the true count given the release, and its standard error is exact (`law.rs`).
//! Whatever the data, a sum or mean that no blurred column decides about is unbiased: noise
//! has mean nought, and its variance is known. Where the release lost nothing (conditions on
//! other columns, ranges that hold all a row can have, no noise) the answer is exact and its
//! error nought. The parts of `GROUP BY` add up to the whole.
//!
//! *Why.* Noise of a row does not depend on other rows, so variances add up. Along the
//! columns it does not depend on other columns either, so a condition is cut into
//! combinations of ranges (`../ranges.rs`) whose probabilities are products. Turned noise mixes
//! columns: there a fixed set of noises is taken from the published row, and those within
//! the domain are counted (`turned.rs`).
//!
//! Rows drawn anew stand for those of their group (`condensed.rs`).
//!
//! # Limits
//! The even prior is the whole of it: where data are much more concentrated than the blur,
//! counts are smeared towards even, and the error does not show it. Sums with conditions on
//! blurred columns rest on it, too. Intervals are normal: rough for a handful of rows.
//!
//! # Cost
//! One pass over the rows, with a few tails for every column asked about.
//!
//! # Source
//! `aggarwal2008unifying`, section 2.D; docs/methods.md,
//! "Counts from blurred numbers". Errors, sums and the lattice are ours.

mod condensed;
mod drawn;
mod law;
mod posterior;
mod turned;

pub(in crate::estimate) use law::Over;
pub(in crate::estimate) use posterior::Cells as PosteriorCells;
pub(in crate::estimate) use turned::stretch;

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::estimate::evidence::Column;
use crate::estimate::evidence::lattice::Lattice;
use crate::estimate::laws::numbers::turned::Turned;
use crate::release::{
    BlurNote, BlurredColumn, FRAME_COLUMN, GROUP_COLUMN, LEVEL_COLUMN, Manifest,
    Parameters, spread_column,
};
use crate::space::{FrameKind, Shape};
use crate::table::{Kind, Numbers, Reading};

/// The numbers of a release, row by row.
#[derive(Debug)]
pub(in crate::estimate) struct Blurred {
    lattices: Vec<Lattice>,
    /// Published numbers in steps, row after row; NaN where one is missing.
    values: Vec<f64>,
    /// Which distinct row of the other columns each has.
    kinds: Vec<u32>,
    noise: Noise,
}

/// What was done to numbers.
#[derive(Debug)]
enum Noise {
    /// Noise along the columns: the spread of each number in steps, and the box of each row.
    Straight { shape: Shape, spreads: Vec<f64>, box_of: Vec<u32>, boxes: Vec<Bounds> },
    /// Noise along other axes: the frame and the level of each row.
    Turned { shape: Shape, frame_of: Vec<u32>, level_of: Vec<u32>, frames: Vec<Turned> },
    /// Drawn anew: the group of each row, from 0.
    Anew { group_of: Vec<u32>, n_groups: usize },
}

/// A row in space, in the units of its columns.
#[derive(Debug)]
pub(in crate::estimate) struct Placed<'a> {
    pub(in crate::estimate) values: Vec<f64>,
    /// The axes of its noise, unless they are the columns.
    pub(in crate::estimate) axes: Option<&'a [Vec<f64>]>,
    /// How wide its noise is along them.
    pub(in crate::estimate) spreads: Vec<f64>,
}

/// The lowest and highest number of each column, in steps.
type Bounds = Vec<(f64, f64)>;

/// The columns of the data that rows have one by one: numbers with noise, numbers drawn anew,
/// and what says how they were made.
#[derive(Debug, Default)]
pub(in crate::estimate) struct NumberColumns {
    lattices: Vec<Lattice>,
    /// Spreads, levels, frames or groups, in this order.
    aside: Vec<String>,
}

impl NumberColumns {
    pub(in crate::estimate) fn of(manifest: &Manifest) -> Result<Self> {
        let (blur, anew) = (manifest.blur(), manifest.condensed());
        let (notes, aside) = match (&blur, &anew) {
            (None, None) => return Ok(Self::default()),
            (Some(note), None) => (&note.columns, asides(note)),
            (None, Some(note)) => (&note.columns, vec![GROUP_COLUMN.to_owned()]),
            (Some(_), Some(_)) => {
                return Err(Error::input("numbers are both blurred and condensed"));
            }
        };
        let lattice = |note: &BlurredColumn| {
            let lattice = Lattice::new(&note.name, note.decimals, note.domain);
            let sound = lattice.low <= lattice.high
                && lattice.low.is_finite()
                && lattice.high.is_finite();
            let empty = || Error::input(format!("`{}` has an empty domain", note.name));
            if sound { Ok(lattice) } else { Err(empty()) }
        };
        let lattices = notes.iter().map(lattice).collect::<Result<_>>()?;
        // A group that also tells values or distributions is a column like others.
        let told = manifest.classes.iter().any(|class| {
            let of_cells = matches!(
                class.parameters,
                Parameters::Cells { .. } | Parameters::Values { .. }
            );
            of_cells && anew.is_some()
        });
        Ok(Self { lattices, aside: if told { Vec::new() } else { aside } })
    }

    pub(in crate::estimate) fn is_empty(&self) -> bool {
        self.lattices.is_empty()
    }

    /// Whether a column of the data is one of them.
    pub(in crate::estimate) fn has(&self, name: &str) -> bool {
        let own = self.lattices.iter().any(|lattice| lattice.name == name);
        own || self.aside.iter().any(|other| other == name)
    }

    /// The place of a column among those with numbers.
    pub(in crate::estimate) fn place(&self, name: &str) -> usize {
        let place = self.lattices.iter().position(|lattice| lattice.name == name);
        place.expect("only columns of numbers are asked for")
    }

    /// What is read, and how.
    pub(in crate::estimate) fn task(
        &self,
        manifest: &Manifest,
    ) -> Vec<(&str, Reading)> {
        let number = |lattice: &Lattice| {
            let listed = manifest.column(&lattice.name);
            let reading = listed.map_or_else(Reading::category, |c| c.reading());
            Reading { kind: Kind::Number, ..reading }
        };
        let own = self.lattices.iter().map(|l| (l.name.as_str(), number(l)));
        let aside = self.aside.iter().map(|name| (name.as_str(), Reading::number()));
        own.chain(aside).collect()
    }

    /// The numbers that were read, once they are found to fit their noise.
    pub(in crate::estimate) fn numbers(
        self,
        manifest: &Manifest,
        read: &Numbers,
        columns: &[Column],
    ) -> std::result::Result<Blurred, String> {
        let lattices = self.lattices;
        let mut values = Vec::with_capacity(read.n_rows * lattices.len());
        for row in 0..read.n_rows {
            let steps = read.row(row).iter().zip(&lattices);
            values
                .extend(steps.map(|(value, lattice)| (value * lattice.scale).round()));
        }
        let noise = match &manifest.blur() {
            Some(note) => noise(note, &lattices, read)?,
            None if self.aside.is_empty() => {
                let group = columns.iter().find(|column| column.name == GROUP_COLUMN);
                let group = group.ok_or("no column tells the groups")?;
                let of = |kind: &u32| group.codes[*kind as usize];
                let group_of = read.kinds.iter().map(of).collect();
                Noise::Anew { group_of, n_groups: group.texts.len() }
            }
            None => groups(read, lattices.len())?,
        };
        let blurred = Blurred { lattices, values, kinds: read.kinds.clone(), noise };
        blurred.check()?;
        Ok(blurred)
    }
}

impl Blurred {
    /// The published numbers of a row, in steps.
    fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.lattices.len()..][..self.lattices.len()]
    }

    /// The published numbers of a column, in steps.
    pub(in crate::estimate) fn published(
        &self,
        column: usize,
    ) -> impl Iterator<Item = f64> {
        self.values.chunks_exact(self.lattices.len()).map(move |row| row[column])
    }

    /// Whether rows were drawn anew.
    pub(in crate::estimate) fn is_anew(&self) -> bool {
        matches!(self.noise, Noise::Anew { .. })
    }

    /// The shape of the noise; nothing for rows that were drawn anew.
    pub(in crate::estimate) fn shape(&self) -> Option<Shape> {
        match &self.noise {
            Noise::Straight { shape, .. } | Noise::Turned { shape, .. } => Some(*shape),
            Noise::Anew { .. } => None,
        }
    }

    /// The names of the columns.
    pub(in crate::estimate) fn names(&self) -> impl Iterator<Item = &str> {
        self.lattices.iter().map(|lattice| lattice.name.as_str())
    }

    /// The rows that have all numbers. Their spreads are at least a step: so far a number
    /// without noise stands for its neighbours.
    pub(in crate::estimate) fn complete(
        &self,
    ) -> impl Iterator<Item = (usize, Placed<'_>)> {
        let n_columns = self.lattices.len();
        let complete = (0..self.kinds.len())
            .filter(|row| !self.row(*row).iter().any(|z| z.is_nan()));
        complete.map(move |row| {
            let steps = self.row(row).iter().zip(&self.lattices);
            let values = steps.map(|(z, lattice)| z / lattice.scale).collect();
            let widest = self.lattices.iter().map(|lattice| 1.0 / lattice.scale);
            let widest = widest.fold(0.0, f64::max);
            let (axes, spreads) = match &self.noise {
                Noise::Straight { spreads, .. } => {
                    let own = spreads[row * n_columns..][..n_columns].iter();
                    let own = own.zip(&self.lattices);
                    (None, own.map(|(s, l)| s.max(1.0) / l.scale).collect())
                }
                Noise::Turned { frame_of, level_of, frames, .. } => {
                    let frame = &frames[frame_of[row] as usize];
                    let own = frame.spreads[level_of[row] as usize].iter();
                    let own = own.map(|s| if *s > 0.0 { *s } else { widest });
                    (Some(frame.axes.as_slice()), own.collect())
                }
                Noise::Anew { .. } => (None, vec![0.0; n_columns]),
            };
            (row, Placed { values, axes, spreads })
        })
    }

    /// Which distinct row of the other columns a row has.
    pub(in crate::estimate) fn kind(&self, row: usize) -> usize {
        self.kinds[row] as usize
    }

    /// That every number can come from its domain.
    fn check(&self) -> std::result::Result<(), String> {
        let Noise::Straight { shape, spreads, box_of, boxes } = &self.noise else {
            return Ok(());
        };
        let n_columns = self.lattices.len();
        let fault = |row: &usize| {
            let bounds = &boxes[box_of[*row] as usize];
            let spreads = &spreads[row * n_columns..][..n_columns];
            self.row(*row).iter().zip(spreads).zip(bounds).position(
                |((z, spread), bounds)| {
                    let mass = || law::over(*shape, *z, *spread, *bounds, false).mass;
                    !(z.is_nan() || *spread >= 0.0 && mass() > 0.0)
                },
            )
        };
        let rows = (0..self.kinds.len()).into_par_iter();
        match rows.find_map_first(|row| fault(&row).map(|column| (row, column))) {
            None => Ok(()),
            Some((row, column)) => Err(format!(
                "row {}: the noise of `{}` cannot lead from its domain to this number",
                row + 1,
                self.lattices[column].name
            )),
        }
    }
}

/// The columns that say how numbers were blurred.
fn asides(note: &BlurNote) -> Vec<String> {
    let turned = note.frame == FrameKind::Rotated;
    let mut names = Vec::new();
    if !turned {
        names.extend(note.columns.iter().map(|column| spread_column(&column.name)));
    }
    if note.strict {
        names.push(LEVEL_COLUMN.to_owned());
        if turned || note.frames.len() > 1 {
            names.push(FRAME_COLUMN.to_owned());
        }
    }
    names
}

/// The noise of each row.
fn noise(
    note: &BlurNote,
    lattices: &[Lattice],
    read: &Numbers,
) -> std::result::Result<Noise, String> {
    let n_columns = lattices.len();
    let (n_rows, shape) = (read.n_rows, note.shape);
    let turned = note.frame == FrameKind::Rotated;
    if note.strict == note.frames.is_empty() || turned && !note.strict {
        return Err("the manifest's frames do not go with its `strict`".to_owned());
    }
    let many = note.frames.len() > 1 || turned;
    let frame_at = n_columns + if turned { 1 } else { n_columns + 1 };
    let frame_of: Vec<u32> = if note.strict && many {
        places(read, frame_at, FRAME_COLUMN, &|_| note.frames.len())?
    } else {
        vec![0; n_rows]
    };
    if !turned {
        let mut spreads = Vec::with_capacity(n_rows * n_columns);
        for row in 0..n_rows {
            let steps = read.row(row)[n_columns..].iter().zip(lattices);
            spreads.extend(steps.map(|(spread, lattice)| spread * lattice.scale));
        }
        let mut boxes: Vec<Bounds> =
            note.frames.iter().map(|frame| bounds(lattices, &frame.part)).collect();
        if boxes.is_empty() {
            boxes.push(bounds(lattices, &BTreeMap::new()));
        }
        return Ok(Noise::Straight { shape, spreads, box_of: frame_of, boxes });
    }
    let frames = note.frames.iter().map(|frame| {
        let bounds = bounds(lattices, &frame.part);
        Turned::new(shape, &note.present(frame), frame, lattices, bounds)
    });
    let frames: Vec<Turned> =
        frames.collect::<Option<_>>().ok_or("a frame's axes do not fit its columns")?;
    let n_levels = |row: usize| frames[frame_of[row] as usize].n_levels();
    let level_of = places(read, n_columns, LEVEL_COLUMN, &n_levels)?;
    let fits =
        |row: usize| frames[frame_of[row] as usize].fits(&read.row(row)[..n_columns]);
    match (0..n_rows).find(|row| !fits(*row)) {
        Some(row) => {
            Err(format!("row {}: numbers are missing that its frame has", row + 1))
        }
        None => Ok(Noise::Turned { shape, frame_of, level_of, frames }),
    }
}

/// The groups of rows that were drawn anew.
fn groups(read: &Numbers, n_columns: usize) -> std::result::Result<Noise, String> {
    let group_of = places(read, n_columns, GROUP_COLUMN, &|_| u32::MAX as usize)?;
    // Numbers of groups need not be without gaps.
    let mut known = group_of.clone();
    known.sort_unstable();
    known.dedup();
    let place = |group: &u32| known.partition_point(|other| other < group) as u32;
    let n_groups = known.len();
    Ok(Noise::Anew { group_of: group_of.iter().map(place).collect(), n_groups })
}

/// Whole numbers from 1 to a limit, counted from 0.
fn places(
    read: &Numbers,
    at: usize,
    name: &str,
    limit: &dyn Fn(usize) -> usize,
) -> std::result::Result<Vec<u32>, String> {
    let place = |row: usize| {
        let number = read.row(row)[at];
        let known =
            number >= 1.0 && number <= limit(row) as f64 && number.fract() == 0.0;
        let wrong = || format!("row {}: no `{name}` has this number", row + 1);
        if known { Ok((number - 1.0) as u32) } else { Err(wrong()) }
    };
    (0..read.n_rows).map(place).collect()
}

/// Where the true numbers of a part of space may be.
fn bounds(lattices: &[Lattice], part: &BTreeMap<String, [Option<f64>; 2]>) -> Bounds {
    let bounds = |lattice: &Lattice| {
        let [from, below] = part.get(&lattice.name).copied().unwrap_or([None, None]);
        let low = from.map_or(lattice.low, |value| lattice.around(value).0 + 1.0);
        let high = below.map_or(lattice.high, |value| lattice.around(value).0);
        (low.max(lattice.low), high.min(lattice.high))
    };
    lattices.iter().map(bounds).collect()
}
