//! What the worst adversary believes after seeing a published value.

use scumble::method::perturb::Operator;

/// A belief that moved as far as it can.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moved {
    /// The value that was believed in.
    pub(crate) value: usize,
    /// The value that was seen.
    pub(crate) seen: usize,
    /// The only other value that was thought possible.
    pub(crate) other: usize,
    /// How many times as likely the one leads to what was seen as the other.
    pub(crate) ratio: f64,
    /// The belief after.
    pub(crate) after: f64,
}

/// The lowest that a belief of `before` in a value can fall to.
///
/// Of all priors that give the value `before`, the worst puts the rest on the one value
/// most likely to lead to what is seen.
pub(crate) fn lowest(operator: &Operator, value: usize, before: f64) -> Option<Moved> {
    let of = |seen: usize, other: usize| {
        operator.entry(seen, other) / operator.entry(seen, value)
    };
    extreme(operator.size(), value, of, |ratio| {
        before / (before + (1.0 - before) * ratio)
    })
}

/// The highest that a belief of `before` in a value can rise to.
pub(crate) fn highest(operator: &Operator, value: usize, before: f64) -> Option<Moved> {
    let of = |seen: usize, other: usize| {
        operator.entry(seen, value) / operator.entry(seen, other)
    };
    extreme(operator.size(), value, of, |ratio| {
        before / (before + (1.0 - before) / ratio)
    })
}

fn extreme(
    size: usize,
    value: usize,
    ratio: impl Fn(usize, usize) -> f64,
    after: impl Fn(f64) -> f64,
) -> Option<Moved> {
    let others = (0..size).filter(|other| *other != value);
    let moves = others.flat_map(|other| (0..size).map(move |seen| (seen, other))).map(
        |(seen, other)| {
            let ratio = ratio(seen, other);
            Moved { value, seen, other, ratio, after: after(ratio) }
        },
    );
    // A value that is never published is never seen.
    moves
        .filter(|moved| moved.ratio.is_finite() && moved.ratio > 0.0)
        .max_by(|a, b| a.ratio.total_cmp(&b.ratio))
}

/// What is believed of each value after seeing one, by Bayes' rule.
pub(crate) fn after(operator: &Operator, prior: &[f64], seen: usize) -> Vec<f64> {
    let joint = prior
        .iter()
        .enumerate()
        .map(|(code, belief)| belief * operator.entry(seen, code));
    let joint: Vec<f64> = joint.collect();
    let total: f64 = joint.iter().sum();
    joint.iter().map(|share| share / total).collect()
}

/// Every way to write `total` as a sum of `parts` numbers.
pub(crate) fn sums(total: u32, parts: usize) -> Vec<Vec<u32>> {
    if parts == 1 {
        return vec![vec![total]];
    }
    let first = (0..=total).flat_map(|first| {
        sums(total - first, parts - 1).into_iter().map(move |mut rest| {
            rest.insert(0, first);
            rest
        })
    });
    first.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No prior on a fine grid moves a belief further than the worst one.
    #[test]
    fn the_worst_prior_is_the_worst_of_a_grid() {
        let operator = Operator::FineGrain { keep: vec![0.5, 0.3, 0.1, 0.25] };
        for value in 0..4 {
            for before in 1..20 {
                let low = lowest(&operator, value, f64::from(before) / 20.0).unwrap();
                let high = highest(&operator, value, f64::from(before) / 20.0).unwrap();
                let (mut least, mut most) = (1.0_f64, 0.0_f64);
                for rest in sums(20 - before, 3) {
                    let mut prior: Vec<f64> =
                        rest.iter().map(|n| f64::from(*n) / 20.0).collect();
                    prior.insert(value, f64::from(before) / 20.0);
                    for seen in 0..4 {
                        let belief = after(&operator, &prior, seen)[value];
                        least = least.min(belief);
                        most = most.max(belief);
                    }
                }
                assert!((least - low.after).abs() < 1e-12, "{least} {low:?}");
                assert!((most - high.after).abs() < 1e-12, "{most} {high:?}");
            }
        }
    }
}
