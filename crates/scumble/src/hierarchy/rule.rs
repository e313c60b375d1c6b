//! What a recipe says about how a column coarsens.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hierarchy::leaves::Lookup;
use crate::hierarchy::mask::LONGEST;
use crate::hierarchy::{
    Calendar, Cuts, Grain, Hierarchy, Mask, Quantiles, ROOT_LABEL, Side, Step, Tree,
    Widths,
};
use crate::table::{Code, Domain, Kind, Of, Reading, Unreadable, parse_number};

/// How the values of a column coarsen, whatever values there are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "lowercase")]
pub enum Rule {
    /// A value is published as itself or as `*`.
    Plain,
    /// A tree of words, from a file.
    Tree(Tree),
    /// Number ranges of equal width.
    Widths(Widths),
    /// Number ranges between cut points.
    Cuts(Cuts),
    /// Number ranges with about equally many rows, which become cuts when the table was read.
    Quantiles(Quantiles),
    /// Characters masked from one end.
    Mask(Mask),
    /// Parts of the calendar.
    Calendar(Calendar),
}

/// Why some texts of a column have no place in a hierarchy, as places in the list given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Uncovered {
    /// They are not of the column's kind.
    NotOfKind(Vec<usize>),
    /// The tree has no leaf for them.
    NoLeaf(Vec<usize>),
    /// They are numbers beyond the ends of the domain.
    Beyond(Vec<usize>),
}

impl Rule {
    /// Number ranges of these widths, finest first, one of which begins at `origin`.
    pub fn widths(widths: Vec<f64>, origin: f64) -> Result<Self> {
        Widths::new(widths, origin).map(Self::Widths)
    }

    /// Number ranges between these cut points, finest level first.
    pub fn cuts(cuts: Vec<Vec<f64>>) -> Result<Self> {
        Cuts::new(cuts).map(Self::Cuts)
    }

    /// Characters masked from one end, as many levels as the longest value has characters.
    pub fn mask(side: Side) -> Self {
        Self::Mask(Mask { side, length: None })
    }

    /// Parts of the calendar, finest first.
    pub fn calendar(grains: Vec<Grain>) -> Result<Self> {
        Calendar::new(grains).map(Self::Calendar)
    }

    /// What the values must be, if the rule says so.
    pub fn default_kind(&self) -> Option<Kind> {
        match self {
            Self::Plain | Self::Tree(_) => None,
            Self::Widths(_) | Self::Cuts(_) | Self::Quantiles(_) => Some(Kind::Number),
            Self::Mask(_) => Some(Kind::Category),
            Self::Calendar(_) => Some(Kind::Date),
        }
    }

    /// Checks that the rule suits a column that is read this way.
    pub fn check(&self, reading: &Reading) -> Result<()> {
        let wrong = |hierarchy: &str, wanted: &str| {
            Err(Error::recipe(format!("{hierarchy} need a column of {wanted}")))
        };
        match self {
            Self::Tree(tree) => tree.check(reading),
            Self::Mask(Mask { length: Some(length), .. }) if *length > LONGEST => {
                Err(Error::recipe(format!(
                    "a mask takes values of at most {LONGEST} characters, but there is one of \
                     {length}"
                ))
                .with_hint("masks are for codes; drop free text, or use a hierarchy file"))
            }
            Self::Widths(_) if reading.kind != Kind::Number => {
                wrong("widths", "numbers")
            }
            Self::Cuts(_) if reading.kind != Kind::Number => wrong("cuts", "numbers"),
            Self::Quantiles(_) if reading.kind != Kind::Number => {
                wrong("quantiles", "numbers")
            }
            Self::Calendar(_) if reading.kind != Kind::Date => wrong("dates", "dates"),
            _ => Ok(()),
        }
    }

    /// The domain of a column, and for each of its texts its code. A tree's domain is all
    /// of its leaves.
    pub fn domain(
        &self,
        texts: &[Box<str>],
        reading: &Reading,
    ) -> Result<(Domain, Vec<Code>), Uncovered> {
        match self {
            Self::Tree(tree) => tree.domain(texts, reading),
            _ => Domain::of(texts, reading)
                .map_err(|Unreadable(places)| Uncovered::NotOfKind(places)),
        }
    }

    /// The rule with all that depends on the values filled in: the length of a mask.
    #[must_use]
    pub fn fixed(&self, domain: &Domain) -> Self {
        match self {
            Self::Mask(Mask { side, length: None }) => {
                let known = domain.texts().pairs();
                let lengths = known
                    .filter(|(code, _)| domain.missing() != Some(*code))
                    .map(|(_, text)| text.chars().count());
                Self::Mask(Mask {
                    side: *side,
                    length: Some(lengths.max().unwrap_or(0)),
                })
            }
            // Who counts rows makes cuts of them before.
            Self::Quantiles(quantiles) => {
                quantiles.cuts(domain, &Of::repeat(1, domain.len()))
            }
            _ => self.clone(),
        }
    }

    /// The hierarchy of a domain. "Not known" is a node of its own on every level below
    /// the root, unless a tree has a leaf for it. The number of levels does not depend
    /// on the values, but for a mask that is not [`fixed`](Self::fixed).
    pub fn bind(&self, domain: &Domain, reading: &Reading) -> Hierarchy {
        let rule = self.fixed(domain);
        let climb = BoundRule::new(&rule, reading);
        let n_levels = rule.n_steps() + 2;
        let mut labels: Vec<Vec<Step>> =
            vec![Vec::with_capacity(domain.len()); n_levels];
        for (code, text) in domain.texts().pairs() {
            let number = domain.number(code);
            let missing = domain.missing() == Some(code);
            let mut steps = vec![(text.clone(), number.map(|number| (number, number)))];
            let above = climb.steps(text, number, missing);
            steps.extend(above.unwrap_or_else(|| climb.own_steps(text, missing)));
            steps.push((ROOT_LABEL.into(), None));
            for (column, step) in labels.iter_mut().zip(steps) {
                column.push(step);
            }
        }
        Hierarchy::from_labels(labels)
    }

    /// The labels above a text on all levels between itself and the root, whether it is
    /// in the domain or not. Nothing if the rule does not cover it: it is not of the
    /// column's kind, no leaf of the tree, or longer than the mask; nor for a mask that is
    /// not [`fixed`](Self::fixed).
    pub fn path(&self, reading: &Reading, text: &str) -> Option<Vec<String>> {
        let climb = BoundRule::new(self, reading);
        let missing = reading.is_missing(text);
        let number = if missing { None } else { Some(reading.number_of(text)?) };
        let canonical = match number {
            Some(number) => reading.canonical(text, number),
            None => reading.missing_text().to_owned(),
        };
        if let Self::Mask(mask) = self
            && (!missing && canonical.chars().count() > mask.length?)
        {
            return None;
        }
        let number = number.filter(|_| reading.kind != Kind::Category);
        let found = match (self, missing) {
            // A leaf is looked up as it was written: any missing marker may be one.
            (Self::Tree(_), true) => climb.steps(text, number, missing),
            _ => climb.steps(&canonical, number, missing),
        };
        let covered = missing || !matches!(self, Self::Tree(_));
        let steps =
            found.or_else(|| covered.then(|| climb.own_steps(&canonical, missing)))?;
        Some(steps.into_iter().map(|(label, _)| label.into()).collect())
    }

    /// Where the range of numbers or days that is called so begins, and where it ends,
    /// which is no longer in it. Nothing if the rule has no such ranges.
    pub fn span(&self, label: &str) -> Option<(f64, f64)> {
        match self {
            Self::Widths(_) | Self::Cuts(_) => range(label),
            Self::Calendar(calendar) => calendar.span(label),
            Self::Plain | Self::Tree(_) | Self::Mask(_) | Self::Quantiles(_) => None,
        }
    }

    /// The range of numbers around a number on a level above the values, its name first;
    /// nothing if the rule has no such ranges.
    pub(super) fn range_around(
        &self,
        number: f64,
        level: usize,
    ) -> Option<(Box<str>, (f64, f64))> {
        let steps = match self {
            Self::Widths(widths) => widths.steps(number)?,
            Self::Cuts(cuts) => cuts.steps(number),
            Self::Plain
            | Self::Tree(_)
            | Self::Mask(_)
            | Self::Quantiles(_)
            | Self::Calendar(_) => return None,
        };
        let (label, span) = steps.into_iter().nth(level.checked_sub(1)?)?;
        Some((label, span?))
    }

    /// How many levels lie between the values and the root.
    fn n_steps(&self) -> usize {
        match self {
            Self::Plain => 0,
            Self::Tree(tree) => tree.n_steps(),
            Self::Widths(widths) => widths.widths().len(),
            Self::Cuts(cuts) => cuts.levels().len(),
            Self::Quantiles(quantiles) => quantiles.n_steps(),
            Self::Mask(mask) => mask.n_steps(),
            Self::Calendar(calendar) => calendar.n_steps(),
        }
    }
}

/// The ends of `[20, 30)`, `(-inf, 18)` or `[65, inf)`.
fn range(label: &str) -> Option<(f64, f64)> {
    let (low, high) = label.strip_suffix(')')?.split_once(", ")?;
    let low = match low {
        "(-inf" => f64::NEG_INFINITY,
        _ => parse_number(low.strip_prefix('[')?)?,
    };
    let high = if high == "inf" { f64::INFINITY } else { parse_number(high)? };
    (low < high).then_some((low, high))
}

/// A rule made ready for many values.
struct BoundRule<'a> {
    rule: &'a Rule,
    lookup: Option<Lookup<'a>>,
}

impl<'a> BoundRule<'a> {
    fn new(rule: &'a Rule, reading: &Reading) -> Self {
        let lookup = match rule {
            Rule::Tree(tree) => Some(tree.lookup(reading)),
            _ => None,
        };
        Self { rule, lookup }
    }

    /// The labels above a value; nothing if it coarsens to nothing but itself.
    fn steps(
        &self,
        text: &str,
        number: Option<f64>,
        missing: bool,
    ) -> Option<Vec<Step>> {
        match self.rule {
            Rule::Plain => Some(Vec::new()),
            Rule::Tree(_) => self.lookup.as_ref()?.steps(text, number, missing),
            // A marker with a star could be the mask of another value.
            Rule::Mask(mask) if !missing || text.contains('*') => {
                Some(mask.steps(text))
            }
            Rule::Widths(widths) => widths.steps(number?),
            Rule::Cuts(cuts) => Some(cuts.steps(number?)),
            Rule::Mask(_) | Rule::Quantiles(_) => None,
            Rule::Calendar(calendar) => calendar.steps(number?),
        }
    }

    /// The labels above a value that stays itself on every level below the root.
    fn own_steps(&self, text: &str, missing: bool) -> Vec<Step> {
        if let Some(lookup) = &self.lookup {
            return lookup.own_steps(text);
        }
        // Two nodes with the same label would be one, with two parents.
        let taken = match self.rule {
            Rule::Calendar(_) => Calendar::is_label(text),
            _ => text.starts_with(['[', '(']),
        };
        let label = if missing && taken { "?" } else { text };
        vec![(label.into(), None); self.rule.n_steps()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(kind: Kind) -> Reading {
        let missing = vec!["?".to_owned(), String::new()];
        Reading { kind, missing, date_format: None }
    }

    fn bound(rule: &Rule, kind: Kind, texts: &[&str]) -> (Domain, Hierarchy) {
        let texts: Vec<Box<str>> = texts.iter().map(|text| (*text).into()).collect();
        let (domain, _) = rule.domain(&texts, &reading(kind)).expect("covered");
        let hierarchy = rule.bind(&domain, &reading(kind));
        (domain, hierarchy)
    }

    fn labels(hierarchy: &Hierarchy, code: u32) -> Vec<&str> {
        let code = Code::new(code);
        (0..=hierarchy.height()).map(|level| hierarchy.label(level, code)).collect()
    }

    #[test]
    fn the_number_of_levels_does_not_depend_on_the_values() {
        let rule = Rule::widths(vec![5.0, 10.0], 0.0).expect("nested");
        let (_, hierarchy) = bound(&rule, Kind::Number, &["21", "22"]);
        assert_eq!(labels(&hierarchy, 0), ["21", "[20, 25)", "[20, 30)", "*"]);
        let span = |level: usize, place: usize| {
            let mut nodes = hierarchy.levels()[level].nodes.iter();
            nodes.nth(place).and_then(|node| node.span)
        };
        assert_eq!(span(0, 1), Some((22.0, 22.0)));
        assert_eq!(span(1, 0), Some((20.0, 25.0)));
        let (_, hierarchy) = bound(&Rule::Plain, Kind::Category, &["a", "b"]);
        assert_eq!(labels(&hierarchy, 1), ["b", "*"]);
    }

    #[test]
    fn labels_of_ranges_tell_their_ends() {
        let widths = Rule::widths(vec![0.5, 10.0], 0.0).expect("nested");
        let cuts = Rule::cuts(vec![vec![18.0, 65.0], vec![18.0]]).expect("nested");
        for rule in [&widths, &cuts] {
            let (_, hierarchy) =
                bound(rule, Kind::Number, &["-7.25", "17.5", "18", "70"]);
            let levels = &hierarchy.levels()[1..hierarchy.height()];
            for node in levels.iter().flat_map(|level| &level.nodes) {
                assert_eq!(rule.span(&node.label), node.span, "{}", node.label);
            }
        }
        for label in ["*", "20", "[20, 30]", "[30, 20)", "[a, b)", "", "[1, 2"] {
            assert_eq!(widths.span(label), None, "{label}");
        }
        assert_eq!(Rule::Plain.span("[20, 30)"), None);
    }

    #[test]
    fn what_is_not_known_stays_itself_below_the_root() {
        let rule = Rule::widths(vec![5.0], 0.0).expect("nested");
        let (_, hierarchy) = bound(&rule, Kind::Number, &["21", ""]);
        assert_eq!(labels(&hierarchy, 1), ["?", "?", "*"]);
        let tree = Tree::parse("a;x;*\nb;y;*\n", "tree.csv").expect("a tree");
        let (_, hierarchy) = bound(&Rule::Tree(tree), Kind::Category, &["a", ""]);
        assert_eq!(labels(&hierarchy, 2), ["?", "?", "*"]);
        let tree = Tree::parse("?;x;*\nb;y;*\n", "tree.csv").expect("a tree");
        let (_, hierarchy) = bound(&Rule::Tree(tree), Kind::Number, &["?"]);
        assert_eq!(labels(&hierarchy, 0), ["?", "x", "*"]);
    }

    #[test]
    fn what_is_not_known_may_be_called_like_a_node() {
        let tree = Tree::parse("a;x;?;*\nb;y;z;*\n", "tree.csv").expect("a tree");
        let (_, hierarchy) = bound(&Rule::Tree(tree), Kind::Category, &["a", "?"]);
        assert_eq!(labels(&hierarchy, 2), ["?", "?", "?", "*"]);
        let node = |code| hierarchy.node(2, Code::new(code));
        assert_eq!(node(2), node(0));
    }

    #[test]
    fn a_mask_is_as_long_as_the_longest_value() {
        let rule = Rule::mask(Side::Right);
        let (domain, hierarchy) = bound(&rule, Kind::Category, &["479", "47906", ""]);
        assert_eq!(labels(&hierarchy, 0), ["479", "47*", "4**", "***", "***", "*"]);
        let fixed = rule.fixed(&domain);
        let category = reading(Kind::Category);
        assert_eq!(fixed.path(&category, "4790655"), None);
        assert_eq!(rule.path(&category, "4"), None);
        let path = fixed.path(&category, "12").expect("covered");
        assert_eq!(path, ["1*", "**", "**", "**"]);
    }

    #[test]
    fn what_is_not_covered_has_no_path() {
        let widths = Rule::widths(vec![5.0], 0.0).expect("nested");
        assert_eq!(widths.path(&reading(Kind::Number), "many"), None);
        let tree = Tree::parse("a;x;*\nb;y;*\n", "tree.csv").expect("a tree");
        assert_eq!(Rule::Tree(tree).path(&reading(Kind::Category), "c"), None);
    }

    #[test]
    fn rules_are_saved_readably() {
        let both = |rule: Rule, json: &str| {
            assert_eq!(serde_json::to_string(&rule).expect("json"), json);
            assert_eq!(serde_json::from_str::<Rule>(json).expect("a rule"), rule);
        };
        both(Rule::Plain, r#"{"rule":"plain"}"#);
        let widths = Rule::widths(vec![0.5, 10.0], 0.0).expect("nested");
        both(widths, r#"{"rule":"widths","widths":[0.5,10.0],"origin":0.0}"#);
        let cuts = Rule::cuts(vec![vec![18.0, 65.0], vec![18.0]]).expect("nested");
        both(cuts, r#"{"rule":"cuts","cuts":[[18.0,65.0],[18.0]]}"#);
        both(Rule::mask(Side::Left), r#"{"rule":"mask","side":"left"}"#);
        let calendar = Rule::calendar(vec![Grain::Month, Grain::Year]).expect("nested");
        both(calendar, r#"{"rule":"calendar","grains":["month","year"]}"#);
        let tree = Tree::parse("a;*\n", "tree.csv").expect("a tree");
        both(Rule::Tree(tree), r#"{"rule":"tree","lines":[["a","*"]]}"#);
        let bad = r#"{"rule":"widths","widths":[5,12],"origin":0}"#;
        assert!(serde_json::from_str::<Rule>(bad).is_err());
    }

    #[test]
    fn a_rule_needs_the_right_kind_of_column() {
        let rule = Rule::widths(vec![5.0], 0.0).expect("nested");
        let error = rule.check(&reading(Kind::Date)).expect_err("refused");
        assert_eq!(error.to_string(), "widths need a column of numbers");
        assert!(Rule::Plain.check(&reading(Kind::Date)).is_ok());
    }
}
