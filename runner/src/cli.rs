//! The command line: one verb per file, each from its arguments to an exit code.
//! It must not know how anything is monitored; it asks the library and shows.

mod api;
mod cache;
mod check;
mod completions;
mod component;
mod config;
mod core;
mod current;
mod demo;
mod exit;
mod explain;
mod failure;
mod hangup;
mod import;
mod interrupt;
mod journal;
mod log;
mod memory;
mod monitoring;
mod output;
mod progress;
mod reload;
mod run;
mod screen;
mod stream;
mod swap;
mod tags;
mod terminal;
mod test;
mod traffic;
mod workers;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use exit::Exit;
use failure::Failure;

/// Monitors the outbounds of a proxy core: delay, exit IP, country and network of
/// each.
///
/// Outwatch reads a sing-box style config file, opens a test address through each
/// outbound, times the answer, and finds out where the traffic comes out. It needs
/// nothing but the file.
#[derive(Debug, Parser)]
#[command(
    name = "outwatch",
    version,
    after_help = ROOT_HELP,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

const ROOT_HELP: &str = concat!(
    "\
Start here:
  outwatch demo                     See it work; needs no config and no network
  outwatch check -c config.json     What is in a config, and what is wrong with it
  outwatch test -c config.json      Test everything once, fastest first
  outwatch run -c config.json       Keep an eye on it until Ctrl-C
  outwatch explain TAG -c config.json
                                    One test, step by step, and what to do about it
  outwatch import links.txt         Make a config of share links

",
    include_str!("cli/exit_codes.txt"),
    "
Results go to standard output, everything else to standard error. Colours only show
on a terminal, and never with NO_COLOR set."
);

#[derive(Debug, Subcommand)]
enum Verb {
    Check(check::Args),
    Test(test::Args),
    Run(run::Args),
    Explain(explain::Args),
    Import(import::Args),
    Demo(demo::Args),
    Component(component::Args),
    Completions(completions::Completions),
    Man(completions::Man),
}

/// Runs the command line of this process.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Only a closed pipe can stop this, and then nobody reads on.
            let _ = error.print();
            let exit = if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Fine
            };
            return exit.into();
        }
    };
    match carry_out(cli.verb) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            failure.exit().into()
        }
    }
}

fn carry_out(verb: Verb) -> Result<Exit, Failure> {
    // Tests are many and small: to hand them from thread to thread costs a third more.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::unexpected("cannot start the runtime").because(&error))?;
    runtime.block_on(async {
        match verb {
            Verb::Check(args) => check::run(&args).await,
            Verb::Test(args) => test::run(&args).await,
            Verb::Run(args) => run::run(&args).await,
            Verb::Explain(args) => explain::run(&args).await,
            Verb::Import(args) => import::run(&args),
            Verb::Demo(args) => demo::run(&args).await,
            Verb::Component(args) => component::run(&args),
            Verb::Completions(args) => completions::completions(&args),
            Verb::Man(args) => completions::man(&args),
        }
    })
}
