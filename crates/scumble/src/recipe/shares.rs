//! Which shares of values are published beside readable cells.
//!
//! # Guarantee
//! Shares are published only where everybody the promises are made against knows the quasi
//! values of everybody in the table, and only of quasi columns with readable cells. They are
//! of the whole table, rows that are left out among them: which rows are published depends on
//! more than quasi values, so that shares of these alone would tell something.
//!
//! # Source
//! docs/methods.md, "Shares of values".

use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::promise::About;
use crate::recipe::made::Made;
use crate::recipe::{SharesSpec, Spec};
use crate::release::{
    ColumnShares, Holders, Manifest, SHARES_FILE, SharesNote, Treatment, pooled,
};
use crate::table::{Code, Of};

/// Entries are of at least so many people, unless k-anonymity promises another number.
const LEAST: u64 = 5;

/// That shares which a recipe asks for may be published.
pub(super) fn check(spec: &Spec) -> Result<()> {
    let SharesSpec::Column(spot) = spec.release.shares else { return Ok(()) };
    let Some(name) = counts_people(spec) else { return Ok(()) };
    let error = Error::recipe(format!("shares cannot be published beside `{name}`"));
    Err(spec.error_at(
        spot,
        error.with_hint(
            "whoever it is made against does not know who is in the table, and shares of \
             its values would tell; leave `shares` out",
        ),
    ))
}

/// A promise whose adversary does not know the quasi values of the table.
fn counts_people(spec: &Spec) -> Option<&'static str> {
    let mut promises = spec.promises.iter().map(|typed| typed.kind.promise());
    let found = promises.find(|promise| match promise.about() {
        About::Groups(promise) => promise.needs_population(),
        About::Draws(_) | About::Posteriors(_) | About::Company(_) => false,
    });
    found.map(|promise| promise.name())
}

/// What a reader must not take for promised.
pub(super) fn not_promised(note: &SharesNote) -> String {
    format!(
        "values of quasi columns: {SHARES_FILE} says how often each occurs in the table, and \
         those that fewer than {} have only together with others",
        note.least
    )
}

/// The shares of a release that is being made; nothing if none are to be published.
pub(super) fn of(
    spec: &Spec,
    manifest: &Manifest,
    made: &[Made<'_>],
) -> Result<Option<(SharesNote, Vec<ColumnShares>)>> {
    let asked = match spec.release.shares {
        SharesSpec::None => return Ok(None),
        SharesSpec::Column(spot) => Some(spot),
        SharesSpec::Harmless => None,
    };
    let refused = |why: &str, hint: &str| match asked {
        None => Ok(None),
        Some(spot) => Err(spec.error_at(spot, Error::recipe(why).with_hint(hint))),
    };
    if counts_people(spec).is_some() {
        return Ok(None);
    }
    if manifest.sampled.is_some() {
        return refused(
            "there are no shares of a sample of one row of each group",
            "leave `shares` out",
        );
    }
    let is_coarse = |treatment: &Treatment| match treatment {
        Treatment::Coarse { level, .. } => *level != Some(0),
        _ => false,
    };
    let listed = manifest.columns.iter().filter(|column| is_coarse(&column.treatment));
    let all = made[0].data.n_rows();
    let tables = made.iter().filter_map(|made| made.data.counts());
    let tables: Vec<&Microdata> = tables.filter(|data| data.n_rows() == all).collect();
    let mut shares = Vec::new();
    for listed in listed {
        let place = tables.iter().find_map(|data| {
            let place = data.quasi.iter().position(|own| own.name == listed.name)?;
            Some((*data, place))
        });
        let Some((data, place)) = place else { continue };
        let holders = holders(data, place);
        let column = &data.quasi[place];
        let entries = pooled(column, listed, holders.as_ref(), least(manifest));
        let named = |entries| ColumnShares { column: listed.name.clone(), entries };
        shares.extend(entries.map(named));
    }
    if shares.is_empty() {
        return refused(
            "no quasi column has shares: they are for cells that stand for several values",
            "columns that stand as they are, distributions and numbers with noise need none; \
             leave `shares` out",
        );
    }
    let columns = shares.iter().map(|shares| shares.column.clone()).collect();
    let note =
        SharesNote { file: SHARES_FILE.to_owned(), columns, least: least(manifest) };
    Ok(Some((note, shares)))
}

/// How many people an entry must be of.
fn least(manifest: &Manifest) -> u64 {
    let promises = manifest.promises.iter().filter(|p| p.name == "k-anonymity");
    let k = promises.filter_map(|promise| promise.asked["k"].as_u64()).max();
    k.unwrap_or(LEAST)
}

/// Who has each value of a quasi column, if people may have several rows.
fn holders(data: &Microdata, place: usize) -> Option<Holders> {
    let persons = data.census.persons.as_ref()?;
    let n_values = data.quasi[place].domain.len();
    let mut alone: Of<Code, u64> = vec![0; n_values].into();
    let mut people: Of<Code, Vec<Code>> = vec![Vec::new(); n_values].into();
    for tuple in data.census.tuples() {
        let code = data.census.quasi[place][tuple];
        for owner in persons.owners(tuple) {
            match owner.person {
                Some(person) => people[code].push(person),
                None => alone[code] += owner.rows,
            }
        }
    }
    Some(Holders { alone, people })
}
