//! House rules.
#![expect(clippy::unwrap_used, reason = "a test may stop at any error")]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders in the order data flows; each may use only those before it.
const ORDER: [&str; 9] = [
    "table",
    "hierarchy",
    "promise",
    "loss",
    "method",
    "release",
    "audit",
    "estimate",
    "recipe",
];

/// What every folder may use.
const COMMON: [&str; 10] = [
    "error", "decimal", "learn", "picture", "random", "seam", "space", "text", "watch",
    "words",
];

/// What stands beside the flow and may use all of it.
const BESIDE: [&str; 1] = ["inspect"];

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    assert!(files.len() > 40, "the sources are not where this test looks for them");
    files
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path.strip_prefix(&root).unwrap().to_path_buf(), text)
        })
        .collect()
}

/// The folders of this crate that a file names.
fn used(text: &str) -> Vec<String> {
    let mut names: Vec<String> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| {
            rest.chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect()
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn each_folder_uses_only_those_before_it() {
    let place = |name: &str| ORDER.iter().position(|known| *known == name);
    for (path, text) in sources() {
        let folder =
            path.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if folder == "lib" || BESIDE.contains(&folder) {
            continue;
        }
        for name in used(&text) {
            if COMMON.contains(&name.as_str()) {
                continue;
            }
            let (Some(mine), Some(other)) = (place(folder), place(&name)) else {
                panic!(
                    "{}: `{folder}` or `{name}` has no place in ORDER",
                    path.display()
                );
            };
            assert!(
                other <= mine,
                "{}: `{folder}` stands before `{name}` and must not use it",
                path.display()
            );
            let outside = ["audit", "estimate"].contains(&folder);
            assert!(
                !(outside && name == "method"),
                "{}: `{folder}` works from the files alone and must not use `method`",
                path.display()
            );
        }
    }
}

#[test]
fn the_audit_does_not_call_the_publishers_promises() {
    for (path, text) in sources() {
        if path.starts_with("audit") {
            assert!(
                !used(&text).contains(&"promise".to_owned()),
                "{}: the audit recomputes promises on its own",
                path.display()
            );
        }
    }
}

#[test]
fn no_file_is_too_long_to_read() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= 450, "{}: {lines} lines; split it by ideas", path.display());
    }
}

#[test]
fn concepts_say_what_they_guarantee() {
    for (path, text) in sources() {
        let folder = path.iter().next().unwrap().to_str().unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        if folder == "promise" && name != "mod.rs" {
            for section in ["# Guarantee", "# Limits", "# Cost", "# Source"] {
                assert!(text.contains(section), "{}: no `{section}`", path.display());
            }
        }
        if folder == "loss" && name != "mod.rs" {
            assert!(text.contains("# Source"), "{}: no `# Source`", path.display());
        }
    }
}

#[test]
fn every_paper_that_is_cited_is_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = fs::read_to_string(root.join("../../docs/papers.bib")).unwrap();
    let mut notes: Vec<String> = sources().into_iter().map(|(_, text)| text).collect();
    for note in [
        "full_domain/full_domain.md",
        "mondrian/mondrian.md",
        "mondrian/safe.md",
        "mondrian/values.md",
    ] {
        notes.push(fs::read_to_string(root.join("src/method").join(note)).unwrap());
    }
    notes.push(fs::read_to_string(root.join("../../docs/methods.md")).unwrap());
    let mut cited = 0;
    for key in notes.iter().flat_map(|text| text.split('`')) {
        // A key is a name, a year and a word, as in `sweeney2002kanonymity`.
        let year = key.find("20").or_else(|| key.find("19"));
        let is_key = year.is_some_and(|place| {
            place > 2
                && key.len() > place + 5
                && key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
                && key[place..place + 4].chars().all(|c| c.is_ascii_digit())
        });
        if is_key {
            cited += 1;
            assert!(
                listed.contains(&format!("{{{key},")),
                "`{key}` is not in papers.bib"
            );
        }
    }
    assert!(cited > 8, "this test no longer finds citations");
}

#[test]
fn every_section_of_the_methods_that_is_cited_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let methods = fs::read_to_string(root.join("../../docs/methods.md")).unwrap();
    let headings: Vec<&str> = methods
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim())
        .collect();
    let mut cited = 0;
    for (path, text) in sources() {
        // A citation may go on in the next line of a comment.
        let lines: Vec<&str> = text
            .lines()
            .map(|line| line.trim_start().trim_start_matches(['/', '!']).trim())
            .collect();
        for rest in lines.join(" ").split("docs/methods.md, \"").skip(1) {
            let heading = rest.split('"').next().unwrap();
            cited += 1;
            assert!(
                headings.contains(&heading),
                "{}: docs/methods.md has no section \"{heading}\"",
                path.display()
            );
        }
    }
    assert!(cited > 40, "this test no longer finds citations");
}

#[test]
fn code_and_tests_that_the_methods_name_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let methods = fs::read_to_string(root.join("../../docs/methods.md")).unwrap();
    let mut files = Vec::new();
    rust_files(&root.join(".."), &mut files);
    let functions: HashSet<String> = files
        .iter()
        .flat_map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let starts = text.split("fn ").skip(1);
            starts
                .map(|rest| {
                    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                    rest[..end.unwrap_or(rest.len())].to_owned()
                })
                .collect::<Vec<_>>()
        })
        .collect();
    let named = |line: &str| -> Vec<String> {
        line.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let mut found = 0;
    for line in methods.lines() {
        if let Some(code) = line.strip_prefix("Code:") {
            for path in named(code) {
                found += 1;
                let homes = [root.join("src"), root.join("../scumble-lab/src")];
                let found = homes.iter().any(|home| home.join(&path).exists());
                assert!(found, "no `{path}` in the library or the lab");
            }
        }
        if let Some(tests) = line.strip_prefix("Tests:") {
            for name in named(tests) {
                found += 1;
                assert!(functions.contains(&name), "there is no test `{name}`");
            }
        }
    }
    assert!(found > 100, "this test no longer finds names");
}
