//! sing-box: one process with as many proxies as a test needs, over TLS too. It must
//! not know who uses them.

use std::process::Command;

use serde_json::{Value, json};

use super::authority::Leaf;
use super::exits::Exit;
use super::outbound::{outbound, with};
use super::port::Port;
use super::process::{Process, Room};
use super::programs;

/// A running sing-box. It knows the name [`SingBox::SECRET_NAME`], which no resolver
/// does, as 127.0.0.1, and no other name.
#[derive(Debug)]
pub struct SingBox {
    _process: Process,
    served: Vec<(Inbound, Port)>,
}

/// One of its proxies.
#[derive(Clone, Debug)]
pub struct Inbound {
    type_name: &'static str,
    account: Option<(String, String)>,
    tls: Option<Leaf>,
    exit: Option<Exit>,
}

impl Inbound {
    /// SOCKS 4, 4a and 5.
    pub fn socks() -> Self {
        Self::new("socks")
    }

    /// HTTP.
    pub fn http() -> Self {
        Self::new("http")
    }

    /// Both on one port.
    pub fn mixed() -> Self {
        Self::new("mixed")
    }

    /// For those only who know these.
    #[must_use]
    pub fn account(mut self, user: &str, password: &str) -> Self {
        self.account = Some((user.to_owned(), password.to_owned()));
        self
    }

    /// Over TLS.
    #[must_use]
    pub fn tls(mut self, leaf: &Leaf) -> Self {
        self.tls = Some(leaf.clone());
        self
    }

    /// Its traffic leaves from there.
    #[must_use]
    pub fn leaving_from(mut self, exit: &Exit) -> Self {
        self.exit = Some(*exit);
        self
    }

    fn new(type_name: &'static str) -> Self {
        Self {
            type_name,
            account: None,
            tls: None,
            exit: None,
        }
    }

    fn config(&self, index: usize, port: u16) -> Value {
        let mut inbound = json!({
            "type": self.type_name, "tag": format!("in-{index}"),
            "listen": "127.0.0.1", "listen_port": port,
        });
        if let Some((user, password)) = &self.account {
            inbound["users"] = json!([{ "username": user, "password": password }]);
        }
        if let Some(leaf) = &self.tls {
            inbound["tls"] = json!({
                "enabled": true,
                "certificate": leaf.certificate.lines().collect::<Vec<_>>(),
                "key": leaf.key.lines().collect::<Vec<_>>(),
            });
        }
        inbound
    }

    /// The outbound behind it.
    fn way_out(&self, index: usize) -> Value {
        let mut direct = json!({ "type": "direct", "tag": format!("out-{index}") });
        if let Some(exit) = &self.exit {
            direct["inet4_bind_address"] = json!(exit.address);
        }
        direct
    }
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
        let room = Room::new();
        let file = room.file("config.json", &config(&served).to_string());
        let mut command = Command::new(programs::sing_box());
        command.args(["run", "--disable-color", "-c"]).arg(file);
        let ports: Vec<&Port> = served.iter().map(|(_, port)| port).collect();
        Self {
            _process: Process::start(command, room, &ports),
            served,
        }
    }

    /// Where a proxy listens on 127.0.0.1.
    ///
    /// # Panics
    /// When there is no such proxy.
    pub fn port(&self, index: usize) -> u16 {
        self.served[index].1.number()
    }

    /// The outbound that uses a proxy, with its account if it has one. TLS is switched
    /// on where it must be; whom to trust is left to the caller.
    ///
    /// # Panics
    /// When there is no such proxy.
    pub fn outbound(&self, index: usize, tag: &str) -> Value {
        let inbound = &self.served[index].0;
        let type_name = match inbound.type_name {
            "http" => "http",
            _ => "socks",
        };
        let mut fields = json!({});
        if let Some((user, password)) = &inbound.account {
            fields["username"] = json!(user);
            fields["password"] = json!(password);
        }
        if inbound.tls.is_some() {
            fields["tls"] = json!({ "enabled": true });
        }
        with(outbound(type_name, tag, self.port(index)), fields)
    }
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
        "inbounds": each(&|index, inbound, port| inbound.config(index, port.number())),
        "outbounds": each(&|index, inbound, _| inbound.way_out(index)),
        "route": {
            "rules": each(&|index, _, _| json!({
                "inbound": [format!("in-{index}")], "outbound": format!("out-{index}"),
            })),
            "default_domain_resolver": "hosts",
        },
    })
}
