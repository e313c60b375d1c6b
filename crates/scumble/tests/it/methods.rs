//! What every method owes: what it declares about itself is true, for all methods of the list
//! and all promises.

use std::path::Path;

use scumble::recipe::{Keeps, METHODS, Method, PROMISES, Request, Spec, publish};
use scumble::release::Store;
use scumble::table::Input;
use scumble::watch::Unwatched;

/// A table of people, with everything a method may need.
fn table(n_rows: usize) -> String {
    let mut text = String::from("id,age,weight,town,illness,note,cost\n");
    for row in 0..n_rows {
        let town = ["Ghent", "Bruges", "Aalst"][row % 3];
        let illness = ["flu", "cough", "ulcer", "asthma", "gout"][row * 7 % 5];
        let (age, weight) = (20 + row * 13 % 50, 50 + row * 29 % 40);
        let (note, cost) = (row % 4, row * 17 % 100);
        text.push_str(&format!(
            "{row},{age},{weight},{town},{illness},n{note},{cost}\n"
        ));
    }
    text
}

/// A promise of each kind.
fn promise(name: &str) -> &'static str {
    match name {
        "k-anonymity" => "k-anonymity = 3",
        "k-map" => "k-map = 3",
        "l-diversity" => "l-diversity = 2",
        "t-closeness" => "t-closeness = 0.5",
        "beta-likeness" => "beta-likeness = 2",
        "delta-disclosure" => "delta-disclosure = 2",
        "delta-presence" => "delta-presence = { min = 0.0, max = 0.9 }",
        "breach" => "breach = { prior = 0.3, posterior = 0.6 }",
        "fine-grain" => "fine-grain = { factor = 2 }",
        "r-robustness" => "r-robustness = { r = 2, support = 5 }",
        "expected-anonymity" => "expected-anonymity = 3",
        other => panic!("a new promise needs a line here: {other}"),
    }
}

/// What else a method must be asked, to be asked this.
fn beside(method: &str, name: &str) -> Option<&'static str> {
    match (method, name) {
        ("perturbed-generalization", "k-anonymity") => Some(promise("breach")),
        ("perturbed-generalization", _) => Some(promise("k-anonymity")),
        ("robust", "r-robustness") => None,
        ("robust", _) => Some(promise("r-robustness")),
        _ => None,
    }
}

/// A value of each key of `[method]`, and the keys it goes with.
fn key(name: &str) -> (&'static str, &'static str) {
    match name {
        "loss" => ("loss = \"discernibility\"", ""),
        "suppression" => ("suppression = 0.4", ""),
        "cells" => ("cells = \"set\"", ""),
        "ends" => ("ends = \"tight\"", ""),
        "column" => ("column = \"best\"", ""),
        "value" => ("value = \"balanced-values\"", ""),
        "strategy" => ("strategy = \"search\"", ""),
        "looks" => ("looks = \"free\"", ""),
        "effort" => ("effort = 1", ""),
        "largest-group" => ("largest-group = 9", ""),
        "inside" => ("inside = \"fine-grain\"", ""),
        "floor" => ("floor = 0.05", ""),
        "sensitive" => ("sensitive = \"each\"", ""),
        "missing" => ("missing = \"refuse\"", ""),
        "key-file" => ("key-file = \"noise.key\"", ""),
        "id" => ("id = \"id\"", "key-file = \"noise.key\""),
        "shape" => ("shape = \"uniform\"", ""),
        "frame" => ("frame = \"local\"", ""),
        "levels" => ("levels = 2", ""),
        "frames" => ("frames = 2", "frame = \"local\""),
        "publish" => ("publish = \"number\"", ""),
        other => panic!("a new key needs a line here: {other}"),
    }
}

fn recipe(method: &dyn Method, promises: &[&str], keys: &[&str], other: bool) -> Spec {
    let counts_people = |promise: &&str| {
        promise.starts_with("delta-presence") || promise.starts_with("k-map")
    };
    let present = promises.iter().any(counts_people);
    let population = if present { "population = \"city.csv\"" } else { "" };
    let note = if other { "note = \"other\"" } else { "" };
    // Only numbers that are randomized can be published as ranges or numbers.
    let cost = match keys.iter().any(|key| key.starts_with("publish")) {
        true => {
            "cost = { role = \"sensitive\", type = \"number\", \
             hierarchy = { cuts = [[30, 60]] }, domain = [0, 100] }"
        }
        false => "",
    };
    let keys: Vec<&str> = keys.iter().copied().filter(|key| !key.is_empty()).collect();
    let text = format!(
        "[input]\ntable = \"people.csv\"\n{population}\n[columns]\n\
         id = \"identifier\"\n\
         age = {{ role = \"quasi\", type = \"number\" }}\n\
         weight = {{ role = \"quasi\", type = \"number\" }}\n\
         town = \"quasi\"\nillness = \"sensitive\"\n{note}\n{cost}\n[promise]\n{}\n\
         [method]\nname = \"{}\"\n{}\n",
        promises.join("\n"),
        method.name(),
        keys.join("\n")
    );
    Spec::parse(&text, "recipe.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn inputs() -> Vec<(String, Input)> {
    let bytes = |text: String| Input::Bytes(text.into_bytes());
    vec![
        ("people.csv".to_owned(), bytes(table(120))),
        ("city.csv".to_owned(), bytes(table(240))),
        ("noise.key".to_owned(), bytes("0123456789abcdef".repeat(4))),
    ]
}

fn publish_in_memory(spec: &Spec) -> scumble::Result<scumble::Published> {
    publish(Request { seed: Some(5), ..Request::in_memory(spec, inputs()) }, &Unwatched)
}

/// All files of a release.
fn files(store: &Store) -> Vec<(String, Vec<u8>)> {
    let names = store.files().unwrap();
    names.into_iter().map(|name| (name.clone(), store.read(&name).unwrap())).collect()
}

/// The first promise a method keeps, with what it needs beside it.
fn natural(method: &dyn Method) -> Vec<&'static str> {
    let alone = |name: &str| -> Vec<&'static str> {
        [promise(name)].into_iter().chain(beside(method.name(), name)).collect()
    };
    let kept = |name: &&str| {
        let spec = recipe(METHODS[0], &[promise(name)], &[], false);
        method.keeps(spec.promises[0].kind.promise()) != Keeps::No
    };
    let best = PROMISES.iter().find(|name| {
        let spec = recipe(METHODS[0], &[promise(name)], &[], false);
        method.keeps(spec.promises[0].kind.promise()) == Keeps::First
    });
    alone(best.or_else(|| PROMISES.iter().find(|name| kept(name))).unwrap())
}

#[test]
fn a_method_keeps_what_it_says_and_refuses_what_it_does_not() {
    for method in METHODS {
        for name in PROMISES {
            let mut promises = vec![promise(name)];
            let spec = recipe(METHODS[0], &promises, &[], false);
            let keeps = method.keeps(spec.promises[0].kind.promise());
            promises.extend(beside(method.name(), name).filter(|_| keeps != Keeps::No));
            let spec = recipe(method, &promises, &[], false);
            let published = publish_in_memory(&spec);
            if keeps == Keeps::No {
                let error = published.unwrap_err().to_string();
                assert!(error.contains("cannot keep"), "{}: {error}", method.name());
                continue;
            }
            let published = published.unwrap_or_else(|error| {
                panic!("{} {promises:?}: {error}", method.name())
            });
            assert!(published.audit.holds(), "{} {name}", method.name());
            assert_eq!(published.manifest.method.name, method.name());
            let promised: Vec<&str> =
                published.manifest.promises.iter().map(|p| &*p.name).collect();
            assert!(promised.contains(&name), "{} {promised:?}", method.name());
            assert!(published.manifest.promises.iter().all(|p| !p.columns.is_empty()));
        }
    }
}

#[test]
fn a_key_is_understood_by_who_declares_it_and_refused_by_all_others() {
    let mut all: Vec<&str> = METHODS.iter().flat_map(|m| m.keys().to_vec()).collect();
    all.sort_unstable();
    all.dedup();
    for method in METHODS {
        let promises = natural(method);
        for name in &all {
            let (own, with) = key(name);
            let declared = method.keys().contains(name);
            let promises = match *name {
                "looks" if declared => vec![promise("delta-presence")],
                _ => promises.clone(),
            };
            let with = if declared { with } else { "" };
            let spec = recipe(method, &promises, &[own, with], false);
            match publish_in_memory(&spec) {
                Ok(_) => assert!(declared, "{} takes `{name}` silently", method.name()),
                Err(error) => {
                    assert!(!declared, "{} declares `{name}`: {error}", method.name());
                    let expected =
                        format!("`{name}` means nothing to `{}`", method.name());
                    assert!(error.to_string().contains(&expected), "{error}");
                    assert_eq!(error.exit_code(), 2);
                }
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_a_release_can_be_saved() {
    let home = tempfile::tempdir().unwrap();
    for method in METHODS {
        // Other columns make the writer read the table again.
        let sampled = method.name() == "perturbed-generalization";
        for other in [false, true].into_iter().filter(|other| !(sampled && *other)) {
            let spec = recipe(method, &natural(method), &[], other);
            let first = publish_in_memory(&spec).unwrap();
            let second = publish_in_memory(&spec).unwrap();
            let bytes = files(first.release.store());
            assert_eq!(bytes, files(second.release.store()), "{}", method.name());
            let folder = home.path().join(format!("{}-{other}", method.name()));
            let saved = first.release.save(&folder, false).unwrap();
            assert_eq!(bytes, files(saved.store()));
            assert!(Path::new(&folder).join("datapackage.json").exists());
        }
    }
}

#[test]
fn a_plan_is_read_back_as_it_was_and_names_its_method() {
    for method in METHODS {
        let spec = recipe(method, &natural(method), &[], false);
        let plan = publish_in_memory(&spec).unwrap().plan;
        let json = plan.to_json().unwrap();
        let again = scumble::Plan::from_json(&json, "plan.json").unwrap();
        assert_eq!(again.to_json().unwrap(), json, "{}", method.name());
        assert_eq!(plan.method, method.name());
    }
}

#[test]
fn names_are_unique_and_every_promise_is_kept_by_some_method() {
    let mut names: Vec<&str> = METHODS.iter().map(|method| method.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), METHODS.len());
    for name in PROMISES {
        let spec = recipe(METHODS[0], &[promise(name)], &[], false);
        let promise = spec.promises[0].kind.promise();
        assert!(METHODS.iter().any(|method| method.keeps(promise) == Keeps::First));
    }
}
