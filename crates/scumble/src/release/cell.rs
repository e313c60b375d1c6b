//! The text of a cell, and back.

use crate::hierarchy::{Cells, Column, Cover, ROOT_LABEL};
use crate::table::{Kind, parse_date, parse_number};

/// What is written behind a range that also stands for "not known".
const OR_MISSING: &str = " or missing";

/// How a cell is written.
pub fn text(column: &Column, cover: &Cover) -> String {
    let word = |code: &u32| quoted(column.domain.text(*code));
    match cover {
        Cover::Node { level, node } => {
            let label = &column.hierarchy.levels()[*level].nodes[*node as usize].label;
            match column.cells {
                Cells::Taxonomy => label.to_string(),
                _ if **label == *ROOT_LABEL => label.to_string(),
                _ => quoted(label),
            }
        }
        Cover::Range { low, high, missing } => {
            let ends = if low == high {
                word(low)
            } else {
                format!("[{}, {}]", word(low), word(high))
            };
            if *missing { ends + OR_MISSING } else { ends }
        }
        Cover::Set(codes) => match &codes[..] {
            [only] => word(only),
            _ => {
                format!("{{{}}}", codes.iter().map(word).collect::<Vec<_>>().join(", "))
            }
        },
    }
}

/// The values a written cell may stand for; nothing if it is not well formed or names a
/// value outside the domain. `level` is the level of the whole column, if it has one.
pub fn parse(column: &Column, level: Option<usize>, text: &str) -> Option<Cover> {
    match column.cells {
        Cells::Taxonomy => node(column, level, text),
        _ if text == ROOT_LABEL => Some(Cover::root(&column.hierarchy)),
        Cells::Interval => range(column, text),
        Cells::Set => {
            let words =
                match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                    Some(inside) => split(inside)?,
                    None => split(text).filter(|words| words.len() == 1)?,
                };
            let mut codes: Vec<u32> = words
                .iter()
                .map(|word| position(column, word))
                .collect::<Option<_>>()?;
            codes.sort_unstable();
            codes.dedup();
            Some(Cover::Set(codes))
        }
    }
}

/// Of several nodes with the same label the highest: a reader cannot tell which is meant.
fn node(column: &Column, level: Option<usize>, text: &str) -> Option<Cover> {
    let levels = column.hierarchy.levels();
    let wanted = match level {
        Some(level) => level..level + 1,
        None => 0..levels.len(),
    };
    wanted.rev().find_map(|level| {
        let node =
            levels.get(level)?.nodes.iter().position(|node| *node.label == *text)?;
        Some(Cover::Node { level, node: node as u32 })
    })
}

fn range(column: &Column, text: &str) -> Option<Cover> {
    let (ends, missing) = match text.strip_suffix(OR_MISSING) {
        Some(ends) => (ends, true),
        None => (text, false),
    };
    let words = match ends.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inside) => split(inside)?,
        None => split(ends)?,
    };
    let (first, last) = match &words[..] {
        [only] => (only, only),
        [first, last] => (first, last),
        _ => return None,
    };
    let low = position(column, first)?;
    let high = position(column, last)?;
    (low <= high).then_some(Cover::Range { low, high, missing })
}

/// The code of a word. Numbers and dates may be written in any form that means the same.
fn position(column: &Column, word: &str) -> Option<u32> {
    let domain = &column.domain;
    let number = match domain.kind() {
        Kind::Category => None,
        Kind::Number => parse_number(word),
        Kind::Date => parse_date(word, None),
    };
    match number {
        Some(number) => {
            let codes = 0..domain.len() as u32;
            let place = codes.clone().find(|code| domain.number(*code) == Some(number));
            place.or_else(|| codes.clone().find(|code| domain.text(*code) == word))
        }
        None => (0..domain.len() as u32).find(|code| domain.text(*code) == word),
    }
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
    use crate::hierarchy::Hierarchy;
    use crate::table::{Domain, Reading};

    fn column(texts: &[&str], reading: &Reading, cells: Cells) -> Column {
        let texts: Vec<Box<str>> = texts.iter().map(|text| (*text).into()).collect();
        let (domain, _) = Domain::of(&texts, reading).expect("readable");
        let labels = domain.texts().iter().map(|text| (text.clone(), None)).collect();
        Column {
            name: "column".into(),
            rows: vec![1; domain.len()],
            hierarchy: Hierarchy::from_labels(vec![labels]),
            domain,
            lowest: 0,
            highest: 1,
            weight: 1.0,
            cells,
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
        let range = |low, high, missing| Cover::Range { low, high, missing };
        assert_eq!(survives(&column, &range(0, 2, false)), "[9, 35]");
        assert_eq!(survives(&column, &range(1, 1, false)), "10");
        assert_eq!(survives(&column, &range(0, 1, true)), "[9, 10] or missing");
        assert_eq!(survives(&column, &range(1, 1, true)), "10 or missing");
        assert_eq!(survives(&column, &range(3, 3, false)), "\"\"");
    }

    #[test]
    fn sets_of_awkward_words_read_back() {
        let words = ["a, b", "{c}", "\"d\"", "*", " e", "f or missing", "plain"];
        let column = column(&words, &Reading::category(), Cells::Set);
        survives(&column, &Cover::Set((0..words.len() as u32).collect()));
        for code in 0..words.len() as u32 {
            survives(&column, &Cover::Set(vec![code]));
        }
        assert_eq!(text(&column, &Cover::root(&column.hierarchy)), "*");
    }

    #[test]
    fn nonsense_is_no_cell() {
        let column = column(&["1", "2"], &Reading::number(), Cells::Set);
        for text in ["{1, 2", "{1,2}", "3", "", "\"1", "{1, }"] {
            assert_eq!(parse(&column, None, text), None, "{text}");
        }
    }
}
