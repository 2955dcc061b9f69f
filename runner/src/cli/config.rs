//! The arguments that name a config, and reading it with all problems shown.
//! It must not know what a verb does with the config.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use outwatch::config::{self, Config, LoadOptions, Loaded, Source};
use outwatch::{Problem, Severity};
use serde_json::Value;

use super::exit::Exit;
use super::failure::Failure;
use super::journal;
use super::memory;

/// Where the options of the monitor stand in a config.
const MONITORING: &str = "experimental.monitoring";

/// The config of a verb.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// The config, sing-box style JSON; `-` reads standard input
    #[arg(short, long = "config", value_name = "FILE")]
    config: PathBuf,
    /// Take every warning for an error
    #[arg(long)]
    strict: bool,
    /// Give a repeated tag a number (` #2`) instead of refusing it
    #[arg(long)]
    dedupe_tags: bool,
}

/// A config that can be used, and its text, for problems found later.
pub(crate) struct Checked {
    /// What it says.
    pub(crate) config: Config,
    source: Source,
    strict: bool,
}

impl ConfigArgs {
    /// Reads the config and shows its problems.
    ///
    /// # Errors
    /// When one of the problems is an error.
    pub(crate) fn load(&self) -> Result<Checked, Failure> {
        let options = LoadOptions {
            strict: self.strict,
            dedupe_tags: self.dedupe_tags,
        };
        let loaded = if self.config == Path::new("-") {
            let mut text = Vec::new();
            std::io::stdin().read_to_end(&mut text).map_err(|error| {
                Failure::new(Exit::Config, "cannot read the config from standard input")
                    .because(&error)
            })?;
            memory::apart(|| config::read("standard input", &text, &options))
        } else {
            memory::apart(|| config::load(&self.config, &options))
        };
        Checked::new(loaded, self.strict)
    }

    /// Reads it once more, as it is now.
    ///
    /// # Errors
    /// As [`load`](Self::load), and when it came from standard input.
    pub(crate) fn load_again(&self) -> Result<Checked, Failure> {
        if self.config == Path::new("-") {
            let message = "standard input cannot be read a second time";
            return Err(Failure::new(Exit::Config, message));
        }
        self.load()
    }
}

impl Checked {
    /// Shows what is wrong with a config that has been read.
    ///
    /// # Errors
    /// When it cannot be used.
    pub(crate) fn new(loaded: Loaded, strict: bool) -> Result<Self, Failure> {
        let Loaded {
            config,
            source,
            problems,
        } = loaded;
        show(&source, &problems);
        match config {
            Some(config) => Ok(Self {
                config,
                source,
                strict,
            }),
            None => Err(unusable(&source, &problems)),
        }
    }

    /// The config's name.
    pub(crate) fn name(&self) -> &str {
        self.source.name()
    }

    /// Sets one of the monitor's options, whatever the config says.
    pub(crate) fn set_option(&mut self, name: &str, value: impl Into<Value>) {
        // What is no object is for the component to complain about.
        if let Ok(Value::Object(mut options)) = serde_json::from_str(&self.config.monitoring) {
            options.insert(name.to_owned(), value.into());
            self.config.monitoring = Value::Object(options).to_string();
        }
    }

    /// Shows problems that were found later, in places of the config.
    ///
    /// # Errors
    /// When one is an error.
    pub(crate) fn report(&self, mut problems: Vec<Problem>) -> Result<(), Failure> {
        if self.strict {
            for problem in &mut problems {
                problem.severity = Severity::Error;
            }
        }
        show(&self.source, &problems);
        if problems
            .iter()
            .any(|problem| problem.severity == Severity::Error)
        {
            return Err(unusable(&self.source, &problems));
        }
        Ok(())
    }
}

/// Problems of the monitor's options, with where they stand in a config.
pub(crate) fn in_options(mut problems: Vec<Problem>) -> Vec<Problem> {
    for problem in &mut problems {
        problem.path = match problem.path.as_str() {
            "" => MONITORING.to_owned(),
            path if path.starts_with('[') => format!("{MONITORING}{path}"),
            path => format!("{MONITORING}.{path}"),
        };
    }
    problems
}

fn show(source: &Source, problems: &[Problem]) {
    // When standard error is closed, nobody listens.
    let _ = journal::tell(source.render(problems).as_bytes());
}

fn unusable(source: &Source, problems: &[Problem]) -> Failure {
    let errors = problems
        .iter()
        .filter(|p| p.severity == Severity::Error)
        .count();
    let count = if errors == 1 {
        "1 error".to_owned()
    } else {
        format!("{errors} errors")
    };
    Failure::new(Exit::Config, format!("{count} in {}", source.name()))
}
