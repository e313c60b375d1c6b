//! What a question adds up.

use crate::error::Result;
use crate::estimate::evidence::{Evidence, Nature};
use crate::estimate::query::Measure;
use crate::estimate::tally::numbers;

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
        let numbers = numbers(column, measure)?;
        let of_row = column.codes.iter().map(|code| numbers[*code as usize]);
        Ok(Self::Known(of_row.collect()))
    }
}
