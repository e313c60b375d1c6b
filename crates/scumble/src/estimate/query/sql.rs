//! Questions in SQL: `SELECT disease, COUNT(*) FROM release WHERE age > 30 GROUP BY
//! disease`.
//!
//! # Guarantee
//! What is accepted means what it means in SQL, with the true table in place of the
//! published one. What is not understood is refused, never passed over.
//!
//! # Limits
//! One `SELECT` of columns and of `COUNT(*)`, `COUNT(column)`, `SUM(column)`, `AVG(column)`,
//! `SHARE(condition)` or `SHARE(*)`; `WHERE` with comparisons of a column and a value,
//! `BETWEEN`, `IN`, `LIKE`, `IS NULL`, `IS TRUE`, `AND`, `OR`, `NOT`; `GROUP BY`, `ORDER BY`
//! columns and numbers of the answer, `LIMIT`. A column can be `CELL(column)`: its cell as it
//! is published. `FROM` may name anything. Words compare by their bytes.
//!
//! # Cost
//! That of the text.
//!
//! # Source
//! docs/methods.md, "Estimation".

mod order;
mod script;

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    GroupByExpr, Ident, Select, SelectItem, SetExpr, TableFactor, UnaryOperator, Value,
};

use crate::error::{Error, Result};
use crate::estimate::query::sql::order::{limited_to, sorted_by};
use crate::estimate::query::{
    Ask, Check, Comparison, Condition, Literal, Measure, Pattern, Query, Test,
};
use crate::table::parse_number;

impl Query {
    /// Reads a question that asks for one number, of all rows or of each group.
    pub fn parse(text: &str) -> Result<Self> {
        let mut all = Self::parse_all(text)?;
        match (all.pop(), all.is_empty()) {
            (Some((_, query)), true) => Ok(query),
            _ => Err(Error::recipe("the question asks for several numbers")
                .with_hint("ask for the others in questions of their own")),
        }
    }

    /// Reads a question: the numbers it asks for, and what each is called in it.
    pub fn parse_all(text: &str) -> Result<Vec<(String, Self)>> {
        let ask = Ask::parse(text)?;
        match ask.order.is_empty() && ask.limit.is_none() {
            true => Ok(ask.numbers),
            false => Err(not_understood(&"ORDER BY, or LIMIT")),
        }
    }
}

const EXAMPLE: &str = "for example: SELECT disease, COUNT(*) FROM release WHERE age > 30 GROUP BY disease";

const UNDERSTOOD: &str = "a question asks for COUNT, SUM, AVG or SHARE, with comparisons, BETWEEN, IN, LIKE, IS NULL, AND, OR, NOT, GROUP BY, ORDER BY and LIMIT";

const QUOTES: &str = "write text in 'single quotes'";

fn not_understood(part: &dyn std::fmt::Display) -> Error {
    unreadable(part).with_hint(UNDERSTOOD)
}

/// That a comparison is not understood, perhaps because a text is not in quotes.
fn no_value(part: &dyn std::fmt::Display, value: &Expr) -> Error {
    match value {
        Expr::Identifier(_) => unreadable(part).with_hint(QUOTES),
        Expr::Nested(inner) => no_value(part, inner),
        _ => not_understood(part),
    }
}

fn unreadable(part: &dyn std::fmt::Display) -> Error {
    let mut part = part.to_string();
    if part.chars().count() > 60 {
        part = part.chars().take(60).chain("...".chars()).collect();
    }
    Error::recipe(format!("`{part}` is not understood"))
}

fn query_of(mut query: sqlparser::ast::Query, text: String) -> Result<Ask> {
    let (order_by, limit) = (query.order_by.take(), query.limit_clause.take());
    let SetExpr::Select(select) = &mut *query.body else {
        return Err(not_understood(&query.body));
    };
    // What is understood is taken out; what is left must be nothing.
    let projection = std::mem::take(&mut select.projection);
    let condition = select.selection.take();
    let group_by = std::mem::replace(
        &mut select.group_by,
        GroupByExpr::Expressions(Vec::new(), Vec::new()),
    );
    for (number, table) in std::mem::take(&mut select.from).iter().enumerate() {
        // A name and perhaps an alias; whatever else there may be shows in the text.
        let plain = match &table.relation {
            TableFactor::Table { name, alias, .. } => {
                let text = table.to_string();
                let named = |alias: &str| text == format!("{name}{alias}");
                match alias {
                    None => named(""),
                    Some(alias) => {
                        let alias = &alias.name;
                        named(&format!(" {alias}")) || named(&format!(" AS {alias}"))
                    }
                }
            }
            _ => false,
        };
        if number > 0 || !plain {
            return Err(not_understood(&format!("FROM {table}")));
        }
    }
    rest_is_empty(select)?;
    let rest = query.to_string();
    if rest.trim() != "SELECT" {
        return Err(not_understood(&rest.trim_start_matches("SELECT").trim()));
    }

    let group_by = match group_by {
        GroupByExpr::Expressions(columns, modifiers) if modifiers.is_empty() => {
            columns.iter().map(column_of).collect::<Result<Vec<String>>>()?
        }
        other => return Err(not_understood(&other)),
    };
    let condition = condition.as_ref().map(condition_of).transpose()?;
    let (asked, selected) = measured(projection, &group_by)?;
    let query = |(name, measure, known): (String, Measure, Option<Condition>)| {
        let mut conditions: Vec<Condition> = condition.iter().cloned().collect();
        conditions.extend(known);
        let condition = match conditions.len() {
            1 => conditions.remove(0),
            _ => Condition::And(conditions),
        };
        (name, Query { measure, group_by: group_by.clone(), condition })
    };
    let numbers: Vec<(String, Query)> = asked.into_iter().map(query).collect();
    let order =
        order_by.map_or(Ok(Vec::new()), |by| sorted_by(&by, &selected, &numbers))?;
    let limit = limit.as_ref().map(limited_to).transpose()?;
    Ok(Ask { text, numbers, order, limit })
}

/// That nothing stands in a select that its text would not show.
fn rest_is_empty(select: &Select) -> Result<()> {
    match &select.distinct {
        Some(_) => Err(not_understood(&"DISTINCT")),
        None => Ok(()),
    }
}

/// A number that is asked for: what it is called, what it is, and what that adds to the
/// condition.
type AskedNumber = (String, Measure, Option<Condition>);

/// Checks what is selected: the numbers, and what everything is called in its order.
fn measured(
    projection: Vec<SelectItem>,
    group_by: &[String],
) -> Result<(Vec<AskedNumber>, Vec<String>)> {
    let mut asked: Vec<AskedNumber> = Vec::new();
    let mut selected = Vec::new();
    for item in projection {
        let (expression, alias) = match item {
            SelectItem::UnnamedExpr(expression) => (expression, None),
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias.value)),
            other => return Err(not_understood(&other)),
        };
        match &expression {
            Expr::Function(function) if !is_cell(function) => {
                let (measure, column) = measure_of(function)?;
                let known = column.map(|column| {
                    let test = Condition::Test(Test { column, check: Check::Missing });
                    Condition::Not(Box::new(test))
                });
                let name = alias.unwrap_or_else(|| function.to_string());
                if asked.iter().any(|(other, ..)| *other == name) {
                    return Err(Error::recipe(format!("`{name}` is asked for twice")));
                }
                selected.push(name.clone());
                asked.push((name, measure, known));
            }
            other => {
                let name = column_of(other)?;
                if !group_by.contains(&name) {
                    return Err(Error::recipe(format!(
                        "`{name}` is selected, but not in `GROUP BY`"
                    )));
                }
                selected.push(name);
            }
        }
    }
    if asked.is_empty() {
        return Err(Error::recipe("nothing is counted").with_hint(EXAMPLE));
    }
    Ok((asked, selected))
}

/// What is asked, and the column of which it is, unless rows are counted.
fn measure_of(function: &Function) -> Result<(Measure, Option<String>)> {
    let plain = function.filter.is_none()
        && function.over.is_none()
        && function.null_treatment.is_none()
        && function.within_group.is_empty()
        && matches!(function.parameters, FunctionArguments::None);
    let unknown = || not_understood(function);
    let FunctionArguments::List(list) = &function.args else {
        return Err(unknown());
    };
    if !plain || list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
        return Err(unknown());
    }
    let name = function.name.to_string().to_ascii_lowercase();
    let column = match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] => None,
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(column))] => Some(column),
        _ => return Err(unknown()),
    };
    match (name.as_str(), column) {
        ("share", None) => Ok((Measure::Share(None), None)),
        ("share", Some(part)) => Ok((Measure::Share(Some(condition_of(part)?)), None)),
        ("count", None) => Ok((Measure::Count, None)),
        ("count", Some(column)) => Ok((Measure::Count, Some(column_of(column)?))),
        ("sum", Some(column)) => {
            let column = column_of(column)?;
            Ok((Measure::Sum(column.clone()), Some(column)))
        }
        ("avg", Some(column)) => {
            let column = column_of(column)?;
            Ok((Measure::Mean(column.clone()), Some(column)))
        }
        _ => Err(unknown()),
    }
}

fn column_of(expression: &Expr) -> Result<String> {
    match expression {
        Expr::Identifier(Ident { value, .. }) => Ok(value.clone()),
        // A table before it is the release.
        Expr::CompoundIdentifier(parts) if parts.len() == 2 => {
            Ok(parts[1].value.clone())
        }
        Expr::Nested(inner) => column_of(inner),
        Expr::Function(function) if is_cell(function) => match &function.args {
            FunctionArguments::List(list) => match list.args.as_slice() {
                [FunctionArg::Unnamed(FunctionArgExpr::Expr(column))] => {
                    Ok(format!("CELL({})", column_of(column)?))
                }
                _ => Err(not_understood(function)),
            },
            _ => Err(not_understood(function)),
        },
        other => Err(not_understood(other)),
    }
}

/// Whether a function is the published cell of a column.
fn is_cell(function: &Function) -> bool {
    function.name.to_string().eq_ignore_ascii_case("cell")
}

fn condition_of(expression: &Expr) -> Result<Condition> {
    let negated = |condition, negated: bool| {
        if negated { Condition::Not(Box::new(condition)) } else { condition }
    };
    match expression {
        Expr::Nested(inner) => condition_of(inner),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => {
            Ok(negated(condition_of(expr)?, true))
        }
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            Ok(Condition::And(vec![condition_of(left)?, condition_of(right)?]))
        }
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
            Ok(Condition::Or(vec![condition_of(left)?, condition_of(right)?]))
        }
        Expr::BinaryOp { left, op, right } => {
            let unknown = || not_understood(expression);
            let comparison = comparison_of(op).ok_or_else(unknown)?;
            let (column, comparison, literal) =
                match (literal_of(left), literal_of(right)) {
                    (Err(_), Ok(literal)) => (left, comparison, literal),
                    (Ok(literal), Err(_)) => (right, turned(comparison), literal),
                    (Err(_), Err(_)) if column_of(left).is_ok() => {
                        return Err(no_value(expression, right));
                    }
                    _ => return Err(unknown()),
                };
            let column = column_of(column).map_err(|_| unknown())?;
            Ok(Condition::Test(Test {
                column,
                check: Check::Compare(comparison, literal),
            }))
        }
        Expr::Between { expr, negated: not, low, high } => {
            let column = column_of(expr)?;
            let test = |comparison, bound: &Expr| {
                let check = Check::Compare(comparison, literal_of(bound)?);
                Ok(Condition::Test(Test { column: column.clone(), check }))
            };
            let both =
                vec![test(Comparison::AtLeast, low)?, test(Comparison::AtMost, high)?];
            Ok(negated(Condition::And(both), *not))
        }
        Expr::InList { expr, list, negated: not } => {
            let literals = list.iter().map(literal_of).collect::<Result<_>>()?;
            let test = Test { column: column_of(expr)?, check: Check::Among(literals) };
            Ok(negated(Condition::Test(test), *not))
        }
        Expr::Like { negated: not, any: false, expr, pattern, escape_char: None } => {
            let pattern = match literal_of(pattern) {
                Ok(Literal::Text(text)) => Pattern::new(&text)?,
                _ => return Err(no_value(expression, pattern)),
            };
            let test = Test { column: column_of(expr)?, check: Check::Like(pattern) };
            Ok(negated(Condition::Test(test), *not))
        }
        Expr::IsTrue(inner) | Expr::IsNotTrue(inner) => {
            let not = Condition::NotTrue(Box::new(condition_of(inner)?));
            let twice = matches!(expression, Expr::IsTrue(_));
            Ok(if twice { Condition::NotTrue(Box::new(not)) } else { not })
        }
        Expr::IsNull(column) | Expr::IsNotNull(column) => {
            let test = Test { column: column_of(column)?, check: Check::Missing };
            let not = matches!(expression, Expr::IsNotNull(_));
            Ok(negated(Condition::Test(test), not))
        }
        other => Err(not_understood(other)),
    }
}

fn comparison_of(operator: &BinaryOperator) -> Option<Comparison> {
    Some(match operator {
        BinaryOperator::Eq => Comparison::Equal,
        BinaryOperator::NotEq => Comparison::NotEqual,
        BinaryOperator::Lt => Comparison::Less,
        BinaryOperator::LtEq => Comparison::AtMost,
        BinaryOperator::Gt => Comparison::Greater,
        BinaryOperator::GtEq => Comparison::AtLeast,
        _ => return None,
    })
}

/// The comparison with its sides exchanged.
fn turned(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::AtMost => Comparison::AtLeast,
        Comparison::Greater => Comparison::Less,
        Comparison::AtLeast => Comparison::AtMost,
        same => same,
    }
}

fn literal_of(expression: &Expr) -> Result<Literal> {
    let unknown = || no_value(expression, expression);
    match expression {
        Expr::Nested(inner) => literal_of(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match literal_of(expr)? {
            Literal::Number(number) => Ok(Literal::Number(-number)),
            Literal::Text(_) => Err(unknown()),
        },
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => {
                parse_number(text).map(Literal::Number).ok_or_else(unknown)
            }
            Value::SingleQuotedString(text) => Ok(Literal::Text(text.clone())),
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}

#[cfg(test)]
#[path = "sql_tests.rs"]
mod tests;
