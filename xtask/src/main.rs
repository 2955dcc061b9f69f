//! The project's chores. Each is a verb of `cargo xtask` with a file of its own;
//! none may know what the code it builds is for.

mod capi;
mod ci;
mod component;
mod engines;
mod minimal;
mod rules;
mod run;
mod setup;
mod sim;
mod sizes;
mod soak;
mod test;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::capi::Wanted;
use crate::rules::Then;
use crate::sim::Seeds;

/// The project's chores.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Find or install what building and testing need.
    Setup {
        /// Only what building needs; no servers for tests.
        #[arg(long)]
        build_only: bool,
    },
    /// Build the components and say where they are.
    Component {
        /// Build it again in another folder and compare the bytes.
        #[arg(long)]
        verify: bool,
    },
    /// Make the engines anew that tests host, see tests/engines/README.md.
    Engines,
    /// Build everything and run the demo; arguments are passed on.
    Demo {
        /// Arguments of `outwatch demo`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Build everything and run every test; arguments choose among them.
    Test {
        /// Arguments of the test runner.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Write anew which rooms and tests stand for each rule in docs/RULES.md.
    Rules {
        /// Change nothing, and fail if it is not current.
        #[arg(long)]
        check: bool,
    },
    /// Play the engine's simulation for many seeds, or one with its trace.
    Sim {
        /// How many seeds.
        #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
        seeds: u64,
        /// The first of them.
        #[arg(long, value_name = "SEED", default_value_t = 0)]
        from: u64,
        /// Only this seed, with all that happens.
        #[arg(long, conflicts_with_all = ["seeds", "from"])]
        seed: Option<u64>,
    },
    /// Send many more connections through the real binary than its test does.
    Soak {
        /// How many rounds of some hundred connections.
        #[arg(long, value_name = "COUNT", default_value_t = 2_000)]
        rounds: u64,
    },
    /// Build and test the library with all left out that can be.
    Minimal,
    /// Build the C interface, `liboutwatch` and its header, into target/capi.
    Capi {
        /// These features instead of the default ones; empty for none.
        #[arg(long, value_name = "LIST")]
        features: Option<String>,
        /// For another machine than this.
        #[arg(long, value_name = "TRIPLE")]
        target: Option<String>,
    },
    /// Weigh what each feature of the library adds to a program.
    Sizes,
    /// Everything that must hold before a change lands.
    Ci,
}

fn main() -> ExitCode {
    match verb(Args::parse().verb) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            run::say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn verb(verb: Verb) -> Result<()> {
    match verb {
        Verb::Setup { build_only: true } => setup::for_building().map(drop),
        Verb::Setup { build_only: false } => setup::for_testing(),
        Verb::Component { verify } => component::component(verify),
        Verb::Engines => engines::engines(),
        Verb::Demo { args } => {
            setup::for_building()?;
            let program = ["run", "--package", "outwatch", "--", "demo"];
            run::cargo(program).args(args).run()
        }
        Verb::Test { args } => test::test(&args),
        Verb::Rules { check: false } => rules::rules(Then::Write),
        Verb::Rules { check: true } => rules::rules(Then::Fail),
        Verb::Sim {
            seed: Some(seed), ..
        } => sim::sim(&Seeds::One(seed)),
        Verb::Sim {
            seeds: count,
            from,
            seed: None,
        } => sim::sim(&Seeds::Many { from, count }),
        Verb::Soak { rounds } => soak::soak(rounds),
        Verb::Minimal => minimal::minimal(),
        Verb::Capi { features, target } => capi::capi(&Wanted { features, target }),
        Verb::Sizes => sizes::sizes(),
        Verb::Ci => ci::ci(),
    }
}
