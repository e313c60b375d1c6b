//! Tests from outside, by what they call and of which kind the release is.
//!
//! The folder says what is called: `publish`, `audit`, `estimate`. The file says what was done to
//! the columns: generalized, published as weights (`pdf`), by group (`buckets`), randomized,
//! blurred, or held against a population (`presence`). `oracle` has what is compared with brute
//! force, `contract` what everything of a kind owes, `cancel` what is left when nobody waits.
//! `fault` has what goes wrong outside: files that change, runs that are killed, inputs that are
//! damaged. `builder` makes tables, recipes and releases for all of them.
#![expect(clippy::unwrap_used, reason = "a test may stop at any error")]

mod builder;
mod cancel;
mod contract;
mod databases;
mod formats;
mod methods;
mod readers;

mod publish {
    mod blurred;
    mod buckets;
    mod conditions;
    mod domains;
    pub(crate) mod every_way;
    mod formulas;
    mod grid;
    mod ledger;
    mod left_out;
    mod memory;
    mod mixtures;
    mod people;
    mod people_of_population;
    mod plan;
    mod presence;
    mod randomized;
    mod randomized_numbers;
    mod robust_rows;
    mod shares;
    mod told;
}

mod fault {
    mod changed;
    mod leak;
    mod mutated;
}

mod audit {
    mod blurred;
    mod buckets;
    mod dependence;
    mod every_release;
    mod generalized;
    mod learned;
    mod minimality;
    mod pdf;
    mod presence;
    mod randomized;
    mod together;
}

mod estimate {
    mod asked;
    mod blurred;
    mod buckets;
    mod calibrated;
    mod every_method;
    mod generalized;
    mod mixtures;
    mod randomized;
    mod randomized_numbers;
    mod sample;
    mod shares;
    mod taught;
}

mod oracle {
    mod apart;
    mod blurred;
    mod cuts;
    mod domains;
    mod generalized;
    mod minimality;
    mod pairs;
    mod pdf;
    mod people;
    mod presence;
    mod robust_rows;
    mod values;
}
