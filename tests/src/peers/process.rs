//! A server in a process of its own: started, awaited, and killed with its owner. It
//! must not know which server it is.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::port::Port;

/// How long a server may take until it listens, on a machine busy with other tests.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// How often a server that does not listen yet is tried again.
const RETRY_EVERY: Duration = Duration::from_millis(5);

/// A running server. Dropping it kills the process and waits until it is gone, in a
/// panicking test too.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    program: PathBuf,
    room: Room,
}

/// A folder of a server's own: its config, its files, its log.
#[derive(Debug)]
pub(super) struct Room(TempDir);

impl Room {
    pub(super) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("outwatch-peer-").tempdir();
        Self(folder.expect("a temporary folder"))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file and gives its path.
    pub(super) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).expect("writing into a temporary folder");
        path
    }

    fn log(&self) -> PathBuf {
        self.path().join("log")
    }
}

impl Process {
    /// Starts `command` with its output in the room's log, and returns once it listens
    /// on every one of `ports`.
    ///
    /// # Panics
    /// When it ends or does not listen in time, with what it wrote.
    pub(super) fn start(mut command: Command, room: Room, ports: &[&Port]) -> Self {
        let log = File::create(room.log()).expect("writing into a temporary folder");
        let errors = log.try_clone().expect("a second handle of the log");
        let child = command
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .current_dir(room.path())
            .spawn();
        let program = PathBuf::from(command.get_program());
        let child = child.unwrap_or_else(|error| panic!("starting {}: {error}", program.display()));
        let mut process = Self {
            child,
            program,
            room,
        };
        let deadline = Instant::now() + READY_WITHIN;
        for port in ports {
            process.listens(port.number(), deadline);
        }
        process
    }

    fn listens(&mut self, port: u16, deadline: Instant) {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.fail("did not listen in time");
            }
            match TcpStream::connect_timeout(&address, left) {
                Ok(_) => return,
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) => self.fail(&format!("cannot be reached: {error}")),
            }
            match self.child.try_wait() {
                Ok(None) => thread::sleep(RETRY_EVERY),
                Ok(Some(status)) => self.fail(&format!("ended at once ({status})")),
                Err(error) => self.fail(&format!("cannot be watched: {error}")),
            }
        }
    }

    fn fail(&self, what: &str) -> ! {
        let log = fs::read(self.room.log()).unwrap_or_default();
        panic!(
            "{} {what}; it wrote:\n{}",
            self.program.display(),
            String::from_utf8_lossy(&log)
        );
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only for a process that is gone, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
