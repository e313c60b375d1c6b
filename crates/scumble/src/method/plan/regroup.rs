//! Grouping another table of the same kind by a plan.

use hashbrown::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::hierarchy::{Column, Cover};
use crate::method::leave_out::{leave_out_failing, unpublished};
use crate::method::plan::bind::{bound_route, check_levels, follow};
use crate::method::plan::group::labels;
use crate::method::{
    Branch, BranchId, GroupPlan, Grouping, PlanBranch, PlanRoute, Route, cover,
};
use crate::promise::{Group, Promises};
use crate::table::{Census, Code, GroupId, NodeId, Of, TupleId};

impl GroupPlan {
    /// Groups another table of the same kind. Cells are those of its own rows: what is in the
    /// plan of other tables tells about these. Groups that break a promise are left out, as long as
    /// that is allowed.
    pub fn grouping(
        &self,
        columns: &[Column],
        census: &Census,
        promises: &Promises,
        limit: u64,
    ) -> Result<Grouping> {
        let mut grouping = match &self.route {
            PlanRoute::Levels(levels) => {
                self.group_by_levels(columns, census, levels)?
            }
            PlanRoute::Cuts(branches) => {
                self.group_by_cuts(columns, census, branches)?
            }
        };
        let failing = leave_out_failing(&mut grouping, census, promises);
        let left_out = grouping.shape(census).left_out;
        let people = unpublished(&grouping, census);
        let mut values = census.histograms();
        for (tuple, _) in grouping.group_of.pairs().filter(|(_, group)| group.is_none())
        {
            census.add_to(tuple, &mut values);
        }
        let hidden = Group { rows: left_out, people, values: &values };
        if failing.without_rows || !promises.hold_of_unpublished(hidden) {
            return Err(Error::unsatisfiable(
                promises.title(),
                "with this plan it does not hold of the people who are not published",
            )
            .with_hint("make a plan for this table"));
        }
        let failing = failing.rows;
        if left_out > limit || left_out == census.n_rows() {
            return Err(Error::unsatisfiable(
                promises.title(),
                format!(
                    "with this plan {left_out} of {} rows would be left out, {failing} of \
                     them in groups that break the promise here, but at most {limit} may be",
                    census.n_rows()
                ),
            )
            .with_hint(format!(
                "allow a `suppression` of {:.2} or more, or make a plan for this table",
                (left_out as f64 / census.n_rows() as f64 * 100.0).ceil() / 100.0
            )));
        }
        Ok(grouping)
    }

    fn group_by_levels(
        &self,
        columns: &[Column],
        census: &Census,
        levels: &[usize],
    ) -> Result<Grouping> {
        check_levels(columns, levels)?;
        let mut index: HashMap<Vec<NodeId>, GroupId> = HashMap::new();
        let mut members: Of<GroupId, Vec<TupleId>> = Of::new();
        for tuple in census.tuples() {
            let nodes = columns.iter().zip(&census.quasi).zip(levels);
            let key: Vec<NodeId> = nodes
                .map(|((column, codes), level)| {
                    column.hierarchy.node(*level, codes[tuple])
                })
                .collect();
            let group = *index.entry(key).or_insert_with(|| members.push(Vec::new()));
            members[group].push(tuple);
        }
        let left_out: HashSet<&[String]> =
            self.left_out.iter().map(Vec::as_slice).collect();
        let mut grouping = Grouping {
            group_of: Of::repeat(None, census.n_tuples()),
            covers: Of::new(),
            route: Route::Levels(levels.to_vec()),
        };
        for tuples in members {
            let labels = labels(columns, census, levels, tuples[0]);
            if left_out.contains(labels.as_slice()) {
                continue;
            }
            let covers = cells(columns, census, &tuples, Some(levels));
            let group = grouping.covers.push(covers);
            for tuple in tuples {
                grouping.group_of[tuple] = Some(group);
            }
        }
        Ok(grouping)
    }

    fn group_by_cuts(
        &self,
        columns: &[Column],
        census: &Census,
        branches: &Of<BranchId, PlanBranch>,
    ) -> Result<Grouping> {
        let route = bound_route(columns, &self.columns, branches)?;
        let mut members: Of<GroupId, Vec<TupleId>> =
            Of::repeat(Vec::new(), self.groups.len());
        for tuple in census.tuples() {
            if let Some(group) = follow(&route, |column| census.quasi[column][tuple]) {
                members[group].push(tuple);
            }
        }
        let mut covers: Of<GroupId, Vec<Cover>> = Of::new();
        let mut group_of = Of::repeat(None, census.n_tuples());
        let mut number_of: Of<GroupId, Option<GroupId>> = Of::new();
        for tuples in &members {
            if tuples.is_empty() {
                number_of.push(None);
                continue;
            }
            let number = Some(covers.push(cells(columns, census, tuples, None)));
            tuples.iter().for_each(|tuple| group_of[*tuple] = number);
            number_of.push(number);
        }
        let route = route.into_iter().map(|branch| match branch {
            Branch::Group(group) => {
                Branch::Group(group.and_then(|group| number_of[group]))
            }
            cut @ Branch::Cut { .. } => cut,
        });
        Ok(Grouping { group_of, covers, route: Route::Cuts(route.collect()) })
    }
}

/// The cells of some tuples.
fn cells(
    columns: &[Column],
    census: &Census,
    tuples: &[TupleId],
    levels: Option<&[usize]>,
) -> Vec<Cover> {
    let columns = columns.iter().zip(&census.quasi).enumerate();
    let cells = columns.map(|(place, (column, codes))| {
        let mut own: Vec<Code> = tuples.iter().map(|tuple| codes[*tuple]).collect();
        own.sort_unstable();
        own.dedup();
        cover(column, &own, levels.map(|levels| levels[place]))
    });
    cells.collect()
}
