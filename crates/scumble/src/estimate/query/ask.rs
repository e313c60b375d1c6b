//! Questions as they are asked: several numbers at once, in an order, and perhaps only the first.
//!
//! # Guarantee
//! Order and limit change which estimates are shown and where, never an estimate.
//!
//! # Limits
//! The order is that of the estimates: of groups that are near each other the truth may have
//! another.

use std::cmp::Ordering;

use crate::estimate::Estimate;
use crate::estimate::query::Query;
use crate::table::parse_number;

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// As it was typed.
    pub text: String,
    /// The numbers it asks for, and what each is called in it.
    pub numbers: Vec<(String, Query)>,
    /// What groups are sorted by, the most important first.
    pub order: Vec<SortKey>,
    /// How many groups are wanted, if not all.
    pub limit: Option<usize>,
}

/// What groups are sorted by.
#[derive(Debug, Clone, PartialEq)]
pub struct SortKey {
    /// What it is.
    pub by: SortBy,
    /// Whether the largest comes first.
    pub descending: bool,
}

/// A column of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortBy {
    /// The values of a column that is counted apart, by its place among these.
    Value(usize),
    /// A number that is asked for, by its place among these.
    Number(usize),
}

impl Ask {
    /// Puts the estimates of every number into the order asked for, and leaves out those of
    /// groups beyond the limit. How many groups there were, and how many are left.
    pub fn arrange(&self, answers: &mut [Vec<Estimate>]) -> (usize, usize) {
        let mut groups: Vec<Vec<String>> = Vec::new();
        for estimate in answers.iter().flatten() {
            if !groups.contains(&estimate.values) {
                groups.push(estimate.values.clone());
            }
        }
        let n_groups = groups.len();
        if self.order.is_empty() && self.limit.is_none() {
            return (n_groups, n_groups);
        }
        let number = |place: usize, group: &[String]| {
            let own = answers
                .get(place)
                .and_then(|own| own.iter().find(|estimate| *estimate.values == *group));
            own.map(|estimate| estimate.count)
        };
        let compared = |one: &Vec<String>, other: &Vec<String>| {
            let by_key = |key: &SortKey| {
                let order = match key.by {
                    SortBy::Value(place) => by_value(&one[place], &other[place]),
                    SortBy::Number(place) => {
                        by_number(number(place, one), number(place, other))
                    }
                };
                if key.descending { order.reverse() } else { order }
            };
            let mut orders = self.order.iter().map(by_key);
            orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        // The sort is stable: groups that are equal stay in the order of the answer.
        groups.sort_by(compared);
        groups.truncate(self.limit.unwrap_or(n_groups));
        let left = groups.len();
        for own in answers.iter_mut() {
            own.retain(|estimate| groups.contains(&estimate.values));
            own.sort_by_key(|estimate| {
                groups.iter().position(|group| *group == estimate.values)
            });
        }
        (n_groups, left)
    }
}

/// Numbers by their size, ranges by their lower end, and words behind them by their bytes.
fn by_value(one: &str, other: &str) -> Ordering {
    let number = |text: &str| {
        let inside = text.strip_prefix(['[', '(']);
        let low = inside.and_then(|inside| inside.split_once(',')).map(|(low, _)| low);
        let low = low.unwrap_or(text);
        if low == "-inf" { Some(f64::NEG_INFINITY) } else { parse_number(low) }
    };
    match (number(one), number(other)) {
        (Some(a), Some(b)) => a.total_cmp(&b).then_with(|| one.cmp(other)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => one.cmp(other),
    }
}

/// What is not known counts as nothing.
fn by_number(one: Option<f64>, other: Option<f64>) -> Ordering {
    one.unwrap_or(0.0).total_cmp(&other.unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_the_order_of_what_they_are() {
        let mut values =
            ["flu", "10", "9", "[100, 200)", "(-inf, 5)", "", "[20, 30)", "ague"];
        values.sort_by(|one, other| by_value(one, other));
        assert_eq!(
            values,
            ["(-inf, 5)", "9", "10", "[20, 30)", "[100, 200)", "", "ague", "flu"]
        );
    }
}
