//! Running the command as a user does.

use std::path::Path;
use std::process::Command;

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
