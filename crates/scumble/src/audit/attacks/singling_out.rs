//! Singling-out: a sentence made of published cells that is true of one person of the table.
//!
//! Cells that name values (the ends of a range, the members of a set) invite the sentence
//! "is in this group, and the column is this value". The adversary says it of every value
//! that a group's cells name; it singles somebody out if exactly one person of the table fits
//! the group's cells and has the value.
//!
//! # Guarantee
//! Counted in the table. `chance` is how often as many values of the table, drawn from the
//! same cells, single somebody out.
//!
//! # Limits
//! Sentences of one named value. Rows that are alone in their group with their sensitive
//! values are counted beside it (`by_values`), where a group's rows are just the people who
//! fit it: any release that keeps values in the rows has such.
//!
//! # Cost
//! O(columns) for each tuple of the table and group that it fits.
//!
//! # Source
//! Predicate singling out (`cohen2020singling`); docs/methods.md, "Audit and attacks".

use hashbrown::HashMap;
use rayon::prelude::*;
use serde_json::json;

use crate::audit::attacks::{Attack, NEEDS_ORIGINAL, Stopped, no_cell_classes};
use crate::audit::case::Linked;
use crate::audit::cells::{CellClasses, CellTexts, fitting};
use crate::audit::{Attacked, Case, detail};
use crate::error::Result;
use crate::hierarchy::{Cells, cell};
use crate::table::Code;

/// Tries to say something of one person.
#[derive(Debug)]
pub struct SinglingOut;

impl Attack for SinglingOut {
    fn name(&self) -> &'static str {
        "singling-out"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        let classes = case.views.cells()?.ok_or_else(|| no_cell_classes(case))?;
        let linked = case.linked()?.ok_or(NEEDS_ORIGINAL)?;
        let named = named(classes, linked);
        if named.iter().all(Option::is_none) {
            return Err("no cell names values of its rows".into());
        }
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); classes.n_groups()];
        for (tuple, groups) in fitting(classes, &linked.covers, &linked.known)? {
            groups.iter().for_each(|group| members[*group as usize].push(tuple));
        }
        let found: Vec<SingledOut> = members
            .par_iter_mut()
            .enumerate()
            .map(|(group, tuples)| {
                tuples.sort_unstable();
                singled_out(classes, linked, &named, group, tuples)
            })
            .collect();
        case.watch.check()?;
        let groups = classes.n_groups().max(1) as f64;
        let hit = found.iter().filter(|found| found.people > 0).count();
        let chance: f64 = found.iter().map(|found| found.chance).sum();
        let people: u64 = found.iter().map(|found| found.people).sum();
        let by_values: u64 = found.iter().map(|found| found.by_values).sum();
        let share = |n: u64| n as f64 / classes.rows.max(1) as f64;
        Ok(vec![Attacked {
            name: self.name().to_owned(),
            success: hit as f64 / groups,
            chance: chance / groups,
            worst: if hit > 0 { 1.0 } else { 0.0 },
            detail: detail(json!({
                "groups": classes.n_groups(), "singled_out": share(people),
                "by_values": share(by_values),
            })),
        }])
    }
}

/// Which values of the table each different cell of each column names; nothing of columns
/// whose cells are of a hierarchy.
fn named(classes: &CellClasses, linked: &Linked<'_>) -> Vec<Option<Vec<Vec<Code>>>> {
    let columns = classes.quasi.iter().zip(&linked.columns);
    let named = columns.map(|(published, column)| {
        let is_named = matches!(column.cells, Cells::Interval | Cells::Set);
        let CellTexts::Texts(texts) = &published.cells else { return None };
        let index = column.domain.index();
        let own = |text: &str| -> Vec<Code> {
            let words =
                cell::named(column.cells, text).map_or(vec![], |named| named.values);
            words.iter().filter_map(|word| index.get(&**word).copied()).collect()
        };
        is_named.then(|| texts.iter().map(|text| own(text)).collect())
    });
    named.collect()
}

/// What can be said of one person of a group.
#[derive(Debug, Default)]
struct SingledOut {
    /// How many people can be singled out by a value that the cells name.
    people: u64,
    /// How likely values drawn from the same cells single somebody out.
    chance: f64,
    /// Rows that are alone with their sensitive values.
    by_values: u64,
}

fn singled_out(
    classes: &CellClasses,
    linked: &Linked<'_>,
    named: &[Option<Vec<Vec<Code>>>],
    group: usize,
    tuples: &[u32],
) -> SingledOut {
    let rows = |tuple: &u32| linked.known.people[*tuple as usize];
    let (mut hit, mut missed): (Vec<u32>, f64) = (Vec::new(), 1.0);
    for (place, named) in named.iter().enumerate() {
        let Some(cells) = named else { continue };
        let own = &cells[classes.quasi[place].of_group[group] as usize];
        if own.is_empty() {
            continue;
        }
        // Of each value, how many people have it, and who if it is one.
        let mut counts: HashMap<Code, (u64, u32)> = HashMap::new();
        for tuple in tuples {
            let code = linked.known.tuples[place][*tuple as usize];
            let held = counts.entry(code).or_insert((0, *tuple));
            held.0 += rows(tuple);
        }
        let single = |code: &Code| counts.get(code).filter(|(n, _)| *n == 1);
        hit.extend(own.iter().filter_map(single).map(|(_, tuple)| *tuple));
        let alone = counts.values().filter(|(n, _)| *n == 1).count() as f64;
        let cover = &linked.covers.columns[place].covers;
        let cover = &cover[classes.quasi[place].of_group[group] as usize];
        let column = &linked.columns[place];
        let n = cover.n_values(&column.hierarchy);
        missed *= (1.0 - alone / n.max(1) as f64).max(0.0).powi(own.len() as i32);
    }
    hit.sort_unstable();
    hit.dedup();
    let people: u64 = tuples.iter().map(rows).sum();
    let by_values =
        match people == classes.sizes[group] && !classes.sensitive.is_empty() {
            true => classes.n_alone(group),
            false => 0,
        };
    SingledOut { people: hit.len() as u64, chance: 1.0 - missed, by_values }
}
