//! TLS configurations of outbounds, one for all that want the same.
//! It must not know how an outbound's options are written.

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

use crate::core::options::Reader;
use crate::fetch::{Trust, provider};

/// All that two outbounds must have in common to share one [`ClientConfig`].
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Recipe {
    pub(super) insecure: bool,
    pub(super) sni: bool,
    pub(super) alpn: Vec<String>,
    pub(super) versions: Versions,
    pub(super) certificate: Option<Source>,
}

/// Where the only trusted certificates are.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Source {
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

/// Which versions of TLS may be spoken.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Versions {
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
pub(in crate::core) struct TlsConfigs {
    trust: Trust,
    built: HashMap<Recipe, Arc<ClientConfig>>,
}

impl TlsConfigs {
    pub(in crate::core) fn new(trust: Trust) -> Self {
        Self {
            trust,
            built: HashMap::new(),
        }
    }

    /// The one that `recipe` asks for; none if its certificates are wrong, which
    /// `reader` has been told.
    pub(super) fn get(
        &mut self,
        recipe: Recipe,
        reader: &mut Reader<'_>,
    ) -> Option<Arc<ClientConfig>> {
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
