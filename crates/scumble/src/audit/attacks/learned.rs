//! Learned: what all groups together teach about each of them.
//!
//! Groups say which values their rows have together, not whose they are. But a group is one
//! of many, and all of them show how values depend on quasi columns. The adversary learns
//! that from the release alone, weighs all arrangements of each group's values by it, and
//! guesses everybody's likeliest value: the de Finetti attack. Where values stand apart the
//! rows themselves say who is in which group; where they stand in the rows of coarse cells,
//! the adversary knows everybody's quasi values and so who fits which group.
//!
//! # Guarantee
//! A group is judged by what other groups taught, and something counts as learned only if it
//! makes those likelier that were held out: where nothing depends on quasi columns, nothing
//! is learned, and guesses are those of groups alone, which is what `chance` is. With the
//! table guesses are scored; without it `success` is what the model expects.
//!
//! # Limits
//! A model of columns one by one (`learn/`): somebody who learns more gains more. In groups
//! that all have the same values nothing is learned. Of people with the same quasi values in
//! several groups the mean is taken. Of coarse cells only groups are looked at that exactly
//! as many people fit as they have rows, and nobody of them any other.
//!
//! `background-knowledge` is told how values depend on some columns, `dependence` learns what
//! *other published columns* of a row tell, in all kinds of releases; here it is the quasi
//! columns, all of them together, of values by group. What deals values is the same.
//!
//! # Cost
//! Some dozen rounds over all groups, of large tables over a part of them (`learned_from`);
//! then one deal for each group.
//!
//! # Source
//! `kifer2009definetti`; docs/methods.md, "Learned arrangements".

use rayon::prelude::*;
use serde_json::json;

use crate::audit::apart::{
    ApartTruth, BeliefPiece, Gathered, RowGroups, RowMembers, TupleGuesses, TupleTexts,
    bound,
};
use crate::audit::attacks::homogeneity::{blind, commonest};
use crate::audit::attacks::{
    Attack, NEEDS_ORIGINAL, NO_SENSITIVE, PublicAttacks, Stopped, found_or,
    no_cell_classes,
};
use crate::audit::{Attacked, Case, Public, detail};
use crate::error::Result;
use crate::learn::arrangements::deal;
use crate::learn::{Groups, Learned as Lesson, SeenColumn, SeenTexts};
use crate::release::Treatment;
use crate::table::Kind;
use crate::watch::Watch;

/// Who is believed in more than this is as good as known.
const SURE: f64 = 0.9;

/// Beliefs above a bound by no more than this are rounding.
const ROUNDING: f64 = 1e-9;

/// Tries to guess values of groups by what groups teach.
#[derive(Debug)]
pub struct Learned;

impl Attack for Learned {
    fn name(&self) -> &'static str {
        "learned"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        let mut found = of_apart(case)?;
        found.extend(of_rows(case)?);
        found_or(found, || {
            Ok(match case.views.cells()? {
                None => no_cell_classes(case),
                Some(classes) if classes.sensitive.is_empty() => NO_SENSITIVE,
                Some(_) if case.linked()?.is_some() => {
                    "people fit several groups, so nobody is certain to be in one"
                }
                Some(_) => NEEDS_ORIGINAL,
            })
        })
    }

    fn shown(&self, tried: &[Attacked], readers: &Case<'_>) -> Result<PublicAttacks> {
        let is_apart = |attacked: &&Attacked| {
            let column = readers.manifest.column(attacked.word("column"));
            column.is_some_and(|column| column.treatment == Treatment::Apart)
        };
        let found = tried.iter().filter(is_apart).cloned().map(unscored);
        let because = "learned and expected from the release alone";
        Ok(Public::because(because, found.collect()))
    }
}

/// The same as somebody finds it who has no table to score guesses with.
fn unscored(mut attacked: Attacked) -> Attacked {
    attacked.success = attacked.number("believed");
    attacked.chance = attacked.number("believed_alone");
    let gain = json!(attacked.success - attacked.chance);
    let more = [("gain", gain), ("expected", json!(true))];
    attacked.detail.extend(more.map(|(key, value)| (key.to_owned(), value)));
    attacked.detail.shift_remove("sure_right");
    attacked
}

/// Tries the attack on every column that stands apart.
fn of_apart(case: &Case<'_>) -> Result<Vec<Attacked>> {
    let mut found = Vec::new();
    for (values, truth) in case.apart()? {
        let quasi = values.quasi.iter().map(|column| TupleTexts {
            name: &column.name,
            reading: &column.reading,
            texts: &column.texts,
            codes: &column.codes,
        });
        let target = Target {
            column: &values.column.name,
            groups: &values.groups,
            seen: quasi.map(|texts| seen(texts, &values.tuples)).collect(),
            n_values: values.column.domain.len(),
            blind: blind(values),
            bound: bound(case.manifest, &values.column.name),
            left_aside: 0,
            watch: case.watch,
        };
        found.push(target.attack(truth)?);
    }
    Ok(found)
}

/// Tries the attack on every sensitive column in the rows of coarse cells; nothing without
/// the table, which says who fits which group.
fn of_rows(case: &Case<'_>) -> Result<Vec<Attacked>> {
    let Some(view) = case.views.cells()?.filter(|view| !view.sensitive.is_empty())
    else {
        return Ok(Vec::new());
    };
    let Some(linked) = case.linked()? else { return Ok(Vec::new()) };
    let members = RowMembers::of(view, linked)?;
    let mut found = Vec::new();
    for published in view.columns() {
        let rows = RowGroups::of(case.manifest, published, linked, &members)?;
        let column = published.column();
        let most = commonest(&published.whole());
        let tuples = &linked.table.census.rows;
        let target = Target {
            column: &column.name,
            groups: &rows.groups,
            seen: rows.texts().into_iter().map(|texts| seen(texts, tuples)).collect(),
            n_values: column.domain.len(),
            blind: (most.value, most.support as f64 / view.rows.max(1) as f64),
            bound: bound(case.manifest, &column.name),
            left_aside: members.left_aside,
            watch: case.watch,
        };
        // Where nobody is certain to be in a group, there is nothing to learn from.
        if rows.groups.len() > 0 {
            found.push(target.attack(Some(&rows.truth))?);
        }
    }
    Ok(found)
}

/// What is seen of tuples in a quasi column, of which so many people have each.
fn seen(column: TupleTexts<'_>, people: &[u64]) -> SeenColumn {
    let mut rows = vec![0; column.texts.len()];
    for (code, n) in column.codes.iter().zip(people) {
        rows[code.index()] += n;
    }
    let number = |text: &str| match column.reading.kind {
        Kind::Number | Kind::Date => column.reading.number_of(text),
        Kind::Category => None,
    };
    let numbers: Vec<Option<f64>> =
        column.texts.iter().map(|text| number(text)).collect();
    SeenTexts::of(&numbers, &rows).at(column.codes.iter().map(|code| code.index()))
}

/// A column whose values are known by group.
struct Target<'a> {
    column: &'a str,
    groups: &'a Groups,
    /// What is seen of the tuples of people.
    seen: Vec<SeenColumn>,
    n_values: usize,
    /// The guess about somebody who is in no group, and its share.
    blind: (u32, f64),
    /// What nobody should be believed more than, if that is promised.
    bound: Option<f64>,
    /// How many groups cannot be looked at.
    left_aside: u64,
    watch: &'a dyn Watch,
}

/// What is believed, with and without what was learned.
struct Beliefs {
    guesses: TupleGuesses,
    worst: f64,
    /// People of whom something is believed above the bound.
    above: u64,
}

impl Target<'_> {
    /// What somebody believes; by groups alone if nothing was learned.
    fn believe(
        &self,
        lesson: Option<&Lesson>,
        gathered: &Gathered<'_>,
    ) -> Result<Beliefs> {
        let bound = self.bound.unwrap_or(1.0) + ROUNDING;
        let look = |group: usize| {
            self.watch.check()?;
            let (members, values) =
                (self.groups.members(group), self.groups.values(group));
            let mut found: Vec<BeliefPiece> = Vec::new();
            let (mut worst, mut above) = (0.0f64, 0);
            let mut see = |n: u64, most: f64| {
                worst = worst.max(most);
                above += if most > bound { n } else { 0 };
            };
            match lesson.filter(|_| !self.groups.is_too_large(group)) {
                None => {
                    let size = self.groups.size(group).max(1) as f64;
                    let share = |_, place: usize| values[place].1 as f64 / size;
                    see(size as u64, self.groups.most(group) as f64 / size);
                    gathered.add(group, share, &mut found);
                }
                Some(lesson) => {
                    let (rows, counts) = lesson.rows_of(self.groups, group);
                    let dealt = deal(&rows, &counts);
                    // Rows of the same tuple are alike.
                    let kind = members.iter().zip(0..);
                    let kind = kind.flat_map(|((_, n), kind)| {
                        std::iter::repeat_n(kind, *n as usize)
                    });
                    let kind: Vec<usize> = kind.collect();
                    for ((_, n), dealt) in members.iter().zip(&dealt) {
                        let most = dealt.iter().copied().fold(0.0, f64::max);
                        see(*n, most / *n as f64);
                    }
                    let share = |row: usize, place: usize| {
                        dealt[kind[row]][place] / members[kind[row]].1 as f64
                    };
                    gathered.add(group, share, &mut found);
                }
            }
            Ok((found, worst, above))
        };
        let looked: Vec<(Vec<BeliefPiece>, f64, u64)> = (0..self.groups.len())
            .into_par_iter()
            .with_min_len(16)
            .map(look)
            .collect::<Result<_>>()?;
        let worst = looked.iter().map(|(_, worst, _)| *worst).fold(0.0, f64::max);
        let above = looked.iter().map(|(.., above)| above).sum();
        let found = looked.into_iter().flat_map(|(found, ..)| found).collect();
        let guesses = gathered.guesses(found, self.blind);
        Ok(Beliefs { guesses, worst, above })
    }

    /// Tries the attack; only the score looks at the original.
    fn attack(&self, original: Option<&ApartTruth<'_>>) -> Result<Attacked> {
        let n_tuples = self.seen.first().map_or(0, |seen| seen.codes.len());
        let n_tuples = match self.seen.is_empty() {
            // Without quasi columns everybody is alike.
            true => 1,
            false => n_tuples,
        };
        let gathered = Gathered::new(self.groups, n_tuples);
        let lesson = Lesson::from(
            self.groups,
            self.seen.clone(),
            self.n_values,
            &|_| 1.0,
            self.watch,
        );
        self.watch.check()?;
        let alone = self.believe(None, &gathered)?;
        let found = match &lesson {
            Some(lesson) => &self.believe(Some(lesson), &gathered)?,
            None => &alone,
        };
        let right = |guesses: &TupleGuesses| match original {
            Some(original) => original.score(&guesses.values, self.blind.0),
            None => gathered.expected(&guesses.beliefs),
        };
        let [success, chance] = [right(&found.guesses), right(&alone.guesses)];
        let people: u64 = self.groups.sizes().sum();
        let share = |n: f64| n / people.max(1) as f64;
        let sure = |guesses: &TupleGuesses| {
            let is_sure = |tuple: &usize| guesses.beliefs[*tuple] > SURE;
            let tuples: Vec<usize> = (0..n_tuples).filter(is_sure).collect();
            let of = |tuple: usize| gathered.people_of(tuple) as f64;
            let all: f64 = tuples.iter().map(|tuple| of(*tuple)).sum();
            let right = original.map(|original| {
                let right = tuples.iter().map(|tuple| {
                    let value = guesses.values[*tuple];
                    of(*tuple) * original.share_with(*tuple as u32, value)
                });
                right.sum::<f64>() / all.max(1.0)
            });
            (all, right)
        };
        let (all, sure_right) = sure(&found.guesses);
        let mut detail = detail(json!({
            "column": self.column,
            "gain": success - chance,
            "believed": gathered.expected(&found.guesses.beliefs),
            "believed_alone": gathered.expected(&alone.guesses.beliefs),
            "sure": share(all),
            "sure_alone": share(sure(&alone.guesses).0),
            "people": people,
            "learned_from": lesson.as_ref().map_or(0, |lesson| lesson.rows),
            "skipped": self.left_aside,
            "expected": original.is_none(),
        }));
        if let Some(right) = sure_right.filter(|_| all > 0.0) {
            detail.insert("sure_right".into(), json!(right));
        }
        if let Some(bound) = self.bound {
            detail.insert("bound".into(), json!(bound));
            detail.insert("above".into(), json!(share(found.above as f64)));
            detail.insert("above_alone".into(), json!(share(alone.above as f64)));
        }
        let (name, worst) = ("learned".to_owned(), found.worst);
        Ok(Attacked { name, success, chance, worst, detail })
    }
}
