//! `outwatch component`: what is in a component, and whether it can be used here.
//! It must not know what a component does when it runs.

mod contents;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use outwatch::Component;
use sha2::{Digest, Sha256};

use super::exit::Exit;
use super::failure::Failure;
use super::output::text;
use super::terminal::{self, HEADING};
use contents::Contents;

/// Show what is in a component: contract, version, imports, exports, size, sha256
///
/// A component is the engine: a WebAssembly file that decides what to test and when.
/// One is built into this program; `--component FILE` of other verbs uses another.
/// What a component imports is all it can reach: there are no files and no sockets.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// The component's file; the one built into this program if left out
    file: Option<PathBuf>,

    /// Compile it into OUT, for programs that embed Outwatch without its compiler
    #[arg(long, value_name = "OUT")]
    precompile: Option<PathBuf>,

    /// Of which kind the machine is that runs the compiled code, such as
    /// `aarch64-linux-android`; its architecture must be this machine's
    #[arg(long, value_name = "TRIPLE", requires = "precompile")]
    target: Option<String>,
}

const HELP: &str = "\
Examples:
  outwatch component               The one built in
  outwatch component engine.wasm   One in a file
  outwatch component --precompile engine.code
                                   The one built in, as code for machines like this

Ends with 4 when it is no component or this program cannot host it.";

/// Carries it out.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let (name, bytes) = match &args.file {
        Some(file) => (file.display().to_string(), Cow::Owned(read(file)?)),
        None => (
            "the component built in".to_owned(),
            Cow::Borrowed(Component::embedded_bytes()),
        ),
    };
    let contents = contents::read(&bytes).map_err(|wrong| {
        let failure = Failure::new(
            Exit::Component,
            format!("`{name}` is no component: {wrong}"),
        );
        failure.hint("`outwatch component` without a file shows what one looks like")
    })?;
    if let Some(out) = &args.precompile {
        return precompile(&name, &bytes, args.target.as_deref(), out);
    }
    let usable = Component::from_bytes(&bytes);

    terminal::stdout().write_all(render(&contents, &bytes, usable.is_ok()).as_bytes())?;
    match usable {
        Ok(_) => Ok(Exit::Fine),
        Err(error) => {
            let message = format!("this program cannot host `{name}`");
            Err(Failure::new(Exit::Component, message).because(&error))
        }
    }
}

fn precompile(name: &str, bytes: &[u8], target: Option<&str>, out: &Path) -> Result<Exit, Failure> {
    let code = Component::precompile(bytes, target).map_err(|error| {
        let message = format!("cannot compile `{name}`");
        Failure::new(Exit::Component, message).because(&error)
    })?;
    std::fs::write(out, code).map_err(|error| {
        let message = format!("cannot write the code to `{}`", out.display());
        Failure::unexpected(message).because(&error)
    })?;
    Ok(Exit::Fine)
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| {
        let message = format!("cannot read the component `{}`", file.display());
        Failure::new(Exit::Component, message).because(&error)
    })
}

fn render(contents: &Contents, bytes: &[u8], usable: bool) -> String {
    let mut out = String::new();
    let mut fact = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{HEADING}{name:<10}{HEADING:#} {value}");
    };
    fact(
        "contract",
        contents
            .contract
            .as_deref()
            .unwrap_or("none that this program knows of"),
    );
    let version = contents.version.as_deref().map(text::line);
    fact("version", version.as_deref().unwrap_or("it does not say"));
    fact("usable", if usable { "yes, by this program" } else { "no" });
    fact("size", &format!("{} bytes", bytes.len()));
    fact("sha256", &format!("{:x}", Sha256::digest(bytes)));
    for (heading, names) in [
        ("imports", &contents.imports),
        ("exports", &contents.exports),
    ] {
        let _ = writeln!(out, "{HEADING}{heading}{HEADING:#}");
        for name in names {
            let _ = writeln!(out, "  {}", text::line(name));
        }
        if names.is_empty() {
            let _ = writeln!(out, "  nothing");
        }
    }
    out
}
