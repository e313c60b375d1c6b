//! Every reader on damaged input: an error or an answer, never a panic.
//!
//! Inputs that work are changed by chance, always in the same way, some hundred times each.
//! `SCUMBLE_FUZZ_MINUTES=10 cargo test --test it fault::mutated` goes on for so long with each
//! reader instead (a part of a minute is 0.1), and says with which number a panic comes again:
//! `SCUMBLE_FUZZ_FROM` is the first number.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::audit::{Given, Original, audit, together};
use scumble::estimate::{Classifier, Evidence, Query, Way};
use scumble::hierarchy::Tree;
use scumble::inspect::{Options, inspect};
use scumble::recipe::{Request, Spec, publish};
use scumble::release::Ledger;
use scumble::table::{
    Input, Numbers, NumbersTask, ReadOptions, Reading, Source, Stated,
};
use scumble::watch::Unwatched;
use scumble::{Plan, Release, Store};
use serde_json::{Value, json};

use crate::builder::folder;
use crate::publish::every_way::{WAYS, files};

/// Texts that have broken programs.
const TOKENS: [&str; 26] = [
    "",
    "\0",
    "\"",
    "\"\"",
    ",",
    ";",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "*",
    "-1",
    "0",
    "1e308",
    "-1e308",
    "1e-320",
    "NaN",
    "inf",
    "18446744073709551616",
    "9999-12-31",
    "\u{feff}",
    "\u{202e}",
    "é",
    "{",
    "]",
    "null",
];

/// Damages bytes in one to three places.
fn mutate(bytes: &[u8], random: &mut impl Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.random_range(1..=3) {
        let n = bytes.len().max(1);
        let at = random.random_range(0..n).min(bytes.len());
        let end = (at + random.random_range(1..=40)).min(bytes.len());
        match random.random_range(0..7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                let to = random.random_range(0..=bytes.len());
                bytes.splice(to..to, piece);
            }
            3 => bytes.truncate(at),
            4 => {
                // A whole cell, where there are any.
                let is_end = |byte: &u8| b",;\n \"".contains(byte);
                let from = bytes[..at].iter().rposition(is_end).map_or(0, |p| p + 1);
                let to = bytes[at..].iter().position(is_end).map_or(n, |p| at + p);
                let token = TOKENS[random.random_range(0..TOKENS.len())];
                bytes.splice(from..to.min(bytes.len()), token.bytes());
            }
            _ => {
                let token = TOKENS[random.random_range(0..TOKENS.len())];
                bytes.splice(at..at, token.bytes());
            }
        }
    }
    bytes
}

/// Damages one value of a document.
fn mutate_json(value: &mut Value, random: &mut impl Rng) {
    let below = match value {
        Value::Array(items) if !items.is_empty() => {
            let place = random.random_range(0..items.len());
            match random.random_range(0..12) {
                0 => drop(items.remove(place)),
                1 => items.push(items[place].clone()),
                _ => return mutate_json(&mut items[place], random),
            }
            return;
        }
        Value::Object(items) if !items.is_empty() => {
            let place = random.random_range(0..items.len());
            let key = items.keys().nth(place).cloned().unwrap_or_default();
            if random.random_range(0..12) == 0 {
                items.remove(&key);
                return;
            }
            items.get_mut(&key)
        }
        _ => None,
    };
    match below {
        Some(below) => mutate_json(below, random),
        None => {
            let values = [
                json!(null),
                json!(0),
                json!(-1),
                json!(1e308),
                json!(u64::MAX),
                json!(0.5),
                json!(""),
                json!("x"),
                json!("*"),
                json!([]),
                json!({}),
                json!(true),
                json!([[]]),
                json!(4_000_000_000u64),
            ];
            *value = values[random.random_range(0..values.len())].clone();
        }
    }
}

/// Has `read` see many damaged inputs.
#[expect(clippy::disallowed_types, reason = "somebody may ask for minutes")]
fn hold(times: u64, read: impl Fn(&mut ChaCha20Rng)) {
    let given =
        |name: &str| -> Option<f64> { std::env::var_os(name)?.to_str()?.parse().ok() };
    let minutes =
        given("SCUMBLE_FUZZ_MINUTES").map(|minutes: f64| minutes.clamp(0.0, 1e4));
    let end = minutes.map(|minutes| {
        std::time::Instant::now() + Duration::from_secs_f64(60.0 * minutes)
    });
    let first = given("SCUMBLE_FUZZ_FROM").unwrap_or(0.0) as u64;
    let goes_on = |number: u64| match end {
        Some(end) => std::time::Instant::now() < end,
        None => number < first + times,
    };
    let mut number = first;
    while goes_on(number) {
        let mut random = ChaCha20Rng::seed_from_u64(number);
        let done = catch_unwind(AssertUnwindSafe(|| read(&mut random)));
        assert!(done.is_ok(), "number {number} panics");
        number += 1;
    }
}

fn read_all(source: &Source) {
    let columns: Vec<_> = source.columns().collect();
    let _ = source.fold(&columns, || (), |(), _, _| Ok(()), &Unwatched);
    let options = Options { table: "t.csv".to_owned(), ..Options::default() };
    let _ = inspect(source, &options);
}

#[test]
fn tables() {
    let [(_, table), ..] = files();
    hold(400, |random| {
        let bytes = mutate(&table, random);
        for name in ["t.csv", "t.tsv", "t.parquet", "t"] {
            let options = ReadOptions::default();
            if let Ok(source) = Source::from_bytes(name, bytes.clone(), &options) {
                read_all(&source);
            }
        }
    });
}

#[test]
fn recipes() {
    hold(1_500, |random| {
        let way = &WAYS[random.random_range(0..WAYS.len())];
        let recipe = mutate(way.recipe("").as_bytes(), random);
        let _ = Spec::parse(&String::from_utf8_lossy(&recipe), "recipe.toml");
    });
}

#[test]
fn recipes_in_json() {
    let recipe = json!({
        "input": { "table": "t.csv", "missing": ["", "?"] },
        "columns": {
            "age": { "role": "quasi", "type": "number", "hierarchy": { "widths": [5, 10] } },
            "zip": { "role": "quasi", "hierarchy": { "mask": "right" } },
            "illness": "sensitive",
        },
        "promise": { "k-anonymity": 4, "l-diversity": { "l": 2, "kind": "entropy" } },
        "method": { "name": "mondrian", "suppression": 0.05 },
        "release": { "directory": "out", "format": "parquet" },
    });
    let text = recipe.to_string();
    Spec::from_json(&text, "recipe.json").unwrap();
    hold(1_500, |random| {
        let mut damaged = recipe.clone();
        mutate_json(&mut damaged, random);
        let _ = Spec::from_json(&damaged.to_string(), "recipe.json");
        let bytes = mutate(text.as_bytes(), random);
        let _ = Spec::from_json(&String::from_utf8_lossy(&bytes), "recipe.json");
    });
}

/// Files that a recipe names beside the table: bounds, knowledge, hierarchies.
#[test]
fn files_beside_the_table() {
    let table = "age,town,illness\n20,Ghent,flu\n31,Ghent,cold\n42,Lima,flu\n53,Lima,hiv\n\
                 24,Ghent,cold\n35,Lima,flu\n46,Ghent,cold\n57,Lima,hiv\n";
    let bounds = "value,prior,posterior\nflu,,\ncold,0.4,0.7\nhiv,0.2,0.5\n";
    let tree = "Ghent;Belgium;*\nLima;Peru;*\n";
    let known = "town,illness,probability\nGhent,flu,0.3\nGhent,cold,0.7\nLima,flu,0.5\n\
                 Lima,hiv,0.5\n";
    let columns = "input.table = \"t.csv\"\ncolumns.age = { role = \"quasi\", \
                   type = \"number\" }\ncolumns.illness = \"sensitive\"\n";
    let recipes = [
        "columns.town = \"quasi\"\npromise.fine-grain = { csv = \"bounds.csv\" }\n\
         method.name = \"fine-grain-perturbation\"\n",
        "columns.town = { role = \"quasi\", hierarchy = { csv = \"tree.csv\" } }\n\
         promise.k-anonymity = 2\nmethod.name = \"full-domain\"\n",
        "columns.town = \"quasi\"\npromise.r-robustness = { r = 1.5, signatures = \
         [[\"town\"]], knowledge = \"known.csv\" }\nmethod.name = \"robust\"\n",
    ];
    let recipes = recipes.map(|more| format!("{columns}{more}"));
    let specs = recipes.map(|recipe| Spec::parse(&recipe, "recipe.toml").unwrap());
    let run = |spec: &Spec, given: [(&str, Vec<u8>); 4]| {
        let given = given.map(|(name, bytes)| (name.to_owned(), Input::Bytes(bytes)));
        let request = Request { seed: Some(1), ..Request::in_memory(spec, given) };
        publish(request, &Unwatched)
    };
    let whole = || {
        let files = [("t.csv", table), ("bounds.csv", bounds), ("tree.csv", tree)];
        let [a, b, c] = files.map(|(name, text)| (name, text.as_bytes().to_vec()));
        [a, b, c, ("known.csv", known.as_bytes().to_vec())]
    };
    for spec in &specs[..2] {
        run(spec, whole()).unwrap();
    }
    hold(600, |random| {
        let mut given = whole();
        let place = random.random_range(0..specs.len());
        given[place + 1].1 = mutate(&given[place + 1].1, random);
        let _ = run(&specs[place], given);
    });
}

#[test]
fn ledgers() {
    let home = folder(&[]);
    let path = home.path().join("ledger.json");
    let whole = json!({
        "kind": "scumble ledger", "version": 1,
        "releases": [{
            "directory": "first", "manifest": "0".repeat(64), "rows": 8,
            "columns": ["age"], "promises": ["k-anonymity"],
        }],
    });
    fs::write(&path, whole.to_string()).unwrap();
    assert_eq!(Ledger::open(&path).unwrap().entries().len(), 1);
    hold(1_000, |random| {
        let mut damaged = whole.clone();
        mutate_json(&mut damaged, random);
        let bytes = match random.random_range(0..2) {
            0 => damaged.to_string().into_bytes(),
            _ => mutate(whole.to_string().as_bytes(), random),
        };
        fs::write(&path, bytes).unwrap();
        if let Ok(ledger) = Ledger::open(&path) {
            let _ = ledger.releases();
        }
    });
}

#[test]
fn tables_that_are_published() {
    hold(150, |random| {
        let way = &WAYS[random.random_range(0..WAYS.len())];
        let mut given = files();
        let damaged = random.random_range(0..3);
        given[damaged].1 = mutate(&given[damaged].1, random);
        let spec = Spec::parse(&way.recipe(""), "recipe.toml").unwrap();
        let given = given.map(|(name, bytes)| (name.to_owned(), Input::Bytes(bytes)));
        let request = Request { seed: Some(1), ..Request::in_memory(&spec, given) };
        let _ = publish(request, &Unwatched);
    });
}

#[test]
fn hierarchies_and_knowledge() {
    let tree =
        "Rome;Italy;Europe\nLima;Peru;America\n\"a;b\";Italy;Europe\n47901;4790*;*\n";
    let known = "sex,age,disease,probability\nm,,cancer,0.1\nf,41,\"flu, mild\",1e-2\n";
    hold(3_000, |random| {
        let tree = mutate(tree.as_bytes(), random);
        let tree = Tree::parse(&String::from_utf8_lossy(&tree), "tree.csv");
        if let Ok(tree) = tree {
            let _ = tree.check(&Reading::number());
        }
        let _ = Stated::parse(&mutate(known.as_bytes(), random), "known.csv");
    });
}

#[test]
fn questions() {
    let asked = "SELECT illness, COUNT(*), AVG(age), SHARE(cost > 3) FROM release WHERE age \
                 BETWEEN 20 AND 40 AND NOT (town = 'Ghent' OR zip LIKE '479%') GROUP BY \
                 illness ORDER BY 2 DESC LIMIT 5";
    hold(3_000, |random| {
        let asked = mutate(asked.as_bytes(), random);
        let _ = Query::parse(&String::from_utf8_lossy(&asked));
    });
}

/// The files of a release, by their names.
type Files = Vec<(String, Vec<u8>)>;

/// Releases of all kinds, with their plans.
fn published() -> Vec<(Files, String)> {
    let publish = |recipe: String| {
        let spec = Spec::parse(&recipe, "recipe.toml").unwrap();
        let given = files().map(|(name, bytes)| (name.to_owned(), Input::Bytes(bytes)));
        let request = Request { seed: Some(1), ..Request::in_memory(&spec, given) };
        let published = publish(request, &Unwatched).unwrap();
        let store = published.release.store();
        let names = store.files().unwrap().into_iter();
        let files = names.map(|name| (name.clone(), store.read(&name).unwrap()));
        (files.collect(), published.plan.to_json().unwrap())
    };
    let ways = WAYS.iter().step_by(2).map(|way| way.recipe(""));
    let as_parquet = WAYS
        .iter()
        .step_by(9)
        .map(|way| format!("{}\n[release]\nformat = \"parquet\"\n", way.recipe("")));
    ways.chain(as_parquet).map(publish).collect()
}

fn is_damaged_plan(plan: &str, random: &mut ChaCha20Rng) {
    let mut value: Value = serde_json::from_str(plan).unwrap();
    mutate_json(&mut value, random);
    let _ = Plan::from_json(&value.to_string(), "plan.json");
}

/// Whoever damages a release can write checksums, too.
fn signed(files: &mut [(String, Vec<u8>)], random: &mut ChaCha20Rng) -> Store {
    let store = Store::memory();
    let mut manifest = Value::Null;
    for (name, bytes) in files.iter() {
        store.write(name, bytes).unwrap();
        if name == "manifest.json" {
            manifest = serde_json::from_slice(bytes).unwrap();
        }
    }
    if random.random_range(0..2) == 0 {
        mutate_json(&mut manifest, random);
    } else {
        let names = ["data.csv", "data.parquet", "cells.csv", "sensitive.csv"];
        let data: Vec<&(String, Vec<u8>)> =
            files.iter().filter(|(name, _)| names.contains(&&**name)).collect();
        let (name, bytes) = data[random.random_range(0..data.len())];
        store.write(name, &mutate(bytes, random)).unwrap();
    }
    for (name, _) in files.iter().filter(|(name, _)| name != "manifest.json") {
        if manifest["checksums"].is_object() {
            manifest["checksums"][name.as_str()] = json!(store.checksum(name).unwrap());
        }
    }
    store.write("manifest.json", manifest.to_string().as_bytes()).unwrap();
    store
}

#[test]
fn releases_and_plans() {
    let releases = published();
    let [(_, table), ..] = files();
    let table = Source::from_bytes("t.csv", table, &ReadOptions::default()).unwrap();
    hold(500, |random| {
        let (mut files, plan) =
            releases[random.random_range(0..releases.len())].clone();
        is_damaged_plan(&plan, random);
        let whole = Store::memory();
        files.iter().for_each(|(name, bytes)| whole.write(name, bytes).unwrap());
        let whole = Release::of(whole).unwrap();
        let Ok(release) = Release::of(signed(&mut files, random)) else { return };
        let _ = audit(&release, &Given::default(), &Unwatched);
        if let Ok(original) = Original::read(&table, &release.manifest, &Unwatched) {
            let given = Given { original: Some(&original), ..Given::default() };
            let _ = audit(&release, &given, &Unwatched);
            let _ = together(&[&whole, &release], &table, &Unwatched);
        }
        let Ok(evidence) = Evidence::read(&release, &Unwatched) else { return };
        for asked in [
            "SELECT COUNT(*) FROM r WHERE age > 30",
            "SELECT illness, COUNT(*) FROM r GROUP BY illness",
            "SELECT AVG(zip) FROM r",
            "SELECT SHARE(town = 'Ghent') FROM r",
        ] {
            let _ = evidence.answer(&Query::parse(asked).unwrap(), Way::Inverse);
        }
        let _ = evidence.draw(1);
        if let Ok(classifier) = Classifier::of(&evidence, "illness") {
            let point = vec![1.0; classifier.columns().len()];
            classifier.classify(&point, 5);
        }
    });
}

#[test]
fn rows_that_are_classified() {
    let blurred = published().into_iter().find(|(files, _)| {
        let manifest = files.iter().find(|(name, _)| name == "manifest.json");
        String::from_utf8_lossy(&manifest.unwrap().1).contains("\"blur\"")
    });
    let store = Store::memory();
    for (name, bytes) in blurred.unwrap().0 {
        store.write(&name, &bytes).unwrap();
    }
    let release = Release::of(store).unwrap();
    let evidence = Evidence::read(&release, &Unwatched).unwrap();
    let classifier = Classifier::of(&evidence, "illness").unwrap();
    let [(_, table), ..] = files();
    let table: Vec<u8> = table.into_iter().take(600).collect();
    let end = table.iter().rposition(|byte| *byte == b'\n').unwrap();
    hold(400, |random| {
        let bytes = mutate(&table[..end], random);
        let Ok(source) = Source::from_bytes("t.csv", bytes, &ReadOptions::default())
        else {
            return;
        };
        let numbers = classifier.columns().iter();
        let numbers = numbers.map(|name| (name.as_str(), Reading::number())).collect();
        let task = NumbersTask { numbers, exact: Vec::new(), wish: None, person: None };
        let Ok(rows) = Numbers::read(&source, &task, &Unwatched) else { return };
        let count = [1, 5, usize::MAX][random.random_range(0..3)];
        for row in 0..rows.n_rows {
            let point = rows.row(row);
            if !point.iter().any(|number| number.is_nan()) {
                classifier.classify(point, count);
            }
        }
    });
}
