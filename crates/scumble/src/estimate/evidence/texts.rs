//! The texts of a column: one for each value, in the order of values.

use hashbrown::HashMap;

use crate::table::{Kind, Reading, parse_number};

/// The one text for what `text` means.
pub(crate) fn canonical(text: &str, reading: &Reading) -> String {
    if reading.is_missing(text) {
        return reading.missing_text().to_owned();
    }
    // Sensitive dates are published in ISO 8601, whatever they were before.
    let iso = Reading { date_format: None, ..reading.clone() };
    let number = iso.number_of(text).or_else(|| reading.number_of(text));
    number.map_or_else(|| text.to_owned(), |number| reading.canonical(text, number))
}

/// Distinct values in their own order, and the code of each text.
pub(crate) fn coded<'t>(
    texts: impl Iterator<Item = &'t str>,
    reading: &Reading,
) -> (Vec<Box<str>>, HashMap<&'t str, u32>) {
    let mut distinct: Vec<&str> = texts.collect();
    distinct.sort_unstable();
    distinct.dedup();
    let owned = distinct.iter().map(|text| Box::from(*text)).collect();
    let (texts, ranks) = in_order(owned, reading);
    (texts, distinct.into_iter().zip(ranks).collect())
}

/// Distinct values in their own order, missing last, and the place of each given text.
pub(crate) fn in_order(
    texts: Vec<Box<str>>,
    reading: &Reading,
) -> (Vec<Box<str>>, Vec<u32>) {
    let texts: Vec<String> =
        texts.iter().map(|text| canonical(text, reading)).collect();
    let numbers: Vec<Option<f64>> = match reading.kind {
        // ISO 8601 is in the order of its bytes.
        Kind::Date => vec![None; texts.len()],
        _ => texts.iter().map(|text| parse_number(text)).collect(),
    };
    let all_numbers = texts
        .iter()
        .zip(&numbers)
        .all(|(text, number)| number.is_some() || reading.is_missing(text));
    let number = |place: usize| match numbers[place] {
        Some(number) if all_numbers || reading.kind == Kind::Number => number,
        _ => f64::INFINITY,
    };
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by(|a, b| {
        let missing = |place: usize| reading.is_missing(&texts[place]);
        missing(*a)
            .cmp(&missing(*b))
            .then(number(*a).total_cmp(&number(*b)))
            .then_with(|| texts[*a].cmp(&texts[*b]))
    });
    let mut sorted: Vec<Box<str>> = Vec::new();
    let mut ranks = vec![0; texts.len()];
    for place in order {
        if sorted.last().is_none_or(|last| **last != *texts[place]) {
            sorted.push(texts[place].as_str().into());
        }
        ranks[place] = sorted.len() as u32 - 1;
    }
    (sorted, ranks)
}
