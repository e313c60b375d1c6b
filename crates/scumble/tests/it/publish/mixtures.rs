//! Several methods in one recipe, each for its columns: what is published keeps every promise,
//! judged here from the files alone; what does not go together says why.

use std::collections::{BTreeMap, BTreeSet};

use scumble::estimate::Evidence;
use scumble::watch::Unwatched;

use crate::builder::{Record, ask, audited, folder, records, run};

/// People with everything a method may want.
fn people(n: usize) -> String {
    let mut text = String::from("id,age,weight,town,ward,illness,hiv\n");
    for row in 0..n {
        let town = ["Ghent", "Bruges", "Aalst"][row * 5 % 7 % 3];
        let illness = ["flu", "cough", "ulcer", "asthma", "gout"][row * 7 % 11 % 5];
        let hiv = if row * 13 % 17 == 0 { "yes" } else { "no" };
        let (age, weight) = (20 + row * 13 % 50, 50 + row * 29 % 40);
        let ward = row % 4;
        text.push_str(&format!(
            "{row},{age},{weight},{town},w{ward},{illness},{hiv}\n"
        ));
    }
    text
}

const COLUMNS: &str = "[columns]\nid = \"identifier\"\n\
     age = { role = \"quasi\", type = \"number\", hierarchy = { widths = [10, 20] } }\n\
     weight = { role = \"quasi\", type = \"number\", hierarchy = { widths = [10, 20] } }\n\
     town = \"quasi\"\nward = \"other\"\nillness = \"sensitive\"\nhiv = \"sensitive\"\n";
const BREACH: &str = "breach = { prior = 0.1, posterior = 0.4, columns = [\"hiv\"] }\n";
const DIVERSE: &str = "l-diversity = { l = 3, columns = [\"illness\"] }\n";
const COMPANY: &str =
    "expected-anonymity = { k = 3, columns = [\"age\", \"weight\"] }\n";

fn recipe(promises: &[&str], methods: &str) -> String {
    format!("{COLUMNS}[promise]\n{}\n{methods}\n", promises.concat())
}

/// How many rows have the same cells in these columns.
fn sizes(rows: &[Record], columns: &[&str]) -> BTreeMap<Vec<String>, usize> {
    let mut sizes = BTreeMap::new();
    for row in rows {
        let key: Vec<String> = columns.iter().map(|name| row[*name].clone()).collect();
        *sizes.entry(key).or_default() += 1;
    }
    sizes
}

#[test]
fn coarse_drawn_and_apart_columns_in_one_release() {
    let table = people(400);
    let home = folder(&[("table.csv", &table)]);
    let promises = ["k-anonymity = 5\n", DIVERSE, BREACH];
    for methods in [
        "[[method]]\nname = \"mondrian\"\n[[method]]\nname = \"anatomy\"\n\
         [[method]]\nname = \"uniform-perturbation\"",
        "[[method]]\nname = \"anatomy\"\ncolumns = [\"illness\"]",
    ] {
        let published = run(home.path(), &recipe(&promises, methods), 7).unwrap();
        assert!(published.audit.holds());
        let manifest = &published.manifest;
        assert_eq!((manifest.rows, manifest.left_out), (400, 0));
        assert_eq!(manifest.method.name, "mixture");
        let treated = manifest.columns.iter().map(|c| (&*c.name, c.treatment.name()));
        let wanted = [
            ("age", "coarse"),
            ("weight", "coarse"),
            ("town", "coarse"),
            ("ward", "kept"),
            ("illness", "apart"),
            ("hiv", "drawn"),
        ];
        assert_eq!(treated.collect::<Vec<_>>(), wanted);
        let promised =
            manifest.promises.iter().map(|p| (&*p.name, p.columns.join("+")));
        let wanted = [
            ("k-anonymity", "age+weight+town".to_owned()),
            ("l-diversity", "illness".to_owned()),
            ("breach", "hiv".to_owned()),
        ];
        assert_eq!(promised.collect::<Vec<_>>(), wanted);

        // From the files alone.
        let release = home.path().join("release");
        let rows = records(&release.join("data.csv"));
        assert!(rows[0].keys().all(|name| name != "illness" && name != "id"));
        assert!(sizes(&rows, &["age", "weight", "town"]).values().all(|n| *n >= 5));
        let groups = sizes(&rows, &["group"]);
        let mut total = 0;
        for value in records(&release.join("sensitive.csv")) {
            let count: usize = value["count"].parse().unwrap();
            assert!(3 * count <= groups[&vec![value["group"].clone()]]);
            total += count;
        }
        assert_eq!(total, 400);
        let drawn: BTreeSet<&str> = rows.iter().map(|row| &*row["hiv"]).collect();
        assert_eq!(drawn, BTreeSet::from(["yes", "no"]));

        // Anybody can audit it again, and ask.
        assert!(
            audited(&published.release, Some(&table), None).unwrap().private.holds()
        );
        let evidence = Evidence::read(&published.release, &Unwatched).unwrap();
        assert_eq!(ask(&evidence, "SELECT COUNT(*)")[0].count, 400.0);
        let flu = table.lines().filter(|line| line.contains(",flu,")).count() as f64;
        assert_eq!(
            ask(&evidence, "SELECT COUNT(*) WHERE illness = 'flu'")[0].count,
            flu
        );
        let both = "SELECT COUNT(*) WHERE illness = 'flu' AND hiv = 'no' AND age < 40";
        assert!(ask(&evidence, both)[0].standard_error.unwrap() > 0.0);
    }
}

#[test]
fn without_methods_the_natural_ones_are_taken() {
    let home = folder(&[("table.csv", &people(300))]);
    let text = recipe(&["k-anonymity = 4\n", DIVERSE, BREACH], "");
    let published = run(home.path(), &text, 3).unwrap();
    let methods = &published.manifest.method.parameters["methods"];
    let names = methods.as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap());
    let names: Vec<&str> = names.collect();
    assert_eq!(names[1..], ["uniform-perturbation"]);
    assert!(["full-domain", "mondrian"].contains(&names[0]));
    // Diversity holds in the groups of cells, of the values as they are.
    let rows = records(&home.path().join("release/data.csv"));
    let mut values: BTreeMap<[String; 3], BTreeSet<String>> = BTreeMap::new();
    for row in &rows {
        let key = ["age", "weight", "town"].map(|name| row[name].clone());
        values.entry(key).or_default().insert(row["illness"].clone());
    }
    assert!(values.values().all(|values| values.len() >= 3));
}

#[test]
fn numbers_with_noise_beside_drawn_and_apart_columns() {
    let home = folder(&[("table.csv", &people(200))]);
    let promises = ["expected-anonymity = 4\n", DIVERSE, BREACH];
    let methods = "[[method]]\nname = \"blur\"\n[[method]]\nname = \"anatomy\"";
    let text = recipe(&promises, methods);
    let text = text.replace(", hierarchy = { widths = [10, 20] }", "");
    let published = run(home.path(), &text, 11).unwrap();
    assert!(published.audit.holds());
    let treated = published.manifest.columns.iter().map(|c| c.treatment.name());
    let wanted = ["noisy", "noisy", "kept", "kept", "apart", "drawn"];
    assert_eq!(treated.collect::<Vec<_>>(), wanted);
    let evidence = Evidence::read(&published.release, &Unwatched).unwrap();
    let found = ask(&evidence, "SELECT COUNT(*) WHERE illness = 'flu' AND age < 45");
    assert!(found[0].count > 0.0 && found[0].standard_error.unwrap() > 0.0);
}

#[test]
fn a_seed_gives_the_same_bytes() {
    let home = folder(&[("table.csv", &people(150))]);
    let text = recipe(&["k-anonymity = 3\n", BREACH], "");
    let made = |seed| {
        run(home.path(), &text, seed).unwrap();
        std::fs::read(home.path().join("release/data.csv")).unwrap()
    };
    assert_eq!(made(5), made(5));
    assert_ne!(made(5), made(6));
}

#[test]
fn what_does_not_go_together_says_why() {
    let home = folder(&[("table.csv", &people(60))]);
    let draws = |of: &str| {
        format!("breach = {{ prior = 0.1, posterior = 0.4, columns = {of} }}\n")
    };
    let k = "k-anonymity = 3\n";
    for (promises, methods, wanted) in [
        (
            [k, COMPANY].concat(),
            "",
            "numbers cannot be blurred beside columns that are generalized yet",
        ),
        (
            [k, "expected-anonymity = 3\n"].concat(),
            "",
            "`age` is in `k-anonymity` and in `expected-anonymity`, which do different",
        ),
        (
            [COMPANY, DIVERSE].concat(),
            "",
            "does not hold beside blurred numbers: somebody who knows the numbers weighs",
        ),
        (
            ["l-diversity = { l = 2, columns = [\"hiv\"] }\n", BREACH].concat(),
            "",
            "`hiv` is in `l-diversity` and in `breach`, which do different things to it",
        ),
        (
            ["k-anonymity = { k = 3, columns = [\"age\", \"town\"] }\n", BREACH]
                .concat(),
            "",
            "`weight` is a quasi column, but no promise is about it",
        ),
        (
            draws("[\"age\"]"),
            "",
            "`breach` is about sensitive columns, but `age` is quasi",
        ),
        (
            draws("[\"id\"]"),
            "",
            "`id` is not published, so nothing can be promised of it",
        ),
        (draws("[\"hivv\"]"), "", "no column `hivv` / did you mean `hiv`?"),
        (draws("[]"), "", "`columns` is empty"),
        (
            [k, BREACH].concat(),
            "[[method]]\nname = \"blur\"",
            "`blur` has nothing to keep",
        ),
        (
            [k, BREACH].concat(),
            "[[method]]\nname = \"mondrian\"\n[[method]]\nname = \"full-domain\"",
            "two methods are for the same columns",
        ),
        (
            [k, DIVERSE, BREACH].concat(),
            "[[method]]\nname = \"perturbed-generalization\"",
            "`perturbed-generalization` cannot be one of several methods",
        ),
        (
            [k, DIVERSE].concat(),
            "[[method]]\nname = \"anatomy\"\n[[method]]\nname = \"mondrian\"\n\
             suppression = 0.1",
            "`suppression` does not go with several methods that count rows",
        ),
    ] {
        let error = run(home.path(), &recipe(&[&promises], methods), 1).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{error}");
        assert!(!home.path().join("release").exists());
        let found = format!("{error} / {}", error.hints().join(" / "));
        assert!(found.contains(wanted), "{promises}{methods}: {found}");
    }
}
