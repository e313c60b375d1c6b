//! Where a release shows somebody: the group, or the groups, that their quasi values fit, and
//! what these tell about a sensitive column.

use hashbrown::HashMap;

use crate::audit::apart::{ApartValues, plain};
use crate::audit::attacks::intersection::belief::Told;
use crate::audit::cells::{CellClasses, CellTexts, Covers, QuasiKnowledge, fitting};
use crate::audit::given::quasi_columns;
use crate::audit::grouped::GroupedValues;
use crate::audit::views::Views;
use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::table::{Code, Domain, TupleId};

/// Values of a column by their texts, the same for all releases; a missing one has none.
pub(super) type ValueIndex = HashMap<Option<Box<str>>, u32>;

/// Groups that somebody may be in, and how many rows there may be theirs.
type Places = Vec<(u32, u64)>;

/// What a release tells of a sensitive column about everybody.
#[derive(Debug)]
pub(super) struct Sighted<'a> {
    pub(super) table: &'a Microdata,
    /// The quasi columns of the table that tell where somebody stands.
    pub(super) places: Vec<usize>,
    /// Where people with these quasi values stand; nobody who is not in the release.
    pub(super) spot_of: HashMap<Vec<Code>, u32>,
    /// What each spot tells.
    pub(super) spots: Vec<Told>,
}

impl<'a> Sighted<'a> {
    /// Looks for the column; nothing if the release does not show its values by group, or
    /// not who is in which.
    pub(super) fn of(
        views: &'a Views<'a>,
        table: &'a Microdata,
        column: &str,
        index: &mut ValueIndex,
    ) -> Result<Option<Self>> {
        let cells = views.cells()?;
        let in_rows = cells.and_then(|classes| {
            let mut own = classes.sensitive.iter();
            Some((classes, own.position(|known| known.name == column)?))
        });
        let mut apart = views.apart()?.iter();
        let apart = apart.find(|values| values.column.name == column);
        let present = views.present;
        let (values, places, found) = match (in_rows, apart, cells) {
            (Some((classes, place)), ..) => {
                let (places, fits) = fitted(views, classes, table)?;
                let sized = |group: u32| (group, classes.sizes[group as usize]);
                let found: Vec<Places> = fits
                    .into_iter()
                    .map(|groups| groups.into_iter().map(sized).collect())
                    .collect();
                (GroupedValues::InRows(classes, place), places, found)
            }
            (None, Some(values), Some(classes)) => {
                let Some(buckets) = buckets_of(classes, values) else {
                    return Ok(None);
                };
                let (places, fits) = fitted(views, classes, table)?;
                let found = fits.into_iter().map(|groups| {
                    let all = groups.iter().flat_map(|g| &buckets[*g as usize]);
                    added(all.copied().collect())
                });
                let found = found.collect();
                (GroupedValues::Apart(values), places, found)
            }
            (None, Some(values), None) if !present.noisy && !present.redrawn => {
                let (places, found) = linked(views, values, table)?;
                (GroupedValues::Apart(values), places, found)
            }
            _ => return Ok(None),
        };
        let manifest = views.manifest;
        let is_complete = manifest.left_out == 0 && manifest.rows == table.n_rows();
        Ok(Some(Self::at(table, places, &found, values, is_complete, index)))
    }

    /// Puts people with the same groups into one spot; `is_complete` if everybody has a row.
    fn at(
        table: &'a Microdata,
        places: Vec<usize>,
        found: &[Places],
        values: GroupedValues<'_>,
        is_complete: bool,
        index: &mut ValueIndex,
    ) -> Self {
        let codes = common_codes(&values.column().domain, index);
        let groups = values.each(|values| {
            let own = values.present().map(|(code, n)| (codes[code.index()], n as f64));
            let mut own: Vec<(u32, f64)> = own.collect();
            own.sort_unstable_by_key(|(code, _)| *code);
            (own, values.total())
        });
        let census = &table.census;
        let mut spot_of = HashMap::new();
        let mut by_places: HashMap<Places, u32> = HashMap::new();
        let mut spots: Vec<(&Places, u64)> = Vec::new();
        for (tuple, own) in (0u32..).zip(found).filter(|(_, own)| !own.is_empty()) {
            let key = match own[..] {
                [(group, _)] => vec![(group, 0)],
                _ => own.clone(),
            };
            let spot = *by_places.entry(key).or_insert_with(|| {
                spots.push((own, 0));
                spots.len() as u32 - 1
            });
            let tuple = TupleId::new(tuple);
            spots[spot as usize].1 += census.rows[tuple];
            let key = places.iter().map(|place| census.quasi[*place][tuple]);
            spot_of.insert(key.collect(), spot);
        }
        let told = |(own, people): (&Places, u64)| match own[..] {
            // A group that is full has nobody else in it.
            [(group, _)] => {
                let (values, size) = groups[group as usize].clone();
                let is_exact = size == people;
                let is_sure = is_exact || is_complete;
                Told { values, size: size as f64, is_exact, is_sure }
            }
            _ => Told { is_sure: is_complete, ..mixed(own, &groups) },
        };
        let spots = spots.into_iter().map(told).collect();
        Self { table, places, spot_of, spots }
    }
}

/// What several groups tell about somebody who is in one of them.
fn mixed(own: &Places, groups: &[(Vec<(u32, f64)>, u64)]) -> Told {
    let rows: u64 = own.iter().map(|(_, n)| n).sum();
    let mut shares: Vec<(u32, f64)> = Vec::new();
    for (group, n) in own {
        let (values, size) = &groups[*group as usize];
        let weight = *n as f64 / rows.max(1) as f64 / (*size).max(1) as f64;
        shares.extend(values.iter().map(|(code, n)| (*code, n * weight)));
    }
    shares.sort_by_key(|(code, _)| *code);
    shares.dedup_by(|next, held| {
        let same = next.0 == held.0;
        held.1 += if same { next.1 } else { 0.0 };
        same
    });
    Told { values: shares, size: 1.0, is_exact: false, is_sure: false }
}

/// The code that all releases have for each value of a domain.
pub(super) fn common_codes(domain: &Domain, index: &mut ValueIndex) -> Vec<u32> {
    let code = |code: Code| {
        let text = (domain.missing() != Some(code)).then(|| domain.text(code).into());
        let next = index.len() as u32;
        *index.entry(text).or_insert(next)
    };
    domain.codes().map(code).collect()
}

/// For each tuple of the table the groups of cells that fit it, and the quasi columns that
/// were compared.
fn fitted(
    views: &Views<'_>,
    classes: &CellClasses,
    table: &Microdata,
) -> Result<(Vec<usize>, Vec<Vec<u32>>)> {
    let (columns, places) = quasi_columns(views.manifest, table, "original")?;
    let covers = Covers::read(views.manifest, classes, &columns)?;
    let known = QuasiKnowledge::of(table, &places, views.watch);
    let mut found = vec![Vec::new(); known.people.len()];
    for (tuple, groups) in fitting(classes, &covers, &known)? {
        found[tuple as usize] = groups;
    }
    Ok((places, found))
}

/// For each group of cells the buckets that its rows name; nothing if cells have weights.
fn buckets_of(classes: &CellClasses, values: &ApartValues) -> Option<Vec<Places>> {
    let mut texts: Vec<&[Box<str>]> = Vec::new();
    for column in &classes.quasi {
        match &column.cells {
            CellTexts::Texts(own) => texts.push(own),
            CellTexts::Lists(_) => return None,
        }
    }
    let of_group = |group: usize| -> Vec<&str> {
        let columns = classes.quasi.iter().zip(&texts);
        columns.map(|(c, texts)| &*texts[c.of_group[group] as usize]).collect()
    };
    let groups: HashMap<Vec<&str>, usize> =
        (0..classes.n_groups()).map(|group| (of_group(group), group)).collect();
    let of_tuple = members(values);
    let mut found = vec![Vec::new(); classes.n_groups()];
    for (tuple, buckets) in of_tuple.into_iter().enumerate() {
        let columns = values.quasi.iter();
        let key: Vec<&str> =
            columns.map(|column| &*column.texts[column.codes[tuple]]).collect();
        found[*groups.get(&key)?] = buckets;
    }
    Some(found)
}

/// For each published tuple its buckets.
fn members(values: &ApartValues) -> Vec<Places> {
    let mut found = vec![Vec::new(); values.tuples.len()];
    for group in 0..values.groups.len() {
        for (tuple, n) in values.groups.members(group) {
            found[*tuple as usize].push((group as u32, *n));
        }
    }
    found
}

/// For each tuple of the table the buckets of its rows, found by quasi values that are
/// published as they are, and the columns that were compared.
fn linked(
    views: &Views<'_>,
    values: &ApartValues,
    table: &Microdata,
) -> Result<(Vec<usize>, Vec<Places>)> {
    let (_, places) = quasi_columns(views.manifest, table, "original")?;
    let code = |place: usize, column: usize, tuple: usize| {
        let published = &values.quasi[column];
        let text = &published.texts[published.codes[tuple]];
        let domain = &table.quasi[place].domain;
        table.codes[place].get(&**text).copied().or_else(|| {
            match plain(&published.reading, text) {
                Some(text) => table.codes[place].get(&*text).copied(),
                None => domain.missing(),
            }
        })
    };
    let mut by_key: HashMap<Vec<Code>, Places> = HashMap::new();
    for (tuple, buckets) in members(values).into_iter().enumerate() {
        let codes = places.iter().enumerate();
        let key = codes.map(|(column, place)| code(*place, column, tuple));
        // Whoever the table does not have is nobody of it.
        if let Some(key) = key.collect::<Option<Vec<Code>>>() {
            by_key.entry(key).or_default().extend(buckets);
        }
    }
    let census = &table.census;
    let found = (0..census.n_tuples() as u32).map(|tuple| {
        let tuple = TupleId::new(tuple);
        let key: Vec<Code> =
            places.iter().map(|place| census.quasi[*place][tuple]).collect();
        added(by_key.get(&key).cloned().unwrap_or_default())
    });
    let found = found.collect();
    Ok((places, found))
}

/// Each group once, ascending.
fn added(mut groups: Places) -> Places {
    groups.sort_unstable();
    groups.dedup_by(|next, held| {
        let same = next.0 == held.0;
        held.1 += if same { next.1 } else { 0 };
        same
    });
    groups
}
