//! What can be learned from a release alone.
//!
//! A published cell is a distribution over the values of its column, so a release is an
//! uncertain table. [`draw()`] makes an ordinary table of it, and [`Mining`] says which
//! rules such a table still teaches.
//!
//! A randomized column is undone on average: [`Evidence`] answers a [`Query`] with counts
//! of the true table and their standard errors. So are values that a release has by group
//! only ([`Arranged`]), and numbers that were blurred. A [`Classifier`] tells from blurred
//! rows which class a new one is likely of. [`Evidence::draw`] makes whole tables of a
//! release, for tools that know nothing of all this.

mod evidence;
mod laws;
mod learn;
mod model;
mod query;
mod sample;

pub use evidence::Evidence;
pub use laws::{
    Arranged, Basis, Channel, ErrorTerms, Estimate, Inverse, Joint, JointInverse,
    LIKELIHOOD_GAP, MOST_CELLS, MOST_ROUNDS, Reconstruction, VarianceTerms, Way,
    reconstruct,
};
#[cfg(test)]
pub(crate) use learn::latent::learn_even;
pub use learn::{
    Accuracy, Classifier, ColumnScale, Cuts, DecisionTree, Examination, Growth,
    Impurity, Item, Leaf, Mining, MixedColumn, MixedTable, Rule, Rules, Vote,
};
pub use model::Model;
pub(crate) use query::question::FittedCondition;
pub use query::{
    Ask, Check, Comparison, Condition, Guessed, Literal, Measure, Pattern, Query,
    SortBy, SortKey, Test, Unknown,
};
pub(crate) use query::{Tester, Truth};
pub use sample::{
    Distribution, DrawnFormat, DrawnTable, DrawnWriter, SampledColumn, UncertainGroup,
    draw,
};

use crate::error::{Error, Result};

/// An ordinary table as codes: one that was read, or one that was drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeTable {
    // All of the same length.
    columns: Vec<Vec<u32>>,
}

impl CodeTable {
    /// A table of these columns, which must be equally long.
    pub fn new(columns: Vec<Vec<u32>>) -> Result<Self> {
        let mut lengths = columns.iter().map(Vec::len);
        let first = lengths.next().unwrap_or(0);
        match lengths.find(|length| *length != first) {
            Some(other) => Err(Error::input(format!(
                "one column has {first} rows, another {other}"
            ))),
            None => Ok(Self { columns }),
        }
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// The columns.
    pub fn columns(&self) -> &[Vec<u32>] {
        &self.columns
    }

    /// The columns at these places, in this order; places that it does not have are
    /// passed over.
    #[must_use]
    pub fn select(&self, places: &[usize]) -> Self {
        let columns = places.iter().filter_map(|place| self.columns.get(*place));
        Self { columns: columns.cloned().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_a_table_are_equally_long() {
        let error = CodeTable::new(vec![vec![0, 1], vec![0]]).unwrap_err();
        assert_eq!(error.to_string(), "one column has 2 rows, another 1");
        let table = CodeTable::new(vec![vec![0, 1], vec![5, 6]]).unwrap();
        assert_eq!(table.n_rows(), 2);
        assert_eq!(table.select(&[1, 7]).columns(), [vec![5, 6]]);
        assert_eq!(CodeTable::new(Vec::new()).unwrap().n_rows(), 0);
    }
}
