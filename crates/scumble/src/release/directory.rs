//! A release directory appears whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::release::apart::is_apart_file;
use crate::release::sink::Output;
use crate::release::{MANIFEST_FILE, Store};

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
        let scratch = private_folder(".scumble-", &parent)
            .map_err(|error| Error::io("write here", shown(&parent), error))?;
        let store = Store::Directory(scratch.path().to_path_buf());
        Ok(Self {
            store,
            place: Some(PendingDirectory { scratch, _around: around, target, replace }),
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
    /// Renames the finished release into place.
    fn rename(self) -> Result<()> {
        check_free(&self.target, self.replace)?;
        let failed =
            |error| Error::io("rename the release", shown(&self.target), error);
        for entry in fs::read_dir(self.scratch.path()).map_err(failed)? {
            let file = fs::File::open(entry.map_err(failed)?.path()).map_err(failed)?;
            file.sync_all().map_err(failed)?;
        }
        open_to_all(self.scratch.path()).map_err(failed)?;
        // Between the two renames there is no release: a crash leaves the old one or none.
        let old = if self.target.exists() {
            let beside = self.scratch.path().with_extension("old");
            fs::rename(&self.target, &beside).map_err(failed)?;
            Some(beside)
        } else {
            None
        };
        let path = self.scratch.keep();
        if let Err(error) = fs::rename(&path, &self.target) {
            if let Some(old) = old {
                // Best effort: the first error is the one to report.
                let _ = fs::rename(old, &self.target);
            }
            let _ = fs::remove_dir_all(path);
            return Err(Error::io("rename the release", shown(&self.target), error));
        }
        match old {
            Some(old) => fs::remove_dir_all(&old).map_err(|error| {
                Error::io("remove the old release", shown(&old), error)
            }),
            None => Ok(()),
        }
    }
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
    const FILES: [&str; 7] = [
        MANIFEST_FILE,
        "datapackage.json",
        "report.html",
        "data.csv",
        "data.parquet",
        "cells.csv",
        "sensitive.csv",
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

/// A folder within `parent` that is gone when it is dropped. What an interrupted run leaves
/// behind is for nobody else to read.
pub fn private_folder(prefix: &str, parent: &Path) -> std::io::Result<TempDir> {
    private(tempfile::Builder::new().prefix(prefix)).tempdir_in(parent)
}

#[cfg(unix)]
fn private<'a, 'b, 'c>(
    builder: &'c mut tempfile::Builder<'a, 'b>,
) -> &'c mut tempfile::Builder<'a, 'b> {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn private<'a, 'b, 'c>(
    builder: &'c mut tempfile::Builder<'a, 'b>,
) -> &'c mut tempfile::Builder<'a, 'b> {
    builder
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
mod tests {
    use super::*;

    #[test]
    fn a_draft_that_is_dropped_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("a").join("b").join("release");
        let draft = Draft::new(&target, false).unwrap();
        draft.store().write("data.csv", b"x\n").unwrap();
        drop(draft);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_old_release_is_kept_unless_it_may_be_replaced() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("release");
        for content in ["old", "new"] {
            // A path through the old release leads to it all the same.
            let through = target.join("..").join("release");
            let path = if target.exists() { &through } else { &target };
            let draft = Draft::new(path, true).unwrap();
            let manifest = format!("{{\"software\": \"scumble {content}\"}}");
            draft.store().write(MANIFEST_FILE, manifest.as_bytes()).unwrap();
            draft.publish().unwrap();
        }
        assert!(
            fs::read_to_string(target.join(MANIFEST_FILE)).unwrap().contains("new")
        );
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
        let error = Draft::new(&target, false).unwrap_err();
        assert!(error.to_string().ends_with("a release exists already and is kept"));
    }

    #[test]
    fn a_folder_that_is_no_release_is_never_replaced() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("thesis.doc"), "years of work").unwrap();
        assert!(Draft::new(home.path(), true).is_err());
        // Other programs have a file of this name, too.
        fs::write(home.path().join(MANIFEST_FILE), "{\"manifest_version\": 3}")
            .unwrap();
        assert!(Draft::new(home.path(), true).is_err());
        fs::write(home.path().join(MANIFEST_FILE), "{\"software\": \"scumble 1\"}")
            .unwrap();
        assert!(Draft::new(home.path(), true).is_err(), "the thesis is not ours");
        assert!(Draft::new(Path::new("/"), true).is_err());
    }
}
