//! Cells and noise in one release: numbers are blurred within classes of cells.
//!
//! # Guarantee
//! Company is counted only among people whose coarse cells are the same, since somebody who
//! holds the table and knows the program can compute everybody's cells.
//!
//! # Limits
//! Which plan costs least is found among a few: groups of at least some multiples of the
//! company that noise must leave. Small groups lose little and need wide noise, large ones the
//! other way round.
//!
//! # Cost
//! A search for cells and one for noise, for each plan that is tried.
//!
//! # Source
//! docs/methods.md, "Mixtures".

use hashbrown::HashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Microdata;
use crate::loss::Loss;
use crate::method::{BlurPlan, BlurredFrame, Step};
use crate::promise::{About, Wish};
use crate::recipe::blurring::NumberRows;
use crate::recipe::made::{ChosenMethod, Context, Prepared, within_mixture};
use crate::recipe::methods::Planned;
use crate::table::{Code, GroupId, TupleId};

/// How many times the company of noise the groups of a plan have at least.
const MULTIPLES: [u64; 3] = [2, 4, 8];

/// What is tried if none of these leaves company enough.
const MORE: [u64; 4] = [16, 64, 256, 1024];

/// Plans cells and noise together, with the least loss of what is tried.
pub(super) fn plan(
    cells: &Prepared<'_>,
    numbers: &mut Prepared<'_>,
    context: &Context<'_>,
) -> Result<(ChosenMethod, ChosenMethod)> {
    let company = company(numbers);
    let mut best: Option<(f64, ChosenMethod, ChosenMethod)> = None;
    let mut failure: Option<Error> = None;
    for multiple in MULTIPLES.into_iter().chain(MORE) {
        if best.is_some() && MORE.contains(&multiple) {
            break;
        }
        let crowd = company.saturating_mul(multiple);
        let tried = attempt(cells, numbers, crowd, context);
        match tried {
            Ok((coarse, noisy)) => {
                let loss = total(cells, &coarse, numbers, &noisy);
                if best.as_ref().is_none_or(|(held, ..)| loss < *held) {
                    best = Some((loss, coarse, noisy));
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::Unsatisfiable { .. }) => {
                // Groups that are too large cannot be mended by larger ones.
                let too_large = crowd > cells.n_rows();
                failure.get_or_insert(error);
                if too_large {
                    break;
                }
            }
            Err(error) => return Err(error),
        }
    }
    match best {
        Some((_, coarse, noisy)) => Ok((coarse, noisy)),
        None => Err(failure.unwrap_or_else(|| Error::recipe("nothing was tried"))),
    }
}

/// Cells with groups of at least so many rows, and noise within them.
fn attempt(
    cells: &Prepared<'_>,
    numbers: &mut Prepared<'_>,
    crowd: u64,
    context: &Context<'_>,
) -> Result<(ChosenMethod, ChosenMethod)> {
    let coarse = cells.best(Some(crowd), context);
    let coarse = coarse.map_err(|error| within_mixture(error, cells.part))?;
    let classes = CellClasses::of(cells.counts()?, &coarse.planned)?;
    classes.apply(numbers.rows()?, least(cells))?;
    let noisy = numbers.best(None, context);
    let noisy = noisy.map_err(|error| within_mixture(error, numbers.part))?;
    Ok((coarse, noisy))
}

/// How many people a class must have, if it has any.
fn least(cells: &Prepared<'_>) -> usize {
    let promises = cells.part.spec.promises.iter().map(|typed| typed.kind.promise());
    let sizes = promises.filter(|promise| promise.name() == "k-anonymity");
    let sizes = sizes.filter_map(|promise| promise.asked().get("k")?.as_u64());
    sizes.max().unwrap_or(1) as usize
}

/// Among how many people noise must hide somebody, at most.
fn company(numbers: &Prepared<'_>) -> u64 {
    let promises = numbers.part.spec.promises.iter();
    let wishes = promises.filter_map(|typed| match typed.kind.promise().about() {
        About::Company(expected) => Some(match &expected.wish {
            Wish::Same(k) => *k,
            Wish::Column(_) => numbers.wishes().iter().copied().fold(1.0, f64::max),
        }),
        About::Groups(_) | About::Draws(_) | About::Posteriors(_) => None,
    });
    wishes.fold(1.0, f64::max).ceil() as u64
}

/// What both cost together: a coarse cell its share of the domain, a noisy one the share of
/// the domain that holds nine tenths of its density; all columns alike.
fn total(
    cells: &Prepared<'_>,
    coarse: &ChosenMethod,
    numbers: &Prepared<'_>,
    noisy: &ChosenMethod,
) -> f64 {
    let planned = &coarse.planned;
    let (Ok(data), Some(columns), Some(grouping)) =
        (cells.counts(), &planned.quasi, &planned.grouping)
    else {
        return f64::INFINITY;
    };
    let Ok(loss) = Loss::by_name("loss") else { return f64::INFINITY };
    let coarse = loss.of(columns, &grouping.shape(&data.census));
    let domains = numbers.domains();
    let widths = noisy.planned.plan.steps.iter().filter_map(|step| match step {
        Step::Blur(plan) => Some(width(plan, &domains)),
        Step::Group(_) | Step::Draw(_) | Step::Apart(_) | Step::Redraw(_) => None,
    });
    let (n_coarse, n_noisy) = (columns.len() as f64, domains.len() as f64);
    let noisy: f64 = widths.sum();
    (n_coarse * coarse + n_noisy * noisy) / (n_coarse + n_noisy)
}

/// About nine tenths of the density of noise lie within so many standard deviations.
const WIDE: f64 = 3.3;

/// The share of their domains that noisy cells take, on average.
fn width(plan: &BlurPlan, domains: &[[f64; 2]]) -> f64 {
    let deviation = plan.shape.variance().sqrt();
    let share = |column: usize, spread: f64| {
        let [low, high] = domains[column];
        match high > low {
            true => (WIDE * deviation * spread / (high - low)).min(1.0),
            false => 0.0,
        }
    };
    let blurred = &plan.blurred;
    let of_level = |frame: &BlurredFrame, level: u32| -> f64 {
        let spreads = &frame.levels[level as usize];
        let on_column = |place: usize| match &frame.axes {
            None => spreads[place],
            Some(axes) => {
                let parts = axes.iter().zip(spreads);
                parts.map(|(axis, s)| (axis[place] * s).powi(2)).sum::<f64>().sqrt()
            }
        };
        let columns = frame.columns.iter().enumerate();
        columns.map(|(place, column)| share(*column, on_column(place))).sum()
    };
    let (sum, rows) = match blurred.spreads.is_empty() {
        false => {
            let spreads = blurred.spreads.iter().enumerate();
            let sum = spreads.map(|(at, spread)| share(at % domains.len(), *spread));
            (sum.sum::<f64>(), blurred.spreads.len() / domains.len())
        }
        true => {
            let sum = blurred.places.iter().map(|place| match place {
                Some((frame, level)) => {
                    of_level(&blurred.frames[*frame as usize], *level)
                }
                // Who is left out is lost in every column.
                None => domains.len() as f64,
            });
            (sum.sum::<f64>(), blurred.places.len())
        }
    };
    sum / (rows.max(1) * domains.len().max(1)) as f64
}

/// The cells that rows are published with, by their values.
struct CellClasses<'a> {
    data: &'a Microdata,
    tuples: HashMap<Vec<Code>, TupleId>,
    group_of: Vec<Option<GroupId>>,
    texts: Vec<Option<Vec<String>>>,
}

impl<'a> CellClasses<'a> {
    fn of(data: &'a Microdata, planned: &Planned) -> Result<Self> {
        let groups = planned.plan.groups();
        let (Some(groups), Some(grouping), Some(columns)) =
            (groups, &planned.grouping, &planned.quasi)
        else {
            return Err(Error::recipe("cells were not planned"));
        };
        let bound = groups.bind_at_home(columns, &data.codes, &grouping.covers)?;
        let census = &data.census;
        let key =
            |tuple: TupleId| census.quasi.iter().map(|codes| codes[tuple]).collect();
        Ok(Self {
            data,
            tuples: census.tuples().map(|tuple| (key(tuple), tuple)).collect(),
            group_of: grouping.group_of.to_vec(),
            texts: bound.group_texts().to_vec(),
        })
    }

    /// Gives every row the cells it is published with, in classes of at least so many
    /// people.
    fn apply(&self, rows: &mut NumberRows, least: usize) -> Result<()> {
        rows.in_classes(least, |values| {
            let codes = values.iter().zip(&self.data.quasi).zip(&self.data.codes);
            let codes = codes.map(|((text, column), codes)| {
                codes.get(text).copied().or(column.domain.missing())
            });
            let codes: Option<Vec<Code>> = codes.collect();
            let tuple = codes.and_then(|codes| self.tuples.get(&codes));
            let changed =
                || Error::input("the table has changed since it was first read");
            let Some(group) = self.group_of[tuple.ok_or_else(changed)?.index()] else {
                return Ok(None);
            };
            let texts = self.texts[group.index()].as_ref().ok_or_else(changed)?;
            Ok(Some(texts.iter().map(|text| text.as_str().into()).collect()))
        })
    }
}
