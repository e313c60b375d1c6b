//! Shares of values beside readable cells: of enough people, those of the table, and nothing
//! new to whoever knows everybody's quasi values.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::release::Release;
use scumble::watch::Unwatched;

use crate::builder::{audited, folder, run};

const COLUMNS: &str = "[columns]\n\
    age = { role = \"quasi\", type = \"number\", hierarchy = { widths = [5, 20] } }\n\
    pay = { role = \"quasi\", type = \"number\" }\n\
    born = { role = \"quasi\", type = \"date\", hierarchy = { dates = [\"month\", \"year\"] } }\n\
    zip = { role = \"quasi\", hierarchy = { mask = \"right\" } }\n\
    job = \"quasi\"\nill = \"sensitive\"\n";

/// A table whose columns have common and rare values, and missing ones.
fn table(n: usize, random: &mut ChaCha20Rng) -> String {
    let mut text = String::from("age,pay,born,zip,job,ill\n");
    for _ in 0..n {
        let small = random.random::<f64>();
        let age = match random.random_range(0..20) {
            0 => String::new(),
            _ => (20 + (60.0 * small * small) as u32).to_string(),
        };
        let pay = match random.random_range(0..3) {
            0 => "1000".to_owned(),
            _ => format!(
                "{}.{}",
                random.random_range(500..9000),
                random.random_range(0..10)
            ),
        };
        let born = format!(
            "19{}-0{}-11",
            random.random_range(50..99),
            random.random_range(1..4)
        );
        let zip = format!(
            "{}{}{}",
            random.random_range(1..3),
            random.random_range(0..4),
            random.random_range(0..4)
        );
        let job = ["cook", "\"a, b\"", "=x", "judge", "smith"]
            [(5.0 * small * small) as usize];
        let ill = random.random_range(0..3);
        writeln!(text, "{age},{pay},{born},{zip},{job},{ill}").unwrap();
    }
    text
}

/// The entries of each column, as they stand in the file.
fn entries(release: &Path) -> BTreeMap<String, Vec<(String, u64)>> {
    let mut reader = csv::Reader::from_path(release.join("shares.csv")).unwrap();
    let mut found: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
    for line in reader.records() {
        let line = line.unwrap();
        let own = found.entry(line[0].to_owned()).or_default();
        own.push((line[1].to_owned(), line[2].parse().unwrap()));
    }
    found
}

/// Whether an entry of numbers or days stands for a value.
fn stands_for(entry: &str, value: &str) -> bool {
    let (entry, missing) = match entry.strip_suffix(" or missing") {
        Some(entry) => (entry, true),
        None => (entry, false),
    };
    if value.is_empty() {
        return missing || entry.is_empty();
    }
    let Some(inside) = entry.strip_suffix(')') else { return entry == value };
    let (low, high) = inside.trim_start_matches(['[', '(']).split_once(", ").unwrap();
    let from = low == "-inf" || number(low) <= number(value);
    from && (high == "inf" || number(value) < number(high))
}

/// A number, or the days of a date.
fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| text.replace('-', "").parse().unwrap())
}

#[test]
fn entries_are_of_k_people_and_those_of_the_table() {
    let random = &mut ChaCha20Rng::seed_from_u64(1);
    for (n, k, method) in
        [(40, 2, "full-domain"), (150, 4, "mondrian"), (400, 7, "full-domain")]
    {
        let text = table(n, random);
        let home = folder(&[("table.csv", &text)]);
        let recipe = format!(
            "promise.k-anonymity = {k}\n\
             method = {{ name = \"{method}\", suppression = 0.2 }}\n{COLUMNS}"
        );
        let recipe = match method {
            "mondrian" => recipe.replace(", suppression = 0.2", ""),
            _ => recipe,
        };
        let published = run(home.path(), &recipe, 1).unwrap();
        let note = published.manifest.shares.clone().expect("shares");
        assert_eq!(note.least, k);
        let shares = entries(&published.directory);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().unwrap().clone();
        let rows: Vec<csv::StringRecord> =
            reader.records().map(Result::unwrap).collect();
        for name in &note.columns {
            let place = header.iter().position(|column| column == name).unwrap();
            let values: Vec<&str> = rows.iter().map(|row| &row[place]).collect();
            let own = &shares[name];
            assert_eq!(own.iter().map(|(_, rows)| rows).sum::<u64>(), n as u64);
            for (entry, said) in own {
                assert!(*said >= k, "{name}: {entry} {said}");
                let has = |value: &&&str| match name.as_str() {
                    "job" | "zip" => {
                        let quoted = format!("\"{value}\"");
                        let inside =
                            entry.strip_prefix('{').and_then(|e| e.strip_suffix('}'));
                        let mut words = inside.unwrap_or(entry).split(", ");
                        // The only value with a comma is the one in quotes.
                        match inside {
                            Some(inside) if value.contains(',') => {
                                inside.contains(&quoted)
                            }
                            _ => words.any(|word| word == **value) || entry == **value,
                        }
                    }
                    _ => stands_for(entry, value),
                };
                let found = values.iter().filter(has).count() as u64;
                assert_eq!(found, *said, "{name}: {entry}");
            }
        }
        // Ranges end on lines of the grid, or beside numbers that k people have.
        for (entry, _) in shares.get("age").into_iter().flatten() {
            let entry = entry.trim_end_matches(" or missing");
            let Some(inside) = entry.strip_suffix(')') else { continue };
            let (low, high) = inside.trim_start_matches('[').split_once(", ").unwrap();
            let common = |age: i64| {
                let age = age.to_string();
                rows.iter().filter(|row| row[0] == age).count() as u64 >= k
            };
            for end in [low, high] {
                let end: i64 = end.parse().unwrap();
                assert!(end % 5 == 0 || common(end) || common(end - 1), "{entry}");
            }
        }
        audited(&published.release, Some(&text), None).unwrap();
    }
}

/// Everything that is published of all tables with these quasi values.
#[test]
fn who_knows_everybodys_quasi_values_learns_nothing_from_shares() {
    let quasi =
        [(21, 'p'), (22, 'p'), (22, 'q'), (34, 'p'), (35, 'q'), (36, 'q'), (36, 'q')];
    let columns = "[columns]\n\
        age = { role = \"quasi\", type = \"number\", hierarchy = { widths = [10, 20] } }\n\
        city = \"quasi\"\nill = \"sensitive\"\n";
    for promise in [
        "l-diversity = 2\nmethod = { name = \"full-domain\", suppression = 0.6 }",
        "l-diversity = 2\nmethod = { name = \"mondrian\", cells = \"interval\" }",
    ] {
        // How many tables give these rows, and these rows with these shares.
        let mut rows: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        let mut both: BTreeMap<(String, String), BTreeSet<u32>> = BTreeMap::new();
        for world in 0..1u32 << quasi.len() {
            let mut text = String::from("age,city,ill\n");
            for (row, (age, city)) in quasi.iter().enumerate() {
                writeln!(text, "{age},{city},{}", world >> row & 1).unwrap();
            }
            let home = folder(&[("table.csv", &text)]);
            let recipe = format!("promise.{promise}\n{columns}");
            let Ok(published) = run(home.path(), &recipe, 1) else { continue };
            let file = |name: &str| {
                std::fs::read_to_string(published.directory.join(name))
                    .unwrap_or_default()
            };
            rows.entry(file("data.csv")).or_default().insert(world);
            let seen = (file("data.csv"), file("shares.csv"));
            both.entry(seen).or_default().insert(world);
        }
        assert!(rows.len() > 3, "{}", rows.len());
        // What is possible, and how likely, is the same with and without shares, but for
        // columns that have none because they are published as they are.
        for ((data, _), worlds) in &both {
            assert_eq!(&rows[data], worlds);
        }
    }
}

#[test]
fn they_are_refused_where_they_would_tell_and_left_out_where_not_asked_for() {
    let text = "age,city\n21,p\n22,p\n23,q\n24,q\n25,q\n";
    let everyone = "age,city\n21,p\n22,p\n23,q\n24,q\n25,q\n26,q\n27,p\n";
    let home = folder(&[("table.csv", text), ("all.csv", everyone)]);
    let columns = "[columns]\n\
        age = { role = \"quasi\", type = \"number\", hierarchy = { widths = [10] } }\n\
        city = \"quasi\"\n";
    let presence = format!(
        "input.population = \"all.csv\"\npromise.k-map = 2\nmethod.name = \"full-domain\"\n{columns}"
    );
    let published = run(home.path(), &presence, 1).unwrap();
    assert_eq!(published.manifest.shares, None);
    let asked = format!("release.shares = \"column\"\n{presence}");
    let error = run(home.path(), &asked, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "recipe.toml:2:18: shares cannot be published beside `k-map`"
    );
    assert!(error.hints()[0].contains("does not know who is in the table"));

    let plain =
        format!("promise.k-anonymity = 2\nmethod.name = \"full-domain\"\n{columns}");
    assert!(run(home.path(), &plain, 1).unwrap().manifest.shares.is_some());
    let none = format!("release.shares = \"none\"\n{plain}");
    let published = run(home.path(), &none, 1).unwrap();
    assert!(!published.directory.join("shares.csv").exists());
    assert_eq!(published.manifest.shares, None);
    let group = format!("release.shares = \"group\"\n{plain}");
    let error = run(home.path(), &group, 1).unwrap_err();
    assert!(error.to_string().contains("unknown kind of shares `group`"), "{error}");
    let pdf = format!(
        "promise.k-anonymity = 2\nrelease.shares = \"column\"\n\
         method = {{ name = \"mondrian\", cells = \"pdf\" }}\n{columns}"
    );
    let error = run(home.path(), &pdf, 1).unwrap_err();
    assert!(error.to_string().contains("no quasi column has shares"), "{error}");
}

#[test]
fn entries_count_people_where_rows_are_not_people() {
    let mut text = String::from("id,age\n");
    // Everybody of 21 is one person; 30 has three people.
    for (id, age) in
        [(1, 21), (1, 21), (1, 21), (1, 21), (2, 30), (3, 30), (4, 30), (5, 41)]
    {
        writeln!(text, "{id},{age}").unwrap();
    }
    let home = folder(&[("table.csv", &text)]);
    let recipe = "input.person = \"id\"\n[columns]\nid = \"identifier\"\n\
        age = { role = \"quasi\", type = \"number\", hierarchy = { widths = [50] } }\n\
        [promise]\nk-anonymity = 3\n";
    let published = run(home.path(), recipe, 1).unwrap();
    let shares = entries(&published.directory);
    let said: Vec<(&str, u64)> =
        shares["age"].iter().map(|(entry, rows)| (&**entry, *rows)).collect();
    assert_eq!(said, [("[0, 50)", 8)]);
}

#[test]
fn shares_that_were_changed_are_found() {
    let text = "age,ill\n21,a\n21,b\n22,a\n22,b\n33,a\n33,b\n34,a\n34,b\n";
    let home = folder(&[("table.csv", text)]);
    let recipe = "[columns]\n\
        age = { role = \"quasi\", type = \"number\", lowest = 1, \
        hierarchy = { widths = [10] } }\n\
        ill = \"sensitive\"\n\
        [promise]\nk-anonymity = 2\n[method]\nname = \"full-domain\"\n";
    let published = run(home.path(), recipe, 1).unwrap();
    let path = published.directory.join("shares.csv");
    let whole = std::fs::read_to_string(&path).unwrap();
    assert_eq!(whole, "column,value,rows\nage,21,2\nage,22,2\nage,33,2\nage,34,2\n");
    let changed = |from: &str, to: &str, table: bool| {
        std::fs::write(&path, whole.replacen(from, to, 1)).unwrap();
        let manifest = published.directory.join("manifest.json");
        let mut value: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&manifest).unwrap()).unwrap();
        value["checksums"]["shares.csv"] =
            scumble::release::checksum(&path).unwrap().into();
        std::fs::write(&manifest, value.to_string()).unwrap();
        let release = Release::open(&published.directory).unwrap();
        let found = audited(&release, table.then_some(text), None);
        found.map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert_eq!(changed("21,2", "21,2", true), "");
    let short = "the shares of `age` are of 7 rows, but the table has 8";
    assert!(changed("21,2\nage,22,2", "21,3", false).ends_with(short));
    assert!(changed("21,2", "21,1", false).contains("not of at least 2 rows"));
    let odds = "the shares of `age` do not agree with its cells";
    assert!(changed("22,2", "35,2", false).contains(odds));
    let twice = "have a value in two entries";
    assert!(changed("22,2", "21,2", false).contains(twice));
    let table = "are not those of the table";
    assert_eq!(changed("22,2", "23,2", false), "");
    assert!(changed("22,2", "23,2", true).contains(table));
    assert!(changed("age,22", "ill,22", false).contains("has no shares"));

    // Who reads it is told, too.
    changed("22,2", "35,2", false);
    let release = Release::open(&published.directory).unwrap();
    let error = scumble::estimate::Evidence::read(&release, &Unwatched).unwrap_err();
    assert!(error.to_string().contains("the shares of `age`"), "{error}");
}
