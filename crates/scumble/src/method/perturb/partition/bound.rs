//! The error bound of a sub-table.

use super::{Inside, PartitionTask, Subtable};
use crate::promise::amplification;

/// How likely an estimate is to be within its error bound: the source's 95 %.
pub const CONFIDENCE: f64 = 0.95;

/// The values that occur, as positions ascending by code.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) codes: Vec<u32>,
    pub(super) counts: Vec<u64>,
    /// Which of `posteriors` protects each value, if any.
    pub(super) class: Vec<Option<usize>>,
    /// The different posteriors below 1, ascending.
    posteriors: Vec<f64>,
    /// How much one row of each value matters.
    per_row: Vec<f64>,
    inside: Inside,
}

impl Values {
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
            codes: present.iter().map(|code| *code as u32).collect(),
            counts: present.iter().map(|code| task.counts[*code]).collect(),
            class: present.iter().map(|code| class(*code)).collect(),
            per_row: present.iter().map(|code| per_row(*code)).collect(),
            inside: task.inside,
            posteriors,
        }
    }
}

/// Rows put together, and what they cost as one sub-table.
#[derive(Debug)]
pub(super) struct Tally<'a> {
    values: &'a Values,
    counts: Vec<u64>,
    /// The values with rows.
    used: Vec<usize>,
    n_rows: u64,
    /// The most rows of a value of each class.
    most: Vec<u64>,
    /// How many entries were ever added or looked at.
    pub(super) steps: u64,
}

impl<'a> Tally<'a> {
    pub(super) fn new(values: &'a Values) -> Self {
        Self {
            counts: vec![0; values.counts.len()],
            used: Vec::new(),
            n_rows: 0,
            most: vec![0; values.posteriors.len()],
            steps: 0,
            values,
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

    /// What the rows add to the sum of error bounds weighted by rows; infinite if they may
    /// not be a sub-table.
    pub(super) fn cost(&mut self) -> f64 {
        self.steps += match self.values.inside {
            Inside::Uniform => self.most.len(),
            Inside::FineGrain => self.used.len(),
        } as u64;
        self.loss().map_or(f64::INFINITY, |loss| self.bound(loss) * self.n_rows as f64)
    }

    /// The error bound: a / √n (m ℓ + 1), a = 2 √(ln (2 / (1 - confidence))).
    fn bound(&self, loss: f64) -> f64 {
        let a = 2.0 * (2.0 / (1.0 - CONFIDENCE)).ln().sqrt();
        a / (self.n_rows as f64).sqrt() * (self.used.len() as f64 * loss + 1.0)
    }

    /// ℓ: 1 / (γ - 1), as in the source; if γ differs between values, the mean by weight.
    /// Nothing if some protected value is too common.
    fn loss(&self) -> Option<f64> {
        if self.values.inside == Inside::Uniform {
            return self.least_gamma().map(|gamma| 1.0 / (gamma - 1.0));
        }
        let (mut sum, mut total) = (0.0, 0.0);
        for &at in &self.used {
            let weight = self.values.per_row[at] * self.counts[at] as f64;
            let gamma = self.gamma(at)?;
            sum += weight / (gamma - 1.0);
            total += weight;
        }
        Some(if total > 0.0 { sum / total } else { 0.0 })
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
            codes: used.iter().map(|at| self.values.codes[*at]).collect(),
            counts: used.iter().map(|at| self.counts[*at]).collect(),
            prior: most as f64 / self.n_rows as f64,
            gammas: used.iter().map(gamma).collect::<Option<_>>()?,
            bound: self.bound(self.loss()?),
        })
    }
}

/// The amplification of a share, if it is below the posterior.
fn allowed(count: u64, n_rows: u64, posterior: f64) -> Option<f64> {
    let gamma = amplification(count as f64 / n_rows as f64, posterior);
    (gamma > 1.0).then_some(gamma)
}
