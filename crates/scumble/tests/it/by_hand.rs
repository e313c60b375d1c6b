//! Manifests for releases written by hand: short ones are spelled out.
//!
//! A test says what was done to the table as a whole (`perturbation`, `buckets`, `blur`,
//! `condensed`, `weights`, or `cells` of a column), and each column and class gets what
//! follows from it.

use serde_json::{Map, Value, json};

fn texts(value: &Value) -> Vec<String> {
    let texts = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

fn names(columns: &Value) -> Vec<String> {
    let columns = columns.as_array().into_iter().flatten();
    columns.map(|column| column["name"].as_str().unwrap().to_owned()).collect()
}

/// A manifest in the format of releases, from a short one.
pub(crate) fn spelled_out(short: &Value) -> Value {
    let mut manifest = short.clone();
    let take = |manifest: &mut Value, key: &str| {
        manifest.as_object_mut().unwrap().remove(key).unwrap_or(Value::Null)
    };
    let notes = take(&mut manifest, "perturbation");
    let notes: Vec<Value> = notes.as_array().cloned().unwrap_or_default();
    let buckets = take(&mut manifest, "buckets");
    let blur = take(&mut manifest, "blur");
    let condensed = take(&mut manifest, "condensed");
    let weights = take(&mut manifest, "weights");
    manifest["format"] = json!(2);

    let tells: Vec<String> = notes
        .iter()
        .flat_map(|note| note["subtable_column"].as_str())
        .map(str::to_owned)
        .collect();
    let columns = manifest["columns"].as_array_mut().unwrap();
    columns.retain(|column| !tells.iter().any(|name| column["name"] == json!(name)));
    for column in columns.iter_mut() {
        let name = column["name"].as_str().unwrap().to_owned();
        let object: &mut Map<String, Value> = column.as_object_mut().unwrap();
        let (cells, level) = (object.remove("cells"), object.remove("level"));
        let number = [&blur, &condensed].into_iter().find_map(|note| {
            note["columns"]
                .as_array()?
                .iter()
                .find(|known| known["name"] == json!(name))
        });
        if let Some(number) = number {
            column["decimals"] = number["decimals"].clone();
            column["domain"] = number["domain"].clone();
        }
        let drawn = notes.iter().find(|note| texts(&note["columns"]).contains(&name));
        column["treatment"] = if let Some(note) = drawn {
            json!({ "kind": "drawn", "breaches": note["breaches"], "noise": note["noise"] })
        } else if buckets["column"] == json!(name) {
            json!({ "kind": "apart" })
        } else if number.is_some() && !condensed.is_null() {
            json!({ "kind": "redrawn" })
        } else if number.is_some() {
            let mut noisy = json!({ "kind": "noisy", "shape": blur["shape"] });
            if blur["frame"] != json!("rotated") {
                noisy["spread"] = json!(format!("{name}.spread"));
            }
            noisy
        } else if cells == Some(json!("pdf")) {
            json!({ "kind": "weighted" })
        } else if let (Some(cells), true) = (cells, buckets.is_null()) {
            let mut coarse = json!({ "kind": "coarse", "cells": cells });
            if let Some(level) = level {
                coarse["level"] = level;
            }
            coarse
        } else {
            json!({ "kind": "kept" })
        };
    }
    manifest["classes"] = classes(short, &notes, &buckets, &blur, &condensed, &weights);

    let of_role = |role: &str| -> Vec<String> {
        let columns = manifest["columns"].as_array().unwrap().iter();
        let columns = columns.filter(|column| column["role"] == json!(role));
        columns.map(|column| column["name"].as_str().unwrap().to_owned()).collect()
    };
    let (quasi, sensitive) = (of_role("quasi"), of_role("sensitive"));
    for promise in manifest["promises"].as_array_mut().unwrap() {
        if promise.get("columns").is_none() {
            let about = match promise["name"].as_str().unwrap() {
                "k-anonymity" | "delta-presence" | "expected-anonymity" => &quasi,
                _ => &sensitive,
            };
            promise["columns"] = json!(about);
        }
    }
    manifest
}

fn classes(
    short: &Value,
    notes: &[Value],
    buckets: &Value,
    blur: &Value,
    condensed: &Value,
    weights: &Value,
) -> Value {
    let mut classes = Vec::new();
    for note in notes {
        let mut class = json!({
            "of": note["columns"],
            "parameters": { "kind": "subtables", "subtables": note["subtables"] },
        });
        if !note["subtable_column"].is_null() {
            class["column"] = note["subtable_column"].clone();
        }
        classes.push(class);
    }
    if !buckets.is_null() {
        classes.push(json!({
            "column": "group", "of": [buckets["column"]],
            "parameters": {
                "kind": "values", "file": buckets["file"], "groups": buckets["groups"],
            },
        }));
    }
    if !weights.is_null() {
        let mut parameters = json!({
            "kind": "cells", "file": weights["file"], "weights": weights["kind"],
        });
        if let Some(table) = weights.get("table") {
            parameters["table"] = table.clone();
        }
        let columns = short["columns"].as_array().unwrap().iter();
        let weighted: Vec<&Value> = columns
            .filter(|column| column["cells"] == json!("pdf"))
            .map(|column| &column["name"])
            .collect();
        classes.push(
            json!({ "column": "group", "of": weighted, "parameters": parameters }),
        );
    }
    if !blur.is_null() {
        let frames = blur["frames"].as_array().cloned().unwrap_or_default();
        let strict = blur["strict"] == json!(true);
        let mut parameters = json!({
            "kind": "frames", "frame": blur["frame"], "strict": strict,
            "exact": texts(&blur["exact"]), "frames": frames,
        });
        if let Some(share) = blur.get("best_guess") {
            parameters["best_guess"] = share.clone();
        }
        let of = names(&blur["columns"]);
        let mut class = json!({ "of": of, "parameters": parameters });
        if strict && (frames.len() > 1 || blur["frame"] == json!("rotated")) {
            class["column"] = json!("frame");
        }
        classes.push(class);
        if strict {
            let parameters = json!({ "kind": "levels" });
            classes
                .push(json!({ "column": "level", "of": of, "parameters": parameters }));
        }
    }
    if !condensed.is_null() {
        classes.push(json!({
            "column": "group", "of": names(&condensed["columns"]),
            "parameters": {
                "kind": "moments", "groups": condensed["groups"],
                "exact": texts(&condensed["exact"]),
            },
        }));
    }
    json!(classes)
}
