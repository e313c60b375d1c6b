//! What learners make of tables and releases: latent classes, rules, trees, nearest
//! neighbours.

mod accuracy;
pub(crate) mod latent;
mod mining;
mod mixed;
mod neighbours;
mod tree;

pub use accuracy::{Accuracy, Examination};
pub use mining::{Item, Mining, Rule, Rules};
pub use mixed::{Cuts, MixedColumn, MixedTable};
pub use neighbours::{Classifier, Vote};
pub use tree::{ColumnScale, DecisionTree, Growth, Impurity, Leaf};
