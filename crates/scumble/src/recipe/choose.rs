//! Which method makes the release, and with which cells.

use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::{Cells, Column, ColumnSpec, Microdata, Rule};
use crate::method::pdf::{Range, Shift};
use crate::method::{
    FullDomain, Grouping, MOST_CANDIDATES, Mondrian, Task, Weighting, lattice_size,
};
use crate::promise::Promises;
use crate::recipe::{MethodName, Search, Spec, Weights};
use crate::table::Kind;

/// A method's result.
pub(super) struct Chosen {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    pub(super) grouping: Grouping,
    pub(super) search: Search,
}

/// Runs the method of the recipe or, if it names none, those that can keep the promises,
/// and takes the one with the least loss.
pub(super) fn choose(
    spec: &Spec,
    data: &Microdata,
    promises: &Promises,
    limit: u64,
) -> Result<Chosen> {
    let named = spec.method.name.filter(|name| !name.randomizes());
    let names = match named {
        Some(name) => vec![name],
        // Where cuts end gives more of somebody's presence away than the choice of levels.
        None if promises.look_at_people() && !spec.method.cuts => {
            vec![MethodName::FullDomain]
        }
        None if promises.look_at_people() => vec![MethodName::Mondrian],
        None => {
            let mondrian_can = data
                .quasi
                .iter()
                .all(|c| c.highest == c.hierarchy.height() && c.lowest == 0);
            // No search among fewer nodes is refused for having too many candidates.
            let lattice_can = lattice_size(&data.quasi) <= MOST_CANDIDATES;
            let mut names = Vec::new();
            if lattice_can || !mondrian_can {
                names.push(MethodName::FullDomain);
            }
            if mondrian_can {
                names.push(MethodName::Mondrian);
            }
            names
        }
    };
    let single = names.len() == 1;
    let mut best: Option<(f64, Chosen)> = None;
    let mut tried = Vec::new();
    let mut failure: Option<Error> = None;
    for name in names {
        let chosen = match run_method(spec, name, data, promises, limit) {
            Ok(chosen) => chosen,
            Err(error) if matches!(error.kind(), ErrorKind::Unsatisfiable { .. }) => {
                failure.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        let shape = chosen.grouping.shape(&data.census);
        let loss = spec.method.loss.of(&chosen.columns, &shape);
        tried.push((chosen.name.clone(), loss));
        if best.as_ref().is_none_or(|(held, _)| loss < *held) {
            best = Some((loss, chosen));
        }
    }
    match (best, failure) {
        (Some((_, mut chosen)), _) => {
            if !single {
                chosen.search.tried = tried;
            }
            Ok(chosen)
        }
        (None, Some(error)) => Err(error),
        (None, None) => Err(Error::recipe("no method can keep these promises")),
    }
}

fn run_method(
    spec: &Spec,
    name: MethodName,
    data: &Microdata,
    promises: &Promises,
    limit: u64,
) -> Result<Chosen> {
    let mut columns = data.quasi.clone();
    if name == MethodName::Mondrian
        && matches!(spec.method.cells, None | Some(Cells::Pdf))
    {
        let apart = promises.look_at_people();
        for (column, spec) in columns.iter_mut().zip(&data.specs) {
            column.cells = natural_cells(column, spec, apart);
        }
    }
    if name == MethodName::FullDomain && promises.look_at_people() {
        for column in columns.iter_mut().filter(|c| c.cells == Cells::Interval) {
            // Ranges of two nodes overlap where their values stand mixed, as under masks.
            if !in_runs(column) {
                column.cells = Cells::Set;
            }
        }
    }
    let task = Task {
        columns: &columns,
        census: &data.census,
        promises,
        loss: spec.method.loss,
        limit,
    };
    let mut search = Search::default();
    let (name, grouping) = match name {
        MethodName::FullDomain => {
            let found = FullDomain.find(&task)?;
            search.lattice = found.lattice;
            search.checked = found.checked;
            ("full-domain", found.grouping)
        }
        _ if spec.method.search => {
            let (method, grouping) = Mondrian::search(&task)?;
            search.strategy = Some((method.column, method.value));
            ("mondrian", grouping)
        }
        _ => {
            let (column, value) = (spec.method.column, spec.method.value);
            let method = Mondrian { column, value, ..Mondrian::default() };
            search.strategy = Some((column, value));
            ("mondrian", method.find(&task)?)
        }
    };
    Ok(Chosen { name: name.to_owned(), columns, grouping, search })
}

/// Whether the known values of each node stand together in the order of the domain.
fn in_runs(column: &Column) -> bool {
    let n_known = column.domain.len() - usize::from(column.domain.missing().is_some());
    column.hierarchy.levels().iter().all(|level| {
        let mut nodes = level.node_of[..n_known].to_vec();
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
fn natural_cells(column: &Column, spec: &ColumnSpec, apart: bool) -> Cells {
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

/// How pdf cells are weighted, and the manifest's word for it; nothing for other cells.
pub(super) fn weighting(spec: &Spec) -> Option<(Weighting, &'static str)> {
    let pdf = spec.method.pdf?;
    let Some(presence) = spec.presence() else {
        return Some((Weighting::Own, "table"));
    };
    let range = Range { min: presence.min, max: presence.max };
    Some(match pdf.weights.unwrap_or(Weights::Counted) {
        Weights::Counted => (Weighting::Counted(range), "counted"),
        Weights::Population => (Weighting::Population, "population"),
        Weights::Paper => {
            let shift = pdf.shift.or(presence.shift).unwrap_or(Shift::Exact);
            (Weighting::Shifted(range, shift), "paper")
        }
    })
}
