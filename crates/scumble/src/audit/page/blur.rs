//! Blurred and condensed numbers: what was promised, what attacks found, and how wide the
//! noise is.

use std::fmt::Write;

use serde_json::Value;

use crate::audit::page::words::{decimal, rows, share};
use crate::audit::{Attacked, Checked, Report};
use crate::picture::{Bar, Bars, Html, figure};
use crate::release::{BlurNote, FrameNote, Manifest};
use crate::space::{FrameKind, Shape};
use crate::text::grouped;

/// The most levels that the table and the picture show.
const MOST: usize = 24;

/// Among how many people.
fn company(checked: &Checked) -> Option<String> {
    Some(match checked.asked.get("k")? {
        Value::String(name) => format!("as many people as “{name}” says"),
        value => format!("{} people", value.as_f64().map(decimal)?),
    })
}

/// The promise of numbers that were drawn anew, as a sentence.
pub(super) fn redrawn(checked: &Checked) -> Option<String> {
    let k = company(checked)?;
    Some(format!("Groups of rows that are drawn anew have at least {k} each."))
}

/// The promise of noisy numbers as a sentence.
pub(super) fn promise(checked: &Checked, manifest: &Manifest) -> Option<String> {
    let (k, note) = (company(checked)?, manifest.blur()?);
    let company = match note.strict {
        true => {
            " Only people count whose rows have the same exact cells, frame and level, as \
             these can be computed from the table."
        }
        false => {
            " All people count, also those who would have been published with another \
             spread: somebody who computes spreads from the table can tell them apart, and \
             is not promised against."
        }
    };
    let guess = match note.best_guess {
        Some(bound) => format!(
            " The one who fits best is the true one with a probability of at most {}, for \
             everybody.",
            share(bound)
        ),
        None => String::new(),
    };
    Some(format!(
        "Whoever holds the original table and ranks its people by how well they fit a \
         published row finds, on average over the noise, at least {k} who fit as well as the \
         true one, that one included.{company}{guess}"
    ))
}

/// What an attack found out; nothing if it is another one, or of another release.
pub(super) fn attack(attack: &Attacked, manifest: &Manifest) -> Option<String> {
    let note = manifest.blur()?;
    let detail = |name: &str| attack.detail.get(name);
    let part = |name: &str| detail(name).and_then(Value::as_f64).unwrap_or(0.0);
    let count = |name: &str| detail(name).and_then(Value::as_u64).unwrap_or(0);
    let sentence = match attack.name.as_str() {
        "calibration" if note.strict => format!(
            "Computes from the original table at which level everybody is published, and \
             guesses among the rows of that level. There are {} such classes; the smallest \
             has {}.",
            grouped(count("classes")),
            rows(count("smallest")),
        ),
        "calibration" => format!(
            "Computes everybody’s spread from the original table, and looks up who has been \
             published with it. For {} of all people a single row has their spread.",
            share(part("alone")),
        ),
        "rank" => format!(
            "Ranks the people of a class by how well they fit a published row. The true one \
             was in place {} on average, and before place {} in {} of all draws; over the \
             noise, nobody is expected before place {}.",
            decimal(part("mean_rank")),
            decimal(part("k")),
            share(part("below")),
            decimal(part("smallest")),
        ),
        "best-guess" => {
            "Takes the one who fits a published row best; of noise that was drawn anew."
                .to_owned()
        }
        _ => return None,
    };
    Some(sentence)
}

/// What is published of a noisy column.
pub(super) fn column(shape: Shape, decimals: Option<u32>) -> String {
    let noise = match shape {
        Shape::Gaussian => "normal noise was added",
        Shape::Uniform => "even noise was added",
    };
    match decimals {
        Some(0) | None => format!("{noise}; numbers have no decimals"),
        Some(1) => format!("{noise}; numbers have 1 decimal"),
        Some(n) => format!("{noise}; numbers have {n} decimals"),
    }
}

/// How wide the noise is, level by level.
pub(super) fn section(html: &mut String, manifest: &Manifest, report: &Report) {
    let Some(note) = manifest.blur().filter(|note| note.strict) else { return };
    let sizes = report.attacks.iter().find(|attack| attack.name == "calibration");
    let sizes = sizes.and_then(|attack| attack.detail.get("rows"));
    let size = |frame: usize, level: usize| {
        sizes.and_then(|all| all.get(frame)?.get(level)?.as_u64()).unwrap_or(0)
    };
    let mut levels: Vec<Level<'_>> = Vec::new();
    for (place, frame) in note.frames.iter().enumerate() {
        for (level, spreads) in frame.levels.iter().enumerate() {
            let rows = size(place, level);
            if rows > 0 {
                levels.push(Level { frame, level, spreads, rows });
            }
        }
    }
    let what = match note.shape {
        Shape::Gaussian => "its standard deviation",
        Shape::Uniform => "the side of the box it is in",
    };
    let along = match note.frame {
        FrameKind::Rotated => "along the axes that the manifest lists",
        _ => "on each column, in its own units",
    };
    let _ = write!(
        html,
        "<section>\n<h2>How wide the noise is</h2>\n<p>Rows are blurred at few levels, so that \
         the noise of a row does not tell whose it is. The spread is {what}, {along}.</p>\n",
    );
    let most = levels.iter().max_by_key(|level| level.rows);
    let caption = match most {
        Some(most) => format!(
            "How many rows are at each level of noise{}; the table below says how wide it is. \
             <strong>Most rows, {}, are at level {}.</strong> Higher levels are for rows that \
             have few others near them.",
            if note.frames.len() > 1 { ", by frame and level" } else { "" },
            grouped(most.rows),
            most.name(note.frames.len()),
        ),
        None => String::new(),
    };
    html.push_str(&figure(&picture(&levels), &caption));
    html.push_str("<div class=\"wide\">\n");
    table(html, &note, &levels);
    html.push_str("</div>\n");
    html.push_str("</section>\n");
}

/// A level that has rows.
struct Level<'a> {
    frame: &'a FrameNote,
    level: usize,
    spreads: &'a [f64],
    rows: u64,
}

impl Level<'_> {
    fn name(&self, frames: usize) -> String {
        match frames {
            1 => (self.level + 1).to_string(),
            _ => format!("{}.{}", self.frame.frame, self.level + 1),
        }
    }
}

fn table(html: &mut String, note: &BlurNote, levels: &[Level<'_>]) {
    let heading = match note.frames.len() {
        1 => "level",
        _ => "frame and level",
    };
    let _ =
        write!(html, "<table>\n<thead><tr><th>{heading}</th><th class=\"n\">rows</th>");
    let turned = note.frame == FrameKind::Rotated;
    for (place, column) in (1..).zip(&note.columns) {
        let name = if turned { format!("axis {place}") } else { column.name.clone() };
        let _ = write!(html, "<th class=\"n\">{}</th>", Html(&name));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for level in levels.iter().take(MOST) {
        let _ = write!(
            html,
            "<tr><th>{}</th><td class=\"n\">{}</td>",
            level.name(note.frames.len()),
            grouped(level.rows)
        );
        let mut spreads = level.spreads.iter();
        for column in &note.columns {
            let missing = !turned && level.frame.missing.contains(&column.name);
            let spread = if missing { None } else { spreads.next() };
            let shown =
                spread.map_or_else(|| "missing".to_owned(), |s| spread_text(*s));
            let _ = write!(html, "<td class=\"n\">{shown}</td>");
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n");
    if levels.len() > MOST {
        let _ = writeln!(
            html,
            "<p class=\"small\">{} more are in the manifest.</p>",
            grouped((levels.len() - MOST) as u64)
        );
    }
}

/// A spread with commas, as other numbers have them.
fn spread_text(spread: f64) -> String {
    match spread.fract() == 0.0 && (0.0..1e15).contains(&spread) {
        true => grouped(spread as u64),
        false => spread.to_string(),
    }
}

/// How many rows are at each level.
fn picture(levels: &[Level<'_>]) -> String {
    let shown = &levels[..levels.len().min(MOST)];
    let several = levels.iter().any(|level| level.frame.frame > 1);
    let frames = if several { 2 } else { 1 };
    let bar = |level: &Level<'_>| Bar {
        name: level.name(frames),
        amount: level.rows,
        shown: grouped(level.rows),
        class: "",
    };
    let bars: Vec<Bar> = shown.iter().map(bar).collect();
    let text = bars.iter().map(|bar| format!("{}: {}", bar.name, bar.shown));
    let text = format!("Rows by level. {}", text.collect::<Vec<_>>().join("; "));
    let headings = ["level", "rows at it"];
    Bars { text: &text, headings, room: (60.0, 90.0), bars }.svg()
}
