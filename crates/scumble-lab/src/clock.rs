//! How long something takes.
#![expect(clippy::disallowed_types, reason = "some experiments are about time")]

use std::time::Instant;

/// What `work` returns, and how many seconds it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed().as_secs_f64())
}
