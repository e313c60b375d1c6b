//! Answers as text, CSV and JSON.

use std::collections::HashMap;

use scumble::estimate::{Basis, Estimate, Measure, Model, Query};
use scumble::release::Manifest;
use serde_json::{Map, Value, json};

use crate::estimate::{Answer, Reply, WayName};
use crate::output::{aligned, csv_line, grouped};
use crate::result::SCHEMA;

/// What the estimates of a question are called.
fn called(query: &Query) -> &'static str {
    match query.measure {
        Measure::Count => "count",
        Measure::Sum(_) => "sum",
        Measure::Mean(_) => "mean",
        Measure::Share(_) => "share",
    }
}

/// What all answers have in common.
pub(super) struct About {
    /// How noise is undone.
    pub(super) way: &'static str,
    /// Rows of the release.
    pub(super) rows: u64,
    /// Rows of the table that are not in it.
    pub(super) left_out: u64,
}

/// The answer to one question.
pub(super) fn as_json(about: &About, reply: &Reply) -> Value {
    json!({
        "schema": SCHEMA,
        "question": reply.ask.text,
        "way": about.way,
        "rows": about.rows,
        "estimates": estimates(about, &reply.answers),
        "notes": reply.notes,
    })
}

/// The answers to the questions of a file.
pub(super) fn all_as_json(about: &About, replies: &[Reply]) -> Value {
    let one = |reply: &Reply| {
        json!({
            "question": reply.ask.text,
            "estimates": estimates(about, &reply.answers),
            "notes": reply.notes,
        })
    };
    json!({
        "schema": SCHEMA,
        "way": about.way,
        "rows": about.rows,
        "questions": replies.iter().map(one).collect::<Vec<Value>>(),
    })
}

/// Every number has the same keys, whatever it is, and its value also under the name of what
/// it is.
fn estimates(about: &About, answers: &[Answer]) -> Vec<Value> {
    let estimates = in_order(answers).map(|(answer, estimate)| {
        let names = answer.query.group_by.iter().cloned();
        let values: Map<String, Value> =
            names.zip(estimate.values.iter().map(|text| json!(text))).collect();
        let (low, high) = estimate.possible_interval().unzip();
        let (uncut_low, uncut_high) = estimate.interval().unzip();
        json!({
            "values": values,
            "number": answer.name,
            "measure": called(&answer.query),
            "estimate": rounded(estimate.count),
            called(&answer.query): rounded(estimate.count),
            "unbiased": estimate.unbiased.map(rounded),
            "standard_error": estimate.standard_error.map(rounded),
            "low": low.map(rounded),
            "high": high.map(rounded),
            "uncut_low": uncut_low.map(rounded),
            "uncut_high": uncut_high.map(rounded),
            "at_least": limit(estimate.at_least),
            "at_most": limit(at_most(&answer.query, estimate, about.left_out)),
            "basis": basis(estimate),
            "model": answer.model.map(Model::name),
        })
    });
    estimates.collect()
}

/// What the error of an estimate rests on.
fn basis(estimate: &Estimate) -> &'static str {
    match estimate.basis {
        Basis::Law => "law",
        Basis::Calibrated => "calibrated",
        Basis::Limits => "limits",
    }
}

/// The most that the table can have: rows that were left out may be of any kind.
fn at_most(query: &Query, estimate: &Estimate, left_out: u64) -> f64 {
    match query.measure {
        Measure::Count => estimate.at_most + left_out as f64,
        _ => estimate.at_most,
    }
}

/// A number that the truth cannot be beyond, if there is one.
fn limit(number: f64) -> Option<f64> {
    number.is_finite().then(|| rounded(number))
}

/// The estimates group by group, for each group in the order of the question.
fn in_order(answers: &[Answer]) -> impl Iterator<Item = (&Answer, &Estimate)> {
    let mut groups: Vec<&[String]> = Vec::new();
    let mut places: HashMap<&[String], usize> = HashMap::new();
    let mut all = Vec::new();
    for (number, answer) in answers.iter().enumerate() {
        for estimate in &answer.estimates {
            let place = *places.entry(&estimate.values).or_insert_with(|| {
                groups.push(&estimate.values);
                groups.len() - 1
            });
            all.push((place, number, answer, estimate));
        }
    }
    all.sort_by_key(|(place, number, ..)| (*place, *number));
    all.into_iter().map(|(_, _, answer, estimate)| (answer, estimate))
}

pub(super) fn as_csv(answers: &[Answer]) -> String {
    let several = answers.len() > 1;
    let mut header = answers.first().map_or(Vec::new(), |a| a.query.group_by.clone());
    match answers {
        [answer] => header.push(called(&answer.query).to_owned()),
        _ => header.extend(["number", "estimate"].map(str::to_owned)),
    }
    header.extend(["standard_error", "low", "high"].map(str::to_owned));
    let rows = in_order(answers).map(|(answer, estimate)| {
        let (low, high) = estimate.possible_interval().unzip();
        let numbers = [Some(estimate.count), estimate.standard_error, low, high];
        let numbers =
            numbers.map(|n| n.map_or_else(String::new, |n| rounded(n).to_string()));
        let name = several.then(|| answer.name.clone());
        estimate
            .values
            .iter()
            .cloned()
            .chain(name)
            .chain(numbers)
            .collect::<Vec<String>>()
    });
    std::iter::once(header).chain(rows).map(|cells| csv_line(&cells)).collect()
}

/// A number with at most six decimals: further ones are noise of the machine.
fn rounded(number: f64) -> f64 {
    // Minus zero is zero.
    (number * 1e6).round() / 1e6 + 0.0
}

/// The values of an answer, as people read them.
fn labels(manifest: &Manifest, query: &Query, estimate: &Estimate) -> Vec<String> {
    let label = |(text, name): (&String, &String)| {
        // An empty value of a column that has no empty value for "missing" is a value.
        let column =
            manifest.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name));
        let missing = column.is_some_and(|column| column.reading().is_missing(""));
        match (text.as_str(), missing) {
            ("", true) => "(missing)".to_owned(),
            ("", false) => "''".to_owned(),
            _ => text.clone(),
        }
    };
    estimate.values.iter().zip(&query.group_by).map(label).collect()
}

pub(super) fn as_text(
    manifest: &Manifest,
    left_out: u64,
    answers: &[Answer],
    way: Option<WayName>,
) -> String {
    let several = answers.len() > 1;
    let mut header = answers.first().map_or(Vec::new(), |a| a.query.group_by.clone());
    header.extend(several.then(|| "number".to_owned()));
    header.extend(["estimate", "± s.e.", "95 % interval"].map(str::to_owned));
    // Where nothing is random, the truth has limits.
    let limited = |(answer, estimate): (&Answer, &Estimate)| {
        answer.query.measure == Measure::Count && estimate.at_least < estimate.at_most
    };
    let limits = way.is_none() && in_order(answers).any(limited);
    header.extend(limits.then(|| "never outside".to_owned()));
    let digits: HashMap<&str, Option<usize>> = answers
        .iter()
        .map(|a| (a.name.as_str(), decimals(&a.query, &a.estimates)))
        .collect();
    let (mut cells, mut counts, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    let (mut intervals, mut beyond) = (Vec::new(), Vec::new());
    for (answer, estimate) in in_order(answers) {
        let amount =
            |number: f64| match digits.get(answer.name.as_str()).copied().flatten() {
                None => amount(number),
                Some(decimals) => decimal(number, decimals),
            };
        let mut own = labels(manifest, &answer.query, estimate);
        own.extend(several.then(|| answer.name.clone()));
        cells.push(own);
        counts.push(amount(estimate.count));
        let error = estimate.standard_error;
        errors.push(error.map_or_else(|| "unknown".to_owned(), amount));
        // What is possible of a count below zero would look certain.
        let interval = match way {
            Some(WayName::Inverse) => estimate.interval(),
            _ => estimate.possible_interval(),
        };
        intervals.push(match (error, interval) {
            (Some(0.0), _) if way.is_some() || !limited((answer, estimate)) => {
                "exact".to_owned()
            }
            _ if estimate.basis == Basis::Limits => "unknown".to_owned(),
            (_, Some((low, high))) => format!("{} to {}", amount(low), amount(high)),
            _ => "unknown".to_owned(),
        });
        beyond.push(match limited((answer, estimate)) {
            true => {
                format!(
                    "{} to {}",
                    amount(estimate.at_least),
                    amount(at_most(&answer.query, estimate, left_out))
                )
            }
            false => String::new(),
        });
    }
    let (counts, errors) = (to_the_right(counts, 8), to_the_right(errors, 6));
    let rows = cells.into_iter().zip(counts).zip(errors).zip(intervals).zip(beyond);
    let rows = rows.map(|((((mut cells, count), error), interval), beyond)| {
        cells.extend([count, error, interval]);
        cells.extend(limits.then_some(beyond));
        cells
    });
    aligned(&std::iter::once(header).chain(rows).collect::<Vec<Vec<String>>>())
}

/// A number of rows with at most one decimal, and with none if it is large.
pub(super) fn amount(number: f64) -> String {
    let tenths = (number.abs() * 10.0).round();
    let sign = if number < 0.0 && tenths > 0.0 { "-" } else { "" };
    if number.abs() >= 100.0 || tenths % 10.0 == 0.0 {
        format!("{sign}{}", grouped(number.abs().round() as u64))
    } else {
        format!("{sign}{:.1}", tenths / 10.0)
    }
}

/// How many decimals sums and means are shown with: two digits of the smallest error.
/// Nothing for counts.
fn decimals(query: &Query, estimates: &[Estimate]) -> Option<usize> {
    if query.measure == Measure::Count {
        return None;
    }
    let errors = estimates.iter().filter_map(|estimate| estimate.standard_error);
    let least = errors.filter(|error| *error > 0.0).fold(f64::INFINITY, f64::min);
    let digits = if least.is_finite() { 1.0 - least.log10().floor() } else { 3.0 };
    Some(digits.clamp(0.0, 6.0) as usize)
}

/// A number with so many decimals, and commas.
fn decimal(number: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", number.abs());
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let zero = text.bytes().all(|byte| byte == b'0' || byte == b'.');
    let sign = if number < 0.0 && !zero { "-" } else { "" };
    let point = if rest.is_empty() { "" } else { "." };
    match whole.parse() {
        Ok(whole) => format!("{sign}{}{point}{rest}", grouped(whole)),
        Err(_) => format!("{number:e}"),
    }
}

/// Texts that end below each other.
fn to_the_right(texts: Vec<String>, least: usize) -> Vec<String> {
    let widths = texts.iter().map(|text| text.chars().count());
    let width = widths.max().unwrap_or(0).max(least);
    texts.into_iter().map(|text| format!("{text:>width$}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        assert_eq!(amount(12_345.6), "12,346");
        assert_eq!(amount(-12.34), "-12.3");
        assert_eq!(amount(-0.04), "0");
        assert_eq!(amount(-250.0), "-250");
        assert_eq!(amount(9.97), "10");
        assert_eq!(decimal(-12_345.678, 1), "-12,345.7");
        assert_eq!(decimal(-0.04, 1), "0.0");
        assert_eq!(decimal(1e30, 0), "1e30");
    }
}
