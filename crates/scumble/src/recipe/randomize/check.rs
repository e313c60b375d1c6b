//! What a recipe must say where values are randomized.

use crate::error::{Error, Result};
use crate::promise::About;
use crate::recipe::{Missing, PromiseSpec, Spec};
use crate::table::Role;

/// The promises about randomized values.
fn about_draws(spec: &Spec) -> impl Iterator<Item = &PromiseSpec> {
    let is_about =
        |typed: &&PromiseSpec| matches!(typed.kind.promise().about(), About::Draws(_));
    spec.promises.iter().filter(is_about)
}

/// The promise about randomized values.
pub(super) fn promise(spec: &Spec) -> Option<&PromiseSpec> {
    about_draws(spec).next()
}

/// There is one promise about randomized values, and keys that need each other are there.
pub(super) fn check(spec: &Spec) -> Result<()> {
    let mut about_noise = about_draws(spec);
    if let (Some(_), Some(second)) = (about_noise.next(), about_noise.next()) {
        let error =
            Error::recipe("`breach` and `fine-grain` both bound what is learned")
                .with_hint(
                    "promise one of them; a `fine-grain` bound can be the same for all",
                );
        return Err(spec.error_at(second.spot, error));
    }
    let noise = &spec.method.noise;
    if let Some((Missing::Keep, spot)) = noise.missing {
        let error =
            Error::recipe("`missing = \"keep\"` is for methods that blur numbers");
        let hint = "write \"value\" or \"refuse\"";
        return Err(spec.error_at(spot, error.with_hint(hint)));
    }
    match (&noise.key_file, &noise.id) {
        (None, Some((_, spot))) => {
            let error = Error::recipe("`id` goes with `key-file`").with_hint(
                "with a secret key, the same person gets the same noise in every release",
            );
            Err(spec.error_at(*spot, error))
        }
        _ => Ok(()),
    }
}

/// Roles and levels that randomizing cannot serve.
pub(super) fn check_columns(spec: &Spec, method: &str, grouped: bool) -> Result<()> {
    let Some(first) = promise(spec) else {
        let error =
            Error::recipe(format!("`{method}` needs to know what nobody may learn"));
        let spot = spec.method.spot.unwrap_or(spec.input.table_spot);
        let hint = "promise `breach` or `fine-grain`";
        return Err(spec.error_at(spot, error.with_hint(hint)));
    };
    let sensitive: Vec<_> =
        spec.columns.iter().filter(|column| column.role == Role::Sensitive).collect();
    if sensitive.is_empty() {
        let error = Error::recipe("this promise needs a column of role `sensitive`")
            .with_hint("say which column nobody should learn about a person");
        return Err(spec.error_at(first.spot, error));
    }
    if let (Some((true, spot)), [only]) = (spec.method.noise.together, &*sensitive) {
        let error = Error::recipe(format!(
            "a compound column needs several columns of role `sensitive`, but there is only `{}`",
            only.name
        ));
        return Err(spec.error_at(spot, error));
    }
    for column in &spec.columns {
        let at = |error| Err(spec.error_at(column.spot, error));
        let is_quasi = column.role == Role::Quasi;
        if !grouped && is_quasi && column.lowest.is_some_and(|lowest| lowest > 0) {
            return at(Error::recipe(
                "`lowest` cannot be kept: where values are randomized, quasi columns are \
                 published as they are",
            )
            .with_hint("make the column coarser before, or `drop` it"));
        }
        if grouped && column.role == Role::Other {
            return at(Error::recipe(
                "`perturbed-generalization` publishes no columns of role `other`",
            )
            .with_hint("make it `drop`, or `quasi`"));
        }
    }
    Ok(())
}
