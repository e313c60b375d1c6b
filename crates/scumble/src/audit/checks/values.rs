//! Promises about the values of groups: of rows with the same cells where a column stands in
//! the rows, of its buckets where it stands apart.

use crate::audit::Case;
use crate::audit::checks::k_anonymity::without_quasi;
use crate::audit::checks::{
    beta_likeness, columns_of, delta_disclosure, l_diversity, says_nothing,
    t_closeness, word,
};
use crate::audit::given::needs_original;
use crate::audit::grouped::{GroupedValues, largest_share};
use crate::error::{Error, Result};
use crate::hierarchy::Hierarchy;
use crate::release::{PromiseNote, Treatment};
use crate::table::{Code, Histogram, Role};

/// What is asked of the values of every group, column by column.
pub(crate) trait AskedOfValues: Send + Sync {
    /// What is found in a group.
    fn judge(&self, values: &ComparedValues<'_>) -> Finding;

    /// Whether values are compared along their hierarchy.
    fn needs_hierarchy(&self) -> bool {
        false
    }
}

/// What a promise asks of the values of groups; nothing if it is not about these.
pub(crate) fn asked_of_values(
    promise: &PromiseNote,
) -> Option<Result<Box<dyn AskedOfValues>>> {
    fn boxed<A: AskedOfValues + 'static>(
        asked: Result<A>,
    ) -> Result<Box<dyn AskedOfValues>> {
        asked.map(|asked| Box::new(asked) as Box<dyn AskedOfValues>)
    }
    Some(match &*promise.name {
        "l-diversity" => boxed(l_diversity::asked(promise)),
        "t-closeness" => boxed(t_closeness::asked(promise)),
        "beta-likeness" => boxed(beta_likeness::asked(promise)),
        "delta-disclosure" => boxed(delta_disclosure::asked(promise)),
        _ => return None,
    })
}

/// What was found in a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Finding {
    /// Whether it is enough.
    pub(crate) holds: bool,
    /// The measure, turned so that larger is worse.
    pub(crate) risk: f64,
    /// The rows of the group.
    pub(crate) rows: u64,
}

/// The values of a group and of the whole table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ComparedValues<'a> {
    pub(crate) group: &'a Histogram,
    pub(crate) whole: &'a Histogram,
    /// How they coarsen; nothing if only into one.
    pub(crate) hierarchy: Option<&'a Hierarchy>,
    /// Whether they stand apart from the rows.
    pub(crate) apart: bool,
}

impl Finding {
    /// Nothing looked at yet.
    pub(crate) const NOTHING: Self =
        Self { holds: true, risk: f64::NEG_INFINITY, rows: 0 };

    /// Both must hold.
    pub(crate) fn worse(self, other: Self) -> Self {
        let (holds, risk) = (self.holds && other.holds, self.risk.max(other.risk));
        Self { holds, risk, rows: self.rows.max(other.rows) }
    }
}

impl ComparedValues<'_> {
    /// By how much a value is commoner in the group, times the sizes of both.
    pub(super) fn excess(&self, code: Code) -> i128 {
        let here = i128::from(self.group.count(code)) * i128::from(self.whole.total());
        let all = i128::from(self.whole.count(code)) * i128::from(self.group.total());
        here - all
    }

    /// The sizes of both, multiplied.
    pub(super) fn unit(&self) -> u128 {
        (u128::from(self.group.total()) * u128::from(self.whole.total())).max(1)
    }
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
                    let all = case.views.apart()?.iter();
                    let own = all.filter(|values| values.column.name == column.name);
                    apart.extend(own.map(GroupedValues::Apart));
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
            // Only how many different values there are is the same of rows and people.
            let distinct = word(promise, "kind") == Some("distinct");
            if case.counted_word() == Some("rows") && !distinct {
                let what = format!("{} of people cannot be rechecked", promise.name);
                return Err(needs_original(&what));
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
        asked: &dyn AskedOfValues,
        case: &Case<'_>,
    ) -> Result<MeasuredValues> {
        let mut all =
            MeasuredValues { worst: f64::NEG_INFINITY, share: None, at_risk: 0 };
        for columns in [&self.apart, &self.in_rows] {
            let mut found: Vec<Finding> = Vec::new();
            for values in columns {
                self.check_hierarchy(asked, *values)?;
                let more = judge_each(asked, *values, case);
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
        asked: &dyn AskedOfValues,
        values: GroupedValues<'_>,
    ) -> Result<()> {
        if !asked.needs_hierarchy() || !values.column().lost {
            return Ok(());
        }
        Err(Error::input(format!(
            "{} of column `{}` cannot be rechecked: the leaves of its hierarchy are not \
             written as YYYY-MM-DD",
            self.promise.name,
            values.column().name
        )))
    }
}

/// What is found in each group of a column.
fn judge_each(
    asked: &dyn AskedOfValues,
    values: GroupedValues<'_>,
    case: &Case<'_>,
) -> Vec<Finding> {
    let (whole, hierarchy) = (&values.whole(), values.column().hierarchy.as_ref());
    let apart = matches!(values, GroupedValues::Apart(_));
    values.each(|group: &Histogram| match case.watch.is_cancelled() {
        true => Finding::NOTHING,
        false => asked.judge(&ComparedValues { group, whole, hierarchy, apart }),
    })
}
