//! Association rules: what a table teaches about values that go together.
//!
//! A rule says that rows which have all values of its left side usually have the value of
//! its right side, too. Its *support* is the share of rows that have both, its
//! *confidence* the share of those among the rows that have the left side. A *class rule*
//! has the class on its right side.
//!
//! # Guarantee
//! [`Mining::rules`] returns exactly the rules with one value on the right, at least one on
//! the left and at most one for each column, whose support and confidence are at least those
//! asked for. [`Mining::error`] is zero for a table and itself.
//!
//! # Limits
//! One value on the right, as class rules have it: the confidence of a rule with more is a
//! product of confidences of rules with one.
//! The left side is as long as the support allows. The source compares rules at confidence
//! 0.8 but gives no support; ours is 0.05, because a confidence known from fewer than a
//! hundred rows (a twentieth of a private table of 1,957) is mostly noise. Which kind of
//! cell has the smaller error is the same at 0.01, 0.02 and 0.1 (`reproduce pdf-mining`).
//! The error is a sum, so it grows with the number of rules.
//!
//! # Cost
//! One pass over bit sets of n rows for each frequent set of values: n / 64 words each.
//! Adult, 45,222 rows and six columns: 10 ms at a support of 0.05, 14 ms at 0.01.
//!
//! # Source
//! `agrawal1994rules` for the rules, `zaki2000scalable` for finding them depth first with
//! the rows of each set; `nergiz2007pdf`, section VI-A and equation 5, for the error;
//! docs/methods.md, "Mining evaluation".

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::estimate::CodeTable;
use crate::watch::{Unwatched, Watch};

/// A value of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    /// The column's place in the table.
    pub column: usize,
    /// The value.
    pub code: u32,
}

/// Rows that have all of `left` usually have `right`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule {
    /// At least one value, at most one for each column, in the order of the columns.
    pub left: Vec<Item>,
    /// A value of another column.
    pub right: Item,
}

/// Rules and their confidence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules(BTreeMap<Rule, f64>);

/// Which rules are looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mining {
    // Both above 0 and at most 1.
    support: f64,
    confidence: f64,
    class: Option<usize>,
}

impl Mining {
    /// All rules of at least this support and confidence, both above 0 and at most 1.
    pub fn new(support: f64, confidence: f64) -> Result<Self> {
        for (name, share) in [("support", support), ("confidence", confidence)] {
            if !(share > 0.0 && share <= 1.0) {
                return Err(Error::out_of_range(name, share, "above 0 and at most 1"));
            }
        }
        Ok(Self { support, confidence, class: None })
    }

    /// Rules of support 0.05 and confidence 0.8.
    pub fn usual() -> Self {
        Self { support: 0.05, confidence: 0.8, class: None }
    }

    /// Only rules whose right side is a value of `column`.
    #[must_use]
    pub fn of_class(self, column: usize) -> Self {
        Self { class: Some(column), ..self }
    }

    /// The rules that hold in `table`.
    pub fn rules(&self, table: &CodeTable) -> Rules {
        self.rules_of(&Frequent::of(table, self.support, &Unwatched))
    }

    /// As [`Mining::rules`]; there may be very many, so it may be cancelled.
    pub fn rules_watched(&self, table: &CodeTable, watch: &dyn Watch) -> Result<Rules> {
        let frequent = Frequent::of(table, self.support, watch);
        watch.check()?;
        Ok(self.rules_of(&frequent))
    }

    fn rules_of(&self, frequent: &Frequent) -> Rules {
        let mut rules = BTreeMap::new();
        for (items, rows) in &frequent.sets {
            for right in items {
                if items.len() < 2
                    || self.class.is_some_and(|class| class != right.column)
                {
                    continue;
                }
                let left: Vec<Item> =
                    items.iter().copied().filter(|item| item != right).collect();
                // At least as many rows have a part of the values, so it is frequent.
                let Some(of) = frequent.sets.get(&left) else { continue };
                // A quotient that is exactly 0.8 is rounded to the same float as 0.8.
                let confidence = *rows as f64 / *of as f64;
                if confidence >= self.confidence {
                    rules.insert(Rule { left, right: *right }, confidence);
                }
            }
        }
        Rules(rules)
    }

    /// How far the rules of a reconstruction are from those of the original: over rules in
    /// either, the sum of the differences of confidence. A rule that one of them lacks
    /// counts there with the least confidence asked for.
    pub fn error(&self, original: &Rules, reconstruction: &Rules) -> f64 {
        let either: BTreeSet<&Rule> =
            original.0.keys().chain(reconstruction.0.keys()).collect();
        let confidence =
            |rules: &Rules, rule| rules.confidence(rule).unwrap_or(self.confidence);
        let differences = either.into_iter().map(|rule| {
            (confidence(original, rule) - confidence(reconstruction, rule)).abs()
        });
        differences.sum()
    }
}

impl Rules {
    /// Those whose right side is a value of `column`.
    #[must_use]
    pub fn about(&self, column: usize) -> Self {
        let own = self.0.iter().filter(|(rule, _)| rule.right.column == column);
        Self(own.map(|(rule, confidence)| (rule.clone(), *confidence)).collect())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The confidence of a rule, if it is one of these.
    pub fn confidence(&self, rule: &Rule) -> Option<f64> {
        self.0.get(rule).copied()
    }

    /// The rules with their confidence, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Rule, f64)> {
        self.0.iter().map(|(rule, confidence)| (rule, *confidence))
    }
}

/// The sets of values that enough rows have together.
struct Frequent {
    /// Each set, in the order of the columns, and how many rows have it.
    sets: BTreeMap<Vec<Item>, u64>,
}

/// The rows that have something, a bit each.
type Bits = Vec<u64>;

/// What is known while sets grow.
struct SetGrower<'a> {
    /// For each column the values that are frequent on their own, and who has them.
    values: Vec<Vec<(Item, Bits)>>,
    n_rows: usize,
    support: f64,
    watch: &'a dyn Watch,
}

impl Frequent {
    /// Any of them once they are no longer wanted.
    fn of(table: &CodeTable, support: f64, watch: &dyn Watch) -> Self {
        let n_rows = table.n_rows();
        let values = table.columns().iter().enumerate();
        let mut growth = SetGrower { values: Vec::new(), n_rows, support, watch };
        for (column, codes) in values {
            let values = growth.frequent_values(column, codes);
            growth.values.push(values);
        }
        let mut sets = BTreeMap::new();
        let everybody = vec![u64::MAX; n_rows.div_ceil(64)];
        growth.extend(&mut Vec::new(), &everybody, &mut sets);
        Self { sets }
    }
}

impl SetGrower<'_> {
    /// Division rounds correctly, so a share that is exactly the support is enough.
    fn is_frequent(&self, rows: u64) -> bool {
        rows > 0 && rows as f64 / self.n_rows as f64 >= self.support
    }

    fn frequent_values(&self, column: usize, codes: &[u32]) -> Vec<(Item, Bits)> {
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for code in codes {
            *counts.entry(*code).or_default() += 1;
        }
        counts.retain(|_, rows| self.is_frequent(*rows));
        let bits = |wanted: u32| {
            let mut bits = vec![0; self.n_rows.div_ceil(64)];
            for (row, _) in codes.iter().enumerate().filter(|(_, c)| **c == wanted) {
                bits[row / 64] |= 1 << (row % 64);
            }
            bits
        };
        let codes = counts.into_keys();
        codes.map(|code| (Item { column, code }, bits(code))).collect()
    }

    /// Adds every frequent set that begins with `items`, which the rows of `having` have.
    fn extend(
        &self,
        items: &mut Vec<Item>,
        having: &[u64],
        sets: &mut BTreeMap<Vec<Item>, u64>,
    ) {
        let from = items.last().map_or(0, |last| last.column + 1);
        let mut both = vec![0; having.len()];
        for (item, bits) in self.values[from..].iter().flatten() {
            let mut rows = 0;
            for ((both, having), bits) in both.iter_mut().zip(having).zip(bits) {
                *both = having & bits;
                rows += u64::from(both.count_ones());
            }
            if self.is_frequent(rows) && !self.watch.is_cancelled() {
                items.push(*item);
                sets.insert(items.clone(), rows);
                self.extend(items, &both, sets);
                items.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn table(columns: &[&[u32]]) -> CodeTable {
        CodeTable::new(columns.iter().map(|codes| codes.to_vec()).collect()).unwrap()
    }

    fn rule(left: &[(usize, u32)], right: (usize, u32)) -> Rule {
        let item = |(column, code)| Item { column, code };
        Rule { left: left.iter().map(|pair| item(*pair)).collect(), right: item(right) }
    }

    /// Eight people: sex (0 = M), nation (0 = USA), salary (1 = high).
    fn people() -> CodeTable {
        table(&[
            &[0, 0, 0, 0, 1, 1, 1, 1],
            &[0, 0, 0, 1, 1, 1, 2, 2],
            &[0, 0, 0, 0, 0, 1, 1, 1],
        ])
    }

    #[test]
    fn rules_of_eight_people_by_hand() {
        // Support of a quarter is two rows. M: four, USA: three, all M and low.
        let rules = Mining::new(0.25, 0.75).unwrap().rules(&people());
        assert_eq!(rules.confidence(&rule(&[(0, 0)], (1, 0))), Some(0.75));
        assert_eq!(rules.confidence(&rule(&[(1, 0)], (0, 0))), Some(1.0));
        assert_eq!(rules.confidence(&rule(&[(0, 0), (2, 0)], (1, 0))), Some(0.75));
        assert_eq!(rules.confidence(&rule(&[(2, 0)], (0, 0))), Some(0.8));
        // Three of five who earn little are from the USA.
        assert_eq!(rules.confidence(&rule(&[(2, 0)], (1, 0))), None);
        // One woman of nation 1 earns little: a single row is not frequent.
        assert_eq!(rules.confidence(&rule(&[(0, 1), (1, 1)], (2, 0))), None);
    }

    #[test]
    fn a_confidence_of_exactly_the_least_is_enough() {
        // Four of the five who earn little are men.
        let men = rule(&[(2, 0)], (0, 0));
        let at = |confidence: f64| {
            Mining::new(0.5, confidence).unwrap().rules(&people()).confidence(&men)
        };
        assert_eq!(at(0.8), Some(0.8));
        assert_eq!(at(0.800_001), None);
    }

    #[test]
    fn a_missing_rule_counts_as_the_least_confidence() {
        let mining = Mining::usual();
        let rules = |list: &[(Rule, f64)]| Rules(list.iter().cloned().collect());
        let (a, b, c) =
            (rule(&[(0, 0)], (1, 0)), rule(&[(0, 1)], (1, 0)), rule(&[(0, 2)], (1, 0)));
        let original = rules(&[(a.clone(), 0.9), (b, 0.85)]);
        let reconstruction = rules(&[(a, 0.97), (c, 1.0)]);
        // |.9 - .97| + |.85 - .8| + |.8 - 1|
        let error = mining.error(&original, &reconstruction);
        assert!((error - 0.32).abs() < 1e-12);
        assert_eq!(mining.error(&reconstruction, &original).to_bits(), error.to_bits());
        assert!(mining.error(&original, &original).abs() < 1e-12);
    }

    #[test]
    fn class_rules_are_the_rules_about_the_class() {
        let mining = Mining::new(0.1, 0.6).unwrap();
        let all = mining.rules(&people());
        let class = mining.of_class(2).rules(&people());
        let about: Vec<_> = all.iter().filter(|(r, _)| r.right.column == 2).collect();
        assert!(!about.is_empty() && about.len() < all.len());
        assert_eq!(class.iter().collect::<Vec<_>>(), about);
        assert_eq!(all.about(2), class);
    }

    /// Every combination of at most one value a column, counted row by row.
    fn by_brute_force(table: &CodeTable, support: f64, confidence: f64) -> Rules {
        let n_columns = table.columns().len();
        let count = |items: &[Item]| {
            (0..table.n_rows())
                .filter(|row| {
                    items.iter().all(|i| table.columns()[i.column][*row] == i.code)
                })
                .count() as f64
        };
        let mut rules = BTreeMap::new();
        // Digit c of `choice` is the value of column c, or 3 for none.
        for choice in 0..4u32.pow(n_columns as u32) {
            let items: Vec<Item> = (0..n_columns)
                .map(|column| Item {
                    column,
                    code: choice / 4u32.pow(column as u32) % 4,
                })
                .filter(|item| item.code < 3)
                .collect();
            let rows = count(&items);
            if items.len() < 2
                || rows == 0.0
                || rows / (table.n_rows() as f64) < support
            {
                continue;
            }
            for right in &items {
                let left: Vec<Item> =
                    items.iter().copied().filter(|item| item != right).collect();
                let found = rows / count(&left);
                if found >= confidence {
                    rules.insert(Rule { left, right: *right }, found);
                }
            }
        }
        Rules(rules)
    }

    #[test]
    fn rules_are_those_of_brute_force() {
        let random = &mut ChaCha8Rng::seed_from_u64(9);
        let mut n_rules = 0;
        for _ in 0..120 {
            let n_rows = random.random_range(1..150);
            let n_columns = random.random_range(1..5);
            // Skewed values, so that some rules hold.
            let codes = |random: &mut ChaCha8Rng| {
                random.random_range(0..3u32) * random.random_range(0..2u32)
            };
            let columns: Vec<Vec<u32>> = (0..n_columns)
                .map(|_| (0..n_rows).map(|_| codes(random)).collect())
                .collect();
            let table = CodeTable::new(columns).unwrap();
            let support = [0.01, 0.1, 0.25][random.random_range(0..3)];
            let confidence = [0.5, 0.8, 1.0][random.random_range(0..3)];
            let found = Mining::new(support, confidence).unwrap().rules(&table);
            assert_eq!(found, by_brute_force(&table, support, confidence));
            n_rules += found.len();
        }
        assert!(n_rules > 1000, "only {n_rules} rules were compared");
    }

    #[test]
    fn shares_outside_their_range_are_refused() {
        let message = |support, confidence| {
            Mining::new(support, confidence).unwrap_err().to_string()
        };
        assert_eq!(
            message(0.0, 0.8),
            "`support` is 0, but must be above 0 and at most 1"
        );
        assert_eq!(
            message(0.1, 1.5),
            "`confidence` is 1.5, but must be above 0 and at most 1"
        );
        assert!(Mining::usual().rules(&table(&[])).is_empty());
        assert!(Mining::usual().rules(&table(&[&[], &[]])).is_empty());
    }
}
