//! Several releases of the same people: `audit --also`, and the ledger.

use std::fs;

use crate::builder::folder;
use crate::command::run;

const TABLE: &str = "age,zip,ill\n31,1,flu\n33,2,cold\n35,3,hiv\n38,4,ulcer\n\
    41,1,cough\n43,2,flu\n46,3,cold\n48,4,hiv\n51,1,ulcer\n53,2,cough\n55,3,flu\n58,4,hiv\n";

/// Groups by ages or by places, which cross.
fn recipe(directory: &str, by: &str, widths: &str) -> String {
    format!(
        "input.table = \"table.csv\"\ncolumns.{by} = {{ role = \"quasi\", \
         type = \"number\", hierarchy = {{ widths = [{widths}] }} }}\n\
         columns.ill = \"sensitive\"\npromise.k-anonymity = 3\n\
         method.name = \"full-domain\"\nrelease.directory = \"{directory}\"\n"
    )
}

fn home() -> tempfile::TempDir {
    folder(&[
        ("table.csv", TABLE),
        ("first.toml", &recipe("first", "age", "10, 40")),
        ("second.toml", &recipe("second", "zip", "1, 2")),
    ])
}

#[test]
fn releases_are_put_together() {
    let home = home();
    for recipe in ["first.toml", "second.toml"] {
        assert!(run(home.path(), &["publish", recipe]).starts_with("exit 0"));
    }
    let with = ["audit", "first", "--original", "table.csv", "--also", "second"];
    insta::assert_snapshot!(run(home.path(), &with));
    // Nothing is known of everybody's quasi values without the table.
    let said = run(home.path(), &["audit", "first", "--also", "second"]);
    assert!(said.starts_with("exit 2") && said.contains("--original"), "{said}");
}

#[test]
fn the_ledger_warns_or_refuses_before_a_release_appears() {
    let home = home();
    let first = ["publish", "first.toml", "--ledger", "ledger.json", "--strict-ledger"];
    assert!(run(home.path(), &first).starts_with("exit 0"));
    let strict =
        ["publish", "second.toml", "--ledger", "ledger.json", "--strict-ledger"];
    insta::assert_snapshot!(run(home.path(), &strict));
    assert!(!home.path().join("second").exists());
    let said = run(home.path(), &strict[..4]);
    assert!(said.starts_with("exit 0"), "{said}");
    assert!(
        said.contains("note: together with an earlier release of the ledger"),
        "{said}"
    );
    fs::write(home.path().join("ledger.json"), "{}").unwrap();
    insta::assert_snapshot!(run(
        home.path(),
        &["publish", "first.toml", "--force", "--ledger", "ledger.json"]
    ));
}
