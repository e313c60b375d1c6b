//! How long randomizing takes, by rows and by values.

use scumble::error::Result;
use scumble::method::perturb::{Limits, Sampler, fine_grain, uniform};
use scumble::promise::Breaches;
use scumble::random::Randomness;
use scumble::text::short;

use crate::census;
use crate::chart::{Figure, Fit, Form, Mark, Panel, Scale, Series};
use crate::clock::timed;
use crate::outcome::{Claim, Outcome};
use crate::perturbed::{
    DomainRows, deal, fine_grain_bounds, gammas, parts, protected, whole, zipf,
};
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "perturbation-runtime",
    source: "chaytor2010randomization, Figures 20, 29 and 30",
    about: "seconds to plan and to randomize, by rows and by values",
    needs: RequiredData::Nothing,
    run,
};

const COLUMNS: &str = "data,rows,m,method,plan_seconds,draw_seconds";

const METHODS: [&str; 3] = ["UP", "PP", "fine-grain"];

/// Domain sizes of Figure 30, and beyond: the last has as many values as there are
/// diagnoses in ICD-9.
const SIZES: [usize; 9] = [20, 30, 40, 50, 150, 500, 1_500, 5_000, 15_000];

/// The best of so many runs is taken.
const RUNS: usize = 3;

/// A column, and the beliefs it is published under.
struct Setting {
    name: &'static str,
    counts: Vec<u64>,
    prior: f64,
    posterior: f64,
    theta: f64,
}

/// Seconds to find the operator, and to draw every row.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Seconds {
    plan: f64,
    draw: f64,
}

fn run(data: &Data) -> Result<Outcome> {
    let folder = data.if_any()?;
    let counts = |file: &str, values: usize| match folder {
        Some(folder) => census::counts(folder, file),
        None => Ok(zipf(100_000, values, 1.0, 0.0)),
    };
    let settings = [
        Setting {
            name: "OCC",
            counts: counts("occ100k_counts.csv", 50)?,
            prior: 1.0 / 13.0,
            posterior: 1.0 / 6.0,
            theta: 20.0,
        },
        Setting {
            name: "EDU",
            counts: counts("edu100k_counts.csv", 14)?,
            prior: 1.0 / 30.0,
            posterior: 1.0 / 10.0,
            theta: 30.0,
        },
    ];
    let (mut rows, mut panels, mut claims) = (Vec::new(), Vec::new(), Vec::new());
    for setting in &settings {
        let mut lines: Vec<Vec<Seconds>> = vec![Vec::new(); METHODS.len()];
        for times in 1..=5 {
            let counts: Vec<u64> = setting.counts.iter().map(|n| n * times).collect();
            for (method, line) in lines.iter_mut().enumerate() {
                let seconds = best(|| seconds(setting, &counts, method))?;
                rows.push(vec![
                    setting.name.into(),
                    counts.iter().sum::<u64>().into(),
                    (counts.len() as u64).into(),
                    METHODS[method].into(),
                    seconds.plan.into(),
                    seconds.draw.into(),
                ]);
                line.push(seconds);
            }
        }
        panels.push(by_rows(setting.name, "all", &lines, |s| s.plan + s.draw));
        panels.push(by_rows(setting.name, "planning alone", &lines, |s| s.plan));
        claims.extend(growth(setting.name, &lines));
    }
    let mut of_size: Vec<Vec<f64>> = vec![Vec::new(); 2];
    for size in SIZES {
        let counts = zipf(300_000, size, 1.0, 0.0);
        for (method, line) in [0, 2].into_iter().zip(&mut of_size) {
            let seconds = best(|| Ok(plan_only(&counts, method)))?;
            rows.push(vec![
                "ZIP".into(),
                counts.iter().sum::<u64>().into(),
                (size as u64).into(),
                METHODS[method].into(),
                seconds.plan.into(),
                None::<f64>.into(),
            ]);
            line.push(seconds.plan);
        }
    }
    panels.push(by_size(&of_size));
    claims.extend(by_values(&of_size[1]));
    let series = Series::each(METHODS, [1, 0, 2], Mark::Circle);
    let title = "Seconds to randomize a column".to_owned();
    let figure = Figure::new(title, series, panels);
    let from = if folder.is_some() {
        "the frequencies of the source's tables"
    } else {
        "Zipf frequencies, since no data folder was named"
    };
    let notes = vec![format!(
        "Rows are codes in memory; OCC and EDU have {from}. The best of {RUNS} runs, on one \
         core. The source's machine is of 2006; compare growth, not seconds.\n"
    )];
    Ok(Outcome::new(COLUMNS, rows, claims, figure).noting(notes))
}

/// The fastest of several runs, part by part.
fn best(run: impl Fn() -> Result<Seconds>) -> Result<Seconds> {
    let mut best = Seconds { plan: f64::INFINITY, draw: f64::INFINITY };
    for _ in 0..RUNS {
        let seconds = run()?;
        best.plan = best.plan.min(seconds.plan);
        best.draw = best.draw.min(seconds.draw);
    }
    Ok(best)
}

fn seconds(setting: &Setting, counts: &[u64], method: usize) -> Result<Seconds> {
    let codes = (0..).zip(counts);
    let column: Vec<u16> =
        codes.flat_map(|(code, n)| std::iter::repeat_n(code, *n as usize)).collect();
    let (planned, plan) = timed(|| plan(setting, counts, method));
    let planned = planned?;
    let (published, draw) = timed(|| publish(&column, &planned));
    // Nothing that is measured may be left out because nobody looks at it.
    let plan = if published.len() == column.len() { plan } else { f64::NAN };
    Ok(Seconds { plan, draw })
}

fn plan(setting: &Setting, counts: &[u64], method: usize) -> Result<Vec<DomainRows>> {
    let posteriors = protected(counts, setting.prior, setting.posterior);
    Ok(match method {
        0 => vec![whole(counts, &posteriors)],
        1 => parts(counts, &posteriors)?.1,
        _ => {
            let gammas = gammas(&fine_grain_bounds(counts, setting.theta));
            let weights: Vec<f64> = counts.iter().map(|n| *n as f64).collect();
            let limits = Limits { gammas: &gammas, breaches: Breaches::Upward };
            vec![DomainRows::whole(counts, fine_grain(limits, &weights), f64::NAN)]
        }
    })
}

fn publish(column: &[u16], parts: &[DomainRows]) -> Vec<u32> {
    let mut words = Randomness::of_seed(20).stream("runtime", 0);
    let samplers: Vec<Sampler> =
        parts.iter().map(|part| Sampler::new(&part.operator)).collect();
    if let [one] = &samplers[..] {
        return column
            .iter()
            .map(|code| one.draw(u32::from(*code), &mut words))
            .collect();
    }
    let dealt = deal(column, parts, &mut words);
    let mut draw = |(code, part): (&u16, &u16)| {
        let codes = &parts[*part as usize].codes;
        let place = codes.partition_point(|known| *known < u32::from(*code));
        codes[samplers[*part as usize].draw(place as u32, &mut words) as usize]
    };
    column.iter().zip(&dealt).map(&mut draw).collect()
}

/// Finds the operator of Figure 30 and nothing else.
fn plan_only(counts: &[u64], method: usize) -> Seconds {
    let gammas = gammas(&fine_grain_bounds(counts, 30.0));
    let weights: Vec<f64> = counts.iter().map(|n| *n as f64).collect();
    let limits = Limits { gammas: &gammas, breaches: Breaches::Upward };
    let (operator, plan) = timed(|| match method {
        0 => uniform(limits),
        _ => fine_grain(limits, &weights),
    });
    Seconds { plan: if operator.size() > 0 { plan } else { f64::NAN }, draw: 0.0 }
}

fn by_rows(
    name: &str,
    what: &str,
    lines: &[Vec<Seconds>],
    of: fn(&Seconds) -> f64,
) -> Panel {
    Panel::new(
        format!("{name}, {what}"),
        ("|T|", (1..=5).map(|times| format!("{times}00k")).collect()),
        ("seconds", Scale::Linear, Form::Lines),
        lines.iter().map(|line| line.iter().map(|s| Some(of(s))).collect()).collect(),
    )
}

fn by_size(of_size: &[Vec<f64>]) -> Panel {
    let line = |place: usize| of_size[place].iter().map(|s| Some(*s)).collect();
    Panel::new(
        "ZIP-300k, theta = 30, planning alone",
        ("m", SIZES.map(|size| size.to_string()).to_vec()),
        ("seconds", Scale::Logarithmic, Form::Lines),
        vec![line(0), vec![None; SIZES.len()], line(1)],
    )
}

/// How seconds grow with rows.
fn growth(name: &str, lines: &[Vec<Seconds>]) -> Vec<Claim> {
    let drawn = |method: usize| -> Vec<(f64, f64)> {
        let line = lines[method].iter();
        (1..).zip(line).map(|(n, s): (u32, _)| (f64::from(n), s.draw)).collect()
    };
    let line = Fit::of(&drawn(1));
    let planned = lines[1].iter().map(|s| s.plan).fold(0.0, f64::max);
    let [up, pp] =
        [0, 1].map(|method| drawn(method).last().map_or(f64::NAN, |last| last.1));
    let plans: Vec<f64> = lines[2].iter().map(|s| s.plan).collect();
    let most = plans.iter().copied().fold(0.0, f64::max);
    vec![
        Claim::new(
            format!("Figure 20: PP is linear in |T|, and no more than 30 s ({name})"),
            format!(
                "to draw: R² of a line is {}, {} s for 500k, UP {} s; to plan: at most {} s",
                line.map_or("-".to_owned(), |fit| short(fit.r2)),
                short(pp),
                short(up),
                short(planned)
            ),
            line.is_some_and(|fit| fit.r2 > 0.9) && planned + pp < 30.0,
        ),
        Claim::new(
            format!("Figure 29: finding Fine-grain takes less than a second ({name})"),
            format!("at most {:.6} s whatever |T|", most),
            most < 1.0,
        ),
    ]
}

/// How seconds grow with values.
fn by_values(seconds: &[f64]) -> Vec<Claim> {
    let points: Vec<(f64, f64)> =
        SIZES.iter().zip(seconds).map(|(size, s)| (*size as f64, *s)).collect();
    let fit = Fit::of(&points);
    let last = seconds.last().copied().unwrap_or(f64::NAN);
    vec![
        Claim::new(
            "Figure 30: Fine-grain appears to be linear in m, from 20 to 50",
            format!(
                "R² of a line is {} from 20 to 15,000",
                fit.map_or("-".to_owned(), |fit| short(fit.r2))
            ),
            fit.is_some_and(|fit| fit.r2 > 0.9),
        ),
        Claim::new(
            "Figure 30: no more than one second",
            format!("{last:.4} s for m = 15,000"),
            last <= 1.0,
        ),
    ]
}
