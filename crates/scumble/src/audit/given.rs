//! What an auditor is given besides the release, and how it is read: from the manifest alone.

use std::borrow::Cow;

use crate::audit::domains;
use crate::audit::views::{Present, forms_cell_classes};
use crate::error::{Error, Result};
use crate::hierarchy::{Cells, Column, ColumnSpec, Microdata, Population, Rule};
use crate::release::{Manifest, Parameters, PublishedColumn, Treatment};
use crate::table::{
    Census, Code, Numbers, NumbersTask, Reading, Role, Source, Stated, TupleId,
};
use crate::watch::Watch;

/// What an auditor is given besides the release. What nothing uses is an error.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given<'a> {
    /// The table it was made from.
    pub original: Option<&'a Original<'a>>,
    /// Everyone who may be in the table, as a table of its own with the quasi columns, see
    /// [`read_population`]: promises about presence cannot be rechecked without it.
    pub population: Option<&'a Microdata>,
    /// What an adversary knows of how sensitive values depend on quasi columns.
    pub knowledge: Option<&'a Knowledge>,
}

/// Where an adversary's knowledge comes from.
#[derive(Debug, Clone)]
pub enum Knowledge {
    /// From the original itself, by every single quasi column.
    Table,
    /// From a file.
    Stated(Stated),
}

/// The table a release was made from, as far as an audit looks at it: counted where cells
/// and values are, row by row where numbers are.
#[derive(Debug)]
pub struct Original<'a> {
    pub(super) counted: Option<Cow<'a, Microdata>>,
    pub(super) numbers: Option<Cow<'a, Numbers>>,
    /// The table itself, for who must compare rows.
    pub(super) rows: Option<Source>,
}

impl<'a> Original<'a> {
    /// Reads what the release was made of.
    pub fn read(
        source: &Source,
        manifest: &Manifest,
        watch: &dyn Watch,
    ) -> Result<Self> {
        Self::read_within(source, None, manifest, watch).map(|(original, _)| original)
    }

    /// The same, within a population that it is part of, which is read with it.
    pub fn read_within(
        source: &Source,
        everyone: Option<&Source>,
        manifest: &Manifest,
        watch: &dyn Watch,
    ) -> Result<(Self, Option<Microdata>)> {
        domains::check_table(source, manifest, watch)?;
        let numbers = numbers_task(manifest)
            .map(|task| Numbers::read(source, &task, watch).map(Cow::Owned))
            .transpose()?;
        let columns = counted_columns(manifest)?;
        let by_quasi = columns.iter().any(|column| column.role == Role::Quasi);
        let within = everyone.filter(|_| by_quasi);
        let within = within.map(|source| Population { source, key: &[] });
        let counted = match columns.is_empty() {
            true => None,
            false => Some(Microdata::read_within(source, within, &columns, watch)?),
        };
        let population = match everyone {
            Some(_) if by_quasi => counted.as_ref().and_then(Microdata::everyone),
            Some(everyone) => Some(read_population(everyone, manifest, watch)?),
            None => None,
        };
        let counted = counted.map(Cow::Owned);
        let rows = Some(source.clone());
        Ok((Self { counted, numbers, rows }, population))
    }

    /// A table that was counted before, with the quasi and sensitive columns of the release.
    pub fn counted(table: &'a Microdata) -> Self {
        Self { counted: Some(Cow::Borrowed(table)), numbers: None, rows: None }
    }

    /// Numbers that were read before: those of the release's numbers, and its exact columns.
    pub fn numbers(numbers: &'a Numbers) -> Self {
        Self { counted: None, numbers: Some(Cow::Borrowed(numbers)), rows: None }
    }

    /// The same, with the rows themselves.
    pub fn with_rows(self, table: &Source) -> Self {
        Self { rows: Some(table.clone()), ..self }
    }
}

/// Reads everybody who may be in the table, by the quasi columns of a release.
pub fn read_population(
    source: &Source,
    manifest: &Manifest,
    watch: &dyn Watch,
) -> Result<Microdata> {
    let quasi = manifest.columns.iter().filter(|column| column.role == Role::Quasi);
    let columns: Vec<ColumnSpec> = quasi.map(spec).collect::<Result<_>>()?;
    Microdata::read(source, &columns, watch)
}

/// The columns whose values are counted.
fn counted_columns(manifest: &Manifest) -> Result<Vec<ColumnSpec>> {
    let by_cells = forms_cell_classes(manifest);
    // Beside randomized columns quasi columns are untouched, or a sample of one row of each
    // group: nothing is computed from them.
    let linkable = by_cells || Present::of(manifest).apart;
    let is_counted = |column: &&PublishedColumn| match (&column.treatment, column.role)
    {
        (_, Role::Identifier | Role::Other | Role::Drop) => false,
        (Treatment::Kept | Treatment::Coarse { .. } | Treatment::Weighted, role) => {
            if role == Role::Quasi {
                linkable
            } else {
                by_cells
            }
        }
        (Treatment::Drawn { .. } | Treatment::Apart, _) => true,
        (Treatment::Noisy { .. } | Treatment::Redrawn, _) => false,
    };
    let columns = manifest.columns.iter().filter(is_counted);
    let columns = columns.map(|column| {
        let ranges = column.ranges()?;
        Ok(ColumnSpec { ranges, ..spec(column)? })
    });
    let person = manifest.person_spec().filter(|_| by_cells);
    columns.chain(person.map(Ok)).collect()
}

fn spec(column: &PublishedColumn) -> Result<ColumnSpec> {
    let rule = column.hierarchy.clone().unwrap_or(Rule::Plain);
    ColumnSpec {
        weight: weight(column.weight),
        cells: column.cells().unwrap_or(Cells::Taxonomy),
        grid: column.grid.clone(),
        ..ColumnSpec::new(&column.name, column.role, column.reading(), rule)
    }
    .within(column.domain.clone())
}

/// How numbers are read row by row; nothing if none were blurred or drawn anew.
fn numbers_task(manifest: &Manifest) -> Option<NumbersTask<'_>> {
    let mut classes = manifest.classes.iter();
    let (columns, exact) = classes.find_map(|class| match &class.parameters {
        Parameters::Frames { exact, .. } | Parameters::Moments { exact, .. } => {
            Some((&class.of, exact))
        }
        Parameters::Cells { .. }
        | Parameters::Values { .. }
        | Parameters::Subtables { .. }
        | Parameters::Levels => None,
    })?;
    let reading = |name: &str, or: Reading| {
        manifest.column(name).map_or(or, |column| column.reading())
    };
    let wish = manifest.promises.iter().find_map(|note| note.asked.get("k")?.as_str());
    Some(NumbersTask {
        numbers: columns
            .iter()
            .map(|name| (&**name, reading(name, Reading::number())))
            .collect(),
        exact: exact
            .iter()
            .map(|name| (&**name, reading(name, Reading::category())))
            .collect(),
        wish,
        person: manifest.person.as_ref().map(|person| {
            let missing = person.missing.clone();
            (&*person.column, Reading { missing, ..Reading::category() })
        }),
    })
}

/// The quasi columns of the original (or of another table, which `whose` names) that form
/// classes of cells, in the order of the manifest, with its cells and weights, and the place
/// of each in the table.
pub(super) fn quasi_columns<'a>(
    manifest: &Manifest,
    original: &'a Microdata,
    whose: &str,
) -> Result<(Vec<Cow<'a, Column>>, Vec<usize>)> {
    let mut columns = Vec::new();
    let mut places = Vec::new();
    for published in manifest.columns.iter().filter(|column| in_cell_classes(column)) {
        let place =
            original.quasi.iter().position(|known| known.name == published.name);
        let place = place.ok_or_else(|| no_column(whose, &published.name))?;
        let mut column = Cow::Borrowed(&original.quasi[place]);
        let cells = published.cells().unwrap_or(Cells::Taxonomy);
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

/// Whether the cells of a column tell rows apart that are of different classes.
pub(super) fn in_cell_classes(column: &PublishedColumn) -> bool {
    column.role == Role::Quasi
        && match &column.treatment {
            Treatment::Kept | Treatment::Coarse { .. } | Treatment::Weighted => true,
            Treatment::Drawn { .. }
            | Treatment::Noisy { .. }
            | Treatment::Apart
            | Treatment::Redrawn => false,
        }
}

/// The place of a sensitive column in the original.
pub(super) fn sensitive_place(original: &Microdata, name: &str) -> Result<usize> {
    let place = original.sensitive.iter().position(|column| column.name == name);
    place.ok_or_else(|| no_column("original", name))
}

/// The values of a tuple in a sensitive column, and how many rows have each.
pub(super) fn values_of(
    census: &Census,
    sensitive: usize,
    tuple: TupleId,
) -> impl Iterator<Item = (Code, u64)> {
    let entries = census.entries_of(tuple);
    entries
        .map(move |entry| (census.sensitive[sensitive][entry], census.entries[entry]))
}

/// The one text for a number or a date, as its column is read.
pub(super) fn canonical_number(reading: &Reading, text: &str) -> Option<String> {
    reading.number_of(text).map(|number| reading.canonical(text, number))
}

/// That a table was read without a column of the release.
pub(super) fn no_column(whose: &str, name: &str) -> Error {
    Error::input(format!("the {whose} has no column `{name}`"))
        .with_hint("give the file the release was made from")
}

/// That something cannot be found out without the table.
pub(super) fn needs_original(what: &str) -> Error {
    Error::input(format!("{what} without the original"))
        .with_hint("give it with `--original FILE`")
}

/// The table itself, if it was read within a population: the census then also has the
/// tuples of people who are not in the table, and no attack may mistake them for rows.
/// Domains stay those of the population, as they were when the release was made.
pub(super) fn without_others(original: &Microdata) -> Option<Microdata> {
    let census = &original.census;
    census.people.as_ref()?;
    Some(Microdata {
        quasi: original.quasi.clone(),
        sensitive: original.sensitive.clone(),
        census: census.without_others(),
        specs: original.specs.clone(),
        codes: original.codes.clone(),
        people: original.people,
    })
}

/// A weight that a loss can work with.
fn weight(given: Option<f64>) -> f64 {
    given.filter(|weight| weight.is_finite() && *weight > 0.0).unwrap_or(1.0)
}
