//! What the promises ask of the values of people.

use crate::audit::attacks::search::Rule;
use crate::audit::attacks::search::cuts::KnownSide;
use crate::audit::cells::CellClasses;
use crate::audit::checks::{
    AskedOfValues, ComparedValues, asked_of_values, k_anonymity,
};
use crate::audit::grouped::GroupedValues;
use crate::error::Result;
use crate::release::{Manifest, Treatment};
use crate::table::{Code, Histogram};

/// The promises about rows and values, and the kinds of rows that they tell apart.
pub(in crate::audit::attacks) struct ValueRule<'a> {
    /// Rows of a group, at least.
    pub(super) k: u64,
    /// The columns that promises are about.
    pub(super) columns: Vec<PromisedColumn<'a>>,
    /// Which values rows have in these columns, ascending.
    pub(super) kinds: Vec<Vec<Code>>,
}

/// A column with what is promised of it.
pub(super) struct PromisedColumn<'a> {
    /// Its place among the sensitive columns.
    pub(super) place: usize,
    values: GroupedValues<'a>,
    whole: Histogram,
    asked: Vec<Box<dyn AskedOfValues>>,
}

impl PromisedColumn<'_> {
    /// Whether what is promised holds of these values.
    pub(super) fn keeps(&self, group: &Histogram) -> bool {
        let hierarchy = self.values.column().hierarchy.as_ref();
        let (whole, apart) = (&self.whole, false);
        let values = ComparedValues { group, whole, hierarchy, apart };
        self.asked.iter().all(|asked| asked.judge(&values).holds)
    }

    pub(super) fn name(&self) -> &str {
        &self.values.column().name
    }

    pub(super) fn n_values(&self) -> usize {
        self.whole.counts().len()
    }
}

impl<'a> ValueRule<'a> {
    /// Reads the promises; or why they cannot be used.
    pub(super) fn of(
        manifest: &Manifest,
        classes: &'a CellClasses,
    ) -> Result<Result<Self, &'static str>> {
        let mut k = 1;
        let mut columns: Vec<PromisedColumn<'a>> = Vec::new();
        for note in &manifest.promises {
            let elsewhere = |name: &String| {
                let column = manifest.column(name);
                column.is_some_and(|column| {
                    matches!(
                        column.treatment,
                        Treatment::Drawn { .. } | Treatment::Apart
                    )
                })
            };
            if !note.columns.is_empty() && note.columns.iter().all(elsewhere) {
                continue;
            }
            if note.name == "k-anonymity" {
                k = k.max(k_anonymity::asked(note)?);
                continue;
            }
            if asked_of_values(note).is_none() {
                return Ok(Err(
                    "there are promises other than those about rows and values",
                ));
            }
            for (place, values) in classes.columns().enumerate() {
                if !note.columns.contains(&values.column().name) {
                    continue;
                }
                let Some(asked) = asked_of_values(note) else { continue };
                let asked = asked?;
                if asked.needs_hierarchy() && values.column().lost {
                    return Ok(Err("a hierarchy of values cannot be read"));
                }
                match columns.iter_mut().find(|column| column.place == place) {
                    Some(column) => column.asked.push(asked),
                    None => columns.push(PromisedColumn {
                        place,
                        values,
                        whole: values.whole(),
                        asked: vec![asked],
                    }),
                }
            }
        }
        if columns.is_empty() {
            return Ok(Err("nothing is promised of sensitive values in the rows"));
        }
        let mut rule = Self { k, columns, kinds: Vec::new() };
        let groups = 0..classes.n_groups();
        let each = groups.flat_map(|group| classes.rows_of(group));
        let mut kinds: Vec<Vec<Code>> =
            each.map(|(codes, _)| rule.kind(&codes)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        rule.kinds = kinds;
        Ok(Ok(rule))
    }

    fn kind(&self, codes: &[Code]) -> Vec<Code> {
        self.columns.iter().map(|column| codes[column.place]).collect()
    }

    /// For each group how many rows are of which kind.
    pub(super) fn counts(&self, classes: &CellClasses) -> Vec<Vec<u64>> {
        let mut counts = vec![vec![0; self.kinds.len()]; classes.n_groups()];
        for (group, counts) in counts.iter_mut().enumerate() {
            for (codes, n) in classes.rows_of(group) {
                if let Ok(kind) = self.kinds.binary_search(&self.kind(&codes)) {
                    counts[kind] += n;
                }
            }
        }
        counts
    }

    /// The values of a promised column among so many rows of each kind.
    pub(super) fn values(&self, at: usize, kinds: &[u64]) -> Histogram {
        let mut values = Histogram::new(self.columns[at].n_values());
        for (kind, n) in self.kinds.iter().zip(kinds).filter(|(_, n)| **n > 0) {
            values.add(kind[at], *n);
        }
        values
    }

    /// Whether the promises hold of some groups together.
    pub(super) fn keeps_groups(&self, counts: &[Vec<u64>], side: &KnownSide) -> bool {
        let mut sum = vec![0; self.kinds.len()];
        for group in &side.groups {
            let own = sum.iter_mut().zip(&counts[*group as usize]);
            own.for_each(|(sum, n)| *sum += n);
        }
        self.keeps(&sum, side.people)
    }
}

impl Rule for ValueRule<'_> {
    fn keeps(&self, labels: &[u64], people: u64) -> bool {
        people >= self.k
            && (0..self.columns.len())
                .all(|at| self.columns[at].keeps(&self.values(at, labels)))
    }
}
