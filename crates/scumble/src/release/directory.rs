//! A release directory appears whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::release::apart::is_apart_file;
use crate::release::lock::Lock;
use crate::release::scratch::private_folder;
use crate::release::sink::Output;
use crate::release::{MANIFEST_FILE, Store};
use crate::seam::{Op, seam};

/// A release that is being written beside its final name. Dropped before it is published,
/// it disappears.
#[derive(Debug)]
pub struct Draft {
    store: Store,
    /// Where the directory will be; nothing if the release stays in memory.
    place: Option<PendingDirectory>,
}

/// A directory that will be renamed.
#[derive(Debug)]
struct PendingDirectory {
    // Goes before the folders around it.
    scratch: TempDir,
    // As long as it is held, nobody else publishes here.
    _lock: Lock,
    _around: Around,
    target: PathBuf,
    replace: bool,
}

impl Draft {
    /// Starts a release that will be called `target`. An existing one stays unless
    /// `replace`, and is replaced only at the end; anything else of that name stays always.
    pub fn new(target: &Path, replace: bool) -> Result<Self> {
        let Some(name) = target.file_name() else {
            return Err(Error::input("a release needs a folder of its own")
                .in_file(shown(target))
                .with_hint("give `directory` a name, as in \"release\""));
        };
        check_free(target, replace)?;
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let around = Around::of(&parent);
        // A path that leads through the old release would break when that is renamed.
        let parent =
            fs::create_dir_all(&parent).and_then(|()| parent.canonicalize()).map_err(
                |error| Error::io("create the folder", shown(&parent), error),
            )?;
        let target = parent.join(name);
        let cannot = |error| Error::io("write here", shown(&parent), error);
        // The names of all that belongs to this target: of fixed length, so that none begins
        // with that of another.
        let name = blake3::hash(name.as_encoded_bytes()).to_hex();
        let prefix = format!(".scumble-{}", &name[..16]);
        let lock =
            Lock::take(&parent.join(format!("{prefix}.lock"))).map_err(cannot)?;
        let Some(lock) = lock else {
            return Err(Error::input("another run is publishing here")
                .in_file(shown(&target))
                .with_hint("wait until it has ended, or choose another `directory`"));
        };
        if lock.is_held() {
            sweep(&parent, &prefix, &target).map_err(cannot)?;
            check_free(&target, replace)?;
        }
        let scratch = private_folder(&format!("{prefix}-"), &parent).map_err(cannot)?;
        let store = Store::Directory(scratch.path().to_path_buf());
        Ok(Self {
            store,
            place: Some(PendingDirectory {
                scratch,
                _lock: lock,
                _around: around,
                target,
                replace,
            }),
        })
    }

    /// Starts a release that stays in memory.
    pub fn in_memory() -> Self {
        Self { store: Store::memory(), place: None }
    }

    /// Where the files are written for now.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The folder they are in, if it is one.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.place.as_ref().map(|place| place.scratch.path())
    }

    /// Begins a file.
    pub(super) fn create(&self, file: &str) -> Result<Output> {
        self.store.create(file)
    }

    /// Completes the release: a directory is renamed into place.
    pub fn publish(self) -> Result<Store> {
        match self.place {
            None => Ok(self.store),
            Some(place) => {
                let target = place.target.clone();
                place.rename()?;
                Ok(Store::Directory(target))
            }
        }
    }
}

impl PendingDirectory {
    /// Renames the finished release into place. Until that is done nothing has changed, and
    /// when it is done everything has.
    fn rename(self) -> Result<()> {
        check_free(&self.target, self.replace)?;
        let failed =
            |error| Error::io("rename the release", shown(&self.target), error);
        for entry in fs::read_dir(self.scratch.path()).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            seam(&path, Op::Sync).map_err(failed)?;
            fs::File::open(path).and_then(|file| file.sync_all()).map_err(failed)?;
        }
        open_to_all(self.scratch.path()).map_err(failed)?;
        let new = self.scratch.path();
        match self.target.exists() {
            // An empty folder is no release, and may be replaced by one at once.
            true => replace(new, &self.target).map_err(failed)?,
            false => rename(new, &self.target).map_err(failed)?,
        }
        // The release stands whole: whatever is left of the old one goes with the scratch
        // folder, or with the next run.
        if let Some(parent) = self.target.parent() {
            // Best effort: not every system can sync a folder.
            let _ = fs::File::open(parent).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    seam(to, Op::Rename)?;
    fs::rename(from, to)
}

/// Puts `new` in the place of `old`, which is then where `new` was.
fn replace(new: &Path, old: &Path) -> io::Result<()> {
    match exchange(new, old) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            step_aside(new, old)
        }
        done => done,
    }
}

/// Exchanges two folders at once, where the system can: readers see one or the other.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    seam(other, Op::Rename)?;
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        // Old kernels and some file systems do not know how.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            Err(io::ErrorKind::Unsupported.into())
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The ending of a release that steps aside for a new one.
const OLD: &str = "old";

/// The same in two steps. Between them there is no release under its name: whoever is killed
/// there leaves it to the next run to put the old one back.
fn step_aside(new: &Path, old: &Path) -> io::Result<()> {
    let aside = new.with_extension(OLD);
    rename(old, &aside)?;
    if let Err(error) = rename(new, old) {
        // Best effort: the first error is the one to report.
        let _ = fs::rename(&aside, old);
        return Err(error);
    }
    // Best effort: the next run removes it, too.
    let _ = fs::remove_dir_all(&aside);
    Ok(())
}

/// Removes what killed runs left of releases called `target`, whose names begin with
/// `prefix`; the lock tells that nobody else is at work on one. An old release that stepped
/// aside and has no successor is put back.
fn sweep(parent: &Path, prefix: &str, target: &Path) -> io::Result<()> {
    let prefix = format!("{prefix}-");
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        let is_ours =
            entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix));
        if !is_ours || !entry.file_type()?.is_dir() {
            continue;
        }
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == OLD) && !target.exists() {
            fs::rename(path, target)?;
        } else {
            fs::remove_dir_all(path)?;
        }
    }
    Ok(())
}

/// The folders that are made for a release to stand in, the innermost first. They go again if
/// nothing comes to stand in them.
#[derive(Debug)]
struct Around(Vec<PathBuf>);

impl Around {
    /// Those on the way to `parent` that do not exist yet.
    fn of(parent: &Path) -> Self {
        let folders = parent.ancestors().filter(|path| !path.as_os_str().is_empty());
        let missing = folders.take_while(|folder| !folder.exists());
        Self(missing.map(Path::to_path_buf).collect())
    }
}

impl Drop for Around {
    fn drop(&mut self) {
        // Only empty folders can be removed this way.
        self.0.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

/// Whether a folder holds a release and nothing else.
fn is_release(folder: &Path) -> bool {
    const FILES: [&str; 8] = [
        MANIFEST_FILE,
        "datapackage.json",
        "report.html",
        "data.csv",
        "data.parquet",
        "cells.csv",
        "sensitive.csv",
        "shares.csv",
    ];
    let ours = fs::read_to_string(folder.join(MANIFEST_FILE))
        .ok()
        .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
        .is_some_and(|manifest| {
            let software = manifest.get("software").and_then(serde_json::Value::as_str);
            software.is_some_and(|name| name.starts_with("scumble "))
        });
    let Ok(mut entries) = fs::read_dir(folder) else { return false };
    ours && entries.all(|entry| {
        entry.is_ok_and(|entry| {
            let known = entry
                .file_name()
                .to_str()
                .is_some_and(|name| FILES.contains(&name) || is_apart_file(name));
            known && entry.file_type().is_ok_and(|kind| kind.is_file())
        })
    })
}

/// Temporary folders are for their owner only; a release is for its readers.
#[cfg(unix)]
fn open_to_all(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn open_to_all(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

fn check_free(target: &Path, replace: bool) -> Result<()> {
    let Ok(known) = fs::symlink_metadata(target) else { return Ok(()) };
    if !known.is_dir() {
        return Err(Error::input("exists and is not a release, so it is kept")
            .in_file(shown(target))
            .with_hint("choose another `directory` in `[release]`"));
    }
    let empty = fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_none());
    if empty {
        return Ok(());
    }
    if !is_release(target) {
        return Err(Error::input("exists and is not a release, so it is kept")
            .in_file(shown(target))
            .with_hint("choose another `directory` in `[release]`"));
    }
    if !replace {
        return Err(Error::input("a release exists already and is kept")
            .in_file(shown(target))
            .with_hint("use `--force` to replace it, or choose another directory"));
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
