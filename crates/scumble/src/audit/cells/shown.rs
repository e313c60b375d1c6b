//! What published cells cost, by what is published of them.
//!
//! # Guarantee
//! Every number here is a function of the published cells and of what the manifest declares:
//! two tables that give the same files get the same numbers, to the last digit.
//!
//! The values of a column are those that are declared (a domain, the leaves of a tree), or else
//! those that the cells of all rows name together: numbers from their least to their largest
//! end, in steps of the column's last decimal. A range with an open end reaches beyond these
//! by the widest range that has two ends.
//!
//! # Limits
//! These are not the losses that a method makes small, which know the table: there a column's
//! range is from its least to its largest number. How many values a mask hides, and `*` where
//! nobody lists the values, is not told: such columns have no `kl`. Nor has anything `entropy`,
//! which is about how common values are.
//!
//! # Cost
//! That of the different cells.
//!
//! # Source
//! The losses are those of `loss/`; GUARANTEES, "Numbers in public files".

use std::collections::BTreeMap;

use crate::audit::cells::{CellClasses, CellColumn, CellTexts, Whose};
use crate::hierarchy::{Cells, Column, Cover, ROOT_LABEL, Rule};
use crate::loss::{
    AverageGroup, CellLoss, Discernibility, Kl, Lm, Precision, SizeLoss, Sizes,
};
use crate::release::{Manifest, PublishedColumn, cell};
use crate::table::{Kind, Of, Reading, format_date, format_number};

/// What the cells of every quasi column cost.
#[derive(Debug)]
pub(crate) struct ShownCells {
    // Nothing if a cell cannot be read without the table.
    columns: Option<Vec<ShownColumn>>,
}

/// What each different cell of a column costs.
#[derive(Debug)]
pub(crate) struct ShownColumn {
    /// The share of the column's values that it stands for.
    pub(crate) shares: Vec<f64>,
    /// How high it stands in the hierarchy, from 0 to 1.
    heights: Vec<f64>,
    /// How many values it stands for, and how many there are, if that is known.
    values: Option<(Vec<f64>, f64)>,
}

impl ShownCells {
    /// Reads every different cell once.
    pub(crate) fn read(manifest: &Manifest, view: &CellClasses) -> Self {
        let of = |cells: &CellColumn| {
            ShownColumn::read(&manifest.columns[cells.place], &cells.cells)
        };
        Self { columns: view.quasi.iter().map(of).collect() }
    }

    /// The columns, in the order of the classes.
    pub(crate) fn columns(&self) -> &[ShownColumn] {
        self.columns.as_deref().unwrap_or_default()
    }

    /// Every loss that cells tell by themselves.
    pub(crate) fn losses(
        &self,
        manifest: &Manifest,
        view: &CellClasses,
    ) -> BTreeMap<String, f64> {
        let left_out = manifest.left_out;
        let mut sizes = Sizes { left_out, ..Sizes::default() };
        view.sizes.iter().for_each(|size| sizes.add(*size));
        sizes.n_rows += left_out;
        let mut losses = BTreeMap::new();
        let of_sizes: [&dyn SizeLoss; 2] = [&Discernibility, &AverageGroup];
        for loss in of_sizes {
            losses.insert(loss.name().to_owned(), loss.total(&sizes));
        }
        let weight = |place: usize| {
            let weight = manifest.columns[view.quasi[place].place].weight;
            weight.unwrap_or(1.0)
        };
        // The sum over all rows of a column, of which those that are left out cost `lost`.
        let sum = |place: usize, costs: &[f64], lost: f64| {
            let cells = view.quasi[place].of_group.iter().zip(&view.sizes);
            let sum: f64 =
                cells.map(|(cell, size)| costs[*cell as usize] * *size as f64).sum();
            weight(place) * (sum + left_out as f64 * lost)
        };
        let Some(columns) = &self.columns else { return losses };
        let places = 0..columns.len();
        let weights: f64 = places.clone().map(weight).sum();
        let rows = weights * sizes.n_rows.max(1) as f64;
        let mean = |costs: &dyn Fn(&ShownColumn) -> &[f64]| {
            let all = places.clone().zip(columns);
            all.map(|(place, column)| sum(place, costs(column), 1.0)).sum::<f64>()
                / rows
        };
        losses.insert(Lm.name().to_owned(), mean(&|column| &column.shares));
        losses.insert(Precision.name().to_owned(), mean(&|column| &column.heights));
        let kl = match &view.weights {
            None => {
                let of = |(place, column): (usize, &ShownColumn)| {
                    let (values, all) = column.values.as_ref()?;
                    let costs: Vec<f64> = values.iter().map(|n| n.ln()).collect();
                    Some(sum(place, &costs, all.ln()))
                };
                places.zip(columns).map(of).sum::<Option<f64>>()
            }
            // The weights are how often each value occurs.
            Some(held) if whole(&held.whose) => {
                let mut total = 0.0;
                for (group, size) in view.sizes.iter().enumerate() {
                    for (place, weights) in held.of_group[group].iter().enumerate() {
                        let own = weights.iter().filter(|own| **own > 0.0);
                        let bits: f64 = own.map(|own| -own * own.ln()).sum();
                        total += weight(place) * bits * *size as f64;
                    }
                }
                let all = |place: usize| Some(columns[place].values.as_ref()?.1);
                let lost = places.map(|place| Some(weight(place) * all(place)?.ln()));
                let lost: Option<f64> = lost.sum();
                lost.map(|lost| total + left_out as f64 * lost)
            }
            Some(_) => None,
        };
        if let Some(kl) = kl {
            losses.insert(Kl.name().to_owned(), kl);
        }
        losses
    }
}

/// Whether all weights are the table's own.
fn whole(whose: &[Vec<Whose>]) -> bool {
    whose.iter().flatten().all(|whose| *whose == Whose::Table)
}

impl ShownColumn {
    fn read(listed: &PublishedColumn, cells: &CellTexts) -> Option<Self> {
        let form = listed.cells().unwrap_or(Cells::Taxonomy);
        let tree = matches!(listed.hierarchy, Some(Rule::Tree(_)));
        match cells {
            CellTexts::Texts(texts)
                if form != Cells::Set && !tree && listed.kind != Kind::Category =>
            {
                Numbers::read(listed, form, texts).map(|numbers| numbers.costs())
            }
            _ => words(listed, form, cells),
        }
    }
}

/// What a cell of numbers or days stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stretch {
    /// Everything.
    All,
    /// "Not known".
    Missing,
    /// From one end to another, which may be open.
    Range { low: f64, high: f64, half_open: bool, missing: bool },
}

/// The cells of a column of numbers or days.
struct Numbers {
    stretches: Vec<Stretch>,
    /// How high each stands.
    heights: Vec<f64>,
    /// The least and the largest number there is, if any cell or domain tells.
    span: Option<(f64, f64)>,
    /// The distance between two neighbouring numbers.
    unit: f64,
}

impl Numbers {
    fn read(listed: &PublishedColumn, form: Cells, texts: &[Box<str>]) -> Option<Self> {
        let reading = Reading { date_format: None, ..listed.reading() };
        let rule = listed.hierarchy.clone().unwrap_or(Rule::Plain);
        let number = |word: &str| cell::number_of(reading.kind, word);
        let stretch = |text: &str| {
            if text == ROOT_LABEL {
                return Some(Stretch::All);
            }
            if reading.is_missing(text) {
                return Some(Stretch::Missing);
            }
            if let (Cells::Taxonomy, Some((low, high))) = (form, rule.span(text)) {
                return Some(Stretch::Range {
                    low,
                    high,
                    half_open: true,
                    missing: false,
                });
            }
            let named = cell::named(Cells::Interval, text)?;
            let (low, high) = named.ends(number)?;
            let (half_open, missing) = (named.half_open, named.missing);
            Some(Stretch::Range { low, high, half_open, missing })
        };
        let stretches = texts.iter().map(|text| stretch(text));
        let stretches: Vec<Stretch> = stretches.collect::<Option<_>>()?;
        let ends = stretches.iter().flat_map(|stretch| match stretch {
            Stretch::Range { low, high, .. } => vec![*low, *high],
            Stretch::All | Stretch::Missing => Vec::new(),
        });
        let ends: Vec<f64> = ends.filter(|end| end.is_finite()).collect();
        let decimals = match listed.decimals {
            _ if listed.kind == Kind::Date => 0,
            Some(decimals) => decimals,
            None => ends.iter().map(|end| decimals_of(*end)).max().unwrap_or(0),
        };
        let unit = 10f64.powi(-i32::try_from(decimals).ok()?);
        let span = match listed.span() {
            Some([low, high]) => Some((low, high)),
            None => reach(&stretches, unit),
        };
        let mut numbers = Self { stretches, heights: Vec::new(), span, unit };
        let ladder = Ladder { listed, rule, reading };
        let heights = numbers.stretches.iter().zip(texts);
        let heights = heights
            .map(|(stretch, text)| numbers.height(&ladder, form, *stretch, text));
        numbers.heights = heights.collect::<Option<_>>()?;
        Some(numbers)
    }

    /// How high a cell stands in its hierarchy.
    fn height(
        &self,
        ladder: &Ladder<'_>,
        form: Cells,
        stretch: Stretch,
        text: &str,
    ) -> Option<f64> {
        let top = ladder.above(0.0)?.len() + 1;
        let of = |level: usize| Some(level as f64 / top as f64);
        if let (Some(level), Cells::Taxonomy) = (ladder.listed.level(), form) {
            return of(level);
        }
        let (low, high, half_open) = match stretch {
            Stretch::All => return of(top),
            Stretch::Missing => return of(0),
            Stretch::Range { low, high, half_open, .. } => (low, high, half_open),
        };
        if low == high {
            return of(0);
        }
        let (least, largest) = self.span?;
        let step = self.unit.max(1.0);
        let first = if low.is_finite() { low } else { least.min(high) - step };
        let last = match high.is_finite() {
            true if half_open => high - self.unit,
            true => high,
            false => largest.max(low) + step,
        };
        let (first, last) = (ladder.above(first)?, ladder.above(last)?);
        let level = match form {
            Cells::Taxonomy => first.iter().rposition(|label| label == text),
            _ => first.iter().zip(&last).position(|(one, other)| one == other),
        };
        of(level.map_or(top, |level| level + 1))
    }

    fn costs(&self) -> ShownColumn {
        let (low, high) = self.span.unwrap_or((0.0, 0.0));
        let width = high - low;
        let is_missing = |stretch: &Stretch| match stretch {
            Stretch::Range { missing, .. } => *missing,
            Stretch::Missing => true,
            Stretch::All => false,
        };
        let unknown = f64::from(self.stretches.iter().any(is_missing));
        let steps = |width: f64| (width / self.unit).round();
        let all = steps(width) + 1.0 + unknown;
        let (mut shares, mut values) = (Vec::new(), Vec::new());
        for stretch in &self.stretches {
            let (share, n) = match *stretch {
                Stretch::All => (1.0, all),
                Stretch::Missing => (0.0, 1.0),
                Stretch::Range { low: from, high: to, half_open, missing } => {
                    let (start, end) = (from.clamp(low, high), to.clamp(low, high));
                    let last = if half_open && to <= high { 0.0 } else { 1.0 };
                    let n = (steps(end - start) + last).max(1.0);
                    let one = f64::from(missing);
                    let share = if width > 0.0 { (end - start) / width } else { 0.0 };
                    (share + one / steps(width).max(1.0), n + one)
                }
            };
            shares.push(share.min(1.0));
            values.push(n.min(all));
        }
        let values = self.span.map(|_| (values, all));
        ShownColumn { shares, heights: self.heights.clone(), values }
    }
}

/// The least and the largest number that cells name together; open ends are as far beyond
/// them as the widest range with two ends is wide, or one step.
fn reach(stretches: &[Stretch], unit: f64) -> Option<(f64, f64)> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut widest, mut below, mut above) = (0f64, false, false);
    for stretch in stretches {
        let Stretch::Range { low: from, high: to, .. } = *stretch else { continue };
        below |= from == f64::NEG_INFINITY;
        above |= to == f64::INFINITY;
        for end in [from, to].into_iter().filter(|end| end.is_finite()) {
            (low, high) = (low.min(end), high.max(end));
        }
        if from.is_finite() && to.is_finite() {
            widest = widest.max(to - from);
        }
    }
    let beyond = if widest > 0.0 { widest } else { unit.max(1.0) };
    low -= if below { beyond } else { 0.0 };
    high += if above { beyond } else { 0.0 };
    (low <= high).then_some((low, high))
}

/// The hierarchy of a column.
struct Ladder<'a> {
    listed: &'a PublishedColumn,
    rule: Rule,
    reading: Reading,
}

impl Ladder<'_> {
    /// The labels above a number or day.
    fn above(&self, number: f64) -> Option<Vec<String>> {
        let text = match self.reading.kind {
            Kind::Date => format_date(number),
            Kind::Number | Kind::Category => format_number(number),
        };
        self.rule.path(&self.reading, &text)
    }
}

fn decimals_of(number: f64) -> u32 {
    number.to_string().split_once('.').map_or(0, |(_, digits)| digits.len() as u32)
}

/// Cells of words, sets, and values with weights.
fn words(
    listed: &PublishedColumn,
    form: Cells,
    cells: &CellTexts,
) -> Option<ShownColumn> {
    let mut reading = listed.reading();
    if !matches!(listed.hierarchy, Some(Rule::Tree(_))) {
        // Dates are published in ISO 8601, but for those of a tree, which has its own texts.
        reading.date_format = None;
    }
    let mut rule = listed.hierarchy.clone().unwrap_or(Rule::Plain);
    let mut known: Vec<Box<str>> = Vec::new();
    if let Some(domain) = &listed.domain {
        rule = rule.within(domain, &reading).ok()?;
        let values = domain.words(&reading).unwrap_or_default();
        known.extend(values.iter().map(|value| value.as_str().into()));
    }
    // A tree has all its leaves, a public list all values there are.
    let listed_all = matches!(rule, Rule::Tree(_)) || !known.is_empty();
    let is_mask = matches!(rule, Rule::Mask(_)) && form == Cells::Taxonomy;
    let masked = |text: &str| {
        is_mask && !listed_all && text.contains('*') && !reading.is_missing(text)
    };
    let open = |text: &str| text == ROOT_LABEL && !listed_all || masked(text);
    let mut add = |value: &str| {
        if !listed_all || reading.is_missing(value) {
            known.push(value.into());
        }
    };
    match cells {
        CellTexts::Lists(lists) => lists.iter().flatten().for_each(|value| add(value)),
        CellTexts::Texts(texts) => {
            for text in texts.iter().filter(|text| !open(text)) {
                match form {
                    Cells::Taxonomy => add(text),
                    _ if **text == *ROOT_LABEL => {}
                    _ => {
                        let named = cell::named(form, text)?;
                        named.values.iter().for_each(|value| add(value));
                        if named.missing {
                            add(reading.missing_text());
                        }
                    }
                }
            }
        }
    }
    let (domain, _) = rule.domain(&known, &reading).ok()?;
    let column = Column {
        name: listed.name.clone(),
        hierarchy: rule.bind(&domain, &reading),
        rows: Of::repeat(0, domain.len()),
        lowest: 0,
        highest: 0,
        weight: 1.0,
        cells: form,
        grid: None,
        domain,
    };
    let all = column.domain.len().max(1) as f64;
    let height = column.hierarchy.height() as f64;
    let index = column.domain.index();
    let cost = |cover: &Cover| {
        let values = cover.n_values(&column.hierarchy).max(1) as f64;
        (Lm.cell(&column, cover), Precision.cell(&column, cover), Some(values))
    };
    let costs: Option<Vec<_>> = match cells {
        CellTexts::Lists(lists) => {
            let set = |list: &Vec<Box<str>>| {
                let codes = list.iter().map(|text| index.get(&**text).copied());
                let mut codes: Vec<_> = codes.collect::<Option<_>>()?;
                codes.sort_unstable();
                Some(cost(&Cover::Set(codes)))
            };
            lists.iter().map(set).collect()
        }
        CellTexts::Texts(texts) => {
            let one = |text: &str| {
                if !open(text) {
                    return Some(cost(&cell::parse(&column, listed.level(), text)?));
                }
                let stars = text.chars().filter(|letter| *letter == '*').count();
                let level = match text == ROOT_LABEL {
                    true => height,
                    false => listed.level().unwrap_or(stars) as f64,
                };
                Some((level / height, level / height, None))
            };
            texts.iter().map(|text| one(text)).collect()
        }
    };
    let costs = costs?;
    let values: Option<Vec<f64>> = costs.iter().map(|(.., values)| *values).collect();
    Some(ShownColumn {
        shares: costs.iter().map(|(share, ..)| *share).collect(),
        heights: costs.iter().map(|(_, height, _)| *height).collect(),
        values: values.map(|values| (values, all)),
    })
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
