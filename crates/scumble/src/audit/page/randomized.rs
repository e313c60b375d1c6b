//! Randomized columns: what was promised of them, what attacks found, and how values are
//! published.

use std::fmt::Write;

use serde_json::Value;

use crate::audit::page::matrix;
use crate::audit::page::words::{rows, share};
use crate::audit::{Attacked, Checked};
use crate::picture::{Html, figure};
use crate::release::{
    Manifest, Parameters, PerturbationNote, PublishedColumn, SubtableNote,
};
use crate::text::grouped;

/// The most values that a picture shows.
const MOST: usize = 60;

/// A promise as a sentence; nothing if it is about something else.
pub(super) fn promise(checked: &Checked, manifest: &Manifest) -> Option<String> {
    let asked = |name: &str| checked.asked.get(name).and_then(Value::as_f64);
    let both = checked.asked.get("kind").and_then(Value::as_str) == Some("both");
    // Sub-tables are made for one adversary.
    let whom = match manifest.method.name.as_str() {
        "partitioned-perturbation" => {
            "Of somebody whose belief before is how common a value is, and whichever value \
             is published of a person:"
        }
        _ => {
            "Whatever somebody believed about a person before, and whichever value is \
             published of them:"
        }
    };
    let sentence = match checked.name.as_str() {
        "breach" => {
            let (prior, posterior) =
                (asked("prior").unwrap_or(0.0), asked("posterior").unwrap_or(0.0));
            let down = match both {
                true => format!(
                    ", and one of at least {} does not fall below {}",
                    share(posterior),
                    share(prior)
                ),
                false => String::new(),
            };
            format!(
                "{whom} a belief of at most {} in a protected value does not rise above \
                 {}{down}.",
                share(prior),
                share(posterior),
            )
        }
        "fine-grain" => {
            let how = match asked("factor") {
                Some(factor) => format!(
                    "a belief in a value of at most its share in the table does not rise \
                     above {factor} times that"
                ),
                None => "a belief in a value does not rise above the bound that the \
                         manifest lists for it"
                    .to_owned(),
            };
            let down = match both {
                true => ", and one above the bound does not fall below where it began",
                false => "",
            };
            format!("{whom} {how}{down}.")
        }
        _ => return None,
    };
    Some(sentence)
}

/// What an attack found out; nothing if it is another one.
pub(super) fn attack(attack: &Attacked, manifest: &Manifest) -> Option<String> {
    let detail = |name: &str| attack.detail.get(name);
    let part = |name: &str| detail(name).and_then(Value::as_f64).unwrap_or(0.0);
    let text = |name: &str| detail(name).and_then(Value::as_str).unwrap_or("");
    let sentence = match attack.name.as_str() {
        "inference" => format!(
            "Guesses the value of “{}” of each row from the published one and the matrix. The \
             surest guess of any value, protected or not, and however common, has a \
             probability of {}.",
            text("column"),
            share(part("largest")),
        ),
        "corruption" => format!(
            "Knows the true values of other people. That moves a belief about anybody else \
             by {}.{}",
            match part("shift") {
                0.0 => "nothing".to_owned(),
                shift => share(shift),
            },
            match part("exposed") {
                0.0 if detail("fitted").and_then(Value::as_bool) == Some(true) => {
                    " But the matrix was fitted to how common values are: who knows everybody \
                     else's value may learn the last one from it. The promise does not cover \
                     that."
                        .to_owned()
                }
                0.0 => String::new(),
                exposed => format!(
                    " But the manifest's bounds are shares of values, which are counts: who \
                     knows everybody else's value subtracts, and is certain about up to {} \
                     of all people, one at a time. The promise does not cover that.",
                    share(exposed)
                ),
            }
        ),
        "averaging" if detail("foretold").and_then(Value::as_bool) == Some(false) => {
            format!(
                "Links people in {} releases by their untouched columns, and puts together \
                 what was published of them ({} noise{}). {} of all people can be linked.",
                detail("releases").and_then(Value::as_u64).unwrap_or(0),
                text("noise"),
                match detail("same_matrix").and_then(Value::as_bool) {
                    Some(false) => ", but not the same domains and matrices",
                    _ => "",
                },
                share(part("linked")),
            )
        }
        "averaging" => {
            let after = |releases: &str| {
                let found = detail("after").and_then(|after| after.get(releases));
                share(found.and_then(Value::as_f64).unwrap_or(0.0))
            };
            match text("noise") {
                "keyed" => "Sees the same people in further releases. The noise is drawn by \
                            a secret key, the same every time as long as value, domain and \
                            matrix stay the same: then nothing is added."
                    .to_owned(),
                _ => format!(
                    "Sees the same people in further releases with fresh noise (foretold, not \
                     tried): {} guessed right after one release, {} after two, {} after \
                     five, {} after ten.{}",
                    after("1"),
                    after("2"),
                    after("5"),
                    after("10"),
                    match manifest.sampled {
                        Some(_) => " That takes people to be drawn from their groups again.",
                        None => " A key keeps it at the first.",
                    },
                ),
            }
        }
        _ => return None,
    };
    Some(sentence)
}

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
    let tables = match note.subtables.len() {
        1 => "All rows were randomized by one matrix.".to_owned(),
        n => format!(
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
