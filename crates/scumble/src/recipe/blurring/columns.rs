//! Which columns are numbers, how exact they are, and from where to where they go.

use crate::error::{Error, Result};
use crate::recipe::order::Order;
use crate::recipe::{ColumnSpec, DomainSpec, Missing, Spec};
use crate::table::{Kind, Numbers, NumbersTask, Reading, Role, Said, Schema};
use crate::watch::Watch;

/// The quasi columns, in the order of the table: those that are numbers, and the others,
/// which are kept as they are.
pub(super) struct Quasi<'a> {
    pub(super) numbers: Vec<&'a ColumnSpec>,
    pub(super) exact: Vec<&'a ColumnSpec>,
}

/// Finer than so many decimals below the standard deviation, numbers are rounded before
/// anything else: nobody can use more, and sums in double precision stay exact enough.
const DIGITS: f64 = 9.0;

/// Squares of larger numbers, or of the inverse, leave the range of doubles.
const LARGEST: f64 = 1e100;

impl<'a> Quasi<'a> {
    /// Finds out which columns are numbers: those the recipe says, and of the others those
    /// with numbers only. A column with numbers and texts is an error: a slip would turn
    /// numbers into words.
    pub(super) fn find(
        spec: &'a Spec,
        order: &Order,
        method: &str,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let quasi: Vec<&ColumnSpec> = order
            .source
            .header()
            .iter()
            .filter_map(|name| spec.column(name))
            .filter(|column| column.role == Role::Quasi)
            .collect();
        let said: Vec<Said> = quasi.iter().map(|column| column.said()).collect();
        let schema = Schema::read(&order.source, &said, &spec.input.missing, watch)?;
        let mut columns = Self { numbers: Vec::new(), exact: Vec::new() };
        for (column, schema) in quasi.into_iter().zip(&schema.columns) {
            match (schema.reading.kind, schema.doubt) {
                (_, Some(row)) => return Err(mixed(&column.name, row, order)),
                (Kind::Number, None) => columns.numbers.push(column),
                (_, None) => columns.exact.push(column),
            }
        }
        if columns.numbers.is_empty() {
            let error =
                Error::recipe(format!("`{}` needs a quasi column of numbers", method));
            let spot = spec.method.spot.unwrap_or(spec.input.table_spot);
            return Err(spec.error_at(spot, error));
        }
        Ok(columns)
    }

    /// What to read.
    pub(super) fn task(
        &self,
        spec: &'a Spec,
        wish: Option<&'a str>,
    ) -> NumbersTask<'a> {
        let reading = |kind| Reading {
            kind,
            missing: spec.input.missing.clone(),
            date_format: None,
        };
        let named = |columns: &[&'a ColumnSpec], kind| {
            let named = columns.iter().map(|column| (&*column.name, reading(kind)));
            named.collect()
        };
        NumbersTask {
            numbers: named(&self.numbers, Kind::Number),
            exact: named(&self.exact, Kind::Category),
            wish,
            person: spec.input.person.as_ref().map(|(name, _)| {
                let missing = spec.input.missing.clone();
                (&**name, Reading { missing, ..Reading::category() })
            }),
        }
    }

    /// Missing numbers are refused unless the recipe keeps them.
    pub(super) fn check_missing(
        &self,
        spec: &Spec,
        order: &Order,
        numbers: &Numbers,
        method: &str,
    ) -> Result<()> {
        if matches!(spec.method.noise.missing, Some((Missing::Keep, _))) {
            return Ok(());
        }
        let Some(place) = numbers.values.iter().position(|value| value.is_nan()) else {
            return Ok(());
        };
        let n_columns = numbers.n_columns();
        let name = &self.numbers[place % n_columns].name;
        Err(Error::input(format!(
            "row {}, column `{name}`: the number is missing",
            place / n_columns + 1
        ))
        .in_file(order.source.name())
        .with_hint(match method {
            "condensation" => {
                "`condensation` needs every number: take the row out, or use `blur`"
            }
            _ => {
                "write `missing = \"keep\"` in `[method]` to publish it as missing: then \
                 only rows that lack the same numbers count as company"
            }
        }))
    }

    /// Sums of squares must be finite and not zero.
    pub(super) fn check_sizes(&self, order: &Order, numbers: &Numbers) -> Result<()> {
        for (place, column) in self.numbers.iter().enumerate() {
            let values = numbers.values.iter().skip(place).step_by(numbers.n_columns());
            let most = values.fold(0.0f64, |most, value| most.max(value.abs()));
            let deviation = deviation(numbers, place);
            if most > LARGEST || (deviation > 0.0 && deviation < 1.0 / LARGEST) {
                return Err(Error::input(format!(
                    "column `{}`: numbers beyond 1e100, or all within 1e-100, cannot be \
                     blurred",
                    column.name
                ))
                .in_file(order.source.name())
                .with_hint("give them in another unit"));
            }
        }
        Ok(())
    }

    /// How many decimals each column keeps.
    pub(super) fn decimals(numbers: &Numbers) -> Vec<u32> {
        (0..numbers.n_columns())
            .map(|column| {
                let deviation = deviation(numbers, column);
                let most = match deviation > 0.0 {
                    true => (DIGITS - deviation.log10()).ceil().clamp(0.0, 22.0) as u32,
                    false => 22,
                };
                numbers.decimals[column].min(most)
            })
            .collect()
    }

    /// From where to where the numbers of each column go: what the recipe says, which holds
    /// of all rows, or else a rounded range that is wider than theirs.
    pub(super) fn domains(&self, numbers: &Numbers) -> Vec<[f64; 2]> {
        let domain = |(place, column): (usize, &&ColumnSpec)| {
            let said = column.domain.as_ref().and_then(DomainSpec::numbers);
            said.unwrap_or_else(|| {
                let values = numbers.values.iter().skip(place);
                let values = values.step_by(numbers.n_columns()).copied();
                let known = values.filter(|value| !value.is_nan());
                let ends = known
                    .fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| {
                        [a.min(x), b.max(x)]
                    });
                widened(ends)
            })
        };
        self.numbers.iter().enumerate().map(domain).collect()
    }
}

/// That a column of unknown type has numbers and other texts.
fn mixed(name: &str, row: u64, order: &Order) -> Error {
    Error::input(format!(
        "row {row}, column `{name}`: the cell is not a number, but others of the column are"
    ))
    .in_file(order.source.name())
    .with_hint(
        "mend the cell, list its text under `[input] missing`, or say `type = \
         \"category\"` to keep the column as it is",
    )
    .with_hint(
        "leading zeros, a plus or an exponent make a code of a number; say `type = \
         \"number\"` if they do not",
    )
}

/// The standard deviation of a column's numbers; zero if there are fewer than two.
pub(super) fn deviation(numbers: &Numbers, column: usize) -> f64 {
    let values = numbers.values.iter().skip(column).step_by(numbers.n_columns());
    let known = values.copied().filter(|value| !value.is_nan());
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for value in known {
        count += 1.0;
        let away = value - mean;
        mean += away / count;
        squares += away * (value - mean);
    }
    if count < 2.0 { 0.0 } else { (squares / count).sqrt() }
}

/// A range that holds `ends`, wider by at least a twentieth on each side and rounded, so
/// that it does not tell anybody's number. Numbers that are never negative stay so.
fn widened([low, high]: [f64; 2]) -> [f64; 2] {
    if low > high {
        return [0.0, 1.0];
    }
    let span = if high > low { high - low } else { high.abs().max(1.0) };
    let power = span.log10().floor() as i32;
    let unit = 10f64.powi(power);
    // Multiples of a power of ten, as their text reads.
    let tidy = |units: f64| {
        let text = format!("{units}e{power}");
        text.parse().unwrap_or(units * unit)
    };
    let margin = span / 20.0;
    let below = tidy(((low - margin) / unit).floor());
    let above = tidy(((high + margin) / unit).ceil());
    [if low >= 0.0 { below.max(0.0) } else { below }, above]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_wider_than_the_data_and_round() {
        assert_eq!(widened([17.0, 90.0]), [10.0, 100.0]);
        assert_eq!(widened([0.0003, 0.9998]), [0.0, 1.1]);
        assert_eq!(widened([-3.2, 4.1]), [-4.0, 5.0]);
        assert_eq!(widened([1000.0, 1000.0]), [0.0, 2000.0]);
        assert_eq!(widened([0.0, 0.0]), [0.0, 1.0]);
        assert_eq!(widened([12_285.0, 1_490_400.0]), [0.0, 2_000_000.0]);
    }
}
