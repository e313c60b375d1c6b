//! Small random tables, and recipes for pairs of promises.

use std::fmt;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use crate::oracle::pairs::{Pair, Place, Promise, What};

/// A person of the population.
#[derive(Debug, Clone)]
pub(super) struct Person {
    pub(super) town: &'static str,
    pub(super) age: i64,
}

/// A table, what is asked of it, and what adversaries know.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) recipe: String,
    pub(super) files: Vec<(String, String)>,
    pub(super) seed: u64,
    /// The promises, and of which column each is.
    pub(super) asked: Vec<(Promise, &'static str)>,
    /// Everybody; those in the table come first.
    pub(super) everyone: Vec<Person>,
    /// The sensitive values of the rows of the table, as numbers below 3.
    pub(super) values: Vec<[usize; 2]>,
    /// Which of a few strengths each promise has.
    pub(super) strength: usize,
    /// The shape of noise.
    pub(super) shape: &'static str,
}

/// Sensitive columns, and their values.
pub(super) const SENSITIVE: [&str; 2] = ["illness", "ward"];
pub(super) const VALUES: [[&str; 3]; 2] =
    [["flu", "gout", "ulcer"], ["w1", "w2", "w3"]];

/// Parameters as fractions, by strength. The last is asked of nobody: releases for the others
/// must be seen to break it.
pub(super) const TOO_STRICT: usize = 2;
pub(super) const K: [u64; 3] = [2, 3, 13];
pub(super) const PRESENT: [Fraction; 3] = [(3, 4), (9, 10), (1, 10)];
pub(super) const L: [u128; 3] = [2, 2, 4];
pub(super) const ENTROPY: [Fraction; 3] = [(3, 2), (2, 1), (31, 10)];
pub(super) const RECURSIVE: [Fraction; 3] = [(3, 1), (3, 2), (1, 4)];
pub(super) const T: [Fraction; 3] = [(1, 2), (3, 10), (1, 100)];
pub(super) const BETA: [Fraction; 3] = [(1, 1), (1, 2), (1, 100)];
pub(super) const DELTA: [f64; 3] = [1.5, 1.0, 0.01];
pub(super) const R: [Fraction; 3] = [(5, 4), (3, 2), (7, 2)];
pub(super) const SUPPORT: usize = 3;
pub(super) const BREACH: [Bounds; 3] =
    [((1, 5), (3, 5)), ((1, 10), (1, 2)), ((1, 5), (21, 100))];
pub(super) const FACTOR: [Fraction; 3] = [(2, 1), (2, 1), (101, 100)];
/// Bounds of a file, for the first two values of a column.
pub(super) const LISTED: [[Bounds; 2]; 3] = [
    [((3, 10), (7, 10)), ((1, 4), (1, 2))],
    [((3, 10), (7, 10)), ((1, 4), (1, 2))],
    [((3, 10), (31, 100)), ((1, 4), (26, 100))],
];
pub(super) const COMPANY: [(u64, u64); 3] = [(2, 1), (5, 2), (14, 1)];
pub(super) const GUESS: [(u64, u64); 3] = [(7, 10), (3, 5), (1, 20)];

/// What a file says of values by town, in tenths.
pub(super) const KNOWN: [[u128; 3]; 3] = [[5, 3, 2], [3, 4, 3], [2, 3, 5]];
pub(super) const TOWNS: [&str; 3] = ["a", "b", "c"];

pub(super) type Fraction = (u128, u128);

/// A prior and a posterior.
pub(super) type Bounds = (Fraction, Fraction);

fn decimal((above, below): Fraction) -> f64 {
    above as f64 / below as f64
}

impl Case {
    pub(super) fn random(pair: &Pair, seed: u64) -> Self {
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let about_people = pair.has_what(What::KMap) || pair.has_what(What::Presence);
        // Where towns are kept, company is counted within each.
        let kept = pair.has(Place::Noise) && !pair.has(Place::Cells);
        let even = pair.same && pair.has_what(What::Robustness);
        let n = match (kept, even) {
            (true, _) => random.random_range(10..=14usize),
            (_, true) => 3 * random.random_range(2..=4),
            _ => random.random_range(6..=12),
        };
        let others = if about_people { random.random_range(2..=14 - n) } else { 0 };
        let everyone: Vec<Person> = (0..n + others)
            .map(|row| {
                let town = if kept { row % 2 } else { random.random_range(0..5) % 3 };
                Person { town: TOWNS[town], age: random.random_range(0..7) }
            })
            .collect();
        // Values are about even: what most have cannot be hidden.
        let mut column = || {
            let mut values: Vec<usize> = (0..n).map(|row| row % 3).collect();
            // Robust groups have every value once.
            values[0] = if even { 0 } else { random.random_range(0..3) };
            values.shuffle(&mut random);
            values
        };
        let (one, other) = (column(), column());
        let values = one.into_iter().zip(other).map(|(one, other)| [one, other]);
        let mut case = Self {
            recipe: String::new(),
            files: Vec::new(),
            seed,
            asked: asked(pair),
            everyone,
            values: values.collect(),
            strength: seed as usize % 2,
            shape: ["uniform", "gaussian"][seed as usize / 2 % 2],
        };
        if pair.has_what(What::BestGuess) {
            case.shape = "uniform";
        }
        case.recipe = case.recipe_of(pair);
        case.files = case.files_of();
        case
    }

    /// The people of the table.
    pub(super) fn people(&self) -> &[Person] {
        &self.everyone[..self.values.len()]
    }

    /// The values of the table in a column.
    pub(super) fn truth(&self, column: &str) -> Vec<usize> {
        let place = place_of(column);
        self.values.iter().map(|values| values[place]).collect()
    }

    /// Whether bounds of single values are in a file.
    pub(super) fn bounds_in_file(&self) -> bool {
        self.seed.is_multiple_of(3)
    }

    /// Whether beliefs are bounded both ways.
    pub(super) fn both_ways(&self) -> bool {
        self.seed % 5 == 1
    }

    /// Whether what is known of towns is in a file: beside noise, what the table tells cannot
    /// be rechecked.
    pub(super) fn knows_from_file(&self) -> bool {
        self.asked.iter().any(|(promise, _)| promise.place == Place::Noise)
    }

    fn files_of(&self) -> Vec<(String, String)> {
        let mut table = String::from("id,town,age,illness,ward\n");
        let mut everyone = String::from("id,town,age\n");
        for (id, Person { town, age }) in self.everyone.iter().enumerate() {
            everyone += &format!("{id},{town},{age}\n");
            if let Some([illness, ward]) = self.values.get(id) {
                let (illness, ward) = (VALUES[0][*illness], VALUES[1][*ward]);
                table += &format!("{id},{town},{age},{illness},{ward}\n");
            }
        }
        let mut files = vec![
            ("table.csv".to_owned(), table),
            ("everyone.csv".to_owned(), everyone),
        ];
        let mut known = String::from("town,value,probability\n");
        for (town, shares) in TOWNS.iter().zip(KNOWN) {
            for (value, share) in VALUES[0].iter().zip(shares) {
                known += &format!("{town},{value},0.{share}\n");
            }
        }
        files.push(("known.csv".to_owned(), known));
        for (column, values) in SENSITIVE.iter().zip(VALUES) {
            let mut bounds = String::from("value,prior,posterior\n");
            for (value, (prior, posterior)) in values.iter().zip(LISTED[self.strength])
            {
                bounds +=
                    &format!("{value},{},{}\n", decimal(prior), decimal(posterior));
            }
            bounds += "*,,\n";
            files.push((format!("{column}.csv"), bounds));
        }
        files
    }

    /// What a promise asks for, without its columns.
    fn parameters(&self, promise: Promise, column: &str) -> String {
        let at = self.strength;
        let kind = if self.both_ways() { ", kind = \"both\"" } else { "" };
        match promise.what {
            What::KAnonymity | What::KMap => format!("k = {}", K[at]),
            What::Presence => format!("min = 0, max = {}", decimal(PRESENT[at])),
            What::Distinct => format!("l = {}", L[at]),
            What::Entropy => {
                format!("l = {}, kind = \"entropy\"", decimal(ENTROPY[at]))
            }
            What::Recursive => {
                let (l, c) = (L[at], decimal(RECURSIVE[at]));
                format!("l = {l}, kind = \"recursive\", c = {c}")
            }
            What::Closeness => format!("t = {}", decimal(T[at])),
            What::Likeness => format!("beta = {}, form = \"basic\"", decimal(BETA[at])),
            What::EnhancedLikeness => format!("beta = {}", decimal(BETA[at])),
            What::Disclosure => format!("delta = {}", DELTA[at]),
            What::Robustness => {
                let known = match self.knows_from_file() {
                    true => "knowledge = \"known.csv\"".to_owned(),
                    false => format!("support = {SUPPORT}"),
                };
                format!("r = {}, signatures = [[\"town\"]], {known}", decimal(R[at]))
            }
            What::Breach => {
                let (prior, posterior) = BREACH[at];
                let (prior, posterior) = (decimal(prior), decimal(posterior));
                format!("prior = {prior}, posterior = {posterior}{kind}")
            }
            What::FineGrain if self.bounds_in_file() => {
                format!("csv = \"{column}.csv\", weights = \"even\"{kind}")
            }
            What::FineGrain => format!("factor = {}{kind}", decimal(FACTOR[at])),
            What::Company | What::BestGuess => {
                let (above, below) = COMPANY[at];
                format!("k = {}", above as f64 / below as f64)
            }
        }
    }

    fn recipe_of(&self, pair: &Pair) -> String {
        let mut text = String::from("[input]\ntable = \"table.csv\"\n");
        if pair.has_what(What::KMap) || pair.has_what(What::Presence) {
            text += "population = \"everyone.csv\"\nkey = \"id\"\n";
        }
        // Beside noise of ages, cells are of towns.
        let divided = pair.has(Place::Cells) && pair.has(Place::Noise) && !pair.same;
        text += "[columns]\nid = \"identifier\"\ntown = \"quasi\"\n";
        text += match pair.has(Place::Noise) {
            true => "age = { role = \"quasi\", type = \"number\", domain = [0, 6] }\n",
            false => {
                "age = { role = \"quasi\", type = \"number\", hierarchy = { widths = [2, 4] } }\n"
            }
        };
        for (place, column) in SENSITIVE.into_iter().enumerate() {
            let of = |wanted: &(Promise, &str)| wanted.1 == column;
            let [a, b, c] = VALUES[place];
            match self.asked.iter().find(|asked| of(asked)) {
                Some((promise, _)) if promise.place == Place::Drawn => {
                    let domain = format!("domain = [\"{a}\", \"{b}\", \"{c}\"]");
                    text +=
                        &format!("{column} = {{ role = \"sensitive\", {domain} }}\n");
                }
                Some(_) => text += &format!("{column} = \"sensitive\"\n"),
                None => {}
            }
        }
        text += "[promise]\n";
        let mut asked = self.asked.clone();
        let mut columns: Vec<Vec<&str>> =
            asked.iter().map(|asked| vec![asked.1]).collect();
        if pair.is_one() {
            columns[0].push(asked[1].1);
            columns[0].dedup();
            asked.truncate(1);
        }
        for ((promise, column), columns) in asked.iter().zip(&columns) {
            let mut said = self.parameters(*promise, column);
            if pair.has_what(What::BestGuess) && promise.place == Place::Noise {
                let (above, below) = GUESS[self.strength];
                said += &format!(", best-guess = {}", above as f64 / below as f64);
            }
            let columns = match promise.place {
                Place::Cells => divided.then_some(vec!["town"]),
                Place::Noise => (!pair.same).then_some(vec!["age"]),
                _ => Some(columns.clone()),
            };
            if let Some(columns) = columns {
                said += &format!(", columns = {columns:?}");
            }
            text += &format!("{} = {{ {said} }}\n", promise.key());
        }
        self.methods(pair, &mut text);
        text
    }

    fn methods(&self, pair: &Pair, text: &mut String) {
        let seed = self.seed as usize;
        let robust = |place, column| {
            let wanted = (Promise { what: What::Robustness, place }, column);
            self.asked.contains(&wanted)
        };
        let in_rows = |column| robust(Place::Rows, column);
        if SENSITIVE.into_iter().any(in_rows) {
            *text += "[[method]]\nname = \"mondrian\"\n";
        } else if pair.has(Place::Cells) || pair.has(Place::Rows) {
            // Coins cannot be had for values, so beside them there is one method.
            let values = pair.has_what(What::Presence) && pair.has(Place::Rows);
            *text += match seed % 3 {
                _ if values => "",
                0 => "",
                1 => "[[method]]\nname = \"mondrian\"\n",
                _ => "[[method]]\nname = \"full-domain\"\n",
            };
        }
        for column in SENSITIVE {
            let of = |place| {
                self.asked
                    .iter()
                    .any(|known| known.0.place == place && known.1 == column)
            };
            let name = match () {
                () if of(Place::Apart) && robust(Place::Apart, column) => "robust",
                () if of(Place::Apart) => "anatomy",
                () if of(Place::Drawn) => match seed % 4 {
                    0 => "uniform-perturbation",
                    1 => "general-perturbation",
                    _ => "fine-grain-perturbation",
                },
                () => continue,
            };
            *text +=
                &format!("[[method]]\nname = \"{name}\"\ncolumns = [\"{column}\"]\n");
        }
        if pair.has(Place::Noise) {
            *text +=
                &format!("[[method]]\nname = \"blur\"\nshape = \"{}\"\n", self.shape);
            // The level of somebody is then known.
            if pair.has_what(What::BestGuess) {
                *text += "levels = 1\n";
            }
        }
    }
}

/// The place of a column among the sensitive ones.
pub(super) fn place_of(column: &str) -> usize {
    SENSITIVE.iter().position(|name| *name == column).unwrap()
}

/// The promises of a pair, each of its column.
fn asked(pair: &Pair) -> Vec<(Promise, &'static str)> {
    let mut taken = 0;
    let mut column = |promise: &Promise| {
        if !promise.is_sensitive() {
            return (*promise, "");
        }
        let place = if pair.same { 0 } else { taken };
        taken += 1;
        (*promise, SENSITIVE[place])
    };
    pair.promises().iter().map(&mut column).collect()
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.recipe)?;
        self.files.iter().try_for_each(|(name, text)| write!(f, "-- {name}\n{text}"))
    }
}
