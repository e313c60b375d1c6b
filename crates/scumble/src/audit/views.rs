//! A release as any reader sees it, each kind of column in the form that checks and attacks
//! need: equal cells, drawn values, values apart, noisy and redrawn numbers.
//!
//! A view is made when it is first asked for, of the columns that have its treatment.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use crate::audit::apart::values::ApartValues;
use crate::audit::cells::classes::CellClasses;
use crate::audit::drawn::Drawn;
use crate::audit::noisy::rows::NoisyRows;
use crate::audit::redrawn::RedrawnGroups;
use crate::error::{Error, Result};
use crate::release::{Manifest, PublishedColumn, Release, Seen, Treatment};
use crate::table::{Role, Source};
use crate::watch::{Quiet, Watch};

/// What the published files show.
#[derive(Debug)]
pub struct Views<'a> {
    pub(super) manifest: &'a Manifest,
    pub(super) watch: &'a dyn Watch,
    pub(super) present: Present,
    seen: Seen<'a>,
    cells: OnceCell<CellClasses>,
    sample: OnceCell<Vec<(u64, u64)>>,
    drawn: OnceCell<Drawn>,
    apart: OnceCell<ApartValues>,
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
        let manifest = &release.manifest;
        Ok(Self {
            manifest,
            watch,
            present: Present::of(manifest),
            seen: Seen::open(release)?,
            cells: OnceCell::new(),
            sample: OnceCell::new(),
            drawn: OnceCell::new(),
            apart: OnceCell::new(),
            noisy: OnceCell::new(),
            redrawn: OnceCell::new(),
        })
    }

    /// Rows by equal quasi cells, if that is what people are hidden among.
    pub(super) fn cells(&self) -> Result<Option<&CellClasses>> {
        let there = forms_cell_classes(self.manifest);
        facet(there, &self.cells, || CellClasses::read(&self.seen, self.watch))
    }

    /// How many rows published rows stand for, and how many do, ascending; nothing if each
    /// stands for itself.
    pub(super) fn sample(&self) -> Result<Option<&[(u64, u64)]>> {
        let name = self.manifest.sampled.as_deref();
        let read = || stands_for(&self.seen, name.unwrap_or_default(), self.watch);
        facet(name.is_some(), &self.sample, read).map(|sizes| sizes.map(Vec::as_slice))
    }

    /// Randomized columns by sub-table.
    pub(super) fn drawn(&self) -> Result<Option<&Drawn>> {
        let sample = self.sample()?;
        facet(self.present.drawn, &self.drawn, || {
            Drawn::read(&self.seen, sample, self.watch)
        })
    }

    /// Values by group.
    pub(super) fn apart(&self) -> Result<Option<&ApartValues>> {
        facet(self.present.apart, &self.apart, || {
            ApartValues::read(&self.seen, self.watch)
        })
    }

    /// Numbers by frame and level.
    pub(super) fn noisy(&self) -> Result<Option<&NoisyRows>> {
        facet(self.present.noisy, &self.noisy, || {
            NoisyRows::read(&self.seen, self.watch)
        })
    }

    /// The groups whose numbers were drawn anew.
    pub(super) fn redrawn(&self) -> Result<Option<&RedrawnGroups>> {
        facet(self.present.redrawn, &self.redrawn, || {
            RedrawnGroups::read(&self.seen, self.watch)
        })
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
        if let Some(apart) = self.apart()? {
            let groups = &apart.groups;
            return Ok(counted((0..groups.len()).map(|group| groups.size(group))));
        }
        Ok(self
            .redrawn()?
            .map_or_else(Vec::new, |groups| counted(groups.sizes.iter().copied())))
    }
}

/// What is there, made when it is first asked for.
pub(super) fn facet<T>(
    there: bool,
    cell: &OnceCell<T>,
    make: impl FnOnce() -> Result<T>,
) -> Result<Option<&T>> {
    if there && cell.get().is_none() {
        let made = make()?;
        return Ok(Some(cell.get_or_init(|| made)));
    }
    Ok(cell.get())
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
    let manifest = seen.manifest();
    let found = seen.count(&[name], &Quiet(watch))?;
    let mut sizes = BTreeMap::new();
    for dictionary in &found.dictionaries {
        for (text, rows) in dictionary.texts.iter().zip(&dictionary.rows) {
            let size = text.parse::<u64>().ok().filter(|size| *size > 0);
            let size = size.ok_or_else(|| {
                Error::input(format!("column `{name}` must hold whole numbers from 1"))
                    .in_file(seen.name())
            })?;
            *sizes.entry(size).or_insert(0) += rows;
        }
    }
    let behind = sizes
        .iter()
        .map(|(size, rows): (&u64, &u64)| size.saturating_mul(*rows))
        .fold(0u64, u64::saturating_add);
    if behind > manifest.rows + manifest.left_out {
        return Err(Error::input(
            "published rows stand for more rows than the table had",
        )
        .in_file(seen.name()));
    }
    Ok(sizes.into_iter().collect())
}
