//! What users read: data to standard output, the rest to standard error.

use std::borrow::Cow;
use std::fmt::Display;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use scumble::error::{Error, Result};
use serde_json::Value;

pub(crate) use scumble::text::{aligned, counted, grouped, percent, quoted, short};

/// Writes to standard output. A reader who has seen enough closes the pipe: not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    print_data(&harmless(text))
}

/// Writes to standard output what a program reads, as it is; on a terminal somebody looks.
pub(crate) fn print_table(text: &str) -> Result<()> {
    if io::stdout().is_terminal() { print(text) } else { print_data(text) }
}

fn print_data(text: &str) -> Result<()> {
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

/// A text that does nothing to a terminal. Names and values come from files that somebody
/// sends: what would move the cursor, change colours or turn the direction of writing is shown
/// as JSON writes it, so that JSON stays what it is.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let is_harmful = |letter: char| {
        letter.is_control() && !matches!(letter, '\n' | '\t')
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let shown = |letter: char| match is_harmful(letter) {
        true => format!("\\u{:04x}", u32::from(letter)),
        false => letter.to_string(),
    };
    Cow::Owned(text.chars().map(shown).collect())
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

/// Writes a file for its owner only, whole or not at all.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |error| cannot_write(path, error);
    let mut file = beside(path)?;
    file.write_all(bytes).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
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
    let told = error.to_string();
    let mut text = format!("{} {}\n", painted("error:", "1;31"), harmless(&told));
    for hint in error.hints() {
        let hint = harmless(hint);
        text.push_str(&format!("\n{} {hint}\n", painted("hint:", "1;36")));
    }
    message(&text);
}

/// Prints something a user should know although all went well.
pub(crate) fn note(text: &str) {
    message(&format!("{} {}\n", painted("note:", "1;33"), harmless(text)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(harmless("a\tb é\n"), "a\tb é\n");
        assert_eq!(
            harmless("\u{1b}[31mred\r\u{9b}2J\u{202e}x\u{7}"),
            "\\u001b[31mred\\u000d\\u009b2J\\u202ex\\u0007"
        );
        let json = format!("{}", serde_json::json!({ "a\u{9b}": "\u{2066}" }));
        let read: Value = serde_json::from_str(&harmless(&json)).unwrap();
        assert_eq!(read, serde_json::json!({ "a\u{9b}": "\u{2066}" }));
    }
}
