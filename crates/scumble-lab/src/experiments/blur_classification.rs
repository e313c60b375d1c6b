//! Classes of new rows by their neighbours among blurred and condensed ones.

use scumble::error::Result;
use scumble::estimate::Classifier;
use scumble::space::Shape;
use scumble::text::{percent, short};

use crate::blurred::{ClassedRows, PublishedNumbers, Scheme};
use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::experiments::blur_queries;
use crate::outcome::{Claim, Outcome};
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "blur-classification",
    source: "aggarwal2008unifying, Figures 7 and 8",
    about: "the accuracy of nearest neighbours from blurred and condensed numbers",
    needs: RequiredData::Nothing,
    run,
};

const COLUMNS: &str = "data,rows,tested,scheme,k,accuracy";

/// How many rows drawn tables have.
const ROWS: usize = 10_000;

/// One row in so many is a new one, at most `TESTED` of them; the others are published.
const FOLD: usize = 10;
const TESTED: usize = 1_000;

/// How many neighbours vote.
const NEIGHBOURS: usize = 10;

const KS: [f64; 5] = [5.0, 10.0, 20.0, 50.0, 100.0];

const SCHEMES: [Scheme; 5] = [
    Scheme::Paper(Shape::Uniform),
    Scheme::Paper(Shape::Gaussian),
    Scheme::Strict(Shape::Uniform),
    Scheme::Strict(Shape::Gaussian),
    // As in its paper, every class on its own.
    Scheme::Condensed(true),
];

/// A table, and the share of right answers in percent for each scheme and k, and from the
/// rows as they are.
struct Accuracies {
    name: String,
    rows: usize,
    tested: usize,
    exact: f64,
    /// The share of the commonest class.
    commonest: f64,
    accuracies: Vec<Vec<Option<f64>>>,
}

fn run(data: &Data) -> Result<Outcome> {
    let mut tables = vec![ClassedRows::clusters(data.rows(ROWS))];
    let mut notes = vec![format!(
        "One row in {FOLD} is new (at most {TESTED}), the others are published with their \
         classes; the {NEIGHBOURS} best fits vote. Condensation is for each class on its own, \
         as in its paper.\n"
    )];
    match data.if_any()? {
        Some(_) => tables.push(ClassedRows::adult(data)?),
        None => notes.push("Adult is not looked at: no `--data`.\n".to_owned()),
    }
    let all: Vec<Accuracies> = tables.iter().map(found).collect::<Result<_>>()?;
    let rows = all.iter().flat_map(|found| {
        let line = |scheme: &str, k: Option<f64>, accuracy: Option<f64>| {
            vec![
                found.name.as_str().into(),
                (found.rows as u64).into(),
                (found.tested as u64).into(),
                scheme.into(),
                k.into(),
                accuracy.into(),
            ]
        };
        let mut lines = vec![
            line("exact", None, Some(found.exact)),
            line("commonest class", None, Some(found.commonest)),
        ];
        for (scheme, accuracies) in SCHEMES.iter().zip(&found.accuracies) {
            for (k, accuracy) in KS.into_iter().zip(accuracies) {
                lines.push(line(&scheme.name(), Some(k), *accuracy));
            }
        }
        lines
    });
    let rows = rows.collect();
    let mut series = blur_queries::series();
    series.push(Series::new("exact", 4, Mark::Circle));
    let panel = |found: &Accuracies| {
        Panel::new(
            format!("{}, {} neighbours", found.name, NEIGHBOURS),
            ("k", KS.map(|k| k.to_string()).to_vec()),
            ("right, %", Scale::Linear, Form::Lines),
            found
                .accuracies
                .iter()
                .cloned()
                .chain([vec![Some(found.exact); KS.len()]])
                .collect(),
        )
    };
    let figure = Figure::new(
        "Classes by nearest neighbours among blurred rows",
        series,
        all.iter().map(panel).collect(),
    );
    let claims = all.iter().flat_map(claims).collect();
    Ok(Outcome::new(COLUMNS, rows, claims, figure).noting(notes))
}

fn found(table: &ClassedRows) -> Result<Accuracies> {
    let n = table.n_rows();
    let fold = FOLD.max(n.div_ceil(TESTED));
    let tested = table.part((0..n).step_by(fold));
    let known = table.part((0..n).filter(|row| row % fold != 0));
    let exact = PublishedNumbers {
        shape: Shape::Gaussian,
        values: known.numbers.values.clone(),
        spreads: vec![0.0; known.numbers.values.len()],
        there: vec![true; known.n_rows()],
    };
    let mut accuracies = Vec::new();
    for scheme in SCHEMES {
        let mut line = Vec::new();
        for k in KS {
            let published = known.published(scheme, k, 60)?;
            let right =
                published.map(|published| accuracy(&known, &published, &tested));
            line.push(right.transpose()?);
        }
        accuracies.push(line);
    }
    let classes = tested.classes.iter().max().map_or(0, |class| class + 1);
    let count = |class| tested.classes.iter().filter(|own| **own == class).count();
    let commonest = (0..classes).map(count).max().unwrap_or(0);
    Ok(Accuracies {
        name: table.name.clone(),
        rows: known.n_rows(),
        tested: tested.n_rows(),
        exact: accuracy(&known, &exact, &tested)?,
        commonest: 100.0 * commonest as f64 / tested.n_rows() as f64,
        accuracies,
    })
}

/// The share of tested rows whose class is told right, in percent.
fn accuracy(
    known: &ClassedRows,
    published: &PublishedNumbers,
    tested: &ClassedRows,
) -> Result<f64> {
    let dims = known.dims();
    let there: Vec<usize> =
        (0..known.n_rows()).filter(|row| published.there[*row]).collect();
    let chosen = |numbers: &[f64]| -> Vec<f64> {
        there.iter().flat_map(|row| numbers[row * dims..][..dims].to_vec()).collect()
    };
    let classes: Vec<u32> = there.iter().map(|row| known.classes[*row]).collect();
    let classifier = Classifier::new(
        published.shape,
        &chosen(&published.values),
        &chosen(&published.spreads),
        &classes,
        dims,
    )?;
    let right = (0..tested.n_rows()).filter(|row| {
        let verdict = classifier.classify(tested.numbers.row(*row), NEIGHBOURS);
        verdict.class == tested.classes[*row] as usize
    });
    Ok(100.0 * right.count() as f64 / tested.n_rows() as f64)
}

fn claims(found: &Accuracies) -> Vec<Claim> {
    let name = &found.name;
    let mean = |scheme: usize| {
        let known: Vec<f64> =
            found.accuracies[scheme].iter().flatten().copied().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let shown = |value: Option<f64>| value.map_or("-".to_owned(), short);
    let [uniform, gaussian, strict_uniform, strict_gaussian, condensed] =
        [0, 1, 2, 3, 4].map(mean);
    let least = found.accuracies[..2].iter().flatten().flatten().copied();
    let least = least.fold(100.0, f64::min);
    // A share of 1,000 rows has a standard error of at most 1.6 %.
    let better = |blurred: Option<f64>| {
        blurred.zip(condensed).is_some_and(|(blurred, condensed)| blurred > condensed)
    };
    vec![
        Claim::new(
            format!(
                "{name}: accuracy is higher than with condensation, for both shapes"
            ),
            format!(
                "{} % uniform and {} % gaussian on average over k, {} % condensation",
                shown(uniform),
                shown(gaussian),
                shown(condensed)
            ),
            better(uniform) && better(gaussian),
        ),
        Claim::new(
            format!("{name}: accuracy falls only modestly up to k = 100"),
            format!(
                "{} at worst, {} from the rows as they are; the commonest class alone {}",
                percent(least / 100.0),
                percent(found.exact / 100.0),
                percent(found.commonest / 100.0)
            ),
            found.exact - least < 10.0,
        ),
        Claim::new(
            format!("ours, {name}: a ladder costs less than five points"),
            format!(
                "strict {} % uniform and {} % gaussian on average over k",
                shown(strict_uniform),
                shown(strict_gaussian)
            ),
            strict_uniform
                .zip(uniform)
                .is_some_and(|(strict, plain)| plain - strict < 5.0),
        ),
    ]
}
