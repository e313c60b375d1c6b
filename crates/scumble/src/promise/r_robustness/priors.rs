//! What an adversary believes of each row before the release.
//!
//! Beliefs come from the table itself or from a file (`stated.rs`). Somebody who looks at
//! some quasi columns sees of each row its *signature*, its values there, and knows for each
//! signature how sensitive values are spread.
//!
//! # Guarantee
//! From the table: p(s : x) = rows(s, x) / rows(s) of the original table, for every signature
//! with at least `support` rows. A signature with fewer is replaced by a coarser one: all its
//! columns go up one level of their hierarchies together, each as far as its root, until at
//! least so many rows share the nodes or all are at the root, which is the whole table.
//! Counts of a coarser signature are those of all rows below it.
//!
//! # Limits
//! The distribution of a handful of rows would be the truth about them, not knowledge of how
//! values depend: hence `support`. Somebody who knows more of a few people than the table
//! tells of so many rows is not this adversary.
//!
//! # Cost
//! O(h n) for n entries of the census and hierarchies of h levels, for each set of columns.
//! Memory: a float for each value and signature that is used; from the table these are at
//! most rows / support on each level.
//!
//! # Source
//! `wong2010inference` for beliefs by signature; docs/methods.md,
//! "Beliefs and possible worlds", for where they come from.

use std::hash::Hash;

use hashbrown::HashMap;

use crate::hierarchy::{Column, Microdata};
use crate::table::{Id, Of, TupleId, ids};

ids! {
    /// A combination of values in some quasi columns, or what took its place.
    SignatureId
}

/// Beliefs by each set of quasi columns: each is an adversary of its own.
#[derive(Debug, Clone, Default)]
pub struct Priors {
    /// The sets.
    pub sets: Vec<PriorSet>,
}

/// Beliefs of somebody who looks at some quasi columns.
#[derive(Debug, Clone)]
pub struct PriorSet {
    /// The places of the columns among the quasi columns, ascending.
    pub columns: Vec<usize>,
    /// For each tuple of the census, its signature or what took its place.
    pub of_tuple: Of<TupleId, SignatureId>,
    /// How many sensitive values there are.
    pub n_values: usize,
    /// For each signature and value, value after value, the probability.
    pub shares: Vec<f64>,
    /// How many combinations of values the table has in these columns.
    pub signatures: u64,
    /// How many of them had too few rows, so that a coarser one took their place.
    pub rare: u64,
    /// How many rows these have.
    pub rare_rows: u64,
    /// How many rows have only the whole table in their place.
    pub whole_rows: u64,
}

impl PriorSet {
    /// What is believed of a tuple: the probability of each value.
    pub fn of(&self, tuple: TupleId) -> &[f64] {
        self.of_signature(self.of_tuple[tuple])
    }

    /// What is believed of everybody with a signature.
    pub fn of_signature(&self, signature: SignatureId) -> &[f64] {
        let start = signature.index() * self.n_values;
        &self.shares[start..start + self.n_values]
    }
}

impl Priors {
    /// Beliefs from the table: for the sensitive column at place `sensitive`, by each of
    /// these sets of places of quasi columns.
    pub fn of_table(
        data: &Microdata,
        sensitive: usize,
        sets: &[Vec<usize>],
        support: u64,
    ) -> Self {
        let of = |columns: &Vec<usize>| of_table(data, sensitive, columns, support);
        Self { sets: sets.iter().map(of).collect() }
    }
}

/// Signatures, or what is above them on some level.
pub(super) struct Signatures<I> {
    /// A tuple or signature below each.
    pub(super) example: Of<SignatureId, I>,
    /// For each tuple or signature of the level below, which one is above it.
    pub(super) above: Of<I, SignatureId>,
}

impl<I: Id> Signatures<I> {
    /// Puts together what is equal in every column; numbered as they come.
    pub(super) fn gather<C: Eq + Hash>(n: usize, columns: &[impl Fn(I) -> C]) -> Self {
        let mut above: Of<I, _> = Of::repeat(SignatureId::default(), n);
        let mut example: Of<SignatureId, I> = above.ids().take(1).collect();
        for code in columns {
            let mut known: HashMap<(SignatureId, C), SignatureId> = HashMap::new();
            example.list().clear();
            for item in above.ids() {
                let key = (above[item], code(item));
                above[item] = *known.entry(key).or_insert_with(|| example.push(item));
            }
        }
        Self { example, above }
    }

    /// Adds up what is below each.
    pub(super) fn sums(&self, below: &Of<I, u64>) -> Of<SignatureId, u64> {
        let mut sums = Of::repeat(0, self.example.len());
        for (above, n) in self.above.iter().zip(below) {
            sums[*above] += n;
        }
        sums
    }
}

fn of_table(
    data: &Microdata,
    sensitive: usize,
    columns: &[usize],
    support: u64,
) -> PriorSet {
    let mut columns = columns.to_vec();
    columns.sort_unstable();
    columns.dedup();
    let census = &data.census;
    let n_values = census.sensitive_sizes[sensitive];
    let quasi: Vec<&Column> = columns.iter().map(|place| &data.quasi[*place]).collect();
    let codes: Vec<_> = columns.iter().map(|place| &census.quasi[*place]).collect();

    let by_code: Vec<_> =
        codes.iter().map(|codes| |tuple: TupleId| codes[tuple]).collect();
    let signatures = Signatures::gather(census.n_tuples(), &by_code);
    let own_rows = signatures.sums(&census.rows);
    let mut set = PriorSet {
        columns,
        of_tuple: Of::new(),
        n_values,
        shares: Vec::new(),
        signatures: own_rows.iter().filter(|rows| **rows > 0).count() as u64,
        rare: 0,
        rare_rows: 0,
        whole_rows: 0,
    };

    // Climbs level by level until every signature has enough rows. `node` is where each
    // signature is on the level, `example` a tuple below each node, `place` where its
    // probabilities are.
    let top = quasi.iter().map(|column| column.hierarchy.height()).max().unwrap_or(0);
    let n_rows = census.n_rows();
    let mut node: Of<SignatureId, SignatureId> = own_rows.ids().collect();
    let mut example = signatures.example.clone();
    let mut rows = own_rows.clone();
    let mut settled: Of<SignatureId, _> = Of::repeat(None, own_rows.len());
    let mut totals: Of<SignatureId, u64> = Of::new();
    let mut counts: Vec<u64> = Vec::new();
    for level in 0..=top {
        let mut place: Of<SignatureId, Option<_>> = Of::repeat(None, rows.len());
        for (signature, at) in node.pairs().map(|(signature, at)| (signature, *at)) {
            if settled[signature].is_some() || (rows[at] < support && level < top) {
                continue;
            }
            settled[signature] =
                Some(*place[at].get_or_insert_with(|| totals.push(rows[at])));
            if level > 0 {
                set.rare += u64::from(own_rows[signature] > 0);
                set.rare_rows += own_rows[signature];
                if rows[at] == n_rows {
                    set.whole_rows += own_rows[signature];
                }
            }
        }
        counts.resize(totals.len() * n_values, 0);
        for (tuple, signature) in signatures.above.pairs() {
            let Some(place) = place[node[*signature]] else { continue };
            for entry in census.entries_of(tuple) {
                let value = census.sensitive[sensitive][entry];
                counts[place.index() * n_values + value.index()] +=
                    census.entries[entry];
            }
        }
        if settled.iter().all(Option::is_some) {
            break;
        }
        let by_node: Vec<_> = quasi
            .iter()
            .zip(&codes)
            .map(|(column, codes)| {
                let level = (level + 1).min(column.hierarchy.height());
                let example = &example;
                move |at: SignatureId| column.hierarchy.node(level, codes[example[at]])
            })
            .collect();
        let coarser = Signatures::gather(rows.len(), &by_node);
        rows = coarser.sums(&rows);
        for node in &mut node {
            *node = coarser.above[*node];
        }
        example = coarser.example.iter().map(|below| example[*below]).collect();
    }

    let share = |(n, total): (&u64, &u64)| *n as f64 / (*total).max(1) as f64;
    let per_value =
        totals.iter().flat_map(|total| std::iter::repeat_n(total, n_values));
    set.shares = counts.iter().zip(per_value).map(share).collect();
    let of_tuple =
        |signature: &SignatureId| settled[*signature].expect("the top settles all");
    set.of_tuple = signatures.above.iter().map(of_tuple).collect();
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::{ColumnSpec, Rule, Tree};
    use crate::table::{Code, ReadOptions, Reading, Role, Source};
    use crate::watch::Unwatched;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// The rule read by hand: each row climbs on its own and counts all rows of the table.
    fn by_hand(
        data: &Microdata,
        rows: &[Vec<Code>],
        columns: &[usize],
        support: u64,
        row: &[Code],
    ) -> (Vec<f64>, usize) {
        let heights: Vec<usize> =
            columns.iter().map(|at| data.quasi[*at].hierarchy.height()).collect();
        let top = *heights.iter().max().unwrap();
        let n_quasi = data.quasi.len();
        for level in 0..=top {
            let node = |row: &[Code], at: usize| {
                let hierarchy = &data.quasi[at].hierarchy;
                hierarchy.node(level.min(hierarchy.height()), row[at])
            };
            let alike: Vec<&Vec<Code>> = rows
                .iter()
                .filter(|other| {
                    columns.iter().all(|at| node(other, *at) == node(row, *at))
                })
                .collect();
            if alike.len() as u64 >= support || level == top {
                let share = |value: Code| {
                    let have = alike.iter().filter(|row| row[n_quasi] == value).count();
                    have as f64 / alike.len() as f64
                };
                let values = data.sensitive[0].domain.codes();
                return (values.map(share).collect(), level);
            }
        }
        unreachable!("the loop ends at the top")
    }

    const CITIES: &str = "Rome,Italy,Europe\nPisa,Italy,Europe\nOslo,Norway,Europe\n\
                          Lima,Peru,America\nCusco,Peru,America\n";

    fn specs() -> [ColumnSpec; 4] {
        let tree = Tree::parse(CITIES, "cities.csv").unwrap();
        let quasi =
            |name, reading, rule| ColumnSpec::new(name, Role::Quasi, reading, rule);
        let ages = Rule::widths(vec![5.0, 10.0, 20.0], 0.0).unwrap();
        let (role, reading) = (Role::Sensitive, Reading::category());
        [
            quasi("sex", Reading::category(), Rule::Plain),
            quasi("age", Reading::number(), ages),
            quasi("city", Reading::category(), Rule::Tree(tree)),
            ColumnSpec::new("disease", role, reading, Rule::Plain),
        ]
    }

    /// A random table, and its rows as codes.
    fn table(rng: &mut ChaCha20Rng, n_rows: usize) -> (Microdata, Vec<Vec<Code>>) {
        let mut text = "sex,age,city,disease\n".to_owned();
        for _ in 0..n_rows {
            let sex = ["f", "m", ""][rng.random_range(0..20) % 3];
            // Few are old, few live far away.
            let age = rng.random_range(0..8) * rng.random_range(1..10);
            let city = ["Rome", "Rome", "Rome", "Pisa", "Oslo", "Lima", "Cusco"]
                [rng.random_range(0..7)];
            let disease = ["flu", "cold", "gout", "cough"][rng.random_range(0..4)];
            text += &format!("{sex},{age},{city},{disease}\n");
        }
        let options = ReadOptions::default();
        let source = Source::from_bytes("t.csv", text.into_bytes(), &options).unwrap();
        let data = Microdata::read(&source, &specs(), &Unwatched).unwrap();
        let census = &data.census;
        let mut rows = Vec::new();
        for tuple in census.tuples() {
            for entry in census.entries_of(tuple) {
                let mut row: Vec<Code> =
                    census.quasi.iter().map(|codes| codes[tuple]).collect();
                row.push(census.sensitive[0][entry]);
                rows.extend(vec![row; census.entries[entry] as usize]);
            }
        }
        (data, rows)
    }

    #[test]
    fn beliefs_of_the_table_follow_the_rule() {
        let mut rng = ChaCha20Rng::seed_from_u64(9);
        let sets = [vec![0], vec![1], vec![2, 0], vec![1, 2], vec![0, 1, 2]];
        let (mut rare, mut whole) = (0, 0);
        for round in 0..40 {
            let (data, rows) = table(&mut rng, 5 + 5 * round);
            let support = [1, 2, 5, 12, 30][round % 5];
            let priors = Priors::of_table(&data, 0, &sets, support);
            for set in &priors.sets {
                let (mut rare_rows, mut seen) = (0, Vec::new());
                for tuple in data.census.tuples() {
                    let row: Vec<Code> =
                        data.census.quasi.iter().map(|codes| codes[tuple]).collect();
                    let (shares, level) =
                        by_hand(&data, &rows, &set.columns, support, &row);
                    assert_eq!(set.of(tuple), shares);
                    let own: Vec<Code> =
                        set.columns.iter().map(|at| row[*at]).collect();
                    let new = !seen.contains(&own);
                    seen.push(own);
                    rare += u64::from(new && level > 0);
                    rare_rows += if level > 0 { data.census.rows[tuple] } else { 0 };
                }
                seen.sort();
                seen.dedup();
                assert_eq!(set.signatures, seen.len() as u64);
                assert_eq!(set.rare_rows, rare_rows);
                rare -= set.rare;
                whole += set.whole_rows;
                assert!(set.whole_rows <= set.rare_rows);
            }
        }
        assert_eq!(rare, 0);
        assert!(whole > 0);
    }

    #[test]
    fn columns_are_put_in_order() {
        let mut rng = ChaCha20Rng::seed_from_u64(10);
        let (data, _) = table(&mut rng, 100);
        let set = |columns| Priors::of_table(&data, 0, &[columns], 5).sets.remove(0);
        assert_eq!(set(vec![2, 0]).columns, [0, 2]);
        assert_eq!(set(vec![2, 0]).shares, set(vec![0, 2]).shares);
    }
}
