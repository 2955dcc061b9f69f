//! sing-box's `tls` object of an outbound: read, shared among equals, and done.
//! It must not know which outbound type uses it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use rustls::version::{TLS12, TLS13};
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, SignatureScheme, SupportedProtocolVersion,
};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use serde::Deserialize;
use serde_json::Value;

use super::options::{Reader, Strings, parse_host};
use super::way::Stream;
use crate::fetch::{Trust, connect_tls, provider};
use crate::proxy_core::{FetchError, Host, Phase};

/// The object as in the config.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TlsFields {
    enabled: bool,
    server_name: String,
    insecure: bool,
    disable_sni: bool,
    alpn: Strings,
    min_version: Version,
    max_version: Version,
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

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
enum Version {
    #[default]
    #[serde(rename = "")]
    Unset,
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
                "its `tls.{field}` is not done by the built-in core"
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
            ("max_version", self.max_version == Version::Old),
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
            (Version::V13, Version::V12) => {
                reader.error("tls.min_version", "above `tls.max_version`");
                return None;
            }
            (Version::V13, _) => Versions::Only13,
            (_, Version::V12) => Versions::Only12,
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

/// All that two outbounds must have in common to share one [`ClientConfig`].
#[derive(PartialEq, Eq, Hash)]
struct Recipe {
    insecure: bool,
    sni: bool,
    alpn: Vec<String>,
    versions: Versions,
    certificate: Option<Source>,
}

/// Where the only trusted certificates are.
#[derive(PartialEq, Eq, Hash)]
enum Source {
    Text(String),
    File(PathBuf),
}

impl Source {
    fn trust(&self, reader: &mut Reader<'_>) -> Option<Trust> {
        let (field, pem) = match self {
            Self::Text(pem) => ("tls.certificate", Ok(pem.clone().into_bytes())),
            Self::File(path) => (
                "tls.certificate_path",
                std::fs::read(path)
                    .map_err(|error| format!("`{}` cannot be read: {error}", path.display())),
            ),
        };
        let trust = pem.and_then(|pem| {
            Trust::none()
                .with_extra(&pem)
                .map_err(|error| error.to_string())
        });
        trust.map_err(|message| reader.error(field, message)).ok()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Versions {
    Both,
    Only12,
    Only13,
}

impl Versions {
    fn list(self) -> &'static [&'static SupportedProtocolVersion] {
        static BOTH: &[&SupportedProtocolVersion] = &[&TLS13, &TLS12];
        match self {
            Self::Both => BOTH,
            Self::Only13 => &BOTH[..1],
            Self::Only12 => &BOTH[1..],
        }
    }
}

/// The configurations built so far: thousands of outbounds share a few.
pub(super) struct TlsConfigs {
    trust: Trust,
    built: HashMap<Recipe, Arc<ClientConfig>>,
}

impl TlsConfigs {
    pub(super) fn new(trust: Trust) -> Self {
        Self {
            trust,
            built: HashMap::new(),
        }
    }

    fn get(&mut self, recipe: Recipe, reader: &mut Reader<'_>) -> Option<Arc<ClientConfig>> {
        if let Some(config) = self.built.get(&recipe) {
            return Some(Arc::clone(config));
        }
        // As in sing-box, certificates given here are the only ones trusted.
        let trust = match &recipe.certificate {
            None => self.trust.clone(),
            Some(source) => source.trust(reader)?,
        };
        let builder = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(recipe.versions.list())
            .expect("the provider speaks TLS 1.2 and 1.3");
        let builder = if recipe.insecure {
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyCertificate))
        } else {
            trust.verify(builder)
        };
        let mut config = builder.with_no_client_auth();
        config.enable_sni = recipe.sni;
        config.alpn_protocols = recipe.alpn.iter().map(|name| name.clone().into()).collect();
        let config = Arc::new(config);
        self.built.insert(recipe, Arc::clone(&config));
        Some(config)
    }
}

/// `insecure`: any certificate will do, though the server must own it.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &provider().signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &provider().signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}
