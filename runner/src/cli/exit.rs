//! The exit codes, which scripts rely on: documented, never renumbered.
//! It must not know who ends with which.

use std::process::ExitCode;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// All is well.
    Fine = 0,
    /// Something that should not happen.
    Unexpected = 1,
    /// The command line is wrong, or names a tag that is not in the config.
    Usage = 2,
    /// The config is wrong.
    Config = 3,
    /// The component cannot be read, is of no contract this runner knows, or
    /// crashed for good.
    Component = 4,
    /// `test`, `explain`: not one outbound worked.
    NoneWorked = 5,
    /// A signal ended it before its work was done.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn the_help_lists_every_exit_code() {
        let listed: Vec<u8> = include_str!("exit_codes.txt")
            .lines()
            .filter_map(|line| line.split_whitespace().next()?.parse().ok())
            .collect();
        let codes = [
            Exit::Fine,
            Exit::Unexpected,
            Exit::Usage,
            Exit::Config,
            Exit::Component,
            Exit::NoneWorked,
            Exit::Interrupted,
        ];
        assert_eq!(listed, codes.map(|exit| exit as u8));
    }
}
