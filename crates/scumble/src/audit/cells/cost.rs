//! What the release costs, and whether it is of this table at all.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::audit::attacks::linkage::LinkageGuesses;
use crate::audit::cells::{
    CellClasses, ColumnCovers, Covers, QuasiKnowledge, WeightedCells, Whose, fitting,
};
use crate::audit::given::sensitive_place;
use crate::error::{Error, Result};
use crate::hierarchy::{Column, Microdata};
use crate::loss::{self, CellLoss, Kl, Loss, Shape, Sizes};

/// Every row of the table is published or left out, and a group of n rows needs n people
/// who fit into it; no value is published more often than it occurs. That this holds does
/// not prove the release to be of the table; that it fails proves the contrary.
pub(crate) fn check_same_table(
    view: &CellClasses,
    guesses: &LinkageGuesses,
    original: &Microdata,
    left_out: u64,
) -> Result<()> {
    let fits = guesses.people_of_group.as_ref().is_none_or(|people| {
        people.iter().zip(&view.sizes).all(|(people, size)| people >= size)
    });
    if view.rows + left_out != original.n_rows()
        || !fits
        || !values_occur(view, original)
    {
        return Err(another_table());
    }
    Ok(())
}

pub(crate) fn another_table() -> Error {
    Error::input("the release is not of this table")
        .with_hint("give the same file it was made from")
}

/// Whether the table has every published sensitive value at least as often.
fn values_occur(view: &CellClasses, original: &Microdata) -> bool {
    view.columns().all(|values| {
        let name = &values.column().name;
        let Ok(place) = sensitive_place(original, name) else { return false };
        let column = &original.sensitive[place];
        let (held, published) = (column.domain.index(), &values.column().domain);
        values.whole().counts().iter().zip(published.texts()).all(|(rows, text)| {
            let code = held.get(&**text).copied();
            let code = code.or(published.missing().and(column.domain.missing()));
            code.is_some_and(|code| column.rows[code] >= *rows)
        })
    })
}

/// What the true values cost under the weights of their group: minus the sum, over columns
/// and values, of rows times the logarithm of the weight. Fails if the table cannot have
/// these weights.
pub(crate) fn kl(
    view: &CellClasses,
    weights: &WeightedCells,
    covers: &Covers,
    columns: &[Cow<'_, Column>],
    known: &QuasiKnowledge<'_>,
) -> Result<f64> {
    let bound = weights.bind(&view.quasi, columns);
    let mut rows: Vec<Vec<Vec<u64>>> = bound
        .iter()
        .map(|cells| cells.iter().map(|cell| vec![0; cell.len()]).collect())
        .collect();
    let mut sizes = vec![0; view.n_groups()];
    let mut left_out = 0;
    for (tuple, groups) in fitting(view, covers, known)? {
        let (tuple, n) = (tuple as usize, known.people[tuple as usize]);
        let Some(group) = groups.first().map(|group| *group as usize) else {
            left_out += n;
            continue;
        };
        sizes[group] += n;
        let cells = bound[group].iter().zip(&mut rows[group]);
        for ((cell, rows), codes) in cells.zip(&known.tuples) {
            let place = cell.binary_search_by_key(&codes[tuple], |(code, _)| *code);
            rows[place.map_err(|_| another_table())?] += n;
        }
    }
    let mut total = 0.0;
    for (place, column) in columns.iter().enumerate() {
        let mut sum = left_out as f64 * Kl.left_out(column);
        for (group, cells) in bound.iter().enumerate() {
            let own = weights.whose[group][place] == Whose::Table;
            for ((_, weight), rows) in cells[place].iter().zip(&rows[group][place]) {
                let expected = weight * view.sizes[group] as f64;
                let differs = (expected - *rows as f64).abs() > 1e-6;
                if (own && differs) || (*rows > 0 && *weight <= 0.0) {
                    return Err(another_table());
                }
                if *rows > 0 {
                    sum -= *rows as f64 * weight.ln();
                }
            }
        }
        total += column.weight * sum;
    }
    if sizes != view.sizes {
        return Err(another_table());
    }
    Ok(total)
}

/// Every loss. Cells are costed once each, times the rows that have them; cells with
/// weights as the sets of their values.
pub(crate) fn losses(
    view: &CellClasses,
    covers: &Covers,
    columns: &[Cow<'_, Column>],
    n_rows: u64,
) -> BTreeMap<String, f64> {
    let left_out = n_rows.saturating_sub(view.rows);
    let rows_of_cells: Vec<Vec<u64>> = view
        .quasi
        .iter()
        .map(|column| {
            let mut rows = vec![0; column.cells.len()];
            for (cell, size) in column.of_group.iter().zip(&view.sizes) {
                rows[*cell as usize] += size;
            }
            rows
        })
        .collect();
    let mut sizes = Sizes { left_out, ..Sizes::default() };
    for size in &view.sizes {
        sizes.add(*size);
    }
    sizes.n_rows += left_out;

    let shape = |(covers, rows): (&ColumnCovers, &Vec<u64>)| -> Vec<_> {
        covers.covers.iter().cloned().zip(rows.iter().copied()).collect()
    };
    let cells: Vec<Vec<_>> =
        covers.columns.iter().zip(&rows_of_cells).map(shape).collect();
    let total = |loss: &Loss| match loss {
        Loss::Sizes(loss) => loss.total(&sizes),
        Loss::Cells(cell_loss) => {
            let mut sum = 0.0;
            let mut weights = 0.0;
            for (column, cells) in columns.iter().zip(&cells) {
                let groups = cells
                    .iter()
                    .map(|(cover, rows)| (*rows, std::slice::from_ref(cover)))
                    .collect();
                let alone =
                    loss.of(std::slice::from_ref(column), &Shape { groups, left_out });
                // A mean over one column does not have its weight in it, a sum does.
                let weight = if cell_loss.is_mean() { column.weight } else { 1.0 };
                sum += weight * alone;
                weights += weight;
            }
            if cell_loss.is_mean() && weights > 0.0 { sum / weights } else { sum }
        }
    };
    loss::ALL.iter().map(|loss| (loss.name().to_owned(), total(loss))).collect()
}
