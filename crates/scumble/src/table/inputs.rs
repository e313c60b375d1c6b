//! What the names in a recipe stand for: files, or what a program has in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::{fmt, fs};

use arrow_array::RecordBatch;

use crate::error::{Error, Result};
use crate::table::source::Opened;
use crate::table::{Password, ReadOptions, Source, is_server, public_name};

/// Where a recipe's table, hierarchies and other files are found by the names it has for
/// them: among those given, else relative to a folder.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// The folder that all other names are relative to; without one there are no others.
    pub folder: Option<PathBuf>,
    /// What was given, by its name in the recipe.
    pub given: BTreeMap<String, Input>,
    /// The tables that somebody has open.
    opened: Arc<Mutex<Tables>>,
}

/// Tables by the names and the options they were asked for with.
type Tables = BTreeMap<(String, ReadOptions), Weak<Opened>>;

/// A file, or what would be in it.
#[derive(Clone)]
pub enum Input {
    /// A file, whatever the recipe calls it.
    File(PathBuf),
    /// What would be in a file; for a table, its name tells the format.
    Bytes(Vec<u8>),
    /// A table as Arrow batches.
    Batches(Vec<RecordBatch>),
}

/// Without what is in it, which may be private.
impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Self::Batches(batches) => write!(f, "Batches({})", batches.len()),
        }
    }
}

impl Inputs {
    /// Files relative to a folder.
    pub fn in_folder(folder: &Path) -> Self {
        Self { folder: Some(folder.to_path_buf()), ..Self::default() }
    }

    /// What is given, and no files beside it.
    pub fn in_memory(given: impl IntoIterator<Item = (String, Input)>) -> Self {
        Self { given: given.into_iter().collect(), ..Self::default() }
    }

    /// The table that a recipe calls `typed`; `-` is standard input.
    ///
    /// A table that is open already is the same again, so that all who read it within one run
    /// see one file, and a change of it.
    pub fn source(&self, typed: &str, options: &ReadOptions) -> Result<Source> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let known = (typed.to_owned(), options.clone());
        if let Some(source) = opened.get(&known).and_then(Source::upgrade) {
            return Ok(source);
        }
        let source = self.open(typed, options)?;
        opened.insert(known, source.downgrade());
        Ok(source)
    }

    fn open(&self, typed: &str, options: &ReadOptions) -> Result<Source> {
        match self.given.get(typed) {
            Some(Input::Bytes(bytes)) => {
                Source::from_bytes(typed, bytes.clone(), options)
            }
            Some(Input::Batches(batches)) => {
                Source::from_batches(typed, batches.clone())
            }
            _ => Source::open(&self.path(typed)?, options),
        }
    }

    /// The name in messages, and the text, of what a recipe calls `typed`.
    pub fn text(&self, typed: &str) -> Result<(String, String)> {
        let (name, bytes) = self.bytes(typed, "read the file")?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok((name, text)),
            Err(_) => Err(Error::input("the file is not valid UTF-8")
                .in_file(name)
                .with_hint("save the file as UTF-8")),
        }
    }

    /// The name in messages, and the bytes, of what a recipe calls `typed`. `action` is what
    /// cannot be done if there is no such file, as in "cannot *read the key*".
    pub fn bytes(
        &self,
        typed: &str,
        action: &'static str,
    ) -> Result<(String, Vec<u8>)> {
        match self.given.get(typed) {
            Some(Input::Bytes(bytes)) => Ok((typed.to_owned(), bytes.clone())),
            Some(Input::Batches(_)) => Err(Error::input(
                "this input was given as batches, but only a table can be",
            )
            .in_file(typed)
            .with_hint("give the bytes of the file")),
            _ => {
                let path = self.path(typed)?;
                let name = path.display().to_string();
                match fs::read(&path) {
                    Ok(bytes) => Ok((name, bytes)),
                    Err(error) => Err(Error::io(action, name, error)),
                }
            }
        }
    }

    /// The password that is the first line of the file that a recipe calls `typed`.
    pub fn password(&self, typed: &str) -> Result<Password> {
        let (name, bytes) = self.bytes(typed, "read the password")?;
        let text = String::from_utf8(bytes).unwrap_or_default();
        match text.lines().next() {
            Some(line) if !line.is_empty() => Ok(Password(line.to_owned())),
            _ => Err(Error::input("the file has no password in its first line")
                .in_file(name)),
        }
    }

    /// Whether `typed` stands for a file that not only its owner can read.
    #[cfg(unix)]
    pub(crate) fn is_readable_by_others(&self, typed: &str) -> Result<bool> {
        use std::os::unix::fs::PermissionsExt;
        if !matches!(self.given.get(typed), None | Some(Input::File(_))) {
            return Ok(false);
        }
        let path = self.path(typed)?;
        let known = fs::metadata(&path).map_err(|error| {
            Error::io("read the key", path.display().to_string(), error)
        })?;
        Ok(known.is_file() && known.permissions().mode() & 0o077 != 0)
    }

    /// Elsewhere permissions are not so simple.
    #[cfg(not(unix))]
    pub(crate) fn is_readable_by_others(&self, _typed: &str) -> Result<bool> {
        Ok(false)
    }

    /// The file that `typed` stands for.
    fn path(&self, typed: &str) -> Result<PathBuf> {
        match (self.given.get(typed), &self.folder) {
            (Some(Input::File(path)), _) => Ok(path.clone()),
            (_, Some(_)) if typed == "-" || is_server(typed) => {
                Ok(PathBuf::from(typed))
            }
            (_, Some(folder)) => Ok(match typed.strip_prefix("sqlite:") {
                Some(file) => {
                    PathBuf::from(format!("sqlite:{}", folder.join(file).display()))
                }
                None => folder.join(typed),
            }),
            (_, None) => {
                let names: Vec<String> =
                    self.given.keys().map(|name| format!("`{name}`")).collect();
                let hint = match &*names {
                    [] => "nothing was given".to_owned(),
                    names => format!("given are {}", names.join(", ")),
                };
                let name = public_name(typed);
                let error = Error::input("this input was not given").in_file(name);
                Err(error.with_hint(hint))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given() -> Inputs {
        Inputs::in_memory([
            ("t.csv".to_owned(), Input::Bytes(b"x,y\n1,2\n".to_vec())),
            ("tree.csv".to_owned(), Input::Bytes(b"a;*\n\xff;*\n".to_vec())),
            ("batches".to_owned(), Input::Batches(Vec::new())),
        ])
    }

    fn told<T: fmt::Debug>(result: Result<T>) -> (String, Vec<String>) {
        let error = result.unwrap_err();
        (error.to_string(), error.hints().to_vec())
    }

    #[test]
    fn what_is_given_is_found_by_its_name() {
        let source = given().source("t.csv", &ReadOptions::default()).unwrap();
        assert_eq!((source.name(), source.header().len()), ("t.csv", 2));
        let (name, bytes) = given().bytes("t.csv", "read the key").unwrap();
        assert_eq!((&*name, bytes.len()), ("t.csv", 8));
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("here"), "text").unwrap();
        let mut inputs = Inputs::in_folder(folder.path());
        inputs.given.insert("k".to_owned(), Input::File(folder.path().join("here")));
        assert_eq!(inputs.text("here").unwrap().1, "text");
        assert_eq!(inputs.text("k").unwrap(), inputs.text("here").unwrap());
        let absolute = folder.path().join("here").display().to_string();
        assert_eq!(
            Inputs::in_folder(Path::new("x")).text(&absolute).unwrap().1,
            "text"
        );
    }

    #[test]
    fn without_a_folder_only_what_is_given_is_there() {
        let hint = "given are `batches`, `t.csv`, `tree.csv`";
        for typed in ["people.csv", "-", "/etc/hostname"] {
            let expected =
                (format!("{typed}: this input was not given"), vec![hint.to_owned()]);
            assert_eq!(told(given().source(typed, &ReadOptions::default())), expected);
            assert_eq!(told(given().text(typed)), expected);
        }
        let expected =
            ("k: this input was not given".into(), vec!["nothing was given".into()]);
        assert_eq!(told(Inputs::default().bytes("k", "read the key")), expected);
    }

    #[test]
    fn what_cannot_be_read_is_named_and_never_shown() {
        assert_eq!(
            told(given().text("tree.csv")),
            (
                "tree.csv: the file is not valid UTF-8".into(),
                vec!["save the file as UTF-8".into()]
            )
        );
        assert_eq!(
            told(given().text("batches")),
            (
                "batches: this input was given as batches, but only a table can be"
                    .into(),
                vec!["give the bytes of the file".into()]
            )
        );
        assert_eq!(
            told(Inputs::in_folder(Path::new("no")).bytes("such", "read the key")).0,
            "no/such: cannot read the key: no such file or directory"
        );
        assert_eq!(
            format!("{:?}", given().given),
            "{\"batches\": Batches(0), \"t.csv\": Bytes(8), \"tree.csv\": Bytes(8)}"
        );
    }
}
