//! A protected column as a question: what is believed of its value in every row, before and
//! after something else of the row is seen.

use std::ops::Range;

use hashbrown::HashMap;

use super::learn::Learned;
use super::rows::Feature;
use crate::audit::drawn::DrawnColumn;
use crate::learn::arrangements::{Alike, deal_nearly, likelihood};

/// A protected column.
#[derive(Debug)]
pub(super) struct Problem<'a> {
    /// How many values it has.
    pub(super) n_values: usize,
    /// What is believed of a row's value before: values, ascending in a prior of `Shown`, and
    /// their shares.
    pub(super) priors: Vec<Vec<(u32, f64)>>,
    /// The prior of each row.
    pub(super) prior_of: Vec<u32>,
    /// What is published of the value of each row.
    pub(super) published: Vec<u32>,
    /// What that means.
    pub(super) told: Told<'a>,
    /// The half of the rows that each is in: each half is judged by what the other teaches.
    pub(super) half_of: Vec<bool>,
}

/// What is published of a value.
#[derive(Debug)]
pub(super) enum Told<'a> {
    /// The value, in rows with the same cells: nobody knows which of them is whose, so a guess
    /// does not use it.
    Shown,
    /// A place in the domain of a sub-table, which is the prior of the row.
    Drawn(&'a DrawnColumn),
    /// A group, by its place among these: which values it has, and how many rows have each.
    Apart(Vec<Vec<(u32, f64)>>),
}

/// Rows that a reader cannot tell apart but for what is published of the value.
#[derive(Debug, Default)]
struct Context {
    prior: u32,
    seen: Vec<u32>,
    // What is published, ascending, and how many rows of each half have it.
    published: Vec<(u32, [f64; 2])>,
    // How many rows of each half there are.
    rows: [f64; 2],
    // Where its beliefs stand among those of all contexts.
    start: usize,
}

/// All rows, by what is seen of them.
#[derive(Debug)]
pub(super) struct Contexts<'a> {
    problem: &'a Problem<'a>,
    all: Vec<Context>,
    /// The context of each row.
    of_row: Vec<u32>,
    // For values apart: the contexts of each group's rows, and how many are of each.
    members: Vec<Vec<(u32, f64)>>,
}

/// The best guess about a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Guess {
    /// The value.
    pub(super) value: u32,
    /// How likely it is right.
    pub(super) belief: f64,
}

impl<'a> Contexts<'a> {
    /// Sorts rows by what is seen.
    pub(super) fn of(problem: &'a Problem<'a>, seen: &[&Feature]) -> Self {
        let mut of_row = problem.prior_of.clone();
        let mut n_contexts = problem.priors.len();
        for feature in seen {
            let mut index: HashMap<(u32, u32), u32> = HashMap::new();
            for (context, code) in of_row.iter_mut().zip(&feature.of_row) {
                let next = index.len() as u32;
                *context = *index.entry((*context, *code)).or_insert(next);
            }
            n_contexts = index.len();
        }
        // The rows of each context side by side.
        let mut starts = vec![0; n_contexts + 1];
        of_row.iter().for_each(|context| starts[*context as usize + 1] += 1);
        for context in 0..n_contexts {
            starts[context + 1] += starts[context];
        }
        let (mut rows, mut next) = (vec![0; of_row.len()], starts.clone());
        for (row, context) in of_row.iter().enumerate() {
            rows[next[*context as usize]] = row;
            next[*context as usize] += 1;
        }
        let (mut all, mut n_beliefs) = (Vec::with_capacity(n_contexts), 0);
        let mut told: Vec<(u32, bool)> = Vec::new();
        for ends in starts.windows(2) {
            let own = &rows[ends[0]..ends[1]];
            let Some(first) = own.first() else {
                all.push(Context::default());
                continue;
            };
            told.clear();
            told.extend(
                own.iter().map(|r| (problem.published[*r], problem.half_of[*r])),
            );
            told.sort_unstable();
            let counted = told.chunk_by(|a, b| a.0 == b.0).map(|same| {
                let second = same.iter().filter(|(_, half)| *half).count();
                (same[0].0, [(same.len() - second) as f64, second as f64])
            });
            let published: Vec<(u32, [f64; 2])> = counted.collect();
            let rows = [0, 1].map(|half| published.iter().map(|(_, n)| n[half]).sum());
            let prior = problem.prior_of[*first];
            let seen = seen.iter().map(|feature| feature.of_row[*first]).collect();
            all.push(Context { prior, seen, published, rows, start: n_beliefs });
            n_beliefs += problem.priors[prior as usize].len();
        }
        let mut members = Vec::new();
        if let Told::Apart(groups) = &problem.told {
            members = vec![Vec::new(); groups.len()];
            for (place, context) in all.iter().enumerate() {
                for (group, n) in &context.published {
                    members[*group as usize].push((place as u32, n[0] + n[1]));
                }
            }
        }
        Self { problem, all, of_row, members }
    }

    /// The contexts of a half, by their places: what is seen of their rows, and how many.
    pub(super) fn of_half(
        &self,
        half: usize,
    ) -> impl Iterator<Item = (usize, &[u32], f64)> {
        let all = self.all.iter().enumerate();
        let counted = all.map(move |(place, c)| (place, &*c.seen, c.rows[half]));
        counted.filter(|(.., n)| *n > 0.0)
    }

    /// What is seen of the last column.
    pub(super) fn last_seen(&self, context: usize) -> Option<u32> {
        self.all[context].seen.last().copied()
    }

    /// Whether what is published is the value.
    pub(super) fn is_shown(&self) -> bool {
        matches!(self.problem.told, Told::Shown)
    }

    /// Where the beliefs of a context stand among those of all.
    pub(super) fn own(&self, context: usize) -> Range<usize> {
        let start = self.all[context].start;
        start..start + self.n_values(context)
    }

    /// How many contexts there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    fn n_values(&self, context: usize) -> usize {
        // Without rows there is nothing to believe.
        match self.all[context].published.is_empty() {
            true => 0,
            false => self.values(context).len(),
        }
    }

    /// The values that rows of a context can have.
    pub(super) fn values(&self, context: usize) -> &'a [(u32, f64)] {
        &self.problem.priors[self.all[context].prior as usize]
    }

    /// What is believed after what is seen of the first columns, as learned from one half,
    /// one context after the other; not scaled.
    pub(super) fn beliefs(&self, learned: &[Learned<'_>], half: usize) -> Vec<f64> {
        let mut beliefs = Vec::new();
        for (place, context) in self.all.iter().enumerate() {
            let values = self.values(place).iter().take(self.n_values(place));
            beliefs.extend(values.map(|(value, share)| {
                let known = learned.iter().zip(&context.seen);
                known.fold(*share, |belief, (learned, seen)| {
                    belief * learned.factor(half, *seen, *value)
                })
            }));
        }
        beliefs
    }

    /// Counts values by what is published: calls `each` with a context, the place of a value
    /// and the rows of the half that have it, as far as these scaled `beliefs` tell.
    pub(super) fn counted(
        &self,
        beliefs: &[f64],
        half: usize,
        mut each: impl FnMut(usize, usize, f64),
    ) {
        match &self.problem.told {
            Told::Shown => {
                for (place, _, _) in self.of_half(half) {
                    for (value, n) in &self.all[place].published {
                        let values = self.values(place);
                        let found = values.binary_search_by_key(value, |(v, _)| *v);
                        found.into_iter().for_each(|value| each(place, value, n[half]));
                    }
                }
            }
            Told::Drawn(column) => {
                for (place, _, _) in self.of_half(half) {
                    let context = &self.all[place];
                    let matrix = &column.tables[context.prior as usize].matrix;
                    let own = &beliefs[self.own(place)];
                    let expected = matrix.published(own);
                    let mut weights = vec![0.0; expected.len()];
                    for (published, n) in &context.published {
                        let at = *published as usize;
                        weights[at] = n[half] / expected[at].max(f64::MIN_POSITIVE);
                    }
                    let gathered = matrix.gathered(&weights);
                    for (value, sum) in gathered.into_iter().enumerate() {
                        each(place, value, own[value] * sum);
                    }
                }
            }
            Told::Apart(_) => self.dealt(beliefs, half, |context, _, dealt| {
                dealt.iter().for_each(|(value, _, n)| each(context, *value, *n));
            }),
        }
    }

    /// Deals the values of each group of a half to its rows, so that every row has one and
    /// every value is had as often as it is there: calls `each` with a context, the group,
    /// and the places, names and rows of values.
    fn dealt(
        &self,
        beliefs: &[f64],
        half: usize,
        mut each: impl FnMut(usize, usize, &[(usize, u32, f64)]),
    ) {
        let Told::Apart(groups) = &self.problem.told else { return };
        for (group, values) in groups.iter().enumerate() {
            let Some(rows) = self.fits(beliefs, group, values, half) else { continue };
            let counts: Vec<f64> = values.iter().map(|(_, n)| *n).collect();
            let dealt = deal_nearly(&rows, &counts);
            for ((context, _), dealt) in self.members[group].iter().zip(&dealt) {
                let named = values.iter().zip(dealt);
                let named: Vec<(usize, u32, f64)> = named
                    .map(|((value, _), n)| (*value as usize, *value, *n))
                    .collect();
                each(*context as usize, group, &named);
            }
        }
    }

    /// How much better each value of a group of this half fits each of its rows than anybody.
    fn fits(
        &self,
        beliefs: &[f64],
        group: usize,
        values: &[(u32, f64)],
        half: usize,
    ) -> Option<Vec<Alike>> {
        let [prior] = self.problem.priors.as_slice() else { return None };
        let fit = |context: u32, value: u32| {
            let value = value as usize;
            let start = self.all[context as usize].start;
            beliefs[start + value] / prior[value].1.max(f64::MIN_POSITIVE)
        };
        let rows = self.members[group].iter().map(|(context, n)| {
            let fits = values.iter().map(|(value, _)| fit(*context, *value));
            (*n, fits.collect::<Vec<f64>>())
        });
        self.is_of_half(group, half).then(|| rows.collect())
    }

    /// Groups are of one half.
    fn is_of_half(&self, group: usize, half: usize) -> bool {
        self.members[group].first().is_some_and(|(context, _)| {
            let published = &self.all[*context as usize].published;
            let place = published.binary_search_by_key(&(group as u32), |(g, _)| *g);
            place.is_ok_and(|place| published[place].1[half] > 0.0)
        })
    }

    /// Calls `each` with what may be published in a context and how likely that is by a
    /// scaled belief. False if it means different things in different contexts: where values
    /// stand apart, and where there are several sub-tables.
    pub(super) fn foresee(
        &self,
        context: usize,
        belief: &[f64],
        mut each: impl FnMut(usize, f64),
    ) -> bool {
        match &self.problem.told {
            Told::Shown => {
                let values = self.values(context).iter().zip(belief);
                values.for_each(|((value, _), share)| each(*value as usize, *share));
                true
            }
            Told::Drawn(column) => match column.tables.as_slice() {
                [table] => {
                    let shares = table.matrix.published(belief).into_iter();
                    shares.enumerate().for_each(|(place, share)| each(place, share));
                    true
                }
                _ => false,
            },
            Told::Apart(_) => false,
        }
    }

    /// What is published in a context, and how many rows of a half have it.
    pub(super) fn published(
        &self,
        context: usize,
        half: usize,
    ) -> impl Iterator<Item = (u32, f64)> {
        self.all[context].published.iter().map(move |(value, n)| (*value, n[half]))
    }

    /// How likely scaled `beliefs` make what is published of the rows of a half, in nats.
    pub(super) fn likelihood(&self, beliefs: &[f64], half: usize) -> f64 {
        const LEAST: f64 = 1e-9;
        if let Told::Apart(groups) = &self.problem.told {
            let of_group = |(group, values): (usize, &Vec<(u32, f64)>)| {
                let rows = self.fits(beliefs, group, values, half)?;
                let counts: Vec<f64> = values.iter().map(|(_, n)| *n).collect();
                Some(likelihood(&rows, &counts))
            };
            return groups.iter().enumerate().filter_map(of_group).sum();
        }
        let mut sum = 0.0;
        for (place, _, _) in self.of_half(half) {
            let (context, belief) = (&self.all[place], &beliefs[self.own(place)]);
            let expected = match &self.problem.told {
                Told::Drawn(column) => {
                    column.tables[context.prior as usize].matrix.published(belief)
                }
                Told::Shown | Told::Apart(_) => Vec::new(),
            };
            for (published, n) in &context.published {
                let likely = match &self.problem.told {
                    Told::Shown => {
                        let values = self.values(place);
                        let found = values.binary_search_by_key(published, |(v, _)| *v);
                        found.map_or(0.0, |value| belief[value])
                    }
                    Told::Drawn(_) => expected[*published as usize],
                    // Counted by group, above.
                    Told::Apart(_) => 1.0,
                };
                sum += n[half] * likely.max(LEAST).ln();
            }
        }
        sum
    }

    /// The best guess about each row of a half by scaled `beliefs`; others get none.
    pub(super) fn guesses(&self, beliefs: &[f64], half: usize) -> Vec<Option<Guess>> {
        // By context, in the order of what is published there.
        let mut by_context: Vec<Vec<Option<Guess>>> = self
            .all
            .iter()
            .map(|context| vec![None; context.published.len()])
            .collect();
        let best = |values: &mut dyn Iterator<Item = (u32, f64)>| {
            values.fold(None, |best: Option<Guess>, (value, belief)| match best {
                Some(best) if best.belief >= belief => Some(best),
                _ => Some(Guess { value, belief }),
            })
        };
        match &self.problem.told {
            Told::Shown => {
                for (place, guesses) in by_context.iter_mut().enumerate() {
                    let values =
                        self.values(place).iter().zip(&beliefs[self.own(place)]);
                    let guess = best(&mut values.map(|((value, _), b)| (*value, *b)));
                    guesses.fill(guess);
                }
            }
            Told::Drawn(column) => {
                for (place, _, _) in self.of_half(half) {
                    let context = &self.all[place];
                    let matrix = &column.tables[context.prior as usize].matrix;
                    let own = &beliefs[self.own(place)];
                    let expected = matrix.published(own);
                    let published =
                        context.published.iter().zip(&mut by_context[place]);
                    for ((published, _), guess) in published {
                        let published = *published as usize;
                        let total = expected[published].max(f64::MIN_POSITIVE);
                        let values = self.values(place).iter().zip(own);
                        let after = values.enumerate().map(|(at, ((value, _), b))| {
                            (*value, b * matrix.entry(published, at) / total)
                        });
                        *guess = best(&mut { after });
                    }
                }
            }
            Told::Apart(_) => self.dealt(beliefs, half, |context, group, dealt| {
                let total: f64 = dealt.iter().map(|(.., n)| n).sum();
                let shares = dealt.iter().map(|(_, value, n)| (*value, n / total));
                let published = &self.all[context].published;
                let place =
                    published.binary_search_by_key(&(group as u32), |(g, _)| *g);
                if let Ok(place) = place {
                    by_context[context][place] = best(&mut { shares });
                }
            }),
        }
        let of_row = |(row, context): (usize, &u32)| {
            if usize::from(self.problem.half_of[row]) != half {
                return None;
            }
            let published = &self.all[*context as usize].published;
            let found = self.problem.published[row];
            let place = published.binary_search_by_key(&found, |(known, _)| *known);
            place.ok().and_then(|place| by_context[*context as usize][place])
        };
        self.of_row.iter().enumerate().map(of_row).collect()
    }
}
