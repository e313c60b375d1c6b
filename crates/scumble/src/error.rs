//! What can go wrong, as a value: a kind, a place, and hints.
//!
//! An error never carries a value of a private table: it says which row and column
//! instead.

use std::fmt;
use std::io;

/// The result of everything in this library that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure with its place and with advice.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    place: Option<Place>,
    hints: Vec<String>,
}

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file could not be read, written or created.
    Io {
        /// What was being done, as in "cannot *read* the file".
        action: &'static str,
        /// What the operating system said.
        source: io::Error,
    },
    /// A table, a hierarchy file, a plan or a release is malformed.
    Input(String),
    /// A recipe or a command line says something that cannot be meant.
    Recipe(String),
    /// A number is outside its range.
    OutOfRange {
        /// The parameter.
        name: String,
        /// What was given.
        found: String,
        /// What would be accepted.
        wanted: String,
    },
    /// The promise cannot be met by any release: an answer, not an accident.
    Unsatisfiable {
        /// The promise, as asked.
        promise: String,
        /// Why.
        reason: String,
    },
    /// A release does not keep what it promises.
    Broken(String),
    /// The work was cancelled; nothing is left of it.
    Cancelled,
}

/// Where in a file something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it.
    pub file: String,
    /// Line and column in a text file, from 1.
    pub position: Option<(usize, usize)>,
}

impl Error {
    /// An error without place or hint yet.
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { kind, place: None, hints: Vec::new() }))
    }

    /// Malformed input.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input(message.into()))
    }

    /// A recipe that cannot be meant.
    pub fn recipe(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Recipe(message.into()))
    }

    /// A parameter outside its range.
    pub fn out_of_range(
        name: impl Into<String>,
        found: impl fmt::Display,
        wanted: impl Into<String>,
    ) -> Self {
        Self::new(ErrorKind::OutOfRange {
            name: name.into(),
            found: found.to_string(),
            wanted: wanted.into(),
        })
    }

    /// A promise that no release can keep.
    pub fn unsatisfiable(
        promise: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        let (promise, reason) = (promise.into(), reason.into());
        Self::new(ErrorKind::Unsatisfiable { promise, reason })
    }

    /// A failure of the operating system on `file`.
    pub fn io(
        action: &'static str,
        file: impl Into<String>,
        source: io::Error,
    ) -> Self {
        Self::new(ErrorKind::Io { action, source }).in_file(file)
    }

    /// Adds the file, unless a place is known already.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        if self.0.place.is_none() && self.has_a_cause() {
            self.0.place = Some(Place { file: file.into(), position: None });
        }
        self
    }

    /// Sets file, line and column.
    #[must_use]
    pub fn at(mut self, file: impl Into<String>, line: usize, column: usize) -> Self {
        if self.has_a_cause() {
            self.0.place =
                Some(Place { file: file.into(), position: Some((line, column)) });
        }
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        if self.has_a_cause() {
            self.0.hints.push(hint.into());
        }
        self
    }

    /// Nothing is wrong in any file if work was cancelled, and there is nothing to advise.
    fn has_a_cause(&self) -> bool {
        !matches!(self.0.kind, ErrorKind::Cancelled)
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Where, if it has a place.
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// What to do about it.
    pub fn hints(&self) -> &[String] {
        &self.0.hints
    }

    /// The same with other hints.
    #[must_use]
    pub(crate) fn map_hints(mut self, new: impl Fn(String) -> String) -> Self {
        self.0.hints = std::mem::take(&mut self.0.hints).into_iter().map(new).collect();
        self
    }

    /// The exit code of the command: 1 if a promise fails or cannot be met, 130 if the work
    /// was cancelled (by Ctrl-C; the command has another for SIGTERM), else 2.
    pub fn exit_code(&self) -> u8 {
        match self.0.kind {
            ErrorKind::Unsatisfiable { .. } | ErrorKind::Broken(_) => 1,
            ErrorKind::Cancelled => 130,
            _ => 2,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.0.place {
            write!(f, "{}", place.file)?;
            if let Some((line, column)) = place.position {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": ")?;
        }
        match &self.0.kind {
            ErrorKind::Io { action, source } => {
                write!(f, "cannot {action}: {}", plain(source))
            }
            ErrorKind::Input(message)
            | ErrorKind::Recipe(message)
            | ErrorKind::Broken(message) => write!(f, "{message}"),
            ErrorKind::OutOfRange { name, found, wanted } => {
                write!(f, "`{name}` is {found}, but must be {wanted}")
            }
            ErrorKind::Unsatisfiable { promise, reason } => {
                write!(f, "{promise} cannot be met: {reason}")
            }
            ErrorKind::Cancelled => write!(f, "cancelled; nothing was written"),
        }
    }
}

/// The operating system's words without Rust's number behind them.
fn plain(source: &io::Error) -> String {
    let text = source.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_place_found_and_wanted() {
        let error = Error::out_of_range("k", 1, "at least 2").at("recipe.toml", 7, 12);
        assert_eq!(
            error.to_string(),
            "recipe.toml:7:12: `k` is 1, but must be at least 2"
        );
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn a_place_once_known_is_kept() {
        let error = Error::input("no rows").in_file("a.csv").in_file("b.csv");
        assert_eq!(error.to_string(), "a.csv: no rows");
    }

    #[test]
    fn cancelling_has_no_place() {
        let error = Error::new(ErrorKind::Cancelled).in_file("a.csv");
        let error = error.at("recipe.toml", 7, 12).with_hint("try again");
        assert_eq!(error.to_string(), "cancelled; nothing was written");
        assert!(error.hints().is_empty());
        assert_eq!(error.exit_code(), 130);
    }

    #[test]
    fn what_cannot_be_met_exits_with_1() {
        let error = Error::unsatisfiable("5-anonymity", "the table has 3 rows");
        assert_eq!(error.exit_code(), 1);
        assert_eq!(
            error.to_string(),
            "5-anonymity cannot be met: the table has 3 rows"
        );
    }
}
