//! The ordered set of a column's values.

use hashbrown::HashMap;

use crate::table::{Code, Ids, Kind, Of, Reading};

/// The ordered set of a column's values: a value's place in it is its code.
///
/// Numbers and dates stand in their natural order, words in the order they were given or,
/// without one, by their bytes. "Not known", where it occurs, is a value of its own and
/// stands last.
#[derive(Debug, Clone)]
pub struct Domain {
    kind: Kind,
    texts: Of<Code, Box<str>>,
    // As long as `texts` for numbers and dates, empty for words; ascending but for the
    // last one if that is "not known".
    numbers: Of<Code, f64>,
    missing: Option<Code>,
    // Where numbers may be, if that is public.
    limits: Option<[f64; 2]>,
}

/// Which of the given texts are not of the column's kind, as places in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable(pub Vec<usize>);

impl Domain {
    /// The domain of `texts`, and for each of them its code. Texts that mean the same
    /// number or day, or are missing markers, fall together.
    pub fn of(
        texts: &[Box<str>],
        reading: &Reading,
    ) -> Result<(Self, Vec<Code>), Unreadable> {
        let mut present: Vec<(f64, String, usize)> = Vec::new();
        let mut absent = Vec::new();
        let mut bad = Vec::new();
        for (place, text) in texts.iter().enumerate() {
            if reading.is_missing(text) {
                absent.push(place);
            } else if let Some(number) = reading.number_of(text) {
                present.push((number, reading.canonical(text, number), place));
            } else {
                bad.push(place);
            }
        }
        if !bad.is_empty() {
            return Err(Unreadable(bad));
        }
        present.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));

        let mut domain = Self::empty(reading.kind);
        let mut codes = vec![Code::default(); texts.len()];
        for (number, text, place) in present {
            let last = domain.texts.pairs().next_back();
            codes[place] = match last.filter(|(_, last)| ***last == *text) {
                Some((code, _)) => code,
                None => domain.push(text, number),
            };
        }
        if !absent.is_empty() {
            let code = domain.push_missing(reading);
            for place in absent {
                codes[place] = code;
            }
        }
        Ok((domain, codes))
    }

    /// A domain of words in the order given, which must have no repetitions.
    pub fn ordered(texts: Vec<String>, reading: &Reading, with_missing: bool) -> Self {
        let mut domain = Self::empty(reading.kind);
        for text in texts {
            let number = reading.number_of(&text).unwrap_or(0.0);
            domain.push(text, number);
        }
        if with_missing {
            domain.push_missing(reading);
        }
        domain
    }

    fn empty(kind: Kind) -> Self {
        Self { kind, texts: Of::new(), numbers: Of::new(), missing: None, limits: None }
    }

    fn push(&mut self, text: String, number: f64) -> Code {
        if self.kind != Kind::Category {
            self.numbers.push(number);
        }
        self.texts.push(text.into_boxed_str())
    }

    fn push_missing(&mut self, reading: &Reading) -> Code {
        let code = self.push(reading.missing_text().to_owned(), f64::INFINITY);
        self.missing = Some(code);
        code
    }

    /// How many values there are, "not known" included.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is no value at all.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// What the values are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The text of a value.
    pub fn text(&self, code: Code) -> &str {
        &self.texts[code]
    }

    /// The codes of all values, in order.
    pub fn codes(&self) -> Ids<Code> {
        self.texts.ids()
    }

    /// All texts, in order.
    pub fn texts(&self) -> &Of<Code, Box<str>> {
        &self.texts
    }

    /// The number behind a value, or days since 1970-01-01; nothing for words and for
    /// "not known".
    pub fn number(&self, code: Code) -> Option<f64> {
        if self.missing == Some(code) {
            return None;
        }
        self.numbers.at(code).copied()
    }

    /// The code of "not known", if it occurs.
    pub fn missing(&self) -> Option<Code> {
        self.missing
    }

    /// The same values of a column whose numbers are known to be from the first of these to
    /// the last.
    pub(crate) fn limited(self, limits: Option<[f64; 2]>) -> Self {
        Self { limits: limits.filter(|_| self.kind != Kind::Category), ..self }
    }

    /// Where its numbers may be, both ends included, if that is public.
    pub fn limits(&self) -> Option<[f64; 2]> {
        self.limits
    }

    /// The smallest and the largest number that there is, if the values are numbers or dates;
    /// the smallest and the largest that there may be, if that is public.
    pub fn range(&self) -> Option<(f64, f64)> {
        if let Some([low, high]) = self.limits {
            return Some((low, high));
        }
        let numbers = match self.missing {
            Some(code) => self.numbers.get(..code.index())?,
            None => &self.numbers,
        };
        Some((*numbers.first()?, *numbers.last()?))
    }

    /// The code of every text.
    pub fn index(&self) -> HashMap<&str, Code> {
        self.texts.pairs().map(|(code, text)| (&**text, code)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(texts: &[&str]) -> Vec<Box<str>> {
        texts.iter().map(|text| (*text).into()).collect()
    }

    #[test]
    fn numbers_are_ordered_as_numbers_and_fall_together() {
        let texts = boxed(&["10", "9", "9.0", ""]);
        let (domain, codes) = Domain::of(&texts, &Reading::number()).expect("numbers");
        assert_eq!(**domain.texts(), *boxed(&["9", "10", ""]));
        assert_eq!(codes, Code::of([1, 0, 0, 2]));
        assert_eq!(domain.missing(), Some(Code::new(2)));
        assert_eq!(domain.range(), Some((9.0, 10.0)));
        assert_eq!(domain.number(Code::new(2)), None);
    }

    #[test]
    fn what_is_no_number_is_named_by_its_place() {
        let texts = boxed(&["1", "one", "2", "two"]);
        let unreadable = Domain::of(&texts, &Reading::number()).expect_err("words");
        assert_eq!(unreadable, Unreadable(vec![1, 3]));
    }
}
