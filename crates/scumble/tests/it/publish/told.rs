//! Two tables that give the same published rows give the same directories, byte for byte: no
//! number in a public file depends on anything else of the table.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::recipe::{Request, Spec, publish};
use scumble::table::Input;
use scumble::watch::Unwatched;

use crate::publish::every_way::{NAMES, SEED, WAYS, Way, files, lines, table};

/// Every file of a release; nothing if the table cannot be published.
fn directory(recipe: &str, rows: &[[String; 7]]) -> Option<BTreeMap<String, Vec<u8>>> {
    let spec = Spec::parse(recipe, "recipe.toml").unwrap();
    let given = files().map(|(name, bytes)| {
        let bytes = if name == "people.csv" { lines(rows) } else { bytes };
        (name.to_owned(), Input::Bytes(bytes))
    });
    let request = Request { seed: Some(SEED), ..Request::in_memory(&spec, given) };
    let made = publish(request, &Unwatched).ok()?;
    let store = made.release.store();
    let names = store.files().unwrap().into_iter();
    Some(names.map(|name| (name.clone(), store.read(&name).unwrap())).collect())
}

/// The files that have rows, groups or distributions.
const ROWS: [&str; 4] = ["data.csv", "cells.csv", "sensitive.csv", "shares.csv"];

fn assert_equal(
    way: &Way,
    one: &BTreeMap<String, Vec<u8>>,
    other: &BTreeMap<String, Vec<u8>>,
) {
    for (name, bytes) in one {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let pairs = text(bytes);
        let others = text(&other[name]);
        // The manifest has the checksums of the others, and comes last.
        for (one, other) in pairs.lines().zip(others.lines()) {
            let is_sum = name == "manifest.json" && one.contains("report.html");
            assert!(one == other || is_sum, "{} {name}:\n{one}\n{other}", way.method);
        }
    }
    assert_eq!(one, other, "{}", way.method);
}

fn column(name: &str) -> usize {
    NAMES.iter().position(|known| *known == name).unwrap()
}

/// Another table: somebody gets the value or the whole row of somebody who is much like them.
fn changed(rows: &[[String; 7]], random: &mut ChaCha20Rng) -> Vec<[String; 7]> {
    let mut rows = rows.to_vec();
    let age = |row: &[String; 7]| row[column("age")].parse::<f64>().unwrap_or(-99.0);
    let one = random.random_range(0..rows.len());
    let near = |other: &usize| {
        *other != one && (age(&rows[*other]) - age(&rows[one])).abs() <= 3.0
    };
    let near: Vec<usize> = (0..rows.len()).filter(near).collect();
    let other = near[random.random_range(0..near.len())];
    let place = column(["age", "zip", "town"][random.random_range(0..3)]);
    // Of the first half the population has everybody twice.
    match random.random_range(0..2) {
        0 if other < rows.len() / 2 => rows[one] = rows[other].clone(),
        _ => rows[one][place] = rows[other][place].clone(),
    }
    rows
}

/// Another table: two people of a group exchange a value, or one gets the quasi values of the
/// other.
fn exchanged(
    rows: &[[String; 7]],
    groups: &[Vec<usize>],
    random: &mut ChaCha20Rng,
) -> Vec<[String; 7]> {
    let mut rows = rows.to_vec();
    let group = &groups[random.random_range(0..groups.len())];
    let [one, other] = [0; 2].map(|_| group[random.random_range(0..group.len())]);
    // Of the first half the population has everybody twice.
    if other < rows.len() / 2 && random.random_range(0..2) == 0 {
        for place in ["age", "zip", "town"].map(column) {
            rows[one][place] = rows[other][place].clone();
        }
        return rows;
    }
    let place = column(["age", "zip", "town", "illness"][random.random_range(0..4)]);
    let (value, own) = (rows[other][place].clone(), rows[one][place].clone());
    (rows[one][place], rows[other][place]) = (value, own);
    rows
}

/// The rows of each group of a release.
fn groups(way: &Way, rows: &[[String; 7]]) -> Vec<Vec<usize>> {
    if way.name().ends_with("perturbation") {
        // What is drawn of one may have been drawn of anybody.
        return vec![(0..rows.len()).collect()];
    }
    let files = directory(&way.recipe("note = \"other\""), rows).unwrap();
    let mut reader = csv::Reader::from_reader(&*files["data.csv"]);
    let mut groups: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
    for row in reader.deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let named = row.contains_key("group");
        let tells = |name: &str| match named {
            true => name == "group",
            false => !["note", "illness", "cost"].contains(&name),
        };
        let key = row.iter().filter(|(name, _)| tells(name));
        let key = key.map(|(_, cell)| cell.clone()).collect();
        let place = rows.iter().position(|own| own[column("note")] == row["note"]);
        groups.entry(key).or_default().push(place.unwrap());
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

/// Whether the published rows are cells, groups or draws that other tables can have, too.
/// Methods that fit their noise to the table publish what they fitted.
fn may_be_of_others(way: &Way) -> bool {
    let alone = !way.is_keyed() && !way.method.contains("sensitive");
    let even = way.name() == "uniform-perturbation" && alone;
    even || matches!(way.name(), "full-domain" | "mondrian" | "anatomy")
}

#[test]
fn the_same_rows_have_the_same_files_around_them() {
    let rows = table();
    for way in WAYS.iter().filter(|way| may_be_of_others(way)) {
        let mut random = ChaCha20Rng::seed_from_u64(17);
        let recipe = way.recipe("");
        let first = directory(&recipe, &rows).unwrap();
        let groups = groups(way, &rows);
        let mut met = 0;
        for turn in 0..60 {
            let other = match turn % 2 {
                0 => exchanged(&rows, &groups, &mut random),
                _ => changed(&rows, &mut random),
            };
            let Some(second) = directory(&recipe, &other) else { continue };
            let same = |name: &str| first.get(name) == second.get(name);
            if other != rows && ROWS.iter().all(|name| same(name)) {
                met += 1;
                assert_equal(way, &first, &second);
            }
        }
        assert!(met > 0, "{}: no other table gives these rows", way.method);
    }
}

/// What no column of the recipe is about is in no file, not even as a number.
#[test]
fn what_is_not_published_is_in_no_number() {
    let rows = table();
    for way in WAYS.iter().filter(|way| !way.is_keyed()) {
        let recipe = way.recipe("");
        let mut other = rows.clone();
        for row in &mut other {
            row[column("note")].push('x');
        }
        let (first, second) = (directory(&recipe, &rows), directory(&recipe, &other));
        assert_equal(way, &first.unwrap(), &second.unwrap());
    }
}

/// Issue 17.1: with ranges open at the ends, the loss was a function of the table's least and
/// largest value, and scanning whole numbers gave both.
#[test]
fn the_loss_does_not_tell_extremes() {
    let recipe = "[input]\ntable = \"table\"\n[columns]\nage = { role = \"quasi\", \
         hierarchy = { cuts = [[20, 40, 60], [40]] } }\nillness = \"sensitive\"\n\
         [promise]\nk-anonymity = 5\n[method]\nname = \"NAME\"\ncells = \"taxonomy\"\n";
    let made = |name: &str, least: u32, largest: u32| {
        let ages = (0..90).map(|row| match row {
            0 => least,
            1 => largest,
            _ => 18 + row * 7 % 45,
        });
        let rows: String = ages.map(|age| format!("{age},flu\n")).collect();
        let text = format!("age,illness\n{rows}");
        let spec = Spec::parse(&recipe.replace("NAME", name), "recipe.toml").unwrap();
        let given = [("table".to_owned(), Input::Bytes(text.into_bytes()))];
        let made = publish(Request::in_memory(&spec, given), &Unwatched).unwrap();
        let store = made.release.store();
        ["data.csv", "manifest.json", "report.html"]
            .map(|name| store.read(name).unwrap())
    };
    for name in ["full-domain", "mondrian"] {
        let first = made(name, 17, 63);
        for (least, largest) in [(1, 63), (17, 99), (3, 118), (12, 70)] {
            assert!(made(name, least, largest) == first, "{name} {least} {largest}");
        }
    }
}
