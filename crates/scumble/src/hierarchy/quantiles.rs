//! Ranges with about equally many rows.
//!
//! # Guarantee
//! The ends of the ranges are lines of a public grid, so that none is a value of the table.
//!
//! # Limits
//! Which lines these are is a function of the table: that a quarter of the rows is below 40,
//! to the precision of the grid, is told to everybody who reads the release. Under promises
//! about presence such a ladder is refused.
//!
//! # Cost
//! A look at every value of a column.
//!
//! # Source
//! Ours; the grid is that of published ranges (`grid.rs`).

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hierarchy::{Cuts, Grid, Rule};
use crate::table::{Code, Domain, Of};

/// A ladder of ranges with about equally many rows, made when the table was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantiles {
    // How many ranges each level has, finest first.
    parts: Vec<usize>,
}

impl Quantiles {
    /// Checks that levels nest.
    pub fn new(parts: Vec<usize>) -> Result<Self> {
        let nested =
            |pair: &[usize]| pair[1] < pair[0] && pair[0].is_multiple_of(pair[1]);
        let fits = !parts.is_empty()
            && parts.iter().all(|n| (2..=100).contains(n))
            && parts.windows(2).all(nested);
        if !fits {
            return Err(Error::recipe(
                "`quantiles` needs numbers of ranges from 2 to 100, finest level first, each \
                 dividing the one before",
            )
            .with_hint("write `quantiles = [4, 2]` for quarters, then halves"));
        }
        Ok(Self { parts })
    }

    /// Their number of levels.
    pub(super) fn n_steps(&self) -> usize {
        self.parts.len()
    }

    /// The ranges for a column of which `rows` says how many rows have each value. Fewer than
    /// asked for where many rows have one value; a value or `*` where all have.
    pub fn cuts(&self, domain: &Domain, rows: &Of<Code, u64>) -> Rule {
        let lines = self.lines(domain, rows).unwrap_or_default();
        let levels: Vec<Vec<f64>> = self
            .parts
            .iter()
            .map(|parts| {
                let every = self.parts[0] / parts;
                let mut level: Vec<f64> = (1..*parts)
                    .filter_map(|part| lines.get(part * every - 1).copied().flatten())
                    .collect();
                level.dedup();
                level
            })
            .filter(|level| !level.is_empty())
            .collect();
        Cuts::new(levels).map_or(Rule::Plain, Rule::Cuts)
    }

    /// For each end between two of the finest ranges, the line of the grid at or below the
    /// value there; nothing where that is below all values.
    fn lines(&self, domain: &Domain, rows: &Of<Code, u64>) -> Option<Vec<Option<f64>>> {
        let grid = Grid::round(domain)?.bind(domain)?;
        let known: Vec<(Code, u64)> = rows
            .pairs()
            .filter(|(code, n)| domain.number(*code).is_some() && **n > 0)
            .map(|(code, n)| (code, *n))
            .collect();
        let total: u64 = known.iter().map(|(_, n)| n).sum();
        let least = domain.number(known.first()?.0)?;
        let n_parts = self.parts[0] as u64;
        let lines = (1..n_parts).map(|part| {
            let mut below = 0;
            let (code, _) = known.iter().find(|(_, n)| {
                below += n;
                below * n_parts > part * total
            })?;
            let line: f64 = grid.line_below(*code)?.parse().ok()?;
            (line > least).then_some(line)
        });
        Some(lines.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Reading;

    fn cuts(parts: &[usize], ages: impl Iterator<Item = u64>) -> Rule {
        let texts: Vec<Box<str>> = ages.map(|age| age.to_string().into()).collect();
        let (domain, codes) = Domain::of(&texts, &Reading::number()).expect("numbers");
        let mut rows = Of::repeat(0, domain.len());
        codes.iter().for_each(|code| rows[*code] += 1);
        Quantiles::new(parts.to_vec()).expect("nested").cuts(&domain, &rows)
    }

    #[test]
    fn ends_are_lines_of_the_grid_and_nest() {
        let Rule::Cuts(found) = cuts(&[4, 2], (0..1000).map(|n| 17 + n * n / 13_700))
        else {
            panic!("ranges");
        };
        // The quartiles are 21, 35 and 58; the grid has every second number.
        assert_eq!(found.levels(), [vec![20.0, 34.0, 58.0], vec![34.0]]);
    }

    #[test]
    fn many_rows_of_one_value_leave_fewer_ranges() {
        let Rule::Cuts(found) = cuts(&[4], (0..100).map(|n| n.max(70))) else {
            panic!("ranges");
        };
        assert_eq!(found.levels(), [vec![74.0]]);
        assert_eq!(cuts(&[4], std::iter::repeat_n(7, 50)), Rule::Plain);
    }

    #[test]
    fn numbers_of_ranges_must_divide() {
        for parts in [vec![], vec![1], vec![4, 3], vec![2, 4], vec![4, 4], vec![101]] {
            assert!(Quantiles::new(parts).is_err());
        }
    }
}
