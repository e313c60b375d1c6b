//! Hierarchies that everybody knows: classifications of diseases, regions of the world.
//!
//! A template is a tree whose leaves are public: whatever a table has, the leaves are all
//! codes or countries there are. Texts find their leaves by what they mean: `E11.65`, `e1165`
//! and `E11` are all below `E11`, and `DE`, `DEU` and `Germany` are one country.

mod icd;
mod regions;

use std::sync::OnceLock;

use crate::hierarchy::{Rule, Side, Tree};

/// A hierarchy that everybody knows, made of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Template {
    /// ICD-9 and ICD-9-CM: category, block, chapter.
    Icd9,
    /// ICD-10 and ICD-10-CM: category, block, chapter.
    Icd10,
    /// Countries by name or by their codes of two or three letters: subregion and region of
    /// the United Nations (M49).
    UnRegion,
}

/// Ages as clinics part them, finest first.
const CLINICAL: [&[f64]; 3] = [
    &[1.0, 5.0, 12.0, 18.0, 25.0, 35.0, 45.0, 55.0, 65.0, 75.0, 85.0],
    &[5.0, 18.0, 35.0, 65.0, 85.0],
    &[18.0, 65.0],
];

impl Template {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Icd9, Self::Icd10, Self::UnRegion];

    /// Its name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Icd9 => "icd9",
            Self::Icd10 => "icd10",
            Self::UnRegion => "un-region",
        }
    }

    /// The tree itself.
    pub fn tree(self) -> Tree {
        static TREES: [OnceLock<Tree>; 3] = [const { OnceLock::new() }; 3];
        TREES[self as usize]
            .get_or_init(|| {
                let lines = match self {
                    Self::Icd9 => icd::icd9(),
                    Self::Icd10 => icd::icd10(),
                    Self::UnRegion => regions::lines(),
                };
                Tree::of_template(lines, self)
            })
            .clone()
    }

    /// The leaf that a text stands for; nothing if it stands for none.
    pub fn leaf(self, text: &str) -> Option<String> {
        match self {
            Self::Icd9 => icd::category9(text),
            Self::Icd10 => icd::category10(text),
            Self::UnRegion => regions::country(text).map(str::to_owned),
        }
    }

    /// What texts must be, for messages.
    pub fn wanted(self) -> &'static str {
        match self {
            Self::Icd9 => "a code of ICD-9, as `250.01`, `V57` or `E885`",
            Self::Icd10 => "a code of ICD-10, as `E11.9`",
            Self::UnRegion => "a country by its English name or ISO 3166 code",
        }
    }
}

/// The rules that have a name in recipes and are no trees: a name, the rule, and the lowest
/// level that may be published.
pub fn named_rule(name: &str) -> Option<(Rule, usize)> {
    let cuts = |levels: Vec<Vec<f64>>| Rule::cuts(levels).expect("they nest");
    match name {
        "age-clinical" => {
            Some((cuts(CLINICAL.iter().map(|level| level.to_vec()).collect()), 0))
        }
        // Ages above 89 are one, on every level that may be published.
        "age-hipaa" => {
            let by = |step: usize| (1..=90).filter(move |age| age % step == 0);
            let level = |step| by(step).map(|age| age as f64).collect();
            Some((cuts([1, 5, 10, 30].map(level).to_vec()), 1))
        }
        "postal" => Some((Rule::mask(Side::Right), 0)),
        _ => None,
    }
}

/// The names that [`named_rule`] knows.
pub const NAMED_RULES: [&str; 3] = ["age-clinical", "age-hipaa", "postal"];

#[cfg(test)]
mod tests {
    use super::*;

    fn line(template: Template, text: &str) -> String {
        let leaf = template.leaf(text).expect("known");
        let tree = template.tree();
        let line = tree.lines.iter().find(|line| line[0] == leaf).expect("a leaf");
        line.join(" | ")
    }

    #[test]
    fn codes_find_their_blocks_and_chapters() {
        let icd10 = |text| line(Template::Icd10, text);
        assert_eq!(icd10("E11.65"), "E11 | E08-E13 | E00-E90 endocrine | *");
        assert_eq!(icd10("e1165"), icd10("E11"));
        assert_eq!(icd10("I10"), "I10 | I10-I15 | I00-I99 circulatory | *");
        assert_eq!(icd10("C4A.0"), "C43 | C43-C44 | C00-D49 neoplasms | *");
        assert_eq!(icd10("Z38.0"), "Z38 | Z30-Z39 | Z00-Z99 factors | *");
        let icd9 = |text| line(Template::Icd9, text);
        assert_eq!(icd9("250.83"), "250 | 249-259 | 240-279 endocrine | *");
        assert_eq!(icd9("8"), "008 | 001-009 | 001-139 infectious | *");
        assert_eq!(icd9("V57"), "V57 | V50-V59 | V01-V91 factors | *");
        assert_eq!(icd9("E885.9"), "E885 | E880-E888 | E000-E999 external causes | *");
    }

    #[test]
    fn what_is_no_code_has_no_leaf() {
        for text in ["", "?", "11", "E1", "EE1", "E11.x?", "fever", "10115", "E11 9"] {
            assert_eq!(Template::Icd10.leaf(text), None, "{text}");
        }
        for text in ["", "?", "0", "1234", "V", "W12", "250.", "250.123", "2 5"] {
            assert_eq!(Template::Icd9.leaf(text), None, "{text}");
        }
        for text in ["", "XX", "Atlantis", "G"] {
            assert_eq!(Template::UnRegion.leaf(text), None, "{text}");
        }
    }

    #[test]
    fn every_leaf_finds_itself_and_trees_are_whole() {
        for template in Template::ALL {
            let tree = template.tree();
            for leaf in tree.leaves() {
                let found = template.leaf(leaf);
                assert_eq!(found.as_ref(), Some(leaf), "{}", template.name());
            }
            assert_eq!(tree.levels(), 4);
        }
        assert_eq!(Template::UnRegion.tree().leaves().len(), 249);
    }

    #[test]
    fn countries_are_found_by_name_and_code() {
        let region = |text| line(Template::UnRegion, text);
        assert_eq!(region("DE"), "Germany | Western Europe | Europe | *");
        assert_eq!(region("deu"), region("germany"));
        assert_eq!(region("United-States"), region("USA"));
        assert_eq!(region("Viet-Nam"), region("vietnam"));
        assert_eq!(region("BR"), "Brazil | South America | Americas | *");
    }

    #[test]
    fn ages_of_ninety_and_more_are_one() {
        let (rule, lowest) = named_rule("age-hipaa").expect("a rule");
        let path = |age| rule.path(&crate::table::Reading::number(), age);
        assert_eq!(path("94"), path("101"));
        assert_eq!(
            path("37").expect("covered"),
            ["[37, 38)", "[35, 40)", "[30, 40)", "[30, 60)"]
        );
        assert_eq!(lowest, 1);
        assert!(NAMED_RULES.iter().all(|name| named_rule(name).is_some()));
    }
}
