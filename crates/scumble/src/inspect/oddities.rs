//! What looks wrong in a table: ages of 999, days that mean "never", words among numbers.

use crate::inspect::hints::is_age;
use crate::inspect::tally::{STAND_INS, Tally, looks};
use crate::inspect::{ColumnFindings, Oddity};
use crate::table::{Kind, Role};

/// Nobody is older.
const OLDEST: f64 = 120.0;

/// All that looks wrong, column by column.
pub(super) fn all(
    columns: &[ColumnFindings],
    tallies: &[Tally],
    rows: u64,
) -> Vec<Oddity> {
    let mut oddities = Vec::new();
    for (column, tally) in columns.iter().zip(tallies) {
        let mut odd = |what: String| {
            oddities.push(Oddity { column: column.name.clone(), what });
        };
        let stand_ins: Vec<(&str, u64)> = tally
            .stand_ins()
            .filter(|(text, _)| stands_out(text, column, tally))
            .collect();
        for (text, n) in &stand_ins {
            odd(format!("{} {text}, which may stand for \"not known\"", have(*n)));
        }
        let (low, high) = tally.facts().own_range;
        if column.kind == Kind::Number && is_age(&column.name) {
            if low < 0.0 {
                odd("has ages below 0".to_owned());
            }
            if high > OLDEST {
                odd("has ages above 120".to_owned());
            }
        }
        let numbers = tally.share_that(looks::NUMBER);
        if column.kind == Kind::Category
            && (0.5..1.0).contains(&numbers)
            && !coded(tally)
        {
            let others = (1.0 - numbers) * (1.0 - column.missing) * rows as f64;
            let others = (others.round() as u64).max(1);
            odd(format!(
                "mixes types: most values are numbers, {} words",
                have(others)
            ));
        }
        let (ones, twos) = (tally.values_of(1), tally.values_of(2));
        let nearly = column.role == Role::Identifier && column.unique_share > 0.9;
        if nearly && column.unique_share < 1.0 - column.missing - 1e-12 && twos > 0 {
            let repeated = column.distinct.saturating_sub(ones);
            odd(format!("repeats: {repeated} of its values stand in several rows"));
        }
        if column.ambiguous_dates {
            odd("days and months could be the other way round".to_owned());
        }
    }
    oddities
}

/// The texts that stand for "not known" wherever they occur: nowhere could they be values.
pub(super) fn stand_ins(
    columns: &[ColumnFindings],
    tallies: &[Tally],
) -> Vec<&'static str> {
    let both = || columns.iter().zip(tallies);
    let always = |text: &&str| {
        let mut with = both()
            .filter(|(_, tally)| tally.stand_ins().any(|(found, _)| found == *text));
        let mut any = false;
        with.all(|(column, tally)| {
            any = true;
            stands_out(text, column, tally)
        }) && any
    };
    STAND_INS.into_iter().filter(always).collect()
}

/// Whether a number or day is so far from all others that it cannot be one of them.
fn stands_out(text: &str, column: &ColumnFindings, tally: &Tally) -> bool {
    let (low, high) = tally.facts().own_range;
    let published = !matches!(column.role, Role::Identifier);
    match (tally.kind().0, text.parse::<f64>()) {
        // Codes may be anything.
        (Kind::Number, Ok(number)) if published && column.kind == Kind::Number => {
            let span = (high - low).max(1.0);
            let other = column.distinct > 2 && low.is_finite();
            let below = number < 0.0 && low >= 0.0;
            let nines = number > 0.0 && number > high + span.max(5.0);
            let old = is_age(&column.name) && number > OLDEST;
            other && (below || nines || old)
        }
        (Kind::Date, Err(_)) => text.contains('-') && column.distinct > 2,
        _ => false,
    }
}

/// Whether numbers are codes of diagnoses, some of which have letters, or ranges.
fn coded(tally: &Tally) -> bool {
    tally.share_that(looks::ICD9) > 0.9 && tally.share_that(looks::MARKED_CODE) > 0.0
}

fn have(rows: u64) -> String {
    match rows {
        1 => "1 row has".to_owned(),
        n => format!("{n} rows have"),
    }
}
