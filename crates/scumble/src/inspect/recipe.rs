//! The proposed recipe as text.

use std::fmt::Write;

use crate::inspect::role::{is_known, is_name};
use crate::inspect::{Coarsening, ColumnFindings, Options};
use crate::table::{Kind, Role};

/// Writes a recipe that names every column.
pub(super) fn recipe(
    options: &Options,
    missing: &[&str],
    rows: u64,
    columns: &[ColumnFindings],
) -> String {
    let mut text = String::from(
        "# Proposed by `scumble inspect`. Read it, change it, then: scumble publish RECIPE\n\n\
         [input]\n",
    );
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    let table = quoted(&options.table);
    line(format!("table = {table:<30} # relative to the folder of this recipe"));
    if let Some(delimiter) = options.delimiter {
        line(format!("delimiter = {}", quoted(&char::from(delimiter).to_string())));
    }
    for (name, text) in &options.more {
        line(format!("{name} = {}", quoted(text)));
    }
    if let Some(column) = person(rows, columns) {
        let typed = quoted(&column.name);
        line(format!(
            "person = {typed:<29} # {} people in {rows} rows: promises count people",
            column.distinct
        ));
    }
    let missing: Vec<String> = missing.iter().map(|marker| quoted(marker)).collect();
    let missing = format!("[{}]", missing.join(", "));
    line(format!("missing = {missing:<28} # texts that mean \"not known\""));
    line(ROLES.to_owned());
    let names: Vec<String> = columns.iter().map(|column| key(&column.name)).collect();
    let width =
        names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(24);
    for (name, column) in names.iter().zip(columns) {
        let value = value(column);
        match note(column) {
            None => line(format!("{name:<width$} = {value}")),
            // A long line keeps its note above.
            Some(note) if width + value.len() > 60 => {
                line(format!("# {name}: {note}\n{name:<width$} = {value}"));
            }
            Some(note) => line(format!("{name:<width$} = {value:<24} # {note}")),
        }
    }
    line(PROMISES.to_owned());
    let sensitive = || columns.iter().filter(|column| column.role == Role::Sensitive);
    let diverse = "l-diversity = { l = 2, kind = \"distinct\" }";
    if sensitive().next().is_some() {
        line(
            "# In every group sensitive columns have at least so many values."
                .to_owned(),
        );
        line(diverse.to_owned());
    } else {
        line(
            "# With a sensitive column, also ask for different values in every group:"
                .to_owned(),
        );
        line(format!("# {diverse}"));
    }
    line(METHOD.to_owned());
    text
}

/// The identifier that repeats, if one does: of several the one with most values. Names of
/// people repeat without being the same person.
fn person(rows: u64, columns: &[ColumnFindings]) -> Option<&ColumnFindings> {
    let repeats = |column: &&ColumnFindings| {
        let named = (rows as f64 * (1.0 - column.missing)).round() as u64;
        let repeats = match column.exact {
            true => column.distinct < named,
            false => column.unique_share < 0.95 * (1.0 - column.missing),
        };
        column.role == Role::Identifier
            && repeats
            && column.distinct > 1
            && !is_name(&column.name)
    };
    columns.iter().filter(repeats).max_by_key(|column| column.distinct)
}

const ROLES: &str = r#"
# identifier  names a person: never published
# quasi       may be known from elsewhere: published as coarse as the promise needs
# sensitive   what nobody should learn about a person: published as it is
# other       neither: published as it is, so be sure that nobody can know it
# drop        not wanted: never published
#
# Every quasi column less makes the release more useful, every one forgotten makes it less
# safe. A quasi column of words is published as itself or as `*`; to give it steps between,
# write a file with one line a value, as in `Rome;Italy;Europe;*`, and say
# { role = "quasi", hierarchy = { csv = "places.csv" } }.
[columns]"#;

const PROMISES: &str = r#"
[promise]
# Everybody is in a group of at least k people who look the same in all quasi columns.
k-anonymity = { k = 5 }"#;

const METHOD: &str = r#"
[method]
# Without a name the better of these two is taken:
# name = "full-domain"    # one level for a whole column: simple to analyse
# name = "mondrian"       # finer where there are many people: less is lost
# cells = "interval"      # with mondrian: ranges no wider than the group, better for analysts
suppression = 0.05        # up to 5 % of rows may be left out; 0 keeps all, at a cost

[release]
directory = "release""#;

fn value(column: &ColumnFindings) -> String {
    let role = column.role.name();
    let typed = matches!(column.role, Role::Quasi | Role::Sensitive);
    let mut table = format!("{{ role = {}", quoted(role));
    let short = table.len();
    if typed {
        let _ = match (column.kind, &column.date_format) {
            (Kind::Number, _) => write!(table, ", type = \"number\""),
            (Kind::Date, None) => write!(table, ", type = \"date\""),
            (Kind::Date, Some(format)) => {
                write!(table, ", type = \"date\", format = {}", quoted(format))
            }
            (Kind::Category, _) => Ok(()),
        };
    }
    let hierarchy = match &column.coarsening {
        Some(Coarsening::Widths(widths)) => {
            Some(format!("widths = [{}]", widths.join(", ")))
        }
        Some(Coarsening::Mask) => Some("mask = \"right\"".to_owned()),
        Some(Coarsening::Dates) => {
            Some("dates = [\"month\", \"quarter\", \"year\"]".to_owned())
        }
        None => None,
    };
    if let Some(hierarchy) = hierarchy.filter(|_| column.role == Role::Quasi) {
        let _ = write!(table, ", hierarchy = {{ {hierarchy} }}");
    }
    if table.len() == short { quoted(role) } else { table + " }" }
}

/// What a reader should think about; what a name says plainly needs no note.
fn note(column: &ColumnFindings) -> Option<String> {
    let swapped = column.ambiguous_dates && column.role == Role::Quasi;
    let plain = column.role == Role::Quasi && is_known(&column.name);
    match (plain, swapped) {
        (true, false) => None,
        (true, true) => Some("check: days and months may be swapped".to_owned()),
        (false, false) => Some(column.reason.clone()),
        (false, true) => {
            Some(format!("{}; check: days and months may be swapped", column.reason))
        }
    }
}

/// A key of TOML: bare if it can be.
fn key(name: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.is_empty() && name.bytes().all(bare) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(letter);
            }
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
