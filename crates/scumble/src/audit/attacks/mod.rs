//! Every attack, one file each: all are tried on every release, or say why they do not apply.
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
mod dependence;
pub(crate) mod homogeneity;
pub(crate) mod inference;
mod intersection;
mod learned;
pub(crate) mod linkage;
mod matching;
mod minimality;
mod own_rows;
pub(crate) mod presence;
mod rank;
mod reversal;
mod search;
mod singling_out;
mod together;

pub use averaging::{Averaging, averaging};
pub use background_knowledge::BackgroundKnowledge;
pub use best_guess::BestGuess;
pub use calibration::Calibration;
pub use corruption::Corruption;
pub use counting::Counting;
pub use dependence::Dependence;
pub use homogeneity::Homogeneity;
pub use inference::Inference;
pub use intersection::Intersection;
pub use learned::Learned;
pub use linkage::Linkage;
pub use matching::Matching;
pub use minimality::Minimality;
pub use own_rows::OwnRows;
pub use presence::Presence;
pub use rank::Rank;
pub use reversal::Reversal;
use reversal::nothing_left_out;
pub(in crate::audit) use reversal::{by_coins, hides_its_search};
pub use singling_out::SinglingOut;
pub use together::{broken_together, together};

use std::fmt::Debug;

use crate::audit::{Attacked, Case, Public};
use crate::error::{Error, Result};

/// Tries to find something out about people.
pub trait Attack: Debug + Sync {
    /// What it is called in reports.
    fn name(&self) -> &'static str;

    /// Guesses from the release and what the adversary knows, and lets the guesses be scored,
    /// on each column or all at once; or says why it does not apply to this release, or with
    /// what is given.
    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped>;

    /// What of it may be published: what anybody can find out who has what readers have,
    /// unless an attack states more of what it `tried`.
    fn shown(&self, _tried: &[Attacked], readers: &Case<'_>) -> Result<PublicAttacks> {
        let found = match self.attempt(readers) {
            Err(Stopped::Failed(error)) => return Err(error),
            Err(Stopped::NotApplicable(_)) => Vec::new(),
            Ok(found) => found,
        };
        Ok(Public::because("anybody who has the release can try it", found))
    }
}

/// How an attack went, as far as everybody may know.
pub type PublicAttacks = Public<Vec<Attacked>>;

/// Why an attack found nothing.
#[derive(Debug)]
pub enum Stopped {
    /// It does not apply, for this reason.
    NotApplicable(&'static str),
    /// Something went wrong.
    Failed(Error),
}

impl From<&'static str> for Stopped {
    fn from(reason: &'static str) -> Self {
        Self::NotApplicable(reason)
    }
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// What was found on several parts of a release; if nothing was, the attack does not apply.
fn found_or(
    found: Vec<Attacked>,
    why: impl FnOnce() -> Result<&'static str>,
) -> Result<Vec<Attacked>, Stopped> {
    match found.is_empty() {
        true => Err(why()?.into()),
        false => Ok(found),
    }
}

/// All of them, in the order of reports.
pub static ALL: [&dyn Attack; 19] = [
    &Linkage,
    &SinglingOut,
    &Homogeneity,
    &OwnRows,
    &Intersection,
    &BackgroundKnowledge,
    &Learned,
    &Presence,
    &Counting,
    &Reversal,
    &Minimality,
    &Inference,
    &Corruption,
    &Averaging,
    &Dependence,
    &Calibration,
    &Rank,
    &BestGuess,
    &Matching,
];

const NEEDS_ORIGINAL: &str = "needs the original";
const NOT_RANDOMIZED: &str = "no column is randomized";
const NO_NOISE: &str = "no number has noise";
const NO_SENSITIVE: &str = "no sensitive column is published as it is";

/// Why there are no classes of rows with the same cells.
fn no_cell_classes(case: &Case<'_>) -> &'static str {
    let present = case.views.present;
    if case.manifest.sampled.is_some() {
        "one row of each group was published, which stands for all of it"
    } else if present.noisy {
        "quasi columns are numbers with noise, or published as they are"
    } else if present.redrawn {
        "numbers of quasi columns were drawn anew by group"
    } else {
        "quasi columns are published as they are: whose row is whose is no secret"
    }
}
