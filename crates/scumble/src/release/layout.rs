//! What each column of the data holds, and what the classes of a release say together with
//! the treatments of their columns.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::release::{
    BlurNote, BlurredColumn, BucketsNote, Class, CondensedNote, Manifest, Parameters,
    PerturbationNote, PublishedColumn, Treatment, WeightsNote,
};

/// What a column of the data holds.
#[derive(Debug, Clone, Copy)]
pub enum DataColumn<'a> {
    /// The cells of a published column.
    Cells(&'a PublishedColumn),
    /// How wide the noise of a published column is.
    Spread(&'a PublishedColumn, &'a str),
    /// Which class a row is in.
    Class(&'a Class, &'a str),
    /// How many rows of the table a row stands for.
    Size(&'a str),
}

impl<'a> DataColumn<'a> {
    /// What it is called.
    pub fn name(self) -> &'a str {
        match self {
            Self::Cells(column) => &column.name,
            Self::Spread(_, name) | Self::Class(_, name) | Self::Size(name) => name,
        }
    }
}

/// What is published of which column, and what rows of the same class share.
#[derive(Debug, Clone, Copy)]
pub struct Layout<'a> {
    /// The published columns, in order.
    pub columns: &'a [PublishedColumn],
    /// What rows of the same class share.
    pub classes: &'a [Class],
    /// The column that tells how many rows each row stands for, if they are a sample.
    pub sampled: Option<&'a str>,
}

impl<'a> Layout<'a> {
    /// The columns of the data, in order: groups; published columns, each with its spread
    /// and the sub-table it ends; frame and level; how many rows a row stands for.
    pub fn data_columns(self) -> Vec<DataColumn<'a>> {
        fn named(class: &Class) -> Option<DataColumn<'_>> {
            class.column.as_deref().map(|name| DataColumn::Class(class, name))
        }
        let of_kind = |kind: fn(&Parameters) -> bool| {
            self.classes.iter().filter(move |c| kind(&c.parameters)).filter_map(named)
        };
        let mut columns: Vec<DataColumn<'a>> = Vec::new();
        // Several columns may be told by the same group, or each by one of its own.
        for group in of_kind(Parameters::is_of_groups) {
            if !columns.iter().any(|known| known.name() == group.name()) {
                columns.push(group);
            }
        }
        for column in self.columns {
            if column.treatment.is_in_rows() {
                columns.push(DataColumn::Cells(column));
            }
            if let Treatment::Noisy { spread: Some(name), .. } = &column.treatment {
                columns.push(DataColumn::Spread(column, name));
            }
            let ends = self.classes.iter().filter(|class| {
                matches!(class.parameters, Parameters::Subtables { .. })
                    && class.of.last() == Some(&column.name)
            });
            columns.extend(ends.filter_map(named));
        }
        columns.extend(of_kind(|p| matches!(p, Parameters::Frames { .. })));
        columns.extend(of_kind(|p| matches!(p, Parameters::Levels)));
        columns.extend(self.sampled.map(DataColumn::Size));
        columns
    }

    /// The names of the columns of the data, in order.
    pub fn header(self) -> Vec<&'a str> {
        self.data_columns().into_iter().map(DataColumn::name).collect()
    }

    /// The column of this name.
    pub fn column(self, name: &str) -> Option<&'a PublishedColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// What rows share of the column of this name.
    pub fn class(self, name: &str) -> Option<&'a Class> {
        self.classes.iter().find(|class| class.of.iter().any(|of| of == name))
    }
}

/// As many rows as floats count exactly: sums of them must not overflow.
const MOST_ROWS: u64 = 1 << 53;

impl Manifest {
    /// What is published of which column.
    pub fn layout(&self) -> Layout<'_> {
        let (columns, classes) = (&self.columns, &self.classes);
        Layout { columns, classes, sampled: self.sampled.as_deref() }
    }

    /// The names of the columns of the data, in order.
    pub fn header(&self) -> Vec<&str> {
        self.layout().header()
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&PublishedColumn> {
        self.layout().column(name)
    }

    /// Whether classes and treatments fit each other: every treatment that needs a class has
    /// one, every class is of columns that have its treatment, and no name is taken twice.
    pub(super) fn check(&self) -> Result<()> {
        let malformed = |what: String| {
            Err(Error::input(format!("the manifest is malformed: {what}"))
                .with_hint("the release was changed"))
        };
        if self.rows.max(self.left_out) > MOST_ROWS {
            return malformed("it counts more rows than a table can have".to_owned());
        }
        let mut covered: BTreeMap<&str, usize> = BTreeMap::new();
        for class in &self.classes {
            for name in &class.of {
                let Some(column) = self.column(name) else {
                    return malformed(format!(
                        "a class is of `{name}`, which is not a published column"
                    ));
                };
                if !class.parameters.suit(&column.treatment) {
                    return malformed(format!("`{name}` has a class of another kind"));
                }
                *covered.entry(name).or_default() +=
                    usize::from(class.parameters != Parameters::Levels);
            }
        }
        for column in &self.columns {
            let n_classes = covered.get(&*column.name).copied().unwrap_or(0);
            let needed = match column.treatment {
                Treatment::Kept | Treatment::Coarse { .. } => 0,
                Treatment::Weighted
                | Treatment::Drawn { .. }
                | Treatment::Noisy { .. }
                | Treatment::Apart
                | Treatment::Redrawn => 1,
            };
            if n_classes != needed {
                return malformed(format!(
                    "`{}` has {n_classes} classes, but needs {needed}",
                    column.name
                ));
            }
        }
        for name in self.shares.iter().flat_map(|note| &note.columns) {
            let column = self.column(name);
            let coarse =
                column.is_some_and(|c| matches!(c.treatment, Treatment::Coarse { .. }));
            if !coarse || self.sampled.is_some() {
                return malformed(format!("`{name}` has shares, but no cells"));
            }
        }
        match self.name_of_two() {
            Some(name) => malformed(format!("two columns are called `{name}`")),
            None => Ok(()),
        }
    }

    /// A name that two columns have, if any do.
    pub fn name_of_two(&self) -> Option<&str> {
        let mut names = self.header();
        let beside = self.columns.iter().filter(|c| !c.treatment.is_in_rows());
        names.extend(beside.map(|column| column.name.as_str()));
        names.sort_unstable();
        names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }

    /// Where distributions are and whose weights they have, if cells are distributions.
    pub fn weights(&self) -> Option<WeightsNote> {
        self.classes.iter().find_map(|class| match &class.parameters {
            Parameters::Cells { file, weights, table } => Some(WeightsNote {
                file: file.clone(),
                kind: weights.clone(),
                table: table.clone(),
            }),
            _ => None,
        })
    }

    /// How columns were randomized, those that were.
    pub fn perturbation(&self) -> Vec<PerturbationNote> {
        let note = |class: &Class| {
            let Parameters::Subtables { subtables } = &class.parameters else {
                return None;
            };
            let first = class.of.first().and_then(|name| self.column(name))?;
            let Treatment::Drawn { breaches, noise, .. } = &first.treatment else {
                return None;
            };
            let ranges = |name: &String| match &self.column(name)?.treatment {
                Treatment::Drawn { ranges, .. } => *ranges,
                _ => None,
            };
            Some(PerturbationNote {
                ranges: class.of.iter().map(ranges).collect(),
                columns: class.of.clone(),
                breaches: breaches.clone(),
                noise: noise.clone(),
                subtable_column: class.column.clone(),
                subtables: subtables.clone(),
            })
        };
        self.classes.iter().filter_map(note).collect()
    }

    /// Where values are that stand apart from the rows, of every column that does.
    pub fn buckets(&self) -> Vec<BucketsNote> {
        let note = |class: &Class| match (&class.parameters, &*class.of, &class.column)
        {
            (Parameters::Values { file, groups }, [column], Some(told_by)) => {
                Some(BucketsNote {
                    file: file.clone(),
                    column: column.clone(),
                    told_by: told_by.clone(),
                    groups: *groups,
                })
            }
            _ => None,
        };
        self.classes.iter().filter_map(note).collect()
    }

    /// How numbers were blurred, if they were.
    pub fn blur(&self) -> Option<BlurNote> {
        self.classes.iter().find_map(|class| {
            let Parameters::Frames { frame, strict, exact, best_guess, frames } =
                &class.parameters
            else {
                return None;
            };
            let first = class.of.first().and_then(|name| self.column(name))?;
            let Treatment::Noisy { shape, .. } = first.treatment else { return None };
            Some(BlurNote {
                shape,
                frame: *frame,
                strict: *strict,
                columns: self.numbers(class)?,
                exact: exact.clone(),
                best_guess: *best_guess,
                frames: frames.clone(),
            })
        })
    }

    /// How numbers were condensed, if they were.
    pub fn condensed(&self) -> Option<CondensedNote> {
        self.classes.iter().find_map(|class| match &class.parameters {
            Parameters::Moments { groups, exact } => Some(CondensedNote {
                groups: *groups,
                columns: self.numbers(class)?,
                exact: exact.clone(),
            }),
            _ => None,
        })
    }

    fn numbers(&self, class: &Class) -> Option<Vec<BlurredColumn>> {
        let column = |name: &String| {
            let column = self.column(name)?;
            let (decimals, domain) = (column.decimals?, column.span()?);
            Some(BlurredColumn { name: name.clone(), decimals, domain })
        };
        class.of.iter().map(column).collect()
    }
}
