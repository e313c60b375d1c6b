//! What users see of estimates: real runs of the command.

use std::fs;
use std::path::Path;

use scumble::release::checksum;
use serde_json::{Value, json};

use crate::builder::{ByHand, column};
use crate::command::{run as run_command, saved};

/// A release whose `disease` was kept with 40 %.
fn home(keep: f64) -> tempfile::TempDir {
    let row = |row: usize| {
        // What 40 % leave of 500, 250, 250 and 0.
        let disease = match (row / 40 + 7 * row) % 20 {
            0..7 => "flu",
            7..12 => "cold",
            12..17 => "gout, bad",
            _ => "mumps",
        };
        format!("{},\"{disease}\"", 20 + row % 40)
    };
    let note = json!({
        "columns": ["disease"], "subtables": [{
            "rows": 1000, "operator": "uniform", "keep": keep,
            "domain": [["flu"], ["cold"], ["gout, bad"], ["mumps"]],
            "bounds": [null, null, null, null],
        }],
    });
    let made = ByHand::new(age_and_disease())
        .with("left_out", json!(3))
        .with("perturbation", json!([note]))
        .plain_rows(&(0..1000).map(row).collect::<Vec<_>>());
    saved(made)
}

fn age_and_disease() -> Vec<Value> {
    vec![column("age", "quasi", "number"), column("disease", "sensitive", "category")]
}

/// What comes of a question, with its options.
fn run(home: &Path, arguments: &[&str]) -> String {
    crate::command::run(home, &[&["estimate", "release"], arguments].concat())
}

const BY_DISEASE: &str =
    "SELECT disease, COUNT(*) FROM release WHERE age > 30 GROUP BY disease";

#[test]
fn estimates_come_with_their_errors() {
    let home = home(0.4);
    insta::assert_snapshot!(run(home.path(), &[BY_DISEASE]));
    insta::assert_snapshot!(run(home.path(), &[BY_DISEASE, "--way", "simplex"]));
    insta::assert_snapshot!(run(
        home.path(),
        &[BY_DISEASE, "--csv", "--way", "iterative"]
    ));
    let question = "SELECT COUNT(*) FROM release WHERE age > 30";
    insta::assert_snapshot!(run(home.path(), &[question]));
    insta::assert_snapshot!(run(home.path(), &[question, "--json"]));
    let nothing = "exit 0\n--- out\n--- err\n";
    assert_eq!(run(home.path(), &[question, "--quiet"]), nothing);
}

#[test]
fn what_cannot_be_answered_is_said() {
    let home = home(0.0);
    insta::assert_snapshot!(run(home.path(), &[BY_DISEASE]));
    insta::assert_snapshot!(run(home.path(), &[BY_DISEASE, "--way", "iterative"]));
    insta::assert_snapshot!(run(home.path(), &["SELECT AVG(disease) FROM release"]));
    insta::assert_snapshot!(run(
        home.path(),
        &["SELECT COUNT(*) FROM release WHERE disease = flu"]
    ));
}

/// Changes a release: its manifest and its rows.
fn change(home: &Path, change: impl Fn(&mut Value, &mut String)) {
    let release = home.join("release");
    let (manifest, data) = (release.join("manifest.json"), release.join("data.csv"));
    let text = fs::read_to_string(&manifest).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    let mut rows = fs::read_to_string(&data).unwrap();
    change(&mut value, &mut rows);
    fs::write(&data, rows).unwrap();
    value["checksums"]["data.csv"] = json!(checksum(&data).unwrap());
    fs::write(&manifest, value.to_string()).unwrap();
}

#[test]
fn what_a_reader_must_know_is_said() {
    // One value is rarer than noise alone would make it, and one is missing.
    let home = home(0.4);
    change(home.path(), |manifest, rows| {
        *rows = rows.replace("\"cold\"", "").replacen("\"mumps\"", "\"flu\"", 20);
        manifest["classes"][0]["parameters"]["subtables"][0]["domain"][1] = json!([""]);
    });
    insta::assert_snapshot!(run(home.path(), &[BY_DISEASE]));
    insta::assert_snapshot!(run(home.path(), &[BY_DISEASE, "--way", "simplex"]));
    insta::assert_snapshot!(run(home.path(), &[BY_DISEASE, "--csv"]));
    insta::assert_snapshot!(run(
        home.path(),
        &["SELECT COUNT(*) WHERE disease IN ('Fluu', 'mumps') AND age = 7", "--json"]
    ));
    // Hardly anything is published as it is.
    change(home.path(), |manifest, _| {
        let subtable = &mut manifest["classes"][0]["parameters"]["subtables"][0];
        subtable["operator"] = json!("fine-grain");
        subtable["keep"] = json!([0.5, 0.4, 0.004, 0.004]);
    });
    insta::assert_snapshot!(run(home.path(), &[BY_DISEASE, "--way", "iterative"]));
}

#[test]
fn rows_that_count_through_their_group_are_not_left_out() {
    let home = home(0.4);
    change(home.path(), |manifest, rows| {
        *rows = rows.replace('\n', ",3\n").replacen(",3\n", ",n\n", 1);
        manifest["sampled"] = json!("n");
        // 2,000 are in the groups, 12 in none.
        manifest["left_out"] = json!(2012);
    });
    insta::assert_snapshot!(run(home.path(), &[BY_DISEASE]));
}

/// A release that has `disease` by group.
fn by_group() -> tempfile::TempDir {
    let (mut rows, mut values) = (Vec::new(), "group,value,count\n".to_owned());
    for group in 1..=200 {
        let age = |row: usize| 20 + 7 * (group + 3 * row) % 40;
        rows.extend((0..4).map(|row| format!("{group},{}", age(row))));
        let rare = ["gout", "mumps"][group % 2];
        values.push_str(&format!("{group},flu,2\n{group},cold,1\n{group},{rare},1\n"));
    }
    let file = "sensitive.csv";
    let made = ByHand::new(age_and_disease())
        .with("buckets", json!({ "file": file, "column": "disease", "groups": 200 }))
        .rows("group,age", &rows)
        .file(file, &values);
    saved(made)
}

#[test]
fn values_by_group_are_shared_out() {
    let home = by_group();
    insta::assert_snapshot!(run(home.path(), &[BY_DISEASE]));
    insta::assert_snapshot!(run(home.path(), &[BY_DISEASE, "--csv"]));
    let question = "SELECT disease, COUNT(*) FROM release GROUP BY disease";
    insta::assert_snapshot!(run(home.path(), &[question]));
    let question = "SELECT COUNT(*) FROM release WHERE age > 58 AND disease = 'gout'";
    insta::assert_snapshot!(run(home.path(), &[question, "--json"]));
    insta::assert_snapshot!(run(home.path(), &[question, "--way", "inverse"]));
}

/// A release with a blurred `age`; `income` is missing for some.
fn blurred() -> tempfile::TempDir {
    let row = |row: usize| {
        let city = ["Bern", "Rome"][row % 2];
        let age = 20 + 7 * row % 50 + 10 * (row % 2);
        let income = match row % 10 {
            0 => ",".to_owned(),
            rest => format!("{}.5,80", 1000 + 90 * rest + row % 50),
        };
        format!("{age},6,{income},{city}")
    };
    let columns = vec![
        column("age", "quasi", "number"),
        column("income", "quasi", "number"),
        column("city", "other", "category"),
    ];
    let blur = json!({
        "shape": "gaussian", "frame": "global", "strict": false,
        "columns": [
            { "name": "age", "decimals": 0, "domain": [18, 90] },
            { "name": "income", "decimals": 1, "domain": [0, 5000] },
        ],
    });
    let rows: Vec<String> = (0..600).map(row).collect();
    let made = ByHand::new(columns)
        .with("left_out", json!(4))
        .with("blur", blur)
        .rows("age,age.spread,income,income.spread,city", &rows);
    saved(made)
}

#[test]
fn blurred_numbers_count_where_they_may_lie() {
    let home = blurred();
    let question =
        "SELECT city, COUNT(*) FROM release WHERE age BETWEEN 30 AND 39 GROUP BY city";
    insta::assert_snapshot!(run(home.path(), &[question]));
    insta::assert_snapshot!(run(home.path(), &[question, "--way", "inverse"]));
    let question = "SELECT city, AVG(income) FROM release GROUP BY city";
    insta::assert_snapshot!(run(home.path(), &[question]));
    insta::assert_snapshot!(run(home.path(), &[question, "--csv"]));
    let question = "SELECT SUM(income) FROM release WHERE age < 40";
    insta::assert_snapshot!(run(home.path(), &[question, "--json"]));
    let question = "SELECT age, COUNT(*) FROM release GROUP BY age";
    insta::assert_snapshot!(run(home.path(), &[question]));
}

#[test]
fn rows_get_the_class_of_their_neighbours() {
    let home = blurred();
    let rows = "city,income,age\nBern,1100,24\nRome,1500,75\nRome,1300,21\nBern,,30\n";
    fs::write(home.path().join("new.csv"), rows).unwrap();
    fs::write(home.path().join("bare.csv"), "age,income\n24,1100\n75,1500\n").unwrap();
    let class = ["--class", "city", "--classify"];
    let with = |rest: &[&str]| run(home.path(), &[&class[..], rest].concat());
    insta::assert_snapshot!(with(&["new.csv"]));
    insta::assert_snapshot!(with(&["new.csv", "--json", "--neighbours", "25"]));
    insta::assert_snapshot!(with(&["bare.csv"]));
    insta::assert_snapshot!(run(home.path(), &["--classify", "new.csv"]));
    insta::assert_snapshot!(run(
        home.path(),
        &["--classify", "new.csv", "--class", "age"]
    ));
}

/// A table of 120 people, published with coarse ages and zip codes.
fn coarse() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let mut table = "age,zip,sex,disease,cost\n".to_owned();
    for row in 0..120 {
        let (age, zip) = (20 + (row * 7) % 40, 47901 + (row * 3) % 6);
        let sex = ["f", "m"][row % 2];
        let disease = ["flu", "cold", "gout"][row % 3];
        table.push_str(&format!("{age},{zip},{sex},{disease},{}\n", 100 + row));
    }
    fs::write(home.path().join("table.csv"), table).unwrap();
    let recipe = "[input]\ntable = \"table.csv\"\n[columns]\n\
        age = { role = \"quasi\", type = \"number\", hierarchy = { widths = [5, 10, 20] } }\n\
        zip = { role = \"quasi\", hierarchy = { mask = \"right\" } }\nsex = \"quasi\"\n\
        disease = \"sensitive\"\ncost = \"other\"\n[promise]\nk-anonymity = 5\n\
        [method]\nname = \"full-domain\"\n";
    fs::write(home.path().join("recipe.toml"), recipe).unwrap();
    crate::command::run(
        home.path(),
        &["publish", "recipe.toml", "--seed", "1", "--quiet"],
    );
    home
}

#[test]
fn coarse_cells_are_asked_like_everything_else() {
    let home = coarse();
    let several = "SELECT sex, COUNT(*) AS n, AVG(age), SUM(cost), SHARE(disease = 'flu') \
                   FROM release WHERE age BETWEEN 23 AND 41 GROUP BY sex";
    insta::assert_snapshot!(run(home.path(), &[several]));
    insta::assert_snapshot!(run(home.path(), &[several, "--csv"]));
    let shares = "SELECT disease, SHARE(*) WHERE age < 33 GROUP BY disease";
    insta::assert_snapshot!(run(home.path(), &[shares]));
    insta::assert_snapshot!(run(home.path(), &["SELECT SHARE(age < 33)", "--json"]));
    let cells = "SELECT CELL(age), COUNT(*) GROUP BY CELL(age)";
    insta::assert_snapshot!(run(home.path(), &[cells]));
    // What a mask hides, and what would have to be guessed from nothing.
    insta::assert_snapshot!(run(home.path(), &["SELECT COUNT(*) WHERE zip = '47903'"]));
    insta::assert_snapshot!(run(home.path(), &["SELECT COUNT(*)", "--way", "simplex"]));
    insta::assert_snapshot!(run(home.path(), &["SELECT COUNT(*), COUNT(*)"]));
}

/// Names and values come from whoever made the release.
#[test]
fn nothing_in_a_release_steers_the_terminal() {
    let made = ByHand::new(vec![column("\u{1b}[2Jtown", "quasi", "category")])
        .with("not_promised", json!(["a note \u{1b}]0;title\u{7}"]))
        .plain_rows(&["\u{1b}[31mGhent", "Bruges\u{9b}1A"]);
    let home = saved(made);
    let question =
        "SELECT \"\u{1b}[2Jtown\", COUNT(*) FROM r GROUP BY \"\u{1b}[2Jtown\"";
    for arguments in [
        &["estimate", "release", question][..],
        &["estimate", "release", question, "--json"],
        &["estimate", "release", "SELECT COUNT(*) FROM r WHERE \u{1b}[31mx = 1"],
        &["audit", "release"],
    ] {
        let found = run_command(home.path(), arguments);
        let is_harmful = |c: char| c.is_control() && c != '\n';
        assert!(!found.contains(is_harmful), "{arguments:?}: {found:?}");
    }
    let found = run(home.path(), &[question]);
    assert!(found.contains("\\u001b[31mGhent"), "{found}");
}

#[test]
fn a_release_without_checksums_is_refused() {
    let home = home(0.4);
    let path = home.path().join("release/manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut manifest: Value = serde_json::from_str(&text).unwrap();
    manifest["checksums"] = json!({});
    fs::write(&path, manifest.to_string()).unwrap();
    for arguments in [
        &["estimate", "release", "SELECT COUNT(*) FROM r"][..],
        &["sample", "release"],
        &["audit", "release"],
    ] {
        let found = run_command(home.path(), arguments);
        assert!(found.starts_with("exit 2"), "{found}");
        assert!(found.contains("the manifest has no checksum of data.csv"), "{found}");
    }
}

#[test]
fn a_file_of_questions_is_answered_at_once() {
    let home = home(0.4);
    let text = "SELECT COUNT(*) FROM t WHERE age > 30;\n\
                SELECT disease, COUNT(*), AVG(age) AS mean FROM t GROUP BY disease \
                ORDER BY COUNT(*) DESC LIMIT 2;\n";
    fs::write(home.path().join("q.sql"), text).unwrap();
    let told = run(home.path(), &["--file", "q.sql", "--json"]);
    let json = told.strip_prefix("exit 0\n--- out\n").unwrap();
    let found: Value =
        serde_json::from_str(json.strip_suffix("--- err\n").unwrap()).unwrap();
    let questions = found["questions"].as_array().unwrap();
    assert_eq!(questions.len(), 2);
    let keys = |estimate: &Value| -> Vec<String> {
        estimate.as_object().unwrap().keys().cloned().collect()
    };
    let first = keys(&questions[0]["estimates"][0]);
    for question in questions {
        for estimate in question["estimates"].as_array().unwrap() {
            let measure = estimate["measure"].as_str().unwrap().to_owned();
            let own = keys(estimate);
            let same = |key: &&String| **key != measure;
            let expected: Vec<&String> =
                first.iter().filter(|key| *key != "count").collect();
            assert_eq!(own.iter().filter(same).collect::<Vec<_>>(), expected);
            assert_eq!(estimate["estimate"], estimate[&*measure]);
        }
    }
    // Two groups, each with both numbers.
    let estimates = questions[1]["estimates"].as_array().unwrap();
    let names: Vec<&str> =
        estimates.iter().map(|e| e["number"].as_str().unwrap()).collect();
    assert_eq!(names, ["COUNT(*)", "mean", "COUNT(*)", "mean"]);
    assert!(estimates[0]["count"].as_f64() >= estimates[2]["count"].as_f64());
    let note =
        "the first 2 of 4 groups are so by their estimates; in the table others may be";
    assert!(questions[1]["notes"].as_array().unwrap().contains(&json!(note)));

    let told = run(home.path(), &["--file", "q.sql"]);
    assert!(told.contains("SELECT COUNT(*) FROM t WHERE age > 30\n\n"), "{told}");
    assert!(told.contains(note), "{told}");
    fs::write(home.path().join("q.sql"), "SELECT COUNT(*); SELECT MAX(age)").unwrap();
    let told = run(home.path(), &["--file", "q.sql"]);
    assert!(
        told.contains("error: q.sql, question 2: `MAX(age)` is not understood"),
        "{told}"
    );
}
