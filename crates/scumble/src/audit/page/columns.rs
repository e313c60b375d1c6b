//! What was done to each column.

use std::fmt::Write;

use crate::audit::page::words::decimal;
use crate::audit::page::{TABLE_END, blur, randomized, table};
use crate::audit::views::Present;
use crate::hierarchy::{Cells, Rule, Side};
use crate::picture::Html;
use crate::release::{Manifest, Parameters, PublishedColumn, Treatment};
use crate::table::Role;

/// The section on columns.
pub(super) fn section(html: &mut String, manifest: &Manifest) {
    html.push_str("<section>\n<h2>Which columns changed how</h2>\n");
    html.push_str(&table("", &["column", "role", "what is published"]));
    for column in &manifest.columns {
        let (role, what) = (column.role.name(), treated(manifest, column));
        let _ = writeln!(
            html,
            "<tr><th>{}</th><td>{role}</td><td>{}</td></tr>",
            Html(&column.name),
            Html(&what),
        );
    }
    html.push_str(TABLE_END);
    html.push_str("</section>\n");
}

/// What is published of a column, by what was done to it.
fn treated(manifest: &Manifest, column: &PublishedColumn) -> String {
    match &column.treatment {
        Treatment::Kept => kept(manifest, column).to_owned(),
        Treatment::Coarse { .. } | Treatment::Weighted => cells(column),
        Treatment::Drawn { .. } => randomized::column(manifest, column).to_owned(),
        Treatment::Noisy { shape, .. } => blur::column(*shape, column.decimals),
        Treatment::Apart => {
            let notes = manifest.buckets();
            let own = notes.iter().find(|note| note.column == column.name);
            let groups = match &*notes {
                [_, _, ..] => "each of its own groups",
                _ => "each group",
            };
            format!(
                "how often each value is in {groups}, in {}; not who has it",
                own.map_or("", |note| &note.file)
            )
        }
        Treatment::Redrawn => {
            "drawn anew from mean and covariance of the group".to_owned()
        }
    }
}

/// What a column that was kept is good for.
fn kept(manifest: &Manifest, column: &PublishedColumn) -> &'static str {
    let exact = manifest.classes.iter().any(|class| match &class.parameters {
        Parameters::Frames { exact, .. } => exact.contains(&column.name),
        Parameters::Cells { .. }
        | Parameters::Values { .. }
        | Parameters::Subtables { .. }
        | Parameters::Levels
        | Parameters::Moments { .. } => false,
    });
    let drawn = Present::of(manifest).drawn && manifest.sampled.is_none();
    match column.role {
        Role::Quasi if exact => {
            "the values as they are: only rows that share them count"
        }
        Role::Quasi if drawn => "the values as they are, for linking and grouping",
        Role::Quasi | Role::Sensitive => "the values as they are",
        Role::Other | Role::Identifier | Role::Drop => {
            "the values as they are; taken not to identify anybody"
        }
    }
}

/// What the cells of a coarse column are.
fn cells(column: &PublishedColumn) -> String {
    let cells = match column.cells() {
        Some(Cells::Interval) if column.grid.is_some() => "ranges on a public grid",
        Some(Cells::Interval) => "ranges between values that occur",
        Some(Cells::Set) => "sets of values that occur",
        Some(Cells::Pdf) => "values that occur, with weights",
        Some(Cells::Taxonomy) | None => "",
    };
    // Ranges and sets are of values that occur, whatever the hierarchy.
    let how = match (cells, &column.hierarchy) {
        ("", Some(hierarchy)) => rule(hierarchy),
        _ => String::new(),
    };
    let level = match column.level() {
        Some(0) => "level 0: the values as they are".to_owned(),
        Some(level) => format!("level {level} for the whole column"),
        None => "as coarse as each group needs".to_owned(),
    };
    let parts = [cells.to_owned(), how, level];
    let parts: Vec<String> =
        parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

fn rule(rule: &Rule) -> String {
    let list = |numbers: &[f64]| {
        numbers.iter().map(|n| decimal(*n)).collect::<Vec<_>>().join(", ")
    };
    match rule {
        Rule::Plain => "a value or *".to_owned(),
        Rule::Tree(tree) => match tree.template() {
            Some(template) => format!("nodes of the template {}", template.name()),
            None => "nodes of a hierarchy".to_owned(),
        },
        Rule::Widths(widths) => {
            format!("number ranges of width {}", list(widths.widths()))
        }
        Rule::Cuts(_) | Rule::Quantiles(_) => {
            "number ranges between fixed cut points".to_owned()
        }
        Rule::Mask(mask) => match mask.side {
            Side::Left => "characters masked from the left".to_owned(),
            Side::Right => "characters masked from the right".to_owned(),
        },
        Rule::Calendar(calendar) => {
            let names: Vec<&str> =
                calendar.grains().iter().map(|grain| grain.name()).collect();
            format!("dates by {}", names.join(", "))
        }
    }
}
