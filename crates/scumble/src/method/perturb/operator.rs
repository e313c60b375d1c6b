//! Matrices that say how a value is published.

use serde::{Deserialize, Serialize};

/// Every published probability is a multiple of this, 2^-40.
pub const GRAIN: f64 = 1.0 / (1u64 << 40) as f64;

/// The largest multiple of [`GRAIN`] not above `share`, which is from 0 to 1.
pub fn round_down(share: f64) -> f64 {
    (share / GRAIN).floor() * GRAIN
}

/// How a value of a domain is published as a value of the same domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "operator", rename_all = "kebab-case")]
pub enum Operator {
    /// Kept with the same probability whatever it is, otherwise drawn from the whole domain.
    Uniform {
        /// The probability.
        keep: f64,
        /// How many values the domain has.
        size: usize,
    },
    /// Kept with a probability of its own, otherwise drawn from the whole domain.
    FineGrain {
        /// The probability for each value.
        keep: Vec<f64>,
    },
    /// Anything else.
    General {
        /// For each original value, how likely it is published as each value. Each sums to
        /// 1 exactly.
        columns: Vec<Vec<f64>>,
    },
}

impl Operator {
    /// How many values the domain has.
    pub fn size(&self) -> usize {
        match self {
            Self::Uniform { size, .. } => *size,
            Self::FineGrain { keep } => keep.len(),
            Self::General { columns } => columns.len(),
        }
    }

    /// How likely `original` is published as `published`.
    pub fn entry(&self, published: usize, original: usize) -> f64 {
        let mixed = |keep: f64| {
            let other = (1.0 - keep) / self.size() as f64;
            if published == original { keep + other } else { other }
        };
        match self {
            Self::Uniform { keep, .. } => mixed(*keep),
            Self::FineGrain { keep } => mixed(keep[original]),
            Self::General { columns } => columns[original][published],
        }
    }

    /// The expected share of rows published as they are, if values have these weights.
    pub fn record_utility(&self, weights: &[f64]) -> f64 {
        let total: f64 = weights.iter().sum();
        let kept =
            weights.iter().enumerate().map(|(code, w)| w * self.entry(code, code));
        kept.sum::<f64>() / total
    }
}
