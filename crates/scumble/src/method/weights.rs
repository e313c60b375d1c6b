//! The distributions of all groups of a release.

use rayon::prelude::*;

use crate::error::Result;
use crate::hierarchy::{Column, Cover};
use crate::method::Grouping;
use crate::method::pdf::{self, Pdf, PdfGroup, Range, Shift};
use crate::table::{Census, Code, GroupId, Of};
use crate::watch::Watch;

/// How pdf cells are weighted.
#[derive(Debug, Clone, Copy)]
pub enum Weighting {
    /// By the table's own counts.
    Own,
    /// By the population's.
    Population,
    /// By the table's where that keeps presence in range, else by the population's.
    Counted(Range),
    /// For comparison only: as the source has it, which tells the table's counts.
    Shifted(Range, Shift),
}

impl Weighting {
    /// The distribution of every quasi column in one group.
    fn pdfs(self, columns: &[Column], part: &PdfGroup, covers: &[Cover]) -> Vec<Pdf> {
        match self {
            Self::Own => pdf::own(part),
            Self::Population => pdf::population(part),
            Self::Counted(range) => pdf::counted(part, &range),
            Self::Shifted(range, shift) => {
                let bases: Vec<Vec<Code>> = columns
                    .iter()
                    .zip(covers)
                    .map(|(column, cover)| {
                        cover.codes(&column.domain, &column.hierarchy)
                    })
                    .collect();
                pdf::shifted(part, &bases, &range, shift)
            }
        }
    }
}

impl Grouping {
    /// For each group the distribution of every quasi column.
    pub fn weighted(
        &self,
        columns: &[Column],
        census: &Census,
        weighting: Weighting,
    ) -> Of<GroupId, Vec<Pdf>> {
        let parts = self.parts(census).into_par_iter().zip(&*self.covers);
        let pdfs = parts.map(|(part, covers)| weighting.pdfs(columns, &part, covers));
        pdfs.collect::<Vec<_>>().into()
    }

    /// As [`Grouping::weighted`]; counting the worlds of many groups takes long, so it may
    /// be cancelled.
    pub fn weighted_watched(
        &self,
        columns: &[Column],
        census: &Census,
        weighting: Weighting,
        watch: &dyn Watch,
    ) -> Result<Of<GroupId, Vec<Pdf>>> {
        let parts = self.parts(census).into_par_iter().zip(&*self.covers);
        let pdfs: Result<Vec<_>> = parts
            .map(|(part, covers)| {
                watch.check()?;
                Ok(weighting.pdfs(columns, &part, covers))
            })
            .collect();
        Ok(pdfs?.into())
    }

    /// Each group as pdf cells see it.
    pub fn parts(&self, census: &Census) -> Vec<PdfGroup> {
        let empty = PdfGroup {
            codes: vec![Vec::new(); census.quasi.len()],
            rows: Vec::new(),
            people: Vec::new(),
        };
        let mut parts: Of<GroupId, PdfGroup> = Of::repeat(empty, self.covers.len());
        for (tuple, group) in self.group_of.pairs() {
            let Some(group) = group else { continue };
            let part = &mut parts[*group];
            for (to, codes) in part.codes.iter_mut().zip(&census.quasi) {
                to.push(codes[tuple]);
            }
            part.rows.push(census.rows[tuple]);
            part.people.push(census.people()[tuple]);
        }
        parts.into_vec()
    }
}
