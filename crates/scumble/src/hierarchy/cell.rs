//! The text of a cell, and back.

use std::ops::Range;

use crate::hierarchy::{Cells, Column, Cover, ROOT_LABEL};
use crate::table::{Code, Ids, Kind, parse_date, parse_number};

/// What is written behind a range that also stands for "not known".
pub(crate) const OR_MISSING: &str = " or missing";

/// How a cell is written.
pub fn text(column: &Column, cover: &Cover) -> String {
    let word = |code: &Code| quoted(column.domain.text(*code));
    match cover {
        Cover::Node { level, node } => {
            let label = &column.hierarchy.levels()[*level].nodes[*node].label;
            match column.cells {
                Cells::Taxonomy => label.to_string(),
                _ if **label == *ROOT_LABEL => label.to_string(),
                _ => quoted(label),
            }
        }
        Cover::Range { low, high, missing } => {
            let on_grid = column.grid.as_ref().and_then(|g| g.text(*low, *high));
            let ends = match on_grid {
                Some(ends) => ends,
                None if low == high => alone(column.domain.text(*low)),
                None => format!("[{}, {}]", word(low), word(high)),
            };
            if *missing { ends + OR_MISSING } else { ends }
        }
        Cover::Set(codes) => {
            let is_missing = |code: &Code| column.domain.missing() == Some(*code);
            let (known, missing) = match codes.split_last() {
                Some((last, known)) if is_missing(last) && !known.is_empty() => {
                    (known, true)
                }
                _ => (&codes[..], false),
            };
            let set = match known {
                [only] => alone(column.domain.text(*only)),
                _ => {
                    format!(
                        "{{{}}}",
                        known.iter().map(word).collect::<Vec<_>>().join(", ")
                    )
                }
            };
            if missing { set + OR_MISSING } else { set }
        }
    }
}

/// The values of the domain that a written cell may stand for; nothing if it is not well
/// formed. It may name values that the domain lacks. `level` is the level of the whole column, if it has one.
pub fn parse(column: &Column, level: Option<usize>, text: &str) -> Option<Cover> {
    match column.cells {
        Cells::Taxonomy => node(column, level, text),
        _ if text == ROOT_LABEL => Some(Cover::root(&column.hierarchy)),
        Cells::Interval => range(column, text),
        // Distributions have a file of their own.
        Cells::Pdf => None,
        Cells::Set => {
            let Named { values: words, missing, .. } = named(column.cells, text)?;
            let absent = column.domain.missing();
            let mut codes: Vec<Code> = absent.filter(|_| missing).into_iter().collect();
            for word in &words {
                match absent {
                    Some(code) if column.domain.text(code) == word => codes.push(code),
                    _ => {
                        let own = place(column, word)?;
                        codes.extend(Ids::between(own.start, own.end));
                    }
                }
            }
            codes.sort_unstable();
            codes.dedup();
            Some(Cover::Set(codes))
        }
    }
}

/// What an interval or set names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The values: of a range its ends, of which a grid may leave one open (`-inf`, `inf`).
    pub values: Vec<String>,
    /// Whether it also stands for "not known".
    pub missing: bool,
    /// Whether it is a range of a grid, whose last end is no longer in it.
    pub half_open: bool,
}

impl Named {
    /// The ends of a range, read by `number`: the first and the last value, which are the same
    /// if there is one. Nothing if they are not in order.
    pub fn ends(&self, number: impl Fn(&str) -> Option<f64>) -> Option<(f64, f64)> {
        let (first, last) = match &self.values[..] {
            [only] => (only, only),
            [first, last] => (first, last),
            _ => return None,
        };
        let open = |text: &str, end: &str| self.half_open && text == end;
        let low = match open(first, LOWEST) {
            true => f64::NEG_INFINITY,
            false => number(first)?,
        };
        let high = if open(last, HIGHEST) { f64::INFINITY } else { number(last)? };
        let in_order = if self.half_open { low < high } else { low <= high };
        in_order.then_some((low, high))
    }
}

/// The ends of ranges that a grid leaves open.
const LOWEST: &str = "-inf";
const HIGHEST: &str = "inf";

/// The values that an interval or set names. A value that stands alone is an interval and a
/// set of one. Nothing if the cell is not well formed.
pub fn named(cells: Cells, text: &str) -> Option<Named> {
    let (rest, missing) = match text.strip_suffix(OR_MISSING) {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let between = |open, close| rest.strip_prefix(open)?.strip_suffix(close);
    let (inside, half_open) = match cells {
        Cells::Set => (between('{', '}'), false),
        _ => match between('[', ']') {
            Some(inside) => (Some(inside), false),
            None => {
                let ends = between('[', ')').or_else(|| {
                    between('(', ')').filter(|inside| inside.starts_with(LOWEST))
                });
                (ends, ends.is_some())
            }
        },
    };
    let values = match inside {
        Some(inside) => split(inside)?,
        None => vec![single(rest)?],
    };
    (!half_open || values.len() == 2).then_some(Named { values, missing, half_open })
}

/// Of several nodes with the same label the highest: a reader cannot tell which is meant.
fn node(column: &Column, level: Option<usize>, text: &str) -> Option<Cover> {
    let levels = column.hierarchy.levels();
    let wanted = match level {
        Some(level) => level..level + 1,
        None => 0..levels.len(),
    };
    wanted.rev().find_map(|level| {
        let mut nodes = levels.get(level)?.nodes.pairs();
        let (node, _) = nodes.find(|(_, node)| *node.label == *text)?;
        Some(Cover::Node { level, node })
    })
}

/// The values between two that the domain has; the two themselves may be lacking.
fn range(column: &Column, text: &str) -> Option<Cover> {
    let named = named(Cells::Interval, text)?;
    let missing = named.missing;
    let (first, last) = match &named.values[..] {
        [only] => (only, only),
        [first, last] => (first, last),
        _ => return None,
    };
    let domain = &column.domain;
    if first == last && domain.missing().is_some_and(|code| domain.text(code) == first)
    {
        let code = domain.missing()?;
        return Some(Cover::Range { low: code, high: code, missing });
    }
    let known = domain.missing().unwrap_or(Code::from_index(domain.len()));
    let (low, high) = match named.half_open {
        false => (place(column, first)?.start, place(column, last)?.end),
        true => {
            let number = |word: &str| number_of(domain.kind(), word);
            let (low, high) = named.ends(number)?;
            let before = |end: f64| {
                first_code(known, |code| domain.number(code).is_some_and(|n| n < end))
            };
            (before(low), before(high))
        }
    };
    if let Some(high) = Ids::between(low, high).next_back() {
        return Some(Cover::Range { low, high, missing });
    }
    Some(Cover::Set(domain.missing().filter(|_| missing).into_iter().collect()))
}

/// Where a word stands among the known values of the domain, or would stand: an empty
/// range of codes if the domain lacks it. Nothing if it cannot be a value of the column.
fn place(column: &Column, word: &str) -> Option<Range<Code>> {
    let domain = &column.domain;
    let known = domain.missing().unwrap_or(Code::from_index(domain.len()));
    if domain.kind() != Kind::Category {
        let number = number_of(domain.kind(), word)?;
        let before = |below: &dyn Fn(f64) -> bool| {
            first_code(known, |code| domain.number(code).is_some_and(below))
        };
        return Some(before(&|held| held < number)..before(&|held| held <= number));
    }
    // Words stand in the order of their bytes, unless a tree gives them another; then the
    // domain has every word there is.
    let ordered = domain.texts().slice(&Code::first(known.index())).is_sorted();
    if ordered {
        let start = first_code(known, |code| domain.text(code) < word);
        let there = start < known && domain.text(start) == word;
        return Some(start..if there { start.next() } else { start });
    }
    let code = Code::first(known.index()).find(|code| domain.text(*code) == word)?;
    Some(code..code.next())
}

/// The first value of the domain that does not stand before a word, which it may lack: behind
/// all if there is none. Nothing if the word cannot be a value of the column.
pub fn first_from(column: &Column, word: &str) -> Option<Code> {
    place(column, word).map(|own| own.start)
}

/// The number or day that is written so.
pub fn number_of(kind: Kind, word: &str) -> Option<f64> {
    match kind {
        Kind::Category => None,
        Kind::Number => parse_number(word),
        Kind::Date => parse_date(word, None),
    }
}

/// The first code below `end` that is not `before`, which holds of a beginning.
fn first_code(end: Code, before: impl Fn(Code) -> bool) -> Code {
    let (mut low, mut high) = (0, end.get());
    while low < high {
        let middle = low + (high - low) / 2;
        if before(Code::new(middle)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Code::new(low)
}

/// Splits at `, ` outside quotes and takes the quotes away.
fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = text;
    loop {
        if let Some(inside) = rest.strip_prefix('"') {
            let mut word = String::new();
            let mut chars = inside.char_indices().peekable();
            let end = loop {
                match chars.next()? {
                    (_, '"') if chars.next_if(|(_, next)| *next == '"').is_some() => {
                        word.push('"');
                    }
                    (place, '"') => break place + 1,
                    (_, other) => word.push(other),
                }
            };
            words.push(word);
            rest = &inside[end..];
        } else {
            let end = rest.find(", ").unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        if rest.is_empty() {
            return Some(words);
        }
        rest = rest.strip_prefix(", ")?;
    }
}

/// A value that stands alone is quoted only if it could be taken for something else.
fn alone(value: &str) -> String {
    if value.starts_with(['{', '[', '"'])
        || value == ROOT_LABEL
        || value.ends_with(OR_MISSING)
    {
        quoted(value)
    } else {
        value.to_owned()
    }
}

/// The value that stands alone in a cell.
fn single(text: &str) -> Option<String> {
    if !text.starts_with('"') {
        return Some(text.to_owned());
    }
    let mut words = split(text)?;
    words.pop().filter(|_| words.is_empty())
}

/// A value as it stands in an interval or a set.
fn quoted(value: &str) -> String {
    let special = value.is_empty()
        || value == ROOT_LABEL
        || value.trim() != value
        || value.ends_with(OR_MISSING)
        || value.contains([',', '{', '}', '[', ']', '"']);
    if special {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::{Grid, Hierarchy, Rule};
    use crate::table::{Domain, Reading};

    fn column(texts: &[&str], reading: &Reading, cells: Cells) -> Column {
        let texts: Vec<Box<str>> = texts.iter().map(|text| (*text).into()).collect();
        let (domain, _) = Domain::of(&texts, reading).expect("readable");
        let labels = domain.texts().iter().map(|text| (text.clone(), None)).collect();
        Column {
            name: "column".into(),
            rows: vec![1; domain.len()].into(),
            hierarchy: Hierarchy::from_labels(vec![labels]),
            domain,
            lowest: 0,
            highest: 1,
            weight: 1.0,
            cells,
            grid: None,
        }
    }

    fn survives(column: &Column, cover: &Cover) -> String {
        let written = text(column, cover);
        assert_eq!(parse(column, None, &written).as_ref(), Some(cover), "{written}");
        written
    }

    #[test]
    fn ranges_read_back() {
        let column =
            column(&["9", "10", "35", ""], &Reading::number(), Cells::Interval);
        let range = |low, high, missing| {
            let (low, high) = (Code::new(low), Code::new(high));
            Cover::Range { low, high, missing }
        };
        assert_eq!(survives(&column, &range(0, 2, false)), "[9, 35]");
        assert_eq!(survives(&column, &range(1, 1, false)), "10");
        assert_eq!(survives(&column, &range(0, 1, true)), "[9, 10] or missing");
        assert_eq!(survives(&column, &range(1, 1, true)), "10 or missing");
        assert_eq!(survives(&column, &range(3, 3, false)), "");
    }

    #[test]
    fn ranges_of_a_grid_read_back() {
        let texts = ["17", "21", "23", "70", ""];
        let mut column = column(&texts, &Reading::number(), Cells::Interval);
        let range = |low, high, missing| {
            let (low, high) = (Code::new(low), Code::new(high));
            Cover::Range { low, high, missing }
        };
        let grid = Grid::step(5.0).expect("a step").bind(&column.domain);
        column.grid = grid;
        assert_eq!(survives(&column, &range(1, 2, false)), "[20, 25)");
        assert_eq!(survives(&column, &range(0, 2, true)), "[15, 25) or missing");
        assert_eq!(survives(&column, &range(4, 4, false)), "");
        let cuts = Rule::cuts(vec![vec![18.0, 65.0]]).expect("ascending");
        column.grid = Grid::of_rule(&cuts).and_then(|g| g.bind(&column.domain));
        assert_eq!(survives(&column, &range(0, 2, false)), "(-inf, 65)");
        assert_eq!(survives(&column, &range(3, 3, false)), "[65, inf)");
        assert_eq!(survives(&column, &range(0, 3, true)), "(-inf, inf) or missing");
        // A reader needs no grid.
        column.grid = None;
        let read = |text| parse(&column, None, text);
        assert_eq!(read("[17, 23)"), Some(range(0, 1, false)));
        assert_eq!(read("(-inf, inf)"), Some(range(0, 3, false)));
        for text in ["[25, 20)", "[20, 20)", "(20, 25)", "[20)", "[inf, 5)", "[a, b)"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn sets_of_awkward_words_read_back() {
        let words = ["a, b", "{c}", "\"d\"", "*", " e", "f or missing", "plain"];
        let column = column(&words, &Reading::category(), Cells::Set);
        survives(&column, &Cover::Set(Code::first(words.len()).collect()));
        for code in Code::first(words.len()) {
            survives(&column, &Cover::Set(vec![code]));
        }
        assert_eq!(text(&column, &Cover::root(&column.hierarchy)), "*");
    }

    #[test]
    fn nonsense_is_no_cell() {
        let column = column(&["1", "2"], &Reading::number(), Cells::Set);
        for text in ["{1, 2", "{1,2}", "one", "", "\"1", "{1, }", "\"1\", 2"] {
            assert_eq!(parse(&column, None, text), None, "{text}");
        }
    }

    #[test]
    fn values_that_the_domain_lacks_stand_where_they_would() {
        let mut column =
            column(&["10", "20", "30"], &Reading::number(), Cells::Interval);
        let range = |low, high| {
            let (low, high) = (Code::new(low), Code::new(high));
            Some(Cover::Range { low, high, missing: false })
        };
        assert_eq!(parse(&column, None, "[5, 20]"), range(0, 1));
        assert_eq!(parse(&column, None, "[15, 35]"), range(1, 2));
        assert_eq!(parse(&column, None, "[11, 12]"), Some(Cover::Set(vec![])));
        column.cells = Cells::Set;
        assert_eq!(parse(&column, None, "{10, 11}"), Some(Cover::Set(Code::of([0]))));
    }
}
