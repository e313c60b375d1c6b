//! Reading a release.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::release::{DataFormat, FORMAT, MANIFEST_FILE, Manifest};
use crate::table::{ReadOptions, Source};

/// A release directory, opened.
#[derive(Debug)]
pub struct Release {
    /// What it says about itself.
    pub manifest: Manifest,
    directory: PathBuf,
}

impl Release {
    /// Reads the manifest and rejects versions this library does not know.
    pub fn open(directory: &Path) -> Result<Self> {
        let path = directory.join(MANIFEST_FILE);
        let shown = path.display().to_string();
        let text = fs::read_to_string(&path).map_err(|error| {
            Error::io("read", shown.clone(), error)
                .with_hint("a release is a directory with a `manifest.json`")
        })?;
        let damaged = |error: serde_json::Error| {
            Error::input("this is not a manifest of a release").at(
                shown.clone(),
                error.line(),
                error.column(),
            )
        };
        let value: serde_json::Value = serde_json::from_str(&text).map_err(damaged)?;
        match value.get("format").and_then(serde_json::Value::as_u64) {
            Some(version) if version == u64::from(FORMAT) => {}
            Some(version) => {
                return Err(Error::input(format!(
                    "the release has format {version}, but this program reads format {FORMAT}"
                ))
                .in_file(shown));
            }
            None => {
                return Err(
                    Error::input("this is not a manifest of a release").in_file(shown)
                );
            }
        }
        let manifest: Manifest = serde_json::from_str(&text).map_err(damaged)?;
        Ok(Self { manifest, directory: directory.to_path_buf() })
    }

    /// Whether the files are those the manifest was written for.
    pub fn verify(&self) -> Result<()> {
        for (name, expected) in &self.manifest.checksums {
            let found = checksum(&self.file(name)?)?;
            if found != *expected {
                return Err(Error::input("the file is not the one that was published")
                    .in_file(self.directory.join(name).display().to_string())
                    .with_hint(
                        "its checksum differs from the one in `manifest.json`",
                    ));
            }
        }
        Ok(())
    }

    /// The published rows, as a table.
    pub fn rows(&self) -> Result<Source> {
        let path = self.file(&self.manifest.data.file)?;
        let delimiter = match self.manifest.data.format {
            DataFormat::Csv => Some(b','),
            DataFormat::Parquet => None,
        };
        Source::open(&path, &ReadOptions { delimiter, ..ReadOptions::default() })
    }

    /// A file of the release; a manifest must not lead elsewhere.
    pub(super) fn file(&self, name: &str) -> Result<PathBuf> {
        if name.contains(['/', '\\']) || name == ".." {
            return Err(Error::input("the manifest names a file outside the release")
                .in_file(self.directory.join(MANIFEST_FILE).display().to_string()));
        }
        Ok(self.directory.join(name))
    }
}

/// BLAKE3 of a file, in hexadecimal.
pub fn checksum(path: &Path) -> Result<String> {
    let failed = |error| Error::io("read", path.display().to_string(), error);
    let mut file = fs::File::open(path).map_err(failed)?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 4 << 20];
    loop {
        let n = file.read(&mut buffer).map_err(failed)?;
        if n == 0 {
            return Ok(hasher.finalize().to_hex().to_string());
        }
        hasher.update_rayon(&buffer[..n]);
    }
}
