//! How far answers were off when the publisher, who knows the truth, asked for them.
//!
//! What a release leaves open is taken as even and independent by those who read it, and
//! tables are neither. So the publisher asks random questions before the release appears,
//! compares answers with the table, and says by a few factors how much larger errors are than
//! the law of the release says: the variance of an answer is that of its law and the square
//! of the factor times the largest that its limits allow (`estimate/laws/calibrated.rs`).

use serde::{Deserialize, Serialize};

/// The factors of a release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// How many answers were compared with the table.
    pub questions: u64,
    /// The columns that questions were about. Of others nothing is known.
    pub columns: Vec<String>,
    /// Whether answers rested on what was learned from the release, where it can be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub learned: bool,
    /// A factor for each kind of question.
    pub factors: Vec<CalibrationFactor>,
}

/// By how much answers of a kind were off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationFactor {
    /// What was asked for.
    pub measure: AskedMeasure,
    /// How many columns the release leaves open that the question is about; 3 stands for
    /// more, too.
    pub open: usize,
    /// Which column, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The factor, rounded up on a ladder; nothing if no factor up to 1 was enough.
    pub factor: Option<f64>,
}

/// What a question asks for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum AskedMeasure {
    /// How many rows.
    Count,
    /// The sum of a column.
    Sum,
    /// The mean of a column.
    Mean,
}

/// Steps of the ladder: each factor is the last one times the square root of two.
const RUNGS: i32 = 16;

/// The most open columns that questions are told apart by.
pub const MOST_OPEN: usize = 3;

impl Calibration {
    /// The factor for questions about these open columns; nothing if nobody knows.
    pub fn factor(&self, measure: AskedMeasure, open: &[&str]) -> Option<f64> {
        if open.iter().any(|name| !self.columns.iter().any(|known| known == name)) {
            return None;
        }
        let own = |found: &&CalibrationFactor| found.measure == measure;
        let of = |found: &&CalibrationFactor| match (open, found.column.as_deref()) {
            ([name], Some(column)) => column == *name,
            ([_], None) => false,
            _ => found.open == open.len().min(MOST_OPEN),
        };
        match self.factors.iter().filter(own).find(of) {
            Some(found) => found.factor,
            // Too few were asked: as far off as the farthest kind.
            None => {
                let each = self.factors.iter().filter(own).map(|found| found.factor);
                let each: Option<Vec<f64>> = each.collect();
                each?.into_iter().reduce(f64::max)
            }
        }
    }

    /// The least factor of the ladder that is not below this one; nothing above 1.
    pub fn rung(needed: f64) -> Option<f64> {
        if needed <= 0.0 {
            return Some(0.0);
        }
        let rungs = (0..=RUNGS).map(|rung| 2f64.powf(f64::from(rung - RUNGS) / 2.0));
        // Three digits are enough, and the last is rounded up.
        let rungs = rungs.map(|rung| (rung * 1e4).ceil() / 1e4);
        rungs.into_iter().find(|rung| *rung >= needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(
        open: usize,
        column: Option<&str>,
        factor: Option<f64>,
    ) -> CalibrationFactor {
        let column = column.map(str::to_owned);
        CalibrationFactor { measure: AskedMeasure::Count, open, column, factor }
    }

    #[test]
    fn a_factor_is_that_of_the_kind_of_question() {
        let calibration = Calibration {
            questions: 3,
            columns: ["age", "zip", "sex", "job"].map(str::to_owned).to_vec(),
            learned: false,
            factors: vec![
                factor(1, Some("age"), Some(0.1)),
                factor(1, Some("zip"), None),
                factor(2, None, Some(0.2)),
            ],
        };
        let count = |open: &[&str]| calibration.factor(AskedMeasure::Count, open);
        assert_eq!(count(&["age"]), Some(0.1));
        assert_eq!(count(&["zip"]), None);
        assert_eq!(count(&["age", "zip"]), Some(0.2));
        // Nobody asked so: as bad as the worst.
        assert_eq!(count(&["sex"]), None);
        assert_eq!(count(&["nation"]), None);
        assert_eq!(calibration.factor(AskedMeasure::Sum, &["age"]), None);
        let known =
            Calibration { factors: calibration.factors[..1].to_vec(), ..calibration };
        assert_eq!(known.factor(AskedMeasure::Count, &["sex"]), Some(0.1));
        assert_eq!(known.factor(AskedMeasure::Count, &["sex", "job"]), Some(0.1));
    }

    #[test]
    fn factors_are_rounded_up_on_a_ladder() {
        assert_eq!(Calibration::rung(0.0), Some(0.0));
        assert_eq!(Calibration::rung(1e-9), Some(0.004));
        assert_eq!(Calibration::rung(0.5), Some(0.5));
        assert_eq!(Calibration::rung(0.51), Some(0.7072));
        assert_eq!(Calibration::rung(1.0), Some(1.0));
        assert_eq!(Calibration::rung(1.01), None);
        assert_eq!(Calibration::rung(f64::INFINITY), None);
    }
}
