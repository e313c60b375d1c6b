//! The best row minima of an upward operator.
//!
//! With smallest entries `low` of the rows and S their sum, value i can be published as
//! itself with min(γᵢ lowᵢ, 1 - S + lowᵢ), and its column can be filled up to 1 if and only
//! if S ≤ 1 ≤ γᵢ S. For a given S this is dealing S out among concave functions of two
//! slopes each, wᵢ γᵢ and then wᵢ: those that gain most come first. What it makes of S is
//! concave, and is climbed by thirds.

use super::Least;

/// How often an interval is cut by a third: to the precision of a float.
const STEPS: usize = 110;

/// What to solve: the smallest γ is finite and above 1, weights sum to 1.
pub(super) struct Upward<'a> {
    gammas: &'a [f64],
    weights: &'a [f64],
    least: Least,
    lowest: f64,
    /// Values in the order they gain, as far as they gain more than the heaviest at the
    /// end.
    order: Vec<usize>,
    heaviest: usize,
}

impl<'a> Upward<'a> {
    pub(super) fn new(gammas: &'a [f64], weights: &'a [f64], least: Least) -> Self {
        let heaviest = (0..weights.len())
            .reduce(
                |best, code| if weights[code] > weights[best] { code } else { best },
            )
            .unwrap_or(0);
        let gain = |code: &usize| weights[*code] * gammas[*code];
        let mut order: Vec<usize> = (0..weights.len())
            .filter(|code| gammas[*code].is_finite() && gain(code) > weights[heaviest])
            .collect();
        order.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
        let lowest = gammas.iter().copied().fold(f64::INFINITY, f64::min);
        Self { gammas, weights, least, lowest, order, heaviest }
    }

    /// The best row minima; nothing if the floor is too high.
    pub(super) fn solve(&self) -> Option<Vec<f64>> {
        let keep = match self.least {
            Least::Keep(keep) => keep,
            Least::Nothing | Least::Diagonal(_) => 0.0,
        };
        let (low, high) = (1.0 / self.lowest, 1.0 - keep);
        // Where the floor leaves most, then how far to both sides it leaves anything.
        let middle = thirds(low, high, |sum| self.spare(sum));
        if self.spare(middle) < 0.0 {
            return None;
        }
        let from = self.edge(middle, low);
        let to = self.edge(middle, high);
        let best = thirds(from, to, |sum| self.deal(sum).1);
        Some(self.deal(best).0)
    }

    /// The farthest from `inside` towards `outside` where the floor can be met.
    fn edge(&self, mut inside: f64, mut outside: f64) -> f64 {
        if self.spare(outside) >= 0.0 {
            return outside;
        }
        for _ in 0..STEPS {
            let middle = f64::midpoint(inside, outside);
            if self.spare(middle) >= 0.0 {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        inside
    }

    /// The smallest a row minimum may be.
    fn base(&self, code: usize, sum: f64) -> f64 {
        let gamma = self.gammas[code];
        match self.least {
            Least::Nothing => 0.0,
            Least::Diagonal(share) => (share / gamma).max(share - 1.0 + sum).max(0.0),
            // Published as itself with `d` and with r low as others, where the column sums
            // to 1: d - r low is at least `keep`.
            Least::Keep(keep) => {
                let room = gamma - (1.0 - keep) / sum;
                if room > 0.0 { keep / room } else { f64::INFINITY }
            }
        }
    }

    /// What is left to deal out.
    fn spare(&self, sum: f64) -> f64 {
        sum - (0..self.gammas.len()).map(|code| self.base(code, sum)).sum::<f64>()
    }

    /// The best row minima of this sum, and what is published as it is.
    fn deal(&self, sum: f64) -> (Vec<f64>, f64) {
        let size = self.gammas.len();
        let mut low: Vec<f64> = (0..size).map(|code| self.base(code, sum)).collect();
        let mut left = (sum - low.iter().sum::<f64>()).max(0.0);
        for code in &self.order {
            let knee = (1.0 - sum) / (self.gammas[*code] - 1.0);
            let more = (knee - low[*code]).clamp(0.0, left);
            low[*code] += more;
            left -= more;
        }
        low[self.heaviest] += left;
        let kept = (0..size).map(|code| {
            let most = 1.0 - sum + low[code];
            let own = self.gammas[code] * low[code];
            // Infinite times zero is no number; `min` takes the other one.
            self.weights[code] * most.min(own)
        });
        let kept = kept.sum();
        (low, kept)
    }
}

/// Where a concave function of an interval is largest.
fn thirds(mut low: f64, mut high: f64, of: impl Fn(f64) -> f64) -> f64 {
    let ends = (low, high);
    for _ in 0..STEPS {
        let third = (high - low) / 3.0;
        let (left, right) = (low + third, high - third);
        if of(left) < of(right) {
            low = left;
        } else {
            high = right;
        }
    }
    // The ends are never tried on the way.
    [ends.0, f64::midpoint(low, high), ends.1]
        .into_iter()
        .reduce(|best, next| if of(next) > of(best) { next } else { best })
        .unwrap_or(low)
}
