//! Condensation: groups of near rows, each replaced by rows drawn anew from its mean and
//! covariance. A baseline to compare blur with.
//!
//! # Guarantee
//! Every row is in one group with rows of its own kind, at least as many as any of them asks
//! for. What is published of a group depends on its mean and covariance alone, besides
//! chance and rounding.
//!
//! # Limits
//! Mean and covariance of a small group tell much about each of its rows: there is no bound
//! on what somebody learns who knows the others. Groups of few rows in many dimensions
//! have fewer directions than columns, and rows drawn anew lie in these.
//!
//! # Cost
//! O(n log n) for the groups in few dimensions, O(n d²) for the rest.
//!
//! # Source
//! `aggarwal2004condensation`, the static variant. Ours scales columns by their standard
//! deviations first, and begins with rows that ask for most, so that what is left over asks
//! for no more than any group has.

use nalgebra::{DMatrix, SymmetricEigen};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::random::{Randomness, Stretches};
use crate::space::Space;
use crate::table::{GroupId, Numbers, Of, RowId, snapped};
use crate::watch::Watched;

/// What to condense.
#[derive(Debug, Clone)]
pub struct CondensationTask<'a> {
    /// The numbers, rounded to `decimals`; none may be missing.
    pub numbers: &'a Numbers,
    /// How many decimals each column has.
    pub decimals: &'a [u32],
    /// The least size of each row's group.
    pub wishes: &'a [f64],
    /// Where seeds of groups and new rows come from.
    pub randomness: &'a Randomness,
}

/// Groups, and what rows are drawn anew from.
#[derive(Debug, Clone, PartialEq)]
pub struct Condensed {
    /// The rows of each group.
    pub groups: Of<GroupId, Vec<RowId>>,
    /// The moments of each group.
    pub moments: Of<GroupId, GroupMoments>,
}

impl Condensed {
    /// For each row the numbers that are published with its other columns, row after row.
    pub fn values(&self, decimals: &[u32], randomness: &Randomness) -> Vec<f64> {
        let n_rows: usize = self.groups.iter().map(Vec::len).sum();
        let mut values = vec![0.0; n_rows * decimals.len()];
        let mut stretches = GroupMoments::stretches(randomness, decimals.len());
        for (rows, moments) in self.groups.iter().zip(&self.moments) {
            for row in rows {
                let place = &mut values[row.index() * decimals.len()..];
                let drawn = moments.draw(decimals, stretches.at(row.get().into()));
                place[..decimals.len()].copy_from_slice(&drawn);
            }
        }
        values
    }
}

/// Groups rows, and finds what their numbers are drawn anew from.
pub fn condense<'a>(
    task: impl Into<Watched<'a, CondensationTask<'a>>>,
) -> Result<Condensed> {
    let task = task.into();
    let numbers = task.numbers;
    let dims = numbers.n_columns();
    if let Some(place) = numbers.values.iter().position(|value| value.is_nan()) {
        return Err(Error::input(format!(
            "row {}: a number is missing, and there is no mean with it",
            place / dims + 1
        ))
        .with_hint("take such rows out, or use `method = \"blur\"`"));
    }
    let scaled = Standardized::of(numbers);
    let mut groups = Vec::new();
    for (kind, rows) in by_kind(numbers).into_iter().enumerate() {
        groups.extend(grouped(task, &scaled, kind, &rows)?);
    }
    let moments = groups.par_iter().map(|rows| {
        task.watch.check()?;
        Ok(GroupMoments::of(&scaled, rows))
    });
    let moments = moments.collect::<Result<Vec<_>>>()?.into();
    Ok(Condensed { groups: groups.into(), moments })
}

/// Numbers in units of their standard deviations.
struct Standardized {
    dims: usize,
    units: Vec<f64>,
    values: Vec<f64>,
}

impl Standardized {
    fn of(numbers: &Numbers) -> Self {
        let (dims, n) = (numbers.n_columns(), numbers.n_rows.max(1) as f64);
        let unit = |axis: usize| {
            let own = || numbers.values.iter().skip(axis).step_by(dims);
            let mean = own().sum::<f64>() / n;
            let square = own().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
            if square > 0.0 { square.sqrt() } else { 1.0 }
        };
        let units: Vec<f64> = (0..dims).map(unit).collect();
        let each = numbers.values.iter().enumerate();
        let values = each.map(|(place, value)| value / units[place % dims]).collect();
        Self { dims, units, values }
    }

    fn row(&self, row: RowId) -> &[f64] {
        &self.values[row.index() * self.dims..][..self.dims]
    }

    fn mean(&self, rows: &[RowId]) -> Vec<f64> {
        let sum =
            |axis: usize| rows.iter().map(|row| self.row(*row)[axis]).sum::<f64>();
        (0..self.dims).map(|axis| sum(axis) / rows.len() as f64).collect()
    }
}

fn by_kind(numbers: &Numbers) -> Vec<Vec<RowId>> {
    let mut rows = vec![Vec::new(); numbers.kind_cells.len()];
    for (row, kind) in RowId::first(numbers.n_rows).zip(&numbers.kinds) {
        rows[*kind as usize].push(row);
    }
    rows
}

/// The groups of the rows of a kind: a row by chance with those nearest to it, again and
/// again.
fn grouped(
    task: Watched<'_, CondensationTask<'_>>,
    scaled: &Standardized,
    kind: usize,
    rows: &[RowId],
) -> Result<Vec<Vec<RowId>>> {
    let size = |place: usize| task.wishes[rows[place].index()].ceil() as usize;
    let mut seeds: Vec<usize> = (0..rows.len()).collect();
    seeds.shuffle(&mut task.randomness.stream("condensation seeds", kind as u64));
    // Those who ask for most come first: a seed's own wish is then the largest of its group.
    seeds.sort_by_key(|place| std::cmp::Reverse(size(*place)));
    let Some(most) = seeds.first().map(|place| size(*place)) else {
        return Ok(Vec::new());
    };
    if most > rows.len() {
        return Err(Error::unsatisfiable(
            "condensation",
            format!("a group of {most} is asked for, but its rows are {}", rows.len()),
        )
        .with_hint("only rows that share all exact columns can be in one group"));
    }
    if scaled.dims == 0 {
        return Ok(vec![rows.to_vec()]);
    }
    let values: Vec<f64> =
        rows.iter().flat_map(|row| scaled.row(*row).iter().copied()).collect();
    let mut space = Space::new(scaled.dims, &values);
    let mut groups: Vec<Vec<RowId>> = Vec::new();
    for seed in seeds {
        task.watch.check()?;
        if !space.lives(seed) {
            continue;
        }
        let size = size(seed).max(1);
        if space.n_living() < size {
            break;
        }
        let mut members = vec![seed];
        // Among equal rows the nearest need not be the seed itself.
        space.remove(seed);
        for (_, member) in space.nearest(space.point(seed), size - 1) {
            members.push(member);
        }
        members.iter().for_each(|member| space.remove(*member));
        groups.push(members.into_iter().map(|member| rows[member]).collect());
    }
    let centres: Vec<f64> =
        groups.iter().flat_map(|members| scaled.mean(members)).collect();
    let centres = Space::new(scaled.dims, &centres);
    for place in (0..rows.len()).filter(|place| space.lives(*place)) {
        task.watch.check()?;
        if let [(_, nearest)] = centres.nearest(space.point(place), 1)[..] {
            groups[nearest].push(rows[place]);
        }
    }
    groups.iter_mut().for_each(|members| members.sort_unstable());
    Ok(groups)
}

/// Mean and covariance of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupMoments {
    /// The mean.
    pub mean: Vec<f64>,
    /// Directions in which rows vary independently, each as long as the standard deviation.
    pub axes: Vec<Vec<f64>>,
}

impl GroupMoments {
    fn of(scaled: &Standardized, rows: &[RowId]) -> Self {
        let dims = scaled.dims;
        let mean = scaled.mean(rows);
        let mut covariance = DMatrix::<f64>::zeros(dims, dims);
        for row in rows {
            let row = scaled.row(*row);
            for a in 0..dims {
                for b in 0..dims {
                    covariance[(a, b)] += (row[a] - mean[a]) * (row[b] - mean[b]);
                }
            }
        }
        let eigen = SymmetricEigen::new(covariance / rows.len() as f64);
        let axis = |axis: usize| {
            let deviation = eigen.eigenvalues[axis].max(0.0).sqrt();
            let direction = eigen.eigenvectors.column(axis);
            let units = direction.iter().zip(&scaled.units);
            units.map(|(part, unit)| part * deviation * unit).collect()
        };
        let units = mean.iter().zip(&scaled.units);
        Self {
            mean: units.map(|(value, unit)| value * unit).collect(),
            axes: (0..dims).map(axis).collect(),
        }
    }

    /// Where chance comes from: a stretch of a stream for each row, with a number of two
    /// words for each column.
    pub fn stretches(randomness: &Randomness, n_columns: usize) -> Stretches {
        randomness.stretches("condensed rows", 2 * n_columns)
    }

    /// What is published of the row of this stretch: drawn evenly along each axis, with its
    /// variance, and rounded.
    pub fn draw(&self, decimals: &[u32], stretch: &mut ChaCha20Rng) -> Vec<f64> {
        let mut drawn = self.mean.clone();
        for axis in &self.axes {
            // An even choice between -1/2 and 1/2 has a variance of a twelfth.
            let step = (stretch.random::<f64>() - 0.5) * 12f64.sqrt();
            for (value, part) in drawn.iter_mut().zip(axis) {
                *value += step * part;
            }
        }
        for (value, decimals) in drawn.iter_mut().zip(decimals) {
            *value = snapped(*value, *decimals);
        }
        drawn
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn table(n_rows: usize, n_kinds: u32, seed: u64) -> Numbers {
        let mut generator = ChaCha20Rng::seed_from_u64(seed);
        let mut values = Vec::new();
        for _ in 0..n_rows {
            let (x, y): (f64, f64) = (generator.random(), generator.random());
            values.extend([snapped(x * 40.0, 1), snapped(1000.0 * (x + y), 1), 7.0]);
        }
        let kinds = (0..n_rows).map(|_| generator.random_range(0..n_kinds)).collect();
        Numbers {
            n_rows,
            decimals: vec![1; 3],
            values,
            kinds,
            kind_cells: vec![Vec::new(); n_kinds as usize],
            wishes: Vec::new(),
            persons: Vec::new(),
        }
    }

    fn condensed(numbers: &Numbers, wishes: &[f64], seed: u64) -> Result<Condensed> {
        let randomness = &Randomness::of_seed(seed);
        let decimals = &numbers.decimals;
        condense(&CondensationTask { numbers, decimals, wishes, randomness })
    }

    #[test]
    fn groups_divide_the_rows_and_are_as_large_as_asked() {
        for seed in 0..10 {
            let numbers = table(300, 1 + seed as u32 % 3, seed);
            let wishes: Vec<f64> =
                (0..300).map(|row| 2.0 + f64::from(row % 7) * 1.5).collect();
            let found = condensed(&numbers, &wishes, seed).unwrap();
            let mut rows: Vec<RowId> = found.groups.concat();
            rows.sort_unstable();
            assert_eq!(rows, RowId::first(300).collect::<Vec<_>>());
            for group in &found.groups {
                for row in group {
                    assert!(wishes[row.index()] <= group.len() as f64);
                    let kind = |row: &RowId| numbers.kinds[row.index()];
                    assert_eq!(kind(row), kind(&group[0]));
                }
            }
            let values = found.values(&[1; 3], &Randomness::of_seed(seed));
            assert!(values.iter().skip(2).step_by(3).all(|value| *value == 7.0));
            assert_eq!(found, condensed(&numbers, &wishes, seed).unwrap());
            assert_ne!(found, condensed(&numbers, &wishes, seed + 100).unwrap());
        }
    }

    #[test]
    fn groups_hold_rows_that_are_near() {
        let numbers = table(900, 1, 3);
        let found = condensed(&numbers, &[9.0; 900], 3).unwrap();
        let spread = |rows: &[RowId]| {
            let own: Vec<f64> =
                rows.iter().map(|row| numbers.row(row.index())[0]).collect();
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            own.iter().map(|value| (value - mean).abs()).sum::<f64>() / own.len() as f64
        };
        let inside: f64 = found.groups.iter().map(|rows| spread(rows)).sum::<f64>()
            / found.groups.len() as f64;
        // A hundred groups on a square: about a tenth of it each.
        let all: Vec<RowId> = RowId::first(900).collect();
        assert!(inside < 0.25 * spread(&all), "{inside}");
    }

    /// By how many standard errors means and covariances of drawn rows are off, where every
    /// deviation was multiplied by `twist`.
    fn largest_error(twist: f64) -> f64 {
        let numbers = table(200, 1, 1);
        let scaled = Standardized::of(&numbers);
        let rows: Vec<RowId> = RowId::first(200).collect();
        let mut moments = GroupMoments::of(&scaled, &rows);
        let in_units = |row: &[f64]| -> Vec<f64> {
            row.iter().zip(&scaled.units).map(|(value, unit)| value / unit).collect()
        };
        let mean = in_units(&moments.mean);
        moments.axes.iter_mut().flatten().for_each(|part| *part *= twist);
        let mut stretches = GroupMoments::stretches(&Randomness::of_seed(8), 3);
        let draws = 20_000;
        let drawn: Vec<Vec<f64>> = (0..draws)
            .map(|row| in_units(&moments.draw(&[9; 3], stretches.at(row))))
            .collect();
        let moment =
            |a: usize, b: usize, rows: &mut dyn Iterator<Item = &[f64]>, n: f64| {
                rows.map(|row| (row[a] - mean[a]) * (row[b] - mean[b])).sum::<f64>() / n
            };
        let n = draws as f64;
        let mut largest = 0.0f64;
        for a in 0..2 {
            // Scaled columns have a variance of 1.
            let off = drawn.iter().map(|row| row[a] - mean[a]).sum::<f64>() / n;
            largest = largest.max(off.abs() * n.sqrt());
            for b in 0..=a {
                let mut own = rows.iter().map(|row| scaled.row(*row));
                let truth = moment(a, b, &mut own, 200.0);
                let found = moment(a, b, &mut drawn.iter().map(Vec::as_slice), n);
                // Sums of even choices have lighter tails than normal numbers, whose
                // products have a variance of at most 2.
                largest = largest.max((found - truth).abs() * (n / 2.0).sqrt());
            }
        }
        largest
    }

    #[test]
    fn drawn_rows_have_the_mean_and_covariance_of_their_group() {
        // Five numbers, each with a false alarm of 2e-7.
        assert!(largest_error(1.0) < 5.2);
        assert!(largest_error(1.06) > 5.2, "the twin is not caught");
    }

    #[test]
    fn what_cannot_be_is_said() {
        let numbers = table(20, 1, 1);
        let error = condensed(&numbers, &[21.0; 20], 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "condensation cannot be met: a group of 21 is asked for, but its rows are 20"
        );
        let mut numbers = table(20, 1, 1);
        numbers.values[10] = f64::NAN;
        let error = condensed(&numbers, &[2.0; 20], 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "row 4: a number is missing, and there is no mean with it"
        );
    }
}
