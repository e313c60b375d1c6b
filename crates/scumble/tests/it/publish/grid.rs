//! Ranges of numbers and dates end on public lines.

use std::collections::BTreeMap;

use hashbrown::HashSet;
use scumble::error::Result;
use scumble::method::Plan;
use scumble::recipe::{Published, Request, Spec, publish};
use scumble::table::Input;
use scumble::watch::Unwatched;
use serde_json::json;

use crate::builder::audited;

fn made(
    table: &str,
    columns: &str,
    method: &str,
    plan: Option<Plan>,
) -> Result<Published> {
    let recipe = format!(
        "[input]\ntable = \"table\"\n[columns]\n{columns}\nnumber = \"other\"\n[promise]\n\
         k-anonymity = 5\n[method]\n{method}\n"
    );
    let spec = Spec::parse(&recipe, "recipe.toml")?;
    let given = [("table".to_owned(), Input::Bytes(table.to_owned().into_bytes()))];
    publish(Request { plan, ..Request::in_memory(&spec, given) }, &Unwatched)
}

/// Incomes and ages that hardly anybody shares.
fn incomes(n: usize, shift: usize) -> String {
    let row = |row: usize| {
        let income = 10_000 + (row + shift) * 7919 % 90_001;
        format!("{income},{},{row}\n", 18 + (row + shift) * 37 % 70)
    };
    let rows: String = (0..n).map(row).collect();
    format!("income,age,number\n{rows}")
}

const NUMBERS: &str = "income = { role = \"quasi\", type = \"number\" }\n\
     age = { role = \"quasi\", type = \"number\" }";

fn rows(published: &Published) -> Vec<BTreeMap<String, String>> {
    let bytes = published.release.store().read("data.csv").unwrap();
    let mut reader = csv::Reader::from_reader(&*bytes);
    reader.deserialize().map(|row| row.unwrap()).collect()
}

/// The share of groups of which exactly one person has the low end of the income's range.
fn singled_out(table: &str, published: &Published) -> f64 {
    let mut truth = csv::Reader::from_reader(table.as_bytes());
    let truth = truth.deserialize().map(|row| {
        let (income, _, number): (u32, u32, String) = row.unwrap();
        (number, income)
    });
    let truth: BTreeMap<String, u32> = truth.collect();
    let mut groups: BTreeMap<(String, String), Vec<u32>> = BTreeMap::new();
    for row in rows(published) {
        let key = (row["income"].clone(), row["age"].clone());
        groups.entry(key).or_default().push(truth[&row["number"]]);
    }
    let alone = groups.iter().filter(|((range, _), incomes)| {
        let low = range.trim_start_matches('[').split(',').next().unwrap();
        let low: u32 = low.parse().unwrap();
        incomes.iter().filter(|income| **income == low).count() == 1
    });
    alone.count() as f64 / groups.len() as f64
}

#[test]
fn the_low_end_of_a_range_is_nobodys_income() {
    let table = incomes(600, 0);
    let mondrian = "name = \"mondrian\"";
    let grid = made(&table, NUMBERS, mondrian, None).unwrap();
    let tight =
        made(&table, NUMBERS, &format!("{mondrian}\nends = \"tight\""), None).unwrap();
    assert!(singled_out(&table, &tight) > 0.95);
    assert!(singled_out(&table, &grid) < 0.05);
    for row in rows(&grid) {
        let ends = row["income"].trim_matches(['[', ')']).split(", ");
        for end in ends {
            assert_eq!(end.parse::<u32>().unwrap() % 5000, 0, "{}", row["income"]);
        }
        assert!(row["age"].starts_with('[') && row["age"].ends_with(')'));
    }
    let said = |made: &Published, words: &str| {
        made.manifest.not_promised.iter().any(|line| line.contains(words))
    };
    assert_eq!(grid.manifest.method.parameters["ends"], json!("grid"));
    assert_eq!(tight.manifest.method.parameters["ends"], json!("tight"));
    assert!(
        said(&grid, "as tight as their grid allows")
            && !said(&grid, "somebody's values")
    );
    assert!(said(&tight, "the ends of tight ranges are somebody's values"));
    let income = grid.manifest.column("income").unwrap();
    let lines = serde_json::to_value(&income.grid).unwrap();
    assert_eq!(lines, json!({ "rule": "widths", "widths": [5000.0], "origin": 0.0 }));
    // An auditor reads the same cells, with the table and without it.
    for original in [Some(&*table), None] {
        assert!(audited(&grid.release, original, None).unwrap().private.holds());
    }
}

#[test]
fn lines_are_those_that_are_declared() {
    let table = incomes(200, 0);
    let grid_of = |columns: &str, method: &str| {
        let made = made(&table, columns, method, None).unwrap();
        serde_json::to_value(&made.manifest.column("income").unwrap().grid).unwrap()
    };
    let interval = "name = \"mondrian\"\ncells = \"interval\"";
    let column = |more: &str| {
        format!(
            "income = {{ role = \"quasi\", type = \"number\", {more} }}\nage = \"drop\""
        )
    };
    let width = |found: serde_json::Value| found["widths"][0].as_f64();
    assert_eq!(width(grid_of(&column("step = 2500"), interval)), Some(2500.0));
    let hierarchy = "hierarchy = { widths = [20000, 40000], origin = 1000 }";
    let found = grid_of(&column(hierarchy), interval);
    assert_eq!(
        (width(found.clone()), &found["origin"]),
        (Some(20000.0), &json!(1000.0))
    );
    let cuts =
        grid_of(&column("hierarchy = { cuts = [[30000, 60000], [60000]] }"), interval);
    assert_eq!(cuts["cuts"], json!([[30000.0, 60000.0]]));
    // The domain says how far numbers may be, whatever the table has.
    assert_eq!(
        width(grid_of(&column("domain = [0, 10000000]"), interval)),
        Some(500_000.0)
    );
    // Levels are searched, and ranges end within their nodes.
    let levels = "name = \"full-domain\"\ncells = \"interval\"";
    assert_eq!(width(grid_of(&column(hierarchy), levels)), Some(20000.0));
    // Nodes have no ends of their own.
    assert_eq!(grid_of(&column(hierarchy), "name = \"mondrian\""), json!(null));
}

#[test]
fn a_step_that_means_nothing_is_refused() {
    let table = incomes(60, 0);
    let error = |columns: &str, method: &str| {
        let columns = format!("{columns}\nage = \"quasi\"");
        made(&table, &columns, method, None).unwrap_err().to_string()
    };
    let mondrian = "name = \"mondrian\"";
    let has = |found: String, wanted: &str| assert!(found.contains(wanted), "{found}");
    let both = "income = { role = \"quasi\", step = 5, hierarchy = { widths = [5] } }";
    has(error(both, mondrian), "`step` is for columns without a hierarchy");
    let words = "income = { role = \"quasi\", step = 5, type = \"category\" }";
    has(error(words, mondrian), "`step` is for quasi columns of numbers");
    let other = "income = { role = \"other\", step = 5 }";
    has(error(other, mondrian), "`step` is for quasi columns of numbers");
    let none = "income = { role = \"quasi\", step = 0 }";
    has(error(none, mondrian), "must be positive");
    let step = "income = { role = \"quasi\", step = 5 }";
    has(
        error(step, "name = \"mondrian\"\nends = \"tight\""),
        "`step` needs `ends = \"grid\"`",
    );
    has(error(step, "name = \"mondrian\"\nends = \"round\""), "way for ranges to end");
    let huge = "income,age,number\n1e300,1,1\n".to_owned() + &"5,1,1\n".repeat(20);
    let columns = "income = { role = \"quasi\", type = \"number\" }\nage = \"drop\"";
    let error = made(&huge, columns, mondrian, None).unwrap_err();
    has(
        error.to_string(),
        "`income` has numbers of too many digits for ranges on a grid",
    );
}

/// The words of a table, its numbers and dates, none of which is on a line.
fn mixed(n: usize, shift: usize) -> String {
    let row = |row: usize| {
        let place = row + shift;
        let (year, month, day) = (1950 + place % 50, 1 + place % 12, 2 + place % 27);
        let size = format!("{}.{}", place * 13 % 700, 1 + place % 9);
        format!("{size},{year}-{month:02}-{day:02},w{},{row}\n", place % 90)
    };
    let rows: String = (0..n).map(row).collect();
    format!("size,born,word,number\n{rows}")
}

const MIXED: &str = "size = { role = \"quasi\", type = \"number\" }\n\
     born = { role = \"quasi\", type = \"date\" }\nword = \"quasi\"";

/// Issue 17.5: 62 of 90 ends of ranges were values that only the plan's table has.
#[test]
fn a_plan_brings_no_value_of_its_own_table() {
    let (old, new) = (mixed(300, 0), mixed(500, 100_003));
    let values = |table: &str| {
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        let all = reader.records().flat_map(|row| {
            let row = row.unwrap();
            (0..3).map(|place| row[place].to_owned()).collect::<Vec<_>>()
        });
        all.collect::<HashSet<String>>()
    };
    let lost: HashSet<String> =
        values(&old).difference(&values(&new)).cloned().collect();
    assert!(lost.len() > 100);
    for method in [
        "name = \"mondrian\"",
        "name = \"mondrian\"\nends = \"tight\"",
        "name = \"mondrian\"\ncells = \"set\"",
        "name = \"mondrian\"\ncells = \"interval\"\nends = \"tight\"",
        "name = \"mondrian\"\ncells = \"taxonomy\"",
        "name = \"full-domain\"\ncells = \"interval\"\nends = \"tight\"",
        "name = \"full-domain\"\ncells = \"set\"",
    ] {
        let method = format!("{method}\nsuppression = 0.5");
        let plan = made(&old, MIXED, &method, None).unwrap().plan;
        let again = made(&new, MIXED, &method, Some(plan)).unwrap();
        assert!(again.audit.holds(), "{method}");
        let split = |c: char| ", []{}()\"\n\r".contains(c);
        let store = again.release.store();
        for file in store.files().unwrap() {
            let text = String::from_utf8(store.read(&file).unwrap()).unwrap();
            // A page has numbers of its own.
            let is_own =
                |word: &&str| file == "data.csv" || word.parse::<f64>().is_err();
            for word in text.split(split).filter(is_own) {
                assert!(!lost.contains(word), "{method} {file}: {word}");
            }
        }
    }
}

/// Ends of dates are those of the calendar; those of words are values, in the order of all.
#[test]
fn dates_end_on_the_calendar_and_words_at_words() {
    let made =
        made(&mixed(400, 0), MIXED, "name = \"mondrian\"\ncells = \"interval\"", None);
    let made = made.unwrap();
    for row in rows(&made) {
        for end in row["born"].trim_matches(['[', ')']).split(", ") {
            assert!(end.ends_with("-01-01"), "{}", row["born"]);
        }
        assert!(row["word"].ends_with(']') || !row["word"].starts_with('['));
    }
    let said = "ranges of words show values of the table";
    assert!(made.manifest.not_promised.iter().any(|line| line.contains(said)));
}
