//! sing-box's `tls` object of an outbound: read, and the handshake done.
//! It must not know which outbound type uses it.

mod configs;

use std::path::PathBuf;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use serde::Deserialize;
use serde_json::Value;

use self::configs::{Recipe, Source, Versions};
use super::options::{ELSEWHERE, Reader, Strings, parse_host};
use super::way::Stream;
use crate::fetch::connect_tls;
use crate::proxy_core::{FetchError, Host, Phase};

pub(super) use self::configs::TlsConfigs;

/// The object as in the config.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TlsFields {
    enabled: bool,
    server_name: String,
    insecure: bool,
    disable_sni: bool,
    alpn: Strings,
    min_version: Option<Version>,
    max_version: Option<Version>,
    certificate: Strings,
    certificate_path: Option<PathBuf>,
    // What this core cannot do.
    utls: Value,
    reality: Value,
    ech: Value,
    fragment: bool,
    record_fragment: bool,
    client_certificate: Value,
    client_certificate_path: Value,
    client_key: Value,
    client_key_path: Value,
    certificate_public_key_sha256: Value,
    // What changes nothing that a test sees.
    cipher_suites: Value,
    curve_preferences: Value,
    fragment_fallback_delay: Value,
    kernel_tx: Value,
    kernel_rx: Value,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
enum Version {
    #[serde(rename = "1.0", alias = "1.1")]
    Old,
    #[serde(rename = "1.2")]
    V12,
    #[serde(rename = "1.3")]
    V13,
}

/// TLS with one server.
pub(super) struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Tls {
    /// TLS as `fields` say, with the server `server`. None if it is switched off, or
    /// wrong or beyond this core, which `reader` has been told.
    pub(super) fn new(
        fields: TlsFields,
        server: &Host,
        reader: &mut Reader<'_>,
        configs: &mut TlsConfigs,
    ) -> Option<Self> {
        if !fields.enabled {
            return None;
        }
        if let Some(field) = fields.beyond_this_core() {
            reader.unsupported(format!(
                "its `tls.{field}` is not done by the built-in core; {ELSEWHERE}"
            ));
            return None;
        }
        let name = fields.name(server, reader)?;
        let recipe = fields.recipe(reader)?;
        let config = configs.get(recipe, reader)?;
        Some(Self { config, name })
    }

    /// Does the handshake over `stream` with `proxy`.
    pub(super) async fn wrap(&self, stream: Stream, proxy: &str) -> Result<Stream, FetchError> {
        let config = Arc::clone(&self.config);
        let (name, peer) = (self.name.clone(), proxy.to_owned());
        Ok(Box::new(
            connect_tls(config, name, stream, Phase::Proxy, peer).await?,
        ))
    }
}

impl TlsFields {
    /// `server_name`, perhaps empty; none if TLS is switched off.
    pub(super) fn name_asked_for(&self) -> Option<&str> {
        self.enabled.then_some(self.server_name.as_str())
    }

    /// Offers `protocol` if the config offers none.
    pub(super) fn offer_at_least(&mut self, protocol: &str) {
        if self.alpn.0.is_empty() {
            self.alpn.0.push(protocol.to_owned());
        }
    }

    fn beyond_this_core(&self) -> Option<&'static str> {
        let enabled = |value: &Value| value.get("enabled") == Some(&Value::Bool(true));
        let given = |value: &Value| !matches!(value, Value::Null);
        [
            ("utls", enabled(&self.utls)),
            ("reality", enabled(&self.reality)),
            ("ech", enabled(&self.ech)),
            ("fragment", self.fragment),
            ("record_fragment", self.record_fragment),
            ("client_certificate", given(&self.client_certificate)),
            (
                "client_certificate_path",
                given(&self.client_certificate_path),
            ),
            ("client_key", given(&self.client_key)),
            ("client_key_path", given(&self.client_key_path)),
            (
                "certificate_public_key_sha256",
                given(&self.certificate_public_key_sha256),
            ),
            ("max_version", self.max_version == Some(Version::Old)),
        ]
        .into_iter()
        .find_map(|(field, beyond)| beyond.then_some(field))
    }

    fn name(&self, server: &Host, reader: &mut Reader<'_>) -> Option<ServerName<'static>> {
        let host = match self.server_name.as_str() {
            "" => Some(server.clone()),
            name => parse_host(name),
        };
        let name = match host {
            Some(Host::Ip(ip)) => Some(ServerName::IpAddress(ip.into())),
            Some(Host::Name(name)) => ServerName::try_from(name).ok(),
            None => None,
        };
        if name.is_none() {
            let text = format!(
                "`{}` is no name that a certificate can have",
                self.server_name
            );
            reader.error("tls.server_name", text);
        }
        name
    }

    fn recipe(self, reader: &mut Reader<'_>) -> Option<Recipe> {
        let certificate = match (self.certificate.0.is_empty(), self.certificate_path) {
            (false, _) => Some(Source::Text(self.certificate.0.join("\n"))),
            (true, path) => path.map(Source::File),
        };
        let versions = match (self.min_version, self.max_version) {
            (Some(Version::V13), Some(Version::V12)) => {
                reader.error("tls.min_version", "above `tls.max_version`");
                return None;
            }
            (Some(Version::V13), _) => Versions::Only13,
            (_, Some(Version::V12)) => Versions::Only12,
            _ => Versions::Both,
        };
        Some(Recipe {
            insecure: self.insecure,
            sni: !self.disable_sni,
            alpn: self.alpn.0,
            versions,
            certificate,
        })
    }
}
