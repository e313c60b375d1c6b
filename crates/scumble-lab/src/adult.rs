//! The Adult data: a population, private tables that are parts of it, and hierarchies.

use std::fs;
use std::path::{Path, PathBuf};

use scumble::error::{Error, Result};
use scumble::hierarchy::{ColumnSpec, Microdata, Population, Rule, Tree};
use scumble::table::{ReadOptions, Reading, Role, Source};
use scumble::watch::Unwatched;

use crate::Data;

/// The quasi columns of `nergiz2007presence`, in the order it names them.
pub(crate) const NINE: [&str; 9] = [
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
];

/// The column that says who earns much.
pub(crate) const CLASS: &str = "salary-class";

/// A part of the population, the private table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subset {
    /// Drawn uniformly.
    Random,
    /// Biased towards people who are likely to have diabetes.
    Diabetes,
}

impl Subset {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Diabetes => "diabetes",
        }
    }
}

/// The rows of Adult as text.
#[derive(Debug)]
pub(crate) struct Adult {
    folder: PathBuf,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Adult {
    /// Reads the population of a data folder.
    pub(crate) fn read(data: &Data) -> Result<Self> {
        let folder = data.folder()?.join("adult");
        let text = read_text(&folder.join("adult.csv"))?;
        let cells = |line: &str| line.split(',').map(str::to_owned).collect();
        let mut lines = text.lines().filter(|line| !line.is_empty()).map(cells);
        let header: Vec<String> = lines.next().unwrap_or_default();
        Ok(Self { folder, header, rows: lines.collect() })
    }

    /// The same people with ages in ten classes of equal width, as `nergiz2007pdf` has
    /// them; the text does not say where they end.
    pub(crate) fn with_age_classes(mut self) -> Result<Self> {
        let place = self.header.iter().position(|name| name == "age");
        let cells = self.rows.iter_mut().map(|row| row.get_mut(place?));
        for cell in cells {
            let age = cell.as_deref().and_then(|text| text.parse::<f64>().ok());
            match (cell, age) {
                (Some(cell), Some(age)) => {
                    AGES[age_class(age)].0.clone_into(cell);
                }
                _ => {
                    return Err(Error::input("a row has no age that is a number")
                        .in_file(self.folder.join("adult.csv").display().to_string()));
                }
            }
        }
        Ok(self)
    }

    /// The rows of a private table.
    pub(crate) fn subset(&self, subset: Subset) -> Result<Vec<usize>> {
        let path = self.folder.join(format!("subset_{}_1957.idx", subset.name()));
        let wrong = |line: usize| {
            Error::input(format!("not a row number below {}", self.rows.len())).at(
                path.display().to_string(),
                line,
                1,
            )
        };
        let text = read_text(&path)?;
        let lines = (1..).zip(text.lines());
        let rows = lines.map(|(line, text)| {
            let row = text.trim().parse::<usize>().ok();
            row.filter(|row| *row < self.rows.len()).ok_or_else(|| wrong(line))
        });
        rows.collect()
    }

    /// The text of some rows, or of all.
    pub(crate) fn text(&self, rows: Option<&[usize]>) -> String {
        let mut text = self.header.join(",") + "\n";
        let mut add = |row: &Vec<String>| text.push_str(&(row.join(",") + "\n"));
        match rows {
            Some(rows) => rows.iter().for_each(|row| add(&self.rows[*row])),
            None => self.rows.iter().for_each(add),
        }
        text
    }

    /// The table of some rows, or of all.
    pub(crate) fn source(&self, rows: Option<&[usize]>) -> Result<Source> {
        let text = self.text(rows).into_bytes();
        Source::from_bytes("adult.csv", text, &ReadOptions::default())
    }

    /// Quasi columns with the hierarchies of the data folder.
    pub(crate) fn specs(&self, quasi: &[&str]) -> Result<Vec<ColumnSpec>> {
        quasi.iter().map(|name| Ok(spec(name, Role::Quasi, self.tree(name)?))).collect()
    }

    /// The column of classes, which is published as it is.
    pub(crate) fn class_spec(&self) -> Result<ColumnSpec> {
        Ok(spec(CLASS, Role::Sensitive, self.tree(CLASS)?))
    }

    /// Age in classes.
    pub(crate) fn age_class_spec() -> Result<ColumnSpec> {
        let lines =
            AGES.map(|(class, pair, third)| format!("{class};{pair};{third};*\n"));
        let tree = Tree::parse(&lines.concat(), "age classes")?;
        Ok(spec("age", Role::Quasi, tree))
    }

    fn tree(&self, name: &str) -> Result<Tree> {
        Tree::read(&self.folder.join("hierarchies").join(format!("{name}.csv")))
    }

    /// Reads and counts a table.
    pub(crate) fn count(
        &self,
        rows: Option<&[usize]>,
        specs: &[ColumnSpec],
    ) -> Result<Microdata> {
        Microdata::read(&self.source(rows)?, specs, &Unwatched)
    }

    /// Reads and counts a private table among the tuples of the population.
    pub(crate) fn count_within(
        &self,
        rows: &[usize],
        specs: &[ColumnSpec],
    ) -> Result<Microdata> {
        let everyone = self.source(None)?;
        let population = Population { source: &everyone, key: &[] };
        let table = self.source(Some(rows))?;
        Microdata::read_within(&table, Some(population), specs, &Unwatched)
    }
}

/// Ten classes of ages from 17 to 90, 7.3 years wide; pairs of them, and thirds.
const AGES: [(&str, &str, &str); 10] = [
    ("17-24", "17-31", "17-46"),
    ("25-31", "17-31", "17-46"),
    ("32-38", "32-46", "17-46"),
    ("39-46", "32-46", "17-46"),
    ("47-53", "47-60", "47-75"),
    ("54-60", "47-60", "47-75"),
    ("61-68", "61-75", "47-75"),
    ("69-75", "61-75", "47-75"),
    ("76-82", "76-90", "76-90"),
    ("83-90", "76-90", "76-90"),
];

/// The place of an age among the ten classes.
pub(crate) fn age_class(age: f64) -> usize {
    ((age - 17.0) / 7.3).clamp(0.0, 9.0) as usize
}

fn spec(name: &str, role: Role, tree: Tree) -> ColumnSpec {
    ColumnSpec::new(name, role, Reading::category(), Rule::Tree(tree))
}

fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path)
        .map_err(|error| Error::io("read", path.display().to_string(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_fall_into_the_class_that_names_them() {
        for (place, (class, _, _)) in AGES.into_iter().enumerate() {
            let (low, high) = class.split_once('-').unwrap();
            assert_eq!(age_class(low.parse().unwrap()), place);
            assert_eq!(age_class(high.parse().unwrap()), place);
        }
        assert!(Adult::age_class_spec().is_ok());
    }
}
