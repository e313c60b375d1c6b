//! Numbers of a recipe kept as the decimals that were typed, for exact comparisons.

use std::fmt;

use crate::error::{Error, Result};

/// A non-negative decimal `digits / 10^scale`, exactly as typed.
///
/// A threshold such as `t = 0.3` has no exact binary form: compared as a float, a group
/// at a distance of exactly three tenths would fall on the wrong side. Counts are
/// integers, so every bound that is a ratio of counts is compared in integers.
#[derive(Debug, Clone, Copy)]
pub struct Decimal {
    digits: u64,
    scale: u32,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self { digits: 0, scale: 0 };

    /// The shortest decimal that reads back as `value`.
    pub fn from_f64(name: &str, value: f64) -> Result<Self> {
        let wanted = "a number from 0 with at most 12 decimals";
        let bad = || Error::out_of_range(name, value, wanted);
        if !value.is_finite() || value < 0.0 {
            return Err(bad());
        }
        let text = value.to_string();
        let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
        if decimals.len() > 12 || whole.len() > 6 {
            return Err(bad());
        }
        let digits = format!("{whole}{decimals}").parse().map_err(|_| bad())?;
        Ok(Self { digits, scale: decimals.len() as u32 })
    }

    /// A decimal that is certainly below a positive number which was computed with a
    /// relative error of less than 1e-13, or an absolute one of less than 1e-13; zero if
    /// there is none.
    pub fn below(value: f64) -> Self {
        let value = value.min(1e17);
        let mut scale = 12u32;
        while scale > 0 && value * 10f64.powi(scale as i32) > 1e17 {
            scale -= 1;
        }
        let digits = (value * (1.0 - 1e-12) * 10f64.powi(scale as i32)).floor() - 1.0;
        Self { digits: digits.max(0.0) as u64, scale }
    }

    /// Whether `numerator / denominator <= self`, exactly.
    pub fn at_least(self, numerator: u128, denominator: u128) -> bool {
        self.compare(numerator, denominator).is_le()
    }

    /// Whether `numerator / denominator < self`, exactly.
    pub fn exceeds(self, numerator: u128, denominator: u128) -> bool {
        self.compare(numerator, denominator).is_lt()
    }

    /// The largest whole number not above `self * whole`.
    pub fn share_of(self, whole: u64) -> u64 {
        let product = u128::from(self.digits) * u128::from(whole);
        (product / 10u128.pow(self.scale)) as u64
    }

    /// Whether `self < other`, exactly.
    pub fn less_than(self, other: Self) -> bool {
        other.exceeds(u128::from(self.digits), 10u128.pow(self.scale))
    }

    /// The least whole number r with `part - r <= self (whole - r)`, where `self` is at
    /// most 1: nothing smaller taken out of both makes the part a share of at most `self`.
    pub fn excess(self, part: u64, whole: u64) -> u64 {
        let one = 10u128.pow(self.scale);
        let digits = u128::from(self.digits).min(one);
        let above = u128::from(part)
            .saturating_mul(one)
            .saturating_sub(u128::from(whole).saturating_mul(digits));
        match one - digits {
            0 => 0,
            rest => above.div_ceil(rest).min(u128::from(part)) as u64,
        }
    }

    /// As a float, for display and for estimates.
    pub fn to_f64(self) -> f64 {
        self.digits as f64 / 10f64.powi(self.scale as i32)
    }

    /// Compares `numerator / denominator` with `self`.
    ///
    /// Digits are below 10^18 and counts below 2^64, so a product can pass 2^128 only for
    /// sums of squares of counts; those are compared as floats, where they are far apart.
    fn compare(self, numerator: u128, denominator: u128) -> std::cmp::Ordering {
        let left = numerator.checked_mul(10u128.pow(self.scale));
        let right = denominator.checked_mul(u128::from(self.digits));
        match (left, right) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => (numerator as f64 / denominator as f64).total_cmp(&self.to_f64()),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_tenths_is_three_tenths() {
        let t = Decimal::from_f64("t", 0.3).expect("a decimal");
        assert!(t.at_least(3, 10), "0.3 as a float is below three tenths");
        assert!(!t.exceeds(3, 10));
        assert!(!t.at_least(300_000_001, 1_000_000_000));
    }

    #[test]
    fn below_is_below_and_near() {
        for value in [1e-9f64, 0.693, 1.0, 44.0, 1e6, 4.9e10, 1e16] {
            let below = Decimal::below(value).to_f64();
            assert!(below < value && below > value * (1.0 - 1e-11) - 3e-12, "{value}");
        }
        assert_eq!(Decimal::below(1e-13).to_f64(), 0.0);
        assert!(Decimal::below(f64::INFINITY).to_f64() > 9e16);
    }

    #[test]
    fn a_share_is_rounded_down() {
        let share = Decimal::from_f64("suppression", 0.05).expect("a decimal");
        assert_eq!(share.share_of(100), 5);
        assert_eq!(share.share_of(119), 5);
    }

    #[test]
    fn no_negative_or_infinite_numbers() {
        for value in [-0.1, f64::NAN, f64::INFINITY, 1e-13] {
            assert!(Decimal::from_f64("t", value).is_err());
        }
    }
}
