//! Count queries on ranges, from blurred and from condensed numbers.

use scumble::error::Result;
use scumble::space::Shape;
use scumble::text::{percent, short};

use crate::blurred::{ClassedRows, Scheme};
use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::outcome::{Claim, Outcome};
use crate::ranges::{Queries, SIZES};
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "blur-queries",
    source: "aggarwal2008unifying, Figures 1 to 6",
    about: "the error of range queries from blurred numbers, and what a ladder costs",
    needs: RequiredData::Nothing,
    run,
};

const COLUMNS: &str = "data,rows,scheme,k,query_size,queries,error";

/// How many rows drawn tables have.
const ROWS: usize = 10_000;

/// Among how many rows each is hidden; queries of all sizes are asked at `K`, others with
/// those of the second class.
const KS: [f64; 5] = [5.0, 10.0, 20.0, 50.0, 100.0];
const K: f64 = 10.0;
const CLASS: usize = 1;

const SCHEMES: [Scheme; 5] = [
    Scheme::Paper(Shape::Uniform),
    Scheme::Paper(Shape::Gaussian),
    Scheme::Strict(Shape::Uniform),
    Scheme::Strict(Shape::Gaussian),
    Scheme::Condensed(false),
];

/// A mean error in percent.
struct MeanError {
    table: usize,
    scheme: usize,
    k: f64,
    class: usize,
    error: Option<f64>,
}

fn run(data: &Data) -> Result<Outcome> {
    let rows = data.rows(ROWS);
    let mut tables = vec![ClassedRows::uniform(rows), ClassedRows::clusters(rows)];
    let mut notes = vec![
        "Up to 100 queries of each size: a range in every column, with ends anywhere in the \
         unit cube (for Adult, between the numbers of two rows drawn for it). Errors are |S - S'| / S. `uniform` and `gaussian` are the \
         source's scheme, which gives people away (`reproduce calibration`); `strict` \
         publishes spreads from a ladder of at most 5 levels.\n"
            .to_owned(),
    ];
    match data.if_any()? {
        Some(_) => tables.push(ClassedRows::adult(data)?),
        None => notes.push("Adult is not looked at: no `--data`.\n".to_owned()),
    }
    let mut all = Vec::new();
    let mut asked = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        let queries = Queries::drawn(table);
        for (place, scheme) in SCHEMES.into_iter().enumerate() {
            for k in KS {
                let published = table.published(scheme, k, 50)?;
                let classes = if k == K { 0..SIZES.len() } else { CLASS..CLASS + 1 };
                for class in classes {
                    let error =
                        published.as_ref().and_then(|p| queries.error(class, p));
                    all.push(MeanError {
                        table: number,
                        scheme: place,
                        k,
                        class,
                        error,
                    });
                }
            }
        }
        asked.push((0..SIZES.len()).map(|class| queries.number(class)).collect());
    }
    let figure = Figure::new(
        "Count queries from blurred numbers",
        series(),
        (0..tables.len())
            .flat_map(|table| panels(&tables[table].name, table, &all))
            .collect(),
    );
    let line = |found: &MeanError| {
        let asked: &Vec<usize> = &asked[found.table];
        let (least, most) = SIZES[found.class];
        vec![
            tables[found.table].name.as_str().into(),
            (tables[found.table].n_rows() as u64).into(),
            SCHEMES[found.scheme].name().into(),
            found.k.into(),
            format!("{least}-{most}").into(),
            (asked[found.class] as u64).into(),
            found.error.into(),
        ]
    };
    Ok(Outcome::new(
        COLUMNS,
        all.iter().map(line).collect(),
        claims(&all, tables.len()),
        figure,
    )
    .noting(notes))
}

pub(super) fn series() -> Vec<Series> {
    let looks = [
        (0, Mark::Circle),
        (1, Mark::Circle),
        (0, Mark::Square),
        (1, Mark::Square),
        (2, Mark::Triangle),
    ];
    SCHEMES
        .into_iter()
        .zip(looks)
        .map(|(scheme, (colour, mark))| Series::new(scheme.name(), colour, mark))
        .collect()
}

/// Errors by query size, and by k.
fn panels(name: &str, table: usize, all: &[MeanError]) -> [Panel; 2] {
    let lines = |fits: &dyn Fn(&MeanError) -> bool| {
        (0..SCHEMES.len())
            .map(|scheme| {
                let mine =
                    all.iter().filter(|f| f.table == table && f.scheme == scheme);
                mine.filter(|found| fits(found)).map(|found| found.error).collect()
            })
            .collect()
    };
    let panel = |what: &str, across: &str, places: Vec<String>, values| {
        Panel::new(
            format!("{name}, {what}"),
            (across, places),
            ("error, %", Scale::Linear, Form::Lines),
            values,
        )
    };
    let sizes = SIZES.map(|(least, most)| format!("{least}–{most}")).to_vec();
    let ks = KS.map(|k| k.to_string()).to_vec();
    [
        panel("k = 10", "rows selected", sizes, lines(&|found| found.k == K)),
        panel("101–200 rows", "k", ks, lines(&|found| found.class == CLASS)),
    ]
}

fn claims(all: &[MeanError], n_tables: usize) -> Vec<Claim> {
    // Two schemes in the same setting.
    let ratios = |a: usize, b: usize| -> Vec<f64> {
        let of = |scheme: usize| all.iter().filter(move |found| found.scheme == scheme);
        let pairs = of(a).zip(of(b)).filter_map(|(a, b)| Some(b.error? / a.error?));
        pairs.filter(|ratio| ratio.is_finite()).collect()
    };
    let above = |ratios: &[f64]| {
        ratios.iter().filter(|ratio| **ratio > 1.0).count() as f64
            / ratios.len().max(1) as f64
    };
    let range = |ratios: &[f64]| {
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        if ratios.is_empty() {
            return "nothing".to_owned();
        }
        let mean =
            ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
        format!(
            "{} to {} times, {} on average",
            short(least),
            short(most),
            short(mean.exp())
        )
    };
    let order = |a: usize, b: usize| {
        let ratios = ratios(a, b);
        let [first, second] = [a, b].map(|scheme| SCHEMES[scheme].name());
        Claim::new(
            format!("{first} errs less than {second}"),
            format!(
                "in {} of the settings; errors of {second} are {} those of {first}",
                percent(above(&ratios)),
                range(&ratios)
            ),
            above(&ratios) >= 0.8,
        )
    };
    let grows = (0..n_tables * SCHEMES.len()).filter(|place| {
        let (table, scheme) = (place / SCHEMES.len(), place % SCHEMES.len());
        let mut mine = all.iter().filter(|found| {
            found.table == table && found.scheme == scheme && found.class == CLASS
        });
        let first = mine.next().and_then(|found| found.error);
        let last = mine.next_back().and_then(|found| found.error);
        first.zip(last).is_some_and(|(first, last)| last > first)
    });
    let grows = grows.count();
    let cost = |a: usize, b: usize| {
        let ratios = ratios(a, b);
        Claim::new(
            format!(
                "ours: a ladder less than doubles the error, {}",
                SCHEMES[a].name()
            ),
            format!(
                "errors of strict are {} those of the source's scheme",
                range(&ratios)
            ),
            !ratios.is_empty()
                && ratios.iter().sum::<f64>() < 2.0 * ratios.len() as f64,
        )
    };
    vec![
        order(0, 1),
        order(1, 4),
        order(0, 4),
        Claim::new(
            "the error grows with k",
            format!(
                "from k = 5 to 100 in {grows} of {} lines",
                n_tables * SCHEMES.len()
            ),
            grows * 10 >= 9 * n_tables * SCHEMES.len(),
        ),
        cost(0, 2),
        cost(1, 3),
        order(2, 4),
        order(3, 4),
    ]
}
