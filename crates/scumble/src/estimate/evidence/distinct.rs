//! The rows of a release that differ.

use crate::table::{Code, Numbers, Scan};

/// Distinct rows: how often each occurs, and for each column its texts and their codes.
pub(super) struct Distinct {
    pub(super) rows: Vec<u64>,
    pub(super) columns: Vec<(Vec<Box<str>>, Vec<u32>)>,
}

impl Distinct {
    pub(super) fn of_scan(found: Scan) -> Self {
        let texts = found.dictionaries.into_iter().map(|found| found.texts.into_vec());
        let codes = found.counts.columns.into_iter();
        let codes = codes.map(|codes| codes.into_iter().map(Code::get).collect());
        let columns = texts.zip(codes).collect();
        Self { rows: found.counts.rows, columns }
    }

    /// The same of what rows have beside their numbers.
    pub(super) fn of_numbers(read: &Numbers, n_columns: usize) -> Self {
        let mut rows = vec![0; read.kind_cells.len()];
        read.kinds.iter().for_each(|kind| rows[*kind as usize] += 1);
        let codes: Vec<u32> = (0..rows.len() as u32).collect();
        let column = |place: usize| {
            let texts = read.kind_cells.iter().map(|cells| cells[place].clone());
            (texts.collect(), codes.clone())
        };
        Self { columns: (0..n_columns).map(column).collect(), rows }
    }
}
