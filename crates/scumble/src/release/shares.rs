//! How often the values of quasi columns occur in the table, in a file of their own.
//!
//! # Guarantee
//! Every entry of the file is of at least so many people as the manifest says (`least`), and
//! the entries of a column are of all rows of the table, those that were left out among them.
//! What is in the file is a function of one quasi column at a time, so that who knows
//! everybody's quasi values can write it alone, and learns nothing from it (docs/methods.md,
//! "Shares of values").
//!
//! # Limits
//! Who does not know them learns how the values of a column are distributed.
//!
//! # Source
//! Ours.

mod pool;

pub use pool::{Holders, pooled};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hierarchy::{Cells, Rule};
use crate::release::sink::{Formulas, Sink, line, quoted};
use crate::release::{DataFormat, PublishedColumn, Release, Store};
use crate::table::{ColumnForm, Kind};
use crate::watch::{Quiet, Watch};

/// The file's name.
pub const SHARES_FILE: &str = "shares.csv";

const HEADER: [&str; 3] = ["column", "value", "rows"];

/// What the manifest says of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharesNote {
    /// The file.
    pub file: String,
    /// The columns it is about.
    pub columns: Vec<String>,
    /// No entry is of fewer people.
    pub least: u64,
}

/// How often the values of a column occur.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnShares {
    /// The column.
    pub column: String,
    /// Values, or ranges or sets of them as they are written, and how many rows of the table
    /// have each. No value is in two of them.
    pub entries: Vec<(Box<str>, u64)>,
}

impl PublishedColumn {
    /// Whether its cells are ranges on the number line, so that its values need no list.
    pub fn is_ranged(&self) -> bool {
        let tree = matches!(self.hierarchy, Some(Rule::Tree(_)));
        self.cells() != Some(Cells::Set) && !tree && self.kind != Kind::Category
    }

    /// What the entries of its shares are: ranges, or sets.
    pub fn share_cells(&self) -> Cells {
        if self.is_ranged() { Cells::Interval } else { Cells::Set }
    }
}

/// Writes the shares of columns, and says how many cells a spreadsheet would take for
/// formulas.
pub fn write_shares(
    shares: &[ColumnShares],
    (store, formulas): (&Store, Formulas),
) -> Result<u64> {
    let forms = [ColumnForm::Text; HEADER.len()];
    let out = store.create(SHARES_FILE)?;
    let mut sink = Sink::new(out, DataFormat::Csv, formulas, &HEADER, &forms)?;
    for ColumnShares { column, entries } in shares {
        let name = quoted(column);
        for (value, rows) in entries {
            let rows = rows.to_string();
            let texts = [&name[..], &quoted(value), rows.as_bytes()];
            sink.write(&line(texts.into_iter()), 1)?;
        }
    }
    sink.finish()
}

impl Release {
    /// The shares of each column that has some, in the order of the manifest. Each adds up to
    /// the rows of the table; whether it fits the cells is not checked here.
    pub fn shares(&self, watch: &dyn Watch) -> Result<Vec<ColumnShares>> {
        let Some(note) = &self.manifest.shares else { return Ok(Vec::new()) };
        let source = self.table(&note.file, Some(b','))?;
        let wrong = |what: String| {
            Error::input(what)
                .in_file(source.name())
                .with_hint("the release was changed, or made by another version")
        };
        if source.header() != HEADER {
            return Err(wrong("the columns are not `column,value,rows`".to_owned()));
        }
        let read = source.fold(
            &source.columns().collect::<Vec<_>>(),
            Vec::new,
            |lines: &mut Vec<(_, usize, Box<str>, u64)>, spot, cells| {
                let place = note.columns.iter().position(|name| name == cells[0]);
                let place = place.ok_or_else(|| {
                    Error::input("a line is about a column that has no shares")
                })?;
                let rows = cells[2].parse().ok().filter(|rows| *rows >= note.least);
                let rows = rows.ok_or_else(|| {
                    let least = note.least;
                    Error::input(format!("an entry is not of at least {least} rows"))
                })?;
                lines.push((spot, place, cells[1].into(), rows));
                Ok(())
            },
            &Quiet(watch),
        )?;
        let mut lines: Vec<_> = read.states.into_iter().flatten().collect();
        lines.sort_unstable_by_key(|(spot, ..)| *spot);
        let named = |column: &String| ColumnShares {
            column: column.clone(),
            entries: Vec::new(),
        };
        let mut shares: Vec<ColumnShares> = note.columns.iter().map(named).collect();
        for (_, place, value, rows) in lines {
            shares[place].entries.push((value, rows));
        }
        let all = self.manifest.rows + self.manifest.left_out;
        for ColumnShares { column, entries } in &shares {
            let sum = entries.iter().map(|(_, rows)| *rows);
            let sum = sum.fold(0, u64::saturating_add);
            if sum != all {
                return Err(wrong(format!(
                    "the shares of `{column}` are of {sum} rows, but the table has {all}"
                )));
            }
        }
        Ok(shares)
    }
}
