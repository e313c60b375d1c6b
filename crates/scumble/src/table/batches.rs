//! Tables in memory, as Arrow batches.

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;

use crate::error::{Error, Result};
use crate::table::arrow::{check_flat, fold_blocks, show_rows};
use crate::table::source::{RowPlace, Work};
use crate::watch::Watch;

/// Few enough rows that their texts stay in the cache.
const BLOCK_ROWS: usize = 1 << 14;

/// A table in Arrow batches, cut into blocks of as many rows each, so that neither threads
/// nor the cuts between batches make a difference.
pub(super) struct Batches {
    schema: SchemaRef,
    /// The pieces of batches that make up each block.
    blocks: Vec<Vec<RecordBatch>>,
    bytes: u64,
}

impl Batches {
    /// Checks that all batches have the same columns.
    pub(super) fn new(batches: Vec<RecordBatch>) -> Result<Self> {
        let Some(first) = batches.first() else {
            return Err(Error::input("there are no batches, so there are no columns")
                .with_hint("give at least one batch, even if it has no rows"));
        };
        let schema = first.schema();
        let bytes = batches.iter().map(size).sum();
        let mut blocks: Vec<Vec<RecordBatch>> = Vec::new();
        let mut room = 0;
        for (number, batch) in (1..).zip(batches) {
            check_same(&schema, &batch, number)?;
            let mut offset = 0;
            while offset < batch.num_rows() {
                if room == 0 {
                    blocks.push(Vec::new());
                    room = BLOCK_ROWS;
                }
                let n_rows = room.min(batch.num_rows() - offset);
                if let Some(block) = blocks.last_mut() {
                    block.push(batch.slice(offset, n_rows));
                }
                offset += n_rows;
                room -= n_rows;
            }
        }
        Ok(Self { schema, blocks, bytes })
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// How much memory the batches take.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads all rows; see [`crate::table::Source::fold`].
    pub(super) fn fold<S: Send>(
        &self,
        columns: &[usize],
        start: impl Fn() -> S + Sync,
        row: impl Fn(&mut S, RowPlace, &[&str]) -> Result<()> + Sync,
        watch: &dyn Watch,
    ) -> Result<Vec<Work<S>>> {
        check_flat(&self.schema, columns)?;
        let n_blocks = self.blocks.len() as u64;
        let read = |block: u32, state: &mut S| {
            let mut at = RowPlace { block, row: 0 };
            for piece in &self.blocks[block as usize] {
                let arrays = columns
                    .iter()
                    .map(|c| (self.schema.field(*c).name(), piece.column(*c)));
                show_rows(arrays, &mut at, piece.num_rows(), &row, state)?;
            }
            // The shares of all blocks add up to the whole.
            let before = |block: u64| block * self.bytes / n_blocks;
            watch.advance(before(u64::from(block) + 1) - before(u64::from(block)));
            Ok(at.row)
        };
        Ok(fold_blocks(self.blocks.len(), start, read, watch))
    }
}

/// How much memory the rows of a batch take.
fn size(batch: &RecordBatch) -> u64 {
    let size = |array: &ArrayRef| {
        let own = array.to_data().get_slice_memory_size();
        own.unwrap_or_else(|_| array.get_array_memory_size()) as u64
    };
    batch.columns().iter().map(size).sum()
}

fn check_same(schema: &SchemaRef, batch: &RecordBatch, number: usize) -> Result<()> {
    let (expected, found) = (schema.fields(), batch.schema_ref().fields());
    if expected.len() != found.len() {
        return Err(Error::input(format!(
            "batch {number} has {} columns, but the first one has {}",
            found.len(),
            expected.len()
        )));
    }
    for (place, (one, other)) in (1..).zip(expected.iter().zip(found)) {
        if one.name() != other.name() {
            return Err(Error::input(format!(
                "column {place} of batch {number} is called `{}`, but `{}` in the first one",
                other.name(),
                one.name()
            )));
        }
        if one.data_type() != other.data_type() {
            return Err(Error::input(format!(
                "column `{}` of batch {number} holds {}, but {} in the first one",
                one.name(),
                other.data_type(),
                one.data_type()
            ))
            .with_hint("cast the batches to one schema"));
        }
    }
    Ok(())
}
