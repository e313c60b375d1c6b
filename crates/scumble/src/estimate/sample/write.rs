//! Drawn tables one after the other, as CSV or Parquet.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};
use crate::estimate::evidence::{Column, Evidence, Nature};
use crate::estimate::sample::DrawnTable;
use crate::release::DataFormat;
use crate::release::sink::{Sink, push_quoted};
use crate::table::{ColumnForm, Kind};

/// How drawn tables are written.
pub type DrawnFormat = DataFormat;

/// What the column with the number of the draw is called.
const DRAW_COLUMN: &str = "draw";

/// And what, if the table has such a column.
const OTHER_DRAW_COLUMN: &str = "scumble.draw";

/// Lines that are handed on at once.
const LINES: usize = 8192;

/// Writes drawn tables below each other; the first column is the number of the draw.
pub struct DrawnWriter {
    sink: Sink,
    names: Vec<String>,
}

impl std::fmt::Debug for DrawnWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DrawnWriter")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl DrawnWriter {
    /// Writes a file.
    pub fn create(
        path: &Path,
        format: DrawnFormat,
        evidence: &Evidence,
    ) -> Result<Self> {
        let names = names(evidence)?;
        let header: Vec<&str> = names.iter().map(String::as_str).collect();
        let columns = evidence.table.iter().map(|place| form(evidence, *place));
        let forms: Vec<ColumnForm> =
            std::iter::once(ColumnForm::Integer).chain(columns).collect();
        let sink = Sink::create(path, format, &header, &forms)?;
        Ok(Self { sink, names })
    }

    /// Writes CSV to where `name` says.
    pub fn csv(
        out: Box<dyn Write + Send>,
        name: &str,
        evidence: &Evidence,
    ) -> Result<Self> {
        let names = names(evidence)?;
        let header: Vec<&str> = names.iter().map(String::as_str).collect();
        let sink = Sink::stream(out, name, &header)?;
        Ok(Self { sink, names })
    }

    /// The columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Writes a table as draw `number`.
    pub fn write(&mut self, number: u64, drawn: &DrawnTable) -> Result<()> {
        let first = number.to_string();
        let quoted: Vec<Vec<Vec<u8>>> = drawn
            .columns
            .iter()
            .map(|column| {
                let cell = |text: &str| {
                    let mut cell = vec![b','];
                    push_quoted(&mut cell, text);
                    cell
                };
                column.texts.iter().map(|text| cell(text)).collect()
            })
            .collect();
        let mut lines = Vec::new();
        for start in (0..drawn.n_rows()).step_by(LINES) {
            let end = drawn.n_rows().min(start + LINES);
            lines.clear();
            for row in start..end {
                lines.extend_from_slice(first.as_bytes());
                for (column, texts) in drawn.columns.iter().zip(&quoted) {
                    lines.extend_from_slice(&texts[column.codes[row] as usize]);
                }
                lines.push(b'\n');
            }
            self.sink.write_lines(&lines, end - start)?;
        }
        Ok(())
    }

    /// Completes what is written.
    pub fn finish(self) -> Result<()> {
        self.sink.finish().map(|_| ())
    }
}

/// The number of the draw, then the columns of the table.
fn names(evidence: &Evidence) -> Result<Vec<String>> {
    let own = |name: &str| evidence.drawn_names().any(|other| other == name);
    let draw = match (own(DRAW_COLUMN), own(OTHER_DRAW_COLUMN)) {
        (false, _) => DRAW_COLUMN,
        (true, false) => OTHER_DRAW_COLUMN,
        (true, true) => {
            return Err(Error::input(format!(
                "the table has columns called `{DRAW_COLUMN}` and `{OTHER_DRAW_COLUMN}`, so \
                 there is no name left for the number of a draw"
            ))
            .with_hint("publish one of them under another name"));
        }
    };
    let columns = evidence.drawn_names().map(str::to_owned);
    Ok(std::iter::once(draw.to_owned()).chain(columns).collect())
}

/// What a column of a drawn table holds.
fn form(evidence: &Evidence, place: usize) -> ColumnForm {
    let column = &evidence.columns[place];
    if evidence.undrawn().contains(&column.name.as_str()) {
        return ColumnForm::Text;
    }
    let lattice = match column.nature {
        Nature::Coarse(number) => evidence.cells[number].lattice.as_ref(),
        Nature::Number(number) => evidence.blurred.as_ref().map(|b| b.lattice(number)),
        _ => None,
    };
    match (column.reading.kind, lattice) {
        (Kind::Category, _) => ColumnForm::Text,
        (Kind::Date, _) => ColumnForm::Date,
        (Kind::Number, Some(lattice)) if lattice.scale == 1.0 => ColumnForm::Integer,
        (Kind::Number, Some(_)) => ColumnForm::Float,
        (Kind::Number, None) => listed(column),
    }
}

/// What a column of listed numbers holds.
fn listed(column: &Column) -> ColumnForm {
    let mut known = column.texts.iter().filter(|text| !column.reading.is_missing(text));
    match known.all(|text| text.parse::<i64>().is_ok()) {
        true => ColumnForm::Integer,
        false => ColumnForm::Float,
    }
}
