//! Sums that become an answer.

use crate::error::{Error, Result};
use crate::estimate::evidence::Column;
use crate::estimate::laws::perturbed::Estimate;
use crate::estimate::query::Measure;
use crate::table::{Kind, parse_number};

/// The numbers of a column's values, nought for missing ones.
pub(crate) fn numbers(column: &Column, measure: &Measure) -> Result<Vec<f64>> {
    let number = |text: &str| {
        let missing = column.reading.is_missing(text);
        if missing { Some(0.0) } else { parse_number(text) }
    };
    let numbers = match column.reading.kind {
        Kind::Date => None,
        _ => column.texts.iter().map(|text| number(text)).collect(),
    };
    numbers.ok_or_else(|| no_numbers(&column.name, measure))
}

/// That a column cannot be added up.
pub(crate) fn no_numbers(name: &str, measure: &Measure) -> Error {
    let function = measure.function();
    Error::recipe(format!("`{name}` does not have numbers to take {function} of"))
}

/// The answers that there are: of all rows there must be one.
pub(crate) fn answers(
    estimates: Vec<Estimate>,
    group_by: &[usize],
) -> Result<Vec<Estimate>> {
    if estimates.is_empty() && group_by.is_empty() {
        let message = "there is no mean: no row satisfies the condition";
        return Err(Error::recipe(message));
    }
    Ok(estimates)
}

/// What rows add to an answer: means and variances of how many they are and of the sum of
/// their numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) count: f64,
    pub(crate) sum: f64,
    pub(crate) count_variance: f64,
    pub(crate) sum_variance: f64,
    pub(crate) covariance: f64,
    /// How many rows count for certain.
    pub(crate) sure: f64,
    /// How many may.
    pub(crate) possible: f64,
    /// What the draw of one row of each group adds to variances.
    pub(crate) draws: Draws,
    /// Rows of which something was taken from other rows.
    pub(crate) guess: Guess,
}

/// Sums over rows of which something is guessed: how many, the means of their counts, sums
/// and squares.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Guess {
    pub(crate) rows: f64,
    pub(crate) count: f64,
    pub(crate) sum: f64,
    pub(crate) square: f64,
}

impl Guess {
    pub(crate) fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.count += other.count;
        self.sum += other.sum;
        self.square += other.square;
    }
}

/// Sums over rows that were drawn, one of each group, of the squares of what they stand for:
/// alone, times weights, and times products of weights.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Draws {
    count: f64,
    sum: f64,
    counts: f64,
    sums: f64,
    both: f64,
}

impl Draws {
    /// Rows whose sizes have this sum of squares, with these weights in count and sum.
    pub(crate) fn new(squares: f64, count: f64, sum: f64) -> Self {
        Self {
            count: squares * count,
            sum: squares * sum,
            counts: squares * count * count,
            sums: squares * sum * sum,
            both: squares * count * sum,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.counts += other.counts;
        self.sums += other.sums;
        self.both += other.both;
    }
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.count_variance += other.count_variance;
        self.sum_variance += other.sum_variance;
        self.covariance += other.covariance;
        self.sure += other.sure;
        self.possible += other.possible;
        self.draws.add(&other.draws);
        self.guess.add(&other.guess);
    }

    /// The same for rows that add a number more, if they count.
    pub(crate) fn shifted(self, number: f64) -> Self {
        let (moved, both) = (number * self.count_variance, self.covariance);
        Self {
            sum: self.sum + number * self.count,
            sum_variance: self.sum_variance + number * (moved + 2.0 * both),
            covariance: both + moved,
            ..self
        }
    }

    /// Adds the variance of guesses. All of them may be wrong in the same way, so it is that
    /// of one row, as often as there are such rows.
    pub(crate) fn guessed(&mut self) {
        let Guess { rows, count, sum, square } = self.guess;
        if rows > 0.0 {
            self.count_variance += (count * (rows - count)).max(0.0);
            self.sum_variance += (rows * square - sum * sum).max(0.0);
            self.covariance += sum * (rows - count);
        }
    }

    /// Adds the variance of the draw of one row of each group, as if groups were alike;
    /// `all` is the sum of the squares of all rows.
    pub(crate) fn centre(&mut self, all: f64) {
        let Draws { count, sum, counts, sums, both } = self.draws;
        self.count_variance += (counts - count * count / all).max(0.0);
        self.sum_variance += (sums - sum * sum / all).max(0.0);
        self.covariance += both - count * sum / all;
    }

    /// The answer; nothing if it is the mean of no rows.
    pub(crate) fn estimate(
        &self,
        measure: &Measure,
        values: Vec<String>,
    ) -> Option<Estimate> {
        let unlimited = (f64::NEG_INFINITY, f64::INFINITY);
        let (number, variance, (at_least, at_most)) = match measure {
            Measure::Count => {
                (self.count, self.count_variance, (self.sure, self.possible))
            }
            Measure::Sum(_) => (self.sum, self.sum_variance, unlimited),
            Measure::Mean(_) if self.count > 0.0 => {
                // How the ratio moves with its parts.
                let mean = self.sum / self.count;
                let variance = self.sum_variance - 2.0 * mean * self.covariance
                    + mean * mean * self.count_variance;
                // What is left by rounding where both parts move alike.
                let least = 1e-12 * self.sum_variance;
                let variance = if variance > least { variance } else { 0.0 };
                (mean, variance / (self.count * self.count), unlimited)
            }
            Measure::Mean(_) | Measure::Share(_) => return None,
        };
        Some(Estimate {
            values,
            count: number,
            unbiased: Some(number),
            standard_error: Some(variance.max(0.0).sqrt()),
            at_least,
            at_most,
        })
    }
}
