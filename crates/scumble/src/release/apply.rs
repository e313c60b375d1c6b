//! Applying a plan to rows outside this program: a pure function from texts to texts.

use crate::error::Result;
use crate::method::Plan;
use crate::release::cell;

/// The published quasi cells of each row, in the order of the plan's columns; nothing for
/// rows that the plan leaves out or has no cells for. A batch gives what its rows would
/// give one by one, so another engine may cut the table into batches as it likes. Whoever
/// does so must still check the result: a plan promises nothing about other rows.
pub fn apply(plan: &Plan, rows: &[Vec<&str>]) -> Result<Vec<Option<Vec<String>>>> {
    let applied = plan.apply(rows)?;
    let texts = applied.cells.iter().map(|cells| {
        let cells = cells.as_ref()?;
        let pairs = applied.columns.iter().zip(cells);
        Some(pairs.map(|(column, cover)| cell::text(column, cover)).collect())
    });
    Ok(texts.collect())
}
