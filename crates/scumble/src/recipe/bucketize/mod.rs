//! Carrying out a recipe that publishes sensitive values by group.

mod check;
mod knowledge;
mod notes;

use std::collections::BTreeMap;

pub(super) use check::{bucketizes, check_largest};
pub(super) use notes::certified;

use crate::audit::{self, Given, Knowledge};
use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::method::{AnatomyTask, Buckets, Robust, RobustTask, anatomy, robust};
use crate::promise::{Promises, RRobustness};
use crate::random::Randomness;
use crate::recipe::bucketize::check::{check, parts, robustness};
use crate::recipe::bucketize::knowledge::Known;
use crate::recipe::bucketize::notes::Made;
use crate::recipe::notes::published_columns;
use crate::recipe::order::{Order, promises};
use crate::recipe::run::certify;
use crate::recipe::{
    MethodName, Published, Request, RobustnessSpec, Search, Spec, Stage, Watch,
};
use crate::release::{
    self, BucketsNote, BucketsTask, DataFile, Draft, FORMAT, GROUP_COLUMN, Manifest,
    Origin, PromiseNote, Release, SENSITIVE_FILE, SOFTWARE, write_buckets,
};

/// The largest group, if the recipe does not say: its possible worlds are counted in no time.
const LARGEST_GROUP: usize = 12;

/// Makes a release with sensitive values by group.
pub(super) fn publish(request: Request<'_>, watch: &dyn Watch) -> Result<Published> {
    let spec = request.spec;
    let method = check(spec)?;
    if request.plan.is_some() {
        return Err(Error::recipe(format!("`{}` takes no plan", method.name()))
            .with_hint("groups are formed by chance, and anew for every table"));
    }
    let directory = request.target();
    let draft = Draft::new(&directory, request.replace)?;
    let order = Order::new(spec, request.folder)?;
    let randomness = request.randomness()?;

    watch.stage(Stage::Read, order.source.bytes());
    let progress = |bytes| watch.advance(bytes);
    let data = Microdata::read(&order.source, &order.columns, &progress)?;
    let promises = promises(spec, &data)?;

    watch.stage(Stage::Search, 0);
    let typed = robustness(spec).map(|(typed, _)| typed);
    let known = typed.map(|typed| Known::read(spec, typed, request.folder, &data));
    let known = known.transpose()?;
    let search = Forming { spec, method, data: &data, promises: &promises };
    let formed = search.form(typed.zip(known.as_ref()), &randomness)?;

    watch.stage(Stage::Write, order.source.bytes());
    let job = Job { spec, order: &order, data: &data, draft: &draft };
    let checksums = job.write(&formed.buckets, &randomness, &progress)?;
    let left_out = formed.buckets.left_out.len() as u64;
    let made = Made {
        spec,
        method,
        left_out,
        binary: formed.binary,
        priors: known.as_ref().map(|known| &known.priors),
        fallback: known.as_ref().and_then(|known| known.fallback(&data)),
    };
    let mut promised: Vec<PromiseNote> = promises
        .iter()
        .map(|promise| PromiseNote::unchecked(promise.name(), promise.asked()))
        .collect();
    promised.extend(typed.zip(known.as_ref()).map(|(typed, known)| {
        PromiseNote::unchecked(RRobustness::NAME, known.asked(typed, &data))
    }));
    let n_groups = formed.buckets.n_groups();
    let stated = known.as_ref().and_then(|known| known.stated.as_ref());
    let said = stated.and_then(|stated| knowledge::unknown_values(stated, &data));
    let mut manifest = Manifest {
        format: FORMAT,
        software: SOFTWARE.to_owned(),
        experiment: request.seed.is_some(),
        rows: data.n_rows() - left_out,
        left_out,
        data: DataFile::of(spec.release.format),
        columns: published_columns(
            spec,
            &order,
            &data,
            Some(&vec![0; data.quasi.len()]),
        ),
        weights: None,
        perturbation: Vec::new(),
        buckets: Some(BucketsNote {
            file: SENSITIVE_FILE.to_owned(),
            column: data.sensitive[0].name.clone(),
            groups: n_groups as u64,
        }),
        blur: None,
        condensed: None,
        sampled: None,
        method: made.method_note(),
        promises: promised,
        loss: BTreeMap::new(),
        not_promised: made.not_promised(),
        checksums,
    };
    manifest.write(draft.path())?;

    watch.stage(Stage::Audit, 0);
    let release = Release::open(draft.path())?;
    let stated = known.and_then(|known| known.stated).map(Knowledge::Stated);
    let given =
        Given { original: Some(&data), knowledge: stated.as_ref(), ..Given::default() };
    let (report, public) = audit::audit_buckets(&release, given, &|_| ())?;
    certify(&mut manifest, &report)?;
    manifest.write(draft.path())?;
    audit::write_page(draft.path(), &manifest, &public)?;
    draft.publish()?;
    Ok(Published {
        directory,
        manifest,
        audit: report,
        plan: None,
        unnamed: order.unnamed,
        removed: order.removed,
        search: Search { n_groups, ..Search::default() },
        notes: said.into_iter().collect(),
    })
}

/// Groups to be formed.
struct Forming<'a> {
    spec: &'a Spec,
    method: MethodName,
    data: &'a Microdata,
    promises: &'a Promises,
}

impl Forming<'_> {
    fn form(
        &self,
        known: Option<(&RobustnessSpec, &Known)>,
        randomness: &Randomness,
    ) -> Result<Robust> {
        let Self { spec, data, promises, .. } = *self;
        let limit = spec.method.suppression.share_of(data.n_rows());
        let parts = parts(spec);
        match known {
            Some((typed, known)) if self.method == MethodName::Robust => {
                let largest = spec.method.largest_group;
                robust(&RobustTask {
                    data,
                    promises,
                    parts,
                    robustness: &typed.robustness,
                    priors: &known.priors,
                    largest: largest.map_or(LARGEST_GROUP, |(size, _)| size),
                    limit,
                    randomness,
                })
            }
            _ => {
                let task = AnatomyTask { data, promises, parts, limit, randomness };
                Ok(Robust { buckets: anatomy(&task)?, binary: 0 })
            }
        }
    }
}

/// Files to be written.
struct Job<'a> {
    spec: &'a Spec,
    order: &'a Order,
    data: &'a Microdata,
    draft: &'a Draft,
}

impl Job<'_> {
    /// Writes rows and values, and tells the checksums of the files.
    fn write(
        &self,
        buckets: &Buckets,
        randomness: &Randomness,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<BTreeMap<String, String>> {
        let file = DataFile::of(self.spec.release.format);
        let published = self.order.published.iter();
        let columns: Vec<(String, Origin)> = [(GROUP_COLUMN.to_owned(), Origin::Group)]
            .into_iter()
            .chain(
                published
                    .filter(|(_, origin)| !matches!(origin, Origin::Sensitive(_)))
                    .cloned(),
            )
            .collect();
        let rows = self.draft.path().join(&file.file);
        let values = self.draft.path().join(SENSITIVE_FILE);
        let task = BucketsTask {
            data: self.data,
            buckets,
            source: &self.order.source,
            columns: &columns,
            randomness,
            format: self.spec.release.format,
        };
        write_buckets(&task, &rows, &values, progress)?;
        Ok(BTreeMap::from([
            (file.file, release::checksum(&rows)?),
            (SENSITIVE_FILE.to_owned(), release::checksum(&values)?),
        ]))
    }
}
