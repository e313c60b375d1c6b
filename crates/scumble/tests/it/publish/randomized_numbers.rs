//! Numbers that are randomized as ranges: what leaves, by which law, and what is refused.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use scumble::recipe::Published;
use scumble::release::{Parameters, PublishedRange, Treatment};
use scumble::table::PublicDomain;

use crate::builder::{audited, folder, records, run};

/// How often a right draw fails a test below.
const FALSE_ALARM: f64 = 1e-9;

const COLUMNS: &str = "columns.id = \"identifier\"\ncolumns.age = \"quasi\"\n";

const COST: &str = "columns.cost = { role = \"sensitive\", type = \"number\", \
    hierarchy = { cuts = [[100, 500, 2000]] }, domain = [0, 9999] }\n";

const BREACH: &str = "promise.breach = { prior = 0.2, posterior = 0.6 }\n";

/// So many people; nobody's cost is from 500 to 1999.
fn table(n: u32) -> String {
    let mut text = String::from("id,age,cost\n");
    for row in 0..n {
        let cost = match row % 4 {
            0 => row % 100,
            1 | 2 => 100 + row % 400,
            _ => 2000 + row % 8000,
        };
        writeln!(text, "p{},{},{cost}", row / 2, 20 + row % 50).unwrap();
    }
    text
}

fn range_of(number: u32) -> &'static str {
    match number {
        0..100 => "(-inf, 100)",
        100..500 => "[100, 500)",
        500..2000 => "[500, 2000)",
        _ => "[2000, inf)",
    }
}

fn costs(published: &Published) -> Vec<String> {
    let rows = records(&published.directory.join("data.csv"));
    rows.into_iter().map(|row| row["cost"].clone()).collect()
}

/// The matrix: how likely a value is kept, otherwise drawn from all.
fn domain_of(published: &Published) -> Vec<Vec<String>> {
    match &published.manifest.classes[0].parameters {
        Parameters::Subtables { subtables } => subtables[0].domain.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_domain_is_public_and_rows_have_ranges() {
    let table = table(2000);
    let home = folder(&[("table.csv", &table)]);
    let published = run(home.path(), &format!("{COLUMNS}{COST}{BREACH}"), 1).unwrap();
    let labels = ["(-inf, 100)", "[100, 500)", "[500, 2000)", "[2000, inf)"];
    assert_eq!(domain_of(&published), labels.map(|label| vec![label.to_owned()]));
    let column = published.manifest.column("cost").unwrap();
    let Treatment::Drawn { ranges: Some(note), .. } = &column.treatment else {
        panic!("{:?}", column.treatment);
    };
    assert_eq!((note.level, note.published), (1, PublishedRange::Range));
    assert_eq!(column.domain, Some(PublicDomain::Numbers([0.0, 9999.0])));
    assert_eq!(column.decimals, Some(0));
    let seen: std::collections::BTreeSet<String> =
        costs(&published).into_iter().collect();
    // Also the range that nobody is in.
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert!(labels.iter().all(|label| seen.contains(*label)));
    for original in [None, Some(table.as_str())] {
        let audit = audited(&published.release, original, None).unwrap();
        assert!(audit.private.promises.iter().all(|promise| promise.holds));
    }
}

#[test]
fn numbers_are_even_within_the_range_that_was_drawn() {
    let home = folder(&[("table.csv", &table(40_000))]);
    let recipe = format!("{COLUMNS}{COST}{BREACH}method.publish = \"number\"\n");
    let published = run(home.path(), &recipe, 2).unwrap();
    let mut seen: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for cost in costs(&published) {
        let number: u32 = cost.parse().unwrap();
        assert!(number <= 9999);
        seen.entry(range_of(number)).or_default().push(f64::from(number));
    }
    let spans = [(0.0, 99.0), (100.0, 499.0), (500.0, 1999.0), (2000.0, 9999.0)];
    let labels = ["(-inf, 100)", "[100, 500)", "[500, 2000)", "[2000, inf)"];
    for (label, (low, high)) in labels.iter().zip(spans) {
        let numbers = &seen[label];
        let n = numbers.len() as f64;
        let below = |quarter: f64| {
            let bound = low + (high - low + 1.0) * quarter / 4.0;
            numbers.iter().filter(|number| **number < bound).count() as f64
        };
        // Hoeffding, for twelve shares.
        let reach = ((24.0 / FALSE_ALARM).ln() / 2.0 * n).sqrt();
        for quarter in [1.0, 2.0, 3.0] {
            let off = below(quarter) - n * quarter / 4.0;
            assert!(off.abs() <= reach, "{label}: {off} of {n}");
        }
    }
    // True numbers are drawn anew, also where the range stays the same.
    let audit = audited(&published.release, Some(&table(40_000)), None).unwrap();
    assert!(audit.private.promises.iter().all(|promise| promise.holds));
}

#[test]
fn a_person_has_one_draw_for_a_range() {
    let mut text = String::from("id,age,cost\n");
    for row in 0..600 {
        // Ten rows a person, all in one range, with different numbers.
        writeln!(text, "p{},{},{}", row / 10, 20 + row / 10, 100 + row % 10).unwrap();
    }
    let home = folder(&[("table.csv", &text)]);
    let recipe = format!(
        "input.person = \"id\"\n{COLUMNS}{COST}{BREACH}method.publish = \"number\"\n"
    );
    let published = run(home.path(), &recipe, 3).unwrap();
    let mut by_age: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in records(&published.directory.join("data.csv")) {
        by_age.entry(row["age"].clone()).or_default().push(row["cost"].clone());
    }
    assert_eq!(by_age.len(), 60);
    for numbers in by_age.values() {
        assert_eq!(numbers.len(), 10);
        assert!(numbers.iter().all(|number| *number == numbers[0]), "{numbers:?}");
    }
}

#[test]
fn a_mixture_has_coarse_ages_beside_drawn_costs() {
    let table = table(3000);
    let home = folder(&[("table.csv", &table)]);
    let recipe = "columns.id = \"drop\"\n\
        columns.age = { role = \"quasi\", type = \"number\" }\n";
    for what in ["range", "number"] {
        let recipe = format!(
            "{recipe}{COST}{BREACH}promise.k-anonymity = 5\n[[method]]\n\
             name = \"mondrian\"\n[[method]]\nname = \"uniform-perturbation\"\n\
             publish = \"{what}\"\n"
        );
        let published = run(home.path(), &recipe, 4).unwrap();
        assert!(published.manifest.promises.iter().all(|promise| promise.holds));
        let is_number = |cost: &String| cost.parse::<u32>().is_ok();
        assert!(costs(&published).iter().all(|c| is_number(c) == (what == "number")));
        let audit = audited(&published.release, Some(&table), None).unwrap();
        assert!(audit.private.promises.iter().all(|promise| promise.holds));
    }
}

#[test]
fn what_cannot_be_ranges_is_refused_with_a_reason() {
    let sensitive = |rest: &str| {
        format!("{COLUMNS}columns.cost = {{ role = \"sensitive\", {rest} }}\n{BREACH}")
    };
    let cuts = "type = \"number\", hierarchy = { cuts = [[100, 500]] }";
    let cases = [
        (
            sensitive(cuts),
            "nobody knows where the first one begins and the last one ends",
        ),
        (
            sensitive("type = \"number\", hierarchy = { widths = [50] }"),
            "nobody knows where the first one begins",
        ),
        (
            sensitive(&format!("{cuts}, domain = [0, 450]")),
            "`domain` of `cost` is from 0 to 450, but 25 numbers are outside; the first is in row 4",
        ),
        (
            sensitive(&format!("{cuts}, domain = [0, 9999], lowest = 2")),
            "level 2 of the hierarchy has no ranges of numbers here",
        ),
        (
            sensitive("hierarchy = { csv = \"tree.csv\" }, lowest = 1"),
            "its hierarchy has no ranges of numbers",
        ),
        (
            format!(
                "{}method.publish = \"number\"\n",
                sensitive(&format!("{cuts}, lowest = 0"))
            ),
            "`publish` is about numbers that are randomized as ranges, and there are none",
        ),
        (
            sensitive(
                "type = \"number\", hierarchy = { cuts = [[0.2, 0.4]] }, domain = [0, 9999]",
            ),
            "column `cost` has whole numbers, and the range `[0.2, 0.4)` holds none",
        ),
    ];
    let tree: String =
        (0..10_000).map(|number| format!("{number};{};*\n", number / 100)).collect();
    let home = folder(&[("table.csv", &table(100)), ("tree.csv", &tree)]);
    for (recipe, expected) in cases {
        let error = run(home.path(), &recipe, 5).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}\nwanted: {expected}");
    }
}
