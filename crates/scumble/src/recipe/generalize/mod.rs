//! Generalization: rows in groups, and cells that stand for all of a group.

mod cells;
mod follow;
pub(super) mod looks;
pub(super) mod notes;
mod numbers;
mod people;
mod robust;
mod weights;

use looks::looks;
pub(super) use notes::note_levels;
pub(super) use numbers::{Alike, number};
pub(super) use weights::weighting;

use std::sync::Arc;

use rand::Rng;
use serde_json::{Map, json};

use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::{Cells, Column, ColumnSpec, Microdata};
use crate::method::{self, GroupPlan, Grouping, Plan, Route, Step, Weighting};
use crate::promise::{About, GroupPromise, KAnonymity, Promise, Promises, RobustRows};
use crate::recipe::generalize::cells::{
    check_lowest, ends, in_runs, natural_cells, set_grids,
};
use crate::recipe::generalize::notes::{
    generalized, names, not_promised, promise_notes, published_columns, weights_note,
};
use crate::recipe::generalize::people::{check_weights, people_for_coins};
use crate::recipe::generalize::robust::RobustColumns;
use crate::recipe::methods::{Gathered, Keeps, Method, Needs, Planned, Task, Treats};
use crate::recipe::order::promises;
use crate::recipe::{Looks, Proven, Search, Spec};
use crate::release::Weighted;
use crate::table::GroupId;

/// Rows in groups whose cells stand for all of their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Generalization {
    /// One level for each column, searched for the best.
    FullDomain,
    /// Groups cut in two again and again.
    Mondrian,
}

impl Method for Generalization {
    fn name(&self) -> &'static str {
        match self {
            Self::FullDomain => "full-domain",
            Self::Mondrian => "mondrian",
        }
    }

    fn keys(&self) -> &'static [&'static str] {
        match self {
            Self::FullDomain => {
                &["loss", "suppression", "cells", "ends", "looks", "effort"]
            }
            Self::Mondrian => &[
                "loss",
                "suppression",
                "cells",
                "ends",
                "column",
                "value",
                "strategy",
                "looks",
            ],
        }
    }

    fn keeps(&self, promise: &dyn Promise) -> Keeps {
        match promise.about() {
            About::Groups(_) => Keeps::First,
            // Levels that keep it cannot be searched for: it does not survive merging.
            About::Posteriors(_) => Keeps::when(*self == Self::Mondrian),
            About::Draws(_) | About::Company(_) => Keeps::No,
        }
    }

    fn treats(&self) -> Treats {
        Treats::Cells
    }

    fn needs(&self) -> Needs {
        Needs::Counts
    }

    fn check(&self, spec: &Spec) -> Result<()> {
        match self {
            Self::FullDomain => looks::check_levels(spec),
            Self::Mondrian => {
                robust::check(spec)?;
                looks::check(spec)
            }
        }
    }

    fn stands_alone(&self, spec: &Spec) -> bool {
        let coins = looks(self.name(), spec) == Some(Looks::Coins);
        match self {
            // Cuts lose less: levels are for recipes that cuts are not for.
            Self::FullDomain => coins && Self::Mondrian.check(spec).is_err(),
            Self::Mondrian => coins && looks::any_level(spec),
        }
    }

    fn plan(&self, data: &Gathered, task: &Task<'_>) -> Result<Planned> {
        plan(self.name(), data, task)
    }

    fn takes_plans(&self) -> bool {
        true
    }

    fn weaker(
        &self,
        planned: &Planned,
        data: &Gathered,
        task: &Task<'_>,
    ) -> Result<Option<Planned>> {
        weaker(planned, data, task)
    }
}

fn plan(name: &str, data: &Gathered, task: &Task<'_>) -> Result<Planned> {
    let data = data.need_counts()?;
    check_weights(data, task)?;
    let promises = promises(task.spec, data);
    let wanted = task.crowd.and_then(|crowd| KAnonymity::new(crowd).ok());
    let wanted = wanted.map(|crowd| Arc::new(crowd) as Arc<dyn GroupPromise>);
    let searched = promises.with(wanted);
    let robust = RobustColumns::read(name, task, data)?;
    let chosen = match task.plan {
        Some(plan) => {
            let chosen = follow::follow(name, plan, data, &promises, task)?;
            robust.check(&chosen.grouping, data)?;
            chosen
        }
        None => match people_for_coins(name, data, task) {
            Some(people) => {
                let promises = self::promises(task.spec, &people);
                search(name, &people, &promises, &[], task)?
            }
            None => search(name, data, &searched, &robust.rows(), task)?,
        },
    };
    planned(name, data, chosen, weighting(name, task.spec), &robust, task)
}

/// Worlds are counted by publisher and audit in different ways. Where that takes the audit
/// too long, weights that need no counting must do.
fn weaker(
    planned: &Planned,
    data: &Gathered,
    task: &Task<'_>,
) -> Result<Option<Planned>> {
    let name = planned.plan.method.clone();
    let Some((Weighting::Counted(_), kind)) = weighting(&name, task.spec) else {
        return Ok(None);
    };
    let data = data.need_counts()?;
    let Some(grouping) = planned.grouping.clone() else { return Ok(None) };
    let chosen = ChosenGroups {
        columns: data.quasi.clone(),
        grouping,
        search: planned.search.clone(),
    };
    let weighting = Some((Weighting::Population, kind));
    let robust = RobustColumns::read(&name, task, data)?;
    self::planned(&name, data, chosen, weighting, &robust, task).map(Some)
}

/// A method's result.
pub(super) struct ChosenGroups {
    pub(super) columns: Vec<Column>,
    pub(super) grouping: Grouping,
    pub(super) search: Search,
}

/// What is published of the groups that were chosen.
fn planned(
    name: &str,
    data: &Microdata,
    chosen: ChosenGroups,
    weighting: Option<(Weighting, &str)>,
    robust: &RobustColumns<'_>,
    task: &Task<'_>,
) -> Result<Planned> {
    let ChosenGroups { columns, grouping, mut search } = chosen;
    let spec = task.spec;
    let shape = grouping.shape(&data.census);
    let loss = spec.method.loss.of(&columns, &shape);
    let left_out = shape.left_out;
    drop(shape);
    note_levels(&columns, &grouping, &mut search);
    let weights = weighting
        .map(|(way, _)| {
            grouping.weighted_watched(&columns, &data.census, way, task.watch)
        })
        .transpose()?;
    let mut groups = group_plan(data, &columns, &grouping);
    let together = Alike::Together;
    let published =
        number(&mut groups, &columns, &grouping, weights.as_ref(), together);
    let levels = match &grouping.route {
        Route::Levels(levels) => {
            let named = columns.iter().zip(levels);
            Some(named.map(|(c, level)| (c.name.clone(), json!(level))).collect())
        }
        Route::Cuts(_) => None,
    };
    let mut parameters = Map::new();
    parameters.insert("loss".to_owned(), json!(spec.method.loss.name()));
    parameters
        .insert("suppression".to_owned(), json!(spec.method.suppression.to_f64()));
    if let Some(ends) = ends(&columns) {
        parameters.insert("ends".to_owned(), json!(ends.name()));
    }
    let looks = looks::looked(name, task);
    if let Some(looks) = looks {
        parameters.insert("looks".to_owned(), json!(looks.name()));
    }
    if let Some(proven) = &search.proven {
        parameters.insert("optimal".to_owned(), json!(proven.optimal));
    }
    // Which levels were refused last follows from what is published.
    if let Some(refused) = &search.refused {
        let named = columns.iter().zip(refused);
        let named: Map<_, _> =
            named.map(|(c, level)| (c.name.clone(), json!(level))).collect();
        parameters.insert("refused".to_owned(), named.into());
    }
    if let Some((column, value)) = search.strategy {
        parameters.insert("column".to_owned(), json!(column.name()));
        parameters.insert("value".to_owned(), json!(value.name()));
    }
    if let Some(fallback) = robust.fallback(data) {
        parameters.insert("knowledge".to_owned(), fallback);
    }
    let mut promises = promise_notes(spec, data);
    promises.extend(robust.notes(data));
    let mut not_promised = not_promised(
        spec,
        &columns,
        looks,
        grouping.levels().is_some(),
        weighting.map(|(way, _)| way),
    );
    not_promised.extend(robust.not_promised(left_out));
    let classes = weighting.zip(weights.as_ref()).map(|((_, kind), weights)| {
        weights_note(kind, &columns, weights, &published).class(names(&columns))
    });
    let cells = weights.map(|weights| {
        let values = |group: &GroupId| -> Vec<Weighted> {
            let pdfs = weights[*group].iter();
            pdfs.map(|pdf| pdf.values.clone()).collect()
        };
        published.iter().map(values).collect()
    });
    let mut plan = Plan::new(name, vec![Step::Group(groups)]);
    plan.weighted = weighting.is_some();
    plan.safe = looks == Some(Looks::Coins) && spec.presence().is_some();
    Ok(Planned {
        columns: published_columns(spec, task.order, data, &columns, |origin| {
            generalized(spec, &columns, grouping.levels(), origin)
        }),
        classes: classes.into_iter().collect(),
        cells,
        sampled: None,
        secret: None,
        parameters,
        levels,
        promises,
        not_promised,
        knowledge: robust.stated(),
        search,
        loss,
        remarks: robust.remarks(data),
        plan,
        quasi: Some(columns),
        grouping: Some(grouping),
    })
}

/// The groups in words that do not depend on codes.
pub(super) fn group_plan(
    data: &Microdata,
    columns: &[Column],
    grouping: &Grouping,
) -> GroupPlan {
    let specs: Vec<ColumnSpec> = columns
        .iter()
        .zip(&data.specs)
        .map(|(column, spec)| {
            let grid = column.grid.as_ref().map(|bound| bound.grid().clone());
            ColumnSpec { cells: column.cells, grid, ..spec.clone() }
        })
        .collect();
    GroupPlan::of(columns, &specs, &data.census, grouping)
}

/// Runs the methods that can keep the promises, and takes the one with the least loss.
pub(super) fn best(
    data: &Microdata,
    promises: &Promises,
    task: &Task<'_>,
) -> Result<ChosenGroups> {
    let asked = |key: &str| task.spec.method.keys.iter().any(|(known, _)| known == key);
    let cuts = ["column", "value", "strategy"].into_iter().any(asked);
    let names: &[&str] =
        if cuts { &["mondrian"] } else { &["full-domain", "mondrian"] };
    let mut best: Option<(f64, ChosenGroups)> = None;
    let mut tried = Vec::new();
    let mut failure: Option<Error> = None;
    for name in names.iter().filter(|name| names.len() == 1 || can(name, data)) {
        let chosen = match search(name, data, promises, &[], task) {
            Ok(chosen) => chosen,
            Err(error) if matches!(error.kind(), ErrorKind::Unsatisfiable { .. }) => {
                failure.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        let shape = chosen.grouping.shape(&data.census);
        let loss = task.spec.method.loss.of(&chosen.columns, &shape);
        tried.push(((*name).to_owned(), loss));
        if best.as_ref().is_none_or(|(held, _)| loss < *held) {
            best = Some((loss, chosen));
        }
    }
    match (best, failure) {
        (Some((_, mut chosen)), _) => {
            if names.len() > 1 {
                chosen.search.tried = tried;
            }
            Ok(chosen)
        }
        (None, Some(error)) => Err(error),
        (None, None) => Err(Error::recipe("no method can keep these promises")),
    }
}

/// Whether a method can be tried on a table where it was not asked for by name.
pub(super) fn can(name: &str, data: &Microdata) -> bool {
    let whole =
        data.quasi.iter().all(|c| c.highest == c.hierarchy.height() && c.lowest == 0);
    match name {
        "mondrian" => whole,
        _ => true,
    }
}

fn search(
    name: &str,
    data: &Microdata,
    promises: &Promises,
    robust: &[RobustRows<'_>],
    task: &Task<'_>,
) -> Result<ChosenGroups> {
    let spec = task.spec;
    let mut columns = data.quasi.clone();
    // Nobody may fit several groups where it is counted who is in which.
    let apart = promises.look_at_people()
        || !robust.is_empty()
        || data.census.persons.is_some()
        || task.crowd.is_some();
    if name == "mondrian" && matches!(spec.method.cells, None | Some(Cells::Pdf)) {
        for (column, spec) in columns.iter_mut().zip(&data.specs) {
            column.cells = natural_cells(column, spec, apart);
        }
        check_lowest(spec, &columns, data)?;
    }
    if name == "full-domain" && apart {
        for column in columns.iter_mut().filter(|c| c.cells == Cells::Interval) {
            // Ranges of two nodes overlap where their values stand mixed, as under masks.
            if !in_runs(column) {
                column.cells = Cells::Set;
            }
        }
    }
    set_grids(name, spec, &mut columns, &data.specs)?;
    let grouping_task = method::GroupingTask {
        columns: &columns,
        census: &data.census,
        promises,
        loss: spec.method.loss,
        limit: spec.method.suppression.share_of(data.n_rows()),
    };
    let watched = task.watch.over(&grouping_task);
    let mut search = Search::default();
    let by_coins = looks::looked(name, task) == Some(Looks::Coins);
    let grouping = match name {
        "full-domain" if by_coins => {
            let mut coins = task.randomness.stream("levels", 0);
            let found =
                method::safe_levels(watched, |chance| coins.next_u64() < chance)?;
            search.lattice = found.lattice;
            search.checked = found.looks;
            search.refused = found.refused;
            found.grouping
        }
        "full-domain" => {
            let found =
                method::FullDomain { effort: spec.method.effort }.find(watched)?;
            search.lattice = found.lattice;
            search.checked = found.checked;
            let method::BestNode { loss, bound, optimal, .. } = found;
            search.proven = Some(Proven { loss, bound, optimal });
            found.grouping
        }
        _ if by_coins && spec.presence().is_none() => {
            method::value_cuts(watched, &mut task.randomness.stream("cuts", 0))?
        }
        _ if by_coins => {
            let mut coins = task.randomness.stream("cuts", 0);
            method::safe_cuts(watched, |chance| coins.next_u64() < chance)?
        }
        _ if spec.method.search => {
            let (method, grouping) = method::Mondrian::search(watched, robust)?;
            search.strategy = Some((method.column, method.value));
            grouping
        }
        _ => {
            let (column, value) = (spec.method.column, spec.method.value);
            let method = method::Mondrian { column, value };
            search.strategy = Some((column, value));
            method.find_robust(watched, robust)?
        }
    };
    Ok(ChosenGroups { columns, grouping, search })
}
