//! Pages and the pictures in them: HTML and SVG, written the same way everywhere.
//!
//! A page is one file without scripts or anything from elsewhere; its style sheet gives
//! pictures their colours. Writing to a string cannot fail, so results of `write!` are
//! dropped here and by those who write pages.

use std::fmt::{self, Write};

/// Shows a text with everything escaped that means something in HTML.
#[derive(Debug, Clone, Copy)]
pub struct Html<'a>(pub &'a str);

impl fmt::Display for Html<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// Shows prose escaped in HTML, and what stands between backticks as code.
#[derive(Debug, Clone, Copy)]
pub struct Prose<'a>(pub &'a str);

impl fmt::Display for Prose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<&str> = self.0.split('`').collect();
        // A backtick without a fellow is only itself.
        let pairs = parts.len() % 2 == 1;
        for (place, part) in parts.iter().enumerate() {
            match (pairs, place % 2) {
                (true, 1) => write!(f, "<code>{}</code>", Html(part))?,
                (false, _) if place > 0 => write!(f, "`{}", Html(part))?,
                _ => write!(f, "{}", Html(part))?,
            }
        }
        Ok(())
    }
}

/// How a page begins, up to its content; [`PAGE_END`] ends it.
pub fn page_start(title: &str, style: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n",
        Html(title)
    )
}

/// How a page ends.
pub const PAGE_END: &str = "</main>\n</body>\n</html>\n";

/// A picture and, below it, what to take from it; both are HTML already.
pub fn figure(svg: &str, caption: &str) -> String {
    format!("<figure>\n{svg}<figcaption>{caption}</figcaption>\n</figure>\n")
}

/// A name that fits beside a picture.
pub fn shortened(name: &str, longest: usize) -> String {
    if name.is_empty() {
        return "(missing)".to_owned();
    }
    if name.chars().count() <= longest {
        return name.to_owned();
    }
    let start: String = name.chars().take(longest - 1).collect();
    format!("{start}…")
}

/// A picture in the making. Points are from the upper left corner; an empty class is none.
#[derive(Debug)]
pub struct Svg(String);

/// Which part of a text is at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Where it begins.
    Start,
    /// Its middle.
    Middle,
    /// Where it ends.
    End,
}

impl Svg {
    /// An empty picture of a width and height; `text` is for those who do not see it.
    pub fn new(class: &str, (width, height): (f64, f64), text: &str) -> Self {
        let (class, text) = (ClassAttribute(class), Html(text));
        Self(format!(
            "<svg{class} viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
             aria-label=\"{text}\">\n<title>{text}</title>\n"
        ))
    }

    /// A text.
    pub fn text(&mut self, class: &str, anchor: Anchor, at: (f64, f64), text: &str) {
        let (class, (x, y), text) = (ClassAttribute(class), at, Html(text));
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let _ = writeln!(
            self.0,
            "<text{class} x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{text}</text>"
        );
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (class, (x1, y1), (x2, y2)) = (ClassAttribute(class), from, to);
        let _ = writeln!(
            self.0,
            "<line{class} x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        );
    }

    /// A bar of a width and height.
    pub fn bar(&mut self, class: &str, at: (f64, f64), size: (f64, f64)) {
        let (class, (x, y), (width, height)) = (ClassAttribute(class), at, size);
        let _ = writeln!(
            self.0,
            "<rect{class} x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\" rx=\"2\"/>"
        );
    }

    /// A box in a colour of a strength from 0 to 1, and what is shown when the mouse is on
    /// it.
    pub fn shade(
        &mut self,
        at: (f64, f64),
        size: (f64, f64),
        strength: f64,
        title: &str,
    ) {
        let ((x, y), (width, height), title) = (at, size, Html(title));
        let _ = writeln!(
            self.0,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill-opacity=\"{strength:.3}\"><title>{title}</title></rect>"
        );
    }

    /// What a strength of the colour means.
    pub fn key(&mut self, (x, y): (f64, f64), strength: f64, meaning: &str) {
        let _ = writeln!(
            self.0,
            "<rect class=\"key\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"14\" height=\"14\" \
             fill-opacity=\"{strength:.3}\"/>"
        );
        self.text("", Anchor::Start, (x + 18.0, y + 11.0), meaning);
    }

    /// The picture as an element.
    pub fn finish(self) -> String {
        self.0 + "</svg>\n"
    }
}

/// For what has no method here.
impl Write for Svg {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_str(text)
    }
}

/// Shows a class as an attribute.
struct ClassAttribute<'a>(&'a str);

impl fmt::Display for ClassAttribute<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => Ok(()),
            class => write!(f, " class=\"{class}\""),
        }
    }
}

/// Bars below each other, names on the left and numbers on the right.
#[derive(Debug)]
pub struct Bars<'a> {
    /// What the picture shows, for those who do not see it.
    pub text: &'a str,
    /// What stands above names and above bars.
    pub headings: [&'a str; 2],
    /// How much room there is for names, and for numbers.
    pub room: (f64, f64),
    /// The bars.
    pub bars: Vec<Bar>,
}

/// A bar with its name and its number.
#[derive(Debug)]
pub struct Bar {
    /// Beside it on the left.
    pub name: String,
    /// How much it stands for.
    pub amount: u64,
    /// The same in words.
    pub shown: String,
    /// Its class, if it differs from the others.
    pub class: &'static str,
}

/// All pictures in a report are this wide.
pub const WIDTH: f64 = 720.0;

impl Bars<'_> {
    /// The picture as an element.
    pub fn svg(&self) -> String {
        let (left, right) = self.room;
        let (top, tall) = (22.0, 24.0);
        let bottom = top + tall * self.bars.len() as f64;
        let most = self.bars.iter().map(|bar| bar.amount).max().unwrap_or(1).max(1);
        let mut svg = Svg::new("bars", (WIDTH, bottom + 4.0), self.text);
        svg.text("", Anchor::End, (left - 8.0, 12.0), self.headings[0]);
        svg.text("", Anchor::Start, (left, 12.0), self.headings[1]);
        for (place, bar) in self.bars.iter().enumerate() {
            let y = top + tall * place as f64;
            let wide = seen((WIDTH - left - right) * bar.amount as f64 / most as f64);
            svg.text("", Anchor::End, (left - 8.0, y + 14.0), &bar.name);
            svg.bar(bar.class, (left, y), (wide, tall - 6.0));
            svg.text("", Anchor::Start, (left + wide + 6.0, y + 14.0), &bar.shown);
        }
        svg.line("", (left, top - 4.0), (left, bottom));
        svg.finish()
    }
}

/// How long a bar is: one that is there is seen.
pub fn seen(length: f64) -> f64 {
    if length > 0.0 { length.max(1.5) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes_unescaped() {
        let text = Html("a<b>&\"'<<\u{e9}").to_string();
        assert_eq!(text, "a&lt;b&gt;&amp;&quot;&#39;&lt;&lt;\u{e9}");
    }

    #[test]
    fn backticks_become_code_and_nothing_escapes() {
        let shown = |text: &str| Prose(text).to_string();
        assert_eq!(shown("a `b<` c"), "a <code>b&lt;</code> c");
        assert_eq!(shown("it's 5 ` long"), "it&#39;s 5 ` long");
        assert_eq!(shown("plain"), "plain");
    }

    #[test]
    fn a_bar_that_is_there_is_seen() {
        let bar = |name: &str, amount| Bar {
            name: name.to_owned(),
            amount,
            shown: amount.to_string(),
            class: "",
        };
        let bars = vec![bar("<none>", 0), bar("few", 1), bar("all", 1_000_000)];
        let picture = Bars {
            text: "a & b",
            headings: ["risk", "people"],
            room: (110.0, 110.0),
            bars,
        };
        let svg = picture.svg();
        for part in
            ["width=\"0.0\"", "width=\"1.5\"", "width=\"500.0\"", "&lt;none&gt;"]
        {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        assert!(svg.starts_with("<svg class=\"bars\" viewBox=\"0 0 720 98\""));
        assert!(svg.contains("aria-label=\"a &amp; b\"") && svg.ends_with("</svg>\n"));
    }
}
