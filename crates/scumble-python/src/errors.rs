//! Errors of the library as exceptions of the package.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use scumble::error::{Error, ErrorKind};

/// The exception for an error.
pub(crate) fn raised(error: &Error) -> PyErr {
    let class = match error.kind() {
        ErrorKind::Io { .. } => "FileError",
        ErrorKind::Input(_) => "InputError",
        ErrorKind::Recipe(_) | ErrorKind::OutOfRange { .. } => "RecipeError",
        ErrorKind::Unsatisfiable { .. } => "CannotBeMet",
        ErrorKind::Broken(_) => "PromiseBroken",
        ErrorKind::Cancelled => return PyKeyboardInterrupt::new_err(()),
        _ => "ScumbleError",
    };
    let place = error.place().map(|place| match place.position {
        Some((line, column)) => format!("{}:{line}:{column}", place.file),
        None => place.file.clone(),
    });
    exception(class, &error.to_string(), place, error.hints().join("\n"))
}

/// A bug of ours, without what a panic says: it may hold values of the table.
pub(crate) fn bug() -> PyErr {
    exception(
        "ScumbleError",
        "scumble met a bug and stopped; nothing was published",
        None,
        "please report what you called, without your data".to_owned(),
    )
}

/// Something wrong with what came from Python.
pub(crate) fn input_error(message: &str, hint: &str) -> PyErr {
    exception("InputError", message, None, hint.to_owned())
}

fn exception(class: &str, message: &str, place: Option<String>, hint: String) -> PyErr {
    let hint = (!hint.is_empty()).then_some(hint);
    Python::attach(|py| {
        let made = py
            .import("scumble._errors")
            .and_then(|module| module.getattr(class))
            .and_then(|class| class.call1((message, place, hint)));
        made.map_or_else(|error| error, PyErr::from_value)
    })
}
