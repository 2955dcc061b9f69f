//! An outbound in the making: the fields of its object in the config. It must not know any
//! scheme.

use serde_json::{Map, Value};

use super::link::{Link, Server};

/// What a link says of an outbound or endpoint. There is no `Debug`: it holds secrets.
pub(super) struct Draft {
    /// The type's name in the config.
    pub(super) type_name: &'static str,
    pub(super) is_endpoint: bool,
    /// All but `type` and `tag`.
    pub(super) fields: Map<String, Value>,
    /// What it is called where its link has no name.
    pub(super) place: String,
    /// V-1.
    pub(super) ipv6: Option<bool>,
    /// What has no place in the config.
    pub(super) doubts: Vec<String>,
}

impl Draft {
    /// An outbound at a server with one port.
    pub(super) fn outbound(
        type_name: &'static str,
        link: &Link,
        server: &Server,
        port: u16,
    ) -> Self {
        let mut draft = Self::new(type_name, link, &server.host, port);
        draft.put("server", server.host.as_str());
        draft.put("server_port", port);
        draft
    }

    /// An endpoint whose peer is at a server.
    pub(super) fn endpoint(type_name: &'static str, link: &Link, host: &str, port: u16) -> Self {
        Self {
            is_endpoint: true,
            ..Self::new(type_name, link, host, port)
        }
    }

    fn new(type_name: &'static str, link: &Link, host: &str, port: u16) -> Self {
        Self {
            type_name,
            is_endpoint: false,
            fields: Map::new(),
            place: match host.contains(':') {
                true => format!("[{host}]:{port}"),
                false => format!("{host}:{port}"),
            },
            ipv6: link.flag(&["ipv6"]),
            doubts: Vec::new(),
        }
    }

    /// Sets a field.
    pub(super) fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.fields.insert(name.to_owned(), value.into());
    }

    /// Sets a field if there is something for it.
    pub(super) fn put_some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    /// Something that the config cannot say.
    pub(super) fn doubt(&mut self, doubt: impl Into<String>) {
        self.doubts.push(doubt.into());
    }
}

/// What a parameter names, to be told to people; only if it looks like a name, since in a
/// broken link anything may stand there.
pub(super) fn word(value: &str) -> String {
    let is_word = value.len() <= 24
        && value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if is_word {
        format!("`{value}`")
    } else {
        "what it names".to_owned()
    }
}
