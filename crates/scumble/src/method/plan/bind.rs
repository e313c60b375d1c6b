//! Finding the groups of a plan for rows one by one.

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::hierarchy::{Cells, Column, Cover, beyond_grid, cell};
use crate::method::plan::group::LEFT_OUT;
use crate::method::{
    Branch, BranchId, GroupPlan, PlanBranch, PlanCell, PlanColumn, PlanGroup,
    PlanRoute, cover,
};
use crate::table::{Code, GroupId, NodeId, Of, Reading};

/// A plan of groups, ready for rows with known texts.
#[derive(Debug)]
pub struct BoundGroups<'a> {
    plan: &'a GroupPlan,
    /// The quasi columns, with a domain of the known texts and those of the plan.
    columns: Cow<'a, [Column]>,
    codes: Cow<'a, [TextCodes]>,
    route: BoundRoute,
    /// The cells of each group of the plan; nothing if its values are not there.
    covers: Of<GroupId, BoundCells<'a>>,
    /// Whether labels are cells, so that a group need not be in the plan.
    plain: bool,
}

/// The code of each text of a column.
type TextCodes = HashMap<Box<str>, Code>;

/// The cells of a group; nothing if its values are not there.
type BoundCells<'a> = Option<Cow<'a, [Cover]>>;

#[derive(Debug)]
enum BoundRoute {
    Levels(BoundLevels),
    Cuts(Of<BranchId, Branch>),
}

/// Groups by the labels above their values.
#[derive(Debug)]
struct BoundLevels {
    levels: Vec<usize>,
    /// For each column and node of its level, the number of its label.
    labels: Vec<Of<NodeId, u32>>,
    /// The group of each tuple of labels.
    groups: HashMap<Vec<u32>, GroupId>,
    /// Tuples of labels that are left out.
    left_out: HashSet<Vec<u32>>,
}

impl BoundLevels {
    fn new(plan: &GroupPlan, columns: &[Column], levels: &[usize]) -> Self {
        let (mut labels, mut numbers) = (Vec::new(), Vec::new());
        for (column, level) in columns.iter().zip(levels) {
            let mut number_of: HashMap<&str, u32> = HashMap::new();
            let nodes = column.hierarchy.levels()[*level].nodes.iter();
            let number = nodes.map(|node| {
                let next = number_of.len() as u32;
                *number_of.entry(&*node.label).or_insert(next)
            });
            labels.push(number.collect());
            numbers.push(number_of);
        }
        let found = |texts: &[String]| -> Option<Vec<u32>> {
            let all = numbers.iter().zip(texts);
            let all = all.map(|(number_of, text)| number_of.get(&**text).copied());
            (texts.len() == columns.len()).then(|| all.collect()).flatten()
        };
        let groups = plan.groups.pairs();
        Self {
            groups: groups
                .filter_map(|(place, group)| Some((found(&group.labels)?, place)))
                .collect(),
            left_out: plan.left_out.iter().filter_map(|texts| found(texts)).collect(),
            levels: levels.to_vec(),
            labels,
        }
    }
}

/// The group of a row.
#[derive(Debug, Clone)]
pub enum FoundGroup {
    /// Its place in the plan.
    Planned(GroupId),
    /// It is not in the plan, but its labels are its cells.
    New(Vec<Cover>),
}

impl GroupPlan {
    /// Makes it ready for rows that have these texts in its columns. What becomes of a row
    /// depends on the plan and on the row alone, not on the other texts.
    pub fn bind<'t>(
        &self,
        texts: impl IntoIterator<Item = Vec<&'t str>>,
    ) -> Result<BoundGroups<'_>> {
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut codes = Vec::with_capacity(self.columns.len());
        for ((place, planned), texts) in self.columns.iter().enumerate().zip(texts) {
            let own = texts.len();
            let mut all: Vec<Box<str>> = texts.into_iter().map(Into::into).collect();
            all.extend(self.values(place).into_iter().map(String::into_boxed_str));
            // A cell is the same whether "not known" is among these texts or not.
            if self.mentions_missing(place) {
                all.push(planned.reading.missing_text().into());
            }
            let (domain, mut found) =
                planned.rule.domain(&all, &planned.reading).map_err(|_| {
                    Error::input(format!(
                        "column `{}`: the plan cannot take one of the values",
                        planned.name
                    ))
                    .with_hint("it was made with another hierarchy or type")
                })?;
            let hierarchy = planned.rule.bind(&domain, &planned.reading);
            all.truncate(own);
            found.truncate(own);
            codes.push(all.into_iter().zip(found).collect());
            let grid = match &planned.grid {
                Some(grid) => {
                    Some(grid.bind(&domain).ok_or_else(|| beyond_grid(&planned.name))?)
                }
                None => None,
            };
            columns.push(Column {
                name: planned.name.clone(),
                rows: Of::repeat(0, domain.len()),
                lowest: planned.lowest,
                highest: hierarchy.height(),
                domain,
                hierarchy,
                weight: 1.0,
                cells: planned.cells,
                grid,
            });
        }
        let covers = self.bound_covers(&columns)?;
        self.bound(Cow::Owned(columns), Cow::Owned(codes), covers)
    }

    /// Makes it ready for the rows of the table it was made from, whose columns, codes and
    /// cells are at hand. That gives what binding it to the texts of the table gives.
    pub fn bind_at_home<'a>(
        &'a self,
        columns: &'a [Column],
        codes: &'a [TextCodes],
        covers: &'a Of<GroupId, Vec<Cover>>,
    ) -> Result<BoundGroups<'a>> {
        // No row of the table leads to a group without rows.
        let groups = self.groups.iter().zip(covers);
        let covers = groups.map(|(group, own)| {
            (group.rows > 0).then_some(Cow::Borrowed(own.as_slice()))
        });
        self.bound(Cow::Borrowed(columns), Cow::Borrowed(codes), covers.collect())
    }

    fn bound<'a>(
        &'a self,
        columns: Cow<'a, [Column]>,
        codes: Cow<'a, [TextCodes]>,
        covers: Of<GroupId, BoundCells<'a>>,
    ) -> Result<BoundGroups<'a>> {
        let route = match &self.route {
            PlanRoute::Levels(levels) => {
                check_levels(&columns, levels)?;
                BoundRoute::Levels(BoundLevels::new(self, &columns, levels))
            }
            PlanRoute::Cuts(branches) => {
                let cuts = bound_route(&columns, &self.columns, branches)?;
                BoundRoute::Cuts(cuts)
            }
        };
        let plain = columns.iter().all(|column| column.cells == Cells::Taxonomy);
        Ok(BoundGroups { plan: self, columns, codes, route, covers, plain })
    }

    fn bound_covers(
        &self,
        columns: &[Column],
    ) -> Result<Of<GroupId, BoundCells<'static>>> {
        let known = value_codes(columns);
        let groups = self.groups.par_iter();
        let covers = groups.map(|group| covers(columns, &self.columns, &known, group));
        // The first error of all groups, whichever thread finds one first.
        let covers: Vec<Result<BoundCells<'static>>> = covers.collect();
        covers.into_iter().collect()
    }
}

impl BoundGroups<'_> {
    /// The code of a text that was known when the plan was bound.
    pub fn code(&self, column: usize, text: &str) -> Option<Code> {
        self.codes[column].get(text).copied()
    }

    /// The group of a row with these codes; nothing if the plan leaves it out or has no
    /// cells for it.
    pub fn find(&self, codes: &[Code]) -> Option<FoundGroup> {
        match &self.route {
            BoundRoute::Levels(BoundLevels { levels, labels, groups, left_out }) => {
                let above = self.columns.iter().zip(codes).zip(levels);
                let nodes = above.map(|((column, code), level)| {
                    column.hierarchy.node(*level, *code)
                });
                let nodes: Vec<NodeId> = nodes.collect();
                let labels = labels.iter().zip(&nodes);
                let labels: Vec<u32> =
                    labels.map(|(labels, node)| labels[*node]).collect();
                if left_out.contains(&labels) {
                    return None;
                }
                match groups.get(&labels) {
                    Some(group) => self.fitting(*group, codes),
                    None if self.plain => {
                        let nodes = nodes.into_iter().zip(levels);
                        let covers = nodes
                            .map(|(node, level)| Cover::Node { level: *level, node });
                        Some(FoundGroup::New(covers.collect()))
                    }
                    None => None,
                }
            }
            BoundRoute::Cuts(route) => {
                self.fitting(follow(route, |column| codes[column])?, codes)
            }
        }
    }

    /// The cells of a group, if they stand for the values of a row.
    fn fitting(&self, group: GroupId, codes: &[Code]) -> Option<FoundGroup> {
        let covers = self.covers[group].as_ref()?;
        let fits = self.columns.iter().zip(covers.iter()).zip(codes).all(
            |((column, cover), code)| {
                cover.contains(&column.domain, &column.hierarchy, *code)
            },
        );
        fits.then_some(FoundGroup::Planned(group))
    }

    /// Cells as they are written.
    pub fn texts(&self, covers: &[Cover]) -> Vec<String> {
        let cells = self.columns.iter().zip(covers);
        cells.map(|(column, cover)| cell::text(column, cover)).collect()
    }

    /// The cells of each group of the plan as they are written, if they are there.
    pub fn group_texts(&self) -> Of<GroupId, Option<Vec<String>>> {
        let texts = self.covers.par_iter();
        let texts =
            texts.map(|covers| covers.as_ref().map(|covers| self.texts(covers)));
        texts.collect::<Vec<_>>().into()
    }

    /// The plan.
    pub fn plan(&self) -> &GroupPlan {
        self.plan
    }
}

/// The cells of a group of a plan; nothing if a value of them is not there.
fn covers(
    columns: &[Column],
    planned: &[PlanColumn],
    known: &[ValueCodes<'_>],
    group: &PlanGroup,
) -> Result<BoundCells<'static>> {
    let mut covers = Vec::with_capacity(columns.len());
    let columns = columns.iter().zip(planned).zip(known).zip(&group.cells);
    for (((column, planned), known), cell) in columns {
        let find = finder(known, &planned.reading);
        if let (PlanCell::Node { level, value }, Cells::Taxonomy) = (cell, column.cells)
        {
            let code = code_of(column, value.as_deref(), find)?;
            if code.index() >= column.domain.len() {
                return Ok(None);
            }
            covers.push(cover(column, &[code], Some(*level)));
            continue;
        }
        let mut mentioned = mentioned(column, cell, find)?;
        mentioned.sort_unstable();
        mentioned.dedup();
        if mentioned.is_empty() {
            return Ok(None);
        }
        covers.push(match cell {
            PlanCell::Node { level, .. } => cover(column, &mentioned, Some(*level)),
            _ => cover(column, &mentioned, None),
        });
    }
    Ok(Some(covers.into()))
}

/// Cuts at codes instead of values.
pub(super) fn bound_route(
    columns: &[Column],
    planned: &[PlanColumn],
    branches: &Of<BranchId, PlanBranch>,
) -> Result<Of<BranchId, Branch>> {
    let bound = branches.iter().map(|branch| match branch {
        PlanBranch::Group(group) => {
            Ok(Branch::Group(Some(*group).filter(|group| *group != LEFT_OUT)))
        }
        PlanBranch::Cut { column, value, below, rest } => {
            let (bound, reading) = (&columns[*column], &planned[*column].reading);
            // The table may lack the value itself.
            let find = |value: &str| cell::first_from(bound, &reading.one_text(value));
            let code = code_of(bound, value.as_deref(), find)?;
            Ok(Branch::Cut { column: *column, code, below: *below, rest: *rest })
        }
    });
    bound.collect()
}

pub(super) fn check_levels(columns: &[Column], levels: &[usize]) -> Result<()> {
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

/// Follows cuts to a group, unless they lead to rows that are left out.
pub(super) fn follow(
    route: &Of<BranchId, Branch>,
    code: impl Fn(usize) -> Code,
) -> Option<GroupId> {
    let mut place = BranchId::default();
    loop {
        match route[place] {
            Branch::Group(group) => return group,
            Branch::Cut { column, code: first, below, rest } => {
                place = if code(column) < first { below } else { rest };
            }
        }
    }
}

/// Values whose cell is at least the one of the plan.
fn mentioned(
    column: &Column,
    cell: &PlanCell,
    find: impl Fn(&str) -> Option<Code>,
) -> Result<Vec<Code>> {
    let code = |value: &Option<String>| code_of(column, value.as_deref(), &find);
    // "Not known" is no value of a table in which everything is known.
    let there = |code: &Code| code.index() < column.domain.len();
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
            let mut codes: Vec<Code> =
                [code(low)?, code(high)?].into_iter().filter(there).collect();
            if *missing {
                codes.extend(column.domain.missing());
            }
            codes
        }
        PlanCell::Set(values) => {
            let codes = values.iter().map(code).collect::<Result<Vec<Code>>>()?;
            codes.into_iter().filter(there).collect()
        }
    })
}

/// The codes of the values of a column.
type ValueCodes<'a> = HashMap<&'a str, Code>;

/// The codes of the values of each column.
fn value_codes(columns: &[Column]) -> Vec<ValueCodes<'_>> {
    columns.iter().map(|column| column.domain.index()).collect()
}

/// Finds values of a column as they are typed.
fn finder<'a>(
    known: &'a ValueCodes<'_>,
    reading: &'a Reading,
) -> impl Fn(&str) -> Option<Code> + 'a {
    move |value| known.get(&*reading.one_text(value)).copied()
}

/// The code of a value that was added to the domain before.
fn code_of(
    column: &Column,
    value: Option<&str>,
    find: impl Fn(&str) -> Option<Code>,
) -> Result<Code> {
    let code = match value {
        None => column.domain.missing().or(Some(Code::from_index(column.domain.len()))),
        Some(value) => find(value),
    };
    code.ok_or_else(|| {
        Error::input(format!(
            "the plan has values that column `{}` cannot have",
            column.name
        ))
        .with_hint("it was made with another hierarchy or type")
    })
}
