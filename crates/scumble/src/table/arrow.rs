//! Arrow columns row by row, every cell as the text it would be in a CSV file.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Schema};
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::table::source::{Fault, RowPlace, Work};
use crate::watch::Watch;

/// What a column held before its cells became text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnForm {
    /// Text, as in every column of a CSV file.
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers with a fraction, decimal or binary.
    Float,
    /// True or false.
    Boolean,
    /// Days or moments.
    Date,
    /// Anything else; it may have no text.
    Other,
}

impl ColumnForm {
    fn of(data: &DataType) -> Self {
        match data {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            DataType::Dictionary(_, values) => Self::of(values),
            DataType::Boolean => Self::Boolean,
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Self::Date,
            DataType::Decimal32(_, 0)
            | DataType::Decimal64(_, 0)
            | DataType::Decimal128(_, 0)
            | DataType::Decimal256(_, 0) => Self::Integer,
            data if data.is_integer() => Self::Integer,
            data if data.is_numeric() => Self::Float,
            _ => Self::Other,
        }
    }
}

/// The names of the columns, and what they hold.
pub(super) fn described(schema: &Schema) -> (Vec<String>, Vec<ColumnForm>) {
    let fields = schema.fields().iter();
    fields.map(|f| (f.name().clone(), ColumnForm::of(f.data_type()))).unzip()
}

/// That each of these columns holds one value a row.
pub(super) fn check_flat(schema: &Schema, columns: &[usize]) -> Result<()> {
    for column in columns {
        let field = schema.field(*column);
        if field.data_type().is_nested() {
            let name = field.name();
            return Err(Error::input(format!(
                "column `{name}` holds lists or records, but must hold one value a row"
            ))
            .with_hint("leave the column out, or flatten it first"));
        }
    }
    Ok(())
}

/// Has workers on all threads take numbered blocks in order and `read` them, until one
/// fails or the work is cancelled. `read` says how many rows the block has.
pub(super) fn fold_blocks<S: Send>(
    n_blocks: usize,
    start: impl Fn() -> S + Sync,
    read: impl Fn(u32, &mut S) -> Result<u32, Fault> + Sync,
    watch: &dyn Watch,
) -> Vec<Work<S>> {
    let next = AtomicU32::new(0);
    let stopped = AtomicBool::new(false);
    let work = |_| {
        let mut work = Work { state: start(), blocks: Vec::new(), fault: None };
        while !stopped.load(Ordering::SeqCst) && !watch.is_cancelled() {
            let block = next.fetch_add(1, Ordering::SeqCst);
            if block as usize >= n_blocks {
                break;
            }
            match read(block, &mut work.state) {
                Ok(n_rows) => work.blocks.push((block, n_rows)),
                Err(fault) => {
                    stopped.store(true, Ordering::SeqCst);
                    work.fault = Some(fault);
                }
            }
        }
        work
    };
    let workers = 0..rayon::current_num_threads();
    workers.into_par_iter().with_max_len(1).map(work).collect()
}

/// Shows the rows of some columns, each with its name, to `row`, and moves `at` behind
/// them.
pub(super) fn show_rows<'a, S>(
    columns: impl Iterator<Item = (&'a String, &'a ArrayRef)>,
    at: &mut RowPlace,
    n_rows: usize,
    row: impl Fn(&mut S, RowPlace, &[&str]) -> Result<()>,
    state: &mut S,
) -> Result<(), Fault> {
    let mut arrays: Vec<StringArray> = Vec::new();
    for (name, array) in columns {
        let text = text(array).map_err(|_| {
            let error =
                Error::input(format!("column `{name}` cannot be written as text"));
            Fault::new(at.block, at.row, |_| error)
        })?;
        arrays.push(text.as_string::<i32>().clone());
    }
    let mut cells = vec![""; arrays.len()];
    for entry in 0..n_rows {
        for (cell, array) in cells.iter_mut().zip(&arrays) {
            *cell = if array.is_null(entry) { "" } else { array.value(entry) };
        }
        row(state, *at, &cells)
            .map_err(|error| Fault::new(at.block, at.row, |_| error))?;
        at.row += 1;
    }
    Ok(())
}

fn text(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let cast = |array: &ArrayRef, to: &DataType| cast_with_options(array, to, &options);
    match array.data_type() {
        // Moments are written in UTC: the names of other zones would need a database.
        DataType::Timestamp(unit, Some(_)) => {
            let utc = DataType::Timestamp(*unit, Some("+00:00".into()));
            cast(&cast(&cast(array, &DataType::Int64)?, &utc)?, &DataType::Utf8)
        }
        _ => cast(array, &DataType::Utf8),
    }
}
