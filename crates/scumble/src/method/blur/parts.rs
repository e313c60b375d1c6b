//! Which rows are blurred together.

use rayon::prelude::*;

use super::frame::people_of;
use super::{BlurTask, BlurredFrame, Frame};

/// The frames of a task, without their ladders, in the order of kinds and of missing
/// numbers.
///
/// Rows share a frame if their exact cells are equal and the same numbers are missing: only
/// such rows can be taken for each other.
pub(super) fn frames(task: &BlurTask<'_>) -> Vec<(BlurredFrame, Frame)> {
    let numbers = task.numbers;
    let scales = deviations(task);
    let missing =
        |row: u32| numbers.row(row as usize).iter().map(|value| value.is_nan());
    let kind = |row: u32| numbers.kinds.get(row as usize).copied().unwrap_or(0);
    let alike = |a: u32, b: u32| kind(a).cmp(&kind(b)).then(missing(a).cmp(missing(b)));
    let is_left = |row: &u32| task.classes.absent != Some(kind(*row));
    let mut rows: Vec<u32> = (0..numbers.n_rows as u32).filter(is_left).collect();
    rows.par_sort_by(|a, b| alike(*a, *b));
    rows.chunk_by(|a, b| alike(*a, *b).is_eq())
        .map(|rows| {
            let columns: Vec<usize> = missing(rows[0])
                .enumerate()
                .filter_map(|(column, missing)| (!missing).then_some(column))
                .collect();
            let values = rows.iter().flat_map(|row| {
                columns.iter().map(|column| numbers.row(*row as usize)[*column])
            });
            let frame = Frame {
                rows: rows.to_vec(),
                dims: columns.len(),
                coordinates: values.collect(),
                scales: columns.iter().map(|column| scales[*column]).collect(),
                steps: columns
                    .iter()
                    .map(|column| step(task.decimals[*column]))
                    .collect(),
                cuts: vec![0.0; columns.len()],
                shape: task.shape,
                people: match numbers.persons.is_empty() {
                    true => Vec::new(),
                    false => {
                        people_of(rows.iter().map(|row| numbers.persons[*row as usize]))
                    }
                },
            };
            let blurred = BlurredFrame {
                kind: kind(rows[0]),
                part: vec![[None, None]; columns.len()],
                axes: None,
                levels: Vec::new(),
                columns,
            };
            (blurred, frame)
        })
        .collect()
}

/// The step of numbers with so many decimals.
fn step(decimals: u32) -> f64 {
    1.0 / 10f64.powi(decimals as i32)
}

/// The standard deviation of each column, missing numbers aside.
fn deviations(task: &BlurTask<'_>) -> Vec<f64> {
    let numbers = task.numbers;
    let present = |column: usize| {
        (0..numbers.n_rows)
            .map(move |row| numbers.row(row)[column])
            .filter(|value| !value.is_nan())
    };
    (0..numbers.n_columns())
        .into_par_iter()
        .map(|column| {
            let count = present(column).count().max(1) as f64;
            let mean = present(column).sum::<f64>() / count;
            let first = present(column).next().unwrap_or(0.0);
            if present(column).all(|value| value == first) {
                return 0.0;
            }
            (present(column).map(|value| (value - mean).powi(2)).sum::<f64>() / count)
                .sqrt()
        })
        .collect()
}
