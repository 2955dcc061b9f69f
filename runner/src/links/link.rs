//! A share link taken apart: scheme, account, server, parameters, name. It must not know
//! what any scheme means by them.

use std::net::IpAddr;

use percent_encoding::percent_decode_str;

/// Longer words before `://` are no scheme.
const LONGEST_SCHEME: usize = 16;

/// A link's parts. There is no `Debug`: they hold secrets.
pub(super) struct Link {
    /// In small letters.
    pub(super) scheme: String,
    /// What stands before the last `@`, as it stands there.
    pub(super) account: Option<String>,
    /// What stands after it: the server, and maybe a path.
    pub(super) place: String,
    /// What people call it; may be empty.
    pub(super) name: String,
    parameters: Vec<(String, String)>,
}

/// Where a server is.
pub(super) struct Server {
    /// A name, or an address without brackets.
    pub(super) host: String,
    /// What stands after its colon; empty if there is none.
    pub(super) ports: String,
}

impl Link {
    /// None when the line does not begin with a scheme.
    pub(super) fn split(line: &str) -> Option<Self> {
        let (scheme, rest) = line.split_once("://")?;
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.len() <= LONGEST_SCHEME
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        if !is_scheme {
            return None;
        }
        let (rest, name) = rest.split_once('#').unwrap_or((rest, ""));
        let (body, query) = rest.split_once('?').unwrap_or((rest, ""));
        // A password may hold an `@` that nobody encoded; a server cannot.
        let (account, place) = match body.rsplit_once('@') {
            Some((account, place)) => (Some(account.to_owned()), place),
            None => (None, body),
        };
        Some(Self {
            scheme: scheme.to_ascii_lowercase(),
            account,
            place: place.to_owned(),
            name: decoded(name).trim().to_owned(),
            parameters: query.split('&').map(parameter).collect(),
        })
    }

    /// Says a parameter, over what the link says of it.
    pub(super) fn set(&mut self, name: &str, value: String) {
        self.parameters.insert(0, (name.to_owned(), value));
    }

    /// The value of the first of these parameters that is not empty. A plus sign is one: in
    /// links it stands in keys and paths.
    pub(super) fn get(&self, names: &[&str]) -> Option<&str> {
        let called = |name: &str| {
            let mut said = self.parameters.iter();
            said.find(|(said, value)| said.eq_ignore_ascii_case(name) && !value.is_empty())
        };
        let (_, value) = names.iter().find_map(|name| called(name))?;
        Some(value)
    }

    /// What one of these parameters says of yes or no.
    pub(super) fn flag(&self, names: &[&str]) -> Option<bool> {
        match self.get(names)? {
            "1" | "true" | "yes" => Some(true),
            "0" | "false" | "no" => Some(false),
            _ => None,
        }
    }

    /// The account in plain text; none where there is none.
    pub(super) fn account(&self) -> Option<String> {
        let account = decoded(self.account.as_deref()?);
        (!account.is_empty()).then_some(account)
    }

    /// The same, where there must be one, called `what`.
    pub(super) fn secret(&self, what: &str) -> Result<String, String> {
        self.account().ok_or_else(|| format!("it has no {what}"))
    }

    /// Where the server is.
    pub(super) fn server(&self) -> Result<Server, String> {
        Server::read(&self.place)
    }

    /// What stands after the server; without the first slash.
    pub(super) fn path(&self) -> &str {
        self.place.split_once('/').map_or("", |(_, path)| path)
    }
}

impl Server {
    /// Reads `host:port`, up to a slash. No part of it is in an error: where a link is broken
    /// a secret may stand in its place.
    pub(super) fn read(place: &str) -> Result<Self, String> {
        let place = place.split('/').next().unwrap_or_default().trim();
        let (host, ports) = match place.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest
                    .split_once(']')
                    .ok_or("the bracket of its server's address is not closed")?;
                (host, after.strip_prefix(':').unwrap_or_default())
            }
            None => place.rsplit_once(':').unwrap_or((place, "")),
        };
        Ok(Self {
            host: read_host(host)?,
            ports: ports.to_owned(),
        })
    }

    /// Its one port, or this one if it names none.
    pub(super) fn port_or(&self, default: Option<u16>) -> Result<u16, String> {
        if self.ports.is_empty() {
            return default.ok_or_else(|| "its server has no port".to_owned());
        }
        read_port(&self.ports)
    }

    /// Its one port.
    pub(super) fn port(&self) -> Result<u16, String> {
        self.port_or(None)
    }
}

/// A port above zero.
pub(super) fn read_port(text: &str) -> Result<u16, String> {
    let port = text.trim().parse().ok().filter(|port| *port != 0);
    port.ok_or_else(|| "its server's port is no number from 1 to 65535".to_owned())
}

fn read_host(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("it names no server".to_owned());
    }
    let text = decoded(text);
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Ok(ip.to_string());
    }
    match url::Host::parse(&text) {
        Ok(url::Host::Domain(name)) if name.len() <= 253 => Ok(name),
        Ok(url::Host::Ipv4(ip)) => Ok(ip.to_string()),
        _ => Err("its server is no name and no address".to_owned()),
    }
}

fn parameter(pair: &str) -> (String, String) {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    // Links that were copied from a web page.
    let name = name.strip_prefix("amp;").unwrap_or(name);
    (decoded(name), decoded(value).trim().to_owned())
}

/// Bytes that are no text become the sign for that.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Link {
        Link::split(line).expect("a link")
    }

    #[test]
    fn a_link_is_taken_apart() {
        let link = split(
            "VLESS://a%40b@[2001:db8::1]:443/?sni=x&PBK=a+b&amp;sni=y#%F0%9F%87%A9%F0%9F%87%AA%20DE%201",
        );
        assert_eq!(link.scheme, "vless");
        assert_eq!(link.account().as_deref(), Some("a@b"));
        let server = link.server().expect("a server");
        assert_eq!(
            (server.host.as_str(), server.port()),
            ("2001:db8::1", Ok(443))
        );
        assert_eq!(
            (link.get(&["sni"]), link.get(&["pbk"])),
            (Some("x"), Some("a+b"))
        );
        assert_eq!(link.name, "🇩🇪 DE 1");
    }

    #[test]
    fn an_account_may_hold_what_nobody_encoded() {
        let link = split("trojan://p@ss/w:rd@example.org:443");
        assert_eq!(link.account().as_deref(), Some("p@ss/w:rd"));
        assert_eq!(link.server().expect("a server").host, "example.org");
    }

    #[test]
    fn what_is_wrong_with_a_server_is_said_without_its_text() {
        let wrong = |place: &str| {
            let read = Server::read(place).and_then(|server| server.port());
            read.expect_err("it is wrong")
        };
        assert_eq!(wrong(""), "it names no server");
        assert_eq!(wrong(":443"), "it names no server");
        assert_eq!(wrong("example.org"), "its server has no port");
        assert_eq!(
            wrong("[::1:443"),
            "the bracket of its server's address is not closed"
        );
        for port in ["0", "65536", "x", "-1"] {
            let place = format!("example.org:{port}");
            assert_eq!(
                wrong(&place),
                "its server's port is no number from 1 to 65535"
            );
        }
        assert_eq!(wrong("se cret:443"), "its server is no name and no address");
    }

    #[test]
    fn names_of_other_scripts_are_written_as_the_net_knows_them() {
        let server = Server::read("прокси.example:1").expect("a server");
        assert_eq!(server.host, "xn--h1adldfi.example");
        // IPv6 without its brackets has a port all the same.
        let server = Server::read("2001:db8::1:443").expect("a server");
        assert_eq!(
            (server.host.as_str(), server.port()),
            ("2001:db8::1", Ok(443))
        );
    }
}
