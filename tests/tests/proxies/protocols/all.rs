//! One sing-box with every protocol and transport that the native core shares with it,
//! and the outbounds that use them. It must not know what is tried with them.

use outwatch::NativeCore;
use outwatch_tests::peers::{Authority, EXITS, Inbound, Leaf, SingBox, with};
use serde_json::{Value, json};

use super::super::world::core_of;

pub(super) const PASSWORD: &str = "an open secret";
pub(super) const UUID: &str = "0f1e2d3c-4b5a-4697-8877-665544332211";

/// Keys of 16 and of 32 bytes.
pub(super) const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZg==";
pub(super) const LONG_KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/// Every method of shadowsocks, with a password that fits it.
pub(super) const METHODS: [(&str, &str); 7] = [
    ("none", ""),
    ("aes-128-gcm", PASSWORD),
    ("aes-256-gcm", PASSWORD),
    ("chacha20-ietf-poly1305", PASSWORD),
    ("2022-blake3-aes-128-gcm", KEY),
    ("2022-blake3-aes-256-gcm", LONG_KEY),
    ("2022-blake3-chacha20-poly1305", LONG_KEY),
];

/// Where the traffic of all of them comes out.
pub(super) const EXIT: usize = 1;

/// The server and its users.
pub(super) struct All {
    sing: SingBox,
    tags: Vec<String>,
    authority: Authority,
}

impl All {
    pub(super) fn start() -> Self {
        let authority = Authority::new("Server Authority");
        let leaf = authority.leaf(&["127.0.0.1", "front.test"]);
        let mut served: Vec<(String, Inbound)> = METHODS
            .iter()
            .map(|(method, key)| ((*method).to_owned(), Inbound::shadowsocks(method, key)))
            .collect();
        let method = "2022-blake3-aes-128-gcm";
        let user = Inbound::shadowsocks_of_a_user(method, KEY, "ZmVkY2JhOTg3NjU0MzIxMA==");
        served.push(("user".to_owned(), user));
        let many = Inbound::shadowsocks("aes-128-gcm", PASSWORD).multiplex();
        served.push(("multiplex".to_owned(), many));
        for (name, inbound) in [
            ("trojan", Inbound::trojan(PASSWORD)),
            ("vless", Inbound::vless(UUID)),
        ] {
            for (way, inbound) in over_transports(&inbound) {
                // sing-box's server closes one in a hundred such connections: it takes
                // trojan's password from one read, which its HTTP server may have cut.
                if (name, way) == ("trojan", " httpupgrade") {
                    continue;
                }
                served.push((format!("{name}{way}"), inbound.clone()));
                served.push((format!("{name}{way} tls"), inbound.tls(&leaf)));
            }
        }
        let (tags, inbounds): (Vec<_>, Vec<_>) = served.into_iter().unzip();
        let inbounds = inbounds.into_iter();
        Self {
            sing: SingBox::start(inbounds.map(|inbound| inbound.leaving_from(&EXITS[EXIT]))),
            tags,
            authority,
        }
    }

    pub(super) fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().map(String::as_str)
    }

    /// The outbound called `tag`.
    pub(super) fn outbound(&self, tag: &str) -> Value {
        let index = self.tags.iter().position(|known| known == tag);
        self.sing.outbound(index.expect("a tag"), tag)
    }

    /// The outbound called `tag`, with fields that take the place of its own.
    pub(super) fn changed(&self, tag: &str, fields: Value) -> Value {
        with(self.outbound(tag), fields)
    }

    /// The core of these outbounds, which trusts the server's authority.
    pub(super) fn core_of(&self, outbounds: impl IntoIterator<Item = Value>) -> NativeCore {
        core_of(&json!({
            "outbounds": Vec::from_iter(outbounds),
            "certificate": { "certificate": self.authority.pem() },
        }))
    }

    /// What a server of the same authority shows.
    pub(super) fn leaf(&self, names: &[&str]) -> Leaf {
        self.authority.leaf(names)
    }

    /// The core of all outbounds.
    pub(super) fn core(&self) -> NativeCore {
        self.core_of(self.tags().map(|tag| self.outbound(tag)))
    }
}

/// The same proxy over every transport, and what to call it.
fn over_transports(inbound: &Inbound) -> Vec<(&'static str, Inbound)> {
    let transports = [
        (" ws", json!({ "type": "ws", "path": "/tunnel" })),
        (
            " ws host",
            json!({ "type": "ws", "path": "tunnel", "headers": { "Host": "front.test" } }),
        ),
        (
            " early in path",
            json!({ "type": "ws", "path": "/tunnel", "max_early_data": 2048 }),
        ),
        (
            " early in header",
            json!({
                "type": "ws", "path": "/tunnel", "max_early_data": 40,
                "early_data_header_name": "Sec-WebSocket-Protocol",
            }),
        ),
        (
            " httpupgrade",
            json!({ "type": "httpupgrade", "path": "/tunnel", "host": "front.test" }),
        ),
    ];
    let mut all = vec![("", inbound.clone())];
    all.extend(
        transports
            .iter()
            .map(|(name, transport)| (*name, inbound.clone().transport(transport))),
    );
    all
}
