//! What users see: exit code, standard output and standard error of real runs.
//!
//! A file a subcommand; `methods` goes from recipe to estimate with each kind of method.
#![expect(clippy::unwrap_used, reason = "a test may stop at any error")]

#[path = "../../../scumble/tests/it/by_hand.rs"]
mod by_hand;
mod command;

#[cfg(unix)]
mod cancel;
mod compare;
mod estimate;
mod publish;
mod reproduce;
mod sample;

mod methods {
    mod blurred;
    mod buckets;
    mod presence;
    mod randomized;
}
