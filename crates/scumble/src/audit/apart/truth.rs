//! The table a release of buckets was made from: whether it can be that, and who has what.
//!
//! # Guarantee
//! Every published row is a row of the table, none more often than there; rows that are
//! missing were left out; and in each group the values can be handed out so that everybody
//! gets one that somebody with the same quasi values has. That this holds does not prove the
//! release to be of the table; that it fails proves the contrary.
//!
//! # Limits
//! Groups are looked at one by one. In groups with more than [`MOST_PAIRS`] pairs of people
//! and values, each person must have one of the values and each value somebody, and no more
//! is checked.
//!
//! # Cost
//! One lookup for each distinct tuple, one matching for each group.
//!
//! # Source
//! docs/methods.md, "Audit and attacks"; matchings by augmenting paths.

use rayon::prelude::*;

use crate::audit::apart::{
    ApartValues, CountedColumn, Groups, Priors, numbered, plain,
};
use crate::audit::cells::another_table;
use crate::audit::given::{quasi_columns, sensitive_place, values_of};
use crate::audit::grouped::GroupedValues;
use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::release::Manifest;
use crate::table::{Code, Domain, Of, TupleId};
use crate::watch::Watch;

/// Groups with more pairs of rows and values are checked more simply.
const MOST_PAIRS: usize = 1 << 14;

/// Signatures with fewer rows are not taken as they are, if nothing else is said.
pub(crate) const SUPPORT: u64 = 30;

/// The table, and where the published tuples and values are in it.
#[derive(Debug)]
pub(crate) struct ApartTruth<'a> {
    /// The table.
    pub(crate) table: &'a Microdata,
    /// The place of the sensitive column in it.
    pub(crate) sensitive: usize,
    /// Its tuple of each published one.
    pub(crate) tuple_of: Vec<u32>,
    /// The published code of each of its values.
    pub(crate) published: Of<Code, Option<u32>>,
}

impl<'a> ApartTruth<'a> {
    /// Finds what was published in the table.
    pub(crate) fn of(
        manifest: &Manifest,
        view: &ApartValues,
        table: &'a Microdata,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let (_, places) = quasi_columns(manifest, table, "original")?;
        let sensitive = sensitive_place(table, &view.column.name)?;
        let domain = &table.sensitive[sensitive].domain;
        let codes = codes_of(&view.column.domain, domain);
        let tuple_of = found(view, table, &places)?;
        let whole = GroupedValues::Apart(view).whole();
        let rows = &table.sensitive[sensitive].rows;
        let occurs = (0u32..).zip(&codes).all(|(code, own)| {
            let published = whole.count(Code::new(code));
            published == 0 || own.is_some_and(|own| rows[own] >= published)
        });
        if view.rows + manifest.left_out != table.n_rows() || !occurs {
            return Err(another_table());
        }
        let published = inverted(&codes, domain.len());
        let original = Self { table, sensitive, tuple_of, published };
        let groups = &view.groups;
        let possible = (0..groups.len())
            .into_par_iter()
            .with_min_len(64)
            .all(|group| watch.is_cancelled() || original.possible(groups, group));
        watch.check()?;
        if possible { Ok(original) } else { Err(another_table()) }
    }

    /// A table whose tuples are all published, in their order; `codes` are those of its
    /// values that the published ones have.
    pub(crate) fn itself(
        table: &'a Microdata,
        sensitive: usize,
        codes: &[Option<Code>],
    ) -> Self {
        let tuple_of = (0..table.census.n_tuples() as u32).collect();
        let published = inverted(codes, table.sensitive[sensitive].domain.len());
        Self { table, sensitive, tuple_of, published }
    }

    /// What it says by each single quasi column.
    pub(crate) fn by_single_columns(&self) -> Vec<Priors> {
        let columns = 0..self.table.quasi.len();
        columns.map(|column| self.by(&[column], SUPPORT)).collect()
    }

    /// What it says by these quasi columns, of the published tuples.
    pub(crate) fn by(&self, set: &[usize], support: u64) -> Priors {
        let Self { table, sensitive, ref published, .. } = *self;
        let counted = CountedColumn { table, sensitive, published };
        Priors::counted(counted, set, support).at(&self.tuple_of)
    }

    /// How many rows with a published tuple have each published value.
    fn values_of(&self, tuple: u32) -> impl Iterator<Item = (u32, u64)> + '_ {
        let tuple = TupleId::new(self.tuple_of[tuple as usize]);
        let values = values_of(&self.table.census, self.sensitive, tuple);
        values.filter_map(|(code, n)| Some((self.published[code]?, n)))
    }

    /// Whether the values of a group can be handed out to its people.
    fn possible(&self, groups: &Groups, group: usize) -> bool {
        let (members, values) = (groups.members(group), groups.values(group));
        let place = |code| values.binary_search_by_key(&code, |(code, _)| *code).ok();
        // For each kind of people the places of the values they can have, and how many can.
        let can: Vec<Vec<(usize, u64)>> = members
            .iter()
            .map(|(tuple, _)| {
                let known = self.values_of(*tuple);
                let mut can: Vec<(usize, u64)> =
                    known.filter_map(|(code, n)| Some((place(code)?, n))).collect();
                // Rows that differ in another sensitive column are counted apart.
                can.sort_unstable();
                can.dedup_by(|next, kept| {
                    let same = next.0 == kept.0;
                    kept.1 += if same { next.1 } else { 0 };
                    same
                });
                can
            })
            .collect();
        let total: u64 = members.iter().map(|(_, n)| n).sum();
        let pairs = (total as usize).saturating_mul(values.len());
        if pairs > MOST_PAIRS {
            let everyone = can.iter().zip(members).all(|(can, (_, n))| {
                can.iter().map(|(_, can)| *can).sum::<u64>() >= *n
            });
            let mut had = vec![0u64; values.len()];
            can.iter().flatten().for_each(|(value, n)| had[*value] += n);
            return everyone && had.iter().zip(values).all(|(had, (_, n))| had >= n);
        }
        handed_out(&can, members, values)
    }

    /// The share of a published tuple's people who have a value.
    pub(crate) fn share_with(&self, tuple: u32, value: u32) -> f64 {
        let (mut own, mut all) = (0, 0);
        for (code, n) in self.values_of(tuple) {
            own += if code == value { n } else { 0 };
            all += n;
        }
        own as f64 / all.max(1) as f64
    }

    /// The share of all people for whom the guess of their tuple is right; `blind` is the
    /// guess about those who were left out.
    pub(crate) fn score(&self, guesses: &[u32], blind: u32) -> f64 {
        let census = &self.table.census;
        let mut guess_of: Of<TupleId, u32> = Of::repeat(blind, census.n_tuples());
        for (guess, tuple) in guesses.iter().zip(&self.tuple_of) {
            guess_of[TupleId::new(*tuple)] = *guess;
        }
        let mut right = 0u64;
        for (tuple, guess) in guess_of.pairs() {
            for (code, n) in values_of(census, self.sensitive, tuple) {
                right += if self.published[code] == Some(*guess) { n } else { 0 };
            }
        }
        right as f64 / census.n_rows().max(1) as f64
    }
}

/// The code in the table of each published value.
pub(crate) fn codes_of(published: &Domain, table: &Domain) -> Vec<Option<Code>> {
    let index = table.index();
    let code = |code: Code| match published.missing() {
        Some(missing) if missing == code => table.missing(),
        _ => index.get(published.text(code)).copied(),
    };
    published.codes().map(code).collect()
}

/// The published code of each value of the table.
fn inverted(codes: &[Option<Code>], n_values: usize) -> Of<Code, Option<u32>> {
    let mut published = Of::repeat(None, n_values);
    for (code, own) in (0u32..).zip(codes) {
        if let Some(own) = own {
            published[*own] = Some(code);
        }
    }
    published
}

/// The tuple of the table that each published one is; none more often than there.
fn found(view: &ApartValues, table: &Microdata, places: &[usize]) -> Result<Vec<u32>> {
    let mut columns: Vec<Vec<Code>> = Vec::with_capacity(places.len());
    for (column, place) in view.quasi.iter().zip(places) {
        let domain = &table.quasi[*place].domain;
        let index = domain.index();
        let of_text = column.texts.iter().map(|text| {
            // As it stands in the table, or as the value it means.
            let code = table.codes[*place].get(&**text).copied();
            code.or_else(|| match plain(&column.reading, text) {
                Some(text) => index.get(&*text).copied(),
                None => domain.missing(),
            })
        });
        let of_text: Option<Of<Code, Code>> = of_text.collect();
        let of_text = of_text.ok_or_else(another_table)?;
        columns.push(column.codes.iter().map(|code| of_text[*code]).collect());
    }
    // Both are numbered together: what has the same number is the same.
    let census = &table.census;
    let n_tuples = census.n_tuples();
    for (published, place) in columns.iter_mut().zip(places) {
        published.splice(0..0, census.quasi[*place].iter().copied());
    }
    let (numbers, examples) = numbered(&columns, n_tuples + view.tuples.len());
    let mut known = vec![None; examples.len()];
    for (tuple, number) in (0u32..).zip(&numbers[..n_tuples]) {
        known[*number as usize] = Some(tuple);
    }
    let published = numbers[n_tuples..].iter().map(|number| known[*number as usize]);
    let tuple_of: Option<Vec<u32>> = published.collect();
    let tuple_of = tuple_of.ok_or_else(another_table)?;
    // Two texts may mean the same value: tuples that mean the same are counted together.
    let mut rows = vec![0u64; n_tuples];
    for (tuple, n) in tuple_of.iter().zip(&view.tuples) {
        rows[*tuple as usize] += n;
    }
    match rows.iter().zip(&census.rows).all(|(published, rows)| published <= rows) {
        true => Ok(tuple_of),
        false => Err(another_table()),
    }
}

/// Whether everybody gets one of the values they can have, each value as often as it is
/// there: by handing out one after the other and, where none is left, passing on.
fn handed_out(
    can: &[Vec<(usize, u64)>],
    members: &[(u32, u64)],
    values: &[(u32, u64)],
) -> bool {
    // How many of each kind of people hold each value.
    let mut held = vec![vec![0u64; values.len()]; members.len()];
    let mut left: Vec<u64> = values.iter().map(|(_, n)| *n).collect();
    for (member, (_, n)) in members.iter().enumerate() {
        for _ in 0..*n {
            // Whom each value would go to, and by which value each holder was reached.
            let mut taker: Vec<Option<usize>> = vec![None; values.len()];
            let mut reached: Vec<Option<usize>> = vec![None; members.len()];
            let mut queue = vec![member];
            let mut goal = None;
            let mut place = 0;
            while place < queue.len() && goal.is_none() {
                let asking = queue[place];
                place += 1;
                for (value, most) in &can[asking] {
                    if taker[*value].is_some() || held[asking][*value] >= *most {
                        continue;
                    }
                    taker[*value] = Some(asking);
                    if left[*value] > 0 {
                        goal = Some(*value);
                        break;
                    }
                    for (holder, reached) in reached.iter_mut().enumerate() {
                        let there = held[holder][*value] > 0 && holder != member;
                        if there && reached.is_none() {
                            *reached = Some(*value);
                            queue.push(holder);
                        }
                    }
                }
            }
            let Some(mut value) = goal else { return false };
            left[value] -= 1;
            while let Some(asking) = taker[value] {
                held[asking][value] += 1;
                let Some(given) = reached[asking] else { break };
                held[asking][given] -= 1;
                value = given;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    use super::*;

    /// Tries every way.
    fn possible(
        can: &mut [Vec<(usize, u64)>],
        people: &[usize],
        left: &mut [u64],
    ) -> bool {
        let Some((first, rest)) = people.split_first() else { return true };
        for place in 0..can[*first].len() {
            let (value, most) = can[*first][place];
            if most > 0 && left[value] > 0 {
                can[*first][place].1 -= 1;
                left[value] -= 1;
                let found = possible(can, rest, left);
                can[*first][place].1 += 1;
                left[value] += 1;
                if found {
                    return true;
                }
            }
        }
        false
    }

    #[test]
    fn values_are_handed_out_if_they_can_be() {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let mut yes = 0;
        for _ in 0..2000 {
            let members: Vec<(u32, u64)> = (0..rng.random_range(1..4u32))
                .map(|tuple| (tuple, rng.random_range(1..3)))
                .collect();
            let n: u64 = members.iter().map(|(_, n)| n).sum();
            let n_values = rng.random_range(1..=n.min(4)) as usize;
            let mut values: Vec<(u32, u64)> =
                (0..n_values as u32).map(|code| (code, 1)).collect();
            for _ in n_values as u64..n {
                values[rng.random_range(0..n_values)].1 += 1;
            }
            let mut can: Vec<Vec<(usize, u64)>> = members
                .iter()
                .map(|_| {
                    let values = 0..n_values;
                    values.map(|value| (value, rng.random_range(0..3))).collect()
                })
                .collect();
            let people: Vec<usize> = (0..members.len())
                .flat_map(|member| vec![member; members[member].1 as usize])
                .collect();
            let found = handed_out(&can, &members, &values);
            let mut left: Vec<u64> = values.iter().map(|(_, n)| *n).collect();
            assert_eq!(found, possible(&mut can, &people, &mut left));
            yes += usize::from(found);
        }
        assert!((500..1900).contains(&yes), "{yes}");
    }
}
