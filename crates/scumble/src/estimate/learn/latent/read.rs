//! What a release shows of the columns of its table, as likelihoods.
//!
//! # Guarantee
//! A cell that was made from the values of its group and reaches no further than they do, or
//! as far as a public grid allows, tells of its values only that they are in it: coarsening
//! can be ignored (`heitjan1991ignorability`). So can noise, and matrices.
//!
//! # Limits
//! Nodes of a hierarchy are wider than their group: what they cover beyond it is taken for
//! likely, and learning from them makes estimates worse. They stand for themselves here,
//! values that are known. So do cells of columns that are coarse as a whole: no row says what
//! is in them.

use hashbrown::HashMap;

use crate::error::Result;
use crate::estimate::evidence::cells::ColumnCells;
use crate::estimate::evidence::lattice::Lattice;
use crate::estimate::evidence::{Column, Evidence, Nature};
use crate::estimate::learn::latent::likelihood::{
    Likelihoods, ObservedColumn, OccupiedEnds,
};
use crate::estimate::learn::latent::margin::ColumnMargin;
use crate::estimate::learn::latent::windows::{CellWindows, of_numbers, of_words};
use crate::estimate::query::classes::refine;
use crate::hierarchy::{Cells as Form, Grid};
use crate::release::{Manifest, PublishedColumn, Treatment};
use crate::table::Kind;

/// Numbers of a column are one by one up to so many, and in bins if there are more.
const MOST_NUMBERS: f64 = 200.0;

/// So many bins, at most, beyond that.
const MOST_BINS: usize = 400;

/// Values of columns that stand as they are, up to so many; more numbers are in bins.
const MOST_VALUES: usize = 256;
const KEPT_BINS: usize = 64;

/// The most entries of all matrices of a randomized column that are looked at.
const MOST_ENTRIES: usize = 1 << 22;

/// How cells of a column came to be.
#[derive(Debug, Clone)]
pub(crate) enum Coarsening {
    /// The whole column is on one level.
    Levels,
    /// As tight as their group, or as a grid allows; if their ends are known to be occupied,
    /// the grid, if there is one.
    Tight(Option<Option<Grid>>),
    /// Nodes that may be wider than their group.
    Nodes,
    /// Distributions.
    Weights,
}

impl Coarsening {
    /// How the cells of a coarse or weighted column came to be.
    pub(crate) fn of(manifest: &Manifest, listed: &PublishedColumn) -> Self {
        // Cells are those of everyone who may be in the table.
        let of_population = manifest
            .promises
            .iter()
            .any(|promise| matches!(&*promise.name, "delta-presence" | "k-map"));
        match &listed.treatment {
            Treatment::Coarse { cells: Form::Interval | Form::Set, .. }
                if of_population
                    || manifest.method_of(&listed.name).name != "mondrian" =>
            {
                Self::Tight(None)
            }
            Treatment::Coarse { cells: Form::Interval, .. } => {
                Self::Tight(Some(listed.grid.clone()))
            }
            Treatment::Coarse { cells: Form::Set, .. } => Self::Tight(None),
            Treatment::Coarse { level: Some(_), .. } => Self::Levels,
            Treatment::Coarse { .. } => Self::Nodes,
            _ => Self::Weights,
        }
    }
}

/// A column that is learned from.
#[derive(Debug)]
pub(crate) struct LearnedColumn {
    /// Its place among the columns of the release.
    pub(crate) place: usize,
    pub(crate) values: LearnedValues,
    /// Its cells; those of numbers with noise are made for each row.
    pub(crate) observed: ObservedColumn,
    /// The cell of each distinct row of the release.
    pub(crate) cell_of: Vec<u32>,
    /// The published cell of each cell.
    pub(crate) codes: Vec<u32>,
}

/// What the values of a learned column are.
#[derive(Debug)]
pub(crate) enum LearnedValues {
    /// Those of its own that cells stand for, by code.
    Words,
    /// Stretches of numbers that cells stand for; then "not known".
    Numbers(Vec<(f64, f64)>),
    /// Stretches of numbers that have noise; then "not known".
    Noisy { number: usize, stretches: Vec<(f64, f64)> },
    /// What stands in the rows: values that are known, or a draw.
    Shown,
}

impl LearnedColumn {
    /// Whether what it has is open, and learned.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.values, LearnedValues::Shown)
    }
}

/// What is learned from.
#[derive(Debug)]
pub(crate) struct Readout {
    pub(crate) columns: Vec<LearnedColumn>,
    /// The group of each distinct row of the release.
    pub(crate) group_of: Vec<u32>,
    pub(crate) n_groups: usize,
}

impl Readout {
    /// What a release shows; nothing if nothing can be learned from it.
    pub(crate) fn of(evidence: &Evidence) -> Result<Option<Self>> {
        let open = evidence.table.iter().any(|place| evidence.is_learnable(*place));
        if !open || evidence.stands_for.is_some() {
            return Ok(None);
        }
        let n_entries = evidence.rows.len();
        let (mut group_of, mut n_groups) = (vec![0; n_entries], 1);
        let quasi = evidence.columns.iter().filter(|column| column.shared);
        for column in quasi.filter(|column| column.codes.len() == n_entries) {
            let cells = column.codes.iter().max().map_or(1, |most| *most as usize + 1);
            let labels: Vec<u32> = (0..cells as u32).collect();
            n_groups = refine(&mut group_of, n_groups, &column.codes, &labels, cells);
        }
        let mut sizes = vec![0.0; n_groups];
        for (group, rows) in group_of.iter().zip(&evidence.rows) {
            sizes[*group as usize] += *rows as f64;
        }
        let mut columns = Vec::new();
        for place in &evidence.table {
            let (place, column) = (*place, &evidence.columns[*place]);
            columns.extend(match column.nature {
                Nature::Kept => shown(place, column),
                Nature::Drawn(noise, 0) => drawn(evidence, place, noise),
                Nature::Coarse(number) => match &evidence.coarsened[number] {
                    Coarsening::Tight(ends) => {
                        let own = Coarse {
                            place,
                            column,
                            cells: &evidence.cells[number],
                            ends,
                            margin: evidence.margin(&column.name),
                        };
                        Some(own.read(&group_of, &sizes))
                    }
                    Coarsening::Levels | Coarsening::Nodes => {
                        let n_cells = evidence.cells[number].texts.len();
                        Some(labelled(place, &column.codes, n_cells))
                    }
                    Coarsening::Weights => None,
                },
                Nature::Number(number) if evidence.is_learnable(place) => {
                    Some(noisy(evidence, place, number))
                }
                Nature::Number(_) | Nature::Apart | Nature::Drawn(..) => None,
            });
        }
        Ok(Some(Self { columns, group_of, n_groups }))
    }
}

impl Evidence {
    /// Whether what a column has is open, and can be learned from the release.
    pub(crate) fn is_learnable(&self, place: usize) -> bool {
        match self.columns[place].nature {
            Nature::Coarse(number) => {
                matches!(self.coarsened.get(number), Some(Coarsening::Tight(_)))
            }
            Nature::Number(_) => {
                self.blurred.as_ref().is_some_and(|blurred| blurred.is_straight())
            }
            Nature::Kept | Nature::Drawn(..) | Nature::Apart => false,
        }
    }
}

/// A column as it is shown; nothing if it has too many words, or one.
fn shown(place: usize, column: &Column) -> Option<LearnedColumn> {
    let n_values = column.texts.len();
    match n_values {
        0 | 1 => None,
        _ if n_values <= MOST_VALUES => Some(labelled(place, &column.codes, n_values)),
        _ if column.reading.kind == Kind::Category => None,
        _ => {
            // Codes are in the order of values.
            let bin = |code: &u32| *code * KEPT_BINS as u32 / n_values as u32;
            let bins: Vec<u32> = column.codes.iter().map(bin).collect();
            Some(labelled(place, &bins, KEPT_BINS))
        }
    }
}

/// A column in which every cell stands for itself.
fn labelled(place: usize, codes: &[u32], n_values: usize) -> LearnedColumn {
    let mut cells = Likelihoods::default();
    (0..n_values).for_each(|value| cells.push(value, [1.0].into_iter()));
    let even = vec![1.0 / n_values as f64; n_values];
    let observed = ObservedColumn { even, cells, ..ObservedColumn::default() };
    let (values, codes_of) = (LearnedValues::Shown, (0..n_values as u32).collect());
    LearnedColumn { place, values, observed, cell_of: codes.to_vec(), codes: codes_of }
}

/// A randomized column, or several that were randomized as one; nothing if that is too much.
fn drawn(evidence: &Evidence, place: usize, noise: usize) -> Option<LearnedColumn> {
    let noise = &evidence.noises[noise];
    let sizes = || noise.subtables.iter().map(|subtable| subtable.domain.len());
    if sizes().map(|size| size * size).sum::<usize>() > MOST_ENTRIES {
        return None;
    }
    let mut numbers: HashMap<&[u32], usize> = HashMap::new();
    for subtable in &noise.subtables {
        for value in &subtable.domain {
            let next = numbers.len();
            numbers.entry(value).or_insert(next);
        }
    }
    let (mut cells, mut starts) = (Likelihoods::default(), Vec::new());
    for subtable in &noise.subtables {
        starts.push(cells.len() as u32);
        for published in 0..subtable.domain.len() {
            let values = subtable.domain.iter().enumerate();
            let likely: Vec<(usize, f64)> = values
                .map(|(own, value)| {
                    let likely = subtable.channel.entry(published, own);
                    (numbers[value.as_slice()], likely)
                })
                .collect();
            cells.push_sparse(&likely);
        }
    }
    let pairs = noise.subtable_of.iter().zip(&noise.value_of);
    let cell_of = pairs.map(|(table, value)| starts[*table as usize] + value).collect();
    let even = vec![1.0 / numbers.len() as f64; numbers.len()];
    let codes = vec![0; cells.len()];
    let observed = ObservedColumn { even, cells, ..ObservedColumn::default() };
    Some(LearnedColumn {
        place,
        values: LearnedValues::Shown,
        observed,
        cell_of,
        codes,
    })
}

/// Numbers with noise, whose likelihoods are made row by row.
fn noisy(evidence: &Evidence, place: usize, number: usize) -> LearnedColumn {
    let lattice = evidence.lattice(number);
    let blurred =
        evidence.blurred.as_ref().expect("the column was read with its noise");
    let mut published: Vec<f64> =
        blurred.published(number).filter(|z| !z.is_nan()).collect();
    published.sort_by(f64::total_cmp);
    let quantile = |bin: usize| published[bin * published.len() / KEPT_BINS];
    let starts: Vec<f64> = match published.is_empty() {
        true => Vec::new(),
        false => (0..KEPT_BINS).map(quantile).collect(),
    };
    let stretches = cut(lattice, starts);
    let even = even_over(&stretches);
    let observed = ObservedColumn { even, ..ObservedColumn::default() };
    let values = LearnedValues::Noisy { number, stretches };
    LearnedColumn { place, values, observed, cell_of: Vec::new(), codes: Vec::new() }
}

/// The numbers of a lattice, one by one if they are few, else in stretches that begin there.
pub(super) fn cut(lattice: &Lattice, mut starts: Vec<f64>) -> Vec<(f64, f64)> {
    let n = lattice.high - lattice.low + 1.0;
    if n <= MOST_NUMBERS {
        let numbers = (0..n as u64).map(|step| lattice.low + step as f64);
        return numbers.map(|number| (number, number)).collect();
    }
    starts.push(lattice.low);
    starts.retain(|start| (lattice.low..=lattice.high).contains(start));
    starts.sort_by(f64::total_cmp);
    starts.dedup();
    if starts.len() > MOST_BINS {
        let step = starts.len().div_ceil(MOST_BINS);
        starts = starts.into_iter().step_by(step).collect();
    }
    let ends = starts[1..].iter().map(|next| next - 1.0).chain([lattice.high]);
    starts.iter().copied().zip(ends).collect()
}

/// Every number as likely, and "not known" as one more.
pub(super) fn even_over(stretches: &[(f64, f64)]) -> Vec<f64> {
    let widths = stretches.iter().map(|(low, high)| high - low + 1.0).chain([1.0]);
    let widths: Vec<f64> = widths.collect();
    let all: f64 = widths.iter().sum();
    widths.into_iter().map(|width| width / all).collect()
}

/// A column of cells that stand for several values.
struct Coarse<'a> {
    place: usize,
    column: &'a Column,
    cells: &'a ColumnCells,
    /// Whether both ends of cells are somebody's, and on which grid.
    ends: &'a Option<Option<Grid>>,
    /// How often its values occur, if the release says so.
    margin: Option<ColumnMargin<'a>>,
}

impl Coarse<'_> {
    fn read(&self, group_of: &[u32], sizes: &[f64]) -> LearnedColumn {
        let Self { column, cells: own, ends, .. } = *self;
        let (windows, margin) = match &own.lattice {
            None => {
                let n_values = column.texts.len();
                let margin = self.margin.as_ref().map(|own| own.of_words(n_values));
                (of_words(own, n_values), margin)
            }
            Some(lattice) => {
                let (windows, stretches) =
                    of_numbers(own, lattice, ends.as_ref(), self.margin.as_ref());
                let margin = self.margin.as_ref();
                (windows, margin.map(|own| own.of_stretches(&stretches)))
            }
        };
        coarse(self, windows, margin, group_of, sizes)
    }
}

/// What is learned of a column from its cells; where its shares are known, from these on.
fn coarse(
    own: &Coarse<'_>,
    windows: CellWindows,
    margin: Option<Vec<f64>>,
    group_of: &[u32],
    sizes: &[f64],
) -> LearnedColumn {
    let Coarse { place, column, ends, .. } = *own;
    let CellWindows { values, even, windows } = windows;
    let even = margin.clone().unwrap_or(even);
    // Groups of other sizes know something else of their ends.
    let known = |code: u32| ends.is_some() && windows[code as usize].2.is_some();
    let mut numbers: HashMap<(u32, u64), u32> = HashMap::new();
    let mut codes = Vec::new();
    let (mut cells, mut of_ends) = (Likelihoods::default(), Vec::new());
    let mut cell_of = Vec::with_capacity(column.codes.len());
    for (code, group) in column.codes.iter().zip(group_of) {
        let rows = if known(*code) { rung(sizes[*group as usize]) } else { 0.0 };
        let number = *numbers.entry((*code, rows.to_bits())).or_insert_with(|| {
            let (first, window, ends) = &windows[*code as usize];
            cells.push(*first, window.iter().copied());
            let ends = ends.filter(|_| known(*code));
            let ends = ends.map(|(first, last)| OccupiedEnds { rows, first, last });
            of_ends.push(ends);
            codes.push(*code);
            codes.len() as u32 - 1
        });
        cell_of.push(number);
    }
    let observed = ObservedColumn {
        even,
        cells,
        ends: of_ends,
        margin,
        ..ObservedColumn::default()
    };
    LearnedColumn { place, values, observed, cell_of, codes }
}

/// Sizes of groups that are told apart: all small ones.
fn rung(rows: f64) -> f64 {
    if rows <= 32.0 { rows } else { 1.25f64.powf(rows.log(1.25).round()).round() }
}
