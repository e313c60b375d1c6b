//! What users read: data to standard output, the rest to standard error.

use std::fmt::Display;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use scumble::error::{Error, Result};
use serde_json::Value;

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

/// Writes to standard output what a program reads.
pub(crate) fn print_json(value: &Value) -> Result<()> {
    print(&format!("{value:#}\n"))
}

/// Names of columns, one after the other.
pub(crate) fn listed(names: &[impl Display]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A line of a CSV file.
pub(crate) fn csv_line(cells: &[String]) -> String {
    cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\n"
}

/// Writes a file.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|error| cannot_write(path, error))
}

/// A file beside the one that is wanted, gone if nothing comes of it.
pub(crate) fn beside(path: &Path) -> Result<tempfile::NamedTempFile> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    tempfile::NamedTempFile::new_in(folder).map_err(|error| cannot_write(path, error))
}

/// That a file cannot be written.
pub(crate) fn cannot_write(path: &Path, error: io::Error) -> Error {
    Error::io("write", path.display().to_string(), error)
}

/// That a file is there and nobody asked to replace it.
pub(crate) fn exists_already(path: &Path) -> Error {
    Error::input("the file exists already and is kept")
        .in_file(path.display().to_string())
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
