//! Cuts under promises about values against somebody who knows the program: on small tables
//! all ways to give values to people, all orders and all falls of the coins are gone through,
//! and what is believed of everybody's value given each release is counted.
//!
//! The oracle sees published cells and values only, and of everything that chance decides
//! with which probability. Cuts that are looked at freely, and coins that never fall, are
//! broken twins.

use std::collections::BTreeMap;

use scumble::decimal::Decimal;
use scumble::hierarchy::{Cells, ColumnSpec, Microdata, Rule};
use scumble::loss;
use scumble::method::{Chance, Grouping, GroupingTask, Mondrian, value_cuts};
use scumble::promise::{
    Distance, Diversity, GroupPromise, KAnonymity, LDiversity, Promises, TCloseness,
};
use scumble::table::{ReadOptions, Reading, Role, Source};
use scumble::watch::Unwatched;

/// What is asked of values.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Distinct(u64),
    Entropy(f64),
    Recursive(f64, u64),
    Close(f64),
}

fn decimal(number: f64) -> Decimal {
    Decimal::from_f64("number", number).unwrap()
}

fn promises(asked: Asked, k: u64) -> Promises {
    let diverse = |diversity| -> Box<dyn GroupPromise> {
        Box::new(LDiversity::new(diversity).unwrap())
    };
    let of_values = match asked {
        Asked::Distinct(l) => diverse(Diversity::Distinct(l)),
        Asked::Entropy(l) => diverse(Diversity::Entropy(decimal(l))),
        Asked::Recursive(c, l) => diverse(Diversity::Recursive { l, c: decimal(c) }),
        Asked::Close(t) => {
            Box::new(TCloseness::new(decimal(t), Distance::Equal).unwrap())
        }
    };
    Promises::new(vec![of_values, Box::new(KAnonymity::new(k).unwrap())])
}

/// Whether a belief keeps what is asked; `whole` are the shares of the table.
fn keeps(asked: Asked, belief: &[f64], whole: &[f64]) -> bool {
    let mut sorted: Vec<f64> = belief.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    match asked {
        Asked::Distinct(l) => belief.iter().filter(|p| **p > 0.0).count() as u64 >= l,
        Asked::Entropy(l) => {
            let entropy: f64 =
                belief.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
            entropy > l.ln() - 1e-9
        }
        Asked::Recursive(c, l) => {
            sorted[0] < c * sorted[l as usize - 1..].iter().sum::<f64>() + 1e-9
        }
        Asked::Close(t) => {
            let far = belief.iter().zip(whole).map(|(p, q)| (p - q).abs()).sum::<f64>();
            far / 2.0 < t + 1e-9
        }
    }
}

/// Everything that chance decides, each in turn.
#[derive(Default)]
struct Script {
    /// What is decided before, and what comes after it falls first one way.
    decided: Vec<usize>,
    /// What was decided, out of how many.
    taken: Vec<(usize, usize)>,
    weight: f64,
    /// Whether coins never refuse.
    coins_off: bool,
}

impl Script {
    fn take(&mut self, options: usize) -> usize {
        let chosen = self.decided.get(self.taken.len()).copied().unwrap_or(0);
        self.taken.push((chosen, options));
        chosen
    }

    /// The next script; nothing after the last.
    fn next(&self) -> Option<Vec<usize>> {
        let open = |(chosen, options): &(usize, usize)| chosen + 1 < *options;
        let last = self.taken.iter().rposition(open)?;
        let mut next: Vec<usize> =
            self.taken[..=last].iter().map(|(c, _)| *c).collect();
        next[last] += 1;
        Some(next)
    }
}

/// All different orders of some values.
fn orders(values: &[u32]) -> Vec<Vec<u32>> {
    if values.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (place, first) in values.iter().enumerate() {
        if values[..place].contains(first) {
            continue;
        }
        let mut rest = values.to_vec();
        rest.remove(place);
        for mut order in orders(&rest) {
            order.insert(0, *first);
            all.push(order);
        }
    }
    all
}

impl Chance for Script {
    fn shuffle(&mut self, values: &mut [u32]) {
        let orders = orders(values);
        let chosen = self.take(orders.len());
        values.copy_from_slice(&orders[chosen]);
        self.weight /= orders.len() as f64;
    }

    fn coin(&mut self, chance: u64) -> bool {
        if self.coins_off {
            return false;
        }
        let share = chance as f64 / 2f64.powi(64);
        let falls = self.take(2) == 1;
        self.weight *= if falls { share } else { 1.0 - share };
        falls
    }
}

/// People with an age and a sex, all different.
type People = [(u32, &'static str)];

fn read(people: &People, values: &[u32]) -> Microdata {
    let lines = people.iter().zip(values);
    let lines = lines.map(|((age, sex), value)| format!("{age},{sex},v{value}\n"));
    let text = format!("age,sex,ill\n{}", lines.collect::<String>());
    let source =
        Source::from_bytes("table.csv", text.into_bytes(), &ReadOptions::default())
            .unwrap();
    let column = |name: &str, role, reading, cells| ColumnSpec {
        cells,
        ..ColumnSpec::new(name, role, reading, Rule::Plain)
    };
    let specs = [
        column("age", Role::Quasi, Reading::number(), Cells::Interval),
        column("sex", Role::Quasi, Reading::category(), Cells::Set),
        column("ill", Role::Sensitive, Reading::category(), Cells::Set),
    ];
    Microdata::read(&source, &specs, &Unwatched).unwrap()
}

/// What is published: cells of groups, and how many of their rows have which value.
fn seen(data: &Microdata, grouping: &Grouping) -> String {
    let mut groups = vec![data.census.histograms(); grouping.covers.len()];
    for (tuple, group) in grouping.group_of.pairs() {
        data.census.add_to(tuple, &mut groups[group.unwrap().index()]);
    }
    let values: Vec<Vec<u64>> =
        groups.iter().map(|group| group[0].counts().to_vec()).collect();
    format!("{:?} {values:?}", grouping.covers)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Coins,
    CoinsOff,
    Free,
}

/// What was found of all releases: pairs of person and release, those whose belief breaks
/// what is asked, and those with a certain value; and releases with several groups.
#[derive(Debug, Default)]
struct Judged {
    pairs: u64,
    broken: u64,
    certain: u64,
    cut: u64,
}

fn judged(people: &People, values: &[u32], asked: Asked, k: u64, way: Way) -> Judged {
    let promises = promises(asked, k);
    let n_values = 1 + *values.iter().max().unwrap() as usize;
    let mut worlds: BTreeMap<String, (f64, Vec<Vec<f64>>)> = BTreeMap::new();
    let mut several: BTreeMap<String, bool> = BTreeMap::new();
    for arranged in orders(values) {
        let data = read(people, &arranged);
        let task = GroupingTask {
            columns: &data.quasi,
            census: &data.census,
            promises: &promises,
            loss: loss::ALL[0],
            limit: 0,
        };
        let mut add = |grouping: &Grouping, weight: f64| {
            let release = seen(&data, grouping);
            several.insert(release.clone(), grouping.covers.len() > 1);
            let nothing = || (0.0, vec![vec![0.0; n_values]; people.len()]);
            let (all, beliefs) = worlds.entry(release).or_insert_with(nothing);
            *all += weight;
            for (belief, value) in beliefs.iter_mut().zip(&arranged) {
                belief[*value as usize] += weight;
            }
        };
        if way == Way::Free {
            match Mondrian::default().find(&task) {
                Ok(grouping) => add(&grouping, 1.0),
                Err(_) => return Judged::default(),
            }
            continue;
        }
        let (mut decided, mut sum) = (Some(Vec::new()), 0.0);
        while let Some(script) = decided {
            let coins_off = way == Way::CoinsOff;
            let mut chance =
                Script { decided: script, weight: 1.0, coins_off, ..Script::default() };
            let Ok(grouping) = value_cuts(&task, &mut chance) else {
                return Judged::default();
            };
            sum += chance.weight;
            if chance.weight > 0.0 {
                add(&grouping, chance.weight);
            }
            decided = chance.next();
        }
        assert!((sum - 1.0).abs() < 1e-9, "chance falls in every way: {sum}");
    }
    let share = |value: usize| {
        let n = values.iter().filter(|own| **own as usize == value).count();
        n as f64 / values.len() as f64
    };
    let whole: Vec<f64> = (0..n_values).map(share).collect();
    let mut found = Judged::default();
    for (release, (all, beliefs)) in worlds {
        found.cut += u64::from(several[&release]);
        for belief in beliefs {
            let belief: Vec<f64> = belief.iter().map(|p| p / all).collect();
            found.pairs += 1;
            found.broken += u64::from(!keeps(asked, &belief, &whole));
            found.certain += u64::from(belief.iter().any(|p| *p > 1.0 - 1e-9));
        }
    }
    found
}

const SIX: [(u32, &str); 6] =
    [(20, "f"), (25, "m"), (30, "f"), (41, "f"), (45, "m"), (60, "m")];

const SEVEN: [(u32, &str); 7] =
    [(1, "f"), (2, "f"), (3, "m"), (5, "f"), (8, "m"), (13, "m"), (21, "f")];

const EIGHT: [(u32, &str); 8] =
    [(1, "f"), (2, "f"), (3, "f"), (4, "f"), (5, "m"), (6, "m"), (7, "m"), (9, "m")];

/// People and the values they have among them, and of how many a group must be.
const TABLES: [(&People, &[u32], u64); 5] = [
    (&SIX, &[0, 0, 1, 1, 2, 2], 2),
    (&SIX, &[0, 0, 0, 1, 1, 2], 3),
    (&SEVEN, &[0, 0, 0, 1, 1, 1, 1], 2),
    (&EIGHT, &[0, 0, 0, 0, 1, 1, 1, 1], 3),
    (&EIGHT, &[0, 0, 0, 0, 0, 1, 1, 1], 4),
];

const ASKED: [Asked; 6] = [
    Asked::Distinct(2),
    Asked::Entropy(1.7),
    Asked::Entropy(1.4),
    Asked::Recursive(2.5, 2),
    Asked::Close(0.2),
    Asked::Close(0.35),
];

#[test]
fn knowing_the_program_leaves_beliefs_about_values_as_promised() {
    let (mut pairs, mut cut) = (0, 0);
    for (people, values, k) in TABLES {
        for asked in ASKED {
            let found = judged(people, values, asked, k, Way::Coins);
            assert_eq!(found.broken, 0, "{asked:?} {values:?} {k}: {found:?}");
            assert_eq!(found.certain, 0, "{asked:?} {values:?} {k}: {found:?}");
            (pairs, cut) = (pairs + found.pairs, cut + found.cut);
        }
    }
    assert!(pairs > 500 && cut > 50, "{pairs} pairs, {cut} releases that were cut");
}

#[test]
fn free_looks_and_coins_that_never_fall_give_values_away() {
    let (mut free, mut off) = (Judged::default(), 0);
    for (people, values, k) in TABLES {
        for asked in ASKED {
            let found = judged(people, values, asked, k, Way::Free);
            free.certain += found.certain;
            free.broken += found.broken;
            off += judged(people, values, asked, k, Way::CoinsOff).broken;
        }
    }
    assert!(free.certain > 20 && free.broken > 100, "{free:?}");
    assert!(off > 0, "coins are never needed here");
}
