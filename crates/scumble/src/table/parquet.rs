//! Tables in Parquet files, every cell as the text it would be in a CSV file.

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::table::source::{Fault, Spot, Store, Work, spooled};

/// Few enough rows that a batch of text stays in the cache.
const BATCH_ROWS: usize = 8192;

/// Many writers make row groups of a million rows, too few for all workers to be busy;
/// to skip to the middle of one costs little, since whole pages are passed over.
const PIECE_ROWS: usize = 1 << 17;

/// What a column held before its cells became text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnForm {
    /// Text, as in every column of a CSV file.
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers with a fraction, decimal or binary.
    Float,
    /// True or false.
    Boolean,
    /// Days or moments.
    Date,
    /// Anything else; it may have no text.
    Other,
}

impl ColumnForm {
    fn of(data: &DataType) -> Self {
        match data {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            DataType::Dictionary(_, values) => Self::of(values),
            DataType::Boolean => Self::Boolean,
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Self::Date,
            DataType::Decimal32(_, 0)
            | DataType::Decimal64(_, 0)
            | DataType::Decimal128(_, 0)
            | DataType::Decimal256(_, 0) => Self::Integer,
            data if data.is_integer() => Self::Integer,
            data if data.is_numeric() => Self::Float,
            _ => Self::Other,
        }
    }
}

/// A table in a Parquet file.
#[derive(Debug)]
pub(super) struct Parquet {
    // Copies of a file share one position, so whoever reads holds the lock; workers open
    // the file anew instead if it has a path.
    file: Mutex<File>,
    path: Option<PathBuf>,
    bytes: u64,
    metadata: ArrowReaderMetadata,
}

/// A run of rows inside a row group, the work of one worker at a time.
#[derive(Debug, Clone, Copy)]
struct Piece {
    group: usize,
    offset: usize,
    n_rows: usize,
}

impl Parquet {
    /// Reads the schema.
    pub(super) fn open(store: Store, path: Option<&Path>) -> Result<Self> {
        let fail =
            |source| Error::new(ErrorKind::Io { action: "read the file", source });
        let bytes = store.len().map_err(fail)?;
        let file = match store {
            Store::File(file) => {
                file.into_inner().unwrap_or_else(PoisonError::into_inner)
            }
            Store::Memory(bytes) => {
                spooled(&mut io::Cursor::new(bytes)).map_err(fail)?
            }
        };
        let metadata = guarded(|| {
            let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new());
            // A length beyond the file would be believed and allocated.
            metadata.ok().filter(|metadata| lies_within(metadata, bytes))
        });
        let metadata = metadata.flatten().ok_or_else(|| {
            Error::input("this is not a Parquet file, or it is damaged")
        })?;
        let path = path.map(Path::to_owned);
        Ok(Self { file: Mutex::new(file), path, bytes, metadata })
    }

    /// The names of the columns.
    pub(super) fn header(&self) -> Vec<String> {
        let fields = self.metadata.schema().fields();
        fields.iter().map(|field| field.name().clone()).collect()
    }

    /// What the columns hold.
    pub(super) fn forms(&self) -> Vec<ColumnForm> {
        let fields = self.metadata.schema().fields();
        fields.iter().map(|field| ColumnForm::of(field.data_type())).collect()
    }

    /// Reads all rows; see [`crate::table::Source::fold`].
    pub(super) fn fold<S: Send>(
        &self,
        columns: &[usize],
        start: impl Fn() -> S + Sync,
        row: impl Fn(&mut S, Spot, &[&str]) -> Result<()> + Sync,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<Work<S>>> {
        self.check(columns)?;
        let threads = rayon::current_num_threads();
        let pieces = self.pieces();
        let n_rows: usize = pieces.iter().map(|piece| piece.n_rows).sum();
        let per_row = self.bytes as f64 / n_rows.max(1) as f64;
        let next = AtomicUsize::new(0);
        let stopped = AtomicBool::new(false);
        let work = |_| {
            let mut work = Work { state: start(), blocks: Vec::new(), fault: None };
            while !stopped.load(Ordering::SeqCst) {
                let number = next.fetch_add(1, Ordering::SeqCst);
                let Some(piece) = pieces.get(number) else { break };
                let show =
                    |state: &mut S, spot, cells: &[&str]| row(state, spot, cells);
                let done =
                    self.read_piece(*piece, number as u32, columns, show, &mut work);
                progress((piece.n_rows as f64 * per_row) as u64);
                if let Err(fault) = done {
                    stopped.store(true, Ordering::SeqCst);
                    work.fault = Some(fault);
                }
            }
            work
        };
        Ok((0..threads).into_par_iter().with_max_len(1).map(work).collect())
    }

    fn check(&self, columns: &[usize]) -> Result<()> {
        for column in columns {
            let field = &self.metadata.schema().fields()[*column];
            if field.data_type().is_nested() {
                let name = field.name();
                return Err(Error::input(format!(
                    "column `{name}` holds lists or records, but must hold one value a row"
                ))
                .with_hint("leave the column out, or flatten it first"));
            }
        }
        Ok(())
    }

    /// Row groups, cut so that workers finish at about the same time.
    fn pieces(&self) -> Vec<Piece> {
        let groups = self.metadata.metadata().row_groups();
        let mut pieces = Vec::new();
        for (group, metadata) in groups.iter().enumerate() {
            let size = usize::try_from(metadata.num_rows()).unwrap_or(0);
            for offset in (0..size).step_by(PIECE_ROWS) {
                let n_rows = PIECE_ROWS.min(size - offset);
                pieces.push(Piece { group, offset, n_rows });
            }
        }
        pieces
    }

    fn read_piece<S>(
        &self,
        piece: Piece,
        number: u32,
        columns: &[usize],
        row: impl Fn(&mut S, Spot, &[&str]) -> Result<()>,
        work: &mut Work<S>,
    ) -> Result<(), Fault> {
        let group = piece.group + 1;
        let damaged = move |_| {
            Error::input(format!(
                "row group {group} cannot be read: the file is damaged"
            ))
        };
        let mut place = 0;
        let mut reader = guarded(|| self.reader(piece, columns).ok())
            .flatten()
            .ok_or_else(|| Fault::new(number, 0, damaged))?;
        while let Some(batch) = self.next_batch(&mut reader) {
            let batch = batch.map_err(|Damaged| Fault::new(number, place, damaged))?;
            let arrays = texts(&batch, columns).map_err(|column| {
                let name = self.metadata.schema().field(column).name().clone();
                Fault::new(number, place, move |_| {
                    Error::input(format!("column `{name}` cannot be written as text"))
                })
            })?;
            let mut cells = vec![""; columns.len()];
            for entry in 0..batch.num_rows() {
                for (cell, array) in cells.iter_mut().zip(&arrays) {
                    *cell = if array.is_null(entry) { "" } else { array.value(entry) };
                }
                row(&mut work.state, Spot { block: number, row: place }, &cells)
                    .map_err(|error| Fault::new(number, place, |_| error))?;
                place += 1;
            }
        }
        if place as usize != piece.n_rows {
            return Err(Fault::new(number, place, damaged));
        }
        work.blocks.push((number, place));
        Ok(())
    }

    fn reader(
        &self,
        piece: Piece,
        columns: &[usize],
    ) -> Result<ParquetRecordBatchReader, parquet::errors::ParquetError> {
        let schema = self.metadata.parquet_schema();
        let mask = ProjectionMask::roots(schema, columns.iter().copied());
        let file = match &self.path {
            Some(path) => File::open(path)?,
            None => {
                self.file.lock().unwrap_or_else(PoisonError::into_inner).try_clone()?
            }
        };
        let metadata = self.metadata.clone();
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
            .with_row_groups(vec![piece.group])
            .with_projection(mask)
            .with_offset(piece.offset)
            .with_limit(piece.n_rows)
            .with_batch_size(BATCH_ROWS)
            .build()
    }

    fn next_batch(
        &self,
        reader: &mut ParquetRecordBatchReader,
    ) -> Option<Result<RecordBatch, Damaged>> {
        let shared = self.path.is_none();
        let _lock =
            shared.then(|| self.file.lock().unwrap_or_else(PoisonError::into_inner));
        match guarded(|| reader.next()) {
            Some(batch) => batch.map(|batch| batch.map_err(|_| Damaged)),
            None => Some(Err(Damaged)),
        }
    }
}

/// A part of the file is not what it should be.
struct Damaged;

/// Runs what reads a file of unknown origin: where the decoder panics on damage, that is
/// an answer like any other.
fn guarded<T>(read: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(read)).ok()
}

fn lies_within(metadata: &ArrowReaderMetadata, bytes: u64) -> bool {
    metadata.metadata().row_groups().iter().all(|group| {
        group.num_rows() >= 0
            && group.columns().iter().all(|column| {
                let (start, length) = column.byte_range();
                start.checked_add(length).is_some_and(|end| end <= bytes)
            })
    })
}

/// The chosen columns as text, or the column for which that fails.
fn texts(batch: &RecordBatch, columns: &[usize]) -> Result<Vec<StringArray>, usize> {
    // A batch has the columns chosen in the order of the file, each once.
    let mut present = columns.to_vec();
    present.sort_unstable();
    present.dedup();
    let mut arrays = Vec::with_capacity(columns.len());
    for column in columns {
        let place = present.binary_search(column).map_err(|_| *column)?;
        let array = batch.columns().get(place).ok_or(*column)?;
        let text = text(array).map_err(|_| *column)?;
        arrays.push(text.as_string::<i32>().clone());
    }
    Ok(arrays)
}

fn text(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let cast = |array: &ArrayRef, to: &DataType| cast_with_options(array, to, &options);
    match array.data_type() {
        // Moments are written in UTC: the names of other zones would need a database.
        DataType::Timestamp(unit, Some(_)) => {
            let utc = DataType::Timestamp(*unit, Some("+00:00".into()));
            cast(&cast(&cast(array, &DataType::Int64)?, &utc)?, &DataType::Utf8)
        }
        _ => cast(array, &DataType::Utf8),
    }
}
