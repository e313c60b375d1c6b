//! What users see of promises about presence: real runs of the command.

use std::fs;

use crate::builder::folder;
use crate::command::run;

const PEOPLE: &str = "id,zip,age,nation\n1,47906,35,USA\n2,47903,59,Canada\n\
    3,47906,42,USA\n4,47630,18,Brazil\n5,47630,22,Brazil\n6,47633,63,Peru\n\
    7,48973,33,Spain\n8,48972,47,Bulgaria\n9,48970,52,France\n";

const TABLE: &str = "id,zip,age,nation\n2,47903,59,Canada\n3,47906,42,USA\n\
    6,47633,63,Peru\n8,48972,47,Bulgaria\n9,48970,52,France\n";

/// A folder with population, table, and a recipe for this promise and method.
fn home(promise: &str, method: &str) -> tempfile::TempDir {
    let recipe = format!(
        "[input]\ntable = \"table.csv\"\npopulation = \"people.csv\"\nkey = \"id\"\n\
         [columns]\nid = \"identifier\"\nzip = {{ role = \"quasi\", hierarchy = {{ mask = \"right\" }} }}\n\
         age = {{ role = \"quasi\", hierarchy = {{ widths = [20, 40] }} }}\nnation = \"quasi\"\n\
         [promise]\ndelta-presence = {{ {promise} }}\n[method]\n{method}\n"
    );
    folder(&[("people.csv", PEOPLE), ("table.csv", TABLE), ("recipe.toml", &recipe)])
}

#[test]
fn publish_and_audit_tell_everybodys_presence() {
    let home =
        home("min = 0.5, max = 0.67", "name = \"full-domain\"\nlooks = \"free\"");
    insta::assert_snapshot!(run(home.path(), &["publish", "recipe.toml"]));
    let with = ["audit", "release", "--population", "people.csv"];
    insta::assert_snapshot!(run(home.path(), &with));
    let both = [&with[..], &["--original", "table.csv"]].concat();
    insta::assert_snapshot!(run(home.path(), &both));
    insta::assert_snapshot!(run(home.path(), &["audit", "release"]));
    // Somebody else's population has not enough people for the release.
    let others = ["audit", "release", "--population", "table.csv"];
    insta::assert_snapshot!(run(home.path(), &others));
}

#[test]
fn what_cannot_be_met_is_said_at_once() {
    let home = home("max = 0.4", "");
    insta::assert_snapshot!(run(home.path(), &["publish", "recipe.toml"]));
    assert!(!home.path().join("release").exists());
}

#[test]
fn the_weights_of_the_paper_are_undone_by_counting() {
    let method = "name = \"full-domain\"\nlooks = \"free\"\ncells = { kind = \"pdf\", weights = \"paper\" }";
    let home = home("min = 0.1, max = 0.97, adversary = \"paper\"", method);
    insta::assert_snapshot!(run(home.path(), &["publish", "recipe.toml"]));
}

#[test]
fn a_range_follows_from_risk() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("people.csv"), PEOPLE).unwrap();
    let sizes = ["--population", "100,000", "--table", "4000"];
    let advise = |more: &[&str]| {
        let all = [&["advise", "presence"][..], more].concat();
        run(home.path(), &all)
    };
    let misuse = ["--prior", "0.07", "--misuse", "0.01"];
    insta::assert_snapshot!(advise(&[&misuse[..], &sizes].concat()));
    let cost =
        ["--prior", "0.07", "--acceptable-cost", "200", "--cost", "10000", "--json"];
    insta::assert_snapshot!(advise(&[&cost[..], &sizes].concat()));
    let file = [
        "--population",
        "people.csv",
        "--table",
        "3",
        "--prior",
        "0.2",
        "--misuse",
        "0.1",
    ];
    insta::assert_snapshot!(advise(&file));
}
