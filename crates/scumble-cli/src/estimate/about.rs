//! What questions are about: the treatments of the columns they name.

use scumble::estimate::Query;
use scumble::release::{Manifest, Treatment};

/// Which treatments occur, of a release or of the columns of a question.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Treatments {
    pub(super) coarse: bool,
    pub(super) weighted: bool,
    pub(super) drawn: bool,
    pub(super) noisy: bool,
    pub(super) apart: bool,
    pub(super) redrawn: bool,
}

impl Treatments {
    /// Those of all columns.
    pub(super) fn of(manifest: &Manifest) -> Self {
        let mut found = Self::default();
        manifest.columns.iter().for_each(|column| found.add(&column.treatment));
        found
    }

    /// Those of the columns that a question names.
    pub(super) fn asked(manifest: &Manifest, query: &Query) -> Self {
        let mut found = Self::default();
        for name in query.columns() {
            let named = |other: &str| other.eq_ignore_ascii_case(name);
            let column = manifest.columns.iter().find(|column| named(&column.name));
            column.iter().for_each(|column| found.add(&column.treatment));
        }
        found
    }

    fn add(&mut self, treatment: &Treatment) {
        match treatment {
            Treatment::Kept | Treatment::Coarse { level: Some(0), .. } => {}
            Treatment::Coarse { .. } => self.coarse = true,
            Treatment::Weighted => self.weighted = true,
            Treatment::Drawn { .. } => self.drawn = true,
            Treatment::Noisy { .. } => self.noisy = true,
            Treatment::Apart => self.apart = true,
            Treatment::Redrawn => self.redrawn = true,
        }
    }

    /// Whether only an assumption tells what values some column had.
    pub(super) fn are_open(self) -> bool {
        self.coarse || self.weighted || self.noisy || self.apart || self.redrawn
    }

    /// Why there is no way to choose.
    pub(super) fn without_choice(self) -> &'static str {
        match self {
            Self { apart: true, .. } => {
                "this release has no noise: it has values by group"
            }
            Self { noisy: true, .. } | Self { redrawn: true, .. } => {
                "blurred numbers have one way only"
            }
            _ => "this release has none: no column was randomized",
        }
    }

    /// What stands in place of a way if there is none to choose.
    pub(super) fn instead(self) -> &'static str {
        match self {
            Self { noisy: true, .. } => "posterior",
            Self { redrawn: true, .. } => "pseudo-rows",
            Self { apart: true, .. } => "arrangements",
            _ => "cells",
        }
    }
}
