//! The averaging attack on real releases of the same people.
//!
//! # Guarantee
//! Rows are linked where their untouched columns are the same and alone so in every
//! release; the likelihoods of what was published are multiplied. Releases with keyed noise
//! and the same domain draw by the same clock, see [`together`]: with the same matrix, or
//! with others that keep all values alike, all of them tell what the least noisy one tells.
//!
//! # Limits
//! People whose untouched columns are not alone are not attacked, nor people who are not in
//! all releases; `linked` tells the share that is. At most so many people as keep the work
//! in bounds, by a hash of their columns. With general matrices of keyed releases, what a
//! shared draw tells beyond the published values is not used.
//!
//! # Cost
//! One pass over each release and the original, memory O(rows); then O(m) a person and
//! release.
//!
//! # Source
//! `chaytor2010randomization`, open problem; docs/methods.md, "Random numbers".

use serde_json::json;

use crate::audit::attacks::averaging::{believe, likeliest};
use crate::audit::cells::another_table;
use crate::audit::drawn::{
    Believed, Drawn, DrawnColumn, Matrix, Subtable, canonical, overall,
};
use crate::audit::views::Views;
use crate::audit::{Attacked, detail};
use crate::error::{Error, Result};
use crate::release::{Manifest, PublishedColumn, Release, Treatment};
use crate::table::{Reading, Source};
use crate::watch::Watch;

/// Values times people that are looked at.
const MOST_WORK: usize = 400_000_000;

/// Whether the attack is still wanted is asked once for so many people.
const CHECKED_EVERY: usize = 1 << 10;

/// Attacks people who are in several releases, in each randomized column, and scores the
/// guesses by the table they were made from. Columns that not all releases randomize are
/// passed over.
pub fn averaging(
    releases: &[&Release],
    original: &Source,
    watch: &dyn Watch,
) -> Result<Vec<Attacked>> {
    let views = releases.iter().map(|release| Views::open(release, watch));
    let views: Vec<Views<'_>> = views.collect::<Result<_>>()?;
    let drawn = views.iter().map(|views| {
        views
            .drawn()?
            .ok_or_else(|| Error::input("no column of the release is randomized"))
    });
    let drawn: Vec<&Drawn> = drawn.collect::<Result<_>>()?;
    let (Some(first), Some(release)) = (drawn.first(), releases.first()) else {
        return Err(Error::input("averaging needs a release"));
    };
    let untouched = untouched(releases)?;
    let mut attacks = Vec::new();
    for column in &first.columns {
        let own = |drawn: &&'_ Drawn| {
            drawn.columns.iter().position(|known| known.names == column.names)
        };
        let places: Option<Vec<usize>> = drawn.iter().map(own).collect();
        let Some(places) = places else { continue };
        let mut same = Vec::new();
        for ((drawn, views), place) in drawn.iter().zip(&views).zip(places) {
            let found = &drawn.columns[place];
            let rows =
                LinkableRows::read(views.rows(), found, &untouched, true, watch)?;
            same.push(LinkedRelease::of(found, column, rows));
        }
        let guesses = guess(&same, watch)?;
        let truth = LinkableRows::read(original, column, &untouched, false, watch)?;
        if release.manifest.rows + release.manifest.left_out != truth.n_rows {
            return Err(another_table());
        }
        attacks.push(score(&guesses, &truth, &same)?);
    }
    match attacks.is_empty() {
        true => Err(Error::input("the releases have no randomized column in common")),
        false => Ok(attacks),
    }
}

/// The columns that are published as they are in all releases, and how they are read.
fn untouched(releases: &[&Release]) -> Result<Vec<(String, Reading)>> {
    let plain = |manifest: &Manifest| -> Vec<(String, Reading)> {
        let drawn = |column: &&PublishedColumn| {
            matches!(column.treatment, Treatment::Drawn { .. })
        };
        let columns = manifest.columns.iter().filter(|column| !drawn(column));
        columns.map(|column| (column.name.clone(), column.reading())).collect()
    };
    let mut columns = releases.first().map_or(Vec::new(), |r| plain(&r.manifest));
    for release in releases {
        let also = plain(&release.manifest);
        columns.retain(|(name, _)| also.iter().any(|(known, _)| known == name));
    }
    if columns.is_empty() {
        return Err(Error::input("the releases have no untouched column in common")
            .with_hint("their rows cannot be linked"));
    }
    Ok(columns)
}

/// A release whose rows can be linked.
struct LinkedRelease<'a> {
    column: &'a DrawnColumn,
    rows: LinkableRows,
    /// For each value of the first release, its code in this one.
    codes: Vec<Option<usize>>,
    /// A digest of the domain of each sub-table.
    domains: Vec<u128>,
}

impl<'a> LinkedRelease<'a> {
    fn of(column: &'a DrawnColumn, first: &DrawnColumn, rows: LinkableRows) -> Self {
        let codes = first.values.iter().map(|value| column.code_of(value)).collect();
        let domain = |table: &Subtable| {
            let values = table.values.iter().flat_map(|code| &column.values[*code]);
            digest(values.map(String::as_str))
        };
        let domains = column.tables.iter().map(domain).collect();
        Self { column, rows, codes, domains }
    }
}

/// Rows that are alone in their untouched columns.
struct LinkableRows {
    /// Sorted by a hash of the untouched columns; with sub-table and value.
    alone: Vec<(u128, u32, u32)>,
    n_rows: u64,
}

impl LinkableRows {
    /// Reads the rows of a release, or of the original, which tells no sub-tables.
    fn read(
        source: &Source,
        column: &DrawnColumn,
        untouched: &[(String, Reading)],
        published: bool,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let n_parts = column.names.len();
        let mut places = column.places(source, published)?;
        let n_own = places.len();
        for (name, _) in untouched {
            places.push(source.column(name)?);
        }
        let folded = source.fold(
            &places,
            Vec::new,
            |rows: &mut Vec<(u128, u32, u32)>, _, cells| {
                let (own, known) = cells.split_at(n_own);
                let code = column.code(&own[..n_parts]).ok_or_else(another_table)?;
                let table = own.get(n_parts).map_or(Some(0), |t| column.table_of(t));
                let table = table.ok_or_else(another_table)?;
                rows.push((hashed(known, untouched), table as u32, code as u32));
                Ok(())
            },
            watch,
        )?;
        let mut rows: Vec<(u128, u32, u32)> =
            folded.states.into_iter().flatten().collect();
        rows.sort_unstable();
        let mut alone = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|place| rows.get(place));
            let after = rows.get(place + 1);
            if before.is_none_or(|b| b.0 != row.0) && after.is_none_or(|a| a.0 != row.0)
            {
                alone.push(*row);
            }
        }
        Ok(Self { alone, n_rows: folded.n_rows })
    }

    fn find(&self, key: u128) -> Option<(usize, usize)> {
        let place = self.alone.binary_search_by_key(&key, |row| row.0).ok()?;
        self.alone.get(place).map(|(_, table, code)| (*table as usize, *code as usize))
    }
}

/// A digest of what links rows.
fn hashed(cells: &[&str], untouched: &[(String, Reading)]) -> u128 {
    let texts = cells.iter().zip(untouched).map(|(cell, (_, reading))| {
        canonical(reading, cell).unwrap_or_else(|| (*cell).to_owned())
    });
    digest(texts)
}

pub(in crate::audit::attacks) fn digest(
    texts: impl Iterator<Item = impl AsRef<str>>,
) -> u128 {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        let text = text.as_ref().as_bytes();
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    let hash = hasher.finalize();
    hash.as_bytes().iter().take(16).fold(0, |all, byte| all << 8 | u128::from(*byte))
}

/// What is believed about people who are in all releases.
struct LinkedGuesses {
    /// The untouched columns, the guess, and how sure it is.
    people: Vec<(u128, usize, f64)>,
    sampled: bool,
}

/// Guesses from the releases alone.
fn guess(releases: &[LinkedRelease<'_>], watch: &dyn Watch) -> Result<LinkedGuesses> {
    let mut guesses = LinkedGuesses { people: Vec::new(), sampled: false };
    let Some((first, others)) = releases.split_first() else { return Ok(guesses) };
    let believed = Believed::of(first.column, false, watch)?;
    let shares = overall(first.column, &believed);
    let most = MOST_WORK / (shares.len().max(1) * releases.len());
    'people: for (row, (key, table, code)) in first.rows.alone.iter().enumerate() {
        if row % CHECKED_EVERY == 0 {
            watch.check()?;
        }
        let mut seen = vec![vec![Sighting::of(first, *table as usize, *code as usize)]];
        for other in others {
            let Some((table, code)) = other.rows.find(*key) else { continue 'people };
            let sighting = Sighting::of(other, table, code);
            let same = |known: &&mut Vec<Sighting<'_>>| {
                known.first().is_some_and(|known| known.shares_draws(&sighting))
            };
            match seen.iter_mut().find(same) {
                Some(known) => known.push(sighting),
                None => seen.push(vec![sighting]),
            }
        }
        if guesses.people.len() >= most {
            guesses.sampled = true;
            break;
        }
        let mut belief = shares.clone();
        for sightings in &seen {
            update(&mut belief, sightings);
        }
        let (value, likely) = likeliest(&belief);
        guesses.people.push((*key, value, likely));
    }
    Ok(guesses)
}

/// What one release has published of a person.
struct Sighting<'a> {
    release: &'a LinkedRelease<'a>,
    domain: u128,
    table: &'a Subtable,
    /// The place of the published value in the domain.
    published: Option<usize>,
}

impl<'a> Sighting<'a> {
    fn of(release: &'a LinkedRelease<'a>, table: usize, code: usize) -> Self {
        let domain = release.domains[table];
        let table = &release.column.tables[table];
        Self { release, domain, table, published: table.place(code) }
    }

    /// By the manifest's word, a key draws from one domain with the same numbers.
    fn shares_draws(&self, other: &Self) -> bool {
        let keyed = self.release.column.keyed && other.release.column.keyed;
        keyed && self.domain == other.domain
    }

    /// The place in the domain of a value of the first release.
    fn place(&self, value: usize) -> Option<usize> {
        self.release.codes[value].and_then(|code| self.table.place(code))
    }
}

/// Multiplies a belief over the values of the first release by the likelihood of what
/// releases that share their draws have published. What a sub-table does not have is
/// impossible.
fn update(belief: &mut [f64], sightings: &[Sighting<'_>]) {
    let Some(first) = sightings.first() else { return };
    let kept: Option<Vec<(&[f64], usize)>> = sightings
        .iter()
        .map(|sighting| match &sighting.table.matrix {
            Matrix::Mixed { keep, .. } => Some((keep.as_slice(), sighting.published?)),
            Matrix::General(_) => None,
        })
        .collect();
    let general = kept.is_none();
    if let Some(kept) = kept.filter(|_| sightings.len() > 1) {
        let likely = |value: usize| {
            first.place(value).map_or(0.0, |place| together(&kept, place))
        };
        if multiply(belief, likely) {
            return;
        }
        // The draws were not shared after all.
    }
    let mut used: Vec<Option<usize>> = Vec::new();
    for sighting in sightings {
        let Some(published) = sighting.published else { continue };
        // A shared draw from a general matrix is counted once where it shows the same.
        if general && used.contains(&sighting.published) {
            continue;
        }
        used.push(sighting.published);
        multiply(belief, |value| {
            let place = sighting.place(value);
            place.map_or(0.0, |place| sighting.table.matrix.entry(published, place))
        });
    }
}

/// Multiplies a belief by how likely each value leads to what was published, and says whether
/// any does; if not, the belief stays.
fn multiply(belief: &mut [f64], likely: impl Fn(usize) -> f64) -> bool {
    let weights = belief.iter().enumerate().map(|(value, held)| held * likely(value));
    let weights: Vec<f64> = weights.collect();
    believe(belief, &weights)
}

/// How likely a value is published as it was by matrices that share a clock: the one that
/// keeps the value most often is drawn first, and each further one changes what the one
/// before it published, as often as it keeps the value less.
fn together(published: &[(&[f64], usize)], value: usize) -> f64 {
    let mut order: Vec<(f64, usize)> =
        published.iter().map(|(keep, place)| (keep[value], *place)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let even = published.first().map_or(1.0, |(keep, _)| 1.0 / keep.len() as f64);
    let (mut likely, mut before, mut state) = (1.0, 1.0, value);
    for (keep, place) in order {
        // Nothing is kept less often than never.
        let stays = if before > 0.0 { keep / before } else { 1.0 };
        let same = if place == state { stays } else { 0.0 };
        likely *= same + (1.0 - stays) * even;
        (before, state) = (keep, place);
    }
    likely
}

/// Compares guesses with the truth.
fn score(
    guesses: &LinkedGuesses,
    truth: &LinkableRows,
    releases: &[LinkedRelease<'_>],
) -> Result<Attacked> {
    let Some(first) = releases.first() else { return Err(another_table()) };
    let mut counts = vec![0u64; first.column.values.len()];
    let (mut right, mut people, mut worst) = (0u64, 0u64, 0.0f64);
    for (key, guess, likely) in &guesses.people {
        let Some((_, value)) = truth.find(*key) else { continue };
        people += 1;
        counts[value] += 1;
        right += u64::from(value == *guess);
        worst = worst.max(*likely);
    }
    let share = |n: u64| n as f64 / people.max(1) as f64;
    let keyed = releases.iter().all(|release| release.column.keyed);
    let same = releases.iter().all(|release| {
        let tables = release.column.tables.iter().map(|table| &table.matrix);
        release.domains == first.domains
            && tables.eq(first.column.tables.iter().map(|table| &table.matrix))
    });
    Ok(Attacked {
        name: "averaging".into(),
        success: share(right),
        chance: share(counts.into_iter().max().unwrap_or(0)),
        worst,
        detail: detail(json!({
            "column": first.column.name(), "noise": if keyed { "keyed" } else { "fresh" },
            "same_matrix": same, "releases": releases.len(), "foretold": false,
            "people": people, "linked": people as f64 / truth.n_rows.max(1) as f64,
            "sampled": guesses.sampled,
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By every way that a clock of ten numbers can run down.
    #[test]
    fn shared_draws_are_as_likely_as_counted() {
        let keeps = [[0.2, 0.5, 0.0], [0.3, 0.5, 0.7], [0.9, 0.1, 0.4]];
        for value in 0..3 {
            for seen in 0..27 {
                let places = [seen % 3, seen / 3 % 3, seen / 9];
                let sighted: Vec<(&[f64], usize)> =
                    keeps.iter().map(|keep| &keep[..]).zip(places).collect();
                for n in 1..=3 {
                    let found = together(&sighted[..n], value);
                    let counted = run(10, value, &sighted[..n], value);
                    assert!((found - counted).abs() < 1e-12, "{found} {counted}");
                }
            }
        }
    }

    /// How likely a clock that stands at `clock`, with a value that is now `state`, leads to
    /// all that was published.
    fn run(clock: u32, state: usize, seen: &[(&[f64], usize)], value: usize) -> f64 {
        let bound = |keep: &[f64]| (keep[value] * 10.0).round() as u32;
        // What the clock has passed before its next stop shows the value as it is now.
        let fits = |next: u32| {
            let mut passed = seen
                .iter()
                .filter(|(keep, _)| (next + 1..=clock).contains(&bound(keep)));
            passed.all(|(_, place)| *place == state)
        };
        if clock == 0 {
            let mut last = seen.iter().filter(|(keep, _)| bound(keep) == 0);
            return f64::from(u8::from(last.all(|(_, place)| *place == state)));
        }
        let each = 1.0 / f64::from(clock);
        let stops = (0..clock).filter(|stop| fits(*stop));
        let after = |stop: u32| -> f64 {
            (0..3).map(|drawn| run(stop, drawn, seen, value) / 3.0).sum()
        };
        stops.map(|stop| each * after(stop)).sum()
    }

    /// Matrices that keep all values alike, one more often than the others: what these add
    /// is as likely whatever the value.
    #[test]
    fn the_matrix_that_keeps_most_tells_everything() {
        let keeps = [[0.6; 4], [0.5; 4], [0.05; 4]];
        for seen in 0..64 {
            let places = [seen % 4, seen / 4 % 4, seen / 16];
            let sighted: Vec<(&[f64], usize)> =
                keeps.iter().map(|keep| &keep[..]).zip(places).collect();
            let adds: Vec<f64> = (0..4)
                .map(|value| together(&sighted, value) / together(&sighted[..1], value))
                .collect();
            assert!(adds.iter().all(|add| (add - adds[0]).abs() < 1e-12));
        }
    }
}
