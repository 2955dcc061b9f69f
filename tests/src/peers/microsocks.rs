//! microsocks: a SOCKS 5 proxy. It must not know who uses it.

use std::process::Command;

use serde_json::Value;

use super::exits::Exit;
use super::outbound::{socks, with};
use super::port::Port;
use super::process::{Process, Room};
use super::programs;

/// A running microsocks.
#[derive(Debug)]
pub struct Microsocks {
    _process: Process,
    port: Port,
    account: Option<(String, String)>,
}

impl Microsocks {
    /// For everybody.
    pub fn start() -> Self {
        Self::launch(None, None)
    }

    /// For everybody, its traffic leaving from `exit`.
    pub fn leaving_from(exit: &Exit) -> Self {
        Self::launch(None, Some(exit))
    }

    /// For those who know these.
    pub fn with_account(user: &str, password: &str) -> Self {
        Self::launch(Some((user.to_owned(), password.to_owned())), None)
    }

    /// Where it listens on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// The outbound that uses it, with the account if there is one.
    pub fn outbound(&self, tag: &str) -> Value {
        let outbound = socks(tag, self.port());
        match &self.account {
            None => outbound,
            Some((user, password)) => with(
                outbound,
                serde_json::json!({ "username": user, "password": password }),
            ),
        }
    }

    fn launch(account: Option<(String, String)>, exit: Option<&Exit>) -> Self {
        let port = Port::reserve();
        let mut command = Command::new(programs::debian("microsocks", "microsocks"));
        command.args(["-i", "127.0.0.1", "-p", &port.number().to_string()]);
        if let Some((user, password)) = &account {
            command.args(["-u", user, "-P", password]);
        }
        if let Some(exit) = exit {
            command.args(["-b", exit.address]);
        }
        Self {
            _process: Process::start(command, Room::new(), &[&port]),
            port,
            account,
        }
    }
}
