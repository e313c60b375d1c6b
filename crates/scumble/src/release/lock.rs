//! One run at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// A file that only one run at a time holds, whichever process it is in. The system lets go of
/// it when a run ends, however that ends: so what belongs to a lock that nobody holds is dead.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
    is_held: bool,
}

impl Lock {
    /// Takes the lock, unless somebody has it.
    pub(super) fn take(path: &Path) -> io::Result<Option<Self>> {
        loop {
            let mut options = OpenOptions::new();
            let file = options.write(true).create(true).truncate(false).open(path)?;
            let is_held = match file.try_lock() {
                Ok(()) => true,
                Err(TryLockError::WouldBlock) => return Ok(None),
                // Some network drives have no locks: then nobody knows who is at work.
                Err(TryLockError::Error(_)) => false,
            };
            // Whoever held it last has removed the file: a lock that nobody else can find.
            if is_held && !is_at(&file, path)? {
                continue;
            }
            return Ok(Some(Self { path: path.to_path_buf(), _file: file, is_held }));
        }
    }

    /// Whether the system keeps others away.
    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }

    /// Lets go of it as a process does that is killed: the file stays.
    #[cfg(test)]
    pub(super) fn abandon(mut self) {
        self.path = PathBuf::new();
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is held, so that nobody takes a file that is about to go.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the file of this name is the one that is open.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let known = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (known.dev(), known.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere a file that is open cannot be removed.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_nothing_is_left() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        let lock = Lock::take(&path).unwrap().unwrap();
        assert!(lock.is_held() && Lock::take(&path).unwrap().is_none());
        drop(lock);
        assert!(!path.exists());
        Lock::take(&path).unwrap().unwrap().abandon();
        assert!(path.exists());
        assert!(Lock::take(&path).unwrap().is_some());
        assert!(!path.exists());
    }
}
