//! The corruption attack: somebody knows the true values of others in the same sub-table.
//!
//! # Guarantee
//! `shift` is the largest change of a belief about somebody when the true value of another
//! row becomes known, over every pair of published values and every true one, by adding up
//! both rows' possible values. Rows are drawn one by one, so it is 0 but for rounding; what
//! holds of one other row holds of any number, one after another.
//!
//! `subtraction` says whether the manifest itself gives counts away: a prior that is the
//! share of a value in a sub-table tells, times its rows, how many rows have the value, and
//! whoever knows all other rows of it subtracts. `exposed` is the share of people whom such
//! an adversary then knows for certain. It is no failure of the promise, which bounds what
//! a published value tells. `fitted` says that the matrix was made to suit how common values
//! are, so that such an adversary may learn something by repeating the search for it.
//!
//! # Limits
//! The shift is computed over the [`MOST`] commonest values of a sub-table. Not followed:
//! what an adversary who knows all others learns from repeating the search for the matrix
//! or for the sub-tables. Where all priors of a sub-table are the same, they are taken for
//! the share of its commonest protected value, which is then taken to be alone so common.
//!
//! # Cost
//! O([`MOST`]⁵) a sub-table.
//!
//! # Source
//! `chaytor2010randomization`; METHODS G.

use serde_json::{Map, json};

use crate::audit::Attack;
use crate::audit::perturbed::inference::{self, Guesses};
use crate::audit::perturbed::recheck::{Asked, asked};
use crate::audit::perturbed::truth::Truth;
use crate::audit::perturbed::view::{Randomized, Subtable, View};
use crate::audit::perturbed::{Believed, apart};
use crate::release::Manifest;

/// How many values the shift is computed over.
const MOST: usize = 6;

/// Tries the attack on every randomized column.
pub(super) fn attack(
    manifest: &Manifest,
    view: &View,
    believed: &[Vec<Believed>],
    truth: Option<&Truth>,
) -> Vec<Attack> {
    let by_share = manifest
        .promises
        .iter()
        .any(|note| matches!(asked(note), Ok(Asked::Factor { .. })));
    let weights = manifest.method.parameters.get("weights");
    let fitted = weights.is_some_and(|weights| weights == "frequency");
    let attacks = view.columns.iter().zip(believed).enumerate();
    let attacks = attacks.map(|(place, (column, believed))| {
        let tables = || column.tables.iter().zip(believed);
        let guesses: Vec<Guesses> = tables()
            .map(|(table, believed)| inference::guess(table, &believed.shares))
            .collect();
        let true_shares = inference::true_shares(column, place, truth);
        let before =
            inference::success(column, &guesses, believed, true_shares.as_deref());
        let moved = tables().map(|(table, believed)| shift(table, &believed.shares));
        let moved = moved.fold(0.0, f64::max);
        let exposed = exposed(column, by_share, apart(manifest, column));
        let mut detail = Map::new();
        detail.insert("column".into(), json!(column.name()));
        detail.insert("known".into(), json!(view.rows.saturating_sub(1)));
        detail.insert("shift".into(), json!(moved));
        detail.insert("subtraction".into(), json!(exposed > 0.0 || fitted));
        detail.insert("fitted".into(), json!(fitted));
        detail.insert("exposed".into(), json!(exposed));
        // A belief that moves by so much is right that much more often, at most.
        Attack {
            name: "corruption".into(),
            success: (before + moved).min(1.0),
            chance: before,
            worst: (inference::surest(column, &guesses) + moved).min(1.0),
            detail,
        }
    });
    attacks.collect()
}

/// The largest change of a belief about one row by the true value of another.
fn shift(table: &Subtable, shares: &[f64]) -> f64 {
    let mut values: Vec<usize> = (0..shares.len()).collect();
    values.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
    values.truncate(MOST);
    let entry = |published: usize, value: usize| table.matrix.entry(published, value);
    let mut largest = 0.0f64;
    for (own, other) in pairs(&values) {
        // How likely it is that the first row has `mine` and the second `theirs`, and that
        // they are published as they are.
        let joint = |mine: usize, theirs: usize| {
            shares[mine] * entry(own, mine) * shares[theirs] * entry(other, theirs)
        };
        let all: f64 = pairs(&values).map(|(mine, theirs)| joint(mine, theirs)).sum();
        for known in &values {
            let seen: f64 = values.iter().map(|mine| joint(*mine, *known)).sum();
            if !(seen > 0.0 && all > 0.0) {
                continue;
            }
            for mine in &values {
                let before: f64 =
                    values.iter().map(|theirs| joint(*mine, *theirs)).sum();
                let moved = (joint(*mine, *known) / seen - before / all).abs();
                largest = largest.max(moved);
            }
        }
    }
    // Below this it is rounding.
    if largest < 1e-9 { 0.0 } else { largest }
}

fn pairs(values: &[usize]) -> impl Iterator<Item = (usize, usize)> + '_ {
    values.iter().flat_map(move |a| values.iter().map(move |b| (*a, *b)))
}

/// The share of people whose value follows from the manifest's priors, for somebody who
/// knows the values of all others. `by_share`: priors are the shares of values.
fn exposed(column: &Randomized, by_share: bool, apart: bool) -> f64 {
    if !by_share && !apart {
        return 0.0;
    }
    let (mut exposed, mut rows) = (0.0, 0.0);
    for table in &column.tables {
        let n = table.rows as f64;
        rows += n;
        let counts: Vec<f64> =
            table.bounds.iter().flatten().map(|bound| bound.prior * n).collect();
        let told = |count: &f64| (count - count.round()).abs() < 1e-6 * count.max(1.0);
        if counts.is_empty() || !counts.iter().all(told) {
            continue;
        }
        let counts: Vec<f64> = counts.into_iter().map(f64::round).collect();
        let alike =
            counts.len() > 1 && counts.windows(2).all(|pair| pair[0] == pair[1]);
        exposed += if by_share || !alike {
            let all: f64 = counts.iter().sum();
            // A single value without a bound has all other rows.
            let rest = table.bounds.len() - counts.len();
            if rest == 1 { n } else { all.min(n) }
        } else {
            counts[0].min(n)
        };
    }
    exposed / f64::max(rows, 1.0)
}
