//! A first look at a table: what its columns hold, what they are probably for, which of
//! them single people out, and a recipe to begin with.
//!
//! Findings are counts and names of columns; no value of the table is among them, except
//! that proposed widths tell how far numbers reach. Memory is bounded whatever the table:
//! where there are more values than are kept, numbers are estimates and say so.

mod choose;
mod follows;
mod hints;
mod ladder;
mod names;
mod oddities;
mod propose;
mod recipe;
mod risk;
mod role;
mod sample;
mod tally;
#[cfg(test)]
mod tests;
mod uniqueness;
mod words;

pub use propose::{Proposal, propose, template_names};
pub use uniqueness::Uniqueness;

use serde_json::json;

use crate::error::{Error, Result};
use crate::hierarchy::Template;
use crate::inspect::follows::RowSample;
use crate::inspect::role::{Traits, guess, is_coded};
use crate::inspect::sample::{hash, mixed};
use crate::inspect::tally::{MARKERS, Tally, looks};
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
    /// How many people the population has that the table is a sample of, if that is known.
    pub population: Option<u64>,
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
    /// Who is alone in the population, by models; if it is larger than the table, and the
    /// groups of all quasi columns could be counted.
    pub uniqueness: Option<Uniqueness>,
    /// The column that tells people apart who have several rows, if there is one.
    pub person: Option<Person>,
    /// What looks wrong in the table.
    pub oddities: Vec<Oddity>,
    /// A recipe to begin with.
    pub recipe: String,
}

/// How sure a guess is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sureness {
    /// Little speaks for it.
    Guess,
    /// Its name or its values speak for it.
    Likely,
    /// It can hardly be otherwise.
    Sure,
}

impl Sureness {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Guess => "a guess",
            Self::Likely => "likely",
            Self::Sure => "sure",
        }
    }
}

/// A column that is one for each person, where people have several rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Person {
    /// The column.
    pub column: String,
    /// How many people there are.
    pub people: u64,
    /// Why.
    pub reason: String,
    /// How sure that is.
    pub sure: Sureness,
}

/// Something that looks wrong in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// The column.
    pub column: String,
    /// What looks wrong.
    pub what: String,
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
    /// How sure that is.
    pub sure: Sureness,
    /// Of a quasi column: how many of the rows that all quasi columns single out it adds on
    /// average, as a share of all rows; these shares add up to what all single out.
    pub contribution: Option<f64>,
    /// How many different values it has, "not known" aside.
    pub distinct: u64,
    /// The share of rows where it is not known.
    pub missing: f64,
    /// The share of rows whose value no other row has.
    pub unique_share: f64,
    /// The share of rows with the most common value, or without one.
    pub top_share: f64,
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
    /// Neighbours in this order; the values are ranges, as in `[0-10)`.
    Order(Vec<String>),
    /// A hierarchy that everybody knows; and whether some values have no place in it.
    Template(Template, bool),
}

impl Coarsening {
    /// The `hierarchy` key of a recipe that says so.
    pub fn as_key(&self) -> serde_json::Value {
        match self {
            Self::Widths(widths) => {
                let widths =
                    widths.iter().filter_map(|width| width.parse::<f64>().ok());
                json!({ "widths": widths.collect::<Vec<_>>() })
            }
            Self::Mask => json!({ "mask": "right" }),
            Self::Dates => json!({ "dates": ["month", "quarter", "year"] }),
            Self::Order(order) => json!({ "order": order }),
            Self::Template(template, lacking) => {
                json!({ "template": template.name(), "other": lacking })
            }
        }
    }
}

/// A table may have so many quasi columns before most are proposed to be dropped.
pub const MOST_QUASI: usize = 12;

/// How well a set of columns singles people out.
#[derive(Debug, Clone, PartialEq)]
pub struct Risk {
    /// The columns.
    pub columns: Vec<String>,
    /// The share of rows that nobody else looks like.
    pub unique: f64,
    /// The share of rows that fewer than four others look like.
    pub below_5: f64,
    /// How many different tuples there are, as a share of rows: the chance to find a row that
    /// one looks for, on average over rows.
    pub tuples: f64,
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
    let (rows, tallies, sample) = tallies(source, watch)?;
    let mut missing: Vec<usize> =
        tallies.iter().flat_map(Tally::missing_markers).chain([0]).collect();
    missing.sort_unstable();
    missing.dedup();
    let mut columns: Vec<ColumnFindings> = source
        .header()
        .iter()
        .zip(&tallies)
        .map(|(name, tally)| column(name, tally, rows, &missing))
        .collect();
    let stand_ins = oddities::stand_ins(&columns, &tallies);
    let mut oddities = oddities::all(&columns, &tallies, rows);
    let ways = follows::Ways::look(watch.over(source), &columns, &tallies, &sample)?;
    ways.drop_redundant(&mut columns, &mut oddities);
    let person = ways.person(rows, &columns);

    let candidates = choose::candidates(source, &columns);
    if candidates.is_empty() {
        let message =
            "every column names a person, is free text, sensitive or constant";
        let error = Error::input(message).in_file(source.name());
        return Err(error.with_hint(
            "write a recipe by hand and say which columns may be known from elsewhere",
        ));
    }
    let shares = risk::contributions(watch.over(source), &candidates)?;
    let quasi = choose::choose(&mut columns, &candidates, &shares);
    let distinct: Vec<u64> =
        quasi.iter().map(|at| columns[at.index()].distinct + 1).collect();
    let (risk, sizes) = risk::risks(watch.over(source), &quasi, &distinct, rows)?;
    let uniqueness = options
        .population
        .zip(sizes)
        .and_then(|(population, sizes)| uniqueness::uniqueness(&sizes, population));
    let markers = missing.iter().map(|marker| MARKERS[*marker]);
    let missing: Vec<&str> = markers.chain(stand_ins).collect();
    let recipe =
        recipe::recipe(options, &missing, rows, &columns, person.as_ref(), &oddities);
    Ok(Findings { rows, columns, risk, uniqueness, person, oddities, recipe })
}

/// Looks at one column.
fn inspect_column(source: Watched<'_, Source>, id: ColumnId) -> Result<ColumnFindings> {
    let folded = source.task.fold(
        &[id],
        Tally::new,
        |tally, _, cells| {
            tally.add(cells[0], hash(cells[0]));
            Ok(())
        },
        source.watch,
    )?;
    let mut tally = Tally::new();
    folded.states.into_iter().for_each(|other| tally.merge(other));
    let missing: Vec<usize> = tally.missing_markers().chain([0]).collect();
    Ok(column(source.task.name_of(id), &tally, folded.n_rows, &missing))
}

/// What is gathered in a first pass: of each column, and whole rows.
struct Gathered {
    tallies: Vec<Tally>,
    sample: RowSample,
    hashes: Vec<u64>,
}

fn tallies(source: &Source, watch: &dyn Watch) -> Result<(u64, Vec<Tally>, RowSample)> {
    let all: Vec<ColumnId> = source.columns().collect();
    let start = || Gathered {
        tallies: all.iter().map(|_| Tally::new()).collect(),
        sample: RowSample::new(all.len()),
        hashes: Vec::with_capacity(all.len()),
    };
    let folded = source.fold(
        &all,
        start,
        |gathered, _, cells| {
            let Gathered { tallies, sample, hashes } = gathered;
            hashes.clear();
            hashes.extend(cells.iter().map(|cell| hash(cell)));
            for ((tally, cell), hash) in tallies.iter_mut().zip(cells).zip(&*hashes) {
                tally.add(cell, *hash);
            }
            let row = hashes.iter().fold(0, |row, hash| mixed(row, *hash));
            sample.add(row, hashes);
            Ok(())
        },
        watch,
    )?;
    let mut states = folded.states.into_iter();
    let Some(Gathered { mut tallies, mut sample, .. }) = states.next() else {
        return Ok((folded.n_rows, Vec::new(), RowSample::new(all.len())));
    };
    for others in states {
        for (tally, other) in tallies.iter_mut().zip(others.tallies) {
            tally.merge(other);
        }
        sample.merge(others.sample);
    }
    Ok((folded.n_rows, tallies, sample))
}

fn column(name: &str, tally: &Tally, rows: u64, missing: &[usize]) -> ColumnFindings {
    let distinct = tally.distinct(missing).min(rows);
    let rows_missing = tally.rows_missing(missing);
    let codes = classification(tally);
    let (mut kind, mut coarsening) = ladder::coarsening(name, tally, distinct, codes);
    let whole = tally.facts().is_whole();
    let coded = kind == Kind::Number && whole && is_coded(name, distinct);
    if coded {
        (kind, coarsening) = (Kind::Category, None);
    }
    let share = |n: u64| (n as f64 / rows.max(1) as f64).min(1.0);
    let unique_share = share(tally.rows_alone(missing));
    let traits = Traits {
        kind,
        whole,
        rows,
        // "Not known" is a value, too, when it comes to what a column can tell.
        distinct: distinct + u64::from(rows_missing > 0),
        unique_share,
        mean_length: tally.mean_length(rows),
        missing: share(rows_missing),
        top_share: tally.top_share(rows, missing),
        codes,
        findings: tally.share_that(looks::FINDING),
    };
    let (role, reason, sure) = guess(name, &traits);
    let reason = match (role, coded) {
        (Role::Quasi | Role::Sensitive, true) => format!("{reason}; numbers are codes"),
        _ => reason.to_owned(),
    };
    ColumnFindings {
        name: name.to_owned(),
        kind,
        date_format: tally.kind().1.map(str::to_owned),
        ambiguous_dates: tally.ambiguous_dates(),
        role,
        reason,
        sure,
        contribution: None,
        distinct,
        missing: traits.missing,
        unique_share,
        top_share: traits.top_share,
        exact: tally.is_exact(),
        coarsening,
    }
}

/// The classification that nearly all values are codes of, if it is one. Bare numbers could be
/// anything: some must be more.
fn classification(tally: &Tally) -> Option<Template> {
    let marked = tally.share_that(looks::MARKED_CODE);
    if tally.share_that(looks::ICD10) >= 0.95 {
        return Some(Template::Icd10);
    }
    if tally.share_that(looks::ICD9) >= 0.95 && marked >= 0.005 {
        return Some(Template::Icd9);
    }
    (tally.share_that(looks::COUNTRY) >= 0.97).then_some(Template::UnRegion)
}
