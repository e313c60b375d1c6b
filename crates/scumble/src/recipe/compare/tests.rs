use std::fs;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::estimate::{Check, Comparison, Condition, Literal};
use crate::recipe::{Asked, Request, publish};
use crate::watch::Unwatched;

const RECIPE: &str = "[input]\ntable = \"t.csv\"\n[columns]\nname = \"identifier\"\n\
                      age = \"quasi\"\ncity = \"quasi\"\nborn = { role = \"other\", type = \"date\" }\n\
                      illness = \"sensitive\"\n[promise]\nk-anonymity = { k = 2 }\n";

type Person = (Option<u32>, String, Option<String>, &'static str);

fn people(n_rows: usize, seed: u64) -> Vec<Person> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    (0..n_rows)
        .map(|_| {
            let age = random.random_range(20..60);
            let city = format!("c{}", random.random_range(0..6));
            let born = format!("19{}-0{}-1{}", 50 + age % 40, 1 + age % 9, age % 7);
            let illness = ["flu", "gout"][usize::from(age > 40)];
            let known = random.random_range(0..9) > 0;
            (known.then_some(age), city, known.then_some(born), illness)
        })
        .collect()
}

/// A folder with the table, and the yardstick of it.
fn yardstick(people: &[Person], queries: usize) -> (tempfile::TempDir, Yardstick) {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "name,age,city,born,illness\n".to_owned();
    for (number, (age, city, born, illness)) in people.iter().enumerate() {
        let age = age.map_or(String::new(), |age| age.to_string());
        let born = born.clone().unwrap_or_default();
        text.push_str(&format!("n{number},{age},{city},{born},{illness}\n"));
    }
    fs::write(folder.path().join("t.csv"), text).unwrap();
    let spec = Spec::parse(RECIPE, "r.toml").unwrap();
    let options = YardstickOptions { queries, draws: 2, ..YardstickOptions::default() };
    let yardstick = Yardstick::new(&spec, folder.path(), options, &Unwatched).unwrap();
    (folder, yardstick)
}

/// Whether a person satisfies a condition, by its words.
fn satisfies(person: &Person, condition: &Condition) -> bool {
    let test = match condition {
        Condition::And(parts) => {
            return parts.iter().all(|part| satisfies(person, part));
        }
        Condition::Test(test) => test,
        other => panic!("{other:?}"),
    };
    let (age, city, born, illness) = person;
    match (&*test.column, &test.check) {
        ("age", Check::Compare(comparison, Literal::Number(end))) => {
            let ordering = age.map(|age| f64::from(age).total_cmp(end));
            ordering.is_some_and(|ordering| match comparison {
                Comparison::AtLeast => ordering.is_ge(),
                _ => ordering.is_le(),
            })
        }
        ("born", Check::Compare(comparison, Literal::Text(end))) => {
            born.as_ref().is_some_and(|born| match comparison {
                Comparison::AtLeast => born >= end,
                _ => born <= end,
            })
        }
        (name, Check::Among(words)) => {
            let own = if name == "city" { city.as_str() } else { illness };
            words.contains(&Literal::Text(own.to_owned()))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn truths_are_those_of_brute_force() {
    let people = people(700, 3);
    let (_, yardstick) = yardstick(&people, 80);
    let questions = &yardstick.workload().questions;
    assert_eq!(questions.len(), 80);
    for asked in questions {
        let truth =
            people.iter().filter(|p| satisfies(p, &asked.query.condition)).count();
        assert_eq!(asked.truth, truth as f64, "{:?}", asked.query);
        assert!(truth > 0);
        let share = truth as f64 / 700.0;
        assert!(share < BANDS[asked.band].below);
        assert!(asked.band == 0 || share >= BANDS[asked.band - 1].below);
    }
    assert_eq!(yardstick.ends().questions, [20; 4]);
    let columns = |name: &str| {
        let text = |asked: &&Asked| format!("{:?}", asked.query).contains(name);
        questions.iter().filter(text).count()
    };
    for name in ["age", "city", "born", "illness"] {
        assert!(columns(name) > 15, "{name}");
    }
}

#[test]
fn a_release_that_lost_nothing_has_no_error() {
    // Everybody three times, so that nothing needs hiding.
    let people: Vec<Person> =
        people(150, 4).iter().flat_map(|p| vec![p.clone(); 3]).collect();
    let (folder, yardstick) = yardstick(&people, 40);
    let spec = Spec::parse(RECIPE, "r.toml").unwrap();
    let directory = Some(folder.path().join("release"));
    let request =
        Request { directory, seed: Some(1), ..Request::new(&spec, folder.path()) };
    let published = publish(request, &Unwatched).unwrap();
    let release = Release::open(&published.directory).unwrap();
    let measured = yardstick.measure(&release, &Unwatched).unwrap();
    assert_eq!(measured.notes, Vec::<String>::new());
    assert_eq!(measured.query_error, Some(0.0));
    // Nothing is open, so no interval is looked at.
    let n_questions = yardstick.workload().questions.len();
    assert_eq!((measured.exact, measured.open), (n_questions, 0));
    assert_eq!((measured.coverage, measured.open_error), (None, None));
    assert_eq!(measured.rule_error, Some(0.0));
    let ends = yardstick.ends();
    assert_eq!(ends.class.as_deref(), Some("illness"));
    // Age decides the class, but is missing in one row of nine.
    let accuracy = measured.accuracy.unwrap();
    assert!(accuracy.tree > 0.85 && ends.best.unwrap().tree > 0.85);
    assert!(ends.guess.unwrap() < 0.7);
    assert_eq!(yardstick.measure(&release, &Unwatched).unwrap(), measured);
}

#[test]
fn a_class_that_is_not_there_is_an_error() {
    let (folder, _) = yardstick(&people(20, 5), 4);
    let spec = Spec::parse(RECIPE, "r.toml").unwrap();
    let error = |class: &str| {
        let class = Some(class.to_owned());
        let options = YardstickOptions { class, ..YardstickOptions::default() };
        Yardstick::new(&spec, folder.path(), options, &Unwatched).unwrap_err()
    };
    assert_eq!(error("ilness").to_string(), "no column is called `ilness`");
    assert_eq!(error("ilness").hints(), ["the table has `illness`"]);
    assert_eq!(
        error("name").to_string(),
        "the class `name` is not published by this recipe"
    );
}

/// What is not open is not scored: whoever publishes quasi values as they are answers
/// questions about them exactly, and is found by them.
#[test]
fn noise_leaves_only_questions_about_its_column_open() {
    let people = people(300, 9);
    let (folder, yardstick) = yardstick(&people, 60);
    let recipe = RECIPE.replace(
        "k-anonymity = { k = 2 }",
        "breach = { prior = 0.4, posterior = 0.6 }",
    );
    let spec = Spec::parse(&recipe, "r.toml").unwrap();
    let directory = Some(folder.path().join("release"));
    let request =
        Request { directory, seed: Some(1), ..Request::new(&spec, folder.path()) };
    let published = publish(request, &Unwatched).unwrap();
    let release = Release::open(&published.directory).unwrap();
    let measured = yardstick.measure(&release, &Unwatched).unwrap();
    let questions = &yardstick.workload().questions;
    let about = |asked: &&Asked| asked.query.columns().contains(&"illness");
    let about_illness = questions.iter().filter(about).count();
    assert!(about_illness > 10 && measured.open <= about_illness);
    assert_eq!(measured.exact + measured.open, 60);
    assert!(measured.query_error < measured.open_error);
    let mut tuples: Vec<_> = people.iter().map(|(age, city, ..)| (age, city)).collect();
    tuples.sort();
    tuples.dedup();
    let found = tuples.len() as f64 / published.manifest.rows as f64;
    assert!((measured.found_untouched.unwrap() - found).abs() < 1e-9);
}
