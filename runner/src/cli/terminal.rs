//! The two streams people and programs read, and what a terminal can show.
//! It must not know what is written.

use std::io::IsTerminal;

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};

/// Marks an error.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Marks advice.
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default().bold();
/// Marks a heading.
pub(crate) const HEADING: Style = Style::new().bold();

/// Standard output; takes styled text and drops the styles where they do not
/// belong: in a pipe, with `NO_COLOR`, on a dumb terminal.
pub(crate) fn stdout() -> anstream::Stdout {
    anstream::stdout()
}

/// Standard error, likewise.
pub(crate) fn stderr() -> anstream::Stderr {
    anstream::stderr()
}

/// Whether somebody looks at standard output.
pub(crate) fn is_watched() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether somebody looks at standard output who can also type, and it can be drawn on.
pub(crate) fn is_interactive() -> bool {
    let draws = std::env::var_os("TERM").is_some_and(|name| name != "dumb" && !name.is_empty());
    is_watched() && std::io::stdin().is_terminal() && (draws || cfg!(windows))
}

/// Whether standard output shows colours.
pub(crate) fn stdout_has_colour() -> bool {
    anstream::Stdout::choice(&std::io::stdout()) != ColorChoice::Never
}

/// Whether standard error shows colours.
pub(crate) fn stderr_has_colour() -> bool {
    anstream::Stderr::choice(&std::io::stderr()) != ColorChoice::Never
}

/// Columns and lines of standard output, when it is a terminal.
pub(crate) fn size() -> Option<(u16, u16)> {
    let (width, height) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some((width.0, height.0))
}
