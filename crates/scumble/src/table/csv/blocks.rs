//! Blocks of whole rows, cut from a text file in order.

use memchr::{memchr, memrchr};

use crate::error::Error;
use crate::table::csv::cells::Cells;
use crate::table::source::Fault;
use crate::table::store::TableBytes;

/// The longest row that is believed: a stray quote must not swallow the memory.
pub(in crate::table) const LONGEST: usize = 16 << 20;

/// As much is asked for even if a file says that it has less.
const LEAST: u64 = 1 << 16;

/// A block of whole rows.
#[derive(Default)]
pub(super) struct Block {
    pub(super) number: u32,
    /// Whether a quote occurs in it.
    pub(super) quoted: bool,
    // The first `len` bytes are the block; what is behind is kept, so that a buffer used
    // again need not be cleared again.
    buffer: Vec<u8>,
    len: usize,
}

impl Block {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    fn room(&mut self, more: usize) -> &mut [u8] {
        let end = self.len + more;
        if self.buffer.is_empty() {
            // Fresh memory is clear already.
            self.buffer = vec![0; end];
        } else if self.buffer.len() < end {
            self.buffer.resize(end, 0);
        }
        &mut self.buffer[self.len..end]
    }
}

/// Hands out the blocks of a file.
pub(super) struct Blocks<'a> {
    store: &'a TableBytes,
    delimiter: u8,
    block_bytes: usize,
    // How large the file is, as far as is known.
    bytes: u64,
    // Where the next byte to read stands.
    position: u64,
    // Read already, but not a whole row yet.
    tail: Vec<u8>,
    number: u32,
    finished: bool,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(
        store: &'a TableBytes,
        delimiter: u8,
        block_bytes: usize,
        position: u64,
    ) -> Self {
        let block_bytes = block_bytes.clamp(1, LONGEST / 2);
        Self {
            store,
            delimiter,
            block_bytes,
            bytes: store.len().unwrap_or(u64::MAX),
            position,
            tail: Vec::new(),
            number: 0,
            finished: false,
        }
    }

    /// Hands out nothing more.
    pub(super) fn stop(&mut self) {
        self.finished = true;
    }

    /// Puts the next block into `block`; false if there is none.
    ///
    /// A row longer than `LONGEST` is always the first of its block: until a row's end is
    /// found, a block only grows to twice its size, and never beyond that bound.
    pub(super) fn next(&mut self, block: &mut Block) -> Result<bool, Fault> {
        if self.finished {
            return Ok(false);
        }
        let number = self.number;
        block.number = number;
        block.len = 0;
        block.room(self.tail.len()).copy_from_slice(&self.tail);
        block.len = self.tail.len();
        self.tail.clear();

        // No more than there is: clearing a large buffer would cost more than a small file.
        let left =
            self.bytes.saturating_sub(self.position).max(LEAST).saturating_add(1);
        let mut want =
            self.block_bytes.min(usize::try_from(left).unwrap_or(usize::MAX));
        loop {
            let read = self.store.read_at(self.position, block.room(want));
            let read = read.map_err(|error| {
                let kind =
                    crate::error::ErrorKind::Io { action: "read", source: error };
                Fault::new(number, 0, |_| Error::new(kind))
            })?;
            block.len += read;
            self.position += read as u64;
            block.quoted = memchr(b'"', block.bytes()).is_some();
            self.finished = read < want;
            if self.finished && block.len <= LONGEST {
                break;
            }
            let ends = RowEnds::of(block.bytes(), self.delimiter, block.quoted);
            if block.len > LONGEST && ends.first > LONGEST {
                return Err(too_long(number));
            }
            if self.finished {
                break;
            }
            if ends.last > 0 {
                self.tail.extend_from_slice(&block.bytes()[ends.last..]);
                block.len = ends.last;
                break;
            }
            want = block.len;
        }
        if block.len == 0 {
            return Ok(false);
        }
        self.number += 1;
        Ok(true)
    }
}

/// Where rows end in a run of bytes that starts with a row.
pub(super) struct RowEnds {
    /// Behind the first row, even if that is cut off.
    pub(super) first: usize,
    /// Behind the last whole row.
    pub(super) last: usize,
    /// Whether the bytes end inside quotes.
    pub(super) open: bool,
}

impl RowEnds {
    pub(super) fn of(bytes: &[u8], delimiter: u8, quoted: bool) -> Self {
        if quoted {
            return Self::of_quoted(bytes, delimiter);
        }
        let last = memrchr(b'\n', bytes).map_or(0, |end| end + 1);
        let first = match last {
            0 => bytes.len(),
            _ => memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1),
        };
        Self { first, last, open: false }
    }

    fn of_quoted(bytes: &[u8], delimiter: u8) -> Self {
        Self::of_rows(bytes, delimiter, usize::MAX)
    }

    /// The same of at most so many rows, with quotes.
    pub(super) fn of_rows(bytes: &[u8], delimiter: u8, most: usize) -> Self {
        let mut ends = Self { first: bytes.len(), last: 0, open: false };
        let rows = Cells::of(bytes, delimiter).filter(|cell| cell.is_last).take(most);
        for row in rows {
            ends.open = row.is_open;
            // The last row may be cut off.
            if !row.is_open && bytes.get(row.stop) == Some(&b'\n') {
                ends.last = row.stop + 1;
                ends.first = ends.first.min(ends.last);
            }
        }
        ends
    }
}

fn too_long(block: u32) -> Fault {
    Fault::new(block, 0, |row| {
        Error::input(format!("row {row} is longer than {} MB", LONGEST >> 20))
            .with_hint("a quote may be opened there and never closed")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(text: &[u8], block_bytes: usize) -> Vec<Vec<u8>> {
        let store = TableBytes::Memory(text.to_vec());
        let mut blocks = Blocks::new(&store, b',', block_bytes, 0);
        let mut block = Block::default();
        let mut found = Vec::new();
        while blocks.next(&mut block).is_ok_and(|more| more) {
            found.push(block.bytes().to_vec());
        }
        found
    }

    #[test]
    fn blocks_end_where_rows_end_and_nothing_is_lost() {
        let text = b"a,\"b\nc\"\"\n\",d\n\"x\"\n\ny,5\" pipe\nlast";
        for block_bytes in 1..40 {
            let found = blocks(text, block_bytes);
            assert_eq!(found.concat(), text);
            for block in &found[..found.len() - 1] {
                let ends = RowEnds::of_quoted(block, b',');
                assert_eq!(ends.last, block.len(), "blocks of {block_bytes}");
                assert!(!ends.open);
            }
        }
    }

    #[test]
    fn a_row_beyond_all_bounds_is_refused() {
        let mut text = b"1\n2\n\"".to_vec();
        text.resize(LONGEST + 100, b'\n');
        let store = TableBytes::Memory(text);
        let mut blocks = Blocks::new(&store, b',', 1 << 20, 0);
        let mut block = Block::default();
        assert!(blocks.next(&mut block).is_ok());
        assert_eq!(block.bytes(), b"1\n2\n");
        assert!(blocks.next(&mut block).is_err());
    }
}
