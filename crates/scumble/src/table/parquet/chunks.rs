//! The bytes of a Parquet file as its decoder asks for them, held against what it was given
//! before.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use crate::table::store::TableBytes;

/// Enough for the description of a page, which stands before it.
const STEP: usize = 1 << 10;

/// The bytes of a file.
#[derive(Debug, Clone)]
pub(super) struct Chunks(pub(super) Arc<TableBytes>);

impl Chunks {
    /// Fills the buffer as far as the file goes. The same piece is always asked for in the
    /// same way, so that its place and length tell it.
    fn fill(&self, start: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read_at(start, buffer)?;
        self.0.hold((start, buffer.len()), &buffer[..read]);
        Ok(read)
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.0.len().unwrap_or(0)
    }
}

impl ChunkReader for Chunks {
    type T = Steps;

    fn get_read(&self, start: u64) -> Result<Steps> {
        Ok(Steps { chunks: self.clone(), next: start, step: Vec::new(), taken: 0 })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.len()) {
            return Err(ParquetError::EOF("beyond the end of the file".to_owned()));
        }
        let mut buffer = vec![0; length];
        let read = self.fill(start, &mut buffer)?;
        match read == length {
            true => Ok(buffer.into()),
            false => Err(ParquetError::EOF("beyond the end of the file".to_owned())),
        }
    }
}

/// The bytes from a place on, one step after the other.
#[derive(Debug)]
pub(super) struct Steps {
    chunks: Chunks,
    next: u64,
    step: Vec<u8>,
    taken: usize,
}

impl Read for Steps {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.step.len() {
            self.step.resize(STEP, 0);
            let read = self.chunks.fill(self.next, &mut self.step)?;
            self.step.truncate(read);
            self.next += read as u64;
            self.taken = 0;
        }
        let read = (&self.step[self.taken..]).read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}
