//! How far answers from a release are off, found by whoever knows the truth.
//!
//! # Guarantee
//! Of questions of a kind that are drawn as these are, at least 95 % of the intervals that
//! readers get cover the truth, on average over questions: a factor is that of rank
//! `ceil(0.95 (n + 1))` among the factors that `n` questions would have needed, which is
//! split conformal prediction, rounded up; the largest of those of all questions of a kind,
//! and of those about few rows, some and many.
//! The questions are made from the release alone, from a table drawn from it, so that they
//! tell nothing.
//!
//! # Limits
//! What is published is a function of the table: a handful of factors on a ladder of 18. They
//! are found from columns that readers see as they are, in cells, with noise or by group,
//! and never from randomized ones, nor under promises whose adversary does not know the
//! quasi columns of the table (presence, k-map), nor from values apart that somebody knows
//! distributions of which were not made from the table.
//! Tables of fewer than 500 rows have no factors: they would be about too few people.
//! Only conjunctions of one to three conditions are asked.
//!
//! # Cost
//! One more reading of table and release, a drawn table, and some hundred questions, fewer
//! of large tables.
//!
//! # Source
//! docs/methods.md, "Errors that were measured"; `vovk2005conformal`.

use std::collections::BTreeMap;

use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::estimate::{Check, Condition, Evidence, Measure, Query, Test};
use crate::random::Randomness;
use crate::recipe::Spec;
use crate::recipe::compare::{Aim, Maker, Original};
use crate::release::{
    AskedMeasure, Calibration, CalibrationFactor, MOST_OPEN, Manifest, Release,
    Treatment,
};
use crate::table::{Kind, Source};
use crate::watch::Watch;

/// Questions about one open column, for each of them, and at least for all together.
const SINGLE: usize = 40;
const SINGLE_IN_ALL: usize = 240;
/// Questions about several, for each number of them; also about left-out rows alone.
const SEVERAL: usize = 120;
/// Sums, and means, of each column of numbers.
const SUMS: usize = 30;
/// Of how many columns.
const MOST_SUMMED: usize = 6;
/// Fewer than this say nothing about one in twenty.
const LEAST: usize = 20;
/// In smaller tables a factor would be about too few people.
const LEAST_ROWS: u64 = 500;
/// Rows times questions that are worth it.
const EFFORT: usize = 40_000_000;
/// However large the table is, so many questions are asked.
const LEAST_QUESTIONS: usize = 120;

/// Which questions share a factor: what is asked for, of how many open columns, and of which
/// if it is one.
type QuestionKind = (AskedMeasure, usize, Option<String>);

/// The factor that an answer would have needed, and which share of the rows it is about.
struct NeededFactor {
    factor: f64,
    share: f64,
}

/// Answers about fewer rows than this share may be off by more than others.
const SHARES: [f64; 3] = [0.01, 0.05, f64::INFINITY];

/// Asks a release, compares with the table, and finds the factors; nothing if they may not
/// be published, or no question can be asked.
pub(super) fn calibrate(
    release: &Release,
    spec: &Spec,
    source: &Source,
    watch: &dyn Watch,
) -> Result<Option<Calibration>> {
    let names = askable(&release.manifest);
    if !spec.release.calibrate || names.is_empty() || release.manifest.rows < LEAST_ROWS
    {
        return Ok(None);
    }
    let evidence = Evidence::read(release, watch)?;
    if !evidence.leaves_open(&names)? {
        return Ok(None);
    }
    // Once, before many threads ask.
    evidence.learn(watch)?;
    let drawn = match evidence.draw_watched(0, watch) {
        Ok(drawn) => drawn,
        Err(_) => {
            watch.check()?;
            return Ok(None);
        }
    };
    let truth = Original::of(source, spec, &[], &[], watch)?;
    let public = truth.drawn(&drawn, &names);
    drop(drawn);
    if public.columns.is_empty() || public.n_rows == 0 {
        return Ok(None);
    }
    let mut queries = Asking::new(&evidence, &public)?.queries();
    let most = (EFFORT / public.n_rows.max(1) as usize).max(LEAST_QUESTIONS);
    if queries.len() > most {
        // Every so many-th, so that all kinds stay.
        let step = queries.len().div_ceil(most);
        queries = queries.into_iter().step_by(step).collect();
    }
    let needed = queries.par_iter().map(|query| {
        watch.check()?;
        match needed(&evidence, &truth, query, watch) {
            Ok(found) => Ok(found),
            // A mean of no rows, or what cannot be answered.
            Err(_) => watch.check().map(|()| None),
        }
    });
    let needed: Vec<Option<(QuestionKind, NeededFactor)>> =
        needed.collect::<Result<_>>()?;
    let mut kinds: BTreeMap<QuestionKind, Vec<NeededFactor>> = BTreeMap::new();
    for (kind, factor) in needed.into_iter().flatten() {
        kinds.entry(kind).or_default().push(factor);
    }
    // All of them: how many have a true answer would tell of the table.
    let questions = queries.len() as u64;
    let factors = kinds.into_iter().filter(|(_, factors)| factors.len() >= LEAST);
    let factors = factors.map(|((measure, open, column), factors)| {
        let factor = enough(&factors).and_then(Calibration::rung);
        CalibrationFactor { measure, open, column, factor }
    });
    let factors: Vec<CalibrationFactor> = factors.collect();
    let columns = public.columns.iter().map(|column| column.name.clone()).collect();
    let found =
        Calibration { questions, columns, learned: evidence.teaches(), factors };
    Ok((!found.factors.is_empty()).then_some(found))
}

/// The columns that questions may be about.
fn askable(manifest: &Manifest) -> Vec<&str> {
    let promised =
        |name: &'static str| manifest.promises.iter().filter(move |p| p.name == name);
    // Whoever these promises are made against does not know the table's quasi columns.
    if promised("delta-presence").chain(promised("k-map")).next().is_some() {
        return Vec::new();
    }
    let known = |name: &str| {
        promised("r-robustness")
            .filter(|promise| promise.asked["knowledge"] != "table")
            .any(|promise| promise.columns.iter().any(|column| column == name))
    };
    let columns = manifest.columns.iter().filter(|column| {
        !matches!(column.treatment, Treatment::Drawn { .. }) && !known(&column.name)
    });
    columns.map(|column| column.name.as_str()).collect()
}

/// The factor that a question would need, and its kind; nothing if nothing is open.
fn needed(
    evidence: &Evidence,
    truth: &Original,
    query: &Query,
    watch: &dyn Watch,
) -> Result<Option<(QuestionKind, NeededFactor)>> {
    let measure = match query.measure {
        Measure::Count => AskedMeasure::Count,
        Measure::Sum(_) => AskedMeasure::Sum,
        Measure::Mean(_) => AskedMeasure::Mean,
        Measure::Share(_) => return Ok(None),
    };
    let asked = truth.answers(query)?;
    let found = evidence.probe(watch.over(query))?;
    let (Some(asked), Some(found)) = (asked.first(), found.first()) else {
        return Ok(None);
    };
    if found.is_exact() {
        return Ok(None);
    }
    let open = evidence.open_columns(query)?;
    let column = match open.as_slice() {
        [column] => Some((*column).to_owned()),
        _ => None,
    };
    let factor = found.needed(asked.truth).unwrap_or(f64::INFINITY);
    let share =
        found.estimate.rows.min(found.estimate.count) / truth.n_rows.max(1) as f64;
    let needed = NeededFactor { factor, share };
    Ok(Some(((measure, open.len().min(MOST_OPEN), column), needed)))
}

/// The factor that is enough for 95 % of further questions, of all and of those about few
/// rows or many, if there are enough of them; nothing if there are none.
fn enough(needed: &[NeededFactor]) -> Option<f64> {
    let mut low = f64::NEG_INFINITY;
    let bands = SHARES.iter().map(|high| {
        let own = |needed: &&NeededFactor| (low..*high).contains(&needed.share);
        let factors: Vec<f64> = needed.iter().filter(own).map(|n| n.factor).collect();
        low = *high;
        factors
    });
    let all = needed.iter().map(|needed| needed.factor).collect();
    let bands = bands.filter(|factors| factors.len() >= LEAST);
    let each: Option<Vec<f64>> = bands.chain([all]).map(upper).collect();
    each?.into_iter().reduce(f64::max)
}

/// The factor that is enough for 95 % of further questions; nothing if these are too few.
fn upper(mut factors: Vec<f64>) -> Option<f64> {
    factors.sort_by(f64::total_cmp);
    let rank = (0.95 * (factors.len() + 1) as f64).ceil() as usize;
    factors.get(rank.min(factors.len()).checked_sub(1)?).copied()
}

/// What it takes to ask.
struct Asking<'a> {
    public: &'a Original,
    maker: Maker<'a>,
    /// The places of the columns that the release leaves open, and of all.
    open: Vec<usize>,
    all: Vec<usize>,
    random: ChaCha20Rng,
}

impl<'a> Asking<'a> {
    fn new(evidence: &Evidence, public: &'a Original) -> Result<Self> {
        let all: Vec<usize> = (0..public.columns.len()).collect();
        let mut open = Vec::new();
        for place in &all {
            if evidence.leaves_open(&[&public.columns[*place].name])? {
                open.push(*place);
            }
        }
        // A public seed: what is asked is no secret.
        let random = Randomness::of_seed(0).stream("calibration", 0);
        Ok(Self { public, maker: Maker::of(public), open, all, random })
    }

    /// The questions, kinds in turn.
    fn queries(mut self) -> Vec<Query> {
        let open = self.open.clone();
        let mut queries = Vec::new();
        for _ in 0..SINGLE.max(SINGLE_IN_ALL / open.len().max(1)) {
            for place in &open {
                queries.extend(self.count(&[*place], 0));
                // The same beside columns that are known.
                queries.extend(self.count(&[*place], 1));
            }
        }
        for several in 2..=MOST_OPEN.min(open.len()) {
            for _ in 0..SEVERAL {
                let places = self.some(&open, several);
                queries.extend(self.count(&places, 0));
            }
        }
        for _ in 0..SEVERAL {
            queries.extend(self.count(&[], 2));
        }
        let numbers =
            self.all.iter().copied().filter(|place| {
                self.public.columns[*place].reading.kind == Kind::Number
            });
        let numbers: Vec<usize> = numbers.take(MOST_SUMMED).collect();
        for place in numbers {
            let name = &self.public.columns[place].name;
            for _ in 0..SUMS {
                for measure in [Measure::Sum(name.clone()), Measure::Mean(name.clone())]
                {
                    let (none, other) = (Vec::new(), self.some(&self.all.clone(), 1));
                    for conditions in [none, other] {
                        queries.push(self.query(
                            measure.clone(),
                            &conditions,
                            Aim::Many,
                        ));
                    }
                }
            }
        }
        queries
    }

    /// A count of rows by conditions on these columns, and on so many known ones; nothing if
    /// there are none.
    fn count(&mut self, open: &[usize], n_known: usize) -> Option<Query> {
        let known = self.all.iter().copied().filter(|place| !self.open.contains(place));
        let known: Vec<usize> = known.collect();
        if n_known > 0 && known.is_empty() {
            return None;
        }
        let mut places = open.to_vec();
        places.extend(self.some(&known, n_known));
        let aim = match self.random.random_range(0..3u8) {
            0 => Aim::Many,
            _ => Aim::Any,
        };
        Some(self.query(Measure::Count, &places, aim))
    }

    /// So many of these places.
    fn some(&mut self, places: &[usize], wanted: usize) -> Vec<usize> {
        let mut places = places.to_vec();
        let wanted = wanted.min(places.len());
        for place in 0..wanted {
            let other = self.random.random_range(place..places.len());
            places.swap(place, other);
        }
        places.truncate(wanted);
        places
    }

    /// A question about rows that are like a random one in these columns.
    fn query(&mut self, measure: Measure, places: &[usize], aim: Aim) -> Query {
        let tuple = self.maker.tuple(&mut self.random);
        let mut parts: Vec<Condition> = Vec::new();
        for place in places {
            let chosen = self.maker.condition(*place, tuple, aim, &mut self.random);
            parts.extend(chosen.map(|chosen| chosen.condition));
        }
        if let Some(column) = measure.column() {
            let missing = Test { column: column.to_owned(), check: Check::Missing };
            parts.push(Condition::Not(Box::new(Condition::Test(missing))));
        }
        Query { measure, group_by: Vec::new(), condition: Condition::And(parts) }
    }
}

#[cfg(test)]
mod tests {
    use super::upper;

    #[test]
    fn the_quantile_counts_one_more_question() {
        let factors = |n: u32| (1..=n).map(f64::from).collect::<Vec<f64>>();
        assert_eq!(upper(factors(100)), Some(96.0));
        assert_eq!(upper(factors(19)), Some(19.0));
        assert_eq!(upper(factors(20)), Some(20.0));
        assert_eq!(upper(vec![2.0, f64::INFINITY, 1.0]), Some(f64::INFINITY));
        assert_eq!(upper(Vec::new()), None);
    }
}
