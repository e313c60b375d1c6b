//! Tables that are read as the command line says, and what a shell asks for.

use std::fs;

use crate::command::run;

const RECIPE: &str = "[columns]\nweight = { role = \"quasi\", type = \"number\" }\n\
     town = \"sensitive\"\n[promise]\nk-anonymity = 5\n";

/// What `inspect` says is what the recipe says, and an audit is told the same.
#[test]
fn the_way_a_table_is_read_goes_from_inspect_to_the_audit() {
    let home = tempfile::tempdir().unwrap();
    let row = |row: usize| format!("{},5;K\u{f6}ln {}\n", 50 + row % 30, row % 3);
    let text: String = (0..90).map(row).collect();
    let text = format!("weight;town\n{text}");
    let bytes: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
    fs::write(home.path().join("t.csv"), bytes).unwrap();
    let flags = ["--encoding", "windows-1252", "--decimal", ","];
    let told = run(home.path(), &["inspect", "t.csv"]);
    assert!(told.contains("error: t.csv: row 1 is not valid UTF-8"), "{told}");
    assert!(told.contains("encoding = \"windows-1252\""), "{told}");
    let told = run(
        home.path(),
        &[&["inspect", "t.csv", "--recipe", "r.toml"][..], &flags[..]].concat(),
    );
    assert!(told.starts_with("exit 0\n"), "{told}");
    let recipe = fs::read_to_string(home.path().join("r.toml")).unwrap();
    assert!(
        recipe.contains("encoding = \"windows-1252\"\ndecimal = \",\"\n"),
        "{recipe}"
    );
    let input =
        "[input]\ntable = \"t.csv\"\nencoding = \"windows-1252\"\ndecimal = \",\"\n";
    fs::write(home.path().join("own.toml"), format!("{input}{RECIPE}")).unwrap();
    let told = run(home.path(), &["publish", "own.toml", "--seed", "1"]);
    assert!(told.starts_with("exit 0\n"), "{told}");
    let audit = ["audit", "release", "--original", "t.csv"];
    let told = run(home.path(), &[&audit[..], &flags[..]].concat());
    assert!(told.starts_with("exit 0\n"), "{told}");
    assert!(told.contains("linkage"), "{told}");
    let told = run(home.path(), &[&audit[..], &["--sheet", "a"]].concat());
    let message =
        "error: t.csv: `sheet` is for workbooks, but this table is a text file";
    assert!(told.contains(message), "{told}");
}

#[test]
fn a_password_in_an_address_is_not_shown() {
    let home = tempfile::tempdir().unwrap();
    let address = "postgres://anna:geheim@127.0.0.1:1/clinic";
    let told = run(home.path(), &["inspect", address, "--query", "SELECT 1 AS x"]);
    assert!(told.starts_with("exit 2\n"), "{told}");
    assert!(told.contains("postgres://127.0.0.1:1/clinic: "), "{told}");
    assert!(!told.contains("geheim") && !told.contains("anna"), "{told}");
    let recipe =
        format!("[input]\ntable = \"{address}\"\nquery = \"SELECT 1\"\n{RECIPE}");
    fs::write(home.path().join("r.toml"), recipe).unwrap();
    let told = run(home.path(), &["publish", "r.toml"]);
    assert!(told.starts_with("exit 2\n"), "{told}");
    assert!(!told.contains("geheim") && !told.contains("anna"), "{told}");
    assert!(!home.path().join("release").exists());
}

#[test]
fn shells_and_manuals_know_the_commands() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let told = run(home.path(), &["completions", shell]);
        assert!(told.starts_with("exit 0\n"), "{told}");
        assert!(
            told.contains("publish") && told.contains("spreadsheet-safe"),
            "{shell}"
        );
    }
    assert!(run(home.path(), &["man", "man"]).starts_with("exit 0\n"));
    let page = fs::read_to_string(home.path().join("man/scumble-publish.1")).unwrap();
    assert!(page.contains("ledger"), "{page}");
}
