//! Questions that are understood, and what is said of others.

use super::*;
use crate::estimate::query::SortBy;

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
    let all = Query {
        measure: Measure::Count,
        group_by: Vec::new(),
        condition: Condition::always(),
    };
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
fn sums_are_of_known_numbers() {
    let known = parsed("SELECT COUNT(x) FROM t").condition;
    let sum = parsed("SELECT sum(x) FROM t");
    assert_eq!(sum.measure, Measure::Sum("x".into()));
    assert_eq!(sum.condition, known);
    let mean = parsed("SELECT city, AVG(r.x) FROM r GROUP BY city");
    assert_eq!(mean.measure, Measure::Mean("x".into()));
    assert_eq!((mean.measure.function(), mean.measure.column()), ("AVG", Some("x")));
    assert_eq!(mean.condition, known);
}

#[test]
fn conditions_are_understood() {
    let condition =
        |text: &str| parsed(&format!("SELECT COUNT(*) FROM t WHERE {text}")).condition;
    let x = |comparison, number| test("x", comparison, Literal::Number(number));
    assert_eq!(condition("-3 <= x"), x(Comparison::AtLeast, -3.0));
    assert_eq!(
        condition("x BETWEEN 1 AND 2.5"),
        Condition::And(vec![x(Comparison::AtLeast, 1.0), x(Comparison::AtMost, 2.5)])
    );
    let among = Check::Among(vec![Literal::Text("a'b".into()), Literal::Number(2.0)]);
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
        ("SELECT SUM(*) FROM t", "SUM(*)"),
        ("SELECT SUM(x + 1) FROM t", "x + 1"),
        ("SELECT MAX(x) FROM t", "MAX(x)"),
        ("SELECT COUNT(DISTINCT x) FROM t", "COUNT(DISTINCT x)"),
        (
            "SELECT COUNT(*) FILTER (WHERE x = 1) FROM t",
            "COUNT(*) FILTER (WHERE x = 1)",
        ),
        ("SELECT DISTINCT COUNT(*) FROM t", "DISTINCT"),
        ("SELECT COUNT(*) FROM t JOIN u ON a = b", "FROM t JOIN u ON a = b"),
        ("SELECT COUNT(*) FROM t WHERE x ILIKE 'a%'", "x ILIKE 'a%'"),
        ("SELECT COUNT(*) FROM t WHERE x = y", "x = y"),
        ("SELECT COUNT(*) FROM t WHERE 1 = 1", "1 = 1"),
        ("SELECT COUNT(*) FROM t WHERE x + 1 = 2", "x + 1 = 2"),
        ("SELECT COUNT(*) FROM t WHERE x = NULL", "x = NULL"),
        ("SELECT COUNT(*) FROM t WHERE x IN (SELECT 1)", "x IN (SELECT 1)"),
        ("SELECT COUNT(*) FROM t GROUP BY x + 1", "x + 1"),
        ("SELECT x, COUNT(*) FROM t GROUP BY ALL", "GROUP BY ALL"),
        ("SELECT COUNT(*) FROM t HAVING COUNT(*) > 1", "HAVING COUNT(*) > 1"),
        (
            "SELECT COUNT(*) UNION SELECT COUNT(*)",
            "SELECT COUNT(*) UNION SELECT COUNT(*)",
        ),
        ("DROP TABLE t", "DROP TABLE t"),
    ] {
        assert_eq!(refused(text), format!("`{part}` is not understood"), "{text}");
    }
    for from in ["(SELECT * FROM r) x", "r TABLESAMPLE (10)", "t(1)"] {
        let message = refused(&format!("SELECT COUNT(*) FROM {from}"));
        assert!(message.ends_with("is not understood"), "{message}");
    }
    assert_eq!(refused("SELECT COUNT(*) FROM r, s"), "`FROM s` is not understood");
    parsed("SELECT COUNT(*) FROM \"my release\" AS r WHERE r.x = 1");
    parsed("SELECT COUNT(*) FROM release r");
    assert_eq!(refused("SELECT x FROM t GROUP BY x"), "nothing is counted");
    let message = "`x` is selected, but not in `GROUP BY`";
    assert_eq!(refused("SELECT x, COUNT(*) FROM t"), message);
    let message = "the question asks for several numbers";
    assert_eq!(refused("SELECT COUNT(*), COUNT(x) FROM t"), message);
    assert_eq!(refused("SELECT COUNT(*), AVG(x)"), message);
    assert_eq!(refused("SELECT COUNT(*), MAX(x)"), "`MAX(x)` is not understood");
    assert_eq!(refused("SELECT SUM(x), SUM(x)"), "`SUM(x)` is asked for twice");
    assert_eq!(refused("SELECT SHARE(x)"), "`x` is not understood");
    assert_eq!(
        refused("SELECT COUNT(*) WHERE CELL(a, b) = 1"),
        "`CELL(a, b) = 1` is not understood"
    );
    assert_eq!(
        refused("SELECT COUNT(*); SELECT COUNT(*)"),
        "ask one question at a time"
    );
    assert_eq!(refused(""), "the question is empty");
    assert_eq!(refused(" ; "), "the question is empty");
    assert!(refused("SELEKT 1").starts_with("this is not SQL: Expected"));
    assert!(refused("SELECT 'a").starts_with("this is not SQL: Unterminated"));
}

#[test]
fn hints_say_what_would_be_understood() {
    let hints = |text: &str| {
        let error = Query::parse(&format!("SELECT COUNT(*) {text}")).unwrap_err();
        error.hints().join(", ")
    };
    for text in [
        "WHERE sex = \"F\"",
        "WHERE disease = Grippe",
        "WHERE disease <> (Grippe)",
        "WHERE disease IN ('a', Grippe)",
        "WHERE disease BETWEEN \"a\" AND \"b\"",
    ] {
        assert_eq!(hints(text), QUOTES, "{text}");
    }
    for text in
        ["WHERE x ILIKE 'a%'", "WHERE x = NULL", "LIMIT 3", "HAVING COUNT(*) > 1"]
    {
        assert_eq!(hints(text), UNDERSTOOD, "{text}");
    }
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

#[test]
fn several_numbers_share_conditions_and_groups() {
    let asked = Query::parse_all(
        "SELECT sex, COUNT(*) AS n, AVG(age), SHARE(x = 1), SHARE(*) FROM t WHERE y > 2 \
         GROUP BY sex",
    )
    .unwrap();
    let names: Vec<&str> = asked.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["n", "AVG(age)", "SHARE(x = 1)", "SHARE(*)"]);
    let where_y = parsed("SELECT COUNT(*) WHERE y > 2").condition;
    let known = parsed("SELECT COUNT(*) WHERE age IS NOT NULL").condition;
    assert_eq!(asked[0].1.condition, where_y);
    assert_eq!(asked[1].1.condition, where_y.and(&known));
    let part = parsed("SELECT COUNT(*) WHERE x = 1").condition;
    assert_eq!(asked[2].1.measure, Measure::Share(Some(part.clone())));
    assert_eq!(asked[3].1.measure, Measure::Share(None));
    assert!(asked.iter().all(|(_, query)| query.group_by == ["sex"]));

    let cells =
        parsed("SELECT cell(age), COUNT(*) WHERE Cell(age) = '*' GROUP BY CELL(age)");
    assert_eq!(cells.group_by, ["CELL(age)"]);
    let not_true = Condition::NotTrue(Box::new(part));
    assert_eq!(parsed("SELECT COUNT(*) WHERE (x = 1) IS NOT TRUE").condition, not_true);
    let twice = Condition::NotTrue(Box::new(not_true));
    assert_eq!(parsed("SELECT COUNT(*) WHERE (x = 1) IS TRUE").condition, twice);
}

/// Pieces of SQL, of things that look like it, and of neither.
const PIECES: &[&str] = &[
    "SELECT",
    "COUNT(*)",
    "COUNT(x)",
    "SUM(x)",
    "AVG(",
    "SHARE(x = 1)",
    "CELL(x)",
    "x",
    "\"y\"",
    "'a'",
    "''",
    "1",
    "-1e9",
    "1e999",
    ".5",
    "=",
    "<>",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "BETWEEN",
    "AND",
    "OR",
    "NOT",
    "IN",
    "(",
    ")",
    ",",
    "IS",
    "NULL",
    "TRUE",
    "WHERE",
    "FROM",
    "t",
    "t.x",
    "GROUP BY",
    "GROUP BY x",
    "ORDER BY x",
    "LIMIT 1",
    "HAVING",
    "LIKE 'a%'",
    "CASE WHEN",
    "END",
    "*",
    ";",
    "--",
    "/*",
    "'",
    "\"",
    "`",
    "\u{0}",
    "é",
    "🙂",
    "DISTINCT",
    "UNION",
    "WITH",
    "AS n",
    "EXISTS",
    "ALL",
    "ANY",
    "CAST(x AS int)",
    "x + 1",
    "||",
    "::",
    "$1",
    "?",
    "@x",
    "JOIN t ON 1",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        cases: 3000,
        failure_persistence: None,
        ..Default::default()
    })]

    /// Whatever is typed is a question or an error that says where it fails to be one.
    #[test]
    fn no_text_is_too_strange(
        text in ".{0,60}",
        pieces in proptest::collection::vec(0..PIECES.len(), 0..40),
    ) {
        let sensible: Vec<&str> = pieces.iter().map(|piece| PIECES[*piece]).collect();
        let whole = format!("SELECT COUNT(*) WHERE {}", sensible.join(" "));
        for text in [text, sensible.join(" "), whole] {
            match Query::parse_all(&text) {
                Ok(asked) => proptest::prop_assert!(!asked.is_empty()),
                Err(error) => {
                    proptest::prop_assert!(!error.to_string().is_empty());
                    proptest::prop_assert!(!error.hints().is_empty() || error.exit_code() == 2);
                }
            }
        }
    }
}

#[test]
fn words_may_look_like_a_pattern() {
    let condition =
        |text: &str| parsed(&format!("SELECT COUNT(*) FROM t WHERE {text}")).condition;
    let check = Check::Like(Pattern::new("a_b%").unwrap());
    let like = Condition::Test(Test { column: "x".into(), check });
    assert_eq!(condition("x LIKE 'a_b%'"), like);
    assert_eq!(condition("x NOT LIKE 'a_b%'"), Condition::Not(Box::new(like)));
    for text in [
        "x LIKE 5",
        "x LIKE y",
        "x LIKE 'a!%' ESCAPE '!'",
        "x ILIKE 'a%'",
        "x SIMILAR TO 'a'",
    ] {
        let whole = format!("SELECT COUNT(*) FROM t WHERE {text}");
        assert_eq!(refused(&whole), format!("`{text}` is not understood"));
    }
    let backslash = r"SELECT COUNT(*) FROM t WHERE x LIKE '5\%'";
    assert_eq!(refused(backslash), r"the pattern '5\%' has a backslash");
}

#[test]
fn answers_have_an_order_and_an_end() {
    let ask = |rest: &str| {
        Ask::parse(&format!(
            "SELECT sex, COUNT(*), ill, AVG(age) AS mean FROM t GROUP BY ill, sex {rest}"
        ))
    };
    let order = |rest: &str| {
        let ask = ask(rest).unwrap();
        let keys: Vec<(SortBy, bool)> =
            ask.order.iter().map(|key| (key.by, key.descending)).collect();
        (keys, ask.limit)
    };
    let (value, number) = (SortBy::Value, SortBy::Number);
    type Arranged<'a> = (&'a str, Vec<(SortBy, bool)>, Option<usize>);
    let expected: [Arranged<'_>; 7] = [
        ("", vec![], None),
        ("ORDER BY COUNT(*) DESC LIMIT 3;", vec![(number(0), true)], Some(3)),
        ("ORDER BY count(*)", vec![(number(0), false)], None),
        ("ORDER BY sex ASC, mean", vec![(value(1), false), (number(1), false)], None),
        ("ORDER BY AVG(age), t.ill", vec![(number(1), false), (value(0), false)], None),
        (
            "ORDER BY 1, 2 DESC, 4",
            vec![(value(1), false), (number(0), true), (number(1), false)],
            None,
        ),
        ("LIMIT 1", vec![], Some(1)),
    ];
    for (rest, keys, limit) in expected {
        assert_eq!(order(rest), (keys, limit), "{rest}");
    }
    for (rest, message) in [
        ("ORDER BY age", "`ORDER BY age` is not understood"),
        ("ORDER BY 5", "`ORDER BY 5` is not understood"),
        ("ORDER BY 0", "`ORDER BY 0` is not understood"),
        ("ORDER BY sex NULLS FIRST", "`ORDER BY sex NULLS FIRST` is not understood"),
        ("ORDER BY sex || ill", "`ORDER BY sex || ill` is not understood"),
        ("ORDER BY SUM(age)", "`ORDER BY SUM(age)` is not understood"),
        ("LIMIT 0", "`LIMIT 0` is not understood"),
        ("LIMIT 5 OFFSET 2", "`LIMIT 5 OFFSET 2` is not understood"),
        ("LIMIT x", "`LIMIT x` is not understood"),
    ] {
        assert_eq!(ask(rest).unwrap_err().to_string(), message);
    }
    // What asks for one number has no room for an order.
    let text = "SELECT sex, COUNT(*) FROM t GROUP BY sex LIMIT 1";
    assert_eq!(refused(text), "`ORDER BY, or LIMIT` is not understood");
}

#[test]
fn a_file_has_questions_with_semicolons_between() {
    let text =
        "-- how many\nSELECT COUNT(*);\n\n SELECT COUNT(*) FROM t WHERE x = ';' ; ;\n";
    let asks = Ask::parse_several(text, "q.sql").unwrap();
    let texts: Vec<&str> = asks.iter().map(|ask| &*ask.text).collect();
    assert_eq!(texts[1..], ["SELECT COUNT(*) FROM t WHERE x = ';'"]);
    assert_eq!(asks[0].numbers[0].1, parsed("SELECT COUNT(*)"));
    let message =
        |text: &str| Ask::parse_several(text, "q.sql").unwrap_err().to_string();
    assert_eq!(message(" ;\n"), "q.sql: there are no questions in the file");
    assert_eq!(
        message("SELECT COUNT(*); SELECT MAX(x) FROM t"),
        "q.sql, question 2: `MAX(x)` is not understood"
    );
    assert_eq!(
        Ask::parse("SELECT COUNT(*); SELECT COUNT(*)").unwrap_err().to_string(),
        "ask one question at a time"
    );
}
