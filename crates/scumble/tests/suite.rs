//! The specification by example: `suite/**.md`.
//!
//! A case is a heading, a table in a `csv` block, further files in `csv NAME` blocks, a
//! recipe in a `toml` block, and what comes of it in an `expect` block: the published
//! rows and distributions, or the error. `UPDATE=1 cargo test --test suite` rewrites expectations.
#![expect(clippy::unwrap_used, reason = "a test may stop at any error")]

use std::fs;
use std::path::{Path, PathBuf};

use scumble::recipe::{Request, Spec, publish};
use scumble::release::OperatorNote;
use scumble::watch::Unwatched;

struct Block {
    kind: String,
    text: String,
    /// Where the text stands in the file, in bytes.
    start: usize,
}

struct Case {
    title: String,
    blocks: Vec<Block>,
}

/// Leaves a file to its owner, as keys must be.
fn keep_private(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

fn markdown_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            markdown_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut open: Option<Block> = None;
    let mut place = 0;
    for line in text.split_inclusive('\n') {
        let next = place + line.len();
        match (&mut open, line.trim_end()) {
            (Some(_), "```") => {
                let block = open.take().unwrap();
                cases.last_mut().expect("a heading before a block").blocks.push(block);
            }
            (Some(block), _) => block.text.push_str(line),
            (None, heading) if heading.starts_with("## ") => {
                let title = heading[3..].to_owned();
                cases.push(Case { title, blocks: Vec::new() });
            }
            (None, fence) if fence.starts_with("```") => {
                let kind = fence[3..].to_owned();
                open = Some(Block { kind, text: String::new(), start: next });
            }
            _ => {}
        }
        place = next;
    }
    cases
}

/// What comes of a case: the published rows, or the error with its hints.
fn outcome(case: &Case) -> String {
    let home = tempfile::tempdir().unwrap();
    let mut recipe = String::new();
    for block in &case.blocks {
        match block.kind.split_once(' ') {
            None if block.kind == "csv" => {
                fs::write(home.path().join("table.csv"), &block.text).unwrap();
            }
            Some(("csv", name)) => {
                fs::write(home.path().join(name), &block.text).unwrap();
                keep_private(&home.path().join(name));
            }
            None if block.kind == "toml" => {
                recipe = format!("input.table = \"table.csv\"\n{}", block.text);
            }
            None if block.kind == "expect" => {}
            _ => panic!("{}: unknown block `{}`", case.title, block.kind),
        }
    }
    let published = Spec::parse(&recipe, "recipe.toml").and_then(|spec| {
        // Randomized values and groups of values depend on the seed.
        let request = Request { seed: Some(1), ..Request::new(&spec, home.path()) };
        publish(request, &Unwatched)
    });
    match published {
        Ok(published) => {
            let read =
                |name: &str| fs::read_to_string(home.path().join("release").join(name));
            let cells = read("cells.csv").map(|cells| format!("\n{cells}"));
            let mut text = read("data.csv").unwrap() + &cells.unwrap_or_default();
            for note in published.manifest.buckets() {
                text += &format!("\n{}", read(&note.file).unwrap());
            }
            for promise in &published.manifest.promises {
                if promise.name == "r-robustness" {
                    text.push_str(&format!("\n{}\n", promise.measured));
                }
            }
            for note in &published.manifest.perturbation() {
                for part in &note.subtables {
                    text.push_str(&format!(
                        "\n{}: {} rows\n",
                        note.columns.join("+"),
                        part.rows
                    ));
                    for (value, bound) in part.domain.iter().zip(&part.bounds) {
                        let bound = bound.map_or("not protected".to_owned(), |bound| {
                            format!(
                                "{:.4} to {:.4}, gamma {:.4}",
                                bound.prior, bound.posterior, bound.gamma
                            )
                        });
                        text.push_str(&format!("  {}: {bound}\n", value.join("+")));
                    }
                    let matrix = match &part.operator {
                        OperatorNote::Uniform { keep } => format!("keep {keep:.4}"),
                        OperatorNote::FineGrain { keep } => format!("keep {keep:.4?}"),
                        OperatorNote::General { matrix } => {
                            format!("matrix {matrix:.4?}")
                        }
                    };
                    text.push_str(&format!("  {matrix}\n"));
                }
            }
            text
        }
        Err(error) => {
            assert!(!home.path().join("release").exists(), "something was written");
            let folder = format!("{}/", home.path().display());
            let mut text = format!("error: {error}\n").replace(&folder, "");
            for hint in error.hints() {
                text.push_str(&format!("hint: {hint}\n"));
            }
            text
        }
    }
}

#[test]
fn every_case_of_the_suite_comes_out_as_written() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suite");
    let mut files = Vec::new();
    markdown_files(&suite, &mut files);
    let update = std::env::var_os("UPDATE").is_some();
    let (mut n_cases, mut failures) = (0, Vec::new());
    for path in files {
        let mut text = fs::read_to_string(&path).unwrap();
        let shown = path.strip_prefix(&suite).unwrap().display().to_string();
        // From the last case to the first, so that places stay right while rewriting.
        for case in cases(&text).iter().rev() {
            n_cases += 1;
            let expected = case.blocks.iter().find(|block| block.kind == "expect");
            let expected =
                expected.unwrap_or_else(|| panic!("{}: no `expect`", case.title));
            let found = outcome(case);
            if found == expected.text {
                continue;
            }
            if update {
                let range = expected.start..expected.start + expected.text.len();
                text.replace_range(range, &found);
            } else {
                failures.push(format!(
                    "{shown}: {}\n--- expected\n{}--- found\n{found}",
                    case.title, expected.text
                ));
            }
        }
        if update {
            fs::write(&path, text).unwrap();
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(n_cases >= 20, "only {n_cases} cases were found");
}
