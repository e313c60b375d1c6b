//! How many records Fine-grain keeps, and how well frequencies are found again.

use scumble::error::Result;
use scumble::text::short;

use crate::census;
use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::outcome::{Cell, Claim, Outcome};
use crate::perturbed::{tenths, zipf};
use crate::trial::{NAMES, OperatorErrors, SELECTIVITIES, Trial};
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "fine-grain-utility",
    source: "chaytor2010randomization, Figures 24 to 28, Tables 8 to 10",
    about: "records kept and frequencies found again, by operator",
    needs: RequiredData::Data,
    run,
};

const COLUMNS: &str = "data,theta,rows,m,lambda,operator,record_utility,\
    error_most_frequent,selectivity,error,source_error,ratio";

/// What the source prints for Fine-grain and UP: errors in percent for each setting and
/// selectivity.
type Printed = [[[f64; 3]; 2]];

const TABLE_8: [[[f64; 3]; 2]; 4] = [
    [[234.66, 82.96, 28.26], [2.75, 2.24, 1.87]],
    [[126.55, 44.22, 21.35], [2.50, 1.77, 1.39]],
    [[4.22, 2.20, 1.55], [1.77, 1.41, 1.17]],
    [[95.10, 33.46, 7.45], [1.59, 1.26, 1.06]],
];
const TABLE_9: [[[f64; 3]; 2]; 5] = [
    [[183.73, 69.90, 11.97], [3.21, 2.22, 1.96]],
    [[83.72, 29.66, 8.97], [2.08, 1.50, 1.23]],
    [[95.10, 33.46, 7.45], [1.59, 1.26, 1.06]],
    [[71.65, 27.60, 5.95], [1.42, 1.00, 0.83]],
    [[73.38, 28.10, 5.26], [1.10, 0.86, 0.66]],
];
const TABLE_10: [[[f64; 3]; 2]; 4] = [
    [[1.73, 1.73, 1.73], [1.16, 1.16, 1.16]],
    [[4.80, 4.80, 3.38], [2.29, 2.29, 1.87]],
    [[9.52, 9.52, 4.19], [3.52, 3.52, 2.23]],
    [[39.93, 33.74, 11.04], [5.04, 4.54, 2.28]],
];

/// The places of operators among their names.
const UP: usize = 0;
const FINE_GRAIN: usize = 1;
const GENERAL: usize = 3;

/// Settings of which one thing changes.
struct Sweep {
    /// The figure or table, and what it is of.
    title: String,
    data: &'static str,
    across: &'static str,
    places: Vec<String>,
    trials: Vec<Trial>,
    /// The table of the source, if it prints numbers.
    printed: Option<(&'static str, &'static Printed)>,
}

fn run(data: &Data) -> Result<Outcome> {
    let folder = data.folder()?;
    let occ = census::counts(folder, "occ100k_counts.csv")?;
    let edu = census::counts(folder, "edu100k_counts.csv")?;
    let sweeps = [
        by_theta("OCC", &occ, &[5.0, 10.0, 15.0, 20.0, 25.0, 30.0], None)?,
        by_rows("OCC", &occ, 20.0, None)?,
        by_theta("EDU", &edu, &[15.0, 20.0, 25.0, 30.0], Some(("Table 8", &TABLE_8)))?,
        by_rows("EDU", &edu, 30.0, Some(("Table 9", &TABLE_9)))?,
        by_size()?,
        by_lambda()?,
    ];
    let rows = sweeps.iter().flat_map(table).collect();
    let panels = sweeps.iter().flat_map(panels).collect();
    let own = NAMES.into_iter().zip([1, 0, 6, 2, 5]);
    let printed = [("fine-grain, the source", 4), ("UP, the source", 7)];
    let series = own.chain(printed).map(|(name, colour)| {
        Series::new(
            name,
            colour,
            if name.ends_with("source") { Mark::Triangle } else { Mark::Circle },
        )
    });
    let title = "Records kept (share), and errors of frequencies found again (%)";
    let figure = Figure::new(title, series, panels);
    let notes = vec![
        "OCC and EDU have the frequencies of the source's tables of 100,000 rows, also for \
         other |T|; so record utility cannot depend on |T|. Means of 10 randomized tables, \
         frequencies found by the inverse matrix. The text does not say which theta Figure \
         24 has, only that 20 is one and that those of EDU are larger; we go on to 30. ZIP \
         has lambda = 1 where the text does not say."
            .to_owned(),
        "General operators have the default floor on what is kept of each value; a dash is \
         an operator from which frequencies cannot be found.\n"
            .to_owned(),
    ];
    let claims = claims(&sweeps);
    Ok(Outcome::new(COLUMNS, rows, claims, figure).noting(notes))
}

fn scaled(counts: &[u64], times: u64) -> Vec<u64> {
    counts.iter().map(|count| count * times).collect()
}

fn by_theta(
    data: &'static str,
    counts: &[u64],
    thetas: &[f64],
    printed: Option<(&'static str, &'static Printed)>,
) -> Result<Sweep> {
    let counts = scaled(counts, 3);
    let trials = thetas.iter().map(|theta| Trial::new(counts.clone(), *theta));
    Ok(Sweep {
        title: format!("{data}, 300k"),
        data,
        across: "theta",
        places: thetas.iter().map(f64::to_string).collect(),
        trials: trials.collect::<Result<_>>()?,
        printed,
    })
}

fn by_rows(
    data: &'static str,
    counts: &[u64],
    theta: f64,
    printed: Option<(&'static str, &'static Printed)>,
) -> Result<Sweep> {
    let trials = (1..=5).map(|times| Trial::new(scaled(counts, times), theta));
    Ok(Sweep {
        title: format!("{data}, theta = {theta}"),
        data,
        across: "|T|",
        places: (1..=5).map(|times| format!("{times}00k")).collect(),
        trials: trials.collect::<Result<_>>()?,
        printed,
    })
}

fn by_size() -> Result<Sweep> {
    let sizes = [20, 30, 40, 50];
    let trials = sizes.iter().map(|m| Trial::new(zipf(300_000, *m, 1.0, 0.0), 30.0));
    Ok(Sweep {
        title: "ZIP, theta = 30, lambda = 1".to_owned(),
        data: "ZIP",
        across: "m",
        places: sizes.map(|size: usize| size.to_string()).to_vec(),
        trials: trials.collect::<Result<_>>()?,
        printed: Some(("Table 10", &TABLE_10)),
    })
}

fn by_lambda() -> Result<Sweep> {
    let lambdas = [1.0, 2.0, 3.0, 4.0];
    let trials = lambdas.iter().map(|l| Trial::new(zipf(300_000, 20, *l, 0.0), 30.0));
    Ok(Sweep {
        title: "ZIP, theta = 30, m = 20".to_owned(),
        data: "ZIP",
        across: "lambda",
        places: lambdas.map(|lambda| lambda.to_string()).to_vec(),
        trials: trials.collect::<Result<_>>()?,
        printed: None,
    })
}

impl Sweep {
    /// What the source prints for a setting, operator and selectivity.
    fn source(&self, place: usize, operator: usize, selectivity: usize) -> Option<f64> {
        let column = match operator {
            FINE_GRAIN => 0,
            UP => 1,
            _ => return None,
        };
        Some(self.printed?.1[place][column][selectivity])
    }

    /// A measure of an operator for every setting.
    fn line(
        &self,
        operator: usize,
        of: impl Fn(&Trial, usize) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        self.trials.iter().map(|trial| of(trial, operator)).collect()
    }
}

fn table(sweep: &Sweep) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (place, trial) in sweep.trials.iter().enumerate() {
        for (operator, measured) in trial.measured.iter().enumerate() {
            for (number, least) in SELECTIVITIES.into_iter().enumerate() {
                let ours = measured.errors[number];
                let source = sweep.source(place, operator, number);
                let lambda = match (sweep.data, sweep.across) {
                    ("ZIP", "lambda") => Cell::from(sweep.places[place].as_str()),
                    ("ZIP", _) => Cell::from("1"),
                    _ => Cell::Nothing,
                };
                rows.push(vec![
                    sweep.data.into(),
                    trial.theta.into(),
                    trial.n_rows().into(),
                    (trial.counts.len() as u64).into(),
                    lambda,
                    NAMES[operator].into(),
                    measured.utility.into(),
                    measured.most_frequent.into(),
                    least.into(),
                    ours.into(),
                    source.into(),
                    ours.zip(source).map(|(ours, source)| ours / source).into(),
                ]);
            }
        }
    }
    rows
}

fn panels(sweep: &Sweep) -> Vec<Panel> {
    let panel = |what: String, scale, values: Vec<Vec<Option<f64>>>| {
        Panel::new(
            format!("{}: {what}", sweep.title),
            (sweep.across, sweep.places.clone()),
            ("", scale, Form::Lines),
            values,
        )
    };
    let nothing = || vec![None; sweep.places.len()];
    let lines = |of: &dyn Fn(&Trial, usize) -> Option<f64>| -> Vec<Vec<Option<f64>>> {
        (0..NAMES.len()).map(|operator| sweep.line(operator, of)).collect()
    };
    let mut utility = lines(&|trial, operator| Some(trial.measured[operator].utility));
    utility.extend([nothing(), nothing()]);
    let mut frequent = lines(&|trial, operator| trial.measured[operator].most_frequent);
    frequent.extend([nothing(), nothing()]);
    let mut panels = vec![
        panel("record utility".to_owned(), Scale::Linear, utility),
        panel(
            "error of the most frequent value".to_owned(),
            Scale::Logarithmic,
            frequent,
        ),
    ];
    if sweep.across == "lambda" {
        return panels;
    }
    for (number, least) in SELECTIVITIES.into_iter().enumerate() {
        let mut values =
            lines(&|trial, operator| trial.measured[operator].errors[number]);
        for operator in [FINE_GRAIN, UP] {
            let places = 0..sweep.places.len();
            values.push(
                places.map(|place| sweep.source(place, operator, number)).collect(),
            );
        }
        let what = format!("error, s = {} %", short(100.0 * least));
        panels.push(panel(what, Scale::Logarithmic, values));
    }
    panels
}

fn claims(sweeps: &[Sweep; 6]) -> Vec<Claim> {
    let [occ_theta, occ_rows, edu_theta, edu_rows, size, lambda] = sweeps;
    let utility = |trial: &Trial, operator: usize| trial.measured[operator].utility;
    let real = || [occ_theta, edu_theta].into_iter().flat_map(|sweep| &sweep.trials);
    let all = || sweeps.iter().flat_map(|sweep| &sweep.trials);
    let gains: Vec<f64> =
        real().map(|trial| utility(trial, FINE_GRAIN) - utility(trial, UP)).collect();
    let (least, most) = ends(&gains);
    let kept: Vec<f64> =
        occ_theta.trials.iter().map(|trial| utility(trial, FINE_GRAIN)).collect();
    // The source has no theta above 20 for OCC; the rest are ours.
    let relaxed = kept.get(3).copied().unwrap_or(f64::NAN);
    let texts: Vec<String> = kept.iter().map(|share| tenths(*share)).collect();
    let mut claims = vec![
        Claim::new(
            "Figure 24: Fine-grain keeps almost 60 % of OCC for more relaxed settings",
            format!("{} for theta = {}", texts.join(", "), occ_theta.places.join(", ")),
            (0.55..0.65).contains(&relaxed),
        ),
        Claim::new(
            "Fine-grain always retains 5 % to 20 % more data than UP (OCC, EDU)",
            format!("{} to {} of all records more", tenths(least), tenths(most)),
            least > 0.04 && most < 0.25,
        ),
    ];
    let frequent: Vec<f64> = [occ_theta, occ_rows, edu_theta, edu_rows, size]
        .into_iter()
        .flat_map(|sweep| &sweep.trials)
        .filter_map(|trial| {
            let error = |operator: usize| trial.measured[operator].most_frequent;
            Some(error(UP)? / error(FINE_GRAIN)?)
        })
        .collect();
    let n_better = frequent.iter().filter(|ratio| **ratio > 1.0).count();
    claims.push(Claim::new(
        "Figures 24, 26, 27: Fine-grain has less error than UP on the most frequent value",
        format!("in {n_better} of {} cases", frequent.len()),
        10 * n_better >= 9 * frequent.len(),
    ));
    claims.push(against_up(
        "Figure 25: over all values of OCC there is no significant difference",
        &[occ_theta, occ_rows],
        |least, most| least > 0.5 && most < 2.0,
    ));
    claims.push(against_up(
        "Tables 8 and 9: over all values of EDU Fine-grain has a higher error than UP",
        &[edu_theta, edu_rows],
        |least, _| least > 1.0,
    ));
    for sweep in [edu_theta, edu_rows, size] {
        claims.extend([UP, FINE_GRAIN].map(|operator| printed(sweep, operator)));
    }
    claims.extend(of_zipf(size, lambda));
    let better: Vec<f64> =
        all().map(|trial| trial.open - utility(trial, FINE_GRAIN)).collect();
    let (least, most) = ends(&better);
    claims.push(Claim::new(
        "a general operator keeps at least as much as Fine-grain (in no source)",
        format!(
            "{} to {} of all records more, without a floor",
            tenths(least),
            tenths(most)
        ),
        least >= -1e-6,
    ));
    let better: Vec<f64> = all()
        .filter_map(|trial| {
            let error = |operator: usize| trial.measured[operator].errors[0];
            Some(error(GENERAL)? / error(FINE_GRAIN)?)
        })
        .collect();
    let (least, most) = ends(&better);
    claims.push(Claim::new(
        "with its default floor every frequency can be found (in no source)",
        format!(
            "in every case; the error over all values is {} to {} times Fine-grain's",
            short(least),
            short(most)
        ),
        all().all(|trial| trial.measured[GENERAL].errors[0].is_some()),
    ));
    claims
}

/// Fine-grain's error over all values in terms of UP's.
fn against_up(said: &str, sweeps: &[&Sweep], agrees: fn(f64, f64) -> bool) -> Claim {
    let trials = sweeps.iter().flat_map(|sweep| &sweep.trials);
    let ratios: Vec<f64> = trials
        .filter_map(|trial| {
            let error = |operator: usize| trial.measured[operator].errors[0];
            Some(error(FINE_GRAIN)? / error(UP)?)
        })
        .collect();
    let (least, most) = ends(&ratios);
    Claim::new(
        said,
        format!("Fine-grain's error is {} to {} times UP's", short(least), short(most)),
        !ratios.is_empty() && agrees(least, most),
    )
}

/// Our errors in terms of those that the source prints.
fn printed(sweep: &Sweep, operator: usize) -> Claim {
    let places = 0..sweep.trials.len();
    let all = places.flat_map(|place| (0..3).map(move |number| (place, number)));
    let ratios: Vec<f64> = all
        .filter_map(|(place, number)| {
            let ours = sweep.trials[place].measured[operator].errors[number]?;
            Some(ours / sweep.source(place, operator, number)?)
        })
        .collect();
    let (least, most) = ends(&ratios);
    let table = sweep.printed.map_or("", |(name, _)| name);
    Claim::new(
        format!("{table}: the errors of {} as printed", NAMES[operator]),
        format!("ours are {} to {} times those", short(least), short(most)),
        least > 0.5 && most < 2.0,
    )
}

fn of_zipf(size: &Sweep, lambda: &Sweep) -> Vec<Claim> {
    let utilities = |sweep: &Sweep, operator: usize| -> Vec<f64> {
        sweep.trials.iter().map(|trial| trial.measured[operator].utility).collect()
    };
    let texts = |shares: &[f64]| {
        shares.iter().map(|share| tenths(*share)).collect::<Vec<_>>().join(", ")
    };
    let (fine, up) = (utilities(size, FINE_GRAIN), utilities(size, UP));
    let first: Vec<f64> = size.trials.iter().map(|trial| trial.first_kept).collect();
    let last = size.trials.last().map(|trial| &trial.measured);
    let six = |of: fn(&OperatorErrors) -> Option<f64>| {
        last.and_then(|measured| Some(of(&measured[UP])? / of(&measured[FINE_GRAIN])?))
    };
    let expected = six(|measured| measured.expected);
    let drawn = six(|measured| measured.most_frequent);
    let (skewed, skewed_up) = (utilities(lambda, FINE_GRAIN), utilities(lambda, UP));
    vec![
        Claim::new(
            "Figure 27: record utility decreases as m increases",
            format!("Fine-grain {}; UP {}", texts(&fine), texts(&up)),
            fine.is_sorted_by(|a, b| a > b) && up.is_sorted_by(|a, b| a > b),
        ),
        Claim::new(
            "Figure 27: P[1][1] of Fine-grain is about 90 % for m = 20, 30, 40, 50",
            texts(&first),
            first.iter().all(|share| (share - 0.9).abs() < 0.06),
        ),
        Claim::new(
            "Figure 27: for m = 50 Fine-grain has almost six times less error on the most \
             frequent value",
            format!(
                "UP's error is {} times Fine-grain's in these draws, {} times on average",
                drawn.map_or("-".into(), short),
                expected.map_or("-".into(), short)
            ),
            expected.is_some_and(|ratio| ratio > 5.0),
        ),
        Claim::new(
            "Figure 28: with skew Fine-grain's record utility increases to near 100 %, and \
             UP's falls",
            format!("Fine-grain {}; UP {}", texts(&skewed), texts(&skewed_up)),
            skewed.is_sorted()
                && skewed.last().is_some_and(|share| *share > 0.95)
                && skewed_up.is_sorted_by(|a, b| a >= b),
        ),
    ]
}

fn ends(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    (least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}
