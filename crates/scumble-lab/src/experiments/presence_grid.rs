//! How both ends of delta bear on the cost of MPALM n2.

use scumble::error::Result;
use scumble::text::short;

use crate::adult::{Adult, NINE, Subset};
use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::delta::{Delta, bare};
use crate::outcome::{Cell, Claim, Outcome};
use crate::private::{N2, Private, ReleaseCost, hidden};
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "presence-grid",
    source: "nergiz2007presence, Figure 8",
    about: "what MPALM n2 costs for many pairs of delta_min and delta_max",
    needs: RequiredData::Data,
    run,
};

const COLUMNS: &str = "subset,delta_min,delta_max,loss,discernibility,groups";

const LEAST: [f64; 5] = [0.0, 0.01, 0.02, 0.03, 0.04];
const MOST: [f64; 7] = [0.05, 0.06, 0.08, 0.1, 0.2, 0.5, 1.0];

/// For each `delta_min` what each `delta_max` costs.
type CostGrid = Vec<Vec<Option<ReleaseCost>>>;

fn run(data: &Data) -> Result<Outcome> {
    let adult = Adult::read(data)?;
    let specs = adult.specs(&NINE)?;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut panels = Vec::new();
    let mut grids: Vec<CostGrid> = Vec::new();
    for subset in [Subset::Random, Subset::Diabetes] {
        let private = Private::read(&adult, subset, &specs)?;
        let mut grid = CostGrid::new();
        for min in LEAST {
            let mut line = Vec::new();
            for max in MOST {
                let measured = hidden(N2, &private, Delta { min, max })?;
                rows.push(vec![
                    subset.name().into(),
                    min.into(),
                    max.into(),
                    measured.map(|measured| measured.loss).into(),
                    measured.map(|measured| measured.discernibility).into(),
                    measured.map(|measured| measured.groups).into(),
                ]);
                line.push(measured);
            }
            grid.push(line);
        }
        panels.push(panel(subset, "loss metric", Scale::Linear, &grid, |m| m.loss));
        panels.push(panel(
            subset,
            "discernibility metric",
            Scale::Logarithmic,
            &grid,
            |m| m.discernibility,
        ));
        grids.push(grid);
    }
    let series = LEAST.iter().zip([0, 6, 2, 5, 1]).map(|(min, colour)| {
        Series::new(format!("delta_min {}", bare(*min)), colour, Mark::Circle)
    });
    let title = "What both ends of delta cost, MPALM n2";
    let figure = Figure::new(title, series, panels);
    Ok(Outcome::new(COLUMNS, rows, claims(&grids), figure))
}

fn panel(
    subset: Subset,
    up: &str,
    scale: Scale,
    grid: &CostGrid,
    measure: impl Fn(&ReleaseCost) -> f64,
) -> Panel {
    let line = |line: &Vec<Option<ReleaseCost>>| {
        line.iter().map(|measured| measured.as_ref().map(&measure)).collect()
    };
    Panel::new(
        format!("{up}, {} table", subset.name()),
        ("delta_max", MOST.map(bare).to_vec()),
        (up, scale, Form::Lines),
        grid.iter().map(line).collect(),
    )
}

fn claims(grids: &[CostGrid]) -> Vec<Claim> {
    let loss = |grid: &CostGrid, min: usize, max: usize| {
        grid[min][max].map_or(f64::NAN, |measured| measured.loss)
    };
    // At a `delta_max` of 1 and a `delta_min` of 0 nothing is lost.
    let wide = MOST.len() - 2;
    let highest = LEAST.len() - 1;
    let rise = |grid: &CostGrid| loss(grid, highest, wide) / loss(grid, 0, wide);
    let (random, skewed) = (rise(&grids[0]), rise(&grids[1]));
    // A range within another costs less, which only a greedy search brings about.
    let anomalies = |grid: &CostGrid| {
        let mut found = Vec::new();
        for (min, least) in LEAST.into_iter().enumerate() {
            for (max, most) in MOST.into_iter().enumerate() {
                let here = loss(grid, min, max);
                let narrower_min =
                    min + 1 < LEAST.len() && loss(grid, min + 1, max) < here;
                let narrower_max = max > 0 && loss(grid, min, max - 1) < here;
                if narrower_min || narrower_max {
                    found.push(format!("({}, {})", bare(least), bare(most)));
                }
            }
        }
        found
    };
    let (on_random, on_skewed) = (anomalies(&grids[0]), anomalies(&grids[1]));
    let first = |found: &[String]| match found {
        [] => "no range".to_owned(),
        [first, ..] => format!("{} ranges, such as {first},", found.len()),
    };
    vec![
        Claim::new(
            "high values of delta_min come at a high price",
            format!(
                "from (0, .5) to (.04, .5) the loss grows by a factor of {} (random), {} \
                 (skewed)",
                short(random),
                short(skewed)
            ),
            random > 2.0 && skewed > 2.0,
        ),
        Claim::new(
            "particularly for the biased dataset",
            format!(
                "loss at (.04, .5): {} random, {} skewed",
                short(loss(&grids[0], highest, wide)),
                short(loss(&grids[1], highest, wide))
            ),
            loss(&grids[1], highest, wide) > loss(&grids[0], highest, wide),
        ),
        Claim::new(
            "on biased data a narrower range sometimes gives a better result",
            format!("{} cost more than a range within", first(&on_skewed)),
            !on_skewed.is_empty(),
        ),
        Claim::new(
            "this anomaly does not appear on the randomly selected data",
            format!("{} cost more than a range within", first(&on_random)),
            on_random.is_empty(),
        ),
    ]
}
