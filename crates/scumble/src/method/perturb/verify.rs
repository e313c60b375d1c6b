//! Whether a matrix keeps its limits, in integers.
//!
//! # Guarantee
//! For every value i with a finite γ and every other value k: no published value is more
//! than γ times as likely from i as from k, nor, both ways, from k as from i. A matrix that
//! is no distribution for each value keeps nothing.
//!
//! # Limits
//! It looks at the numbers as they are published, multiples of [`GRAIN`], and at γ as a
//! float; both are compared exactly.
//!
//! # Cost
//! O(m) for m values if the rest is drawn from the whole domain, else O(m²).
//!
//! # Source
//! docs/methods.md, "Fine-grain perturbation" and "Optimal general matrices".

use super::{GRAIN, Limits, Operator};
use crate::promise::Breaches;

/// A probability of 1 in multiples of [`GRAIN`].
pub(super) const ONE: u64 = 1 << 40;

/// A probability in multiples of [`GRAIN`]; nothing if it is none.
pub(super) fn grains(share: f64) -> Option<u64> {
    let count = share / GRAIN;
    let whole = (0.0..=ONE as f64).contains(&count) && count.fract() == 0.0;
    whole.then_some(count as u64)
}

/// Whether `left` is at most `gamma` times `right`; `left` is below 2^74 and `right` at
/// most 2^40.
fn at_most(left: u128, gamma: f64, right: u64) -> bool {
    if gamma.is_nan() || gamma < 1.0 {
        return false;
    }
    // A larger factor makes no difference.
    let bits = gamma.min((1u128 << 80) as f64).to_bits();
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    let exponent = (bits >> 52) as i32 - 1075;
    let product = mantissa * u128::from(right);
    match u32::try_from(exponent) {
        Ok(up) => left <= product << up,
        Err(_) => left << exponent.unsigned_abs() <= product,
    }
}

/// The largest and the second largest.
fn two_largest(numbers: impl Iterator<Item = u64>) -> (u64, u64) {
    numbers.fold((0, 0), |(first, second), number| {
        if number > first { (number, first) } else { (first, second.max(number)) }
    })
}

/// Whether a matrix keeps every limit, exactly.
pub fn keeps(operator: &Operator, limits: Limits<'_>) -> bool {
    let size = operator.size();
    if limits.gammas.len() != size {
        return false;
    }
    match operator {
        Operator::Uniform { keep, .. } => {
            let Some(keep) = grains(*keep) else { return false };
            let lowest = limits.gammas.iter().copied().fold(f64::INFINITY, f64::min);
            let nan = limits.gammas.iter().any(|gamma| gamma.is_nan());
            size < 2 || !nan && mixed(keep, keep, lowest, size)
        }
        Operator::FineGrain { keep } => {
            let keep: Option<Vec<u64>> = keep.iter().map(|p| grains(*p)).collect();
            keep.is_some_and(|keep| size < 2 || fine_grain(&keep, limits))
        }
        Operator::General { columns } => {
            let columns: Option<Vec<Vec<u64>>> = columns
                .iter()
                .map(|column| column.iter().map(|p| grains(*p)).collect())
                .collect();
            columns.is_some_and(|columns| general(&columns, limits))
        }
    }
}

/// Whether a value kept with probability `own` may be published `gamma` times as likely
/// from itself as from one kept with probability `other`: (m - 1) own + 1 is at most
/// γ (1 - other).
fn mixed(own: u64, other: u64, gamma: f64, size: usize) -> bool {
    let left = (size as u128 - 1) * u128::from(own) + u128::from(ONE);
    gamma == f64::INFINITY || at_most(left, gamma, ONE - other)
}

fn fine_grain(keep: &[u64], limits: Limits<'_>) -> bool {
    let size = keep.len();
    let (first, second) = two_largest(keep.iter().copied());
    keep.iter().zip(limits.gammas).all(|(own, gamma)| {
        // The largest of the others; if two are largest, both have the same.
        let other = if *own == first { second } else { first };
        let up = mixed(*own, other, *gamma, size);
        up && (limits.breaches == Breaches::Upward || mixed(other, *own, *gamma, size))
    })
}

fn general(columns: &[Vec<u64>], limits: Limits<'_>) -> bool {
    let size = columns.len();
    let distributions = columns
        .iter()
        .all(|column| column.len() == size && column.iter().sum::<u64>() == ONE);
    let gammas = limits.gammas;
    distributions
        && (0..size).all(|row| {
            let entries = || columns.iter().map(|column| column[row]);
            let (low, high) =
                entries().fold((ONE, 0), |(low, high), p| (p.min(low), p.max(high)));
            // That a γ is at least 1 makes comparing a value with itself harmless.
            entries().zip(gammas).all(|(own, gamma)| {
                *gamma == f64::INFINITY
                    || at_most(own.into(), *gamma, low)
                        && (limits.breaches == Breaches::Upward
                            || at_most(high.into(), *gamma, own))
            })
        })
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    use super::*;

    #[test]
    fn products_are_compared_exactly() {
        assert!(at_most(3, 1.5, 2) && !at_most(4, 1.5, 2));
        assert!(at_most(ONE.into(), 1.0, ONE) && !at_most(1 << 41, 1.0, ONE));
        let above = 1.0 + f64::EPSILON;
        assert!(!at_most(u128::from(ONE) + 1, above, ONE));
        assert!(at_most(1 << 73, f64::MAX, 1) && !at_most(1, f64::MAX, 0));
        assert!(!at_most(0, 0.5, 1) && !at_most(0, f64::NAN, 1));
    }

    /// Every inequality one by one, on an entry's exact numerator over m 2^40.
    fn by_definition(operator: &Operator, limits: Limits<'_>) -> bool {
        let m = operator.size();
        let entry = |row: usize, column: usize| -> u128 {
            let keep = match operator {
                Operator::Uniform { keep, .. } => *keep,
                Operator::FineGrain { keep } => keep[column],
                Operator::General { columns } => {
                    return u128::from(grains(columns[column][row]).unwrap())
                        * m as u128;
                }
            };
            let keep = grains(keep).unwrap();
            let kept = if row == column { u128::from(keep) * m as u128 } else { 0 };
            kept + u128::from(ONE - keep)
        };
        // Gammas of these tests are multiples of 1/8.
        let below = |left: u128, gamma: f64, right: u128| {
            gamma.is_infinite() || left * 8 <= (gamma * 8.0) as u128 * right
        };
        (0..m).all(|i| {
            (0..m).filter(|k| *k != i).all(|k| {
                (0..m).all(|row| {
                    let gamma = limits.gammas[i];
                    below(entry(row, i), gamma, entry(row, k))
                        && (limits.breaches == Breaches::Upward
                            || below(entry(row, k), gamma, entry(row, i)))
                })
            })
        })
    }

    #[test]
    fn the_short_check_is_the_long_one() {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let mut seen = [0, 0];
        for round in 0..6000 {
            let m = rng.random_range(2..=5usize);
            let gammas: Vec<f64> = (0..m)
                .map(|_| match rng.random_range(0..8) {
                    0 => f64::INFINITY,
                    _ => 1.0 + f64::from(rng.random_range(0..80u8)) / 8.0,
                })
                .collect();
            let breaches = [Breaches::Upward, Breaches::Both][round % 2];
            let limits = Limits { gammas: &gammas, breaches };
            let mut share = |most: u64| rng.random_range(0..=most) as f64 / 16.0;
            let operator = match round % 3 {
                0 => Operator::Uniform { keep: share(12), size: m },
                1 => Operator::FineGrain { keep: (0..m).map(|_| share(8)).collect() },
                _ => {
                    let spread = share(16) * 0.25;
                    let column = |code| {
                        let mut column = vec![1.0 / 8.0; m];
                        column[code] += spread / 2.0;
                        let rest = 1.0 - column.iter().sum::<f64>();
                        column[(code + 1) % m] += rest.max(0.0);
                        column
                    };
                    Operator::General { columns: (0..m).map(column).collect() }
                }
            };
            let expected = by_definition(&operator, limits);
            let sums = match &operator {
                Operator::General { columns } => {
                    columns.iter().all(|column| column.iter().sum::<f64>() == 1.0)
                }
                _ => true,
            };
            assert_eq!(keeps(&operator, limits), expected && sums, "{operator:?}");
            seen[usize::from(expected && sums)] += 1;
        }
        assert!(seen.iter().all(|count| *count > 500), "{seen:?}");
    }

    #[test]
    fn what_is_no_distribution_keeps_nothing() {
        let limits = Limits { gammas: &[9.0, 9.0], breaches: Breaches::Upward };
        let general = |columns: [[f64; 2]; 2]| {
            let columns = columns.map(Vec::from).to_vec();
            keeps(&Operator::General { columns }, limits)
        };
        assert!(general([[0.5, 0.5], [0.25, 0.75]]));
        assert!(!general([[0.5, 0.5], [0.25, 0.7]]));
        assert!(!general([[0.5, 0.5 + GRAIN], [0.5, 0.5]]));
        assert!(!general([[0.5 - GRAIN / 2.0, 0.5 + GRAIN / 2.0], [0.5, 0.5]]));
        assert!(!keeps(&Operator::Uniform { keep: 0.1, size: 2 }, limits));
        assert!(!keeps(&Operator::Uniform { keep: 0.125, size: 3 }, limits));
    }
}
