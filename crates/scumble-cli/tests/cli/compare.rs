//! What users see of comparisons: real runs of the command.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::builder::folder;

const RECIPE: &str = r#"[input]
table = "people.csv"

[columns]
name = "identifier"
age  = { role = "quasi", type = "number", hierarchy = { widths = [10, 20] } }
city = "quasi" # where they live
ill  = "sensitive"

[promise]
k-anonymity = { k = 4 }

[method]
name = "full-domain"
"#;

/// A folder with 120 people and a recipe for them.
fn home() -> tempfile::TempDir {
    let mut table = "name,age,city,ill\n".to_owned();
    for number in 0..120 {
        let age = 20 + (number * 7) % 40;
        let city = ["Ulm", "Bonn", "Jena"][number % 3];
        let ill = if (number * number + age) % 3 == 0 { "yes" } else { "no" };
        table.push_str(&format!("person {number},{age},{city},{ill}\n"));
    }
    folder(&[("people.csv", &table), ("r.toml", RECIPE)])
}

/// Codes are words for every part of the program: what is asked of `01067` is whether it is
/// that, not whether it lies between others.
#[test]
fn questions_are_about_what_the_release_takes_a_column_for() {
    let mut table = "zip,age,ill\n".to_owned();
    for number in 0..150 {
        let (zip, age) = (1067 + number * 37 % 90, 20 + number * 7 % 40);
        let ill = ["yes", "no", "no"][number * 5 % 7 % 3];
        table.push_str(&format!("{zip:05},{age},{ill}\n"));
    }
    let points = |zip: &str| {
        let recipe = format!(
            "input.table = \"people.csv\"\n[columns]\nzip = {zip}\nage = \"quasi\"\n\
             ill = \"sensitive\"\n[promise]\nbreach = {{ prior = 0.4, posterior = 0.7 }}\n"
        );
        let home = folder(&[("people.csv", &table), ("r.toml", &recipe)]);
        let vary = ["--vary", "promise.breach.posterior=0.7", "--seed", "1", "--json"];
        let text = run(home.path(), &vary);
        let json = text.split("--- out\n").nth(1).unwrap();
        let json = json.split("--- err").next().unwrap();
        let mut point =
            serde_json::from_str::<Value>(json).unwrap()["points"][0].take();
        point["seconds"] = Value::Null;
        point["recipe"] = Value::Null;
        point
    };
    let typed = |kind: &str| format!("{{ role = \"quasi\", type = \"{kind}\" }}");
    assert_eq!(points("\"quasi\""), points(&typed("category")));
    assert_ne!(points("\"quasi\""), points(&typed("number")));
}

fn run(home: &Path, arguments: &[&str]) -> String {
    crate::command::run(
        home,
        &[&["compare", "r.toml", "--queries", "20"], arguments].concat(),
    )
}

const BY_K: [&str; 2] = ["--vary", "promise.k-anonymity.k=2,4,500"];

#[test]
fn a_grid_is_one_table_and_one_page() {
    let home = home();
    let text = run(home.path(), &BY_K);
    assert!(text.starts_with("exit 0\n--- out\n120 rows, "), "{text}");
    assert!(text.contains("`ill` is right"), "{text}");
    let heading = text.lines().find(|line| line.contains("covers")).unwrap();
    let decide =
        ["k ", "loss", "<0.5 %", ">10 %", "tree", "row risk", "value risk", "sec"];
    let others = ["exact", "width", "rules", "near", "linkage", "homogeneity"];
    for word in decide {
        assert!(heading.contains(word), "{word}");
    }
    assert!(others.iter().all(|word| !heading.contains(word)), "{heading}");
    assert!(text.contains("`--all` prints every column"), "{text}");
    let every = run(home.path(), &[&BY_K[..], &["--all"]].concat());
    let heading = every.lines().find(|line| line.contains("covers")).unwrap();
    for word in decide.into_iter().chain(others) {
        assert!(heading.contains(word), "{word}");
    }
    // The recipe as it stands has a star, and what cannot be met a footnote.
    let rows: Vec<&str> =
        text.lines().skip_while(|line| !line.contains("covers")).collect();
    assert!(rows[1].starts_with("   2"), "{text}");
    assert!(rows[2].starts_with("*  4"), "{text}");
    assert!(rows[3].starts_with("   500  none"), "{text}");
    assert!(text.contains("] 500-anonymity cannot be met: "), "{text}");

    let page = fs::read_to_string(home.path().join("compare/compare.html")).unwrap();
    assert!(!page.contains("http") && !page.contains("<script"));
    assert_eq!(page.matches("<details").count(), 3);
    assert!(page.contains("k-anonymity = { k = 500 }"));
    assert!(page.contains("city = &quot;quasi&quot; # where they live"));
    assert!(!page.contains("person 1"));
    let csv = fs::read_to_string(home.path().join("compare/compare.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(
        lines[0].starts_with("promise.k-anonymity.k,chosen,holds,reason,method,rows")
    );
    assert!(lines[2].starts_with("4,true,true,,full-domain,120,"), "{csv}");
    assert!(lines[3].starts_with("500,false,false,"), "{csv}");
    // Nothing is left where the release would have been.
    assert!(!home.path().join("release").exists());
}

#[test]
fn json_has_every_point_and_is_the_same_again() {
    let home = home();
    let json = |output: &str| -> Value {
        let more = ["--methods", "full-domain,mondrian", "--json", "--output", output];
        let text = run(home.path(), &[BY_K.as_slice(), &more].concat());
        let text = text.strip_prefix("exit 0\n--- out\n").unwrap();
        let (text, _) = text.split_once("--- err").unwrap();
        let mut value: Value = serde_json::from_str(text).unwrap();
        for point in value["points"].as_array_mut().unwrap() {
            assert!(point["seconds"].take().is_object());
        }
        value
    };
    let value = json("a");
    assert_eq!(value["schema"], 1);
    assert_eq!(value["chosen"], 2);
    assert_eq!(value["scale"]["class"], "ill");
    assert!(value["scale"]["guess"].as_f64().unwrap() > 0.5);
    let points = value["points"].as_array().unwrap();
    assert_eq!(points.len(), 6);
    let vary = json!({ "promise.k-anonymity.k": 4, "method.name": "mondrian" });
    assert_eq!(points[3]["vary"], vary);
    for point in &points[..4] {
        assert_eq!(point["holds"], true);
        for key in ["loss", "query_error", "accuracy", "attacks", "left_out", "risk"] {
            assert!(!point[key].is_null(), "{key}: {point}");
        }
        for key in ["coverage", "rule_error"] {
            assert!(point.get(key).is_some(), "{key}");
        }
        assert_eq!(point["attacks"][0]["name"], "linkage");
    }
    assert_eq!(points[4]["holds"], false);
    assert!(points[4]["reason"].as_str().unwrap().contains("cannot be met"));
    assert_eq!(json("b"), value);
    let read = |file: &str| fs::read_to_string(home.path().join(file)).unwrap();
    assert!(read("a/compare.html").contains("mondrian"));
    #[cfg(unix)]
    for file in ["a/compare.html", "a/compare.csv"] {
        use std::os::unix::fs::PermissionsExt;
        let known = fs::metadata(home.path().join(file)).unwrap();
        assert_eq!(known.permissions().mode() & 0o777, 0o600, "{file}");
    }
}

#[test]
fn the_recipe_as_it_stands_is_always_there() {
    let home = home();
    let text = run(home.path(), &["--vary", "promise.k-anonymity.k=2"]);
    assert!(text.lines().any(|line| line.starts_with("*  4")), "{text}");
    let text = run(home.path(), &["--quiet"]);
    assert_eq!(text, "exit 0\n--- out\n--- err\n");
    let page = fs::read_to_string(home.path().join("compare/compare.html")).unwrap();
    assert_eq!(page.matches("<details").count(), 1);
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let home = home();
    let error = |arguments: &[&str]| {
        let text = run(home.path(), arguments);
        let text = text.strip_prefix("exit 2\n--- out\n--- err\nerror: ").unwrap();
        assert!(text.contains("hint: "), "{text}");
        text.lines().next().unwrap().to_owned()
    };
    let vary = |typed: &str| error(&["--vary", typed]);
    let unknown = "r.toml:11:24: unknown key `q` in `k-anonymity`";
    assert_eq!(vary("promise.k-anonymity.q=1"), unknown);
    assert_eq!(
        vary("promise.k-anonymity.k="),
        "no values are given for `promise.k-anonymity.k`"
    );
    assert_eq!(vary("method.loss=lm,lm"), "`method.loss` is given lm twice");
    assert_eq!(vary("method.suppression"), "`--vary method.suppression` has no `=`");
    let city = "r.toml: `columns.city.hierarchy.cuts` cannot be set, because `columns.city` is not \
                a table in the recipe";
    assert_eq!(vary("columns.city.hierarchy.cuts=2"), city);
    assert_eq!(error(&["--class", "il"]), "no column is called `il`");
    assert_eq!(
        error(&["--methods", "mondrain"]),
        "r.toml:14:8: unknown method `mondrain`"
    );
    let many: Vec<String> = (2..1100).map(|k| k.to_string()).collect();
    let many = format!("promise.k-anonymity.k={}", many.join(","));
    assert_eq!(vary(&many), "these are 1098 points, but at most 1000 are compared");
    fs::write(home.path().join("r.toml"), RECIPE.replace("people.csv", "-")).unwrap();
    assert_eq!(error(&[]), "r.toml:2:9: standard input can be read only once");
    assert!(!home.path().join("compare").exists());
}

const NOISY: &str = r#"[input]
table = "people.csv"

[columns]
name = "identifier"
age  = { role = "quasi", type = "number" }
city = "quasi"
ill  = "sensitive"

[promise]
breach = { prior = 0.4, posterior = 0.6 }
"#;

/// What `compare` prints as JSON.
fn json_of(home: &Path, arguments: &[&str]) -> Value {
    let text = crate::command::run(
        home,
        &[&["compare", "--json", "--draws", "0"], arguments].concat(),
    );
    let text =
        text.strip_prefix("exit 0\n--- out\n").unwrap_or_else(|| panic!("{text}"));
    let (text, _) = text.split_once("--- err").unwrap();
    serde_json::from_str(text).unwrap()
}

/// The contradiction that there was: noise that hits nobody beyond chance, and a risk of
/// its surest guess.
#[test]
fn recipes_of_other_families_stand_on_one_scale() {
    let home = home();
    fs::write(home.path().join("noisy.toml"), NOISY).unwrap();
    let hard = RECIPE.replace("k = 4", "k = 500");
    fs::write(home.path().join("hard.toml"), hard).unwrap();
    let recipes = ["r.toml", "noisy.toml", "hard.toml", "--queries", "40"];
    let value = json_of(home.path(), &recipes);
    assert_eq!(value["recipes"], json!(["r.toml", "noisy.toml", "hard.toml"]));
    let points = value["points"].as_array().unwrap();
    let names: Vec<&Value> = points.iter().map(|p| &p["vary"]["recipe"]).collect();
    assert_eq!(names, ["r.toml", "noisy.toml", "hard.toml"]);
    assert!(points[2]["reason"].as_str().unwrap().contains("cannot be met"));
    let risk = |point: &Value, kind: &str| {
        let risks = point["risks"].as_array().unwrap();
        risks.iter().find(|risk| risk["kind"] == kind).unwrap().clone()
    };
    let near =
        |a: &Value, b: f64| assert!((a.as_f64().unwrap() - b).abs() < 1e-9, "{a}, {b}");
    // Rows: one in as many as have the same cells, or the same values.
    let linkage = points[0]["attacks"][0]["success"].as_f64().unwrap();
    near(&risk(&points[0], "row")["gain"], linkage - 1.0 / 120.0);
    assert_eq!(risk(&points[0], "row")["attack"], "linkage");
    near(&risk(&points[1], "row")["gain"], 1.0 - 1.0 / 120.0);
    assert_eq!(risk(&points[1], "row")["attack"], "untouched quasi values");
    // Values: both beyond the commonest value of the same column.
    let table = fs::read_to_string(home.path().join("people.csv")).unwrap();
    let healthy = table.lines().filter(|line| line.ends_with(",no")).count();
    let guess = healthy.max(120 - healthy) as f64 / 120.0;
    for (point, attack) in [(&points[0], "homogeneity"), (&points[1], "inference")] {
        let attacks = point["attacks"].as_array().unwrap();
        let tried = attacks.iter().find(|a| a["name"] == attack).unwrap();
        let gain = (tried["success"].as_f64().unwrap() - guess).max(0.0);
        let value = risk(point, "value");
        assert!(value["gain"].as_f64().unwrap() >= gain - 1e-9, "{value}");
        assert_eq!(value["column"], "ill");
    }
    assert_eq!(points[1]["risk"]["kind"], "row");
    for point in &points[..2] {
        let answers = &point["answers"];
        let n = answers["exact"].as_u64().unwrap() + answers["open"].as_u64().unwrap();
        // The table is too small for one of the bands.
        let asked = value["scale"]["questions"].as_object().unwrap().values();
        assert_eq!(n, asked.map(|n| n.as_u64().unwrap()).sum::<u64>());
        assert!(point["interval"]["width"].as_f64().unwrap() > 0.0);
        assert!(point["interval"]["score"].as_f64().unwrap() > 0.0);
    }
    assert!(points[1]["answers"]["exact"].as_u64() > Some(0));
    let read = |file: &str| {
        fs::read_to_string(home.path().join("compare").join(file)).unwrap()
    };
    let csv = read("compare.csv");
    assert!(csv.starts_with("recipe,chosen,holds,reason,method,"), "{csv}");
    for key in ["row_risk_by", "value_risk", "interval_score", "query_error open"] {
        assert!(csv.lines().next().unwrap().split(',').any(|own| own == key), "{key}");
    }
    let page = read("compare.html");
    assert!(page.contains("Whose row is it?") && page.contains("What is their value?"));
    assert!(page.contains("each as it stands"));
    assert!(!page.contains("class=\"ring\""));
    assert_eq!(page.matches("<details").count(), 3);
}

/// In a mixture the randomized column is guessed as well whatever k is; who is whose is not.
#[test]
fn k_matters_in_a_mixture() {
    let home = home();
    let mixed = RECIPE
        .replace("ill  = \"sensitive\"", "ill = \"sensitive\"")
        .replace("k-anonymity = { k = 4 }", "k-anonymity = { k = 4 }\nbreach = { prior = 0.4, posterior = 0.6, columns = [\"ill\"] }")
        .replace("[method]\nname = \"full-domain\"\n", "");
    fs::write(home.path().join("r.toml"), mixed).unwrap();
    let vary = ["r.toml", "--vary", "promise.k-anonymity.k=2,20", "--queries", "20"];
    let value = json_of(home.path(), &vary);
    let row = |place: usize| {
        let point = &value["points"][place];
        assert_eq!(point["holds"], true, "{point}");
        let risks = point["risks"].as_array().unwrap();
        let own = risks.iter().find(|risk| risk["kind"] == "row");
        own.unwrap_or_else(|| panic!("{point}"))["gain"].as_f64().unwrap()
    };
    assert!(row(0) > row(1), "{} {}", row(0), row(1));
}

#[test]
fn questions_of_ones_own_are_asked() {
    let home = home();
    let questions =
        "-- what we need\nSELECT COUNT(*);\nSELECT city, AVG(age)\n  GROUP BY city;\n";
    fs::write(home.path().join("q.sql"), questions).unwrap();
    let value = json_of(home.path(), &["r.toml", "--questions", "q.sql"]);
    assert_eq!(value["scale"]["own_questions"], true);
    let answers = &value["points"][0]["answers"];
    let n = answers["exact"].as_u64().unwrap() + answers["open"].as_u64().unwrap();
    assert_eq!(n, 4);

    let error = |file: &str| {
        let arguments = ["compare", "r.toml", "--output", "none", "--questions", file];
        let text = crate::command::run(home.path(), &arguments);
        assert!(text.starts_with("exit 2\n--- out\n--- err\nerror: "), "{text}");
        assert!(!home.path().join("none").exists());
        text.lines().nth(3).unwrap().to_owned()
    };
    assert!(error("missing.sql").contains("missing.sql"), "{}", error("missing.sql"));
    fs::write(home.path().join("q.sql"), "\n-- nothing\n").unwrap();
    assert_eq!(error("q.sql"), "error: q.sql: the file has no questions");
    let wrong = "SELECT COUNT(*)\nSELECT COUNT(*) WHERE agee > 3\n";
    fs::write(home.path().join("q.sql"), wrong).unwrap();
    assert_eq!(error("q.sql"), "error: q.sql:2:1: no column is called `agee`");
}

#[test]
fn recipes_that_cannot_be_compared_are_told_before_anything_runs() {
    let home = home();
    let write =
        |file: &str, text: &str| fs::write(home.path().join(file), text).unwrap();
    let error = |arguments: &[&str]| {
        let text =
            crate::command::run(home.path(), &[&["compare"], arguments].concat());
        assert!(text.starts_with("exit 2\n--- out\n--- err\nerror: "), "{text}");
        assert!(text.contains("hint: "), "{text}");
        text.lines().nth(3).unwrap().trim_start_matches("error: ").to_owned()
    };
    write("other.toml", &NOISY.replace("people.csv", "patients.csv"));
    assert_eq!(
        error(&["r.toml", "other.toml"]),
        "other.toml:2:9: this recipe is about `patients.csv`, but `r.toml` about `people.csv`"
    );
    assert_eq!(error(&["r.toml", "r.toml"]), "`r.toml` is given twice");
    write("broken.toml", &NOISY.replace("breach", "breech"));
    assert!(error(&["r.toml", "broken.toml"]).starts_with("broken.toml:11:1: "));
    write("noisy.toml", NOISY);
    assert_eq!(
        error(&["r.toml", "noisy.toml", "--vary", "promise.t-closeness.t=0.2"]),
        "none of the recipes has `promise.t-closeness.t`, so it cannot be varied"
    );
    assert!(!home.path().join("compare").exists());
}
