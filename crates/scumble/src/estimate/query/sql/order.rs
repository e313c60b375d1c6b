//! `ORDER BY` and `LIMIT`.

use sqlparser::ast::{Expr, LimitClause, OrderBy, OrderByExpr, OrderByKind, Value};

use crate::error::Result;
use crate::estimate::query::sql::{
    column_of, is_cell, measure_of, not_understood, unreadable,
};
use crate::estimate::query::{Query, SortBy, SortKey};

/// What groups are sorted by: columns that are counted apart, numbers by what they are called,
/// or either by its place in the answer.
pub(super) fn sorted_by(
    order_by: &OrderBy,
    selected: &[String],
    numbers: &[(String, Query)],
) -> Result<Vec<SortKey>> {
    let (OrderByKind::Expressions(keys), None) =
        (&order_by.kind, &order_by.interpolate)
    else {
        return Err(not_understood(order_by));
    };
    let group_by = numbers.first().map_or(&[][..], |(_, query)| &query.group_by);
    let find = |name: &str| {
        let value = group_by.iter().position(|column| column == name);
        let number = || numbers.iter().position(|(called, _)| called == name);
        value.map(SortBy::Value).or_else(|| number().map(SortBy::Number))
    };
    let read = |key: &OrderByExpr| {
        let plain = key.options.nulls_first.is_none() && key.with_fill.is_none();
        let place = match &key.expr {
            Expr::Value(value) => match &value.value {
                Value::Number(text, _) => text.parse::<usize>().ok(),
                _ => None,
            },
            _ => None,
        };
        let by = match (place, &key.expr) {
            (Some(place), _) => {
                place.checked_sub(1).and_then(|place| find(selected.get(place)?))
            }
            (None, Expr::Function(function)) if !is_cell(function) => {
                // A number may have another name, but is known by what it is, too.
                let own = measure_of(function).ok().map(|(measure, _)| measure);
                let same =
                    |(_, query): &(String, Query)| Some(&query.measure) == own.as_ref();
                let found = find(&function.to_string());
                found.or_else(|| numbers.iter().position(same).map(SortBy::Number))
            }
            (None, other) => column_of(other).ok().and_then(|name| find(&name)),
        };
        match by.filter(|_| plain) {
            Some(by) => Ok(SortKey { by, descending: key.options.asc == Some(false) }),
            None => Err(unreadable(&format!("ORDER BY {key}")).with_hint(
                "name a column of `GROUP BY`, or a number that is selected, or its place",
            )),
        }
    };
    keys.iter().map(read).collect()
}

/// How many groups are wanted.
pub(super) fn limited_to(clause: &LimitClause) -> Result<usize> {
    let LimitClause::LimitOffset { limit: Some(limit), offset: None, limit_by } =
        clause
    else {
        return Err(not_understood(&clause.to_string().trim()));
    };
    let number = match limit {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => text.parse::<usize>().ok(),
            _ => None,
        },
        _ => None,
    };
    number
        .filter(|number| *number > 0 && limit_by.is_empty())
        .ok_or_else(|| not_understood(&clause.to_string().trim()))
}
