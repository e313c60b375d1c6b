//! Risks of being found again, by the names that ARX and sdcMicro use.
//!
//! # Guarantee
//! All three are functions of published group sizes.
//!
//! # Limits
//! Each is about somebody who knows the quasi values of one person and nothing else. Without a
//! population, the journalist's risk is bounded by the prosecutor's.
//!
//! # Cost
//! O(sizes of groups).
//!
//! # Source
//! The three models are those of El Emam, as ARX names them; sdcMicro calls the prosecutor's
//! individual risk, and its mean the global risk.

use crate::audit::{AtRisk, Report};

/// How surely people are found again by the cells of their row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reidentification {
    /// Prosecutor: who knows that a person is in the release and looks for their row. The
    /// highest risk of anybody, one in the size of the smallest group.
    pub highest: f64,
    /// Marketer: who looks for everybody. The share found by chance, groups over rows, which
    /// is also the prosecutor's risk on average.
    pub average: f64,
    /// The share of rows whose risk is above 0.2, in groups of fewer than five.
    pub at_risk: f64,
    /// The share of rows that are alone in their group.
    pub unique: f64,
}

impl Report {
    /// How surely people are found again; nothing where rows have no groups of cells.
    pub fn reidentification(&self) -> Option<Reidentification> {
        let of_rows = self.risks.iter().any(|risk| risk.what == AtRisk::Row);
        of_rows.then(|| of_sizes(&self.group_sizes)).flatten()
    }
}

/// The same of groups: their size, and how many have it.
fn of_sizes(sizes: &[(u64, u64)]) -> Option<Reidentification> {
    let smallest =
        sizes.iter().map(|(size, _)| *size).filter(|size| *size > 0).min()?;
    let rows: u64 = sizes.iter().map(|(size, n)| size * n).sum();
    let groups: u64 = sizes.iter().map(|(_, n)| n).sum();
    let below = |k: u64| -> f64 {
        let few = sizes.iter().filter(|(size, _)| *size < k);
        few.map(|(size, n)| size * n).sum::<u64>() as f64 / rows as f64
    };
    Some(Reidentification {
        highest: 1.0 / smallest as f64,
        average: groups as f64 / rows as f64,
        at_risk: below(5),
        unique: below(2),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn risks_are_counted_over_rows() {
        // One alone, two pairs, one group of five: ten rows in four groups.
        let found = of_sizes(&[(1, 1), (2, 2), (5, 1)]).unwrap();
        let risk = |rows: &[f64]| rows.iter().sum::<f64>() / 10.0;
        let each = [1.0, 0.5, 0.5, 0.5, 0.5, 0.2, 0.2, 0.2, 0.2, 0.2];
        assert_eq!(found.highest, 1.0);
        assert!((found.average - risk(&each)).abs() < 1e-12);
        assert_eq!((found.at_risk, found.unique), (0.5, 0.1));
        assert_eq!(of_sizes(&[]), None);
    }
}
