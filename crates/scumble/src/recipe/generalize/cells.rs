//! What the cells of a column are, if the recipe does not say.

use crate::hierarchy::{Cells, Column, ColumnSpec, Rule};
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
