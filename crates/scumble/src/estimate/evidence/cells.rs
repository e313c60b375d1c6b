//! What generalized cells stand for.
//!
//! # Guarantee
//! A cell is a distribution over values of its column, and the one that docs/methods.md,
//! "Cells of a group", gives it: even over the leaves below a node, even over the numbers
//! of a range or the values of a set, by weight for a pdf cell. Numbers of a
//! range are those with the column's decimals.
//!
//! A public domain says which values there are: `*` is even over all of it, a node or mask over
//! its values below, and ranges end where it does.
//!
//! Where the release says how often each value of a column occurs in the table (`shares.csv`),
//! cells are as even as these shares allow (`cells/raked.rs`), and nothing is a guess.
//!
//! What a release does not list is taken from other rows, not made up. `*` in a column whose
//! values nobody lists stands for what other rows have there, in the same shares, and a mask
//! for what they have that it would hide; `[65, inf)` reaches as far as the widest range with
//! two ends. Such cells are guesses ([`ColumnCells::is_guess`]). Where there are no others, the
//! values of a cell are open, and whoever asks for them is told so.
//!
//! # Limits
//! Evenness is an assumption: nobody can see from a release how values lie within a cell.
//! Between two words without a hierarchy file only words that some cell names are known.
//!
//! # Cost
//! That of the distinct cells and of their values.
//!
//! # Source
//! docs/methods.md, "Cells of a group" and "The weight of a row".

mod guessed;
mod raked;

pub(crate) use guessed::hides;
pub(crate) use raked::{Margin, RakedCells};

use hashbrown::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::estimate::evidence::cells::guessed::{close, like_others};
use crate::estimate::evidence::lattice::Lattice;
use crate::estimate::evidence::{Column, Nature, coded};
use crate::estimate::query::ranges::CutColumn;
use crate::estimate::query::{Check, Truth};
use crate::hierarchy::{Cells as Form, Column as Bound, Cover, ROOT_LABEL, Rule};
use crate::release::{
    Class, ColumnShares, GROUP_COLUMN, Layout, Parameters, PdfCells, PublishedColumn,
    cell,
};
use crate::table::{Kind, Of, Reading, Role};

/// What the cells of a column stand for.
#[derive(Debug, Clone)]
pub(crate) struct ColumnCells {
    /// The numbers or days of the column, if its cells are ranges of them.
    pub(crate) lattice: Option<Lattice>,
    /// For each published cell what it stands for.
    pub(crate) meanings: Vec<Meaning>,
    /// The published cells.
    pub(crate) texts: Vec<Box<str>>,
    /// For each cell, whether its probabilities are the shares of its own rows that have
    /// each value.
    pub(crate) counted: Vec<bool>,
    /// Whether it is public which values there are.
    pub(crate) bounded: bool,
    /// Whether the release says how often each value occurs in the table.
    pub(crate) shared: bool,
}

/// What a cell stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Meaning {
    /// These values, by code, with probabilities above zero that add up to 1.
    Values(Vec<(u32, f64)>),
    /// Every number from the first to the last, in steps, with the same probability; and
    /// "not known" as one more.
    Numbers { low: f64, high: f64, missing: bool },
    /// Numbers that are even from the first to the last of each piece, with the probability of
    /// each; and "not known" with another.
    Pieces { pieces: Vec<(f64, f64, f64)>, missing: f64 },
    /// "Not known".
    Missing,
    /// What these cells stand for, with these probabilities.
    Like(Vec<(u32, f64)>),
    /// Which values, the release does not say.
    Open,
}

impl ColumnCells {
    /// What the cells of a coarse column stand for. Beside it a column appears with the
    /// cells as they are.
    pub(crate) fn coarse(
        listed: &PublishedColumn,
        columns: &mut Vec<Column>,
        rows: &[u64],
        number: usize,
        shares: Option<(&ColumnShares, u64)>,
    ) -> Result<RakedCells> {
        let missing = || Error::input(format!("there is no column `{}`", listed.name));
        let column = columns.iter_mut().find(|column| column.name == listed.name);
        let column = column.ok_or_else(missing)?;
        let mut rows_of = vec![0; column.texts.len()];
        for (code, rows) in column.codes.iter().zip(rows) {
            rows_of[*code as usize] += rows;
        }
        let texts = std::mem::take(&mut column.texts);
        let raked = match shares {
            Some((shares, left_out)) => {
                RakedCells::read(listed, texts.clone(), &rows_of, shares, left_out)?
            }
            None => {
                let (values, cells) = Self::read(listed, texts.clone(), &rows_of)?;
                RakedCells { values, cells, margin: None }
            }
        };
        column.texts.clone_from(&raked.values);
        column.nature = Nature::Coarse(number);
        let published = Column {
            name: format!("CELL({})", listed.name),
            reading: Reading { missing: Vec::new(), ..Reading::category() },
            texts,
            codes: column.codes.clone(),
            nature: Nature::Kept,
            rule: None,
            shared: true,
            within: None,
        };
        columns.push(published);
        Ok(raked)
    }

    /// What the cells of a weighted column stand for, which is added to those of the data:
    /// its cells are the groups.
    pub(crate) fn weighted(
        layout: Layout<'_>,
        listed: &PublishedColumn,
        pdf: &PdfCells,
        columns: &mut Vec<Column>,
        number: usize,
    ) -> Result<Self> {
        let missing = || Error::input(format!("there is no column `{GROUP_COLUMN}`"));
        let group = columns.iter().find(|column| column.name == GROUP_COLUMN);
        let group = group.ok_or_else(missing)?;
        let mut quasi = layout.columns.iter().filter(|c| c.role == Role::Quasi);
        let place = quasi.position(|column| column.name == listed.name);
        let place =
            place.ok_or_else(|| Error::input("only quasi columns have weights"))?;
        let class = layout.class(&listed.name);
        let (texts, found) = Self::of_groups(listed, class, place, pdf, &group.texts)?;
        let codes = group.codes.clone();
        columns.push(Column::new(listed, texts, codes, Nature::Coarse(number)));
        Ok(found)
    }

    /// Whether what a cell stands for is taken from other rows: there may be more to it.
    pub(crate) fn is_guess(&self, cell: u32) -> bool {
        let text = &self.texts[cell as usize];
        matches!(self.meanings[cell as usize], Meaning::Like(_))
            || self.lattice.is_some()
                && !self.bounded
                && (text.contains(", inf)") || text.starts_with("(-inf"))
    }

    /// The truth of a test for every cell: what it is for all numbers of the cell, nothing
    /// if that depends on the number.
    pub(crate) fn truths(
        &self,
        check: &Check,
        reading: &Reading,
    ) -> Vec<Option<Truth>> {
        let Some(lattice) = &self.lattice else { return Vec::new() };
        let cut = CutColumn::new(0, lattice, reading, vec![(0, check)]);
        let truth = |meaning: &Meaning| match meaning {
            Meaning::Numbers { low, high, .. } => {
                let within =
                    |stretch: &(f64, f64)| stretch.0 <= *high && stretch.1 >= *low;
                let classes = cut.classes.iter().zip(&cut.truths);
                let mut met = classes.filter(|(all, _)| all.iter().any(within));
                let first = met.next().map(|(_, truths)| truths[0]);
                first.filter(|_| met.next().is_none())
            }
            Meaning::Missing => Some(cut.truths[cut.missing()][0]),
            Meaning::Values(_)
            | Meaning::Pieces { .. }
            | Meaning::Like(_)
            | Meaning::Open => None,
        };
        self.meanings.iter().map(truth).collect()
    }

    /// Whether a cell may stand for "not known" although nothing says so: `*` stands for
    /// every value there is.
    pub(crate) fn may_be_missing(&self, cell: u32) -> bool {
        !self.shared && *self.texts[cell as usize] == *ROOT_LABEL
    }

    /// Reads the cells of a column, of which `rows` says how often each occurs; the values
    /// they stand for come with them, unless they are numbers of a lattice.
    pub(crate) fn read(
        listed: &PublishedColumn,
        texts: Vec<Box<str>>,
        rows: &[u64],
    ) -> Result<(Vec<Box<str>>, Self)> {
        let form = listed.cells().unwrap_or(Form::Taxonomy);
        let found = match listed.is_ranged() {
            true => numbers(listed, form, &texts, true)
                .map(|(lattice, meanings)| (Vec::new(), Some(lattice), meanings)),
            false => words(listed, form, &texts, &[])
                .map(|(values, meanings)| (values, None, meanings)),
        };
        let (values, lattice, mut meanings) =
            found.map_err(|place| malformed(listed, &texts[place]))?;
        like_others(&mut meanings, &texts, rows);
        let counted = vec![false; texts.len()];
        let bounded = listed.domain.is_some();
        Ok((values, Self { lattice, meanings, texts, counted, bounded, shared: false }))
    }

    /// The cells of a quasi column that has distributions, for groups that are called so.
    pub(crate) fn of_groups(
        listed: &PublishedColumn,
        class: Option<&Class>,
        place: usize,
        pdf: &PdfCells,
        groups: &[Box<str>],
    ) -> Result<(Vec<Box<str>>, Self)> {
        let all = pdf.cells.iter().flat_map(|cells| &cells[place]);
        let (values, codes) = coded(all.map(|(text, _)| &**text), &listed.reading());
        let named = pdf.groups.iter().enumerate();
        let numbers: HashMap<&str, usize> =
            named.map(|(n, text)| (&**text, n)).collect();
        let meaning = |group: &str| {
            let wrong = |what: &str| Error::input(format!("group `{group}` {what}"));
            let number = numbers.get(group);
            let number =
                number.ok_or_else(|| wrong("has rows, but no distributions"))?;
            let cell = &pdf.cells[*number][place];
            let total: f64 = cell.iter().map(|(_, weight)| weight).sum();
            if !(total > 0.0 && total.is_finite()) {
                return Err(wrong("has weights that do not add up to 1"));
            }
            let weights = cell.iter().filter(|(_, weight)| *weight > 0.0);
            let mut weights: Vec<(u32, f64)> = weights
                .map(|(text, weight)| (codes[&**text], weight / total))
                .collect();
            weights.sort_by_key(|(code, _)| *code);
            if let [(_, weight)] = weights.as_mut_slice() {
                *weight = 1.0;
            }
            Ok(Meaning::Values(weights))
        };
        let meanings =
            groups.iter().map(|group| meaning(group)).collect::<Result<_>>()?;
        let counted = match class.map(|class| &class.parameters) {
            Some(Parameters::Cells { weights, table, .. }) if weights == "counted" => {
                let own = table.get(&listed.name).into_iter().flatten();
                let own: HashSet<String> = own.map(u64::to_string).collect();
                groups.iter().map(|group| own.contains(&**group)).collect()
            }
            Some(Parameters::Cells { weights, .. }) => {
                vec![weights == "table"; groups.len()]
            }
            _ => vec![false; groups.len()],
        };
        let (lattice, texts, bounded) = (None, groups.to_vec(), true);
        let shared = false;
        Ok((values, Self { lattice, meanings, texts, counted, bounded, shared }))
    }
}

/// That a cell is not well formed.
fn malformed(listed: &PublishedColumn, text: &str) -> Error {
    let name = &listed.name;
    Error::input(format!("`{name}` has the cell `{text}`, which is none"))
        .with_hint("the release was changed, or made by another version")
}

/// What cells of words stand for, or the place of one that is not well formed. If `shared` is
/// not empty it has all values that there are.
fn words(
    listed: &PublishedColumn,
    form: Form,
    texts: &[Box<str>],
    shared: &[Box<str>],
) -> Result<(Vec<Box<str>>, Vec<Meaning>), usize> {
    let reading = listed.reading();
    let mut rule = listed.hierarchy.clone().unwrap_or(Rule::Plain);
    let mut known: Vec<Box<str>> = Vec::new();
    if let Some(domain) = &listed.domain {
        rule = rule.within(domain, &reading).map_err(|_| 0usize)?;
        let values = domain.words(&reading).unwrap_or_default();
        known.extend(values.iter().map(|value| value.as_str().into()));
    }
    // A tree has all its leaves, a public list all values there are.
    let listed_all =
        matches!(rule, Rule::Tree(_)) || !known.is_empty() || !shared.is_empty();
    known.extend(shared.iter().cloned());
    let masked = matches!(rule, Rule::Mask(_)) && form == Form::Taxonomy && !listed_all;
    let missing = |text: &str| reading.is_missing(text);
    // A mask is open unless it hides nothing.
    let open = |text: &str| {
        text == ROOT_LABEL && !listed_all
            || masked && text.contains('*') && !missing(text)
    };
    for (place, text) in texts.iter().enumerate().filter(|(_, text)| !open(text)) {
        let (named, or_missing) = match form {
            Form::Taxonomy => (vec![text.to_string()], false),
            _ if **text == *ROOT_LABEL => (Vec::new(), false),
            _ => {
                let named = cell::named(form, text).ok_or(place)?;
                (named.values, named.missing)
            }
        };
        // What is not known may be none of the values that are listed.
        let own = named.into_iter().filter(|text| !listed_all || missing(text));
        known.extend(own.map(String::into_boxed_str));
        known.extend(or_missing.then(|| reading.missing_text().into()));
    }
    let plain = if masked { Rule::Plain } else { rule };
    let (domain, _) = plain.domain(&known, &reading).map_err(|_| 0usize)?;
    let bound = Bound {
        name: listed.name.clone(),
        hierarchy: plain.bind(&domain, &reading),
        rows: Of::repeat(0, domain.len()),
        lowest: 0,
        highest: 0,
        weight: 1.0,
        cells: form,
        grid: None,
        domain,
    };
    let level = listed.level().filter(|_| !masked);
    let meaning = |(place, text): (usize, &str)| {
        if open(text) {
            return Ok(Meaning::Open);
        }
        let cover: Cover = cell::parse(&bound, level, text).ok_or(place)?;
        let codes = cover.codes(&bound.domain, &bound.hierarchy);
        if codes.is_empty() {
            return Err(place);
        }
        let each = 1.0 / codes.len() as f64;
        Ok(Meaning::Values(codes.into_iter().map(|code| (code.get(), each)).collect()))
    };
    let meanings = texts.iter().map(|text| &**text).enumerate().map(meaning);
    let meanings = meanings.collect::<Result<_, _>>()?;
    Ok((bound.domain.texts().to_vec(), meanings))
}

/// What cells of numbers or days stand for, or the place of one that is not well formed. Open
/// ends are given one, if they are to be closed.
fn numbers(
    listed: &PublishedColumn,
    form: Form,
    texts: &[Box<str>],
    closes: bool,
) -> Result<(Lattice, Vec<Meaning>), usize> {
    let reading = listed.reading();
    let rule = listed.hierarchy.clone().unwrap_or(Rule::Plain);
    let ends = |text: &str| -> Option<(f64, f64, bool, bool)> {
        if form == Form::Taxonomy {
            if let Some((low, high)) = rule.span(text) {
                return Some((low, high, true, false));
            }
            let number = cell::number_of(reading.kind, text)?;
            return Some((number, number, false, false));
        }
        let named = cell::named(form, text)?;
        let (low, high) = named.ends(|word| cell::number_of(reading.kind, word))?;
        Some((low, high, named.half_open, named.missing))
    };
    let decimals = match listed.decimals {
        _ if listed.kind == Kind::Date => 0,
        Some(decimals) => decimals,
        None => {
            let bounds = texts.iter().filter_map(|text| ends(text));
            let digits = |number: f64| {
                let text = number.to_string();
                text.split_once('.').map_or(0, |(_, digits)| digits.len() as u32)
            };
            bounds
                .map(|(low, high, ..)| digits(low).max(digits(high)))
                .max()
                .unwrap_or(0)
        }
    };
    let mut lattice = Lattice::new(&listed.name, decimals, [0.0, 0.0]);
    let domain = listed
        .span()
        .map(|[low, high]| (lattice.around(low).0 + 1.0, lattice.around(high).1 - 1.0));
    let (least, most) = domain.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let mut meanings = Vec::with_capacity(texts.len());
    for (place, text) in texts.iter().enumerate() {
        meanings.push(if reading.is_missing(text) {
            Meaning::Missing
        } else if **text == *ROOT_LABEL {
            Meaning::Open
        } else {
            let (low, high, half_open, missing) = ends(text).ok_or(place)?;
            // The first number from `low` on, and the last before or up to `high`.
            let low = lattice.around(low).0 + 1.0;
            let (below, above) = lattice.around(high);
            let high = if half_open { below } else { above - 1.0 };
            let (low, high) = (low.max(least), high.min(most));
            if low > high {
                return Err(place);
            }
            Meaning::Numbers { low, high, missing }
        });
    }
    match domain {
        Some((low, high)) => {
            let may_lack = |meaning: &Meaning| match meaning {
                Meaning::Numbers { missing, .. } => *missing,
                _ => *meaning == Meaning::Missing,
            };
            let missing = meanings.iter().any(may_lack);
            let open = meanings.iter_mut().filter(|m| **m == Meaning::Open);
            open.for_each(|m| *m = Meaning::Numbers { low, high, missing });
        }
        None if closes => close(&mut meanings),
        None => {}
    }
    lattice.low = f64::INFINITY;
    lattice.high = f64::NEG_INFINITY;
    for meaning in &meanings {
        if let Meaning::Numbers { low, high, .. } = meaning {
            lattice.low = lattice.low.min(*low);
            lattice.high = lattice.high.max(*high);
        }
    }
    if lattice.low > lattice.high {
        (lattice.low, lattice.high) = (0.0, 0.0);
    }
    Ok((lattice, meanings))
}
