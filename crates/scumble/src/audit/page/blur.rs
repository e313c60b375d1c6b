//! Blurred and condensed numbers: what was promised, what attacks found, and how wide the
//! noise is.

use std::fmt::Write;

use serde_json::Value;

use crate::audit::page::figure::{figure, open};
use crate::audit::page::words::{Html, decimal, number, rows, share};
use crate::audit::{Attack, Checked, Report};
use crate::release::{BlurNote, FrameNote, Manifest, PublishedColumn};
use crate::space::{FrameKind, Shape};

/// The most levels that the table and the picture show.
const MOST: usize = 24;

/// A promise as a sentence; nothing if the release is another one, or the promise.
pub(super) fn promise(checked: &Checked, manifest: &Manifest) -> Option<String> {
    let k = match checked.asked.get("k")? {
        Value::String(name) => format!("as many people as “{name}” says"),
        value => format!("{} people", value.as_f64().map(decimal)?),
    };
    if manifest.condensed.is_some() {
        return Some(format!(
            "Groups of rows that are drawn anew have at least {k} each."
        ));
    }
    let note =
        manifest.blur.as_ref().filter(|_| checked.name == "expected-anonymity")?;
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
pub(super) fn attack(attack: &Attack, manifest: &Manifest) -> Option<String> {
    let note = manifest.blur.as_ref()?;
    let detail = |name: &str| attack.detail.get(name);
    let part = |name: &str| detail(name).and_then(Value::as_f64).unwrap_or(0.0);
    let count = |name: &str| detail(name).and_then(Value::as_u64).unwrap_or(0);
    let sentence = match attack.name.as_str() {
        "calibration" if note.strict => format!(
            "Computes from the original table at which level everybody is published, and \
             guesses among the rows of that level. There are {} such classes; the smallest \
             has {}.",
            number(count("classes")),
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

/// What is published of a column; nothing of others.
pub(super) fn column(manifest: &Manifest, column: &PublishedColumn) -> Option<String> {
    let name = &column.name;
    if let Some(note) = &manifest.condensed {
        let drawn = note.columns.iter().any(|known| known.name == *name);
        return match drawn {
            true => Some("drawn anew from mean and covariance of the group".to_owned()),
            false => {
                note.exact.contains(name).then(|| "the values as they are".to_owned())
            }
        };
    }
    let note = manifest.blur.as_ref()?;
    if note.exact.contains(name) {
        return Some(
            "the values as they are: only rows that share them count".to_owned(),
        );
    }
    let known = note.columns.iter().find(|known| known.name == *name)?;
    let noise = match note.shape {
        Shape::Gaussian => "normal noise was added",
        Shape::Uniform => "even noise was added",
    };
    Some(format!(
        "{noise}; numbers have {}",
        match known.decimals {
            0 => "no decimals".to_owned(),
            1 => "1 decimal".to_owned(),
            n => format!("{n} decimals"),
        }
    ))
}

/// How wide the noise is, level by level.
pub(super) fn section(html: &mut String, manifest: &Manifest, report: &Report) {
    let Some(note) = manifest.blur.as_ref().filter(|note| note.strict) else { return };
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
            number(most.rows),
            most.name(note.frames.len()),
        ),
        None => String::new(),
    };
    html.push_str(&figure(&picture(&levels), &caption));
    html.push_str("<div class=\"wide\">\n");
    table(html, note, &levels);
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
            number(level.rows)
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
            number((levels.len() - MOST) as u64)
        );
    }
}

/// A spread with commas, as other numbers have them.
fn spread_text(spread: f64) -> String {
    match spread.fract() == 0.0 && (0.0..1e15).contains(&spread) {
        true => number(spread as u64),
        false => spread.to_string(),
    }
}

/// How many rows are at each level.
fn picture(levels: &[Level<'_>]) -> String {
    let shown = &levels[..levels.len().min(MOST)];
    let several = levels.iter().any(|level| level.frame.frame > 1);
    let frames = if several { 2 } else { 1 };
    let most = shown.iter().map(|level| level.rows).max().unwrap_or(1).max(1);
    let (width, left, top, tall) = (720.0, 60.0, 22.0, 22.0);
    let height = top + tall * shown.len() as f64 + 4.0;
    let text = shown
        .iter()
        .map(|level| format!("{}: {}", level.name(frames), number(level.rows)));
    let text = format!("Rows by level. {}", text.collect::<Vec<_>>().join("; "));
    let mut svg = open("bars", (width, height), &text);
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"12\" text-anchor=\"end\">level</text>\
         <text x=\"{left:.1}\" y=\"12\">rows at it</text>",
        left - 8.0
    );
    for (place, level) in shown.iter().enumerate() {
        let y = top + tall * place as f64;
        // A bar that is there is seen.
        let wide = ((width - left - 90.0) * level.rows as f64 / most as f64).max(1.5);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{left:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" rx=\"2\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            left - 8.0,
            y + 14.0,
            level.name(frames),
            tall - 5.0,
            left + wide + 6.0,
            y + 14.0,
            number(level.rows),
        );
    }
    svg.push_str("</svg>\n");
    svg
}
