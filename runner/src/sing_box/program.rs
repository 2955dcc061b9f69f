//! The sing-box program: where it is, which version, and what it says of a config.
//! It must not know what a config is for.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use super::SingBoxError;

/// The name that a sing-box is installed by.
const NAME: &str = if cfg!(windows) {
    "sing-box.exe"
} else {
    "sing-box"
};

/// The first version whose rules have actions.
const OLDEST: (u32, u32) = (1, 11);

/// How long `version` and `check` may take, on a machine busy with other things.
const ANSWERS_WITHIN: Duration = Duration::from_secs(60);

/// A sing-box that answered when asked for its version.
#[derive(Clone, Debug)]
pub(super) struct Program {
    path: PathBuf,
    version: String,
    /// It was built with the API by which selectors are switched.
    pub(super) has_clash_api: bool,
}

/// Where `sing-box` is on `PATH`.
pub(super) fn find() -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(NAME))
        .find(|program| is_executable(program))
}

impl Program {
    /// Asks the program at `path` what it is.
    pub(super) async fn at(path: &Path) -> Result<Self, SingBoxError> {
        let failed = |why: String| SingBoxError::Unusable {
            path: path.to_owned(),
            why,
        };
        let output = run(Command::new(path).arg("version"), "")
            .await
            .map_err(|error| failed(error.to_string()))?;
        let told = String::from_utf8_lossy(&output.stdout);
        let Some(version) = told.lines().find_map(version) else {
            return Err(failed("it does not call itself sing-box".to_owned()));
        };
        if numbers(version).is_some_and(|numbers| numbers < OLDEST) {
            let (major, minor) = OLDEST;
            return Err(failed(format!(
                "it is version {version}; at least {major}.{minor} is needed"
            )));
        }
        Ok(Self {
            path: path.to_owned(),
            version: version.to_owned(),
            has_clash_api: told.contains("with_clash_api"),
        })
    }

    /// What it calls itself, such as `1.14.4`.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// A call of it that reads its config from standard input, so that no file ever
    /// holds the secrets in it. `allowed` are the names of deprecated things that it is
    /// to accept once more.
    pub(super) fn command(&self, verb: &str, allowed: &[String]) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args([verb, "--disable-color", "-c", "stdin"])
            .envs(allowed.iter().map(|name| (name, "true")));
        own_group(&mut command);
        command
    }

    /// What it says against a config; nothing when it takes it.
    pub(super) async fn check(
        &self,
        config: &str,
        allowed: &[String],
    ) -> Result<Option<String>, SingBoxError> {
        let output = run(&mut self.command("check", allowed), config).await;
        let output = output.map_err(|error| SingBoxError::Unusable {
            path: self.path.clone(),
            why: error.to_string(),
        })?;
        if output.status.success() {
            return Ok(None);
        }
        Ok(Some(String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}

/// Ctrl-C on the terminal is for us, and reaches the whole group that we are in.
pub(super) fn own_group(command: &mut Command) {
    #[cfg(unix)]
    command.process_group(0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Runs `command` to its end with `input`.
async fn run(command: &mut Command, input: &str) -> io::Result<Output> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdin = child.stdin.take();
    let feed = async {
        if let Some(mut stdin) = stdin {
            // One that reads no further has made up its mind.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
    };
    let ended = async { tokio::join!(feed, child.wait_with_output()).1 };
    timeout(ANSWERS_WITHIN, ended).await.unwrap_or_else(|_| {
        let text = format!("it did not answer within {} s", ANSWERS_WITHIN.as_secs());
        Err(io::Error::new(io::ErrorKind::TimedOut, text))
    })
}

/// The version in a line such as `sing-box version 1.14.4`.
fn version(line: &str) -> Option<&str> {
    line.strip_prefix("sing-box version ")?
        .split_whitespace()
        .next()
}

/// None for a build without a number, such as one called `unknown`.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.trim_start_matches('v').split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_from_what_the_program_says_of_itself() {
        assert_eq!(version("sing-box version 1.14.4"), Some("1.14.4"));
        assert_eq!(
            version("sing-box version 1.12.0-beta.3 x"),
            Some("1.12.0-beta.3")
        );
        assert_eq!(version("Tags: with_quic"), None);
        assert_eq!(numbers("1.12.0-beta.3"), Some((1, 12)));
        assert_eq!(numbers("unknown"), None);
        assert!(numbers("1.10.7") < Some(OLDEST));
    }
}
