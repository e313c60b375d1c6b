//! Promises about the values of groups: of rows with the same cells where a column stands in
//! the rows, of its buckets where it stands apart.

use rayon::prelude::*;

use crate::audit::apart::values::ApartValues;
use crate::audit::cells::classes::{CellClasses, ValueColumn};
use crate::audit::checks::k_anonymity::without_quasi;
use crate::audit::checks::l_diversity::Diversity;
use crate::audit::checks::measure::{Finding, Values, closeness, diversity};
use crate::audit::checks::t_closeness::Distance;
use crate::audit::checks::{columns_of, says_nothing};
use crate::audit::views::Views;
use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::release::{PromiseNote, Treatment};
use crate::table::{Code, Histogram, Role};
use crate::watch::Watch;

/// What is asked of the values of a group.
#[derive(Debug, Clone, Copy)]
pub(super) enum AskedOfValues {
    /// Diverse values.
    Diversity(Diversity),
    /// Values spread as in the whole release.
    Closeness(Decimal, Distance),
}

/// What was measured over all groups.
#[derive(Debug)]
pub(super) struct MeasuredValues {
    /// The measure of the worst group, turned so that larger is worse.
    pub(super) worst: f64,
    /// The largest share of a value in a group, where values stand apart.
    pub(super) share: Option<f64>,
    /// Rows in groups that fail.
    pub(super) at_risk: u64,
}

/// The columns of a promise, by where their values are.
#[derive(Debug)]
pub(super) struct PromisedValues<'a> {
    promise: &'a PromiseNote,
    /// Those that stand in the rows, by place among the classes' sensitive columns.
    in_rows: Option<(&'a CellClasses, Vec<usize>)>,
    /// The one that stands apart.
    apart: Option<&'a ApartValues>,
    watch: &'a dyn Watch,
}

impl<'a> PromisedValues<'a> {
    /// Fails if the values of a column are not shown by group.
    pub(super) fn of(promise: &'a PromiseNote, views: &'a Views<'_>) -> Result<Self> {
        let mut columns = columns_of(promise, views.manifest)?;
        columns.retain(|column| column.role == Role::Sensitive);
        let (mut kept, mut apart) = (Vec::new(), None);
        for column in columns {
            match &column.treatment {
                Treatment::Kept => kept.push(&*column.name),
                Treatment::Apart => apart = views.apart()?,
                Treatment::Coarse { .. }
                | Treatment::Weighted
                | Treatment::Drawn { .. }
                | Treatment::Noisy { .. }
                | Treatment::Redrawn => return Err(says_nothing(promise, views)),
            }
        }
        let mut in_rows = None;
        if !kept.is_empty() || apart.is_none() {
            let classes = views.cells()?.ok_or_else(|| says_nothing(promise, views))?;
            if classes.quasi.is_empty() {
                return Err(without_quasi(promise));
            }
            let is_kept =
                |place: &usize| kept.contains(&&*classes.sensitive[*place].name);
            let places: Vec<usize> =
                (0..classes.sensitive.len()).filter(is_kept).collect();
            if places.is_empty() {
                return Err(Error::input(format!(
                    "the manifest promises {} without a sensitive column",
                    promise.name
                )));
            }
            in_rows = Some((classes, places));
        }
        Ok(Self { promise, in_rows, apart, watch: views.watch })
    }

    /// Measures every column in every group.
    pub(super) fn measure(&self, asked: AskedOfValues) -> Result<MeasuredValues> {
        let mut all =
            MeasuredValues { worst: f64::NEG_INFINITY, share: None, at_risk: 0 };
        if let Some(values) = self.apart {
            check_hierarchy(self.promise, asked, &values.column)?;
            let (worst, share, at_risk) = in_groups(asked, values, self.watch);
            all = MeasuredValues { worst, share: Some(share), at_risk };
        }
        if let Some((classes, places)) = &self.in_rows {
            for place in places {
                check_hierarchy(self.promise, asked, &classes.sensitive[*place])?;
            }
            let (worst, at_risk) = in_classes(asked, classes, places, self.watch);
            all.worst = all.worst.max(worst);
            all.at_risk = all.at_risk.max(at_risk);
        }
        self.watch.check()?;
        Ok(all)
    }
}

fn check_hierarchy(
    promise: &PromiseNote,
    asked: AskedOfValues,
    column: &ValueColumn,
) -> Result<()> {
    match asked {
        AskedOfValues::Closeness(_, Distance::Hierarchical) if column.lost => {
            Err(Error::input(format!(
                "{} of column `{}` cannot be rechecked: the leaves of its hierarchy are not \
                 written as YYYY-MM-DD",
                promise.name, column.name
            )))
        }
        _ => Ok(()),
    }
}

impl AskedOfValues {
    fn judge(self, values: &Values<'_>) -> Finding {
        match self {
            Self::Diversity(asked) => diversity(values.group, asked),
            Self::Closeness(t, distance) => closeness(values, t, distance),
        }
    }
}

/// The worst finding over classes of cells, and the rows of those that fail: for each class
/// the worst of its columns.
fn in_classes(
    asked: AskedOfValues,
    classes: &CellClasses,
    places: &[usize],
    watch: &dyn Watch,
) -> (f64, u64) {
    let wholes: Vec<Histogram> =
        places.iter().map(|place| classes.whole(*place)).collect();
    let start = || -> Vec<Histogram> {
        places.iter().map(|place| classes.histogram(*place)).collect()
    };
    (0..classes.n_groups())
        .into_par_iter()
        .with_min_len(256)
        .map_init(start, |groups, class| {
            let mut found = Finding::NOTHING;
            if watch.is_cancelled() {
                return (found.risk, 0);
            }
            for ((group, whole), place) in groups.iter_mut().zip(&wholes).zip(places) {
                group.clear();
                classes.add_to(class, *place, group);
                let hierarchy = classes.sensitive[*place].hierarchy.as_ref();
                found = found.worse(asked.judge(&Values { group, whole, hierarchy }));
            }
            (found.risk, if found.holds { 0 } else { classes.sizes[class] })
        })
        .reduce(|| (f64::NEG_INFINITY, 0), |a, b| (a.0.max(b.0), a.1 + b.1))
}

/// The worst finding over groups of values, the largest share, and the rows of groups that
/// fail.
fn in_groups(
    asked: AskedOfValues,
    values: &ApartValues,
    watch: &dyn Watch,
) -> (f64, f64, u64) {
    let (groups, whole) = (&values.groups, values.whole());
    let hierarchy = values.column.hierarchy.as_ref();
    let judge = |group: &mut Histogram, place: usize| {
        if watch.is_cancelled() {
            return (0.0, 0.0, 0);
        }
        group.clear();
        groups
            .values(place)
            .iter()
            .for_each(|(code, n)| group.add(Code::new(*code), *n));
        let mut found = asked.judge(&Values { group, whole: &whole, hierarchy });
        let (most, size) = (groups.most(place), groups.size(place));
        if let AskedOfValues::Diversity(diversity) = asked {
            let parts = u128::from(diversity.parts());
            found.holds &= u128::from(most) * parts <= u128::from(size);
        }
        let rows = if found.holds { 0 } else { size };
        (found.risk, most as f64 / size.max(1) as f64, rows)
    };
    (0..groups.len())
        .into_par_iter()
        .with_min_len(256)
        .map_init(|| Histogram::new(values.column.domain.len()), judge)
        .reduce(
            || (f64::NEG_INFINITY, 0.0, 0),
            |a, b| (a.0.max(b.0), a.1.max(b.1), a.2 + b.2),
        )
}
