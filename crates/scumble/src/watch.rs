//! Progress, and cancelling: the one thing everything long is given.

use std::fmt;
use std::ops::Deref;

use crate::error::{Error, ErrorKind, Result};

/// Follows long work, and may end it.
///
/// Whoever does the work calls `check` often enough that nobody waits for long
/// after cancelling (some ten milliseconds of work, never a row of a hot loop); what was begun
/// is then left without a trace.
pub trait Watch: Sync {
    /// A stage begins; `bytes` is how much there is to read, 0 if that is not known.
    fn stage(&self, _stage: Stage, _bytes: u64) {}

    /// So many more bytes were read.
    fn advance(&self, _bytes: u64) {}

    /// A search has found something that costs `loss`, and nothing can cost less than `bound`.
    fn found(&self, _loss: f64, _bound: f64) {}

    /// Whether the work is no longer wanted. Once it is not, it never is again: so a loop
    /// that cannot fail may stop half-way, if whoever called it asks `check`
    /// before looking at what came of it.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl<'w> dyn Watch + 'w {
    /// A task that this watch follows.
    pub fn over<'a, T>(&'a self, task: &'a T) -> Watched<'a, T>
    where
        'w: 'a,
    {
        Watched { task, watch: self }
    }

    /// An error if the work is no longer wanted.
    pub fn check(&self) -> Result<()> {
        match self.is_cancelled() {
            true => Err(Error::new(ErrorKind::Cancelled)),
            false => Ok(()),
        }
    }
}

impl fmt::Debug for dyn Watch + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// A task, and who follows the work on it. A task alone is one that nobody follows.
#[derive(Debug)]
pub struct Watched<'a, T> {
    /// What is to be done.
    pub task: &'a T,
    /// Who follows it.
    pub watch: &'a dyn Watch,
}

impl<T> Clone for Watched<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Watched<'_, T> {}

impl<T> Deref for Watched<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.task
    }
}

impl<'a, T> From<&'a T> for Watched<'a, T> {
    fn from(task: &'a T) -> Self {
        Self { task, watch: &Unwatched }
    }
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading and counting the table.
    Read,
    /// Looking for the best release.
    Search,
    /// Writing the files.
    Write,
    /// Rechecking the files and attacking them.
    Audit,
    /// Asking questions.
    Ask,
    /// Drawing tables.
    Draw,
    /// Mining rules.
    Mine,
    /// Learning classes.
    Learn,
}

/// Cancels as another watch does, and tells it nothing: for work that is no stage of its own.
#[derive(Debug, Clone, Copy)]
pub struct Quiet<'a>(pub &'a dyn Watch);

impl Watch for Quiet<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Nobody watches, and nobody cancels.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Watch for Unwatched {}
