//! Writing a release into its draft, and auditing what was written.

use std::collections::BTreeMap;
use std::path::Path;

use crate::audit;
use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::method::pdf::Pdf;
use crate::method::{Grouping, Weighting};
use crate::promise::Promises;
use crate::recipe::notes::{
    method_note, not_promised, published_columns, weights_note,
};
use crate::recipe::order::Order;
use crate::recipe::{Search, Spec, Stage, Watch};
use crate::release::{
    self, CELLS_FILE, DataFile, FORMAT, GROUP_COLUMN, Manifest, Origin, PromiseNote,
    Release, RowsTask, SOFTWARE, Weighted, write_cells, write_rows,
};

/// What is to be written.
pub(super) struct Job<'a> {
    pub(super) spec: &'a Spec,
    pub(super) experiment: bool,
    /// The draft's folder.
    pub(super) folder: &'a Path,
    pub(super) order: &'a Order,
    pub(super) data: &'a Microdata,
    pub(super) grouping: &'a Grouping,
    /// The method's name.
    pub(super) name: &'a str,
    pub(super) search: &'a Search,
    pub(super) promises: &'a Promises,
}

impl Job<'_> {
    /// Writes the files and audits them. The manifest does not say yet what the audit
    /// found.
    pub(super) fn write(
        &self,
        weighting: Option<(Weighting, &str)>,
        watch: &dyn Watch,
    ) -> Result<(Manifest, audit::Report)> {
        let Self { spec, data, grouping, .. } = self;
        let weights =
            weighting.map(|(way, _)| grouping.weighted(&data.quasi, &data.census, way));

        watch.stage(Stage::Write, 0);
        let data_file = DataFile::of(spec.release.format);
        let data_name = data_file.file.as_str();
        let cells: Option<Vec<Vec<Weighted>>> = weights.as_ref().map(|groups| {
            let values =
                |pdfs: &Vec<Pdf>| pdfs.iter().map(|pdf| pdf.values.clone()).collect();
            groups.iter().map(values).collect()
        });
        let task = RowsTask {
            data,
            grouping,
            source: &self.order.source,
            columns: &data_columns(&self.order.published, cells.is_some()),
            weights: cells.as_deref(),
            format: spec.release.format,
        };
        let data_path = self.folder.join(data_name);
        let written = write_rows(&task, &data_path, &|bytes| watch.advance(bytes))?;
        let mut checksums =
            BTreeMap::from([(data_name.to_owned(), release::checksum(&data_path)?)]);
        if let Some(cells) = &cells {
            let path = self.folder.join(CELLS_FILE);
            let groups = written.groups.iter().map(|group| &*cells[*group as usize]);
            write_cells(&path, &data.quasi, groups)?;
            checksums.insert(CELLS_FILE.to_owned(), release::checksum(&path)?);
        }
        let unchecked = self
            .promises
            .iter()
            .map(|promise| PromiseNote::unchecked(promise.name(), promise.asked()));
        let manifest = Manifest {
            format: FORMAT,
            software: SOFTWARE.to_owned(),
            experiment: self.experiment,
            rows: written.rows,
            left_out: data.n_rows() - written.rows,
            data: data_file,
            columns: published_columns(spec, self.order, data, grouping.levels()),
            weights: weighting.zip(weights.as_ref()).map(|((_, kind), weights)| {
                weights_note(kind, &data.quasi, weights, &written.groups)
            }),
            perturbation: Vec::new(),
            buckets: None,
            blur: None,
            condensed: None,
            sampled: None,
            method: method_note(spec, self.name, &data.quasi, grouping, self.search),
            promises: unchecked.collect(),
            loss: BTreeMap::new(),
            not_promised: not_promised(spec, &data.quasi),
            checksums,
        };
        manifest.write(self.folder)?;

        watch.stage(Stage::Audit, 0);
        let release = Release::open(self.folder)?;
        let everyone = data.everyone();
        let report = audit::audit(
            &release,
            audit::Given {
                original: Some(data),
                population: everyone.as_ref(),
                ..audit::Given::default()
            },
            &|_| (),
        )?;
        Ok((manifest, report))
    }
}

impl Job<'_> {
    /// What of an audit may be published. Where presence is promised, no number may depend
    /// on who of a group is in the table: not the entropy of the table's own values, not
    /// how well its values fit the weights, not how often guesses were right.
    pub(super) fn public(&self, report: &audit::Report) -> Result<audit::Report> {
        let mut public = report.clone();
        if !self.promises.look_at_people() {
            return Ok(public);
        }
        public.loss.remove("entropy");
        let release = Release::open(self.folder)?;
        if release.manifest.weights.is_none() {
            return Ok(public);
        }
        public.loss.remove("kl");
        let everyone = self.data.everyone();
        let expected = audit::audit(
            &release,
            audit::Given { population: everyone.as_ref(), ..audit::Given::default() },
            &|_| (),
        )?;
        for attack in expected.attacks {
            if let Some(held) =
                public.attacks.iter_mut().find(|a| a.name == attack.name)
            {
                *held = attack;
            }
        }
        Ok(public)
    }
}

/// Whether a promise fails because its worlds could not be counted.
pub(super) fn uncertified(report: &audit::Report) -> bool {
    report
        .promises
        .iter()
        .any(|promise| !promise.holds && promise.measured.get("uncertified").is_some())
}

/// The columns of the data: pdf cells have a file of their own, and rows only name their
/// group.
fn data_columns(published: &[(String, Origin)], pdf: bool) -> Vec<(String, Origin)> {
    if !pdf {
        return published.to_vec();
    }
    let others =
        published.iter().filter(|(_, origin)| !matches!(origin, Origin::Quasi(_)));
    [(GROUP_COLUMN.to_owned(), Origin::Group)]
        .into_iter()
        .chain(others.cloned())
        .collect()
}
