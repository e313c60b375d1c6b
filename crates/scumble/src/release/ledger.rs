//! The ledger a steward keeps: which releases are out.
//!
//! # Guarantee
//! A release in it is the one that was recorded, byte for byte, or reading the ledger fails.
//! The file is replaced whole, for its owner only, and one run at a time holds it.
//!
//! # Limits
//! It names releases and holds none: their directories must stay. What was published without
//! it, or under a name that was published again, is not known to it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::release::lock::Lock;
use crate::release::{MANIFEST_FILE, Manifest, Release, Store};

/// What the file says it is.
const LEDGER: &str = "scumble ledger";

/// The version of the format this library writes and reads.
const VERSION: u32 = 1;

/// The releases that are out, held by one run.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    entries: Vec<LedgerEntry>,
    _lock: Lock,
}

/// A release in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerEntry {
    /// Its directory; relative to that of the ledger if it is below.
    pub directory: String,
    /// BLAKE3 of its manifest, which has those of all other files.
    pub manifest: String,
    /// Rows published.
    pub rows: u64,
    /// The published columns.
    pub columns: Vec<String>,
    /// What it promises.
    pub promises: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LedgerFile {
    kind: String,
    version: u32,
    releases: Vec<LedgerEntry>,
}

impl Ledger {
    /// Reads a ledger and holds it; one that is not there yet is empty.
    pub fn open(path: &Path) -> Result<Self> {
        let shown = path.display().to_string();
        // A link names the file it leads to, for everybody who comes by another name.
        let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".lock");
        let held = Lock::take(&path.with_file_name(name));
        let lock = held
            .map_err(|error| Error::io("hold the ledger", shown.clone(), error))?
            .ok_or_else(|| {
                Error::input("another run holds the ledger")
                    .in_file(shown.clone())
                    .with_hint("wait until it has ended")
            })?;
        let entries = match fs::read(path) {
            Ok(bytes) => read(&bytes).map_err(|error| error.in_file(shown))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Error::io("read", shown, error)),
        };
        Ok(Self { path: path.to_path_buf(), entries, _lock: lock })
    }

    /// What is recorded.
    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }

    /// The recorded releases, each as it was recorded.
    pub fn releases(&self) -> Result<Vec<Release>> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let shown = self.path.display().to_string();
        let each = self.entries.iter().map(|entry| {
            let directory = folder.join(&entry.directory);
            let lost = |what: &str| {
                let what = format!("the release `{}` {what}", entry.directory);
                Error::input(what).in_file(shown.clone()).with_hint(
                    "the ledger must find releases as they were: put it back, or take its \
                     entry out if nobody has it",
                )
            };
            let store = Store::Directory(directory);
            let found = store.checksum(MANIFEST_FILE).map_err(|_| lost("is gone"))?;
            if found != entry.manifest {
                return Err(lost("is not the one that was recorded"));
            }
            let release = Release::of(store)?;
            release.verify().map_err(|_| lost("was changed"))?;
            Ok(release)
        });
        each.collect()
    }

    /// Prepares the entry of a release that is about to appear in `directory`: what is left
    /// to do when it has is one renaming.
    pub fn prepare(&self, directory: &Path, release: &Release) -> Result<PendingEntry> {
        let entry = self.entry(directory, release)?;
        let kept = self.entries.iter().filter(|e| e.directory != entry.directory);
        let releases = kept.chain([&entry]).cloned().collect();
        let file = LedgerFile { kind: LEDGER.to_owned(), version: VERSION, releases };
        let shown = self.path.display().to_string();
        let failed = |error| Error::io("write", shown.clone(), error);
        let text = serde_json::to_string_pretty(&file)
            .map_err(|error| failed(error.into()))?;
        let folder = match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        // Only its owner can read a temporary file, and so what it becomes.
        let mut written = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        written.write_all(text.as_bytes()).map_err(failed)?;
        written.write_all(b"\n").map_err(failed)?;
        written.as_file().sync_all().map_err(failed)?;
        Ok(PendingEntry { written, path: self.path.clone() })
    }

    fn entry(&self, directory: &Path, release: &Release) -> Result<LedgerEntry> {
        let absolute = |path: &Path| {
            std::path::absolute(path)
                .map_err(|error| Error::io("find", path.display().to_string(), error))
        };
        let folder = absolute(self.path.parent().unwrap_or(Path::new("")))
            .or_else(|_| absolute(Path::new(".")))?;
        let whole = absolute(directory)?;
        let named = whole.strip_prefix(&folder).unwrap_or(&whole);
        let directory = named.to_str().ok_or_else(|| {
            Error::input("a ledger names directories as text, and this name is none")
                .in_file(directory.display().to_string())
        })?;
        let Manifest { rows, columns, promises, .. } = &release.manifest;
        Ok(LedgerEntry {
            directory: directory.to_owned(),
            manifest: release.store().checksum(MANIFEST_FILE)?,
            rows: *rows,
            columns: columns.iter().map(|column| column.name.clone()).collect(),
            promises: promises.iter().map(|promise| promise.name.clone()).collect(),
        })
    }
}

/// An entry that is written and not yet in the ledger.
#[derive(Debug)]
pub struct PendingEntry {
    written: tempfile::NamedTempFile,
    path: PathBuf,
}

impl PendingEntry {
    /// Puts it into the ledger, now that its release has appeared.
    pub fn record(self) -> Result<()> {
        let shown = self.path.display().to_string();
        self.written.persist(&self.path).map(drop).map_err(|error| {
            Error::io("record the release, which has appeared", shown, error.error)
        })
    }
}

/// The entries of a file.
fn read(bytes: &[u8]) -> Result<Vec<LedgerEntry>> {
    let damaged = || {
        Error::input("this is not a ledger, or it was damaged").with_hint(
            "`--ledger` names a file that `publish` writes; it begins one if there is none",
        )
    };
    let text = std::str::from_utf8(bytes).map_err(|_| damaged())?;
    let value: serde_json::Value = serde_json::from_str(text).map_err(|_| damaged())?;
    if value.get("kind").and_then(serde_json::Value::as_str) != Some(LEDGER) {
        return Err(damaged());
    }
    match value.get("version").and_then(serde_json::Value::as_u64) {
        Some(version) if version == u64::from(VERSION) => {}
        Some(version) => {
            return Err(Error::input(format!(
                "the ledger has version {version}, but this program reads version {VERSION}"
            ))
            .with_hint("use the version of scumble that wrote it, or a newer one"));
        }
        None => return Err(damaged()),
    }
    let file: LedgerFile = serde_json::from_value(value).map_err(|_| damaged())?;
    Ok(file.releases)
}
