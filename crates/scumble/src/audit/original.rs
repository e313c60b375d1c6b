//! The original as the manifest describes it.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::hierarchy::{Cells, Column, ColumnSpec, Microdata, Rule};
use crate::release::Manifest;
use crate::table::Role;

/// How the table a release was made from is to be read, from the manifest alone.
pub fn original_columns(manifest: &Manifest) -> Vec<ColumnSpec> {
    let counted = manifest
        .columns
        .iter()
        .filter(|column| matches!(column.role, Role::Quasi | Role::Sensitive));
    counted
        .map(|column| ColumnSpec {
            name: column.name.clone(),
            role: column.role,
            reading: column.reading(),
            may_be_numbers: false,
            rule: column.hierarchy.clone().unwrap_or(Rule::Plain),
            lowest: 0,
            highest: None,
            weight: weight(column.weight),
            cells: column.cells.unwrap_or(Cells::Taxonomy),
            also: Vec::new(),
        })
        .collect()
}

/// The quasi columns of the original in the order of the manifest, with its cells and
/// weights, and the place of each in the original.
pub(super) fn quasi_columns<'a>(
    manifest: &Manifest,
    original: &'a Microdata,
) -> Result<(Vec<Cow<'a, Column>>, Vec<usize>)> {
    let mut columns = Vec::new();
    let mut places = Vec::new();
    for published in &manifest.columns {
        if published.role != Role::Quasi {
            continue;
        }
        let place =
            original.quasi.iter().position(|known| known.name == published.name);
        let place = place.ok_or_else(|| no_column(&published.name))?;
        let mut column = Cow::Borrowed(&original.quasi[place]);
        let cells = published.cells.unwrap_or(Cells::Taxonomy);
        if column.cells != cells {
            column.to_mut().cells = cells;
        }
        let weight = weight(published.weight);
        if column.weight != weight {
            column.to_mut().weight = weight;
        }
        columns.push(column);
        places.push(place);
    }
    Ok((columns, places))
}

/// That the original was read without a column of the release.
pub(super) fn no_column(name: &str) -> Error {
    Error::input(format!("the original has no column `{name}`"))
        .with_hint("give the file the release was made from")
}

/// A weight that a loss can work with.
fn weight(given: Option<f64>) -> f64 {
    given.filter(|weight| weight.is_finite() && *weight > 0.0).unwrap_or(1.0)
}
