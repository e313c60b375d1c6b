//! A made-up table of many columns, as hospitals have them: up to 25 quasi columns and an
//! illness, of which some depend on how ill somebody is and on where they were treated.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How many values each column has.
const SIZES: [usize; 25] = [
    10, 2, 6, 3, 20, 14, 40, 60, 25, 8, 30, 12, 4, 5, 3, 3, 4, 4, 3, 2, 2, 6, 9, 16, 50,
];

/// By column in turn: how common each value is beside the one before, and how often the
/// column follows from who somebody is.
const KINDS: [(f64, f64); 5] =
    [(0.55, 0.7), (0.9, 0.2), (0.3, 0.5), (0.8, 0.0), (0.7, 0.4)];

/// The table as CSV.
pub(crate) fn table(n_rows: usize) -> Vec<u8> {
    let random = &mut ChaCha8Rng::seed_from_u64(101_766);
    let names: Vec<String> =
        (0..SIZES.len()).map(|column| format!("c{column}")).collect();
    let mut text = names.join(",") + ",illness\n";
    for _ in 0..n_rows {
        let (ill, ward) = (random.random::<f64>().powi(2), random.random_range(0..6));
        for (column, size) in SIZES.into_iter().enumerate() {
            let (ratio, follows) = KINDS[column % KINDS.len()];
            let value = if random.random_bool(follows) {
                let place = (ward * 7 + column * 3) % size;
                ((place as f64 + ill * size as f64) / 2.0) as usize
            } else {
                skewed(random, size, ratio)
            };
            text.push_str(&format!("{},", value.min(size - 1)));
        }
        let illness = skewed(random, 12, 0.7);
        text.push_str(&format!("i{illness}\n"));
    }
    text.into_bytes()
}

fn skewed(random: &mut ChaCha8Rng, n: usize, ratio: f64) -> usize {
    let mut value = 0;
    while value + 1 < n && random.random_bool(ratio) {
        value += 1;
    }
    value
}

/// A recipe with the first columns of the table.
pub(crate) fn recipe(n_columns: usize, more: &str) -> String {
    let mut text = "[input]\ntable = \"wide.csv\"\n[columns]\n".to_owned();
    for (column, size) in SIZES.into_iter().enumerate().take(n_columns) {
        let factor = if size < 25 { 2 } else { 3 };
        let first = if size < 12 { 2 } else { 3 };
        let widths = std::iter::successors(Some(first), |width| Some(width * factor));
        let widths: Vec<usize> = widths.take_while(|width| *width < size).collect();
        text.push_str(&match widths.is_empty() {
            true => format!("c{column} = \"quasi\"\n"),
            false => format!(
                "c{column} = {{ role = \"quasi\", hierarchy = {{ widths = {widths:?} }} }}\n"
            ),
        });
    }
    text + "illness = \"sensitive\"\n[promise]\nk-anonymity = 5\n[method]\n\
            name = \"full-domain\"\n"
        + more
        + "\n"
}
