//! Blurred numbers: how wide the noise is.

use std::fmt::Write;

use crate::audit::Report;
use crate::audit::noisy::shape;
use crate::audit::page::{TABLE_END, table};
use crate::picture::{Bar, Bars, figure};
use crate::release::{BlurNote, FrameNote, Manifest};
use crate::space::{FrameKind, Shape};
use crate::text::grouped;

/// The most levels that the table and the picture show.
const MOST: usize = 24;

/// What is published of a noisy column.
pub(super) fn column(shape: Shape, decimals: Option<u32>) -> String {
    let noise = format!("{} noise was added", shape.adjective());
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
    let mut levels: Vec<FilledLevel<'_>> = Vec::new();
    for (place, frame) in note.frames.iter().enumerate() {
        for (level, spreads) in frame.levels.iter().enumerate() {
            let rows = size(place, level);
            if rows > 0 {
                levels.push(FilledLevel { frame, level, spreads, rows });
            }
        }
    }
    let [what, _] = shape::of(note.shape).words();
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
    spreads(html, &note, &levels);
    html.push_str("</div>\n</section>\n");
}

/// A level that has rows.
struct FilledLevel<'a> {
    frame: &'a FrameNote,
    level: usize,
    spreads: &'a [f64],
    rows: u64,
}

impl FilledLevel<'_> {
    fn name(&self, frames: usize) -> String {
        match frames {
            1 => (self.level + 1).to_string(),
            _ => format!("{}.{}", self.frame.frame, self.level + 1),
        }
    }
}

/// A table of how wide the noise of each level is.
fn spreads(html: &mut String, note: &BlurNote, levels: &[FilledLevel<'_>]) {
    let first = if note.frames.len() == 1 { "level" } else { "frame and level" };
    let turned = note.frame == FrameKind::Rotated;
    let columns = (1..).zip(&note.columns).map(|(place, column)| match turned {
        true => format!("#axis {place}"),
        false => format!("#{}", column.name),
    });
    let columns: Vec<String> = columns.collect();
    let mut headings = vec![first, "#rows"];
    headings.extend(columns.iter().map(String::as_str));
    html.push_str(&table("", &headings));
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
    html.push_str(TABLE_END);
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
fn picture(levels: &[FilledLevel<'_>]) -> String {
    let shown = &levels[..levels.len().min(MOST)];
    let several = levels.iter().any(|level| level.frame.frame > 1);
    let frames = if several { 2 } else { 1 };
    let bar = |level: &FilledLevel<'_>| Bar {
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
