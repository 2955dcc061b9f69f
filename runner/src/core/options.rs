//! Reads the options of one outbound into typed values, and turns what is wrong
//! with them into problems with a path. It must not know any outbound type.

use std::time::Duration;

use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::proxy_core::{Host, Target};
use crate::report::{Problem, Severity};

/// Reads one object of the config.
pub(crate) struct Reader<'a> {
    path: &'a str,
    problems: &'a mut Vec<Problem>,
    unsupported: Option<String>,
    wrong: Option<String>,
}

impl<'a> Reader<'a> {
    /// A reader of the object at `path`.
    pub(crate) fn new(path: &'a str, problems: &'a mut Vec<Problem>) -> Self {
        Self {
            path,
            problems,
            unsupported: None,
            wrong: None,
        }
    }

    /// The fields of `map` as a `T`. None, and an error told, if they are wrong; a
    /// field that `T` does not know is a warning (F-4).
    pub(crate) fn read<T: DeserializeOwned>(&mut self, map: Map<String, Value>) -> Option<T> {
        let mut unknown = Vec::new();
        let mut track = serde_path_to_error::Track::new();
        let json = Value::Object(map);
        let tracked = serde_path_to_error::Deserializer::new(json, &mut track);
        let read = serde_ignored::deserialize(tracked, |path| unknown.push(path.to_string()));
        for path in unknown {
            self.warning(&path.replace(".?", ""), "unknown field; it has no effect");
        }
        match read {
            Ok(read) => Some(read),
            Err(error) => {
                let path = track.path().to_string();
                self.error(if path == "." { "" } else { &path }, error.to_string());
                None
            }
        }
    }

    /// The value of `field` is wrong.
    pub(crate) fn error(&mut self, field: &str, message: impl Into<String>) {
        let message = message.into();
        self.wrong
            .get_or_insert_with(|| format!("its options are wrong: {message}"));
        self.problem(Severity::Error, field, message);
    }

    /// The value of `field` is doubtful.
    pub(crate) fn warning(&mut self, field: &str, message: impl Into<String>) {
        self.problem(Severity::Warning, field, message.into());
    }

    /// The options are right, but this core cannot do what they ask for (D-6).
    pub(crate) fn unsupported(&mut self, why: impl Into<String>) {
        self.unsupported.get_or_insert(why.into());
    }

    /// Why the outbound cannot be dialed, if it cannot: wrong or unsupported options.
    pub(crate) fn into_refusal(self) -> Option<String> {
        self.wrong.or(self.unsupported)
    }

    fn problem(&mut self, severity: Severity, field: &str, message: String) {
        let path = match (self.path, field) {
            (path, "") => path.to_owned(),
            ("", field) => field.to_owned(),
            (path, field) => format!("{path}.{field}"),
        };
        self.problems.push(Problem {
            severity,
            path,
            message,
            hint: None,
        });
    }
}

/// Moves the named fields out of `map`.
pub(crate) fn take(map: &mut Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    names
        .iter()
        .filter_map(|name| map.remove_entry(*name))
        .collect()
}

/// `server` and `server_port`.
#[derive(Debug, Deserialize)]
pub(super) struct Server {
    #[serde(deserialize_with = "host")]
    server: Host,
    #[serde(deserialize_with = "port")]
    server_port: u16,
}

impl Server {
    pub(super) const NAMES: &[&str] = &["server", "server_port"];

    pub(super) fn into_target(self) -> Target {
        Target {
            host: self.server,
            port: self.server_port,
            family: None,
        }
    }
}

/// One string or a list of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Strings(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Strings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;

        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Strings;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E>(self, text: &str) -> Result<Strings, E> {
                Ok(Strings(vec![text.to_owned()]))
            }

            fn visit_unit<E>(self) -> Result<Strings, E> {
                Ok(Strings::default())
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> Result<Strings, A::Error> {
                let mut strings = Vec::new();
                while let Some(text) = list.next_element()? {
                    strings.push(text);
                }
                Ok(Strings(strings))
            }
        }

        deserializer.deserialize_any(OneOrMany)
    }
}

/// A duration such as `5s` or `1m30s`.
pub(crate) fn duration<'de, D>(deserializer: D) -> Result<Option<Duration>, D::Error>
where
    D: Deserializer<'de>,
{
    let Some(text) = Option::<String>::deserialize(deserializer)? else {
        return Ok(None);
    };
    match humantime::parse_duration(&text) {
        Ok(duration) if !duration.is_zero() => Ok(Some(duration)),
        _ => Err(D::Error::custom(format!(
            "`{text}` is no duration; expected one above zero, such as `500ms`, `5s` or `1m30s`"
        ))),
    }
}

fn host<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Host, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_host(&text).ok_or_else(|| {
        D::Error::custom(format!(
            "`{text}` is no host; expected a name or an IP address"
        ))
    })
}

/// A name or an address, with or without brackets around IPv6.
pub(crate) fn parse_host(text: &str) -> Option<Host> {
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text);
    if let Ok(ip) = bare.parse() {
        return Some(Host::Ip(ip));
    }
    match url::Host::parse(text).ok()? {
        url::Host::Domain(name) if name.len() <= 253 => Some(Host::Name(name)),
        url::Host::Domain(_) => None,
        url::Host::Ipv4(ip) => Some(Host::Ip(ip.into())),
        url::Host::Ipv6(ip) => Some(Host::Ip(ip.into())),
    }
}

fn port<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    let value = Value::deserialize(deserializer)?;
    value
        .as_u64()
        .and_then(|port| u16::try_from(port).ok())
        .filter(|port| *port != 0)
        .ok_or_else(|| D::Error::custom(format!("{value} is no port; expected 1 to 65535")))
}
