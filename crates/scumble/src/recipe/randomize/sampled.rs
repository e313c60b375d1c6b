//! Perturbed generalization: values randomized, quasi columns generalized into groups, and
//! one row of each group published.
//!
//! # Guarantee
//! What the operator promises of a value, and that each published row could be that of any
//! of the k or more people of its group. Knowing the values of all others of a group does
//! not tell the last one's, because the row may be theirs.
//!
//! # Limits
//! Most rows are lost: estimates rest on one row of each group.
//!
//! # Cost
//! That of grouping.
//!
//! # Source
//! `tao2008anticorruption`; docs/methods.md, "Baselines for randomization".

use crate::error::{Error, Result};
use crate::method::{Plan, Step};
use crate::promise::{About, Promise};
use crate::recipe::Spec;
use crate::recipe::generalize::notes::{generalized, promise_notes, published_columns};
use crate::recipe::generalize::{
    Alike, ChosenGroups, best, group_plan, note_levels, number,
};
use crate::recipe::methods::{Gathered, Keeps, Method, Needs, Planned, Task, Treats};
use crate::recipe::order::{Origin, promises};
use crate::recipe::randomize::check::{self, check_columns};
use crate::recipe::randomize::notes::{not_promised, parameters, treated};
use crate::recipe::randomize::{Designs, Perturbation};
use crate::release::PerturbationNote;

/// The column that tells how many rows a published row stands for.
const SIZE_COLUMN: &str = "group.size";

/// Values randomized, quasi columns generalized, one row of each group published.
#[derive(Debug)]
pub(in crate::recipe) struct PerturbedGeneralization;

/// Whether a promise is about the size of groups alone.
fn is_size(promise: &dyn Promise) -> bool {
    match promise.about() {
        About::Groups(promise) => {
            !promise.looks_at_values() && !promise.needs_population()
        }
        About::Draws(_) | About::Posteriors(_) | About::Company(_) => false,
    }
}

impl Method for PerturbedGeneralization {
    fn name(&self) -> &'static str {
        "perturbed-generalization"
    }

    fn keys(&self) -> &'static [&'static str] {
        &[
            "loss",
            "suppression",
            "cells",
            "column",
            "value",
            "strategy",
            "sensitive",
            "missing",
        ]
    }

    fn keeps(&self, promise: &dyn Promise) -> Keeps {
        Keeps::when(is_size(promise) || matches!(promise.about(), About::Draws(_)))
    }

    fn treats(&self) -> Treats {
        Treats::Everything
    }

    fn needs(&self) -> Needs {
        Needs::Counts
    }

    fn check(&self, spec: &Spec) -> Result<()> {
        let spot = spec.method.spot.unwrap_or(spec.input.table_spot);
        let mut promises = spec.promises.iter().map(|typed| typed.kind.promise());
        check::check(spec)?;
        check_columns(spec, self.name(), true)?;
        if !promises.any(is_size) {
            let error = Error::recipe(
                "`perturbed-generalization` needs `k-anonymity`: one row of each group \
                 is published",
            );
            let hint = "promise `k-anonymity = 5`, or the like";
            return Err(spec.error_at(spot, error.with_hint(hint)));
        }
        Ok(())
    }

    fn plan(&self, data: &Gathered, task: &Task<'_>) -> Result<Planned> {
        let data = data.need_counts()?;
        let why = "each group is one row, drawn by itself";
        task.order.refuse_repeated(task.spec, data.people, self.name(), why)?;
        let (spec, order) = (task.spec, task.order);
        if order.published.iter().any(|(name, _)| name == SIZE_COLUMN) {
            return Err(Error::input(format!(
                "a column is called `{SIZE_COLUMN}`, which is the name of the groups' sizes"
            ))
            .in_file(order.source.name()));
        }
        let promises = promises(spec, data);
        let designs = Designs::of(Perturbation::Uniform, data, task)?;
        let ChosenGroups { columns, grouping, mut search } =
            best(data, &promises, task)?;
        note_levels(&columns, &grouping, &mut search);
        let mut groups = group_plan(data, &columns, &grouping);
        number(&mut groups, &columns, &grouping, None, Alike::Apart);
        let steps = [Step::Group(groups)].into_iter().chain(designs.steps(spec, data));
        let mut plan = Plan::new(self.name(), steps.collect());
        plan.sampled = true;
        let notes = designs.notes(spec, data, false);
        let mut parameters = parameters(spec, &designs.designs);
        parameters.insert("loss".to_owned(), spec.method.loss.name().into());
        let about_groups = promise_notes(spec, data).into_iter();
        Ok(Planned {
            plan,
            columns: published_columns(spec, order, data, &columns, |origin| {
                match origin {
                    Origin::Sensitive(place) => {
                        treated(&notes, &data.sensitive[place].name)
                    }
                    _ => generalized(spec, &columns, grouping.levels(), origin),
                }
            }),
            classes: notes.iter().cloned().map(PerturbationNote::class).collect(),
            promises: about_groups.chain(designs.promise_note()).collect(),
            not_promised: not_promised(spec, None, &designs.designs, false),
            quasi: Some(columns),
            grouping: Some(grouping),
            cells: None,
            sampled: Some(SIZE_COLUMN.to_owned()),
            secret: None,
            parameters,
            levels: None,
            knowledge: None,
            search,
            loss: 0.0,
            remarks: Vec::new(),
        })
    }
}
