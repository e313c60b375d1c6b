//! What goes wrong outside: the command says so and ends, and never panics.

use std::fs;
use std::process::Command;

use crate::builder::folder;
use crate::command::run;

const RECIPE: &str = "input.table = \"table.csv\"\ncolumns.age = \"quasi\"\n\
    columns.ill = \"sensitive\"\npromise.k-anonymity = 2\nmethod.name = \"mondrian\"\n";

fn table() -> String {
    let rows =
        (0..400).map(|row| format!("{},{}\n", 20 + row % 50, ["flu", "cold"][row % 2]));
    format!("age,ill\n{}", rows.collect::<String>())
}

/// A decoder that panics on damaged bytes is an error like any other, said once.
#[test]
fn damaged_parquet_files_are_errors() {
    let home = folder(&[("table.csv", &table()), ("recipe.toml", RECIPE)]);
    let parquet = format!("{RECIPE}release.format = \"parquet\"\n");
    fs::write(home.path().join("recipe.toml"), parquet).unwrap();
    assert!(run(home.path(), &["publish", "recipe.toml"]).starts_with("exit 0"));
    let bytes = fs::read(home.path().join("release/data.parquet")).unwrap();
    // Most of what can go wrong is in the description at the end.
    for at in bytes.len() / 2..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] = 1;
        fs::write(home.path().join("t.parquet"), &damaged).unwrap();
        let said = run(home.path(), &["inspect", "t.parquet", "--json"]);
        assert!(said.starts_with("exit 0") || said.starts_with("exit 2"), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

/// Threads need stacks: where memory for them is short, none can be started, whoever asks.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_cannot_be_started_are_an_error() {
    let home = folder(&[("table.csv", &table()), ("recipe.toml", RECIPE)]);
    let scumble = env!("CARGO_BIN_EXE_scumble");
    let script =
        format!("ulimit -v 500000 && exec {scumble} publish recipe.toml --force");
    let output = Command::new("sh")
        .args(["-c", &script])
        .env("RAYON_NUM_THREADS", "3000")
        .current_dir(home.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no threads can be started"), "{said}");
    assert!(!home.path().join("release").exists());
}
