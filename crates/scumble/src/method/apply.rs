//! Applying a plan: to a whole table, or to rows one by one.

use hashbrown::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::hierarchy::{Cells, Column, Cover, Uncovered};
use crate::method::leave_out::{leave_out_failing, unpublished};
use crate::method::plan::labels;
use crate::method::{
    Branch, Grouping, Plan, PlanBranch, PlanCell, PlanGroup, PlanRoute, Route, cover,
};
use crate::promise::{Group, Promises};
use crate::table::Census;

/// What a plan makes of some rows.
#[derive(Debug)]
pub struct Applied {
    /// The quasi columns.
    pub columns: Vec<Column>,
    /// For each row its cells; nothing if the plan leaves it out or has no cells for it.
    pub cells: Vec<Option<Vec<Cover>>>,
}

impl Plan {
    /// What the plan makes of rows, each with the texts of the plan's columns. What becomes
    /// of a row depends on the plan and on the row, not on the rows beside it.
    pub fn apply(&self, rows: &[Vec<&str>]) -> Result<Applied> {
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut codes: Vec<Vec<u32>> = Vec::with_capacity(self.columns.len());
        for (place, planned) in self.columns.iter().enumerate() {
            let own = rows.iter().map(|row| row.get(place).copied().unwrap_or(""));
            let mut texts: Vec<Box<str>> = own.map(Into::into).collect();
            texts.extend(self.values(place).into_iter().map(String::into_boxed_str));
            let (domain, found) =
                planned.rule.domain(&texts, &planned.reading).map_err(|uncovered| {
                    let (Uncovered::NotOfKind(places) | Uncovered::NoLeaf(places)) =
                        uncovered;
                    Error::input(format!(
                        "column `{}`: the plan cannot take the value of row {}",
                        planned.name,
                        places.first().map_or(0, |place| place + 1)
                    ))
                })?;
            let hierarchy = planned.rule.bind(&domain, &planned.reading);
            columns.push(Column {
                name: planned.name.clone(),
                rows: vec![0; domain.len()],
                lowest: planned.lowest,
                highest: hierarchy.height(),
                domain,
                hierarchy,
                weight: 1.0,
                cells: planned.cells,
            });
            codes.push(found[..rows.len()].to_vec());
        }
        let cells = match &self.route {
            PlanRoute::Levels(levels) => {
                self.apply_levels(&columns, &codes, levels, rows.len())?
            }
            PlanRoute::Cuts(branches) => {
                self.apply_cuts(&columns, &codes, branches, rows.len())?
            }
        };
        Ok(Applied { columns, cells })
    }

    fn apply_levels(
        &self,
        columns: &[Column],
        codes: &[Vec<u32>],
        levels: &[usize],
        n_rows: usize,
    ) -> Result<Vec<Option<Vec<Cover>>>> {
        check_levels(columns, levels)?;
        let left_out: HashSet<&[String]> =
            self.left_out.iter().map(Vec::as_slice).collect();
        let planned: HashMap<&[String], &PlanGroup> =
            self.groups.iter().map(|group| (group.labels.as_slice(), group)).collect();
        let plain = columns.iter().all(|column| column.cells == Cells::Taxonomy);
        let mut all = Vec::with_capacity(n_rows);
        for row in 0..n_rows {
            let above = columns.iter().zip(codes).zip(levels);
            let labels: Vec<String> = above
                .clone()
                .map(|((column, codes), level)| {
                    column.hierarchy.label(*level, codes[row]).to_owned()
                })
                .collect();
            if left_out.contains(labels.as_slice()) {
                all.push(None);
            } else if plain {
                let nodes = above.map(|((column, codes), level)| Cover::Node {
                    level: *level,
                    node: column.hierarchy.node(*level, codes[row]),
                });
                all.push(Some(nodes.collect()));
            } else {
                all.push(match planned.get(labels.as_slice()) {
                    Some(group) => fitting(columns, codes, row, group)?,
                    None => None,
                });
            }
        }
        Ok(all)
    }

    fn apply_cuts(
        &self,
        columns: &[Column],
        codes: &[Vec<u32>],
        branches: &[PlanBranch],
        n_rows: usize,
    ) -> Result<Vec<Option<Vec<Cover>>>> {
        let route = bound_route(columns, branches)?;
        (0..n_rows)
            .map(|row| {
                let group = follow(&route, |column| codes[column][row]);
                fitting(columns, codes, row, &self.groups[group])
            })
            .collect()
    }

    /// Groups another table of the same kind. Cells are those of the plan, widened where a
    /// row of the table needs it; groups that break a promise are left out, as long as
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
        let hidden = Group { rows: left_out, people, values: &[] };
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
        let mut index: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut members: Vec<Vec<usize>> = Vec::new();
        for tuple in 0..census.n_tuples() {
            let nodes = columns.iter().zip(&census.quasi).zip(levels);
            let key: Vec<u32> = nodes
                .map(|((column, codes), level)| {
                    column.hierarchy.node(*level, codes[tuple])
                })
                .collect();
            let group = *index.entry(key).or_insert_with(|| {
                members.push(Vec::new());
                members.len() - 1
            });
            members[group].push(tuple);
        }
        let left_out: HashSet<&[String]> =
            self.left_out.iter().map(Vec::as_slice).collect();
        let planned: HashMap<&[String], &PlanGroup> =
            self.groups.iter().map(|group| (group.labels.as_slice(), group)).collect();

        let mut grouping = Grouping {
            group_of: vec![None; census.n_tuples()],
            covers: Vec::new(),
            route: Route::Levels(levels.to_vec()),
        };
        for tuples in members {
            let labels = labels(columns, census, levels, tuples[0]);
            if left_out.contains(labels.as_slice()) {
                continue;
            }
            let group = planned.get(labels.as_slice()).copied();
            let covers = self.widened(columns, census, &tuples, group, Some(levels))?;
            for tuple in tuples {
                grouping.group_of[tuple] = Some(grouping.covers.len() as u32);
            }
            grouping.covers.push(covers);
        }
        Ok(grouping)
    }

    fn group_by_cuts(
        &self,
        columns: &[Column],
        census: &Census,
        branches: &[PlanBranch],
    ) -> Result<Grouping> {
        let route = bound_route(columns, branches)?;
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); self.groups.len()];
        for tuple in 0..census.n_tuples() {
            members[follow(&route, |column| census.quasi[column][tuple])].push(tuple);
        }
        let mut covers = Vec::new();
        let mut group_of = vec![None; census.n_tuples()];
        for (tuples, group) in members.iter().zip(&self.groups) {
            if tuples.is_empty() {
                continue;
            }
            for tuple in tuples {
                group_of[*tuple] = Some(covers.len() as u32);
            }
            covers.push(self.widened(columns, census, tuples, Some(group), None)?);
        }
        Ok(Grouping { group_of, covers, route: Route::Cuts(route) })
    }

    /// The cells of some tuples, together with those of the plan.
    fn widened(
        &self,
        columns: &[Column],
        census: &Census,
        tuples: &[usize],
        group: Option<&PlanGroup>,
        levels: Option<&[usize]>,
    ) -> Result<Vec<Cover>> {
        let mut covers = Vec::with_capacity(columns.len());
        for (place, column) in columns.iter().enumerate() {
            let mut codes: Vec<u32> =
                tuples.iter().map(|tuple| census.quasi[place][*tuple]).collect();
            if let Some(group) = group {
                codes.extend(mentioned(column, &group.cells[place])?);
            }
            codes.sort_unstable();
            codes.dedup();
            covers.push(cover(column, &codes, levels.map(|levels| levels[place])));
        }
        Ok(covers)
    }
}

/// Cuts at codes instead of values.
fn bound_route(columns: &[Column], branches: &[PlanBranch]) -> Result<Vec<Branch>> {
    let bound = branches.iter().map(|branch| match branch {
        PlanBranch::Group(group) => Ok(Branch::Group(*group)),
        PlanBranch::Cut { column, value, below, rest } => {
            let code = code_of(&columns[*column], value.as_deref())?;
            Ok(Branch::Cut { column: *column, code, below: *below, rest: *rest })
        }
    });
    bound.collect()
}

fn check_levels(columns: &[Column], levels: &[usize]) -> Result<()> {
    for (column, level) in columns.iter().zip(levels) {
        let height = column.hierarchy.height();
        if *level > height {
            return Err(Error::input(format!(
                "the plan has level {level} for column `{}`, which has {} levels here",
                column.name,
                height + 1
            )));
        }
    }
    Ok(())
}

/// The cells of a group, if they stand for the values of a row.
fn fitting(
    columns: &[Column],
    codes: &[Vec<u32>],
    row: usize,
    group: &PlanGroup,
) -> Result<Option<Vec<Cover>>> {
    let mut covers = Vec::with_capacity(columns.len());
    for ((column, codes), cell) in columns.iter().zip(codes).zip(&group.cells) {
        let mut mentioned = mentioned(column, cell)?;
        mentioned.sort_unstable();
        mentioned.dedup();
        if mentioned.is_empty() {
            return Ok(None);
        }
        let cover = match cell {
            PlanCell::Node { level, .. } => cover(column, &mentioned, Some(*level)),
            _ => cover(column, &mentioned, None),
        };
        if !cover.contains(&column.domain, &column.hierarchy, codes[row]) {
            return Ok(None);
        }
        covers.push(cover);
    }
    Ok(Some(covers))
}

/// Follows cuts to a group.
fn follow(route: &[Branch], code: impl Fn(usize) -> u32) -> usize {
    let mut place = 0;
    loop {
        match route[place] {
            Branch::Group(group) => return group as usize,
            Branch::Cut { column, code: first, below, rest } => {
                place = if code(column) < first { below } else { rest } as usize;
            }
        }
    }
}

/// Values whose cell is at least the one of the plan.
fn mentioned(column: &Column, cell: &PlanCell) -> Result<Vec<u32>> {
    let code = |value: &Option<String>| code_of(column, value.as_deref());
    // "Not known" is no value of a table in which everything is known.
    let there = |code: &u32| (*code as usize) < column.domain.len();
    Ok(match cell {
        PlanCell::Node { level, value } => {
            let code = code(value)?;
            if !there(&code) {
                return Ok(Vec::new());
            }
            let level = (*level).min(column.hierarchy.height());
            let node = column.hierarchy.node(level, code);
            Cover::Node { level, node }.codes(&column.domain, &column.hierarchy)
        }
        PlanCell::Range { low, high, missing } => {
            let mut codes: Vec<u32> =
                [code(low)?, code(high)?].into_iter().filter(there).collect();
            if *missing {
                codes.extend(column.domain.missing());
            }
            codes
        }
        PlanCell::Set(values) => {
            let codes = values.iter().map(code).collect::<Result<Vec<u32>>>()?;
            codes.into_iter().filter(there).collect()
        }
    })
}

/// The code of a value that was added to the domain before.
fn code_of(column: &Column, value: Option<&str>) -> Result<u32> {
    let code = match value {
        None => column.domain.missing().or(Some(column.domain.len() as u32)),
        Some(value) => (0..column.domain.len() as u32)
            .find(|code| column.domain.text(*code) == value),
    };
    code.ok_or_else(|| {
        Error::input(format!(
            "the plan has values that column `{}` cannot have",
            column.name
        ))
        .with_hint("it was made with another hierarchy or type")
    })
}
