use std::fs;

use super::*;
use crate::recipe::{Request, Spec, Yardstick, YardstickOptions, publish};
use crate::release::Release;
use crate::watch::Unwatched;

const RECIPE: &str = "[input]\ntable = \"t.csv\"\n[columns]\nname = \"identifier\"\n\
                      age = \"quasi\"\ncity = \"quasi\"\ncost = { role = \"sensitive\", type = \"number\" }\n\
                      ill = \"sensitive\"\n[promise]\nk-anonymity = { k = 2 }\n";

/// Age, city, cost (missing for some) and illness.
type Person = (u32, &'static str, Option<u32>, &'static str);

/// Sixty of them.
fn people() -> Vec<Person> {
    let person = |n: u32| {
        let city = ["Ulm", "Bonn", "Jena"][(n % 3) as usize];
        let ill = if n * n % 7 < 3 { "yes" } else { "no" };
        (20 + n * 7 % 40, city, (!n.is_multiple_of(5)).then_some(n * 13 % 50), ill)
    };
    (0..60).map(person).collect()
}

fn asked(questions: &str) -> Result<(tempfile::TempDir, Yardstick)> {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "name,age,city,cost,ill\n".to_owned();
    for (n, (age, city, cost, ill)) in people().into_iter().enumerate() {
        let cost = cost.map_or_else(String::new, |cost| cost.to_string());
        table.push_str(&format!("n{n},{age},{city},{cost},{ill}\n"));
    }
    fs::write(folder.path().join("t.csv"), table).unwrap();
    let spec = Spec::parse(RECIPE, "r.toml").unwrap();
    let questions = Some(Questions::parse(questions, "q.sql")?);
    let options =
        YardstickOptions { questions, draws: 0, ..YardstickOptions::default() };
    let yardstick = Yardstick::new(&spec, folder.path(), options, &Unwatched)?;
    Ok((folder, yardstick))
}

fn truths(questions: &str) -> Vec<(Vec<String>, f64)> {
    let (_folder, yardstick) = asked(questions).unwrap();
    let asked = yardstick.workload().questions.iter();
    asked.map(|asked| (asked.values.clone(), asked.truth)).collect()
}

#[test]
fn statements_end_at_lines_or_semicolons() {
    let found = |text: &str| -> Vec<(usize, usize, String)> {
        let trimmed = |(line, column, text): (usize, usize, String)| {
            (line, column, text.trim().to_owned())
        };
        statements(text).into_iter().map(trimmed).collect()
    };
    let by_line = "-- mine\na 'x--y'\n\n  b -- and so; on\n";
    assert_eq!(found(by_line), [(2, 1, "a 'x--y'".into()), (4, 3, "b".into())]);
    let ended = "a\n b ';' ; c;\n\n-- d;\n  e";
    assert_eq!(
        found(ended),
        [(1, 1, "a\n b ';'".into()), (2, 10, "c".into()), (5, 3, "e".into())]
    );
    assert_eq!(found("\u{feff} ; ;\n--x"), []);
}

#[test]
fn truths_are_those_of_the_table() {
    let people = people();
    let count = |of: &dyn Fn(&Person) -> bool| {
        people.iter().filter(|person| of(person)).count() as f64
    };
    let costs = |city: &str| -> Vec<f64> {
        let own = people.iter().filter(|(_, own, ..)| *own == city);
        own.filter_map(|(_, _, cost, _)| cost.map(f64::from)).collect()
    };
    let one = |question: &str| truths(question)[0].1;
    assert_eq!(
        one("SELECT COUNT(*) WHERE age > 30 AND (city = 'Ulm' OR NOT ill = 'no')"),
        count(&|&(age, city, _, ill)| age > 30 && (city == "Ulm" || ill != "no"))
    );
    // What is not known is neither.
    assert_eq!(
        one("SELECT COUNT(*) WHERE NOT cost < 20"),
        count(&|&(_, _, cost, _)| cost.is_some_and(|cost| cost >= 20))
    );
    assert_eq!(one("SELECT COUNT(*) WHERE cost IS NULL"), 12.0);
    let ulm: f64 = costs("Ulm").iter().sum();
    assert_eq!(one("SELECT SUM(Cost) WHERE city = 'Ulm'"), ulm);
    assert_eq!(
        one("SELECT SHARE(ill = 'yes') WHERE city = 'Ulm'"),
        count(&|&(_, city, _, ill)| city == "Ulm" && ill == "yes") / 20.0
    );
    assert_eq!(one("SELECT SHARE(*) WHERE city = 'Ulm'"), 20.0 / 60.0);
    let means = truths("SELECT city, AVG(cost), COUNT(*) GROUP BY city");
    assert_eq!(means.len(), 6);
    for (values, truth) in &means[..3] {
        let costs = costs(&values[0]);
        let mean = costs.iter().sum::<f64>() / costs.len() as f64;
        assert!((truth - mean).abs() < 1e-9, "{values:?}");
    }
    assert!(means[3..].iter().all(|(_, truth)| *truth == 20.0));
}

#[test]
fn a_release_is_asked_them() {
    let (folder, yardstick) = asked(
        "SELECT COUNT(*);\nSELECT ill, COUNT(*) GROUP BY ill;\nSELECT COUNT(*) WHERE age = 27 AND ill = 'yes';",
    )
    .unwrap();
    assert!(yardstick.ends().own_questions);
    assert_eq!(yardstick.ends().questions.iter().sum::<usize>(), 4);
    let spec = Spec::parse(RECIPE, "r.toml").unwrap();
    let directory = Some(folder.path().join("release"));
    let request =
        Request { directory, seed: Some(1), ..Request::new(&spec, folder.path()) };
    let published = publish(request, &Unwatched).unwrap();
    let release = Release::open(&published.directory).unwrap();
    let measured = yardstick.measure(&release, &Unwatched).unwrap();
    // All but the one about age follow from columns that are published as they are.
    assert_eq!((measured.exact, measured.open), (3, 1), "{measured:?}");
    assert!(measured.width.unwrap() > 0.0);
    assert!(measured.interval_score >= measured.width);
}

#[test]
fn mistakes_have_their_line() {
    let error = |questions: &str| {
        let error = asked(questions).unwrap_err();
        assert!(!error.hints().is_empty(), "{error}");
        error.to_string()
    };
    let fine = "SELECT COUNT(*)\n-- next\n";
    let at = |rest: &str| error(&format!("{fine}  {rest}\n"));
    assert_eq!(error("-- nothing\n\n"), "q.sql: the file has no questions");
    assert!(at("SELECT COUNT(").starts_with("q.sql:3:3: this is not SQL: "));
    assert_eq!(
        at("SELECT COUNT(*) WHERE agee > 3"),
        "q.sql:3:3: no column is called `agee`"
    );
    assert_eq!(
        at("SELECT COUNT(*) WHERE name = 'n1'"),
        "q.sql:3:3: no column is called `name`"
    );
    assert_eq!(
        at("SELECT COUNT(*) WHERE CELL(age) = '*'"),
        "q.sql:3:3: `CELL(age)` is about a release"
    );
    assert_eq!(at("SELECT SUM(city)"), "q.sql:3:3: `city` has no numbers");
    assert_eq!(
        at("SELECT AVG(cost) WHERE age > 900"),
        "q.sql:3:3: no row of the table is meant"
    );
    assert_eq!(
        at("SELECT COUNT(*) WHERE ill > 3"),
        "q.sql:3:3: `ill` has words, but is compared with a number"
    );
}
