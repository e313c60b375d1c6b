//! What the cells of a column are, if the recipe does not say.

use crate::error::{Error, Result};
use crate::hierarchy::{Cells, Column, ColumnSpec, Grid, Microdata, Rule, beyond_grid};
use crate::recipe::{RangeEnds, Spec};
use crate::table::{Code, Kind};

/// Whether the known values of each node stand together in the order of the domain.
pub(super) fn in_runs(column: &Column) -> bool {
    let n_known = column.domain.len() - usize::from(column.domain.missing().is_some());
    let known = Code::first(n_known);
    column.hierarchy.levels().iter().all(|level| {
        let mut nodes = level.node_of.slice(&known).to_vec();
        nodes.dedup();
        let n_runs = nodes.len();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.len() == n_runs
    })
}

/// A column of more words than this is not published in sets: they may be free text.
const WORDS_IN_SETS: usize = 40;

/// What suits cuts best: nodes where the recipe gives a hierarchy, otherwise ranges of
/// numbers and dates and sets of words, unless these are too many to be categories. Where
/// cells must not overlap, never nodes; values are then the population's and known.
pub(super) fn natural_cells(column: &Column, spec: &ColumnSpec, apart: bool) -> Cells {
    match (column.domain.kind(), &spec.rule) {
        (Kind::Number | Kind::Date, _) if apart => Cells::Interval,
        (Kind::Category, _) if apart => Cells::Set,
        (Kind::Number | Kind::Date, Rule::Plain) => Cells::Interval,
        (Kind::Category, Rule::Plain) if column.domain.len() <= WORDS_IN_SETS => {
            Cells::Set
        }
        _ => Cells::Taxonomy,
    }
}

/// Gives columns whose cells are ranges of numbers or dates the lines at which these end: those
/// of the recipe, of the hierarchy, or round ones. Distributions tell values anyway, and ranges
/// of a tree's numbers lie within its nodes if levels are searched.
pub(super) fn set_grids(
    name: &str,
    spec: &Spec,
    columns: &mut [Column],
    specs: &[ColumnSpec],
) -> Result<()> {
    for (column, said) in columns.iter_mut().zip(specs) {
        let by_levels = name == "full-domain" && matches!(said.rule, Rule::Tree(_));
        let on_grid = has_ranges(column) && !by_levels && spec.method.pdf.is_none();
        if spec.method.ends == RangeEnds::Tight || !on_grid {
            column.grid = None;
        } else if column.grid.is_none() {
            let grid =
                Grid::of_rule(&said.rule).or_else(|| Grid::round(&column.domain));
            let grid = grid.ok_or_else(|| beyond_grid(&column.name))?;
            column.grid = Some(said.bind_grid(&grid, &column.domain)?);
        }
    }
    Ok(())
}

/// Whether the cells of a column are ranges of numbers or dates.
pub(super) fn has_ranges(column: &Column) -> bool {
    column.cells == Cells::Interval && column.domain.kind() != Kind::Category
}

/// Where the ranges of these columns end, if there are any.
pub(super) fn ends(columns: &[Column]) -> Option<RangeEnds> {
    let mut ranges = columns.iter().filter(|column| has_ranges(column)).peekable();
    ranges.peek()?;
    match ranges.any(|column| column.grid.is_none()) {
        true => Some(RangeEnds::Tight),
        false => Some(RangeEnds::Grid),
    }
}

/// That no column has a lowest level whose cells have no levels: nothing would keep it. Where
/// the recipe names no method, another one may.
pub(super) fn check_lowest(
    spec: &Spec,
    columns: &[Column],
    data: &Microdata,
) -> Result<()> {
    let mut pairs = columns.iter().zip(&data.specs);
    let free = pairs.find(|(c, _)| c.lowest > 0 && c.cells != Cells::Taxonomy);
    let Some((_, column)) = free else { return Ok(()) };
    let what = format!("`mondrian` cannot keep `lowest` of `{}` here", column.name);
    let why = "its cells are ranges and sets, which have no level";
    let hint = "use `full-domain`, or leave `lowest` out";
    if spec.method.name.is_none() {
        return Err(Error::unsatisfiable(what, why).with_hint(hint));
    }
    let error = Error::recipe(format!("{what}: {why}")).with_hint(hint);
    Err(match spec.column(&column.name) {
        Some(typed) => spec.error_at(typed.spot, error),
        None => error,
    })
}
