//! What users see of values by group: real runs of the command.

use std::fs;

use crate::builder::folder;
use crate::command::{AUDIT, PUBLISH, run};

/// A folder with a table of 600 people, what somebody knows, and a recipe.
fn home(promise: &str, method: &str) -> tempfile::TempDir {
    let mut table = String::from("id,age,sex,town,disease\n");
    for row in 0..600 {
        let disease =
            ["flu", "cold", "gout", "cancer", "asthma", "malaria"][row * 5 % 6];
        let sex = if row % 3 == 0 || disease == "gout" { "m" } else { "f" };
        table.push_str(&format!(
            "p{row},{},{sex},town {},{disease}\n",
            20 + row % 50,
            row * 7 % 40
        ));
    }
    let known = "sex,disease,probability\nm,gout,0.25\nf,gout,0.2\nm,cancer,0.1\nf,cancer,0.15\n";
    let recipe = format!(
        "[input]\ntable = \"table.csv\"\n[columns]\nid = \"identifier\"\n\
         age = {{ role = \"quasi\", type = \"number\", hierarchy = {{ widths = [10, 20] }} }}\n\
         sex = \"quasi\"\ntown = \"quasi\"\ndisease = \"sensitive\"\n\
         [promise]\n{promise}\n[method]\n{method}\n"
    );
    folder(&[("table.csv", &table), ("known.csv", known), ("recipe.toml", &recipe)])
}

#[test]
fn anatomy_from_recipe_to_estimate() {
    let home = home("l-diversity = 4", "name = \"anatomy\"");
    insta::assert_snapshot!(run(home.path(), &PUBLISH));
    insta::assert_snapshot!(run(home.path(), &AUDIT));
    insta::assert_snapshot!(run(home.path(), &["audit", "release"]));
    let question =
        "SELECT disease, COUNT(*) FROM release WHERE age < 40 GROUP BY disease";
    insta::assert_snapshot!(run(home.path(), &["estimate", "release", question]));
}

#[test]
fn robust_from_recipe_to_estimate() {
    let home = home(
        "r-robustness = { r = 3, signatures = [[\"sex\"], [\"age\", \"sex\"]] }",
        "",
    );
    insta::assert_snapshot!(run(home.path(), &PUBLISH));
    insta::assert_snapshot!(run(home.path(), &AUDIT));
    insta::assert_snapshot!(run(home.path(), &["audit", "release"]));
    let question = "SELECT COUNT(*) FROM release WHERE sex = 'f' AND disease = 'gout'";
    insta::assert_snapshot!(run(home.path(), &["estimate", "release", question]));
}

#[test]
fn knowledge_from_a_file() {
    let home = home("r-robustness = { r = 3, knowledge = \"known.csv\" }", "");
    insta::assert_snapshot!(run(home.path(), &PUBLISH));
    insta::assert_snapshot!(run(home.path(), &AUDIT));
    let with = [&AUDIT[..], &["--knowledge", "known.csv"]].concat();
    insta::assert_snapshot!(run(home.path(), &with));
}

#[test]
fn values_that_the_table_does_not_have_are_noted() {
    let home = home("r-robustness = { r = 2, knowledge = \"known.csv\" }", "");
    let known = "sex,value,probability\nm,GOUT,0.25\nf,gout,0.2\nm,,0.1\n";
    fs::write(home.path().join("known.csv"), known).unwrap();
    let found = run(home.path(), &PUBLISH);
    let noted =
        "what is known speaks of 1 value that `disease` does not have, first in";
    assert!(found.starts_with("exit 0") && found.contains(noted), "{found}");
    assert!(found.contains("known.csv, line 2; are") && !found.contains("GOUT"));
    let other = known.replace("value", "illness");
    fs::write(home.path().join("known.csv"), other).unwrap();
    let found = run(home.path(), &[&PUBLISH[..], &["--force"]].concat());
    let refused =
        "what is known is about `illness`, but the sensitive column is `disease`";
    assert!(found.starts_with("exit 2") && found.contains(refused), "{found}");
}

#[test]
fn knowledge_against_a_generalized_release() {
    let home = home("k-anonymity = 5", "name = \"full-domain\"");
    run(home.path(), &PUBLISH);
    let with = [&AUDIT[..], &["--knowledge", "known.csv"]].concat();
    insta::assert_snapshot!(run(home.path(), &with));
    let with = [&AUDIT[..], &["--knowledge", "table"]].concat();
    insta::assert_snapshot!(run(home.path(), &with));
    let without = ["audit", "release", "--knowledge", "known.csv"];
    insta::assert_snapshot!(run(home.path(), &without));
}

#[test]
fn what_cannot_be_met_or_read_is_refused() {
    let mut text = String::new();
    let mut case = |title: &str, promise: &str, method: &str, arguments: &[&str]| {
        let home = home(promise, method);
        let found = run(home.path(), arguments);
        assert!(
            !home.path().join("release").exists(),
            "{title}: something was written"
        );
        assert!(
            found.starts_with("exit 1\n") || found.starts_with("exit 2\n"),
            "{title}"
        );
        text.push_str(&format!("# {title}\n{found}\n"));
    };
    case(
        "l above the number of values",
        "l-diversity = 8",
        "name = \"anatomy\"",
        &PUBLISH,
    );
    case("r above the commonest", "r-robustness = 7", "", &PUBLISH);
    case(
        "too much is known",
        "r-robustness = { r = 5.9, signatures = [[\"sex\"], [\"age\", \"sex\"]], support = 2 }",
        "",
        &PUBLISH,
    );
    case(
        "no such file",
        "r-robustness = { r = 2, knowledge = \"nothing.csv\" }",
        "",
        &PUBLISH,
    );
    case(
        "largest-group elsewhere",
        "l-diversity = 3",
        "name = \"anatomy\"\nlargest-group = 5",
        &PUBLISH,
    );
    case("largest-group too small", "r-robustness = 3", "largest-group = 1", &PUBLISH);
    case("another method", "r-robustness = 3", "name = \"full-domain\"", &PUBLISH);
    case(
        "with randomized values",
        "r-robustness = 3\nbreach = { prior = 0.1, posterior = 0.5 }",
        "",
        &PUBLISH,
    );
    insta::assert_snapshot!(text);
}
