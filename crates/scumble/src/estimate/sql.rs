//! Questions in SQL: `SELECT disease, COUNT(*) FROM release WHERE age > 30 GROUP BY
//! disease`.
//!
//! # Guarantee
//! What is accepted means what it means in SQL, with the true table in place of the
//! published one. What is not understood is refused, never passed over.
//!
//! # Limits
//! One `SELECT` of columns and `COUNT(*)` or `COUNT(column)`; `WHERE` with comparisons of a
//! column and a value, `BETWEEN`, `IN`, `IS NULL`, `AND`, `OR`, `NOT`; `GROUP BY`. `FROM`
//! may name anything. Words compare by their bytes.
//!
//! # Cost
//! That of the text.
//!
//! # Source
//! METHODS F.

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    GroupByExpr, Ident, Select, SelectItem, SetExpr, Statement, UnaryOperator, Value,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

use crate::error::{Error, Result};
use crate::estimate::query::{Check, Comparison, Condition, Literal, Query, Test};
use crate::table::parse_number;

/// The most words and signs, values in lists aside: the parser goes as deep as they do.
const MOST_TOKENS: usize = 2000;

impl Query {
    /// Reads a question.
    pub fn parse(text: &str) -> Result<Self> {
        let malformed = |error: &dyn std::fmt::Display| {
            let words = error.to_string();
            let words = words.trim_start_matches("sql parser error: ");
            Error::recipe(format!("this is not SQL: {words}")).with_hint(EXAMPLE)
        };
        let dialect = GenericDialect {};
        let tokens = Tokenizer::new(&dialect, text)
            .tokenize()
            .map_err(|error| malformed(&error))?;
        let deep = |token: &&Token| {
            !matches!(
                token,
                Token::Whitespace(_)
                    | Token::Comma
                    | Token::Number(..)
                    | Token::SingleQuotedString(_)
            )
        };
        if tokens.iter().filter(deep).count() > MOST_TOKENS {
            return Err(Error::recipe("the question is too long")
                .with_hint("many values of a column fit in `IN (...)`"));
        }
        let mut statements = Parser::new(&dialect)
            .with_tokens(tokens)
            .parse_statements()
            .map_err(|error| malformed(&error))?;
        match (statements.pop(), statements.is_empty()) {
            (Some(Statement::Query(query)), true) => query_of(*query),
            (Some(other), true) => Err(not_understood(&other)),
            _ => Err(Error::recipe("ask one question at a time").with_hint(EXAMPLE)),
        }
    }
}

const EXAMPLE: &str = "for example: SELECT disease, COUNT(*) FROM release WHERE age > 30 GROUP BY disease";

fn not_understood(part: &dyn std::fmt::Display) -> Error {
    let mut part = part.to_string();
    if part.chars().count() > 60 {
        part = part.chars().take(60).chain("...".chars()).collect();
    }
    Error::recipe(format!("`{part}` is not understood")).with_hint(EXAMPLE)
}

fn query_of(mut query: sqlparser::ast::Query) -> Result<Query> {
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
    for table in std::mem::take(&mut select.from) {
        if !table.joins.is_empty() {
            return Err(not_understood(&table));
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
    let mut conditions =
        condition.iter().map(condition_of).collect::<Result<Vec<_>>>()?;
    conditions.extend(counted(projection, &group_by)?);
    let condition = match conditions.len() {
        1 => conditions.remove(0),
        _ => Condition::And(conditions),
    };
    Ok(Query { group_by, condition })
}

/// That nothing stands in a select that its text would not show.
fn rest_is_empty(select: &Select) -> Result<()> {
    match &select.distinct {
        Some(_) => Err(not_understood(&"DISTINCT")),
        None => Ok(()),
    }
}

/// Checks what is selected, and what counting a column adds to the condition.
fn counted(
    projection: Vec<SelectItem>,
    group_by: &[String],
) -> Result<Option<Condition>> {
    let mut count = None;
    for item in projection {
        let expression = match item {
            SelectItem::UnnamedExpr(expression)
            | SelectItem::ExprWithAlias { expr: expression, .. } => expression,
            other => return Err(not_understood(&other)),
        };
        match &expression {
            Expr::Function(function) if count.is_none() => {
                count = Some(count_of(function)?);
            }
            Expr::Function(_) => {
                return Err(Error::recipe("one `COUNT(*)` is enough"));
            }
            other => {
                let name = column_of(other)?;
                if !group_by.contains(&name) {
                    return Err(Error::recipe(format!(
                        "`{name}` is selected, but not in `GROUP BY`"
                    )));
                }
            }
        }
    }
    let missing = || Error::recipe("nothing is counted").with_hint(EXAMPLE);
    Ok(count.ok_or_else(missing)?.map(|column| {
        let test = Condition::Test(Test { column, check: Check::Missing });
        Condition::Not(Box::new(test))
    }))
}

/// The column that is counted, or nothing if rows are.
fn count_of(function: &Function) -> Result<Option<String>> {
    let plain = function.filter.is_none()
        && function.over.is_none()
        && function.null_treatment.is_none()
        && function.within_group.is_empty()
        && matches!(function.parameters, FunctionArguments::None);
    let is_count = function.name.to_string().eq_ignore_ascii_case("count");
    match &function.args {
        FunctionArguments::List(list)
            if plain
                && is_count
                && list.duplicate_treatment.is_none()
                && list.clauses.is_empty() =>
        {
            match list.args.as_slice() {
                [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] => Ok(None),
                [FunctionArg::Unnamed(FunctionArgExpr::Expr(column))] => {
                    column_of(column).map(Some)
                }
                _ => Err(not_understood(function)),
            }
        }
        _ => Err(not_understood(function)),
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
        other => Err(not_understood(other)),
    }
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
    let unknown = || not_understood(expression);
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
mod tests {
    use super::*;

    fn parsed(text: &str) -> Query {
        Query::parse(text).unwrap()
    }

    fn refused(text: &str) -> String {
        Query::parse(text).unwrap_err().to_string()
    }

    fn test(column: &str, comparison: Comparison, literal: Literal) -> Condition {
        let check = Check::Compare(comparison, literal);
        Condition::Test(Test { column: column.into(), check })
    }

    #[test]
    fn counts_are_understood() {
        let all = Query { group_by: Vec::new(), condition: Condition::always() };
        assert_eq!(parsed("select count(*)"), all);
        assert_eq!(parsed("SELECT COUNT(*) AS n FROM anything;"), all);
        let query = parsed(
            "SELECT disease, COUNT(*) FROM release r WHERE r.age > 30 GROUP BY disease",
        );
        assert_eq!(query.group_by, ["disease"]);
        let old = test("age", Comparison::Greater, Literal::Number(30.0));
        assert_eq!(query.condition, old);
        let known = parsed("SELECT COUNT(disease) FROM t").condition;
        let missing = Test { column: "disease".into(), check: Check::Missing };
        assert_eq!(known, Condition::Not(Box::new(Condition::Test(missing))));
    }

    #[test]
    fn conditions_are_understood() {
        let condition = |text: &str| {
            parsed(&format!("SELECT COUNT(*) FROM t WHERE {text}")).condition
        };
        let x = |comparison, number| test("x", comparison, Literal::Number(number));
        assert_eq!(condition("-3 <= x"), x(Comparison::AtLeast, -3.0));
        assert_eq!(
            condition("x BETWEEN 1 AND 2.5"),
            Condition::And(vec![
                x(Comparison::AtLeast, 1.0),
                x(Comparison::AtMost, 2.5)
            ])
        );
        let among =
            Check::Among(vec![Literal::Text("a'b".into()), Literal::Number(2.0)]);
        let among = Condition::Test(Test { column: "the x".into(), check: among });
        let not_among = Condition::Not(Box::new(among));
        assert_eq!(condition("\"the x\" NOT IN ('a''b', 2)"), not_among);
        let either = Condition::Or(vec![x(Comparison::Less, 1.0), not_among.clone()]);
        assert_eq!(condition("x < 1 OR (\"the x\" NOT IN ('a''b', 2))"), either);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, part) in [
            ("SELECT * FROM t", "*"),
            ("SELECT SUM(x) FROM t", "SUM(x)"),
            ("SELECT COUNT(DISTINCT x) FROM t", "COUNT(DISTINCT x)"),
            (
                "SELECT COUNT(*) FILTER (WHERE x = 1) FROM t",
                "COUNT(*) FILTER (WHERE x = 1)",
            ),
            ("SELECT DISTINCT COUNT(*) FROM t", "DISTINCT"),
            ("SELECT COUNT(*) FROM t JOIN u ON a = b", "t JOIN u ON a = b"),
            ("SELECT COUNT(*) FROM t WHERE x LIKE 'a%'", "x LIKE 'a%'"),
            ("SELECT COUNT(*) FROM t WHERE x = y", "x = y"),
            ("SELECT COUNT(*) FROM t WHERE 1 = 1", "1 = 1"),
            ("SELECT COUNT(*) FROM t WHERE x + 1 = 2", "x + 1 = 2"),
            ("SELECT COUNT(*) FROM t WHERE x = NULL", "x = NULL"),
            ("SELECT COUNT(*) FROM t WHERE x IN (SELECT 1)", "x IN (SELECT 1)"),
            ("SELECT COUNT(*) FROM t GROUP BY x + 1", "x + 1"),
            ("SELECT x, COUNT(*) FROM t GROUP BY ALL", "GROUP BY ALL"),
            ("SELECT COUNT(*) FROM t HAVING COUNT(*) > 1", "HAVING COUNT(*) > 1"),
            ("SELECT COUNT(*) FROM t ORDER BY 1", "ORDER BY 1"),
            ("SELECT COUNT(*) FROM t LIMIT 5", "LIMIT 5"),
            (
                "SELECT COUNT(*) UNION SELECT COUNT(*)",
                "SELECT COUNT(*) UNION SELECT COUNT(*)",
            ),
            ("DROP TABLE t", "DROP TABLE t"),
        ] {
            assert_eq!(refused(text), format!("`{part}` is not understood"), "{text}");
        }
        assert_eq!(refused("SELECT x FROM t GROUP BY x"), "nothing is counted");
        let message = "`x` is selected, but not in `GROUP BY`";
        assert_eq!(refused("SELECT x, COUNT(*) FROM t"), message);
        assert_eq!(refused("SELECT COUNT(*), COUNT(*)"), "one `COUNT(*)` is enough");
        assert_eq!(
            refused("SELECT COUNT(*); SELECT COUNT(*)"),
            "ask one question at a time"
        );
        assert_eq!(refused(""), "ask one question at a time");
        assert!(refused("SELEKT 1").starts_with("this is not SQL: Expected"));
        assert!(refused("SELECT 'a").starts_with("this is not SQL: Unterminated"));
    }

    #[test]
    fn deep_questions_are_refused_and_long_lists_are_not() {
        let chain = "x = 1 AND ".repeat(3000);
        let message = "the question is too long";
        assert_eq!(refused(&format!("SELECT COUNT(*) WHERE {chain} x = 1")), message);
        let deep = format!("SELECT COUNT(*) WHERE {}x = 1", "NOT ".repeat(900));
        assert!(Query::parse(&deep).is_err());
        let list = vec!["'a'"; 20_000].join(", ");
        parsed(&format!("SELECT COUNT(*) WHERE x IN ({list})"));
    }
}
