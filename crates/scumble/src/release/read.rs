//! Reading a release.

use std::path::Path;

use crate::error::{Error, Result};
use crate::release::{DataFormat, Draft, FORMAT, MANIFEST_FILE, Manifest, Store};
use crate::table::{ReadOptions, Source};

/// A release, opened.
#[derive(Debug, Clone)]
pub struct Release {
    /// What it says about itself.
    pub manifest: Manifest,
    store: Store,
}

impl Release {
    /// Reads the manifest and rejects versions this library does not know.
    pub fn open(directory: &Path) -> Result<Self> {
        Self::of(Store::Directory(directory.to_path_buf()))
    }

    /// The same of files that may be in memory.
    pub fn of(store: Store) -> Result<Self> {
        let shown = store.name(MANIFEST_FILE);
        let text = store.read(MANIFEST_FILE).map_err(|error| {
            error.with_hint("a release is a directory with a `manifest.json`")
        })?;
        let text = String::from_utf8_lossy(&text);
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
                .in_file(shown)
                .with_hint("publish the table again with this version of scumble"));
            }
            None => {
                return Err(
                    Error::input("this is not a manifest of a release").in_file(shown)
                );
            }
        }
        let manifest: Manifest = serde_json::from_str(&text).map_err(damaged)?;
        manifest.check().map_err(|error| error.in_file(shown))?;
        Ok(Self { manifest, store })
    }

    /// Whether the files are those the manifest was written for.
    pub fn verify(&self) -> Result<()> {
        for (name, expected) in &self.manifest.checksums {
            self.check_name(name)?;
            let found = self.store.checksum(name)?;
            if found != *expected {
                if self.was_replaced() {
                    return Err(Error::input(
                        "the release was replaced while it was read",
                    )
                    .in_file(self.store.name(MANIFEST_FILE))
                    .with_hint("read it again"));
                }
                return Err(Error::input("the file is not the one that was published")
                    .in_file(self.store.name(name))
                    .with_hint(
                        "its checksum differs from the one in `manifest.json`",
                    ));
            }
        }
        Ok(())
    }

    /// The same release, which was moved as a whole.
    pub(crate) fn moved_to(self, store: Store) -> Self {
        Self { store, ..self }
    }

    /// Whether another release has taken its place.
    fn was_replaced(&self) -> bool {
        let now = Self::of(self.store.clone());
        now.is_ok_and(|now| now.manifest.checksums != self.manifest.checksums)
    }

    /// The published rows, as a table.
    pub fn rows(&self) -> Result<Source> {
        let delimiter = match self.manifest.data.format {
            DataFormat::Csv => Some(b','),
            DataFormat::Parquet => None,
        };
        self.table(&self.manifest.data.file, delimiter)
    }

    /// A file of the release, as a table.
    pub(super) fn table(&self, name: &str, delimiter: Option<u8>) -> Result<Source> {
        self.check_name(name)?;
        let guarded = self.manifest.data.spreadsheet_safe;
        let options = ReadOptions { delimiter, guarded, ..ReadOptions::default() };
        self.store.source(name, &options)
    }

    /// Where its files are.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Saves the release as a directory, which appears whole or not at all. An existing one
    /// stays unless `replace`.
    pub fn save(&self, directory: &Path, replace: bool) -> Result<Self> {
        let draft = Draft::new(directory, replace)?;
        for file in self.store.files()? {
            draft.store().write(&file, &self.store.read(&file)?)?;
        }
        Self::of(draft.publish()?)
    }

    /// A manifest must not lead elsewhere.
    fn check_name(&self, name: &str) -> Result<()> {
        if name.contains(['/', '\\']) || name == ".." {
            return Err(Error::input("the manifest names a file outside the release")
                .in_file(self.store.name(MANIFEST_FILE)));
        }
        Ok(())
    }
}
