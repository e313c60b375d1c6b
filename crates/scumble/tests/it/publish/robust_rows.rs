//! r-robustness of values that stay in the rows, published from files.

use std::fmt::Write;

use scumble::Published;

use crate::builder::{attack, folder, records, run};

/// People with an age, a ward, a disease that depends on the ward, a job and HIV.
fn table(n: u32) -> String {
    let mut text = "id,age,ward,disease,job,hiv\n".to_owned();
    for row in 0..n {
        let mixed = row.wrapping_mul(2_654_435_761) >> 7;
        let (age, ward) = (20 + mixed % 50, 1 + mixed / 64 % 4);
        let disease = ["flu", "cold", "ulcer", "asthma", "gout", "mumps"]
            [((mixed / 512 % 5 + ward) % 6) as usize];
        let job = ["cook", "clerk", "nurse", "guard", "smith"]
            [((mixed / 4096 % 4 + age / 20) % 5) as usize];
        let hiv = if mixed % 9 == 0 { "yes" } else { "no" };
        writeln!(text, "{row},{age},{ward},{disease},{job},{hiv}").unwrap();
    }
    text
}

const COLUMNS: &str = "id = \"identifier\"\n\
    age = { role = \"quasi\", step = 1 }\n\
    ward = { role = \"quasi\", step = 1 }\ndisease = \"sensitive\"\n";

fn recipe(columns: &str, promises: &str, rest: &str) -> String {
    format!("[columns]\n{COLUMNS}{columns}\n[promise]\n{promises}\n{rest}\n")
}

const MONDRIAN: &str = "[method]\nname = \"mondrian\"";

fn posterior(made: &Published, column: &str) -> f64 {
    let mut promises = made.manifest.promises.iter();
    let own = promises
        .find(|note| note.name == "r-robustness" && note.columns == [column])
        .expect("promised");
    assert!(own.holds);
    assert_eq!(own.measured["groups"], own.measured["exact"]);
    assert!(own.certified.contains("of every group"), "{}", own.certified);
    own.measured["posterior"].as_f64().unwrap()
}

#[test]
fn a_table_whose_whole_fails_is_cut_until_its_groups_hold() {
    let home = folder(&[("table.csv", &table(2_000))]);
    let robust = "k-anonymity = 4\nr-robustness = { r = 2, support = 100 }";
    let made = run(home.path(), &recipe("", robust, MONDRIAN), 1).unwrap();
    assert!(posterior(&made, "disease") <= 0.5);
    assert_eq!((made.manifest.rows, made.manifest.left_out), (2_000, 0));
    let groups = made.manifest.promises[1].measured["groups"].as_u64().unwrap();
    assert!(groups > 50, "{groups}");
    // Who knows what the promise is about is tried without being asked.
    let known = attack(&made.audit, "background-knowledge");
    assert_eq!(
        (&known.detail["column"], &known.detail["bound"]),
        (&"disease".into(), &0.5.into())
    );
    let found = known.detail["posterior"].as_object().unwrap().iter();
    let own: Vec<f64> = found
        .filter(|(set, _)| set.contains("support 100") || set.contains(" with "))
        .map(|(_, posterior)| posterior.as_f64().unwrap())
        .collect();
    assert!(!own.is_empty() && own.iter().all(|p| *p <= 0.5 + 1e-9), "{own:?}");
    // Where cells are asked for anyway, no method need be named.
    let plain = run(home.path(), &recipe("", robust, ""), 1).unwrap();
    assert_eq!(plain.manifest.method_of("disease").name, "mondrian");
    // Alone it means values apart, unless Mondrian is named.
    let alone = "r-robustness = { r = 2, support = 100 }";
    let apart = run(home.path(), &recipe("", alone, "[method]\nsuppression = 0.5"), 1);
    assert_eq!(apart.unwrap().manifest.buckets().len(), 1);
    let rows = run(home.path(), &recipe("", alone, MONDRIAN), 1).unwrap();
    assert!(rows.manifest.buckets().is_empty() && posterior(&rows, "disease") <= 0.5);
}

#[test]
fn each_of_several_columns_is_robust_beside_drawn_ones() {
    let home = folder(&[("table.csv", &table(1_000))]);
    let columns = "job = \"sensitive\"\nhiv = \"sensitive\"";
    let promises = "k-anonymity = 3\n\
        r-robustness = { r = 1.5, support = 100, columns = [\"disease\", \"job\"] }\n\
        l-diversity = { l = 2, columns = [\"disease\"] }\n\
        breach = { prior = 0.2, posterior = 0.5, columns = [\"hiv\"] }";
    let made = run(home.path(), &recipe(columns, promises, ""), 1).unwrap();
    for column in ["disease", "job"] {
        assert!(posterior(&made, column) <= 2.0 / 3.0);
    }
    assert!(made.manifest.promises.iter().all(|note| note.holds));
    let rows = records(&home.path().join("release/data.csv"));
    assert_eq!(rows.len(), 1_000);
    // Of both columns without `columns`, with nothing beside them.
    let columns = "job = \"sensitive\"";
    let promises = "r-robustness = { r = 1.5, support = 100 }";
    let made = run(home.path(), &recipe(columns, promises, MONDRIAN), 1).unwrap();
    assert!(posterior(&made, "disease").max(posterior(&made, "job")) <= 2.0 / 3.0);
}

#[test]
fn what_a_file_says_is_about_one_column() {
    let mut known = "ward,disease,probability\n".to_owned();
    for ward in 1..=4 {
        writeln!(known, "{ward},flu,0.{ward}\n{ward},cold,0.3").unwrap();
    }
    let home = folder(&[("table.csv", &table(400)), ("known.csv", &known)]);
    let columns = "job = \"sensitive\"";
    let promises = |columns: &str| {
        format!(
            "k-anonymity = 3\nr-robustness = {{ r = 1.5, knowledge = \"known.csv\"{columns} }}"
        )
    };
    let own = promises(", columns = [\"disease\"]");
    let made = run(home.path(), &recipe(columns, &own, MONDRIAN), 1).unwrap();
    assert!(posterior(&made, "disease") <= 2.0 / 3.0);
    let error = run(home.path(), &recipe(columns, &promises(""), MONDRIAN), 1);
    assert!(error.unwrap_err().to_string().contains("is asked of `disease` and `job`"));
}

#[test]
fn what_does_not_go_with_it_is_refused() {
    let home = folder(&[("table.csv", &table(60))]);
    let robust = "r-robustness = { r = 2, support = 20 }\n";
    for (columns, promises, rest, wanted) in [
        (
            "",
            "expected-anonymity = { k = 3, columns = [\"age\"] }\n\
             k-anonymity = { k = 2, columns = [\"ward\"] }",
            "",
            "`r-robustness` of `disease` does not hold beside blurred numbers",
        ),
        (
            "",
            "delta-presence = { min = 0.0, max = 0.9 }",
            "[method]\nname = \"mondrian\"\n[input]\npopulation = \"table.csv\"",
            "does not go with `delta-presence`",
        ),
        (
            "",
            "k-anonymity = 2",
            "[method]\nname = \"full-domain\"",
            "these can: `mondrian`",
        ),
        (
            "",
            "k-anonymity = 2",
            "[method]\nname = \"robust\"",
            "or leave the values in the rows (`mondrian`)",
        ),
    ] {
        let recipe = recipe(columns, &[robust, promises].concat(), rest);
        let recipe = match recipe.contains("[input]") {
            true => recipe.replace("[input]\n", "[input]\ntable = \"table.csv\"\n"),
            false => format!("input.table = \"table.csv\"\n{recipe}"),
        };
        let error = crate::builder::run_whole(home.path(), &recipe, 1).unwrap_err();
        let found = format!("{error} / {}", error.hints().join(" / "));
        assert!(found.contains(wanted), "{found}");
        assert!(!home.path().join("release").exists());
    }
    // One person's rows would have to be told apart.
    let table = table(60).replace("\n7,", "\n6,");
    let home = folder(&[("table.csv", &table)]);
    let recipe = recipe("", robust, MONDRIAN);
    let recipe =
        format!("input = {{ table = \"table.csv\", person = \"id\" }}\n{recipe}");
    let error = crate::builder::run_whole(home.path(), &recipe, 1).unwrap_err();
    assert!(
        error.to_string().contains("does not serve people with several rows"),
        "{error}"
    );
}
