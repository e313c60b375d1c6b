//! Experiments: how they are asked for, what is printed, and how it ends.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Exit code, standard output and standard error.
fn run(home: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_scumble"))
        .arg("reproduce")
        .args(arguments)
        .current_dir(home)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn names(home: &Path) -> Vec<String> {
    let (code, out, _) = run(home, &["--json"]);
    assert_eq!(code, 0);
    let list: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(list["schema"], 1);
    let experiments = list["experiments"].as_array().unwrap().iter();
    experiments.map(|known| known["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn without_a_name_experiments_are_listed() {
    let home = tempfile::tempdir().unwrap();
    let (code, out, err) = run(home.path(), &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    for name in names(home.path()) {
        let listed = |line: &str| line.split(' ').next() == Some(name.as_str());
        assert!(out.lines().any(listed), "{name}");
    }
    assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
    assert!(out.contains("nergiz2007presence, Figure 3"));
    assert!(out.contains("\nrun one with `scumble reproduce NAME --data DIR`, or all"));
}

#[test]
fn an_experiment_is_printed_and_its_files_are_named() {
    let home = tempfile::tempdir().unwrap();
    let (code, out, err) = run(home.path(), &["calibration", "--rows", "300"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("calibration: published spreads name almost everybody"));
    assert!(out.contains("\nsaid   ") && out.contains("\nfound  "), "{out}");
    let files = "wrote reproduce/calibration.csv and reproduce/calibration.svg\n";
    assert!(out.ends_with(files), "{out}");
    let (code, out, err) = run(home.path(), &["calibration", "--rows", "300", "-q"]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
}

#[test]
fn json_has_the_rows_and_the_claims() {
    let home = tempfile::tempdir().unwrap();
    let with = ["calibration", "--rows", "300", "--output", "out/here", "--json"];
    let (code, out, err) = run(home.path(), &with);
    assert_eq!((code, err.as_str()), (0, ""));
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["experiment"], "calibration");
    assert_eq!(json["files"][1], "out/here/calibration.svg");
    assert_eq!(json["rows"].as_array().unwrap().len(), 8);
    assert!(json["claims"][0]["agrees"].is_boolean());
    assert!(home.path().join("out/here/calibration.csv").exists());
}

/// One needs data, one has an example; with a folder that lacks the data, one fails.
#[test]
fn all_tell_how_far_they_are_and_exit_with_1_if_one_fails() {
    let home = tempfile::tempdir().unwrap();
    let few = ["--all", "--only", "presence-n2,perturbation-zipf", "--output", "o"];
    let (code, out, err) = run(home.path(), &few);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("1 experiments ran, 0 failed, 1 skipped.\n"), "{out}");
    assert!(out.ends_with("wrote o/index.html\n"), "{out}");
    assert!(
        err.starts_with("[1/2] presence-n2: skipped, it needs `--data`\n"),
        "{err}"
    );
    assert!(err.contains("[2/2] perturbation-zipf: done in "), "{err}");

    fs::create_dir(home.path().join("empty")).unwrap();
    let broken = [&few[..], &["--data", "empty", "--json", "-q"]].concat();
    let (code, out, err) = run(home.path(), &broken);
    assert_eq!((code, err.as_str()), (1, ""));
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&json["schema"], &json["index"]), (&1.into(), &"o/index.html".into()));
    let status = |place: usize| json["experiments"][place]["status"].as_str().unwrap();
    assert_eq!([status(0), status(1)], ["failed", "ran"]);
    let (code, _, err) = run(home.path(), &["--all", "--data", "nowhere"]);
    assert!(code == 2 && err.contains("there is no such folder"), "{err}");
}

#[test]
fn mistakes_exit_with_2_and_say_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let fails = |arguments: &[&str]| {
        let (code, out, err) = run(home.path(), arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(!home.path().join("reproduce").exists());
        err
    };
    let err = fails(&["presense-k"]);
    assert!(err.contains("similar value exists: 'presence-k'"), "{err}");
    let err = fails(&["presence-k"]);
    assert!(err.starts_with("error: this experiment needs a folder with its data\n"));
    assert!(err.contains("hint: name it with `--data DIR`"), "{err}");
    let err = fails(&["presence-k", "--data", "nowhere"]);
    assert!(err.starts_with("error: nowhere: there is no such folder\n\nhint: "));
    fs::create_dir(home.path().join("empty")).unwrap();
    let err = fails(&["presence-k", "--data", "empty"]);
    assert!(err.contains("empty/adult/adult.csv: cannot read"), "{err}");
}
