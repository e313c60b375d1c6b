//! What a recipe must say where values are published by group.

use crate::error::{Error, Result};
use crate::promise::About;
use crate::recipe::{PromiseKind, PromiseSpec, RobustnessSpec, Spec};
use crate::release::GROUP_COLUMN;
use crate::table::Role;

/// The promise about somebody who knows how values depend, and where it stands.
pub(super) fn robustness(spec: &Spec) -> Option<(&RobustnessSpec, &PromiseSpec)> {
    spec.promises.iter().find_map(|promise| match &promise.kind {
        PromiseKind::RRobustness(robustness) => Some((robustness, promise)),
        _ => None,
    })
}

/// Groups must be allowed to be as large as the promises need.
fn check_size(spec: &Spec) -> Result<()> {
    let Some((largest, spot)) = spec.method.largest_group else { return Ok(()) };
    let robust =
        robustness(spec).map_or(1.0, |(typed, _)| typed.robustness.r().to_f64());
    let least = (robust.ceil() as u64).max(parts(spec));
    if largest as u64 >= least {
        return Ok(());
    }
    let error = Error::recipe(format!(
        "`largest-group` is {largest}, but the promises need groups of at least {least} rows"
    ));
    Err(spec.error_at(spot, error))
}

/// What a recipe must say where values are published by group.
pub(super) fn check(spec: &Spec, method: &str) -> Result<()> {
    let promised = robustness(spec).map(|(_, promise)| promise.spot);
    let spot = spec.method.spot.or(promised).unwrap_or(spec.input.table_spot);
    if method == "robust" && promised.is_none() {
        let error =
            Error::recipe("`robust` needs to know how sure somebody may become");
        return Err(spec.error_at(
            spot,
            error
                .with_hint("promise `r-robustness = 3`, or the like, or use `anatomy`"),
        ));
    }
    check_size(spec)?;
    check_columns(spec, method, promised.unwrap_or(spot))
}

fn check_columns(spec: &Spec, method: &str, spot: crate::recipe::Spot) -> Result<()> {
    let mut sensitive = spec.columns.iter().filter(|c| c.role == Role::Sensitive);
    let Some(_) = sensitive.next() else {
        let error = Error::recipe("this promise needs a column of role `sensitive`")
            .with_hint("say which column nobody should learn about a person");
        return Err(spec.error_at(spot, error));
    };
    if let Some(second) = sensitive.next() {
        let error = Error::recipe(format!(
            "`{}` publishes one sensitive column, but `{}` is a second one",
            method, second.name
        ));
        return Err(spec.error_at(
            second.spot,
            error.with_hint("make a release for each, or `drop` the others"),
        ));
    }
    for column in &spec.columns {
        let at = |error| Err(spec.error_at(column.spot, error));
        if column.lowest.is_some_and(|lowest| lowest > 0) {
            return at(Error::recipe(format!(
                "`lowest` cannot be kept: `{}` publishes quasi columns as they are",
                method
            ))
            .with_hint("make the column coarser before, or `drop` it"));
        }
        let published = matches!(column.role, Role::Quasi | Role::Other);
        if published && column.name == GROUP_COLUMN {
            return at(Error::recipe(format!(
                "a published column must not be called `{GROUP_COLUMN}`: that is the \
                 column of the groups"
            ))
            .with_hint("rename the column, or `drop` it"));
        }
    }
    Ok(())
}

/// The number of parts that no value may have more than one of in any group, so that every
/// promise of diversity is kept; 1 if there is none.
pub(super) fn parts(spec: &Spec) -> u64 {
    let parts = spec.promises.iter().map(|typed| match typed.kind.promise().about() {
        About::Groups(promise) => promise.parts(),
        About::Draws(_) | About::Posteriors(_) | About::Company(_) => 1,
    });
    parts.max().unwrap_or(1)
}
