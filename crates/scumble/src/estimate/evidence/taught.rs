//! What the groups of a column that stands apart teach about each of them: how its values
//! depend on other columns, and so how likely each row of a group has each of its values.
//!
//! # Guarantee
//! Nothing is taken as learned unless it makes groups likelier that were held out
//! (`learn/model.rs`): then every arrangement of a group counts alike, as if there was nothing
//! to learn. What is certain whatever the arrangement stays so.
//!
//! # Limits
//! Those of the model. Numbers that rows have one by one are not looked at.
//!
//! # Cost
//! Learned once, at the first question that needs it; then three numbers for each row and
//! value of its group.
//!
//! # Source
//! docs/methods.md, "Learned arrangements".

use rayon::prelude::*;

use crate::error::Result;
use crate::estimate::evidence::groups::GroupMembers;
use crate::estimate::evidence::{Column, Evidence, Nature};
use crate::learn::arrangements::{Alike, deal};
use crate::learn::{Groups, Learned, SeenColumn, SeenTexts, half_of};
use crate::table::Kind;
use crate::watch::Watch;

/// What groups teach of themselves.
#[derive(Debug)]
pub(crate) struct Taught {
    groups: Groups,
    lesson: Learned,
    /// How many rows of each member have each value of its group, group by group: by what
    /// the other half of the groups taught, and by what its own did.
    dealt: Vec<[f64; 2]>,
    starts: Vec<usize>,
}

/// A group, its rows weighed.
pub(crate) struct TaughtGroup<'t> {
    taught: &'t Taught,
    number: usize,
    n_values: usize,
}

impl Evidence {
    /// What the groups of a column teach, if anything.
    pub(in crate::estimate) fn taught<'e>(
        &'e self,
        groups: &'e GroupMembers,
        watch: &dyn Watch,
    ) -> Result<Option<&'e Taught>> {
        if let Some(known) = groups.taught.get() {
            return Ok(known.as_ref());
        }
        // Not while others wait for it: they may be waited for here.
        let found = Taught::of(self, groups, watch);
        watch.check()?;
        Ok(groups.taught.get_or_init(|| found).as_ref())
    }

    /// Whether answers about a column whose values are known by group use how it depends on
    /// other columns, which its groups teach.
    pub fn teaches(&self, column: &str, watch: &dyn Watch) -> Result<bool> {
        let place = self.column(column)?;
        let own = self.groups.iter().find(|groups| groups.sensitive == place);
        let taught = own.map(|groups| self.taught(groups, watch)).transpose()?;
        Ok(taught.flatten().is_some())
    }

    /// What is seen of rows in a column; nothing in those that say nothing about a row.
    fn seen(&self, column: &Column) -> Option<SeenColumn> {
        let codes = match column.nature {
            Nature::Kept | Nature::Coarse(_) => &column.codes,
            Nature::Drawn(noise, _) => &self.noises[noise].value_of,
            Nature::Apart | Nature::Number(_) => return None,
        };
        let n_codes = codes.iter().max().map_or(0, |most| *most as usize + 1);
        let mut rows = vec![0; n_codes];
        for (code, n) in codes.iter().zip(&self.rows) {
            rows[*code as usize] += n;
        }
        let number = |code: usize| match (column.nature, column.reading.kind) {
            (Nature::Kept, Kind::Number | Kind::Date) => {
                column.reading.number_of(&column.texts[code])
            }
            _ => None,
        };
        let numbers: Vec<Option<f64>> = (0..n_codes).map(number).collect();
        let codes = codes.iter().map(|code| *code as usize);
        Some(SeenTexts::of(&numbers, &rows).at(codes))
    }
}

impl Taught {
    fn of(
        evidence: &Evidence,
        members: &GroupMembers,
        watch: &dyn Watch,
    ) -> Option<Self> {
        let mut groups = Groups::new();
        for (_, entries, values) in members.iter() {
            let rows = entries.iter();
            let rows = rows.map(|entry| (*entry, evidence.rows[*entry as usize]));
            groups.push(rows, values.iter().copied());
        }
        let columns = evidence.table.iter().map(|place| &evidence.columns[*place]);
        let seen: Vec<SeenColumn> =
            columns.filter_map(|column| evidence.seen(column)).collect();
        let n_values = evidence.columns[members.sensitive].texts.len();
        let lesson = Learned::from(&groups, seen, n_values, &|_| 1.0, watch)?;
        let all = (0..groups.len()).into_par_iter().with_min_len(64);
        let dealt = all.map(|group| {
            if groups.is_too_large(group) {
                return Vec::new();
            }
            let by = |half: usize| -> Vec<f64> {
                let (rows, counts) = lesson.rows_by(&groups, group, half);
                deal(&rows, &counts).concat()
            };
            let own = half_of(group);
            let both = by(1 - own).into_iter().zip(by(own));
            both.map(|(others, own)| [others, own]).collect::<Vec<[f64; 2]>>()
        });
        let dealt: Vec<Vec<[f64; 2]>> = dealt.collect();
        let mut starts = vec![0];
        for own in &dealt {
            starts.push(starts[starts.len() - 1] + own.len());
        }
        Some(Self { groups, lesson, dealt: dealt.concat(), starts })
    }

    /// A group; nothing if it is too large to be weighed.
    pub(crate) fn group(&self, number: usize) -> Option<TaughtGroup<'_>> {
        let n_values = self.groups.values(number).len();
        let group = TaughtGroup { taught: self, number, n_values };
        (!self.groups.is_too_large(number)).then_some(group)
    }

    /// The lesson, and the groups it was learned from.
    pub(crate) fn lesson(&self) -> (&Learned, &Groups) {
        (&self.lesson, &self.groups)
    }
}

impl TaughtGroup<'_> {
    /// The share of a member's rows that have a value, by their places.
    pub(crate) fn share(&self, member: usize, value: usize) -> f64 {
        self.shares(member, value)[0]
    }

    /// By how much it would be more by what one half of the groups taught than by what the
    /// other did.
    pub(crate) fn apart(&self, member: usize, value: usize) -> f64 {
        let [others, own] = self.shares(member, value);
        if half_of(self.number) == 0 { others - own } else { own - others }
    }

    fn shares(&self, member: usize, value: usize) -> [f64; 2] {
        let rows = self.taught.groups.members(self.number)[member].1 as f64;
        let start = self.taught.starts[self.number];
        let dealt = self.taught.dealt[start + member * self.n_values + value];
        dealt.map(|n| n / rows)
    }

    /// The members, and how well values fit them.
    pub(crate) fn rows(&self) -> (Vec<Alike>, Vec<f64>) {
        self.taught.lesson.rows_of(&self.taught.groups, self.number)
    }
}
