//! Coarse cells and distributions: rows with the same cells, what cells stand for, and who
//! may be in which class.

pub(crate) mod classes;
pub(crate) mod cost;
pub(crate) mod counting;
pub(crate) mod covers;
pub(crate) mod draws;
pub(crate) mod existence;
pub(crate) mod fits;
pub(crate) mod members;
pub(crate) mod people;
pub(crate) mod persons;
pub(crate) mod presence;
pub(crate) mod score;
pub(crate) mod shares;
pub(crate) mod shown;
pub(crate) mod ways;
pub(crate) mod weights;
pub(crate) mod worlds;

pub(crate) use classes::{
    CellClasses, CellColumn, CellTexts, ValueColumn, published_reading,
};
pub(crate) use cost::another_table;
pub(crate) use counting::CountedPresence;
pub(crate) use covers::{ColumnCovers, Covers};
pub(crate) use draws::{binomial, ln_choose};
pub(crate) use fits::{Lookup, QuasiKnowledge, Trie, Walk, fitting};
pub(crate) use members::Members;
pub(crate) use people::{InTable, People};
pub(crate) use persons::GroupPeople;
pub(crate) use presence::PresenceShares;
pub(crate) use score::TrueRows;
pub(crate) use shares::{PresenceRange, Share, Shares};
pub(crate) use shown::ShownCells;
pub(crate) use weights::{WeightedCells, WeightsByCode, Whose};
