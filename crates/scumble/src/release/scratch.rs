//! Folders for the time being, for nobody else to read.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::release::lock::Lock;

/// A folder that is gone when it is dropped; one whose process was killed goes when somebody
/// makes another of the same kind.
#[derive(Debug)]
pub struct Scratch {
    // Goes before the lock.
    folder: TempDir,
    lock: Lock,
}

impl Scratch {
    /// A folder within `parent`, whose name begins with `prefix`.
    pub fn new(prefix: &str, parent: &Path) -> io::Result<Self> {
        loop {
            let folder = private_folder(prefix, parent)?;
            let lock = Lock::take(&lock_of(folder.path()))?;
            // Between the two, somebody who sweeps may have taken it for a dead one.
            if let Some(lock) = lock
                && folder.path().exists()
            {
                let scratch = Self { folder, lock };
                if scratch.lock.is_held() {
                    scratch.sweep(prefix, parent);
                }
                return Ok(scratch);
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Removes the folders of killed runs, as far as possible: they are not what is asked for.
    fn sweep(&self, prefix: &str, parent: &Path) {
        let Ok(entries) = fs::read_dir(parent) else { return };
        let names = entries.flatten().filter_map(|e| e.file_name().into_string().ok());
        let names = names.filter(|name| name.starts_with(prefix));
        let folders: BTreeSet<PathBuf> =
            names.map(|name| parent.join(name.trim_end_matches(LOCK))).collect();
        for folder in folders {
            if folder == self.path() || !self.is_of_same_owner(&folder) {
                continue;
            }
            if let Ok(Some(lock)) = Lock::take(&lock_of(&folder))
                && lock.is_held()
            {
                let _ = fs::remove_dir_all(&folder);
            }
        }
    }

    /// Whether a folder, or what is left of it, is of the same user as this one.
    #[cfg(unix)]
    fn is_of_same_owner(&self, folder: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        let owner = |path: &Path| fs::symlink_metadata(path).map(|known| known.uid());
        let found = owner(folder).or_else(|_| owner(&lock_of(folder)));
        found.is_ok_and(|found| owner(self.path()).is_ok_and(|own| own == found))
    }

    #[cfg(not(unix))]
    fn is_of_same_owner(&self, _folder: &Path) -> bool {
        true
    }
}

/// The ending of the files that say whether anybody is at work.
const LOCK: &str = ".lock";

fn lock_of(folder: &Path) -> PathBuf {
    let mut path = folder.as_os_str().to_owned();
    path.push(LOCK);
    path.into()
}

/// A folder within `parent` that is gone when it is dropped, and that only its owner can read.
pub(super) fn private_folder(prefix: &str, parent: &Path) -> io::Result<TempDir> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_folders_go_and_living_ones_stay() {
        let home = tempfile::tempdir().unwrap();
        let count = || fs::read_dir(home.path()).unwrap().count();
        let living = Scratch::new(".a-", home.path()).unwrap();
        let Scratch { folder, lock } = Scratch::new(".a-", home.path()).unwrap();
        fs::write(folder.path().join("rows"), "private").unwrap();
        let dead = folder.keep();
        lock.abandon();
        fs::create_dir(home.path().join(".b-1")).unwrap();
        assert_eq!(count(), 5);
        let next = Scratch::new(".a-", home.path()).unwrap();
        assert!(!dead.exists() && living.path().exists());
        assert_eq!(count(), 5);
        drop((living, next));
        assert_eq!(count(), 1);
    }
}
