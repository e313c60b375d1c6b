//! A hole in uncertain k-anonymity: somebody who holds the table computes everybody's spread.

use std::collections::HashMap;

use scumble::error::Result;
use scumble::space::Shape;
use scumble::text::{percent, short};

use crate::blurred::{ClassedRows, PublishedNumbers};
use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::outcome::{Cell, Claim, Outcome};
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "calibration",
    source: "aggarwal2008unifying, Definition 2.4; a hole",
    about: "published spreads name almost everybody; levels of a ladder do not",
    needs: RequiredData::Nothing,
    run,
};

const COLUMNS: &str = "data,rows,k,scheme,shape,kinds_of_noise,mean_spread,by_spreads,\
    by_position,by_both";

/// How many rows, and among how many each is hidden.
const ROWS: usize = 2_000;
const K: f64 = 10.0;

/// How often noise is drawn for guesses by position.
const TIMES: u64 = 5;

const SCHEMES: [&str; 2] = ["paper", "strict"];

/// How well rows are found again, as shares of all rows.
#[derive(Debug, Clone, Copy)]
struct FoundAgain {
    /// Different spreads that were published.
    kinds: u64,
    /// The mean spread in standard deviations.
    spread: f64,
    /// By spreads alone, by position alone, by both.
    shares: [f64; 3],
}

fn run(data: &Data) -> Result<Outcome> {
    let rows = data.rows(ROWS);
    let mut tables = vec![ClassedRows::uniform(rows), ClassedRows::clusters(rows)];
    let mut notes = vec![
        "Somebody who holds the true table computes every row's noise as the publisher does, \
         and guesses whose row a published one is: by its spreads alone, by the row that fits \
         its numbers best, or by the best fit among those with its spreads. Shares of guesses \
         that are right; ties count in parts.\n"
            .to_owned(),
    ];
    match data.if_any()? {
        Some(_) => {
            let adult = ClassedRows::adult(data)?;
            // Rows evenly from the whole file.
            let step = (adult.n_rows() / rows).max(1);
            tables.push(adult.part((0..adult.n_rows()).step_by(step).take(rows)));
        }
        None => notes.push("Adult is not looked at: no `--data`.\n".to_owned()),
    }
    let mut all = Vec::new();
    for table in &tables {
        for shape in [Shape::Uniform, Shape::Gaussian] {
            for strict in [false, true] {
                all.push((table, shape, strict, attacked(table, shape, strict)?));
            }
        }
    }
    let lines = all.iter().map(|(table, shape, strict, found)| {
        let [by_spreads, by_position, by_both] = found.shares;
        vec![
            table.name.as_str().into(),
            (table.n_rows() as u64).into(),
            K.into(),
            SCHEMES[usize::from(*strict)].into(),
            shape.name().into(),
            found.kinds.into(),
            found.spread.into(),
            by_spreads.into(),
            by_position.into(),
            by_both.into(),
        ]
    });
    let lines: Vec<Vec<Cell>> = lines.collect();
    let panel = |table: &ClassedRows| {
        let line = |shape: Shape, strict: bool| {
            let own = all.iter().find(|(other, own, how, _)| {
                other.name == table.name && *own == shape && *how == strict
            });
            let shares = own.map(|(.., found)| found.shares);
            (0..3).map(|place| shares.map(|shares| 100.0 * shares[place])).collect()
        };
        Panel::new(
            format!("{}, {} rows, k = {K}", table.name, table.n_rows()),
            (
                "what is used",
                ["spreads", "position", "both"].map(str::to_owned).to_vec(),
            ),
            ("found again, %", Scale::Linear, Form::Bars),
            vec![
                line(Shape::Uniform, false),
                line(Shape::Gaussian, false),
                line(Shape::Uniform, true),
                line(Shape::Gaussian, true),
            ],
        )
    };
    let names = ["uniform", "gaussian", "uniform, strict", "gaussian, strict"];
    let series = Series::each(names, [0, 1, 6, 5], Mark::Circle);
    let figure = Figure::new(
        "Rows found again from blurred numbers",
        series,
        tables.iter().map(panel).collect(),
    );
    let of = |strict: bool| {
        let mine = all.iter().filter(move |(.., how, _)| *how == strict);
        mine.map(|(.., found)| found).collect::<Vec<&FoundAgain>>()
    };
    Ok(Outcome::new(COLUMNS, lines, claims(&of(false), &of(true), rows), figure)
        .noting(notes))
}

fn claims(paper: &[&FoundAgain], strict: &[&FoundAgain], rows: usize) -> Vec<Claim> {
    let range = |found: &[&FoundAgain], place: usize| {
        let shares = found.iter().map(|found| found.shares[place]);
        let least = shares.clone().fold(1.0, f64::min);
        let most = shares.fold(0.0, f64::max);
        (least, most, format!("{} to {}", percent(least), percent(most)))
    };
    let (_, most, by_spreads) = range(paper, 0);
    let (_, both, by_both) = range(paper, 2);
    let (_, levels, by_levels) = range(strict, 0);
    let (_, ours, by_ours) = range(strict, 2);
    let costs: Vec<f64> =
        paper.iter().zip(strict).map(|(a, b)| b.spread / a.spread).collect();
    let (least, largest) = costs
        .iter()
        .fold((f64::INFINITY, 0.0f64), |(a, b), cost| (a.min(*cost), b.max(*cost)));
    vec![
        Claim::new(
            format!(
                "aggarwal2008unifying: a row cannot be told from the other k - 1 best fits, \
                 so at most about 1 in {K} is found"
            ),
            format!(
                "{by_spreads} are found by spreads alone, {by_both} with positions"
            ),
            most.max(both) <= 1.5 / K,
        ),
        Claim::new(
            "docs/methods.md: spreads from a short ladder, with company at the \
             same level only, tell who is at a level and no more",
            format!("{by_levels} are found by levels alone"),
            levels * rows as f64 <= 10.0 + 1e-9,
        ),
        Claim::new(
            "docs/methods.md: with a ladder, levels add little to what positions tell",
            format!(
                "{by_ours} are found with levels and positions, at {} to {} times the mean \
                 spread",
                short(least),
                short(largest)
            ),
            ours < both,
        ),
    ]
}

/// Publishes a table and attacks it.
fn attacked(table: &ClassedRows, shape: Shape, strict: bool) -> Result<FoundAgain> {
    let blurred = table.blurred(shape, strict, K)?;
    let dims = table.dims();
    let mut shares = [0.0; 3];
    let mut first = None;
    for time in 0..TIMES {
        let published = table.noisy(&blurred, shape, 40 + time)?;
        let found = guessed(table, &published);
        for (sum, share) in shares.iter_mut().zip(found) {
            *sum += share / TIMES as f64;
        }
        first.get_or_insert(published);
    }
    let spreads = first.map_or(Vec::new(), |published| published.spreads);
    let mut kinds: Vec<Vec<u64>> = spreads.chunks_exact(dims).map(bits).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let scales = scales(table);
    let each = spreads.iter().enumerate();
    let in_scales: f64 =
        each.map(|(place, spread)| spread / scales[place % dims]).sum();
    let spread = in_scales / spreads.len() as f64;
    Ok(FoundAgain { kinds: kinds.len() as u64, spread, shares })
}

fn bits(spreads: &[f64]) -> Vec<u64> {
    spreads.iter().map(|spread| spread.to_bits()).collect()
}

/// Standard deviations of the columns.
fn scales(table: &ClassedRows) -> Vec<f64> {
    let (n, dims) = (table.n_rows() as f64, table.dims());
    (0..dims)
        .map(|axis| {
            let own = || table.numbers.values.iter().skip(axis).step_by(dims);
            let mean = own().sum::<f64>() / n;
            let square = own().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
            if square > 0.0 { square.sqrt() } else { 1.0 }
        })
        .collect()
}

/// The shares of rows that are found by spreads, by position, and by both. Noise depends on
/// the table alone, so whoever holds it knows everybody's spreads.
fn guessed(table: &ClassedRows, published: &PublishedNumbers) -> [f64; 3] {
    let dims = table.dims();
    let spreads = |row: usize| &published.spreads[row * dims..][..dims];
    let mut same: HashMap<Vec<u64>, Vec<usize>> = HashMap::new();
    for row in (0..table.n_rows()).filter(|row| published.there[*row]) {
        same.entry(bits(spreads(row))).or_default().push(row);
    }
    let everybody: Vec<usize> = (0..table.n_rows()).collect();
    let mut shares = [0.0; 3];
    let n = published.there.iter().filter(|there| **there).count() as f64;
    for row in (0..table.n_rows()).filter(|row| published.there[*row]) {
        let alike = &same[&bits(spreads(row))];
        shares[0] += 1.0 / alike.len() as f64 / n;
        shares[1] += best_fit(table, published, row, &everybody) / n;
        shares[2] += best_fit(table, published, row, alike) / n;
    }
    shares
}

/// The row's share among the candidates that fit it best.
fn best_fit(
    table: &ClassedRows,
    published: &PublishedNumbers,
    row: usize,
    among: &[usize],
) -> f64 {
    let dims = table.dims();
    let centre = &published.values[row * dims..][..dims];
    let spreads = &published.spreads[row * dims..][..dims];
    let misfit = |other: usize| -> f64 {
        let pairs = table.numbers.row(other).iter().zip(centre).zip(spreads);
        let each = pairs.map(|((x, z), spread)| {
            let distance = (x - z).abs();
            match published.shape {
                _ if *spread == 0.0 && distance == 0.0 => 0.0,
                _ if *spread == 0.0 => f64::INFINITY,
                shape => shape.misfit(distance / spread),
            }
        });
        each.sum()
    };
    let own = misfit(row);
    let mut equal = 0;
    for other in among {
        let other = misfit(*other);
        if other < own {
            return 0.0;
        }
        equal += usize::from(other == own);
    }
    1.0 / equal as f64
}
