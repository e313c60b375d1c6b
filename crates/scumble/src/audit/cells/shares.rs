//! How likely people are to be in the table, and whether that is known for certain.

use crate::audit::cells::People;
use crate::decimal::Decimal;

/// How far inside the range a share must be that is known up to rounding. Sums here have
/// positive terms only: their relative errors stay below this for any group that is
/// looked at.
const MARGIN: f64 = 1e-10;

/// Between which shares the presence of everybody must lie, both included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PresenceRange {
    pub(crate) min: Decimal,
    pub(crate) max: Decimal,
}

/// The share of worlds with a person in the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Share {
    /// A ratio of whole numbers; the second is above zero.
    Exact(u128, u128),
    /// Up to rounding.
    Near(f64),
    /// No more than a guess: nothing can be certified.
    Guess(f64),
}

impl Share {
    /// `part` of `whole`, where nothing of nothing is nothing.
    pub(crate) fn of(part: u64, whole: u64) -> Self {
        Self::Exact(part.into(), whole.max(1).into())
    }

    /// A ratio in lowest terms. Beyond 2^80 it is a float: comparing it with a decimal
    /// would not be exact.
    pub(crate) fn ratio(part: u128, whole: u128) -> Self {
        let (mut a, mut b) = (part, whole);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        let (part, whole) = (part / a.max(1), whole / a.max(1));
        if whole >> 80 == 0 {
            Self::Exact(part, whole.max(1))
        } else {
            Self::Near(part as f64 / whole as f64)
        }
    }

    pub(crate) fn to_f64(self) -> f64 {
        match self {
            Self::Exact(part, whole) => part as f64 / whole as f64,
            Self::Near(share) | Self::Guess(share) => share,
        }
    }

    /// Whether it is in the range for certain.
    pub(crate) fn is_in(self, range: PresenceRange) -> bool {
        // Nothing is below 0 or above 1, whatever the rounding and whatever is unknown.
        let (any_low, any_high) = (!range.min.exceeds(0, 1), range.max.at_least(1, 1));
        match self {
            Self::Exact(part, whole) => {
                !range.min.exceeds(part, whole) && range.max.at_least(part, whole)
            }
            Self::Near(share) => {
                (any_low || share >= range.min.to_f64() + MARGIN)
                    && (any_high || share <= range.max.to_f64() - MARGIN)
            }
            Self::Guess(_) => any_low && any_high,
        }
    }
}

/// A share for everybody.
#[derive(Debug)]
pub(crate) struct Shares {
    /// Every share that somebody has.
    pub(crate) distinct: Vec<Share>,
    /// Which of them each distinct tuple of the population has.
    pub(crate) of_tuple: Vec<u32>,
}

impl Shares {
    /// Everybody has the share of their group, given for each group and then for people
    /// who fit none.
    pub(crate) fn by_group(people: &People<'_>, shares: Vec<Share>) -> Self {
        let others = shares.len() as u32 - 1;
        let of_tuple = people.group_of.iter().map(|group| group.unwrap_or(others));
        Self { of_tuple: of_tuple.collect(), distinct: shares }
    }

    /// Everybody has a share of their own, given for the tuples of each group.
    pub(crate) fn by_tuple(
        people: &People<'_>,
        tuples: &[Vec<u32>],
        shares: impl Iterator<Item = Vec<Share>>,
    ) -> Self {
        let mut distinct = vec![Share::of(people.inside.left_out, people.unpublished)];
        let mut of_tuple = vec![0; people.group_of.len()];
        for (tuples, shares) in tuples.iter().zip(shares) {
            for (tuple, share) in tuples.iter().zip(shares) {
                if distinct.last() != Some(&share) {
                    distinct.push(share);
                }
                of_tuple[*tuple as usize] = distinct.len() as u32 - 1;
            }
        }
        Self { distinct, of_tuple }
    }

    /// The share of every tuple.
    pub(crate) fn all(&self) -> impl Iterator<Item = Share> {
        self.of_tuple.iter().map(|place| self.distinct[*place as usize])
    }

    /// The shares of all tuples as an adversary believes them.
    pub(crate) fn beliefs(&self) -> Vec<f64> {
        self.all().map(Share::to_f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(min: f64, max: f64) -> PresenceRange {
        let decimal = |value| Decimal::from_f64("share", value).unwrap();
        PresenceRange { min: decimal(min), max: decimal(max) }
    }

    #[test]
    fn both_ends_are_in_the_range() {
        let range = range(0.1, 0.3);
        assert!(Share::of(1, 10).is_in(range) && Share::of(3, 10).is_in(range));
        assert!(!Share::of(0, 10).is_in(range) && !Share::of(31, 100).is_in(range));
    }

    #[test]
    fn what_is_rounded_must_be_inside() {
        assert!(!Share::Near(0.3).is_in(range(0.1, 0.3)));
        assert!(Share::Near(0.29).is_in(range(0.1, 0.3)));
        assert!(Share::Near(1.0).is_in(range(0.1, 1.0)));
        assert!(!Share::Near(f64::NAN).is_in(range(0.1, 0.3)));
        assert!(!Share::Guess(0.2).is_in(range(0.1, 0.3)));
        assert!(Share::Guess(0.2).is_in(range(0.0, 1.0)));
    }

    #[test]
    fn ratios_are_reduced_as_long_as_they_can_be_compared() {
        let large = 1u128 << 100;
        assert_eq!(Share::ratio(3 * large, 4 * large), Share::Exact(3, 4));
        assert_eq!(Share::ratio(0, large), Share::Exact(0, 1));
        assert!(matches!(Share::ratio(large, 3 * (large + 1)), Share::Near(_)));
    }
}
