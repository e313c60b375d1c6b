//! The original as the manifest describes it.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::hierarchy::{Cells, Column, ColumnSpec, Microdata, Rule};
use crate::release::Manifest;
use crate::table::{Census, Role};

/// How the table a release was made from is to be read, from the manifest alone.
pub fn original_columns(manifest: &Manifest) -> Vec<ColumnSpec> {
    // Beside randomized columns the quasi columns are untouched, or a sample of one row a
    // group: nothing is computed from them.
    let with_quasi = manifest.perturbation.is_empty();
    let counted = manifest.columns.iter().filter(|column| match column.role {
        Role::Quasi => with_quasi,
        role => role == Role::Sensitive,
    });
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

/// The quasi columns of the original (or of another table, which `whose` names) in the
/// order of the manifest, with its cells and weights, and the place of each in the table.
pub(super) fn quasi_columns<'a>(
    manifest: &Manifest,
    original: &'a Microdata,
    whose: &str,
) -> Result<(Vec<Cow<'a, Column>>, Vec<usize>)> {
    let mut columns = Vec::new();
    let mut places = Vec::new();
    for published in &manifest.columns {
        if published.role != Role::Quasi {
            continue;
        }
        let place =
            original.quasi.iter().position(|known| known.name == published.name);
        let place = place.ok_or_else(|| no_column(whose, &published.name))?;
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

/// That a table was read without a column of the release.
pub(super) fn no_column(whose: &str, name: &str) -> Error {
    Error::input(format!("the {whose} has no column `{name}`"))
        .with_hint("give the file the release was made from")
}

/// The table itself, if it was read within a population: the census then also has the
/// tuples of people who are not in the table, and no attack may mistake them for rows.
/// Domains stay those of the population, as they were when the release was made.
pub(super) fn without_others(original: &Microdata) -> Option<Microdata> {
    let census = &original.census;
    census.people.as_ref()?;
    let there: Vec<usize> =
        (0..census.n_tuples()).filter(|tuple| census.rows[*tuple] > 0).collect();
    let quasi = census.quasi.iter();
    let mut starts: Vec<usize> =
        there.iter().map(|tuple| census.starts[*tuple]).collect();
    starts.push(census.entries.len());
    Some(Microdata {
        quasi: original.quasi.clone(),
        sensitive: original.sensitive.clone(),
        census: Census {
            quasi: quasi
                .map(|codes| there.iter().map(|tuple| codes[*tuple]).collect())
                .collect(),
            rows: there.iter().map(|tuple| census.rows[*tuple]).collect(),
            people: None,
            // Who has no rows has no entries, so these stay as they are.
            sensitive: census.sensitive.clone(),
            entries: census.entries.clone(),
            starts,
            sensitive_sizes: census.sensitive_sizes.clone(),
        },
        specs: original.specs.clone(),
        codes: original.codes.clone(),
    })
}

/// A weight that a loss can work with.
fn weight(given: Option<f64>) -> f64 {
    given.filter(|weight| weight.is_finite() && *weight > 0.0).unwrap_or(1.0)
}
