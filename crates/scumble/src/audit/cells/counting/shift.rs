//! Undoing a shift of weights towards even ones.

use crate::audit::cells::counting::{CodeCounts, ROUNDING, count_of};
use crate::table::Code;

/// Below this weights are taken to be even.
const EVEN: f64 = 1e-12;

/// For each shift that could be the one, the counts of every column. Nothing if the weights
/// are even, which every shift explains.
///
/// Weights are `u + s (o - u)`, with u even over the listed values, o the table's own and s
/// the same in all columns of a group. With n rows, two values of a column differ by
/// `n s (o - o') = s d` in n times their weight, where d is a whole number up to n: so there
/// are n shifts to try, and few of them make all counts of all columns whole numbers that
/// people can have.
pub(crate) fn recover(
    weights: &[&[(Code, f64)]],
    capacity: &[CodeCounts],
    rows: u64,
) -> Option<Vec<Vec<CodeCounts>>> {
    let spread = |column: &&[(Code, f64)]| {
        let values = column.iter().map(|(_, weight)| *weight);
        values.clone().fold(0.0, f64::max) - values.fold(1.0, f64::min)
    };
    let widest = weights.iter().map(spread).fold(0.0, f64::max);
    if widest < EVEN {
        return None;
    }
    let n = rows as f64;
    let mut found = Vec::new();
    for difference in 1..=rows {
        let shift = n * widest / difference as f64;
        // Shifts are at most 1.
        if shift > 1.0 + ROUNDING {
            continue;
        }
        let columns = weights.iter().zip(capacity);
        let counts: Option<Vec<CodeCounts>> = columns
            .map(|(weights, capacity)| counts(weights, capacity, n, shift))
            .collect();
        found.extend(counts);
    }
    Some(found)
}

/// The counts of a column before the shift, if they are counts.
fn counts(
    weights: &[(Code, f64)],
    capacity: &CodeCounts,
    n: f64,
    shift: f64,
) -> Option<CodeCounts> {
    let even = 1.0 / weights.len() as f64;
    // The smaller the shift, the more the last digits of the weights matter.
    let rounding = (1e-14 * n / shift).clamp(1e-9, ROUNDING);
    let count = |(code, weight): &(Code, f64)| {
        let exact = n * (even + (weight - even) / shift);
        let whole = exact.round();
        let fits = (exact - whole).abs() <= rounding && whole >= 0.0;
        (fits && whole as u64 <= count_of(capacity, *code))
            .then_some((*code, whole as u64))
    };
    weights.iter().map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shifted(counts: &[u64], shift: f64) -> Vec<(Code, f64)> {
        let n: u64 = counts.iter().sum();
        let even = 1.0 / counts.len() as f64;
        let weight = |count: &u64| even + shift * (*count as f64 / n as f64 - even);
        Code::first(counts.len()).zip(counts.iter().map(weight)).collect()
    }

    fn counts(counts: &[u64]) -> CodeCounts {
        Code::first(counts.len()).zip(counts.iter().copied()).collect()
    }

    #[test]
    fn any_shift_is_undone() {
        let (one, two) = ([7u64, 0, 3, 1], [5u64, 6]);
        let capacity = vec![counts(&[20, 9, 8, 8]), counts(&[21, 24])];
        for shift in [1.0, 0.9, 0.5, 1.0 / 3.0, 0.123_456_789, 0.001] {
            let (a, b) = (shifted(&one, shift), shifted(&two, shift));
            let found = recover(&[&a, &b], &capacity, 11).expect("not even");
            let plain =
                |found: &CodeCounts| found.iter().map(|(_, n)| *n).collect::<Vec<_>>();
            let found: Vec<[Vec<u64>; 2]> =
                found.iter().map(|of| [plain(&of[0]), plain(&of[1])]).collect();
            assert_eq!(found, [[one.to_vec(), two.to_vec()]], "{shift}");
        }
    }

    #[test]
    fn even_weights_say_nothing() {
        let even = shifted(&[2, 2], 0.7);
        assert!(recover(&[&even], &[counts(&[9, 9])], 4).is_none());
    }

    #[test]
    fn of_two_values_several_shifts_may_remain() {
        let weights = shifted(&[3, 1], 0.5);
        let found = recover(&[&weights], &[counts(&[9, 9])], 4).expect("not even");
        let firsts: Vec<u64> = found.iter().map(|counts| counts[0][0].1).collect();
        assert_eq!(firsts, [3, 4]);
    }
}
