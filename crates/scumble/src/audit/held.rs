//! What the auditor holds, bound to the release: who could be whom, how often values truly
//! occur, who must be at which level.
//!
//! An input is used once something asks for it. Attackers get what they may know from here;
//! the truth goes to scorers and exact rechecks only.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use crate::audit::apart::truth::ApartTruth;
use crate::audit::attacks::linkage::{self, LinkageGuesses};
use crate::audit::cells::cost;
use crate::audit::cells::covers::Covers;
use crate::audit::cells::fits::QuasiKnowledge;
use crate::audit::cells::members::Members;
use crate::audit::cells::people::People;
use crate::audit::cells::presence::Presence;
use crate::audit::cells::score::TrueRows;
use crate::audit::drawn::truth::TrueCounts;
use crate::audit::given::{Given, Knowledge, quasi_columns};
use crate::audit::noisy::ranked::{Ranked, ranked};
use crate::audit::noisy::{NoisyFindings, NoisyTruth};
use crate::audit::views::{Views, facet};
use crate::error::{Error, Result};
use crate::hierarchy::{Column, Microdata};
use crate::table::{Numbers, Stated};

/// What the auditor holds besides the release.
#[derive(Debug)]
pub struct Held<'a> {
    views: &'a Views<'a>,
    // The counted table alone, without people of a population.
    table: Option<&'a Microdata>,
    numbers: Option<&'a Numbers>,
    population: Option<&'a Microdata>,
    knowledge: Option<&'a Knowledge>,
    used: Rc<Used>,
    linked: OnceCell<Linked<'a>>,
    crowd: Rc<OnceCell<Crowd<'a>>>,
    true_counts: OnceCell<TrueCounts>,
    apart: OnceCell<ApartTruth<'a>>,
    noisy: OnceCell<NoisyTruth>,
    ranked: OnceCell<Ranked>,
}

/// Which inputs something asked for.
#[derive(Debug, Default)]
struct Used {
    original: Cell<bool>,
    population: Cell<bool>,
    knowledge: Cell<bool>,
}

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
    pub(super) presence: Presence,
}

impl<'a> Held<'a> {
    /// What is given; `table` is the counted original without people of a population.
    pub(super) fn new(
        views: &'a Views<'a>,
        given: &'a Given<'a>,
        table: Option<&'a Microdata>,
    ) -> Self {
        Self {
            views,
            table,
            numbers: given.original.and_then(|original| original.numbers.as_deref()),
            population: given.population,
            knowledge: given.knowledge,
            used: Rc::default(),
            linked: OnceCell::new(),
            crowd: Rc::default(),
            true_counts: OnceCell::new(),
            apart: OnceCell::new(),
            noisy: OnceCell::new(),
            ranked: OnceCell::new(),
        }
    }

    /// The same without what no reader has: the original, and knowledge counted from it.
    pub(super) fn of_readers(&self) -> Self {
        Self {
            views: self.views,
            table: None,
            numbers: None,
            population: self.population,
            knowledge: self.knowledge.filter(|k| matches!(k, Knowledge::Stated(_))),
            used: Rc::clone(&self.used),
            linked: OnceCell::new(),
            crowd: Rc::clone(&self.crowd),
            true_counts: OnceCell::new(),
            apart: OnceCell::new(),
            noisy: OnceCell::new(),
            ranked: OnceCell::new(),
        }
    }

    /// The rows that could be everybody's, by equal cells.
    pub(super) fn linked(&self) -> Result<Option<&Linked<'a>>> {
        let Some((classes, table)) = self.views.cells()?.zip(self.table) else {
            return Ok(None);
        };
        self.used.original.set(true);
        facet(true, &self.linked, || {
            let (manifest, watch) = (self.views.manifest, self.views.watch);
            let truth = TrueRows::of(table, classes)?;
            let (columns, places) = quasi_columns(manifest, table, "original")?;
            let covers = Covers::read(manifest, classes, &columns)?;
            let known = QuasiKnowledge::of(table, &places, watch);
            let guesses = linkage::guess(classes, &covers, &known);
            watch.check()?;
            cost::check_same_table(classes, &guesses, table, manifest.left_out)?;
            Ok(Linked { table, columns, covers, known, guesses, truth })
        })
    }

    /// Everybody of the population, where rows are classes of cells.
    pub(super) fn crowd(&self) -> Result<Option<&Crowd<'a>>> {
        let Some((classes, given)) = self.views.cells()?.zip(self.population) else {
            return Ok(None);
        };
        self.used.population.set(true);
        facet(true, &self.crowd, || {
            let (manifest, watch) = (self.views.manifest, self.views.watch);
            let people = People::of(manifest, classes, given, watch)?;
            let presence = Presence::of(classes, &people)?;
            Ok(Crowd { people, presence })
        })
    }

    /// Who of the population is in the table, for scorers.
    pub(super) fn members<'b>(&self, crowd: &'b Crowd<'a>) -> Result<Members<'b>>
    where
        'a: 'b,
    {
        Members::of(self.views.manifest, &crowd.people, self.table)
    }

    /// How often values of randomized columns truly occur.
    pub(super) fn true_counts(&self) -> Result<Option<&TrueCounts>> {
        let Some((drawn, table)) = self.views.drawn()?.zip(self.table) else {
            return Ok(None);
        };
        self.used.original.set(true);
        facet(true, &self.true_counts, || {
            TrueCounts::of(self.views.manifest, drawn, table)
        })
    }

    /// Who truly has the values that stand apart. Beside coarse or noisy quasi cells rows
    /// cannot be found in the table.
    pub(super) fn apart(&self) -> Result<Option<&ApartTruth<'a>>> {
        let Some((values, table)) = self.views.apart()?.zip(self.table) else {
            return Ok(None);
        };
        let present = self.views.present;
        let found = !(present.coarse || present.noisy || present.redrawn);
        if found {
            self.used.original.set(true);
        }
        facet(found, &self.apart, || {
            ApartTruth::of(self.views.manifest, values, table, self.views.watch)
        })
    }

    /// What the true numbers tell about blurred ones.
    pub(super) fn noisy(&self) -> Result<Option<&NoisyTruth>> {
        let Some((rows, numbers)) = self.views.noisy()?.zip(self.numbers) else {
            return Ok(None);
        };
        self.used.original.set(true);
        facet(true, &self.noisy, || {
            NoisyTruth::of(self.views.manifest, rows, numbers, self.views.watch)
        })
    }

    /// How well true rows fit published ones, over noise that is drawn anew.
    pub(super) fn ranked(&self) -> Result<Option<&Ranked>> {
        let Some(NoisyTruth { found, .. }) = self.noisy()? else { return Ok(None) };
        let NoisyFindings::Strict { frames, measured, .. } = found else {
            return Ok(None);
        };
        let watch = self.views.watch;
        facet(true, &self.ranked, || {
            let found = ranked(frames, measured, watch);
            watch.check()?;
            Ok(found)
        })
    }

    /// The true numbers of rows that were drawn anew.
    pub(super) fn redrawn(&self) -> Result<Option<&'a Numbers>> {
        let Some(numbers) = self.numbers.filter(|_| self.views.present.redrawn) else {
            return Ok(None);
        };
        self.used.original.set(true);
        let manifest = self.views.manifest;
        match numbers.n_rows as u64 == manifest.rows + manifest.left_out {
            true => Ok(Some(numbers)),
            false => Err(cost::another_table()),
        }
    }

    /// What the adversary knows of how values depend on quasi columns.
    pub(super) fn knowledge(&self) -> Option<&'a Knowledge> {
        self.used.knowledge.set(true);
        self.knowledge
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
        let unused = |name: &str, why: &str, hint: &str| {
            let what = format!("the {name} was not used: {why}");
            Err(Error::input(what).with_hint(hint.to_owned()))
        };
        if given.population.is_some() && !self.used.population.get() {
            return unused(
                "population",
                "nothing in this release is about who is in the table",
                "leave `--population` away; presence is looked at where quasi columns are \
                 made coarser",
            );
        }
        if given.knowledge.is_some() && !self.used.knowledge.get() {
            return unused(
                "knowledge",
                "no sensitive value of this release is published by group",
                "leave `--knowledge` away; it is looked at where values stand in groups",
            );
        }
        if given.original.is_some() && !self.used.original.get() {
            return unused(
                "original",
                "nothing in this release can be compared with it",
                "leave `--original` away",
            );
        }
        Ok(())
    }
}
