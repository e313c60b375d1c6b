//! Several methods in one recipe, each for its columns: what is published keeps every promise,
//! judged here from the files alone; what does not go together says why.

use std::collections::{BTreeMap, BTreeSet};

use scumble::estimate::Evidence;
use scumble::recipe::{Request, Spec, publish};
use scumble::watch::Unwatched;

use crate::builder::{Record, ask, audited, folder, records, run, run_whole};

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

#[test]
fn a_name_that_a_method_needs_is_not_taken_twice() {
    let table = people(80).replace("ward", "group");
    let home = folder(&[("table.csv", &table)]);
    let text =
        recipe(&["k-anonymity = 3\n", DIVERSE], "[[method]]\nname = \"anatomy\"");
    let error = run(home.path(), &text.replace("ward", "group"), 1).unwrap_err();
    let found = error.to_string();
    assert!(found.contains("`group`") && error.exit_code() == 2, "{found}");
    assert!(!home.path().join("release").exists());
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

        let why = published.audit.not_applicable.iter();
        let mut why = why.filter(|attack| attack.name == "background-knowledge");
        assert!(why.next().unwrap().reason.contains("who is in which group"));
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
    let methods = published.manifest.method.methods.iter();
    let names: Vec<&str> = methods.map(|method| &*method.name).collect();
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
fn numbers_are_blurred_within_classes_of_cells() {
    let table = people(600);
    let home = folder(&[("table.csv", &table)]);
    let company = "expected-anonymity = { k = 6, columns = [\"age\"] }\n";
    let coarse = "k-anonymity = { k = 5, columns = [\"weight\", \"town\"] }\n";
    for methods in [
        "[[method]]\nname = \"full-domain\"\n[[method]]\nname = \"blur\"\n\
         shape = \"uniform\"\n[[method]]\nname = \"anatomy\"",
        "[[method]]\nname = \"mondrian\"\n[[method]]\nname = \"anatomy\"",
    ] {
        let text = recipe(&[coarse, company, DIVERSE, BREACH], methods);
        let published = run(home.path(), &text, 5).unwrap();
        assert!(published.audit.holds());
        let treated = published.manifest.columns.iter().map(|c| c.treatment.name());
        let wanted = ["noisy", "coarse", "coarse", "kept", "apart", "drawn"];
        assert_eq!(treated.collect::<Vec<_>>(), wanted);
        let rows = records(&home.path().join("release/data.csv"));
        assert_eq!(rows.len(), 600);
        assert!(sizes(&rows, &["weight", "town"]).values().all(|n| *n >= 5));
        // Whoever is at a level of a frame shares its cells, with k others at least.
        let frames = ["frame", "level"].map(|name| rows[0].contains_key(name));
        assert!(frames[1], "{:?}", rows[0]);
        let by_level = match frames[0] {
            true => sizes(&rows, &["weight", "town", "frame", "level"]),
            false => sizes(&rows, &["weight", "town", "level"]),
        };
        assert!(by_level.values().all(|n| *n >= 6), "{by_level:?}");
        let about = &published.manifest.promises[1];
        assert_eq!(
            (&*about.name, &about.columns[..]),
            ("expected-anonymity", &["age".to_owned()][..])
        );
        // Anybody with the table can audit it, with another one not; and ask.
        let again = audited(&published.release, Some(&table), None).unwrap();
        assert!(again.private.holds());
        let other = table.replace("Bruges", "Ghent");
        let holds = audited(&published.release, Some(&other), None);
        assert!(holds.is_err() || !holds.unwrap().private.holds());
        let evidence = Evidence::read(&published.release, &Unwatched).unwrap();
        let found = ask(&evidence, "SELECT COUNT(*) WHERE age < 40 AND town = 'Ghent'");
        assert!(found[0].count > 0.0 && found[0].standard_error.unwrap() > 0.0);
        assert_eq!(ask(&evidence, "SELECT COUNT(*)")[0].count, 600.0);
    }
}

#[test]
fn a_hundred_thousand_people_under_every_treatment() {
    let n = 100_000;
    let mut table = String::from("id,age,zip,nation,ward,illness,hiv\n");
    for row in 0..n {
        let (age, zip) = (row * 7919 % 9973 % 90, 10_000 + row * 31 % 607);
        let nation = ["A", "A", "A", "B", "B", "C", "D"][row * 13 % 101 % 7];
        let illness = ["a", "a", "b", "b", "c", "d", "e", "f"][row * 17 % 233 % 8];
        let hiv = if row * 23 % 499 < 20 { "yes" } else { "no" };
        let ward = row % 6;
        table
            .push_str(&format!("{row},{age},{zip},{nation},w{ward},{illness},{hiv}\n"));
    }
    let home = folder(&[("table.csv", &table)]);
    let text = "[columns]\nid = \"identifier\"\n\
        age = { role = \"quasi\", type = \"number\", domain = [0, 120] }\n\
        zip = { role = \"quasi\", hierarchy = { mask = \"right\" } }\n\
        nation = \"quasi\"\nward = \"other\"\nillness = \"sensitive\"\n\
        hiv = \"sensitive\"\n[promise]\n\
        k-anonymity = { k = 10, columns = [\"zip\", \"nation\"] }\n\
        expected-anonymity = { k = 10, columns = [\"age\"] }\n\
        breach = { prior = 0.1, posterior = 0.4, columns = [\"hiv\"] }\n\
        l-diversity = { l = 3, columns = [\"illness\"] }\n\
        [[method]]\nname = \"full-domain\"\n[[method]]\nname = \"anatomy\"\n\
        [[method]]\nname = \"blur\"\nshape = \"uniform\"\n";
    let published = run(home.path(), text, 1).unwrap();
    // What follows reads nothing but the files.
    let release = home.path().join("release");
    let rows = records(&release.join("data.csv"));
    assert_eq!(rows.len(), n);
    assert!(sizes(&rows, &["zip", "nation"]).values().all(|people| *people >= 10));
    let mut classes = vec!["zip", "nation", "level"];
    if rows[0].contains_key("frame") {
        classes.push("frame");
    }
    assert!(sizes(&rows, &classes).values().all(|people| *people >= 10));
    let groups = sizes(&rows, &["group"]);
    let mut total = 0;
    for value in records(&release.join("sensitive.csv")) {
        let count: usize = value["count"].parse().unwrap();
        assert!(3 * count <= groups[&vec![value["group"].clone()]]);
        total += count;
    }
    assert_eq!(total, n);
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(release.join("manifest.json")).unwrap())
            .unwrap();
    let matrices = manifest["classes"].as_array().unwrap().iter();
    let mut matrices =
        matrices.filter(|class| class["parameters"]["kind"] == "subtables");
    let table = &matrices.next().unwrap()["parameters"]["subtables"][0];
    let keep = table["keep"].as_f64().unwrap();
    let amplified = (keep + (1.0 - keep) / 2.0) / ((1.0 - keep) / 2.0);
    // From at most .1 to at most .4, whatever was believed.
    assert!(0.1 * amplified / (0.1 * amplified + 0.9) <= 0.4 + 1e-9, "{amplified}");
    assert!(published.audit.holds());
}

/// Rows that share a group of values apart are published as such: if groups followed from
/// true quasi values, they would tell whose row of a cell is whose.
#[test]
fn groups_of_values_apart_do_not_follow_from_what_is_hidden() {
    let rows = 200;
    let table = |turned: usize| {
        let mut text = String::from("rid,age,weight,town,illness\n");
        for row in 0..rows {
            // The same people and illnesses, with others' quasi values.
            let from = (row + turned) % rows;
            let (age, weight) = (20 + from * 13 % 50, 50 + from * 29 % 40);
            let town = ["Ghent", "Bruges", "Aalst"][from * 5 % 7 % 3];
            let illness = ["flu", "cough", "ulcer", "asthma"][row * 7 % 11 % 4];
            text.push_str(&format!("{row},{age},{weight},{town},{illness}\n"));
        }
        text
    };
    let columns = COLUMNS
        .replace("id = \"identifier\"\n", "rid = \"other\"\n")
        .replace("ward = \"other\"\n", "")
        .replace("hiv = \"sensitive\"\n", "");
    for promises in [
        "k-anonymity = 4\n".to_owned(),
        "expected-anonymity = { k = 4, columns = [\"age\", \"weight\", \"town\"] }\n"
            .replace(", \"town\"", ""),
        "k-anonymity = { k = 4, columns = [\"town\"] }\n".to_owned() + COMPANY,
    ] {
        let text = format!(
            "{columns}[promise]\n{promises}{DIVERSE}[[method]]\nname = \"anatomy\"\n"
        );
        let groups = |table: &str| {
            let home = folder(&[("table.csv", table)]);
            run(home.path(), &text, 9).unwrap();
            let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for row in records(&home.path().join("release/data.csv")) {
                groups
                    .entry(row["group"].clone())
                    .or_default()
                    .insert(row["rid"].clone());
            }
            groups.into_values().collect::<BTreeSet<_>>()
        };
        // Towns that are kept are public, and may be looked at.
        let turned = if promises.contains("k-anonymity") { 7 } else { 0 };
        assert_eq!(groups(&table(0)), groups(&table(turned)), "{promises}");
    }
}

#[test]
fn a_plan_is_not_for_several_methods() {
    let home = folder(&[("table.csv", &people(100))]);
    let text = recipe(&["k-anonymity = 3\n", BREACH], "");
    let plan = run(home.path(), &text, 1).unwrap().plan;
    let text = format!("input.table = \"table.csv\"\n{text}");
    let spec = Spec::parse(&text, "recipe.toml").unwrap();
    let request =
        Request { plan: Some(plan), replace: true, ..Request::new(&spec, home.path()) };
    let error = publish(request, &Unwatched).unwrap_err();
    assert_eq!(error.to_string(), "a recipe with several methods takes no plan");
}

#[test]
fn columns_that_no_promise_takes_stay() {
    let home = folder(&[("table.csv", &people(120))]);
    let quasi = "columns = [\"age\", \"weight\", \"town\"]";
    for (promise, treated) in [
        (BREACH.to_owned(), "kept kept kept kept kept drawn"),
        (
            format!("k-anonymity = {{ k = 3, {quasi} }}\n"),
            "coarse coarse coarse kept kept kept",
        ),
    ] {
        let published = run(home.path(), &recipe(&[&promise], ""), 2).unwrap();
        let columns = published.manifest.columns.iter().map(|c| c.treatment.name());
        assert_eq!(columns.collect::<Vec<_>>().join(" "), treated);
        let rows = records(&home.path().join("release/data.csv"));
        assert_eq!((rows.len(), rows[0].len()), (120, 6));
        let in_the_clear = promise == BREACH;
        let notes = published.notes.join(" ");
        assert_eq!(notes.contains("NO PROMISE is about `illness`"), in_the_clear);
        // What stays as it is, is said to be so.
        let said = published.manifest.not_promised.join(" ");
        assert!(said.contains("`illness`"), "{said}");
    }
}

#[test]
fn every_key_is_for_its_own_columns() {
    // Wards tell rows apart, so that noise can be compared from release to release.
    let mut table = String::from("id,ward,illness,hiv\n");
    for row in 0..300 {
        let illness = ["flu", "cough", "ulcer"][row * 7 % 11 % 3];
        let hiv = ["yes", "no"][row % 5 % 2];
        table.push_str(&format!("p{row},{row},{illness},{hiv}\n"));
    }
    let (one, other) = ("the first key, long", "another key, as long");
    let files = [("table.csv", &*table), ("one.key", one), ("other.key", other)];
    let home = folder(&files);
    let columns = |kept: &[&str]| {
        let role = |name: &str| match kept.contains(&name) {
            true => "sensitive",
            false => "drop",
        };
        let (illness, hiv) = (role("illness"), role("hiv"));
        format!(
            "[columns]\nid = \"identifier\"\nward = \"other\"\n\
             illness = \"{illness}\"\nhiv = \"{hiv}\"\n[promise]\n"
        )
    };
    let hiv = "breach = { prior = 0.1, posterior = 0.4, columns = [\"hiv\"] }\n";
    let ill = "fine-grain = { factor = 2, columns = [\"illness\"] }\n";
    let keyed = |of: &str, file: &str| {
        format!("[[method]]\ncolumns = [\"{of}\"]\nkey-file = \"{file}\"\n")
    };
    let drawn = |recipe: &str, column: &str| -> BTreeMap<String, String> {
        run(home.path(), recipe, 1).unwrap();
        let rows = records(&home.path().join("release/data.csv"));
        rows.iter().map(|row| (row["ward"].clone(), row[column].clone())).collect()
    };
    let both = |first: &str, second: &str| {
        [&columns(&["illness", "hiv"]), hiv, ill, first, second].concat()
    };
    let alone = |of: &str, promise: &str, method: &str| {
        [&columns(&[of]), promise, method].concat()
    };
    let own = drawn(&alone("hiv", hiv, &keyed("hiv", "one.key")), "hiv");
    let with = both(&keyed("hiv", "one.key"), &keyed("illness", "other.key"));
    assert_eq!(drawn(&with, "hiv"), own);
    let ill_own =
        drawn(&alone("illness", ill, &keyed("illness", "other.key")), "illness");
    assert_eq!(drawn(&with, "illness"), ill_own);
    // Noise without a key is fresh, whatever the other columns have.
    let fresh =
        "[[method]]\ncolumns = [\"illness\"]\nname = \"fine-grain-perturbation\"\n";
    let with = both(&keyed("hiv", "one.key"), fresh);
    assert_eq!(drawn(&with, "hiv"), own);
    assert_ne!(drawn(&with, "illness"), ill_own);
}

#[test]
fn rows_that_are_left_out_are_missing_in_sub_tables() {
    let home = folder(&[("table.csv", &people(150))]);
    for drawn in ["uniform-perturbation", "partitioned-perturbation"] {
        let of_illness =
            "fine-grain = { factor = 2, columns = [\"illness\"] }\n".to_owned();
        let promise = match drawn {
            "uniform-perturbation" => BREACH.to_owned(),
            _ => of_illness,
        };
        let methods = format!(
            "[[method]]\nname = \"{drawn}\"\n\
             [[method]]\nname = \"full-domain\"\nsuppression = 0.2\n"
        );
        let text = recipe(&["k-anonymity = 4\n", &promise], &methods);
        let published = run(home.path(), &text, 4).unwrap();
        assert!(published.audit.holds());
        let manifest = &published.manifest;
        assert!(manifest.left_out > 0, "{drawn}");
        let notes = manifest.perturbation();
        let rows = notes[0].subtables.iter().map(|table| table.rows).sum::<u64>();
        assert_eq!((rows, manifest.rows + manifest.left_out), (manifest.rows, 150));
    }
}

#[test]
fn presence_beside_drawn_values_is_attacked_by_who_knows_the_search() {
    let everyone = people(240);
    let table: Vec<&str> = everyone
        .lines()
        .enumerate()
        .filter(|(row, _)| *row == 0 || row % 3 == 1)
        .map(|(_, line)| line)
        .collect();
    let population: Vec<String> = everyone
        .lines()
        .map(|line| line.split(',').take(4).collect::<Vec<_>>().join(","))
        .collect();
    let files =
        [("table.csv", &*table.join("\n")), ("everyone.csv", &*population.join("\n"))];
    let home = folder(&files);
    let promise = "delta-presence = { min = 0, max = 0.6 }\n";
    let text = recipe(&[promise, BREACH], "[[method]]\nname = \"full-domain\"\n");
    let input = "input.table = \"table.csv\"\ninput.population = \"everyone.csv\"\ninput.key = \"id\"\n";
    let published = run_whole(home.path(), &format!("{input}{text}"), 9).unwrap();
    assert!(published.audit.holds());
    let names: Vec<&str> = published.audit.attacks.iter().map(|a| &*a.name).collect();
    assert!(names.contains(&"reversal"), "{names:?}");
    assert!(names.contains(&"presence") && names.contains(&"inference"), "{names:?}");
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
            ["k-anonymity = { k = 3, columns = [\"town\"] }\n", COMPANY].concat(),
            "[[method]]\nname = \"mondrian\"\ncells = \"taxonomy\"",
            "`mondrian` cannot stand beside blurred numbers with cells that are nodes",
        ),
        (
            ["k-anonymity = { k = 3, columns = [\"town\"] }\n", COMPANY].concat(),
            "[[method]]\nname = \"mondrian\"\ncells = \"pdf\"",
            "pdf cells do not go with blurred numbers",
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
            [k, "r-robustness = { r = 2, columns = [\"illness\"] }\n"].concat(),
            "[[method]]\nname = \"robust\"",
            "`r-robustness` by `age` cannot be proved from the published files",
        ),
        (
            [BREACH, "l-diversity = 2\n", "expected-anonymity = 2\n"].concat(),
            "",
            "`l-diversity` of `illness` does not hold beside blurred numbers",
        ),
        (
            ["l-diversity = 2\n", "breach = { prior = 0.1, posterior = 0.4 }\n"]
                .concat(),
            "",
            "`illness` is in `l-diversity` and in `breach`, which do different things",
        ),
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
            "[[method]]\nname = \"mondrian\"\n[[method]]\nname = \"anatomy\"\n\
             suppression = 0.1",
            "`anatomy` leaves no rows out beside other methods",
        ),
    ] {
        let error = run(home.path(), &recipe(&[&promises], methods), 1).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{error}");
        assert!(!home.path().join("release").exists());
        let found = format!("{error} / {}", error.hints().join(" / "));
        assert!(found.contains(wanted), "{promises}{methods}: {found}");
    }
}

/// Beside noise cells are ranges and sets: a lowest level is refused, or kept by levels.
#[test]
fn a_lowest_level_is_never_passed_over() {
    let home = folder(&[("table.csv", &people(60))]);
    let of_town = "k-anonymity = { k = 3, columns = [\"town\"] }\n";
    let text = |method: &str| {
        recipe(&[of_town, COMPANY], method)
            .replace("town = \"quasi\"", "town = { role = \"quasi\", lowest = 1 }")
    };
    let error = run(home.path(), &text("[[method]]\nname = \"mondrian\""), 1);
    let error = error.unwrap_err();
    let wanted = "`mondrian` cannot keep `lowest` of `town` here: its cells are ranges and \
                  sets, which have no level";
    assert!(error.to_string().contains(wanted), "{error}");
    assert_eq!(error.exit_code(), 2);
    assert!(!home.path().join("release").exists());
    run(home.path(), &text(""), 1).unwrap();
    let rows = records(&home.path().join("release/data.csv"));
    assert!(rows.iter().all(|row| row["town"] == "*"));
}
