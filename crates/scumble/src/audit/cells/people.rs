//! The people of a population, each in the published group that fits.

use std::borrow::Cow;

use crate::audit::cells::{CellClasses, Covers, QuasiKnowledge, fitting};
use crate::audit::given::quasi_columns;
use crate::error::{Error, Result};
use crate::hierarchy::{Column, Microdata};
use crate::release::Manifest;
use crate::watch::Watch;

/// Everybody who may be in the table, and where.
#[derive(Debug)]
pub(crate) struct People<'a> {
    /// The quasi columns in the order of the manifest, with the population's domains.
    pub(crate) columns: Vec<Cow<'a, Column>>,
    /// Their quasi values.
    pub(crate) known: QuasiKnowledge<'a>,
    /// For each distinct tuple the first group that fits, if any does.
    pub(crate) group_of: Vec<Option<u32>>,
    /// Tuples that fit several groups, and which.
    pub(crate) several: Vec<(u32, Vec<u32>)>,
    /// How many people fit each group; never fewer than are in the table.
    pub(crate) of_group: Vec<u64>,
    /// How many people fit none; never fewer than were left out.
    pub(crate) unpublished: u64,
    /// How many people there are.
    pub(crate) total: u64,
    /// Who of them is in the table.
    pub(crate) inside: InTable,
}

/// How many people of a group are in the table.
#[derive(Debug)]
pub(crate) struct InTable {
    /// Of each group: as many as it has rows, unless people have several.
    pub(crate) of_group: Vec<u64>,
    /// Of those who are not published.
    pub(crate) left_out: u64,
}

impl InTable {
    /// All of them.
    pub(crate) fn total(&self) -> u64 {
        self.of_group.iter().fold(self.left_out, |sum, n| sum.saturating_add(*n))
    }
}

impl<'a> People<'a> {
    /// Finds the group of everybody. Fails if there are fewer people than in the table.
    pub(crate) fn of(
        manifest: &Manifest,
        view: &CellClasses,
        population: &'a Microdata,
        inside: InTable,
        watch: &'a dyn Watch,
    ) -> Result<Self> {
        let (columns, places) = quasi_columns(manifest, population, "population")?;
        let covers = Covers::read(manifest, view, &columns)?;
        let known = QuasiKnowledge::of(population, &places, watch);
        let mut people = Self {
            columns,
            group_of: vec![None; known.people.len()],
            several: Vec::new(),
            of_group: vec![0; view.n_groups()],
            unpublished: 0,
            total: known.people.iter().sum(),
            inside,
            known,
        };
        for (tuple, groups) in fitting(view, &covers, &people.known)? {
            let n = people.known.people[tuple as usize];
            match &groups[..] {
                [] => people.unpublished += n,
                [first, rest @ ..] => {
                    people.group_of[tuple as usize] = Some(*first);
                    for group in &groups {
                        people.of_group[*group as usize] += n;
                    }
                    if !rest.is_empty() {
                        people.several.push((tuple, groups));
                    }
                }
            }
        }
        let InTable { of_group, left_out } = &people.inside;
        let crowded =
            people.of_group.iter().zip(of_group).any(|(n, inside)| n < inside);
        if crowded || *left_out > people.unpublished {
            return Err(Error::input("the release is not of this population")
                .with_hint("give the file it was made with"));
        }
        Ok(people)
    }

    /// The share of a group's people who are in the table, as far as cells tell.
    pub(crate) fn share(&self, group: u32) -> f64 {
        let group = group as usize;
        self.inside.of_group[group] as f64 / self.of_group[group].max(1) as f64
    }

    /// How many people fit several groups.
    pub(crate) fn overlapping(&self) -> u64 {
        self.several.iter().map(|(tuple, _)| self.known.people[*tuple as usize]).sum()
    }

    /// For each group its tuples, ascending.
    pub(crate) fn tuples_of_groups(&self) -> Vec<Vec<u32>> {
        let mut tuples = vec![Vec::new(); self.of_group.len()];
        for (tuple, group) in (0u32..).zip(&self.group_of) {
            if let Some(group) = group {
                tuples[*group as usize].push(tuple);
            }
        }
        tuples
    }
}
