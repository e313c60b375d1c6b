//! What catalogues and other tools read: a Frictionless Data Package, version 2.
//!
//! It says the same as the manifest in words that other programs know, from published values
//! only.

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::release::{
    CELLS_FILE, DataColumn, DataFormat, Manifest, Parameters, PublishedColumn,
    PublishedRange, RangesNote, SENSITIVE_FILE, Store, Treatment,
};
use crate::table::{Kind, PublicDomain, parse_number};

/// The file's name.
pub const DATAPACKAGE_FILE: &str = "datapackage.json";

/// Describes the files of a release for other tools.
pub fn write_datapackage(manifest: &Manifest, store: &Store) -> Result<()> {
    let mut resources = vec![rows(manifest)];
    for class in &manifest.classes {
        match &class.parameters {
            Parameters::Cells { file, .. } => resources.push(table(
                manifest,
                file,
                "The distributions that the cells of each group are",
                &[
                    ("group", "integer"),
                    ("column", "string"),
                    ("value", "string"),
                    ("weight", "number"),
                ],
            )),
            Parameters::Values { file, .. } => {
                let about = match &*class.of {
                    [column] if file != SENSITIVE_FILE => format!(
                        "The values of {column} in each group, and how many rows have each"
                    ),
                    _ => "The sensitive values of each group, and how many rows have each"
                        .to_owned(),
                };
                resources.push(table(
                    manifest,
                    file,
                    &about,
                    &[("group", "integer"), ("value", "string"), ("count", "integer")],
                ));
            }
            Parameters::Subtables { .. }
            | Parameters::Frames { .. }
            | Parameters::Levels
            | Parameters::Moments { .. } => {}
        }
    }
    if let Some(note) = &manifest.shares {
        resources.push(table(
            manifest,
            &note.file,
            "How many rows of the table have each value of a column",
            &[("column", "string"), ("value", "string"), ("rows", "integer")],
        ));
    }
    let package = json!({
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": "release",
        "description": "A table about people, published with a promise to them: \
                        manifest.json says what was done to each column",
        "contributors": [{ "title": manifest.software, "roles": ["processor"] }],
        "resources": resources,
    });
    let text = serde_json::to_string_pretty(&package)
        .map_err(|error| Error::input(error.to_string()).in_file(DATAPACKAGE_FILE))?;
    store.write(DATAPACKAGE_FILE, format!("{text}\n").as_bytes())
}

/// The published rows.
fn rows(manifest: &Manifest) -> Value {
    let columns = manifest.layout().data_columns();
    let fields: Vec<Value> = columns.into_iter().map(field).collect();
    let mut missing: Vec<&str> =
        manifest.columns.iter().flat_map(|c| &c.missing).map(String::as_str).collect();
    missing.push("");
    missing.sort_unstable();
    missing.dedup();
    let (format, kind) = match manifest.data.format {
        DataFormat::Csv => ("csv", "text/csv"),
        DataFormat::Parquet => ("parquet", "application/vnd.apache.parquet"),
    };
    resource(manifest, "data", &manifest.data.file, (format, kind), fields, &missing)
}

/// A file beside the rows.
fn table(
    manifest: &Manifest,
    file: &str,
    about: &str,
    columns: &[(&str, &str)],
) -> Value {
    let fields =
        columns.iter().map(|(name, kind)| json!({ "name": name, "type": kind }));
    let name = match file {
        CELLS_FILE => "cells",
        SENSITIVE_FILE => "sensitive",
        other => other.strip_suffix(".csv").unwrap_or(other),
    };
    let format = ("csv", "text/csv");
    let mut resource = resource(manifest, name, file, format, fields.collect(), &[""]);
    resource["description"] = about.into();
    resource
}

fn resource(
    manifest: &Manifest,
    name: &str,
    file: &str,
    (format, kind): (&str, &str),
    fields: Vec<Value>,
    missing: &[&str],
) -> Value {
    let mut resource = json!({
        "name": name,
        "type": "table",
        "path": file,
        "format": format,
        "mediatype": kind,
        "schema": { "fields": fields, "missingValues": missing },
    });
    if format == "csv" {
        resource["encoding"] = "utf-8".into();
    }
    if let Some(checksum) = manifest.checksums.get(file) {
        resource["hash"] = format!("blake3:{checksum}").into();
    }
    resource
}

/// A column of the data.
fn field(column: DataColumn<'_>) -> Value {
    let mut field = Map::new();
    field.insert("name".to_owned(), column.name().into());
    let (kind, about) = match column {
        DataColumn::Cells(column) => cells(column),
        DataColumn::Spread(column, _) => {
            ("number", format!("how wide the noise of {} is", column.name))
        }
        DataColumn::Class(class, _) => {
            ("integer", format!("the class of the row in {}", class.of.join(", ")))
        }
        DataColumn::Size(_) => {
            ("integer", "how many rows of the table a row stands for".to_owned())
        }
    };
    if let DataColumn::Cells(listed) = column
        && let Some(constraints) = constraints(listed)
    {
        field.insert("constraints".to_owned(), constraints);
    }
    field.insert("type".to_owned(), kind.into());
    field.insert("description".to_owned(), about.into());
    Value::Object(field)
}

/// The domain of a column, if its cells are values of it.
fn constraints(column: &PublishedColumn) -> Option<Value> {
    let are_values =
        matches!(column.treatment, Treatment::Kept | Treatment::Drawn { .. });
    let domain = column.domain.as_ref().filter(|_| are_values)?;
    match (domain, column.kind) {
        (PublicDomain::Numbers([low, high]), _) => {
            Some(json!({ "minimum": low, "maximum": high }))
        }
        (PublicDomain::Words(words), Kind::Category) => Some(json!({ "enum": words })),
        (PublicDomain::Words(words), Kind::Number) => {
            let numbers = words.iter().filter_map(|word| parse_number(word));
            Some(json!({ "enum": numbers.collect::<Vec<f64>>() }))
        }
        // Dates that are written in another way are texts to other tools.
        (PublicDomain::Words(days), Kind::Date) => {
            match (&days[..], &column.date_format) {
                ([first, last], None) => {
                    Some(json!({ "minimum": first, "maximum": last }))
                }
                _ => None,
            }
        }
    }
}

/// The type of a published column's cells, and what was done to it.
fn cells(column: &PublishedColumn) -> (&'static str, String) {
    // Values may be texts that stand for "not known", which tools know apart.
    let own = match column.kind {
        Kind::Category => "string",
        Kind::Number => "number",
        Kind::Date if column.date_format.is_none() => "date",
        Kind::Date => "string",
    };
    match &column.treatment {
        Treatment::Kept => (own, "published as it is".to_owned()),
        Treatment::Drawn {
            ranges: Some(RangesNote { published: PublishedRange::Range, .. }),
            ..
        } => ("string", "a range drawn from a known distribution".to_owned()),
        Treatment::Drawn { .. } => (own, "drawn from a known distribution".to_owned()),
        Treatment::Coarse { .. } => {
            ("string", "a cell that stands for all values of a group".to_owned())
        }
        Treatment::Noisy { shape, .. } => {
            ("number", format!("a number with {} noise", shape.name()))
        }
        Treatment::Redrawn => {
            ("number", "drawn anew from the moments of a group".into())
        }
        Treatment::Weighted | Treatment::Apart => ("string", "beside the rows".into()),
    }
}
