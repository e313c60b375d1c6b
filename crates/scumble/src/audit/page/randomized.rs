//! Randomized columns: how values are published.

use std::fmt::Write;

use serde_json::Value;

use crate::audit::page::matrix;
use crate::audit::page::words::rows;
use crate::picture::{Html, figure};
use crate::release::{
    Manifest, Parameters, PerturbationNote, PublishedColumn, SubtableNote,
};
use crate::text::grouped;

/// The most values that a picture shows.
const MOST: usize = 60;

/// What was done to a randomized column: alone, or with its fellows.
pub(super) fn column(manifest: &Manifest, column: &PublishedColumn) -> &'static str {
    let fellows = manifest.classes.iter().any(|class| match &class.parameters {
        Parameters::Subtables { .. } => {
            class.of.len() > 1 && class.of.contains(&column.name)
        }
        Parameters::Cells { .. }
        | Parameters::Values { .. }
        | Parameters::Frames { .. }
        | Parameters::Levels
        | Parameters::Moments { .. } => false,
    });
    match fellows {
        true => "drawn at random together with its fellow columns",
        false => "drawn at random from the true value by a known matrix",
    }
}

/// The section on how values were randomized.
pub(super) fn section(html: &mut String, manifest: &Manifest) {
    if manifest.perturbation().is_empty() {
        return;
    }
    html.push_str("<section>\n<h2>How values were randomized</h2>\n");
    for note in &manifest.perturbation() {
        let _ = writeln!(html, "<h3>{}</h3>", Html(&note.columns.join(" + ")));
        let Some(first) = note.subtables.first() else { continue };
        let _ = writeln!(html, "<p>{}</p>", about(manifest, note, first));
        if first.domain.len() > MOST {
            let _ = writeln!(
                html,
                "<p class=\"small\">With {} values the matrix is too large for a picture; \
                 <code>manifest.json</code> has it.</p>",
                grouped(first.domain.len() as u64)
            );
        } else {
            html.push_str(&figure(
                &matrix::svg(first),
                "The stronger the colour of a square, the likelier the value on the left is published as the \
                 one above it. <strong>On the diagonal values are published as they are; the \
                 more even the picture, the less a published value says.</strong>",
            ));
        }
    }
    html.push_str("</section>\n");
}

/// How the rows of a column were randomized, in words.
fn about(manifest: &Manifest, note: &PerturbationNote, first: &SubtableNote) -> String {
    let condition = first.condition.as_ref();
    let tables = match (note.subtables.len(), condition) {
        (n @ 2.., Some(condition)) => {
            let value = condition.value.as_deref().unwrap_or("all others");
            format!(
                "What is in “{}” says by which of {} matrices a row was randomized; this is \
                 that of “{}”, of {}.",
                Html(&condition.column),
                grouped(n as u64),
                Html(value),
                rows(first.rows)
            )
        }
        (1, _) => "All rows were randomized by one matrix.".to_owned(),
        (n, _) => format!(
            "Rows were randomized in {} sub-tables, each within its own values; this is the \
             first, of {}.",
            grouped(n as u64),
            rows(first.rows)
        ),
    };
    let noise = match note.noise.as_str() {
        "keyed" => {
            "The same person gets the same draw in every release with this key, as long as \
             their value, the domain and the matrix stay the same."
        }
        _ => "Every release draws afresh.",
    };
    let listed = manifest.promises.iter().any(|promise| {
        promise.asked.get("values").and_then(Value::as_str) == Some("listed")
    });
    let bounded = first.bounds.iter().filter(|bound| bound.is_some()).count();
    let protected = match (first.domain.len().saturating_sub(bounded), listed) {
        (0, _) => "Every value is protected.".to_owned(),
        (1, true) => "One value has no bound and is not protected.".to_owned(),
        (n, true) => {
            format!("{} values have no bound and are not protected.", grouped(n as u64))
        }
        (1, false) => "One value is too common to be protected.".to_owned(),
        (n, false) => {
            format!("{} values are too common to be protected.", grouped(n as u64))
        }
    };
    format!("{tables} {protected} {noise}")
}
