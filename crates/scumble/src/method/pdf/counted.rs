//! The table's own weights where counting them tells too little to matter.

use std::collections::BTreeMap;

use super::worlds::presence;
use super::{Chance, Pdf, PdfGroup, Range, Whose, weights};

/// How many steps are spent on a group, whatever its size, to see which columns may carry
/// the table's own weights.
pub const WORK_FOR_A_GROUP: u64 = 10_000;

/// How many steps more for each person in it, so that a table takes about as long in many
/// groups as in few.
pub const WORK_FOR_A_PERSON: u64 = 200;

/// The most steps for one group: in large ones the table's weights gain little.
pub const MOST_WORK: u64 = 4_000_000;

/// No set of columns may take more than this share of the steps: one that is hopeless
/// leaves enough for others.
const SHARE: u64 = 8;

/// The table's own weights on those columns where the counting adversary stays in `range`,
/// the population's on the rest; of the sets of columns that were looked at, one that
/// makes the loss least.
///
/// A group that is out of range whatever is published gets the population's weights.
pub fn counted(part: &PdfGroup, range: &Range) -> Vec<Pdf> {
    let mut whose = vec![Whose::Population; part.codes.len()];
    for column in ColumnSearch::new(part, range).run() {
        whose[column] = Whose::Table;
    }
    let columns = whose.into_iter().enumerate();
    columns.map(|(column, whose)| weights(part, column, whose)).collect()
}

struct ColumnSearch<'a> {
    part: &'a PdfGroup,
    range: &'a Range,
    /// Columns that may carry the table's weights alone, by what that gains, most first.
    columns: Vec<(usize, f64)>,
    /// Steps left, and steps granted to one set of columns.
    work: u64,
    share: u64,
    /// What is known of sets of columns.
    seen: BTreeMap<Vec<usize>, bool>,
}

impl<'a> ColumnSearch<'a> {
    fn new(part: &'a PdfGroup, range: &'a Range) -> Self {
        let (rows, people) = (part.n_rows(), part.n_people());
        let whole = Chance::Exact { part: rows, whole: people.max(1) };
        let mut columns = Vec::new();
        if rows > 0 && range.holds(whole) {
            let all = 0..part.codes.len();
            columns = all
                .filter_map(|column| Some((column, gain(part, column, range)?)))
                .collect();
            // The sort is stable: of columns that gain the same the first comes first.
            columns.sort_by(|one, other| other.1.total_cmp(&one.1));
        }
        let work = WORK_FOR_A_PERSON.saturating_mul(people);
        let work = work.saturating_add(WORK_FOR_A_GROUP).min(MOST_WORK);
        Self { part, range, columns, work, share: work / SHARE, seen: BTreeMap::new() }
    }

    /// The best set found: from each column as a start, the others added by gain.
    ///
    /// More columns tell more, but not always more of everybody: a set is looked at as a
    /// whole, and that a smaller one fails proves nothing.
    fn run(mut self) -> Vec<usize> {
        let columns = self.columns.clone();
        if self.range.is_all() {
            return columns.into_iter().map(|(column, _)| column).collect();
        }
        let most: f64 = columns.iter().map(|(_, gain)| gain).sum();
        let mut best = (Vec::new(), 0.0);
        for start in &columns {
            let mut set = vec![start.0];
            let mut sum = start.1;
            for (column, gain) in columns.iter().filter(|other| other.0 != start.0) {
                set.push(*column);
                if self.holds(&set) {
                    sum += gain;
                } else {
                    set.pop();
                }
            }
            if sum > best.1 {
                best = (set, sum);
            }
            // Rounding aside, nothing can be better than all of them.
            if best.0.len() == columns.len() || best.1 >= most || self.work == 0 {
                break;
            }
        }
        best.0
    }

    /// Whether everybody's presence is known to stay in range.
    fn holds(&mut self, columns: &[usize]) -> bool {
        let mut set = columns.to_vec();
        set.sort_unstable();
        if let Some(known) = self.seen.get(&set) {
            return *known;
        }
        if self.work == 0 {
            return false;
        }
        let granted = self.share.min(self.work);
        let mut left = granted;
        let found = presence(self.part, &set, &mut left);
        self.work -= granted - left;
        let holds = found.is_some_and(|found| {
            let people = found.iter().zip(&self.part.people);
            people
                .filter(|(_, people)| **people > 0)
                .all(|(of, _)| self.range.holds(*of))
        });
        self.seen.insert(set, holds);
        holds
    }
}

/// How much smaller the loss is with the table's weights in a column instead of the
/// population's; nothing if they are the same, or tell too much alone.
///
/// Whatever else is published, people with a value are present `rows / people` of the
/// time on average: a column that fails alone fails in every set.
fn gain(part: &PdfGroup, column: usize, range: &Range) -> Option<f64> {
    let (n_rows, n_people) = (part.n_rows(), part.n_people());
    let mut gain = 0.0;
    let mut same = true;
    for tally in part.tally(column) {
        let (rows, people) = (tally.rows, tally.people);
        if !range.holds(Chance::Exact { part: rows, whole: people }) {
            return None;
        }
        same &= u128::from(rows) * u128::from(n_people)
            == u128::from(people) * u128::from(n_rows);
        if rows > 0 {
            let table = rows as f64 / n_rows as f64;
            gain += rows as f64 * (table / (people as f64 / n_people as f64)).ln();
        }
    }
    (!same).then_some(gain)
}
