//! Long work on a thread of its own, while Python's main thread watches it.
//!
//! The worker never touches Python: it counts what it read, and looks at a flag. The thread
//! that called waits without holding the interpreter, looks every now and then whether
//! somebody pressed Ctrl-C, and tells how far the work is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use scumble::error::Result;
use scumble::watch::{Stage, Watch};

use crate::errors::{bug, raised};

/// How often Python is asked whether the work is still wanted.
const LOOK: Duration = Duration::from_millis(50);

/// Threads that publish need as much room as the main one of the command.
const STACK: usize = 16 << 20;

/// Does `work`; `progress` is called with the stage and, where that is known, the share of
/// it that is done.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Watch) -> Result<T> + Send,
) -> PyResult<T> {
    let seen = Seen::default();
    py.detach(|| {
        thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            let seen = &seen;
            let task = move || {
                // Nobody listens any more only if this thread is gone, too.
                let _ = send.send(work(seen));
            };
            let worker = thread::Builder::new().stack_size(STACK);
            let worker = worker.spawn_scoped(scope, task).map_err(|error| {
                raised(&scumble::Error::io("start", "a thread", error))
            })?;
            let mut stopped = None;
            loop {
                match receive.recv_timeout(LOOK) {
                    Ok(done) => {
                        return match stopped {
                            Some(stopped) => Err(stopped),
                            None => done.map_err(|error| raised(&error)),
                        };
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        // What it panicked with stays with it.
                        drop(worker.join());
                        return Err(bug());
                    }
                    Err(RecvTimeoutError::Timeout) if stopped.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) =
                            Python::attach(|py| seen.tell(py, &progress))
                        {
                            seen.cancelled.store(true, Ordering::SeqCst);
                            stopped = Some(error);
                        }
                    }
                }
            }
        })
    })
}

/// How far the work is.
#[derive(Default)]
struct Seen {
    cancelled: AtomicBool,
    stage: Mutex<Option<Stage>>,
    whole: AtomicU64,
    read: AtomicU64,
}

impl Seen {
    /// An error if the work is no longer wanted.
    fn tell(&self, py: Python<'_>, progress: &Option<Py<PyAny>>) -> PyResult<()> {
        py.check_signals()?;
        let stage = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(progress), Some(stage)) = (progress, stage) else { return Ok(()) };
        let (whole, read) =
            (self.whole.load(Ordering::Relaxed), self.read.load(Ordering::Relaxed));
        let share = (whole > 0).then(|| (read as f64 / whole as f64).min(1.0));
        progress.call1(py, (stage_name(stage), share)).map(drop)
    }
}

impl Watch for Seen {
    fn stage(&self, stage: Stage, bytes: u64) {
        self.whole.store(bytes, Ordering::Relaxed);
        self.read.store(0, Ordering::Relaxed);
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some(stage);
    }

    fn advance(&self, bytes: u64) {
        self.read.fetch_add(bytes, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Read => "reading",
        Stage::Search => "searching",
        Stage::Write => "writing",
        Stage::Audit => "auditing",
        Stage::Ask => "asking",
        Stage::Draw => "drawing",
        Stage::Mine => "mining",
        Stage::Learn => "learning",
    }
}
