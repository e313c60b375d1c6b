//! Releases as tests make them: a manifest by its sections, as one has them in mind, becomes
//! treatments and classes, and the data get the columns in the order of the layout.

use std::fs;
use std::path::Path;

use scumble::release::{Manifest, checksum};
use serde_json::{Value, json};

/// Writes the manifest of the files in `home`. It says what was done in sections:
/// `perturbation`, `buckets`, `blur`, `condensed`, `weights`; and `cells` of columns.
pub(super) fn write_manifest(home: &Path, sections: &Value) {
    let mut manifest = sections.clone();
    treat(&mut manifest);
    if let Ok(read) = serde_json::from_value::<Manifest>(manifest.clone()) {
        arrange(&home.join("data.csv"), &read.header());
    }
    if manifest["checksums"].get("data.csv").is_some() {
        manifest["checksums"]["data.csv"] =
            json!(checksum(&home.join("data.csv")).unwrap());
    }
    fs::write(home.join("manifest.json"), manifest.to_string()).unwrap();
}

fn treat(manifest: &mut Value) {
    manifest["format"] = json!(2);
    let mut take = |key: &str| manifest.as_object_mut().unwrap().remove(key);
    let notes = take("perturbation");
    let (buckets, weights) = (take("buckets"), take("weights"));
    let (blur, condensed) = (take("blur"), take("condensed"));
    let mut classes = Vec::new();
    let mut treatments: Vec<(Value, Value)> = Vec::new();
    let mut numbers: Vec<Value> = Vec::new();
    let mut hidden = vec![manifest["sampled"].clone()];
    for note in notes.iter().flat_map(|notes| notes.as_array().unwrap()) {
        let drawn = json!({ "kind": "drawn", "breaches": "upward", "noise": "fresh" });
        let of = note["columns"].as_array().unwrap();
        treatments.extend(of.iter().map(|name| (name.clone(), drawn.clone())));
        hidden.push(note["subtable_column"].clone());
        classes.push(json!({
            "column": note["subtable_column"], "of": of,
            "parameters": { "kind": "subtables", "subtables": note["subtables"] },
        }));
    }
    if let Some(note) = buckets {
        treatments.push((note["column"].clone(), json!({ "kind": "apart" })));
        classes.push(json!({
            "column": "group", "of": [note["column"]],
            "parameters":
                { "kind": "values", "file": note["file"], "groups": note["groups"] },
        }));
    }
    if let Some(note) = blur {
        let of = names(&note);
        let turned = note["frame"] == "rotated";
        for name in &of {
            let spread = format!("{}.spread", name.as_str().unwrap());
            let spread = if turned { Value::Null } else { json!(spread) };
            let noisy =
                json!({ "kind": "noisy", "shape": note["shape"], "spread": spread });
            treatments.push((name.clone(), noisy));
        }
        numbers.extend(note["columns"].as_array().unwrap().clone());
        let mut parameters = note.clone();
        parameters.as_object_mut().unwrap().remove("columns");
        parameters["kind"] = json!("frames");
        let strict = note["strict"] == true;
        let many =
            note["frames"].as_array().is_some_and(|frames| frames.len() > 1) || turned;
        let frame = if strict && many { json!("frame") } else { Value::Null };
        classes.push(json!({ "column": frame, "of": of, "parameters": parameters }));
        if strict {
            let levels = json!({ "kind": "levels" });
            classes.push(json!({ "column": "level", "of": of, "parameters": levels }));
        }
    }
    if let Some(note) = condensed {
        let of = names(&note);
        let redrawn = json!({ "kind": "redrawn" });
        treatments.extend(of.iter().map(|name| (name.clone(), redrawn.clone())));
        numbers.extend(note["columns"].as_array().unwrap().clone());
        let parameters = json!({ "kind": "moments", "groups": note["groups"] });
        classes.push(json!({ "column": "group", "of": of, "parameters": parameters }));
    }
    let columns = manifest["columns"].as_array_mut().unwrap();
    columns.retain(|column| !hidden.contains(&column["name"]));
    for column in columns.iter_mut() {
        let own = treatments.iter().find(|(name, _)| *name == column["name"]);
        let treatment = match (own, column.get("cells")) {
            (Some((_, treatment)), _) => treatment.clone(),
            (None, Some(cells)) if cells == "pdf" => json!({ "kind": "weighted" }),
            (None, Some(cells)) => {
                json!({ "kind": "coarse", "cells": cells, "level": column["level"] })
            }
            (None, None) => json!({ "kind": "kept" }),
        };
        column["treatment"] = treatment;
        let note = numbers.iter().find(|note| note["name"] == column["name"]);
        for key in ["decimals", "domain"] {
            if let Some(note) = note {
                column[key] = note[key].clone();
            }
        }
    }
    if let Some(note) = weights {
        let own = |column: &&Value| column["treatment"]["kind"] == "weighted";
        let of: Vec<Value> =
            columns.iter().filter(own).map(|column| column["name"].clone()).collect();
        let mut parameters = json!(
            { "kind": "cells", "file": note["file"], "weights": note["kind"] });
        if let Some(table) = note.get("table") {
            parameters["table"] = table.clone();
        }
        classes.push(json!({ "column": "group", "of": of, "parameters": parameters }));
    }
    manifest["classes"] = json!(classes);
}

fn names(note: &Value) -> Vec<Value> {
    note["columns"].as_array().unwrap().iter().map(|c| c["name"].clone()).collect()
}

/// Puts the columns of the data in this order, if it has them.
fn arrange(path: &Path, header: &[&str]) {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
    let Ok(records) = reader.records().collect::<Result<Vec<_>, _>>() else { return };
    let place = |name: &&str| records[0].iter().position(|other| other == *name);
    let places: Option<Vec<usize>> = header.iter().map(place).collect();
    let Some(places) = places.filter(|places| places.len() == records[0].len()) else {
        return;
    };
    let mut writer = csv::Writer::from_path(path).unwrap();
    for record in &records {
        writer.write_record(places.iter().map(|place| &record[*place])).unwrap();
    }
    writer.flush().unwrap();
}
