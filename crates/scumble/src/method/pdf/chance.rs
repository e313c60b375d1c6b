//! Probabilities of presence, and the range they must stay in.

use crate::decimal::Decimal;

/// How far inside the range a probability must be that is known up to rounding.
///
/// The errors of this folder's sums grow with the number of people at worst; at a
/// quarter of a million they are still below this. Tests find them below 1e-10 at 45,222.
const MARGIN: f64 = 1e-9;

/// A probability, known exactly or up to rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Chance {
    /// A ratio of counts.
    Exact {
        /// The numerator.
        part: u64,
        /// The denominator, not 0.
        whole: u64,
    },
    /// Within a billionth of the true value.
    Near(f64),
}

impl Chance {
    /// What never happens.
    pub const NEVER: Self = Self::Exact { part: 0, whole: 1 };
    /// What is certain.
    pub const ALWAYS: Self = Self::Exact { part: 1, whole: 1 };

    /// As a float.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Exact { part, whole } => part as f64 / whole as f64,
            Self::Near(value) => value,
        }
    }
}

/// The presence that is allowed, both ends included.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    /// The smallest.
    pub min: Decimal,
    /// The largest.
    pub max: Decimal,
}

impl Range {
    /// Whether the probability is in the range for certain. Ratios are compared in
    /// integers; what is known up to rounding must be inside by a margin, except at 0 and
    /// 1, beyond which nothing can be.
    pub fn holds(&self, chance: Chance) -> bool {
        match chance {
            Chance::Exact { part, whole } => {
                let (part, whole) = (u128::from(part), u128::from(whole));
                self.max.at_least(part, whole) && !self.min.exceeds(part, whole)
            }
            Chance::Near(value) => {
                let low =
                    !self.min.exceeds(0, 1) || value >= self.min.to_f64() + MARGIN;
                let high =
                    self.max.at_least(1, 1) || value <= self.max.to_f64() - MARGIN;
                low && high
            }
        }
    }

    /// Whether every probability is allowed.
    pub(super) fn is_all(&self) -> bool {
        self.max.at_least(1, 1) && !self.min.exceeds(0, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(min: f64, max: f64) -> Range {
        let decimal = |value| Decimal::from_f64("presence", value).unwrap();
        Range { min: decimal(min), max: decimal(max) }
    }

    #[test]
    fn a_ratio_at_the_end_of_the_range_is_inside() {
        let tenth = Chance::Exact { part: 1, whole: 10 };
        assert!(range(0.1, 0.1).holds(tenth));
        assert!(!range(0.100000000001, 1.0).holds(tenth));
        assert!(!range(0.0, 0.099999999999).holds(tenth));
    }

    #[test]
    fn a_rounded_number_at_the_end_of_the_range_is_not() {
        assert!(!range(0.1, 1.0).holds(Chance::Near(0.1)));
        assert!(!range(0.0, 0.1).holds(Chance::Near(0.1)));
        assert!(range(0.1, 0.2).holds(Chance::Near(0.15)));
    }

    #[test]
    fn nothing_is_below_zero_or_above_one() {
        assert!(range(0.0, 1.0).holds(Chance::Near(0.0)));
        assert!(range(0.0, 1.0).holds(Chance::Near(1.0)));
        assert!(range(0.0, 1.0).is_all());
        assert!(!range(0.0, 0.999).is_all());
    }

    #[test]
    fn not_a_number_is_in_no_range() {
        assert!(!range(0.1, 0.9).holds(Chance::Near(f64::NAN)));
    }
}
