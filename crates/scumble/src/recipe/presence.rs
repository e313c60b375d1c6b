//! What a promise about presence asks of the rest of a recipe.

use crate::error::{Error, Result};
use crate::promise::{About, Adversary};
use crate::recipe::{PromiseSpec, Spec, Weights};
use crate::release::GROUP_COLUMN;
use crate::table::{Role, Source};

/// A promise that counts people needs a population, and a population such a promise.
pub(super) fn check_presence(spec: &Spec) -> Result<()> {
    let input = &spec.input;
    let counts_people = |typed: &&PromiseSpec| match typed.kind.promise().about() {
        About::Groups(promise) => promise.needs_population(),
        About::Draws(_) | About::Posteriors(_) | About::Company(_) => false,
    };
    let Some(counting) = spec.promises.iter().find(counts_people) else {
        return match input.population_spot {
            None => Ok(()),
            Some(spot) => Err(spec.error_at(
                spot,
                Error::recipe(
                    "`population` and `key` are for promises that count people",
                )
                .with_hint("promise `delta-presence` or `k-map`, or leave them out"),
            )),
        };
    };
    let at = |spot, error| Err(spec.error_at(spot, error));
    if input.population.is_none() {
        let name = counting.kind.promise().name();
        let error = Error::recipe(format!("`{name}` needs a population")).with_hint(
            "give the table of everyone who may be in it: `population` in `[input]`",
        );
        return at(counting.spot, error);
    }
    if input.population.as_deref() == Some("-") {
        let error = Error::recipe("the population cannot come from standard input");
        return at(input.population_spot.unwrap_or(counting.spot), error);
    }
    for name in &input.key {
        let role = spec.column(name).map(|column| (column.role, column.spot));
        if let Some((Role::Quasi | Role::Sensitive | Role::Other, spot)) = role {
            let error = Error::recipe(format!(
                "column `{name}` is a `key`, so it tells people apart and must not be published"
            ))
            .with_hint("make it an `identifier`");
            return at(spot, error);
        }
    }
    Ok(())
}

/// Weights must suit the promise.
pub(super) fn check_pdf(spec: &Spec) -> Result<()> {
    let presence = spec.presence();
    let paper =
        presence.filter(|promise| promise.promise.adversary() == Adversary::Paper);
    let Some(pdf) = spec.method.pdf else {
        let Some(presence) = paper else { return Ok(()) };
        let error = Error::recipe(
            "`adversary = \"paper\"` is for pdf cells with the weights of the paper",
        )
        .with_hint(
            "write `cells = { kind = \"pdf\", weights = \"paper\" }`, or leave `adversary` out",
        );
        return Err(spec.error_at(presence.spot, error));
    };
    let at = |error| Err(spec.error_at(pdf.spot, error));
    match (pdf.weights, paper) {
        (Some(_), _) if presence.is_none() => {
            return at(Error::recipe("`weights` are for the promise `delta-presence`")
                .with_hint("without it pdf cells have the table's own weights"));
        }
        (Some(Weights::Paper), None) => {
            return at(Error::recipe(
                "the weights of the paper need `adversary = \"paper\"` in the promise",
            )
            .with_hint(
                "somebody who reads weights as the counts they are undoes them; `counted` weights are \
                 safe",
            ));
        }
        (Some(Weights::Paper), Some(promise)) => {
            if promise.shift.is_some() && pdf.shift.is_some() {
                return at(Error::recipe("`shift` is given twice")
                    .with_hint("say it in the promise or in `cells`"));
            }
        }
        (_, Some(_)) => {
            return at(Error::recipe(
                "`adversary = \"paper\"` in the promise goes with `weights = \"paper\"` only",
            ));
        }
        (_, None) => {}
    }
    let published = |role| matches!(role, Role::Quasi | Role::Sensitive | Role::Other);
    let clash =
        spec.columns.iter().find(|c| c.name == GROUP_COLUMN && published(c.role));
    if let Some(column) = clash {
        let error =
            Error::recipe("with pdf cells the release has a column `group` of its own")
                .with_hint("rename this column, or drop it");
        return Err(spec.error_at(column.spot, error));
    }
    Ok(())
}

/// The population must have the quasi columns, and both tables the key.
pub(super) fn check_population(
    spec: &Spec,
    table: &Source,
    population: Option<&Source>,
) -> Result<()> {
    let Some(population) = population else { return Ok(()) };
    for column in &spec.columns {
        if column.role == Role::Quasi && !population.header().contains(&column.name) {
            return Err(Error::input(format!("there is no column `{}`", column.name))
                .in_file(population.name())
                .with_hint(
                    "the population must have all quasi columns; what only the table has can \
                     be `sensitive`, `other` or `drop`",
                ));
        }
    }
    let spot = spec.input.population_spot.unwrap_or(spec.input.table_spot);
    for name in &spec.input.key {
        for (source, called) in [(table, "the table"), (population, "the population")] {
            if !source.header().contains(name) {
                let error = Error::recipe(format!("{called} has no column `{name}`"))
                    .with_hint("the columns of `key` must be in table and population");
                return Err(spec.error_at(spot, error));
            }
        }
    }
    Ok(())
}
