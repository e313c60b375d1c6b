//! Questions to releases that say how often the values of columns occur in the table: exact
//! about one column, raked about several, within limits about all.

use std::fmt::Write as _;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::estimate::{Estimate, Evidence, Model, Query, Way};
use scumble::recipe::Published;
use scumble::watch::Unwatched;
use serde_json::{Value, json};

use crate::builder::{ByHand, column, folder, run, with};

/// The answers about the table.
fn told(evidence: &Evidence, question: &str) -> Vec<Estimate> {
    evidence.answer(&Query::parse(question).unwrap(), Way::Inverse).unwrap()
}

fn one(evidence: &Evidence, question: &str) -> Estimate {
    told(evidence, question).remove(0)
}

fn note(columns: &[&str]) -> Value {
    json!({ "file": "shares.csv", "columns": columns, "least": 1 })
}

fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-6, "{found} {wanted}");
}

/// Words in sets, beside a column that stands as it is.
fn words(rows: &[&str], shares: &str, left_out: u64) -> ByHand {
    let word = with(column("word", "quasi", "category"), "cells", json!("set"));
    let word = with(word, "hierarchy", json!({ "rule": "plain" }));
    ByHand::new(json!([word, column("ill", "sensitive", "category")]))
        .plain_rows(rows)
        .with("left_out", json!(left_out))
        .with("shares", note(&["word"]))
        .file("shares.csv", &format!("column,value,rows\n{shares}"))
}

#[test]
fn cells_are_as_even_as_shares_allow() {
    // Only one way: of {a, b} 4 are a, so 6 are b, and of {b, c} 4 are b.
    let rows: Vec<&str> = [vec!["\"{a, b}\",x"; 10], vec!["\"{b, c}\",y"; 10]].concat();
    let shares = "word,a,4\nword,b,10\nword,c,6\n";
    let evidence = words(&rows, shares, 0).evidence().unwrap();
    for (word, ill, wanted) in
        [("a", "x", 4.0), ("b", "x", 6.0), ("b", "y", 4.0), ("c", "y", 6.0)]
    {
        let question =
            format!("SELECT COUNT(*) FROM r WHERE word = '{word}' AND ill = '{ill}'");
        near(one(&evidence, &question).count, wanted);
    }
    // Limits follow from both: no more than 4 of the 10.
    let both = one(&evidence, "SELECT COUNT(*) FROM r WHERE word = 'a' AND ill = 'x'");
    assert_eq!((both.at_least, both.at_most), (0.0, 4.0));
    let never = one(&evidence, "SELECT COUNT(*) FROM r WHERE word = 'c' AND ill = 'x'");
    assert_eq!((never.count, never.at_most), (0.0, 0.0));

    // Several ways: `*` has all of c, and of a and b as the other cell.
    let rows: Vec<&str> = [vec!["*,x"; 10], vec!["\"{a, b}\",y"; 10]].concat();
    let evidence =
        words(&rows, "word,a,6\nword,b,8\nword,c,6\n", 0).evidence().unwrap();
    for (word, ill, wanted) in [
        ("a", "x", 4.0 * 6.0 / 14.0),
        ("b", "x", 4.0 * 8.0 / 14.0),
        ("c", "x", 6.0),
        ("a", "y", 10.0 * 6.0 / 14.0),
    ] {
        let question =
            format!("SELECT COUNT(*) FROM r WHERE word = '{word}' AND ill = '{ill}'");
        near(one(&evidence, &question).count, wanted);
    }
}

#[test]
fn one_column_is_exact_about_the_table() {
    let rows: Vec<&str> = [vec!["\"{a, b}\",x"; 6], vec!["*,y"; 2]].concat();
    let shares = "word,a,4\nword,b,3\nword,\"{c, d} or missing\",3\n";
    let evidence = words(&rows, shares, 2).evidence().unwrap();
    let a = one(&evidence, "SELECT COUNT(*) FROM r WHERE word = 'a'");
    assert_eq!((a.count, a.standard_error), (4.0, Some(0.0)));
    assert_eq!((a.at_least, a.at_most), (4.0, 4.0));
    // What entries leave open is open, and no more.
    let c = one(&evidence, "SELECT COUNT(*) FROM r WHERE word = 'c'");
    assert_eq!((c.count, c.at_least, c.at_most), (1.0, 0.0, 3.0));
    let missing = one(&evidence, "SELECT COUNT(*) FROM r WHERE word IS NULL");
    near(missing.count, 1.0);
    let either =
        one(&evidence, "SELECT COUNT(*) FROM r WHERE word = 'b' OR word IN ('a', 'z')");
    assert_eq!((either.count, either.standard_error), (7.0, Some(0.0)));
    let groups = told(&evidence, "SELECT word, COUNT(*) FROM r GROUP BY word");
    near(groups.iter().map(|group| group.count).sum(), 10.0);
    // All rows, those that were left out among them.
    near(one(&evidence, "SELECT COUNT(*) FROM r").count, 10.0);
    // Left-out rows have what the cells leave of the shares: 7 of a and b, 6 in their cell.
    let all = told(&evidence, "SELECT word, ill, COUNT(*) FROM r GROUP BY word, ill");
    near(all.iter().map(|group| group.count).sum(), 10.0);
    let share = one(&evidence, "SELECT SHARE(word = 'a') FROM r");
    near(share.count, 0.4);
    assert_eq!(share.standard_error, Some(0.0));
}

#[test]
fn numbers_are_raked_by_stretches() {
    let age = with(column("age", "quasi", "number"), "cells", json!("interval"));
    let age =
        with(with(age, "decimals", json!(0)), "hierarchy", json!({ "rule": "plain" }));
    let rows: Vec<&str> =
        [vec!["\"[0, 9]\",x"; 10], vec!["\"[5, 14] or missing\",y"; 10]].concat();
    // [0, 9] has the 7 of [0, 5) and so 3 of the next; the other cell has the rest.
    let shares = "age,\"[0, 5)\",7\nage,\"[5, 10)\",8\nage,12,4\nage,,1\n";
    let evidence = ByHand::new(json!([age, column("ill", "sensitive", "category")]))
        .plain_rows(&rows)
        .with("shares", note(&["age"]))
        .file("shares.csv", &format!("column,value,rows\n{shares}"))
        .evidence()
        .unwrap();
    let count = |condition: &str| {
        one(&evidence, &format!("SELECT COUNT(*) FROM r WHERE {condition}")).count
    };
    near(count("age < 5 AND ill = 'x'"), 7.0);
    near(count("age >= 5 AND ill = 'x'"), 3.0);
    near(count("age = 6 AND ill = 'x'"), 0.6);
    near(count("age = 12 AND ill = 'y'"), 4.0);
    near(count("age = 13"), 0.0);
    near(count("age IS NULL AND ill = 'y'"), 1.0);
    near(count("age BETWEEN 5 AND 9 AND ill = 'y'"), 5.0);
    let exact = one(&evidence, "SELECT COUNT(*) FROM r WHERE age < 10");
    assert_eq!((exact.count, exact.standard_error), (15.0, Some(0.0)));
    let sum = 7.0 * 2.0 + 8.0 * 7.0 + 4.0 * 12.0;
    near(one(&evidence, "SELECT SUM(age) FROM r").count, sum);
    let own = one(&evidence, "SELECT SUM(age) FROM r WHERE ill = 'y'").count;
    near(own, 5.0 * 7.0 + 4.0 * 12.0);

    // Tables that are drawn have nothing that shares exclude.
    let drawn = &evidence.draw(3).unwrap().columns[0];
    for code in &drawn.codes {
        let age = &drawn.texts[*code as usize];
        assert!(
            age.is_empty() || **age == *"12" || age.parse::<u32>().unwrap() < 10,
            "{age}"
        );
    }
}

#[derive(Debug, Clone, Copy)]
struct Person {
    age: u32,
    city: usize,
    sex: usize,
}

const CITIES: [&str; 5] = ["p1", "p2", "p3", "q1", "q2"];

fn people(n: usize, random: &mut ChaCha20Rng) -> Vec<Person> {
    let person = |_| {
        let age = 18 + (50.0 * random.random::<f64>().powi(2)) as u32;
        let city = (5.0 * random.random::<f64>().powi(1 + (age > 30) as i32)) as usize;
        Person { age, city, sex: usize::from(random.random::<f64>() < 0.4) }
    };
    (0..n).map(person).collect()
}

fn published(people: &[Person], more: &str) -> (tempfile::TempDir, Published) {
    let mut text = String::from("age,city,sex\n");
    for Person { age, city, sex } in people {
        writeln!(text, "{age},{},{}", CITIES[*city], ["f", "m"][*sex]).unwrap();
    }
    let lines = CITIES.iter().map(|leaf| format!("{leaf};{};*\n", &leaf[..1]));
    let home =
        folder(&[("table.csv", &text), ("city.csv", &lines.collect::<String>())]);
    let recipe = format!(
        "promise.k-anonymity = 10\nrelease.calibration = \"none\"\n{more}[columns]\n\
         age = {{ role = \"quasi\", type = \"number\", hierarchy = {{ widths = [5, 10, 20] }} }}\n\
         city = {{ role = \"quasi\", hierarchy = {{ csv = \"city.csv\" }} }}\nsex = \"quasi\"\n"
    );
    let published = run(home.path(), &recipe, 1).unwrap();
    (home, published)
}

#[test]
fn raked_answers_are_nearer_to_the_truth_and_no_limit_is_left() {
    let random = &mut ChaCha20Rng::seed_from_u64(5);
    for method in [
        "method = { name = \"full-domain\", suppression = 0.05 }\n",
        "method.name = \"mondrian\"\n",
        "method = { name = \"mondrian\", cells = \"interval\" }\n",
    ] {
        let people = people(600, random);
        let (_raked, with) = published(&people, method);
        let none = format!("{method}release.shares = \"none\"\n");
        let (_even, without) = published(&people, &none);
        let evidence = |published: &Published| {
            let evidence = Evidence::read(&published.release, &Unwatched).unwrap();
            evidence.with_model(Model::Even)
        };
        let (raked, even) = (evidence(&with), evidence(&without));
        let (mut off, mut off_even) = (0.0, 0.0);
        for _ in 0..60 {
            let low = random.random_range(18..60);
            let high = low + random.random_range(0..12);
            let city = random.random_range(0..5);
            let fits = |person: &&Person| {
                (low..=high).contains(&person.age) && person.city == city
            };
            let truth = people.iter().filter(fits).count() as f64;
            let question = format!(
                "SELECT COUNT(*) FROM r WHERE age BETWEEN {low} AND {high} AND city = '{}'",
                CITIES[city]
            );
            let found = one(&raked, &question);
            assert!(
                found.at_least <= truth && truth <= found.at_most,
                "{question} {found:?}"
            );
            let before = one(&even, &question);
            off += (found.count - truth).abs();
            off_even += (before.count - truth).abs();
        }
        assert!(off < 0.8 * off_even, "{method} {off} {off_even}");
    }
}
