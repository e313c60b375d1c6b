//! What goes out: cells as text, the manifest, writing and reading a release.
//!
#![doc = include_str!("FORMAT.md")]

mod apply;
mod blur;
mod buckets;
pub mod cell;
mod directory;
mod manifest;
mod pdf;
mod perturbation;
mod perturbed;
mod read;
mod rows;
mod sampled;
mod shuffle;
pub(crate) mod sink;

pub use apply::apply;
pub use blur::{
    BlurNote, BlurredColumn, BlurredPlace, BlurredTask, CondensedNote, FRAME_COLUMN,
    FrameNote, LEVEL_COLUMN, Made, spread_column, write_blurred,
};
pub use buckets::{Bucket, BucketsNote, BucketsTask, SENSITIVE_FILE, write_buckets};
pub use directory::{Draft, private_folder};
pub use manifest::{
    DataFile, DataFormat, FORMAT, MANIFEST_FILE, Manifest, MethodNote, PromiseNote,
    PublishedColumn, SOFTWARE, WeightsNote,
};
pub use pdf::{
    CELLS_FILE, GROUP_COLUMN, PdfCells, ValueWeights, Weighted, write_cells,
};
pub use perturbation::{BoundNote, OperatorNote, PerturbationNote, SubtableNote};
pub use perturbed::{
    Keyed, PerturbedTask, Place, Randomized, Subtable, write_perturbed,
};
pub use read::{Release, checksum};
pub use rows::{Origin, RowsTask, Written, write_rows};
pub use sampled::{SampledRow, SampledTask, write_sampled};
