//! Ranges of numbers: of equal width, or between cut points.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hierarchy::Step;
use crate::table::format_number;

/// More digits than these are not kept apart by a float.
const DIGITS: usize = 15;

/// Ranges of equal width, level by level wider, such as `[20, 25)` below `[20, 30)`.
///
/// Bounds are computed in integers, in units of the last decimal that was typed: with a
/// width of 0.1, the value 0.3 is in `[0.3, 0.4)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WidthsAsTyped")]
pub struct Widths {
    // Positive, ascending, each a multiple of the one before.
    widths: Vec<f64>,
    origin: f64,
    // The same numbers times 10^decimals, exactly.
    #[serde(skip)]
    scaled: ScaledCuts,
}

#[derive(Debug, Clone, PartialEq)]
struct ScaledCuts {
    decimals: usize,
    origin: i64,
    // The width, and with how many decimals its bounds are written.
    widths: Vec<(i64, usize)>,
}

#[derive(Deserialize)]
struct WidthsAsTyped {
    widths: Vec<f64>,
    #[serde(default)]
    origin: f64,
}

impl Widths {
    /// Checks that widths ascend and nest.
    pub fn new(widths: Vec<f64>, origin: f64) -> Result<Self> {
        if widths.is_empty() {
            return Err(Error::recipe(
                "`widths` is empty, but needs at least one width",
            ));
        }
        if !origin.is_finite() {
            return Err(Error::out_of_range("origin", origin, "a finite number"));
        }
        for width in &widths {
            if !width.is_finite() || *width <= 0.0 {
                return Err(Error::out_of_range(
                    "widths",
                    width,
                    "positive and finite",
                ));
            }
        }
        let decimals =
            widths.iter().chain([&origin]).map(|n| n_decimals(*n)).max().unwrap_or(0);
        let scale = |name: &str, number: f64| {
            let wanted = format!(
                "written with at most {DIGITS} digits, counted in its smallest decimal"
            );
            floor_scaled(number, decimals)
                .ok_or_else(|| Error::out_of_range(name, number, wanted))
        };
        let mut scaled = ScaledCuts {
            decimals,
            origin: scale("origin", origin)?,
            widths: Vec::new(),
        };
        for width in &widths {
            let shown = n_decimals(*width).max(n_decimals(origin));
            scaled.widths.push((scale("widths", *width)?, shown));
        }
        for (pair, exact) in widths.windows(2).zip(scaled.widths.windows(2)) {
            let (fine, coarse) = (exact[0].0, exact[1].0);
            if coarse <= fine || coarse % fine != 0 {
                return Err(not_nested(pair[0], pair[1], coarse <= fine));
            }
        }
        Ok(Self { widths, origin, scaled })
    }

    /// The widths, finest first.
    pub fn widths(&self) -> &[f64] {
        &self.widths
    }

    /// Where one of the ranges of every level begins.
    pub fn origin(&self) -> f64 {
        self.origin
    }

    /// The range around a number on every level; nothing for numbers so large or
    /// ladders so fine that floats do not keep the bounds apart.
    pub(super) fn steps(&self, number: f64) -> Option<Vec<Step>> {
        let ScaledCuts { decimals, origin, widths } = &self.scaled;
        let value = floor_scaled(number, *decimals)?;
        let unit = 10f64.powi(*decimals as i32);
        let step = |(width, shown): &(i64, usize)| {
            let low = origin + (value - origin).div_euclid(*width) * width;
            let text = |bound| write_scaled(bound, *decimals, *shown);
            let label = format!("[{}, {})", text(low), text(low + width));
            // Both are exact integers as floats, so the quotient is the nearest float.
            let span = (low as f64 / unit, (low + width) as f64 / unit);
            (label.into_boxed_str(), Some(span))
        };
        Some(widths.iter().map(step).collect())
    }
}

impl TryFrom<WidthsAsTyped> for Widths {
    type Error = Error;

    fn try_from(typed: WidthsAsTyped) -> Result<Self> {
        Self::new(typed.widths, typed.origin)
    }
}

fn not_nested(fine: f64, coarse: f64, descends: bool) -> Error {
    if descends {
        let message =
            format!("width {coarse} comes after {fine}, but widths must grow");
        return Error::recipe(message);
    }
    Error::recipe(format!(
        "width {coarse} is not a multiple of width {fine}, so that some values would \
         have two parents"
    ))
    .with_hint("let each width be a multiple of the one before, as in [5, 10, 20, 40]")
}

/// Ranges between cut points, level by level fewer, such as `[18, 30)` below
/// `[18, 65)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "CutsAsTyped")]
pub struct Cuts {
    // Finest first; each list ascends, and its points are among those of the list before.
    cuts: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct CutsAsTyped {
    cuts: Vec<Vec<f64>>,
}

impl Cuts {
    /// Checks that cut points ascend and that coarser levels have no new ones.
    pub fn new(mut cuts: Vec<Vec<f64>>) -> Result<Self> {
        if cuts.is_empty() || cuts.iter().any(Vec::is_empty) {
            return Err(Error::recipe(
                "`cuts` is empty, but needs at least one cut point a level",
            ));
        }
        for cut in cuts.iter_mut().flatten() {
            if !cut.is_finite() {
                return Err(Error::out_of_range("cuts", *cut, "finite"));
            }
            // Minus zero is zero.
            *cut += 0.0;
        }
        for pair in cuts.iter().flat_map(|level| level.windows(2)) {
            if pair[0] >= pair[1] {
                let message = format!(
                    "cut point {} comes after {}, but cut points must grow",
                    pair[1], pair[0]
                );
                return Err(Error::recipe(message));
            }
        }
        for (place, pair) in cuts.windows(2).enumerate() {
            if let Some(new) = pair[1].iter().find(|cut| !pair[0].contains(cut)) {
                return Err(Error::recipe(format!(
                    "cut point {new} of level {} is not one of level {}, so that some \
                     values would have two parents",
                    place + 2,
                    place + 1
                ))
                .with_hint(
                    "begin with the finest level; leave cut points out as you go up",
                ));
            }
        }
        Ok(Self { cuts })
    }

    /// The cut points of every level, finest first.
    pub fn levels(&self) -> &[Vec<f64>] {
        &self.cuts
    }

    /// The range around a number on every level.
    pub(super) fn steps(&self, number: f64) -> Vec<Step> {
        let step = |cuts: &Vec<f64>| {
            let above = cuts.partition_point(|cut| *cut <= number);
            let low = above.checked_sub(1).map(|place| cuts[place]);
            let high = cuts.get(above).copied();
            let text = |cut: Option<f64>| cut.map_or("inf".to_owned(), format_number);
            let label = match low {
                Some(low) => format!("[{}, {})", format_number(low), text(high)),
                None => format!("(-inf, {})", text(high)),
            };
            let (low, high) =
                (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY));
            (label.into_boxed_str(), Some((low, high)))
        };
        self.cuts.iter().map(step).collect()
    }
}

impl TryFrom<CutsAsTyped> for Cuts {
    type Error = Error;

    fn try_from(typed: CutsAsTyped) -> Result<Self> {
        Self::new(typed.cuts)
    }
}

/// How many decimals the shortest text of a number has.
fn n_decimals(number: f64) -> usize {
    number.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// The number times 10^decimals, rounded down, from the decimal digits of its shortest
/// text; nothing if that has more than [`DIGITS`] digits.
fn floor_scaled(number: f64, decimals: usize) -> Option<i64> {
    let text = number.abs().to_string();
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    if whole.trim_start_matches('0').len() + decimals > DIGITS {
        return None;
    }
    let kept = &rest[..rest.len().min(decimals)];
    let cut = rest.len() > decimals;
    let size: i64 = format!("{whole}{kept:0<decimals$}").parse().ok()?;
    Some(if number < 0.0 { -size - i64::from(cut) } else { size })
}

/// The inverse: `number / 10^decimals` with the first `shown` decimals.
fn write_scaled(number: i64, decimals: usize, shown: usize) -> String {
    let digits = format!("{:0>width$}", number.unsigned_abs(), width = decimals + 1);
    let (whole, rest) = digits.split_at(digits.len() - decimals);
    let sign = if number < 0 { "-" } else { "" };
    match &rest[..shown.min(decimals)] {
        "" => format!("{sign}{whole}"),
        rest => format!("{sign}{whole}.{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(steps: Vec<Step>) -> Vec<String> {
        steps.into_iter().map(|(label, _)| label.into()).collect()
    }

    fn widths(widths: &[f64], origin: f64, number: f64) -> Vec<String> {
        let ladder = Widths::new(widths.to_vec(), origin).expect("a ladder");
        labels(ladder.steps(number).expect("a number in reach"))
    }

    #[test]
    fn three_tenths_begin_a_range_of_a_tenth() {
        assert_eq!(widths(&[0.1, 1.0], 0.0, 0.3), ["[0.3, 0.4)", "[0, 1)"]);
        assert_eq!(widths(&[0.1], 0.0, 0.7), ["[0.7, 0.8)"]);
        assert_eq!(widths(&[0.1], 0.05, 0.3), ["[0.25, 0.35)"]);
    }

    #[test]
    fn below_the_origin_ranges_go_on() {
        assert_eq!(widths(&[5.0, 10.0], 0.0, -0.5), ["[-5, 0)", "[-10, 0)"]);
        assert_eq!(widths(&[5.0, 10.0], 3.0, 39.0), ["[38, 43)", "[33, 43)"]);
        assert_eq!(widths(&[0.5], 0.0, -0.25), ["[-0.5, 0.0)"]);
        assert_eq!(widths(&[1.0], 0.0, 5e-324), ["[0, 1)"]);
        assert_eq!(widths(&[1.0], 0.0, -5e-324), ["[-1, 0)"]);
    }

    #[test]
    fn numbers_beyond_exact_floats_are_out_of_reach() {
        let ladder = Widths::new(vec![1.0], 0.0).expect("a ladder");
        assert!(ladder.steps(1e300).is_none());
        assert!(ladder.steps(999_999_999_999_999.0).is_some());
    }

    #[test]
    fn widths_that_do_not_nest_are_refused() {
        let message = |widths: &[f64]| {
            Widths::new(widths.to_vec(), 0.0).expect_err("refused").to_string()
        };
        assert_eq!(
            message(&[5.0, 12.0]),
            "width 12 is not a multiple of width 5, so that some values would have two \
             parents"
        );
        assert_eq!(
            message(&[10.0, 5.0]),
            "width 5 comes after 10, but widths must grow"
        );
        assert_eq!(message(&[0.0]), "`widths` is 0, but must be positive and finite");
        assert_eq!(message(&[]), "`widths` is empty, but needs at least one width");
        assert!(Widths::new(vec![1.0, 1e300], 0.0).is_err());
        assert!(Widths::new(vec![0.1, 0.3], 0.0).is_ok(), "0.3 is three times 0.1");
    }

    #[test]
    fn the_outer_ranges_of_cuts_are_open() {
        let cuts = Cuts::new(vec![vec![18.0, 30.0, 65.0], vec![18.0, 65.0]]);
        let cuts = cuts.expect("nested");
        assert_eq!(labels(cuts.steps(17.5)), ["(-inf, 18)", "(-inf, 18)"]);
        assert_eq!(labels(cuts.steps(18.0)), ["[18, 30)", "[18, 65)"]);
        assert_eq!(labels(cuts.steps(65.0)), ["[65, inf)", "[65, inf)"]);
        assert_eq!(cuts.steps(70.0)[0].1, Some((65.0, f64::INFINITY)));
    }

    #[test]
    fn cuts_that_do_not_nest_are_refused() {
        let message =
            |cuts: Vec<Vec<f64>>| Cuts::new(cuts).expect_err("refused").to_string();
        assert_eq!(
            message(vec![vec![18.0, 65.0], vec![20.0]]),
            "cut point 20 of level 2 is not one of level 1, so that some values would \
             have two parents"
        );
        assert_eq!(
            message(vec![vec![18.0, 18.0]]),
            "cut point 18 comes after 18, but cut points must grow"
        );
        assert_eq!(
            message(vec![vec![]]),
            "`cuts` is empty, but needs at least one cut point a level"
        );
        assert_eq!(message(vec![vec![f64::NAN]]), "`cuts` is NaN, but must be finite");
    }
}
