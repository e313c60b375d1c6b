//! Perturbed generalization: values randomized, quasi columns generalized into groups, and
//! one row of each group published.
//!
//! # Guarantee
//! What the operator promises of a value, and that each published row could be that of any
//! of the k or more people of its group. Knowing the values of all others of a group does
//! not tell the last one's, because the row may be theirs.
//!
//! # Limits
//! Most rows are lost: estimates rest on one row of each group.
//!
//! # Cost
//! That of grouping.
//!
//! # Source
//! `tao2008anticorruption`; METHODS C7.

use std::collections::BTreeMap;

use rand::RngExt;

use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::method::perturb::Sampler;
use crate::method::{Grouping, Route};
use crate::promise::Promises;
use crate::recipe::choose::{Chosen, choose};
use crate::recipe::notes::published_columns;
use crate::recipe::order::promises;
use crate::recipe::randomize::notes::{method_note, not_promised};
use crate::recipe::randomize::{Designs, Run};
use crate::recipe::{Published, Stage, Watch};
use crate::release::{
    self, DataFile, FORMAT, Manifest, PromiseNote, PublishedColumn, SOFTWARE,
    SampledRow, SampledTask, write_sampled,
};
use crate::table::{Kind, Reading, Role};

/// The column that tells how many rows a published row stands for.
const SIZE_COLUMN: &str = "group.size";

impl Run<'_> {
    /// One randomized row of each group.
    pub(super) fn sampled(self, watch: &dyn Watch) -> Result<Published> {
        let spec = self.spec;
        let progress = |bytes| watch.advance(bytes);
        if self.order.published.iter().any(|(name, _)| name == SIZE_COLUMN) {
            return Err(Error::input(format!(
                "a column is called `{SIZE_COLUMN}`, which is the name of the groups' sizes"
            ))
            .in_file(self.order.source.name()));
        }
        watch.stage(Stage::Read, self.order.source.bytes());
        let mut data =
            Microdata::read(&self.order.source, &self.order.columns, &progress)?;
        let promises: Promises = promises(spec, &data)?;

        watch.stage(Stage::Search, 0);
        let designs = Designs::of(&self, &data)?;
        let limit = spec.method.suppression.share_of(data.n_rows());
        let Chosen { columns, grouping, mut search, .. } =
            choose(spec, &data, &promises, limit)?;
        for (column, spec) in columns.iter().zip(&mut data.specs) {
            spec.cells = column.cells;
        }
        data.quasi = columns;
        if let Route::Levels(levels) = &grouping.route {
            let named = data.quasi.iter().zip(levels);
            search.levels = named
                .map(|(c, level)| (c.name.clone(), *level, c.hierarchy.height()))
                .collect();
        }

        watch.stage(Stage::Write, 0);
        let rows = self.draw_rows(&data, &grouping, &designs);
        let n_rows = rows.len() as u64;
        let file = DataFile::of(spec.release.format);
        let path = self.draft.path().join(&file.file);
        write_sampled(
            &SampledTask {
                data: &data,
                grouping: &grouping,
                columns: &self.order.published,
                size_column: SIZE_COLUMN,
                forms: self.order.source.forms(),
                header: self.order.source.header(),
                format: spec.release.format,
            },
            &rows,
            &path,
        )?;
        let mut columns =
            published_columns(spec, &self.order, &data, grouping.levels());
        let reading = Reading { kind: Kind::Number, ..Reading::category() };
        columns.push(PublishedColumn {
            name: SIZE_COLUMN.to_owned(),
            role: Role::Other,
            kind: reading.kind,
            missing: reading.missing,
            date_format: None,
            cells: None,
            level: None,
            hierarchy: None,
            weight: None,
            decimals: None,
        });
        let mut method = method_note(spec, self.method, &designs.designs);
        method.parameters.insert("loss".to_owned(), spec.method.loss.name().into());
        let mut notes: Vec<_> = promises
            .iter()
            .map(|promise| PromiseNote::unchecked(promise.name(), promise.asked()))
            .collect();
        notes.extend(designs.promise_note());
        let manifest = Manifest {
            format: FORMAT,
            software: SOFTWARE.to_owned(),
            experiment: self.request.seed.is_some(),
            rows: n_rows,
            left_out: data.n_rows() - n_rows,
            checksums: BTreeMap::from([(file.file.clone(), release::checksum(&path)?)]),
            data: file,
            columns,
            weights: None,
            perturbation: designs.notes(false),
            buckets: None,
            blur: None,
            condensed: None,
            sampled: Some(SIZE_COLUMN.to_owned()),
            method,
            promises: notes,
            loss: BTreeMap::new(),
            not_promised: not_promised(spec, self.method, &designs.designs, false),
        };
        self.finish(manifest, &data, search, watch)
    }

    /// Draws a row of each group, and what is published of it.
    fn draw_rows(
        &self,
        data: &Microdata,
        grouping: &Grouping,
        designs: &Designs,
    ) -> Vec<SampledRow> {
        let census = &data.census;
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); grouping.covers.len()];
        for (tuple, group) in grouping.group_of.iter().enumerate() {
            if let Some(group) = group {
                let entries = census.starts[tuple]..census.starts[tuple + 1];
                members[*group as usize].extend(entries);
            }
        }
        let samplers: Vec<Sampler> = designs
            .designs
            .iter()
            .map(|design| Sampler::new(&design.subtables[0].operator))
            .collect();
        let mut rows = Vec::new();
        for (group, entries) in members.iter().enumerate() {
            let size: u64 = entries.iter().map(|entry| census.entries[*entry]).sum();
            if size == 0 {
                continue;
            }
            let mut random = self.randomness.stream("sample", group as u64);
            let mut left = random.random_range(0..size);
            let chosen = entries.iter().find(|entry| {
                let n = census.entries[**entry];
                let here = left < n;
                left = left.saturating_sub(n);
                here
            });
            let Some(entry) = chosen else { continue };
            let mut texts = vec![String::new(); data.sensitive.len()];
            for (values, sampler) in designs.values.iter().zip(&samplers) {
                let codes: Vec<u32> = values
                    .parts
                    .iter()
                    .map(|part| census.sensitive[*part][*entry])
                    .collect();
                let original = match &*codes {
                    [code] => *code,
                    codes => values.tuples.get(codes).copied().unwrap_or_default(),
                };
                let drawn = sampler.draw(original, &mut random);
                for (part, text) in
                    values.parts.iter().zip(&values.texts[drawn as usize])
                {
                    texts[*part] = text.clone();
                }
            }
            rows.push(SampledRow { group: group as u32, texts, size });
        }
        rows
    }
}
