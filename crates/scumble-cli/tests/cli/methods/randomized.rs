//! What users see of randomized values: real runs of the command.

use std::path::Path;

use crate::builder::folder;
use crate::command::{AUDIT, PUBLISH, run};

/// A folder with a table of 600 people, a key, and a recipe for this promise and method.
fn home(promise: &str, method: &str) -> tempfile::TempDir {
    let mut table = String::from("id,age,town,disease\n");
    for row in 0..600 {
        let disease = match row % 20 {
            0 => "H1N1",
            1..4 => "malaria",
            4..9 => "cancer",
            _ => "flu",
        };
        table.push_str(&format!(
            "p{row},{},town {},{disease}\n",
            row % 70,
            row * 7 % 600
        ));
    }
    let recipe = format!(
        "[input]\ntable = \"table.csv\"\n[columns]\nid = \"identifier\"\nage = \"quasi\"\n\
         town = \"quasi\"\ndisease = \"sensitive\"\n[promise]\n{promise}\n[method]\n{method}\n"
    );
    folder(&[
        ("table.csv", &table),
        ("noise.key", "a secret of the hospital\n"),
        ("recipe.toml", &recipe),
    ])
}

#[test]
fn publish_audit_and_estimate() {
    let home = home("breach = { prior = 0.1, posterior = 0.5 }", "");
    insta::assert_snapshot!(run(home.path(), &PUBLISH));
    insta::assert_snapshot!(run(home.path(), &AUDIT));
    insta::assert_snapshot!(run(home.path(), &["audit", "release"]));
    let question =
        "SELECT disease, COUNT(*) FROM release WHERE age < 40 GROUP BY disease";
    insta::assert_snapshot!(run(home.path(), &["estimate", "release", question]));
}

#[test]
fn subtraction_is_warned_of() {
    let home = home("fine-grain = { factor = 1.8 }", "");
    insta::assert_snapshot!(run(home.path(), &PUBLISH));
}

#[test]
fn sub_tables_are_shown() {
    let home = home(
        "breach = { prior = 0.3, posterior = 0.9 }",
        "name = \"partitioned-perturbation\"",
    );
    insta::assert_snapshot!(run(home.path(), &PUBLISH));
    insta::assert_snapshot!(run(home.path(), &AUDIT));
}

#[test]
fn a_plan_is_saved_but_not_for_another_table() {
    let home = home("breach = { prior = 0.1, posterior = 0.5 }", "");
    let with = ["publish", "recipe.toml", "--plan", "plan.json", "--quiet"];
    assert!(run(home.path(), &with).starts_with("exit 0"));
    let with = ["publish", "recipe.toml", "--use-plan", "plan.json", "--force"];
    insta::assert_snapshot!(run(home.path(), &with));
}

/// The share of people whose value is found from several releases.
fn averaged(home: &Path, releases: usize) -> f64 {
    let mut arguments = vec!["audit", "release0", "--json", "--original", "table.csv"];
    let names: Vec<String> =
        (0..releases).map(|number| format!("release{number}")).collect();
    for name in &names {
        let published = run(home, &["publish", "recipe.toml", "--directory", name]);
        assert!(published.starts_with("exit 0"), "{published}");
        if name != "release0" {
            arguments.extend(["--also", name]);
        }
    }
    let printed = run(home, &arguments);
    let json =
        printed.split("--- out\n").nth(1).unwrap().split("--- err").next().unwrap();
    let object: serde_json::Value = serde_json::from_str(json).unwrap();
    let attacks = object["attacks"].as_array().unwrap();
    let attack = attacks.iter().find(|attack| attack["name"] == "averaging").unwrap();
    attack["success"].as_f64().unwrap()
}

#[test]
fn fresh_noise_averages_out_and_keyed_noise_does_not() {
    let promise = "breach = { prior = 0.1, posterior = 0.5 }";
    let fresh = averaged(home(promise, "").path(), 8);
    let keyed = averaged(home(promise, "key-file = \"noise.key\"").path(), 8);
    assert!(fresh > 0.9, "{fresh}");
    assert!(keyed < 0.8, "{keyed}");
}

#[test]
fn advice_on_breach() {
    let home = home("breach = { prior = 0.1, posterior = 0.5 }", "");
    let about = ["advise", "breach", "--table", "table.csv", "--column", "disease"];
    let risk = ["--misuse", "0.2"];
    insta::assert_snapshot!(run(home.path(), &[&about[..], &risk].concat()));
    let rare = ["--misuse", "0.2", "--prior", "0.15", "--json"];
    insta::assert_snapshot!(run(home.path(), &[&about[..], &rare].concat()));
    let much = ["--acceptable-cost", "900", "--cost", "1000"];
    insta::assert_snapshot!(run(home.path(), &[&about[..], &much].concat()));
    let wrong = ["advise", "breach", "--table", "table.csv", "--column", "illness"];
    insta::assert_snapshot!(run(home.path(), &[&wrong[..], &risk].concat()));
}
