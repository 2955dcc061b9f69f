//! The process `chromedriver`, at a free port, and killed with its owner. It must not know
//! what its browser is told.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::peers::debian;

/// What it writes in front of the port it found.
const READY: &str = "started successfully on port ";

/// A running driver. The browser that it starts ends when it does.
#[derive(Debug)]
pub(super) struct Driver {
    child: Child,
    port: u16,
}

impl Driver {
    /// Starts one and waits until it listens.
    ///
    /// # Panics
    /// When it or the browser is not installed, or it does not start.
    pub(super) fn start() -> Self {
        let _ = debian("chromium", "chromium");
        let program = debian("chromedriver", "chromium-driver");
        let mut child = Command::new(program)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let output = child.stdout.take().expect("a piped output");
        let mut driver = Self { child, port: 0 };
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let port = lines.find_map(|line| port(&line));
        driver.port = port.expect("chromedriver tells its port");
        driver
    }

    /// Where it listens on 127.0.0.1.
    pub(super) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Both fail only for a process that is gone, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn port(line: &str) -> Option<u16> {
    let (_, port) = line.split_once(READY)?;
    port.trim_end_matches('.').parse().ok()
}
