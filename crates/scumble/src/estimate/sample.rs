//! One reconstruction of the whole table.

use crate::error::{Error, Result};
use crate::estimate::evidence::{Evidence, Nature};

/// An ordinary table drawn from a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// The columns, all equally long.
    pub columns: Vec<DrawnColumn>,
}

/// A column of a drawn table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnColumn {
    /// Its name.
    pub name: String,
    /// Its values.
    pub texts: Vec<Box<str>>,
    /// The value of each row.
    pub codes: Vec<u32>,
}

impl Evidence {
    /// One reconstruction of the whole table.
    pub fn draw(&self, _seed: u64) -> Result<Drawn> {
        let untouched = self.columns.iter().all(|c| c.nature == Nature::Untouched);
        if !untouched || self.stands_for.is_some() || self.blurred.is_some() {
            return Err(Error::input("not yet"));
        }
        let columns = self.columns.iter().map(|column| {
            let each = column.codes.iter().zip(&self.rows);
            DrawnColumn {
                name: column.name.clone(),
                texts: column.texts.clone(),
                codes: each
                    .flat_map(|(code, rows)| std::iter::repeat_n(*code, *rows as usize))
                    .collect(),
            }
        });
        Ok(Drawn { columns: columns.collect() })
    }
}
