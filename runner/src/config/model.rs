//! What a config file says, once read: the values that Outwatch uses, in its own
//! words. It must not know JSON's text, nor what is done with the values.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::proxy_core::Kind;

/// A whole config.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Outbounds, then endpoints, each in file order.
    pub entries: Vec<Entry>,
    /// The text of `experimental.monitoring`; `{}` when absent.
    pub monitoring: String,
    /// `experimental.cache_file`.
    pub cache_file: CacheFile,
    /// `experimental.clash_api`.
    pub clash_api: ClashApi,
    /// `log`.
    pub log: Log,
    /// Top-level `certificate`: extra roots.
    pub certificate: Option<Map<String, Value>>,
    /// The sections `dns` and `http_clients` where present, as in the file: a core that
    /// knows what they mean may need them to dial.
    pub dialing: Map<String, Value>,
    /// `inbounds`, as in the file.
    pub inbounds: Vec<Value>,
    /// `route`, as in the file.
    pub route: Map<String, Value>,
}

/// One outbound, endpoint or group.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Unique; its index where the file gives none.
    pub tag: String,
    /// `type` as in the file.
    pub type_name: String,
    /// What it is.
    pub kind: Kind,
    /// What it dials through.
    pub detour: Option<String>,
    /// A group's members that exist, each once.
    pub members: Vec<String>,
    /// A selector's `default`.
    pub default: Option<String>,
    /// Stands for the server's identity.
    pub fingerprint: String,
    /// Where it stands, such as `outbounds[3]`.
    pub path: String,
    /// The whole object, as in the file.
    pub options: Map<String, Value>,
}

/// Where results are saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheFile {
    /// Whether they are.
    pub enabled: bool,
    /// The file, relative to the working directory; the CLI's default when absent.
    pub path: Option<PathBuf>,
}

/// Where the API listens, and who may ask.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ClashApi {
    /// `external_controller`; there is no API when absent.
    pub listen: Option<SocketAddr>,
    /// What who asks must know; nothing if empty.
    pub secret: String,
    /// `access_control_allow_origin`: web pages of which origins may ask.
    pub allow_origins: Vec<String>,
    /// `access_control_allow_private_network`.
    pub allow_private_network: bool,
    /// `external_ui`: the folder of a dashboard; relative to the working directory.
    pub external_ui: Option<PathBuf>,
}

/// The secret is not printed.
impl fmt::Debug for ClashApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClashApi")
            .field("listen", &self.listen)
            .field("allow_origins", &self.allow_origins)
            .field("allow_private_network", &self.allow_private_network)
            .field("external_ui", &self.external_ui)
            .finish_non_exhaustive()
    }
}

/// What is logged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// Nothing at all.
    pub disabled: bool,
    /// `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `panic`.
    pub level: Option<String>,
    /// The file to write to; the standard error stream when absent.
    pub output: Option<PathBuf>,
    /// Whether lines start with the time; the CLI's default when absent.
    pub timestamp: Option<bool>,
}
