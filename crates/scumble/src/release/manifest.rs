//! What a release says about itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::hierarchy::{Cells, ColumnSpec, Grid, Ranges, Rule};
use crate::release::sink::Formulas;
use crate::release::{Calibration, Class, SharesNote, Store, Treatment};
use crate::table::{Kind, PublicDomain, Reading, Role};

/// The version of the format this library writes and reads.
pub const FORMAT: u32 = 2;

/// The program that writes it.
pub const SOFTWARE: &str = concat!("scumble ", env!("CARGO_PKG_VERSION"));

/// The file's name.
pub const MANIFEST_FILE: &str = "manifest.json";

/// What was published how, and what was promised. See `FORMAT.md`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the format.
    pub format: u32,
    /// Who wrote it.
    pub software: String,
    /// Whether randomness was fixed by a seed.
    pub experiment: bool,
    /// Rows published.
    pub rows: u64,
    /// Rows of the table that were not published.
    pub left_out: u64,
    /// Where the rows are.
    pub data: DataFile,
    /// The published columns, in order.
    pub columns: Vec<PublishedColumn>,
    /// What rows of the same class share.
    pub classes: Vec<Class>,
    /// The column that tells how many rows each published row stands for, if they are a
    /// sample of one from each group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<String>,
    /// The method and its public parameters.
    pub method: MethodNote,
    /// What was promised.
    pub promises: Vec<PromiseNote>,
    /// Who promises count, if not rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonNote>,
    /// Where it says how often the values of quasi columns occur, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<SharesNote>,
    /// How far answers were off when the publisher asked, if that may be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// What the release costs, by every loss.
    pub loss: BTreeMap<String, f64>,
    /// What a reader must not take for promised.
    pub not_promised: Vec<String>,
    /// BLAKE3 of the other files.
    pub checksums: BTreeMap<String, String>,
}

/// The column of the table that tells people apart. It is not published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PersonNote {
    /// Its name.
    pub column: String,
    /// The texts that stand for "not known": such rows count as a person each.
    pub missing: Vec<String>,
    /// For each randomized or blurred column how many rows have the noise of a row, itself
    /// included, on average over the rows and rounded up to three digits; columns whose rows
    /// have noise of their own are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shared: BTreeMap<String, f64>,
}

/// The file with the rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// Its name.
    pub file: String,
    /// How it is written.
    pub format: DataFormat,
    /// Whether an apostrophe stands before cells that a spreadsheet would take for formulas,
    /// and before an apostrophe, in all CSV files of the release.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spreadsheet_safe: bool,
}

impl DataFile {
    /// The file of rows written in this format.
    pub fn of(format: DataFormat) -> Self {
        let file = match format {
            DataFormat::Csv => "data.csv",
            DataFormat::Parquet => "data.parquet",
        };
        Self { file: file.to_owned(), format, spreadsheet_safe: false }
    }

    /// What becomes of formulas.
    pub(crate) fn formulas(&self) -> Formulas {
        match self.spreadsheet_safe {
            true => Formulas::Guarded,
            false => Formulas::Kept,
        }
    }
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataFormat {
    /// Text with commas.
    Csv,
    /// Apache Parquet.
    Parquet,
}

/// A published column.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PublishedColumn {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// What its values are.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Texts that stand for "not known" in the original; the first is what is published.
    pub missing: Vec<String>,
    /// How dates were written in the original.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_format: Option<String>,
    /// How its values coarsen; quasi columns, and sensitive ones if a promise needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<Rule>,
    /// How much its cells count in a loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// How many decimals its numbers have, if its cells are ranges of them or numbers with
    /// noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimals: Option<u32>,
    /// The values that it may have, if somebody said so in public; where its numbers may be,
    /// if they have noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<PublicDomain>,
    /// Where its ranges end, if these are on a grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<Grid>,
    /// What was done to it.
    pub treatment: Treatment,
}

impl PublishedColumn {
    /// A column that is published as it is.
    pub fn kept(name: &str, role: Role, reading: Reading) -> Self {
        Self {
            name: name.to_owned(),
            role,
            kind: reading.kind,
            missing: reading.missing,
            date_format: reading.date_format,
            hierarchy: None,
            weight: None,
            decimals: None,
            domain: None,
            grid: None,
            treatment: Treatment::Kept,
        }
    }

    /// What its cells are, if they stand for several values.
    pub fn cells(&self) -> Option<Cells> {
        match &self.treatment {
            Treatment::Coarse { cells, .. } => Some(*cells),
            Treatment::Weighted => Some(Cells::Pdf),
            Treatment::Kept
            | Treatment::Drawn { .. }
            | Treatment::Noisy { .. }
            | Treatment::Apart
            | Treatment::Redrawn => None,
        }
    }

    /// Where its numbers or days may be, both ends included, if that is known.
    pub fn span(&self) -> Option<[f64; 2]> {
        self.domain.as_ref()?.span(&self.reading())
    }

    /// The level of the whole column, where there is one.
    pub fn level(&self) -> Option<usize> {
        match &self.treatment {
            Treatment::Coarse { level, .. } => *level,
            _ => None,
        }
    }

    /// The ranges that its numbers were taken as, if they were randomized so; an error if the
    /// manifest does not say which.
    pub fn ranges(&self) -> Result<Option<Ranges>> {
        let Treatment::Drawn { ranges: Some(note), .. } = &self.treatment else {
            return Ok(None);
        };
        let malformed = |why: &str| {
            let name = &self.name;
            Error::input(format!(
                "the manifest does not say the ranges of `{name}`: {why}"
            ))
            .with_hint("the release was changed")
        };
        let span = self.domain.as_ref().and_then(|domain| domain.span(&self.reading()));
        let (Some(rule), Some(ends), Kind::Number) =
            (self.hierarchy.clone(), span, self.kind)
        else {
            return Err(malformed("they need numbers, a hierarchy and a domain"));
        };
        let found = Ranges::new(rule, note.level, ends);
        found.map(Some).map_err(|error| malformed(&error.to_string()))
    }

    /// How the texts of the original are read.
    pub fn reading(&self) -> Reading {
        Reading {
            kind: self.kind,
            missing: self.missing.clone(),
            date_format: self.date_format.clone(),
        }
    }
}

/// The method.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct MethodNote {
    /// Its name.
    pub name: String,
    /// For `full-domain`, the level of each quasi column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<serde_json::Map<String, Value>>,
    /// For one of several, the columns it decided about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// For a mixture, the methods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<MethodNote>,
    /// Other public parameters.
    #[serde(flatten)]
    pub parameters: serde_json::Map<String, Value>,
}

impl MethodNote {
    /// The methods: itself, unless it is a mixture.
    pub fn each(&self) -> &[MethodNote] {
        match self.methods.is_empty() {
            true => std::slice::from_ref(self),
            false => &self.methods,
        }
    }
}

/// A promise and how it was kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PromiseNote {
    /// Its name.
    pub name: String,
    /// The published columns it is about.
    pub columns: Vec<String>,
    /// What was asked.
    pub asked: Value,
    /// What was reached, measured on the published files.
    pub measured: Value,
    /// Whether it holds.
    pub holds: bool,
    /// How that was checked.
    pub certified: String,
}

impl PromiseNote {
    /// A promise that is not rechecked yet.
    pub fn unchecked(name: &str, columns: Vec<String>, asked: Value) -> Self {
        let (name, certified) = (name.to_owned(), String::new());
        Self { name, columns, asked, measured: Value::Null, holds: false, certified }
    }
}

impl Manifest {
    /// The method that decided about a column, if it is one of several.
    pub fn method_of(&self, column: &str) -> &MethodNote {
        let mut methods = self.method.methods.iter();
        let own =
            methods.find(|method| method.columns.iter().any(|name| name == column));
        own.unwrap_or(&self.method)
    }

    /// The column of the table that tells people apart, if promises count these.
    pub(crate) fn person_spec(&self) -> Option<ColumnSpec> {
        let person = self.person.as_ref()?;
        let reading =
            Reading { missing: person.missing.clone(), ..Reading::category() };
        Some(ColumnSpec::new(&person.column, Role::Identifier, reading, Rule::Plain))
    }

    /// How many rows of the table are left beside those that published rows stand for.
    pub fn left_beside(&self, rows: u64) -> u64 {
        self.rows.saturating_add(self.left_out).saturating_sub(rows)
    }

    /// Writes the manifest beside the other files of a release.
    pub fn write(&self, store: &Store) -> Result<()> {
        let mut text = serde_json::to_string_pretty(self).map_err(|error| {
            Error::input(error.to_string()).in_file(store.name(MANIFEST_FILE))
        })?;
        text.push('\n');
        store.write(MANIFEST_FILE, text.as_bytes())
    }
}
