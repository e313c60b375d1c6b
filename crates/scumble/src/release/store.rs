//! Where the files of a release are: in a directory, or in memory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::release::sink::Output;
use crate::seam::{Op, seam};
use crate::table::{ReadOptions, Source};

/// The files of a release.
#[derive(Debug, Clone)]
pub enum Store {
    /// In a directory.
    Directory(PathBuf),
    /// In memory, by name.
    Memory(Arc<Mutex<BTreeMap<String, Vec<u8>>>>),
}

impl Store {
    /// Memory without any file.
    pub fn memory() -> Self {
        Self::Memory(Arc::default())
    }

    /// What messages call a file.
    pub(super) fn name(&self, file: &str) -> String {
        match self {
            Self::Directory(directory) => directory.join(file).display().to_string(),
            Self::Memory(_) => file.to_owned(),
        }
    }

    /// Begins a file.
    pub(crate) fn create(&self, file: &str) -> Result<Output> {
        let name = self.name(file);
        let out: Box<dyn Write + Send> = match self {
            Self::Directory(directory) => {
                let path = directory.join(file);
                let file = seam(&path, Op::Create).and_then(|()| File::create(&path));
                let file = file.map_err(|error| Error::io("write", &*name, error))?;
                Box::new(DiskFile { file, path })
            }
            Self::Memory(files) => {
                let mut held = files.lock().unwrap_or_else(PoisonError::into_inner);
                held.insert(file.to_owned(), Vec::new());
                Box::new(MemoryFile { files: files.clone(), name: file.to_owned() })
            }
        };
        Ok(Output { out, name })
    }

    /// Writes a whole file.
    pub fn write(&self, file: &str, bytes: &[u8]) -> Result<()> {
        let Output { mut out, name } = self.create(file)?;
        out.write_all(bytes)
            .and_then(|()| out.flush())
            .map_err(|error| Error::io("write", name, error))
    }

    /// The bytes of a file.
    pub fn read(&self, file: &str) -> Result<Vec<u8>> {
        let failed = |error| Error::io("read", self.name(file), error);
        match self {
            Self::Directory(directory) => {
                let path = directory.join(file);
                seam(&path, Op::Read).and_then(|()| fs::read(path)).map_err(failed)
            }
            Self::Memory(files) => {
                let held = files.lock().unwrap_or_else(PoisonError::into_inner);
                let bytes = held.get(file).cloned();
                bytes.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
            }
        }
    }

    /// A file as a table.
    pub(super) fn source(&self, file: &str, options: &ReadOptions) -> Result<Source> {
        match self {
            Self::Directory(directory) => Source::open(&directory.join(file), options),
            Self::Memory(_) => Source::from_bytes(file, self.read(file)?, options),
        }
    }

    /// BLAKE3 of a file, in hexadecimal.
    pub fn checksum(&self, file: &str) -> Result<String> {
        match self {
            Self::Directory(directory) => checksum(&directory.join(file)),
            Self::Memory(_) => {
                let mut hasher = blake3::Hasher::new();
                hasher.update_rayon(&self.read(file)?);
                Ok(hasher.finalize().to_hex().to_string())
            }
        }
    }

    /// The names of all files.
    pub fn files(&self) -> Result<Vec<String>> {
        match self {
            Self::Directory(directory) => {
                let failed =
                    |error| Error::io("read", directory.display().to_string(), error);
                let mut names = Vec::new();
                for entry in fs::read_dir(directory).map_err(failed)? {
                    let name = entry.map_err(failed)?.file_name();
                    names.push(name.to_string_lossy().into_owned());
                }
                names.sort();
                Ok(names)
            }
            Self::Memory(files) => {
                let held = files.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(held.keys().cloned().collect())
            }
        }
    }
}

/// A file on a disk that is being written.
struct DiskFile {
    file: File,
    path: PathBuf,
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        seam(&self.path, Op::Write)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file in memory that is being written.
struct MemoryFile {
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    name: String,
}

impl Write for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        held.entry(self.name.clone()).or_default().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// BLAKE3 of a file, in hexadecimal.
pub fn checksum(path: &Path) -> Result<String> {
    let failed = |error| Error::io("read", path.display().to_string(), error);
    seam(path, Op::Read).map_err(failed)?;
    let mut file = File::open(path).map_err(failed)?;
    let mut hasher = blake3::Hasher::new();
    // No larger than the file: clearing it would cost more than hashing a small one.
    let size = file.metadata().map_err(failed)?.len();
    let mut buffer = vec![0; size.clamp(1 << 16, 4 << 20) as usize];
    loop {
        let n = file.read(&mut buffer).map_err(failed)?;
        if n == 0 {
            return Ok(hasher.finalize().to_hex().to_string());
        }
        hasher.update_rayon(&buffer[..n]);
    }
}
