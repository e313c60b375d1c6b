//! Fine-grain perturbation: keep each value with a probability of its own, otherwise draw
//! from the whole domain.
//!
//! # Guarantee
//! Every limit holds, and no other probabilities publish more rows as they are (but for
//! rounding down by one or two grains of 2^-40).
//!
//! *Proof.* That a value i is published as itself at most γ times as likely as another j
//! reads (m - 1) pᵢ + γᵢ pⱼ ≤ γᵢ - 1, and two-sided also (m - 1) pⱼ + γᵢ pᵢ ≤ γᵢ - 1; all
//! other ratios follow. Every limit of a value sees only the largest p of the others.
//! Let k have the largest, T. Then all others have at most T, at most what their own
//! limits leave below T, and at most what the limits of k leave below T:
//! with cᵢ(T) = (γᵢ (1 - T) - 1)/(m - 1) and sᵢ(T) = 1 - ((m - 1) T + 1)/γᵢ, upward
//! pᵢ ≤ min(T, cᵢ(T), sₖ(T)), and two-sided pᵢ ≤ min(T, cᵢ(T), sᵢ(T), cₖ(T), sₖ(T)).
//! Taking each as large as this keeps every limit. For a given k the sum is concave in T
//! and is climbed by halving; k is any of the m values. c, s and T meet where
//! T = (γ - 1)/(m - 1 + γ); beyond it the smaller of c and s is s if γ < m - 1, else c,
//! and grows with γ. So in the order of γ those below the common cap come first, and sums
//! over them are differences of running sums. Lowering any p keeps all limits. ∎
//!
//! # Limits
//! Upward limits do not stop downward breaches unless all γ are equal: the source's
//! Theorem 7 is wrong there. Two-sided ones do.
//!
//! # Cost
//! O(m log m) for m values.
//!
//! # Source
//! `chaytor2010randomization`, chapter 4; docs/methods.md, "Fine-grain perturbation".
//! The search is ours.

use super::{GRAIN, Limits, Operator};
use crate::promise::Breaches;

/// How often an interval is halved: to the precision of a float.
const HALVINGS: usize = 64;

/// The operator of its kind that publishes most rows as they are, if values have these
/// weights.
pub fn fine_grain(limits: Limits<'_>, weights: &[f64]) -> Operator {
    let size = limits.gammas.len();
    if size < 2 || limits.gammas.iter().all(|gamma| gamma.is_infinite()) {
        return Operator::FineGrain { keep: vec![1.0; size] };
    }
    let search = ShareSearch::new(limits, weights);
    let (mut most, mut best) = (f64::NEG_INFINITY, (0, 0.0));
    for place in 0..size {
        let top = search.climb(place);
        let sum = search.at(place, top).0;
        if sum > most {
            (most, best) = (sum, (place, top));
        }
    }
    // One grain less than the grain below outweighs every rounding on the way.
    let keep = search
        .keep(best.0, best.1)
        .into_iter()
        .map(|p| ((p / GRAIN).floor() - 1.0).max(0.0) * GRAIN)
        .collect();
    Operator::FineGrain { keep }
}

/// A straight line over T.
#[derive(Debug, Clone, Copy)]
struct Line {
    start: f64,
    slope: f64,
}

impl Line {
    fn at(self, top: f64) -> f64 {
        self.start + self.slope * top
    }
}

/// Values in the order of their γ. A *place* is a number in this order.
struct ShareSearch {
    code_of: Vec<usize>,
    weights: Vec<f64>,
    /// What the limits of a value leave it itself.
    own: Vec<Line>,
    /// What they leave the others, if it is the one kept most.
    cap: Vec<Line>,
    /// The largest T of each.
    most: Vec<f64>,
    /// How many have a finite γ.
    finite: usize,
    /// Sums of weights, and of weighted lines, over all places before.
    weight_before: Vec<f64>,
    line_before: Vec<Line>,
}

impl ShareSearch {
    fn new(limits: Limits<'_>, weights: &[f64]) -> Self {
        let size = limits.gammas.len();
        let others = (size - 1) as f64;
        let mut code_of: Vec<usize> = (0..size).collect();
        code_of.sort_by(|a, b| limits.gammas[*a].total_cmp(&limits.gammas[*b]));
        let gammas: Vec<f64> =
            code_of.iter().map(|code| limits.gammas[*code]).collect();
        let weights: Vec<f64> = code_of.iter().map(|code| weights[*code]).collect();
        let c =
            |gamma: f64| Line { start: (gamma - 1.0) / others, slope: -gamma / others };
        let s = |gamma: f64| Line { start: 1.0 - 1.0 / gamma, slope: -others / gamma };
        // Where c and s of a value are zero.
        let c_ends = |gamma: f64| 1.0 - 1.0 / gamma;
        let s_ends = |gamma: f64| (gamma - 1.0) / others;
        let least = |place: usize| gammas[usize::from(place == 0)];
        let (own, cap, most): (Vec<Line>, Vec<Line>, Vec<f64>) = match limits.breaches {
            Breaches::Upward => (
                gammas.iter().map(|gamma| c(*gamma)).collect(),
                gammas.iter().map(|gamma| s(*gamma)).collect(),
                (0..size)
                    .map(|place| c_ends(least(place)).min(s_ends(gammas[place])))
                    .collect(),
            ),
            Breaches::Both => {
                let lower = |gamma: &f64| {
                    let by_s = *gamma < others || gamma.is_infinite();
                    if by_s { s(*gamma) } else { c(*gamma) }
                };
                let lines: Vec<Line> = gammas.iter().map(lower).collect();
                let most = c_ends(gammas[0]).min(s_ends(gammas[0]));
                (lines.clone(), lines, vec![most; size])
            }
        };
        let finite = gammas.partition_point(|gamma| gamma.is_finite());
        let mut weight_before = vec![0.0];
        let mut line_before = vec![Line { start: 0.0, slope: 0.0 }];
        let (mut weight, mut sum) = (0.0, Line { start: 0.0, slope: 0.0 });
        for (place, w) in weights.iter().enumerate() {
            weight += w;
            if place < finite {
                sum.start += w * own[place].start;
                sum.slope += w * own[place].slope;
            }
            weight_before.push(weight);
            line_before.push(sum);
        }
        let most = most.into_iter().map(|top: f64| top.clamp(0.0, 1.0)).collect();
        Self { code_of, weights, own, cap, most, finite, weight_before, line_before }
    }

    /// What all but `place` may have at most, and how it grows with T.
    fn cap(&self, place: usize, top: f64) -> (f64, f64) {
        let cap = self.cap[place].at(top);
        if cap < top { (cap, self.cap[place].slope) } else { (top, 1.0) }
    }

    /// The weighted sum of all p if `place` has the largest, and how it grows.
    fn at(&self, place: usize, top: f64) -> (f64, f64) {
        let (cap, rise) = self.cap(place, top);
        let low = self.own[..self.finite].partition_point(|line| line.at(top) < cap);
        let (weight, own) = (self.weights[place], self.own[place]);
        let Line { mut start, mut slope } = self.line_before[low];
        let all = self.weight_before.last().copied().unwrap_or(0.0);
        let mut capped = all - self.weight_before[low];
        if place < low {
            start -= weight * own.start;
            slope -= weight * own.slope;
        } else {
            capped -= weight;
        }
        let sum = weight * top + start + slope * top + capped * cap;
        (sum, weight + slope + capped * rise)
    }

    /// The best T if `place` has the largest p.
    fn climb(&self, place: usize) -> f64 {
        let (mut low, mut high) = (0.0, self.most[place]);
        if self.at(place, high).1 >= 0.0 {
            return high;
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if self.at(place, middle).1 > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// All p by code, not below zero.
    fn keep(&self, place: usize, top: f64) -> Vec<f64> {
        let (cap, _) = self.cap(place, top);
        let mut keep = vec![0.0; self.code_of.len()];
        for (other, code) in self.code_of.iter().enumerate() {
            keep[*code] = if other == place {
                top
            } else if other < self.finite {
                cap.min(self.own[other].at(top)).max(0.0)
            } else {
                cap.max(0.0)
            };
        }
        keep
    }
}

#[cfg(test)]
#[path = "fine_grain_tests.rs"]
mod tests;
