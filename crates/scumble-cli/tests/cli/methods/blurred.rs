//! What users see of blurred numbers: real runs of the command.

use std::fs;

use crate::builder::folder;
use crate::command::{AUDIT, PUBLISH, run};

/// A folder with a table of 600 people and a recipe.
fn home(promise: &str, method: &str) -> tempfile::TempDir {
    let mut table = String::from("id,age,sex,weight,illness\n");
    for row in 0..600u32 {
        // Scattered without a generator: multiples of a number without common divisors.
        let age = 20 + row * 37 % 61;
        let weight = 50.0 + f64::from(row * 7919 % 997) / 20.0 + f64::from(age) / 10.0;
        let sex = if row % 2 == 0 { "f" } else { "m" };
        let illness = ["flu", "cold", "gout"][(row * 5 % 7 % 3) as usize];
        table.push_str(&format!("p{row},{age},{sex},{weight:.1},{illness}\n"));
    }
    let recipe = format!(
        "[input]\ntable = \"table.csv\"\n[columns]\nid = \"identifier\"\n\
         age = {{ role = \"quasi\", type = \"number\", domain = [0, 120] }}\n\
         sex = \"quasi\"\nweight = \"quasi\"\nillness = \"sensitive\"\n\
         [promise]\n{promise}\n[method]\n{method}\n"
    );
    folder(&[("table.csv", &table), ("recipe.toml", &recipe)])
}

#[test]
fn blur_from_recipe_to_estimate() {
    let home = home("expected-anonymity = 8", "shape = \"uniform\"");
    insta::assert_snapshot!(run(home.path(), &PUBLISH));
    insta::assert_snapshot!(run(home.path(), &AUDIT));
    insta::assert_snapshot!(run(home.path(), &["audit", "release"]));
    let question = "SELECT AVG(weight) FROM release WHERE age BETWEEN 30 AND 39";
    insta::assert_snapshot!(run(home.path(), &["estimate", "release", question]));
    let grouped = "SELECT sex, SUM(weight) FROM release GROUP BY sex";
    insta::assert_snapshot!(run(home.path(), &["estimate", "release", grouped]));
    let classify =
        ["estimate", "release", "--classify", "table.csv", "--class", "illness"];
    insta::assert_snapshot!(run(home.path(), &classify));
}

#[test]
fn the_best_guess_can_be_bounded() {
    let home = home(
        "expected-anonymity = { k = 4, best-guess = 0.25 }",
        "shape = \"uniform\"",
    );
    insta::assert_snapshot!(run(home.path(), &PUBLISH));
    insta::assert_snapshot!(run(home.path(), &AUDIT));
    // Who stands at the edge is in front of all others in about half of all directions.
    let recipe = fs::read_to_string(home.path().join("recipe.toml")).unwrap();
    let gaussian = recipe.replace("uniform", "gaussian");
    fs::write(home.path().join("gaussian.toml"), gaussian).unwrap();
    let publish = ["publish", "gaussian.toml", "--directory", "gaussian"];
    insta::assert_snapshot!(run(home.path(), &publish));
    assert!(!home.path().join("gaussian").exists());
}

#[test]
fn the_scheme_of_the_paper_is_warned_of() {
    let home = home("expected-anonymity = { k = 8, strict = false }", "");
    insta::assert_snapshot!(run(home.path(), &PUBLISH));
    insta::assert_snapshot!(run(home.path(), &AUDIT));
}

#[test]
fn condensation_from_recipe_to_estimate() {
    let home = home("expected-anonymity = 8", "name = \"condensation\"");
    insta::assert_snapshot!(run(home.path(), &PUBLISH));
    insta::assert_snapshot!(run(home.path(), &AUDIT));
    let question = "SELECT AVG(weight) FROM release WHERE age BETWEEN 30 AND 39";
    insta::assert_snapshot!(run(home.path(), &["estimate", "release", question]));
}

#[test]
fn too_much_is_refused_and_nothing_written() {
    let home = home("expected-anonymity = 200", "");
    insta::assert_snapshot!(run(home.path(), &PUBLISH));
    assert!(!home.path().join("release").exists());
    let plan = ["publish", "recipe.toml", "--plan", "plan.json"];
    insta::assert_snapshot!(run(home.path(), &plan));
    assert!(!home.path().join("plan.json").exists());
}

#[test]
fn another_table_is_not_taken_for_the_original() {
    let home = home("expected-anonymity = 8", "");
    run(home.path(), &PUBLISH);
    let table = fs::read_to_string(home.path().join("table.csv")).unwrap();
    let other: String = table
        .lines()
        .enumerate()
        .map(|(place, line)| match place {
            0 => format!("{line}\n"),
            _ => {
                let mut cells: Vec<String> =
                    line.split(',').map(str::to_owned).collect();
                cells[1] = (20 + place * 53 % 61).to_string();
                cells.join(",") + "\n"
            }
        })
        .collect();
    fs::write(home.path().join("other.csv"), other).unwrap();
    let audit = ["audit", "release", "--original", "other.csv"];
    insta::assert_snapshot!(run(home.path(), &audit));
}
