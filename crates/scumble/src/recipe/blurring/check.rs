//! Whether promises, method and its keys go together where numbers are blurred.

use crate::error::{Error, Result};
use crate::promise::ExpectedAnonymity;
use crate::recipe::randomize::check_kept;
use crate::recipe::{MethodName, Missing, PromiseKind, PromiseSpec, Spec, Spot};
use crate::release::{FRAME_COLUMN, GROUP_COLUMN, LEVEL_COLUMN, spread_column};
use crate::space::FrameKind;
use crate::table::{Kind, Role};

/// Whether a recipe asks for blurred or condensed numbers.
pub(in crate::recipe) fn blurs(spec: &Spec) -> bool {
    spec.method.name.is_some_and(MethodName::blurs) || promised(spec).is_some()
}

/// The promise about company, and where it stands.
pub(super) fn promised(spec: &Spec) -> Option<(&ExpectedAnonymity, &PromiseSpec)> {
    spec.promises.iter().find_map(|promise| match &promise.kind {
        PromiseKind::ExpectedAnonymity(expected) => Some((expected, promise)),
        _ => None,
    })
}

/// What is about blurred numbers has no meaning elsewhere.
pub(in crate::recipe) fn check_elsewhere(spec: &Spec) -> Result<()> {
    let hint = "promise `expected-anonymity = 10`, or the like";
    if let Some((key, spot)) = spec.method.blur.first() {
        let error = Error::recipe(format!("`{key}` is for `blur`"));
        return Err(spec.error_at(spot, error.with_hint(hint)));
    }
    if let Some((Missing::Keep, spot)) = spec.method.noise.missing {
        let error =
            Error::recipe("`missing = \"keep\"` is for methods that blur numbers");
        return Err(
            spec.error_at(spot, error.with_hint("write \"value\" or \"refuse\""))
        );
    }
    if let Some(column) = spec.columns.iter().find(|column| column.limits.is_some()) {
        let error = Error::recipe(format!(
            "`{}`: a `domain` of two numbers is for columns that are blurred",
            column.name
        ));
        return Err(spec.error_at(column.spot, error.with_hint(hint)));
    }
    Ok(())
}

/// The method of a recipe that blurs numbers, and its promise.
pub(super) fn check(spec: &Spec) -> Result<(MethodName, &ExpectedAnonymity)> {
    let method = spec.method.name.unwrap_or(MethodName::Blur);
    let spot = spec.method.spot.unwrap_or(spec.input.table_spot);
    check_kept(spec, method, spot)?;
    let Some((expected, promise)) = promised(spec) else {
        let error = Error::recipe(format!("`{}` has nothing to keep", method.name()));
        return Err(spec.error_at(
            spot,
            error.with_hint("promise `expected-anonymity = 10`, or the like"),
        ));
    };
    check_keys(spec, method, expected, promise.spot)?;
    check_columns(spec, method, expected)?;
    Ok((method, expected))
}

fn check_keys(
    spec: &Spec,
    method: MethodName,
    expected: &ExpectedAnonymity,
    promised: Spot,
) -> Result<()> {
    let at = |spot, error| Err(spec.error_at(spot, error));
    let foreign =
        spec.method.groups.iter().find(|(name, _)| {
            name != "suppression" || method == MethodName::Condensation
        });
    if let Some((name, spot)) = foreign {
        let error = Error::recipe(match (&**name, method) {
            ("suppression", _) => "`condensation` leaves no row out".to_owned(),
            (name, method) => format!(
                "`{name}` is for methods that generalize, but `{}` changes numbers",
                method.name()
            ),
        });
        return at(*spot, error);
    }
    if let Some((_, spot)) = spec.method.largest_group {
        return at(spot, Error::recipe("`largest-group` is for `robust`"));
    }
    match (spec.method.noise.missing, spec.method.noise.first()) {
        (Some((Missing::Value, spot)), _) => {
            let error = Error::recipe("a missing number is no number like any other");
            return at(spot, error.with_hint("write \"keep\" or \"refuse\""));
        }
        (Some((Missing::Keep, spot)), _) if method == MethodName::Condensation => {
            return at(spot, Error::recipe("`condensation` needs every number"));
        }
        (_, Some((key, spot))) if key != "missing" => {
            let error = Error::recipe(format!(
                "`{key}` is for methods that randomize sensitive values"
            ));
            return at(spot, error);
        }
        _ => {}
    }
    if method == MethodName::Condensation {
        if let Some((key, spot)) = spec.method.blur.first() {
            return at(spot, Error::recipe(format!("`{key}` is for `blur`")));
        }
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
    method: MethodName,
    expected: &ExpectedAnonymity,
) -> Result<()> {
    let published = |role| matches!(role, Role::Quasi | Role::Sensitive | Role::Other);
    let taken: &[&str] = match (method, expected.strict) {
        (MethodName::Condensation, _) => &[GROUP_COLUMN],
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
        if column.limits.is_some() && column.role != Role::Quasi {
            return at(Error::recipe("a `domain` of two numbers is for quasi columns"));
        }
        if column.role == Role::Quasi {
            if column.kind == Some(Kind::Date) {
                return at(Error::recipe(format!(
                    "`{}` cannot blur dates",
                    method.name()
                ))
                .with_hint("turn the column into a number, such as days or an age"));
            }
            if column.limits.is_some() && column.kind == Some(Kind::Category) {
                return at(Error::recipe(
                    "a `domain` of two numbers is for columns of type `number`",
                ));
            }
            if column.lowest.is_some_and(|lowest| lowest > 0) {
                return at(Error::recipe(format!(
                    "`lowest` cannot be kept: `{}` does not generalize",
                    method.name()
                )));
            }
        }
    }
    Ok(())
}
