//! Whether methods look at cuts and levels by coins, and what a recipe must say then.

use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Cells;
use crate::method::Plan;
use crate::promise::{About, Promises};
use crate::recipe::{Looks, PromiseSpec, Spec};
use crate::table::Role;

/// How a method named `name` looks at cuts or levels, where that matters: under a promise
/// about presence.
pub(in crate::recipe) fn looks(name: &str, spec: &Spec) -> Option<Looks> {
    spec.presence()?;
    let asked = spec.method.looks.map(|(looks, _)| looks);
    let usual = match name {
        "mondrian" => Looks::Coins,
        // Beside promises that no coin makes up for it is the method that is left.
        "full-domain" if of_values(spec).is_some() => Looks::Free,
        "full-domain" => Looks::Coins,
        _ => return None,
    };
    Some(asked.unwrap_or(usual))
}

/// A promise that looks at the values of who is in the table.
fn of_values(spec: &Spec) -> Option<&PromiseSpec> {
    spec.promises.iter().find(|typed| match typed.kind.promise().about() {
        About::Groups(promise) => promise.looks_at_values() || promise.looks_at_whole(),
        About::Draws(_) | About::Posteriors(_) | About::Company(_) => false,
    })
}

/// That nobody asks for looks where nothing promises presence.
fn check_unasked(spec: &Spec) -> Result<()> {
    match spec.method.looks {
        None => Ok(()),
        Some((_, spot)) => {
            let error = Error::recipe("`looks` is for the promise `delta-presence`")
                .with_hint("cuts tell presence, and nothing else promises that");
            Err(spec.error_at(spot, error))
        }
    }
}

/// What full-domain asks of a recipe under a promise about presence, and of one without.
pub(super) fn check_levels(spec: &Spec) -> Result<()> {
    if spec.presence().is_none() {
        return check_unasked(spec);
    }
    let coins = looks("full-domain", spec) == Some(Looks::Coins);
    let Some(typed) = of_values(spec).filter(|_| coins) else { return Ok(()) };
    let name = typed.kind.promise().name();
    let error = Error::recipe(format!(
        "levels cannot hide presence beside `{name}`: whether it allows them depends on the \
         values of who is in the table, and a refusal tells of them"
    ))
    .with_hint(
        "leave `looks` out, or say `looks = \"free\"`: such levels tell something about \
         presence to somebody who knows the program",
    );
    let spot = spec.method.looks.map(|(_, spot)| spot).or(spec.method.spot);
    Err(spec.error_at(spot.unwrap_or(typed.spot), error))
}

/// What Mondrian asks of a recipe under a promise about presence, and of one without.
pub(super) fn check(spec: &Spec) -> Result<()> {
    let Some(presence) = spec.presence() else { return check_unasked(spec) };
    let method = &spec.method;
    if method.cells == Some(Cells::Taxonomy) {
        let error = Error::recipe(
            "`mondrian` cannot keep `delta-presence` with cells that are nodes, because \
             nodes overlap",
        )
        .with_hint("use `cells = \"interval\"` or `\"set\"`, or leave `cells` out");
        return Err(spec.error_at(method.spot.unwrap_or(presence.spot), error));
    }
    for column in spec.columns.iter().filter(|column| column.role == Role::Quasi) {
        let error = if column.highest.is_some() {
            Error::recipe("`mondrian` cannot keep `highest`")
                .with_hint("use `full-domain`, or leave `highest` out")
        } else if column.lowest.is_some_and(|lowest| lowest > 0) {
            Error::recipe(
                "`mondrian` cannot keep `lowest` beside `delta-presence`: its cells are \
                 ranges and sets, which have no level",
            )
            .with_hint("use `full-domain`, or leave `lowest` out")
        } else {
            continue;
        };
        return Err(spec.error_at(column.spot, error));
    }
    match looks("mondrian", spec) {
        Some(Looks::Coins) => check_coins(spec),
        Some(Looks::Free) | None => Ok(()),
    }
}

/// That nothing but public things and coins decides about cuts.
fn check_coins(spec: &Spec) -> Result<()> {
    if let Some(typed) = of_values(spec) {
        let name = typed.kind.promise().name();
        let error = Error::recipe(format!(
            "cuts cannot hide presence beside `{name}`: whether it allows a cut depends on \
             the values of who is in the table, and a refusal tells of them"
        ))
        .with_hint(
            "use `full-domain`, or `looks = \"free\"` for cuts that give presence away to \
             somebody who knows the program",
        );
        return Err(spec.error_at(spec.method.spot.unwrap_or(typed.spot), error));
    }
    let choices = ["column", "value", "strategy"];
    let mut keys = spec.method.keys.iter();
    if let Some((key, spot)) = keys.find(|(key, _)| choices.contains(&key.as_str())) {
        let error = Error::recipe(format!(
            "`{key}` goes with `looks = \"free\"` only: under `delta-presence` the one cut \
             of a part that is looked at follows from the population"
        ))
        .with_hint(
            "leave it out; free looks give presence away to somebody who knows the program",
        );
        return Err(spec.error_at(*spot, error));
    }
    Ok(())
}

/// How many rows may be left out where a plan takes the place of looks: none. Which groups
/// of a plan break the promise follows from who is in them.
pub(super) fn limit_of_plan(plan: &Plan) -> Result<u64> {
    match plan.safe {
        true => Ok(0),
        false => Err(Error::recipe(
            "the plan was made by looking at its table freely, so its groups tell who is in \
             that table",
        )
        .with_hint(
            "make a plan with `looks = \"coins\"`, or say `looks = \"free\"` here, too",
        )),
    }
}

/// Why a plan cannot be followed if some of its groups break a promise.
pub(super) fn refused_plan(error: Error, promises: &Promises) -> Error {
    match error.kind() {
        ErrorKind::Unsatisfiable { .. } => Error::unsatisfiable(
            promises.title(),
            "it does not hold of every group of this plan, and leaving groups out would \
             tell who is in them",
        )
        .with_hint("make a plan for this table, which needs no left-out rows"),
        _ => error,
    }
}
