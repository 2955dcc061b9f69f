//! One proxy of a sing-box: as it stands in the server's config, and as the outbound
//! that uses it. It must not know how a sing-box is run.

use serde_json::{Value, json};

use super::super::authority::Leaf;
use super::super::exits::Exit;
use super::super::outbound::{outbound, with};

/// A proxy that a sing-box serves.
#[derive(Clone, Debug)]
pub struct Inbound {
    type_name: &'static str,
    /// What only the server's config holds.
    server: Value,
    /// What only the outbound holds.
    client: Value,
    tls: Option<Leaf>,
    exit: Option<Exit>,
}

impl Inbound {
    /// SOCKS 4, 4a and 5.
    pub fn socks() -> Self {
        Self::new("socks", json!({}), json!({}))
    }

    /// HTTP.
    pub fn http() -> Self {
        Self::new("http", json!({}), json!({}))
    }

    /// Both on one port.
    pub fn mixed() -> Self {
        Self::new("mixed", json!({}), json!({}))
    }

    /// shadowsocks with one password for all.
    pub fn shadowsocks(method: &str, password: &str) -> Self {
        let fields = json!({ "method": method, "password": password });
        Self::new("shadowsocks", fields.clone(), fields)
    }

    /// shadowsocks 2022 with a key of the server and one of the user.
    pub fn shadowsocks_of_a_user(method: &str, server: &str, user: &str) -> Self {
        Self::new(
            "shadowsocks",
            json!({
                "method": method, "password": server,
                "users": [{ "name": "ann", "password": user }],
            }),
            json!({ "method": method, "password": format!("{server}:{user}") }),
        )
    }

    /// trojan.
    pub fn trojan(password: &str) -> Self {
        Self::new(
            "trojan",
            json!({ "users": [{ "name": "ann", "password": password }] }),
            json!({ "password": password }),
        )
    }

    /// VLESS.
    pub fn vless(uuid: &str) -> Self {
        Self::new(
            "vless",
            json!({ "users": [{ "name": "ann", "uuid": uuid }] }),
            json!({ "uuid": uuid }),
        )
    }

    /// For those only who know these; of SOCKS and HTTP.
    #[must_use]
    pub fn account(mut self, user: &str, password: &str) -> Self {
        let account = json!({ "username": user, "password": password });
        self.server = with(self.server, json!({ "users": [account] }));
        self.client = with(self.client, account);
        self
    }

    /// Over TLS.
    #[must_use]
    pub fn tls(mut self, leaf: &Leaf) -> Self {
        self.tls = Some(leaf.clone());
        self
    }

    /// Over a transport, the same on both sides.
    #[must_use]
    pub fn transport(mut self, transport: &Value) -> Self {
        let field = json!({ "transport": transport });
        self.server = with(self.server, field.clone());
        self.client = with(self.client, field);
        self
    }

    /// It can also do many connections over one.
    #[must_use]
    pub fn multiplex(mut self) -> Self {
        let field = json!({ "multiplex": { "enabled": true } });
        self.server = with(self.server, field.clone());
        self.client = with(self.client, field);
        self
    }

    /// Its traffic leaves from there.
    #[must_use]
    pub fn leaving_from(mut self, exit: &Exit) -> Self {
        self.exit = Some(*exit);
        self
    }

    fn new(type_name: &'static str, server: Value, client: Value) -> Self {
        Self {
            type_name,
            server,
            client,
            tls: None,
            exit: None,
        }
    }

    /// As it stands in the server's config.
    pub(super) fn served(&self, index: usize, port: u16) -> Value {
        let mut inbound = json!({
            "type": self.type_name, "tag": format!("in-{index}"),
            "listen": "127.0.0.1", "listen_port": port,
        });
        if let Some(leaf) = &self.tls {
            inbound["tls"] = json!({
                "enabled": true,
                "certificate": leaf.certificate.lines().collect::<Vec<_>>(),
                "key": leaf.key.lines().collect::<Vec<_>>(),
            });
        }
        with(inbound, self.server.clone())
    }

    /// The server's own outbound behind it.
    pub(super) fn way_out(&self, index: usize) -> Value {
        let mut direct = json!({ "type": "direct", "tag": format!("out-{index}") });
        if let Some(exit) = &self.exit {
            direct["inet4_bind_address"] = json!(exit.address);
        }
        direct
    }

    /// The outbound that uses it.
    pub(super) fn used(&self, tag: &str, port: u16) -> Value {
        let type_name = match self.type_name {
            "mixed" => "socks",
            name => name,
        };
        let used = with(outbound(type_name, tag, port), self.client.clone());
        match self.tls {
            Some(_) => with(used, json!({ "tls": { "enabled": true } })),
            None => used,
        }
    }
}
