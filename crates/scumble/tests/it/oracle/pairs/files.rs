//! What is in the files of a release, read as texts.

use std::collections::BTreeMap;
use std::fmt;

use scumble::Store;
use serde_json::Value;

use crate::builder::Record;
use crate::oracle::pairs::recipe::{Case, Person, VALUES, place_of};

/// The files of a release.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) rows: Vec<Record>,
    pub(super) manifest: Value,
    /// Those with values that stand apart, by name.
    apart: BTreeMap<String, Vec<Record>>,
}

fn records(store: &Store, name: &str) -> Vec<Record> {
    let bytes = store.read(name).unwrap();
    let mut reader = csv::Reader::from_reader(&*bytes);
    reader.deserialize().map(|record| record.unwrap()).collect()
}

impl Files {
    pub(super) fn read(store: &Store) -> Self {
        let names = store.files().unwrap();
        let apart = names.iter().filter(|name| name.starts_with("sensitive"));
        Self {
            rows: records(store, "data.csv"),
            manifest: serde_json::from_slice(&store.read("manifest.json").unwrap())
                .unwrap(),
            apart: apart.map(|name| (name.clone(), records(store, name))).collect(),
        }
    }

    /// The class of a column that has parameters of a kind.
    fn class(&self, column: &str, kind: &str) -> &Value {
        let classes = self.manifest["classes"].as_array().unwrap();
        let of = |class: &&Value| {
            let mut of = class["of"].as_array().unwrap().iter();
            class["parameters"]["kind"] == kind && of.any(|name| name == column)
        };
        classes
            .iter()
            .find(of)
            .unwrap_or_else(|| panic!("no {kind} of {column}: {self}"))
    }

    /// Columns of the data that say of whom a row may be, numbers with noise aside.
    pub(super) fn cell_columns(&self) -> Vec<&'static str> {
        let noisy = self.rows[0].contains_key("age.spread");
        if noisy { vec!["town"] } else { vec!["town", "age"] }
    }

    /// The cells of a row.
    pub(super) fn cells<'a>(&'a self, row: &'a Record) -> Vec<&'a str> {
        self.cell_columns().into_iter().map(|name| row[name].as_str()).collect()
    }

    /// The rows of each class of equal cells.
    pub(super) fn classes(&self) -> BTreeMap<Vec<&str>, Vec<usize>> {
        let mut classes: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
        for (place, row) in self.rows.iter().enumerate() {
            classes.entry(self.cells(row)).or_default().push(place);
        }
        classes
    }

    /// Whether cells may be those of a person.
    pub(super) fn fits(&self, cells: &[&str], person: &Person) -> bool {
        let own = |name: &str| match name {
            "town" => person.town.to_owned(),
            _ => person.age.to_string(),
        };
        cells
            .iter()
            .zip(self.cell_columns())
            .all(|(cell, name)| covers(cell, &own(name)))
    }

    /// The value of each row in a column that is in the rows.
    pub(super) fn values(&self, column: &str) -> Vec<usize> {
        self.rows.iter().map(|row| code(column, &row[column])).collect()
    }

    /// For each row, how often each value of a column that stands apart is in its group.
    pub(super) fn groups(&self, column: &str) -> Vec<(String, [u128; 3])> {
        let class = self.class(column, "values");
        let mut counts: BTreeMap<String, [u128; 3]> = BTreeMap::new();
        for line in &self.apart[class["parameters"]["file"].as_str().unwrap()] {
            let own = counts.entry(line["group"].clone()).or_default();
            own[code(column, &line["value"])] += line["count"].parse::<u128>().unwrap();
        }
        let told_by = class["column"].as_str().unwrap();
        let groups: Vec<(String, [u128; 3])> = self
            .rows
            .iter()
            .map(|row| (row[told_by].clone(), counts[&row[told_by]]))
            .collect();
        for (group, counts) in &counts {
            let rows = groups.iter().filter(|(own, _)| own == group).count();
            assert_eq!(counts.iter().sum::<u128>(), rows as u128, "{self}");
        }
        groups
    }

    /// By which chance each value (second) is published as each other one (first), times the
    /// same number for all; probabilities are multiples of 2^-40.
    pub(super) fn matrix(&self, column: &str) -> [[u128; 3]; 3] {
        let parameters = &self.class(column, "subtables")["parameters"];
        let [table] = &parameters["subtables"].as_array().unwrap()[..] else {
            panic!("one matrix: {self}")
        };
        let whole = 1u128 << 40;
        let scaled = |number: &Value| {
            let scaled = number.as_f64().unwrap() * whole as f64;
            assert!(scaled.fract() == 0.0 && scaled >= 0.0, "{number}");
            scaled as u128
        };
        let domain = table["domain"].as_array().unwrap().iter();
        let codes: Vec<usize> =
            domain.map(|value| code(column, value[0].as_str().unwrap())).collect();
        assert_eq!(codes.len(), 3, "the domain is public: {self}");
        let mut matrix = [[0; 3]; 3];
        for (j, to) in codes.iter().enumerate() {
            for (i, from) in codes.iter().enumerate() {
                let kept =
                    |keep: u128| (whole - keep) + if i == j { 3 * keep } else { 0 };
                matrix[*to][*from] = match table["operator"].as_str().unwrap() {
                    "uniform" => kept(scaled(&table["keep"])),
                    "fine-grain" => kept(scaled(&table["keep"][i])),
                    "general" => 3 * scaled(&table["matrix"][j][i]),
                    other => panic!("{other}"),
                };
            }
        }
        for from in 0..3 {
            let sum: u128 = matrix.iter().map(|to| to[from]).sum();
            assert_eq!(sum, 3 * whole, "{self}");
        }
        matrix
    }

    /// Where nothing of a matrix may follow from the table, that it is the same for all
    /// tables of a recipe.
    pub(super) fn same_noise(
        &self,
        case: &Case,
        known: &mut BTreeMap<String, [[u128; 3]; 3]>,
    ) {
        for column in ["illness", "ward"] {
            let public = case.recipe.contains("name = \"uniform-perturbation\"")
                && !case.recipe.contains("factor =");
            let drawn = case.recipe.contains(&format!("{column} = {{ role"));
            if drawn && public {
                let key = format!("{column} {}", case.recipe);
                let own = self.matrix(column);
                assert_eq!(*known.entry(key).or_insert(own), own, "{self}");
            }
        }
    }
}

/// The number of a value.
fn code(column: &str, text: &str) -> usize {
    VALUES[place_of(column)].iter().position(|value| *value == text).unwrap()
}

/// Whether a cell such as `*`, `a`, `{a, b}`, `[1, 3]` or `[2, 4)` stands for a value.
fn covers(cell: &str, value: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    let before = |one: &str, other: &str| match (number(one), number(other)) {
        (Some(one), Some(other)) => one <= other,
        _ => one <= other,
    };
    let inner =
        |open, close| cell.strip_prefix(open).and_then(|c| c.strip_suffix(close));
    let within = |inner: &str| {
        let (from, to) = inner.split_once(", ").unwrap();
        (before(from, value) && before(value, to), value == to)
    };
    if let Some(values) = inner('{', '}') {
        return values.split(", ").any(|known| known == value);
    }
    if let Some(ends) = inner('[', ']') {
        return within(ends).0;
    }
    if let Some(ends) = inner('[', ')') {
        let (inside, at_the_end) = within(ends);
        return inside && !at_the_end;
    }
    cell == "*" || cell == value
}

impl fmt::Display for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            writeln!(f, "{row:?}")?;
        }
        writeln!(f, "{:?}\n{}", self.apart, self.manifest["classes"])
    }
}
