//! A picture of how likely each value is published as each value.
//!
//! Shades mean the same in every picture: nothing has no colour, certainty the strongest, and in
//! between goes the square root, so that small probabilities can be told apart.

use std::fmt::Write;

use crate::audit::page::words::share;
use crate::picture::{Anchor, Html, Svg, WIDTH, shortened};
use crate::release::{OperatorNote, SubtableNote};

/// The longest name that is shown beside a picture.
const LONGEST: usize = 22;

/// How far names above the picture lean: the cosine and sine of 50 degrees.
const LEANING: (f64, f64) = (0.643, 0.766);

/// The probabilities in the legend.
const LEGEND: [f64; 6] = [0.0, 0.01, 0.05, 0.2, 0.5, 1.0];

/// The matrix as an inline picture: a row for each original value.
pub(super) fn svg(table: &SubtableNote) -> String {
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
    let names: Vec<String> = table
        .domain
        .iter()
        .map(|texts| shortened(&texts.join(", "), LONGEST))
        .collect();
    let MatrixLayout { text_size, label, side, above } = MatrixLayout::of(&names);
    let bottom = above + side * size as f64;
    let kept: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(place, name)| format!("{name} {}", share(entry(place, place))))
        .collect();
    let text = format!(
        "How likely each value is published as each value. As itself: {}.",
        kept.join(", ")
    );
    let mut svg = Svg::new("matrix", (WIDTH, bottom + 44.0), &text);
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
    let mut largest = 0.0f64;
    for original in 0..size {
        for published in 0..size {
            let likely = entry(published, original);
            largest = largest.max(likely);
            let at = (label + side * published as f64, above + side * original as f64);
            let title = format!(
                "{} as {}: {}",
                names[original],
                names[published],
                share(likely)
            );
            svg.shade(at, (side * 0.94, side * 0.94), shade(likely), &title);
        }
    }
    legend(&mut svg, label, bottom + 14.0, largest);
    svg.finish()
}

/// How strong the colour of a probability is.
fn shade(likely: f64) -> f64 {
    0.03 + 0.97 * likely.clamp(0.0, 1.0).sqrt()
}

/// What shades mean, and the strongest there is.
fn legend(svg: &mut Svg, left: f64, top: f64, largest: f64) {
    // Beside a narrow picture with long names there is room only further left.
    let left = left.min(WIDTH - 480.0);
    for (place, likely) in LEGEND.into_iter().enumerate() {
        let at = (left + 58.0 * place as f64, top);
        svg.key(at, shade(likely), &format!("{:.0}%", 100.0 * likely));
    }
    let at = (left + 58.0 * LEGEND.len() as f64 + 6.0, top + 11.0);
    svg.text("", Anchor::Start, at, &format!("strongest here: {}", share(largest)));
}

/// Where things stand in the picture.
struct MatrixLayout {
    text_size: f64,
    /// The width of the names on the left.
    label: f64,
    /// The side of a square.
    side: f64,
    /// The height of the names above.
    above: f64,
}

impl MatrixLayout {
    fn of(names: &[String]) -> Self {
        let longest = names.iter().map(|name| width(name)).fold(0.0, f64::max);
        let mut text_size = 12.0;
        // Smaller squares have smaller names, which leave more room for squares.
        for _ in 0..8 {
            text_size =
                Self::with(text_size, longest, names.len()).side.clamp(6.0, text_size);
        }
        Self::with(text_size, longest, names.len())
    }

    fn with(text_size: f64, longest: f64, n: usize) -> Self {
        let label = 10.0 + longest * text_size;
        let right = 10.0 + LEANING.0 * longest * text_size;
        let side = ((WIDTH - label - right) / n.max(1) as f64).min(40.0);
        let above = 12.0 + text_size + LEANING.1 * longest * text_size;
        Self { text_size, label, side, above }
    }
}

/// About how wide a text is, in sizes of its letters, rather too wide.
fn width(text: &str) -> f64 {
    let letter = |letter: char| match letter {
        'i' | 'j' | 'l' | '.' | ',' | '\'' | ' ' => 0.38,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 1.0,
        letter if letter.is_ascii_uppercase() => 0.76,
        letter if (letter as u32) < 0x500 => 0.65,
        _ => 1.1,
    };
    text.chars().map(letter).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(names: &[&str], keep: f64) -> SubtableNote {
        SubtableNote {
            rows: 3,
            domain: names.iter().map(|name| vec![(*name).to_owned()]).collect(),
            bounds: vec![None; names.len()],
            condition: None,
            operator: OperatorNote::Uniform { keep },
        }
    }

    #[test]
    fn a_picture_has_a_square_for_each_pair_and_escapes_names() {
        let svg = svg(&table(&["<b>", &"x".repeat(40)], 0.5));
        assert_eq!(svg.matches("<rect").count(), 4 + LEGEND.len());
        assert!(svg.contains("&lt;b&gt; as &lt;b&gt;: 75.0%") && !svg.contains("<b>"));
        assert!(!svg.contains(&"x".repeat(30)));
        assert!(svg.contains("strongest here: 75.0%"));
    }

    #[test]
    fn shades_are_the_same_in_every_picture() {
        let darkest = format!("fill-opacity=\"{:.3}\"><title>a as a: 100%", shade(1.0));
        assert!(svg(&table(&["a", "b"], 1.0)).contains(&darkest));
        let half = format!("fill-opacity=\"{:.3}\"><title>a as a: 50.0%", shade(0.5));
        assert!(svg(&table(&["a", "b"], 0.0)).contains(&half));
    }

    #[test]
    fn names_and_squares_have_room() {
        for n in [1, 3, 20, 60] {
            for length in [1, 10, LONGEST] {
                let names = vec!["n".repeat(length); n];
                let layout = MatrixLayout::of(&names);
                let long = width(&names[0]) * layout.text_size;
                let end = layout.label + layout.side * n as f64;
                assert!(layout.side > 3.0 && layout.label > long);
                assert!(end + LEANING.0 * long < WIDTH + 1.0, "{n} {length}");
                assert!(layout.above > LEANING.1 * long + layout.text_size);
            }
        }
    }
}
