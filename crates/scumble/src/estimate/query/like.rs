//! Words that look like a pattern, as `LIKE` has it: `%` stands for any text, `_` for one
//! character, and all else for itself.

use crate::error::{Error, Result};

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// A pattern as it was typed. What a backslash means in it depends on the database.
    pub fn new(text: &str) -> Result<Self> {
        match text.contains('\\') {
            true => Err(Error::recipe(format!("the pattern '{text}' has a backslash"))
                .with_hint("write `_` for one character that cannot be typed")),
            false => Ok(Self(text.to_owned())),
        }
    }

    /// Whether a text is like it.
    pub fn matches(&self, text: &str) -> bool {
        let (pattern, text): (Vec<char>, Vec<char>) =
            (self.0.chars().collect(), text.chars().collect());
        let (mut at, mut next) = (0, 0);
        // Behind the last `%`, and how far the text had come there: it may take one more.
        let mut again: Option<(usize, usize)> = None;
        while next < text.len() {
            match pattern.get(at) {
                Some('%') => {
                    at += 1;
                    again = Some((at, next));
                }
                Some(letter) if *letter == '_' || *letter == text[next] => {
                    at += 1;
                    next += 1;
                }
                _ => {
                    let Some((behind, taken)) = again else { return false };
                    again = Some((behind, taken + 1));
                    (at, next) = (behind, taken + 1);
                }
            }
        }
        pattern[at..].iter().all(|letter| *letter == '%')
    }

    /// Whether all texts with this beginning are like it, or none is; nothing if some are.
    pub fn of_beginning(&self, beginning: &str) -> Option<bool> {
        let fixed = self.0.split(['%', '_']).next().unwrap_or_default();
        if !beginning.starts_with(fixed) && !fixed.starts_with(beginning) {
            return Some(false);
        }
        let is_open = self.0[fixed.len()..] == *"%";
        (is_open && beginning.starts_with(fixed)).then_some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: take the pattern apart letter by letter.
    fn by_definition(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['%', rest @ ..] => {
                (0..=text.len()).any(|taken| by_definition(rest, &text[taken..]))
            }
            ['_', rest @ ..] => !text.is_empty() && by_definition(rest, &text[1..]),
            [letter, rest @ ..] => {
                text.first() == Some(letter) && by_definition(rest, &text[1..])
            }
        }
    }

    /// All words of some letters up to a length.
    fn words(letters: &[char], most: usize) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut start = 0;
        for _ in 0..most {
            let end = words.len();
            for place in start..end {
                for letter in letters {
                    let word = format!("{}{letter}", words[place]);
                    words.push(word);
                }
            }
            start = end;
        }
        words
    }

    #[test]
    fn every_short_pattern_means_what_it_means() {
        let texts = words(&['a', 'é'], 5);
        for pattern in words(&['a', 'é', '%', '_'], 4) {
            let (own, letters) =
                (Pattern::new(&pattern).unwrap(), pattern.chars().collect::<Vec<_>>());
            for text in &texts {
                let expected =
                    by_definition(&letters, &text.chars().collect::<Vec<_>>());
                assert_eq!(own.matches(text), expected, "{text} LIKE {pattern}");
            }
            // What holds of a beginning holds of every text that has it.
            for beginning in words(&['a', 'é'], 3) {
                let Some(all) = own.of_beginning(&beginning) else { continue };
                for text in texts.iter().filter(|text| text.starts_with(&beginning)) {
                    assert_eq!(own.matches(text), all, "{text} LIKE {pattern}");
                }
            }
        }
        assert_eq!(Pattern::new("479%").unwrap().of_beginning("479"), Some(true));
        assert_eq!(Pattern::new("479%").unwrap().of_beginning("47"), None);
        assert!(Pattern::new("a\\%").is_err());
    }
}
