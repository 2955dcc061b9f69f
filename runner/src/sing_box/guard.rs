//! Ends sing-box when this process is killed and can do nothing any more. It must not
//! know what it guards, but for its process id.

use std::io;
use std::process::Stdio;

use tokio::process::{Child, ChildStdin, Command};

use super::program::own_group;

/// Waits for the end of its input, which is the end of us, and then kills. The kernel's
/// own way, a signal at the parent's death, is Linux's alone and comes at the death of
/// the thread that started the child, which under tokio is no promise of anything.
/// What it kills is the whole group, so that what sing-box started itself goes, too.
const SCRIPT: &str = "read -r _; kill -s KILL -- \"-$1\"";

/// A shell that waits beside sing-box. It ends with this value.
#[derive(Debug)]
pub(super) struct Guard {
    shell: Child,
    _lifeline: Option<ChildStdin>,
}

impl Guard {
    /// Guards the process `id`. None where there is no such shell.
    pub(super) fn of(id: u32) -> io::Result<Option<Self>> {
        if !cfg!(unix) {
            return Ok(None);
        }
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "outwatch-guard", &id.to_string()]);
        own_group(&mut command);
        let mut shell = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        Ok(Some(Self {
            _lifeline: shell.stdin.take(),
            shell,
        }))
    }

    /// Ends it, before the process id may mean another process.
    pub(super) async fn dismiss(mut self) {
        // Fails only for one that has ended.
        let _ = self.shell.kill().await;
    }
}
