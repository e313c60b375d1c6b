//! The values of a sensitive column by group: of rows with the same cells where the column
//! stands in the rows, of its buckets where it stands apart.

use rayon::prelude::*;

use crate::audit::apart::ApartValues;
use crate::audit::cells::{CellClasses, GroupPeople, ValueColumn};
use crate::audit::{AtRisk, RiskBands};
use crate::table::{Code, Histogram};

/// A sensitive column whose values are known by group.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GroupedValues<'a> {
    /// The one at a place among the sensitive columns of the classes.
    InRows(&'a CellClasses, usize),
    /// The same, of people.
    OfPeople(&'a CellClasses, &'a GroupPeople, usize),
    /// The one that stands apart.
    Apart(&'a ApartValues),
}

impl<'a> GroupedValues<'a> {
    /// The column.
    pub(crate) fn column(self) -> &'a ValueColumn {
        match self {
            Self::InRows(classes, place) | Self::OfPeople(classes, _, place) => {
                &classes.sensitive[place]
            }
            Self::Apart(values) => &values.column,
        }
    }

    /// How many groups there are.
    pub(crate) fn n_groups(self) -> usize {
        match self {
            Self::InRows(classes, _) | Self::OfPeople(classes, ..) => {
                classes.n_groups()
            }
            Self::Apart(values) => values.groups.len(),
        }
    }

    /// The values of all rows, or of everybody.
    pub(crate) fn whole(self) -> Histogram {
        if let Self::OfPeople(_, people, place) = self {
            return people.whole[place].clone();
        }
        let mut whole = Histogram::new(self.column().domain.len());
        (0..self.n_groups()).for_each(|group| self.add_to(group, &mut whole));
        whole
    }

    /// Adds the values of a group.
    fn add_to(self, group: usize, values: &mut Histogram) {
        match self {
            Self::InRows(classes, place) => classes.add_to(group, place, values),
            Self::OfPeople(_, people, place) => {
                let held = people.values[place][group].iter();
                held.for_each(|(code, n)| values.add(*code, *n));
            }
            Self::Apart(apart) => {
                let held = apart.groups.values(group).iter();
                held.for_each(|(code, n)| values.add(Code::new(*code), *n));
            }
        }
    }

    /// Looks at the values of each group, on all threads.
    pub(crate) fn each<T: Send>(self, look: impl Fn(&Histogram) -> T + Sync) -> Vec<T> {
        (0..self.n_groups())
            .into_par_iter()
            .with_min_len(256)
            .map_init(
                || Histogram::new(self.column().domain.len()),
                |values, group| {
                    values.clear();
                    self.add_to(group, values);
                    look(values)
                },
            )
            .collect()
    }

    /// How sure somebody can be of everybody's value who knows nothing but groups.
    pub(crate) fn risk(self) -> RiskBands {
        let mut risk = RiskBands::new(AtRisk::Value(self.column().name.clone()));
        for (share, rows) in self.each(|values| (largest_share(values), values.total()))
        {
            risk.add(share, rows);
        }
        risk
    }
}

/// The share of the commonest value.
pub(crate) fn largest_share(values: &Histogram) -> f64 {
    most(values) as f64 / values.total().max(1) as f64
}

/// How many rows have the commonest value.
pub(crate) fn most(values: &Histogram) -> u64 {
    values.present().map(|(_, n)| n).max().unwrap_or(0)
}
