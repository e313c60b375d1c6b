//! l-diversity: no group gives its members' sensitive values away.
//!
//! # Guarantee
//! In every group and for every sensitive column,
//! - *distinct*: at least l different values occur;
//! - *entropy*: the entropy of the values is at least ln l;
//! - *recursive (c, l)*: the commonest value occurs less than c times as often as the l-th
//!   commonest and all rarer ones together.
//!
//! *Why merging keeps it.* Distinct: a union has all values of its parts. Entropy: the
//! distribution of a union is a mixture, and entropy is concave. Recursive: with the counts
//! of both parts added value by value, the largest sum is at most r1 + r1', and the sum of
//! all but the l - 1 largest is at least the sum of the parts' tails, since any l - 1
//! values removed from the union remove at most the l - 1 largest of each part. ∎
//!
//! # Limits
//! Values that mean the same are counted as different. An adversary who knows how values
//! depend on quasi columns concludes more (see r-robustness). Several sensitive columns are
//! each looked at alone. "Not known" is a value of its own.
//!
//! # Cost
//! O(values present) a group, recursive with a sort.
//!
//! # Source
//! `machanavajjhala2006ldiversity`.

use serde_json::json;

use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::promise::{About, Group, GroupPromise, Promise};
use crate::table::Histogram;

/// How diversity is measured.
#[derive(Debug, Clone, Copy)]
pub enum Diversity {
    /// Number of different values.
    Distinct(u64),
    /// Exponential of the entropy.
    Entropy(Decimal),
    /// The commonest value against the rare ones.
    Recursive {
        /// From which rank on values count as rare.
        l: u64,
        /// How many times commoner the commonest may be.
        c: Decimal,
    },
}

/// Sensitive values are diverse in every group.
#[derive(Debug, Clone, Copy)]
pub struct LDiversity {
    diversity: Diversity,
}

impl LDiversity {
    /// The promise; l must be at least 2 (entropy: above 1), c above 0.
    pub fn new(diversity: Diversity) -> Result<Self> {
        let hint = "l = 1 asks for no protection";
        match diversity {
            Diversity::Distinct(l) | Diversity::Recursive { l, .. } if l < 2 => {
                Err(Error::out_of_range("l", l, "at least 2").with_hint(hint))
            }
            Diversity::Entropy(l) if l.exceeds(1, 1) => Ok(Self { diversity }),
            Diversity::Entropy(l) => {
                Err(Error::out_of_range("l", l, "above 1").with_hint(hint))
            }
            Diversity::Recursive { c, .. } if !c.exceeds(0, 1) => {
                Err(Error::out_of_range("c", c, "above 0"))
            }
            _ => Ok(Self { diversity }),
        }
    }

    fn diverse(&self, values: &Histogram) -> bool {
        match self.diversity {
            Diversity::Distinct(l) => values.n_present() as u64 >= l,
            Diversity::Entropy(l) => entropy_reaches(values, l),
            Diversity::Recursive { l, c } => {
                let mut counts: Vec<u64> = values.present().map(|(_, n)| n).collect();
                counts.sort_unstable_by(|a, b| b.cmp(a));
                let rare: u64 = counts.iter().skip(l as usize - 1).sum();
                rare > 0 && c.exceeds(u128::from(counts[0]), u128::from(rare))
            }
        }
    }
}

/// Whether `ln n - (1/n) sum c ln c >= ln l`, decided on the safe side.
///
/// The sum is off by less than 1e-9 of its size for any group that fits in memory. Inside
/// that margin only evenly spread values are known to reach ln l; everything else fails.
fn entropy_reaches(values: &Histogram, l: Decimal) -> bool {
    let n = values.total() as f64;
    let spread: f64 = values.present().map(|(_, c)| c as f64 * (c as f64).ln()).sum();
    let excess = n * (n / l.to_f64()).ln() - spread;
    let margin = 1e-9 * (n * n.ln()).abs().max(1.0);
    if excess.abs() > margin {
        return excess > 0.0;
    }
    evenly_spread(values, l)
}

/// Whether all present values occur equally often and there are at least l of them: then
/// the entropy is the logarithm of their number, exactly.
fn evenly_spread(values: &Histogram, l: Decimal) -> bool {
    let mut counts = values.present().map(|(_, n)| n);
    let first = counts.next();
    counts.all(|n| Some(n) == first) && !l.exceeds(values.n_present() as u128, 1)
}

impl Promise for LDiversity {
    fn name(&self) -> &'static str {
        "l-diversity"
    }

    fn asked(&self) -> serde_json::Value {
        match self.diversity {
            Diversity::Distinct(l) => json!({ "l": l, "kind": "distinct" }),
            Diversity::Entropy(l) => json!({ "l": l.to_f64(), "kind": "entropy" }),
            Diversity::Recursive { l, c } => {
                json!({ "l": l, "kind": "recursive", "c": c.to_f64() })
            }
        }
    }

    fn title(&self) -> String {
        match self.diversity {
            Diversity::Distinct(l) => format!("distinct {l}-diversity"),
            Diversity::Entropy(l) => format!("entropy {l}-diversity"),
            Diversity::Recursive { l, c } => format!("recursive ({c}, {l})-diversity"),
        }
    }

    fn about(&self) -> About<'_> {
        About::Groups(self)
    }
}

impl GroupPromise for LDiversity {
    fn looks_at_values(&self) -> bool {
        true
    }

    fn holds(&self, group: Group<'_>, _whole: Group<'_>) -> bool {
        group.values.iter().all(|values| self.diverse(values))
    }

    /// Entropy reaches ln l, and a rare tail exists, only if l values occur.
    fn absorbing(&self) -> Option<Box<dyn GroupPromise>> {
        let l = match self.diversity {
            Diversity::Distinct(l) | Diversity::Recursive { l, .. } => l,
            Diversity::Entropy(l) => l.to_f64().ceil() as u64,
        };
        Some(Box::new(Self { diversity: Diversity::Distinct(l) }))
    }

    /// If no value has more than 1/l of a group, at least l values occur, and the entropy is
    /// at least ln l. For recursive (c, l)-diversity with p parts, the commonest value has at
    /// most 1/p and the l - 1 commonest together at most (l - 1)/p, so the rest has at least
    /// (p - l + 1)/p: enough if c (p - l + 1) > 1.
    fn parts(&self) -> u64 {
        match self.diversity {
            Diversity::Distinct(l) => l,
            Diversity::Entropy(l) => l.to_f64().ceil() as u64,
            Diversity::Recursive { l, c } => {
                let mut more = (1.0 / c.to_f64()) as u64;
                // Exactly: c (more + 1) must be above 1.
                while !c.exceeds(1, u128::from(more) + 1) {
                    more += 1;
                }
                l + more
            }
        }
    }

    fn obstacle(&self, whole: Group<'_>) -> String {
        let fewest = whole.values.iter().map(Histogram::n_present).min().unwrap_or(0);
        match self.diversity {
            Diversity::Distinct(l) => {
                format!("a sensitive column has {fewest} different values, not {l}")
            }
            _ => format!(
                "even the whole table as one group is not diverse enough \
                 (a sensitive column has {fewest} different values)"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(diversity: Diversity, counts: &[u64]) -> bool {
        let values = [Histogram::of(counts)];
        let rows = counts.iter().sum();
        let group = Group { rows, people: rows, values: &values };
        LDiversity::new(diversity).expect("good parameters").holds(group, group)
    }

    fn decimal(value: f64) -> Decimal {
        Decimal::from_f64("l", value).expect("a decimal")
    }

    #[test]
    fn evenly_spread_values_reach_their_entropy_exactly() {
        for l in 2..40u64 {
            let counts = vec![7; l as usize];
            assert!(holds(Diversity::Entropy(decimal(l as f64)), &counts), "{l}");
            assert!(!holds(Diversity::Entropy(decimal(l as f64 + 0.001)), &counts));
        }
    }

    #[test]
    fn recursive_compares_the_commonest_with_the_rare() {
        let diversity = |c| Diversity::Recursive { l: 2, c: decimal(c) };
        assert!(holds(diversity(3.0), &[5, 1, 1]));
        assert!(!holds(diversity(2.5), &[5, 1, 1]), "5 < 2.5 * 2 is false");
        assert!(!holds(diversity(100.0), &[5]));
    }

    #[test]
    fn entropy_of_one_asks_for_nothing() {
        let error = LDiversity::new(Diversity::Entropy(decimal(1.0))).expect_err("1");
        assert_eq!(error.to_string(), "`l` is 1, but must be above 1");
    }
}
