//! Randomized columns: what was promised of them, what attacks found, and a picture of how
//! values are published.

use std::fmt::Write;

use serde_json::Value;

use crate::audit::page::words::{Html, number, rows, share};
use crate::audit::{Attack, Checked};
use crate::release::{Manifest, OperatorNote, PerturbationNote, SubtableNote};

/// The most values that a picture shows.
const MOST: usize = 60;

/// The longest name that is shown beside a picture.
const LONGEST: usize = 22;

/// A promise as a sentence; nothing if it is about something else.
pub(super) fn promise(checked: &Checked) -> Option<String> {
    let asked = |name: &str| checked.asked.get(name).and_then(Value::as_f64);
    let both = checked.asked.get("kind").and_then(Value::as_str) == Some("both");
    let whom = "Whatever somebody believed about a person before, and whichever value is \
                published of them:";
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
pub(super) fn attack(attack: &Attack) -> Option<String> {
    let detail = |name: &str| attack.detail.get(name);
    let part = |name: &str| detail(name).and_then(Value::as_f64).unwrap_or(0.0);
    let text = |name: &str| detail(name).and_then(Value::as_str).unwrap_or("");
    let sentence = match attack.name.as_str() {
        "inference" => format!(
            "Guesses the value of each row from the published one and the matrix; it helps \
             most for “{}”. The surest guess of any value, protected or not, has a \
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
                 what was published of them ({} noise). {} of all people can be linked.",
                detail("releases").and_then(Value::as_u64).unwrap_or(0),
                text("noise"),
                share(part("linked")),
            )
        }
        "averaging" => {
            let after = |releases: &str| {
                let found = detail("after").and_then(|after| after.get(releases));
                share(found.and_then(Value::as_f64).unwrap_or(0.0))
            };
            match text("noise") {
                "keyed" => {
                    "Sees the same people in further releases. The noise is drawn \
                            by a secret key, the same every time: nothing is added."
                        .to_owned()
                }
                _ => format!(
                    "Sees the same people in further releases with fresh noise (foretold, not \
                     tried): {} guessed right after one release, {} after two, {} after \
                     five, {} after ten. A key keeps it at the first.",
                    after("1"),
                    after("2"),
                    after("5"),
                    after("10"),
                ),
            }
        }
        _ => return None,
    };
    Some(sentence)
}

/// What was done to a column, if it was randomized or tells about it.
pub(super) fn column(manifest: &Manifest, name: &str) -> Option<&'static str> {
    if manifest.sampled.as_deref() == Some(name) {
        return Some("how many rows of the table each row stands for");
    }
    manifest.perturbation.iter().find_map(|note| {
        if note.subtable_column.as_deref() == Some(name) {
            return Some("the sub-table in which a row was randomized");
        }
        let part = note.columns.iter().any(|column| column == name);
        match note.columns.len() {
            1 if part => Some("drawn at random from the true value by a known matrix"),
            _ if part => Some("drawn at random together with its fellow columns"),
            _ => None,
        }
    })
}

/// The section on how values were randomized.
pub(super) fn section(html: &mut String, manifest: &Manifest) {
    if manifest.perturbation.is_empty() {
        return;
    }
    html.push_str("<section>\n<h2>How values were randomized</h2>\n");
    for note in &manifest.perturbation {
        let _ = writeln!(html, "<h3>{}</h3>", Html(&note.columns.join(" + ")));
        let Some(first) = note.subtables.first() else { continue };
        let _ = writeln!(html, "<p>{}</p>", about(note, first));
        if first.domain.len() > MOST {
            let _ = writeln!(
                html,
                "<p class=\"small\">With {} values the matrix is too large for a picture; \
                 <code>manifest.json</code> has it.</p>",
                number(first.domain.len() as u64)
            );
        } else {
            html.push_str(&svg(first));
        }
    }
    html.push_str("</section>\n");
}

/// What a picture shows, in words.
fn about(note: &PerturbationNote, first: &SubtableNote) -> String {
    let tables = match note.subtables.len() {
        1 => "All rows were randomized by one matrix.".to_owned(),
        n => format!(
            "Rows were randomized in {} sub-tables, each within its own values; this is the \
             first, of {}.",
            number(n as u64),
            rows(first.rows)
        ),
    };
    let noise = match note.noise.as_str() {
        "keyed" => "The same person gets the same draw in every release with this key.",
        _ => "Every release draws afresh.",
    };
    let protected = first.bounds.iter().filter(|bound| bound.is_some()).count();
    let protected = match first.domain.len() - protected.min(first.domain.len()) {
        0 => "Every value is protected.".to_owned(),
        1 => "One value is too common to be protected.".to_owned(),
        n => format!("{} values are too common to be protected.", number(n as u64)),
    };
    format!(
        "{tables} {protected} {noise} The darker a square, the likelier the value on the \
         left is published as the one above it."
    )
}

/// The matrix as an inline picture: a row for each original value.
fn svg(table: &SubtableNote) -> String {
    let size = table.domain.len();
    let entry = |published: usize, original: usize| {
        let mixed = |keep: f64| {
            let other = (1.0 - keep) / size as f64;
            if published == original { keep + other } else { other }
        };
        let found = match &table.operator {
            OperatorNote::Uniform { keep } => Some(mixed(*keep)),
            OperatorNote::FineGrain { keep } => keep.get(original).map(|k| mixed(*k)),
            OperatorNote::General { matrix } => {
                matrix.get(published).and_then(|row| row.get(original)).copied()
            }
        };
        found.unwrap_or(0.0)
    };
    let names: Vec<String> =
        table.domain.iter().map(|texts| shortened(&texts.join(", "))).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let label = 14.0 + 6.2 * longest as f64;
    let side = ((720.0 - label - 20.0) / size.max(1) as f64).min(40.0);
    let text_size = side.clamp(6.0, 12.0);
    let above = 0.75 * label + 8.0;
    let (width, height) = (720.0, above + side * size as f64 + 8.0);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"How likely each \
         value is published as each value\">\n"
    );
    let largest = (0..size)
        .flat_map(|j| (0..size).map(move |i| (j, i)))
        .map(|(j, i)| entry(j, i))
        .fold(f64::MIN_POSITIVE, f64::max);
    for (place, name) in names.iter().enumerate() {
        let middle = side * (place as f64 + 0.5);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" style=\"font-size:{text_size:.1}px\">\
             {}</text><text transform=\"translate({:.1} {:.1}) rotate(-50)\" \
             style=\"font-size:{text_size:.1}px\">{}</text>",
            label - 6.0,
            above + middle + text_size / 3.0,
            Html(name),
            label + middle + text_size / 4.0,
            above - 5.0,
            Html(name),
        );
    }
    for original in 0..size {
        for published in 0..size {
            let likely = entry(published, original);
            let _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
                 fill-opacity=\"{:.3}\"><title>{} as {}: {}</title></rect>",
                label + side * published as f64,
                above + side * original as f64,
                side * 0.94,
                side * 0.94,
                0.04 + 0.96 * likely / largest,
                Html(&names[original]),
                Html(&names[published]),
                share(likely),
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// A name that fits beside a picture.
fn shortened(name: &str) -> String {
    if name.is_empty() {
        return "(missing)".to_owned();
    }
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    let start: String = name.chars().take(LONGEST - 1).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_a_square_for_each_pair_and_escapes_names() {
        let table = SubtableNote {
            rows: 3,
            domain: vec![vec!["<b>".into()], vec!["x".repeat(40)]],
            bounds: vec![None, None],
            operator: OperatorNote::Uniform { keep: 0.5 },
        };
        let svg = svg(&table);
        assert_eq!(svg.matches("<rect").count(), 4);
        assert!(svg.contains("&lt;b&gt; as &lt;b&gt;: 75.0%") && !svg.contains("<b>"));
        assert!(!svg.contains(&"x".repeat(30)));
    }
}
