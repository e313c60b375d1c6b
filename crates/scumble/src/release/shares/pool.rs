//! Values that few people have are written together.
//!
//! # Guarantee
//! Every entry is of at least so many people, and no value is in two of them. A range ends at
//! a line of the column's public grid, or beside a number that at least so many people have:
//! never because of a number that fewer have.
//!
//! *Proof.* A number that is not rare is a unit of its own. A rare one is in the unit of all
//! rare numbers that no line of the grid, and no number that is not rare, parts from it; its
//! ends are these. Units are joined from the first on until they are of enough people, and
//! what is left at the end joins the last: an entry ends where units do. ∎
//!
//! # Cost
//! Linear in the values of the column, and in its rows where people have several.

use crate::hierarchy::{Column, Cover, Grid, Rule, cell};
use crate::release::PublishedColumn;
use crate::table::{Code, Kind, Of, format_date, format_number};

/// A column with more numbers that are not rare has entries on its grid only.
const MOST_SINGLE: usize = 256;

/// Who has the values of a column.
#[derive(Debug, Clone, Default)]
pub struct Holders {
    /// How many rows of each value name nobody, or each somebody of their own.
    pub alone: Of<Code, u64>,
    /// Who else has each value.
    pub people: Of<Code, Vec<Code>>,
}

/// Rows, and whose they are.
#[derive(Debug, Clone, Default)]
struct Held {
    rows: u64,
    alone: u64,
    people: Vec<Code>,
}

impl Held {
    fn of(column: &Column, holders: Option<&Holders>, code: Code) -> Self {
        let rows = column.rows[code];
        match holders {
            None => Self { rows, alone: rows, people: Vec::new() },
            Some(holders) => {
                let mut people = holders.people[code].clone();
                people.sort_unstable();
                people.dedup();
                Self { rows, alone: holders.alone[code], people }
            }
        }
    }

    fn join(&mut self, other: Self) {
        self.rows += other.rows;
        self.alone += other.alone;
        self.people.extend(other.people);
        self.people.sort_unstable();
        self.people.dedup();
    }

    /// How many people they are of.
    fn n(&self) -> u64 {
        self.alone + self.people.len() as u64
    }
}

/// The values of a column, each with how many rows have it, and rare ones together, so that
/// every entry is of at least `least` people; nothing if that cannot be. Without `holders`
/// every row is somebody's own.
pub fn pooled(
    column: &Column,
    listed: &PublishedColumn,
    holders: Option<&Holders>,
    least: u64,
) -> Option<Vec<(Box<str>, u64)>> {
    let held = |code: Code| Held::of(column, holders, code);
    let entries = match listed.is_ranged() {
        true => ranges(column, listed, &held, least)?,
        false => sets(column, &held, least)?,
    };
    Some(entries.into_iter().map(|(text, rows)| (text.into(), rows)).collect())
}

/// Numbers next to each other.
struct Stretch {
    /// The first of them, and where they end, which is no longer in it.
    low: f64,
    high: f64,
    /// The number, if it is one.
    single: Option<Code>,
    held: Held,
}

fn ranges(
    column: &Column,
    listed: &PublishedColumn,
    held: &dyn Fn(Code) -> Held,
    least: u64,
) -> Option<Vec<(String, u64)>> {
    let domain = &column.domain;
    let there = |code: &Code| column.rows[*code] > 0;
    let known: Vec<(Code, f64)> = domain
        .codes()
        .filter(there)
        .filter_map(|code| Some((code, domain.number(code)?)))
        .collect();
    let missing = domain.missing().filter(there).map(|code| (code, held(code)));
    let written = |number: f64| match (listed.kind, number.is_finite()) {
        (Kind::Date, true) => format_date(number),
        _ => format_number(number),
    };
    let mut pools: Vec<Stretch> = Vec::new();
    if !known.is_empty() {
        pools = joined(units(column, listed, &known, held, least)?, least)?;
    }
    let mut entries: Vec<(String, Held)> = Vec::with_capacity(pools.len() + 1);
    for Stretch { low, high, single, held } in pools {
        let text = match single {
            Some(code) => domain.text(code).to_owned(),
            None => {
                let open = if low.is_finite() { "[" } else { "(" };
                format!("{open}{}, {})", written(low), written(high))
            }
        };
        entries.push((text, held));
    }
    if let Some((code, own)) = missing {
        match entries.last_mut() {
            Some((text, held)) if own.n() < least => {
                text.push_str(cell::OR_MISSING);
                held.join(own);
            }
            None if own.n() < least => return None,
            _ => entries.push((domain.text(code).to_owned(), own)),
        }
    }
    Some(entries.into_iter().map(|(text, held)| (text, held.rows)).collect())
}

/// Numbers that are not rare, each alone, and others between these and the lines of the grid.
fn units(
    column: &Column,
    listed: &PublishedColumn,
    known: &[(Code, f64)],
    held: &dyn Fn(Code) -> Held,
    least: u64,
) -> Option<Vec<Stretch>> {
    let rule = listed.hierarchy.as_ref().unwrap_or(&Rule::Plain);
    let grid = listed.grid.clone().or_else(|| Grid::of_rule(rule));
    let grid = grid.or_else(|| Grid::round(&column.domain))?.bind(&column.domain)?;
    let scale = match listed.kind {
        Kind::Date => 1.0,
        _ => 10f64.powi(listed.decimals.unwrap_or(0).min(22) as i32),
    };
    let next = |number: f64| ((number * scale).round() + 1.0) / scale;
    let each: Vec<Held> = known.iter().map(|(code, _)| held(*code)).collect();
    let common = each.iter().filter(|held| held.n() >= least).count();
    let alone = |held: &Held| common <= MOST_SINGLE && held.n() >= least;
    let mut units: Vec<Stretch> = Vec::new();
    for (place, ((code, number), own)) in known.iter().zip(&each).enumerate() {
        if alone(own) {
            let (low, high) = (*number, next(*number));
            units.push(Stretch { low, high, single: Some(*code), held: own.clone() });
            continue;
        }
        let (from, to) = grid.span(*code, *code)?;
        if let Some(last) = units.last_mut()
            && last.single.is_none()
            && *number < last.high
        {
            last.held.join(own.clone());
            continue;
        }
        let before = units.last().map_or(f64::NEG_INFINITY, |last| last.high);
        let after = known[place..].iter().zip(&each[place..]);
        let after = after.take_while(|((_, number), _)| *number < to);
        let mut after = after.filter(|(_, held)| alone(held));
        let after = after.next().map_or(f64::INFINITY, |((_, number), _)| *number);
        let (low, high) = (from.max(before), to.min(after));
        units.push(Stretch { low, high, single: None, held: own.clone() });
    }
    Some(units)
}

/// Joins neighbours until each is of enough people.
fn joined(units: Vec<Stretch>, least: u64) -> Option<Vec<Stretch>> {
    fn join(first: &mut Stretch, second: Stretch) {
        (first.high, first.single) = (second.high, None);
        first.held.join(second.held);
    }
    let mut pools: Vec<Stretch> = Vec::new();
    let mut open: Option<Stretch> = None;
    for unit in units {
        let pool = match open.take() {
            None => unit,
            Some(mut pool) => {
                join(&mut pool, unit);
                pool
            }
        };
        match pool.held.n() >= least {
            true => pools.push(pool),
            false => open = Some(pool),
        }
    }
    if let Some(rest) = open {
        join(pools.last_mut()?, rest);
    }
    Some(pools)
}

/// Values that are not rare, each alone, and sets of others that follow each other.
fn sets(
    column: &Column,
    held: &dyn Fn(Code) -> Held,
    least: u64,
) -> Option<Vec<(String, u64)>> {
    let mut pools: Vec<(Vec<Code>, Held)> = Vec::new();
    let mut open: (Vec<Code>, Held) = Default::default();
    for code in column.domain.codes().filter(|code| column.rows[*code] > 0) {
        let own = held(code);
        if own.n() >= least {
            pools.push((vec![code], own));
            continue;
        }
        open.0.push(code);
        open.1.join(own);
        if open.1.n() >= least {
            pools.push(std::mem::take(&mut open));
        }
    }
    if !open.0.is_empty() {
        // Beside others that are rare, or else the rarest that is not.
        let pool = match pools.iter().rposition(|(codes, _)| codes.len() > 1) {
            Some(place) => place,
            None => (0..pools.len()).min_by_key(|place| pools[*place].1.n())?,
        };
        let (codes, all) = &mut pools[pool];
        codes.extend(open.0);
        all.join(open.1);
    }
    for (codes, _) in &mut pools {
        codes.sort_unstable();
    }
    pools.sort_by_key(|(codes, _)| codes[0]);
    let text = |codes: Vec<Code>| cell::text(column, &Cover::Set(codes));
    Some(pools.into_iter().map(|(codes, held)| (text(codes), held.rows)).collect())
}
