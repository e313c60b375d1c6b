//! Coins: what is expected below a cut that was looked at once and refused.
//!
//! The adversary knows that the cut is refused for certain where a side breaks the promise,
//! and with just the chance that is needed otherwise: extreme numbers of the other side
//! first, until the mean of all that are refused is back in the range.

use crate::audit::attacks::reversal::SearchRule;
use crate::audit::cells::ln_choose;

/// How many of the `rows` are expected among the `below` people, given that the look at the
/// cut was refused; nothing if none is refused, or none accepted: then nobody looks.
pub(super) fn expected_below(
    below: u64,
    rest: u64,
    rows: u64,
    rule: SearchRule,
) -> Option<f64> {
    let keeps = |x: u64| rule.keeps(x, below) && rule.keeps(rows - x, rest);
    let numbers = rows.saturating_sub(rest)..=below.min(rows);
    let ways = numbers.map(|x| (x, ln_choose(below, x) + ln_choose(rest, rows - x)));
    let (mut kept, mut broken): (Vec<_>, Vec<_>) = ways.partition(|(x, _)| keeps(*x));
    if kept.is_empty() || broken.is_empty() {
        return None;
    }
    // What breaks the promise may be unlikely: all is relative to the likeliest of that.
    let likeliest = broken.iter().map(|(_, ln)| *ln).fold(f64::NEG_INFINITY, f64::max);
    for (_, ways) in kept.iter_mut().chain(&mut broken) {
        *ways = (*ways - likeliest).exp();
    }
    let refused: f64 = broken.iter().map(|(_, ways)| ways).sum();
    let mean = broken.iter().map(|(x, ways)| ways * *x as f64).sum::<f64>() / refused;

    let (min, max) = (rule.range.min.to_f64(), rule.range.max.to_f64());
    let (a, b, n) = (below as f64, rest as f64, rows as f64);
    let (low, high) = ((a * min).max(n - b * max), (a * max).min(n - b * min));
    let harm = |bound: f64| (mean - bound).abs() * refused;
    if mean > high {
        is_enough(harm(high), high, kept.into_iter()).then_some(high)
    } else if mean < low {
        is_enough(harm(low), low, kept.into_iter().rev()).then_some(low)
    } else {
        Some(mean)
    }
}

/// Whether refusing some of the kept numbers, the most helpful first, makes up for the harm
/// while something is left to be accepted.
fn is_enough(
    mut harm: f64,
    bound: f64,
    kept: impl Iterator<Item = (u64, f64)>,
) -> bool {
    for (x, ways) in kept {
        let help = (bound - x as f64).abs() * ways;
        if help > harm {
            return true;
        }
        harm -= help;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::attacks::reversal::tests::rule;

    /// One row, eleven people, at most one in ten. If the one person of the first value is
    /// in the table the cut must be refused, which alone would give them away. Refusing
    /// nine tenths of the others' ways, too, leaves a tenth for each side.
    #[test]
    fn a_refusal_is_brought_back_to_the_bound() {
        let mean = expected_below(1, 10, 1, rule(0.0, 0.1, 1)).unwrap();
        assert!((mean - 0.1).abs() < 1e-12);
        // Nothing can be done if the others break the promise, too.
        assert!(expected_below(1, 9, 1, rule(0.0, 0.1, 1)).is_none());
        // Nor is there anything to do.
        assert!(expected_below(5, 5, 1, rule(0.0, 1.0, 1)).is_none());
    }

    #[test]
    fn means_stay_in_the_range_for_all_sizes() {
        let mut looked = 0;
        for people in 2..24u64 {
            for rows in 1..people {
                for below in 1..people {
                    for (min, max, k) in [(0.0, 0.4, 1), (0.2, 0.6, 1), (0.0, 0.5, 2)] {
                        let rule = rule(min, max, k);
                        let rest = people - below;
                        let all = rows as f64 / people as f64;
                        let mean = expected_below(below, rest, rows, rule)
                            .filter(|_| all >= min && all <= max);
                        let Some(mean) = mean else { continue };
                        looked += 1;
                        let other = (rows as f64 - mean) / rest as f64;
                        for share in [mean / below as f64, other] {
                            assert!(share > min - 1e-12 && share < max + 1e-12);
                        }
                    }
                }
            }
        }
        assert!(looked > 1000, "{looked}");
    }
}
