//! `outwatch check`: what is wrong with a config, what would be tested, and how
//! groups lead. It must not test or start anything.

mod summary;

use std::io::Write as _;

use outwatch::StartError;

use super::cache;
use super::config::{self, ConfigArgs};
use super::core::CoreArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::monitoring::{self, ComponentArgs};
use super::output::text;
use super::terminal;
use super::traffic;

/// Check a config: what is wrong, what would be tested, how groups lead
///
/// Reads the whole config, shows every problem with its line and what to do about
/// it, and then what monitoring would do with it. Nothing is tested, nothing sent.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    core: CoreArgs,
    #[command(flatten)]
    component: ComponentArgs,
}

const HELP: &str = "\
Examples:
  outwatch check -c config.json            Problems and a summary
  outwatch check -c config.json --strict   For CI: a warning fails, too
  fetch-config | outwatch check -c -       A config from another program

Ends with 3 when the config cannot be used. Problems go to standard error.";

/// Carries it out.
pub(crate) async fn run(args: &Args) -> Result<Exit, Failure> {
    let checked = args.config.load()?;
    let component = args.component.load(cache::users_code().as_ref())?;
    // What is wrong with outbounds and with options is told together.
    let (core, mut problems) = args.core.describe(&checked).await?;
    problems.extend(traffic::Plan::read(&checked).1);
    let summary = summary::of_core(core.as_ref());
    let options = match monitoring::builder(&checked, core, component).check().await {
        Ok((options, warnings)) => {
            problems.extend(config::in_options(warnings));
            options
        }
        Err(StartError::Options(wrong)) => {
            problems.extend(config::in_options(wrong));
            String::new()
        }
        Err(error) => return Err(monitoring::does_not_start(&error)),
    };
    checked.report(problems)?;

    let mut stdout = terminal::stdout();
    writeln!(stdout, "{} can be used", text::line(checked.name()))?;
    stdout.write_all(summary.as_bytes())?;
    stdout.write_all(summary::of_options(&options).as_bytes())?;
    Ok(Exit::Fine)
}
