//! Numbers that rows have one by one, because they were blurred or drawn anew.
//!
//! # Guarantee
//! If within its blur every number of a row's domain was equally likely, it is known how
//! likely the true number is in a range (`law.rs`). Where the release lost nothing (ranges
//! that hold all a row can have, no noise) that is certain.
//!
//! *Why.* Along the columns noise does not depend on other columns, so a condition is cut
//! into combinations of ranges (`../../query/ranges.rs`) whose probabilities are products.
//! Turned noise mixes columns: there a fixed set of noises is taken from the published row,
//! and those within the domain are counted (`turned.rs`).
//!
//! Rows drawn anew stand for those of their group (`redrawn.rs`).
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

mod drawn;
pub(crate) mod law;
mod learned;
mod posterior;
mod redrawn;
mod turned;

pub(crate) use law::Over;
pub(crate) use learned::LearnedCuts;
pub(crate) use posterior::GridCells;
pub(crate) use redrawn::RedrawnGroup;
pub(crate) use turned::stretch;

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::estimate::evidence::Column;
use crate::estimate::evidence::lattice::Lattice;
use crate::estimate::laws::numbers::turned::Turned;
use crate::release::{
    Class, FRAME_COLUMN, GROUP_COLUMN, LEVEL_COLUMN, Layout, Parameters,
    PublishedColumn, Treatment,
};
use crate::space::{FrameKind, Shape};
use crate::table::{Kind, Numbers, Reading};

/// The numbers of a release, row by row.
#[derive(Debug)]
pub(crate) struct Blurred {
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
pub(crate) struct Placed<'a> {
    pub(crate) values: Vec<f64>,
    /// The axes of its noise, unless they are the columns.
    pub(crate) axes: Option<&'a [Vec<f64>]>,
    /// How wide its noise is along them.
    pub(crate) spreads: Vec<f64>,
}

/// The lowest and highest number of each column, in steps.
type Bounds = Vec<(f64, f64)>;

/// The columns of the data that rows have one by one: numbers with noise, numbers drawn anew,
/// and what says how they were made.
#[derive(Debug, Default)]
pub(crate) struct NumberColumns<'m> {
    columns: Vec<&'m PublishedColumn>,
    lattices: Vec<Lattice>,
    /// What their rows share, if there are any.
    class: Option<&'m Class>,
    /// Spreads, frames, levels or groups, in this order.
    aside: Vec<&'m str>,
}

impl<'m> NumberColumns<'m> {
    pub(crate) fn of(layout: Layout<'m>) -> Result<Self> {
        let (mut class, mut aside, mut told) = (None, Vec::new(), false);
        for other in layout.classes {
            match &other.parameters {
                Parameters::Frames { .. } | Parameters::Moments { .. } => {
                    if class.replace(other).is_some() {
                        let message = "numbers are both blurred and condensed";
                        return Err(Error::input(message));
                    }
                    aside.splice(0..0, other.column.as_deref());
                }
                Parameters::Levels => aside.extend(other.column.as_deref()),
                // A group that also tells values or distributions is a column like others.
                Parameters::Cells { .. } | Parameters::Values { .. } => told = true,
                Parameters::Subtables { .. } => {}
            }
        }
        let Some(class) = class else { return Ok(Self::default()) };
        if told && matches!(class.parameters, Parameters::Moments { .. }) {
            aside.clear();
        }
        let columns = class.of.iter().filter_map(|name| layout.column(name));
        let columns: Vec<&PublishedColumn> = columns.collect();
        let spreads = columns.iter().filter_map(|column| match &column.treatment {
            Treatment::Noisy { spread, .. } => spread.as_deref(),
            _ => None,
        });
        let aside = spreads.chain(aside).collect();
        let lattices = columns.iter().map(|column| {
            let lattice =
                |(decimals, domain)| Lattice::new(&column.name, decimals, domain);
            let sound = |lattice: &Lattice| {
                lattice.low <= lattice.high
                    && lattice.low.is_finite()
                    && lattice.high.is_finite()
            };
            let lattice = column.decimals.zip(column.span()).map(lattice).filter(sound);
            let empty =
                || Error::input(format!("`{}` has an empty domain", column.name));
            lattice.ok_or_else(empty)
        });
        let lattices = lattices.collect::<Result<_>>()?;
        Ok(Self { columns, lattices, class: Some(class), aside })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lattices.is_empty()
    }

    /// Whether a column of the data is one of them.
    pub(crate) fn has(&self, name: &str) -> bool {
        let own = self.lattices.iter().any(|lattice| lattice.name == name);
        own || self.aside.contains(&name)
    }

    /// The place of a column among those with numbers.
    pub(crate) fn place(&self, name: &str) -> usize {
        let place = self.lattices.iter().position(|lattice| lattice.name == name);
        place.expect("only columns of numbers are asked for")
    }

    /// What is read, and how.
    pub(crate) fn task(&self) -> Vec<(&'m str, Reading)> {
        let own = self.columns.iter().map(|column| {
            let reading = Reading { kind: Kind::Number, ..column.reading() };
            (column.name.as_str(), reading)
        });
        own.chain(self.aside.iter().map(|name| (*name, Reading::number()))).collect()
    }

    /// The numbers that were read, once they are found to fit their noise.
    pub(crate) fn numbers(
        self,
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
        let noise = match self.class {
            Some(class @ Class { parameters: Parameters::Frames { .. }, .. }) => {
                noise(&self.columns, class, &lattices, read)?
            }
            _ if self.aside.is_empty() => {
                let group = columns.iter().find(|column| column.name == GROUP_COLUMN);
                let group = group.ok_or("no column tells the groups")?;
                let of = |kind: &u32| group.codes[*kind as usize];
                let group_of = read.kinds.iter().map(of).collect();
                Noise::Anew { group_of, n_groups: group.texts.len() }
            }
            _ => groups(read, lattices.len())?,
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
    pub(crate) fn published(&self, column: usize) -> impl Iterator<Item = f64> {
        self.values.chunks_exact(self.lattices.len()).map(move |row| row[column])
    }

    /// Whether rows were drawn anew.
    pub(crate) fn is_anew(&self) -> bool {
        matches!(self.noise, Noise::Anew { .. })
    }

    /// The rows of each group that was drawn anew.
    pub(crate) fn groups(&self) -> Vec<Vec<usize>> {
        let Noise::Anew { group_of, n_groups } = &self.noise else { return Vec::new() };
        let mut groups = vec![Vec::new(); *n_groups];
        for (row, group) in group_of.iter().enumerate() {
            groups[*group as usize].push(row);
        }
        groups
    }

    /// The shape of the noise; nothing for rows that were drawn anew.
    pub(crate) fn shape(&self) -> Option<Shape> {
        match &self.noise {
            Noise::Straight { shape, .. } | Noise::Turned { shape, .. } => Some(*shape),
            Noise::Anew { .. } => None,
        }
    }

    /// The names of the columns.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.lattices.iter().map(|lattice| lattice.name.as_str())
    }

    /// The rows that have all numbers. Their spreads are at least a step: so far a number
    /// without noise stands for its neighbours.
    pub(crate) fn complete(&self) -> impl Iterator<Item = (usize, Placed<'_>)> {
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

    /// Which distinct row of the other columns each row has.
    pub(crate) fn kinds(&self) -> &[u32] {
        &self.kinds
    }

    /// Which distinct row of the other columns a row has.
    pub(crate) fn kind(&self, row: usize) -> usize {
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

/// The noise of each row: behind their numbers, rows have spreads, frame and level.
fn noise(
    columns: &[&PublishedColumn],
    class: &Class,
    lattices: &[Lattice],
    read: &Numbers,
) -> std::result::Result<Noise, String> {
    let (n_columns, n_rows) = (lattices.len(), read.n_rows);
    let (Parameters::Frames { frame, strict, frames, .. }, [first, ..]) =
        (&class.parameters, columns)
    else {
        return Err("there is no noise".to_owned());
    };
    let turned = *frame == FrameKind::Rotated;
    let Treatment::Noisy { shape, .. } = first.treatment else {
        return Err(format!("`{}` has no noise", first.name));
    };
    let told = |column: &&PublishedColumn| match &column.treatment {
        Treatment::Noisy { spread, .. } => spread.is_some() != turned,
        _ => false,
    };
    if *strict == frames.is_empty() || turned && !strict || !columns.iter().all(told) {
        return Err("the manifest's frames do not go with its `strict`".to_owned());
    }
    let frame_at = if turned { n_columns } else { 2 * n_columns };
    let frame_of: Vec<u32> = match class.column {
        Some(_) => places(read, frame_at, FRAME_COLUMN, &|_| frames.len())?,
        None => vec![0; n_rows],
    };
    if !turned {
        let mut spreads = Vec::with_capacity(n_rows * n_columns);
        for row in 0..n_rows {
            let steps = read.row(row)[n_columns..].iter().zip(lattices);
            spreads.extend(steps.map(|(spread, lattice)| spread * lattice.scale));
        }
        let mut boxes: Vec<Bounds> =
            frames.iter().map(|frame| bounds(lattices, &frame.part)).collect();
        if boxes.is_empty() {
            boxes.push(bounds(lattices, &BTreeMap::new()));
        }
        return Ok(Noise::Straight { shape, spreads, box_of: frame_of, boxes });
    }
    let frames = frames.iter().map(|frame| {
        let known = |column: &usize| !frame.missing.contains(&lattices[*column].name);
        let present: Vec<usize> = (0..n_columns).filter(known).collect();
        let bounds = bounds(lattices, &frame.part);
        Turned::new(shape, &present, frame, lattices, bounds)
    });
    let frames: Vec<Turned> =
        frames.collect::<Option<_>>().ok_or("a frame's axes do not fit its columns")?;
    let n_levels = |row: usize| frames[frame_of[row] as usize].n_levels();
    let level_at = n_columns + usize::from(class.column.is_some());
    let level_of = places(read, level_at, LEVEL_COLUMN, &n_levels)?;
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
        let number = read.row(row).get(at).copied().unwrap_or(f64::NAN);
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
