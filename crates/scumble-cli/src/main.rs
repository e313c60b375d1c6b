//! The `scumble` command: one file a subcommand.

mod advise;
mod audit;
mod cancel;
mod compare;
mod demo;
mod estimate;
mod hierarchy;
mod inspect;
mod output;
mod progress;
mod publish;
mod reproduce;
mod result;
mod sample;
mod shell;
mod table;
mod warnings;

use std::panic;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use rayon::ThreadPoolBuilder;
use scumble::error::{Error, ErrorKind, Result};
use scumble::table::is_guarded;

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
    Hierarchy(hierarchy::HierarchyArgs),
    Publish(publish::PublishArgs),
    Audit(audit::AuditArgs),
    Estimate(estimate::EstimateArgs),
    Sample(sample::SampleArgs),
    Compare(compare::CompareArgs),
    Advise(advise::AdviseArgs),
    Reproduce(reproduce::ReproduceArgs),
    #[command(hide = true)]
    Completions(shell::CompletionsArgs),
    #[command(hide = true)]
    Man(shell::ManArgs),
}

impl Command {
    /// What is said if it is cancelled: what became of its files.
    fn cancelled(&self) -> &'static str {
        match self {
            Self::Publish(_) | Self::Compare(_) => "cancelled: nothing was written",
            Self::Hierarchy(args) if args.writes() => "cancelled: nothing was written",
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

/// Says nothing of panics that a reader catches: what is wrong with a file is said once, as
/// an error.
fn leave_caught_panics_unsaid() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !is_guarded() {
            usual(panic);
        }
    }));
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    leave_caught_panics_unsaid();
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
        Command::Hierarchy(args) => hierarchy::run(&args),
        Command::Publish(args) => publish::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Estimate(args) => estimate::run(&args),
        Command::Sample(args) => sample::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Advise(args) => advise::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Arguments that are cut, doubled and swapped are refused or taken, and nothing panics.
    #[test]
    fn damaged_arguments_are_refused() {
        let lines = [
            "publish recipe.toml --directory out --force --plan p --seed 3 --json -q",
            "publish recipe.toml --ledger l.json --strict-ledger --use-plan p",
            "audit release --original t.csv --also other --knowledge table --delimiter ;",
            "estimate release --sql SELECT --classify t.csv --json",
            "sample release --rows 5 --seed 1 --output o.csv",
            "compare a.toml b.toml --output o --seed 9",
            "inspect t.csv --delimiter ; --force",
        ];
        let odd =
            ["", "-", "--", "--seed=-1", "--seed=99999999999999999999", "\u{202e}"];
        let mut number: u64 = 1;
        let mut next = |most: usize| {
            number = number
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (number >> 33) as usize % most.max(1)
        };
        for _ in 0..3000 {
            let line = lines[next(lines.len())];
            let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            for _ in 0..=next(3) {
                let at = next(words.len());
                match next(4) {
                    0 => drop(words.remove(at)),
                    1 => words.insert(at, odd[next(odd.len())].to_owned()),
                    2 => words.push(words[at].clone()),
                    _ => words.swap(at, 0),
                }
                if words.is_empty() {
                    break;
                }
            }
            let all = ["scumble".to_owned()].into_iter().chain(words);
            let _ = Arguments::try_parse_from(all);
        }
    }
}
