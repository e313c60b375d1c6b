//! Counts of values made shares of a class: drawn towards all rows, and scaled to shares that
//! are known.
//!
//! # Guarantee
//! No value of a column is impossible in any class. Values that are counted alike have the
//! same shares. Scaling ends with classes that add up to 1, and values whose shares over all
//! classes are near the known ones, nearer with each step.
//!
//! # Source
//! docs/methods.md, "Learned estimates".

/// Each class is drawn towards all rows as if it had so many rows like them.
const PULL: f64 = 4.0;

/// Every value is as likely as if so many rows were spread evenly over all.
const FLOOR: f64 = 0.5;

/// So many sweeps scale classes to the shares of a column.
const SWEEPS: usize = 8;

/// How a mixture is smoothed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Smoothing {
    pub(crate) pull: f64,
    pub(crate) floor: f64,
}

impl Default for Smoothing {
    fn default() -> Self {
        Self { pull: PULL, floor: FLOOR }
    }
}

/// Makes counts of a column shares in each class, drawn towards those of all rows.
pub(crate) fn smooth(counts: &mut [f64], even: &[f64], n: usize, smoothing: Smoothing) {
    let Smoothing { pull, floor } = smoothing;
    let total: f64 = counts.iter().sum();
    let mut sums = vec![0.0; n];
    for (counts, even) in counts.chunks_exact_mut(n).zip(even) {
        let own: f64 = counts.iter().sum();
        let all = match total > 0.0 {
            true => (own + floor * even) / (total + floor),
            false => *even,
        };
        for (count, sum) in counts.iter_mut().zip(&mut sums) {
            *count += pull * all;
            *sum += *count;
        }
    }
    for (counts, even) in counts.chunks_exact_mut(n).zip(even) {
        for (count, sum) in counts.iter_mut().zip(&sums) {
            // A class that nobody is in is as if nothing were known.
            *count = if *sum > 0.0 { *count / sum } else { *even };
        }
    }
}

/// Scales the values of each class so that all classes together have the shares of a column.
pub(crate) fn rake(values: &mut [f64], weights: &[f64], margin: &[f64]) {
    let n = weights.len();
    for _ in 0..SWEEPS {
        let mut sums = vec![0.0; n];
        for (values, share) in values.chunks_exact_mut(n).zip(margin) {
            let own: f64 = values.iter().zip(weights).map(|(f, w)| f * w).sum();
            let scale = if own > 0.0 { share / own } else { 0.0 };
            for (value, sum) in values.iter_mut().zip(&mut sums) {
                *value *= scale;
                *sum += *value;
            }
        }
        for values in values.chunks_exact_mut(n) {
            let pairs = values.iter_mut().zip(&sums).filter(|(_, sum)| **sum > 0.0);
            pairs.for_each(|(value, sum)| *value /= sum);
        }
    }
}
