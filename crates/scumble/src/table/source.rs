//! A table in a file or in memory, read row by row on all threads.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Weak};

use arrow_array::RecordBatch;

use crate::error::{Error, Result};
use crate::table::arrow::{ColumnForm, described};
use crate::table::batches::Batches;
use crate::table::csv::Text;
use crate::table::file_kind::{FileKind, file_name};
use crate::table::guard::unguarded;
use crate::table::header::{check_header, of_text};
use crate::table::index::ColumnId;
use crate::table::ipc::Ipc;
use crate::table::left_out::LeftOutRows;
use crate::table::notation::Doubts;
use crate::table::options::{Notation, ReadOptions};
use crate::table::packed::query::Database;
use crate::table::packed::stream::{Compression, Stream, marked, named};
use crate::table::packed::workbook::Sheet;
use crate::table::packed::{Origin, Packed, Share, changed};
use crate::table::parquet::Parquet;
use crate::table::store::{TableBytes, spooled};
use crate::watch::Watch;
use crate::words::no_column;

/// A table in a file or in memory that can be read several times. A file that is changed in
/// place meanwhile is noticed: see [`Source::fold`].
#[derive(Clone)]
pub struct Source(Arc<Opened>, Option<Arc<LeftOutRows>>);

/// A table that was opened.
pub(super) struct Opened {
    name: String,
    header: Vec<String>,
    forms: Vec<ColumnForm>,
    bytes: u64,
    /// Whether guards before cells are taken away.
    guarded: bool,
    /// How numbers are written, if not plainly.
    notation: Option<Notation>,
    format: Format,
}

enum Format {
    Text(Text),
    Parquet(Parquet),
    Ipc(Ipc),
    Packed(Packed),
    Batches(Batches),
}

/// Without the rows, which are private.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.0.name).finish_non_exhaustive()
    }
}

/// Where a row stands: a block of the file, and the row's place in it, both from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowPlace {
    /// The block.
    pub block: u32,
    /// The row's place in the block.
    pub row: u32,
}

/// What reading a whole table left behind.
#[derive(Debug)]
pub struct Folded<S> {
    /// The state of every worker, in no order.
    pub states: Vec<S>,
    /// How many rows the table has.
    pub n_rows: u64,
    /// How many rows stand before each block.
    pub block_starts: Vec<u64>,
}

impl<S> Folded<S> {
    /// The number of the row at `spot`, from 1, without the header.
    pub fn row_number(&self, spot: RowPlace) -> u64 {
        self.block_starts[spot.block as usize] + u64::from(spot.row) + 1
    }
}

impl Source {
    /// Opens a table: a file of a format told by the ending of its name, `-` for standard
    /// input, or a database (`sqlite:clinic.db`, `postgres://host/database`).
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        if path.as_os_str() == "-" {
            let name = "standard input";
            let spool = spooled(&mut io::stdin().lock())
                .map_err(|error| Error::io("read", name, error))?;
            return Self::from_store(name, "", TableBytes::Spool(spool), options);
        }
        if let Some(database) = path.to_str().and_then(Database::of) {
            let name = database.shown();
            let origin =
                database.open(options).map_err(|error| error.in_file(&name))?;
            return Self::packed(&name, origin, None, options);
        }
        let name = path.display().to_string();
        let fail = |error| Error::io("read the file", &name, error);
        let mut file = File::open(path).map_err(fail)?;
        // A pipe can be read only once, and a table is read twice.
        let store = match file.metadata().map_err(fail)?.is_file() {
            true => TableBytes::of_file(file, path).map_err(fail)?,
            false => TableBytes::Spool(spooled(&mut file).map_err(fail)?),
        };
        Self::from_store(&name, &file_name(path), store, options)
    }

    /// A table in memory; `name` is what messages call it.
    pub fn from_bytes(
        name: &str,
        bytes: Vec<u8>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let store = TableBytes::Memory(bytes);
        Self::from_store(name, &file_name(Path::new(name)), store, options)
    }

    /// A table in Arrow batches, all with the same columns; `name` is what messages call it.
    pub fn from_batches(name: &str, batches: Vec<RecordBatch>) -> Result<Self> {
        let batches = Batches::new(batches).map_err(|error| error.in_file(name))?;
        let described = described(batches.schema());
        let bytes = batches.bytes();
        Self::new(name, described, bytes, false, Format::Batches(batches))
    }

    fn new(
        name: &str,
        (header, forms): (Vec<String>, Vec<ColumnForm>),
        bytes: u64,
        guarded: bool,
        format: Format,
    ) -> Result<Self> {
        check_header(&header).map_err(|error| error.in_file(name))?;
        let name = name.to_owned();
        let notation = None;
        let opened = Opened { name, header, forms, bytes, guarded, notation, format };
        Ok(Self(Arc::new(opened), None))
    }

    /// The same table again, as long as anybody has it open.
    pub(super) fn downgrade(&self) -> Weak<Opened> {
        Arc::downgrade(&self.0)
    }

    /// A table that somebody has open.
    pub(super) fn upgrade(opened: &Weak<Opened>) -> Option<Self> {
        opened.upgrade().map(|opened| Self(opened, None))
    }

    /// The same table without some of its rows. Those that are left keep their places and
    /// numbers, and the table its number of rows.
    #[must_use]
    pub fn without(&self, rows: &Arc<LeftOutRows>) -> Self {
        Self(self.0.clone(), Some(rows.clone()))
    }

    /// The same table with all of its rows.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self(self.0.clone(), None)
    }

    /// A table whose file is called `file`.
    fn from_store(
        name: &str,
        file: &str,
        store: TableBytes,
        options: &ReadOptions,
    ) -> Result<Self> {
        let fail = |error| Error::io("read the file", name, error);
        let in_file = |error: Error| error.in_file(name);
        let bytes = store.len().map_err(fail)?;
        let mut head = [0; 16];
        let read = store.read_at(0, &mut head).map_err(fail)?;
        let head = &head[..read];
        let compression = Compression::of(head);
        let ending = match (compression, file.rsplit_once('.')) {
            (Some(_), Some((inner, _))) => inner.rsplit_once('.'),
            (_, ending) => ending,
        };
        let ending = ending.map_or("", |(_, ending)| ending);
        let kind = FileKind::of(ending, head);
        let has =
            |only: &[&str]| options.check_only(kind.name(), only).map_err(in_file);
        match kind {
            FileKind::Parquet => {
                has(&[])?;
                let parquet = Parquet::open(store).map_err(in_file)?;
                let described = described(parquet.schema());
                Self::new(name, described, bytes, false, Format::Parquet(parquet))
            }
            FileKind::Arrow => {
                has(&[])?;
                let ipc = Ipc::open(store).map_err(in_file)?;
                let described = described(ipc.schema());
                Self::new(name, described, bytes, false, Format::Ipc(ipc))
            }
            FileKind::Workbook => {
                has(&["sheet"])?;
                let sheet = Sheet::open(store, options).map_err(in_file)?;
                Self::packed(name, Box::new(sheet), None, options)
            }
            FileKind::Sqlite => Err(Error::input("this is an SQLite database")
                .with_hint(format!("name it `sqlite:{file}`, with a `query`"))
                .in_file(name)),
            FileKind::Text => {
                has(&["encoding", "decimal"])?;
                let tabs = (ending == "tsv").then_some(b'\t');
                let delimiter = options.delimiter.or(tabs);
                let said = options.encoding.as_deref().map(named).transpose();
                let encoding = said.map_err(in_file)?.or(marked(head));
                if compression.is_some()
                    || encoding.is_some_and(|e| e.name() != "UTF-8")
                {
                    let stream = Stream::open(store, compression, delimiter, options);
                    let stream = Box::new(stream.map_err(in_file)?);
                    return Self::packed(name, stream, options.notation, options);
                }
                let (text, header) =
                    Text::open(store, delimiter, options).map_err(in_file)?;
                let described = of_text(header, options.guarded);
                let format = Format::Text(text);
                let guarded = options.guarded;
                let source = Self::new(name, described, bytes, guarded, format)?;
                Ok(source.written_in(options.notation))
            }
        }
    }

    fn packed(
        name: &str,
        origin: Box<dyn Origin>,
        notation: Option<Notation>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let described = of_text(origin.header().to_vec(), options.guarded);
        let packed = Packed::new(origin, options);
        let (bytes, format) = (packed.bytes(), Format::Packed(packed));
        let source = Self::new(name, described, bytes, options.guarded, format)?;
        Ok(source.written_in(notation))
    }

    /// The same table, that nobody has yet, with its numbers in another notation.
    fn written_in(mut self, notation: Option<Notation>) -> Self {
        if let Some(opened) = Arc::get_mut(&mut self.0) {
            opened.notation = notation;
        }
        self
    }

    /// The table as the user named it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.0.header
    }

    /// The columns, in the order of the header.
    pub fn columns(&self) -> impl Iterator<Item = ColumnId> + use<> {
        (0..self.0.header.len()).map(ColumnId::from_index)
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Result<ColumnId> {
        let found = self.0.header.iter().position(|known| known == name);
        found
            .map(ColumnId::from_index)
            .ok_or_else(|| no_column(&self.0.header, name).in_file(&self.0.name))
    }

    /// The name of a column.
    pub fn name_of(&self, column: ColumnId) -> &str {
        &self.0.header[column.index()]
    }

    /// What a column held before its cells became text.
    pub fn form(&self, column: ColumnId) -> ColumnForm {
        self.0.forms[column.index()]
    }

    /// How large the table is, where it is.
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Reads the whole table on all threads, and calls `row` with the cells of
    /// `columns`, in that order, for every row.
    ///
    /// A worker sees its rows in ascending order, but which worker sees a row is up to
    /// chance. If several rows fail, the error is that of the first.
    ///
    /// If the file holds something else than in an earlier pass, that is the error: what was
    /// found in one pass is then not about the rows of the other.
    pub fn fold<S: Send>(
        &self,
        columns: &[ColumnId],
        start: impl Fn() -> S + Sync,
        row: impl Fn(&mut S, RowPlace, &[&str]) -> Result<()> + Sync,
        watch: &dyn Watch,
    ) -> Result<Folded<S>> {
        let columns: Vec<usize> = columns.iter().map(|column| column.index()).collect();
        let columns = columns.as_slice();
        let row = |state: &mut S, place: RowPlace, cells: &[&str]| match &self.1 {
            Some(left_out) if left_out.contains(place) => Ok(()),
            _ => row(state, place, cells),
        };
        let doubts = Doubts::default();
        let row = |state: &mut S, place: RowPlace, cells: &[&str]| {
            let Some(notation) = self.0.notation else {
                return row(state, place, cells);
            };
            let plain = doubts.plain(notation, place, cells);
            let plain: Vec<&str> = plain.iter().map(|cell| &**cell).collect();
            row(state, place, &plain)
        };
        let row = |state: &mut S, place: RowPlace, cells: &[&str]| match self.0.guarded
        {
            true => {
                let own: Vec<&str> = cells.iter().map(|cell| unguarded(cell)).collect();
                row(state, place, &own)
            }
            false => row(state, place, cells),
        };
        let n_columns = self.0.header.len();
        let work = match &self.0.format {
            Format::Text(text) => text.fold(columns, n_columns, start, row, watch),
            Format::Parquet(parquet) => parquet.fold(columns, start, row, watch),
            Format::Ipc(ipc) => ipc.fold(columns, start, row, watch),
            Format::Batches(batches) => batches.fold(columns, start, row, watch),
            Format::Packed(packed) => packed.text(watch).and_then(|(text, share)| {
                text.fold(columns, n_columns, start, row, &Share::new(watch, share))
            }),
        };
        watch.check()?;
        self.check_unchanged()?;
        let folded =
            work.and_then(gathered).map_err(|error| error.in_file(&self.0.name))?;
        if folded.n_rows == 0 {
            let error = Error::input("the table has a header but no rows");
            return Err(error.in_file(&self.0.name));
        }
        let name = |place: usize| self.0.header[columns[place]].clone();
        let checked = doubts.check(|place| folded.row_number(place), name);
        checked.map_err(|error| error.in_file(&self.0.name))?;
        Ok(folded)
    }
}

impl Source {
    /// An error if the file cannot have been one table all the time.
    fn check_unchanged(&self) -> Result<()> {
        let store = match &self.0.format {
            Format::Text(text) => text.store(),
            Format::Parquet(parquet) => parquet.store(),
            Format::Ipc(ipc) => ipc.store(),
            Format::Batches(_) | Format::Packed(_) => return Ok(()),
        };
        match store.has_changed() {
            false => Ok(()),
            true => Err(changed().in_file(&self.0.name)),
        }
    }
}

/// What one worker leaves behind.
pub(super) struct Work<S> {
    pub(super) state: S,
    /// Each block it read, and how many rows that had.
    pub(super) blocks: Vec<(u32, u32)>,
    pub(super) fault: Option<Fault>,
}

/// An error at a spot; its row number is known only when all blocks are counted.
pub(super) struct Fault {
    spot: RowPlace,
    error: Box<dyn FnOnce(u64) -> Error + Send>,
}

impl Fault {
    pub(super) fn new(
        block: u32,
        row: u32,
        error: impl FnOnce(u64) -> Error + Send + 'static,
    ) -> Self {
        Self { spot: RowPlace { block, row }, error: Box::new(error) }
    }
}

/// Puts the workers' results together.
///
/// Blocks are handed out in order, and none after a fault; so whichever worker stops
/// first, every block before the earliest fault has been read, and its row number and the
/// choice of the fault do not depend on the threads.
fn gathered<S>(work: Vec<Work<S>>) -> Result<Folded<S>> {
    let mut states = Vec::with_capacity(work.len());
    let mut sizes: Vec<u64> = Vec::new();
    let mut first: Option<Fault> = None;
    for worker in work {
        states.push(worker.state);
        for (block, n_rows) in worker.blocks {
            let block = block as usize;
            if sizes.len() <= block {
                sizes.resize(block + 1, 0);
            }
            sizes[block] = u64::from(n_rows);
        }
        if let Some(fault) = worker.fault
            && first.as_ref().is_none_or(|first| fault.spot < first.spot)
        {
            first = Some(fault);
        }
    }
    if let Some(Fault { spot, error }) = first {
        let before: u64 = sizes.iter().take(spot.block as usize).sum();
        return Err(error(before + u64::from(spot.row) + 1));
    }
    let mut n_rows = 0;
    let mut block_starts = Vec::with_capacity(sizes.len());
    for size in sizes {
        block_starts.push(n_rows);
        n_rows += size;
    }
    Ok(Folded { states, n_rows, block_starts })
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
