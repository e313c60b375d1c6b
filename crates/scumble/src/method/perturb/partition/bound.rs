//! The error bound of a sub-table.

use std::ops::{AddAssign, SubAssign};

use super::{Entries, Inside, PartitionTask, Subtable};
use crate::method::perturb::ValueId;
use crate::promise::amplification;
use crate::watch::Watch;

/// How likely an estimate is to be within its error bound: the source's 95 %.
pub const CONFIDENCE: f64 = 0.95;

/// The values that occur, as positions ascending by code.
#[derive(Debug)]
pub(super) struct PresentValues {
    pub(super) values: Vec<ValueId>,
    pub(super) counts: Vec<u64>,
    /// Which of `posteriors` protects each value, if any.
    pub(super) class: Vec<Option<usize>>,
    /// The different posteriors below 1, ascending.
    posteriors: Vec<f64>,
    /// How much one row of each value matters.
    per_row: Vec<f64>,
    inside: Inside,
}

impl PresentValues {
    pub(super) fn new(task: &PartitionTask<'_>) -> Self {
        let present: Vec<usize> =
            (0..task.counts.len()).filter(|code| task.counts[*code] > 0).collect();
        let posterior = |code: usize| task.posteriors[code].filter(|p| *p < 1.0);
        let mut posteriors: Vec<f64> =
            present.iter().filter_map(|code| posterior(*code)).collect();
        posteriors.sort_by(f64::total_cmp);
        posteriors.dedup();
        let class = |code: usize| {
            posterior(code).map(|p| posteriors.partition_point(|q| *q < p))
        };
        let per_row = |code: usize| {
            task.weights.map_or(1.0, |w| w[code] / task.counts[code] as f64)
        };
        Self {
            values: present.iter().map(|code| ValueId::from_index(*code)).collect(),
            counts: present.iter().map(|code| task.counts[*code]).collect(),
            class: present.iter().map(|code| class(*code)).collect(),
            per_row: present.iter().map(|code| per_row(*code)).collect(),
            inside: task.inside,
            posteriors,
        }
    }
}

/// What rows are worth as one sub-table.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct SubtableWorth {
    /// What they add to the sum of error bounds weighted by rows.
    pub(super) cost: f64,
    /// The probability to keep a value.
    pub(super) keep: f64,
}

impl SubtableWorth {
    /// The cost of a block, where keeping more than `mean` is worth `pay`. Nothing costs
    /// nothing.
    pub(super) fn price(self, mean: f64, pay: f64) -> f64 {
        if self.cost > 0.0 { self.cost + pay * (mean - self.keep) } else { 0.0 }
    }
}

impl AddAssign for SubtableWorth {
    fn add_assign(&mut self, other: Self) {
        self.cost += other.cost;
        self.keep += other.keep;
    }
}

impl SubAssign for SubtableWorth {
    fn sub_assign(&mut self, other: Self) {
        self.cost -= other.cost;
        self.keep -= other.keep;
    }
}

/// Rows put together, and what they cost as one sub-table.
#[derive(Debug)]
pub(super) struct MergedRows<'a> {
    values: &'a PresentValues,
    counts: Vec<u64>,
    /// The values with rows.
    used: Vec<usize>,
    n_rows: u64,
    /// The most rows of a value of each class.
    most: Vec<u64>,
    /// How many entries were ever added or looked at.
    pub(super) steps: u64,
    /// Who follows the search. Once it is no longer wanted, what it finds means nothing.
    pub(super) watch: &'a dyn Watch,
}

impl<'a> MergedRows<'a> {
    pub(super) fn new(values: &'a PresentValues, watch: &'a dyn Watch) -> Self {
        Self {
            counts: vec![0; values.counts.len()],
            used: Vec::new(),
            n_rows: 0,
            most: vec![0; values.posteriors.len()],
            steps: 0,
            values,
            watch,
        }
    }

    pub(super) fn clear(&mut self) {
        self.used.drain(..).for_each(|at| self.counts[at] = 0);
        self.most.fill(0);
        self.n_rows = 0;
    }

    pub(super) fn add(&mut self, group: &[(usize, u64)]) {
        for &(at, rows) in group {
            if self.counts[at] == 0 {
                self.used.push(at);
            }
            self.counts[at] += rows;
            self.n_rows += rows;
            if let Some(class) = self.values.class[at] {
                self.most[class] = self.most[class].max(self.counts[at]);
            }
        }
        self.steps += group.len() as u64;
    }

    /// How much more work than adding an entry it is to price it.
    pub(super) fn effort(&self) -> u64 {
        if self.values.inside == Inside::Uniform { 1 } else { 8 }
    }

    /// What the rows are worth as a sub-table; nothing if they may not be one.
    pub(super) fn worth(&mut self) -> Option<SubtableWorth> {
        self.steps += match self.values.inside {
            Inside::Uniform => self.most.len() as u64,
            Inside::FineGrain => self.used.len() as u64 * self.effort(),
        };
        let keep = self.keep()?;
        Some(SubtableWorth { cost: self.n_rows as f64 * self.bound(keep), keep })
    }

    /// What some groups are worth as a sub-table; without groups, nothing but 0.
    pub(super) fn worth_of(
        &mut self,
        groups: &[Entries],
        block: &[usize],
    ) -> Option<SubtableWorth> {
        self.clear();
        block.iter().for_each(|group| self.add(&groups[*group]));
        if block.is_empty() { Some(SubtableWorth::default()) } else { self.worth() }
    }

    /// The error bound: a / (√n p), a = 2 √(ln (2 / (1 - confidence))). With
    /// p = (γ - 1) / (m - 1 + γ) this is the source's a / √n (m / (γ - 1) + 1).
    fn bound(&self, keep: f64) -> f64 {
        let a = 2.0 * (2.0 / (1.0 - CONFIDENCE)).ln().sqrt();
        a / ((self.n_rows as f64).sqrt() * keep)
    }

    /// The probability to keep a row's value, on average. Nothing if some protected value is
    /// too common.
    fn keep(&self) -> Option<f64> {
        let size = self.used.len() as f64;
        if self.values.inside == Inside::Uniform {
            return self.least_gamma().map(|gamma| uniform(gamma, size));
        }
        let part = |at: &usize| {
            let weight = self.values.per_row[*at] * self.counts[*at] as f64;
            Some((self.gamma(*at)?, weight))
        };
        let mut parts: Vec<(f64, f64)> =
            self.used.iter().map(part).collect::<Option<_>>()?;
        Some(fine_grain(&mut parts))
    }

    /// The amplification that protects every value.
    fn least_gamma(&self) -> Option<f64> {
        let mut least = f64::INFINITY;
        for (&most, &posterior) in self.most.iter().zip(&self.values.posteriors) {
            if most > 0 {
                least = least.min(allowed(most, self.n_rows, posterior)?);
            }
        }
        Some(least)
    }

    /// The amplification that protects one value.
    fn gamma(&self, at: usize) -> Option<f64> {
        match self.values.class[at] {
            None => Some(f64::INFINITY),
            Some(class) => {
                allowed(self.counts[at], self.n_rows, self.values.posteriors[class])
            }
        }
    }

    /// The rows as a sub-table, if they may be one.
    pub(super) fn subtable(&self) -> Option<Subtable> {
        let mut used = self.used.clone();
        used.sort_unstable();
        let common = self.least_gamma()?;
        let gamma = |at: &usize| match (self.values.inside, self.values.class[*at]) {
            (Inside::Uniform, Some(_)) => Some(common),
            _ => self.gamma(*at),
        };
        let most = self.most.iter().max().copied().unwrap_or(0);
        Some(Subtable {
            values: used.iter().map(|at| self.values.values[*at]).collect(),
            counts: used.iter().map(|at| self.counts[*at]).collect(),
            prior: most as f64 / self.n_rows as f64,
            gammas: used.iter().map(gamma).collect::<Option<_>>()?,
            bound: self.bound(self.keep()?),
        })
    }
}

/// The largest probability to keep that uniform perturbation of `size` values may have.
fn uniform(gamma: f64, size: f64) -> f64 {
    if gamma.is_infinite() { 1.0 } else { (gamma - 1.0) / (size - 1.0 + gamma) }
}

/// The largest mean probability to keep that fine-grain perturbation may have, of values
/// with these amplifications and weights.
///
/// Let P be the largest probability of all. A value may have min(P, (γ - 1 - γP) / (m - 1)),
/// which rises with P up to what uniform perturbation by its γ would keep, then falls. The
/// mean is concave in P and has its top at one of these points, unless P stops before where
/// some value has nothing left, at (γ - 1) / γ.
pub(super) fn fine_grain(parts: &mut [(f64, f64)]) -> f64 {
    let size = parts.len() as f64;
    let mut total: f64 = parts.iter().map(|(_, weight)| weight).sum();
    if total <= 0.0 {
        parts.iter_mut().for_each(|(_, weight)| *weight = 1.0);
        total = size;
    }
    parts.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let least = parts[0].0;
    let end = if least.is_infinite() { 1.0 } else { (least - 1.0) / least };
    // The mean as `level` + `slope` P, beyond the points passed.
    let (mut level, mut slope) = (0.0, total);
    for &(gamma, weight) in &*parts {
        let point = uniform(gamma, size);
        let fall = gamma / (size - 1.0) * weight;
        if point >= end || slope - weight - fall <= 0.0 {
            return (level + slope * point.min(end)) / total;
        }
        level += (gamma - 1.0) / (size - 1.0) * weight;
        slope -= weight + fall;
    }
    (level + slope * end) / total
}

/// The amplification of a share, if it is below the posterior.
fn allowed(count: u64, n_rows: u64, posterior: f64) -> Option<f64> {
    let gamma = amplification(count as f64 / n_rows as f64, posterior);
    (gamma > 1.0).then_some(gamma)
}
