//! A program that runs, and what it needed of the machine. It must not know which.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a program may take to listen, and to end.
const PATIENCE: Duration = Duration::from_secs(30);

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A running program with a folder of its own. It is killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    folder: TempDir,
}

impl Running {
    /// Starts what `command` makes of a folder, and waits until it listens on the port.
    pub(crate) fn start(port: u16, command: impl FnOnce(&Path) -> Command) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let mut command = command(folder.path());
        let output = fs::File::create(folder.path().join("output")).expect("a file");
        let errors = output.try_clone().expect("a second handle");
        let child = command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let running = Self { child, folder };
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(since.elapsed() < PATIENCE, "{command:?} does not listen");
            sleep(LOOK_EVERY);
        }
        running
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The time of processors that its threads have had, in seconds.
    pub(crate) fn processor(&self) -> f64 {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id()));
        let nanoseconds = |task: fs::DirEntry| {
            let times = fs::read_to_string(task.path().join("schedstat")).ok()?;
            times.split_whitespace().next()?.parse::<f64>().ok()
        };
        let tasks = tasks.into_iter().flatten().flatten();
        tasks.filter_map(nanoseconds).sum::<f64>() / 1e9
    }

    /// Waits until it has computed next to nothing for a second; gives its time then.
    pub(crate) fn settled(&self) -> f64 {
        let mut before = self.processor();
        let mut still = Instant::now();
        while still.elapsed() < Duration::from_secs(1) {
            sleep(LOOK_EVERY);
            let now = self.processor();
            if now - before > 0.001 {
                still = Instant::now();
                before = now;
            }
        }
        self.processor()
    }

    /// What it has in memory now, and had at the most, in MiB.
    pub(crate) fn memory(&self) -> (f64, f64) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
            number.unwrap_or(f64::NAN) / 1024.0
        };
        (field("VmRSS:"), field("VmHWM:"))
    }

    /// Asks it to end, and waits until it has; gives its folder.
    pub(crate) fn end(mut self) -> TempDir {
        let id = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &id]).status();
        assert!(asked.is_ok_and(|status| status.success()));
        let since = Instant::now();
        while self.child.try_wait().is_ok_and(|status| status.is_none()) {
            assert!(since.elapsed() < PATIENCE, "it does not end");
            sleep(LOOK_EVERY);
        }
        std::mem::replace(
            &mut self.folder,
            TempDir::new().expect("a temporary folder"),
        )
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only for one that is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
