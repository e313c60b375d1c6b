//! What somebody believes of people before the release, by their values in some quasi
//! columns.
//!
//! # Guarantee
//! From a table: the share of each value among the rows with the same values in these
//! columns. Where they are fewer than the support, all columns go up their hierarchies
//! together, each until its root, until they are enough; at the roots it is the whole
//! table.
//!
//! From a file: its probabilities as they are; what is missing to 1 is spread evenly over
//! the values of the table that the file does not list for these people.
//!
//! # Limits
//! Without the original, the values of the table are those of the release: one that only
//! left-out rows had is not known.
//!
//! # Cost
//! A table is sorted once for each set of columns and step up; a file is looked up once for
//! each distinct combination of values.
//!
//! # Source
//! `wong2010inference`; docs/methods.md, "Beliefs and possible worlds".

use hashbrown::HashMap;

use crate::audit::apart::worlds::{Scratch, believe};
use crate::audit::apart::{Groups, Posteriors, TupleGuesses, numbered};
use crate::audit::given::{canonical_number, values_of};
use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::table::{
    Code, Domain, Kind, NodeId, Of, Reading, StatedSet, format_date, parse_date,
};

/// Groups with more pairs of rows and values are not looked at, unless all rows are alike.
const MOST_PAIRS: usize = 1 << 22;

/// Room to work in, used again for every group.
#[derive(Debug, Default)]
pub(crate) struct Work {
    priors: Vec<f64>,
    counts: Vec<u64>,
    scratch: Scratch,
}

/// What is believed of the people of each tuple.
#[derive(Debug, Clone)]
pub(crate) struct Priors {
    /// The columns it is known by, as in "age + sex".
    pub(crate) name: String,
    /// For each tuple, its signature.
    of_tuple: Vec<u32>,
    /// Signature `s` has the values `starts[s]..starts[s + 1]`, ascending.
    starts: Vec<usize>,
    values: Vec<(u32, f64)>,
    /// How likely each value is that a signature does not list.
    rest: Vec<f64>,
}

/// A column of tuples as texts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TupleTexts<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// How texts are read.
    pub(crate) reading: &'a Reading,
    /// The different texts.
    pub(crate) texts: &'a [Box<str>],
    /// The text of each tuple.
    pub(crate) codes: &'a [Code],
}

/// The published sensitive column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SensitiveTexts<'a> {
    /// How texts are read.
    pub(crate) reading: &'a Reading,
    /// The published values.
    pub(crate) published: &'a Domain,
    /// The values of the table, if that is given.
    pub(crate) table: Option<&'a Domain>,
}

/// Whose shares are counted: some columns of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountedColumn<'a> {
    /// The table.
    pub(crate) table: &'a Microdata,
    /// The place of the sensitive column in it.
    pub(crate) sensitive: usize,
    /// The published code of each of its values; nothing if it was not published.
    pub(crate) published: &'a Of<Code, Option<u32>>,
}

impl Priors {
    /// From a table, for each of its tuples. `set` are places of quasi columns.
    pub(crate) fn counted(
        counted: CountedColumn<'_>,
        set: &[usize],
        support: u64,
    ) -> Self {
        let (census, quasi) = (&counted.table.census, &counted.table.quasi);
        let n_tuples = census.n_tuples();
        let names: Vec<&str> =
            set.iter().map(|place| quasi[*place].name.as_str()).collect();
        let mut priors = Self::empty(names.join(" + "), vec![u32::MAX; n_tuples]);
        let heights = set.iter().map(|place| quasi[*place].hierarchy.height());
        let top = heights.max().unwrap_or(0);
        for step in 0..=top {
            let nodes = set.iter().map(|place| {
                let hierarchy = &quasi[*place].hierarchy;
                let level = &hierarchy.levels()[step.min(hierarchy.height())];
                let codes = census.quasi[*place].iter();
                codes.map(|code| level.node_of[*code]).collect()
            });
            let nodes: Vec<Vec<NodeId>> = nodes.collect();
            let (numbers, examples) = numbered(&nodes, n_tuples);
            let mut rows = vec![0u64; examples.len()];
            for (number, n) in numbers.iter().zip(&census.rows) {
                rows[*number as usize] += n;
            }
            // The signatures that begin here.
            let mut signature: Vec<Option<u32>> = vec![None; examples.len()];
            let mut totals = Vec::new();
            let first = priors.rest.len() as u32;
            for (of_tuple, number) in priors.of_tuple.iter_mut().zip(&numbers) {
                let number = *number as usize;
                if *of_tuple == u32::MAX && (rows[number] >= support || step == top) {
                    *of_tuple = *signature[number].get_or_insert_with(|| {
                        totals.push(rows[number]);
                        first + totals.len() as u32 - 1
                    });
                }
            }
            priors.count(counted, &numbers, &signature, &totals);
        }
        priors
    }

    fn empty(name: String, of_tuple: Vec<u32>) -> Self {
        let (starts, values, rest) = (vec![0], Vec::new(), Vec::new());
        Self { name, of_tuple, starts, values, rest }
    }

    /// Adds the shares of new signatures.
    fn count(
        &mut self,
        counted: CountedColumn<'_>,
        numbers: &[u32],
        signature: &[Option<u32>],
        totals: &[u64],
    ) {
        let census = &counted.table.census;
        let mut found: Vec<(u32, u32, u64)> = Vec::new();
        for (tuple, number) in census.tuples().zip(numbers) {
            let Some(signature) = signature[*number as usize] else { continue };
            for (code, n) in values_of(census, counted.sensitive, tuple) {
                let code = counted.published[code];
                found.extend(code.map(|code| (signature, code, n)));
            }
        }
        found.sort_unstable();
        found.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        let mut found = found.into_iter().peekable();
        for total in totals {
            let signature = self.rest.len() as u32;
            while let Some((_, code, n)) = found.next_if(|next| next.0 == signature) {
                self.values.push((code, n as f64 / (*total).max(1) as f64));
            }
            self.rest.push(0.0);
            self.starts.push(self.values.len());
        }
    }

    /// From a file. Fails if it says nothing of some of the tuples.
    pub(crate) fn stated(
        set: &StatedSet,
        columns: &[TupleTexts<'_>],
        values: SensitiveTexts<'_>,
    ) -> Result<Self> {
        let mut ids: Vec<HashMap<Option<String>, u32>> =
            vec![HashMap::new(); set.columns.len()];
        // Nothing where the file says two things.
        let mut signatures: HashMap<Vec<u32>, Option<u32>> = HashMap::new();
        let mut priors = Self::empty(set.columns.join(" + "), Vec::new());
        let mut chosen = Vec::with_capacity(set.columns.len());
        for name in &set.columns {
            let column = columns.iter().find(|column| column.name == name);
            chosen.push(*column.ok_or_else(|| {
                Error::input(format!(
                    "what is known is by column `{name}`, which is no quasi column of the \
                     release"
                ))
            })?);
        }
        for (number, (cells, listed)) in (0u32..).zip(&set.signatures) {
            let cells = cells.iter().zip(&chosen).zip(&mut ids);
            let key = cells.map(|((cell, column), ids)| {
                let next = ids.len() as u32;
                *ids.entry(plain(column.reading, cell)).or_insert(next)
            });
            let once = priors.list(listed, values);
            let number = once.then_some(number);
            let known = signatures.entry(key.collect());
            known.and_modify(|known| *known = None).or_insert(number);
        }
        let mut columns: Vec<Vec<Code>> = Vec::with_capacity(chosen.len());
        for (column, ids) in chosen.iter().zip(&ids) {
            let of_text = column.texts.iter().map(|text| {
                ids.get(&plain(column.reading, text)).map_or(0, |id| id + 1)
            });
            let of_text: Of<Code, Code> = of_text.map(Code::new).collect();
            columns.push(column.codes.iter().map(|c| of_text[*c]).collect());
        }
        let n_tuples = columns.first().map_or(0, Vec::len);
        let (numbers, examples) = numbered(&columns, n_tuples);
        let known: Vec<Option<Option<u32>>> = examples
            .iter()
            .map(|tuple| {
                let cells = columns.iter().map(|codes| codes[*tuple as usize]);
                let key: Option<Vec<u32>> =
                    cells.map(|id| id.get().checked_sub(1)).collect();
                key.and_then(|key| signatures.get(&key).copied())
            })
            .collect();
        match known.iter().filter(|known| known.is_none()).count() {
            0 => {}
            n => {
                let what = if n == 1 { "combination" } else { "combinations" };
                return Err(Error::input(format!(
                    "what is known by {} says nothing of {n} {what} of values that the \
                     release has",
                    shown(&set.columns)
                ))
                .with_hint("add lines for all of them to the file"));
            }
        }
        let of_tuple = numbers.iter().map(|number| known[*number as usize].flatten());
        let of_tuple: Option<Vec<u32>> = of_tuple.collect();
        priors.of_tuple = of_tuple.ok_or_else(|| {
            Error::input(format!(
                "what is known by {} speaks of the same people or values twice",
                shown(&set.columns)
            ))
            .with_hint("write each value in one way: 41 and 41.0 mean the same")
        })?;
        Ok(priors)
    }

    /// Adds a signature with the values that a file lists.
    /// Whether each is listed once.
    fn list(&mut self, listed: &[(String, f64)], values: SensitiveTexts<'_>) -> bool {
        let start = self.values.len();
        let (mut sum, mut of_table) = (0.0, 0usize);
        let table = values.table.unwrap_or(values.published);
        // The same probabilities have the same rest, whatever they are of.
        let mut listed: Vec<&(String, f64)> = listed.iter().collect();
        listed.sort_by(|a, b| a.1.total_cmp(&b.1));
        for (text, share) in listed {
            sum += share;
            of_table += usize::from(code_of(table, values.reading, text).is_some());
            let code = code_of(values.published, values.reading, text);
            self.values.extend(code.map(|code| (code.get(), *share)));
        }
        self.values[start..].sort_by_key(|(code, _)| *code);
        let unlisted = table.len().saturating_sub(of_table);
        let rest = f64::max(1.0 - sum, 0.0);
        self.rest.push(if unlisted == 0 { 0.0 } else { rest / unlisted as f64 });
        self.starts.push(self.values.len());
        self.values[start..].windows(2).all(|pair| pair[0].0 != pair[1].0)
    }

    /// The same for tuples that are those at `places`.
    #[must_use]
    pub(crate) fn at(mut self, places: &[u32]) -> Self {
        self.of_tuple = places.iter().map(|t| self.of_tuple[*t as usize]).collect();
        self
    }

    fn listed(&self, signature: usize) -> &[(u32, f64)] {
        &self.values[self.starts[signature]..self.starts[signature + 1]]
    }

    /// What is believed of a tuple and a value.
    fn share(&self, tuple: u32, code: u32) -> f64 {
        let signature = self.of_tuple[tuple as usize] as usize;
        let listed = self.listed(signature);
        match listed.binary_search_by_key(&code, |(code, _)| *code) {
            Ok(place) => listed[place].1,
            Err(_) => self.rest[signature],
        }
    }

    /// The likeliest of `n_values` values for each tuple, and how likely it is; of several
    /// the first.
    pub(crate) fn guesses(&self, n_values: usize) -> TupleGuesses {
        let guess = |signature: usize| {
            let listed = self.listed(signature);
            let mut best = (0, -1.0);
            for (code, share) in listed {
                if *share > best.1 {
                    best = (*code, *share);
                }
            }
            let unlisted = (0..n_values as u32)
                .find(|code| listed.binary_search_by_key(code, |(c, _)| *c).is_err());
            match unlisted {
                Some(code) if self.rest[signature] > best.1 => {
                    (code, self.rest[signature])
                }
                _ => best,
            }
        };
        let best: Vec<(u32, f64)> = (0..self.rest.len()).map(guess).collect();
        let tuples = self.of_tuple.iter().map(|signature| best[*signature as usize]);
        let (values, beliefs) = tuples.unzip();
        TupleGuesses { values, beliefs }
    }

    /// What is believed of the rows of a group once its values are known.
    pub(crate) fn believe(
        &self,
        groups: &Groups,
        group: usize,
        work: &mut Work,
    ) -> Posteriors {
        let (members, values) = (groups.members(group), groups.values(group));
        let Some((first, _)) = members.first() else { return Posteriors::Impossible };
        let signature = |tuple: &u32| self.of_tuple[*tuple as usize];
        let alike = members.iter().all(|(t, _)| signature(t) == signature(first));
        let size = usize::try_from(groups.size(group)).unwrap_or(usize::MAX);
        if !alike && size.saturating_mul(values.len()) > MOST_PAIRS {
            return Posteriors::TooLarge { bound: 1.0 };
        }
        let Work { priors, counts, scratch } = work;
        priors.clear();
        for (tuple, n) in &members[..if alike { 1 } else { members.len() }] {
            let start = priors.len();
            priors.extend(values.iter().map(|(code, _)| self.share(*tuple, *code)));
            for _ in 1..if alike { 1 } else { *n } {
                priors.extend_from_within(start..start + values.len());
            }
        }
        counts.clear();
        counts.extend(values.iter().map(|(_, n)| *n));
        believe(priors, counts, scratch)
    }
}

/// Names of columns, as in "`age` and `sex`".
pub(crate) fn shown(columns: &[String]) -> String {
    let names: Vec<String> = columns.iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => {
            format!("{} and {last}", rest.join(", "))
        }
        _ => names.concat(),
    }
}

/// The one text for what a text means; nothing for "not known". Dates may stand as they
/// were in the original or in ISO 8601.
pub(crate) fn plain(reading: &Reading, text: &str) -> Option<String> {
    if reading.is_missing(text) {
        return None;
    }
    let iso = (reading.kind == Kind::Date).then(|| parse_date(text, None)).flatten();
    let known = canonical_number(reading, text).or_else(|| iso.map(format_date));
    Some(known.unwrap_or_else(|| text.to_owned()))
}

/// The code of a value, by its text in a file.
fn code_of(domain: &Domain, reading: &Reading, text: &str) -> Option<Code> {
    let Some(wanted) = plain(reading, text) else { return domain.missing() };
    let codes = domain.texts().pairs();
    let mut codes = codes.filter(|(code, _)| domain.missing() != Some(*code));
    codes.find(|(_, text)| ***text == *wanted).map(|(code, _)| code)
}
