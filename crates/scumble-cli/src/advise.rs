//! `scumble advise`: parameters of a promise from risk.

mod breach;
mod presence;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use scumble::error::{Error, Result};

/// Find the parameters of a promise from the risk that is acceptable.
#[derive(Debug, Args)]
pub(crate) struct AdviseArgs {
    #[command(subcommand)]
    about: About,
}

#[derive(Debug, Subcommand)]
enum About {
    Presence(presence::PresenceArgs),
    Breach(breach::BreachArgs),
}

/// How much a belief may change: as a probability, or by its cost.
#[derive(Debug, Args)]
struct Risk {
    /// The acceptable change of belief, as a probability.
    #[arg(
        long,
        value_name = "PROBABILITY",
        required_unless_present = "acceptable_cost",
        conflicts_with_all = ["acceptable_cost", "cost"]
    )]
    misuse: Option<f64>,
    /// The cost to a person that is acceptable.
    #[arg(long, value_name = "COST", requires = "cost")]
    acceptable_cost: Option<f64>,
    /// The cost to a person if the condition becomes known.
    #[arg(long, value_name = "COST", requires = "acceptable_cost")]
    cost: Option<f64>,
}

impl Risk {
    fn change(&self) -> Result<f64> {
        match (self.misuse, self.acceptable_cost, self.cost) {
            (Some(change), ..) => Ok(change),
            (None, Some(acceptable), Some(cost)) => {
                if !(cost > 0.0 && cost.is_finite()) {
                    return Err(Error::out_of_range("cost", cost, "above 0"));
                }
                if !(acceptable > 0.0 && acceptable < cost) {
                    let wanted = "above 0 and below the cost of the condition";
                    return Err(Error::out_of_range(
                        "acceptable-cost",
                        acceptable,
                        wanted,
                    ));
                }
                Ok(acceptable / cost)
            }
            _ => Err(Error::recipe("say how much is acceptable: `--misuse 0.01`")),
        }
    }
}

pub(crate) fn run(args: &AdviseArgs) -> Result<ExitCode> {
    match &args.about {
        About::Presence(args) => presence::run(args),
        About::Breach(args) => breach::run(args),
    }
}
