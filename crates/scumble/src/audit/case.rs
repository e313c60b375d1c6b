//! A release on the auditor's desk: what its files show, and what the auditor was given, bound
//! to it: who could be whom, how often values truly occur, who must be at which level.
//!
//! An input is used once something asks for it. Attackers get what they may know from here;
//! the truth goes to scorers and exact rechecks only.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use crate::audit::apart::{ApartTruth, ApartValues};
use crate::audit::attacks::linkage::{self, LinkageGuesses};
use crate::audit::cells::{
    CellClasses, Covers, GroupPeople, InTable, Members, People, PresenceShares,
    QuasiKnowledge, TrueRows, cost,
};
use crate::audit::drawn::TrueCounts;
use crate::audit::given::{Given, Knowledge, quasi_columns};
use crate::audit::noisy::ranked::ranked;
use crate::audit::noisy::{NoisyFindings, NoisyTruth, RankAttacks, RowClasses};
use crate::audit::views::{Views, facet};
use crate::error::{Error, Result};
use crate::hierarchy::{Column, Microdata};
use crate::release::Manifest;
use crate::table::{Numbers, Source, Stated};
use crate::watch::Watch;

/// A release, and what the auditor has beside it.
#[derive(Debug)]
pub struct Case<'a> {
    pub(super) views: &'a Views<'a>,
    pub(super) manifest: &'a Manifest,
    pub(super) watch: &'a dyn Watch,
    inputs: CaseInputs<'a>,
    used: Rc<Used>,
    crowd: Rc<OnceCell<Crowd<'a>>>,
    truths: Truths<'a>,
}

#[derive(Debug, Clone, Copy)]
struct CaseInputs<'a> {
    // The counted table alone, without people of a population.
    table: Option<&'a Microdata>,
    numbers: Option<&'a Numbers>,
    rows: Option<&'a Source>,
    population: Option<&'a Microdata>,
    knowledge: Option<&'a Knowledge>,
}

/// Which inputs something asked for.
#[derive(Debug, Default)]
struct Used {
    original: Cell<bool>,
    population: Cell<bool>,
    knowledge: Cell<bool>,
}

/// What was found with the original, made when it is first asked for.
#[derive(Debug, Default)]
struct Truths<'a> {
    linked: OnceCell<Linked<'a>>,
    people: OnceCell<Option<GroupPeople>>,
    counts: OnceCell<TrueCounts>,
    apart: OnceCell<Vec<ApartTruth<'a>>>,
    noisy: OnceCell<NoisyTruth>,
    ranked: OnceCell<RankAttacks>,
}

/// A column that stands apart, and who truly has its values.
pub(crate) type ApartColumn<'c, 'a> = (&'c ApartValues, Option<&'c ApartTruth<'a>>);

/// Everybody of the table, and the rows that could be theirs.
#[derive(Debug)]
pub(crate) struct Linked<'a> {
    pub(super) table: &'a Microdata,
    pub(super) columns: Vec<Cow<'a, Column>>,
    pub(super) covers: Covers,
    pub(super) known: QuasiKnowledge<'a>,
    pub(super) guesses: LinkageGuesses,
    /// For scorers.
    pub(super) truth: TrueRows<'a>,
}

/// Everybody of the population, and how likely each is in the table.
#[derive(Debug)]
pub(crate) struct Crowd<'a> {
    pub(super) people: People<'a>,
    /// Nothing if people may have several rows, and it is not known who has.
    pub(super) presence: Option<PresenceShares>,
}

impl<'a> Case<'a> {
    /// What is given; `table` is the counted original without people of a population.
    pub(super) fn new(
        views: &'a Views<'a>,
        given: &'a Given<'a>,
        table: Option<&'a Microdata>,
    ) -> Self {
        let numbers = given.original.and_then(|original| original.numbers.as_deref());
        let Given { population, knowledge, .. } = *given;
        let rows = given.original.and_then(|original| original.rows.as_ref());
        let inputs = CaseInputs { table, numbers, rows, population, knowledge };
        Self::of(views, inputs, Rc::default(), Rc::default())
    }

    /// The same without what no reader has: the original, and knowledge counted from it.
    pub(super) fn of_readers(&self) -> Self {
        let stated = |knowledge: &&Knowledge| matches!(knowledge, Knowledge::Stated(_));
        let inputs = CaseInputs {
            table: None,
            numbers: None,
            rows: None,
            knowledge: self.inputs.knowledge.filter(stated),
            ..self.inputs
        };
        Self::of(self.views, inputs, Rc::clone(&self.used), Rc::clone(&self.crowd))
    }

    fn of(
        views: &'a Views<'a>,
        inputs: CaseInputs<'a>,
        used: Rc<Used>,
        crowd: Rc<OnceCell<Crowd<'a>>>,
    ) -> Self {
        let (manifest, watch) = (views.manifest, views.watch);
        Self { views, manifest, watch, inputs, used, crowd, truths: Truths::default() }
    }

    /// Both, if both are there: then the original is used.
    fn with_original<S, T>(&self, seen: Option<S>, truth: Option<T>) -> Option<(S, T)> {
        let both = seen.zip(truth);
        self.used.original.set(self.used.original.get() || both.is_some());
        both
    }

    /// The rows that could be everybody's, by equal cells.
    pub(super) fn linked(&self) -> Result<Option<&Linked<'a>>> {
        let both = self.with_original(self.views.cells()?, self.inputs.table);
        facet(both, &self.truths.linked, |(classes, table)| {
            let truth = TrueRows::of(table, classes)?;
            let (columns, places) = quasi_columns(self.manifest, table, "original")?;
            let covers = Covers::read(self.manifest, classes, &columns)?;
            let known = QuasiKnowledge::of(table, &places, self.watch);
            let guesses = linkage::guess(classes, &covers, &known);
            self.watch.check()?;
            cost::check_same_table(classes, &guesses, table, self.manifest.left_out)?;
            Ok(Linked { table, columns, covers, known, guesses, truth })
        })
    }

    /// The people of each class of cells, if promises count them and somebody has several
    /// rows.
    pub(super) fn group_people(&self) -> Result<Option<&GroupPeople>> {
        let ambiguous = || {
            Error::input(
                "people cannot be counted: rows of the table fit several groups",
            )
            .with_hint("`cells = \"interval\"` or `\"set\"` do not overlap")
        };
        let found = self.found_people()?;
        found.map(|found| found.as_ref().ok_or_else(ambiguous)).transpose()
    }

    /// The same; nothing inside if people fit several classes.
    pub(super) fn found_people(&self) -> Result<Option<&Option<GroupPeople>>> {
        if self.manifest.person.is_none() {
            return Ok(None);
        }
        let both = self.views.cells()?.zip(self.linked()?);
        let persons = both.and_then(|(_, linked)| linked.table.census.persons.as_ref());
        facet(both.zip(persons), &self.truths.people, |((view, linked), persons)| {
            let (covers, known) = (&linked.covers, &linked.known);
            GroupPeople::of(view, covers, known, linked.table, persons)
        })
    }

    /// What sizes of groups are numbers of: rows, or people where these are counted.
    pub(super) fn counted_word(&self) -> Option<&'static str> {
        self.manifest.person.as_ref()?;
        Some(if self.inputs.table.is_some() { "people" } else { "rows" })
    }

    /// Everybody of the population, where rows are classes of cells.
    pub(super) fn crowd(&self) -> Result<Option<&Crowd<'a>>> {
        let both = self.views.cells()?.zip(self.inputs.population);
        self.used.population.set(self.used.population.get() || both.is_some());
        facet(both, &self.crowd, |(classes, population)| {
            let inside = self.in_table(classes)?;
            let nobody =
                || InTable { of_group: vec![0; classes.n_groups()], left_out: 0 };
            let (known, inside) = (inside.is_some(), inside.unwrap_or_else(nobody));
            let (manifest, watch) = (self.manifest, self.watch);
            let people = People::of(manifest, classes, population, inside, watch)?;
            let presence = known.then(|| PresenceShares::of(classes, &people));
            Ok(Crowd { presence: presence.transpose()?, people })
        })
    }

    /// How many people of each class are in the table; nothing if rows may be of the same
    /// person, and the original is not there to tell.
    fn in_table(&self, classes: &CellClasses) -> Result<Option<InTable>> {
        if self.manifest.person.is_some() && self.inputs.table.is_none() {
            return Ok(None);
        }
        Ok(Some(match self.group_people()? {
            Some(people) => {
                InTable { of_group: people.sizes.clone(), left_out: people.unpublished }
            }
            None => InTable {
                of_group: classes.sizes.clone(),
                left_out: self.manifest.left_out,
            },
        }))
    }

    /// Who of the population is in the table, for scorers.
    pub(super) fn members<'b>(&self, crowd: &'b Crowd<'a>) -> Result<Members<'b>>
    where
        'a: 'b,
    {
        Members::of(self.manifest, &crowd.people, self.inputs.table)
    }

    /// The rows of the table, for scorers.
    pub(super) fn original_rows(&self) -> Option<&'a Source> {
        self.with_original(Some(()), self.inputs.rows).map(|(_, rows)| rows)
    }

    /// How often values of randomized columns truly occur.
    pub(super) fn true_counts(&self) -> Result<Option<&TrueCounts>> {
        let both = self.with_original(self.views.drawn()?, self.inputs.table);
        let count = |(drawn, table)| TrueCounts::of(self.manifest, drawn, table);
        facet(both, &self.truths.counts, count)
    }

    /// Whether rows cannot be found in the table by their quasi cells.
    pub(super) fn hides_rows(&self) -> bool {
        let present = self.views.present;
        present.coarse || present.noisy || present.redrawn
    }

    /// Columns that stand apart, each with who truly has its values, if that is known.
    /// Beside coarse or noisy quasi cells rows cannot be found in the table.
    pub(super) fn apart(&self) -> Result<Vec<ApartColumn<'_, 'a>>> {
        let all = self.views.apart()?;
        let there = (!all.is_empty() && !self.hides_rows()).then_some(all);
        let both = self.with_original(there, self.inputs.table);
        let found = facet(both, &self.truths.apart, |(all, table)| {
            let truth =
                |values| ApartTruth::of(self.manifest, values, table, self.watch);
            all.iter().map(truth).collect()
        })?;
        let truth = |place: usize| found.and_then(|found: &Vec<_>| found.get(place));
        let columns = all.iter().enumerate();
        Ok(columns.map(|(place, values)| (values, truth(place))).collect())
    }

    /// What the true numbers tell about blurred ones.
    pub(super) fn noisy_truth(&self) -> Result<Option<&NoisyTruth>> {
        let both = self.with_original(self.views.noisy()?, self.inputs.numbers);
        let cells = if both.is_some() { self.views.cells()? } else { None };
        let classes = match cells.zip(self.linked()?) {
            Some((view, linked)) => Some(RowClasses::of(self.manifest, view, linked)?),
            None => None,
        };
        facet(both, &self.truths.noisy, |(rows, numbers)| {
            // Company is counted within classes of cells.
            let numbers = match &classes {
                Some(classes) => {
                    Cow::Owned(classes.applied(numbers, &rows.note.exact)?)
                }
                None => Cow::Borrowed(numbers),
            };
            NoisyTruth::of(self.manifest, rows, &numbers, self.watch)
        })
    }

    /// How well true rows fit published ones, over noise that is drawn anew.
    pub(super) fn ranked(&self) -> Result<Option<&RankAttacks>> {
        let strict = match self.noisy_truth()?.map(|truth| &truth.found) {
            Some(NoisyFindings::Strict { frames, measured, .. }) => {
                Some((frames, measured))
            }
            Some(NoisyFindings::Loose(_)) | None => None,
        };
        facet(strict, &self.truths.ranked, |(frames, measured)| {
            let found = ranked(frames, measured, self.watch);
            self.watch.check()?;
            Ok(found)
        })
    }

    /// The true numbers of rows that were drawn anew.
    pub(super) fn redrawn_numbers(&self) -> Result<Option<&'a Numbers>> {
        let both = self.with_original(self.views.redrawn()?, self.inputs.numbers);
        let rows = self.manifest.rows + self.manifest.left_out;
        match both {
            Some((_, numbers)) if numbers.n_rows as u64 != rows => {
                Err(cost::another_table())
            }
            _ => Ok(both.map(|(_, numbers)| numbers)),
        }
    }

    /// What the adversary knows of how values depend on quasi columns.
    pub(super) fn knowledge(&self) -> Option<&'a Knowledge> {
        self.used.knowledge.set(true);
        self.inputs.knowledge
    }

    /// What a file says that the adversary knows.
    pub(super) fn stated(&self) -> Option<&'a Stated> {
        match self.knowledge()? {
            Knowledge::Stated(stated) => Some(stated),
            Knowledge::Table => None,
        }
    }

    /// That an input was given and nothing asked for it.
    pub(super) fn check_used(&self, given: &Given<'_>) -> Result<()> {
        let inputs = [
            (
                given.population.is_some() && !self.used.population.get(),
                "population",
                "nothing in this release is about who is in the table",
                "leave `--population` away; presence is looked at where quasi columns are \
                 made coarser",
            ),
            (
                given.knowledge.is_some() && !self.used.knowledge.get(),
                "knowledge",
                "no sensitive value of this release is published by group",
                "leave `--knowledge` away; it is looked at where values stand in groups",
            ),
            (
                given.original.is_some() && !self.used.original.get(),
                "original",
                "nothing in this release can be compared with it",
                "leave `--original` away",
            ),
        ];
        match inputs.into_iter().find(|(unused, ..)| *unused) {
            None => Ok(()),
            Some((_, name, why, hint)) => {
                let what = format!("the {name} was not used: {why}");
                Err(Error::input(what).with_hint(hint))
            }
        }
    }
}
