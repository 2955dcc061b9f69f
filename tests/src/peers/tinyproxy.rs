//! tinyproxy: an HTTP proxy. It must not know who uses it.

use std::process::Command;

use serde_json::{Value, json};

use super::exits::Exit;
use super::outbound::{http, with};
use super::port::Port;
use super::process::{Process, Room};
use super::programs;

/// A running tinyproxy.
#[derive(Debug)]
pub struct Tinyproxy {
    _process: Process,
    port: Port,
    account: Option<(String, String)>,
}

impl Tinyproxy {
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
        let outbound = http(tag, self.port());
        match &self.account {
            None => outbound,
            Some((user, password)) => {
                with(outbound, json!({ "username": user, "password": password }))
            }
        }
    }

    fn launch(account: Option<(String, String)>, exit: Option<&Exit>) -> Self {
        let port = Port::reserve();
        let mut config = format!(
            "Port {}\nListen 127.0.0.1\nTimeout 600\nMaxClients 200\nLogLevel Info\n",
            port.number()
        );
        if let Some((user, password)) = &account {
            config += &format!("BasicAuth {user} {password}\n");
        }
        if let Some(exit) = exit {
            config += &format!("Bind {}\n", exit.address);
        }
        let room = Room::new();
        let mut command = Command::new(programs::debian("tinyproxy", "tinyproxy"));
        command
            .args(["-d", "-c"])
            .arg(room.file("tinyproxy.conf", &config));
        Self {
            _process: Process::start(command, room, &[&port]),
            port,
            account,
        }
    }
}
