//! Tables as text: CSV and its relatives.
//!
//! A lock hands out blocks that end where rows end; workers take them apart. Quotes
//! follow RFC 4180: special at the start of a cell only, doubled inside. A line ends with
//! LF or CRLF; blank lines are passed over.

mod blocks;
mod cells;
mod sniff;

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Result};
pub(super) use crate::table::csv::blocks::LONGEST;
use crate::table::csv::blocks::{Block, Blocks, RowEnds};
use crate::table::csv::cells::{Cells, RowFormat, Stop};
use crate::table::held::PieceId;
use crate::table::options::ReadOptions;
use crate::table::source::{Fault, RowPlace, Work};
use crate::table::store::TableBytes;
use crate::watch::Watch;

/// What to do about text in another encoding, which nobody can be sure of.
const NOT_UTF_8: &str = "save the file as UTF-8, or say its `encoding`, as in `encoding = \"windows-1252\"`";

/// Large enough that taking the lock costs nothing, small enough for the cache.
const BLOCK_BYTES: usize = 1 << 20;

/// The header among the pieces of a file, which are known by the numbers of blocks.
const HEADER: PieceId = (u64::MAX, 0);

/// How much of a file is looked at to find its delimiter.
const SNIFFED_BYTES: usize = 1 << 16;

/// A table in a text file.
#[derive(Debug)]
pub(super) struct Text {
    store: TableBytes,
    delimiter: u8,
    block_bytes: usize,
    /// Where the first row starts.
    start: u64,
}

impl Text {
    /// Finds the delimiter and reads the header.
    pub(super) fn open(
        store: TableBytes,
        delimiter: Option<u8>,
        options: &ReadOptions,
    ) -> Result<(Self, Vec<String>)> {
        if let Some(byte) = delimiter
            && (!byte.is_ascii() || matches!(byte, b'"' | b'\r' | b'\n'))
        {
            let wanted = "one ASCII character other than a quote or a line end";
            let found = format!("`{}`", byte.escape_ascii());
            return Err(Error::out_of_range("delimiter", found, wanted));
        }
        let mut head = Head { store: &store, bytes: Vec::new(), whole: false };
        head.grow()?;
        let mark = if head.bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        head.check_line_ends()?;
        let delimiter = delimiter
            .unwrap_or_else(|| sniff::delimiter(&head.bytes[mark..], head.whole));
        let (header, end) = head.header(mark, delimiter)?;
        store.hold(HEADER, &head.bytes[..end]);
        let start = end as u64;
        let block_bytes = options.block_bytes.unwrap_or(BLOCK_BYTES);
        Ok((Self { store, delimiter, block_bytes, start }, header))
    }

    /// Reads all rows; see [`crate::table::Source::fold`].
    pub(super) fn fold<S: Send>(
        &self,
        columns: &[usize],
        n_columns: usize,
        start: impl Fn() -> S + Sync,
        row: impl Fn(&mut S, RowPlace, &[&str]) -> Result<()> + Sync,
        watch: &dyn Watch,
    ) -> Result<Vec<Work<S>>> {
        let layout = RowFormat { delimiter: self.delimiter, n_columns, columns };
        let blocks =
            Blocks::new(&self.store, self.delimiter, self.block_bytes, self.start);
        let blocks = Mutex::new(blocks);
        self.hold_header()?;
        watch.advance(self.start);
        let work = |_| {
            let mut work = Work { state: start(), blocks: Vec::new(), fault: None };
            let mut block = Block::default();
            loop {
                if watch.is_cancelled() {
                    return work;
                }
                let next = lock(&blocks).next(&mut block);
                let done = match next {
                    Ok(false) => return work,
                    Ok(true) => {
                        self.store.hold((u64::from(block.number), 0), block.bytes());
                        read_block(&block, &layout, &row, &mut work)
                    }
                    Err(fault) => Err(fault),
                };
                if let Err(fault) = done {
                    lock(&blocks).stop();
                    work.fault = Some(fault);
                    return work;
                }
                watch.advance(block.bytes().len() as u64);
            }
        };
        let workers = 0..rayon::current_num_threads();
        let works: Vec<Work<S>> =
            workers.into_par_iter().with_max_len(1).map(work).collect();
        let is_whole = works.iter().all(|work| work.fault.is_none());
        if let Some(held) = self.store.held()
            && is_whole
            && !watch.is_cancelled()
        {
            held.end(1 + works.iter().map(|work| work.blocks.len()).sum::<usize>());
        }
        Ok(works)
    }

    /// Whether anything follows the header.
    pub(super) fn has_rows(&self) -> bool {
        self.store.len().is_ok_and(|bytes| bytes > self.start)
    }

    /// The bytes of the table.
    pub(super) fn store(&self) -> &TableBytes {
        &self.store
    }

    /// The header was read once, but is as much part of the table as the rows.
    fn hold_header(&self) -> Result<()> {
        if self.store.held().is_some() {
            let mut header = vec![0; self.start as usize];
            let read = self.store.read_at(0, &mut header).map_err(|source| {
                Error::new(ErrorKind::Io { action: "read the file", source })
            })?;
            self.store.hold(HEADER, &header[..read]);
        }
        Ok(())
    }
}

fn lock<'l, 's>(
    blocks: &'l Mutex<Blocks<'s>>,
) -> std::sync::MutexGuard<'l, Blocks<'s>> {
    blocks.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the rows of a block to `row`.
fn read_block<S>(
    block: &Block,
    layout: &RowFormat<'_>,
    row: &(impl Fn(&mut S, RowPlace, &[&str]) -> Result<()> + Sync),
    work: &mut Work<S>,
) -> Result<(), Fault> {
    let (number, bytes) = (block.number, block.bytes());
    let (text, is_valid) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, true),
        Err(error) => {
            // The rows before the bad one are read, since one of them may be worse.
            let valid = &bytes[..error.valid_up_to()];
            let end = RowEnds::of(valid, layout.delimiter, block.quoted).last;
            (std::str::from_utf8(&valid[..end]).unwrap_or_default(), false)
        }
    };
    let mut place = 0;
    let state = &mut work.state;
    let show = |cells: &[&str]| {
        row(state, RowPlace { block: number, row: place }, cells)?;
        place += 1;
        Ok(())
    };
    let end = match block.quoted {
        true => layout.quoted_rows(text, show),
        false => layout.plain_rows(text, show),
    };
    let n_columns = layout.n_columns;
    let delimiter = layout.delimiter;
    match end {
        Ok(()) if is_valid => {
            work.blocks.push((number, place));
            Ok(())
        }
        Ok(()) => Err(Fault::new(number, place, |row| {
            Error::input(format!("row {row} is not valid UTF-8")).with_hint(NOT_UTF_8)
        })),
        Err(Stop::Refused(error)) => Err(Fault::new(number, place, |_| error)),
        Err(Stop::Unclosed) => Err(Fault::new(number, place, |row| {
            Error::input(format!("row {row}: a quote is opened but never closed"))
        })),
        Err(Stop::Ragged(n_cells)) => Err(Fault::new(number, place, move |row| {
            ragged(row, n_cells, n_columns, delimiter)
        })),
    }
}

fn ragged(row: u64, n_cells: usize, n_columns: usize, delimiter: u8) -> Error {
    let cells = if n_cells == 1 { "cell" } else { "cells" };
    let columns = if n_columns == 1 { "column" } else { "columns" };
    let error = Error::input(format!(
        "row {row} has {n_cells} {cells}, but the table has {n_columns} {columns}"
    ));
    if n_cells < n_columns {
        return error;
    }
    let delimiter = match delimiter {
        b'\t' => "a tab".to_owned(),
        byte => format!("`{}`", char::from(byte)),
    };
    error.with_hint(format!("a cell that contains {delimiter} must be quoted"))
}

/// The first bytes of a file, as many as the header takes.
struct Head<'a> {
    store: &'a TableBytes,
    bytes: Vec<u8>,
    whole: bool,
}

impl Head<'_> {
    /// Reads twice as far.
    fn grow(&mut self) -> Result<()> {
        let filled = self.bytes.len();
        self.bytes.resize((2 * filled).max(SNIFFED_BYTES), 0);
        let read = self.store.read_at(filled as u64, &mut self.bytes[filled..]);
        let read = read.map_err(|source| {
            Error::new(ErrorKind::Io { action: "read the file", source })
        })?;
        self.whole = read < self.bytes.len() - filled;
        self.bytes.truncate(filled + read);
        Ok(())
    }

    fn check_line_ends(&self) -> Result<()> {
        let has = |byte| memchr::memchr(byte, &self.bytes).is_some();
        if has(b'\r') && !has(b'\n') {
            return Err(Error::input("the lines end with a carriage return alone")
                .with_hint("save the file with the line ends of Unix or Windows"));
        }
        Ok(())
    }

    /// The header, which starts at `start`, and where the rows begin.
    fn header(&mut self, start: usize, delimiter: u8) -> Result<(Vec<String>, usize)> {
        let mut at = start;
        loop {
            match &self.bytes[at..] {
                [b'\n', ..] => at += 1,
                [b'\r', b'\n', ..] => at += 2,
                [] | [b'\r'] if self.whole => {
                    return Err(Error::input("the file is empty"));
                }
                rest => {
                    let ends = RowEnds::of_rows(rest, delimiter, 1);
                    let is_complete = ends.last > 0 || self.whole;
                    if at + ends.first > LONGEST {
                        let message =
                            format!("the header is longer than {} MB", LONGEST >> 20);
                        return Err(Error::input(message).with_hint(
                            "a quote may be opened there and never closed",
                        ));
                    }
                    if !is_complete {
                        self.grow()?;
                    } else if ends.last == 0 && ends.open {
                        let message = "the header: a quote is opened but never closed";
                        return Err(Error::input(message));
                    } else {
                        let names = names(&rest[..ends.first], delimiter)?;
                        return Ok((names, at + ends.first));
                    }
                }
            }
        }
    }
}

fn names(line: &[u8], delimiter: u8) -> Result<Vec<String>> {
    let line = std::str::from_utf8(line).map_err(|_| {
        Error::input("the header is not valid UTF-8").with_hint(NOT_UTF_8)
    })?;
    let cells = Cells::of(line.as_bytes(), delimiter);
    Ok(cells.map(|cell| cell.text(line).into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use crate::error::{Error, Result};
    use crate::table::{ReadOptions, Source};
    use crate::watch::Unwatched;

    fn read(text: &[u8]) -> Result<Vec<Vec<String>>> {
        let source =
            Source::from_bytes("t.csv", text.to_vec(), &ReadOptions::default())?;
        let columns: Vec<_> = source.columns().collect();
        let folded = source.fold(
            &columns,
            Vec::new,
            |rows: &mut Vec<Vec<String>>, _, cells| {
                rows.push(cells.iter().map(|cell| (*cell).to_owned()).collect());
                Ok(())
            },
            &Unwatched,
        )?;
        let mut rows = vec![source.header().to_vec()];
        rows.extend(folded.states.into_iter().flatten());
        Ok(rows)
    }

    fn failure(text: &[u8]) -> Error {
        read(text).unwrap_err()
    }

    #[test]
    fn marks_line_ends_and_delimiters_make_no_difference() {
        let expected = [["x", "y"], ["1", "2"], ["", "é"]];
        for text in [
            "x,y\n1,2\n,é\n",
            "\u{feff}x,y\r\n1,2\r\n\r\n,é",
            "\n\nx;y\n1;2\n\n;é\n",
            "x\ty\n1\t2\n\té",
            "\"x\"|y\n\"1\"|2\n|\"é\"\n",
        ] {
            assert_eq!(read(text.as_bytes()).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_malformed_is_said_with_its_row() {
        for (text, message) in [
            (&b""[..], "the file is empty"),
            (b"\xef\xbb\xbf\r\n\n", "the file is empty"),
            (b"x,y\n1,2\n\n1\n", "row 2 has 1 cell, but the table has 2 columns"),
            (b"x,y\n1,2,3\n", "row 1 has 3 cells, but the table has 2 columns"),
            (b"x,y\n1,2\n3,\"4\n", "row 2: a quote is opened but never closed"),
            (b"x,y\n\"1\",2\n3,\xff\n4\n", "row 2 is not valid UTF-8"),
            (b"x,y\n1\n3,\xff\n", "row 1 has 1 cell, but the table has 2 columns"),
            (b"x,\xff\n1,2\n", "the header is not valid UTF-8"),
            (b"x,\"y\n1,2\n", "the header: a quote is opened but never closed"),
            (b"x,y\r1,2\r", "the lines end with a carriage return alone"),
        ] {
            assert_eq!(failure(text).to_string(), format!("t.csv: {message}"));
        }
        let hints = |text| failure(text).hints().to_vec();
        assert_eq!(hints(b"x,y\n1,2,3\n"), ["a cell that contains `,` must be quoted"]);
        assert_eq!(hints(b"x\ty\n1\t\xff\n"), [super::NOT_UTF_8]);
    }

    #[test]
    fn a_delimiter_must_be_one_that_can_be_told_apart() {
        let options = ReadOptions { delimiter: Some(b'"'), ..ReadOptions::default() };
        let error = Source::from_bytes("t.csv", b"x".to_vec(), &options).unwrap_err();
        assert!(error.to_string().contains("`delimiter` is `\\\"`"), "{error}");
    }
}
