//! Carrying out a recipe that randomizes sensitive values.

mod check;
mod keyed;
mod listed;
mod notes;
mod operators;
mod sampled;
mod values;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub(super) use check::{check, check_kept, promise, randomizes};

use crate::audit;
use crate::error::{Error, Result};
use crate::hierarchy::{ColumnSpec, Microdata};
use crate::random::Randomness;
use crate::recipe::order::Order;
use crate::recipe::randomize::keyed::Secret;
use crate::recipe::randomize::notes::{
    method_note, not_promised, perturbation_note, published_columns, subtable_column,
};
use crate::recipe::randomize::operators::{Design, Promised, design};
use crate::recipe::randomize::values::Values;
use crate::recipe::run::certify;
use crate::recipe::{MethodName, Published, Request, Search, Spec, Stage, Watch};
use crate::release::{
    self, DataFile, Draft, FORMAT, Keyed, Manifest, Origin, PerturbationNote,
    PerturbedTask, Place, PromiseNote, Randomized, Release, SOFTWARE, write_perturbed,
};
use crate::table::Role;

/// Makes a release with randomized values.
pub(super) fn publish(request: Request<'_>, watch: &dyn Watch) -> Result<Published> {
    let spec = request.spec;
    let method = check(spec)?;
    if request.plan.is_some() {
        return Err(Error::recipe(format!("`{}` takes no plan", method.name()))
            .with_hint(
                "its decisions are in the manifest, because analysts need them",
            ));
    }
    let directory = request.target();
    let draft = Draft::new(&directory, request.replace)?;
    let order = Order::new(spec, request.folder)?;
    let randomness = request.randomness()?;
    let request = &request;
    let run = Run { spec, method, order, directory, draft, randomness, request };
    match method {
        MethodName::PerturbedGeneralization => run.sampled(watch),
        _ => run.perturbed(watch),
    }
}

/// A recipe that is being carried out.
struct Run<'a> {
    spec: &'a Spec,
    method: MethodName,
    order: Order,
    /// Where the release goes.
    directory: PathBuf,
    draft: Draft,
    randomness: Randomness,
    request: &'a Request<'a>,
}

/// The sensitive columns with what is to be done to each.
struct Designs {
    promised: Vec<Promised>,
    values: Vec<Values>,
    designs: Vec<Design>,
}

impl Designs {
    fn of(run: &Run<'_>, data: &Microdata) -> Result<Self> {
        let spec = run.spec;
        let source = run.order.source.name();
        let values = Values::all(spec, data).map_err(|error| error.in_file(source))?;
        let (mut all_promised, mut designs) = (Vec::new(), Vec::new());
        for values in &values {
            let Some(typed) = promise(spec) else { continue };
            let at = |error: Error| match error.place() {
                Some(_) => error,
                None => spec.error_at(typed.spot, error),
            };
            let promised =
                Promised::read(typed, values, run.request.folder).map_err(at)?;
            let Some(promised) = promised else { continue };
            designs.push(design(spec, run.method, &promised, values).map_err(at)?);
            all_promised.push(promised);
        }
        Ok(Self { promised: all_promised, values, designs })
    }

    fn notes(&self, keyed: bool) -> Vec<PerturbationNote> {
        let both = self.values.iter().zip(&self.designs);
        both.map(|(values, design)| perturbation_note(values, design, keyed)).collect()
    }

    /// The promise, which is the same for all columns, not yet rechecked.
    fn promise_note(&self) -> Option<PromiseNote> {
        let promised = self.promised.first()?;
        Some(PromiseNote::unchecked(promised.name(), promised.asked()))
    }
}

impl Run<'_> {
    /// Quasi columns as they are, sensitive ones randomized.
    fn perturbed(self, watch: &dyn Watch) -> Result<Published> {
        let spec = self.spec;
        let progress = |bytes| watch.advance(bytes);
        watch.stage(Stage::Read, self.order.source.bytes());
        let sensitive: Vec<ColumnSpec> = self
            .order
            .columns
            .iter()
            .filter(|column| column.role == Role::Sensitive)
            .cloned()
            .collect();
        let data = Microdata::read(&self.order.source, &sensitive, &progress)?;
        let secret = Secret::read(spec, &self.order, self.request.folder, &progress)?;

        watch.stage(Stage::Search, 0);
        let designs = Designs::of(&self, &data)?;

        watch.stage(Stage::Write, self.order.source.bytes());
        let subtable_columns = self.subtable_columns(&designs)?;
        let columns = self.columns(&designs, &subtable_columns);
        let randomized: Vec<Randomized> = designs
            .values
            .iter()
            .zip(&designs.designs)
            .map(|(values, design)| self.randomized(&data, values, design))
            .collect();
        let task = PerturbedTask {
            source: &self.order.source,
            columns: &columns,
            randomized: &randomized,
            randomness: &self.randomness,
            keyed: secret
                .as_ref()
                .map(|secret| Keyed { key: &secret.key, id: &secret.id }),
            format: spec.release.format,
        };
        let file = DataFile::of(spec.release.format);
        let path = self.draft.path().join(&file.file);
        let rows = write_perturbed(&task, &path, &progress)?;
        let manifest = Manifest {
            format: FORMAT,
            software: SOFTWARE.to_owned(),
            experiment: self.request.seed.is_some(),
            rows,
            left_out: 0,
            checksums: BTreeMap::from([(file.file.clone(), release::checksum(&path)?)]),
            data: file,
            columns: published_columns(spec, &self.order, &data, &subtable_columns),
            weights: None,
            perturbation: designs.notes(secret.is_some()),
            buckets: None,
            blur: None,
            condensed: None,
            sampled: None,
            method: method_note(spec, self.method, &designs.designs),
            promises: designs.promise_note().into_iter().collect(),
            loss: BTreeMap::new(),
            not_promised: not_promised(
                spec,
                self.method,
                &designs.designs,
                secret.is_some(),
            ),
        };
        self.finish(manifest, &data, Search::default(), watch)
    }

    /// Audits what was written, and publishes it if it holds.
    fn finish(
        self,
        mut manifest: Manifest,
        data: &Microdata,
        search: Search,
        watch: &dyn Watch,
    ) -> Result<Published> {
        manifest.write(self.draft.path())?;
        watch.stage(Stage::Audit, 0);
        let release = Release::open(self.draft.path())?;
        let (audit, public) = audit::audit_randomized(&release, data, &|_| ())?;
        certify(&mut manifest, &audit)?;
        certify(&mut manifest, &public)?;
        manifest.write(self.draft.path())?;
        audit::write_page(self.draft.path(), &manifest, &public)?;
        self.draft.publish()?;
        Ok(Published {
            directory: self.directory,
            manifest,
            audit,
            plan: None,
            unnamed: self.order.unnamed,
            removed: self.order.removed,
            search,
            notes: Vec::new(),
        })
    }

    /// For each randomized column with sub-tables: the sensitive column after which its
    /// numbers stand, and their name.
    fn subtable_columns(&self, designs: &Designs) -> Result<Vec<(usize, String)>> {
        let mut columns = Vec::new();
        for (values, design) in designs.values.iter().zip(&designs.designs) {
            let Some(last) = values.parts.last() else { continue };
            if design.subtables.len() == 1 {
                continue;
            }
            let name = subtable_column(values);
            if self.order.published.iter().any(|(known, _)| *known == name) {
                return Err(Error::input(format!(
                    "a column is called `{name}`, which is the name of the sub-tables"
                ))
                .in_file(self.order.source.name())
                .with_hint("rename the column, or `drop` it"));
            }
            columns.push((*last, name));
        }
        Ok(columns)
    }

    /// The published columns and where their cells come from.
    fn columns(
        &self,
        designs: &Designs,
        subtable_columns: &[(usize, String)],
    ) -> Vec<(String, Place)> {
        let header = self.order.source.header();
        let mut columns = Vec::new();
        for (name, origin) in &self.order.published {
            let Origin::Sensitive(sensitive) = origin else {
                let place = header.iter().position(|known| known == name);
                columns.push((name.clone(), Place::Plain(place.unwrap_or_default())));
                continue;
            };
            for (of, values) in designs.values.iter().enumerate() {
                let part = values.parts.iter().position(|part| part == sensitive);
                let Some(part) = part else { continue };
                columns.push((name.clone(), Place::Drawn { of, part }));
                let own = subtable_columns.iter().find(|(last, _)| last == sensitive);
                if let Some((_, name)) = own {
                    columns.push((name.clone(), Place::Subtable(of)));
                }
            }
        }
        columns
    }

    fn randomized(
        &self,
        data: &Microdata,
        values: &Values,
        design: &Design,
    ) -> Randomized {
        let header = self.order.source.header();
        let place = |name: &String| header.iter().position(|known| known == name);
        let n_quasi = data.quasi.len();
        Randomized {
            names: values.names.clone(),
            places: values
                .names
                .iter()
                .map(|name| place(name).unwrap_or_default())
                .collect(),
            codes: values
                .parts
                .iter()
                .map(|part| data.codes[n_quasi + part].clone())
                .collect(),
            tuples: values.tuples.clone(),
            texts: values.texts.clone(),
            subtables: design.subtables.clone(),
        }
    }
}
