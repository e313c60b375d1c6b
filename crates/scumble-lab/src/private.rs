//! A private table, alone and within its population, and ways to publish it.

use scumble::decimal::Decimal;
use scumble::error::{Error, ErrorKind, Result};
use scumble::hierarchy::{Cells, Column, ColumnSpec, Microdata};
use scumble::loss::{Loss, Shape};
use scumble::method::{
    ColumnChoice, FullDomain, Grouping, GroupingTask, Mondrian, ValueChoice,
};
use scumble::promise::{DeltaPresence, GroupPromise, Promises};
use scumble::table::Census;

use crate::adult::{Adult, Subset};
use crate::delta::Delta;

/// A private table.
#[derive(Debug)]
pub(crate) struct Private {
    /// Its own rows.
    pub(crate) alone: Microdata,
    /// Its rows among the tuples of the population.
    pub(crate) within: Microdata,
}

impl Private {
    pub(crate) fn read(
        adult: &Adult,
        subset: Subset,
        specs: &[ColumnSpec],
    ) -> Result<Self> {
        let rows = adult.subset(subset)?;
        let alone = adult.count(Some(&rows), specs)?;
        let within = adult.count_within(&rows, specs)?;
        Ok(Self { alone, within })
    }
}

/// How groups are made.
#[derive(Debug, Clone, Copy)]
pub(crate) enum How {
    /// The least-loss levels; under delta-presence this is SPALM.
    FullDomain(Loss),
    /// Cuts, and ranges as cells; under delta-presence this is MPALM.
    Mondrian(Mondrian),
}

impl How {
    /// Cuts by one of MPALM's strategies.
    pub(crate) const fn cuts(column: ColumnChoice, value: ValueChoice) -> Self {
        Self::Mondrian(Mondrian { column, value })
    }

    /// The quasi columns with the cells this makes.
    pub(crate) fn columns(self, data: &Microdata) -> Vec<Column> {
        let cells = match self {
            Self::FullDomain(_) => Cells::Taxonomy,
            Self::Mondrian(_) => Cells::Interval,
        };
        let columns = data.quasi.iter().cloned();
        columns.map(|column| Column { cells, ..column }).collect()
    }

    /// Groups of which `promise` holds.
    pub(crate) fn find(
        self,
        columns: &[Column],
        census: &Census,
        promise: Box<dyn GroupPromise>,
    ) -> Result<Grouping> {
        let promises = Promises::new(vec![promise]);
        let loss = match self {
            Self::FullDomain(loss) => loss,
            Self::Mondrian(_) => Loss::by_name("loss")?,
        };
        let task =
            GroupingTask { columns, census, promises: &promises, loss, limit: 0 };
        match self {
            Self::FullDomain(_) => Ok(FullDomain::default().find(&task)?.grouping),
            Self::Mondrian(mondrian) => mondrian.find(&task),
        }
    }

    /// Groups of the population that keep presence within `delta`; nothing if that cannot
    /// be done.
    pub(crate) fn hide(
        self,
        columns: &[Column],
        within: &Census,
        delta: Delta,
    ) -> Result<Option<Grouping>> {
        let min = Decimal::from_f64("min", delta.min)?;
        let max = Decimal::from_f64("max", delta.max)?;
        let promise = Box::new(DeltaPresence::new(min, max)?);
        match self.find(columns, within, promise) {
            Ok(grouping) => Ok(Some(grouping)),
            Err(error) if cannot_be_met(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// MPALM's nine strategies, by the names of the source.
pub(crate) const STRATEGIES: [(&str, How); 9] = [
    ("n1", N1),
    ("n2", N2),
    ("n3", How::cuts(ColumnChoice::Next, ValueChoice::BalancedValues)),
    ("p1", How::cuts(ColumnChoice::Priority, ValueChoice::Balanced)),
    ("p2", How::cuts(ColumnChoice::Priority, ValueChoice::First)),
    ("p3", How::cuts(ColumnChoice::Priority, ValueChoice::BalancedValues)),
    ("b1", How::cuts(ColumnChoice::Best, ValueChoice::Balanced)),
    ("b2", How::cuts(ColumnChoice::Best, ValueChoice::First)),
    ("b3", How::cuts(ColumnChoice::Best, ValueChoice::BalancedValues)),
];

/// Columns in turn, halves of equal size.
pub(crate) const N1: How = How::cuts(ColumnChoice::Next, ValueChoice::Balanced);

/// Columns in turn, the first cut that is allowed.
pub(crate) const N2: How = How::cuts(ColumnChoice::Next, ValueChoice::First);

/// That nothing keeps what is asked.
pub(crate) fn cannot_be_met(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unsatisfiable { .. })
}

/// What a release costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ReleaseCost {
    /// The loss metric, LM.
    pub(crate) loss: f64,
    /// The discernibility metric, DM.
    pub(crate) discernibility: f64,
    /// Groups that have rows.
    pub(crate) groups: u64,
}

impl ReleaseCost {
    pub(crate) fn of(columns: &[Column], shape: &Shape<'_>) -> Result<Self> {
        Ok(Self {
            loss: Loss::by_name("loss")?.of(columns, shape),
            discernibility: Loss::by_name("discernibility")?.of(columns, shape),
            groups: shape.groups.iter().filter(|(rows, _)| *rows > 0).count() as u64,
        })
    }
}

/// What hiding presence costs; nothing if it cannot be done.
pub(crate) fn hidden(
    how: How,
    private: &Private,
    delta: Delta,
) -> Result<Option<ReleaseCost>> {
    let columns = how.columns(&private.within);
    let census = &private.within.census;
    let grouping = how.hide(&columns, census, delta)?;
    grouping.map(|found| ReleaseCost::of(&columns, &found.shape(census))).transpose()
}
