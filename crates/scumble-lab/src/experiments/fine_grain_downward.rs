//! A hole in Fine-grain: Theorem 7 claims that no belief falls too far, and one does.

use rand::RngExt;
use scumble::error::Result;
use scumble::method::perturb::{Floor, Limits, Operator, fine_grain, general, uniform};
use scumble::promise::Breaches;
use scumble::random::Randomness;
use scumble::text::{counted, short};

use crate::belief::{Moved, after, highest, lowest, sums};
use crate::census;
use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::outcome::{Cell, Claim, Outcome};
use crate::perturbed::{fine_grain_bounds, gammas, mean, tenths};
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "fine-grain-downward",
    source: "chaytor2010randomization, Theorem 7; a hole",
    about: "a belief falls further than the published operator promises; not with ours",
    needs: RequiredData::Nothing,
    run,
};

const COLUMNS: &str = "table,theta,operator,value,share,gamma,kept,highest_belief,\
    allowed_highest,lowest_belief,allowed_lowest,breach";

/// The running example of the source, and the tolerance of its beliefs.
const VALUES: [&str; 5] = ["heart disease", "cancer", "AIDS", "malaria", "H1N1"];
const COUNTS: [u64; 5] = [4, 4, 3, 2, 1];
const THETA: f64 = 3.0;
const H1N1: usize = 4;

/// What the source prints as its solution.
const PRINTED: [f64; 5] = [0.53, 0.53, 0.53, 0.28, 0.17];

/// Tolerances of random tables, and how many tables each.
const THETAS: [f64; 5] = [2.0, 3.0, 5.0, 10.0, 20.0];
const TABLES: u64 = 200;

/// Frequencies, and how far a belief in each value may move.
struct ToleranceCase {
    counts: Vec<u64>,
    bounds: Vec<Option<(f64, f64)>>,
    gammas: Vec<f64>,
}

impl ToleranceCase {
    fn new(counts: Vec<u64>, theta: f64) -> Self {
        let bounds = fine_grain_bounds(&counts, theta);
        Self { gammas: gammas(&bounds), counts, bounds }
    }

    fn weights(&self) -> Vec<f64> {
        self.counts.iter().map(|count| *count as f64).collect()
    }

    fn limits(&self, breaches: Breaches) -> Limits<'_> {
        Limits { gammas: &self.gammas, breaches }
    }

    fn fine_grain(&self, breaches: Breaches) -> Operator {
        fine_grain(self.limits(breaches), &self.weights())
    }

    /// The expected share of rows that are kept.
    fn utility(&self, operator: &Operator) -> f64 {
        operator.record_utility(&self.weights())
    }

    /// For each protected value how far the worst adversary's belief falls, and whether
    /// that is further than allowed.
    fn falls(&self, operator: &Operator) -> Vec<Option<(Moved, bool)>> {
        let fall = |(value, bound): (usize, &Option<(f64, f64)>)| {
            let (prior, posterior) = (*bound)?;
            let moved = lowest(operator, value, posterior)?;
            Some((moved, moved.after < prior * (1.0 - 1e-9)))
        };
        self.bounds.iter().enumerate().map(fall).collect()
    }

    /// The same upwards.
    fn rises(&self, operator: &Operator) -> Vec<Option<(Moved, bool)>> {
        let rise = |(value, bound): (usize, &Option<(f64, f64)>)| {
            let (prior, posterior) = (*bound)?;
            let moved = highest(operator, value, prior)?;
            Some((moved, moved.after > posterior * (1.0 + 1e-9)))
        };
        self.bounds.iter().enumerate().map(rise).collect()
    }

    /// How many values breach, and the largest ratio in terms of what is allowed.
    fn breaches(&self, operator: &Operator) -> (usize, f64) {
        let falls = self.falls(operator);
        let worst = falls.iter().zip(&self.gammas);
        let worst = worst.filter_map(|(fall, gamma)| Some((*fall)?.0.ratio / gamma));
        let n = falls.iter().flatten().filter(|(_, breach)| *breach).count();
        (n, worst.fold(0.0, f64::max))
    }
}

/// What random tables, or tables of the data folder, show for one tolerance.
#[derive(Debug, Clone, Copy, Default)]
struct ToleranceTrial {
    tables: u64,
    /// Tables where a belief falls too far with the published operator, and with ours.
    broken: [u64; 2],
    /// The largest ratio in terms of what is allowed.
    worst: f64,
    /// Mean record utility of both.
    utility: [f64; 2],
    /// The most that mending takes from one table.
    cost: f64,
}

fn run(data: &Data) -> Result<Outcome> {
    let task = ToleranceCase::new(COUNTS.to_vec(), THETA);
    let published = task.fine_grain(Breaches::Upward);
    let mended = task.fine_grain(Breaches::Both);
    let open = |breaches| general(task.limits(breaches), &task.weights(), Floor::None);
    let operators = [
        ("UP", uniform(task.limits(Breaches::Both))),
        ("published", published.clone()),
        ("mended", mended.clone()),
        ("as printed", Operator::FineGrain { keep: PRINTED.to_vec() }),
        ("general, upward", open(Breaches::Upward)?),
        ("general, both", open(Breaches::Both)?),
    ];
    let mut rows = Vec::new();
    for (name, operator) in &operators {
        rows.extend(example_rows(&task, name, operator));
    }
    let mut panels = vec![
        example_panel("the lowest belief, as a share of what is allowed", |value| {
            [&published, &mended].map(|operator| {
                let (prior, _) = task.bounds[value]?;
                Some((*task.falls(operator).get(value)?)?.0.after / prior)
            })
        }),
        example_panel("the probability that a value is kept", |value| {
            [&published, &mended].map(|operator| Some(operator.entry(value, value)))
        }),
    ];
    let tried: Vec<ToleranceTrial> = THETAS.into_iter().map(random_tables).collect();
    panels.push(tried_panel("random tables with a downward breach", &tried, |tried| {
        tried.broken.map(|n| n as f64 / tried.tables as f64)
    }));
    panels.push(tried_panel("random tables: record utility", &tried, |t| t.utility));
    for (theta, tried) in THETAS.into_iter().zip(&tried) {
        rows.extend(tried_rows("random tables", theta, *tried));
    }
    let mut on_data = Vec::new();
    if let Some(folder) = data.if_any()? {
        for (name, file) in
            [("OCC", "occ100k_counts.csv"), ("EDU", "edu100k_counts.csv")]
        {
            let counts = census::counts(folder, file)?;
            let tried: Vec<ToleranceTrial> = THETAS
                .into_iter()
                .map(|theta| one_table(&ToleranceCase::new(counts.clone(), theta)))
                .collect();
            panels.push(tried_panel(&format!("{name}: record utility"), &tried, |t| {
                t.utility
            }));
            for (theta, tried) in THETAS.into_iter().zip(&tried) {
                rows.extend(tried_rows(name, theta, *tried));
            }
            on_data.push((name, tried));
        }
    }
    let series = Series::each(["published", "mended"], [1, 0], Mark::Square);
    let title =
        "How far a belief falls with the published operator, and with the mended";
    let figure = Figure::new(title, series, panels);
    Ok(Outcome::new(COLUMNS, rows, claims(&task, &operators, &tried, &on_data), figure).noting(vec![
            "A belief is said to fall too far if somebody gives a value at least rho2, and \
             less than rho1 after seeing a published value. The published operator bounds \
             P[j][i] / P[j][k] by gamma of x_i, which keeps beliefs from rising; beliefs \
             fall by P[j][k] / P[j][i], which it bounds by gamma of x_k.\n"
                .to_owned(),
        ]))
}

fn example_rows(
    task: &ToleranceCase,
    name: &str,
    operator: &Operator,
) -> Vec<Vec<Cell>> {
    let (falls, rises) = (task.falls(operator), task.rises(operator));
    let n: u64 = task.counts.iter().sum();
    let row = |value: usize| {
        let (fall, rise) = (falls[value], rises[value]);
        let breach = match (rise.is_some_and(|r| r.1), fall.is_some_and(|f| f.1)) {
            (true, true) => "both",
            (true, false) => "upward",
            (false, true) => "downward",
            (false, false) => "none",
        };
        vec![
            "example".into(),
            THETA.into(),
            name.into(),
            VALUES[value].into(),
            (task.counts[value] as f64 / n as f64).into(),
            task.gammas[value].into(),
            operator.entry(value, value).into(),
            rise.map(|(moved, _)| moved.after).into(),
            task.bounds[value].map(|bound| bound.1).into(),
            fall.map(|(moved, _)| moved.after).into(),
            task.bounds[value].map(|bound| bound.0).into(),
            breach.into(),
        ]
    };
    (0..VALUES.len()).map(row).collect()
}

/// One row for each operator: record utility, and how many tables of all breach.
fn tried_rows(table: &str, theta: f64, tried: ToleranceTrial) -> Vec<Vec<Cell>> {
    let row = |place: usize| {
        let mut row = vec![table.into(), theta.into()];
        row.push(["published", "mended"][place].into());
        row.extend(vec![Cell::Nothing; 3]);
        row.push(tried.utility[place].into());
        row.extend(vec![Cell::Nothing; 4]);
        row.push(format!("{} of {}", tried.broken[place], tried.tables).into());
        row
    };
    [0, 1].map(row).to_vec()
}

fn example_panel(title: &str, pair: impl Fn(usize) -> [Option<f64>; 2]) -> Panel {
    let pairs: Vec<[Option<f64>; 2]> = (0..VALUES.len()).map(pair).collect();
    Panel::new(
        title,
        ("value", VALUES.map(str::to_owned).to_vec()),
        ("", Scale::Linear, Form::Bars),
        [0, 1].map(|place| pairs.iter().map(|pair| pair[place]).collect()).into(),
    )
}

fn tried_panel(
    title: &str,
    tried: &[ToleranceTrial],
    pair: fn(&ToleranceTrial) -> [f64; 2],
) -> Panel {
    let line =
        |place: usize| tried.iter().map(|tried| Some(pair(tried)[place])).collect();
    Panel::new(
        title,
        ("theta", THETAS.map(short).to_vec()),
        ("share", Scale::Linear, Form::Bars),
        [0, 1].map(line).to_vec(),
    )
}

fn one_table(task: &ToleranceCase) -> ToleranceTrial {
    let [published, mended] =
        [Breaches::Upward, Breaches::Both].map(|breaches| task.fine_grain(breaches));
    let (n, worst) = task.breaches(&published);
    let (n_mended, _) = task.breaches(&mended);
    let utility = [task.utility(&published), task.utility(&mended)];
    ToleranceTrial {
        tables: 1,
        broken: [u64::from(n > 0), u64::from(n_mended > 0)],
        worst,
        utility,
        cost: utility[0] - utility[1],
    }
}

/// Tables of 3 to 20 values whose counts are between 1 and about 150, small ones as often
/// as large ones.
fn random_tables(theta: f64) -> ToleranceTrial {
    let mut words = Randomness::of_seed(4).stream("random tables", theta as u64);
    let table = |_| {
        let size = words.random_range(3..=20);
        let count = |_| (5.0 * words.random::<f64>()).exp().ceil() as u64;
        one_table(&ToleranceCase::new((0..size).map(count).collect(), theta))
    };
    let all: Vec<ToleranceTrial> = (0..TABLES).map(table).collect();
    let sum = |place: usize| all.iter().map(|tried| tried.broken[place]).sum();
    let of = |place: usize| {
        let shares: Vec<f64> = all.iter().map(|tried| tried.utility[place]).collect();
        mean(&shares).unwrap_or(f64::NAN)
    };
    ToleranceTrial {
        tables: TABLES,
        broken: [sum(0), sum(1)],
        worst: all.iter().map(|tried| tried.worst).fold(0.0, f64::max),
        utility: [of(0), of(1)],
        cost: all.iter().map(|tried| tried.cost).fold(0.0, f64::max),
    }
}

fn claims(
    task: &ToleranceCase,
    operators: &[(&str, Operator); 6],
    tried: &[ToleranceTrial],
    on_data: &[(&str, Vec<ToleranceTrial>)],
) -> Vec<Claim> {
    let [up, published, mended, printed, upward, both] =
        operators.each_ref().map(|(_, operator)| operator);
    let utility = |operator: &Operator| tenths(task.utility(operator));
    // The prior of docs/methods.md, "Fine-grain perturbation": 11 of 14 heart
    // disease, 3 of 14 H1N1.
    let belief = |operator: &Operator| {
        let prior = [11.0 / 14.0, 0.0, 0.0, 0.0, 3.0 / 14.0];
        after(operator, &prior, 0)[H1N1]
    };
    let ratio = |operator: &Operator| {
        operator.entry(0, 0) / operator.entry(0, H1N1) / task.gammas[H1N1]
    };
    let of_grid = [published, mended].map(|operator| grid(task, operator));
    let kept = |operator: &Operator| match operator {
        Operator::FineGrain { keep } => keep[H1N1],
        _ => f64::NAN,
    };
    let excess = excess(task, printed);
    let n_tables: u64 = tried.iter().map(|tried| tried.tables).sum();
    let broken =
        [0, 1].map(|place| tried.iter().map(|tried| tried.broken[place]).sum::<u64>());
    // A value that needs no protection may give any other away.
    let worst = match tried.iter().map(|tried| tried.worst).fold(0.0, f64::max) {
        worst if worst > 1e6 => "with no bound on the ratio".to_owned(),
        worst => format!("with a ratio of up to {} times gamma", short(worst)),
    };
    let cost = tried.iter().map(|tried| tried.cost).fold(0.0, f64::max);
    let mut claims = vec![
        Claim::new(
            "Fine-grain keeps 57.4 % of the records of the example, UP 47.0 %",
            format!("{} and {}", utility(published), utility(up)),
            (task.utility(published) - 0.574).abs() < 5e-4
                && (task.utility(up) - 0.47).abs() < 5e-4,
        ),
        Claim::new(
            "Theorem 7: no belief in x_i of rho2 or more falls below rho1",
            format!(
                "who gives heart disease 11/14 and H1N1 3/14, and sees heart disease, \
                 gives H1N1 {} afterwards, below 1/14 = {}; the ratio is {:.3} times \
                 gamma",
                short(belief(published)),
                short(1.0 / 14.0),
                ratio(published)
            ),
            belief(published) >= 1.0 / 14.0,
        ),
        Claim::new(
            "mended (a constraint for each direction): p of H1N1 .1219, 57.1 % kept",
            format!(
                "p {}, {}; the same adversary gives H1N1 {}; of {} priors in steps of 1/14 \
                 {} break the published operator and {} this one",
                short(kept(mended)),
                utility(mended),
                short(belief(mended)),
                of_grid[0].1,
                of_grid[0].0,
                of_grid[1].0
            ),
            (kept(mended) - 0.1219).abs() < 1e-4
                && of_grid[1].0 == 0
                && task.breaches(mended).0 == 0,
        ),
        Claim::new(
            "the p that the source prints (.53, .53, .53, .28, .17) satisfy its constraints",
            format!("one is exceeded by {}", short(excess)),
            excess <= 0.0,
        ),
        Claim::new(
            "a general operator is left open (ours was first computed as 65.4 % upward, 63.2 % both ways)",
            format!("{} and {}", utility(upward), utility(both)),
            (task.utility(upward) - 0.654).abs() < 1e-3
                && (task.utility(both) - 0.632).abs() < 1e-3,
        ),
        Claim::new(
            "downward breaches are ruled out by the published operator",
            format!(
                "{} of {} have one, {worst}; mended, {} do, \
                 and mending takes at most {} of the records",
                broken[0],
                counted(n_tables, "random table"),
                broken[1],
                tenths(cost)
            ),
            broken[0] == 0,
        ),
    ];
    for (name, tried) in on_data {
        let pairs = tried.iter().zip(THETAS).map(|(tried, theta)| {
            let [before, after] = tried.utility.map(tenths);
            let breach = if tried.broken[0] > 0 { " (breach)" } else { "" };
            format!("{before} to {after} at theta {}{breach}", short(theta))
        });
        claims.push(Claim::new(
            format!("what mending costs on {name} (in no source)"),
            pairs.collect::<Vec<_>>().join(", "),
            tried.iter().all(|tried| tried.broken[1] == 0),
        ));
    }
    claims
}

/// How many priors in steps of 1/14 lead to a downward breach, of how many.
fn grid(task: &ToleranceCase, operator: &Operator) -> (usize, usize) {
    let priors = sums(14, VALUES.len());
    let breaks = |prior: &&Vec<u32>| {
        let prior: Vec<f64> = prior.iter().map(|n| f64::from(*n) / 14.0).collect();
        (0..VALUES.len()).any(|seen| {
            let after = after(operator, &prior, seen);
            task.bounds.iter().enumerate().any(|(value, bound)| {
                bound.is_some_and(|(rho1, rho2)| {
                    prior[value] >= rho2 - 1e-12 && after[value] < rho1 * (1.0 - 1e-9)
                })
            })
        })
    };
    (priors.iter().filter(breaks).count(), priors.len())
}

/// By how much the worst of the source's own constraints is exceeded.
fn excess(task: &ToleranceCase, operator: &Operator) -> f64 {
    let Operator::FineGrain { keep } = operator else { return f64::NAN };
    let others = (keep.len() - 1) as f64;
    let pairs = (0..keep.len()).flat_map(|i| (0..keep.len()).map(move |j| (i, j)));
    let pairs = pairs.filter(|(i, j)| i != j);
    let over = pairs.map(|(i, j)| {
        others * keep[i] + task.gammas[i] * keep[j] - (task.gammas[i] - 1.0)
    });
    over.fold(f64::NEG_INFINITY, f64::max)
}
