//! Tables in Parquet files, every cell as the text it would be in a CSV file.

mod chunks;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};

use crate::error::{Error, ErrorKind, Result};
use crate::table::arrow::{check_flat, fold_blocks, show_rows};
use crate::table::parquet::chunks::Chunks;
use crate::table::source::{Fault, RowPlace, Work};
use crate::table::store::TableBytes;
use crate::watch::Watch;

/// Few enough rows that a batch of text stays in the cache.
const BATCH_ROWS: usize = 8192;

/// Many writers make row groups of a million rows, too few for all workers to be busy;
/// to skip to the middle of one costs little, since whole pages are passed over.
const PIECE_ROWS: usize = 1 << 17;

/// What a column of a row group may hold once it is unfolded: a file of some kilobytes must
/// not swallow the memory.
pub(super) const MOST_UNFOLDED: i64 = 1 << 30;

/// A table in a Parquet file.
#[derive(Debug)]
pub(super) struct Parquet {
    chunks: Chunks,
    bytes: u64,
    metadata: ArrowReaderMetadata,
}

/// A run of rows inside a row group, the work of one worker at a time.
#[derive(Debug, Clone, Copy)]
struct RowRun {
    group: usize,
    offset: usize,
    n_rows: usize,
}

impl Parquet {
    /// Reads the schema.
    pub(super) fn open(store: TableBytes) -> Result<Self> {
        let fail =
            |source| Error::new(ErrorKind::Io { action: "read the file", source });
        let bytes = store.len().map_err(fail)?;
        let chunks = Chunks(Arc::new(store));
        let metadata = guarded(|| {
            let metadata =
                ArrowReaderMetadata::load(&chunks, ArrowReaderOptions::new());
            // A length beyond the file would be believed and allocated.
            metadata.ok().filter(|metadata| lies_within(metadata, bytes))
        });
        let metadata = metadata.flatten().ok_or_else(|| {
            Error::input("this is not a Parquet file, or it is damaged")
        })?;
        let groups = metadata.metadata().row_groups().iter();
        let mut sizes =
            groups.flat_map(|group| group.columns()).map(|c| c.uncompressed_size());
        if sizes.any(|size| size > MOST_UNFOLDED) {
            return Err(Error::input(format!(
                "a column of a row group unfolds to more than {} MB",
                MOST_UNFOLDED >> 20
            ))
            .with_hint("write the file with smaller row groups"));
        }
        Ok(Self { chunks, bytes, metadata })
    }

    /// The bytes of the table.
    pub(super) fn store(&self) -> &TableBytes {
        &self.chunks.0
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// Reads all rows; see [`crate::table::Source::fold`].
    pub(super) fn fold<S: Send>(
        &self,
        columns: &[usize],
        start: impl Fn() -> S + Sync,
        row: impl Fn(&mut S, RowPlace, &[&str]) -> Result<()> + Sync,
        watch: &dyn Watch,
    ) -> Result<Vec<Work<S>>> {
        check_flat(self.schema(), columns)?;
        // The description of the columns is as much part of the table as the rows.
        if self.store().held().is_some() {
            let again = || ArrowReaderMetadata::load(&self.chunks, Default::default());
            drop(guarded(again));
        }
        let pieces = self.pieces();
        let n_rows: usize = pieces.iter().map(|piece| piece.n_rows).sum();
        let per_row = self.bytes as f64 / n_rows.max(1) as f64;
        let read = |block: u32, state: &mut S| {
            let piece = pieces[block as usize];
            let done = self.read_piece(piece, block, columns, &row, state);
            watch.advance((piece.n_rows as f64 * per_row) as u64);
            done
        };
        Ok(fold_blocks(pieces.len(), start, read, watch))
    }

    /// Row groups, cut so that workers finish at about the same time.
    fn pieces(&self) -> Vec<RowRun> {
        let groups = self.metadata.metadata().row_groups();
        let mut pieces = Vec::new();
        for (group, metadata) in groups.iter().enumerate() {
            let size = usize::try_from(metadata.num_rows()).unwrap_or(0);
            for offset in (0..size).step_by(PIECE_ROWS) {
                let n_rows = PIECE_ROWS.min(size - offset);
                pieces.push(RowRun { group, offset, n_rows });
            }
        }
        pieces
    }

    fn read_piece<S>(
        &self,
        piece: RowRun,
        number: u32,
        columns: &[usize],
        row: impl Fn(&mut S, RowPlace, &[&str]) -> Result<()>,
        state: &mut S,
    ) -> Result<u32, Fault> {
        let group = piece.group + 1;
        let damaged = move |_| {
            Error::input(format!(
                "row group {group} cannot be read: the file is damaged"
            ))
        };
        // A batch has the columns chosen in the order of the file, each once.
        let mut present = columns.to_vec();
        present.sort_unstable();
        present.dedup();
        let mut at = RowPlace { block: number, row: 0 };
        let mut reader = guarded(|| self.reader(piece, columns).ok())
            .flatten()
            .ok_or_else(|| Fault::new(number, 0, damaged))?;
        while let Some(batch) = next_batch(&mut reader) {
            let batch = batch.ok().filter(|batch| batch.num_columns() == present.len());
            let batch = batch.ok_or_else(|| Fault::new(number, at.row, damaged))?;
            let arrays = columns.iter().map(|column| {
                let place = present.partition_point(|known| known < column);
                (self.schema().field(*column).name(), batch.column(place))
            });
            show_rows(arrays, &mut at, batch.num_rows(), &row, state)?;
        }
        match at.row as usize == piece.n_rows {
            true => Ok(at.row),
            false => Err(Fault::new(number, at.row, damaged)),
        }
    }

    fn reader(
        &self,
        piece: RowRun,
        columns: &[usize],
    ) -> Result<ParquetRecordBatchReader, parquet::errors::ParquetError> {
        let schema = self.metadata.parquet_schema();
        let mask = ProjectionMask::roots(schema, columns.iter().copied());
        let metadata = self.metadata.clone();
        ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.chunks.clone(),
            metadata,
        )
        .with_row_groups(vec![piece.group])
        .with_projection(mask)
        .with_offset(piece.offset)
        .with_limit(piece.n_rows)
        .with_batch_size(BATCH_ROWS)
        .build()
    }
}

fn next_batch(
    reader: &mut ParquetRecordBatchReader,
) -> Option<Result<RecordBatch, Damaged>> {
    match guarded(|| reader.next()) {
        Some(batch) => batch.map(|batch| batch.map_err(|_| Damaged)),
        None => Some(Err(Damaged)),
    }
}

/// A part of the file is not what it should be.
struct Damaged;

thread_local! {
    /// Whether this thread is in a decoder whose panics are caught.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would come from a decoder, on damaged bytes, and be
/// answered as an error: then a program need not print it. For panic hooks.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// Runs what reads a file of unknown origin: where the decoder panics on damage, that is
/// an answer like any other.
pub(super) fn guarded<T>(read: impl FnOnce() -> T) -> Option<T> {
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(read)).ok();
    GUARDED.set(before);
    done
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_within_is_an_answer_and_known_as_one() {
        assert!(!is_guarded());
        assert_eq!(guarded(is_guarded), Some(true));
        let inner = || guarded(|| -> u8 { panic!("as a decoder might") });
        assert_eq!(guarded(inner), Some(None));
        assert!(!is_guarded());
    }
}
