//! Safe cuts and levels against somebody who knows the program: on small populations all tables and all
//! falls of the coins are gone through, in exact fractions, and everybody's presence given
//! each release is counted.
//!
//! The oracle shares nothing with the method: it sees the published cells and sizes, and of
//! every coin with which chance it falls. The same with coins that never fall is a broken
//! twin, and so are cuts and levels that are looked at freely.

use std::collections::BTreeMap;

use scumble::decimal::Decimal;
use scumble::hierarchy::{Cells, ColumnSpec, Cover, Microdata, Population, Rule};
use scumble::loss;
use scumble::method::{
    FullDomain, Grouping, GroupingTask, Mondrian, safe_cuts, safe_levels,
};
use scumble::promise::{DeltaPresence, GroupPromise, KAnonymity, KMap, Promises};
use scumble::table::{ReadOptions, Reading, Role, Source};
use scumble::watch::Unwatched;

/// A fraction of ways: a whole number over 2^64 to the power of a fixed number of coins. A
/// number is its digits in base 2^32, the lowest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Whole(Vec<u32>);

impl Whole {
    fn of(number: u128) -> Self {
        let digits = (0..4).map(|place| (number >> (32 * place)) as u32);
        Self(digits.collect()).trimmed()
    }

    fn trimmed(mut self) -> Self {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    fn plus(&self, other: &Self) -> Self {
        let n = self.0.len().max(other.0.len());
        let digit = |number: &Self, place: usize| {
            u64::from(number.0.get(place).copied().unwrap_or(0))
        };
        let mut carry = 0;
        let mut digits: Vec<u32> = (0..n)
            .map(|place| {
                let sum = digit(self, place) + digit(other, place) + carry;
                carry = sum >> 32;
                sum as u32
            })
            .collect();
        digits.push(carry as u32);
        Self(digits).trimmed()
    }

    fn times(&self, other: &Self) -> Self {
        let mut digits = vec![0u32; self.0.len() + other.0.len() + 1];
        for (i, a) in self.0.iter().enumerate() {
            let mut carry = 0u64;
            for (j, b) in other.0.iter().enumerate() {
                let sum =
                    u64::from(*a) * u64::from(*b) + u64::from(digits[i + j]) + carry;
                digits[i + j] = sum as u32;
                carry = sum >> 32;
            }
            digits[i + other.0.len()] = carry as u32;
        }
        Self(digits).trimmed()
    }

    fn at_most(&self, other: &Self) -> bool {
        match self.0.len().cmp(&other.0.len()) {
            std::cmp::Ordering::Equal => {
                self.0.iter().rev().cmp(other.0.iter().rev()).is_le()
            }
            order => order.is_le(),
        }
    }
}

/// More coins than this fall in no run here.
const MOST_COINS: usize = 8;

/// What becomes of the coins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coins {
    /// They fall as they should.
    Fair,
    /// They never refuse: the broken twin.
    Off,
    /// All cuts, or levels, are looked at: the other broken twin.
    Free,
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    /// In hundredths.
    range: (u32, u32),
    k: Option<u64>,
    k_map: Option<u64>,
    /// Nodes are those of levels.
    cells: Cells,
    loss: usize,
}

fn decimal(hundredths: u32) -> Decimal {
    Decimal::from_f64("share", f64::from(hundredths) / 100.0).unwrap()
}

fn promises(asked: Asked) -> Promises {
    let (min, max) = asked.range;
    let presence = DeltaPresence::new(decimal(min), decimal(max)).unwrap();
    let mut promises: Vec<Box<dyn GroupPromise>> = vec![Box::new(presence)];
    if let Some(k) = asked.k {
        promises.push(Box::new(KAnonymity::new(k).unwrap()));
    }
    if let Some(k) = asked.k_map {
        promises.push(Box::new(KMap::new(k).unwrap()));
    }
    Promises::new(promises)
}

/// The people of a town: an age and a sex each.
type People = [(u32, &'static str)];

fn source(name: &str, people: impl Iterator<Item = (u32, &'static str)>) -> Source {
    let lines = people.map(|(age, sex)| format!("{age},{sex}\n"));
    let text = format!("age,sex\n{}", lines.collect::<String>());
    Source::from_bytes(name, text.into_bytes(), &ReadOptions::default()).unwrap()
}

/// The table of some people, one bit for each.
fn read(people: &People, table: u32, cells: Cells) -> Microdata {
    let all = source("everyone.csv", people.iter().copied());
    let inside = people.iter().enumerate().filter(|(p, _)| table >> p & 1 == 1);
    let inside = source("table.csv", inside.map(|(_, person)| *person));
    let column = |name: &str, reading| ColumnSpec {
        cells,
        ..ColumnSpec::new(name, Role::Quasi, reading, Rule::Plain)
    };
    let mut age = column("age", Reading::number());
    if cells == Cells::Taxonomy {
        age.rule = Rule::widths(vec![2.0, 4.0, 8.0], 0.0).unwrap();
    }
    let specs = [age, column("sex", Reading::category())];
    let population = Population { source: &all, key: &[] };
    Microdata::read_within(&inside, Some(population), &specs, &Unwatched).unwrap()
}

/// What is published: the cells of groups with rows, and how many rows they have.
type Seen = Vec<(u64, Vec<Cover>)>;

fn seen(data: &Microdata, grouping: &Grouping) -> String {
    let shape = grouping.shape(&data.census);
    let seen: Seen =
        shape.groups.iter().map(|(rows, covers)| (*rows, covers.to_vec())).collect();
    format!("{seen:?}")
}

/// Every release that may come of a table, and how likely each is: in parts of 2^64 to the
/// power of `MOST_COINS`.
fn releases(
    data: &Microdata,
    asked: Asked,
    coins: Coins,
) -> Option<Vec<(String, Whole)>> {
    let promises = promises(asked);
    let task = GroupingTask {
        columns: &data.quasi,
        census: &data.census,
        promises: &promises,
        loss: loss::ALL[asked.loss],
        limit: 0,
    };
    let certain =
        (0..MOST_COINS).fold(Whole::of(1), |ways, _| ways.times(&Whole::of(1 << 64)));
    let by_levels = asked.cells == Cells::Taxonomy;
    if coins == Coins::Free {
        let grouping = match by_levels {
            true => FullDomain::default().find(&task).ok()?.grouping,
            false => Mondrian::default().find(&task).ok()?,
        };
        return Some(vec![(seen(data, &grouping), certain)]);
    }
    let mut found = Vec::new();
    // Scripts of falls; what is not in a script falls first one way, then the other.
    let mut open: Vec<Vec<bool>> = vec![Vec::new()];
    while let Some(script) = open.pop() {
        let mut fallen: Vec<(bool, u64)> = Vec::new();
        let coin = |chance| {
            if coins == Coins::Off {
                return false;
            }
            let falls = script.get(fallen.len()).copied().unwrap_or(false);
            fallen.push((falls, chance));
            falls
        };
        let grouping = match by_levels {
            true => safe_levels(&task, coin).ok()?.grouping,
            false => safe_cuts(&task, coin).ok()?,
        };
        assert!(fallen.len() <= MOST_COINS);
        for place in script.len()..fallen.len() {
            let mut other: Vec<bool> =
                fallen[..place].iter().map(|(falls, _)| *falls).collect();
            other.push(true);
            open.push(other);
        }
        let mut ways = Whole::of(1);
        for place in 0..MOST_COINS {
            let share = match fallen.get(place) {
                Some((true, chance)) => u128::from(*chance),
                Some((false, chance)) => (1 << 64) - u128::from(*chance),
                None => 1 << 64,
            };
            ways = ways.times(&Whole::of(share));
        }
        found.push((seen(data, &grouping), ways));
    }
    let all = found.iter().fold(Whole::default(), |sum, (_, ways)| sum.plus(ways));
    assert_eq!(all, certain, "the coins fall in every way");
    Some(found)
}

/// All tables of some people, by who is in them.
type Tables = Vec<(u32, Microdata)>;

fn tables(people: &People, rows: u32, cells: Cells) -> Tables {
    let tables = (0..1u32 << people.len()).filter(|table| table.count_ones() == rows);
    tables.map(|table| (table, read(people, table, cells))).collect()
}

/// How many pairs of person and release there are, and how many are outside of the range.
fn judged(n_people: usize, tables: &Tables, asked: Asked, coins: Coins) -> (u64, u64) {
    type Ways = (Whole, Vec<Whole>);
    let mut worlds: BTreeMap<String, Ways> = BTreeMap::new();
    for (table, data) in tables {
        let Some(releases) = releases(data, asked, coins) else { return (0, 0) };
        for (release, ways) in releases {
            let nobody = || (Whole::default(), vec![Whole::default(); n_people]);
            let (all, inside) = worlds.entry(release).or_insert_with(nobody);
            *all = all.plus(&ways);
            for (person, inside) in inside.iter_mut().enumerate() {
                if table >> person & 1 == 1 {
                    *inside = inside.plus(&ways);
                }
            }
        }
    }
    let (min, max) = asked.range;
    let (mut pairs, mut outside) = (0, 0);
    for (all, inside) in worlds.values().filter(|(all, _)| *all != Whole::default()) {
        let share = |hundredths: u32| all.times(&Whole::of(hundredths.into()));
        for inside in inside {
            let inside = inside.times(&Whole::of(100));
            pairs += 1;
            let fits = share(min).at_most(&inside) && inside.at_most(&share(max));
            outside += u64::from(!fits);
        }
    }
    (pairs, outside)
}

const TOWN: [(u32, &str); 8] = [
    (20, "f"),
    (20, "m"),
    (25, "f"),
    (30, "m"),
    (30, "f"),
    (40, "m"),
    (40, "m"),
    (60, "f"),
];

const STREET: [(u32, &str); 9] = [
    (1, "f"),
    (2, "f"),
    (3, "f"),
    (4, "f"),
    (5, "f"),
    (6, "m"),
    (7, "m"),
    (8, "m"),
    (9, "m"),
];

/// Ages that levels put together, and some that stand alone.
const HILL: [(u32, &str); 9] = [
    (1, "f"),
    (1, "m"),
    (2, "f"),
    (3, "f"),
    (5, "f"),
    (6, "m"),
    (7, "m"),
    (9, "m"),
    (12, "f"),
];

/// What is asked, and the places of losses that go with cells.
const WAYS: [(Cells, usize); 2] = [(Cells::Interval, 0), (Cells::Set, 4)];

fn all_asked(cells: Cells, loss: usize) -> Vec<Asked> {
    let mut all = Vec::new();
    for range in [(0, 34), (0, 50), (0, 75), (10, 60), (20, 70), (25, 50), (0, 100)] {
        for (k, k_map) in [(None, None), (Some(2), None), (None, Some(3))] {
            all.push(Asked { range, k, k_map, cells, loss });
        }
    }
    all
}

/// Whoever knows the program, the population and the size of the table finds everybody's
/// presence in the range, whatever is published.
#[test]
fn knowing_the_program_leaves_everybodys_presence_in_the_range() {
    let mut pairs = 0;
    for people in [&TOWN[..], &STREET[..], &STREET[2..]] {
        for (rows, (cells, loss)) in (1..=5).flat_map(|n| WAYS.map(|way| (n, way))) {
            let tables = tables(people, rows, cells);
            for asked in all_asked(cells, loss) {
                let (n, outside) = judged(people.len(), &tables, asked, Coins::Fair);
                assert_eq!(outside, 0, "{rows} of {} {asked:?}", people.len());
                pairs += n;
            }
        }
    }
    assert!(pairs > 5_000, "only {pairs} pairs of person and release");
}

#[test]
fn without_coins_and_with_free_looks_people_are_given_away() {
    for coins in [Coins::Off, Coins::Free] {
        let (mut pairs, mut outside) = (0, 0);
        for people in [&TOWN[..], &STREET[..]] {
            for (rows, (cells, loss)) in [2, 3, 4].map(|n| (n, WAYS[n % 2])) {
                let tables = tables(people, rows as u32, cells);
                for asked in all_asked(cells, loss) {
                    let (n, out) = judged(people.len(), &tables, asked, coins);
                    (pairs, outside) = (pairs + n, outside + out);
                }
            }
        }
        assert!(outside * 100 > pairs, "{coins:?}: {outside} of {pairs}");
    }
}

/// Safe cuts do cut: some release has several groups, and coins do fall.
#[test]
fn safe_cuts_are_made_and_coins_are_needed() {
    let asked =
        Asked { range: (0, 50), k: None, k_map: None, cells: Cells::Interval, loss: 0 };
    let (mut several, mut chances) = (0, 0);
    for (_, data) in tables(&STREET, 3, asked.cells) {
        let promises = promises(asked);
        let task = GroupingTask {
            columns: &data.quasi,
            census: &data.census,
            promises: &promises,
            loss: loss::ALL[0],
            limit: 0,
        };
        let grouping = safe_cuts(&task, |chance| {
            chances += u64::from(chance > 0);
            false
        });
        several += u64::from(grouping.unwrap().covers.len() > 1);
    }
    assert!(several > 20 && chances > 5, "{several} releases cut, {chances} coins");
}

/// The same of levels, with a loss of cells and one of sizes.
#[test]
fn knowing_the_program_leaves_presence_in_the_range_of_levels() {
    let (mut pairs, mut several) = (0, 0);
    for people in [&STREET[..], &HILL[..], &HILL[1..]] {
        for rows in 1..=5 {
            let tables = tables(people, rows, Cells::Taxonomy);
            for asked in all_asked(Cells::Taxonomy, rows as usize % 2) {
                let (n, outside) = judged(people.len(), &tables, asked, Coins::Fair);
                assert_eq!(outside, 0, "{rows} of {} {asked:?}", people.len());
                pairs += n;
                several += u64::from(n > people.len() as u64);
            }
        }
    }
    assert!(pairs > 3_000 && several > 60, "{pairs} pairs, {several} with a choice");
}

#[test]
fn levels_without_coins_and_with_free_looks_give_people_away() {
    for coins in [Coins::Off, Coins::Free] {
        let (mut pairs, mut outside) = (0, 0);
        for people in [&STREET[..], &HILL[..]] {
            for rows in [2, 3, 4] {
                let tables = tables(people, rows, Cells::Taxonomy);
                for asked in all_asked(Cells::Taxonomy, 0) {
                    let (n, out) = judged(people.len(), &tables, asked, coins);
                    (pairs, outside) = (pairs + n, outside + out);
                }
            }
        }
        assert!(outside > 20, "{coins:?}: {outside} of {pairs}");
    }
}

/// Below a highest level that is not `*`, groups of it are parts from the beginning.
#[test]
fn a_highest_level_is_where_safe_levels_begin() {
    let asked =
        Asked { range: (0, 60), k: None, k_map: None, cells: Cells::Taxonomy, loss: 0 };
    let mut tables = tables(&HILL, 4, Cells::Taxonomy);
    for (_, data) in &mut tables {
        data.quasi[0].highest = 3;
    }
    // Tables whose highest node breaks the promise give no release.
    tables.retain(|(_, data)| releases(data, asked, Coins::Fair).is_some());
    assert!(tables.len() > 20 && tables.len() < 126, "{}", tables.len());
    let (pairs, outside) = judged(HILL.len(), &tables, asked, Coins::Fair);
    assert!(pairs > 0 && outside == 0, "{outside} of {pairs}");
}
