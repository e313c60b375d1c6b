//! What each level of privacy costs.

use std::path::Path;

use pyo3::prelude::*;
use scumble::error::ErrorKind;
use scumble::recipe::{
    Grid, Point, Questions, Request, Spec, Vary, Yardstick, YardstickOptions, publish,
    risks,
};
use scumble::table::Inputs;
use scumble::watch::{Quiet, Stage, Watch};
use scumble::{Error, Result};
use serde_json::{Value, json};

use crate::recipe::Recipe;
use crate::report::attack_json;
use crate::run::watched;
use crate::table::Given;

/// Publishes several recipes, or one with keys varied, measures every release and throws it
/// away; what was measured, as JSON.
#[pyfunction]
#[pyo3(signature = (
    recipes, names, table=None, vary=vec![], class_=None, queries=200, questions=None,
    draws=5, seed=1, progress=None
))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn compare(
    py: Python<'_>,
    recipes: Vec<Py<Recipe>>,
    names: Vec<String>,
    table: Option<Given>,
    vary: Vec<String>,
    class_: Option<String>,
    queries: usize,
    questions: Option<String>,
    draws: usize,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let recipes: Vec<&Recipe> = recipes.iter().map(|recipe| recipe.get()).collect();
    let found = watched(py, progress, |watch| {
        let texts = recipes.iter().zip(&names);
        let texts: Vec<(String, String)> = texts
            .map(|(recipe, name)| (recipe.text().to_owned(), name.clone()))
            .collect();
        let varies: Vec<Vary> =
            vary.iter().map(|typed| Vary::parse(typed)).collect::<Result<_>>()?;
        let Grid { keys, points, chosen } = Grid::of_recipes(&texts, &varies)?;
        let questions = questions.map(|text| Questions::parse(&text, "the questions"));
        let questions = questions.transpose()?;
        let options =
            YardstickOptions { class: class_, queries, questions, draws, seed };
        let standing = points.iter().filter(|point| point.as_it_stands);
        let specs: Vec<&Spec> = standing.map(|point| &point.spec).collect();
        let mut inputs = Inputs::default();
        for recipe in &recipes {
            let (_, own) = recipe.with(table.as_ref(), None);
            inputs.folder = inputs.folder.or(own.folder);
            inputs.given.extend(own.given);
        }
        watch.stage(Stage::Read, 0);
        let yardstick = Yardstick::of_recipes(&specs, &inputs, options, watch)?;
        let ends = yardstick.ends();
        watch.stage(Stage::Search, points.len() as u64);
        let mut outcomes = Vec::with_capacity(points.len());
        let mut best: Option<Error> = None;
        for (number, point) in points.iter().enumerate() {
            let outcome = run(point, &inputs, &yardstick, seed, watch);
            watch.check()?;
            watch.advance(1);
            let mut object = outcome.unwrap_or_else(|error| {
                let told = json!({ "error": error.to_string() });
                let is_hopeless =
                    !matches!(error.kind(), ErrorKind::Unsatisfiable { .. });
                if is_hopeless && (best.is_none() || number == chosen) {
                    best = Some(error);
                }
                told
            });
            object["values"] = json!(point.values);
            object["recipe"] = json!(point.file);
            object["as_it_stands"] = json!(point.as_it_stands);
            outcomes.push(object);
        }
        let is_all_wrong =
            outcomes.iter().all(|outcome| outcome.get("error").is_some());
        if let (true, Some(error)) = (is_all_wrong, best) {
            return Err(error);
        }
        Ok(json!({
            "keys": keys, "rows": ends.rows, "class": ends.class, "guess": ends.guess,
            "points": outcomes,
        }))
    })?;
    Ok(found.to_string())
}

/// Publishes a point and measures it.
fn run(
    point: &Point,
    inputs: &Inputs,
    yardstick: &Yardstick,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Value> {
    let quiet = Quiet(watch);
    let request = Request {
        inputs: inputs.clone(),
        in_memory: true,
        seed: Some(seed),
        ..Request::new(&point.spec, Path::new(""))
    };
    let published = publish(request, &quiet)?;
    let measured = yardstick.measure(&published.release, &quiet)?;
    let ends = yardstick.ends();
    let found = risks(&published.audit.attacks, &ends, &measured);
    let found = found.iter().map(|risk| {
        json!({
            "kind": risk.kind.name(), "gain": risk.gain, "attack": risk.attack,
            "column": risk.column,
        })
    });
    Ok(json!({
        "method": published.manifest.method.name,
        "rows": published.manifest.rows,
        "left_out": published.manifest.left_out,
        "holds": published.audit.holds(),
        "loss": published.audit.loss,
        "risks": found.collect::<Vec<Value>>(),
        "attacks": published.audit.attacks.iter().map(attack_json).collect::<Vec<Value>>(),
        "query_error": measured.query_error,
        "open_error": measured.open_error,
        "coverage": measured.coverage,
        "width": measured.width,
        "rule_error": measured.rule_error,
        "tree": measured.accuracy.map(|accuracy| accuracy.tree),
        "neighbours": measured.accuracy.map(|accuracy| accuracy.neighbours),
        "notes": measured.notes,
    }))
}
