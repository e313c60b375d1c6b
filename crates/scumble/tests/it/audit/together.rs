//! Several releases of the same people, put together.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::audit::{Attacked, broken_together, together};
use scumble::release::Release;
use scumble::watch::Unwatched;

use crate::builder::{ByHand, column, folder, quasi, run, run_whole, source};

const TABLE: &str = "town,ill\na,flu\nb,cold\nc,hiv\nd,flu\n";

/// A release of four people with these towns in a cell.
fn by_hand(rows: &[&str]) -> ByHand {
    let columns = [quasi("town", "set"), column("ill", "sensitive", "category")];
    ByHand::new(columns.to_vec()).plain_rows(rows)
}

fn attacked(releases: &[&Release], table: &str) -> Vec<Attacked> {
    together(releases, &source(table), &Unwatched).unwrap()
}

fn number(attack: &Attacked, key: &str) -> f64 {
    attack.detail[key].as_f64().unwrap()
}

#[test]
fn what_is_in_all_groups_is_certain() {
    let first = by_hand(&[
        "\"{a, b}\",flu",
        "\"{a, b}\",cold",
        "\"{c, d}\",hiv",
        "\"{c, d}\",flu",
    ]);
    let second = by_hand(&[
        "\"{a, c}\",flu",
        "\"{a, c}\",hiv",
        "\"{b, d}\",cold",
        "\"{b, d}\",flu",
    ]);
    let (first, second) = (first.open().unwrap(), second.open().unwrap());
    let found = attacked(&[&first, &second], TABLE);
    let [found] = &found[..] else { panic!("{found:?}") };
    assert_eq!(found.name, "intersection");
    // a and d have the flu; b and c could have either of two.
    assert_eq!(number(found, "certain"), 0.5);
    assert_eq!(number(found, "certain_right"), 0.5);
    assert_eq!((number(found, "certain_alone"), found.worst), (0.0, 1.0));
    assert_eq!(found.detail["smallest"], 1);
    assert!(found.success >= 0.5 && found.chance == 0.5, "{found:?}");
    let said = broken_together(found);
    assert!(said[0].contains("`ill` becomes certain for 50 %"), "{said:?}");

    // The same groups again tell nothing.
    let found = attacked(&[&first, &first], TABLE).remove(0);
    assert_eq!((number(&found, "certain"), found.worst), (0.0, 0.5));
    assert_eq!(found.success, number(&found, "alone"));
    assert_eq!(found.detail["smallest"], 2);
    assert!(broken_together(&found).is_empty());
}

/// Random people, and what they have.
fn people(n: usize, seed: u64) -> String {
    let mut draws = ChaCha20Rng::seed_from_u64(seed);
    let mut text = String::from("age,hours,sex,ill\n");
    for _ in 0..n {
        text.push_str(&format!(
            "{},{},{},{}\n",
            draws.random_range(20..60),
            draws.random_range(1..30),
            ["f", "m"][draws.random_range(0..2)],
            ["flu", "cold", "cough", "ulcer", "hiv"][draws.random_range(0..5)],
        ));
    }
    text
}

const COLUMNS: &str = "columns.age = { role = \"quasi\", hierarchy = { widths = [5, 10, 20] } }\n\
    columns.hours = { role = \"quasi\", hierarchy = { widths = [5, 10] } }\n\
    columns.sex = \"quasi\"\ncolumns.ill = \"sensitive\"\n";

/// Releases of the same table, one for each method.
fn releases(home: &Path, methods: &[&str]) -> Vec<Release> {
    let publish = |(number, method): (usize, &&str)| {
        let recipe = format!("{COLUMNS}release.directory = \"r{number}\"\n{method}");
        run(home, &recipe, 5).unwrap().release
    };
    methods.iter().enumerate().map(publish).collect()
}

const DOMAIN: &str = "promise.k-anonymity = 4\nmethod.name = \"full-domain\"";
const CUTS: &str = "promise.k-anonymity = 4\nmethod.name = \"mondrian\"";
const APART: &str = "promise.l-diversity = 3\nmethod.name = \"anatomy\"";

/// Beliefs of two kinds of release are as often right as they say, and what is certain is
/// true.
#[test]
fn beliefs_are_right_as_often_as_they_say() {
    for methods in [[DOMAIN, CUTS], [CUTS, APART]] {
        let (mut right, mut believed, mut alone, mut tables) = (0.0, 0.0, 0.0, 0.0);
        for seed in 0..12 {
            let table = people(120, seed);
            let home = folder(&[("table.csv", &table)]);
            let made = releases(home.path(), &methods);
            let made: Vec<&Release> = made.iter().collect();
            let found = attacked(&made, &table).remove(0);
            assert_eq!(number(&found, "certain"), number(&found, "certain_right"));
            assert_eq!(number(&found, "linked"), 1.0);
            right += found.success;
            believed += number(&found, "believed");
            alone += number(&found, "alone");
            tables += 1.0;
        }
        let [right, believed, alone] = [right, believed, alone].map(|sum| sum / tables);
        // 1,440 people: five standard errors are below 0.07.
        assert!((right - believed).abs() < 0.07, "{right} {believed}");
        assert!(right > alone, "{right} {alone}");
    }
}

#[test]
fn promises_of_either_release_are_held_against_both() {
    let table = people(200, 3);
    let home = folder(&[("table.csv", &table)]);
    let made = releases(home.path(), &[APART, CUTS]);
    let found = attacked(&[&made[0], &made[1]], &table).remove(0);
    assert_eq!(
        (found.detail["k"].as_u64(), found.detail["l"].as_u64()),
        (Some(4), Some(3))
    );
    assert!((number(&found, "bound") - 1.0 / 3.0).abs() < 1e-12);
    assert!(number(&found, "above") > 0.1 && number(&found, "below_k") > 0.5);
    let said = broken_together(&found).join("; ");
    for wanted in ["more than 33 %", "fewer than 3 values", "fewer than 4 people"] {
        assert!(said.contains(wanted), "{said}");
    }
}

/// Everybody has two rows: groups are of rows, and people are counted.
#[test]
fn people_with_several_rows_count_once() {
    let rows = people(60, 9);
    let mut lines = rows.lines();
    let mut table = format!("{},who\n", lines.next().unwrap());
    for (place, line) in lines.enumerate() {
        table.push_str(&format!("{line},p{}\n", place / 2));
    }
    let home = folder(&[("table.csv", &table)]);
    let made: Vec<Release> = [DOMAIN, CUTS]
        .iter()
        .enumerate()
        .map(|(number, method)| {
            let recipe = format!(
                "input.table = \"table.csv\"\ninput.person = \"who\"\n\
                 {COLUMNS}columns.who = \"identifier\"\n\
                 release.directory = \"r{number}\"\n{method}\n"
            );
            run_whole(home.path(), &recipe, 5).unwrap().release
        })
        .collect();
    let found = attacked(&[&made[0], &made[1]], &table).remove(0);
    assert_eq!(found.detail["people"], 30);
    assert_eq!(number(&found, "certain"), number(&found, "certain_right"));
}

/// A release of last year's table is used as far as people of this one fit it.
#[test]
fn another_table_makes_nothing_certain() {
    let (now, before) = (people(100, 1), people(90, 2));
    let home = folder(&[("table.csv", &before)]);
    let old = releases(home.path(), &[DOMAIN]).remove(0);
    let home = folder(&[("table.csv", &now)]);
    let new = releases(home.path(), &[DOMAIN]).remove(0);
    let found = attacked(&[&new, &old], &now).remove(0);
    assert!(number(&found, "linked") > 0.5);
    assert!(found.success < number(&found, "alone") + 0.1, "{found:?}");
}

#[test]
fn releases_that_cannot_be_put_together_tell_nothing() {
    let home = folder(&[("table.csv", &people(100, 4))]);
    let drawn = "promise.breach = { prior = 0.3, posterior = 0.6 }\n\
                 method.name = \"uniform-perturbation\"";
    let made = releases(home.path(), &[CUTS, drawn]);
    let found = together(&[&made[0], &made[1]], &source(&people(100, 4)), &Unwatched);
    assert!(found.unwrap().is_empty());
}

#[test]
fn a_column_that_one_release_randomizes_does_not_hide_what_all_of_them_do() {
    let rows = (0..200).map(|row| format!("{row},w{},c{}\n", row % 3, row % 2));
    let table = format!("town,ward,cost\n{}", rows.collect::<String>());
    let breach = |columns: &str| {
        format!(
            "promise.breach = {{ prior = 0.3, posterior = 0.7, columns = [{columns}] }}\n\
             [columns]\ntown = \"other\"\nward = \"sensitive\"\ncost = \"sensitive\"\n"
        )
    };
    let release = |columns: &str| {
        let home = folder(&[("table.csv", &table)]);
        run(home.path(), &breach(columns), 1).unwrap();
        let release = Release::open(&home.path().join("release")).unwrap();
        (home, release)
    };
    let (_first, one) = release("\"ward\"");
    let (_second, both) = release("\"ward\", \"cost\"");
    for releases in [[&one, &both], [&both, &one]] {
        let found = attacked(&releases, &table);
        let averaged = found.iter().filter(|attack| attack.name == "averaging");
        let columns: Vec<&str> =
            averaged.map(|attack| attack.detail["column"].as_str().unwrap()).collect();
        assert_eq!(columns, ["ward"]);
    }
}
