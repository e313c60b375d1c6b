//! A recipe: the spec as typed, the order as checked against its table, and the run.

mod blur;
mod blurring;
#[cfg(test)]
mod broken_disk;
mod bucketize;
mod calibrate;
mod certify;
mod column;
mod compare;
mod domains;
mod follow;
mod generalize;
mod join;
#[cfg(test)]
mod learned_tests;
mod ledger;
mod made;
mod method;
mod methods;
#[cfg(test)]
mod mistakes;
mod noise;
mod order;
mod parts;
mod presence;
mod promise;
mod randomize;
mod repeated;
mod request;
mod robustness;
mod run;
mod section;
mod shares;
mod single;
mod spec;
#[cfg(test)]
mod spec_tests;
mod together;

pub use blur::BlurSpec;
pub use column::{ColumnSpec, DomainSpec, HierarchySpec};
pub use compare::{
    Asked, BANDS, Band, Ends, Grid, MOST_NUMBERS, MOST_POINTS, MOST_WORDS, Measured,
    Point, Questions, RiskFound, RiskKind, Vary, Workload, Yardstick, YardstickOptions,
    risks,
};
pub use method::{
    Looks, MethodSpec, PdfSpec, RangeEnds, ReleaseSpec, SharesSpec, Weights,
};
pub use methods::{Gathered, Keeps, METHODS, Method, Needs, Planned, Task, Treats};
pub use noise::{Inside, Missing, NoiseSpec};
pub use promise::{PROMISES, PromiseKind, PromiseSpec, WeightsSpec};
pub use randomize::LARGEST_MATRIX;
pub use request::{Proven, Published, Request, Search};
pub use robustness::{KnowledgeSpec, RobustnessSpec};
pub use run::publish;
pub use section::Spot;
pub use spec::{InputSpec, Spec};
