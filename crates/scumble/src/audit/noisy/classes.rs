//! Which class of cells a row of the table was published in, where numbers are blurred beside
//! coarse cells.
//!
//! # Guarantee
//! Every row of the table fits exactly one class, or none; the class is found by what its
//! cells stand for, not by how the publisher grouped.

use hashbrown::HashMap;

use crate::audit::case::Linked;
use crate::audit::cells::{CellClasses, CellTexts, fitting};
use crate::audit::noisy::another_table;
use crate::error::{Error, Result};
use crate::release::Manifest;
use crate::table::{Code, Numbers};

/// The cells of every tuple of the table.
pub(crate) struct RowClasses<'a> {
    linked: &'a Linked<'a>,
    /// The names of the columns, as the tuples have them.
    names: Vec<&'a str>,
    /// For each tuple of codes its cells; nothing if no class fits.
    cells: HashMap<Vec<Code>, Option<Vec<Box<str>>>>,
}

/// The cells of a column, and which of them each class has.
type ClassTexts<'a> = (&'a [Box<str>], &'a [u32]);

impl<'a> RowClasses<'a> {
    /// Finds the class of every tuple.
    pub(crate) fn of(
        manifest: &'a Manifest,
        view: &CellClasses,
        linked: &'a Linked<'a>,
    ) -> Result<Self> {
        let (mut names, mut texts) = (Vec::new(), Vec::<ClassTexts<'_>>::new());
        for column in &view.quasi {
            let CellTexts::Texts(cells) = &column.cells else {
                return Err(Error::input(
                    "numbers with noise beside cells with weights, which this program does \
                     not know",
                ));
            };
            texts.push((cells, &column.of_group));
            names.push(&*manifest.columns[column.place].name);
        }
        let mut cells = HashMap::new();
        for (tuple, groups) in fitting(view, &linked.covers, &linked.known)? {
            let codes = linked.known.tuples.iter().map(|codes| codes[tuple as usize]);
            let group = match groups[..] {
                [] => None,
                [group] => Some(group as usize),
                _ => {
                    return Err(Error::input(
                        "company cannot be counted: rows of the table fit several groups",
                    )
                    .with_hint("`cells = \"interval\"` or `\"set\"` do not overlap"));
                }
            };
            let own = group.map(|group| {
                let own = texts.iter();
                own.map(|(cells, of)| cells[of[group] as usize].clone()).collect()
            });
            cells.insert(codes.collect(), own);
        }
        Ok(Self { linked, names, cells })
    }

    /// The same numbers, of rows with the cells that they were published with.
    pub(crate) fn applied(
        &self,
        numbers: &Numbers,
        exact: &[String],
    ) -> Result<Numbers> {
        let place = |name: &str| exact.iter().position(|known| known == name);
        let places: Option<Vec<usize>> = self.names.iter().map(|n| place(n)).collect();
        let places = places.filter(|places| places.len() == exact.len());
        let places = places.ok_or_else(another_table)?;
        let table = self.linked.table;
        let mut all = Vec::with_capacity(numbers.kind_cells.len());
        for values in &numbers.kind_cells {
            let code = |(at, name): (&usize, &&str)| {
                let own =
                    table.quasi.iter().position(|column| column.name == **name)?;
                let known = table.codes[own].get(&values[*at]).copied();
                known.or(table.quasi[own].domain.missing())
            };
            let codes: Option<Vec<Code>> =
                places.iter().zip(&self.names).map(code).collect();
            let known = codes.and_then(|codes| self.cells.get(&codes)?.as_ref());
            // Rows of no class were left out: their cells match nobody.
            let mut cells = values.clone();
            if let Some(known) = known {
                for (at, cell) in places.iter().zip(known) {
                    cells[*at] = cell.clone();
                }
            }
            all.push(cells);
        }
        let mut numbers = numbers.clone();
        let kinds = std::mem::take(&mut numbers.kinds);
        numbers.set_kinds(&kinds, &all);
        Ok(numbers)
    }
}
