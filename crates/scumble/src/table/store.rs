//! The bytes of a table, in a file or in memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

/// The bytes of a table.
#[derive(Debug)]
pub(super) enum TableBytes {
    /// Behind a lock, because reading moves the file's position.
    File(Mutex<File>),
    Memory(Vec<u8>),
}

impl TableBytes {
    pub(super) fn len(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => {
                let file = file.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(file.metadata()?.len())
            }
            Self::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// Fills `buffer` from `position` on; less than all of it only at the end.
    pub(super) fn read_at(
        &self,
        position: u64,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        match self {
            Self::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(position))?;
                let mut filled = 0;
                while filled < buffer.len() {
                    match file.read(&mut buffer[filled..]) {
                        Ok(0) => break,
                        Ok(read) => filled += read,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(filled)
            }
            Self::Memory(bytes) => {
                let rest = &bytes[bytes.len().min(position as usize)..];
                let filled = rest.len().min(buffer.len());
                buffer[..filled].copy_from_slice(&rest[..filled]);
                Ok(filled)
            }
        }
    }
}

/// Copies what can be read only once into a file without a name, so that nothing is left
/// behind whatever happens.
pub(super) fn spooled(input: &mut dyn Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(input, &mut file)?;
    file.flush()?;
    Ok(file)
}
