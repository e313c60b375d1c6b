//! The weights of published cells.

use std::borrow::Cow;

use hashbrown::HashMap;

use crate::audit::cells::{CellColumn, CellTexts};
use crate::error::{Error, Result};
use crate::hierarchy::Column;
use crate::release::{Manifest, PdfCells};
use crate::table::Code;

/// How far the weights of a cell may add up to another number than 1.
const ROUNDING: f64 = 1e-9;

/// Whose counts the manifest says the weights are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The table's own.
    Table,
    /// The population's.
    Population,
    /// For comparison only: nobody's, even weights shifted towards the table's own.
    Shifted,
}

/// Cells with weights.
#[derive(Debug)]
pub(crate) struct WeightedCells {
    /// For each group and quasi column the weights, in the order in which the cell lists
    /// its values.
    pub(crate) of_group: Vec<Vec<Vec<f64>>>,
    /// For each group and quasi column whose they are.
    pub(crate) whose: Vec<Vec<Whose>>,
}

/// Reads the cells of the groups with these names. Every group has a cell in every column,
/// and weights add up to 1.
pub(crate) fn read(
    manifest: &Manifest,
    names: &[&str],
    pdf: PdfCells,
    places: impl Iterator<Item = usize>,
) -> Result<(Vec<CellColumn>, WeightedCells)> {
    let wrong = |what: &str| {
        let file = manifest.weights().map_or_else(String::new, |note| note.file);
        Error::input(what).in_file(file)
    };
    let mut cells: HashMap<Box<str>, _> =
        pdf.groups.into_iter().zip(pdf.cells).collect();
    let mut columns: Vec<ValueLists> =
        places.map(|place| ValueLists { place, ..ValueLists::default() }).collect();
    let mut of_group = Vec::with_capacity(names.len());
    for name in names {
        let cells = cells.remove(*name);
        let cells = cells.ok_or_else(|| wrong("a group of the data has no cells"))?;
        let mut weights = Vec::with_capacity(columns.len());
        for (column, mut cell) in columns.iter_mut().zip(cells) {
            cell.sort_by(|a, b| a.0.cmp(&b.0));
            if cell.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return Err(wrong("a cell has a value twice"));
            }
            let sum: f64 = cell.iter().map(|(_, weight)| weight).sum();
            if (sum - 1.0).abs() > ROUNDING {
                return Err(wrong("the weights of a cell do not add up to 1"));
            }
            let (values, cell) = cell.into_iter().unzip();
            column.add(values);
            weights.push(cell);
        }
        of_group.push(weights);
    }
    if !cells.is_empty() {
        return Err(wrong("a group has cells but no rows"));
    }
    let whose = whose(manifest, names, &columns)?;
    let columns = columns.into_iter().map(ValueLists::column).collect();
    Ok((columns, WeightedCells { of_group, whose }))
}

/// For each group and column whose weights they are, from what the manifest says.
fn whose(
    manifest: &Manifest,
    names: &[&str],
    columns: &[ValueLists],
) -> Result<Vec<Vec<Whose>>> {
    let unknown = || {
        Error::input("the manifest has weights of a kind this program does not know")
            .with_hint("a newer version may know it")
    };
    let note = manifest.weights().ok_or_else(unknown)?;
    let (usual, named) = match note.kind.as_str() {
        "table" => (Whose::Table, Whose::Table),
        "counted" => (Whose::Population, Whose::Table),
        "population" => (Whose::Population, Whose::Population),
        "paper" => (Whose::Shifted, Whose::Shifted),
        _ => return Err(unknown()),
    };
    let mut whose = vec![vec![usual; columns.len()]; names.len()];
    let numbers: HashMap<&str, usize> = names.iter().copied().zip(0..).collect();
    for (name, groups) in &note.table {
        let column = columns
            .iter()
            .position(|column| manifest.columns[column.place].name == *name);
        for group in groups {
            let group = numbers.get(&*group.to_string());
            match (column, group) {
                (Some(column), Some(group)) => whose[*group][column] = named,
                _ => {
                    return Err(Error::input(
                        "the manifest speaks of weights that are not there",
                    ));
                }
            }
        }
    }
    Ok(whose)
}

/// The different lists of values in a column.
#[derive(Debug, Default)]
struct ValueLists {
    place: usize,
    lists: Vec<Vec<Box<str>>>,
    index: HashMap<Vec<Box<str>>, u32>,
    of_group: Vec<u32>,
}

impl ValueLists {
    fn add(&mut self, values: Vec<Box<str>>) {
        let next = self.lists.len() as u32;
        let id = *self.index.entry(values).or_insert_with_key(|values| {
            self.lists.push(values.clone());
            next
        });
        self.of_group.push(id);
    }

    fn column(self) -> CellColumn {
        let cells = CellTexts::Lists(self.lists);
        CellColumn { place: self.place, cells, of_group: self.of_group }
    }
}

/// For each group and quasi column, code and weight of each listed value, ascending.
pub(crate) type WeightsByCode = Vec<Vec<Vec<(Code, f64)>>>;

impl WeightedCells {
    /// The weights by the codes of a table's domains, which have every listed value.
    pub(crate) fn bind(
        &self,
        quasi: &[CellColumn],
        columns: &[Cow<'_, Column>],
    ) -> WeightsByCode {
        let mut bound: WeightsByCode =
            vec![Vec::with_capacity(columns.len()); self.whose.len()];
        for (place, (cells, column)) in quasi.iter().zip(columns).enumerate() {
            let CellTexts::Lists(lists) = &cells.cells else { continue };
            let index = column.domain.index();
            for (group, cell) in cells.of_group.iter().enumerate() {
                let listed = lists[*cell as usize].iter();
                let listed = listed.zip(&self.of_group[group][place]);
                let mut weights: Vec<(Code, f64)> = listed
                    .filter_map(|(text, weight)| Some((*index.get(&**text)?, *weight)))
                    .collect();
                weights.sort_unstable_by_key(|(code, _)| *code);
                bound[group].push(weights);
            }
        }
        bound
    }
}
