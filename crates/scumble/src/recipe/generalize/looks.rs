//! Whether methods look at cuts and levels by coins, and what a recipe must say then.

use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Cells;
use crate::method::Plan;
use crate::promise::{About, Promises};
use crate::recipe::methods::Task;
use crate::recipe::{Looks, PromiseSpec, Spec, Spot};
use crate::table::Role;

/// How a method named `name` looks at cuts or levels, where that matters: under a promise
/// about presence, or about sensitive values.
pub(in crate::recipe) fn looks(name: &str, spec: &Spec) -> Option<Looks> {
    let asked = spec.method.looks.map(|(looks, _)| looks);
    let usual = match (name, spec.presence().is_some(), of_values(spec).is_some()) {
        ("mondrian", true, _) => Looks::Coins,
        ("mondrian", false, true) if free_only(spec).is_none() => Looks::Coins,
        ("mondrian", false, true) => Looks::Free,
        // No coin makes up for the values that finer levels show.
        ("full-domain", _, true) => Looks::Free,
        ("full-domain", true, false) => Looks::Coins,
        _ => return None,
    };
    Some(asked.unwrap_or(usual))
}

/// How cuts or levels of this run are looked at.
pub(super) fn looked(name: &str, task: &Task<'_>) -> Option<Looks> {
    let looks = looks(name, task.spec)?;
    // Groups that come from elsewhere, or are tried again with others, are chosen by values.
    let chosen = task.plan.is_some() || task.crowd.is_some();
    match task.spec.presence() {
        None if chosen => Some(Looks::Free),
        _ => Some(looks),
    }
}

/// What in a recipe asks for cuts whose refusals tell of values, and why it does.
fn free_only(spec: &Spec) -> Option<(Spot, &'static str)> {
    let choices = ["column", "value", "strategy"];
    let choice = spec.method.keys.iter().find(|(key, _)| choices.contains(&&**key));
    let (input, promises) = (&spec.input, &spec.promises);
    let robust = promises
        .iter()
        .find(|typed| matches!(typed.kind.promise().about(), About::Posteriors(_)));
    let person = input.person.as_ref().map(|(_, spot)| *spot);
    let choice = choice.map(|(_, spot)| {
        let why =
            "the one cut of a part that is looked at follows from its quasi values";
        (*spot, why)
    });
    choice
        .or(person.map(|spot| (spot, "rows of a person are not arranged by chance")))
        .or(input
            .population_spot
            .map(|spot| (spot, "cuts would tell of presence, too")))
        .or(robust
            .map(|typed| (typed.spot, "beliefs about values do not survive merging")))
}

/// A promise that looks at the values of who is in the table.
fn of_values(spec: &Spec) -> Option<&PromiseSpec> {
    spec.promises.iter().find(|typed| match typed.kind.promise().about() {
        About::Groups(promise) => promise.looks_at_values() || promise.looks_at_whole(),
        About::Draws(_) | About::Posteriors(_) | About::Company(_) => false,
    })
}

/// That nobody asks for looks where nothing promises presence or speaks of values, nor for
/// coins where these are not to be had.
fn check_without_presence(spec: &Spec, levels: bool) -> Result<()> {
    let Some((looks, spot)) = spec.method.looks else { return Ok(()) };
    let Some(typed) = of_values(spec) else {
        let error = Error::recipe(
            "`looks` is for promises about presence or sensitive values",
        )
        .with_hint(
            "where a search ends tells of these, and nothing else promises them",
        );
        return Err(spec.error_at(spot, error));
    };
    if looks == Looks::Free {
        return Ok(());
    }
    if levels {
        return Err(levels_tell(spec, typed, "values"));
    }
    let Some((_, why)) = free_only(spec) else { return Ok(()) };
    let error = Error::recipe(format!("cuts cannot be looked at by coins here: {why}"))
        .with_hint(
            "leave `looks` out, or say `looks = \"free\"`: where such cuts end tells of \
             values to somebody who knows the program",
        );
    Err(spec.error_at(spot, error))
}

/// Whether cells may be on any level, as cuts make them.
pub(super) fn any_level(spec: &Spec) -> bool {
    let bound = |level: Option<usize>| level.is_some_and(|level| level > 0);
    let columns = spec.columns.iter().filter(|column| column.role == Role::Quasi);
    columns.into_iter().all(|c| c.highest.is_none() && !bound(c.lowest))
}

/// What full-domain asks of a recipe under a promise about presence, and of one without.
pub(super) fn check_levels(spec: &Spec) -> Result<()> {
    if spec.presence().is_none() {
        return check_without_presence(spec, true);
    }
    let coins = looks("full-domain", spec) == Some(Looks::Coins);
    match of_values(spec).filter(|_| coins) {
        Some(typed) => Err(levels_tell(spec, typed, "presence")),
        None => Ok(()),
    }
}

/// That no coin hides what levels tell under a promise about values.
fn levels_tell(spec: &Spec, typed: &PromiseSpec, what: &str) -> Error {
    let (name, beside) = (typed.kind.promise().name(), what == "presence");
    let error = Error::recipe(format!(
        "levels cannot hide {what} {} `{name}`: whether it allows them depends on the \
         values of who is in the table, and a refusal tells of them",
        if beside { "beside" } else { "under" }
    ))
    .with_hint(format!(
        "leave `looks` out, or say `looks = \"free\"`: such levels tell something about \
         {what} to somebody who knows the program"
    ));
    let spot = spec.method.looks.map(|(_, spot)| spot).or(spec.method.spot);
    spec.error_at(spot.unwrap_or(typed.spot), error)
}

/// What Mondrian asks of a recipe under a promise about presence, and of one without.
pub(super) fn check(spec: &Spec) -> Result<()> {
    let Some(presence) = spec.presence() else {
        return check_without_presence(spec, false);
    };
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
