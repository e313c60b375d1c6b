//! The inference attack: what somebody's value is, from what was published of them.
//!
//! # Guarantee
//! The guess is the likeliest value, given the published one, the matrix, the sub-table and
//! the shares that the release itself tells. Nobody who knows no more does better.
//!
//! # Limits
//! Knows nothing about the person: somebody who does starts from another belief. How large
//! a step every such belief can take is what the promises bound.
//!
//! # Cost
//! O(m) for matrices that keep a value or draw evenly, O(m²) for others.
//!
//! # Source
//! `evfimievski2003limiting`; docs/methods.md, "Uniform perturbation".

use serde_json::json;

use crate::audit::attacks::{Attack, NOT_RANDOMIZED, Stopped};
use crate::audit::checks::believed_after;
use crate::audit::drawn::{
    Believed, Drawn, DrawnColumn, Matrix, Subtable, TrueCounts, overall, single,
};
use crate::audit::{AtRisk, Attacked, Case, RiskBands, detail};
use crate::error::Result;

/// Tries to guess randomized values.
#[derive(Debug)]
pub struct Inference;

impl Attack for Inference {
    fn name(&self) -> &'static str {
        "inference"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        let drawn = case.views.drawn()?.ok_or(NOT_RANDOMIZED)?;
        let truth = case.true_counts()?;
        let attacks = drawn.each().map(|(place, column, believed)| {
            let guesses = guesses(column, believed);
            let true_shares = true_shares(column, place, truth);
            let largest = guesses.iter().map(|guesses| guesses.largest);
            Attacked {
                name: self.name().to_owned(),
                success: success(column, &guesses, believed, true_shares.as_deref()),
                chance: commonest(column, place, believed, truth),
                worst: surest(column, &guesses),
                detail: detail(json!({
                    "column": column.name(), "largest": largest.fold(0.0, f64::max),
                    "scored": true_shares.is_some(),
                })),
            }
        });
        Ok(attacks.collect())
    }
}

/// What is guessed about the rows of a sub-table.
#[derive(Debug)]
pub(crate) struct DrawnGuesses {
    /// For each published value the guess.
    pub(crate) values: Vec<usize>,
    /// How likely it is right.
    beliefs: Vec<f64>,
    /// The largest belief in a value that the promise speaks of, if there is one: protected,
    /// and believed in no more than its bound before. Over values that were published.
    protected: Option<f64>,
    /// The largest belief in any value.
    largest: f64,
}

/// What is guessed about every sub-table of a column.
pub(crate) fn guesses(
    column: &DrawnColumn,
    believed: &[Believed],
) -> Vec<DrawnGuesses> {
    let tables = column.tables.iter().zip(believed);
    tables.map(|(table, believed)| guess(table, &believed.shares)).collect()
}

/// Guesses from what was published; the truth is not here.
fn guess(table: &Subtable, shares: &[f64]) -> DrawnGuesses {
    let matrix = &table.matrix;
    let expected = matrix.published(shares);
    let mut guesses =
        DrawnGuesses { values: vec![], beliefs: vec![], protected: None, largest: 0.0 };
    let promised = |value: usize| {
        let bound = table.bounds[value];
        bound.is_some_and(|bound| shares[value] <= bound.prior * (1.0 + 1e-9))
    };
    let any_promised = (0..shares.len()).any(promised);
    // For mixed matrices, the likeliest two values that were not kept.
    let drawn = |only_promised: bool| -> [(f64, usize); 2] {
        let mut top = [(0.0, usize::MAX); 2];
        if let Matrix::Mixed { other, .. } = matrix {
            for (value, (other, share)) in other.iter().zip(shares).enumerate() {
                if only_promised && !promised(value) {
                    continue;
                }
                let likely = other * share;
                if likely > top[0].0 {
                    top = [(likely, value), top[0]];
                } else if likely > top[1].0 {
                    top[1] = (likely, value);
                }
            }
        }
        top
    };
    let (any, protected) = (drawn(false), drawn(true));
    for (published, expected) in expected.iter().enumerate() {
        let own = matrix.entry(published, published) * shares[published];
        let own_promised = promised(published);
        let ((likely, value), surest) = match matrix {
            Matrix::Mixed { .. } => {
                let pick = |top: &[(f64, usize); 2], own: f64| {
                    let other = top.iter().find(|(_, value)| *value != published);
                    match other {
                        Some(other) if other.0 > own => *other,
                        _ => (own, published),
                    }
                };
                let own_or_none = if own_promised { own } else { 0.0 };
                (pick(&any, own), pick(&protected, own_or_none).0)
            }
            Matrix::General(rows) => {
                let mut top = (own, published);
                let mut surest = 0.0f64;
                for (value, (entry, share)) in
                    rows[published].iter().zip(shares).enumerate()
                {
                    let likely = entry * share;
                    if likely > top.0 {
                        top = (likely, value);
                    }
                    if promised(value) {
                        surest = surest.max(likely);
                    }
                }
                (top, surest)
            }
        };
        guesses.values.push(value);
        guesses.beliefs.push(if *expected > 0.0 { likely / expected } else { 0.0 });
        if table.published[published] > 0 && *expected > 0.0 {
            guesses.largest = guesses.largest.max(likely / expected);
            let surest = any_promised.then_some(surest / expected);
            guesses.protected =
                guesses.protected.into_iter().chain(surest).reduce(f64::max);
        }
    }
    guesses
}

/// The surest guess of a value that the promise speaks of. If all protected values are
/// believed in more than their bounds from the start: what follows a belief at its bound.
pub(crate) fn surest(column: &DrawnColumn, guesses: &[DrawnGuesses]) -> f64 {
    let protected = guesses.iter().filter_map(|guesses| guesses.protected);
    protected.reduce(f64::max).unwrap_or_else(|| {
        let tables = column.tables.iter().filter(|table| table.n_published() > 0.0);
        let after = tables.flat_map(|table| {
            let values = table.matrix.amplified().into_iter().zip(&table.bounds);
            values.filter_map(|(amplified, bound)| {
                Some(believed_after((*bound)?.prior, amplified.up))
            })
        });
        after.fold(0.0, f64::max)
    })
}

/// How often guesses about a column are right, to be expected.
pub(crate) fn success(
    column: &DrawnColumn,
    guesses: &[DrawnGuesses],
    believed: &[Believed],
    truth: Option<&[f64]>,
) -> f64 {
    let (mut right, mut rows) = (0.0, 0.0);
    for ((table, guesses), believed) in column.tables.iter().zip(guesses).zip(believed)
    {
        let true_shares: Vec<f64> = match truth {
            Some(truth) => table.values.iter().map(|code| truth[*code]).collect(),
            None => believed.shares.clone(),
        };
        let hit = guesses.values.iter().enumerate();
        let hit: f64 = hit
            .map(|(published, value)| {
                table.matrix.entry(published, *value) * true_shares[*value]
            })
            .sum();
        right += hit * table.n_published();
        rows += table.n_published();
    }
    right / rows.max(1.0)
}

/// The true shares of a column's values, where they are those of its only sub-table.
pub(crate) fn true_shares(
    column: &DrawnColumn,
    place: usize,
    truth: Option<&TrueCounts>,
) -> Option<Vec<f64>> {
    let truth = truth.filter(|truth| truth.exact && single(column))?;
    let counts = truth.counts[place].iter();
    Some(counts.map(|count| *count as f64 / truth.rows.max(1) as f64).collect())
}

/// The share of the commonest value: what a guess without the release is worth.
pub(crate) fn commonest(
    column: &DrawnColumn,
    place: usize,
    believed: &[Believed],
    truth: Option<&TrueCounts>,
) -> f64 {
    if let Some(truth) = truth {
        let most = truth.counts[place].iter().max().copied().unwrap_or(0);
        return most as f64 / truth.rows.max(1) as f64;
    }
    overall(column, believed).into_iter().fold(0.0, f64::max)
}

/// How sure the guesses about the rows of every randomized column are.
pub(crate) fn risks(drawn: &Drawn) -> Vec<RiskBands> {
    let risk = |(_, column, believed): (usize, &DrawnColumn, &[Believed])| {
        let mut risk = RiskBands::new(AtRisk::Value(column.name()));
        for (table, guesses) in column.tables.iter().zip(guesses(column, believed)) {
            for (belief, rows) in guesses.beliefs.iter().zip(&table.published) {
                risk.add(*belief, *rows);
            }
        }
        risk
    };
    drawn.each().map(risk).collect()
}
