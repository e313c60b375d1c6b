//! What goes out: cells as text, the manifest, writing and reading a release.
//!
#![doc = include_str!("FORMAT.md")]

mod apart;
mod apply;
mod calibration;
mod datapackage;
mod directory;
mod layout;
mod ledger;
mod lock;
mod manifest;
mod noisy;
mod pdf;
mod perturbation;
mod read;
mod scratch;
mod seen;
mod shares;
mod shuffle;
pub(crate) mod sink;
mod store;
mod treatment;
mod write;

pub use crate::hierarchy::cell;
pub(crate) use apart::SENSITIVE_HEADER;
pub use apart::{Bucket, BucketsNote, SENSITIVE_FILE, name_apart};
pub use apply::{Applier, Binding, Keyed, StepBinding, Texts};
pub use calibration::{AskedMeasure, Calibration, CalibrationFactor, MOST_OPEN};
pub use datapackage::{DATAPACKAGE_FILE, write_datapackage};
pub use directory::Draft;
pub use layout::{DataColumn, Layout};
pub use ledger::{Ledger, LedgerEntry, PendingEntry};
pub use manifest::{
    DataFile, DataFormat, FORMAT, MANIFEST_FILE, Manifest, MethodNote, PersonNote,
    PromiseNote, PublishedColumn, SOFTWARE,
};
pub use noisy::{
    BlurNote, BlurredColumn, CondensedNote, FRAME_COLUMN, FrameNote, LEVEL_COLUMN,
    spread_column,
};
pub use pdf::{
    CELLS_FILE, GROUP_COLUMN, PdfCells, ValueWeights, Weighted, WeightsNote,
    write_cells,
};
pub use perturbation::{
    BoundNote, ConditionNote, OperatorNote, PerturbationNote, SubtableNote,
};
pub use read::Release;
pub use scratch::Scratch;
pub use seen::Seen;
pub use shares::{
    ColumnShares, Holders, SHARES_FILE, SharesNote, pooled, write_shares,
};
pub use store::{Store, checksum};
pub use treatment::{Class, Parameters, PublishedRange, RangesNote, Treatment};
pub use write::{Written, write_rows, write_values};
