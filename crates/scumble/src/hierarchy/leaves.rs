//! The leaves of a tree as values of a column.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::hierarchy::{Step, Tree, Uncovered};
use crate::table::{Code, Domain, Kind, Reading};

impl Tree {
    /// Checks that the leaves can be read as values of a column, each as one value.
    pub fn check(&self, reading: &Reading) -> Result<()> {
        if reading.kind != Kind::Category {
            let words = match (self.template, self.other) {
                (Some(template), _) => {
                    Some(format!("`template = \"{}\"`", template.name()))
                }
                (None, Some(_)) => Some("`other = true`".to_owned()),
                (None, None) => None,
            };
            if let Some(words) = words {
                return Err(Error::recipe(format!("{words} needs a column of words"))
                    .with_hint("say `type = \"category\"`"));
            }
        }
        let lookup = self.lookup(reading);
        for (place, (leaf, line)) in self.leaves.iter().zip(&self.lines).enumerate() {
            if reading.is_missing(leaf) {
                continue;
            }
            let Some(number) = reading.number_of(leaf) else {
                return Err(Error::input(format!(
                    "the leaf in line {} of the hierarchy is not a {}",
                    self.numbers[place],
                    name_of(reading.kind)
                )));
            };
            let first = lookup.line(leaf, Some(number), false).unwrap_or(line);
            if first[1..] != line[1..] {
                let before = self.lines.iter().position(|line| line == first);
                return Err(Error::input(format!(
                    "the leaves in lines {} and {} of the hierarchy are the same {} with \
                     different parents",
                    before.map_or(1, |before| self.numbers[before]),
                    self.numbers[place],
                    name_of(reading.kind)
                )));
            }
        }
        Ok(())
    }

    /// The tree's domain, and for each of `texts` its code.
    pub(super) fn domain(
        &self,
        texts: &[Box<str>],
        reading: &Reading,
    ) -> Result<(Domain, Vec<Code>), Uncovered> {
        let lookup = self.lookup(reading);
        let mut unreadable = Vec::new();
        let mut without_leaf = Vec::new();
        let mut places: Vec<Option<usize>> = Vec::with_capacity(texts.len());
        for (place, text) in texts.iter().enumerate() {
            let missing = reading.is_missing(text);
            let number = reading.number_of(text);
            if number.is_none() && !missing {
                unreadable.push(place);
            }
            let leaf = lookup.place(text, number, missing);
            if leaf.is_none() && !missing {
                without_leaf.push(place);
            }
            places.push(leaf);
        }
        if !unreadable.is_empty() {
            return Err(Uncovered::NotOfKind(unreadable));
        }
        if !without_leaf.is_empty() {
            return Err(Uncovered::NoLeaf(without_leaf));
        }
        let with_missing = places.contains(&None);
        let (domain, codes) = self.own_domain(reading, with_missing);
        let missing = domain.missing().unwrap_or_default();
        let code = |place: Option<usize>| place.map_or(missing, |place| codes[place]);
        Ok((domain, places.into_iter().map(code).collect()))
    }

    /// The domain of the leaves, and the code of each.
    fn own_domain(&self, reading: &Reading, with_missing: bool) -> (Domain, Vec<Code>) {
        if reading.kind == Kind::Category {
            let domain = Domain::ordered(self.leaves.clone(), reading, with_missing);
            return (domain, Code::first(self.leaves.len()).collect());
        }
        let readable = |leaf: &&String| {
            reading.is_missing(leaf) || reading.number_of(leaf).is_some()
        };
        let mut texts: Vec<Box<str>> = self
            .leaves
            .iter()
            .filter(readable)
            .map(|leaf| leaf.as_str().into())
            .collect();
        if with_missing {
            texts.push(reading.missing_text().into());
        }
        let (domain, codes) =
            Domain::of(&texts, reading).expect("unreadable leaves were left out");
        // Unreadable leaves get a code that nobody asks for.
        let mut codes = codes.into_iter();
        let code = |leaf| if readable(&leaf) { codes.next() } else { None };
        let codes =
            self.leaves.iter().map(code).map(Option::unwrap_or_default).collect();
        (domain, codes)
    }

    /// Prepares to find leaves by what they mean.
    pub(super) fn lookup<'a>(&'a self, reading: &Reading) -> Lookup<'a> {
        let mut lookup = Lookup {
            tree: self,
            kind: reading.kind,
            missing: None,
            numbers: HashMap::new(),
        };
        if reading.kind == Kind::Category {
            lookup.missing = self.index.get(reading.missing_text()).copied();
            return lookup;
        }
        for (place, leaf) in self.leaves.iter().enumerate() {
            if reading.is_missing(leaf) {
                lookup.missing.get_or_insert(place);
            } else if let Some(number) = reading.number_of(leaf) {
                lookup.numbers.entry(number.to_bits()).or_insert(place);
            }
        }
        lookup
    }
}

/// The leaves of a tree by what they mean in a column.
pub(super) struct Lookup<'a> {
    tree: &'a Tree,
    kind: Kind,
    // The leaf that stands for "not known".
    missing: Option<usize>,
    // The first leaf with a number, by the number's bits.
    numbers: HashMap<u64, usize>,
}

impl Lookup<'_> {
    /// Whether a text that is not missing is a leaf.
    pub(super) fn has(&self, text: &str, reading: &Reading) -> bool {
        self.place(text, reading.number_of(text), false).is_some()
    }

    fn place(&self, text: &str, number: Option<f64>, missing: bool) -> Option<usize> {
        match self.kind {
            Kind::Category => {
                let fallback = if missing { self.missing } else { None };
                let other = if missing { None } else { self.tree.other };
                self.tree.place_of(text).or(fallback).or(other)
            }
            _ if missing => self.missing,
            _ => self.numbers.get(&number?.to_bits()).copied(),
        }
    }

    fn line(
        &self,
        text: &str,
        number: Option<f64>,
        missing: bool,
    ) -> Option<&[String]> {
        Some(&self.tree.lines[self.place(text, number, missing)?])
    }

    /// The labels above a value; nothing if it is no leaf.
    pub(super) fn steps(
        &self,
        text: &str,
        number: Option<f64>,
        missing: bool,
    ) -> Option<Vec<Step>> {
        let line = self.line(text, number, missing)?;
        let cells = line[1..].iter().take(self.tree.n_steps());
        Some(cells.map(|cell| (cell.as_str().into(), None)).collect())
    }

    /// The labels above a value that is no leaf: itself, but where a node has the same
    /// label, that node and those above it.
    pub(super) fn own_steps(&self, text: &str) -> Vec<Step> {
        let n_steps = self.tree.n_steps();
        let named =
            |level: usize| self.tree.lines.iter().find(|line| line[level] == text);
        let join = (1..=n_steps).find_map(|level| Some((level, named(level)?)));
        let label = |level: usize| match join {
            Some((from, line)) if level >= from => line[level].as_str(),
            _ => text,
        };
        (1..=n_steps).map(|level| (label(level).into(), None)).collect()
    }
}

fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Category => "word",
        Kind::Number => "number",
        Kind::Date => "date",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(texts: &[&str]) -> Vec<Box<str>> {
        texts.iter().map(|text| (*text).into()).collect()
    }

    fn domain(
        tree: &str,
        kind: Kind,
        texts: &[&str],
    ) -> Result<Vec<String>, Uncovered> {
        let tree = Tree::parse(tree, "tree.csv").expect("a tree");
        let missing = vec!["?".to_owned(), String::new()];
        let reading = Reading { kind, missing, date_format: None };
        let (domain, codes) = tree.domain(&boxed(texts), &reading)?;
        let mut all: Vec<String> =
            domain.texts().iter().map(|t| t.to_string()).collect();
        all.push("|".to_owned());
        all.extend(codes.iter().map(|code| domain.text(*code).to_owned()));
        Ok(all)
    }

    #[test]
    fn the_domain_is_the_leaves() {
        let words = "b;x;*\na;y;*\nc;x;*\n";
        let all = domain(words, Kind::Category, &["a", "b"]).expect("covered");
        assert_eq!(all, ["b", "c", "a", "|", "a", "b"]);
        let numbers = "10;x;*\n9.0;x;*\n";
        let all = domain(numbers, Kind::Number, &["9", "10.0", ""]).expect("covered");
        assert_eq!(all, ["9", "10", "?", "|", "9", "10", "?"]);
    }

    #[test]
    fn what_is_not_known_may_be_a_leaf() {
        let all = domain("?;x;*\na;x;*\n", Kind::Category, &["a", "?", ""]);
        assert_eq!(all.expect("covered"), ["?", "a", "|", "a", "?", "?"]);
        let all = domain("?;x;*\n1;x;*\n", Kind::Number, &["1", "?", ""]);
        assert_eq!(all.expect("covered"), ["1", "?", "|", "1", "?", "?"]);
    }

    #[test]
    fn texts_without_a_leaf_are_named_by_their_place() {
        let uncovered = domain("1;*\n2;*\n", Kind::Number, &["1", "3", "", "4"]);
        assert_eq!(uncovered, Err(Uncovered::NoLeaf(vec![1, 3])));
        let uncovered = domain("1;*\n2;*\n", Kind::Number, &["1", "3", "one"]);
        assert_eq!(uncovered, Err(Uncovered::NotOfKind(vec![2])));
    }

    #[test]
    fn leaves_must_be_of_the_columns_kind() {
        let message = |text| {
            let tree = Tree::parse(text, "tree.csv").expect("a tree");
            tree.check(&Reading::number()).expect_err("refused").to_string()
        };
        assert_eq!(
            message("1;*\none;*\n"),
            "the leaf in line 2 of the hierarchy is not a number"
        );
        assert_eq!(
            message("1;x;*\n1.0;y;*\n"),
            "the leaves in lines 1 and 2 of the hierarchy are the same number with \
             different parents"
        );
    }
}
