//! A first look at a table.

use pyo3::prelude::*;
use scumble::inspect::{Coarsening, Findings, Options};
use scumble::watch::{Stage, Watch};
use serde_json::{Value, json};

use crate::run::watched;
use crate::table::Given;

/// Looks at a table; what was found, as JSON. The recipe in it calls the table `name`.
#[pyfunction]
#[pyo3(signature = (table, name, progress=None))]
pub(crate) fn inspect(
    py: Python<'_>,
    table: Given,
    name: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let findings = watched(py, progress, |watch| {
        let source = table.source(name)?;
        watch.stage(Stage::Read, 5 * source.bytes());
        let options = Options { table: name.to_owned(), ..Options::default() };
        let watch: &dyn Watch = watch;
        scumble::inspect::inspect(watch.over(&source), &options)
    })?;
    Ok(as_json(&findings).to_string())
}

fn as_json(findings: &Findings) -> Value {
    let columns = findings.columns.iter().map(|column| {
        let hierarchy = column.coarsening.as_ref().map(Coarsening::as_key);
        json!({
            "name": column.name,
            "type": column.kind.name(),
            "format": column.date_format,
            "role": column.role.name(),
            "reason": column.reason,
            "distinct": column.distinct,
            "missing": column.missing,
            "unique_share": column.unique_share,
            "exact": column.exact,
            "hierarchy": hierarchy,
        })
    });
    let risk = findings.risk.iter().map(|risk| {
        json!({
            "columns": risk.columns,
            "unique": risk.unique,
            "below_5": risk.below_5,
            "exact": risk.exact,
        })
    });
    json!({
        "rows": findings.rows,
        "columns": columns.collect::<Vec<_>>(),
        "risk": risk.collect::<Vec<_>>(),
        "recipe": findings.recipe,
    })
}
