//! How the values of a public domain coarsen.

use crate::error::{Error, Result};
use crate::hierarchy::{Rule, Tree};
use crate::table::{PublicDomain, Reading};

impl Rule {
    /// The rule for the values of a domain alone: a tree loses other leaves, and a list that
    /// nothing else is said of becomes one. Fails if the two do not go together.
    pub fn within(&self, domain: &PublicDomain, reading: &Reading) -> Result<Self> {
        domain.check(reading)?;
        match (self, domain.words(reading)) {
            (Self::Plain, Some(words)) => Ok(Self::Tree(Tree::flat(words))),
            (Self::Tree(tree), words) => {
                let lookup = tree.lookup(reading);
                let has = |word: &&String| lookup.has(word, reading);
                let lacking =
                    words.unwrap_or_default().iter().filter(|word| !has(word));
                let lacking: Vec<&String> = lacking.collect();
                if let Some(first) = lacking.first() {
                    let hint =
                        "add a line for each value of `domain` to the hierarchy file";
                    return Err(Error::recipe(format!(
                        "`domain` has {}, such as `{first}`",
                        match lacking.len() {
                            1 => "1 value that the hierarchy lacks".to_owned(),
                            n => format!("{n} values that the hierarchy lacks"),
                        }
                    ))
                    .with_hint(hint));
                }
                let members = domain.members(reading);
                let cut = tree.only(|leaf| members.contains(leaf));
                cut.map(Self::Tree).ok_or_else(|| {
                    Error::recipe("no leaf of the hierarchy is in `domain`")
                })
            }
            (Self::Mask(_), None) => {
                let error = "a mask needs a `domain` that lists its values";
                let hint =
                    "write `domain = { csv = \"values.csv\" }`, one value a line";
                Err(Error::recipe(error).with_hint(hint))
            }
            (
                Self::Widths(_)
                | Self::Cuts(_)
                | Self::Quantiles(_)
                | Self::Calendar(_),
                Some(_),
            ) => {
                let error = "a `domain` that lists values does not go with ranges";
                Err(Error::recipe(error).with_hint("write `[0, 120]` for 0 to 120"))
            }
            _ => Ok(self.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Side;
    use crate::table::Kind;

    fn words(words: &[&str]) -> PublicDomain {
        PublicDomain::Words(words.iter().map(|word| (*word).to_owned()).collect())
    }

    fn tree() -> Rule {
        let lines = "a;x;*\nb;x;*\nc;y;*\n?;y;*\n";
        Rule::Tree(Tree::parse(lines, "tree").unwrap())
    }

    #[test]
    fn a_tree_has_the_leaves_of_the_domain_and_what_is_not_known() {
        let reading = Reading { missing: vec!["?".to_owned()], ..Reading::category() };
        let leaves =
            |rule: &Rule, domain: &PublicDomain| match rule.within(domain, &reading) {
                Ok(Rule::Tree(tree)) => tree.leaves().join(" "),
                other => format!("{other:?}"),
            };
        assert_eq!(leaves(&tree(), &words(&["c", "a"])), "a c ?");
        // A list has its own order.
        assert_eq!(leaves(&Rule::Plain, &words(&["c", "a; \"b\""])), "c a; \"b\"");
        let error = tree().within(&words(&["d", "a", "e"]), &reading).unwrap_err();
        let expected = "`domain` has 2 values that the hierarchy lacks, such as `d`";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn lists_and_ranges_are_for_different_rules() {
        let number = Reading::number();
        let widths = Rule::widths(vec![5.0], 0.0).unwrap();
        let ends = PublicDomain::Numbers([0.0, 9.0]);
        assert_eq!(widths.within(&ends, &number).unwrap(), widths);
        assert_eq!(Rule::Plain.within(&ends, &number).unwrap(), Rule::Plain);
        let error = widths.within(&words(&["1", "2"]), &number).unwrap_err();
        assert!(error.to_string().contains("does not go with ranges"), "{error}");
        let mask = Rule::mask(Side::Right);
        assert!(mask.within(&words(&["12", "13"]), &Reading::category()).is_ok());
        let error = mask.within(&ends, &number).unwrap_err();
        assert!(error.to_string().contains("lists its values"), "{error}");
        let dates = Reading { kind: Kind::Date, ..Reading::category() };
        let days = words(&["2020-01-01", "2020-12-31"]);
        assert_eq!(Rule::Plain.within(&days, &dates).unwrap(), Rule::Plain);
    }
}
