//! Reads `inbounds` of a config. It must not open anything.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::users::Users;
use crate::core::options::{Reader, duration, take};
use crate::report::{Problem, Severity};

/// As sing-box: how long a client may be silent before the system asks if it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(5 * 60);

/// As sing-box: how long the system waits between such questions.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(75);

/// As sing-box: how long an association without datagrams lives.
const UDP_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Fields that change nothing here: listening does by itself what they ask for, or they
/// only prepare for rules, which are not applied.
const HARMLESS: &[&str] = &[
    "domain_resolver",
    "domain_strategy",
    "reuse_addr",
    "sniff",
    "sniff_override_destination",
    "sniff_timeout",
    "tcp_fast_open",
    "tcp_multi_path",
    "udp_disable_domain_unmapping",
    "udp_fragment",
];

/// One inbound of a config, to be opened by [`serve`](Inbound::serve). Equal ones listen
/// at the same place for the same users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbound {
    pub(super) tag: Arc<str>,
    pub(super) protocol: Protocol,
    pub(super) listen: SocketAddr,
    pub(super) users: Users,
    pub(super) keep_alive: Option<KeepAlive>,
    pub(super) udp_timeout: Duration,
}

/// What an inbound speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// All that follow, told apart by the first byte.
    Mixed,
    /// SOCKS 4, 4a and 5.
    Socks,
    /// HTTP: CONNECT, and plain requests with an absolute address.
    Http,
}

/// How a client that says nothing is found to be gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeepAlive {
    pub(super) after: Duration,
    pub(super) interval: Duration,
}

impl Inbound {
    /// Its tag; its index where the config gives none.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Where it is to listen; port 0 means any free one.
    pub fn address(&self) -> SocketAddr {
        self.listen
    }
}

/// Reads `inbounds` of a config, as in sing-box: types `mixed`, `socks` and `http`.
///
/// An inbound that is wrong is an error and not among the results. One of a type, or
/// with a field, that is not served here is a warning, and the others are not touched.
pub fn read(inbounds: &[Value]) -> (Vec<Inbound>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut read: Vec<Inbound> = Vec::new();
    for (index, value) in inbounds.iter().enumerate() {
        let path = format!("inbounds[{index}]");
        let mut reader = Reader::new(&path, &mut problems);
        let Some(inbound) = one(index, value, &mut reader) else {
            continue;
        };
        if read.iter().any(|other| other.tag == inbound.tag) {
            reader.error("tag", format!("another inbound is `{}` too", inbound.tag));
        } else if taken(&read, inbound.listen) {
            let message = format!("another inbound listens on {} too", inbound.listen);
            reader.error("listen_port", message);
        } else {
            read.push(inbound);
        }
    }
    problems.sort_by_key(|problem| problem.severity == Severity::Warning);
    (read, problems)
}

fn taken(inbounds: &[Inbound], address: SocketAddr) -> bool {
    address.port() != 0 && inbounds.iter().any(|inbound| inbound.listen == address)
}

/// Reads one inbound. None if it is not to be opened, which `reader` has been told.
fn one(index: usize, value: &Value, reader: &mut Reader<'_>) -> Option<Inbound> {
    let Value::Object(mut options) = value.clone() else {
        reader.error("", "an inbound is an object: { \"type\": \"mixed\", ... }");
        return None;
    };
    let head: Head = reader.read(take(&mut options, &["type", "tag"]))?;
    let protocol = match head.type_name.as_str() {
        "mixed" => Protocol::Mixed,
        "socks" => Protocol::Socks,
        "http" => Protocol::Http,
        other => {
            let message = format!(
                "inbounds of type `{other}` are not opened here; `mixed`, `socks` and `http` are"
            );
            reader.warning("type", message);
            return None;
        }
    };
    let sound = without_unsupported(&mut options, reader);
    let fields: Fields = reader.read(options)?;
    let inbound = Inbound {
        tag: head.tag.unwrap_or_else(|| index.to_string()).into(),
        protocol,
        listen: SocketAddr::new(fields.listen, fields.listen_port.unwrap_or(0)),
        keep_alive: (!fields.disable_tcp_keep_alive).then(|| KeepAlive {
            after: fields.tcp_keep_alive.unwrap_or(KEEP_ALIVE),
            interval: fields
                .tcp_keep_alive_interval
                .unwrap_or(KEEP_ALIVE_INTERVAL),
        }),
        udp_timeout: fields.udp_timeout.unwrap_or(UDP_TIMEOUT),
        users: users(fields.users.unwrap_or_default(), reader)?,
    };
    doubts(&inbound, fields.listen_port, reader);
    sound.then_some(inbound)
}

/// Takes what sing-box has and this has not out of `options`. False if the inbound would
/// be another one without it, and so is not to be opened.
fn without_unsupported(options: &mut Map<String, Value>, reader: &mut Reader<'_>) -> bool {
    take(options, HARMLESS);
    let mut sound = true;
    let given = take(options, &["tls", "bind_interface", "netns", "detour"]);
    for (name, _) in given.iter().filter(|(_, value)| is_set(value)) {
        sound = false;
        let message = format!("`{name}` is not done here, so this inbound is not opened");
        reader.warning(name, message);
    }
    let given = take(
        options,
        &["routing_mark", "set_system_proxy", "proxy_protocol"],
    );
    for (name, _) in given.iter().filter(|(_, value)| is_set(value)) {
        reader.warning(name, "not done here; it has no effect");
    }
    sound
}

/// Whether a field says anything: `"tls": { "enabled": false }` does not.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => fields.get("enabled").is_some_and(|on| *on == true),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) => true,
    }
}

fn users(given: Vec<User>, reader: &mut Reader<'_>) -> Option<Users> {
    let mut users = Users::default();
    for (index, User { username, password }) in given.into_iter().enumerate() {
        if username.is_empty() {
            reader.error(&format!("users[{index}].username"), "a user needs a name");
            return None;
        }
        users.add(&username, &password);
    }
    Some(users)
}

fn doubts(inbound: &Inbound, port: Option<u16>, reader: &mut Reader<'_>) {
    if port.is_none() {
        reader.warning(
            "",
            "without `listen_port` it listens on another port each time",
        );
    }
    let ip = inbound.listen.ip();
    if !ip.is_loopback() && inbound.users.is_empty() {
        let message = format!(
            "anyone who reaches {ip} may use your outbounds; set `users`, or listen on 127.0.0.1"
        );
        reader.warning("listen", message);
    }
}

#[derive(Deserialize)]
struct Head {
    #[serde(rename = "type")]
    type_name: String,
    tag: Option<String>,
}

#[derive(Deserialize)]
#[serde(default)]
struct Fields {
    #[serde(deserialize_with = "address")]
    listen: IpAddr,
    listen_port: Option<u16>,
    users: Option<Vec<User>>,
    #[serde(deserialize_with = "duration")]
    tcp_keep_alive: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    tcp_keep_alive_interval: Option<Duration>,
    disable_tcp_keep_alive: bool,
    #[serde(deserialize_with = "duration")]
    udp_timeout: Option<Duration>,
}

#[derive(Deserialize)]
struct User {
    username: String,
    #[serde(default)]
    password: String,
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            listen: Ipv4Addr::LOCALHOST.into(),
            listen_port: None,
            users: None,
            tcp_keep_alive: None,
            tcp_keep_alive_interval: None,
            disable_tcp_keep_alive: false,
            udp_timeout: None,
        }
    }
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<IpAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|_| {
        D::Error::custom(format!(
            "`{text}` is no IP address; expected one such as `127.0.0.1` or `::`"
        ))
    })
}
