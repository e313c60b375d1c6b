//! A release as any reader sees it, each kind of column in the form that checks and attacks
//! need: equal cells, drawn values, values apart, noisy and redrawn numbers.
//!
//! A view is made when it is first asked for, of the columns that have its treatment.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use crate::audit::apart::ApartValues;
use crate::audit::cells::CellClasses;
use crate::audit::drawn::Drawn;
use crate::audit::noisy::NoisyRows;
use crate::audit::redrawn::RedrawnGroups;
use crate::error::{Error, Result};
use crate::release::{
    ColumnShares, Manifest, PublishedColumn, Release, Seen, Treatment,
};
use crate::table::{Role, Source};
use crate::watch::{Quiet, Watch};

/// What the published files show.
#[derive(Debug)]
pub struct Views<'a> {
    pub(super) manifest: &'a Manifest,
    pub(super) watch: &'a dyn Watch,
    pub(super) present: Present,
    seen: Seen<'a>,
    facets: Facets,
}

#[derive(Debug, Default)]
struct Facets {
    cells: OnceCell<CellClasses>,
    sample: OnceCell<Vec<(u64, u64)>>,
    drawn: OnceCell<Drawn>,
    apart: OnceCell<Vec<ApartValues>>,
    noisy: OnceCell<NoisyRows>,
    redrawn: OnceCell<RedrawnGroups>,
}

/// Which treatments a release has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Present {
    /// Quasi columns that are coarse or distributions.
    pub(super) coarse: bool,
    pub(super) weighted: bool,
    pub(super) drawn: bool,
    pub(super) noisy: bool,
    pub(super) apart: bool,
    pub(super) redrawn: bool,
}

impl Present {
    /// Looks at every column.
    pub(super) fn of(manifest: &Manifest) -> Self {
        let mut present = Self::default();
        for PublishedColumn { treatment, role, .. } in &manifest.columns {
            match treatment {
                Treatment::Kept => {}
                Treatment::Coarse { .. } => present.coarse |= *role == Role::Quasi,
                Treatment::Weighted => {
                    (present.coarse, present.weighted) = (true, true);
                }
                Treatment::Drawn { .. } => present.drawn = true,
                Treatment::Noisy { .. } => present.noisy = true,
                Treatment::Apart => present.apart = true,
                Treatment::Redrawn => present.redrawn = true,
            }
        }
        present
    }
}

/// Whether rows with the same quasi cells are what a person is hidden among: where a quasi
/// column is coarse, or nothing was done to any column. A sample shows one row of each group,
/// and no group.
pub(super) fn forms_cell_classes(manifest: &Manifest) -> bool {
    let present = Present::of(manifest);
    manifest.sampled.is_none() && (present.coarse || present == Present::default())
}

impl<'a> Views<'a> {
    /// Checks the files against the manifest.
    pub(super) fn open(release: &'a Release, watch: &'a dyn Watch) -> Result<Self> {
        let (manifest, seen) = (&release.manifest, Seen::open(release)?);
        let present = Present::of(manifest);
        Ok(Self { manifest, watch, present, seen, facets: Facets::default() })
    }

    /// Rows by equal quasi cells, if that is what people are hidden among.
    pub(super) fn cells(&self) -> Result<Option<&CellClasses>> {
        let read = |seen| CellClasses::read(seen, self.watch);
        facet(self.seen_if(forms_cell_classes(self.manifest)), &self.facets.cells, read)
    }

    /// How often the values of columns occur in the table, if the release says so.
    pub(super) fn shares(&self) -> Result<Vec<ColumnShares>> {
        self.seen.shares(self.watch)
    }

    /// How many rows published rows stand for, and how many do, ascending; nothing if each
    /// stands for itself.
    pub(super) fn sample(&self) -> Result<Option<&[(u64, u64)]>> {
        let read = |name: &str| stands_for(&self.seen, name, self.watch);
        let sizes = facet(self.manifest.sampled.as_deref(), &self.facets.sample, read)?;
        Ok(sizes.map(Vec::as_slice))
    }

    /// Randomized columns by sub-table.
    pub(super) fn drawn(&self) -> Result<Option<&Drawn>> {
        let sample = self.sample()?;
        let read = |seen| Drawn::read(seen, sample, self.watch);
        facet(self.seen_if(self.present.drawn), &self.facets.drawn, read)
    }

    /// Values by group, of every column that stands apart.
    pub(super) fn apart(&self) -> Result<&[ApartValues]> {
        let read = |seen| ApartValues::read_all(seen, self.watch);
        let found = facet(self.seen_if(self.present.apart), &self.facets.apart, read)?;
        Ok(found.map_or(&[], Vec::as_slice))
    }

    /// Numbers by frame and level.
    pub(super) fn noisy(&self) -> Result<Option<&NoisyRows>> {
        let read = |seen| NoisyRows::read(seen, self.watch);
        facet(self.seen_if(self.present.noisy), &self.facets.noisy, read)
    }

    /// The groups whose numbers were drawn anew.
    pub(super) fn redrawn(&self) -> Result<Option<&RedrawnGroups>> {
        let read = |seen| RedrawnGroups::read(seen, self.watch);
        facet(self.seen_if(self.present.redrawn), &self.facets.redrawn, read)
    }

    fn seen_if(&self, there: bool) -> Option<&Seen<'a>> {
        there.then_some(&self.seen)
    }

    /// The published rows, to be read one by one.
    pub(super) fn rows(&self) -> &Source {
        self.seen.rows()
    }

    /// Reads everything there is.
    pub(super) fn read(&self) -> Result<()> {
        self.cells()?;
        self.drawn()?;
        self.apart()?;
        self.noisy()?;
        self.redrawn()?;
        Ok(())
    }

    /// How many people stand in groups of which size: ascending, and empty where people are
    /// not hidden in groups.
    pub(super) fn group_sizes(&self) -> Result<Vec<(u64, u64)>> {
        if let Some(sizes) = self.sample()? {
            return Ok(sizes.to_vec());
        }
        if let Some(classes) = self.cells()? {
            return Ok(counted(classes.sizes.iter().copied()));
        }
        if let apart @ [_, ..] = self.apart()? {
            return Ok(counted(apart.iter().flat_map(|apart| apart.groups.sizes())));
        }
        let redrawn = self.redrawn()?;
        Ok(redrawn
            .map_or_else(Vec::new, |groups| counted(groups.sizes.iter().copied())))
    }
}

/// What is made of what is there, when it is first asked for.
pub(super) fn facet<S, T>(
    there: Option<S>,
    made: &OnceCell<T>,
    make: impl FnOnce(S) -> Result<T>,
) -> Result<Option<&T>> {
    if let (Some(there), None) = (there, made.get()) {
        let new = make(there)?;
        return Ok(Some(made.get_or_init(|| new)));
    }
    Ok(made.get())
}

/// How many there are of each size, ascending.
fn counted(sizes: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for size in sizes {
        *counts.entry(size).or_default() += 1;
    }
    counts.into_iter().collect()
}

/// How many rows published rows stand for, and how many do.
fn stands_for(
    seen: &Seen<'_>,
    name: &str,
    watch: &dyn Watch,
) -> Result<Vec<(u64, u64)>> {
    let wrong = |what: String| Error::input(what).in_file(seen.name());
    let found = seen.count(&[name], &Quiet(watch))?;
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    for dictionary in &found.dictionaries {
        for (text, rows) in dictionary.texts.iter().zip(&dictionary.rows) {
            let size = text.parse::<u64>().ok().filter(|size| *size > 0);
            let size = size.ok_or_else(|| {
                wrong(format!("column `{name}` must hold whole numbers from 1"))
            })?;
            *sizes.entry(size).or_default() += rows;
        }
    }
    let behind = sizes.iter().map(|(size, rows)| size.saturating_mul(*rows));
    let (behind, manifest) = (behind.fold(0, u64::saturating_add), seen.manifest());
    if behind > manifest.rows + manifest.left_out {
        let what = "published rows stand for more rows than the table had";
        return Err(wrong(what.to_owned()));
    }
    Ok(sizes.into_iter().collect())
}
