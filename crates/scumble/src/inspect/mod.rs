//! A first look at a table: what its columns hold, what they are probably for, which of
//! them single people out, and a recipe to begin with.
//!
//! Findings are counts and names of columns; no value of the table is among them, except
//! that proposed widths tell how far numbers reach. Memory is bounded whatever the table:
//! where there are more values than are kept, numbers are estimates and say so.

mod ladder;
mod recipe;
mod risk;
mod role;
mod sample;
mod tally;
#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::inspect::role::{Traits, guess, is_known};
use crate::inspect::tally::{MARKERS, Tally};
use crate::table::{ColumnId, Kind, Role, Source};
use crate::watch::{Watch, Watched};

/// What the proposed recipe says about its input.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The path of the table as the recipe has it.
    pub table: String,
    /// What stands between cells, if it had to be said.
    pub delimiter: Option<u8>,
    /// Other keys of `[input]` that had to be said, each with its text.
    pub more: Vec<(String, String)>,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Findings {
    /// Rows of the table.
    pub rows: u64,
    /// Its columns, in order.
    pub columns: Vec<ColumnFindings>,
    /// The sets of quasi columns that single out most people, worst first; then all quasi
    /// columns together.
    pub risk: Vec<Risk>,
    /// A recipe to begin with.
    pub recipe: String,
}

/// What was found about a column.
#[derive(Debug, Clone)]
pub struct ColumnFindings {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// How dates are written, if not as in ISO 8601.
    pub date_format: Option<String>,
    /// Whether days and months could be the other way round.
    pub ambiguous_dates: bool,
    /// What it is probably for.
    pub role: Role,
    /// Why.
    pub reason: String,
    /// How many different values it has, "not known" aside.
    pub distinct: u64,
    /// The share of rows where it is not known.
    pub missing: f64,
    /// The share of rows whose value no other row has.
    pub unique_share: f64,
    /// Whether these numbers are counts rather than estimates.
    pub exact: bool,
    /// How its values could coarsen.
    pub coarsening: Option<Coarsening>,
}

/// How values could coarsen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Coarsening {
    /// Number ranges of these widths, as typed.
    Widths(Vec<String>),
    /// Characters masked from the right.
    Mask,
    /// Months, quarters, years.
    Dates,
}

/// How well a set of columns singles people out.
#[derive(Debug, Clone, PartialEq)]
pub struct Risk {
    /// The columns.
    pub columns: Vec<String>,
    /// The share of rows that nobody else looks like.
    pub unique: f64,
    /// The share of rows that fewer than four others look like.
    pub below_5: f64,
    /// Whether these numbers are counts rather than estimates.
    pub exact: bool,
}

/// Looks at a table.
pub fn inspect<'a>(
    source: impl Into<Watched<'a, Source>>,
    options: &Options,
) -> Result<Findings> {
    let Watched { task: source, watch } = source.into();
    let n_columns = source.header().len();
    if n_columns < 2 {
        let error =
            Error::input("the table has only one column").in_file(source.name());
        return Err(error.with_hint(
            "if it has more, say what stands between them with `--delimiter`",
        ));
    }
    let (rows, tallies) = tallies(source, watch)?;
    let mut missing: Vec<usize> =
        tallies.iter().flat_map(Tally::missing_markers).chain([0]).collect();
    missing.sort_unstable();
    missing.dedup();
    let columns: Vec<ColumnFindings> = source
        .header()
        .iter()
        .zip(&tallies)
        .map(|(name, tally)| column(name, tally, rows, &missing))
        .collect();

    let quasi = quasi_columns(source, &columns);
    if quasi.is_empty() {
        let message =
            "every column names a person, is free text, sensitive or constant";
        let error = Error::input(message).in_file(source.name());
        return Err(error.with_hint(
            "write a recipe by hand and say which columns may be known from elsewhere",
        ));
    }
    let distinct: Vec<u64> =
        quasi.iter().map(|at| columns[at.index()].distinct + 1).collect();
    let risk = risk::risks(watch.over(source), &quasi, &distinct, rows)?;
    let missing: Vec<&str> = missing.iter().map(|marker| MARKERS[*marker]).collect();
    let recipe = recipe::recipe(options, &missing, rows, &columns);
    Ok(Findings { rows, columns, risk, recipe })
}

fn tallies(source: &Source, watch: &dyn Watch) -> Result<(u64, Vec<Tally>)> {
    let all: Vec<ColumnId> = source.columns().collect();
    let start = || all.iter().map(|_| Tally::new()).collect::<Vec<_>>();
    let folded = source.fold(
        &all,
        start,
        |tallies, _, cells| {
            tallies.iter_mut().zip(cells).for_each(|(tally, cell)| tally.add(cell));
            Ok(())
        },
        watch,
    )?;
    let mut states = folded.states.into_iter();
    let mut tallies = states.next().unwrap_or_default();
    for others in states {
        for (tally, other) in tallies.iter_mut().zip(others) {
            tally.merge(other);
        }
    }
    Ok((folded.n_rows, tallies))
}

fn column(name: &str, tally: &Tally, rows: u64, missing: &[usize]) -> ColumnFindings {
    let distinct = tally.distinct(missing).min(rows);
    let rows_missing = tally.rows_missing(missing);
    let (kind, coarsening) = ladder::coarsening(name, tally, distinct);
    let share = |n: u64| (n as f64 / rows.max(1) as f64).min(1.0);
    let unique_share = share(tally.rows_alone(missing));
    let traits = Traits {
        kind,
        whole: tally.facts().is_whole(),
        rows,
        // "Not known" is a value, too, when it comes to what a column can tell.
        distinct: distinct + u64::from(rows_missing > 0),
        unique_share,
        mean_length: tally.mean_length(rows),
    };
    let (role, reason) = guess(name, &traits);
    ColumnFindings {
        name: name.to_owned(),
        kind,
        date_format: tally.kind().1.map(str::to_owned),
        ambiguous_dates: tally.ambiguous_dates(),
        role,
        reason: reason.to_owned(),
        distinct,
        missing: share(rows_missing),
        unique_share,
        exact: tally.is_exact(),
        coarsening,
    }
}

/// The quasi columns: first those known by name, then those with most values.
fn quasi_columns(source: &Source, columns: &[ColumnFindings]) -> Vec<ColumnId> {
    let mut quasi: Vec<ColumnId> =
        source.columns().filter(|at| columns[at.index()].role == Role::Quasi).collect();
    quasi.sort_by_key(|at| {
        let column = &columns[at.index()];
        (!is_known(&column.name), std::cmp::Reverse(column.distinct), *at)
    });
    quasi
}
