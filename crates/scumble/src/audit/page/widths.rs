//! A picture of how much of its column a published cell stands for.

use std::fmt::Write;

use crate::audit::noisy::shape;
use crate::audit::page::words::share;
use crate::audit::{Report, Width};
use crate::picture::{Anchor, Html, Svg, WIDTH, figure, shortened};
use crate::release::{Manifest, Treatment};
use crate::space::Shape;

/// Names of the bands.
const NAMES: [&str; Width::ENDS.len()] =
    ["exact", "up to 5%", "5–10%", "10–25%", "25–50%", "50–100%", "all"];

/// How strong the colour of each band is.
const SHADES: [f64; Width::ENDS.len()] = [0.06, 0.2, 0.34, 0.48, 0.64, 0.8, 1.0];

/// The longest name beside a strip, in letters.
const LONGEST: usize = 18;

/// What the strips of a section are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wide {
    Noise(Shape),
    Cells,
    Distributions,
}

impl Wide {
    fn of(treatment: &Treatment) -> Self {
        match treatment {
            Treatment::Noisy { shape, .. } => Self::Noise(*shape),
            Treatment::Weighted => Self::Distributions,
            Treatment::Kept
            | Treatment::Coarse { .. }
            | Treatment::Drawn { .. }
            | Treatment::Apart
            | Treatment::Redrawn => Self::Cells,
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Noise(_) => "How wide the noise is beside its column",
            Self::Cells | Self::Distributions => "How wide cells are",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Noise(shape) => shape::of(shape).words()[1],
            Self::Cells | Self::Distributions => {
                "How much of its column a published cell stands for: of numbers the width of \
                 the range, of other values how many they may be."
            }
        }
    }
}

/// A section for each kind of cells that have a width.
pub(super) fn section(html: &mut String, manifest: &Manifest, report: &Report) {
    let mut kinds: Vec<(Wide, Vec<&Width>)> = Vec::new();
    for width in report.widths.iter().filter(|width| width.rows.iter().any(|n| *n > 0))
    {
        let Some(column) = manifest.column(&width.column) else { continue };
        let wide = Wide::of(&column.treatment);
        match kinds.iter_mut().find(|(known, _)| *known == wide) {
            Some((_, widths)) => widths.push(width),
            None => kinds.push((wide, vec![width])),
        }
    }
    for (wide, widths) in kinds {
        let weights = match wide {
            Wide::Distributions => {
                " Cells list values with weights, which tell more than their width."
            }
            Wide::Noise(_) | Wide::Cells => "",
        };
        let most = match wide {
            Wide::Noise(_) => "of its numbers have noise wider than a quarter of it",
            Wide::Cells | Wide::Distributions => {
                "of its cells stand for more than a quarter of it"
            }
        };
        let caption = format!(
            "{} Each strip is all rows of the release, from exact values on the left to \
             cells that say nothing on the right.{weights} <strong>{}</strong>",
            wide.what(),
            takeaway(&widths, most)
        );
        let _ = write!(html, "<section>\n<h2>{}</h2>\n", wide.heading());
        html.push_str(&figure(&svg(&widths), &caption));
        html.push_str("</section>\n");
    }
}

/// Which columns keep every value, and which lose all.
fn takeaway(widths: &[&Width], wide: &str) -> String {
    let all_in =
        |width: &Width, band: usize| width.rows.iter().sum::<u64>() == width.rows[band];
    let named = |band: usize| -> Vec<String> {
        let those = widths.iter().filter(|width| all_in(width, band));
        those.map(|width| format!("“{}”", Html(&width.column))).collect()
    };
    let (exact, nothing) = (named(0), named(NAMES.len() - 1));
    let mut words = Vec::new();
    if !exact.is_empty() {
        words.push(format!("Exact in every row: {}.", exact.join(", ")));
    }
    if !nothing.is_empty() {
        words.push(format!("Lost in every row: {}.", nothing.join(", ")));
    }
    if words.is_empty() {
        let coarse = |width: &&&Width| {
            let wide: u64 = width.rows[4..].iter().sum();
            wide as f64 / width.rows.iter().sum::<u64>().max(1) as f64
        };
        let most = widths.iter().max_by(|a, b| coarse(a).total_cmp(&coarse(b)));
        if let Some(most) = most {
            words.push(format!(
                "Widest in “{}”: {} {wide}.",
                Html(&most.column),
                share(coarse(&most))
            ));
        }
    }
    words.join(" ")
}

/// A strip for each column, and what shades mean.
fn svg(widths: &[&Width]) -> String {
    let (left, tall) = (140.0, 34.0);
    let height = tall * widths.len() as f64 + 52.0;
    let text =
        widths.iter().map(|width| format!("{}: {}", width.column, spoken(width)));
    let text = format!(
        "Share of rows by how much of the column a cell stands for. {}",
        text.collect::<Vec<_>>().join(". ")
    );
    let mut svg = Svg::new("strips", (WIDTH, height), &text);
    for (place, column) in widths.iter().enumerate() {
        let y = 4.0 + tall * place as f64;
        let total = column.rows.iter().sum::<u64>().max(1) as f64;
        let name = shortened(&column.column, LONGEST);
        svg.text("", Anchor::End, (left - 10.0, y + 16.0), &name);
        let mut x = left;
        for (band, n) in column.rows.iter().enumerate().filter(|(_, n)| **n > 0) {
            let part = *n as f64 / total;
            let wide = (WIDTH - left - 10.0) * part;
            let title = format!("{}, {}: {}", column.column, NAMES[band], share(part));
            svg.shade((x, y), (wide, 24.0), SHADES[band], &title);
            if wide > 44.0 {
                let class = if band > 2 { "on" } else { "" };
                let middle = (x + wide / 2.0, y + 16.0);
                svg.text(class, Anchor::Middle, middle, &share(part));
            }
            x += wide;
        }
    }
    let y = tall * widths.len() as f64 + 16.0;
    for (band, name) in NAMES.iter().enumerate() {
        svg.key((left + 82.0 * band as f64, y), SHADES[band], name);
    }
    svg.text("", Anchor::End, (left - 10.0, y + 11.0), "of the column");
    svg.finish()
}

/// The bands of a column in words.
fn spoken(width: &Width) -> String {
    let total = width.rows.iter().sum::<u64>().max(1) as f64;
    let held = NAMES.iter().zip(&width.rows).filter(|(_, n)| **n > 0);
    let parts = held.map(|(name, n)| format!("{name} {}", share(*n as f64 / total)));
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_are_as_long_as_their_share_of_rows() {
        let age = Width { column: "<age>".into(), rows: [1, 0, 0, 3, 0, 0, 0] };
        let picture = svg(&[&age]);
        assert!(
            picture.contains("width=\"142.5\"") && picture.contains("width=\"427.5\"")
        );
        assert!(picture.contains("exact 25.0%, 10–25% 75.0%"));
        assert!(picture.contains("&lt;age&gt;") && !picture.contains("<age>"));
    }

    #[test]
    fn what_is_lost_or_kept_everywhere_is_said() {
        let kept = Width { column: "a".into(), rows: [2, 0, 0, 0, 0, 0, 0] };
        let lost = Width { column: "b".into(), rows: [0, 0, 0, 0, 0, 0, 2] };
        let wide = Width { column: "c".into(), rows: [0, 1, 0, 0, 1, 0, 0] };
        assert_eq!(
            takeaway(&[&kept, &lost, &wide], "are wide"),
            "Exact in every row: “a”. Lost in every row: “b”."
        );
        assert_eq!(takeaway(&[&wide], "are wide"), "Widest in “c”: 50.0% are wide.");
    }
}
