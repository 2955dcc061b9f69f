//! Which certificates are trusted, loaded once and shared.
//! It must not know any outbound or URL.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WantsClientCert, WebPkiServerVerifier, verify_server_name};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ConfigBuilder, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme, WantsVerifier,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::tls::provider;

/// Which certificates are trusted. Cheap to clone.
#[derive(Clone)]
pub struct Trust {
    anchors: Anchors,
    client: Arc<ClientConfig>,
}

/// Extra certificates that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TrustError(String);

impl Trust {
    /// The system's roots, or Mozilla's where the system has none.
    pub fn system() -> Self {
        static SYSTEM: OnceLock<Trust> = OnceLock::new();
        SYSTEM.get_or_init(|| Self::roots(system_roots())).clone()
    }

    /// Mozilla's roots, as compiled in.
    pub fn mozilla() -> Self {
        Self::roots(webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect())
    }

    /// No roots at all: every certificate is refused.
    pub fn none() -> Self {
        Self::roots(RootCertStore::empty())
    }

    /// These roots and those of `pem`, a text of one or more certificates. A server
    /// may also present one of them as its own.
    ///
    /// # Errors
    /// The text holds no certificate, or one that cannot be read.
    pub fn with_extra(&self, pem: &[u8]) -> Result<Self, TrustError> {
        let mut roots = RootCertStore::clone(&self.anchors.roots);
        let mut given = self.anchors.given.to_vec();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate =
                certificate.map_err(|error| TrustError(format!("not valid PEM: {error}")))?;
            roots
                .add(certificate.clone())
                .map_err(|error| TrustError(format!("not a certificate: {error}")))?;
            given.push(certificate);
        }
        if given.len() == self.anchors.given.len() {
            return Err(TrustError(
                "holds no PEM certificate (-----BEGIN CERTIFICATE-----)".into(),
            ));
        }
        Ok(Self::new(Anchors {
            roots: Arc::new(roots),
            given: given.into(),
        }))
    }

    /// Makes a TLS client trust so.
    pub(crate) fn verify(
        &self,
        client: ConfigBuilder<ClientConfig, WantsVerifier>,
    ) -> ConfigBuilder<ClientConfig, WantsClientCert> {
        self.anchors.verify(client)
    }

    /// TLS as an HTTP/1.1 client does it.
    pub(super) fn client(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.client)
    }

    fn roots(roots: RootCertStore) -> Self {
        Self::new(Anchors {
            roots: Arc::new(roots),
            given: Arc::default(),
        })
    }

    fn new(anchors: Anchors) -> Self {
        let client = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("the provider speaks TLS 1.2 and 1.3");
        let mut client = anchors.verify(client).with_no_client_auth();
        client.alpn_protocols = vec![b"http/1.1".to_vec()];
        Self {
            anchors,
            client: Arc::new(client),
        }
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trust")
            .field("roots", &self.anchors.roots.len())
            .finish_non_exhaustive()
    }
}

#[derive(Clone)]
struct Anchors {
    roots: Arc<RootCertStore>,
    /// Those of the roots that someone gave by hand.
    given: Arc<[CertificateDer<'static>]>,
}

impl Anchors {
    fn verify(
        &self,
        client: ConfigBuilder<ClientConfig, WantsVerifier>,
    ) -> ConfigBuilder<ClientConfig, WantsClientCert> {
        let roots = Arc::clone(&self.roots);
        let by_roots = WebPkiServerVerifier::builder_with_provider(roots.clone(), provider());
        match by_roots.build() {
            Ok(by_roots) if !self.given.is_empty() => {
                let given = Arc::clone(&self.given);
                let verifier = Arc::new(RootsOrGiven { by_roots, given });
                client
                    .dangerous()
                    .with_custom_certificate_verifier(verifier)
            }
            _ => client.with_root_certificates(roots),
        }
    }
}

/// Trusts roots as usual, and a server that presents a given certificate itself:
/// self-signed ones, as `openssl req -x509` makes them, call themselves authorities,
/// and no authority is a server by the usual rules.
#[derive(Debug)]
struct RootsOrGiven {
    by_roots: Arc<WebPkiServerVerifier>,
    given: Arc<[CertificateDer<'static>]>,
}

impl ServerCertVerifier for RootsOrGiven {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.by_roots.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            // Its dates were looked at before; its name was not.
            Err(Error::InvalidCertificate(CertificateError::Other(_)))
                if self.given.contains(end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_roots
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_roots
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_roots.supported_verify_schemes()
    }
}

fn system_roots() -> RootCertStore {
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!("reading the system's certificates: {error}");
    }
    let mut roots = RootCertStore::empty();
    let (added, ignored) = roots.add_parsable_certificates(found.certs);
    tracing::debug!("{added} roots of the system, {ignored} unreadable");
    if added == 0 {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}
