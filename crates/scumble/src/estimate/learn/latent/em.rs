//! A mixture of classes within which columns are independent, fitted to uncertain rows.
//!
//! # Guarantee
//! Without smoothing, occupied ends and margins, no step makes the likelihood of the rows
//! smaller, and a mixture that a step does not change is a stationary point of it.
//!
//! *Why.* A step maximizes the mean of the complete likelihood, given the rows, under the
//! mixture before it (`dempster1977em`): classes and values are what is not seen. `s` is how
//! likely a cell is in a class; a row is of class `c` with `r` in proportion to the class's
//! weight times the product of its cells' `s`, and then has the value `v` in a column with
//! `f(v) L(v) / s`. ∎
//!
//! *Evenness is kept.* Two values that no cell tells apart, and that begin with the same
//! share in each class, have it after every step: where a release says nothing, nothing is
//! learned.
//!
//! # Limits
//! What is found depends on the start. Sums are in a fixed order, whatever the threads.
//!
//! # Cost
//! A step costs, times the number of classes, the windows of all distinct cells, and two
//! products for each cell of each distinct row.
//!
//! # Source
//! docs/methods.md, "Learned estimates".

use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::estimate::learn::latent::likelihood::{Observed, ObservedColumn};
use crate::estimate::learn::latent::smoothing::{Smoothing, rake, smooth};
use crate::watch::Watch;

/// Distinct rows that are looked at at once.
const BLOCK: usize = 1 << 10;

/// A mixture of classes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mixture {
    /// How likely each class is.
    pub(crate) weights: Vec<f64>,
    /// For each column, how likely each value is in each class: classes of a value together.
    pub(crate) values: Vec<Vec<f64>>,
    /// For each column and cell with occupied ends, what its parts are multiplied by.
    pub(crate) factors: Vec<Vec<[f64; 3]>>,
}

/// How likely cells are in each class: classes of a cell together, in units of the likeliest,
/// whose logarithm is beside them.
pub(crate) struct CellTable {
    pub(crate) shares: Vec<f64>,
    scales: Vec<f64>,
}

impl Mixture {
    /// One class in which every value is as likely: what is taken for granted where nothing
    /// is learned.
    pub(crate) fn even(observed: &Observed) -> Self {
        let values =
            observed.columns.iter().map(|column| column.even.clone()).collect();
        Self { weights: vec![1.0], values, factors: unknown_ends(observed) }
    }

    /// So many classes, each half as all rows and half as a random one, once a step was made
    /// with one class.
    pub(crate) fn start(
        observed: &Observed,
        whole: &Self,
        n_classes: usize,
        rows: &[f64],
        random: &mut ChaCha20Rng,
    ) -> Self {
        if n_classes == 1 {
            return whole.clone();
        }
        let total: f64 = rows.iter().sum();
        let mut sums = Vec::with_capacity(rows.len());
        let mut sum = 0.0;
        for rows in rows {
            sum += rows;
            sums.push(sum);
        }
        let mut seed = || {
            let point = random.random::<f64>() * total;
            sums.partition_point(|sum| *sum <= point).min(sums.len().saturating_sub(1))
        };
        let seeds: Vec<usize> = (0..n_classes).map(|_| seed()).collect();
        let columns = observed.columns.iter().zip(&whole.values);
        let values = columns.map(|(column, all)| {
            let mut values = vec![0.0; column.even.len() * n_classes];
            for (value, share) in all.iter().enumerate() {
                values[value * n_classes..][..n_classes].fill(0.5 * share);
            }
            for (class, seed) in seeds.iter().enumerate() {
                let (first, window) =
                    column.cells.window(column.cell_of[*seed] as usize);
                let own = window.iter().zip(&all[first..]);
                let own: Vec<f64> =
                    own.map(|(weight, share)| f64::from(*weight) * share).collect();
                let sum: f64 = own.iter().sum();
                for (place, own) in own.iter().enumerate() {
                    values[(first + place) * n_classes + class] += 0.5 * own / sum;
                }
            }
            values
        });
        Self {
            weights: vec![1.0 / n_classes as f64; n_classes],
            values: values.collect(),
            factors: whole.factors.clone(),
        }
    }

    /// How many classes there are.
    pub(crate) fn n_classes(&self) -> usize {
        self.weights.len()
    }

    /// How likely a cell is in each class, as it is published, given how likely that is with
    /// each value of its window.
    pub(crate) fn of_window(
        &self,
        column: usize,
        (first, window): (usize, &[f32]),
        shares: &mut [f64],
    ) {
        shares.fill(0.0);
        let n = self.n_classes();
        let values = self.values[column][first * n..].chunks_exact(n);
        for (weight, values) in window.iter().zip(values) {
            let weight = f64::from(*weight);
            if weight > 0.0 {
                shares.iter_mut().zip(values).for_each(|(s, f)| *s += weight * f);
            }
        }
    }

    /// What a value of a cell is multiplied by.
    pub(crate) fn factor(
        &self,
        observed: &ObservedColumn,
        column: usize,
        cell: usize,
        (place, n_values): (usize, usize),
    ) -> f64 {
        match observed.ends.get(cell) {
            Some(Some(ends)) => self.factors[column][cell][ends.part(place, n_values)],
            _ => 1.0,
        }
    }

    /// The table of a column, of cells that are used.
    pub(crate) fn table(
        &self,
        own: &ObservedColumn,
        column: usize,
        used: &[bool],
    ) -> CellTable {
        let n = self.n_classes();
        let mut shares = vec![0.0; own.cells.len() * n];
        let mut scales = vec![0.0; own.cells.len()];
        let chunks = shares.par_chunks_mut(n).zip(scales.par_iter_mut());
        let cells = chunks.enumerate().filter(|(cell, _)| used[*cell]);
        cells.for_each(|(cell, (shares, scale))| {
            let (first, window) = own.cells.window(cell);
            match own.ends.get(cell) {
                Some(Some(_)) => {
                    let factor =
                        |place| self.factor(own, column, cell, (place, window.len()));
                    let scaled: Vec<f32> = (window.iter().enumerate())
                        .map(|(place, weight)| weight * factor(place) as f32)
                        .collect();
                    self.of_window(column, (first, &scaled), shares);
                }
                _ => self.of_window(column, (first, window), shares),
            }
            let most = shares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            shares.iter_mut().for_each(|share| *share /= most);
            *scale = most.ln();
        });
        CellTable { shares, scales }
    }

    fn tables(&self, observed: &Observed, used: &[Vec<bool>]) -> Vec<CellTable> {
        let columns = 0..observed.columns.len();
        let table = |column: usize| {
            self.table(&observed.columns[column], column, &used[column])
        };
        columns.map(table).collect()
    }

    /// The logarithm of the likelihood of distinct rows, each as often as it is said.
    pub(crate) fn likelihood(
        &self,
        observed: &Observed,
        rows: &[f64],
        watch: &dyn Watch,
    ) -> Result<f64> {
        let mut plain = self.clone();
        // Ends are known of groups, and not of what was held out.
        plain.factors.iter_mut().flatten().for_each(|factors| *factors = [1.0; 3]);
        let used = used(observed, rows);
        let tables = plain.tables(observed, &used);
        let (_, sum) = plain.responsibilities(observed, &tables, rows, watch)?;
        Ok(sum)
    }

    /// How likely each distinct row is of each class, classes of a row together, and the
    /// logarithm of the likelihood.
    fn responsibilities(
        &self,
        observed: &Observed,
        tables: &[CellTable],
        rows: &[f64],
        watch: &dyn Watch,
    ) -> Result<(Vec<f32>, f64)> {
        let n = self.n_classes();
        let mut found = vec![0f32; rows.len() * n];
        let blocks =
            found.par_chunks_mut(BLOCK * n).enumerate().map(|(block, found)| {
                watch.check()?;
                let (mut sum, mut own) = (0.0, vec![0.0; n]);
                for (row, found) in (block * BLOCK..).zip(found.chunks_exact_mut(n)) {
                    if rows[row] <= 0.0 {
                        continue;
                    }
                    own.copy_from_slice(&self.weights);
                    let mut scale = 0.0;
                    for (column, table) in observed.columns.iter().zip(tables) {
                        let cell = column.cell_of[row] as usize;
                        let shares = &table.shares[cell * n..][..n];
                        own.iter_mut()
                            .zip(shares)
                            .for_each(|(own, share)| *own *= share);
                        scale += table.scales[cell];
                    }
                    sum += rows[row] * (scale + normalized(&mut own).ln());
                    found.iter_mut().zip(&own).for_each(|(to, own)| *to = *own as f32);
                }
                Ok(sum)
            });
        let sums: Vec<f64> = blocks.collect::<Result<_>>()?;
        Ok((found, sums.iter().sum()))
    }

    /// The mixture after a step, with distinct rows as often as it is said; and the logarithm
    /// of the likelihood before it.
    pub(crate) fn step(
        &self,
        observed: &Observed,
        rows: &[f64],
        smoothing: Smoothing,
        watch: &dyn Watch,
    ) -> Result<(Self, f64)> {
        let n = self.n_classes();
        let used = used(observed, rows);
        let tables = self.tables(observed, &used);
        let (of_class, likelihood) =
            self.responsibilities(observed, &tables, rows, watch)?;
        let mut weights = vec![0.0; n];
        for (of_row, rows) in of_class.chunks_exact(n).zip(rows) {
            let pairs = weights.iter_mut().zip(of_row);
            pairs.for_each(|(sum, own)| *sum += rows * f64::from(*own));
        }
        let total: f64 = weights.iter().sum();
        let weight = |weight: f64| {
            (weight + smoothing.floor) / (total + smoothing.floor * n as f64)
        };
        let weights: Vec<f64> = weights.into_iter().map(weight).collect();
        let columns = (0..observed.columns.len()).into_par_iter().map(|column| {
            watch.check()?;
            let (own, table) = (&observed.columns[column], &tables[column]);
            let sums = cell_sums(own, &of_class, rows, n);
            let mut counts = self.counts(own, column, &sums, table);
            smooth(&mut counts, &own.even, n, smoothing);
            if let Some(margin) = &own.margin {
                rake(&mut counts, &weights, margin);
            }
            let factors = self.ends(own, column, &sums);
            Ok((counts, factors))
        });
        let columns: Vec<(Vec<f64>, Vec<[f64; 3]>)> = columns.collect::<Result<_>>()?;
        let (values, factors) = columns.into_iter().unzip();
        Ok((Self { weights, values, factors }, likelihood))
    }

    /// How many rows of each class have each value, on average.
    fn counts(
        &self,
        own: &ObservedColumn,
        column: usize,
        sums: &[f64],
        table: &CellTable,
    ) -> Vec<f64> {
        let n = self.n_classes();
        let mut counts = vec![0.0; own.even.len() * n];
        let mut ratios = vec![0.0; n];
        for cell in 0..own.cells.len() {
            let sums = &sums[cell * n..][..n];
            if sums.iter().all(|sum| *sum <= 0.0) {
                continue;
            }
            let most = table.scales[cell].exp();
            let pairs = sums.iter().zip(&table.shares[cell * n..][..n]);
            for (ratio, (sum, share)) in ratios.iter_mut().zip(pairs) {
                *ratio = if *share > 0.0 { sum / (share * most) } else { 0.0 };
            }
            let (first, window) = own.cells.window(cell);
            for (place, weight) in window.iter().enumerate() {
                if *weight <= 0.0 {
                    continue;
                }
                let factor = self.factor(own, column, cell, (place, window.len()));
                let weight = f64::from(weight * factor as f32);
                let value = (first + place) * n;
                let values = &self.values[column][value..][..n];
                let counts = &mut counts[value..][..n];
                for ((count, value), ratio) in
                    counts.iter_mut().zip(values).zip(&ratios)
                {
                    *count += weight * value * ratio;
                }
            }
        }
        counts
    }

    /// What the parts of cells with occupied ends are multiplied by, given of which classes
    /// their rows are.
    fn ends(&self, own: &ObservedColumn, column: usize, sums: &[f64]) -> Vec<[f64; 3]> {
        let n = self.n_classes();
        let mut found = vec![[1.0; 3]; own.ends.len()];
        for (cell, ends) in own.ends.iter().enumerate() {
            let Some(ends) = ends else { continue };
            let (first, window) = own.cells.window(cell);
            let (mut parts, mut rows) = ([0.0; 3], 0.0);
            for (class, sum) in sums[cell * n..][..n].iter().enumerate() {
                let mut of_class = [0.0; 3];
                for (place, weight) in window.iter().enumerate() {
                    let value = self.values[column][(first + place) * n + class];
                    of_class[ends.part(place, window.len())] +=
                        f64::from(*weight) * value;
                }
                let all: f64 = of_class.iter().sum();
                if all > 0.0 && *sum > 0.0 {
                    let pairs = parts.iter_mut().zip(of_class);
                    pairs.for_each(|(part, own)| *part += sum * own / all);
                    rows += sum;
                }
            }
            if rows > 0.0 {
                found[cell] = ends.factors(parts[0] / rows, parts[2] / rows);
            } else {
                found[cell] = self.factors[column][cell];
            }
        }
        found
    }
}

/// Nothing is known yet of how rows lie at the ends.
fn unknown_ends(observed: &Observed) -> Vec<Vec<[f64; 3]>> {
    let columns = observed.columns.iter();
    columns.map(|column| vec![[1.0; 3]; column.ends.len()]).collect()
}

/// Makes numbers add up to 1, and returns what they added up to.
pub(crate) fn normalized(own: &mut [f64]) -> f64 {
    let sum: f64 = own.iter().sum();
    match sum > 0.0 {
        true => own.iter_mut().for_each(|own| *own /= sum),
        false => own.fill(1.0 / own.len() as f64),
    }
    sum.max(f64::MIN_POSITIVE)
}

/// Which cells occur in rows that count.
fn used(observed: &Observed, rows: &[f64]) -> Vec<Vec<bool>> {
    let of_column = |column: &ObservedColumn| {
        let mut used = vec![false; column.cells.len()];
        let counted = column.cell_of.iter().zip(rows).filter(|(_, rows)| **rows > 0.0);
        counted.for_each(|(cell, _)| used[*cell as usize] = true);
        used
    };
    observed.columns.iter().map(of_column).collect()
}

/// How many rows of each class have each cell, classes of a cell together.
fn cell_sums(
    column: &ObservedColumn,
    of_class: &[f32],
    rows: &[f64],
    n: usize,
) -> Vec<f64> {
    let mut sums = vec![0.0; column.cells.len() * n];
    for ((of_row, rows), cell) in
        of_class.chunks_exact(n).zip(rows).zip(&column.cell_of)
    {
        let sums = &mut sums[*cell as usize * n..][..n];
        sums.iter_mut()
            .zip(of_row)
            .for_each(|(sum, own)| *sum += rows * f64::from(*own));
    }
    sums
}
