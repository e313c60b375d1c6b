//! Count queries answered from randomized columns, and from values by group.

use scumble::error::Result;
use scumble::hierarchy::Microdata;
use scumble::method::{AnatomyTask, anatomy};
use scumble::promise::Promises;
use scumble::random::Randomness;
use scumble::text::{grouped, short};

use crate::bucketed::{Conjunctions, records};
use crate::census::{Census, EDUCATION, OCCUPATION};
use crate::chart::{Figure, Fit, Form, Mark, Panel, Scale, Series};
use crate::outcome::{Cell, Claim, Outcome};
use crate::perturbed::{mean, parts, protected, whole};
use crate::queries::{Answer, Pool, mean_error};
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "perturbation-queries",
    source: "chaytor2010randomization, Figures 17, 18 and 19",
    about: "the error of count queries, by the whole table, by sub-tables and by Anatomy",
    needs: RequiredData::Data,
    run,
};

const COLUMNS: &str = "data,rows,L,method,subtables,left_out,selectivity,queries,error";

/// The shares of rows that a query must at least select.
const SELECTIVITIES: [f64; 3] = [0.001, 0.005, 0.01];

/// How many times each table is randomized, or dealt into groups.
const TIMES: u64 = 3;

/// A sensitive column and the beliefs it is published under.
struct QuerySetting {
    name: &'static str,
    figure: &'static str,
    column: usize,
    /// The largest belief before.
    prior: f64,
    /// The largest belief after is 1/L.
    ls: [f64; 4],
}

/// For occupations 1/11 and not 1/13, so that every occupation is protected in our records.
const SETTINGS: [QuerySetting; 2] = [
    QuerySetting {
        name: "OCC",
        figure: "Figure 17",
        column: OCCUPATION,
        prior: 1.0 / 11.0,
        ls: [6.0, 5.0, 4.0, 3.0],
    },
    QuerySetting {
        name: "EDU",
        figure: "Figure 19",
        column: EDUCATION,
        prior: 1.0 / 30.0,
        ls: [10.0, 8.0, 6.0, 4.0],
    },
];

const METHODS: [&str; 3] = ["UP", "PP", "Ana"];
const ANA: usize = 2;

/// What was found for one table, L and method.
struct MethodErrors {
    fifths: usize,
    l: f64,
    method: usize,
    /// Sub-tables, or groups of Anatomy.
    n_parts: usize,
    /// Rows that Anatomy leaves out, because their value is too common.
    left_out: usize,
    /// Mean error in percent and number of queries for each selectivity.
    errors: [(Option<f64>, usize); 3],
}

fn run(data: &Data) -> Result<Outcome> {
    let census = Census::read(data.folder()?)?;
    let (mut rows, mut panels, mut claims) = (Vec::new(), Vec::new(), Vec::new());
    for setting in &SETTINGS {
        let mut all = Vec::new();
        let mut clouds = Vec::new();
        for fifths in 1..=5 {
            let pool = Pool::new(&census, setting.column, fifths);
            let data = records(&census, setting.column, fifths)?;
            let asked = fitted(&pool, &data, setting.column);
            let ls = if fifths == 3 { &setting.ls[..] } else { &setting.ls[..1] };
            for l in ls.iter().copied() {
                let posteriors = protected(&pool.counts, setting.prior, 1.0 / l);
                let one = vec![whole(&pool.counts, &posteriors)];
                let several = parts(&pool.counts, &posteriors)?.1;
                let mut add = |method, n_parts, left_out, answers: &[Vec<Answer>]| {
                    let errors = errors(&pool, answers);
                    all.push(MethodErrors {
                        fifths,
                        l,
                        method,
                        n_parts,
                        left_out,
                        errors,
                    });
                    if fifths == 3 && (l - setting.ls[0]).abs() < 1e-9 {
                        let first = answers.first().map(Vec::as_slice);
                        clouds.push(
                            pool.selected(first.unwrap_or(&[]), SELECTIVITIES[0]),
                        );
                    }
                };
                for (method, parts) in [one, several].into_iter().enumerate() {
                    let answers: Vec<Vec<Answer>> = (0..TIMES)
                        .filter_map(|number| pool.answers(&parts, number))
                        .collect();
                    add(method, parts.len(), 0, &answers);
                }
                let (n_groups, left_out, answers) = dealt(&data, &asked, l as u64)?;
                add(ANA, n_groups, left_out, &answers);
            }
        }
        let n_rows = |fifths| census.n_rows(fifths) as u64;
        rows.extend(all.iter().flat_map(|found| table(setting, found, n_rows)));
        panels.extend(figures(setting, &all));
        claims.extend(trends(setting, &all));
        if setting.column == OCCUPATION {
            let (scatter, claim) = scatter(&clouds);
            panels.extend(scatter);
            claims.extend(claim);
        }
    }
    let series = Series::each(METHODS, [1, 0, 2], Mark::Circle);
    let title = "Error of count queries from randomized columns and by Anatomy, %";
    let figure = Figure::new(title, series, panels);
    let notes = vec![
        format!(
            "200 conjunctions of 1 to 3 quasi values times every sensitive value; means of \
             {TIMES} randomized tables. The records are ACS 2018, not the source's CENSUS; \
             rho1 for OCC is 1/11, so that every occupation is protected (the source: 1/13)."
        ),
        "Ana is our Anatomy with l = L, the sum over groups of rows that fit times rows with \
         the value, divided by the size. Its groups are cut by quasi columns before rows are \
         dealt; the source's are not. Where a value has more than 1/L of the rows, as few as \
         possible are left out, and errors are against all rows.\n"
            .to_owned(),
    ];
    Ok(Outcome::new(COLUMNS, rows, claims, figure).noting(notes))
}

/// The queries of a pool on the same rows, counted.
fn fitted<'a>(
    pool: &Pool<'_>,
    data: &'a Microdata,
    sensitive: usize,
) -> Conjunctions<'a> {
    let code = |(place, value): &(usize, u16)| {
        // The sensitive column is not among the quasi columns.
        let place = place - usize::from(*place > sensitive);
        (place, data.codes[place].get(value.to_string().as_str()).copied())
    };
    let conditions = pool.conditions.iter();
    let conditions = conditions.map(|condition| condition.iter().map(code).collect());
    Conjunctions::new(data, &conditions.collect::<Vec<_>>())
}

/// Groups and left-out rows of Anatomy, and its answers each time.
fn dealt(
    data: &Microdata,
    asked: &Conjunctions<'_>,
    parts: u64,
) -> Result<(usize, usize, Vec<Vec<Answer>>)> {
    let promises = Promises::new(Vec::new());
    let (mut n_groups, mut left_out, mut answers) = (0, 0, Vec::new());
    for number in 0..TIMES {
        let buckets = anatomy(&AnatomyTask {
            data,
            promises: &promises,
            parts,
            limit: data.n_rows(),
            randomness: &Randomness::of_seed(18 + number),
        })?;
        (n_groups, left_out) = (buckets.n_groups(), buckets.left_out.len());
        answers
            .push(asked.answers(&buckets).iter().map(|found| found.answer).collect());
    }
    Ok((n_groups, left_out, answers))
}

/// Mean errors over several draws.
fn errors(pool: &Pool<'_>, answers: &[Vec<Answer>]) -> [(Option<f64>, usize); 3] {
    SELECTIVITIES.map(|least: f64| {
        let selected: Vec<Vec<Answer>> =
            answers.iter().map(|answers| pool.selected(answers, least)).collect();
        let errors: Vec<f64> =
            selected.iter().filter_map(|answers| mean_error(answers)).collect();
        (mean(&errors), selected.first().map_or(0, Vec::len))
    })
}

fn table(
    setting: &QuerySetting,
    found: &MethodErrors,
    n_rows: impl Fn(usize) -> u64,
) -> Vec<Vec<Cell>> {
    let row = |(least, (error, queries)): (f64, (Option<f64>, usize))| {
        vec![
            setting.name.into(),
            n_rows(found.fifths).into(),
            found.l.into(),
            METHODS[found.method].into(),
            (found.n_parts as u64).into(),
            (found.left_out as u64).into(),
            least.into(),
            (queries as u64).into(),
            error.into(),
        ]
    };
    SELECTIVITIES.into_iter().zip(found.errors).map(row).collect()
}

/// Errors by L and by |T|, a panel for each selectivity.
fn figures(setting: &QuerySetting, all: &[MethodErrors]) -> Vec<Panel> {
    let mut panels = Vec::new();
    for (number, least) in SELECTIVITIES.into_iter().enumerate() {
        let line = |method: usize,
                    fits: &dyn Fn(&MethodErrors) -> bool|
         -> Vec<Option<f64>> {
            let of_method = all.iter().filter(|found| found.method == method);
            of_method.filter(|f| fits(f)).map(|found| found.errors[number].0).collect()
        };
        let by_l = |found: &MethodErrors| found.fifths == 3;
        let by_t = |found: &MethodErrors| (found.l - setting.ls[0]).abs() < 1e-9;
        let first = setting.ls[0];
        let panel = |what: String, across: &str, places: Vec<String>, values| {
            Panel::new(
                format!("{}, {what}, s = {} %", setting.name, short(least * 100.0)),
                (across, places),
                ("error, %", Scale::Linear, Form::Lines),
                values,
            )
        };
        panels.push(panel(
            "300k".to_owned(),
            "L",
            setting.ls.map(|l| l.to_string()).to_vec(),
            (0..METHODS.len()).map(|method| line(method, &by_l)).collect(),
        ));
        panels.push(panel(
            format!("L = {first}"),
            "|T|",
            (1..=5).map(|fifths| format!("{fifths}00k")).collect(),
            (0..METHODS.len()).map(|method| line(method, &by_t)).collect(),
        ));
    }
    panels
}

fn trends(setting: &QuerySetting, all: &[MethodErrors]) -> Vec<Claim> {
    let said = |text: &str| format!("{}: {text}", setting.figure);
    let of = |method: usize| all.iter().filter(move |found| found.method == method);
    // The smallest and the largest ratio of the errors of two methods.
    let ratios = |method: usize, other: usize| -> (f64, f64) {
        of(method)
            .zip(of(other))
            .flat_map(|(one, other)| one.errors.into_iter().zip(other.errors))
            .filter_map(|(one, other)| Some(one.0? / other.0?))
            .fold((f64::INFINITY, 0.0), |(a, b), ratio| (a.min(ratio), b.max(ratio)))
    };
    let (least, most) = ratios(0, 1);
    let ratios_text =
        format!("UP's error is {} to {} times PP's", short(least), short(most));
    let (ana_least, ana_most) = ratios(ANA, 1);
    let ana_text = format!(
        "Ana's error is {} to {} times PP's",
        short(ana_least),
        short(ana_most)
    );
    let ordered = |found: &&MethodErrors| {
        found.errors.is_sorted_by(|a, b| a.0.is_none() || a.0 >= b.0)
    };
    let n_ordered = all.iter().filter(ordered).count();
    let n_parts: Vec<String> = of(1).map(|found| found.n_parts.to_string()).collect();
    let n_parts = n_parts.join(", ");
    let mut claims = Vec::new();
    if setting.column == OCCUPATION {
        claims.push(Claim::new(
            said("PP has much lower error than UP"),
            ratios_text,
            least > 1.0,
        ));
        let pp: Vec<Option<f64>> =
            of(1).filter(|found| found.fifths == 3).map(|f| f.errors[0].0).collect();
        let texts: Vec<String> =
            pp.iter().flatten().map(|error| short(*error)).collect();
        claims.push(Claim::new(
            said("as L decreases PP benefits from weaker privacy"),
            format!("errors of PP for s = 0.1 %: {}", texts.join(", ")),
            pp.is_sorted_by(|a, b| a >= b),
        ));
        claims.push(Claim::new(
            said("PP incurs less error than Ana"),
            format!(
                "{ana_text}; but its groups are of similar rows, the source's are not"
            ),
            ana_least > 1.0,
        ));
        let ana: Vec<f64> = of(ANA)
            .filter(|found| found.fifths == 3)
            .filter_map(|found| found.errors[0].0)
            .collect();
        let texts: Vec<String> = ana.iter().map(|error| short(*error)).collect();
        let least = ana.iter().copied().fold(f64::INFINITY, f64::min);
        claims.push(Claim::new(
            said("as L decreases, Ana has little change"),
            format!("errors of Ana for s = 0.1 %: {}", texts.join(", ")),
            ana.iter().all(|error| *error < 1.2 * least),
        ));
    } else {
        let left_out: Vec<String> = of(ANA)
            .filter(|found| found.fifths == 3)
            .map(|found| grouped(found.left_out as u64))
            .collect();
        claims.push(Claim::new(
            said("Ana has a significantly larger error, due to suppressing records"),
            format!("{ana_text}; of 300k rows it leaves out {}", left_out.join(", ")),
            ana_least > 1.0,
        ));
        claims.push(Claim::new(
            said("PP degenerates into UP: it is not necessary to partition"),
            format!("PP has {n_parts} sub-tables; {ratios_text}"),
            least > 0.9 && most < 1.1,
        ));
    }
    claims.push(Claim::new(
        said("as the selectivity s increases, error decreases"),
        format!("in {n_ordered} of {} cases", all.len()),
        n_ordered == all.len(),
    ));
    claims
}

/// Estimates against true answers, with the line that fits them best.
fn scatter(clouds: &[Vec<Answer>]) -> (Vec<Panel>, Option<Claim>) {
    let points = |answers: &Vec<Answer>| -> Vec<(f64, f64)> {
        answers.iter().map(|answer| (answer.actual, answer.estimate)).collect()
    };
    let points: Vec<Vec<(f64, f64)>> = clouds.iter().map(points).collect();
    let fits: Vec<Option<Fit>> = points.iter().map(|points| Fit::of(points)).collect();
    let panel = |method: usize| {
        let mut shown = vec![Vec::new(); METHODS.len()];
        shown[method].clone_from(&points[method]);
        let fit = fits[method].map_or_else(String::new, Fit::text);
        Panel::new(
            format!("OCC, 300k, L = 6, {}: {fit}", METHODS[method]),
            ("actual", Vec::new()),
            ("estimate", Scale::Linear, Form::Points(shown)),
            Vec::new(),
        )
    };
    let panels = (0..points.len()).map(panel).collect();
    let claim = match fits[..] {
        [Some(up), Some(pp), Some(ana)] => Some(Claim::new(
            "Figure 18: PP's best line is extremely close to x = y, and its points closest \
             to it, followed by Ana, followed by UP",
            format!("PP: {}; Ana: {}; UP: {}", pp.text(), ana.text(), up.text()),
            (pp.slope - 1.0).abs() < 0.05 && pp.r2 > ana.r2 && ana.r2 > up.r2,
        )),
        _ => None,
    };
    (panels, claim)
}
