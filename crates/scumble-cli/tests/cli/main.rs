//! What users see: exit code, standard output and standard error of real runs.
//!
//! A file a subcommand; `methods` goes from recipe to estimate with each kind of method.
#![expect(clippy::unwrap_used, reason = "a test may stop at any error")]

#[path = "../../../scumble/tests/it/builder.rs"]
#[expect(dead_code, reason = "the library's tests have more use for it")]
mod builder;
mod command;

#[cfg(unix)]
mod cancel;
mod compare;
mod estimate;
mod everyday;
mod fault;
mod ledger;
mod publish;
mod reproduce;
mod sample;
mod table;
mod tables;

mod methods {
    mod blurred;
    mod buckets;
    mod presence;
    mod randomized;
}
