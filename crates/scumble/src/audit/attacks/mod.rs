//! Every attack, one file each: each is tried on every release, or says why it does not apply.
//!
//! Functions that guess get the published cells and what their adversary knows; the truth is
//! known to the scorers alone, and what they find is not for publication unless an attack says
//! so.

mod averaging;
mod background_knowledge;
mod best_guess;
mod calibration;
mod corruption;
mod counting;
pub(crate) mod homogeneity;
pub(crate) mod inference;
pub(crate) mod linkage;
pub(crate) mod presence;
mod rank;
mod reversal;

pub use averaging::{Averaging, averaging};
pub use background_knowledge::BackgroundKnowledge;
pub use best_guess::BestGuess;
pub use calibration::Calibration;
pub use corruption::Corruption;
pub use counting::Counting;
pub use homogeneity::Homogeneity;
pub use inference::Inference;
pub use linkage::Linkage;
pub use presence::Presence;
pub use rank::Rank;
pub use reversal::Reversal;

use std::fmt::Debug;

use crate::audit::{Attacked, Held, Public, Views};
use crate::error::Result;

/// Tries to find something out about people.
pub trait Attack: Debug + Sync {
    /// What it is called in reports.
    fn name(&self) -> &'static str;

    /// Guesses from the release and what the adversary knows, and lets the guesses be scored;
    /// or says why it does not apply to this release, or with what is given.
    fn attempt(&self, views: &Views<'_>, held: &Held<'_>) -> Result<Tried>;

    /// What of it may be published: what anybody can find out who has what readers have,
    /// unless an attack states more of what it `tried`.
    fn shown(
        &self,
        _tried: &[Attacked],
        views: &Views<'_>,
        readers: &Held<'_>,
    ) -> Result<Public<Vec<Attacked>>> {
        let found = self.attempt(views, readers)?.attacked();
        Ok(Public::because("whoever has the release can try it", found))
    }
}

/// What came of an attack.
#[derive(Debug, Clone)]
pub enum Tried {
    /// How it went, on each column or all at once; never empty.
    Attacked(Vec<Attacked>),
    /// Why it does not apply.
    NotApplicable(String),
}

impl Tried {
    fn not(reason: &str) -> Result<Self> {
        Ok(Self::NotApplicable(reason.to_owned()))
    }

    /// How it went; nothing if it does not apply.
    fn attacked(self) -> Vec<Attacked> {
        match self {
            Self::Attacked(attacked) => attacked,
            Self::NotApplicable(_) => Vec::new(),
        }
    }
}

/// All of them, in the order of reports.
pub static ALL: [&dyn Attack; 12] = [
    &Linkage,
    &Homogeneity,
    &BackgroundKnowledge,
    &Presence,
    &Counting,
    &Reversal,
    &Inference,
    &Corruption,
    &Averaging,
    &Calibration,
    &Rank,
    &BestGuess,
];

const NEEDS_ORIGINAL: &str = "needs the original";
const NOT_RANDOMIZED: &str = "no column is randomized";
const NO_NOISE: &str = "no number has noise";

/// Why there are no classes of rows with the same cells.
fn no_cell_classes(views: &Views<'_>) -> &'static str {
    let present = views.present;
    if views.manifest.sampled.is_some() {
        "one row of each group was published, which stands for all of it"
    } else if present.noisy {
        "quasi columns are numbers with noise, or published as they are"
    } else if present.redrawn {
        "numbers of quasi columns were drawn anew by group"
    } else {
        "quasi columns are published as they are: whose row is whose is no secret"
    }
}
