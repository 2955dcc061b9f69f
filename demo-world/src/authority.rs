//! A certificate authority made at start, that lives as long as its world.
//! It must not know who shows its certificates.

use std::io;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new(name: &str) -> io::Result<Self> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(io::Error::other)?;
        Ok(Self { issuer })
    }

    /// The root certificate.
    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Accepts TLS with a certificate of this authority for `host`.
    pub(crate) fn acceptor(&self, host: &str) -> io::Result<TlsAcceptor> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = CertificateParams::new([host.to_owned()])
            .and_then(|params| params.signed_by(&key, &self.issuer))
            .map_err(io::Error::other)?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
                builder
                    .with_no_client_auth()
                    .with_single_cert(vec![certificate.der().clone()], key)
            })
            .map_err(io::Error::other)?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
