//! The best operator of all: any matrix that keeps the limits.
//!
//! # Guarantee
//! Every limit holds, exactly. Without a floor no matrix publishes more rows as they are,
//! nor, with a floor of the user's, any that meets it (but for rounding, a margin of 1e-8 at
//! the floor, and two-sided for what the solver is wrong by, about 1e-9). It never publishes
//! less than the fine-grain one if that meets the floor, nor less than the uniform one.
//!
//! *Proof of the limits.* That no published value j is more than γᵢ times as likely from i
//! as from k is `P[j][i]` ≤ γᵢ `P[j][k]`; by Bayes' rule this bounds every belief, as in
//! [`breach`](crate::promise). With a row's smallest entry `low` and largest `high` it
//! reads `P[j][i]` ≤ γᵢ low for all i, and two-sided also high ≤ γᵢ `P[j][i]`. What was
//! computed is rounded and then verified in integers. ∎
//!
//! *Upward, it is keep-or-draw.* The best matrix keeps value i with some probability eᵢ and
//! otherwise draws from one distribution q for all, low in proportion: P = diag(e) +
//! q (1 - e)ᵀ. Its condition number in the 1-norm is at most 2/min(e) - 1: the solution of
//! P x = y for a unit vector y at j is x = (y - c q)/e with c = (1/eⱼ - 1)/Σ(q/e), whose
//! norm is at most 1/eⱼ + (1/eⱼ - 1). ∎
//!
//! *The default floor* asks that the condition number is at most 2/e - 1, where e is half the
//! probability p with which [`uniform()`] keeps a value, or at most that of the best
//! fine-grain operator if that is more (and not above a million). The uniform one's own is
//! near 2/p for many values, so errors of estimates are at most about doubled, or no larger
//! than fine-grain's; and the result is never below fine-grain's. Upward all eᵢ are held at
//! e or above. Two-sided the diagonal and the room of the columns are held up in the same
//! way, and as much of the uniform matrix is mixed in, in steps of a sixteenth, as is
//! needed; that matrix meets the floor.
//!
//! # Limits
//! Without a floor, or with a low one, rare values may never be published, so that their
//! frequency cannot be estimated: see [`condition()`]. Where some γ is within a millionth of
//! 1 there is next to nothing to gain, and fine-grain is returned.
//!
//! # Cost
//! For m values upward O(m²), most of it writing the matrix, and two-sided a linear program
//! of O(m²) variables in O(m) rows; the default floor inverts the two-sided matrix, O(m³).
//!
//! # Source
//! docs/methods.md, "Optimal general matrices"; in no paper that we know of.
//! `evfimievski2003limiting` for the bound.

mod both;
mod fill;
mod upward;

use both::Both;
use upward::Upward;

use super::{Limits, Operator, condition, fine_grain, uniform};
use crate::error::{Error, ErrorKind, Result};
use crate::promise::Breaches;
use crate::watch::{Unwatched, Watch};

/// The least probability with which a value is published as itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Floor {
    /// May be zero.
    None,
    /// Enough that every frequency can be estimated, with errors at most about twice those
    /// from a uniform operator.
    Default,
    /// At least this.
    At(f64),
}

/// How much above a floor to stay for rounding.
const MARGIN: f64 = 1e-8;

/// Below this, γ - 1 is as good as zero.
const NOTHING: f64 = 1e-6;

/// A fine-grain operator with a larger condition number is not good enough to estimate from.
const MOST_CONDITION: f64 = 1e6;

/// In how many steps the uniform matrix is mixed in.
const STEPS: u32 = 16;

/// A floor as the searches see it.
#[derive(Debug, Clone, Copy)]
enum Least {
    Nothing,
    /// On diagonal entries.
    Diagonal(f64),
    /// On what a diagonal entry is above the others of its row.
    Keep(f64),
}

/// The smallest entry of each row, and two-sided the largest.
#[derive(Debug, Clone)]
struct RowEntries {
    low: Vec<f64>,
    high: Option<Vec<f64>>,
}

/// The operator that publishes most rows as they are, if values have these weights. If a
/// fine-grain one is as good, it is that one.
pub fn general(limits: Limits<'_>, weights: &[f64], floor: Floor) -> Result<Operator> {
    general_watched(limits, weights, floor, &Unwatched)
}

/// As [`general()`]; two-sided and for some hundred values it takes long, so it may be
/// cancelled.
pub fn general_watched(
    limits: Limits<'_>,
    weights: &[f64],
    floor: Floor,
    watch: &dyn Watch,
) -> Result<Operator> {
    let size = limits.gammas.len();
    let lowest = limits.gammas.iter().copied().fold(f64::INFINITY, f64::min);
    if size < 2 || lowest == f64::INFINITY {
        let column = |own| (0..size).map(|row| f64::from(row == own)).collect();
        return Ok(Operator::General { columns: (0..size).map(column).collect() });
    }
    let total: f64 = weights.iter().sum();
    let even = 1.0 / size as f64;
    let share = |w: &f64| if total > 0.0 { w / total } else { even };
    let weights: Vec<f64> = weights.iter().map(share).collect();
    let simple = fine_grain(limits, &weights);
    let others = (size - 1) as f64;
    let usual = 4.0 * (others + lowest) / (lowest - 1.0) - 1.0;
    let simple_condition = condition(&simple);
    // What is good enough for a fine-grain operator is good enough here.
    let most = match simple_condition <= MOST_CONDITION {
        true => usual.max(simple_condition),
        false => usual,
    };
    let task = OperatorTask { limits, weights: &weights, floor, most, watch };
    if lowest - 1.0 < NOTHING {
        return match floor {
            Floor::At(share) if !task.meets(&simple) => Err(unmet(share, even)),
            _ => Ok(simple),
        };
    }
    // Ascending: of equally good ones the last is the simplest.
    let found = [task.best(), Some(uniform(limits)), Some(simple)];
    let best = found
        .into_iter()
        .flatten()
        .filter(|operator| task.meets(operator))
        .reduce(|best, next| {
            let better = next.record_utility(&weights) >= best.record_utility(&weights);
            if better { next } else { best }
        });
    watch.check()?;
    best.ok_or_else(|| match floor {
        Floor::At(share) => unmet(share, task.largest_floor()),
        Floor::None | Floor::Default => Error::new(ErrorKind::Broken(
            "no matrix of a general operator keeps its limits".to_owned(),
        ))
        .with_hint("this is a defect of scumble: nothing was published"),
    })
}

fn unmet(floor: f64, largest: f64) -> Error {
    let largest = (largest * 1e6).floor() / 1e6;
    Error::unsatisfiable(
        format!("a floor of {floor} for every value"),
        format!("within the limits no matrix has a higher one than {largest}"),
    )
    .with_hint("lower the floor, or leave it out for the default")
}

struct OperatorTask<'a> {
    limits: Limits<'a>,
    weights: &'a [f64],
    floor: Floor,
    /// The largest condition number under the default floor.
    most: f64,
    watch: &'a dyn Watch,
}

impl OperatorTask<'_> {
    /// What every value is kept with at least, so that the condition number is small enough.
    fn keep(&self) -> f64 {
        2.0 / (self.most + 1.0)
    }

    fn meets(&self, operator: &Operator) -> bool {
        match self.floor {
            Floor::None => true,
            Floor::Default => condition(operator) <= self.most * (1.0 + MARGIN),
            Floor::At(share) => {
                (0..operator.size()).all(|code| operator.entry(code, code) >= share)
            }
        }
    }

    /// The best matrix, rounded; nothing if the floor is too high or the solver fails.
    fn best(&self) -> Option<Operator> {
        let least = match self.floor {
            Floor::None => Least::Nothing,
            Floor::Default => Least::Keep(self.keep() * (1.0 + MARGIN)),
            Floor::At(share) => Least::Diagonal(share + MARGIN),
        };
        self.spread(&self.rows(least)?.fill(self.limits.gammas))
    }

    fn rows(&self, least: Least) -> Option<RowEntries> {
        let gammas = self.limits.gammas;
        match self.limits.breaches {
            Breaches::Upward => Upward::new(gammas, self.weights, least)
                .solve()
                .map(|low| RowEntries { low, high: None }),
            Breaches::Both => {
                let both = Both::new(gammas, self.weights, self.watch);
                if let Least::Diagonal(share) = least
                    && both.largest_floor().is_none_or(|largest| share > largest)
                {
                    return None;
                }
                both.solve(least)
            }
        }
    }

    fn largest_floor(&self) -> f64 {
        let gammas = self.limits.gammas;
        match self.limits.breaches {
            Breaches::Both => {
                let both = Both::new(gammas, self.weights, self.watch);
                both.largest_floor().map_or(0.0, |largest| largest - MARGIN)
            }
            Breaches::Upward => {
                let (mut low, mut high) = (0.0, 1.0);
                for _ in 0..40 {
                    let middle = f64::midpoint(low, high);
                    let least = Least::Diagonal(middle + MARGIN);
                    if self.rows(least).is_some() {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                low
            }
        }
    }

    /// Rounded, and mixed with the uniform matrix as far as the default floor needs it.
    fn spread(&self, columns: &[Vec<f64>]) -> Option<Operator> {
        let even = uniform(self.limits);
        for step in 0..=STEPS {
            if self.watch.is_cancelled() {
                return None;
            }
            let part = f64::from(step) / f64::from(STEPS);
            let mixed: Vec<Vec<f64>> = columns
                .iter()
                .enumerate()
                .map(|(code, column)| {
                    let other = |row| even.entry(row, code);
                    let mix = |(row, p): (usize, &f64)| p + part * (other(row) - p);
                    column.iter().enumerate().map(mix).collect()
                })
                .collect();
            let operator = fill::rounded(&mixed, self.limits)?;
            if self.floor != Floor::Default || self.meets(&operator) {
                return Some(operator);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
