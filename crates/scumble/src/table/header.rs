//! The names of the columns of a table.

use crate::error::{Error, Result};
use crate::table::arrow::ColumnForm;
use crate::table::guard::unguarded;

/// The columns of a table that has only texts.
pub(super) fn of_text(
    mut header: Vec<String>,
    guarded: bool,
) -> (Vec<String>, Vec<ColumnForm>) {
    if guarded {
        header.iter_mut().for_each(|name| *name = unguarded(name).to_owned());
    }
    let forms = vec![ColumnForm::Text; header.len()];
    (header, forms)
}

/// That every column has a name of its own.
pub(super) fn check_header(header: &[String]) -> Result<()> {
    if let Some(place) = header.iter().position(|name| name.trim().is_empty()) {
        return Err(Error::input(format!("column {} has no name", place + 1))
            .with_hint("the first line must name every column"));
    }
    let mut names: Vec<&String> = header.iter().collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            Err(Error::input(format!("two columns are called `{}`", pair[0])))
        }
        None => Ok(()),
    }
}
