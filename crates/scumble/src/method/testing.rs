//! What tests of dealt groups need.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use crate::hierarchy::{ColumnSpec, Microdata, Rule};
use crate::method::Buckets;
use crate::table::{ReadOptions, Reading, Role, Source};
use crate::watch::Unwatched;

/// A table with these quasi numbers and a sensitive value in each row.
pub(super) fn table(rows: &[(Vec<u32>, u32)]) -> Microdata {
    let n_columns = rows.first().map_or(1, |(quasi, _)| quasi.len());
    let name = |column: usize| format!("q{column}");
    let mut text: String = (0..n_columns).map(|column| name(column) + ",").collect();
    text.push_str("s\n");
    for (quasi, value) in rows {
        quasi.iter().for_each(|code| text.push_str(&format!("{code},")));
        text.push_str(&format!("v{value:03}\n"));
    }
    let mut specs: Vec<ColumnSpec> = (0..n_columns)
        .map(|column| {
            let reading = Reading::number();
            ColumnSpec::new(&name(column), Role::Quasi, reading, Rule::Plain)
        })
        .collect();
    let reading = Reading::category();
    specs.push(ColumnSpec::new("s", Role::Sensitive, reading, Rule::Plain));
    let options = ReadOptions::default();
    let source = Source::from_bytes("t.csv", text.into_bytes(), &options).unwrap();
    Microdata::read(&source, &specs, &Unwatched).unwrap()
}

/// Rows whose values lean on the first quasi column, small values being common.
pub(super) fn random_rows(
    rng: &mut ChaCha20Rng,
    n_rows: usize,
    n_codes: u32,
    n_values: u32,
) -> Vec<(Vec<u32>, u32)> {
    let lean = rng.random_range(0..4u32);
    let row = |rng: &mut ChaCha20Rng| {
        let quasi: Vec<u32> = (0..2).map(|_| rng.random_range(0..n_codes)).collect();
        let near = quasi[0] * n_values / n_codes;
        let even = rng.random_range(0..n_values);
        let value = match rng.random_range(0..8u32) {
            0 => even.min(rng.random_range(0..n_values)),
            turn if turn <= lean => (near + rng.random_range(0..3)).min(n_values - 1),
            _ => even,
        };
        (quasi, value)
    };
    (0..n_rows).map(|_| row(rng)).collect()
}

/// Every row of the table is in one group or left out.
pub(super) fn has_every_row_once(data: &Microdata, buckets: &Buckets) -> bool {
    let mut left = data.census.entries.clone();
    for entry in buckets.entries.iter().chain(&buckets.left_out) {
        match left[*entry].checked_sub(1) {
            Some(n) => left[*entry] = n,
            None => return false,
        }
    }
    left.iter().all(|n| *n == 0)
        && buckets.starts.first() == Some(&0)
        && buckets.starts.last() == Some(&buckets.entries.len())
        && buckets.starts.is_sorted_by(|a, b| a < b)
}

/// What `run` gives with one thread and with four.
pub(super) fn with_threads<T: Send>(run: impl Fn() -> T + Sync) -> [T; 2] {
    [1, 4].map(|n| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(&run)
    })
}
