//! Following a saved plan instead of a search.

use crate::error::{Error, Result};
use crate::hierarchy::ColumnSpec;
use crate::method::{GroupPlan, Plan};
use crate::recipe::Spec;
use crate::recipe::methods::Method;
use crate::recipe::order::Order;
use crate::table::Role;

/// Makes a recipe follow a saved plan.
pub(super) fn follow(
    spec: &Spec,
    methods: &[&'static dyn Method],
    plan: &Plan,
    order: &mut Order,
) -> Result<()> {
    if !methods.iter().any(|method| method.takes_plans()) {
        let names: Vec<&str> = methods.iter().map(|method| method.name()).collect();
        return Err(Error::recipe(format!("`{}` takes no plan", names.join("`, `")))
            .with_hint("what it decides is for one table"));
    }
    let asked = spec.method.name.map(|method| method.name());
    if let Some(asked) = asked.filter(|asked| *asked != plan.method) {
        let error = Error::recipe(format!(
            "the recipe asks for `{asked}`, but the plan was made by `{}`",
            plan.method
        ));
        return Err(match spec.method.spot {
            Some(spot) => spec.error_at(spot, error),
            None => error,
        });
    }
    if !methods.iter().any(|method| method.name() == plan.method) {
        let names: Vec<&str> = methods.iter().map(|method| method.name()).collect();
        return Err(Error::recipe(format!(
            "the plan was made by `{}`, but a recipe with these promises that names no method \
             means `{}`",
            plan.method,
            names.join("`, `")
        ))
        .with_hint("name the method of the plan"));
    }
    match plan.groups() {
        Some(groups) => fit(&mut order.columns, groups),
        None => Err(Error::recipe("the plan was made for other quasi columns")),
    }
}

/// Makes the columns those of a plan.
fn fit(columns: &mut [ColumnSpec], plan: &GroupPlan) -> Result<()> {
    let quasi: Vec<&mut ColumnSpec> =
        columns.iter_mut().filter(|column| column.role == Role::Quasi).collect();
    let mismatch = || {
        let names: Vec<String> =
            plan.columns.iter().map(|column| format!("`{}`", column.name)).collect();
        Error::recipe("the plan was made for other quasi columns")
            .with_hint(format!("it is for {}", names.join(", ")))
    };
    if quasi.len() != plan.columns.len() {
        return Err(mismatch());
    }
    for column in quasi {
        let place = plan.columns.iter().position(|planned| planned.name == column.name);
        let place = place.ok_or_else(mismatch)?;
        let planned = &plan.columns[place];
        column.reading = planned.reading.clone();
        column.may_be_numbers = false;
        column.rule = planned.rule.clone();
        column.cells = planned.cells;
        column.lowest = planned.lowest;
        column.grid = planned.grid.clone();
    }
    Ok(())
}
