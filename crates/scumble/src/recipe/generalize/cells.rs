//! What the cells of a column are, if the recipe does not say.

use crate::error::{Error, Result};
use crate::hierarchy::{Cells, Column, ColumnSpec, Microdata, Rule};
use crate::recipe::Spec;
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
