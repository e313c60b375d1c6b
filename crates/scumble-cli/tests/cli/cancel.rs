//! Ctrl-C and SIGTERM end a command cleanly: exit 130 or 143, one line, nothing left.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

/// Enough rows, and enough asked of them, to search for far longer than the test waits.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let mut state = 1u64;
    let mut below = |n: u64| {
        state =
            state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let mut table = String::from("a,b,c,d,e,f\n");
    for _ in 0..40_000 {
        let row: Vec<String> = (0..6).map(|_| below(100_000).to_string()).collect();
        writeln!(table, "{}", row.join(",")).unwrap();
    }
    fs::write(home.path().join("table.csv"), table).unwrap();
    let columns = ["a", "b", "c", "d", "e", "f"]
        .map(|name| format!("{name} = {{ role = \"quasi\", type = \"number\" }}\n"));
    let recipe = format!(
        "input.table = \"table.csv\"\n[columns]\n{}[promise]\n\
         expected-anonymity = {{ k = 50, best-guess = 0.05 }}\n\
         [method]\nname = \"blur\"\nlevels = 8\n[release]\ndirectory = \"out/release\"\n",
        columns.concat()
    );
    fs::write(home.path().join("recipe.toml"), recipe).unwrap();
    fs::create_dir(home.path().join("tmp")).unwrap();
    home
}

/// Everything below a folder.
fn listed(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        names.push(entry.path().display().to_string());
        names.extend(listed(&entry.path()));
    }
    names.sort();
    names
}

fn start(home: &Path, arguments: &[&str]) -> Child {
    let scumble = env!("CARGO_BIN_EXE_scumble");
    // Where Ctrl-C is ignored, as in the background of a script, children ignore it, too.
    let mut command = match ignores_interrupts() {
        true => {
            let mut command = Command::new("env");
            command.args(["--default-signal=INT", scumble]);
            command
        }
        false => Command::new(scumble),
    };
    command
        .args(arguments)
        .current_dir(home)
        .env("TMPDIR", home.join("tmp"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn ignores_interrupts() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 0b10 != 0)
}

/// Waits until a folder of this name is made below `home`, and sends a signal.
fn interrupt(mut child: Child, home: &Path, begun: &str, signal: &str) -> Output {
    let has_begun = || listed(home).iter().any(|path| path.contains(begun));
    while !has_begun() {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "ended too early: {ended:?}");
        thread::sleep(Duration::from_millis(5));
    }
    // In the midst of it.
    thread::sleep(Duration::from_millis(300));
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    for _ in 0..2_400 {
        if child.try_wait().unwrap().is_some() {
            return child.wait_with_output().unwrap();
        }
        thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    panic!("still at work two minutes after {signal}");
}

fn cancelled(arguments: &[&str], begun: &str) {
    let home = home();
    let before = listed(home.path());
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let child = start(home.path(), arguments);
        let output = interrupt(child, home.path(), begun, signal);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{err}");
        assert_eq!(err, "cancelled: nothing was written\n");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
        assert_eq!(listed(home.path()), before);
    }
}

#[test]
fn publish_leaves_no_draft() {
    cancelled(&["publish", "recipe.toml"], ".scumble-");
}

const COMPARE: [&str; 10] = [
    "compare",
    "recipe.toml",
    "--vary",
    "promise.expected-anonymity.k=50,60",
    "--queries",
    "10",
    "--draws",
    "0",
    "--output",
    "compared/here",
];

#[test]
fn compare_leaves_no_folder() {
    cancelled(&COMPARE, ".scumble-compare-");
}

/// Kills a run in the midst of it, and interrupts the next: what the first left must go.
fn killed(arguments: &[&str], begun: &str) {
    let home = home();
    let before = listed(home.path());
    let output = interrupt(start(home.path(), arguments), home.path(), begun, "-KILL");
    assert_eq!(output.status.code(), None, "killed");
    let is_left = |path: &String| path.contains(begun) && Path::new(path).is_dir();
    let mut left = listed(home.path());
    left.retain(is_left);
    assert!(!left.is_empty(), "a run that is killed cannot clean up");
    let mut child = start(home.path(), arguments);
    let is_swept = || left.iter().all(|path| !Path::new(path).exists());
    for _ in 0..2_400 {
        if is_swept() || child.try_wait().unwrap().is_some() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert!(is_swept(), "{:?}", listed(home.path()));
    let output = interrupt(child, home.path(), begun, "-INT");
    assert_eq!(output.status.code(), Some(130));
    // Folders that were made on the way to a release are not known to be ours.
    let mut after = listed(home.path());
    after.retain(|path| !path.ends_with("/out") && !path.contains("/compared"));
    assert_eq!(after, before);
}

#[test]
fn what_a_killed_publish_left_goes_with_the_next() {
    killed(&["publish", "recipe.toml"], ".scumble-");
}

#[test]
fn what_a_killed_compare_left_goes_with_the_next() {
    killed(&COMPARE, ".scumble-compare-");
}

#[test]
fn two_runs_do_not_publish_into_one_folder() {
    let home = home();
    let arguments = ["publish", "recipe.toml"];
    let first = start(home.path(), &arguments);
    while !listed(home.path()).iter().any(|path| path.contains(".scumble-")) {
        thread::sleep(Duration::from_millis(5));
    }
    let second = start(home.path(), &arguments).wait_with_output().unwrap();
    assert_eq!(second.status.code(), Some(2));
    let err = String::from_utf8(second.stderr).unwrap();
    assert!(err.contains("another run is publishing here"), "{err}");
    assert!(err.contains("hint: wait until it has ended"), "{err}");
    let first = interrupt(first, home.path(), ".scumble-", "-INT");
    assert_eq!(first.status.code(), Some(130));
}
