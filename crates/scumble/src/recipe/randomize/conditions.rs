//! Bounds that depend on a column: rows with the same value in it are randomized by a matrix of
//! their own.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::method::perturb::ValueId;
use crate::method::{DrawCondition, SubtableId};
use crate::recipe::methods::{Task, Treats};
use crate::recipe::randomize::Perturbation;
use crate::recipe::randomize::listed::Listed;
use crate::recipe::randomize::operators::{Design, Promised, design};
use crate::recipe::randomize::values::Values;
use crate::recipe::section::suggestion;
use crate::recipe::{PromiseSpec, Spec};
use crate::release::ConditionNote;
use crate::table::{Of, Role, RowPlace};

/// The column that bounds depend on.
pub(super) struct Condition<'a> {
    listed: &'a Listed,
    column: &'a str,
    /// The values that lines are about, ascending; rows with others are under lines that name
    /// none.
    texts: Vec<String>,
}

impl<'a> Condition<'a> {
    /// The condition of a file, if it has one.
    pub(super) fn of(
        listed: &'a Listed,
        values: &Values,
        method: Perturbation,
        spec: &Spec,
    ) -> Result<Option<Self>> {
        let Some(column) = listed.condition(values)? else { return Ok(None) };
        check_kept(listed, column, spec)?;
        if method == Perturbation::Partitioned {
            return Err(listed
                .at_header(format!(
                    "bounds that depend on `{column}` do not go with \
                     `partitioned-perturbation`: it deals rows to sub-tables of its own"
                ))
                .with_hint(
                    "use `fine-grain-perturbation`, `general-perturbation` or \
                     `uniform-perturbation`",
                ));
        }
        let mut texts = listed.conditions(values);
        texts.retain(|text| !text.is_empty());
        if let Some(text) = texts.iter().find(|text| spec.input.missing.contains(text))
        {
            return Err(listed
                .at_condition(
                    values,
                    text,
                    format!("this is how a missing `{column}` is written"),
                )
                .with_hint(format!(
                    "a line with an empty `{column}` stands for missing values, too"
                )));
        }
        Ok(Some(Self { listed, column, texts }))
    }

    /// Designs the randomizing of one column, class by class.
    pub(super) fn design(
        &self,
        method: Perturbation,
        typed: &PromiseSpec,
        values: &Values,
        data: &Microdata,
        task: &Task<'_>,
    ) -> Result<(Promised, Design)> {
        let counts = self.count(values, data, task)?;
        let mut plan = DrawCondition {
            column: self.column.to_owned(),
            values: Vec::new(),
            others: None,
        };
        let mut whole: Option<(Promised, Design)> = None;
        let names = self.texts.iter().map(Some).chain([None]);
        for (name, rows) in names.zip(counts) {
            if rows.iter().all(|rows| *rows == 0) {
                let Some(text) = name else { continue };
                let message = format!("no row has this value in `{}`", self.column);
                return Err(self.listed.at_condition(values, text, message).with_hint(
                    "values are written as in the table; leave lines out that nobody needs",
                ));
            }
            let own = Values { rows, ..values.clone() };
            let text = name.map_or("", String::as_str);
            let promised =
                Promised::listed(typed, &own, self.listed, text, task.inputs)?;
            let Some(promised) = promised else { continue };
            let mut made = design(task.spec, method, &promised, &own, task.watch)?;
            let (column, value) = (self.column.to_owned(), name.cloned());
            made.conditions = vec![ConditionNote { column, value }];
            let whole = match &mut whole {
                Some((_, whole)) => {
                    whole.add(made);
                    whole
                }
                None => &mut whole.insert((promised, made)).1,
            };
            let table = SubtableId::from_index(whole.subtables.len() - 1);
            match name {
                Some(text) => plan.values.push((text.clone(), table)),
                None => plan.others = Some(table),
            }
        }
        let (promised, mut design) = whole.ok_or_else(|| Error::input("no rows"))?;
        design.condition = Some(plan);
        Ok((promised, design))
    }

    /// How many rows of each class have each value: the classes of the texts, and all others.
    fn count(
        &self,
        values: &Values,
        data: &Microdata,
        task: &Task<'_>,
    ) -> Result<Vec<Of<ValueId, u64>>> {
        let source = &task.order.source;
        let classes: HashMap<&str, usize> =
            self.texts.iter().map(String::as_str).zip(0..).collect();
        let others = self.texts.len();
        let codes: HashMap<Vec<&str>, usize> = values
            .texts
            .iter()
            .map(|texts| texts.iter().map(String::as_str).collect())
            .zip(0..)
            .collect();
        let mut columns = vec![source.column(self.column)?];
        let mut texts: Vec<HashMap<&str, &str>> = Vec::new();
        for name in &values.names {
            columns.push(source.column(name)?);
            texts.push(data.texts(name).into_iter().flatten().collect());
        }
        let none = || (vec![vec![0u64; codes.len()]; others + 1], None::<RowPlace>);
        let folded = source.fold(
            &columns,
            none,
            |(counts, first): &mut (Vec<Vec<u64>>, Option<RowPlace>), spot, cells| {
                let class = classes.get(cells[0]).copied().unwrap_or(others);
                if class == others && first.is_none_or(|first| spot < first) {
                    *first = Some(spot);
                }
                let value = cells[1..].iter().zip(&texts);
                let value = value.map(|(cell, texts)| texts.get(cell).copied());
                let value: Option<Vec<&str>> = value.collect();
                if let Some(code) = value.and_then(|value| codes.get(&value)) {
                    counts[class][*code] += 1;
                }
                Ok(())
            },
            task.watch,
        )?;
        let mut counts = none().0;
        for (own, _) in &folded.states {
            for (sums, own) in counts.iter_mut().zip(own) {
                sums.iter_mut().zip(own).for_each(|(sum, n)| *sum += n);
            }
        }
        let first = folded.states.iter().filter_map(|(_, first)| *first).min();
        if let (Some(spot), false) = (first, self.listed.has_others(values)) {
            return Err(Error::input(format!(
                "row {} has a value in `{}` that no line has bounds for",
                folded.row_number(spot),
                self.column
            ))
            .in_file(source.name())
            .with_hint(format!(
                "lines with an empty `{}` stand for all other values",
                self.column
            )));
        }
        Ok(counts.into_iter().map(Into::into).collect())
    }
}

/// A condition that readers cannot see would leave them without the matrix of a row.
fn check_kept(listed: &Listed, name: &str, spec: &Spec) -> Result<()> {
    let whole = spec.method.name.is_some_and(|m| m.treats() == Treats::Everything);
    let own = spec.columns.iter().map(|column| (column, !whole));
    let beside = spec.beside.iter().map(|(column, kept)| (column, *kept));
    let mut all = own.chain(beside);
    let Some((column, kept)) = all.find(|(column, _)| column.name == name) else {
        let names = spec.columns.iter().chain(spec.beside.iter().map(|(c, _)| c));
        let names: Vec<&str> = names.map(|column| column.name.as_str()).collect();
        return Err(listed
            .at_header(format!("the recipe has no column `{name}`"))
            .with_hint(suggestion(name, &names))
            .with_hint(
                "beside value, prior, posterior, weight and column, a file of bounds may \
                 have the column that they depend on",
            ));
    };
    let why = match column.role {
        Role::Identifier | Role::Drop => "it is not published",
        Role::Sensitive => "it is sensitive",
        Role::Quasi | Role::Other if !kept => "it is generalized or blurred",
        Role::Quasi | Role::Other => return Ok(()),
    };
    Err(listed
        .at_header(format!(
            "bounds cannot depend on `{name}`: {why}, and readers must see which matrix a \
             row was drawn by"
        ))
        .with_hint("they can depend on a quasi or other column that is published as it is"))
}
