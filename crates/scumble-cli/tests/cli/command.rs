//! Running the command as a user does.

use std::path::Path;
use std::process::Command;

use crate::builder::ByHand;

/// Publishes the recipe of a folder.
pub(crate) const PUBLISH: [&str; 4] = ["publish", "recipe.toml", "--seed", "1"];

/// Audits what was published with its table.
pub(crate) const AUDIT: [&str; 4] = ["audit", "release", "--original", "table.csv"];

/// A folder with this release as `release`.
pub(crate) fn saved(made: ByHand) -> tempfile::TempDir {
    made.open().unwrap();
    made.home
}

/// Exit code, standard output and standard error.
pub(crate) fn run(home: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_scumble"))
        .args(arguments)
        .current_dir(home)
        .output()
        .unwrap();
    format!(
        "exit {}\n--- out\n{}--- err\n{}",
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap()
    )
}
