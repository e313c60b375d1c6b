//! The proposed recipe as text.

use std::fmt::Write;

use crate::inspect::{Coarsening, ColumnFindings, Options, Person, Sureness};
use crate::table::{Kind, Role};

/// Writes a recipe that names every column.
pub(super) fn recipe(
    options: &Options,
    missing: &[&str],
    rows: u64,
    columns: &[ColumnFindings],
    person: Option<&Person>,
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
    if let Some(person) = person {
        let (typed, reason) = (quoted(&person.column), &person.reason);
        line(format!("# {reason}: promises count people ({})", person.sure.name()));
        line(format!("person = {typed}"));
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
        let note = note(column);
        // A long line keeps its note above.
        if width + value.len() > 60 {
            line(format!("# {name}: {note}\n{name:<width$} = {value}"));
        } else {
            line(format!("{name:<width$} = {value:<24} # {note}"));
        }
    }
    line(PROMISES.to_owned());
    let with = |role| columns.iter().filter(move |column| column.role == role);
    let sensitive = with(Role::Sensitive).next().is_some();
    promises(columns, rows).into_iter().for_each(&mut line);
    // Levels of many columns are too many to go through.
    let cuts = sensitive || with(Role::Quasi).count() > MOST_LEVELS;
    line(if cuts { CUTS } else { METHOD }.to_owned());
    line(RELEASE.to_owned());
    text
}

/// More quasi columns than these have too many levels to go through.
const MOST_LEVELS: usize = 5;

/// What is promised of sensitive columns. Those with many common values have several in every
/// group; of the others, the shares of values in a group are near those in the table.
fn promises(columns: &[ColumnFindings], rows: u64) -> Vec<String> {
    let sensitive: Vec<&ColumnFindings> =
        columns.iter().filter(|column| column.role == Role::Sensitive).collect();
    if sensitive.is_empty() {
        return vec![
            "# With a sensitive column, also ask for different values in every group:"
                .to_owned(),
            "# l-diversity = { l = 2, kind = \"distinct\" }".to_owned(),
        ];
    }
    let several =
        |column: &&ColumnFindings| column.distinct > 2 && column.top_share <= 0.5;
    let (diverse, skewed): (Vec<&ColumnFindings>, Vec<&ColumnFindings>) =
        sensitive.into_iter().partition(several);
    let varied =
        |column: &&ColumnFindings| column.distinct >= 8 && column.top_share <= 0.3;
    let l = if diverse.iter().all(varied) && rows >= 1000 { 3 } else { 2 };
    let names = |columns: &[&ColumnFindings]| {
        let names: Vec<String> =
            columns.iter().map(|column| quoted(&column.name)).collect();
        format!("[{}]", names.join(", "))
    };
    let mut lines = Vec::new();
    if !diverse.is_empty() {
        lines.push("# In every group these have at least so many values.".to_owned());
        let of = names(&diverse);
        lines.push(format!(
            "l-diversity = {{ l = {l}, kind = \"distinct\", columns = {of} }}"
        ));
    }
    if !skewed.is_empty() {
        lines.push(
            "# In every group these are about as common as in the table: at most 30 % of it \
             would have to\n# change their value."
                .to_owned(),
        );
        lines
            .push(format!("t-closeness = {{ t = 0.3, columns = {} }}", names(&skewed)));
    }
    lines
}

const ROLES: &str = r#"
# identifier  names a person: never published
# quasi       may be known from elsewhere: published as coarse as the promise needs
# sensitive   what nobody should learn about a person: published as it is
# other       neither: published as it is, so be sure that nobody can know it
# drop        not wanted: never published
#
# Every quasi column less makes the release more useful, every one forgotten makes it less
# safe. Behind each choice stands why, and how sure it is. To give a column of words steps
# between itself and `*`, see `scumble hierarchy TABLE COLUMN`.
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
suppression = 0.05        # up to 5 % of rows may be left out; 0 keeps all, at a cost"#;

const CUTS: &str = r#"
[method]
name = "mondrian"         # boxes, finer where there are many people; no row is left out
# cells = "interval"      # ranges no wider than the group, better for analysts"#;

const RELEASE: &str = r#"
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
        let plain = matches!(
            column.coarsening,
            None | Some(Coarsening::Widths(_) | Coarsening::Dates)
        );
        // Codes that are whole numbers would be taken for numbers.
        if role == "quasi" && column.kind == Kind::Category && plain {
            table += ", type = \"category\"";
        }
    }
    let hierarchy = match &column.coarsening {
        Some(Coarsening::Widths(widths)) => {
            Some(format!("widths = [{}]", widths.join(", ")))
        }
        Some(Coarsening::Mask) => Some("mask = \"right\"".to_owned()),
        Some(Coarsening::Dates) => {
            Some("dates = [\"month\", \"quarter\", \"year\"]".to_owned())
        }
        Some(Coarsening::Order(order)) => {
            let words: Vec<String> = order.iter().map(|word| quoted(word)).collect();
            Some(format!("order = [{}]", words.join(", ")))
        }
        Some(Coarsening::Template(template, lacking)) => {
            let other = if *lacking { ", other = true" } else { "" };
            Some(format!("template = \"{}\"{other}", template.name()))
        }
        None => None,
    };
    if let Some(hierarchy) = hierarchy.filter(|_| column.role == Role::Quasi) {
        let _ = write!(table, ", hierarchy = {{ {hierarchy} }}");
    }
    if table.len() == short { quoted(role) } else { table + " }" }
}

/// Why, how sure, and what it costs to leave the column as it is.
fn note(column: &ColumnFindings) -> String {
    let mut note = column.reason.clone();
    if column.sure != Sureness::Sure {
        let _ = write!(note, " ({})", column.sure.name());
    }
    match column.contribution {
        Some(share) if share >= 0.001 => {
            let _ = write!(note, "; singles out {:.1} %", 100.0 * share);
        }
        _ => {}
    }
    if column.ambiguous_dates && column.role == Role::Quasi {
        note += "; check: days and months may be swapped";
    }
    note
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
