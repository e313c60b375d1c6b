//! True values of randomized columns, drawn given the published ones.
//!
//! # Guarantee
//! Within a stratum (`strata.rs`) a true value is drawn from `P(x | y) ∝ P(y | x) f(x)`, where
//! f is the most likely distribution of a bootstrap of what was published in the stratum: as
//! many rows, drawn with replacement, anew for every table. Then for a large stratum a count
//! is right on average, and varies from draw to draw by what the inverse matrix has as its
//! variance.
//!
//! *Why.* Let V be the covariance of the reconstructed counts if rows were a sample, C that of
//! the true counts then. The bootstrap moves f by V. What a table is expected to have given f
//! is one round of the iterative way from f, and that round takes a step of `C V⁻¹` back
//! towards the most likely counts (the share of what the complete data would tell that the
//! published ones do); so expected counts move by `(I - C V⁻¹) V (I - C V⁻¹)ᵀ = V - 2 C +
//! C V⁻¹ C`. Drawing the values adds their variance given what was published, `C - C V⁻¹ C`.
//! Together that is `V - C`, the variance of the inverse if rows are given. ∎
//!
//! Columns that were randomized on their own are drawn together while their combinations are
//! few; otherwise one after the other, each in strata by what was drawn before and what was
//! published of those that follow.
//!
//! # Limits
//! Where true counts are near zero the most likely ones lean towards the inside, and so do
//! draws. In small strata all of this is rough. What strata do not show is lost.
//!
//! # Cost
//! A reconstruction for each stratum, and for each published value in it the values it may
//! come from; once for a stratum if values are kept or drawn from the whole of a large
//! domain.
//!
//! # Source
//! docs/methods.md, "Reconstruction" and "Reconstructed tables"; `rubin1987multiple` for
//! what a proper draw is. The argument is ours.

use hashbrown::HashMap;
use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::estimate::evidence::{DrawnColumns, Evidence, Nature};
use crate::estimate::laws::joint::Joint;
use crate::estimate::query::question::digits;
use crate::estimate::sample::DrawnRows;
use crate::estimate::sample::strata::{Feature, Stratum};
use crate::random::Randomness;
use crate::table::Kind;

/// The most combinations of values of columns that are drawn together.
const MOST_TOGETHER: usize = 1 << 10;

/// What was drawn: for each noise, the value of each drawn row by its place in the domain.
pub(crate) struct Randomized {
    values: Vec<Vec<u32>>,
}

impl Randomized {
    /// The codes of a randomized column, for each drawn row.
    pub(crate) fn codes(
        &self,
        evidence: &Evidence,
        rows: &DrawnRows,
        noise: usize,
        part: usize,
    ) -> Vec<u32> {
        let values = &self.values[noise];
        let noise = &evidence.noises[noise];
        let mut codes = Vec::with_capacity(values.len());
        for (entry, ends) in rows.entry_of.iter().zip(rows.starts.windows(2)) {
            let subtable =
                &noise.subtables[noise.subtable_of[*entry as usize] as usize];
            let own = values[ends[0]..ends[1]].iter();
            codes.extend(own.map(|value| subtable.domain[*value as usize][part]));
        }
        codes
    }
}

/// Draws the true values of all randomized columns.
pub(crate) fn draw(
    evidence: &Evidence,
    rows: &DrawnRows,
    random: &Randomness,
) -> Result<Randomized> {
    let mut values = vec![Vec::new(); evidence.noises.len()];
    if values.is_empty() {
        return Ok(Randomized { values });
    }
    let mut fixed = Vec::new();
    for place in &evidence.table {
        let column = &evidence.columns[*place];
        let (codes, ordered) = match column.nature {
            Nature::Kept => {
                let ordered = column.reading.kind != Kind::Category;
                (expanded(rows, &column.codes), ordered)
            }
            Nature::Coarse(_) => (expanded(rows, &column.codes), false),
            Nature::Number(number) => (evidence.ranks(number), true),
            Nature::Drawn(..) | Nature::Apart => continue,
        };
        fixed.push(Feature::new(codes, ordered));
    }
    let bundles = bundles(&evidence.noises);
    for (number, bundle) in bundles.iter().enumerate() {
        let known = fixed.len();
        for later in bundles[number + 1..].iter().flatten() {
            let noise = &evidence.noises[*later];
            fixed.push(Feature::new(expanded(rows, &noise.value_of), false));
        }
        let noises: Vec<&DrawnColumns> =
            bundle.iter().map(|n| &evidence.noises[*n]).collect();
        let drawn = draw_together(&noises, rows, &fixed, random, number)?;
        fixed.truncate(known);
        for (noise, drawn) in bundle.iter().zip(drawn) {
            // Of rows that one row stands for, the first.
            let firsts = rows.starts[..rows.entry_of.len()].iter();
            let codes = firsts.map(|start| drawn[*start]).collect();
            fixed.push(Feature::new(codes, false));
            values[*noise] = drawn;
        }
    }
    Ok(Randomized { values })
}

impl Evidence {
    /// The published numbers of a column by their ranks, for every row; missing ones last.
    fn ranks(&self, number: usize) -> Vec<u32> {
        let numbers = self.blurred.iter().flat_map(|b| b.published(number));
        let numbers: Vec<f64> = numbers.collect();
        let mut known: Vec<f64> =
            numbers.iter().copied().filter(|z| !z.is_nan()).collect();
        known.sort_unstable_by(f64::total_cmp);
        known.dedup();
        let rank = |z: &f64| match z.is_nan() {
            true => known.len() as u32,
            false => known.partition_point(|other| other < z) as u32,
        };
        numbers.iter().map(rank).collect()
    }
}

/// What distinct rows have, for every published row.
fn expanded(rows: &DrawnRows, codes: &[u32]) -> Vec<u32> {
    rows.entry_of.iter().map(|entry| codes[*entry as usize]).collect()
}

/// Which columns are drawn together.
fn bundles(noises: &[DrawnColumns]) -> Vec<Vec<usize>> {
    let mut bundles: Vec<Vec<usize>> = Vec::new();
    let mut combinations = 1usize;
    for (number, noise) in noises.iter().enumerate() {
        let sizes = noise.subtables.iter().map(|subtable| subtable.domain.len());
        let size = sizes.max().unwrap_or(1);
        combinations = combinations.saturating_mul(size);
        match bundles.last_mut() {
            Some(bundle) if combinations <= MOST_TOGETHER => bundle.push(number),
            _ => {
                bundles.push(vec![number]);
                combinations = size;
            }
        }
    }
    bundles
}

/// Draws columns together: for each of them, the value of each drawn row.
fn draw_together(
    noises: &[&DrawnColumns],
    rows: &DrawnRows,
    features: &[Feature],
    random: &Randomness,
    number: usize,
) -> Result<Vec<Vec<u32>>> {
    // Rows by the sub-tables they are in.
    let mut numbers: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut parts: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
    let mut published = Vec::with_capacity(rows.entry_of.len());
    for (row, entry) in (0u32..).zip(&rows.entry_of) {
        let entry = *entry as usize;
        let subtables: Vec<u32> = noises.iter().map(|n| n.subtable_of[entry]).collect();
        let value = noises.iter().zip(&subtables).fold(0, |cell, (noise, subtable)| {
            let size = noise.subtables[*subtable as usize].domain.len();
            cell * size + noise.value_of[entry] as usize
        });
        published.push(value as u32);
        let part = *numbers.entry(subtables.clone()).or_insert_with(|| {
            parts.push((subtables, Vec::new()));
            parts.len() - 1
        });
        parts[part].1.push(row);
    }
    let mut drawn = vec![vec![0; rows.n_drawn()]; noises.len()];
    for (part, (subtables, own)) in parts.into_iter().enumerate() {
        let channels = noises.iter().zip(&subtables);
        let channels =
            channels.map(|(n, subtable)| &n.subtables[*subtable as usize].channel);
        let joint = Joint::new(channels.collect())?;
        let purpose = format!("draw noise {number} {part}");
        let stream = |stratum: usize| random.stream(&purpose, stratum as u64);
        let tree = Stratum::grow(own, &published, joint.size(), features, rows.watch);
        let strata = Strata { joint: &joint, published: &published, rows };
        let (sizes, values) = (joint.sizes(), strata.draw(&tree, &stream));
        rows.watch.check()?;
        for (leaf, values) in tree.leaves().iter().zip(values) {
            let mut values = values.into_iter();
            let ends = leaf.rows.iter().map(|row| *row as usize);
            for place in ends.flat_map(|row| rows.starts[row]..rows.starts[row + 1]) {
                let Some(value) = values.next() else { break };
                for (drawn, digit) in
                    drawn.iter_mut().zip(digits(value as usize, &sizes))
                {
                    drawn[place] = digit as u32;
                }
            }
        }
    }
    Ok(drawn)
}

/// What strata are drawn from.
struct Strata<'a> {
    joint: &'a Joint<'a>,
    published: &'a [u32],
    rows: &'a DrawnRows<'a>,
}

impl Strata<'_> {
    /// The values of the drawn rows of each stratum.
    fn draw(
        &self,
        tree: &Stratum,
        stream: &(dyn Fn(usize) -> ChaCha20Rng + Sync),
    ) -> Vec<Vec<u32>> {
        let leaves = tree.leaves();
        let again = leaves.par_iter().enumerate().map(|(number, leaf)| {
            let mut random = stream(2 * number);
            let mut counts = vec![0.0; self.joint.size()];
            for _ in 0..leaf.rows.len() {
                let row = leaf.rows[random.random_range(0..leaf.rows.len())];
                counts[self.published[row as usize] as usize] += self.weight(row);
            }
            counts
        });
        let again: Vec<Vec<f64>> = again.collect();
        let likely = tree.fit(self.joint, &again, self.rows.watch);
        let strata = leaves.par_iter().zip(likely).enumerate();
        let drawn = strata.map(|(number, (leaf, likely))| {
            if self.rows.watch.is_cancelled() {
                return Vec::new();
            }
            self.draw_stratum(leaf, likely, &mut stream(2 * number + 1))
        });
        drawn.collect()
    }

    /// For how many rows a published row stands.
    fn weight(&self, row: u32) -> f64 {
        let row = row as usize;
        (self.rows.starts[row + 1] - self.rows.starts[row]) as f64
    }

    fn draw_stratum(
        &self,
        leaf: &Stratum,
        mut likely: Vec<f64>,
        random: &mut ChaCha20Rng,
    ) -> Vec<u32> {
        // A value that was published once may be missing from the bootstrap, and nothing
        // would be left that it can come from.
        let total: f64 = likely.iter().sum();
        let trace = 1e-9 * (total + 1.0) / likely.len() as f64;
        likely.iter_mut().for_each(|count| *count = count.max(0.0) + trace);
        let sizes = self.joint.sizes();
        let mut posteriors = Posteriors::new(self.joint, &sizes, likely);
        // Rows with the same published value one after another.
        let mut order: Vec<usize> = (0..leaf.rows.len()).collect();
        let value = |place: usize| self.published[leaf.rows[place] as usize];
        order.sort_by_key(|place| value(*place));
        let mut starts = Vec::with_capacity(order.len());
        let mut n_drawn = 0;
        for row in &leaf.rows {
            starts.push(n_drawn);
            n_drawn += self.weight(*row) as usize;
        }
        let mut drawn = vec![0; n_drawn];
        for place in order {
            posteriors.turn_to(value(place) as usize);
            let n = self.weight(leaf.rows[place]) as usize;
            for drawn in &mut drawn[starts[place]..][..n] {
                *drawn = posteriors.draw(random);
            }
        }
        drawn
    }
}

/// The posteriors of true values, one after the other.
struct Posteriors<'a> {
    joint: &'a Joint<'a>,
    sizes: &'a [usize],
    likely: Vec<f64>,
    /// The published value this is about.
    published: Option<usize>,
    /// How likely, in the same unit as the sums, the published value is the true one because
    /// it was kept; zero unless others can come from anywhere.
    kept: f64,
    /// Sums of how likely true values are up to each.
    sums: Vec<f64>,
    /// Whether the sums are the same whatever was published.
    shared: bool,
}

impl<'a> Posteriors<'a> {
    fn new(joint: &'a Joint<'a>, sizes: &'a [usize], likely: Vec<f64>) -> Self {
        let kept = joint.kept();
        let shared = kept.is_some();
        let sums = kept.map_or_else(Vec::new, |kept| {
            let each = likely.iter().zip(kept);
            running(each.map(|(f, keep)| f * (1.0 - keep) / kept.len() as f64))
        });
        Self { joint, sizes, likely, published: None, kept: 0.0, sums, shared }
    }

    fn turn_to(&mut self, published: usize) {
        if self.published == Some(published) {
            return;
        }
        self.published = Some(published);
        if self.shared {
            let keep = self.joint.kept().map_or(0.0, |kept| kept[published]);
            self.kept = keep * self.likely[published];
            return;
        }
        let shown = digits(published, self.sizes);
        let chance = |(value, f): (usize, &f64)| {
            f * self.joint.entry(&shown, &digits(value, self.sizes))
        };
        self.sums = running(self.likely.iter().enumerate().map(chance));
    }

    fn draw(&self, random: &mut ChaCha20Rng) -> u32 {
        let rest = self.sums.last().copied().unwrap_or(0.0);
        let point = random.random::<f64>() * (self.kept + rest);
        if point < self.kept {
            return self.published.unwrap_or(0) as u32;
        }
        let point = point - self.kept;
        let place = self.sums.partition_point(|sum| *sum <= point);
        if place < self.sums.len() {
            return place as u32;
        }
        // Rounded up to the whole: the last value that is possible at all.
        self.sums.partition_point(|sum| *sum < rest) as u32
    }
}

fn running(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    let add = |value| {
        sum += value;
        sum
    };
    values.map(add).collect()
}
