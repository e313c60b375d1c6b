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
//! single rows would be all that counts. See `score` for what counts of which question.
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

use crate::error::{Error, Result};
use crate::estimate::{Accuracy, Cuts, Evidence, Examination, Mining, Rules};
use crate::recipe::Spec;
use crate::recipe::compare::original::Original;
use crate::recipe::compare::questions::Questions;
use crate::recipe::compare::workload::{BANDS, Workload};
use crate::release::{Release, Treatment};
use crate::table::{Inputs, Role};
use crate::watch::{Stage, Watch};
use crate::words::no_column;

/// Classes of more values than this are not chosen by themselves.
const MOST_CLASSES: usize = 50;
/// Rules are mined from the first columns only, because there are exponentially many.
const MINED_COLUMNS: usize = 12;
const BINS: usize = 10;
const MOST_RULES: usize = 5_000;

/// What is measured, and how often.
#[derive(Debug, Clone)]
pub struct YardstickOptions {
    /// The column that learners tell; if not given, the first sensitive one with at most 50
    /// values.
    pub class: Option<String>,
    /// How many random questions are asked.
    pub queries: usize,
    /// Questions to ask in place of random ones.
    pub questions: Option<Questions>,
    /// How many reconstructions are drawn.
    pub draws: usize,
    /// Fixes all chance.
    pub seed: u64,
}

impl Default for YardstickOptions {
    fn default() -> Self {
        Self { class: None, queries: 200, questions: None, draws: 5, seed: 1 }
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
    /// Whether the questions are somebody's own, and not random.
    pub own_questions: bool,
    /// Columns that are not measured, because they have too many words.
    pub left_out: Vec<String>,
    /// Columns that are not measured, because not all recipes publish them.
    pub not_in_all: Vec<String>,
    /// How often the commonest value of each column is right: what anybody can guess.
    pub commonest: Vec<(String, f64)>,
    /// Whether the class is a sensitive column.
    pub class_is_sensitive: bool,
}

/// What a release is still good for. A number is missing where it cannot be had.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// The median relative error of open questions in each of the [`BANDS`].
    pub query_errors: [Option<f64>; BANDS.len()],
    /// The mean relative error of all questions, none of them counting more than 1. Those
    /// with an exact answer count as 0, so that it is about the same questions for all
    /// releases.
    pub query_error: Option<f64>,
    /// The same of open questions alone.
    pub open_error: Option<f64>,
    /// How many answers are exact: the release says so, and is right.
    pub exact: usize,
    /// How many answers are open.
    pub open: usize,
    /// The share of 95 % intervals of open questions that cover the truth.
    pub coverage: Option<f64>,
    /// The median width of these intervals, relative as errors are.
    pub width: Option<f64>,
    /// The mean interval score: the width, and 40 times the distance of a truth that lies
    /// outside, relative as errors are.
    pub interval_score: Option<f64>,
    /// If quasi columns are published as they are, the share of people that are found by
    /// them: one in as many as have the same values.
    pub found_untouched: Option<f64>,
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
        Self::of_recipes(&[spec], &Inputs::in_folder(folder), options, watch)
    }

    /// The same for several recipes for one table, which is among the inputs of the first.
    /// What is measured are the columns that all of them publish.
    pub fn of_recipes(
        specs: &[&Spec],
        inputs: &Inputs,
        options: YardstickOptions,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let mut named: Vec<&str> = options.class.as_deref().into_iter().collect();
        named.extend(options.questions.iter().flat_map(Questions::columns));
        let original = Original::read(specs, inputs, &named, watch)?;
        let class = original.class(specs, options.class.as_deref())?;
        let workload = match &options.questions {
            Some(questions) => questions.workload(&original, watch)?,
            None => Workload::new(&original, options.queries, options.seed, watch)?,
        };
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
            own_questions: self.options.questions.is_some(),
            left_out: self.original.left_out.clone(),
            not_in_all: self.original.not_in_all.clone(),
            commonest: self.original.commonest(),
            class_is_sensitive: self.class.is_some_and(|place| {
                self.original.columns[place].role == Role::Sensitive
            }),
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
        let found_untouched = found_untouched(release, &evidence)?;
        let mut measured = Measured { found_untouched, ..Measured::default() };
        watch.stage(Stage::Ask, 0);
        self.workload.score(&evidence, &mut measured, watch)?;
        if let Err(error) = self.learn(&evidence, &mut measured, watch) {
            watch.check()?;
            measured.notes.push(format!("rules and accuracy: {error}"));
        }
        Ok(measured)
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
    fn class(&self, specs: &[&Spec], asked: Option<&str>) -> Result<Option<usize>> {
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
            if specs.iter().any(|spec| spec.column(name).is_some()) {
                let these = match specs.len() {
                    1 => "this recipe",
                    _ => "all recipes",
                };
                return Err(Error::recipe(format!(
                    "the class `{name}` is not published by {these}"
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

/// If quasi columns are published as they are, how many people are found by them.
fn found_untouched(release: &Release, evidence: &Evidence) -> Result<Option<f64>> {
    let manifest = &release.manifest;
    let quasi = || manifest.columns.iter().filter(|column| column.role == Role::Quasi);
    let untouched = quasi().all(|column| column.treatment == Treatment::Kept);
    if !untouched || quasi().next().is_none() || manifest.sampled.is_some() {
        return Ok(None);
    }
    let names: Vec<&str> = quasi().map(|column| &*column.name).collect();
    let n_tuples = evidence.n_tuples(&names)?;
    Ok(Some(n_tuples as f64 / manifest.rows.max(1) as f64))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
