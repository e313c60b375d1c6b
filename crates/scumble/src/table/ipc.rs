//! Tables in Arrow IPC files (`.arrow`, and `.feather` of version 2), every cell as the text it
//! would be in a CSV file.

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, root_as_footer, root_as_message};
use arrow_schema::SchemaRef;

use crate::error::{Error, ErrorKind, Result};
use crate::table::arrow::{check_flat, fold_blocks, show_rows};
use crate::table::parquet::{MOST_UNFOLDED, guarded};
use crate::table::source::{Fault, RowPlace, Work};
use crate::table::store::TableBytes;
use crate::watch::Watch;

/// The length of the footer, and the mark.
const TRAILER: usize = 10;

/// Why a file of another kind is refused, by its first bytes.
const OTHERS: [(&[u8], &str, &str); 2] = [
    (b"FEA1", "this is a Feather file of version 1", "write it as version 2"),
    (
        b"\xff\xff\xff\xff",
        "this is an Arrow stream",
        "write it as an Arrow file, which has an index",
    ),
];

/// A table in an Arrow IPC file.
pub(super) struct Ipc {
    store: TableBytes,
    bytes: u64,
    schema: SchemaRef,
    decoder: FileDecoder,
    blocks: Vec<Block>,
    /// Where the footer begins.
    footer: u64,
}

impl Ipc {
    /// Reads the schema and the dictionaries.
    pub(super) fn open(store: TableBytes) -> Result<Self> {
        let fail =
            |source| Error::new(ErrorKind::Io { action: "read the file", source });
        let bytes = store.len().map_err(fail)?;
        let mut head = [0; 6];
        let read = store.read_at(0, &mut head).map_err(fail)?;
        for (magic, what, hint) in OTHERS {
            if head[..read].starts_with(magic) {
                return Err(Error::input(what).with_hint(hint));
            }
        }
        guarded(|| Self::of(store, bytes)).flatten().ok_or_else(damaged)
    }

    fn of(store: TableBytes, bytes: u64) -> Option<Self> {
        let trailer = bytes.checked_sub(TRAILER as u64)?;
        let length =
            read_footer_length(piece(&store, trailer, TRAILER)?[..].try_into().ok()?);
        let length = length.ok()?;
        let footer_start = trailer.checked_sub(length as u64)?;
        let footer = piece(&store, footer_start, length)?;
        let footer = root_as_footer(&footer).ok()?;
        let schema: SchemaRef = try_fb_to_schema(footer.schema()?).ok()?.into();
        let mut decoder = FileDecoder::new(schema.clone(), footer.version());
        for block in footer.dictionaries().iter().flatten() {
            decoder.read_dictionary(block, &whole(&store, block)?).ok()?;
        }
        let blocks = footer.recordBatches()?.iter().copied().collect();
        Some(Self { bytes, schema, decoder, blocks, footer: footer_start, store })
    }

    /// The bytes of the table.
    pub(super) fn store(&self) -> &TableBytes {
        &self.store
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
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
        // The description of the columns is as much part of the table as the rows.
        if self.store.held().is_some() {
            let length = usize::try_from(self.bytes - self.footer).unwrap_or(0);
            drop(piece(&self.store, self.footer, length));
        }
        let read = |block: u32, state: &mut S| {
            let batch = guarded(|| self.batch(block as usize)).flatten();
            let batch = batch.ok_or_else(|| {
                let error = Error::input(format!(
                    "record batch {} cannot be read: the file is damaged",
                    block + 1
                ));
                Fault::new(block, 0, |_| error)
            })?;
            let mut at = RowPlace { block, row: 0 };
            let arrays = columns
                .iter()
                .map(|c| (self.schema.field(*c).name(), batch.column(*c)));
            show_rows(arrays, &mut at, batch.num_rows(), &row, state)?;
            let known = &self.blocks[block as usize];
            watch.advance(u64::try_from(known.bodyLength()).unwrap_or(0));
            Ok(at.row)
        };
        Ok(fold_blocks(self.blocks.len(), start, read, watch))
    }

    fn batch(&self, number: usize) -> Option<RecordBatch> {
        let block = &self.blocks[number];
        let data = whole(&self.store, block)?;
        let batch = self.decoder.read_record_batch(block, &data).ok()??;
        (batch.num_columns() == self.schema.fields().len()).then_some(batch)
    }
}

fn damaged() -> Error {
    Error::input("this is not an Arrow file, or it is damaged")
}

/// A piece of the file, whole or not at all.
fn piece(store: &TableBytes, start: u64, length: usize) -> Option<Vec<u8>> {
    let end = start.checked_add(length as u64)?;
    if end > store.len().ok()? {
        return None;
    }
    let mut bytes = vec![0; length];
    let read = store.read_at(start, &mut bytes).ok()?;
    store.hold((start, length), &bytes);
    (read == length).then_some(bytes)
}

/// A message with its body, if that unfolds to no more than can be believed.
fn whole(store: &TableBytes, block: &Block) -> Option<Buffer> {
    let (described, body) = (block.metaDataLength(), block.bodyLength());
    let described = usize::try_from(described).ok()?;
    let length = described.checked_add(usize::try_from(body).ok()?)?;
    let bytes = piece(store, u64::try_from(block.offset()).ok()?, length)?;
    unfolds(&bytes, described)?;
    Some(Buffer::from_vec(bytes))
}

/// Looks at how long compressed buffers say that they are: a decoder believes it.
fn unfolds(bytes: &[u8], described: usize) -> Option<()> {
    let (message, body) = bytes.split_at_checked(described)?;
    let message = match message.strip_prefix(&[0xff; 4]) {
        Some(rest) => rest.get(4..)?,
        None => message.get(4..)?,
    };
    let message = root_as_message(message).ok()?;
    let batch = match message.header_as_dictionary_batch() {
        Some(dictionary) => dictionary.data()?,
        None => message.header_as_record_batch()?,
    };
    if batch.compression().is_none() {
        return Some(());
    }
    for buffer in batch.buffers().iter().flatten().filter(|buffer| buffer.length() > 0)
    {
        let start = usize::try_from(buffer.offset()).ok()?;
        let prefix = body.get(start..start.checked_add(8)?)?;
        let length = i64::from_le_bytes(prefix.try_into().ok()?);
        // Minus one stands for a buffer that is not compressed.
        if !(-1..=MOST_UNFOLDED).contains(&length) {
            return None;
        }
    }
    Some(())
}
