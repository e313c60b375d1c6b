//! A release as any reader sees it: its files are those that were published, and its rows
//! have the columns that the manifest says.

use crate::error::{Error, Result};
use crate::release::{Bucket, ColumnShares, Manifest, Parameters, PdfCells, Release};
use crate::table::{ColumnId, Numbers, NumbersTask, Scan, Source, scan};
use crate::watch::Watch;

/// A release that was checked against its manifest, to be counted or read row by row.
///
/// Audit and estimate both see a release through this, and nothing else of it.
#[derive(Debug)]
pub struct Seen<'a> {
    release: &'a Release,
    source: Source,
}

impl<'a> Seen<'a> {
    /// Checks that every file has a checksum and is the one that was published, and that the
    /// data has the columns of the manifest.
    pub fn open(release: &'a Release) -> Result<Self> {
        let manifest = &release.manifest;
        let files =
            manifest.classes.iter().filter_map(|class| match &class.parameters {
                Parameters::Cells { file, .. } | Parameters::Values { file, .. } => {
                    Some(file)
                }
                Parameters::Subtables { .. }
                | Parameters::Frames { .. }
                | Parameters::Levels
                | Parameters::Moments { .. } => None,
            });
        let shares = manifest.shares.iter().map(|note| &note.file);
        for file in [&manifest.data.file].into_iter().chain(files).chain(shares) {
            if !manifest.checksums.contains_key(file) {
                let message = format!("the manifest has no checksum of {file}");
                return Err(Error::input(message).with_hint("the release was changed"));
            }
        }
        release.verify()?;
        let source = release.rows()?;
        if manifest.header() != source.header() {
            return Err(Error::input("the columns are not those of the manifest")
                .in_file(source.name()));
        }
        Ok(Self { release, source })
    }

    /// What the release says about itself.
    pub fn manifest(&self) -> &'a Manifest {
        &self.release.manifest
    }

    /// What the file with the rows is called.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// How often each tuple of cells of these columns of the data occurs.
    pub fn count(&self, columns: &[&str], watch: &dyn Watch) -> Result<Scan> {
        let columns = columns.iter().map(|name| self.source.column(name));
        let columns: Vec<ColumnId> = columns.collect::<Result<_>>()?;
        let found = scan(&self.source, &columns, watch)?;
        self.check_rows(found.n_rows)?;
        Ok(found)
    }

    /// The numbers of columns of the data, row by row.
    pub fn numbers(
        &self,
        task: &NumbersTask<'_>,
        watch: &dyn Watch,
    ) -> Result<Numbers> {
        let numbers = Numbers::read(&self.source, task, watch)?;
        self.check_rows(numbers.n_rows as u64)?;
        Ok(numbers)
    }

    /// The distributions of groups, if cells are distributions.
    pub fn cells(&self, watch: &dyn Watch) -> Result<Option<PdfCells>> {
        self.release.pdf_cells(watch)
    }

    /// How often the values of columns occur in the table, if the release says so.
    pub fn shares(&self, watch: &dyn Watch) -> Result<Vec<ColumnShares>> {
        self.release.shares(watch)
    }

    /// The values of groups that stand apart in a file.
    pub fn values(&self, file: &str, watch: &dyn Watch) -> Result<Vec<Bucket>> {
        self.release.buckets(file, watch)
    }

    /// The rows themselves, to be read one by one.
    pub fn rows(&self) -> &Source {
        &self.source
    }

    fn check_rows(&self, found: u64) -> Result<()> {
        let said = self.manifest().rows;
        if found == said {
            return Ok(());
        }
        Err(Error::input(format!(
            "the manifest says {said} rows, but there are {found}"
        ))
        .in_file(self.name()))
    }
}
