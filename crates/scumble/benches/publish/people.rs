//! A made-up survey of people, as large as wanted: nine quasi columns and an illness.
//!
//! Shaped like the health surveys that anonymization tools are compared on: skewed and
//! dependent columns, a lattice of 25,920 nodes.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The survey as CSV.
pub(crate) fn survey(n_rows: usize) -> Vec<u8> {
    let random = &mut ChaCha8Rng::seed_from_u64(1_193_504);
    let mut text = String::with_capacity(n_rows * 32 + 100);
    text.push_str(
        "year,quarter,region,age,sex,race,marital,education,occupation,illness\n",
    );
    for _ in 0..n_rows {
        let age = age(random);
        let marital = if age < 16 { 0 } else { skewed(random, 10, 0.45) };
        let education = if age < 6 { 0 } else { skewed(random, 27, 0.8).min(age) };
        let occupation =
            if !(16..75).contains(&age) { 0 } else { skewed(random, 42, 0.9) };
        let race = skewed(random, 16, 0.35);
        let year = 1997 + random.random_range(0..13);
        let quarter = random.random_range(1..5);
        let region = skewed(random, 4, 0.8);
        let sex = if random.random_bool(0.52) { "F" } else { "M" };
        let illness = skewed(random, 12, 0.7);
        text.push_str(&format!(
            "{year},{quarter},{region},{age},{sex},{race},{marital},{education},\
             {occupation},{illness}\n"
        ));
    }
    text.into_bytes()
}

fn age(random: &mut ChaCha8Rng) -> usize {
    let young: usize = random.random_range(0..75);
    if random.random_bool(0.12) { (young + 27).min(101) } else { young }
}

/// A number below `n`; each is `ratio` times as common as the one before.
fn skewed(random: &mut ChaCha8Rng, n: usize, ratio: f64) -> usize {
    let mut value = 0;
    while value + 1 < n && random.random_bool(ratio) {
        value += 1;
    }
    value
}

/// Every 25th of the survey: a private table, of which the survey is the population.
pub(crate) fn part(survey: &[u8]) -> Vec<u8> {
    let lines = survey.split_inclusive(|byte| *byte == b'\n').enumerate();
    lines
        .filter(|(place, _)| place % 25 == 0)
        .flat_map(|(_, line)| line)
        .copied()
        .collect()
}

/// A recipe for the survey, or for the part of it.
pub(crate) fn recipe(promise: &str, method: &str) -> String {
    let input = if promise.contains("presence") {
        "table = \"part.csv\"\npopulation = \"survey.csv\""
    } else {
        "table = \"survey.csv\""
    };
    format!(
        "[input]\n{input}\n[columns]\n\
         year = {{ role = \"quasi\", hierarchy = {{ widths = [2, 4, 8, 16] }} }}\n\
         quarter = \"quasi\"\nregion = \"quasi\"\n\
         age = {{ role = \"quasi\", hierarchy = {{ widths = [5, 10, 20, 40] }} }}\n\
         sex = \"quasi\"\n\
         race = {{ role = \"quasi\", hierarchy = {{ widths = [4] }} }}\n\
         marital = \"quasi\"\n\
         education = {{ role = \"quasi\", hierarchy = {{ widths = [3, 9, 18] }} }}\n\
         occupation = {{ role = \"quasi\", hierarchy = {{ widths = [10] }} }}\n\
         illness = \"sensitive\"\n[promise]\n{promise}\n[method]\n{method}\n"
    )
}
