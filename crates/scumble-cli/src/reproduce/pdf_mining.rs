//! Rules found again in tables drawn from k-anonymous releases, by kind of cell.

use std::path::Path;

use scumble::error::Result;

use crate::reproduce::Experiment;
use crate::reproduce::outcome::Outcome;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "pdf-mining",
    source: "nergiz2007pdf, Figure 3",
    about: "rules found again in tables drawn from k-anonymous groups, by kind of cell",
    run,
};

fn run(_data: &Path) -> Result<Outcome> {
    Err(scumble::error::Error::input("not yet"))
}
