//! A release directory appears whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::release::MANIFEST_FILE;

/// A release that is being written beside its final name. Dropped before it is published,
/// it disappears.
#[derive(Debug)]
pub struct Draft {
    scratch: TempDir,
    target: PathBuf,
    replace: bool,
}

impl Draft {
    /// Starts a release that will be called `target`. An existing one stays unless
    /// `replace`, and is replaced only at the end; anything else of that name stays always.
    pub fn new(target: &Path, replace: bool) -> Result<Self> {
        check_free(target, replace)?;
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        fs::create_dir_all(&parent)
            .map_err(|error| Error::io("create the folder", shown(&parent), error))?;
        let scratch = tempfile::Builder::new()
            .prefix(".scumble-")
            .tempdir_in(&parent)
            .map_err(|error| Error::io("write here", shown(&parent), error))?;
        Ok(Self { scratch, target: target.to_path_buf(), replace })
    }

    /// Where the files are written for now.
    pub fn path(&self) -> &Path {
        self.scratch.path()
    }

    /// Renames the finished release into place.
    pub fn publish(self) -> Result<()> {
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
    if !target.join(MANIFEST_FILE).is_file() {
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
        let target = home.path().join("release");
        let draft = Draft::new(&target, false).unwrap();
        fs::write(draft.path().join("data.csv"), "x\n").unwrap();
        drop(draft);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_old_release_is_kept_unless_it_may_be_replaced() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("release");
        for content in ["old", "new"] {
            let draft = Draft::new(&target, true).unwrap();
            fs::write(draft.path().join(MANIFEST_FILE), content).unwrap();
            draft.publish().unwrap();
        }
        assert_eq!(fs::read_to_string(target.join(MANIFEST_FILE)).unwrap(), "new");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
        let error = Draft::new(&target, false).unwrap_err();
        assert!(error.to_string().ends_with("a release exists already and is kept"));
    }

    #[test]
    fn a_folder_that_is_no_release_is_never_replaced() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("thesis.doc"), "years of work").unwrap();
        assert!(Draft::new(home.path(), true).is_err());
    }
}
