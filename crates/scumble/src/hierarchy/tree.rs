//! Trees of words, from the file form that ARX and others use.

use std::fs;
use std::path::Path;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hierarchy::{Band, ROOT_LABEL, Template};

/// A tree of words: for every leaf, the nodes above it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "TreeLines", into = "TreeLines")]
pub struct Tree {
    // One a leaf, leaf first, root last, all equally long; depth-first, children in the
    // order of their first appearance. On every level, equal cells have equal parents.
    pub(super) lines: Vec<Vec<String>>,
    // Where each of them stood in the file, for messages: a tree may have been made from the
    // table, so they show none of its words.
    pub(super) numbers: Vec<usize>,
    pub(super) leaves: Vec<String>,
    // The line of every leaf.
    pub(super) index: HashMap<String, usize>,
    // What finds the leaves of texts that are none.
    pub(super) template: Option<Template>,
    // The leaf of texts that have no other.
    pub(super) other: Option<usize>,
}

/// The leaf of values that have no leaf, if a tree has one.
const OTHER: &str = "other";

/// Wherever its lines stood.
impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.lines == other.lines
            && self.template == other.template
            && self.other == other.other
    }
}

#[derive(Serialize, Deserialize)]
struct TreeLines {
    lines: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    template: Option<Template>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    other: bool,
}

/// Lines as they stand in a file: the number of the line, and for each cell its column.
type NumberedLine = (usize, Vec<(usize, String)>);

impl Tree {
    /// Reads a hierarchy file.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = fs::read_to_string(path)
            .map_err(|source| Error::io("read the file", &file, source))?;
        Self::parse(&text, &file)
    }

    /// Parses the text of a hierarchy file: one line a leaf, leaf first, root last, cells
    /// between `;` or `,`. `file` is its name in errors.
    pub fn parse(text: &str, file: &str) -> Result<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let separator = if has_semicolon(text) { ';' } else { ',' };
        let mut lines = Vec::new();
        for (place, line) in text.lines().enumerate() {
            if !line.trim().is_empty() {
                let number = place + 1;
                let cells = split(line, separator).map_err(|column| {
                    let message = "the quote `\"` that begins here is not closed";
                    Error::input(message).at(file, number, column)
                })?;
                lines.push((number, cells));
            }
        }
        Self::from_lines(lines).map_err(|(line, column, error)| match line {
            0 => error.in_file(file),
            _ => error.at(file, line, column),
        })
    }

    /// Checks that lines are even and that every node has one parent. An error comes with
    /// its line and column; line 0 means the file as a whole.
    fn from_lines(lines: Vec<NumberedLine>) -> Result<Self, (usize, usize, Error)> {
        let n_levels = lines.first().map_or(0, |line| line.1.len());
        if n_levels == 0 {
            let error = Error::input("no lines, but wanted one for each value")
                .with_hint("a line is a value, then the nodes above it, then the root");
            return Err((0, 0, error));
        }
        // For every level, where each label was seen first.
        let mut first_seen: Vec<HashMap<&str, usize>> =
            vec![Default::default(); n_levels];
        let mut kept = Vec::new();
        for (place, (number, cells)) in lines.iter().enumerate() {
            if cells.len() != n_levels {
                return Err((*number, 1, uneven(cells.len(), n_levels)));
            }
            for (level, (column, cell)) in cells.iter().enumerate() {
                let first = match first_seen[level].entry(cell) {
                    Entry::Vacant(entry) => {
                        entry.insert(place);
                        continue;
                    }
                    Entry::Occupied(entry) => *entry.get(),
                };
                let (line, before) = &lines[first];
                let parents = cells.get(level + 1).zip(before.get(level + 1));
                if let Some((parent, before)) = parents
                    && parent.1 != before.1
                {
                    let error = two_parents(level, *line);
                    return Err((*number, *column, error));
                }
            }
            if first_seen[0][&*cells[0].1] == place {
                kept.push(place);
            }
        }
        let rank = |place: &usize| -> Vec<usize> {
            let cells = lines[*place].1.iter().zip(&first_seen).rev();
            cells.map(|((_, cell), seen)| seen[&**cell]).collect()
        };
        kept.sort_by_cached_key(rank);
        let cells = |place: &usize| lines[*place].1.iter().map(|cell| cell.1.clone());
        let numbers = kept.iter().map(|place| lines[*place].0).collect();
        let lines: Vec<Vec<String>> =
            kept.iter().map(|place| cells(place).collect()).collect();
        Ok(Self::of(lines, numbers))
    }

    /// Values that coarsen to nothing but everything, in this order.
    pub(super) fn flat(values: &[String]) -> Self {
        let line = |value: &String| vec![value.clone(), ROOT_LABEL.to_owned()];
        Self::of(values.iter().map(line).collect(), (1..=values.len()).collect())
    }

    /// The tree without the leaves that are not wanted; nothing if none is.
    pub(super) fn only(&self, is_wanted: impl Fn(&str) -> bool) -> Option<Self> {
        let lines = self.lines.iter().zip(&self.numbers);
        let lines = lines.filter(|(line, _)| is_wanted(&line[0]));
        let (lines, numbers): (Vec<Vec<String>>, Vec<usize>) =
            lines.map(|(line, number)| (line.clone(), *number)).unzip();
        if lines.is_empty() {
            return None;
        }
        let only = Self { template: self.template, ..Self::of(lines, numbers) };
        let kept = self.other.filter(|_| only.index.contains_key(OTHER));
        Some(if kept.is_some() { only.with_other() } else { only })
    }

    /// The same tree with one more leaf, `other`, for values that have none.
    #[must_use]
    pub fn with_other(self) -> Self {
        if let Some(place) = self.index.get(OTHER).copied() {
            return Self { other: Some(place), ..self };
        }
        let Self { mut lines, mut numbers, template, .. } = self;
        let rooted = lines.iter().all(|line| line.last() == lines[0].last());
        let mut line = vec![OTHER.to_owned(); lines[0].len()];
        if let (true, Some(root), Some(last)) =
            (rooted && line.len() > 1, lines[0].last().cloned(), line.last_mut())
        {
            *last = root;
        }
        lines.push(line);
        numbers.push(0);
        let other = Some(lines.len() - 1);
        Self { template, other, ..Self::of(lines, numbers) }
    }

    /// Words in their order, with ranges of two, four, ... neighbours above them; or of as
    /// many as `by` says. Ranges of ages and the like, as in `[0-10)`, become wider ones.
    pub fn ladder(words: &[String], by: &[usize]) -> Result<Self> {
        let mut sizes = by.to_vec();
        if sizes.is_empty() {
            sizes = std::iter::successors(Some(2), |size| Some(size * 2))
                .take_while(|size| size * 2 <= words.len().max(4))
                .collect();
        }
        let nested =
            |pair: &[usize]| pair[1] > pair[0] && pair[1].is_multiple_of(pair[0]);
        if sizes[0] < 2 || !sizes.windows(2).all(nested) {
            return Err(Error::recipe(
                "`by` must grow, each number a multiple of the one before",
            )
            .with_hint(
                "write `by = [2, 4]` for ranges of two and of four neighbours",
            ));
        }
        let mut lines = Vec::new();
        for (place, word) in words.iter().enumerate() {
            if words[..place].contains(word) {
                return Err(Error::recipe(format!("`order` has `{word}` twice")));
            }
            let step = |size: &usize| {
                let first = place / size * size;
                joined(&words[first..words.len().min(first + size)])
            };
            let mut line = vec![word.clone()];
            line.extend(sizes.iter().map(step));
            line.push(ROOT_LABEL.to_owned());
            lines.push((place + 1, line.into_iter().map(|cell| (1, cell)).collect()));
        }
        Self::from_lines(lines).map_err(|(_, _, error)| error)
    }

    /// The tree of a template.
    pub(super) fn of_template(lines: Vec<[String; 4]>, template: Template) -> Self {
        let numbers = (1..=lines.len()).collect();
        let lines = lines.into_iter().map(Vec::from).collect();
        Self { template: Some(template), ..Self::of(lines, numbers) }
    }

    /// What finds the leaves of texts that are none, if the tree is a template's.
    pub fn template(&self) -> Option<Template> {
        self.template
    }

    /// Whether values without a leaf have one all the same.
    pub fn takes_all(&self) -> bool {
        self.other.is_some()
    }

    /// The labels of every leaf, leaf first, root last.
    pub fn lines(&self) -> impl Iterator<Item = &[String]> {
        self.lines.iter().map(Vec::as_slice)
    }

    /// The place of the leaf that a text stands for.
    pub(super) fn place_of(&self, text: &str) -> Option<usize> {
        let own = self.index.get(text).copied();
        own.or_else(|| self.index.get(&self.template?.leaf(text)?).copied())
    }

    /// Lines that are in order.
    fn of(lines: Vec<Vec<String>>, numbers: Vec<usize>) -> Self {
        let leaves: Vec<String> = lines.iter().map(|line| line[0].clone()).collect();
        let index = leaves.iter().cloned().zip(0..).collect();
        Self { lines, numbers, leaves, index, template: None, other: None }
    }

    /// The leaves, depth-first: those below one node stand together.
    pub fn leaves(&self) -> &[String] {
        &self.leaves
    }

    /// How many levels there are, the leaves and the tree's root included.
    pub fn levels(&self) -> usize {
        self.lines.first().map_or(0, Vec::len)
    }

    /// How many levels lie between the leaves and the root, which is the tree's own if
    /// that has a single node on top.
    pub(super) fn n_steps(&self) -> usize {
        let mut tops = self.lines.iter().filter_map(|line| line.last());
        let first = tops.next();
        let rooted = self.levels() > 1 && tops.all(|top| Some(top) == first);
        self.levels().saturating_sub(1 + usize::from(rooted))
    }
}

impl TryFrom<TreeLines> for Tree {
    type Error = Error;

    fn try_from(typed: TreeLines) -> Result<Self> {
        let cells =
            |line: Vec<String>| line.into_iter().map(|cell| (1, cell)).collect();
        let lines = (1..).zip(typed.lines.into_iter().map(cells)).collect();
        let tree = Self::from_lines(lines).map_err(|(_, _, error)| error)?;
        let tree = Self { template: typed.template, ..tree };
        Ok(if typed.other { tree.with_other() } else { tree })
    }
}

impl From<Tree> for TreeLines {
    fn from(tree: Tree) -> Self {
        Self { lines: tree.lines, template: tree.template, other: tree.other.is_some() }
    }
}

/// What a range of neighbouring words is called: `[0-20)` for `[0-10)` and `[10-20)`, else the
/// first and the last.
fn joined(words: &[String]) -> String {
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return String::new();
    };
    if words.len() == 1 {
        return first.clone();
    }
    match Band::of(first).zip(Band::of(last)) {
        Some((first, last)) if first.low < last.low => first.to(&last),
        _ => format!("{first} .. {last}"),
    }
}

/// Whether any line has a semicolon outside quotes.
fn has_semicolon(text: &str) -> bool {
    text.lines().any(|line| match split(line, ';') {
        Ok(cells) => cells.len() > 1,
        Err(column) => column > 1,
    })
}

/// The cells of a line with the column of each; or the column of a quote without end.
fn split(line: &str, separator: char) -> Result<Vec<(usize, String)>, usize> {
    let mut cells = vec![(1, String::new())];
    let mut letters = line.chars().zip(1..).peekable();
    let mut quoted = false;
    while let Some((letter, column)) = letters.next() {
        let last = cells.len() - 1;
        let (start, cell): &mut (usize, String) = &mut cells[last];
        if letter == '"' && column == *start {
            quoted = true;
        } else if letter == '"' && quoted {
            // Doubled, it is a quote; alone, it ends them.
            match letters.next_if(|next| next.0 == '"') {
                Some(_) => cell.push('"'),
                None => quoted = false,
            }
        } else if letter == separator && !quoted {
            cells.push((column + 1, String::new()));
        } else {
            cell.push(letter);
        }
    }
    match cells.last() {
        Some((start, _)) if quoted => Err(*start),
        _ => Ok(cells),
    }
}

fn uneven(found: usize, wanted: usize) -> Error {
    Error::input(format!(
        "the line has {}, but the first one has {wanted}",
        n_cells(found)
    ))
    .with_hint("cells with the separator in them need quotes, as in `\"[20, 30)\"`")
}

fn two_parents(level: usize, line: usize) -> Error {
    let node = if level == 0 { "leaf" } else { "node" };
    Error::input(format!("the {node} is below another node here than in line {line}"))
}

fn n_cells(n: usize) -> String {
    format!("{n} {}", if n == 1 { "cell" } else { "cells" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Tree::parse(text, "tree.csv").expect_err("refused").to_string()
    }

    #[test]
    fn leaves_of_a_node_stand_together() {
        let text = "Rome;Italy;Europe\nLima;Peru;America\nOslo;Norway;Europe\n\
                    Bari;Italy;Europe\n";
        let tree = Tree::parse(text, "tree.csv").expect("a tree");
        assert_eq!(tree.leaves(), ["Rome", "Bari", "Oslo", "Lima"]);
        assert_eq!(tree.levels(), 3);
        assert_eq!(tree.n_steps(), 2, "there are two nodes on top: a root is added");
    }

    #[test]
    fn quotes_marks_and_blank_lines_are_read() {
        let text = "\u{feff}20,\"[20, 30)\",*\r\n\r\n31,\"[30, \"\"40\"\")\",*\r\n\
                    20,\"[20, 30)\",*";
        let tree = Tree::parse(text, "tree.csv").expect("a tree");
        assert_eq!(tree.lines[0], ["20", "[20, 30)", "*"]);
        assert_eq!(tree.lines[1], ["31", "[30, \"40\")", "*"]);
        assert_eq!((tree.leaves().len(), tree.n_steps()), (2, 1));
        let tree = Tree::parse("\"a;b\",*\n", "tree.csv").expect("a tree");
        assert_eq!(tree.leaves(), ["a;b"]);
    }

    #[test]
    fn a_semicolon_separates_if_there_is_one() {
        let tree = Tree::parse("20;[20, 30);*\n", "tree.csv").expect("a tree");
        assert_eq!(tree.lines[0], ["20", "[20, 30)", "*"]);
    }

    #[test]
    fn mistakes_have_a_line_and_a_column() {
        assert_eq!(
            message("a;x;*\n\nb;*\n"),
            "tree.csv:3:1: the line has 2 cells, but the first one has 3"
        );
        assert_eq!(
            message("a;x;*\na;y;*\n"),
            "tree.csv:2:1: the leaf is below another node here than in line 1"
        );
        assert_eq!(
            message("a;x;*\nbb;x;all\n"),
            "tree.csv:2:4: the node is below another node here than in line 1"
        );
        assert_eq!(
            message("a;\"x;*\n"),
            "tree.csv:1:3: the quote `\"` that begins here is not closed"
        );
        assert_eq!(
            message(" \n\n"),
            "tree.csv: no lines, but wanted one for each value"
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = Tree::read(Path::new("no/such.csv")).expect_err("no file");
        assert_eq!(
            error.to_string(),
            "no/such.csv: cannot read the file: no such file or directory"
        );
    }

    #[test]
    fn a_tree_is_saved_as_its_lines() {
        let tree = Tree::parse("a;x;*\nb;x;*\n", "tree.csv").expect("a tree");
        let json = serde_json::to_string(&tree).expect("json");
        assert_eq!(json, r#"{"lines":[["a","x","*"],["b","x","*"]]}"#);
        assert_eq!(serde_json::from_str::<Tree>(&json).expect("a tree"), tree);
        let uneven = r#"{"lines":[["a","x"],["b"]]}"#;
        assert!(serde_json::from_str::<Tree>(uneven).is_err());
        assert!(serde_json::from_str::<Tree>(r#"{"lines":[[]]}"#).is_err());
    }
}
