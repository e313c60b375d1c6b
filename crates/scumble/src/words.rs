//! The nearest known word to one that is not known.

use crate::error::Error;

/// The nearest of `known` to `word`, if it is near enough to be a slip of the finger: a
/// third of its letters may be wrong.
pub(crate) fn nearest<'a>(
    word: &str,
    known: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let word = word.to_lowercase();
    let distance =
        |name: &str| strsim::damerau_levenshtein(&word, &name.to_lowercase());
    let (distance, name) = known.map(|name| (distance(name), name)).min()?;
    (distance * 3 <= name.chars().count().max(3)).then_some(name)
}

/// That a table has no column of this name, with the nearest that it has.
pub(crate) fn no_column(header: &[String], name: &str) -> Error {
    let error = Error::recipe(format!("no column is called `{name}`"));
    let names = || header.iter().map(String::as_str);
    match nearest(name, names()) {
        Some(near) => error.with_hint(format!("the table has `{near}`")),
        // Names are not listed: without a header the first line is somebody's row.
        None if header.len() == 1 => error.with_hint(
            "the table has a single column: is `delimiter` in `[input]` the right one?",
        ),
        None => error.with_hint("the first line of the table must name its columns"),
    }
}
