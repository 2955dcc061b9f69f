//! Certificates that nobody trusts but those who are told to. It must not know which
//! server shows them.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};

/// A certificate authority of a test's own.
#[derive(Debug)]
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// What a server needs for TLS, as PEM.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Its certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

impl Authority {
    /// A new one with a key of its own.
    ///
    /// # Panics
    /// When no key can be made, as in all of this file.
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        Self(CertifiedIssuer::self_signed(params, key()).expect("a signed certificate"))
    }

    /// Its own certificate, as PEM: what a client must trust.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for these names and addresses.
    pub fn leaf(&self, names: &[&str]) -> Leaf {
        self.sign(&params(names))
    }

    /// The same, no longer valid.
    pub fn expired(&self, names: &[&str]) -> Leaf {
        let mut params = params(names);
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 1);
        self.sign(&params)
    }

    fn sign(&self, params: &CertificateParams) -> Leaf {
        let key = key();
        let certificate = params.signed_by(&key, &self.0);
        Leaf {
            certificate: certificate.expect("a signed certificate").pem(),
            key: key.serialize_pem(),
        }
    }
}

impl Leaf {
    /// A certificate that no authority signed.
    pub fn self_signed(names: &[&str]) -> Self {
        let key = key();
        let certificate = params(names).self_signed(&key);
        Self {
            certificate: certificate.expect("a signed certificate").pem(),
            key: key.serialize_pem(),
        }
    }
}

fn params(names: &[&str]) -> CertificateParams {
    let owned: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(owned).expect("names that a certificate can have");
    params
        .distinguished_name
        .push(DnType::CommonName, names.join(", "));
    params
}

fn key() -> KeyPair {
    KeyPair::generate().expect("a new key")
}
