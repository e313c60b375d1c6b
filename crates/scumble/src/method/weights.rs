//! The distributions of all groups of a release.

use rayon::prelude::*;

use crate::hierarchy::Column;
use crate::method::Grouping;
use crate::method::pdf::{self, Part, Pdf, Range, Shift};
use crate::table::Census;

/// How pdf cells are weighted.
#[derive(Debug, Clone, Copy)]
pub enum Weighting {
    /// By the table's own counts.
    Own,
    /// By the population's.
    Population,
    /// By the table's where that keeps presence in range, else by the population's.
    Counted(Range),
    /// As the source has it.
    Shifted(Range, Shift),
}

impl Grouping {
    /// For each group the distribution of every quasi column.
    pub fn weighted(
        &self,
        columns: &[Column],
        census: &Census,
        weighting: Weighting,
    ) -> Vec<Vec<Pdf>> {
        let parts = self.parts(census).into_par_iter().zip(&self.covers);
        parts
            .map(|(part, covers)| match weighting {
                Weighting::Own => pdf::own(&part),
                Weighting::Population => pdf::population(&part),
                Weighting::Counted(range) => pdf::counted(&part, &range),
                Weighting::Shifted(range, shift) => {
                    let bases: Vec<Vec<u32>> = columns
                        .iter()
                        .zip(covers)
                        .map(|(column, cover)| {
                            cover.codes(&column.domain, &column.hierarchy)
                        })
                        .collect();
                    pdf::shifted(&part, &bases, &range, shift)
                }
            })
            .collect()
    }

    /// Each group as pdf cells see it.
    pub fn parts(&self, census: &Census) -> Vec<Part> {
        let empty = Part {
            codes: vec![Vec::new(); census.quasi.len()],
            rows: Vec::new(),
            people: Vec::new(),
        };
        let mut parts = vec![empty; self.covers.len()];
        for (tuple, group) in self.group_of.iter().enumerate() {
            let Some(group) = group else { continue };
            let part = &mut parts[*group as usize];
            for (to, codes) in part.codes.iter_mut().zip(&census.quasi) {
                to.push(codes[tuple]);
            }
            part.rows.push(census.rows[tuple]);
            part.people.push(census.people()[tuple]);
        }
        parts
    }
}
