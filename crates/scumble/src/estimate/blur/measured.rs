//! What a question adds up, and the sums that become an answer.

use crate::error::{Error, Result};
use crate::estimate::evidence::{Column, Evidence, Nature};
use crate::estimate::perturbed::Estimate;
use crate::estimate::query::Measure;
use crate::table::{Kind, parse_number};

/// What is added up.
#[derive(Debug)]
pub(super) enum Measured {
    /// Rows.
    Rows,
    /// Numbers of a column that was not touched: those of each distinct row.
    Known(Vec<f64>),
    /// Numbers of a blurred column.
    Blurred(usize),
}

impl Measured {
    pub(super) fn new(evidence: &Evidence, measure: &Measure) -> Result<Self> {
        let Some(name) = measure.column() else {
            return Ok(Self::Rows);
        };
        let column = &evidence.columns[evidence.column(name)?];
        if let Nature::Blurred(number) = column.nature {
            return Ok(Self::Blurred(number));
        }
        let numbers = numbers(column).ok_or_else(|| {
            let (name, function) = (&column.name, measure.function());
            Error::recipe(format!(
                "`{name}` does not have numbers to take {function} of"
            ))
        })?;
        let of_row = column.codes.iter().map(|code| numbers[*code as usize]);
        Ok(Self::Known(of_row.collect()))
    }
}

/// The numbers of a column's values, nought for missing ones.
fn numbers(column: &Column) -> Option<Vec<f64>> {
    let number = |text: &str| {
        let missing = column.reading.is_missing(text);
        if missing { Some(0.0) } else { parse_number(text) }
    };
    if column.reading.kind == Kind::Date {
        return None;
    }
    column.texts.iter().map(|text| number(text)).collect()
}

/// What rows add to an answer: means and variances of how many they are and of the sum of
/// their numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Share {
    pub(super) count: f64,
    pub(super) sum: f64,
    pub(super) count_variance: f64,
    pub(super) sum_variance: f64,
    pub(super) covariance: f64,
    /// How many rows count for certain.
    pub(super) sure: f64,
    /// How many may.
    pub(super) possible: f64,
}

impl Share {
    pub(super) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.count_variance += other.count_variance;
        self.sum_variance += other.sum_variance;
        self.covariance += other.covariance;
        self.sure += other.sure;
        self.possible += other.possible;
    }

    /// The answer; nothing if it is the mean of no rows.
    pub(super) fn estimate(
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
            Measure::Mean(_) => return None,
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
