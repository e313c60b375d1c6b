//! Tables, recipes and releases for tests: the one place that makes them.
//!
//! A recipe is carried out in a [`folder`] by [`run`], and [`records`] reads what it wrote.
//! A release is written by hand with [`ByHand`]: a test says in sections what was done to the
//! table as a whole (`perturbation`, `buckets`, `blur`, `condensed`, `weights`, or `cells` of
//! a column), and each column and class gets what follows from it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use scumble::audit::{
    Attacked, Audit, Given, Original, Report, audit, read_population, write_page,
};
use scumble::error::Result;
use scumble::estimate::{Estimate, Evidence, Query, Way};
use scumble::recipe::{Published, Request, Spec, publish};
use scumble::release::{Manifest, Release, checksum};
use scumble::table::{ReadOptions, Source};
use scumble::watch::Unwatched;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A row of a file, by the names of columns.
pub(crate) type Record = BTreeMap<String, String>;

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(home.path().join(name), text).unwrap();
        keep_private(&home.path().join(name));
    }
    home
}

/// Leaves a file to its owner, as keys must be.
pub(crate) fn keep_private(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// Publishes the `table.csv` of a folder by the rest of a recipe.
pub(crate) fn run(
    home: &Path,
    recipe: &str,
    seed: impl Into<Option<u64>>,
) -> Result<Published> {
    run_whole(home, &format!("input.table = \"table.csv\"\n{recipe}\n"), seed)
}

/// Publishes by a whole recipe.
pub(crate) fn run_whole(
    home: &Path,
    recipe: &str,
    seed: impl Into<Option<u64>>,
) -> Result<Published> {
    let spec = Spec::parse(recipe, "recipe.toml")?;
    let seed = seed.into();
    publish(Request { replace: true, seed, ..Request::new(&spec, home) }, &Unwatched)
}

/// The rows of a CSV file.
pub(crate) fn records(path: &Path) -> Vec<Record> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(|record| record.unwrap()).collect()
}

/// A table.
pub(crate) fn source(text: &str) -> Source {
    let bytes = text.as_bytes().to_vec();
    Source::from_bytes("people.csv", bytes, &ReadOptions::default()).unwrap()
}

/// What an audit finds, given the table and the population it is part of.
pub(crate) fn audited(
    release: &Release,
    table: Option<&str>,
    population: Option<&str>,
) -> Result<Audit> {
    let (table, everyone) = (table.map(source), population.map(source));
    let (everyone, manifest) = (everyone.as_ref(), &release.manifest);
    let (original, population) = match (table, everyone) {
        (Some(table), _) => {
            let (original, population) =
                Original::read_within(&table, everyone, manifest, &Unwatched)?;
            (Some(original), population)
        }
        (None, Some(everyone)) => {
            (None, Some(read_population(everyone, manifest, &Unwatched)?))
        }
        (None, None) => (None, None),
    };
    let (original, population) = (original.as_ref(), population.as_ref());
    let given = Given { original, population, ..Given::default() };
    audit(release, &given, &Unwatched)
}

/// The first attack of this name that was tried.
pub(crate) fn attack<'a>(report: &'a Report, name: &str) -> &'a Attacked {
    report.attacks.iter().find(|attack| attack.name == name).expect("tried")
}

/// What a release answers.
pub(crate) fn ask(evidence: &Evidence, question: &str) -> Vec<Estimate> {
    evidence.answer_by_law(&Query::parse(question).unwrap(), Way::Inverse).unwrap()
}

/// A column of a short manifest, published as it is.
pub(crate) fn column(name: &str, role: &str, kind: &str) -> Value {
    json!({ "name": name, "role": role, "type": kind, "missing": [""] })
}

/// The same with another value under this key.
pub(crate) fn with(mut object: Value, key: &str, value: Value) -> Value {
    object[key] = value;
    object
}

/// A quasi column of plain words with this form of cells.
pub(crate) fn quasi(name: &str, cells: &str) -> Value {
    let column = with(column(name, "quasi", "category"), "cells", json!(cells));
    with(column, "hierarchy", json!({ "rule": "plain" }))
}

/// A promise of a short manifest; its columns follow from its name.
pub(crate) fn promise(name: &str, asked: Value) -> Value {
    json!({
        "name": name, "asked": asked, "measured": null, "holds": true, "certified": "",
    })
}

/// A release written by hand.
#[derive(Debug)]
pub(crate) struct ByHand {
    /// A folder that has the release as `release`.
    pub(crate) home: TempDir,
    /// What it says about itself, in sections.
    pub(crate) manifest: Value,
}

impl ByHand {
    /// A release of these columns, without files.
    pub(crate) fn new(columns: impl Into<Value>) -> Self {
        let manifest = json!({
            "software": "by hand", "experiment": false, "rows": 0, "left_out": 0,
            "data": { "file": "data.csv", "format": "csv" },
            "columns": columns.into(), "method": { "name": "by hand" },
            "promises": [], "loss": {}, "not_promised": [], "checksums": {},
        });
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("release")).unwrap();
        Self { home, manifest }
    }

    /// Sets a key of the manifest.
    pub(crate) fn with(mut self, key: &str, value: Value) -> Self {
        self.manifest[key] = value;
        self
    }

    /// Sets keys of the manifest.
    pub(crate) fn with_all(mut self, more: &Value) -> Self {
        for (key, value) in more.as_object().unwrap() {
            self.manifest[key] = value.clone();
        }
        self
    }

    /// Adds a promise.
    pub(crate) fn promise(mut self, name: &str, asked: Value) -> Self {
        self.manifest["promises"].as_array_mut().unwrap().push(promise(name, asked));
        self
    }

    /// Writes rows that have the columns of the manifest.
    pub(crate) fn plain_rows<S: AsRef<str>>(self, rows: &[S]) -> Self {
        let names = names(&self.manifest["columns"]);
        let names = names.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
        let header = names.collect::<Vec<_>>().join(",");
        self.rows(&header, rows)
    }

    /// Writes the rows, under the names of columns.
    pub(crate) fn rows<S: AsRef<str>>(mut self, header: &str, rows: &[S]) -> Self {
        let lines = std::iter::once(header).chain(rows.iter().map(AsRef::as_ref));
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        self.manifest["rows"] = json!(rows.len());
        self.write("data.csv", &text);
        self
    }

    /// Writes a file, and its checksum.
    pub(crate) fn file(mut self, name: &str, text: &str) -> Self {
        self.write(name, text);
        self
    }

    /// Writes a file, and its checksum.
    pub(crate) fn write(&mut self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        self.manifest["checksums"][name] = json!(checksum(&path).unwrap());
    }

    /// Replaces a text in a file that has it.
    pub(crate) fn replace(&mut self, name: &str, from: &str, to: &str) {
        let text = self.text(name);
        assert!(text.contains(from), "{text}");
        self.write(name, &text.replacen(from, to, 1));
    }

    /// What is in a file.
    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// The folder of its files.
    pub(crate) fn path(&self) -> PathBuf {
        self.home.path().join("release")
    }

    /// The release, as the manifest is now.
    pub(crate) fn open(&self) -> Result<Release> {
        let text = spelled_out(&self.manifest).to_string();
        fs::write(self.path().join("manifest.json"), text).unwrap();
        Release::open(&self.path())
    }

    /// What an audit finds, given the table and the population it is part of.
    pub(crate) fn audited<'t>(
        &self,
        table: impl Into<Option<&'t str>>,
        population: impl Into<Option<&'t str>>,
    ) -> Result<Audit> {
        audited(&self.open()?, table.into(), population.into())
    }

    /// What it finds that nobody else need know.
    pub(crate) fn audit<'t>(
        &self,
        table: impl Into<Option<&'t str>>,
        population: impl Into<Option<&'t str>>,
    ) -> Result<Report> {
        self.audited(table, population).map(|audit| audit.private)
    }

    /// The page about it, given the table.
    pub(crate) fn page(&self, table: Option<&str>) -> String {
        let public = self.audited(table, None).unwrap().public;
        let manifest = self.open().unwrap().manifest;
        write_page(&self.path(), &manifest, &public).unwrap();
        self.text("report.html")
    }

    /// What the release tells; its columns are put in the order of the layout.
    pub(crate) fn evidence(&self) -> Result<Evidence> {
        let mut manifest = spelled_out(&self.manifest);
        let data = self.path().join("data.csv");
        if let Ok(read) = serde_json::from_value::<Manifest>(manifest.clone())
            && let Some(text) = arranged(&self.text("data.csv"), &read.header())
        {
            fs::write(&data, text).unwrap();
            manifest["checksums"]["data.csv"] = json!(checksum(&data).unwrap());
        }
        fs::write(self.path().join("manifest.json"), manifest.to_string()).unwrap();
        Evidence::read(&Release::open(&self.path())?, &Unwatched)
    }
}

/// A CSV file with its columns in this order, if it has them.
fn arranged(text: &str, header: &[&str]) -> Option<String> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let records: Vec<_> = reader.records().collect::<Result<_, _>>().ok()?;
    let place = |name: &&str| records[0].iter().position(|other| other == *name);
    let places: Vec<usize> = header.iter().map(place).collect::<Option<_>>()?;
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records.iter().filter(|_| places.len() == records[0].len()) {
        writer.write_record(places.iter().map(|place| &record[*place])).unwrap();
    }
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    Some(text).filter(|text| !text.is_empty())
}

/// A manifest in the format of releases, from a short one.
pub(crate) fn spelled_out(short: &Value) -> Value {
    let mut manifest = short.clone();
    manifest["format"] = json!(2);
    let mut take = |key: &str| manifest.as_object_mut().unwrap().remove(key);
    let notes = take("perturbation").unwrap_or(json!([]));
    let (buckets, weights) = (take("buckets"), take("weights"));
    let (blur, condensed) = (take("blur"), take("condensed"));
    let blur = blur.filter(|note| !note.is_null());
    let mut classes = Vec::new();
    let mut class = |column: Value, of: &Value, parameters: Value| {
        let parameters = without_nulls(parameters);
        classes.push(json!({ "column": column, "of": of, "parameters": parameters }));
    };
    let mut treatments: Vec<(Value, Value)> = Vec::new();
    let mut treat = |of: &Value, treatment: Value| {
        let names = of.as_array().unwrap().iter();
        treatments.extend(names.map(|name| (name.clone(), treatment.clone())));
    };
    let mut numbers: Vec<Value> = Vec::new();
    let mut hidden = vec![manifest["sampled"].clone()];
    for note in notes.as_array().unwrap() {
        let told =
            |key: &str, usual: &str| note.get(key).cloned().unwrap_or(json!(usual));
        let (breaches, noise) = (told("breaches", "upward"), told("noise", "fresh"));
        let ranges = note.get("ranges");
        let drawn = json!({
            "kind": "drawn", "breaches": breaches, "noise": noise, "ranges": ranges,
        });
        treat(&note["columns"], drawn);
        hidden.push(note["subtable_column"].clone());
        let parameters = json!({ "kind": "subtables", "subtables": note["subtables"] });
        class(note["subtable_column"].clone(), &note["columns"], parameters);
    }
    if let Some(note) = buckets {
        let of = json!([note["column"]]);
        treat(&of, json!({ "kind": "apart" }));
        let (file, groups) = (&note["file"], &note["groups"]);
        let parameters = json!({ "kind": "values", "file": file, "groups": groups });
        class(json!("group"), &of, parameters);
    }
    if let Some(note) = blur {
        let of = names(&note["columns"]);
        let turned = note["frame"] == "rotated";
        for name in of.as_array().unwrap() {
            let spread = format!("{}.spread", name.as_str().unwrap());
            let spread = if turned { Value::Null } else { json!(spread) };
            let noisy =
                json!({ "kind": "noisy", "shape": note["shape"], "spread": spread });
            treat(&json!([name]), without_nulls(noisy));
        }
        numbers.extend(note["columns"].as_array().unwrap().clone());
        let strict = note["strict"] == true;
        let frames = note["frames"].as_array().cloned().unwrap_or_default();
        let told = strict && (frames.len() > 1 || turned);
        let parameters = json!({
            "kind": "frames", "frame": note["frame"], "strict": strict,
            "exact": note["exact"], "best_guess": note["best_guess"], "frames": frames,
        });
        class(if told { json!("frame") } else { Value::Null }, &of, parameters);
        if strict {
            class(json!("level"), &of, json!({ "kind": "levels" }));
        }
    }
    if let Some(note) = condensed {
        let of = names(&note["columns"]);
        treat(&of, json!({ "kind": "redrawn" }));
        numbers.extend(note["columns"].as_array().unwrap().clone());
        let (groups, exact) = (&note["groups"], &note["exact"]);
        let parameters = json!({ "kind": "moments", "groups": groups, "exact": exact });
        class(json!("group"), &of, parameters);
    }
    if let Some(note) = weights {
        let columns = short["columns"].as_array().unwrap().iter();
        let own: Vec<Value> =
            columns.filter(|column| column["cells"] == "pdf").cloned().collect();
        let (file, kind, table) = (&note["file"], &note["kind"], &note["table"]);
        let parameters =
            json!({ "kind": "cells", "file": file, "weights": kind, "table": table });
        class(json!("group"), &names(&json!(own)), parameters);
    }
    manifest["classes"] = json!(classes);

    let columns = manifest["columns"].as_array_mut().unwrap();
    columns.retain(|column| !hidden.contains(&column["name"]));
    for column in columns.iter_mut() {
        let object = column.as_object_mut().unwrap();
        let (cells, level) = (object.remove("cells"), object.remove("level"));
        let own = treatments.iter().find(|(name, _)| *name == column["name"]);
        column["treatment"] = match (own, cells) {
            (Some((_, treatment)), _) => treatment.clone(),
            (None, Some(cells)) if cells == "pdf" => json!({ "kind": "weighted" }),
            (None, Some(cells)) => without_nulls(
                json!({ "kind": "coarse", "cells": cells, "level": level }),
            ),
            (None, None) => json!({ "kind": "kept" }),
        };
        if let Some(note) = numbers.iter().find(|note| note["name"] == column["name"]) {
            column["decimals"] = note["decimals"].clone();
            column["domain"] = note["domain"].clone();
        }
    }
    let of_role = |role: &str| {
        let columns = manifest["columns"].as_array().unwrap().iter();
        let own: Vec<Value> =
            columns.filter(|column| column["role"] == role).cloned().collect();
        names(&json!(own))
    };
    let (quasi, sensitive) = (of_role("quasi"), of_role("sensitive"));
    for promise in manifest["promises"].as_array_mut().unwrap() {
        if promise.get("columns").is_none() {
            promise["columns"] = match promise["name"].as_str().unwrap() {
                "k-anonymity" | "delta-presence" | "expected-anonymity" => {
                    quasi.clone()
                }
                _ => sensitive.clone(),
            };
        }
    }
    manifest
}

/// The names of columns.
fn names(columns: &Value) -> Value {
    columns.as_array().unwrap().iter().map(|column| column["name"].clone()).collect()
}

/// What is not said stays unsaid.
fn without_nulls(mut value: Value) -> Value {
    value.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    value
}
