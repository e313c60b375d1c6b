//! Count queries answered from sensitive values by group.

use scumble::decimal::Decimal;
use scumble::error::Result;
use scumble::hierarchy::Microdata;
use scumble::method::{AnatomyTask, Buckets, RobustTask, anatomy, robust};
use scumble::promise::{Priors, Promises, RRobustness};
use scumble::random::Randomness;
use scumble::text::short;

use crate::bucketed::{Conjunctions, Summary, adult, patients, records};
use crate::census::{Census, OCCUPATION};
use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::outcome::{Cell, Claim, Outcome};
use crate::private::cannot_be_met;
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "bucket-queries",
    source: "wong2010inference, Section II; xiao2006anatomy",
    about: "the error of count queries from values by group, against l and r",
    needs: RequiredData::Nothing,
    run,
};

const COLUMNS: &str = "data,rows,method,parts,groups,mean_group,binary_groups,\
    left_out,selectivity,queries,median_error,mean_error,coverage";

/// l of `anatomy`, and r of `robust`.
const PARTS: [u64; 4] = [2, 3, 4, 5];

/// The shares of rows that a query must at least select.
const SELECTIVITIES: [f64; 3] = [0.001, 0.005, 0.01];

const METHODS: [&str; 2] = ["anatomy", "robust"];

/// Signatures with fewer rows are replaced by coarser ones, as in recipes.
const SUPPORT: u64 = 30;

/// The largest group that `robust` may make, as in recipes.
const LARGEST: usize = 12;

/// What was found for one table, method and number of parts.
struct BucketErrors {
    table: usize,
    method: usize,
    parts: u64,
    /// Nothing if it cannot be met.
    groups: Option<FormedGroups>,
}

struct FormedGroups {
    number: u64,
    mean: f64,
    /// Groups that are certified for the x / not-x adversary only.
    binary: u64,
    /// Rows for which no group was found.
    left_out: u64,
    summaries: [Summary; 3],
}

fn run(data: &Data) -> Result<Outcome> {
    let tables: Vec<(&str, Microdata)> = match data.if_any()? {
        None => vec![("patients", patients()?)],
        Some(folder) => {
            let census = Census::read(folder)?;
            vec![("Adult", adult(data)?), ("ACS", records(&census, OCCUPATION, 1)?)]
        }
    };
    let mut all = Vec::new();
    for (table, (_, data)) in tables.iter().enumerate() {
        let asked = Conjunctions::drawn(data);
        let singles: Vec<Vec<usize>> = (0..data.quasi.len()).map(|c| vec![c]).collect();
        let priors = Priors::of_table(data, 0, &singles, SUPPORT);
        for method in 0..METHODS.len() {
            for parts in PARTS {
                let groups = match grouped(data, &priors, method, parts) {
                    Ok((buckets, binary)) => {
                        Some(groups(data, &asked, &buckets, binary))
                    }
                    Err(error) if cannot_be_met(&error) => None,
                    Err(error) => return Err(error),
                };
                all.push(BucketErrors { table, method, parts, groups });
            }
        }
    }
    let names: Vec<&str> = tables.iter().map(|(name, _)| *name).collect();
    let rows =
        all.iter().flat_map(|found| lines(&tables[found.table], found)).collect();
    let series = Series::each(METHODS, [2, 3], Mark::Circle);
    let panels = (0..names.len()).flat_map(|table| panels(names[table], table, &all));
    let title = "Count queries from sensitive values by group";
    let figure = Figure::new(title, series, panels.collect());
    let notes = vec![
        "200 conjunctions of 1 to 3 quasi values times every sensitive value, kept if so many \
         rows fit; errors are relative to the true answer of the whole table. `robust` is \
         against everybody who knows how values depend on any single quasi column \
         (signatures of fewer than 30 rows coarser). It leaves out rows for which its search \
         finds no group, and they count as errors; `anatomy` leaves out none. - where the \
         method finds no release: that need not mean that there is none.\n"
            .to_owned(),
    ];
    Ok(Outcome::new(COLUMNS, rows, claims(&all), figure).noting(notes))
}

/// Groups of a table, and how many of them are certified in part only.
fn grouped(
    data: &Microdata,
    priors: &Priors,
    method: usize,
    parts: u64,
) -> Result<(Buckets, u64)> {
    let (promises, randomness) = (Promises::new(Vec::new()), Randomness::of_seed(20));
    if method == 0 {
        let task = AnatomyTask {
            data,
            promises: &promises,
            parts,
            limit: 0,
            randomness: &randomness,
        };
        return Ok((anatomy(&task)?, 0));
    }
    let robustness = RRobustness::new(Decimal::from_f64("r", parts as f64)?)?;
    let found = robust(&RobustTask {
        data,
        promises: &promises,
        parts: 1,
        robustness: &robustness,
        priors,
        largest: LARGEST,
        limit: data.n_rows(),
        randomness: &randomness,
    })?;
    Ok((found.buckets, found.binary))
}

fn groups(
    data: &Microdata,
    asked: &Conjunctions<'_>,
    buckets: &Buckets,
    binary: u64,
) -> FormedGroups {
    let answers = asked.answers(buckets);
    let n_rows = data.n_rows() as f64;
    let number = buckets.n_groups() as u64;
    FormedGroups {
        number,
        mean: buckets.entries.len() as f64 / number as f64,
        binary,
        left_out: buckets.left_out.len() as u64,
        summaries: SELECTIVITIES.map(|least| Summary::of(&answers, least * n_rows)),
    }
}

fn lines((name, data): &(&str, Microdata), found: &BucketErrors) -> Vec<Vec<Cell>> {
    let groups = found.groups.as_ref();
    let line = |(number, least): (usize, f64)| {
        let summary = groups.map(|groups| groups.summaries[number]);
        vec![
            (*name).into(),
            data.n_rows().into(),
            METHODS[found.method].into(),
            found.parts.into(),
            groups.map(|groups| groups.number).into(),
            groups.map(|groups| groups.mean).into(),
            groups.map(|groups| groups.binary).into(),
            groups.map(|groups| groups.left_out).into(),
            least.into(),
            summary.map(|summary| summary.queries).into(),
            summary.and_then(|summary| summary.median).into(),
            summary.and_then(|summary| summary.mean).into(),
            summary.and_then(|summary| summary.covered).into(),
        ]
    };
    SELECTIVITIES.into_iter().enumerate().map(line).collect()
}

/// Errors by l or r for the smallest and the largest selectivity, sizes, and coverage.
fn panels(name: &str, table: usize, all: &[BucketErrors]) -> Vec<Panel> {
    let panel = |what: &str, up: &str, value: &dyn Fn(&FormedGroups) -> Option<f64>| {
        let line = |method: usize| {
            let mine = all.iter().filter(|f| f.table == table && f.method == method);
            mine.map(|found| found.groups.as_ref().and_then(value)).collect()
        };
        Panel::new(
            format!("{name}, {what}"),
            ("l or r", PARTS.map(|parts| parts.to_string()).to_vec()),
            (up, Scale::Linear, Form::Lines),
            (0..METHODS.len()).map(line).collect(),
        )
    };
    vec![
        panel("median error, s = 0.1 %", "error, %", &|g| g.summaries[0].median),
        panel("median error, s = 1 %", "error, %", &|g| g.summaries[2].median),
        panel("mean error, s = 0.1 %", "error, %", &|g| g.summaries[0].mean),
        panel("mean error, s = 1 %", "error, %", &|g| g.summaries[2].mean),
        panel("mean group", "rows", &|g| Some(g.mean)),
        panel("rows left out", "rows", &|g| Some(g.left_out as f64)),
        panel("95 % intervals that cover, s = 0.1 %", "%", &|g| g.summaries[0].covered),
    ]
}

/// The smallest and the largest number, as text.
fn range(numbers: &[f64]) -> String {
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(0.0, f64::max);
    if numbers.is_empty() {
        return "nothing".to_owned();
    }
    format!("{} to {}", short(least), short(most))
}

/// Whether something was measured, and all of it is so.
fn all_of(numbers: &[f64], holds: impl Fn(f64) -> bool) -> bool {
    !numbers.is_empty() && numbers.iter().all(|number| holds(*number))
}

fn claims(all: &[BucketErrors]) -> Vec<Claim> {
    let of = |method: usize| all.iter().filter(move |found| found.method == method);
    let met = |method: usize| {
        of(method).filter_map(|found| Some((found, found.groups.as_ref()?)))
    };
    let ratios: Vec<f64> = of(0)
        .zip(of(1))
        .filter_map(|(ours, theirs)| {
            let median =
                |found: &BucketErrors| found.groups.as_ref()?.summaries[0].median;
            Some(median(theirs)? / median(ours)?)
        })
        .filter(|ratio| ratio.is_finite())
        .collect();
    let sizes: Vec<f64> =
        met(1).map(|(found, groups)| groups.mean / found.parts as f64).collect();
    let errors: Vec<f64> =
        met(0).filter_map(|(_, groups)| groups.summaries[2].mean).collect();
    let covered: Vec<f64> = met(0)
        .chain(met(1))
        .filter_map(|(_, groups)| groups.summaries[0].covered)
        .collect();
    vec![
        Claim::new(
            "xiao2006anatomy: aggregates with an average error below 10 %",
            format!(
                "mean errors of anatomy for s = 1 %, over all l: {} %",
                range(&errors)
            ),
            all_of(&errors, |error| error < 10.0),
        ),
        Claim::new(
            "wong2010inference: what r-robustness costs is the accuracy of query results",
            format!(
                "median errors of robust for s = 0.1 % are {} times those of anatomy with \
                 l = r",
                range(&ratios)
            ),
            all_of(&ratios, |ratio| ratio > 0.99),
        ),
        Claim::new(
            "docs/methods.md: rows with similar beliefs together keep groups small",
            format!("groups of robust have {} times r rows on average", range(&sizes)),
            all_of(&sizes, |size| size < 2.0),
        ),
        Claim::new(
            "docs/estimate.md: 95 % intervals cover the truth, if values do not depend on \
             quasi columns within a group",
            format!("{} % cover for s = 0.1 %", range(&covered)),
            all_of(&covered, |covered| covered > 93.0),
        ),
    ]
}
