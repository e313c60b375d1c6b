//! The bytes of a table, in a file or in memory.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::seam::{Op, seam};
use crate::table::held::{Held, PieceId};

/// The bytes of a table.
#[derive(Debug)]
pub(super) enum TableBytes {
    /// A file that others can write to: what is read of it is held against what was read
    /// before.
    File(File, PathBuf, Held),
    /// A file without a name, which nobody else has.
    Spool(File),
    Memory(Vec<u8>),
}

impl TableBytes {
    /// A file that has a name.
    pub(super) fn of_file(file: File, path: &Path) -> io::Result<Self> {
        let held = Held::new(file.metadata()?.len());
        Ok(Self::File(file, path.to_path_buf(), held))
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        match self {
            Self::File(file, ..) | Self::Spool(file) => Ok(file.metadata()?.len()),
            Self::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// Fills `buffer` from `position` on; less than all of it only at the end.
    pub(super) fn read_at(
        &self,
        position: u64,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        if let Self::File(_, path, _) = self {
            seam(path, Op::Read)?;
        }
        match self {
            Self::File(file, ..) | Self::Spool(file) => {
                let mut filled = 0;
                while filled < buffer.len() {
                    let rest = &mut buffer[filled..];
                    match read_some(file, rest, position + filled as u64) {
                        Ok(0) => break,
                        Ok(read) => filled += read,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(filled)
            }
            Self::Memory(bytes) => {
                let start = usize::try_from(position).unwrap_or(usize::MAX);
                let rest = &bytes[bytes.len().min(start)..];
                let filled = rest.len().min(buffer.len());
                buffer[..filled].copy_from_slice(&rest[..filled]);
                Ok(filled)
            }
        }
    }

    /// What was read of the file, if others can write to it.
    pub(super) fn held(&self) -> Option<&Held> {
        match self {
            Self::File(_, _, held) => Some(held),
            Self::Spool(_) | Self::Memory(_) => None,
        }
    }

    /// Holds a piece that was read, known by `place`, against the same piece of earlier
    /// passes.
    pub(super) fn hold(&self, place: PieceId, bytes: &[u8]) {
        if let Some(held) = self.held() {
            held.see(place, bytes);
        }
    }

    /// Whether what was read of the file so far cannot have been one table.
    pub(super) fn has_changed(&self) -> bool {
        self.held().is_some_and(|held| {
            held.has_changed() || self.len().map_or(true, |bytes| bytes != held.bytes())
        })
    }
}

/// Reads at a position without moving another, so that all workers share one open file: one
/// that is replaced by a new file of its name stays the one that is read.
#[cfg(unix)]
fn read_some(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, position)
}

#[cfg(windows)]
fn read_some(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, position)
}

/// Copies what can be read only once into a file without a name, so that nothing is left
/// behind whatever happens.
pub(super) fn spooled(input: &mut dyn Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(input, &mut file)?;
    file.flush()?;
    Ok(file)
}
