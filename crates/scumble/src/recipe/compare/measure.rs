//! What a release is still good for, measured against the table it was made from.
//!
//! # Guarantee
//! Every release of a table is asked the same questions and tested with the same rows, so
//! releases differ by what they lost and by the chance in them alone. The same release,
//! options and seed give the same numbers, whatever the threads. A release that lost
//! nothing has no error.
//!
//! # Limits
//! For the steward: all these numbers are about the true table, and not for publication.
//! A relative error is that of the estimated count, divided by the true one or by a
//! thousandth of all rows, whichever is larger: without that bound, questions about
//! single rows would be all that counts.
//! Rules are mined from the first 12 columns, numbers in at most 10 bins of the original,
//! from at most 50,000 rows; where the original has more than 5,000 of them, the least
//! support is doubled until it has not.
//! Reconstructions are random: errors of rules and accuracies are means over several, and
//! vary from seed to seed all the same.
//!
//! # Cost
//! The questions, then for every reconstruction drawing, mining and learning.
//!
//! # Source
//! docs/methods.md, "Mining evaluation" and "Estimation"; `nergiz2007pdf`, section VI-A,
//! for the error of rules.

use std::path::Path;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::estimate::{
    Accuracy, Cuts, Estimate, Evidence, Examination, Mining, Rules, Way,
};
use crate::recipe::Spec;
use crate::recipe::compare::original::Original;
use crate::recipe::compare::workload::{Asked, BANDS, Workload};
use crate::release::Release;
use crate::table::{Inputs, Role};
use crate::watch::{Stage, Watch};
use crate::words::no_column;

/// Classes of more values than this are not chosen by themselves.
const MOST_CLASSES: usize = 50;
/// Rules are mined from the first columns only, because there are exponentially many.
const MINED_COLUMNS: usize = 12;
const BINS: usize = 10;
const MOST_RULES: usize = 5_000;
/// The least rows a relative error is relative to, as a share of all.
const SANITY: f64 = 0.001;

/// What is measured, and how often.
#[derive(Debug, Clone)]
pub struct YardstickOptions {
    /// The column that learners tell; if not given, the first sensitive one with at most 50
    /// values.
    pub class: Option<String>,
    /// How many random questions are asked.
    pub queries: usize,
    /// How many reconstructions are drawn.
    pub draws: usize,
    /// Fixes all chance.
    pub seed: u64,
}

impl Default for YardstickOptions {
    fn default() -> Self {
        Self { class: None, queries: 200, draws: 5, seed: 1 }
    }
}

/// What is asked of every release of a table.
#[derive(Debug)]
pub struct Yardstick {
    original: Original,
    workload: Workload,
    options: YardstickOptions,
    class: Option<usize>,
    examination: Option<Examination>,
    mining: Mining,
    mined: Vec<usize>,
    cuts: Vec<Option<Cuts>>,
    rules: Rules,
}

/// What the table itself gives: the ends of scales.
#[derive(Debug, Clone, PartialEq)]
pub struct Ends {
    /// Rows of the table.
    pub rows: u64,
    /// The column that learners tell, if there is one.
    pub class: Option<String>,
    /// How often the commonest class is right.
    pub guess: Option<f64>,
    /// How often learners are right that saw another half of the table.
    pub best: Option<Accuracy>,
    /// How many rules the table teaches.
    pub rules: usize,
    /// How many of them tell the class.
    pub class_rules: usize,
    /// How many questions there are in each of the [`BANDS`].
    pub questions: [usize; BANDS.len()],
    /// Columns that are not measured, because they have too many words.
    pub left_out: Vec<String>,
}

/// What a release is still good for. A number is missing where it cannot be had.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// The median relative error of questions in each of the [`BANDS`].
    pub query_errors: [Option<f64>; BANDS.len()],
    /// The mean relative error of all questions, none of them counting more than 1.
    pub query_error: Option<f64>,
    /// The share of 95 % intervals that cover the truth.
    pub coverage: Option<f64>,
    /// The error of rules, a rule of the original.
    pub rule_error: Option<f64>,
    /// The same of rules that tell the class.
    pub class_rule_error: Option<f64>,
    /// How well learners tell the class.
    pub accuracy: Option<Accuracy>,
    /// Why numbers are missing.
    pub notes: Vec<String>,
}

impl Yardstick {
    /// Reads the table of a recipe, and learns from it what releases are compared with.
    pub fn new(
        spec: &Spec,
        folder: &Path,
        options: YardstickOptions,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let original = Original::read(
            spec,
            &Inputs::in_folder(folder),
            options.class.as_deref(),
            watch,
        )?;
        let class = original.class(spec, options.class.as_deref())?;
        let workload = Workload::new(&original, options.queries, options.seed, watch)?;
        let table = original.mixed(&original.some_rows(options.seed), class)?;
        let examination = match class {
            Some(class) if table.n_rows() > 1 => {
                Some(Examination::new(watch.over(&table), class, options.seed)?)
            }
            _ => None,
        };
        let mined: Vec<usize> =
            (0..original.columns.len().min(MINED_COLUMNS)).collect();
        let cuts = table.cuts(BINS);
        let codes = table.coded(&cuts)?.select(&mined);
        let mut support = 0.05;
        let (mining, rules) = loop {
            let mining = Mining::new(support, 0.8)?;
            let rules = mining.rules_watched(&codes, watch)?;
            if rules.len() <= MOST_RULES || support > 0.4 {
                break (mining, rules);
            }
            support *= 2.0;
        };
        Ok(Self {
            original,
            workload,
            options,
            class,
            examination,
            mining,
            mined,
            cuts,
            rules,
        })
    }

    /// What the table itself gives.
    pub fn ends(&self) -> Ends {
        let mut questions = [0; BANDS.len()];
        self.workload.questions.iter().for_each(|asked| questions[asked.band] += 1);
        Ends {
            rows: self.original.n_rows,
            class: self.class.map(|place| self.original.columns[place].name.clone()),
            guess: self.examination.as_ref().map(Examination::guess),
            best: self.examination.as_ref().map(Examination::best),
            rules: self.rules.len(),
            class_rules: self.class_rules(&self.rules).len(),
            questions,
            left_out: self.original.left_out.clone(),
        }
    }

    /// The questions.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// Measures a release.
    pub fn measure(&self, release: &Release, watch: &dyn Watch) -> Result<Measured> {
        watch.stage(Stage::Read, release.rows()?.bytes());
        let evidence = Evidence::read(release, watch)?;
        let mut measured = Measured::default();
        watch.stage(Stage::Ask, 0);
        self.ask(&evidence, &mut measured, watch)?;
        if let Err(error) = self.learn(&evidence, &mut measured, watch) {
            watch.check()?;
            measured.notes.push(format!("rules and accuracy: {error}"));
        }
        Ok(measured)
    }

    /// Asks all questions.
    fn ask(
        &self,
        evidence: &Evidence,
        measured: &mut Measured,
        watch: &dyn Watch,
    ) -> Result<()> {
        let answers: Vec<Result<Estimate>> = self
            .workload
            .questions
            .par_iter()
            .map(|asked| {
                let query = watch.over(&asked.query);
                let estimates = evidence.answer(query, Way::Inverse)?;
                let first = estimates.into_iter().next();
                first.ok_or_else(|| Error::input("a count has no answer"))
            })
            .collect();
        // Questions without an answer are counted, those no longer wanted are not.
        watch.check()?;
        let mut errors: [Vec<f64>; BANDS.len()] = Default::default();
        let (mut covered, mut intervals, mut failed) = (0u64, 0u64, 0usize);
        let mut why = None;
        for (asked, answer) in self.workload.questions.iter().zip(answers) {
            match answer {
                Ok(estimate) => {
                    errors[asked.band].push(self.relative(asked, estimate.count));
                    if let Some(covers) = covers(&estimate, asked.truth) {
                        intervals += 1;
                        covered += u64::from(covers);
                    }
                }
                Err(error) => {
                    // As wrong as no rows at all.
                    errors[asked.band].push(self.relative(asked, 0.0));
                    failed += 1;
                    why.get_or_insert(error);
                }
            }
        }
        for (error, list) in measured.query_errors.iter_mut().zip(&errors) {
            *error = median(list.clone());
        }
        let all = errors.concat();
        let mean =
            all.iter().map(|error| error.min(1.0)).sum::<f64>() / all.len() as f64;
        measured.query_error = (!all.is_empty()).then_some(mean);
        measured.coverage = (intervals > 0).then(|| covered as f64 / intervals as f64);
        if let Some(error) = why {
            let n_questions = self.workload.questions.len();
            measured.notes.push(format!(
                "{failed} of {n_questions} questions have no answer, which counts as an error of \
                 100 %: {error}"
            ));
        }
        Ok(())
    }

    fn relative(&self, asked: &Asked, count: f64) -> f64 {
        let truth = asked.truth as f64;
        (count - truth).abs() / truth.max(SANITY * self.original.n_rows as f64)
    }

    /// Draws reconstructions, and learns rules and classes from them.
    fn learn(
        &self,
        evidence: &Evidence,
        measured: &mut Measured,
        watch: &dyn Watch,
    ) -> Result<()> {
        if self.options.draws == 0 {
            return Ok(());
        }
        let (mut rules, mut class_rules) = (0.0, 0.0);
        let (mut tree, mut neighbours) = (0.0, 0.0);
        let own_rules = self.class_rules(&self.rules);
        for number in 0..self.options.draws {
            // Seeds of their own, so that no two draws are alike.
            let seed = self.options.seed.wrapping_add(1 + number as u64);
            watch.stage(Stage::Draw, 0);
            let drawn = evidence.draw_watched(seed, watch)?;
            let table = self.original.like(&drawn, self.class, seed)?;
            watch.stage(Stage::Mine, 0);
            let codes = table.coded(&self.cuts)?.select(&self.mined);
            let found = self.mining.rules_watched(&codes, watch)?;
            rules += self.mining.error(&self.rules, &found);
            class_rules += self.mining.error(&own_rules, &self.class_rules(&found));
            watch.stage(Stage::Learn, 0);
            if let Some(examination) = &self.examination {
                let accuracy = examination.of(watch.over(&table), seed)?;
                tree += accuracy.tree;
                neighbours += accuracy.neighbours;
            }
        }
        let n = self.options.draws as f64;
        let each = |error: f64, of: &Rules| {
            (!of.is_empty()).then(|| error / n / of.len() as f64)
        };
        measured.rule_error = each(rules, &self.rules);
        measured.class_rule_error = each(class_rules, &own_rules);
        measured.accuracy = self
            .examination
            .as_ref()
            .map(|_| Accuracy { tree: tree / n, neighbours: neighbours / n });
        Ok(())
    }

    /// The rules that tell the class.
    fn class_rules(&self, rules: &Rules) -> Rules {
        let class = self.class.and_then(|c| self.mined.iter().position(|m| *m == c));
        class.map_or_else(Rules::default, |class| rules.about(class))
    }
}

impl Original {
    /// The place of the class: as asked for, or the first sensitive column that has few
    /// values.
    fn class(&self, spec: &Spec, asked: Option<&str>) -> Result<Option<usize>> {
        let Some(name) = asked else {
            let fits = |place: &usize| {
                let column = &self.columns[*place];
                column.role == Role::Sensitive
                    && (2..=MOST_CLASSES).contains(&column.texts.len())
            };
            return Ok((0..self.columns.len()).find(fits));
        };
        let place = self.columns.iter().position(|column| column.name == name);
        if place.is_none() {
            if spec.column(name).is_some() {
                return Err(Error::recipe(format!(
                    "the class `{name}` is not published by this recipe"
                ))
                .with_hint("choose a column of role `quasi`, `sensitive` or `other`"));
            }
            let names: Vec<String> =
                self.columns.iter().map(|column| column.name.clone()).collect();
            return Err(no_column(&names, name));
        }
        Ok(place)
    }
}

/// Whether the interval of an estimate has the truth in it, if there is an interval.
fn covers(estimate: &Estimate, truth: u64) -> Option<bool> {
    let (low, high) = estimate.possible_interval()?;
    let truth = truth as f64;
    // Sums of floats that should be whole numbers are not quite.
    let slack = 1e-6 * truth.max(1.0);
    Some(low - slack <= truth && truth <= high + slack)
}

/// The middle one of several numbers, or between the two that are.
fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let n = numbers.len();
    let (low, high) = (numbers.get(n.checked_sub(1)? / 2)?, numbers.get(n / 2)?);
    Some(f64::midpoint(*low, *high))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
