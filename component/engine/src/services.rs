//! The IP information services: who they are, in which order they are asked, and
//! what counts as an answer. It must not know when or through what they are asked.

mod address;
mod answer;

pub(crate) use answer::TEXT_LIMIT;
pub use answer::read_answer;

/// How much of an answer's body is read, in bytes (SPEC I-3).
pub(crate) const BODY_LIMIT: u32 = 64 * 1024;

/// One service, asked with one GET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Service {
    /// Its name in results and logs.
    pub(crate) host: &'static str,
    /// What to get.
    pub(crate) url: &'static str,
}

const COUNTRY_IS: Service = Service {
    host: "api.country.is",
    url: "https://api.country.is/",
};
const MY_IP: Service = Service {
    host: "api.my-ip.io",
    url: "https://api.my-ip.io/v2/ip.json",
};

/// Asked from a random one on, going round (SPEC I-1, I-2).
pub(crate) const ROUND: [Service; 7] = [
    Service {
        host: "ipapi.co",
        url: "https://ipapi.co/json/",
    },
    // Without TLS: with it the service wants a paid key.
    Service {
        host: "ip-api.com",
        url: "http://ip-api.com/json/",
    },
    Service {
        host: "ipinfo.io",
        url: "https://ipinfo.io/json",
    },
    Service {
        host: "api.ip.sb",
        url: "https://api.ip.sb/geoip",
    },
    Service {
        host: "ipwho.is",
        url: "https://ipwho.is/",
    },
    COUNTRY_IS,
    MY_IP,
];

/// Asked when all of the round have failed (SPEC I-1).
pub(crate) const LAST_RESORT: [Service; 3] = [
    Service {
        host: "cloudflare.com",
        url: "https://cloudflare.com/cdn-cgi/trace",
    },
    COUNTRY_IS,
    MY_IP,
];

/// The host names of all services, each once, so that a core can route them
/// (SPEC I-9).
pub fn hosts() -> impl Iterator<Item = &'static str> {
    let [cloudflare, _, _] = LAST_RESORT;
    ROUND
        .into_iter()
        .chain([cloudflare])
        .map(|service| service.host)
}

/// Whether a URL's host is this machine or in a private network by its name
/// alone: then its service may tell private addresses (SPEC I-3).
pub(crate) fn is_private_host(url: &str) -> bool {
    let host = host_of(url).trim_end_matches('.');
    let is_name = |name: &str| host.eq_ignore_ascii_case(name);
    let ends_with = |suffix: &str| {
        host.len()
            .checked_sub(suffix.len())
            .and_then(|at| host.get(at..))
            .is_some_and(|end| end.eq_ignore_ascii_case(suffix))
    };
    match address::parse(host) {
        Some(ip) => !address::is_public(ip),
        None => is_name("localhost") || ends_with(".localhost"),
    }
}

/// The host of an absolute URL without port and brackets; empty if there is none.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

/// Whether a URL is asked over TLS.
fn is_tls(url: &str) -> bool {
    url.get(..8)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn i1_the_services_are_asked_in_the_order_of_the_spec() {
        let round: Vec<_> = ROUND.iter().map(|service| service.host).collect();
        assert_eq!(
            round,
            [
                "ipapi.co",
                "ip-api.com",
                "ipinfo.io",
                "api.ip.sb",
                "ipwho.is",
                "api.country.is",
                "api.my-ip.io"
            ]
        );
        let last: Vec<_> = LAST_RESORT.iter().map(|service| service.host).collect();
        assert_eq!(last, ["cloudflare.com", "api.country.is", "api.my-ip.io"]);
    }

    #[test]
    fn i2_every_url_belongs_to_its_host_and_only_one_lacks_tls() {
        for service in ROUND.iter().chain(&LAST_RESORT) {
            assert_eq!(host_of(service.url), service.host);
            assert_eq!(is_tls(service.url), service.host != "ip-api.com");
        }
    }

    #[test]
    fn i9_the_host_names_hold_every_service_once() {
        let mut listed: Vec<_> = hosts().collect();
        listed.sort_unstable();
        let all = ROUND.iter().chain(&LAST_RESORT);
        let mut expected: Vec<_> = all.map(|service| service.host).collect();
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(listed, expected);
    }

    #[test]
    fn i3_only_a_loopback_or_private_host_may_tell_private_addresses() {
        for url in [
            "http://127.0.0.1:8080/json",
            "http://[::1]:80/",
            "http://localhost/ip",
            "http://Ip.LocalHost.:80",
            "https://user:pass@192.168.1.1/x",
            "http://[fd00::1]",
            "http://10.0.0.1?x=1",
        ] {
            assert!(is_private_host(url), "{url}");
        }
        for url in [
            "https://ipinfo.io/json",
            "http://1.1.1.1/",
            "http://notlocalhost/",
            "http://127.0.0.1.example.com/",
            "http://127.0.0.1@example.com/",
            "http://example.com/?http://127.0.0.1/",
            "",
        ] {
            assert!(!is_private_host(url), "{url}");
        }
    }
}
