//! Ctrl-C and SIGTERM: the first asks the work to end, which leaves nothing behind; the second
//! does not wait for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::output::message;

/// The exit code of a command that was ended by Ctrl-C: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;

/// That of one that was ended by SIGTERM, as `kill`, `timeout` and schedulers send it.
#[cfg(unix)]
const TERMINATED: u8 = 143;

/// The exit code that follows from what was asked first; 0 while the work is wanted.
static ASKED: AtomicU8 = AtomicU8::new(0);

/// Folders of the command's own that nobody is to find.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Listens to Ctrl-C and SIGTERM from now on. Where Ctrl-C is ignored, as in the background
/// of a script, it stays so. To be called before there are other threads.
pub(crate) fn listen() {
    #[cfg(unix)]
    listen_to_sigterm();
    // Without a listener Ctrl-C ends the command as it ends any other.
    let _ = ctrlc::try_set_handler(|| ask(INTERRUPTED));
}

/// The signal is blocked in all threads that begin later, and one waits for it.
#[cfg(unix)]
fn listen_to_sigterm() {
    use nix::sys::signal::{SigSet, Signal};

    let signals = SigSet::from(Signal::SIGTERM);
    if signals.thread_block().is_ok() {
        let wait = move || {
            while signals.wait().is_ok() {
                ask(TERMINATED);
            }
        };
        if std::thread::Builder::new().spawn(wait).is_err() {
            // Without a thread that waits, the signal ends the command as it ends any other.
            let _ = signals.thread_unblock();
        }
    }
}

/// Asks the work to end; who asks again does not wait.
fn ask(code: u8) {
    let asked = ASKED.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    if let Err(first) = asked {
        give_up(first);
    }
}

/// Whether the work is no longer wanted.
pub(crate) fn asked() -> bool {
    exit_code() != 0
}

/// The exit code of a command that was cancelled.
pub(crate) fn exit_code() -> u8 {
    ASKED.load(Ordering::Relaxed)
}

/// Names a folder that must not be left behind, whatever happens.
pub(crate) fn forget_at_the_end(folder: &Path) {
    if let Ok(mut folders) = FOLDERS.lock() {
        folders.push(folder.to_path_buf());
    }
}

/// Ends the command at once.
#[expect(clippy::exit, reason = "somebody asked twice and does not wait")]
fn give_up(code: u8) {
    if let Ok(folders) = FOLDERS.lock() {
        for folder in folders.iter() {
            let _ = fs::remove_dir_all(folder);
        }
    }
    message("cancelled at once: a private folder `.scumble-*` may be left behind\n");
    process::exit(i32::from(code));
}
