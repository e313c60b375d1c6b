//! Counts of values that stand apart, beside columns that are as they were: as
//! `exchangeable.rs`, in whole numbers, and without anything that is open in a row itself.
//!
//! # Guarantee
//! That of `exchangeable.rs`, also of arrangements that are weighed by what groups teach; where nothing is lost the answer is exact and its error zero:
//! questions that all rows of a group satisfy alike, and totals of values. The parts of
//! `GROUP BY` add up to the whole. Combinations that no arrangement has are not listed.
//!
//! *Why.* Rows are sorted by what their cells leave open: which values would satisfy the
//! condition. Within a group this is the number of rows that get a value they can use
//! ([`Arranged`]). Arrangements of groups do not depend on each other, so
//! variances add up.
//!
//! # Cost
//! One pass over the distinct rows for each column asked about, with a condition evaluated
//! once for each distinct outcome of its tests; then for each group and answer, classes of
//! its rows times its distinct values.
//!
//! # Source
//! docs/methods.md, "Anatomy"; `hoeffding1951combinatorial`.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::error::Result;
use crate::estimate::evidence::groups::GroupMembers;
use crate::estimate::evidence::taught::TaughtGroup;
use crate::estimate::laws::arrangement::Arranged;
use crate::estimate::laws::estimate::{Basis, Estimate};
use crate::estimate::query::Truth;
use crate::estimate::query::classes::Numbered;
use crate::estimate::query::question::Question;
use crate::learn::arrangements::moments;

/// How many groups are worked through before asking again whether the answer is wanted.
const CHECKED_EVERY: usize = 256;

/// Rows that are counted together and leave the same open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct RowKind {
    /// The number of the values of the untouched columns that are counted apart.
    part: u32,
    /// The number of the set of values that satisfy the condition.
    set: u32,
}

/// What a question makes of rows and values.
struct Sorted {
    /// The kind of each distinct row; those that nothing satisfies have none.
    kind_of: Vec<Option<u32>>,
    kinds: Vec<RowKind>,
    /// The codes of the untouched columns that are counted apart, 0 for the sensitive one.
    parts: Vec<Vec<u32>>,
    /// Values that the question treats alike have the same label.
    label_of: Vec<u32>,
    /// For each set, whether values with a label are in it.
    sets: Vec<Vec<bool>>,
}

impl Question<'_> {
    /// The answers, in the order of the values that are counted apart.
    pub(crate) fn answer_arranged(
        &self,
        groups: &GroupMembers,
    ) -> Result<Vec<Estimate>> {
        let apart = self.group_by.contains(&groups.sensitive);
        let sorted = self.by_use(groups.sensitive);
        // By the part and, if values are counted apart, the value.
        let mut sums: HashMap<(u32, u32), Sum> = HashMap::new();
        if self.group_by.is_empty() {
            sums.insert((0, 0), Sum::default());
        }
        let taught = self.evidence.taught(groups, self.watch)?;
        let mut rows_of = vec![0; sorted.kinds.len()];
        let mut label_rows = vec![0; sorted.label_of.len()];
        let (mut kinds, mut labels) = (Vec::<u32>::new(), Vec::<u32>::new());
        let (mut class_rows, mut value_rows) = (Vec::new(), Vec::new());
        for (number, (size, entries, values)) in groups.iter().enumerate() {
            if number % CHECKED_EVERY == 0 {
                self.watch.check()?;
            }
            for entry in entries {
                if let Some(kind) = sorted.kind_of[*entry as usize] {
                    if rows_of[kind as usize] == 0 {
                        kinds.push(kind);
                    }
                    rows_of[kind as usize] += self.evidence.rows[*entry as usize];
                }
            }
            let kind = |number: &u32| sorted.kinds[*number as usize];
            kinds.sort_unstable_by_key(kind);
            if !apart {
                for (code, n) in values {
                    let label = sorted.label_of[*code as usize];
                    if label_rows[label as usize] == 0 {
                        labels.push(label);
                    }
                    label_rows[label as usize] += n;
                }
                value_rows.extend(labels.iter().map(|l| label_rows[*l as usize]));
            }
            let taught = taught.and_then(|taught| taught.group(number));
            // What the groups teach, where an arrangement makes a difference.
            let weighed = |found: Arranged, part: u32, own: Option<u32>| {
                let Some(taught) = taught.as_ref().filter(|_| found.variance > 0.0)
                else {
                    return Sum { found, apart: 0.0 };
                };
                weighed(taught, found, entries.len(), values, &|member, code| {
                    let kind = sorted.kind_of[entries[member] as usize];
                    own.is_none_or(|own| own == code)
                        && kind.map(|number| sorted.kinds[number as usize]).is_some_and(
                            |kind| {
                                let label = sorted.label_of[code as usize];
                                kind.part == part
                                    && sorted.sets[kind.set as usize][label as usize]
                            },
                        )
                })
            };
            for classes in kinds.chunk_by(|a, b| kind(a).part == kind(b).part) {
                let part = kind(&classes[0]).part;
                let set =
                    |class: usize| &sorted.sets[kind(&classes[class]).set as usize];
                class_rows.clear();
                class_rows.extend(classes.iter().map(|class| rows_of[*class as usize]));
                if !apart {
                    let fits = |class, place: usize| set(class)[labels[place] as usize];
                    let found = Arranged::new(size, &class_rows, &value_rows, fits);
                    add(&mut sums, (part, 0), weighed(found, part, None));
                    continue;
                }
                for (code, n) in values {
                    let label = sorted.label_of[*code as usize] as usize;
                    let can = (0..classes.len()).filter(|class| set(*class)[label]);
                    let can = can.map(|class| class_rows[class]).sum();
                    let found = Arranged::plain(size, can, *n);
                    add(&mut sums, (part, *code), weighed(found, part, Some(*code)));
                }
            }
            kinds.drain(..).for_each(|kind| rows_of[kind as usize] = 0);
            labels.drain(..).for_each(|label| label_rows[label as usize] = 0);
            value_rows.clear();
        }

        let answers = sums.into_iter().map(|((part, code), sum)| {
            let own = self.group_by.iter().zip(&sorted.parts[part as usize]);
            let codes = own.map(
                |(place, own)| if *place == groups.sensitive { code } else { *own },
            );
            (codes.collect(), sum)
        });
        let answers: BTreeMap<Vec<u32>, Sum> = answers.collect();
        let estimate = |(codes, sum): (Vec<u32>, Sum)| {
            let Sum { found, apart } = sum;
            // Two halves of the groups, of which each teaches half as well as all of them.
            let variance = found.variance + apart * apart / 4.0;
            Estimate {
                values: self.texts(&codes),
                count: found.count,
                unbiased: Some(found.count),
                standard_error: Some(variance.sqrt()),
                at_least: found.at_least,
                at_most: found.at_most,
                rows: found.at_most,
                basis: Basis::Law,
            }
        };
        Ok(answers.into_iter().map(estimate).collect())
    }

    /// Sorts rows by what they leave open of the sensitive column.
    fn by_use(&self, sensitive: usize) -> Sorted {
        let columns = &self.evidence.columns;
        let (label_of, examples) =
            self.labels(sensitive, columns[sensitive].texts.len());
        let (class_of, n_classes) = self.sorted(None, &[]);
        let mut kinds = Numbered::default();
        let (mut parts, mut sets) = (Numbered::default(), Numbered::default());
        let mut set_of: HashMap<Vec<Truth>, Option<u32>> = HashMap::new();
        let mut kind_of_class: Vec<Option<Option<u32>>> = vec![None; n_classes];
        for (entry, class) in class_of.iter().enumerate() {
            let known = &mut kind_of_class[*class as usize];
            if known.is_some() {
                continue;
            }
            let truths = self.truths(entry);
            let set = *set_of.entry(truths).or_insert_with_key(|truths| {
                let holds =
                    |code: &u32| self.satisfied(truths, sensitive, *code as usize);
                let set: Vec<bool> = examples.iter().map(holds).collect();
                set.contains(&true).then(|| sets.number(set))
            });
            *known = Some(set.map(|set| {
                let own = |place: &usize| columns[*place].codes.get(entry).copied();
                let part = self.group_by.iter().map(|place| own(place).unwrap_or(0));
                let part = parts.number(part.collect());
                kinds.number(RowKind { part, set })
            }));
        }
        if self.group_by.is_empty() {
            // Also if no row counts, there is the part of all rows.
            parts.number(Vec::new());
        }
        let kind_of =
            class_of.iter().map(|class| kind_of_class[*class as usize].flatten());
        Sorted {
            kind_of: kind_of.collect(),
            kinds: kinds.items,
            parts: parts.items,
            label_of,
            sets: sets.items,
        }
    }
}

/// What groups give together.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    found: Arranged,
    /// By how much more it would be by what one half of the groups taught than by what the
    /// other did.
    apart: f64,
}

/// The same with arrangements weighed by what groups teach: `counts` says which values count
/// for which members.
fn weighed(
    taught: &TaughtGroup<'_>,
    found: Arranged,
    n_members: usize,
    values: &[(u32, u64)],
    counts: &dyn Fn(usize, u32) -> bool,
) -> Sum {
    let (rows, each) = taught.rows();
    let (mut count, mut apart) = (0.0, 0.0);
    for (member, (n, _)) in rows.iter().enumerate().take(n_members) {
        for (place, (code, _)) in values.iter().enumerate() {
            if counts(member, *code) {
                count += n * taught.share(member, place);
                apart += n * taught.apart(member, place);
            }
        }
    }
    let adds = |member: usize, place: usize| {
        [f64::from(u8::from(counts(member, values[place].0))), 0.0]
    };
    let (_, [variance, ..]) = moments(&rows, &each, &adds);
    let count = count.clamp(found.at_least, found.at_most);
    Sum { found: Arranged { count, variance, ..found }, apart }
}

/// Adds what a group gives, if it gives anything.
fn add(sums: &mut HashMap<(u32, u32), Sum>, key: (u32, u32), own: Sum) {
    if own.found.at_most > 0.0 {
        let sum = sums.entry(key).or_default();
        sum.found.count += own.found.count;
        sum.found.variance += own.found.variance;
        sum.found.at_least += own.found.at_least;
        sum.found.at_most += own.found.at_most;
        sum.apart += own.apart;
    }
}
