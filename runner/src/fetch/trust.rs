//! Which certificate authorities are trusted, loaded once and shared.
//! It must not know any outbound or URL.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use super::tls::provider;

/// Which certificates are trusted. Cheap to clone.
#[derive(Clone)]
pub struct Trust {
    roots: Arc<RootCertStore>,
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
        SYSTEM.get_or_init(|| Self::only(system_roots())).clone()
    }

    /// Mozilla's roots, as compiled in.
    pub fn mozilla() -> Self {
        Self::only(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() })
    }

    /// No roots at all: every certificate is refused.
    pub fn none() -> Self {
        Self::only(RootCertStore::empty())
    }

    /// These roots and those of `pem`, a text of one or more certificates.
    ///
    /// # Errors
    /// The text holds no certificate, or one that cannot be read.
    pub fn with_extra(&self, pem: &[u8]) -> Result<Self, TrustError> {
        let mut roots = RootCertStore::clone(&self.roots);
        let mut found = false;
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate =
                certificate.map_err(|error| TrustError(format!("not valid PEM: {error}")))?;
            roots
                .add(certificate)
                .map_err(|error| TrustError(format!("not a certificate: {error}")))?;
            found = true;
        }
        if found {
            Ok(Self::only(roots))
        } else {
            Err(TrustError("no PEM certificate (`-----BEGIN CERTIFICATE-----`) in it".into()))
        }
    }

    /// The roots themselves.
    pub(crate) fn roots(&self) -> Arc<RootCertStore> {
        Arc::clone(&self.roots)
    }

    /// TLS as an HTTP/1.1 client does it.
    pub(super) fn client(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.client)
    }

    fn only(roots: RootCertStore) -> Self {
        let roots = Arc::new(roots);
        let mut client = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("the provider speaks TLS 1.2 and 1.3")
            .with_root_certificates(Arc::clone(&roots))
            .with_no_client_auth();
        client.alpn_protocols = vec![b"http/1.1".to_vec()];
        Self { roots, client: Arc::new(client) }
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trust").field("roots", &self.roots.len()).finish()
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
        roots.roots = webpki_roots::TLS_SERVER_ROOTS.to_vec();
    }
    roots
}
