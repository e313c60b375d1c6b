//! The ledger of releases that are out.

use std::fs;
use std::path::Path;

use scumble::error::{Error, Result};
use scumble::recipe::{Published, Request, Spec, publish};
use scumble::watch::Unwatched;
use serde_json::{Value, json};

use crate::builder::folder;

const TABLE: &str = "age,zip,ill\n31,1,flu\n33,2,cold\n35,3,hiv\n38,4,ulcer\n\
    41,1,cough\n43,2,flu\n46,3,cold\n48,4,hiv\n51,1,ulcer\n53,2,cough\n55,3,flu\n58,4,hiv\n";

/// Groups by ages or by places, which cross.
fn recipe(directory: &str, by: &str) -> String {
    let widths = if by == "age" { "10, 40" } else { "1, 2" };
    format!(
        "input.table = \"table.csv\"\ncolumns.{by} = {{ role = \"quasi\", \
         type = \"number\", hierarchy = {{ widths = [{widths}] }} }}\n\
         columns.ill = \"sensitive\"\npromise.k-anonymity = 3\npromise.l-diversity = 2\n\
         method.name = \"full-domain\"\nrelease.directory = \"{directory}\"\n"
    )
}

fn recorded(home: &Path, recipe: &str, refuse: bool) -> Result<Published> {
    let spec = Spec::parse(recipe, "recipe.toml").unwrap();
    let request = Request {
        replace: true,
        ledger: Some(home.join("ledger.json")),
        refuse_together: refuse,
        ..Request::new(&spec, home)
    };
    publish(request, &Unwatched)
}

fn ledger(home: &Path) -> Value {
    let text = fs::read_to_string(home.join("ledger.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn notes(published: &Published) -> String {
    published.notes.join("\n")
}

#[test]
fn a_release_that_breaks_a_promise_with_an_earlier_one_is_warned_of() {
    let home = folder(&[("table.csv", TABLE)]);
    let first = recorded(home.path(), &recipe("first", "age"), true).unwrap();
    assert!(!notes(&first).contains("ledger"), "{}", notes(&first));
    let found = ledger(home.path());
    assert_eq!(
        (&found["kind"], &found["version"]),
        (&json!("scumble ledger"), &json!(1))
    );
    let entry = &found["releases"][0];
    assert_eq!(entry["directory"], "first");
    assert_eq!(entry["columns"], json!(["age", "ill"]));
    assert_eq!(entry["promises"], json!(["k-anonymity", "l-diversity"]));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(home.path().join("ledger.json")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }

    // Refused, it neither appears nor is recorded.
    let before = ledger(home.path());
    let error = recorded(home.path(), &recipe("second", "zip"), true).unwrap_err();
    assert_eq!(error.exit_code(), 1);
    let said = error.to_string();
    assert!(
        said.starts_with("together with an earlier release of the ledger, "),
        "{said}"
    );
    assert!(!home.path().join("second").exists());
    assert_eq!(ledger(home.path()), before);

    let second = recorded(home.path(), &recipe("second", "zip"), false).unwrap();
    let said = notes(&second);
    assert!(said.contains("fewer than 3 people share the groups"), "{said}");
    assert_eq!(ledger(home.path())["releases"].as_array().unwrap().len(), 2);

    // Nothing else is left behind.
    let mut left: Vec<String> = fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["first", "ledger.json", "second", "table.csv"]);
}

#[test]
fn the_same_groups_again_break_nothing() {
    let home = folder(&[("table.csv", TABLE)]);
    recorded(home.path(), &recipe("first", "age"), true).unwrap();
    recorded(home.path(), &recipe("again", "age"), true).unwrap();
    // A release in the place of another takes its entry.
    recorded(home.path(), &recipe("again", "age"), true).unwrap();
    assert_eq!(ledger(home.path())["releases"].as_array().unwrap().len(), 2);
}

fn failing(home: &Path) -> Error {
    let error = recorded(home, &recipe("second", "age"), false).unwrap_err();
    assert!(!home.join("second").exists());
    assert_eq!(error.exit_code(), 2);
    error
}

#[test]
fn a_ledger_that_cannot_be_trusted_is_refused() {
    let home = folder(&[("table.csv", TABLE)]);
    recorded(home.path(), &recipe("first", "age"), true).unwrap();
    let path = home.path().join("ledger.json");
    let good = fs::read_to_string(&path).unwrap();
    for (bad, wanted) in [
        ("", "not a ledger"),
        ("{}", "not a ledger"),
        (&good[..good.len() / 2], "not a ledger"),
        (&good.replace("\"version\": 1", "\"version\": 2"), "has version 2"),
        (&good.replace("\"rows\"", "\"lines\""), "not a ledger"),
        (&good.replace("\"first\"", "\"other\""), "`other` is gone"),
    ] {
        fs::write(&path, bad).unwrap();
        let said = failing(home.path()).to_string();
        assert!(said.contains(wanted), "{said}");
    }
    fs::write(&path, &good).unwrap();
    let data = home.path().join("first/data.csv");
    let rows = fs::read_to_string(&data).unwrap();
    fs::write(&data, rows.replace("flu", "hiv")).unwrap();
    assert!(failing(home.path()).to_string().contains("`first` was changed"));
    fs::write(&data, rows).unwrap();
    let manifest = home.path().join("first/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text + " ").unwrap();
    let said = failing(home.path()).to_string();
    assert!(said.contains("`first` is not the one that was recorded"), "{said}");
}

#[test]
fn a_release_in_memory_has_no_ledger() {
    let home = folder(&[("table.csv", TABLE)]);
    let spec = Spec::parse(&recipe("first", "age"), "recipe.toml").unwrap();
    let request = Request {
        in_memory: true,
        ledger: Some(home.path().join("ledger.json")),
        ..Request::new(&spec, home.path())
    };
    let said = publish(request, &Unwatched).unwrap_err().to_string();
    assert_eq!(said, "a release in memory cannot be in a ledger");
}
