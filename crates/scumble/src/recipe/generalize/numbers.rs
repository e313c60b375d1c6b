//! The numbers of groups: in the order of what is published of them.

use rayon::prelude::*;

use crate::hierarchy::{Column, cell};
use crate::method::pdf::Pdf;
use crate::method::{GroupPlan, Grouping};
use crate::table::{ClassId, Code, GroupId, Of};

/// Numbers the groups in the order of what is published of them, and gives the first group of
/// each number. Groups without rows have none.
pub(in crate::recipe) fn number(
    plan: &mut GroupPlan,
    columns: &[Column],
    grouping: &Grouping,
    weights: Option<&Of<GroupId, Vec<Pdf>>>,
    alike: Alike,
) -> Of<ClassId, GroupId> {
    let text = |group: GroupId| -> Vec<String> {
        if plan.groups[group].rows == 0 {
            return Vec::new();
        }
        match weights {
            Some(weights) => told_apart(columns, &weights[group]),
            None => {
                let cells = columns.iter().zip(&grouping.covers[group]);
                cells.map(|(column, cover)| cell::text(column, cover)).collect()
            }
        }
    };
    let groups: Vec<GroupId> = plan.groups.ids().collect();
    let texts: Vec<Vec<String>> = groups.into_par_iter().map(text).collect();
    let texts: Of<GroupId, Vec<String>> = texts.into();
    let mut order: Vec<GroupId> =
        texts.ids().filter(|group| plan.groups[*group].rows > 0).collect();
    order.par_sort_by(|a, b| texts[*a].cmp(&texts[*b]));
    let mut firsts: Of<ClassId, GroupId> = Of::new();
    for group in order {
        let last = firsts.pairs().next_back();
        let same = last.filter(|(_, first)| texts[**first] == texts[group]);
        plan.groups[group].number = Some(match same {
            Some((class, _)) if alike == Alike::Together => class,
            _ => firsts.push(group),
        });
    }
    firsts
}

/// What becomes of groups that nobody can tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::recipe) enum Alike {
    /// They are one.
    Together,
    /// They have numbers of their own: something is published of each.
    Apart,
}

/// Distributions as texts that tell them apart and put them in order.
fn told_apart(columns: &[Column], cells: &[Pdf]) -> Vec<String> {
    let one = |(column, cell): (&Column, &Pdf)| {
        let pair = |(code, weight): &(Code, f64)| {
            format!("{}\u{1f}{weight}", column.domain.text(*code))
        };
        cell.values.iter().map(pair).collect::<Vec<String>>().join("\u{1e}")
    };
    columns.iter().zip(cells).map(one).collect()
}
