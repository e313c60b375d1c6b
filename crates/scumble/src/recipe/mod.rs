//! A recipe: the spec as typed, the order as checked against its table, and the run.

mod blur;
mod blurring;
mod bucketize;
mod choose;
mod column;
mod compare;
mod method;
#[cfg(test)]
mod mistakes;
mod noise;
mod notes;
mod order;
mod presence;
mod promise;
mod randomize;
mod robustness;
mod run;
mod section;
mod spec;
#[cfg(test)]
mod spec_tests;
mod write;

pub use blur::BlurSpec;
pub use column::{ColumnSpec, HierarchySpec};
pub use compare::{
    Asked, BANDS, Band, Ends, Grid, MOST_POINTS, MOST_WORDS, Measured, Part, Point,
    Vary, Workload, Yardstick, YardstickOptions,
};
pub use method::{MethodName, MethodSpec, PdfSpec, ReleaseSpec, Weights};
pub use noise::{Inside, Missing, NoiseSpec};
pub use promise::{
    BoundsSpec, Distance, DiversityKind, PromiseKind, PromiseSpec, WeightsSpec,
};
pub use robustness::{KnowledgeSpec, RobustnessSpec};
pub use run::{Published, Request, Search, Stage, Unwatched, Watch, publish};
pub use section::Spot;
pub use spec::{InputSpec, Spec};
