//! Rows divided by what their randomized values depend on.
//!
//! # Guarantee
//! Rows are split by the column that most clearly tells apart what was *published*, as long as
//! that is significant: noise does not depend on other columns, so if published values differ
//! from part to part, true ones do. With no dependence at all a node is split with a
//! probability of at most [`SIGNIFICANT`] (chi-square, Bonferroni over the columns). No part
//! has fewer than [`FEWEST`] rows.
//!
//! Counts of a part shrink towards those of the whole it was split from, by the share of the
//! difference that chance explains (`1 - d/T` of the difference is left, for a chi-square of T
//! with d degrees of freedom). All parts of a split shrink by the same share, so their sum is
//! what it was; and what parts are reconstructed to is fitted to what the whole was
//! reconstructed to. So no number of small parts adds up to what the whole does not say.
//!
//! # Limits
//! Strata are found in the data, and the same data then fill them; dependence that is too
//! weak to be found, or that only combinations of columns show, is lost.
//!
//! # Cost
//! For each level of the tree, rows times columns.
//!
//! # Source
//! Ours; shrinking is that of `james1961estimation`, with one number for each split.

use rayon::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::estimate::laws::joint::Joint;
use crate::estimate::laws::reconstruct::likely;
use crate::watch::Watch;

/// How likely a split may be found where there is no dependence.
const SIGNIFICANT: f64 = 0.01;

/// The fewest rows of a part.
const FEWEST: usize = 200;

/// The most parts of a split.
const MOST_PARTS: usize = 8;

/// Fewer rows than this, on average, are too few for chi-square.
const FEWEST_EXPECTED: u64 = 5;

/// How far below its maximum the log-likelihood may stay: much less than chance moves it.
const GAP: f64 = 1e-3;

/// How often parts are fitted to their sum.
const FITS: usize = 20;

/// A column that true values may depend on.
pub(crate) struct Feature {
    /// The value of each published row.
    codes: Vec<u32>,
    n_codes: usize,
    /// Whether neighbouring values are likely to go together.
    ordered: bool,
}

impl Feature {
    pub(crate) fn new(codes: Vec<u32>, ordered: bool) -> Self {
        let n_codes = codes.iter().max().map_or(0, |most| *most as usize + 1);
        Self { codes, n_codes, ordered }
    }
}

/// A stratum, or what it is split into.
#[derive(Debug, Default)]
pub(crate) struct Stratum {
    /// The rows of a stratum; none if it is split.
    pub(crate) rows: Vec<u32>,
    parts: Vec<Self>,
    /// How much of the differences between the parts is left.
    left: f64,
}

impl Stratum {
    /// Splits rows as far as that is significant. `published` has the value of every row, one
    /// of `size`.
    pub(crate) fn grow(
        rows: Vec<u32>,
        published: &[u32],
        size: usize,
        features: &[Feature],
        watch: &dyn Watch,
    ) -> Self {
        // Values need some rows each before anything can be said of them.
        let least = FEWEST.max(4 * size.min(1 << 20));
        let whole = |rows| Self { rows, ..Self::default() };
        if rows.len() < 2 * least || watch.is_cancelled() {
            return whole(rows);
        }
        let splits = features.par_iter().map(|feature| {
            Division::new(&rows, published, size, feature, least)
                .filter(|split| split.chance * (features.len() as f64) < SIGNIFICANT)
        });
        let splits: Vec<Option<Division>> = splits.collect();
        let clearest = splits
            .into_iter()
            .zip(features)
            .filter_map(|(split, feature)| Some((split?, feature)))
            .reduce(|best, other| if other.0.clearer(&best.0) { other } else { best });
        let Some((split, feature)) = clearest else { return whole(rows) };
        let mut parts = vec![Vec::new(); split.n_parts];
        for row in rows {
            let code = feature.codes[row as usize];
            parts[split.part_of[code as usize] as usize].push(row);
        }
        let left = (1.0 - split.degrees / split.distance).max(0.0);
        let parts = parts.into_par_iter();
        let parts =
            parts.map(|rows| Self::grow(rows, published, size, features, watch));
        Self { rows: Vec::new(), parts: parts.collect(), left }
    }

    /// The strata.
    pub(crate) fn leaves(&self) -> Vec<&Self> {
        if self.parts.is_empty() {
            return vec![self];
        }
        self.parts.iter().flat_map(Self::leaves).collect()
    }

    /// For each stratum, how many of its rows most likely had each value, given how many were
    /// published with each.
    pub(crate) fn fit(
        &self,
        joint: &Joint,
        published: &[Vec<f64>],
        watch: &dyn Watch,
    ) -> Vec<Vec<f64>> {
        let whole = summed(published);
        let counts = likely(joint, &whole, GAP, watch);
        let mut fitted = Vec::with_capacity(published.len());
        self.fit_parts(joint, published, &whole, counts, &mut fitted, watch);
        fitted
    }

    /// `shrunk` and `counts` are what was published of this node and what it was
    /// reconstructed to.
    fn fit_parts(
        &self,
        joint: &Joint,
        published: &[Vec<f64>],
        shrunk: &[f64],
        counts: Vec<f64>,
        fitted: &mut Vec<Vec<f64>>,
        watch: &dyn Watch,
    ) {
        if self.parts.is_empty() {
            fitted.push(counts);
            return;
        }
        let whole = summed(published);
        let total: f64 = whole.iter().sum();
        let mut first = 0;
        let (mut own, mut shrunken) = (Vec::new(), Vec::new());
        for part in &self.parts {
            let n = part.leaves().len();
            let range = first..first + n;
            let raw = summed(&published[range.clone()]);
            let share = raw.iter().sum::<f64>() / total.max(f64::MIN_POSITIVE);
            let towards =
                raw.iter().zip(&whole).zip(shrunk).map(|((part, all), shrunk)| {
                    (share * shrunk + self.left * (part - share * all)).max(0.0)
                });
            shrunken.push(towards.collect::<Vec<f64>>());
            own.push(range);
            first += n;
        }
        let mut reconstructed: Vec<Vec<f64>> =
            shrunken.par_iter().map(|part| likely(joint, part, GAP, watch)).collect();
        fit_to(&mut reconstructed, &counts);
        let parts = self.parts.iter().zip(own).zip(shrunken.iter().zip(reconstructed));
        for ((part, range), (shrunk, counts)) in parts {
            part.fit_parts(joint, &published[range], shrunk, counts, fitted, watch);
        }
    }
}

/// Scales parts so that each keeps its sum, and all together are `whole`.
fn fit_to(parts: &mut [Vec<f64>], whole: &[f64]) {
    let sums: Vec<f64> = parts.iter().map(|part| part.iter().sum()).collect();
    for _ in 0..FITS {
        let together = summed(parts);
        for (part, sum) in parts.iter_mut().zip(&sums) {
            let values = part.iter_mut().zip(whole).zip(&together);
            for ((count, whole), together) in values {
                *count *= if *together > 0.0 { whole / together } else { 0.0 };
            }
            let now: f64 = part.iter().sum();
            if now > 0.0 {
                part.iter_mut().for_each(|count| *count *= sum / now);
            }
        }
    }
}

fn summed(parts: &[Vec<f64>]) -> Vec<f64> {
    let mut sums = vec![0.0; parts.first().map_or(0, Vec::len)];
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, count)| *sum += count);
    }
    sums
}

/// How a column divides rows.
struct Division {
    /// The part of each value of the column.
    part_of: Vec<u32>,
    n_parts: usize,
    /// Chi-square of the published values by part.
    distance: f64,
    degrees: f64,
    /// How likely chance alone makes it as large.
    chance: f64,
}

impl Division {
    /// Nothing if the column has no two parts, or nothing to tell apart.
    fn new(
        rows: &[u32],
        published: &[u32],
        size: usize,
        feature: &Feature,
        least: usize,
    ) -> Option<Self> {
        let mut rows_of = vec![0usize; feature.n_codes];
        let mut counts = vec![0u64; size];
        for row in rows {
            rows_of[feature.codes[*row as usize] as usize] += 1;
            counts[published[*row as usize] as usize] += 1;
        }
        let (part_of, n_parts) = match feature.ordered {
            true => neighbours(&rows_of, rows.len(), least),
            false => frequent(&rows_of, least),
        };
        let (class_of, n_classes) = classes(&counts, FEWEST_EXPECTED * n_parts as u64);
        if n_parts < 2 || n_classes < 2 {
            return None;
        }
        let mut table = vec![0.0; n_parts * n_classes];
        for row in rows {
            let part = part_of[feature.codes[*row as usize] as usize] as usize;
            let class = class_of[published[*row as usize] as usize] as usize;
            table[part * n_classes + class] += 1.0;
        }
        let (distance, degrees) = chi_square(&table, n_classes);
        let chance = ChiSquared::new(degrees).ok()?.sf(distance);
        Some(Self { part_of, n_parts, distance, degrees, chance })
    }

    fn clearer(&self, other: &Self) -> bool {
        // Chances of strong dependence are all zero.
        let excess =
            |split: &Self| (split.distance - split.degrees) / split.degrees.sqrt();
        match self.chance.total_cmp(&other.chance) {
            std::cmp::Ordering::Equal => excess(self) > excess(other),
            order => order.is_lt(),
        }
    }
}

/// Runs of neighbouring values, each with enough rows.
fn neighbours(rows_of: &[usize], n_rows: usize, least: usize) -> (Vec<u32>, usize) {
    let wanted = least.max(n_rows.div_ceil(MOST_PARTS));
    let (mut part_of, mut part, mut rows, mut left) = (Vec::new(), 0, 0, n_rows);
    for n in rows_of {
        part_of.push(part);
        rows += n;
        // The last part must have enough, too.
        if rows >= wanted && left - rows >= least {
            left -= rows;
            rows = 0;
            part += 1;
        }
    }
    (part_of, part as usize + 1)
}

/// The most frequent values, and one part for all others.
fn frequent(rows_of: &[usize], least: usize) -> (Vec<u32>, usize) {
    let mut order: Vec<usize> = (0..rows_of.len()).collect();
    order.sort_by_key(|code| (std::cmp::Reverse(rows_of[*code]), *code));
    let own = order.iter().take_while(|code| rows_of[**code] >= least);
    let mut n_own = own.take(MOST_PARTS).count();
    let rest =
        |n_own: usize| order[n_own..].iter().map(|code| rows_of[*code]).sum::<usize>();
    if n_own == MOST_PARTS && rest(n_own) > 0 {
        n_own -= 1;
    }
    // Too few others go with the least frequent.
    if n_own > 0 && (1..least).contains(&rest(n_own)) {
        n_own -= 1;
    }
    let mut part_of = vec![n_own as u32; rows_of.len()];
    for (part, code) in order[..n_own].iter().enumerate() {
        part_of[*code] = part as u32;
    }
    (part_of, n_own + usize::from(rest(n_own) > 0))
}

/// Values with enough rows, and one class for all others.
fn classes(counts: &[u64], least: u64) -> (Vec<u32>, usize) {
    let rest: u64 = counts.iter().filter(|n| **n < least).sum();
    let own = |n: u64| n >= least;
    let mut n_classes = 0;
    let mut class_of = Vec::with_capacity(counts.len());
    let mut smallest = (u64::MAX, 0);
    for n in counts {
        class_of.push(n_classes);
        if own(*n) {
            smallest = smallest.min((*n, n_classes));
            n_classes += 1;
        }
    }
    // Too few others go with the least frequent.
    let others = if rest >= least || n_classes == 0 { n_classes } else { smallest.1 };
    for (class, n) in class_of.iter_mut().zip(counts) {
        if !own(*n) {
            *class = others;
        }
    }
    (class_of, n_classes as usize + usize::from(others == n_classes && rest > 0))
}

/// Chi-square of a table, row after row, and its degrees of freedom.
fn chi_square(table: &[f64], n_columns: usize) -> (f64, f64) {
    let mut columns = vec![0.0; n_columns];
    for row in table.chunks_exact(n_columns) {
        columns.iter_mut().zip(row).for_each(|(sum, n)| *sum += n);
    }
    let total: f64 = columns.iter().sum();
    let mut distance = 0.0;
    for row in table.chunks_exact(n_columns) {
        let share = row.iter().sum::<f64>() / total;
        for (n, column) in row.iter().zip(&columns) {
            let expected = share * column;
            distance += (n - expected).powi(2) / expected;
        }
    }
    let n_rows = table.len() / n_columns;
    (distance, ((n_rows - 1) * (n_columns - 1)) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::laws::matrix::tests::uniform;
    use crate::watch::Unwatched;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// Values of 3, for `n` rows; with `shift` their second value depends on the feature.
    fn rows(
        n: u32,
        shift: f64,
        random: &mut ChaCha20Rng,
    ) -> (Vec<u32>, Feature, Feature) {
        let own: Vec<u32> = (0..n).map(|_| random.random_range(0..4)).collect();
        let other: Vec<u32> = (0..n).map(|_| random.random_range(0..50)).collect();
        let published = own.iter().map(|code| {
            let point = random.random::<f64>() + if *code > 1 { shift } else { 0.0 };
            if point < 0.3 { 0 } else { 1 + u32::from(point > 0.7) }
        });
        (published.collect(), Feature::new(own, false), Feature::new(other, true))
    }

    fn grown(n: u32, published: &[u32], own: Feature, other: Feature) -> Stratum {
        Stratum::grow((0..n).collect(), published, 3, &[own, other], &Unwatched)
    }

    #[test]
    fn rows_are_split_by_what_matters_and_seldom_by_what_does_not() {
        let mut random = ChaCha20Rng::seed_from_u64(1);
        let (published, own, other) = rows(4000, 0.2, &mut random);
        let tree = grown(4000, &published, own, other);
        assert_eq!(tree.leaves().len(), 4);
        assert!(tree.left > 0.9);
        let rows_of: usize = tree.leaves().iter().map(|leaf| leaf.rows.len()).sum();
        assert_eq!(rows_of, 4000);

        // 1 in 100 may be split by chance; more than 12 of 200 are with less than 1e-6.
        let split = (0..200).filter(|_| {
            let (published, own, other) = rows(1000, 0.0, &mut random);
            let tree = grown(1000, &published, own, other);
            tree.leaves().len() > 1
        });
        assert!(split.count() <= 12);
    }

    #[test]
    fn parts_have_enough_rows() {
        let (parts, n) = neighbours(&[10, 300, 5, 5, 500, 20], 840, 200);
        assert_eq!((parts, n), (vec![0, 0, 1, 1, 1, 1], 2));
        assert_eq!(frequent(&[10, 300, 250, 5], 200), (vec![1, 0, 1, 1], 2));
        assert_eq!(frequent(&[10, 300, 250, 195], 200), (vec![2, 0, 1, 2], 3));
        assert_eq!(frequent(&[10, 20], 200), (vec![0, 0], 1));
        assert_eq!(frequent(&[1000, 0], 200).1, 1);
        let (parts, n) = frequent(&[300; 12], 200);
        assert_eq!((parts[6], parts[7], n), (6, 7, 8));
        assert_eq!(classes(&[50, 3, 40, 4, 0], 5), (vec![0, 2, 1, 2, 2], 3));
        assert_eq!(classes(&[50, 3, 40, 0, 0], 5), (vec![0, 1, 1, 1, 1], 2));
        assert_eq!(classes(&[1, 3], 5), (vec![0, 0], 1));
    }

    #[test]
    fn chi_square_is_that_of_the_textbook() {
        let (distance, degrees) = chi_square(&[10.0, 20.0, 20.0, 10.0], 2);
        assert!((distance - 20.0 / 3.0).abs() < 1e-12);
        assert_eq!(degrees, 1.0);
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let mut random = ChaCha20Rng::seed_from_u64(2);
        let (published, own, other) = rows(3000, 0.1, &mut random);
        let tree = grown(3000, &published, own, other);
        let channel = uniform(0.3, 3);
        let joint = Joint::new(vec![&channel]).unwrap();
        let leaves = tree.leaves();
        assert!(leaves.len() > 1);
        let counts = |leaf: &&Stratum| {
            let mut counts = vec![0.0; 3];
            for row in &leaf.rows {
                counts[published[*row as usize] as usize] += 1.0;
            }
            counts
        };
        let counts: Vec<Vec<f64>> = leaves.iter().map(counts).collect();
        let fitted = tree.fit(&joint, &counts, &Unwatched);
        let whole = likely(&joint, &summed(&counts), GAP, &Unwatched);
        for (together, whole) in summed(&fitted).iter().zip(&whole) {
            assert!((together - whole).abs() < 1e-3 * 3000.0, "{together}, {whole}");
        }
        for (fitted, counts) in fitted.iter().zip(&counts) {
            let (a, b) = (fitted.iter().sum::<f64>(), counts.iter().sum::<f64>());
            assert!((a - b).abs() < 1e-6 * b);
        }
    }
}
