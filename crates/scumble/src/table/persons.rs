//! Which rows are of the same person.
//!
//! # Guarantee
//! Whatever tuples a group is made of, the people in it are counted once each, and so is
//! everybody's every value. Everything that is added up here adds up tuple by tuple.
//!
//! *Proof.* Let a tuple count everybody who has rows of it, and call a *fact* a person, or a
//! person with a value, that is found in several tuples. A fact that is found in m tuples of
//! a group is counted m times, that is m - 1 times too often; all others are counted once.
//! So a group has as many people as its tuples add up to, less the sum of (m - 1) over the
//! facts that occur in it, and so for the people of each value. ∎
//!
//! # Cost
//! Memory for everybody once while counting; afterwards for the facts.

use crate::table::{Code, Histogram, Of, TupleId};

/// How many people a table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonCounts {
    /// How many there are.
    pub people: u64,
    /// How many of them have more than one row.
    pub repeated: u64,
    /// How many rows name nobody: each counts as a person of its own.
    pub unnamed: u64,
}

/// The people of a table who may have several rows.
#[derive(Debug, Clone)]
pub struct Persons {
    /// How many there are.
    pub counts: PersonCounts,
    /// For each tuple, how many people have rows of it.
    of_tuple: Of<TupleId, u64>,
    /// For each tuple the values of each sensitive column, and how many people have them.
    values: Lists<(u32, Code, u64)>,
    /// For each tuple the facts in it: which histogram behind those of values, and where.
    shared: Lists<(usize, Code)>,
    /// How many people are facts.
    n_shared: usize,
    /// The facts that are values: of which column, and which.
    facts: Vec<(u32, Code)>,
    /// For each tuple which of its entries are whose, and how many rows.
    owners: Lists<Owner>,
}

/// Whose rows of an entry are.
#[derive(Debug, Clone, Copy)]
pub struct Owner {
    /// Which entry of the tuple, counted from its first.
    pub entry: u32,
    /// The person; nothing if nobody knows.
    pub person: Option<Code>,
    /// How many rows.
    pub rows: u64,
}

/// A person or a person's value (of which column, and which), and a tuple it is found in.
type FoundFact = (Code, Option<(u32, Code)>, TupleId);

/// A list for each tuple.
#[derive(Debug, Clone)]
struct Lists<T> {
    starts: Of<TupleId, usize>,
    items: Vec<T>,
}

impl<T: Clone> Lists<T> {
    fn new() -> Self {
        Self { starts: vec![0].into(), items: Vec::new() }
    }

    fn end(&mut self) {
        self.starts.push(self.items.len());
    }

    fn of(&self, tuple: TupleId) -> &[T] {
        &self.items[self.starts[tuple]..self.starts[tuple.next()]]
    }

    fn reordered(&self, order: &[Option<TupleId>]) -> Self {
        let mut lists = Self::new();
        for tuple in order {
            if let Some(tuple) = tuple {
                lists.items.extend_from_slice(self.of(*tuple));
            }
            lists.end();
        }
        lists
    }
}

/// The place of the people among the codes of their histogram; facts follow.
const PEOPLE: Code = Code::new(0);

impl Persons {
    /// Counts the people of entries that stand in the order of their tuples. Of each entry
    /// there are the number of its tuple, its codes in the sensitive columns, its rows, and
    /// who it is of: nothing if nobody knows.
    pub(super) fn count(
        tuple_of: &[TupleId],
        n_tuples: usize,
        sensitive: &[Vec<Code>],
        rows: &[u64],
        person: &[Option<Code>],
    ) -> Self {
        let size = person.iter().flatten().map(|code| code.index() + 1).max();
        let mut rows_of: Vec<u64> = vec![0; size.unwrap_or(0)];
        let mut tuples_of: Vec<u32> = vec![0; rows_of.len()];
        let (mut of_tuple, mut n_unnamed) = (Of::new(), 0);
        let mut bounds: Vec<usize> = Vec::with_capacity(n_tuples + 1);
        for (entry, tuple) in tuple_of.iter().enumerate() {
            if tuple.index() == bounds.len() {
                bounds.push(entry);
            }
        }
        bounds.push(tuple_of.len());
        let mut present: Vec<Code> = Vec::new();
        for own in bounds.windows(2) {
            let mut unnamed = 0;
            present.clear();
            for entry in own[0]..own[1] {
                match person[entry] {
                    Some(code) => {
                        rows_of[code.index()] += rows[entry];
                        present.push(code);
                    }
                    None => unnamed += rows[entry],
                }
            }
            present.sort_unstable();
            present.dedup();
            present.iter().for_each(|code| tuples_of[code.index()] += 1);
            of_tuple.push(present.len() as u64 + unnamed);
            n_unnamed += unnamed;
        }
        let is_shared = |code: Code| tuples_of[code.index()] > 1;

        let mut owners = Lists::new();
        for own in bounds.windows(2) {
            let mut place = 0;
            for entry in own[0]..own[1] {
                let same = |codes: &Vec<Code>| codes[entry] == codes[entry - 1];
                if entry > own[0] && !sensitive.iter().all(same) {
                    place += 1;
                }
                owners.items.push(Owner {
                    entry: place,
                    person: person[entry],
                    rows: rows[entry],
                });
            }
            owners.end();
        }

        // Values, and what of people in several tuples is found where.
        let mut values = Lists::new();
        let mut found: Vec<FoundFact> = Vec::new();
        let mut pairs: Vec<(u32, Code, Option<Code>)> = Vec::new();
        for (tuple, own) in TupleId::first(n_tuples).zip(bounds.windows(2)) {
            pairs.clear();
            let mut unnamed: Vec<(u32, Code, u64)> = Vec::new();
            for entry in own[0]..own[1] {
                for (column, codes) in (0..).zip(sensitive) {
                    match person[entry] {
                        Some(_) => pairs.push((column, codes[entry], person[entry])),
                        None => unnamed.push((column, codes[entry], rows[entry])),
                    }
                }
                if let Some(code) = person[entry].filter(|code| is_shared(*code)) {
                    found.push((code, None, tuple));
                }
            }
            pairs.sort_unstable();
            pairs.dedup();
            for (column, code, who) in &pairs {
                if let Some(who) = who.filter(|who| is_shared(*who)) {
                    found.push((who, Some((*column, *code)), tuple));
                }
            }
            let named = pairs.iter().map(|(column, code, _)| (*column, *code, 1));
            let mut all: Vec<(u32, Code, u64)> = named.chain(unnamed).collect();
            all.sort_unstable();
            let first = values.items.len();
            for (column, code, n) in all {
                match values.items[first..].last_mut() {
                    Some((c, v, sum)) if (*c, *v) == (column, code) => *sum += n,
                    _ => values.items.push((column, code, n)),
                }
            }
            values.end();
        }

        found.sort_unstable();
        found.dedup();
        let (mut facts, mut n_shared) = (Vec::new(), 0);
        let mut places: Vec<(TupleId, (usize, Code))> = Vec::new();
        for same in found.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            if let [(_, what, _), _, ..] = same {
                let fact = match what {
                    None => {
                        n_shared += 1;
                        (0, Code::from_index(n_shared))
                    }
                    Some(value) => {
                        facts.push(*value);
                        (1, Code::from_index(facts.len() - 1))
                    }
                };
                places.extend(same.iter().map(|(.., tuple)| (*tuple, fact)));
            }
        }
        places.sort_unstable();
        let mut shared = Lists::new();
        let mut places = places.into_iter().peekable();
        for tuple in TupleId::first(n_tuples) {
            while let Some((_, fact)) = places.next_if(|(known, _)| *known == tuple) {
                shared.items.push(fact);
            }
            shared.end();
        }
        let named = rows_of.iter().filter(|rows| **rows > 0).count() as u64;
        let repeated = rows_of.iter().filter(|rows| **rows > 1).count() as u64;
        let people = named + n_unnamed;
        Self {
            counts: PersonCounts { people, repeated, unnamed: n_unnamed },
            of_tuple,
            values,
            shared,
            n_shared,
            facts,
            owners,
        }
    }

    /// Which entries of a tuple are whose.
    pub fn owners(&self, tuple: TupleId) -> &[Owner] {
        self.owners.of(tuple)
    }

    /// How many people have rows of a tuple.
    pub fn of(&self, tuple: TupleId) -> u64 {
        self.of_tuple[tuple]
    }

    /// Whether somebody has rows of several tuples.
    pub fn are_shared(&self) -> bool {
        self.n_shared > 0
    }

    /// How many people have rows of several tuples.
    pub fn n_shared(&self) -> usize {
        self.n_shared
    }

    /// The same people of tuples in another order, some of which have nobody.
    pub(super) fn reordered(&self, order: &[Option<TupleId>]) -> Self {
        let of =
            |tuple: &Option<TupleId>| tuple.map_or(0, |tuple| self.of_tuple[tuple]);
        Self {
            of_tuple: order.iter().map(of).collect(),
            values: self.values.reordered(order),
            shared: self.shared.reordered(order),
            n_shared: self.n_shared,
            facts: self.facts.clone(),
            owners: self.owners.reordered(order),
            counts: self.counts,
        }
    }

    /// How many codes the two histograms behind those of values have: that of the people
    /// and who of them is a fact, and that of facts that are values.
    pub(super) fn n_codes(&self) -> [usize; 2] {
        [1 + self.n_shared, self.facts.len()]
    }

    /// What a tuple adds to which histogram, and how much, if there are so many sensitive
    /// columns.
    pub fn each(
        &self,
        tuple: TupleId,
        n_sensitive: usize,
    ) -> impl Iterator<Item = (usize, Code, u64)> {
        let values = self.values.of(tuple).iter();
        let values = values.map(|(column, code, n)| (*column as usize, *code, *n));
        let facts = self.shared.of(tuple).iter();
        let facts = facts.map(move |(which, fact)| (n_sensitive + which, *fact, 1));
        let people = [(n_sensitive, PEOPLE, self.of_tuple[tuple])];
        values.chain(people.into_iter().filter(|(.., n)| *n > 0)).chain(facts)
    }
}

impl Persons {
    /// How many people a group has, from what its tuples add up to.
    pub fn n_people(added: &[Histogram]) -> u64 {
        let [.., people, _] = added else { return 0 };
        let counted = people.count(PEOPLE);
        // Every fact is counted as often as it is found, and should be once.
        let facts = people.n_present() as u64 - u64::from(counted > 0);
        counted - (people.total() - counted - facts)
    }

    /// How many people of a group have each value, from what its tuples add up to.
    pub fn values_of_people(&self, added: &[Histogram]) -> Vec<Histogram> {
        let [values @ .., _, facts] = added else { return Vec::new() };
        let mut values = values.to_vec();
        for (fact, n) in facts.present() {
            let (column, code) = self.facts[fact.index()];
            values[column as usize].take(code, n - 1);
        }
        values
    }
}
