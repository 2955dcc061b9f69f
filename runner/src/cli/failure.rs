//! Why a verb could not do its work, as people read it: one sentence, what caused
//! it, and what to do about it. It must not know any verb.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::io::Write as _;

use super::exit::Exit;
use super::output::text;
use super::terminal;

/// Why a verb could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
    causes: Vec<String>,
    hint: Option<String>,
}

impl Failure {
    /// A failure that ends the process with `exit`. The message is one sentence
    /// without a full stop; an empty one says that all has been said already.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            causes: Vec::new(),
            hint: None,
        }
    }

    /// What should not happen.
    pub(crate) fn unexpected(message: impl Into<String>) -> Self {
        Self::new(Exit::Unexpected, message)
    }

    /// Adds an error and all its sources as causes.
    pub(crate) fn because(mut self, error: &dyn Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            let cause = error.to_string();
            // Some errors repeat their source's words.
            if self.causes.last() != Some(&cause) {
                self.causes.push(cause);
            }
            next = error.source();
        }
        self
    }

    /// Says what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// How the process ends.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// Prints it to standard error.
    pub(crate) fn print(&self) {
        // When standard error is closed, nobody listens.
        let _ = terminal::stderr().write_all(self.render().as_bytes());
    }

    fn render(&self) -> String {
        if self.message.is_empty() {
            return String::new();
        }
        let mut rendered = String::new();
        // Writing to a string cannot fail.
        let error = terminal::ERROR;
        let _ = writeln!(
            rendered,
            "{error}error:{error:#} {}",
            text::lines(&self.message)
        );
        for cause in &self.causes {
            let _ = writeln!(rendered, "caused by: {}", text::lines(cause));
        }
        if let Some(hint) = &self.hint {
            let style = terminal::HINT;
            let _ = writeln!(rendered, "\n{style}hint:{style:#} {}", text::lines(hint));
        }
        rendered
    }
}

/// In one line, for a log.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::line(&self.message))?;
        for cause in &self.causes {
            write!(f, ": {}", text::line(cause))?;
        }
        Ok(())
    }
}

impl From<std::io::Error> for Failure {
    /// An error of writing results. When the reader of a pipe is gone there is
    /// nothing to say and nobody to say it to.
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::new(Exit::Fine, ""),
            _ => Self::unexpected("cannot write the results").because(&error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(failure: &Failure) -> String {
        anstream::adapter::strip_str(&failure.render()).to_string()
    }

    #[test]
    fn it_reads_as_a_sentence_its_causes_and_a_hint() {
        let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let failure = Failure::new(Exit::Config, "cannot read `a.json`")
            .because(&denied)
            .hint("look at its permissions");
        insta::assert_snapshot!(plain(&failure), @r"
        error: cannot read `a.json`
        caused by: permission denied

        hint: look at its permissions
        ");
    }

    #[test]
    fn a_reader_that_went_away_is_no_failure() {
        let gone = Failure::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert_eq!((gone.exit(), plain(&gone)), (Exit::Fine, String::new()));
    }

    #[test]
    fn a_message_cannot_move_the_cursor() {
        let failure = Failure::new(Exit::Usage, "no outbound `\u{1b}[2Jx`");
        insta::assert_snapshot!(plain(&failure), @r"error: no outbound `\u{1b}[2Jx`");
    }
}
