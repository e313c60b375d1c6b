//! Which columns follow from others, and which is a number of a person.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::error::Result;
use crate::inspect::hints::{is_known, is_lasting, is_name};
use crate::inspect::tally::Tally;
use crate::inspect::{ColumnFindings, Oddity, Person, Sureness, risk};
use crate::table::{ColumnId, Kind, Role, Source};
use crate::watch::Watched;

/// So many rows are kept whole.
const ROWS: usize = 1 << 11;

/// Two columns are said to follow from each other only if by chance at least so many of the
/// kept rows would speak against it.
const LEAST_EXPECTED: f64 = 15.0;

/// Some rows of a table, each as hashes of its cells. Which are kept follows from what is in
/// them, so that any number of workers keeps the same.
#[derive(Debug)]
pub(super) struct RowSample {
    n_columns: usize,
    mask: u64,
    rows: Vec<(u64, Box<[u64]>)>,
}

impl RowSample {
    pub(super) fn new(n_columns: usize) -> Self {
        Self { n_columns, mask: 0, rows: Vec::new() }
    }

    #[inline]
    pub(super) fn add(&mut self, row: u64, cells: &[u64]) {
        if row & self.mask == 0 {
            self.rows.push((row, cells.into()));
            self.thin();
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.mask = self.mask.max(other.mask);
        self.rows.extend(other.rows);
        let mask = self.mask;
        self.rows.retain(|(row, _)| row & mask == 0);
        self.thin();
    }

    fn thin(&mut self) {
        // Equal rows stay together, however many there are.
        while self.rows.len() > ROWS && self.mask != u64::MAX {
            self.mask = self.mask * 2 + 1;
            let mask = self.mask;
            self.rows.retain(|(row, _)| row & mask == 0);
        }
    }

    /// Whether nothing in the kept rows speaks against it that a column follows from another,
    /// although much would if the two had nothing to do with each other.
    fn may_follow(&self, column: usize, from: usize, evenness: f64) -> bool {
        let mut first: HashMap<u64, u64> = HashMap::new();
        let mut again = 0u64;
        for (_, cells) in &self.rows {
            match first.insert(cells[from], cells[column]) {
                Some(before) if before != cells[column] => return false,
                Some(_) => again += 1,
                None => {}
            }
        }
        again as f64 * (1.0 - evenness) >= LEAST_EXPECTED
    }
}

/// What follows from what, as all rows say.
#[derive(Debug, Default)]
pub(super) struct Ways {
    /// For a column, the first other one that it follows from.
    from: BTreeMap<usize, usize>,
    /// Numbers of people that repeat, best first: the column, how many people, and the columns
    /// that are the same in all rows of nearly everybody.
    people: Vec<(usize, u64, Vec<usize>)>,
}

impl Ways {
    /// Looks at the table, if anything is to be looked for.
    pub(super) fn look(
        source: Watched<'_, Source>,
        columns: &[ColumnFindings],
        tallies: &[Tally],
        sample: &RowSample,
    ) -> Result<Self> {
        debug_assert_eq!(sample.n_columns, columns.len(), "rows are whole");
        let publishable =
            |at: &usize| matches!(columns[*at].role, Role::Quasi | Role::Sensitive);
        let places = || (0..columns.len()).filter(publishable);
        // Two that follow from each other: the better one stays.
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for column in places() {
            for from in places().filter(|from| *from != column) {
                let fewer = columns[column].distinct <= columns[from].distinct;
                if fewer && sample.may_follow(column, from, tallies[column].evenness())
                {
                    pairs.push((column, from));
                }
            }
        }
        let repeated: Vec<usize> =
            (0..columns.len()).filter(|at| repeats(&columns[*at])).collect();
        let lasting: Vec<usize> = places()
            .filter(|at| is_lasting(&columns[*at].name) && columns[*at].distinct > 1)
            .collect();
        let mut sets: Vec<Vec<ColumnId>> = Vec::new();
        let id = |place: usize| source.task.columns().nth(place);
        let mut add = |places: &[usize]| {
            sets.push(places.iter().filter_map(|place| id(*place)).collect());
        };
        for (column, from) in &pairs {
            add(&[*from]);
            add(&[*column, *from]);
        }
        for who in &repeated {
            add(&[*who]);
            lasting.iter().for_each(|column| add(&[*who, *column]));
        }
        if sets.is_empty() {
            source.watch.advance(source.task.bytes());
            return Ok(Self::default());
        }
        let counted = risk::count(source, &sets)?;
        let mut counted = counted.into_iter();
        let mut next = || counted.next().unwrap_or((0, false));
        let mut ways = Self::default();
        for (column, from) in pairs {
            let (alone, together) = (next(), next());
            if alone.1 && together.1 && alone.0 == together.0 {
                ways.keep(column, from, columns);
            }
        }
        for who in repeated {
            let (people, _) = next();
            let mut same = Vec::new();
            for column in &lasting {
                let (together, _) = next();
                if together as f64 <= 1.01 * people as f64 {
                    same.push(*column);
                }
            }
            ways.people.push((who, people, same));
        }
        ways.people.sort_by_key(|(_, people, same)| {
            (std::cmp::Reverse(same.len()), std::cmp::Reverse(*people))
        });
        Ok(ways)
    }

    /// Notes that a column follows from another, unless that follows from it.
    fn keep(&mut self, column: usize, from: usize, columns: &[ColumnFindings]) {
        let rank = |at: usize| {
            let found = &columns[at];
            (is_known(&found.name), found.kind == Kind::Category, std::cmp::Reverse(at))
        };
        let both = columns[column].distinct == columns[from].distinct;
        if both && rank(column) > rank(from) || self.from.contains_key(&from) {
            return;
        }
        self.from.entry(column).or_insert(from);
    }

    /// Proposes to drop what follows from another column of the same role, and reports what is
    /// sensitive and follows from what somebody may know.
    pub(super) fn drop_redundant(
        &self,
        columns: &mut [ColumnFindings],
        oddities: &mut Vec<Oddity>,
    ) {
        for (column, from) in &self.from {
            let source = columns[*from].name.clone();
            let (role, other) = (columns[*column].role, columns[*from].role);
            let found = &mut columns[*column];
            if role == Role::Sensitive && other == Role::Quasi {
                let what =
                    format!("follows from `{source}`: who knows that knows this");
                oddities.push(Oddity { column: found.name.clone(), what });
            } else {
                found.role = Role::Drop;
                found.sure = Sureness::Sure;
                found.reason = format!("redundant: `{source}` determines it");
            }
        }
    }

    /// The number of a person, if one repeats.
    pub(super) fn person(
        &self,
        rows: u64,
        columns: &[ColumnFindings],
    ) -> Option<Person> {
        let (at, people, same) = self.people.first()?;
        let column = columns[*at].name.clone();
        let mut reason = format!("{people} people in {rows} rows");
        if !same.is_empty() {
            let names: Vec<String> =
                same.iter().map(|at| format!("`{}`", columns[*at].name)).collect();
            reason += &format!("; {} the same in all rows of one", names.join(", "));
        }
        let sure = if same.is_empty() { Sureness::Likely } else { Sureness::Sure };
        Some(Person { column, people: *people, reason, sure })
    }
}

/// Whether an identifier repeats. Names of people repeat without being the same person.
fn repeats(column: &ColumnFindings) -> bool {
    let repeated = match column.exact {
        true => column.unique_share < 1.0 - column.missing - 1e-12,
        false => column.unique_share < 0.95 * (1.0 - column.missing),
    };
    column.role == Role::Identifier
        && repeated
        && column.distinct > 1
        && !is_name(&column.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::sample::{hash, mixed};

    fn sample(rows: impl Iterator<Item = [String; 2]>) -> RowSample {
        let mut sample = RowSample::new(2);
        for cells in rows {
            let cells = cells.map(|cell| hash(&cell));
            sample.add(mixed(cells[0], cells[1]), &cells);
        }
        sample
    }

    #[test]
    fn what_follows_is_told_from_what_only_seems_to() {
        let town = |n: u64| [format!("zip{}", n % 50), format!("town{}", n % 50 / 5)];
        let towns = sample((0..1000).map(town));
        assert!(towns.may_follow(1, 0, 0.1) && !towns.may_follow(0, 1, 0.02));
        // Hardly anybody has another value: by chance, it follows from everything.
        let rare = sample((0..1000).map(|n| [format!("{}", n % 50), "no".to_owned()]));
        assert!(!rare.may_follow(1, 0, 0.999));
    }

    #[test]
    fn any_number_of_workers_keeps_the_same_rows() {
        let rows = || (0..9000u64).map(|n| [n.to_string(), (n % 7).to_string()]);
        let mut alone = sample(rows());
        let mut first = sample(rows().step_by(2));
        first.merge(sample(rows().skip(1).step_by(2)));
        let sorted = |sample: &mut RowSample| {
            sample.rows.sort();
            sample.rows.clone()
        };
        assert_eq!(sorted(&mut alone), sorted(&mut first));
        assert!(alone.rows.len() > 500 && alone.rows.len() <= ROWS);
    }
}
