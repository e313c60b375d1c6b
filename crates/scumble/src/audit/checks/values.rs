//! Promises about the values of groups: of rows with the same cells where a column stands in
//! the rows, of its buckets where it stands apart.

use crate::audit::Case;
use crate::audit::checks::k_anonymity::without_quasi;
use crate::audit::checks::l_diversity::Diversity;
use crate::audit::checks::measure::{ComparedValues, Finding, closeness, diversity};
use crate::audit::checks::t_closeness::Distance;
use crate::audit::checks::{columns_of, says_nothing};
use crate::audit::grouped::{GroupedValues, largest_share, most};
use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::release::{PromiseNote, Treatment};
use crate::table::{Histogram, Role};

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
    in_rows: Vec<GroupedValues<'a>>,
    apart: Vec<GroupedValues<'a>>,
}

impl<'a> PromisedValues<'a> {
    /// Fails if the values of a column are not shown by group.
    pub(super) fn of(promise: &'a PromiseNote, case: &'a Case<'_>) -> Result<Self> {
        let mut columns = columns_of(promise, case.manifest)?;
        columns.retain(|column| column.role == Role::Sensitive);
        let (mut kept, mut apart, mut in_rows) = (Vec::new(), Vec::new(), Vec::new());
        for column in columns {
            match &column.treatment {
                Treatment::Kept => kept.push(&*column.name),
                Treatment::Apart => {
                    apart.extend(case.views.apart()?.map(GroupedValues::Apart));
                }
                Treatment::Coarse { .. }
                | Treatment::Weighted
                | Treatment::Drawn { .. }
                | Treatment::Noisy { .. }
                | Treatment::Redrawn => return Err(says_nothing(promise, case)),
            }
        }
        if !kept.is_empty() || apart.is_empty() {
            let classes =
                case.views.cells()?.ok_or_else(|| says_nothing(promise, case))?;
            if classes.quasi.is_empty() {
                return Err(without_quasi(promise));
            }
            match case.group_people()? {
                None => in_rows.extend(classes.columns()),
                Some(people) => {
                    let places = 0..classes.sensitive.len();
                    in_rows.extend(
                        places.map(|at| GroupedValues::OfPeople(classes, people, at)),
                    );
                }
            }
            in_rows.retain(|values| kept.contains(&&*values.column().name));
            if in_rows.is_empty() {
                return Err(Error::input(format!(
                    "the manifest promises {} without a sensitive column",
                    promise.name
                )));
            }
        }
        Ok(Self { promise, in_rows, apart })
    }

    /// Measures every column in every group.
    pub(super) fn measure(
        &self,
        asked: AskedOfValues,
        case: &Case<'_>,
    ) -> Result<MeasuredValues> {
        let mut all =
            MeasuredValues { worst: f64::NEG_INFINITY, share: None, at_risk: 0 };
        for columns in [&self.apart, &self.in_rows] {
            let mut found: Vec<Finding> = Vec::new();
            for values in columns {
                self.check_hierarchy(asked, *values)?;
                let more = asked.judge(*values, case);
                found.resize(more.len(), Finding::NOTHING);
                for (found, more) in found.iter_mut().zip(more) {
                    *found = found.worse(more);
                }
            }
            let worst = found.iter().map(|group| group.risk);
            all.worst = worst.fold(all.worst, f64::max);
            let failing = found.iter().filter(|group| !group.holds);
            all.at_risk = all.at_risk.max(failing.map(|group| group.rows).sum());
        }
        if let Some(values) = self.apart.first() {
            all.share =
                Some(values.each(largest_share).into_iter().fold(0.0, f64::max));
        }
        case.watch.check()?;
        Ok(all)
    }

    fn check_hierarchy(
        &self,
        asked: AskedOfValues,
        values: GroupedValues<'_>,
    ) -> Result<()> {
        match asked {
            AskedOfValues::Closeness(_, Distance::Hierarchical)
                if values.column().lost =>
            {
                Err(Error::input(format!(
                    "{} of column `{}` cannot be rechecked: the leaves of its hierarchy are \
                     not written as YYYY-MM-DD",
                    self.promise.name,
                    values.column().name
                )))
            }
            _ => Ok(()),
        }
    }
}

impl AskedOfValues {
    /// What is found in each group of a column.
    fn judge(self, values: GroupedValues<'_>, case: &Case<'_>) -> Vec<Finding> {
        let (whole, hierarchy) = (&values.whole(), values.column().hierarchy.as_ref());
        values.each(|group: &Histogram| match self {
            _ if case.watch.is_cancelled() => Finding::NOTHING,
            Self::Closeness(t, distance) => {
                closeness(&ComparedValues { group, whole, hierarchy }, t, distance)
            }
            Self::Diversity(asked) => {
                let mut found = diversity(group, asked);
                if let GroupedValues::Apart(_) = values {
                    let even = u128::from(most(group)) * u128::from(asked.parts());
                    found.holds &= even <= u128::from(group.total());
                }
                found
            }
        })
    }
}
