//! What an IP information service may answer: a body, after `!` with status 429. It must
//! not know which service it is.

use std::net::IpAddr;

use outwatch_engine::{ErrorKind, IpInfo, read_answer};

use crate::is_clean;

/// Any body is read or refused with a kind and a text; what is read has the documented
/// form (I-3, I-4).
///
/// # Panics
///
/// When that does not hold.
pub fn service_answer(data: &[u8]) {
    let (status, body) = match data.split_first() {
        Some((b'!', body)) => (429, body),
        _ => (200, data),
    };
    for url in ["https://api.ip.test/json", "http://10.0.0.1:8080/", "?"] {
        for allow_private in [false, true] {
            match read_answer(url, status, body, allow_private) {
                Ok(info) => {
                    assert_eq!(status, 200, "I-3");
                    is_sound(&info, allow_private);
                }
                Err(failure) => {
                    let kinds = [ErrorKind::HttpStatus, ErrorKind::HttpMalformed];
                    assert!(kinds.contains(&failure.kind), "{failure:?}");
                    assert!(!failure.text.is_empty() && is_clean(&failure.text, 256));
                }
            }
        }
    }
}

/// The documented form of what is known of an exit.
pub(crate) fn is_sound(info: &IpInfo, allow_private: bool) {
    let ip: IpAddr = info.ip.parse().expect("I-3: an address");
    assert_eq!(ip.to_string(), info.ip, "I-3: not the canonical text");
    let is_private = match ip {
        IpAddr::V4(ip) => ip.is_private() || ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local(),
    };
    assert!(allow_private || !is_private, "I-3: {ip}");
    if let Some(code) = &info.country_code {
        let is_code = code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase());
        assert!(is_code, "I-4: {code:?}");
    }
    let texts = [&info.region, &info.city, &info.org];
    for text in texts.into_iter().flatten().chain([&info.service]) {
        assert!(is_clean(text, 128), "I-4: {text:?}");
    }
}
