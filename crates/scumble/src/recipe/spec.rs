//! A recipe as typed.

use std::fs;
use std::path::Path;

use toml::de::DeTable;

use crate::error::{Error, Result};
use crate::method::pdf::Shift;
use crate::promise::DeltaPresence;
use crate::recipe::section::{Item, Section, Source};
use crate::recipe::{
    ColumnSpec, MethodSpec, PromiseKind, PromiseSpec, ReleaseSpec, Spot,
};
use crate::table::{self, Inputs, ReadOptions};

/// What a recipe says, as typed and with places. Each number is in its range; whether
/// columns, hierarchies, promises and method go together is not checked here.
#[derive(Debug, Clone)]
pub struct Spec {
    /// What the recipe is called in errors.
    pub file: String,
    /// Whether somebody typed it, so that places in it mean something.
    pub typed: bool,
    /// Which table.
    pub input: InputSpec,
    /// Its columns, in the order of the recipe.
    pub columns: Vec<ColumnSpec>,
    /// What must hold, in the order of the recipe.
    pub promises: Vec<PromiseSpec>,
    /// How it is made; of a mixture, the first method.
    pub method: MethodSpec,
    /// The other methods of a mixture, each for its columns.
    pub more_methods: Vec<MethodSpec>,
    /// Where it goes.
    pub release: ReleaseSpec,
    /// Of a part of a recipe: the columns that are none of its own, and whether each is
    /// published as it is.
    pub(super) beside: Vec<(ColumnSpec, bool)>,
}

/// Which table is read and how, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputSpec {
    /// The table's path as typed; `-` is standard input.
    pub table: String,
    /// Where the path stands.
    pub table_spot: Spot,
    /// The path of the table of everyone, if there is one.
    pub population: Option<String>,
    /// Where `population` stands, or else `key`.
    pub population_spot: Option<Spot>,
    /// The columns that join table and population.
    pub key: Vec<String>,
    /// The column that tells people apart who may have several rows, and where it stands.
    pub person: Option<(String, Spot)>,
    /// The texts that stand for "not known".
    pub missing: Vec<String>,
    /// How the table is read; without the password, which is in a file.
    pub options: ReadOptions,
    /// How the table of everyone is read.
    pub population_options: ReadOptions,
    /// The file that has the password for a database, and where it stands.
    pub password_file: Option<(String, Spot)>,
}

/// The promise about presence, as typed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Presence {
    pub(super) promise: DeltaPresence,
    pub(super) shift: Option<Shift>,
    pub(super) spot: Spot,
}

impl Spec {
    /// Reads a recipe.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = fs::read_to_string(path)
            .map_err(|source| Error::io("read the file", &file, source))?;
        match path.extension().is_some_and(|end| end == "json") {
            true => Self::from_json(&text, &file),
            false => Self::parse(&text, &file),
        }
    }

    /// Parses the text of a recipe. `file` is its name in errors.
    pub fn parse(text: &str, file: &str) -> Result<Self> {
        Self::of(Source { text, file, typed: true })
    }

    /// A recipe in JSON, with the same keys: `{"input": {"table": "t.csv"}, ...}`.
    pub fn from_json(text: &str, file: &str) -> Result<Self> {
        let value = serde_json::from_str(text).map_err(|error| {
            Error::recipe(format!("not valid JSON: {error}")).at(
                file,
                error.line(),
                error.column(),
            )
        })?;
        Self::from_value(&value, file)
    }

    /// A recipe that a program made, with the keys of a file. `name` is what errors call it.
    pub fn from_value(value: &serde_json::Value, name: &str) -> Result<Self> {
        let serde_json::Value::Object(sections) = value else {
            return Err(Error::recipe(
                "a recipe is an object with `input`, `columns` \
                                      and `promise`",
            )
            .in_file(name));
        };
        let mut text = String::new();
        for (key, value) in sections {
            text.push_str(&format!("{} = {}\n", quoted(key), inline(value)));
        }
        Self::of(Source { text: &text, file: name, typed: false })
    }

    fn of(source: Source<'_>) -> Result<Self> {
        let Source { text, file, typed } = source;
        let document = DeTable::parse(text).map_err(|error| syntax(source, &error))?;
        // What is missing altogether is missing at the beginning.
        let mut top = Section::new(source, String::new(), document.get_ref(), 0..0);
        for key in ["input", "columns", "promise", "method", "release"] {
            top.take(key);
        }
        top.done()?;

        let input = InputSpec::read(&mut top.need("input")?.section()?)?;
        let columns = ColumnSpec::all(&top.need("columns")?.section()?)?;
        let promises = PromiseSpec::all(&top.need("promise")?.section()?)?;
        let mut methods = match top.take("method") {
            Some(item) if item.is_list() => {
                let items = item.list("a table, or a list of tables")?;
                items.iter().map(MethodSpec::read).collect::<Result<Vec<_>>>()?
            }
            Some(item) => vec![MethodSpec::read(&item)?],
            None => Vec::new(),
        };
        let more_methods = methods.split_off(methods.len().min(1));
        let method = methods.pop().unwrap_or_default();
        let release = match top.take("release") {
            Some(item) => ReleaseSpec::read(&mut item.section()?)?,
            None => ReleaseSpec::default(),
        };
        let file = file.to_owned();
        Ok(Self {
            file,
            typed,
            input,
            columns,
            promises,
            method,
            more_methods,
            release,
            beside: Vec::new(),
        })
    }

    /// Gives an error its place in the recipe.
    pub fn error_at(&self, spot: Spot, error: Error) -> Error {
        match self.typed {
            true => error.at(&*self.file, spot.line, spot.column),
            false => error.in_file(&*self.file),
        }
    }

    /// The promise about presence, if there is one.
    pub(super) fn presence(&self) -> Option<Presence> {
        self.promises.iter().find_map(|promise| match promise.kind {
            PromiseKind::DeltaPresence { presence, shift } => {
                Some(Presence { promise: presence, shift, spot: promise.spot })
            }
            _ => None,
        })
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&ColumnSpec> {
        self.columns.iter().find(|column| column.name == name)
    }
}

impl InputSpec {
    fn read(section: &mut Section<'_>) -> Result<Self> {
        let population = section.take("population");
        let key = section.take("key");
        let person = section.take("person");
        let missing = section.take("missing");
        let (options, population_options) = options(section, population.is_some())?;
        let password_file = section.take("password-file");
        let table = section.need("table")?;
        section.done()?;
        let key_item = key.clone();
        let key = match key {
            Some(item) if item.value.get_ref().is_str() => {
                vec![item.string()?.to_owned()]
            }
            Some(item) if !item.value.get_ref().is_array() => {
                return Err(item.mistyped("a string or a list of strings"));
            }
            Some(item) => item.strings()?,
            None => Vec::new(),
        };
        let text = |item: Item<'_>| item.string().map(str::to_owned);
        Ok(Self {
            table_spot: table.spot(),
            population_spot: population.as_ref().or(key_item.as_ref()).map(Item::spot),
            table: text(table)?,
            population: population.map(text).transpose()?,
            person: person
                .map(|item| Ok((item.string()?.to_owned(), item.spot())))
                .transpose()?,
            key,
            missing: missing.map_or(Ok(vec![String::new()]), |item| item.strings())?,
            options,
            population_options,
            password_file: password_file
                .map(|item| Ok((item.string()?.to_owned(), item.spot())))
                .transpose()?,
        })
    }

    /// Opens the table.
    pub(super) fn open_table(&self, inputs: &Inputs) -> Result<table::Source> {
        inputs.source(&self.table, &self.with_password(&self.options, inputs)?)
    }

    /// Opens the table of everyone, if there is one.
    pub(super) fn open_population(
        &self,
        inputs: &Inputs,
    ) -> Result<Option<table::Source>> {
        let Some(population) = &self.population else { return Ok(None) };
        let mut options = self.population_options.clone();
        if table::is_server(population) {
            options = self.with_password(&options, inputs)?;
        }
        inputs.source(population, &options).map(Some)
    }

    fn with_password(
        &self,
        options: &ReadOptions,
        inputs: &Inputs,
    ) -> Result<ReadOptions> {
        let mut options = options.clone();
        if let Some((file, _)) = &self.password_file {
            options.password = Some(inputs.password(file)?);
        }
        Ok(options)
    }
}

/// How table and population are read: what is said of text files holds of both.
fn options(
    section: &mut Section<'_>,
    has_population: bool,
) -> Result<(ReadOptions, ReadOptions)> {
    let text = |item: Option<Item<'_>>| {
        item.map(|item| item.string().map(str::to_owned)).transpose()
    };
    let delimiter = section.take("delimiter").map(|item| byte(&item)).transpose()?;
    let encoding = section.take("encoding");
    if let Some(item) = &encoding {
        table::check_encoding(item.string()?).map_err(|error| item.at(error))?;
    }
    let (decimal, thousands) = (section.take("decimal"), section.take("thousands"));
    let notation = table::Notation::new(
        decimal.as_ref().map(Item::string).transpose()?,
        thousands.as_ref().map(Item::string).transpose()?,
    );
    let notation =
        notation.map_err(|error| match thousands.as_ref().or(decimal.as_ref()) {
            Some(item) => item.at(error),
            None => error,
        })?;
    let of_text = ReadOptions {
        delimiter,
        encoding: text(encoding)?,
        notation,
        ..ReadOptions::default()
    };
    let own = ReadOptions {
        sheet: text(section.take("sheet"))?,
        query: text(section.take("query"))?,
        shared: has_population,
        ..of_text.clone()
    };
    let population = ReadOptions {
        sheet: text(section.take("population-sheet"))?,
        query: text(section.take("population-query"))?,
        shared: true,
        ..of_text
    };
    Ok((own, population))
}

/// One character that may stand between cells.
fn byte(item: &Item<'_>) -> Result<u8> {
    match item.string()?.as_bytes() {
        b"tab" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
        _ => Err(item.mistyped("one ASCII character or \"tab\"")),
    }
}

/// A text as TOML has it, which is as JSON has it but for one character.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// A value as TOML has it in one line. What is null is not there.
fn inline(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(inline).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| format!("{} = {}", quoted(key), inline(value)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

/// What the TOML parser says, in one line.
fn syntax(source: Source<'_>, error: &toml::de::Error) -> Error {
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    let span = error.span().unwrap_or(0..0);
    let error = source.error(&span, format!("not valid TOML: {message}"));
    let is_table = [".csv", ".tsv", ".parquet", ".arrow", ".xlsx", ".gz", ".zst"]
        .iter()
        .any(|end| source.file.ends_with(end));
    if is_table {
        return error.with_hint(format!(
            "this looks like a table; `scumble inspect {} --recipe recipe.toml` proposes a \
             recipe for it",
            source.file
        ));
    }
    if message.contains("duplicate key") {
        return error.with_hint(
            "everything is said once: a promise of several columns lists them, `columns = [...]`",
        );
    }
    if message.contains("key with no value") {
        return error
            .with_hint("names with spaces or dots need quotes, as in \"birth date\"");
    }
    error
}
