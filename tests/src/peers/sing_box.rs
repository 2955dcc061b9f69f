//! sing-box: one process with as many proxies as a test needs, over TLS too. It must
//! not know who uses them.

mod inbound;

use std::process::Command;

use serde_json::{Value, json};

use super::port::Port;
use super::process::{Process, Room};
use super::programs;

pub use self::inbound::Inbound;

/// A running sing-box. It knows the name [`SingBox::SECRET_NAME`], which no resolver
/// does, as 127.0.0.1, and no other name.
#[derive(Debug)]
pub struct SingBox {
    /// None while it is down.
    process: Option<Process>,
    served: Vec<(Inbound, Port)>,
}

impl SingBox {
    /// A name that only this proxy can resolve.
    pub const SECRET_NAME: &str = "known-to-the-proxy.test";

    /// Starts one with these proxies, numbered from 0.
    pub fn start(inbounds: impl IntoIterator<Item = Inbound>) -> Self {
        let served: Vec<(Inbound, Port)> = inbounds
            .into_iter()
            .map(|inbound| (inbound, Port::reserve()))
            .collect();
        Self {
            process: Some(run(&served)),
            served,
        }
    }

    /// Kills it. Its ports refuse whoever comes, until it is back.
    pub fn goes_down(&mut self) {
        self.process = None;
    }

    /// Starts it again, on the same ports.
    pub fn comes_back(&mut self) {
        self.process = Some(run(&self.served));
    }

    /// Where a proxy listens on 127.0.0.1.
    ///
    /// # Panics
    /// When there is no such proxy.
    pub fn port(&self, index: usize) -> u16 {
        self.served[index].1.number()
    }

    /// The outbound that uses a proxy, with what it must know. TLS is switched
    /// on where it must be; whom to trust is left to the caller.
    ///
    /// # Panics
    /// When there is no such proxy.
    pub fn outbound(&self, index: usize, tag: &str) -> Value {
        let (inbound, port) = &self.served[index];
        inbound.used(tag, port.number())
    }
}

fn run(served: &[(Inbound, Port)]) -> Process {
    let room = Room::new();
    let file = room.file("config.json", &config(served).to_string());
    let mut command = Command::new(programs::sing_box());
    command.args(["run", "--disable-color", "-c"]).arg(file);
    let ports: Vec<&Port> = served.iter().map(|(_, port)| port).collect();
    Process::start(command, room, &ports)
}

fn config(served: &[(Inbound, Port)]) -> Value {
    let each = |of: &dyn Fn(usize, &Inbound, &Port) -> Value| -> Vec<Value> {
        let numbered = served.iter().enumerate();
        numbered
            .map(|(index, (inbound, port))| of(index, inbound, port))
            .collect()
    };
    json!({
        "log": { "level": "debug" },
        "dns": {
            "servers": [{
                "type": "hosts", "tag": "hosts",
                "predefined": { SingBox::SECRET_NAME: ["127.0.0.1"] },
            }],
            "final": "hosts",
        },
        "inbounds": each(&|index, inbound, port| inbound.served(index, port.number())),
        "outbounds": each(&|index, inbound, _| inbound.way_out(index)),
        "route": {
            "rules": each(&|index, _, _| json!({
                "inbound": [format!("in-{index}")], "outbound": format!("out-{index}"),
            })),
            "default_domain_resolver": "hosts",
        },
    })
}
