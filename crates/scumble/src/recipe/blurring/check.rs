//! What a recipe must say where numbers are changed.

use crate::error::{Error, Result};
use crate::promise::ExpectedAnonymity;
use crate::recipe::{Missing, PromiseKind, PromiseSpec, Spec, Spot};
use crate::release::{FRAME_COLUMN, GROUP_COLUMN, LEVEL_COLUMN, spread_column};
use crate::space::{FrameKind, Shape};
use crate::table::{Kind, Role};

/// The promise about company, and where it stands.
pub(super) fn promised(spec: &Spec) -> Option<(&ExpectedAnonymity, &PromiseSpec)> {
    spec.promises.iter().find_map(|promise| match &promise.kind {
        PromiseKind::ExpectedAnonymity(expected) => Some((expected, promise)),
        _ => None,
    })
}

/// What does not serve people with several rows, if the recipe asks for it, and why.
pub(in crate::recipe) fn counts_rows(
    spec: &Spec,
    method: &str,
) -> Option<(&'static str, &'static str)> {
    let (expected, _) = promised(spec)?;
    if method == "condensation" {
        return Some((
            "condensation",
            "its groups count rows, and several of a group may be one person's; `blur` \
             counts people",
        ));
    }
    if expected.best_guess.is_some() {
        return Some((
            "best-guess",
            "somebody with several rows is found by any of them; without `best-guess`, \
             `expected-anonymity` counts people",
        ));
    }
    if !expected.strict {
        return Some((
            "strict = false",
            "the scheme of the paper counts rows; `strict = true` counts people",
        ));
    }
    // Whoever could have been published so by a uniform law is as likely as the right row, and
    // nothing is likelier: other rows of the right person add nothing.
    match spec.method.blur.shape {
        Some((Shape::Uniform, _)) => None,
        Some((Shape::Gaussian, _)) | None => Some((
            "shape = \"gaussian\"",
            "another row of the right person may fit better than the right row, and nothing \
             counts that; `shape = \"uniform\"` counts people",
        )),
    }
}

/// What a recipe must say where numbers are changed.
pub(super) fn check(spec: &Spec, method: &str) -> Result<()> {
    let spot = spec.method.spot.unwrap_or(spec.input.table_spot);
    let Some((expected, promise)) = promised(spec) else {
        let error = Error::recipe(format!("`{method}` has nothing to keep"));
        return Err(spec.error_at(
            spot,
            error.with_hint("promise `expected-anonymity = 10`, or the like"),
        ));
    };
    check_keys(spec, method, expected, promise.spot)?;
    check_columns(spec, method, expected)
}

fn check_keys(
    spec: &Spec,
    method: &str,
    expected: &ExpectedAnonymity,
    promised: Spot,
) -> Result<()> {
    let at = |spot, error| Err(spec.error_at(spot, error));
    match spec.method.noise.missing {
        Some((Missing::Value, spot)) => {
            let error = Error::recipe("a missing number is no number like any other");
            return at(spot, error.with_hint("write \"keep\" or \"refuse\""));
        }
        Some((Missing::Keep, spot)) if method == "condensation" => {
            return at(spot, Error::recipe("`condensation` needs every number"));
        }
        _ => {}
    }
    if method == "condensation" {
        if !expected.strict {
            let error = Error::recipe("`strict = false` is for `blur`");
            return at(promised, error);
        }
        return Ok(());
    }
    let frame = spec.method.blur.frame;
    if let Some((FrameKind::Rotated, spot)) = frame
        && !expected.strict
    {
        let error = Error::recipe("rotated frames go with `strict = true` only");
        return at(
            spot,
            error.with_hint(
                "the scheme of the paper, for comparison, has \"global\" and \"local\"",
            ),
        );
    }
    if let Some((_, spot)) = spec.method.blur.levels.filter(|_| !expected.strict) {
        return at(spot, Error::recipe("`levels` goes with `strict = true` only"));
    }
    let parts = spec.method.blur.frames;
    let global = frame.is_none_or(|(frame, _)| frame == FrameKind::Global);
    if let Some((_, spot)) = parts.filter(|_| global || !expected.strict) {
        let error = Error::recipe("`frames` goes with local or rotated frames only");
        return at(spot, error);
    }
    Ok(())
}

fn check_columns(
    spec: &Spec,
    method: &str,
    expected: &ExpectedAnonymity,
) -> Result<()> {
    let published = |role| matches!(role, Role::Quasi | Role::Sensitive | Role::Other);
    let taken: &[&str] = match (method, expected.strict) {
        ("condensation", _) => &[GROUP_COLUMN],
        (_, true) => &[FRAME_COLUMN, LEVEL_COLUMN],
        _ => &[],
    };
    for column in &spec.columns {
        let at = |error| Err(spec.error_at(column.spot, error));
        if published(column.role) && taken.contains(&&*column.name) {
            return at(Error::recipe(format!(
                "a published column must not be called `{}`: the release has a column of \
                 that name",
                column.name
            ))
            .with_hint("rename the column, or `drop` it"));
        }
        let spread = |other: &&crate::recipe::ColumnSpec| {
            other.role == Role::Quasi && spread_column(&other.name) == column.name
        };
        if published(column.role) && spec.columns.iter().any(|other| spread(&other)) {
            return at(Error::recipe(format!(
                "a published column must not be called `{}`: that is the column of a spread",
                column.name
            ))
            .with_hint("rename the column, or `drop` it"));
        }
        if column.role == Role::Quasi {
            if column.kind == Some(Kind::Date) {
                return at(Error::recipe(format!("`{}` cannot blur dates", method))
                    .with_hint(
                        "turn the column into a number, such as days or an age",
                    ));
            }
            let listed = column.domain.as_ref().filter(|d| d.numbers().is_none());
            if listed.is_some() && column.kind == Some(Kind::Number) {
                return at(Error::recipe(
                    "a `domain` that lists values does not go with noise",
                )
                .with_hint("write `[0, 120]` for numbers from 0 to 120"));
            }
            if column.lowest.is_some_and(|lowest| lowest > 0) {
                return at(Error::recipe(format!(
                    "`lowest` cannot be kept: `{}` does not generalize",
                    method
                )));
            }
        }
    }
    Ok(())
}
