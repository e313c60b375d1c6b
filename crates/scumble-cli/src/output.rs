//! What users read: data to standard output, the rest to standard error.

use std::io::{self, IsTerminal, Write};

use scumble::error::{Error, Result};

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

/// Lines up columns of text: two spaces between them, the last one ragged.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let padding = width - cell.chars().count() + 2;
            line.push_str(cell);
            line.push_str(&" ".repeat(padding));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A whole number with commas.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 row", "2 rows".
pub(crate) fn counted(number: u64, one: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {one}{ending}", grouped(number))
}

/// A share as a percentage with as many digits as it takes to see it.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    // What is not certain must not look as if it were.
    if share < 1.0 && percent > 99.5 {
        return match percent {
            p if p < 99.9 => format!("{p:.1} %"),
            p if p < 99.999 => format!("{p:.3} %"),
            _ => "> 99.999 %".to_owned(),
        };
    }
    if percent == 0.0 || percent >= 10.0 || (percent - percent.round()).abs() < 1e-9 {
        format!("{percent:.0} %")
    } else if percent >= 1.0 {
        format!("{percent:.1} %")
    } else if percent >= 0.01 {
        format!("{percent:.2} %")
    } else if percent >= 0.001 {
        format!("{percent:.3} %")
    } else {
        "< 0.001 %".to_owned()
    }
}

/// A number with at most four significant decimals.
pub(crate) fn short(number: f64) -> String {
    if number.abs() >= 1000.0 {
        return grouped(number.round() as u64);
    }
    let text = format!("{number:.4}");
    let trimmed = text.trim_end_matches('0').trim_end_matches('.');
    if trimmed.is_empty() { "0".to_owned() } else { trimmed.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(grouped(1_193_504), "1,193,504");
        assert_eq!(grouped(957), "957");
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(percent(0.2), "20 %");
        assert_eq!(percent(0.99696), "99.7 %");
        assert_eq!(percent(0.9995), "99.950 %");
        assert_eq!(percent(0.999_999), "> 99.999 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(percent(0.0005), "0.05 %");
        assert_eq!(percent(0.000_048), "0.005 %");
        assert_eq!(percent(0.000_001), "< 0.001 %");
        assert_eq!(short(0.5), "0.5");
        assert_eq!(short(90_210.4), "90,210");
    }
}
