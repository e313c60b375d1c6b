//! How the values of a column could coarsen.

use crate::hierarchy::{Band, Rule, Template};
use crate::inspect::Coarsening;
use crate::inspect::hints::{is_age, is_postal};
use crate::inspect::tally::{Tally, looks};
use crate::table::{Kind, parse_number};

/// Below so many values ranges are not worth it.
const FEW_VALUES: u64 = 5;

/// Up to so many words can be published as they are; codes beyond lose their ends.
const FEW_CODES: u64 = 20;

/// A hierarchy that fits the values, and what they must be taken for.
pub(super) fn coarsening(
    name: &str,
    tally: &Tally,
    distinct: u64,
    codes: Option<Template>,
) -> (Kind, Option<Coarsening>) {
    let (kind, _) = tally.kind();
    if let Some(template) = codes {
        let look = match template {
            Template::Icd9 => looks::ICD9,
            Template::Icd10 => looks::ICD10,
            Template::UnRegion => looks::COUNTRY,
        };
        let lacking = tally.share_that(look) < 1.0;
        return (Kind::Category, Some(Coarsening::Template(template, lacking)));
    }
    if let Some(order) = order(tally) {
        return (Kind::Category, Some(Coarsening::Order(order)));
    }
    let facts = tally.facts();
    let code_like = facts.is_code() && facts.lengths.0 >= 3;
    let postal = is_postal(name) && (kind == Kind::Category || facts.is_whole());
    if postal && distinct > 1 {
        return (Kind::Category, Some(Coarsening::Mask));
    }
    let coarsening = match kind {
        Kind::Number if distinct >= FEW_VALUES && is_age(name) => {
            let widths = ["5", "10", "20", "40"].map(str::to_owned);
            Some(Coarsening::Widths(widths.to_vec()))
        }
        Kind::Number if distinct >= FEW_VALUES => {
            let own = facts.own_range.0 < facts.own_range.1;
            let range = if own { facts.own_range } else { facts.range };
            widths(range, facts.is_whole()).map(Coarsening::Widths)
        }
        Kind::Date if distinct > 1 => Some(Coarsening::Dates),
        Kind::Category if code_like && distinct > FEW_CODES => Some(Coarsening::Mask),
        _ => None,
    };
    (kind, coarsening)
}

/// The values in their order, if all are ranges, as in `[0-10)`.
fn order(tally: &Tally) -> Option<Vec<String>> {
    let texts = tally.texts().filter(|texts| texts.len() > 2)?;
    let bands = texts.iter().map(|text| Some((Band::of(text)?, text.to_string())));
    let mut bands: Vec<(Band, String)> = bands.collect::<Option<_>>()?;
    let key = |band: &Band| (band.low, band.high);
    bands.sort_by(|a, b| {
        key(&a.0).partial_cmp(&key(&b.0)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let apart = bands.windows(2).all(|pair| pair[0].0.high <= pair[1].0.low);
    apart.then(|| bands.into_iter().map(|(_, text)| text).collect())
}

/// About four or five widths between a twentieth and a half of the range, each a multiple
/// of the one before, as they are typed.
fn widths(range: (f64, f64), whole: bool) -> Option<Vec<String>> {
    let span = range.1 - range.0;
    if !span.is_finite() || span <= 0.0 {
        return None;
    }
    // Over small spans of whole numbers ranges double: 5, 10, 20, 40. Over large ones
    // they grow by five and two in turn: 100, 500, 1000, 5000.
    let (first, factors, steps) = if whole && span <= 200.0 {
        let first = if span <= 40.0 { 2.0 } else { 5.0 };
        (first, [2.0, 2.0], 0)
    } else {
        let decade = (span / 50.0).log10().floor() as i32;
        (1.0, [5.0, 2.0], decade)
    };
    let mut widths = Vec::new();
    let (mut mantissa, mut factor) = (first, 0);
    while mantissa * 10f64.powi(steps) <= 0.6 * span && widths.len() < 6 {
        let width = written(mantissa, steps);
        // A range of one whole number is that number.
        if !whole || parse_number(&width).is_some_and(|width| width > 1.0) {
            widths.push(width);
        }
        mantissa *= factors[factor % 2];
        factor += 1;
    }
    let numbers =
        widths.iter().map(|width| parse_number(width)).collect::<Option<_>>()?;
    Rule::widths(numbers, 0.0).is_ok().then_some(widths)
}

/// `mantissa` times a power of ten, in decimal.
fn written(mantissa: f64, power: i32) -> String {
    let number = mantissa * 10f64.powi(power);
    format!("{number:.*}", power.min(0).unsigned_abs() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_fit_the_range_and_nest() {
        let whole = |low, high| widths((low, high), true).unwrap().join(" ");
        assert_eq!(whole(17.0, 90.0), "5 10 20 40");
        assert_eq!(whole(1.0, 16.0), "2 4 8");
        assert_eq!(whole(0.0, 99_999.0), "1000 5000 10000 50000");
        assert_eq!(whole(1900.0, 2020.0), "5 10 20 40");
        let parts = |low, high| widths((low, high), false).unwrap().join(" ");
        assert_eq!(parts(0.0, 1.0), "0.01 0.05 0.10 0.50");
        assert_eq!(widths((3.0, 3.0), true), None);
    }

    #[test]
    fn odd_ranges_have_widths_or_none_but_never_bad_ones() {
        for power in -300..300 {
            for mantissa in [1.0, 2.5, 7.0] {
                let span = mantissa * 10f64.powi(power);
                for whole in [true, false] {
                    let _ = widths((0.0, span), whole);
                }
            }
        }
    }
}
