//! What users read: data to standard output, the rest to standard error.

use std::io::{self, IsTerminal, Write};

use scumble::error::{Error, Result};
pub(crate) use scumble::text::{aligned, counted, grouped, percent, quoted, short};

/// Writes to standard output. A reader who has seen enough closes the pipe: not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io("write", "standard output", error))
        }
        _ => Ok(()),
    }
}

/// Prints an error and its hints.
pub(crate) fn error(error: &Error) {
    let mut text = format!("{} {error}\n", painted("error:", "1;31"));
    for hint in error.hints() {
        text.push_str(&format!("\n{} {hint}\n", painted("hint:", "1;36")));
    }
    message(&text);
}

/// Prints something a user should know although all went well.
pub(crate) fn note(text: &str) {
    message(&format!("{} {text}\n", painted("note:", "1;33")));
}

/// Prints to standard error as it is.
pub(crate) fn message(text: &str) {
    // There is nobody left to tell if standard error is closed.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Whether standard error is a terminal that wants colours.
fn in_colour() -> bool {
    io::stderr().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn painted(text: &str, code: &str) -> String {
    if in_colour() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}
