//! Where the library touches files, so that tests can have any of it fail.

use std::io;
use std::path::Path;

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// Some of it is read.
    Read,
    /// It is begun.
    Create,
    /// Some of it is written.
    Write,
    /// It is brought to the disk.
    Sync,
    /// Something takes this name.
    Rename,
}

/// Called before anything is done to a file. Outside the tests of this library it always
/// agrees.
#[cfg(not(test))]
#[inline]
pub(crate) fn seam(_path: &Path, _op: Op) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(crate) use testing::{Faults, seam};

#[cfg(test)]
mod testing {
    use std::path::PathBuf;
    use std::sync::{Mutex, PoisonError};

    use super::*;

    /// What is to fail, for each folder that a test has to itself.
    static PLANS: Mutex<Vec<(PathBuf, State)>> = Mutex::new(Vec::new());

    #[derive(Debug, Clone, Default)]
    struct State {
        fails: Option<usize>,
        done: Vec<Op>,
    }

    /// Below a folder, one operation fails once. Dropped, none does.
    #[derive(Debug)]
    pub(crate) struct Faults(PathBuf);

    impl Faults {
        /// The operation of this number fails, counted from 0; without one, none does.
        pub(crate) fn below(folder: &Path, fails: Option<usize>) -> Self {
            let folder = folder.canonicalize().unwrap();
            let state = State { fails, done: Vec::new() };
            plans().push((folder.clone(), state));
            Self(folder)
        }

        /// What was done so far.
        pub(crate) fn done(&self) -> Vec<Op> {
            let plans = plans();
            let known = plans.iter().find(|(folder, _)| *folder == self.0);
            known.map(|(_, state)| state.done.clone()).unwrap_or_default()
        }
    }

    impl Drop for Faults {
        fn drop(&mut self) {
            plans().retain(|(folder, _)| *folder != self.0);
        }
    }

    fn plans() -> std::sync::MutexGuard<'static, Vec<(PathBuf, State)>> {
        PLANS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Agrees, unless a test has this very operation fail.
    pub(crate) fn seam(path: &Path, op: Op) -> io::Result<()> {
        let mut plans = plans();
        let known = plans.iter_mut().find(|(folder, _)| path.starts_with(folder));
        let Some((_, state)) = known else { return Ok(()) };
        let number = state.done.len();
        state.done.push(op);
        match state.fails == Some(number) {
            true => Err(io::Error::other("the disk is on fire")),
            false => Ok(()),
        }
    }
}
