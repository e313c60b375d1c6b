//! What the rows of a release teach about each other: latent classes, within which columns are
//! independent.
//!
//! # Guarantee
//! Every published cell is a likelihood over the values of its column: 1 or 0 for cells that
//! stand for several values, a row of the matrix for drawn ones, the mass of the noise for
//! blurred numbers. A mixture of classes is fitted to all of them at once (`em.rs`), several
//! times, and a row counts with the mean over its classes and over these fits.
//! The same release gives the same mixtures.
//!
//! # Limits
//! A model: what depends on each other in more ways than classes can say is smoothed. Only
//! cells whose making can be ignored are learned from (`read.rs`). Tables of fewer than
//! [`LEAST_ROWS`] rows teach nothing.
//!
//! # Cost
//! Linear in distinct rows; classes are fitted to some ten thousand of them.
//!
//! # Source
//! docs/methods.md, "Learned estimates".

mod choose;
pub(crate) mod em;
#[cfg(test)]
mod em_tests;
pub(crate) mod likelihood;
mod margin;
pub(crate) mod read;
mod smoothing;
mod windows;

use rand::RngExt;
use rayon::prelude::*;

use crate::error::Result;
use crate::estimate::evidence::Evidence;
use crate::estimate::learn::latent::choose::{choose, fit, stream};
use crate::estimate::learn::latent::em::{CellTable, Mixture, normalized};
use crate::estimate::learn::latent::likelihood::{
    Likelihoods, Observed, ObservedColumn,
};
use crate::estimate::learn::latent::read::{LearnedColumn, LearnedValues, Readout};
use crate::estimate::model::Model;
use crate::estimate::query::classes::refine;
use crate::watch::Watch;

/// Smaller tables teach nothing that is worth it.
const LEAST_ROWS: f64 = 500.0;

/// Distinct rows that a mixture is fitted to.
const MOST_FITTED: usize = 40_000;

/// So many fits, each to other weights of the rows: what they differ by is open.
const FITS: usize = 4;

/// Numbers that are remembered of all rows.
const MOST_REMEMBERED: usize = 1 << 26;

/// Rows that are looked at at once.
const BLOCK: usize = 1 << 10;

/// What was learned from a release.
#[derive(Debug)]
pub(crate) struct Learned {
    pub(crate) columns: Vec<LearnedColumn>,
    /// The fits, which have equally many classes.
    pub(crate) fits: Vec<Mixture>,
    /// For each distinct row of the release, the number of what is told apart.
    pattern_of: Vec<u32>,
    /// How likely each of these is of each class: for each fit its classes, which add up to 1.
    of_patterns: Vec<f32>,
    /// The same of each row that has numbers of its own.
    of_rows: Vec<f32>,
}

impl Learned {
    /// What a release teaches; nothing if it does not.
    pub(crate) fn of(evidence: &Evidence, watch: &dyn Watch) -> Result<Option<Self>> {
        if evidence.rows.iter().sum::<u64>() < LEAST_ROWS as u64 {
            return Ok(None);
        }
        let Some(readout) = Readout::of(evidence)? else { return Ok(None) };
        let noisy = readout.has_noise();
        let patterns = match noisy {
            true => Patterns::of_rows(evidence),
            false => Patterns::of_cells(evidence, &readout),
        };
        let observed = readout.observed(evidence, &patterns, watch)?;
        let choice = choose(&observed, watch)?;
        let remembered =
            MOST_REMEMBERED / (patterns.rows.len() * choice.classes).max(1);
        let n_fits = if choice.steps == 0 { 1 } else { FITS.min(remembered).max(2) };
        let fits =
            (0..n_fits as u64).map(|number| fit(&observed, choice, number, watch));
        let fits: Vec<Mixture> = fits.collect::<Result<_>>()?;
        Self::new(evidence, readout, &patterns, fits, watch).map(Some)
    }

    /// With given mixtures.
    fn new(
        evidence: &Evidence,
        readout: Readout,
        patterns: &Patterns,
        fits: Vec<Mixture>,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let tables: Vec<Vec<CellTable>> =
            fits.iter().map(|fit| readout.tables(fit)).collect();
        let n: usize = fits.iter().map(Mixture::n_classes).sum();
        let mut of_classes = vec![0f32; patterns.rows.len() * n];
        let blocks = of_classes.par_chunks_mut(BLOCK * n).enumerate();
        let done: Result<Vec<()>> = blocks
            .map(|(block, of_classes)| {
                watch.check()?;
                let mut scratch = Vec::new();
                let rows = of_classes.chunks_exact_mut(n).zip(block * BLOCK..);
                for (of_row, pattern) in rows {
                    let entry = patterns.entry_of[pattern] as usize;
                    let mut start = 0;
                    for (fit, tables) in fits.iter().zip(&tables) {
                        let own = fit.n_classes();
                        let shares = readout.classes(
                            evidence,
                            (fit, tables),
                            (entry, pattern),
                            &mut scratch,
                        );
                        let to = &mut of_row[start..start + own];
                        to.iter_mut()
                            .zip(&shares)
                            .for_each(|(to, own)| *to = *own as f32);
                        start += own;
                    }
                }
                Ok(())
            })
            .collect();
        done?;
        let columns = readout.columns;
        if !patterns.own_numbers {
            let (pattern_of, of_rows) = (patterns.pattern_of.clone(), Vec::new());
            let of_patterns = of_classes;
            return Ok(Self { columns, fits, pattern_of, of_patterns, of_rows });
        }
        // Of rows that differ in their numbers alone, the mean.
        let mut of_patterns = vec![0f32; evidence.rows.len() * n];
        for (of_row, entry) in of_classes.chunks_exact(n).zip(&patterns.entry_of) {
            let rows = evidence.rows[*entry as usize] as f32;
            let to = of_patterns[*entry as usize * n..][..n].iter_mut();
            to.zip(of_row).for_each(|(to, own)| *to += own / rows);
        }
        let pattern_of = (0..evidence.rows.len() as u32).collect();
        Ok(Self { columns, fits, pattern_of, of_patterns, of_rows: of_classes })
    }

    /// Nothing but that every value of a column is as likely.
    #[cfg(test)]
    fn even(evidence: &Evidence, watch: &dyn Watch) -> Result<Option<Self>> {
        let Some(readout) = Readout::of(evidence)? else { return Ok(None) };
        let patterns = match readout.has_noise() {
            true => Patterns::of_rows(evidence),
            false => Patterns::of_cells(evidence, &readout),
        };
        let observed = readout.observed(evidence, &patterns, watch)?;
        let fits = vec![Mixture::even(&observed)];
        Self::new(evidence, readout, &patterns, fits, watch).map(Some)
    }

    /// The learned column at a place of the release, if what it has is open.
    pub(crate) fn column(&self, place: usize) -> Option<usize> {
        self.columns.iter().position(|own| own.place == place && own.is_open())
    }

    /// How many classes all fits have.
    pub(crate) fn n_classes(&self) -> usize {
        self.fits.iter().map(Mixture::n_classes).sum()
    }

    /// How likely a distinct row of the release is of each class of each fit.
    pub(crate) fn classes_of_entry(&self, entry: usize) -> &[f32] {
        let n = self.n_classes();
        &self.of_patterns[self.pattern_of[entry] as usize * n..][..n]
    }

    /// The same of a row that has its own numbers.
    pub(crate) fn classes_of_row(&self, row: usize) -> &[f32] {
        let n = self.n_classes();
        &self.of_rows[row * n..][..n]
    }

    /// For each value of a cell, its place in the window and how likely it is in each class of
    /// each fit, which `see` is shown. They do not add up to 1.
    pub(crate) fn values_of_cell(
        &self,
        column: usize,
        cell: usize,
        mut see: impl FnMut(usize, &[f64]),
    ) {
        let observed = &self.columns[column].observed;
        let (first, window) = observed.cells.window(cell);
        let mut likely = Vec::with_capacity(self.n_classes());
        for (place, weight) in window.iter().enumerate() {
            if *weight <= 0.0 {
                continue;
            }
            likely.clear();
            for fit in &self.fits {
                let n = fit.n_classes();
                let factor = fit.factor(observed, column, cell, (place, window.len()));
                let weight = f64::from(*weight) * factor;
                let values = &fit.values[column][(first + place) * n..][..n];
                likely.extend(values.iter().map(|value| value * weight));
            }
            see(first + place, &likely);
        }
    }
}

/// Has a release teach nothing but that every value of a column is as likely, and says whether
/// it teaches something at all.
#[cfg(test)]
pub(crate) fn learn_even(evidence: &Evidence, watch: &dyn Watch) -> Result<bool> {
    let learned = Learned::even(evidence, watch)?;
    Ok(evidence.learned.get_or_init(|| learned).is_some())
}

impl Evidence {
    /// Learns what the release teaches, if that was not done yet: answers do it otherwise when
    /// they need it.
    pub fn learn(&self, watch: &dyn Watch) -> Result<()> {
        match self.model {
            Model::Even => Ok(()),
            Model::Learned => self.learned(watch).map(|_| ()),
        }
    }

    /// Whether the release taught something of rows.
    pub(crate) fn has_learned(&self) -> bool {
        self.learned.get().is_some_and(Option::is_some)
    }

    /// What the release teaches, learned once.
    pub(crate) fn learned(&self, watch: &dyn Watch) -> Result<Option<&Learned>> {
        if let Some(learned) = self.learned.get() {
            return Ok(learned.as_ref());
        }
        // Threads that ask at once all learn the same.
        let learned = Learned::of(self, watch)?;
        Ok(self.learned.get_or_init(|| learned).as_ref())
    }
}

/// The distinct rows that are told apart.
struct Patterns {
    /// A distinct row of the release of each.
    entry_of: Vec<u32>,
    /// How many rows each stands for.
    rows: Vec<f64>,
    pattern_of: Vec<u32>,
    /// Whether rows have numbers of their own.
    own_numbers: bool,
}

impl Patterns {
    fn of_rows(evidence: &Evidence) -> Self {
        let blurred = evidence.blurred.as_ref();
        let entry_of =
            blurred.map_or_else(Vec::new, |blurred| blurred.kinds().to_vec());
        let rows = vec![1.0; entry_of.len()];
        Self { entry_of, rows, pattern_of: Vec::new(), own_numbers: true }
    }

    fn of_cells(evidence: &Evidence, readout: &Readout) -> Self {
        let (mut pattern_of, mut n) = (vec![0; evidence.rows.len()], 1);
        for column in &readout.columns {
            let n_cells = column.observed.cells.len();
            let labels: Vec<u32> = (0..n_cells as u32).collect();
            n = refine(&mut pattern_of, n, &column.cell_of, &labels, n_cells);
        }
        let (mut rows, mut entry_of) = (vec![0.0; n], vec![u32::MAX; n]);
        for (entry, pattern) in (0u32..).zip(&pattern_of) {
            let pattern = *pattern as usize;
            rows[pattern] += evidence.rows[entry as usize] as f64;
            entry_of[pattern] = entry_of[pattern].min(entry);
        }
        Self { entry_of, rows, pattern_of, own_numbers: false }
    }
}

impl Readout {
    fn has_noise(&self) -> bool {
        let noisy = |column: &LearnedColumn| {
            matches!(column.values, LearnedValues::Noisy { .. })
        };
        self.columns.iter().any(noisy)
    }

    /// What a mixture is fitted to: all distinct rows, or so many groups of them as are enough.
    fn observed(
        &self,
        evidence: &Evidence,
        patterns: &Patterns,
        watch: &dyn Watch,
    ) -> Result<Observed> {
        let n_patterns = patterns.rows.len();
        let unit = |pattern: usize| match patterns.own_numbers {
            true => pattern as u32,
            false => self.group_of[patterns.entry_of[pattern] as usize],
        };
        let n_units = if patterns.own_numbers { n_patterns } else { self.n_groups };
        let share = MOST_FITTED as f64 / n_patterns.max(1) as f64;
        let mut random = stream("fitted", 0);
        let chosen: Vec<bool> = (0..n_units)
            .map(|_| share >= 1.0 || random.random::<f64>() < share)
            .collect();
        let fitted = (0..n_patterns).filter(|pattern| chosen[unit(*pattern) as usize]);
        let fitted: Vec<usize> = fitted.collect();
        let mut columns = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            watch.check()?;
            let mut observed = column.observed.clone();
            match &column.values {
                LearnedValues::Noisy { number, stretches } => {
                    let blurred = evidence.blurred.as_ref().expect("it has noise");
                    let mut window = Vec::new();
                    let mut cells = Likelihoods::default();
                    for row in &fitted {
                        let first =
                            blurred.window(*row, *number, stretches, &mut window);
                        cells.push(
                            first,
                            window.iter().map(|weight| f64::from(*weight)),
                        );
                    }
                    observed.cell_of = (0..fitted.len() as u32).collect();
                    observed.cells = cells;
                }
                _ => {
                    let cell = |pattern: &usize| {
                        column.cell_of[patterns.entry_of[*pattern] as usize]
                    };
                    observed.cell_of = fitted.iter().map(cell).collect();
                }
            }
            columns.push(observed);
        }
        let rows = fitted.iter().map(|pattern| patterns.rows[*pattern]).collect();
        let unit_of = fitted.iter().map(|pattern| unit(*pattern)).collect();
        Ok(Observed { columns, rows, unit_of, n_units })
    }

    /// How likely all cells are in each class.
    fn tables(&self, fit: &Mixture) -> Vec<CellTable> {
        let table = |(number, column): (usize, &LearnedColumn)| {
            let own: &ObservedColumn = &column.observed;
            fit.table(own, number, &vec![true; own.cells.len()])
        };
        self.columns.iter().enumerate().map(table).collect()
    }

    /// How likely a row is of each class of a fit.
    fn classes(
        &self,
        evidence: &Evidence,
        (fit, tables): (&Mixture, &[CellTable]),
        (entry, row): (usize, usize),
        window: &mut Vec<f32>,
    ) -> Vec<f64> {
        let n = fit.n_classes();
        let (mut own, mut shares) = (fit.weights.clone(), vec![0.0; n]);
        for (number, (column, table)) in self.columns.iter().zip(tables).enumerate() {
            let shares = match &column.values {
                LearnedValues::Noisy { number: of, stretches } => {
                    let blurred = evidence.blurred.as_ref().expect("it has noise");
                    let first = blurred.window(row, *of, stretches, window);
                    fit.of_window(number, (first, window), &mut shares);
                    let most = shares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
                    shares.iter_mut().for_each(|share| *share /= most);
                    &shares[..]
                }
                _ => &table.shares[column.cell_of[entry] as usize * n..][..n],
            };
            own.iter_mut().zip(shares).for_each(|(own, share)| *own *= share);
        }
        normalized(&mut own);
        own
    }
}
