//! The `scumble` command: one file a subcommand.

mod advise;
mod audit;
mod cancel;
mod compare;
mod demo;
mod estimate;
mod inspect;
mod output;
mod progress;
mod publish;
mod reproduce;
mod result;
mod sample;
mod warnings;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use rayon::ThreadPoolBuilder;
use scumble::error::{Error, ErrorKind, Result};

/// Publish tables about people, keep a promise to them, and prove it.
#[derive(Debug, Parser)]
#[command(
    name = "scumble",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
    Inspect(inspect::InspectArgs),
    Publish(publish::PublishArgs),
    Audit(audit::AuditArgs),
    Estimate(estimate::EstimateArgs),
    Sample(sample::SampleArgs),
    Compare(compare::CompareArgs),
    Advise(advise::AdviseArgs),
    Reproduce(reproduce::ReproduceArgs),
}

impl Command {
    /// What is said if it is cancelled: what became of its files.
    fn cancelled(&self) -> &'static str {
        match self {
            Self::Publish(_) | Self::Compare(_) => "cancelled: nothing was written",
            Self::Inspect(args) if args.writes() => "cancelled: nothing was written",
            Self::Sample(args) if args.writes() => "cancelled: nothing was written",
            Self::Sample(_) => "cancelled: these are not all rows",
            Self::Demo(_) => "cancelled: what was finished is kept",
            _ => "cancelled",
        }
    }
}

/// Starts the threads that all work is done on; where there can be no others, on this one.
fn start_threads() -> Result<()> {
    let all = ThreadPoolBuilder::new().build_global();
    let alone = || ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    all.or_else(|_| alone().build_global()).map_err(|_| {
        Error::input("no threads can be started").with_hint("end other programs first")
    })
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let cancelled = arguments.command.cancelled();
    // Experiments do not look whether they are still wanted: they end as any program does.
    if !matches!(arguments.command, Command::Reproduce(_)) {
        cancel::listen();
    }
    if let Err(error) = start_threads() {
        output::error(&error);
        return ExitCode::from(error.exit_code());
    }
    let done = match arguments.command {
        Command::Demo(args) => demo::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Publish(args) => publish::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Estimate(args) => estimate::run(&args),
        Command::Sample(args) => sample::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Advise(args) => advise::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            if let ErrorKind::Cancelled = error.kind() {
                output::message(&format!("{cancelled}\n"));
                return ExitCode::from(cancel::exit_code());
            }
            output::error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
