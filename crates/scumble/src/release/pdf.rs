//! Cells that are distributions, in a file of their own.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::hierarchy::Column;
use crate::release::sink::{Formulas, Sink, line, quoted};
use crate::release::{Class, DataFormat, Parameters, Release, Store};
use crate::table::{Code, ColumnForm, Role};
use crate::watch::{Quiet, Watch};

/// The file's name.
pub const CELLS_FILE: &str = "cells.csv";

/// The column of the data that says which group a row is in.
pub const GROUP_COLUMN: &str = "group";

const HEADER: [&str; 4] = [GROUP_COLUMN, "column", "value", "weight"];

/// A distribution over values of a column: code and weight, ascending by code.
pub type Weighted = Vec<(Code, f64)>;

/// A distribution as it is written: value and weight.
pub type ValueWeights = Vec<(Box<str>, f64)>;

/// Whose weights pdf cells have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightsNote {
    /// The file they are in.
    pub file: String,
    /// `table`, `counted`, `population` or `paper`.
    pub kind: String,
    /// For `counted`: for each quasi column, the groups where they are the table's own. All
    /// others are the population's.
    pub table: BTreeMap<String, Vec<u64>>,
}

impl WeightsNote {
    /// The groups of these columns.
    pub fn class(self, of: Vec<String>) -> Class {
        let Self { file, kind: weights, table } = self;
        let parameters = Parameters::Cells { file, weights, table };
        Class { column: Some(GROUP_COLUMN.to_owned()), of, parameters }
    }
}

/// Published distributions.
#[derive(Debug, Clone, PartialEq)]
pub struct PdfCells {
    /// What the groups are called in the data.
    pub groups: Vec<Box<str>>,
    /// For each group and quasi column, in the order of the manifest.
    pub cells: Vec<Vec<ValueWeights>>,
}

/// Writes the distributions of groups 1, 2, ... .
pub fn write_cells<'a>(
    (store, formulas): (&Store, Formulas),
    columns: &[Column],
    groups: impl Iterator<Item = &'a [Weighted]>,
) -> Result<u64> {
    let forms = [ColumnForm::Text; HEADER.len()];
    let out = store.create(CELLS_FILE)?;
    let mut sink = Sink::new(out, DataFormat::Csv, formulas, &HEADER, &forms)?;
    for (number, cells) in (1u64..).zip(groups) {
        let number = number.to_string();
        for (column, cell) in columns.iter().zip(cells) {
            let name = quoted(&column.name);
            for (code, weight) in cell {
                let value = quoted(column.domain.text(*code));
                let weight = weight.to_string();
                let texts = [number.as_bytes(), &name, &value, weight.as_bytes()];
                sink.write(&line(texts.into_iter()), 1)?;
            }
        }
    }
    sink.finish()
}

impl Release {
    /// The distributions, if the release has any. Every group has every quasi column, and
    /// weights are finite and not negative; what they add up to is not checked here.
    pub fn pdf_cells(&self, watch: &dyn Watch) -> Result<Option<PdfCells>> {
        let Some(note) = self.manifest.weights() else { return Ok(None) };
        let source = self.table(&note.file, Some(b','))?;
        let wrong = |what: &str| Error::input(what).in_file(source.name());
        if source.header() != HEADER {
            return Err(wrong("the columns are not `group,column,value,weight`"));
        }
        let quasi = self.manifest.columns.iter().filter(|c| c.role == Role::Quasi);
        let n_quasi = quasi.clone().count();
        let places: HashMap<&str, usize> =
            quasi.enumerate().map(|(place, column)| (&*column.name, place)).collect();
        let read = source.fold(
            &source.columns().collect::<Vec<_>>(),
            Vec::new,
            |lines: &mut Vec<(Box<str>, usize, Box<str>, f64)>, _, cells| {
                let place = places.get(cells[1]).ok_or_else(|| {
                    Error::input("a line is about a column that is not a quasi column")
                })?;
                let weight =
                    cells[3].parse().ok().filter(|w: &f64| w.is_finite() && *w >= 0.0);
                let weight = weight.ok_or_else(|| {
                    Error::input("a weight is not a number from 0 on")
                })?;
                lines.push((cells[0].into(), *place, cells[2].into(), weight));
                Ok(())
            },
            &Quiet(watch),
        )?;
        let mut index: HashMap<Box<str>, usize> = HashMap::new();
        let mut found = PdfCells { groups: Vec::new(), cells: Vec::new() };
        for (group, place, value, weight) in read.states.into_iter().flatten() {
            let number = *index.entry(group).or_insert_with_key(|group| {
                found.groups.push(group.clone());
                found.cells.push(vec![Vec::new(); n_quasi]);
                found.groups.len() - 1
            });
            found.cells[number][place].push((value, weight));
        }
        if found.cells.iter().flatten().any(Vec::is_empty) {
            return Err(wrong("a group has no values in one of the quasi columns"));
        }
        Ok(Some(found))
    }
}
