//! Whatever fails once while a release is made, there is the old one or a whole new one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::error::Result;
use crate::estimate::Evidence;
use crate::recipe::{Published, Request, Spec, publish};
use crate::release::Release;
use crate::seam::{Faults, Op};
use crate::watch::Unwatched;

/// The files of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    let entries = entries.map(|entry| entry.unwrap());
    let name = |entry: &fs::DirEntry| entry.file_name().into_string().unwrap();
    entries.map(|entry| (name(&entry), fs::read(entry.path()).unwrap())).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn run(home: &Path, recipe: &str, seed: u64) -> Result<Published> {
    let spec = Spec::parse(recipe, "recipe.toml").unwrap();
    let seed = Some(seed);
    publish(Request { replace: true, seed, ..Request::new(&spec, home) }, &Unwatched)
}

/// Everything that can fail, failing once, with an old release and without one.
fn every_fault(method: &str, promise: &str, format: &str) {
    let recipe = format!(
        "input.table = \"t.csv\"\n[columns]\n\
         age = {{ role = \"quasi\", type = \"number\" }}\nillness = \"sensitive\"\n\
         note = \"other\"\n[promise]\n{promise}\n[method]\n{method}\n\
         [release]\nformat = \"{format}\"\n"
    );
    let home = tempfile::tempdir().unwrap();
    let mut table = String::from("age,illness,note\n");
    for row in 0..40 {
        let illness = ["flu", "gout", "cough"][row % 3];
        writeln!(table, "{},{illness},n{row}", 20 + row % 13).unwrap();
    }
    fs::write(home.path().join("t.csv"), table).unwrap();
    let target = home.path().join("release");
    // Sorted rows do not depend on chance, so the old release has other columns.
    let before = recipe.replace("note = \"other\"", "note = \"drop\"");
    run(home.path(), &before, 1).unwrap();
    let old = files(&target);
    let all = Faults::below(home.path(), None);
    run(home.path(), &recipe, 2).unwrap();
    let done = all.done();
    drop(all);
    let new = files(&target);
    assert!(old != new);
    for op in [Op::Read, Op::Create, Op::Write, Op::Sync, Op::Rename] {
        assert!(done.contains(&op), "{op:?} of {done:?}");
    }
    for (number, op) in done.iter().enumerate() {
        for had in [true, false] {
            fs::remove_dir_all(&target).unwrap_or_default();
            if had {
                run(home.path(), &before, 1).unwrap();
            }
            let fault = Faults::below(home.path(), Some(number));
            let result = run(home.path(), &recipe, 2);
            drop(fault);
            let found = files(&target);
            let told = format!("{number}: {op:?}, after an old one: {had}, {result:?}");
            match &result {
                Ok(_) => assert!(found == new, "{told}"),
                Err(error) => {
                    assert!(found == if had { old.clone() } else { BTreeMap::new() });
                    let error = error.to_string();
                    // What reads Parquet takes a failing disk for a damaged file.
                    let is_said = error.contains("the disk is on fire");
                    assert!(is_said || format == "parquet", "{told}");
                }
            }
            if had || result.is_ok() {
                let release = Release::open(&target).unwrap();
                Evidence::read(&release, &Unwatched).unwrap();
            }
            let expected: &[&str] = match target.exists() {
                true => &["release", "t.csv"],
                false => &["t.csv"],
            };
            assert_eq!(names(home.path()), expected, "{told}");
        }
    }
}

#[test]
fn of_generalized_rows() {
    every_fault("name = \"mondrian\"", "k-anonymity = 3", "csv");
}

#[test]
fn of_parquet() {
    every_fault("name = \"full-domain\"", "k-anonymity = 3", "parquet");
}

#[test]
fn of_values_that_stand_apart() {
    every_fault("name = \"anatomy\"", "l-diversity = 2", "csv");
}

#[test]
fn of_randomized_values() {
    let promise = "breach = { prior = 0.4, posterior = 0.6 }";
    every_fault("name = \"uniform-perturbation\"", promise, "csv");
}
