//! Ctrl-C: the first asks the work to end, which leaves nothing behind; the second does not
//! wait for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::output::message;

/// The exit code of a command that was ended by Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Whether Ctrl-C was pressed.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Folders of the command's own that nobody is to find.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Listens to Ctrl-C from now on. Where it is ignored, as in the background of a script, it
/// stays so.
pub(crate) fn listen() {
    // Without a listener Ctrl-C ends the command as it ends any other.
    let _ = ctrlc::try_set_handler(|| {
        if ASKED.swap(true, Ordering::Relaxed) {
            give_up();
        }
    });
}

/// Whether the work is no longer wanted.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Names a folder that must not be left behind, whatever happens.
pub(crate) fn forget_at_the_end(folder: &Path) {
    if let Ok(mut folders) = FOLDERS.lock() {
        folders.push(folder.to_path_buf());
    }
}

/// Ends the command at once.
#[expect(clippy::exit, reason = "somebody pressed Ctrl-C twice and does not wait")]
fn give_up() {
    if let Ok(folders) = FOLDERS.lock() {
        for folder in folders.iter() {
            let _ = fs::remove_dir_all(folder);
        }
    }
    message("cancelled at once: a private folder `.scumble-*` may be left behind\n");
    process::exit(INTERRUPTED);
}
