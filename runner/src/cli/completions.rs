//! `outwatch completions` and `outwatch man`: what shells and `man` know of this program,
//! made of the same description as its help. It must not know any verb.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::exit::Exit;
use super::failure::Failure;
use super::{Cli, terminal};

/// Print what a shell needs to complete this program's arguments
#[derive(Debug, clap::Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub(crate) struct Completions {
    /// For which shell
    #[arg(value_enum)]
    shell: Shell,
}

const COMPLETIONS_HELP: &str = "\
Examples:
  outwatch completions bash > ~/.local/share/bash-completion/completions/outwatch
  outwatch completions zsh > ~/.zfunc/_outwatch
  outwatch completions fish > ~/.config/fish/completions/outwatch.fish";

/// Print the manual page, or write those of all verbs into a folder
#[derive(Debug, clap::Args)]
#[command(after_help = MAN_HELP)]
pub(crate) struct Man {
    /// Write one page for each verb into this folder
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

const MAN_HELP: &str = "\
Examples:
  outwatch man | man -l -                   The manual page, now
  outwatch man ~/.local/share/man/man1      All pages, where `man outwatch-run` finds them";

/// Prints the completions.
pub(crate) fn completions(args: &Completions) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "outwatch", &mut script);
    terminal::stdout().write_all(&script)?;
    Ok(Exit::Fine)
}

/// Prints or writes the manual pages.
pub(crate) fn man(args: &Man) -> Result<Exit, Failure> {
    match &args.folder {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            terminal::stdout().write_all(&page)?;
        }
        Some(folder) => write_all(folder).map_err(|error| {
            let message = format!("cannot write the pages into `{}`", folder.display());
            Failure::unexpected(message).because(&error)
        })?,
    }
    Ok(Exit::Fine)
}

fn write_all(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Cli::command(), folder)
}
