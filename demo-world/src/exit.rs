//! Where a proxy's traffic comes out, as an IP service would tell it.
//! It must not know how the service finds out who asks.

use serde_json::{Value, json};

/// The address a proxy's traffic comes out of, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    ip: String,
    country_code: String,
    city: String,
    asn: u32,
    org: String,
}

impl Exit {
    /// An exit with all that an IP service tells.
    pub fn new(ip: &str, country_code: &str, city: &str, asn: u32, org: &str) -> Self {
        Self {
            ip: ip.to_owned(),
            country_code: country_code.to_owned(),
            city: city.to_owned(),
            asn,
            org: org.to_owned(),
        }
    }

    /// The service's answer.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "ip": self.ip,
            "country_code": self.country_code,
            "city": self.city,
            "asn": format!("AS{}", self.asn),
            "org": self.org,
        })
    }
}

impl Default for Exit {
    fn default() -> Self {
        Self::new("192.0.2.1", "NL", "Amsterdam", 64511, "Example Transit")
    }
}
