//! Sheets of Excel workbooks (`.xlsx`, `.xlsm`).
//!
//! A formula counts as the value that was saved with it. Dates are written as ISO 8601, numbers
//! with the fifteen digits that the spreadsheet shows. Wholly empty rows are passed over.

use std::io::{BufReader, Write};
use std::ops::ControlFlow;

use calamine::{DataRef, ExcelDateTime, Reader, SheetType, Xlsx, XlsxError};

use crate::error::{Error, ErrorKind, Result};
use crate::table::options::ReadOptions;
use crate::table::packed::{Cursor, Origin, Stamp, Told, changed, write_row};
use crate::table::parquet::guarded;
use crate::table::store::TableBytes;
use crate::table::value::format_number;
use crate::watch::{Unwatched, Watch};

/// How a workbook begins that is no archive: encrypted, or in the format of the last century.
const COMPOUND: [u8; 4] = [0xd0, 0xcf, 0x11, 0xe0];

/// Whether a file begins as a workbook does.
pub(in crate::table) fn is_workbook(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(&COMPOUND)
}

type Book<'b> = Xlsx<BufReader<Told<'b, Cursor<'b>>>>;

/// A sheet of a workbook.
pub(in crate::table) struct Sheet {
    store: TableBytes,
    stamp: Stamp,
    name: String,
    header: Vec<String>,
}

impl Sheet {
    pub(in crate::table) fn open(
        store: TableBytes,
        options: &ReadOptions,
    ) -> Result<Self> {
        let mut head = [0; 4];
        let read = store.read_at(0, &mut head);
        read.map_err(|source| {
            Error::new(ErrorKind::Io { action: "read the file", source })
        })?;
        if head == COMPOUND {
            return Err(Error::input(
                "this workbook is protected by a password, or older than .xlsx",
            )
            .with_hint("save it as .xlsx without a password"));
        }
        let stamp = Stamp::of(&store);
        let mut book = open(&store, &Unwatched)?;
        let name = chosen(&mut book, options.sheet.as_deref())?;
        check_merged(&mut book, &name)?;
        let mut header = Vec::new();
        rows(&mut book, &name, |row| {
            header = row.iter().map(|(_, text)| text.clone()).collect();
            Ok(ControlFlow::Break(()))
        })?;
        drop(book);
        match header.is_empty() {
            true => Err(Error::input(format!("the sheet `{name}` is empty"))),
            false => Ok(Self { store, stamp, name, header }),
        }
    }
}

impl Origin for Sheet {
    fn bytes(&self) -> u64 {
        self.store.len().unwrap_or(0)
    }

    fn delimiter(&self) -> Option<u8> {
        Some(b',')
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn pour(&self, out: &mut dyn Write, watch: &dyn Watch) -> Result<()> {
        let poured = self.write(out, watch);
        watch.check()?;
        match Stamp::of(&self.store) == self.stamp {
            true => poured,
            false => Err(changed()),
        }
    }
}

impl Sheet {
    fn write(&self, out: &mut dyn Write, watch: &dyn Watch) -> Result<()> {
        let mut book = open(&self.store, watch)?;
        let mut out = csv::Writer::from_writer(out);
        // Where the header begins, and how many columns it has.
        let mut columns: Option<(u32, usize)> = None;
        rows(&mut book, &self.name, |row| {
            let Some((first, _)) = row.first() else {
                return Ok(ControlFlow::Continue(()));
            };
            let (start, n_columns) = *columns.get_or_insert((first.1, row.len()));
            let mut cells = vec![""; n_columns];
            for (place, text) in row {
                let column = place.1.checked_sub(start).map(|column| column as usize);
                match column.and_then(|column| cells.get_mut(column)) {
                    Some(cell) => *cell = text,
                    // The blanks between cells of the row are no cells.
                    None if text.is_empty() => {}
                    None => {
                        return Err(Error::input(format!(
                            "cell {} is outside the columns that the header names",
                            reference(*place)
                        ))
                        .with_hint("clear what stands beside the table"));
                    }
                }
            }
            write_row(&mut out, &cells)?;
            Ok(ControlFlow::Continue(()))
        })
    }
}

fn damaged() -> Error {
    Error::input("this is not an .xlsx workbook, or it is damaged")
}

fn open<'b>(store: &'b TableBytes, watch: &'b dyn Watch) -> Result<Book<'b>> {
    let told = Told { reader: Cursor::new(store), watch };
    let opened = guarded(|| Xlsx::new(BufReader::with_capacity(1 << 16, told)));
    match opened {
        Some(Ok(book)) => Ok(book),
        Some(Err(XlsxError::Password)) => {
            Err(Error::input("this workbook is protected by a password")
                .with_hint("save it without a password"))
        }
        _ => Err(damaged()),
    }
}

/// The sheet that was said, or the only one that has cells.
fn chosen(book: &mut Book<'_>, said: Option<&str>) -> Result<String> {
    let sheets = book.sheets_metadata().iter();
    let sheets = sheets.filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let mut names: Vec<String> = sheets.map(|sheet| sheet.name.clone()).collect();
    let list = |names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    if let Some(said) = said {
        return match names.iter().any(|name| name == said) {
            true => Ok(said.to_owned()),
            false => Err(Error::input(format!("no sheet is called `{said}`"))
                .with_hint(format!("the workbook has {}", list(&names)))),
        };
    }
    let mut empty = Vec::new();
    for name in &names {
        let mut is_empty = true;
        rows(book, name, |_| {
            is_empty = false;
            Ok(ControlFlow::Break(()))
        })?;
        if is_empty {
            empty.push(name.clone());
        }
    }
    names.retain(|name| !empty.contains(name));
    match &*names {
        [only] => Ok(only.clone()),
        [] => Err(Error::input("the workbook has no sheet with cells")),
        [first, ..] => {
            let error = Error::input(format!(
                "the workbook has {} sheets: {}",
                names.len(),
                list(&names)
            ));
            Err(error.with_hint(format!("say which one: `sheet = \"{first}\"`")))
        }
    }
}

/// That no cells are merged: only one of them would have a value.
fn check_merged(book: &mut Book<'_>, name: &str) -> Result<()> {
    let merged = guarded(|| book.merge_cells_by_sheet_name(name));
    let merged = merged.and_then(Result::ok).ok_or_else(damaged)?;
    match merged.first() {
        None => Ok(()),
        Some(first) => Err(Error::input(format!(
            "the cells {}:{} are merged",
            reference(first.start),
            reference(first.end)
        ))
        .with_hint("separate them, and fill in what each of them stands for")),
    }
}

/// The cells of a row that are not blank, from the first to the last, with those between.
type Row = [((u32, u32), String)];

/// Shows every row that is not wholly blank.
fn rows(
    book: &mut Book<'_>,
    name: &str,
    mut show: impl FnMut(&Row) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let reader = guarded(|| book.worksheet_cells_reader(name));
    let mut reader = reader.and_then(Result::ok).ok_or_else(damaged)?;
    let mut row: Vec<((u32, u32), String)> = Vec::new();
    loop {
        let next = guarded(|| reader.next_cell_with_formula_metadata());
        let next = next.and_then(Result::ok).ok_or_else(damaged)?;
        let Some(cell) = next else { break };
        let place = cell.pos;
        let Some(text) = text(&cell.value).ok_or_else(damaged)? else {
            if cell.formula.is_some() {
                return Err(Error::input(format!(
                    "the formula in cell {} has no value saved with it",
                    reference(place)
                ))
                .with_hint("open the workbook in a spreadsheet, and save it again"));
            }
            continue;
        };
        if let Some((last, _)) = row.last().cloned() {
            if place <= last {
                return Err(damaged());
            }
            if place.0 != last.0 {
                if has_text(&row) && show(&row)?.is_break() {
                    return Ok(());
                }
                row.clear();
            } else {
                let between = last.1 + 1..place.1;
                row.extend(between.map(|column| ((place.0, column), String::new())));
            }
        }
        row.push((place, text));
    }
    // Nobody asks for more behind the last row.
    if has_text(&row) {
        let _ = show(&row)?;
    }
    Ok(())
}

/// Whether a row is more than formulas that found nothing to show.
fn has_text(row: &Row) -> bool {
    row.iter().any(|(_, text)| !text.is_empty())
}

/// The text of a cell, nothing if it is blank; an error if no text can be made.
fn text(value: &DataRef<'_>) -> Option<Option<String>> {
    let text = match value {
        DataRef::Empty => return Some(None),
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => shown(*number)?,
        DataRef::String(text)
        | DataRef::DateTimeIso(text)
        | DataRef::DurationIso(text) => text.clone(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(value) => value.to_string(),
        DataRef::DateTime(time) => moment(time)?,
        DataRef::Error(error) => error.to_string(),
    };
    Some(Some(text))
}

/// A number with the fifteen digits that a spreadsheet shows.
fn shown(number: f64) -> Option<String> {
    let rounded: f64 = format!("{number:.14e}").parse().ok()?;
    rounded
        .is_finite()
        .then(|| format_number(if rounded == 0.0 { 0.0 } else { rounded }))
}

/// A day, with the time of day unless that is midnight; a time alone if there is no day.
fn moment(time: &ExcelDateTime) -> Option<String> {
    let serial = time.as_f64();
    if !serial.is_finite() {
        return None;
    }
    if time.is_duration() || (0.0..1.0).contains(&serial) {
        let seconds = (serial * 86_400.0).round() as i64;
        let (minutes, rest) = (seconds.abs() / 60, seconds.abs() % 60);
        let sign = if seconds < 0 { "-" } else { "" };
        return Some(format!(
            "{sign}{:02}:{:02}:{rest:02}",
            minutes / 60,
            minutes % 60
        ));
    }
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(match (hour, minute, second, milli) {
        (0, 0, 0, 0) => date,
        (_, _, _, 0) => format!("{date}T{hour:02}:{minute:02}:{second:02}"),
        _ => format!("{date}T{hour:02}:{minute:02}:{second:02}.{milli:03}"),
    })
}

/// A cell as a spreadsheet calls it: `B7`.
fn reference((row, column): (u32, u32)) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        letters.insert(0, char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    format!("{}{}", letters.into_iter().collect::<String>(), u64::from(row) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_called_as_spreadsheets_call_them() {
        let names =
            [(0, 0), (6, 1), (0, 25), (0, 26), (1_048_575, 16_383)].map(reference);
        assert_eq!(names, ["A1", "B7", "Z1", "AA1", "XFD1048576"]);
    }

    #[test]
    fn numbers_have_the_digits_that_are_shown() {
        let texts = [0.1 + 0.2, 12.0, -0.0, 1e15, 1.5e-7].map(|n| shown(n).unwrap());
        assert_eq!(texts, ["0.3", "12", "0", "1000000000000000", "0.00000015"]);
        assert_eq!(shown(f64::NAN), None);
    }
}
