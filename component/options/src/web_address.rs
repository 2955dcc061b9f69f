//! Whether a text is an address that a test can open: `http` or `https` and a
//! host. It must not know what is opened; a full parser would bring the Unicode
//! tables of host names into the component.

use std::net::Ipv6Addr;

/// What keeps a text from being such an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// No `scheme://` in front.
    NoScheme,
    /// Another scheme than `http` and `https`.
    OtherScheme,
    /// No host, or none that can be one.
    Host,
    /// A port that is none.
    Port,
    /// A space, a control character or a backslash.
    Character,
}

/// Checks an absolute address.
pub(crate) fn check(text: &str) -> Result<(), Wrong> {
    let (scheme, rest) = text.split_once("://").ok_or(Wrong::NoScheme)?;
    if !["http", "https"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
    {
        let is_scheme = scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
        return Err(if is_scheme {
            Wrong::OtherScheme
        } else {
            Wrong::NoScheme
        });
    }
    if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
        return Err(Wrong::Character);
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host_and_port = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match host_and_port.strip_prefix('[') {
        Some(v6) => {
            let (host, port) = v6.split_once(']').ok_or(Wrong::Host)?;
            host.parse::<Ipv6Addr>().map_err(|_| Wrong::Host)?;
            (host, port)
        }
        None => host_and_port.split_at(host_and_port.find(':').unwrap_or(host_and_port.len())),
    };
    // Characters that cannot be in a host's name, and would end it elsewhere.
    if host.is_empty() || host.contains(|c| "<>\"'{}|^`%,;@[]".contains(c)) {
        return Err(Wrong::Host);
    }
    check_port(port)
}

/// Nothing, or a colon with a number from 1 to 65535.
fn check_port(text: &str) -> Result<(), Wrong> {
    let Some(digits) = text.strip_prefix(':') else {
        return if text.is_empty() {
            Ok(())
        } else {
            Err(Wrong::Host)
        };
    };
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse::<u16>() {
        Ok(1..) if plain => Ok(()),
        _ => Err(Wrong::Port),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f3_an_http_or_https_address_with_a_host_is_accepted() {
        for text in [
            "https://www.gstatic.com/generate_204",
            "http://cp.cloudflare.com",
            "HTTPS://Example.COM:8443/a?b=c#d",
            "http://127.0.0.1:1/",
            "http://[::1]:8080/x",
            "http://[2001:db8::1]",
            "http://me:secret@example.com/",
            "http://bücher.example/",
            "http://under_score.example?x=http://y",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn f3_anything_else_is_refused() {
        for (text, wrong) in [
            ("", Wrong::NoScheme),
            ("www.gstatic.com/generate_204", Wrong::NoScheme),
            ("example.com/?u=http://x", Wrong::NoScheme),
            ("https:/example.com", Wrong::NoScheme),
            ("mailto:me", Wrong::NoScheme),
            ("ftp://example.com", Wrong::OtherScheme),
            ("httpss://example.com", Wrong::OtherScheme),
            ("socks5://127.0.0.1:1080", Wrong::OtherScheme),
            ("http://", Wrong::Host),
            ("http:///path", Wrong::Host),
            ("http://:80/", Wrong::Host),
            ("http://?x", Wrong::Host),
            ("http://me@/", Wrong::Host),
            ("http://[::1/", Wrong::Host),
            ("http://[1.2.3.4]/", Wrong::Host),
            ("http://[::1]x/", Wrong::Host),
            ("http://exa%6dple.com/", Wrong::Host),
            ("http://<host>/", Wrong::Host),
            ("http://example.com:/", Wrong::Port),
            ("http://example.com:0/", Wrong::Port),
            ("http://example.com:65536/", Wrong::Port),
            ("http://example.com:+80/", Wrong::Port),
            ("http://example.com:80:80/", Wrong::Port),
            ("http://::1/", Wrong::Host),
            ("http://example.com/a b", Wrong::Character),
            ("http://example.com/\n", Wrong::Character),
            (" http://example.com/", Wrong::NoScheme),
            ("http://example.com\\@evil.example/", Wrong::Character),
        ] {
            assert_eq!(check(text), Err(wrong), "{text:?}");
        }
    }
}
