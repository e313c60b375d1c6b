//! How often each value truly occurs. Only scorers and exact rechecks see it.

use hashbrown::HashMap;

use crate::audit::cells::another_table;
use crate::audit::drawn::{Drawn, DrawnColumn, margin};
use crate::audit::given::sensitive_place;
use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::release::Manifest;
use crate::table::Code;

/// The original, counted by the values of each randomized column.
#[derive(Debug)]
pub(crate) struct TrueCounts {
    /// For each randomized column, the rows of each of its values.
    pub(crate) counts: Vec<Vec<u64>>,
    /// Rows of the table.
    pub(crate) rows: u64,
    /// Whether the rows that were randomized are those of the table.
    pub(crate) exact: bool,
}

impl TrueCounts {
    /// Counts, and refuses a table that cannot have given the release.
    pub(crate) fn of(
        manifest: &Manifest,
        drawn: &Drawn,
        original: &Microdata,
    ) -> Result<Self> {
        let rows = original.n_rows();
        if manifest.rows.checked_add(manifest.left_out) != Some(rows) {
            return Err(another_table());
        }
        let left_out = manifest.left_out;
        let counts =
            drawn.columns.iter().map(|column| counted(column, original, left_out));
        let counts = counts.collect::<Result<Vec<_>>>()?;
        let exact = manifest.left_out == 0 || drawn.sampled;
        let truth = Self { counts, rows, exact };
        if manifest.left_out == 0 && !drawn.sampled {
            let columns = drawn.columns.iter().zip(&truth.counts);
            for (column, counts) in columns {
                if !follows(column, counts) {
                    return Err(another_table()
                        .with_hint("or its values were not drawn by the matrix"));
                }
            }
        }
        Ok(truth)
    }
}

/// Whether the published counts are such as the matrix gives. With sub-tables the true
/// counts of each are not known. The draws of a key, or of a person, are the same for the
/// same identifier.
fn follows(column: &DrawnColumn, counts: &[u64]) -> bool {
    let [table] = column.tables.as_slice() else { return true };
    if column.keyed || column.by_person {
        return true;
    }
    let true_counts: Vec<f64> =
        table.values.iter().map(|code| counts[*code] as f64).collect();
    let expected = table.matrix.published(&true_counts);
    let tests = expected.len();
    expected.iter().zip(&table.published).all(|(expected, found)| {
        (expected - *found as f64).abs() <= margin(*expected, 1.0, tests)
    })
}

/// How often each value of a randomized column occurs in the original. Values that only rows
/// have that were left out need not be in its domain.
fn counted(
    column: &DrawnColumn,
    original: &Microdata,
    left_out: u64,
) -> Result<Vec<u64>> {
    let names = column.names.iter();
    let places = names.map(|name| sensitive_place(original, name));
    let places: Vec<usize> = places.collect::<Result<_>>()?;
    let census = &original.census;
    let mut tuples: HashMap<Vec<Code>, Option<usize>> = HashMap::new();
    let (mut counts, mut beyond) = (vec![0; column.values.len()], 0);
    for (entry, rows) in census.entries.pairs() {
        if *rows == 0 {
            continue;
        }
        let codes: Vec<Code> =
            places.iter().map(|place| census.sensitive[*place][entry]).collect();
        let code = match tuples.get(&codes) {
            Some(code) => *code,
            None => {
                let texts = places
                    .iter()
                    .zip(&codes)
                    .map(|(place, code)| original.sensitive[*place].domain.text(*code));
                let texts: Vec<&str> = texts.collect();
                let code = column.code(&texts);
                tuples.insert(codes, code);
                code
            }
        };
        match code {
            Some(code) => counts[code] += rows,
            None => beyond += rows,
        }
    }
    if beyond > left_out {
        return Err(another_table());
    }
    Ok(counts)
}
