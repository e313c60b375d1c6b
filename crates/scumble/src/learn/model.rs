//! How the values of groups depend on what is seen of their rows: a multinomial logistic model,
//! learned from groups alone.
//!
//! # Guarantee
//! Rounds never make the groups that are learned from less likely, and end when those that are
//! held out become so. Each half of the groups is judged by what the other half taught, and
//! so is what is said about it: a model that tells nothing new gains nothing.
//!
//! *Why.* A row with codes `c` has value `v` with a probability in proportion to
//! `b(v) * product of r(column, c, v)`. Given these, values of a group are dealt to its rows by
//! all arrangements (`arrangements.rs`), which says how many rows of each kind have each
//! value. Given those numbers, the ratios of a column are multiplied by how often code and
//! value are found together over how often they are expected. Of the indicators of a column's
//! codes exactly one is 1 in each row, so this is iterative scaling, which never makes what
//! was dealt less likely; and what was dealt is the expectation step of EM.
//! Each code of a column also stands for [`SLOWNESS`] rows of its own, with values as in the
//! whole table, which hold ratios near 1 where few rows speak: a ridge.
//!
//! # Limits
//! Columns act one by one: what only two of them together tell is not learned. In groups
//! that always have the same values nothing tells rows apart, and nothing is learned.
//!
//! # Cost
//! A round is that of the arrangements of all groups, and kinds of rows times values times
//! columns. More than [`MOST_PAIRS`] pairs of rows and values are not learned from: whole
//! groups are left out, and very large ones always.
//!
//! # Source
//! `kifer2009definetti` for what can be learned; `darroch1972scaling`; docs/methods.md,
//! "Learned arrangements".

use hashbrown::HashMap;
use rand_chacha::ChaCha20Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use crate::learn::arrangements::{Alike, deal_nearly, likelihood};
use crate::learn::groups::Groups;
use crate::learn::seen::SeenColumn;
use crate::watch::Watch;

/// No more rounds of learning.
const ROUNDS: usize = 60;

/// Rounds without getting better before it is given up.
const PATIENCE: usize = 3;

/// How much likelier a held-out group must become, in nats, for a round to count.
const BETTER: f64 = 1e-5;

/// How much likelier all of them must become that something was learned. Of what tells
/// nothing a half of a chi-square with one degree of freedom is expected at most.
const LEARNED: f64 = 6.0;

/// As many rows of the whole table each code of a column stands for.
const SLOWNESS: f64 = 20.0;

/// Updates of all columns for each deal of values.
const CYCLES: usize = 2;

/// No more pairs of rows and values are learned from.
const MOST_PAIRS: u64 = 1 << 20;

/// What was learned.
#[derive(Debug)]
pub(crate) struct Learned {
    columns: Vec<SeenColumn>,
    n_values: usize,
    /// By each half of the groups: for each column the ratios of its codes, value by value.
    halves: [Vec<Vec<f64>>; 2],
    /// How many rows were learned from.
    pub(crate) rows: u64,
}

impl Learned {
    /// Learns from groups of tuples of which this is seen, each group as often as its weight
    /// says; nothing if what is learned does not make held-out groups likelier.
    pub(crate) fn from(
        groups: &Groups,
        columns: Vec<SeenColumn>,
        n_values: usize,
        weight: &(dyn Fn(usize) -> f64 + Sync),
        watch: &dyn Watch,
    ) -> Option<Self> {
        let columns: Vec<SeenColumn> =
            columns.into_iter().flat_map(SeenColumn::with_wider).collect();
        let learner = Learner::new(groups, &columns, n_values, weight);
        let rows = learner.rows;
        let both: Vec<(Vec<Vec<f64>>, f64)> =
            (0..2usize).map(|half| learner.learn(half, watch)).collect();
        // How much likelier the values of held-out groups are than without, in nats.
        let gain: f64 = both.iter().map(|(_, gain)| gain).sum();
        let halves: Vec<Vec<Vec<f64>>> =
            both.into_iter().map(|(ratios, _)| ratios).collect();
        let halves: [Vec<Vec<f64>>; 2] = halves.try_into().ok()?;
        let learned = Self { columns, n_values, halves, rows };
        (gain > LEARNED).then_some(learned)
    }

    /// The members of a group and how well its values fit them, by what other groups taught;
    /// and how often each value is there.
    pub(crate) fn rows_of(
        &self,
        groups: &Groups,
        group: usize,
    ) -> (Vec<Alike>, Vec<f64>) {
        self.rows_by(groups, group, 1 - half_of(group))
    }

    /// The same by what one of the halves taught.
    pub(crate) fn rows_by(
        &self,
        groups: &Groups,
        group: usize,
        half: usize,
    ) -> (Vec<Alike>, Vec<f64>) {
        self.rows_with(groups, group, &self.halves[half])
    }

    /// The same by ratios that were moved.
    pub(crate) fn rows_with(
        &self,
        groups: &Groups,
        group: usize,
        ratios: &[Vec<f64>],
    ) -> (Vec<Alike>, Vec<f64>) {
        let values = groups.values(group);
        let rows = groups.members(group).iter().map(|(tuple, n)| {
            let fit = |(value, _): &(u32, u64)| -> f64 {
                let each = self.columns.iter().zip(ratios).map(|(column, ratios)| {
                    let code = column.codes[*tuple as usize] as usize;
                    ratios[code * self.n_values + *value as usize]
                });
                each.product()
            };
            let fits: Vec<f64> = values.iter().map(fit).collect();
            let most = fits.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            (*n as f64, fits.into_iter().map(|fit| fit / most).collect())
        });
        (rows.collect(), values.iter().map(|(_, n)| *n as f64).collect())
    }

    /// A model between those of the two halves, as far from their middle as they are apart:
    /// for each code of a column somewhere else.
    pub(crate) fn moved(&self, random: &mut ChaCha20Rng) -> Vec<Vec<f64>> {
        let [first, second] = &self.halves;
        let columns = first.iter().zip(second).map(|(first, second)| {
            let codes = first.chunks(self.n_values).zip(second.chunks(self.n_values));
            let moved = codes.flat_map(|(first, second)| {
                let by: f64 = StandardNormal.sample(random);
                first.iter().zip(second).map(move |(first, second)| {
                    let (first, second) = (first.ln(), second.ln());
                    ((first + second) / 2.0 + by * (first - second) / 2.0).exp()
                })
            });
            moved.collect()
        });
        columns.collect()
    }
}

/// The half that a group is in.
pub(crate) fn half_of(group: usize) -> usize {
    let mut word = (group as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((word ^ (word >> 31)) & 1) as usize
}

/// Groups of rows of kinds that cannot be told apart.
struct Learner<'a> {
    n_values: usize,
    /// The code of each kind, column by column, and how many codes there are.
    columns: Vec<(Vec<u32>, usize)>,
    n_kinds: usize,
    /// The groups of each half, with their weights: rows by kind, and values.
    halves: [Vec<Seen<'a>>; 2],
    rows: u64,
}

/// A group.
struct Seen<'a> {
    weight: f64,
    kinds: Vec<(u32, f64)>,
    values: &'a [(u32, u64)],
}

impl<'a> Learner<'a> {
    fn new(
        groups: &'a Groups,
        columns: &[SeenColumn],
        n_values: usize,
        weight: &(dyn Fn(usize) -> f64 + Sync),
    ) -> Self {
        let usable = |group: &usize| !groups.is_too_large(*group);
        let all = (0..groups.len()).filter(usable);
        let all: u64 = all.map(|group| groups.pairs(group)).sum();
        // Every so many-th, if they are too many.
        let step = (all.div_ceil(MOST_PAIRS)).max(1) as usize;
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut kinds: Vec<Vec<u32>> = Vec::new();
        let mut halves = [Vec::new(), Vec::new()];
        let mut rows = 0;
        for group in (0..groups.len()).filter(usable).step_by(step) {
            let weight = weight(group);
            if weight <= 0.0 {
                continue;
            }
            let mut own: Vec<(u32, f64)> = Vec::new();
            for (tuple, n) in groups.members(group) {
                let codes = columns.iter().map(|column| column.codes[*tuple as usize]);
                let key: Vec<u32> = codes.collect();
                let kind = *numbers.entry(key).or_insert_with_key(|key| {
                    kinds.push(key.clone());
                    kinds.len() as u32 - 1
                });
                match own.iter_mut().find(|(known, _)| *known == kind) {
                    Some((_, rows)) => *rows += *n as f64,
                    None => own.push((kind, *n as f64)),
                }
                rows += n;
            }
            halves[half_of(group)].push(Seen {
                weight,
                kinds: own,
                values: groups.values(group),
            });
        }
        let n_kinds = kinds.len();
        let columns = columns.iter().enumerate().map(|(place, column)| {
            (kinds.iter().map(|kind| kind[place]).collect(), column.n_codes)
        });
        Self { n_values, columns: columns.collect(), n_kinds, halves, rows }
    }

    /// Learns from one half; the ratios, and how much likelier they make the other.
    fn learn(&self, half: usize, watch: &dyn Watch) -> (Vec<Vec<f64>>, f64) {
        let n_values = self.n_values;
        let even = self.columns.iter().map(|(_, n)| vec![1.0; n * n_values]);
        let mut ratios: Vec<Vec<f64>> = even.collect();
        let mut best = (ratios.clone(), 0.0);
        let mut rows_of = vec![0.0; self.n_kinds];
        let mut base = vec![0.0; n_values];
        for group in &self.halves[half] {
            for (kind, n) in &group.kinds {
                rows_of[*kind as usize] += group.weight * n;
            }
            for (value, n) in group.values {
                base[*value as usize] += group.weight * *n as f64;
            }
        }
        let total: f64 = base.iter().sum();
        if total <= 0.0 {
            return best;
        }
        // A value that only the other half has is as rare as one can be.
        base.iter_mut().for_each(|n| *n = n.max(0.5) / total);
        let mut believed: Vec<f64> =
            (0..self.n_kinds).flat_map(|_| base.clone()).collect();
        let mut shares = base.clone();
        let (mut reached, mut since) = (0.0, 0);
        for _ in 0..ROUNDS {
            if since == PATIENCE || watch.is_cancelled() {
                break;
            }
            let found = self.dealt(half, &believed, &shares);
            for _ in 0..CYCLES {
                self.step(
                    &found,
                    &rows_of,
                    &base,
                    &mut believed,
                    &mut ratios,
                    &mut shares,
                );
            }
            let likely = self.likelihood(1 - half, &believed, &shares);
            since += 1;
            if likely > reached + BETTER * self.halves[1 - half].len() as f64 {
                since = 0;
            }
            if likely > best.1 {
                best = (ratios.clone(), likely);
            }
            reached = f64::max(likely, reached);
        }
        best
    }

    /// How well the values of a group fit its rows.
    fn fits(
        &self,
        group: &Seen<'_>,
        believed: &[f64],
        shares: &[f64],
    ) -> (Vec<Alike>, Vec<f64>) {
        let rows = group.kinds.iter().map(|(kind, n)| {
            let own = &believed[*kind as usize * self.n_values..];
            let fits = group.values.iter().map(|(value, _)| {
                let value = *value as usize;
                own[value] / shares[value].max(1e-12)
            });
            (*n, fits.collect())
        });
        (rows.collect(), group.values.iter().map(|(_, n)| *n as f64).collect())
    }

    /// How many rows of each kind of a half have each value.
    fn dealt(&self, half: usize, believed: &[f64], shares: &[f64]) -> Vec<f64> {
        let dealt: Vec<Vec<Vec<f64>>> = self.halves[half]
            .par_iter()
            .with_min_len(64)
            .map(|group| {
                let (rows, counts) = self.fits(group, believed, shares);
                deal_nearly(&rows, &counts)
            })
            .collect();
        let mut found = vec![0.0; believed.len()];
        for (group, dealt) in self.halves[half].iter().zip(dealt) {
            for ((kind, _), dealt) in group.kinds.iter().zip(dealt) {
                let own = &mut found[*kind as usize * self.n_values..];
                for ((value, _), n) in group.values.iter().zip(dealt) {
                    own[*value as usize] += group.weight * n;
                }
            }
        }
        found
    }

    /// How much likelier the values of the groups of a half are than without what is seen.
    fn likelihood(&self, half: usize, believed: &[f64], shares: &[f64]) -> f64 {
        let each = self.halves[half].par_iter().with_min_len(64).map(|group| {
            let (rows, counts) = self.fits(group, believed, shares);
            group.weight * likelihood(&rows, &counts)
        });
        each.collect::<Vec<f64>>().into_iter().sum()
    }

    /// Moves the ratios of one column after the other, and what is believed of each kind with
    /// them; `shares` become those of values over all rows.
    fn step(
        &self,
        found: &[f64],
        rows_of: &[f64],
        base: &[f64],
        believed: &mut [f64],
        ratios: &mut [Vec<f64>],
        shares: &mut [f64],
    ) {
        let n_values = self.n_values;
        for ((codes, n_codes), ratios) in self.columns.iter().zip(ratios) {
            let mut have = vec![0.0; n_codes * n_values];
            let mut expected = vec![0.0; n_codes * n_values];
            for (kind, code) in codes.iter().enumerate() {
                let (own, to) = (kind * n_values, *code as usize * n_values);
                let n = rows_of[kind];
                if n <= 0.0 {
                    continue;
                }
                for value in 0..n_values {
                    have[to + value] += found[own + value];
                    expected[to + value] += n * believed[own + value];
                }
            }
            let mut moves = vec![1.0; n_codes * n_values];
            for code in 0..*n_codes {
                let own = code * n_values..(code + 1) * n_values;
                let all = ratios[own.clone()].iter().zip(base).map(|(r, b)| r * b);
                let all: f64 = all.sum();
                for (place, base) in own.zip(base) {
                    let lent = SLOWNESS * base;
                    let moved = (have[place] + lent)
                        / (expected[place] + lent * ratios[place] / all);
                    let ratio = (ratios[place] * moved).clamp(1e-6, 1e6);
                    moves[place] = ratio / ratios[place];
                    ratios[place] = ratio;
                }
            }
            for (kind, code) in codes.iter().enumerate() {
                let own = &mut believed[kind * n_values..(kind + 1) * n_values];
                let moves = &moves[*code as usize * n_values..];
                own.iter_mut().zip(moves).for_each(|(b, m)| *b *= m);
                let total: f64 = own.iter().sum();
                own.iter_mut().for_each(|b| *b /= total);
            }
        }
        shares.fill(0.0);
        let mut total = 0.0;
        for (believed, n) in believed.chunks(n_values).zip(rows_of) {
            shares.iter_mut().zip(believed).for_each(|(s, b)| *s += n * b);
            total += n;
        }
        shares.iter_mut().for_each(|s| *s /= total.max(f64::MIN_POSITIVE));
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
