//! How risk and coarseness are spread over people: counts in few bands.
//!
//! # Guarantee
//! Risks and widths are computed from what the release's readers have: its files and, of
//! presence, the population. Company of blurred numbers needs the numbers of the table, and is
//! told in bands only.
//!
//! # Limits
//! A risk is what somebody can believe who knows quasi values and nothing else. Attacks that
//! know more are reported apart.
//!
//! # Cost
//! O(groups), or O(values) where they are randomized.
//!
//! # Source
//! docs/methods.md, "Audit and attacks".

use crate::audit::cells::shown::ShownColumn;
use crate::audit::cells::{CellClasses, CellColumn, ShownCells};
use crate::audit::grouped::GroupedValues;
use crate::audit::noisy::{NoisyFindings, NoisyTruth};
use crate::audit::{Case, attacks};
use crate::error::Result;
use crate::release::Manifest;

/// Numbers that are equal up to this are in the same band.
const ROUNDING: f64 = 1e-9;

/// What somebody may find out about a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AtRisk {
    /// Which row is theirs, by the quasi cells of its group.
    Row,
    /// Their value in this sensitive column, or these that are randomized as one.
    Value(String),
    /// Whether they are in the table.
    Presence,
    /// Which blurred row is theirs: one in as many as it is hidden among on average.
    Company,
}

impl AtRisk {
    /// Its name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Value(_) => "value",
            Self::Presence => "presence",
            Self::Company => "company",
        }
    }
}

/// How many people have which risk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RiskBands {
    /// What is at risk.
    pub what: AtRisk,
    /// People in each band of [`RiskBands::ENDS`].
    pub people: [u64; Self::ENDS.len()],
    /// Whether only some people were looked at.
    pub sampled: bool,
}

impl RiskBands {
    /// Where bands of risk end: none, up to 1 in 100 and so on, less than certain, certain.
    pub const ENDS: [f64; 9] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 1.0];

    /// Of nobody yet.
    pub(super) fn new(what: AtRisk) -> Self {
        Self { what, people: [0; Self::ENDS.len()], sampled: false }
    }

    /// Adds people of whom something is believed.
    pub(super) fn add(&mut self, belief: f64, people: u64) {
        self.people[band(belief, &Self::ENDS)] += people;
    }

    /// How many people were looked at.
    pub fn total(&self) -> u64 {
        self.people.iter().sum()
    }
}

/// How much of its column each published cell stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Width {
    /// The column.
    pub column: String,
    /// Rows in each band of [`Width::ENDS`].
    pub rows: [u64; Self::ENDS.len()],
}

impl Width {
    /// Where bands end: exact values, up to a twentieth of the column and so on, less than
    /// all of it, all of it.
    pub const ENDS: [f64; 7] = [0.0, 0.05, 0.1, 0.25, 0.5, 1.0, 1.0];

    /// Without rows.
    pub(super) fn new(column: &str) -> Self {
        Self { column: column.to_owned(), rows: [0; Self::ENDS.len()] }
    }

    /// Adds rows whose cell stands for this share of the column.
    pub(super) fn add(&mut self, share: f64, rows: u64) {
        self.rows[band(share, &Self::ENDS)] += rows;
    }
}

/// The band of a share. The first has zero alone, the last has one alone.
fn band(share: f64, ends: &[f64]) -> usize {
    let last = ends.len() - 1;
    if share >= 1.0 - ROUNDING {
        return last;
    }
    ends[..last].iter().position(|end| share <= end + ROUNDING).unwrap_or(last)
}

/// How sure somebody can be, by everything that a release shows.
pub(super) fn risks(case: &Case<'_>) -> Result<Vec<RiskBands>> {
    let (views, mut risks) = (case.views, Vec::new());
    if let Some(classes) = views.cells()? {
        risks.push(of_sizes(&views.group_sizes()?));
        risks.extend(classes.columns().map(GroupedValues::risk));
        if let Some(crowd) = case.crowd()? {
            let best = attacks::presence::best(crowd);
            let people = crowd.people.known.people;
            risks.extend(best.map(|best| of_presence(&best, people)));
        }
    }
    let apart = views.apart()?.iter();
    risks.extend(apart.map(|values| GroupedValues::Apart(values).risk()));
    if let Some(drawn) = views.drawn()? {
        risks.extend(attacks::inference::risks(drawn));
    }
    if views.redrawn()?.is_some() {
        risks.push(of_sizes(&views.group_sizes()?));
    }
    if let Some(NoisyTruth { found: NoisyFindings::Strict { measured, .. }, .. }) =
        case.noisy_truth()?
    {
        risks.push(measured.risk.clone());
    }
    Ok(risks)
}

/// How wide cells and noise are, as readers see it.
pub(super) fn widths(case: &Case<'_>) -> Result<Vec<Width>> {
    let (views, mut widths) = (case.views, Vec::new());
    if let Some(classes) = views.cells()? {
        widths.extend(of_cells(case.manifest, classes));
    }
    widths.extend(views.noisy()?.map(|rows| rows.widths()).into_iter().flatten());
    Ok(widths)
}

/// Of groups of these sizes, each with how many there are: which row is whose.
fn of_sizes(sizes: &[(u64, u64)]) -> RiskBands {
    let mut risk = RiskBands::new(AtRisk::Row);
    for (size, groups) in sizes {
        risk.add(1.0 / (*size).max(1) as f64, size * groups);
    }
    risk
}

/// What is believed of everybody's presence, given for each distinct tuple.
fn of_presence(beliefs: &[f64], people: &[u64]) -> RiskBands {
    let mut risk = RiskBands::new(AtRisk::Presence);
    for (belief, people) in beliefs.iter().zip(people) {
        risk.add(*belief, *people);
    }
    risk
}

/// How wide the cells of each quasi column are, as the loss metric has it.
fn of_cells(manifest: &Manifest, view: &CellClasses) -> Vec<Width> {
    let shown = ShownCells::read(manifest, view);
    let columns = view.quasi.iter().zip(shown.columns());
    let width = |(cells, shown): (&CellColumn, &ShownColumn)| {
        let mut width = Width::new(&manifest.columns[cells.place].name);
        for (cell, size) in cells.of_group.iter().zip(&view.sizes) {
            width.add(shown.shares[*cell as usize], *size);
        }
        width
    };
    columns.map(width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_belong_to_the_band_below_and_certainty_stands_alone() {
        let place = |share: f64| band(share, &RiskBands::ENDS);
        assert_eq!([0.0, 0.001, 0.01, 0.011].map(place), [0, 1, 1, 2]);
        assert_eq!([1.0 / 5.0, 0.2 + 1e-12, 0.21].map(place), [5, 5, 6]);
        assert_eq!([0.5, 2.0 / 3.0, 0.999, 1.0].map(place), [6, 7, 7, 8]);
        assert_eq!(band(2.0, &Width::ENDS), 6, "noise may be wider than its column");
    }

    #[test]
    fn people_are_counted_by_the_size_of_their_group() {
        let risk = of_sizes(&[(1, 2), (5, 3), (200, 1)]);
        assert_eq!(risk.people, [0, 200, 0, 0, 0, 15, 0, 0, 2]);
        assert_eq!(risk.total(), 217);
    }
}
