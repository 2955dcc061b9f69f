//! curl: what people reach a proxy with. It must not know which proxy.

use std::process::{Command, Stdio};

use super::programs;

/// What came of one run.
#[derive(Debug)]
pub struct Curl {
    /// Its exit code; 0 is fine.
    pub code: i32,
    /// What the server answered, and what `-w` asks for.
    pub output: String,
    /// What it complains about.
    pub errors: String,
}

impl Curl {
    /// Runs it with these arguments, and only these: no config, no proxy from the
    /// environment, and an end after a minute.
    ///
    /// # Panics
    /// When it is not installed or was killed.
    pub fn run<A: AsRef<str>>(arguments: impl IntoIterator<Item = A>) -> Self {
        let mut command = Command::new(programs::debian("curl", "curl"));
        command.args(["-q", "-sS", "--max-time", "60", "--noproxy", ""]);
        for argument in arguments {
            command.arg(argument.as_ref());
        }
        let ended = command.stdin(Stdio::null()).output();
        let ended = ended.expect("curl can be started");
        Self {
            code: ended.status.code().expect("curl was not killed"),
            output: String::from_utf8_lossy(&ended.stdout).into_owned(),
            errors: String::from_utf8_lossy(&ended.stderr).into_owned(),
        }
    }
}
