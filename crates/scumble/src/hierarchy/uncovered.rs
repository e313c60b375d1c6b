//! What is said of values that a column cannot have.

use crate::error::Error;
use crate::hierarchy::{ColumnSpec, Rule, Uncovered};
use crate::table::{Code, Dictionary, Kind, Source};

/// Which rows have values that the column cannot have; never the values.
pub(super) fn uncovered_error(
    spec: &ColumnSpec,
    from: &[(&Dictionary, &Source)],
    mut uncovered: Uncovered,
) -> Error {
    let (Uncovered::NotOfKind(places)
    | Uncovered::NoLeaf(places)
    | Uncovered::Beyond(places)) = &mut uncovered;
    // The first file that has any; places count on from one to the next.
    let mut start = 0;
    let mut blamed = from.first().copied();
    for (dictionary, source) in from {
        let range = start..start + dictionary.texts.len();
        if places.iter().any(|place| range.contains(place)) {
            places.retain(|place| range.contains(place));
            places.iter_mut().for_each(|place| *place -= start);
            blamed = Some((dictionary, source));
            break;
        }
        start = range.end;
    }
    let Some((dictionary, source)) = blamed else {
        return Error::input(format!("column `{}` cannot be read", spec.name));
    };
    let (places, what, hint) = match &uncovered {
        Uncovered::NotOfKind(places) => {
            let (one, many, form) = match spec.reading.kind {
                Kind::Date => (
                    "a date",
                    "dates",
                    "write dates as YYYY-MM-DD, or give their `format`",
                ),
                _ => (
                    "a number",
                    "numbers",
                    "numbers have at most 15 digits and a decimal point",
                ),
            };
            let missing = "texts that mean \"not known\" belong in `[input] missing`";
            let what = if places.len() == 1 { one } else { many };
            (places, format!("not {what}"), format!("{form}; {missing}"))
        }
        Uncovered::NoLeaf(places) => {
            let template = match &spec.rule {
                Rule::Tree(tree) => tree.template(),
                _ => None,
            };
            let other = "say `other = true` beside it, and they become \"other\"";
            let (what, hint) = match template {
                Some(template) => {
                    (format!("not {}", template.wanted()), other.to_owned())
                }
                None => (
                    "not in its hierarchy".to_owned(),
                    format!(
                        "add a line for each value to the hierarchy file, or {other}"
                    ),
                ),
            };
            (places, what, hint)
        }
        Uncovered::Beyond(places) => {
            let hint = "widen the `domain` of the column, by what is possible and not by what \
                        the table has";
            (places, "beyond its `domain`".to_owned(), hint.to_owned())
        }
    };
    let own = places.iter().filter(|place| **place < dictionary.texts.len());
    let own = own.map(|place| Code::from_index(*place));
    let rows: u64 = own.clone().map(|code| dictionary.rows[code]).sum();
    let first = own.clone().map(|code| dictionary.first_rows[code]).min();
    let values = own.count();
    let value = if values == 1 { "value is" } else { "values are" };
    let rows = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    let first = first.map_or(String::new(), |row| format!(", first in row {row}"));
    Error::input(format!(
        "column `{}`: {values} {value} {what} ({rows}{first})",
        spec.name
    ))
    .in_file(source.name())
    .with_hint(hint)
}
