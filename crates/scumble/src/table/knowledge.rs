//! Knowledge of how sensitive values depend on other columns, as a file states it.
//!
//! The file is CSV. Its last two columns are a value and its probability; the columns before
//! are quasi columns, and their cells say whom the line is about. A cell with nothing in it
//! says nothing: so one file can speak of several sets of columns. Texts are taken as they
//! stand, blanks around them included, as in tables and hierarchies.

use std::collections::BTreeMap;
use std::path::Path;

use hashbrown::HashSet;

use crate::error::{Error, Result};

/// What is known, for each set of columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Stated {
    /// The sets, each once, in the order of the files.
    pub sets: Vec<StatedSet>,
    /// What the files call their columns of values.
    pub value_columns: Vec<String>,
    /// Where each value is named first: the file, and the line. What a file says may come
    /// from a table, so messages have this instead of the value.
    pub places: BTreeMap<String, (String, usize)>,
}

/// What is known of people by their values in some columns.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedSet {
    /// The columns, in the order of the file.
    pub columns: Vec<String>,
    /// For each combination of their values: sensitive values, each once, and their
    /// probabilities, which add up to at most 1. What is missing to 1 is spread evenly over
    /// the values of the table that are not listed.
    pub signatures: BTreeMap<Vec<String>, Vec<(String, f64)>>,
}

/// Probabilities that were rounded may add up to a little more than 1.
const ROUNDING: f64 = 1e-6;

/// The name of the last column.
const PROBABILITY: &str = "probability";

impl Stated {
    /// Reads one or more files.
    pub fn read(paths: &[&Path]) -> Result<Self> {
        let files = paths.iter().map(|path| {
            let name = path.display().to_string();
            match std::fs::read(path) {
                Ok(bytes) => Ok((name, bytes)),
                Err(error) => Err(Error::io("read what is known", name, error)),
            }
        });
        Self::parse_all(&files.collect::<Result<Vec<_>>>()?)
    }

    /// The same from memory; each has the name that messages call it.
    pub fn parse_all(files: &[(String, Vec<u8>)]) -> Result<Self> {
        let mut stated = Self {
            sets: Vec::new(),
            value_columns: Vec::new(),
            places: BTreeMap::new(),
        };
        let mut seen = HashSet::new();
        for (name, bytes) in files {
            stated.add(bytes, name, &mut seen)?;
        }
        Ok(stated)
    }

    /// The same of one file in memory.
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self> {
        Self::parse_all(&[(name.to_owned(), bytes.to_vec())])
    }

    /// The set of these columns, in any order.
    pub fn set(&self, columns: &[&str]) -> Option<&StatedSet> {
        self.sets.iter().find(|set| {
            set.columns.len() == columns.len()
                && set.columns.iter().all(|name| columns.contains(&name.as_str()))
        })
    }

    /// `seen` has what lines are about.
    fn add(
        &mut self,
        bytes: &[u8],
        name: &str,
        seen: &mut HashSet<Vec<String>>,
    ) -> Result<()> {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let mut reader =
            csv::ReaderBuilder::new().delimiter(delimiter(bytes)).from_reader(bytes);
        let fault = |error: csv::Error| {
            let line = error.position().map_or(1, csv::Position::line);
            Error::input("the line does not have as many cells as the header")
                .at(name, line as usize, 1)
                .with_hint("a cell with a comma stands in double quotes")
        };
        let header = reader.headers().map_err(fault)?.clone();
        let n_columns = header.len().saturating_sub(2);
        if n_columns == 0 || header.get(n_columns + 1) != Some(PROBABILITY) {
            let error = format!(
                "the file must have columns of the table, then a value and its \
                 `{PROBABILITY}`"
            );
            return Err(Error::input(error)
                .at(name, 1, 1)
                .with_hint("as in `sex,disease,probability`, without blanks"));
        }
        for (place, column) in header.iter().take(n_columns).enumerate() {
            if header.iter().take(place).any(|other| other == column) {
                let error = format!("the column `{column}` is there twice");
                return Err(Error::input(error).at(name, 1, 1));
            }
        }
        let value_column = header.get(n_columns).unwrap_or_default();
        if !self.value_columns.iter().any(|known| known == value_column) {
            self.value_columns.push(value_column.to_owned());
        }
        let mut n_lines = 0;
        for record in reader.records() {
            let record = record.map_err(fault)?;
            let line = record.position().map_or(1, csv::Position::line) as usize;
            let at = |error: Error| error.at(name, line, 1);
            n_lines += 1;
            let cells = header.iter().zip(record.iter()).take(n_columns);
            let stated: Vec<(&str, &str)> =
                cells.filter(|(_, cell)| !cell.is_empty()).collect();
            if stated.is_empty() {
                let error = Error::input("the line does not say whom it is about");
                return Err(at(error));
            }
            let text = record.get(n_columns + 1).unwrap_or_default().trim();
            let probability = text
                .parse()
                .ok()
                .filter(|share: &f64| (0.0..=1.0).contains(share))
                .ok_or_else(|| {
                    at(Error::input(format!(
                        "the `{PROBABILITY}` is not a number from 0 to 1"
                    ))
                    .with_hint("7 % is 0.07, with a point"))
                })?;
            let value = record.get(n_columns).unwrap_or_default().to_owned();
            let about = stated.iter().flat_map(|(column, cell)| [*column, *cell]);
            let about = about.chain([&*value]).map(str::to_owned).collect();
            if !seen.insert(about) {
                let error =
                    Error::input("two lines are about the same people and value");
                return Err(at(error));
            }
            let place = (name.to_owned(), line);
            self.places.entry(value.clone()).or_insert(place);
            let known = self.signature(&stated);
            known.push((value, probability));
            if known.iter().map(|(_, share)| share).sum::<f64>() > 1.0 + ROUNDING {
                let error = "what is known of these people adds up to more than 1";
                return Err(at(Error::input(error)));
            }
        }
        if n_lines == 0 {
            return Err(Error::input("nothing is known: there is only a header")
                .in_file(name.to_owned()));
        }
        Ok(())
    }

    /// The values of the people with these cells.
    fn signature(&mut self, stated: &[(&str, &str)]) -> &mut Vec<(String, f64)> {
        let columns = stated.iter().map(|(column, _)| *column);
        let known =
            self.sets.iter().position(|set| columns.clone().eq(set.columns.iter()));
        let place = known.unwrap_or_else(|| {
            self.sets.push(StatedSet {
                columns: columns.map(str::to_owned).collect(),
                signatures: BTreeMap::new(),
            });
            self.sets.len() - 1
        });
        let cells = stated.iter().map(|(_, cell)| (*cell).to_owned()).collect();
        self.sets[place].signatures.entry(cells).or_default()
    }
}

/// What stands between the cells of the header.
fn delimiter(bytes: &[u8]) -> u8 {
    let header = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let count = |wanted: u8| header.iter().filter(|byte| **byte == wanted).count();
    let found = [b',', b';', b'\t'].into_iter().rev().max_by_key(|byte| count(*byte));
    found.unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Stated::parse(text.as_bytes(), "known.csv").unwrap_err().to_string()
    }

    #[test]
    fn one_file_speaks_of_several_sets_of_columns() {
        let text = "sex,age,disease,probability\n\
                    Male,,Lung Cancer,0.1\nFemale,,Lung Cancer,0.003\n\
                    Male,41,\"Flu, mild\",1e-2\n";
        let stated = Stated::parse(text.as_bytes(), "known.csv").unwrap();
        assert_eq!(stated.sets.len(), 2);
        let sex = stated.set(&["sex"]).unwrap();
        assert_eq!(
            sex.signatures[&vec!["Female".to_owned()]],
            [("Lung Cancer".to_owned(), 0.003)]
        );
        let both = stated.set(&["age", "sex"]).unwrap();
        let key = vec!["Male".to_owned(), "41".to_owned()];
        assert_eq!(both.signatures[&key], [("Flu, mild".to_owned(), 0.01)]);
        assert!(stated.set(&["age"]).is_none());
    }

    #[test]
    fn blanks_around_a_text_are_part_of_it() {
        let text = "sex,x,probability\n M,a ,0.5\nM,a, 0.25 \n";
        let stated = Stated::parse(text.as_bytes(), "known.csv").unwrap();
        let sex = &stated.set(&["sex"]).unwrap().signatures;
        assert_eq!(sex[&vec![" M".to_owned()]], [("a ".to_owned(), 0.5)]);
        assert_eq!(sex[&vec!["M".to_owned()]], [("a".to_owned(), 0.25)]);
        assert_eq!(stated.places["a"], ("known.csv".to_owned(), 3));
    }

    #[test]
    fn what_cannot_be_known_is_refused_with_its_place() {
        for (text, expected) in [
            (
                "sex,probability\n",
                "known.csv:1:1: the file must have columns of the table",
            ),
            (
                "sex,sex,x,probability\n",
                "known.csv:1:1: the column `sex` is there twice",
            ),
            ("sex,x,probability\n", "known.csv: nothing is known"),
            (
                "sex,x,probability\nM,a,1.5\n",
                "known.csv:2:1: the `probability` is not a number from 0 to 1",
            ),
            (
                "sex,x,probability\nM,a,NaN\n",
                "known.csv:2:1: the `probability` is not a number from 0 to 1",
            ),
            (
                "sex,x,probability\n,a,0.5\n",
                "known.csv:2:1: the line does not say whom",
            ),
            ("sex,x,probability\nM,a,0.5\nM,a,0.1\n", "known.csv:3:1: two lines are"),
            (
                "sex,x,probability\nM,a,0.5\nM,b,0.6\n",
                "known.csv:3:1: what is known of these people adds up to more than 1",
            ),
            ("sex,x,probability\nM,a\n", "known.csv:2:1: the line does not have"),
        ] {
            assert!(message(text).starts_with(expected), "{}", message(text));
        }
    }
}
