//! Pictures with a caption and a text for those who do not see them.

use std::fmt;

use crate::audit::page::words::Html;

/// A picture and, below it, what to take from it; both are HTML already.
pub(super) fn figure(svg: &str, caption: &str) -> String {
    format!("<figure>\n{svg}<figcaption>{caption}</figcaption>\n</figure>\n")
}

/// How a picture begins: its size, and its text for those who do not see it.
pub(super) fn open(class: &str, (width, height): (f64, f64), text: &str) -> String {
    let text = Html(text);
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
         aria-label=\"{text}\">\n<title>{text}</title>\n"
    )
}

/// A name that fits beside a picture.
pub(super) fn shortened(name: &str, longest: usize) -> String {
    if name.is_empty() {
        return "(missing)".to_owned();
    }
    if name.chars().count() <= longest {
        return name.to_owned();
    }
    let start: String = name.chars().take(longest - 1).collect();
    format!("{start}…")
}

/// Shows prose escaped in HTML, and what stands between backticks as code.
pub(super) struct Prose<'a>(pub(super) &'a str);

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_become_code_and_nothing_escapes() {
        let shown = |text: &str| Prose(text).to_string();
        assert_eq!(shown("a `b<` c"), "a <code>b&lt;</code> c");
        assert_eq!(shown("it's 5 ` long"), "it&#39;s 5 ` long");
        assert_eq!(shown("plain"), "plain");
    }
}
