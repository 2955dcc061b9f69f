//! One run of sing-box: started with a config, listened to, and ended. It must not know
//! why it is started or what is done when it ends.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::process::Child;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::guard::Guard;
use super::journal::{Journal, Whereabouts};
use super::program::Program;
use super::refusal::last_words;

/// How long it may take until it is up, on a machine busy with other things.
const UP_WITHIN: Duration = Duration::from_secs(60);

/// How long it may take to end when it is asked to.
const ENDS_WITHIN: Duration = Duration::from_secs(3);

/// What it wrote is read to its end before its end is spoken of, unless something else
/// holds its output.
const READ_WITHIN: Duration = Duration::from_secs(1);

/// A running sing-box. Dropping it kills it.
#[derive(Debug)]
pub(super) struct Process {
    // Dropped in this order: the guard must not outlive what it guards.
    child: Child,
    guard: Option<Guard>,
    reader: JoinHandle<()>,
    journal: Arc<Journal>,
}

impl Process {
    /// Starts it and waits until it is up.
    ///
    /// # Errors
    /// What it wrote, when it ends or is not up in time.
    pub(super) async fn start(
        program: &Program,
        config: &str,
        allowed: &[String],
        journal: Arc<Journal>,
    ) -> Result<(Self, Whereabouts), String> {
        let mut process = Self::spawn(program, config, allowed, journal.clone())
            .await
            .map_err(|error| format!("it cannot be started: {error}"))?;
        let up = async {
            tokio::select! {
                whereabouts = journal.started() => Ok(whereabouts),
                _ = process.child.wait() => Err(()),
            }
        };
        match timeout(UP_WITHIN, up).await {
            Ok(Ok(whereabouts)) => Ok((process, whereabouts)),
            Ok(Err(())) => {
                process.end_reading().await;
                process.dismiss_guard().await;
                Err(journal.last_lines())
            }
            Err(_) => {
                process.stop().await;
                let seconds = UP_WITHIN.as_secs();
                Err(format!(
                    "{}it was not up within {seconds} s",
                    journal.last_lines()
                ))
            }
        }
    }

    /// Its process id, until it has ended.
    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits until it ends by itself, and says how.
    pub(super) async fn ended(&mut self) -> String {
        let status = self.child.wait().await;
        self.dismiss_guard().await;
        self.end_reading().await;
        let written = self.journal.last_lines();
        let fatal = ["FATAL[", "panic: ", "fatal error: "];
        if written
            .lines()
            .any(|line| fatal.iter().any(|mark| line.starts_with(mark)))
        {
            return last_words(&written);
        }
        status.map_or_else(|error| error.to_string(), describe)
    }

    /// Asks it to end, and sees to it that it does.
    pub(super) async fn stop(mut self) {
        ask_to_end(&self.child);
        if timeout(ENDS_WITHIN, self.child.wait()).await.is_err() {
            // Fails only for one that has ended.
            let _ = self.child.kill().await;
        }
        self.dismiss_guard().await;
    }

    async fn spawn(
        program: &Program,
        config: &str,
        allowed: &[String],
        journal: Arc<Journal>,
    ) -> io::Result<Self> {
        let mut child = program
            .command("run", allowed)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        // Without a whole config it starts nothing: from here on, our death is its own.
        let guard = child.id().map(Guard::of).transpose()?.flatten();
        let log = child.stderr.take();
        let follow = journal.clone();
        let reader = tokio::spawn(async move {
            if let Some(log) = log {
                follow.follow(BufReader::new(log)).await;
            }
        });
        if let Some(mut stdin) = child.stdin.take() {
            // One that reads no further says why in its log.
            let _ = stdin.write_all(config.as_bytes()).await;
        }
        Ok(Self {
            child,
            guard,
            reader,
            journal,
        })
    }

    async fn end_reading(&mut self) {
        let _ = timeout(READ_WITHIN, &mut self.reader).await;
    }

    async fn dismiss_guard(&mut self) {
        if let Some(guard) = self.guard.take() {
            guard.dismiss().await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

#[cfg(unix)]
fn ask_to_end(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process};

    let pid = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // Fails only for one that has ended; it is not yet waited for, so the id is its own.
        let _ = kill_process(pid, Signal::TERM);
    }
}

#[cfg(not(unix))]
fn ask_to_end(_: &Child) {}

fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;

        if let Some(signal) = status.signal() {
            return format!("killed by signal {signal}");
        }
    }
    format!("it ended with {status}")
}
