//! One tolerant reader for the answers of all IP information services. It must
//! not know which service is asked: `ipinfo_url` may have the shape of any.

use alloc::format;
use alloc::string::{String, ToString};
use core::net::IpAddr;

use serde_json::Value;

use super::{BODY_LIMIT, address, host_of, is_tls};
use crate::report::{ErrorKind, Failure, IpInfo};
use crate::text::clean;

/// Longest text taken over, in characters (SPEC I-4).
pub(crate) const TEXT_LIMIT: usize = 128;
/// Longest text of a failure, in characters.
const FAILURE_LIMIT: usize = 256;
/// How much of an answer that does not count is quoted, in characters.
const QUOTE_LIMIT: usize = 60;

// Where the shapes of SPEC I-2 keep each thing, as JSON pointers; the first that
// holds something usable wins.
const IP: [&str; 2] = ["/ip", "/query"];
const COUNTRY: [&str; 4] = ["/country_code", "/countryCode", "/country/code", "/country"];
const REGION: [&str; 2] = ["/regionName", "/region"];
const CITY: [&str; 1] = ["/city"];
const ASN: [&str; 4] = ["/asn", "/asn/number", "/connection/asn", "/as"];
const ORG: [&str; 6] = [
    "/asn_organization",
    "/asn/name",
    "/connection/org",
    "/connection/isp",
    "/org",
    "/isp",
];
/// Texts of the form `AS1 Name` that may hold what the above do not.
const ASN_AND_ORG: [&str; 3] = ["/org", "/as", "/asn"];
/// Where a service says why it refused.
const COMPLAINT: [&str; 4] = ["/reason", "/message", "/error/message", "/error/title"];

/// Reads what an IP information service at `url` answered.
///
/// `body` holds at most 64 KiB of the body; a longer one does not count. With
/// `allow_private` the address may be any that belongs to one host, without it
/// only one of the internet.
///
/// # Errors
///
/// [`ErrorKind::HttpStatus`] for a status other than 200, and
/// [`ErrorKind::HttpMalformed`] for a body that does not count (SPEC I-3); the
/// text says what came instead.
pub fn read_answer(
    url: &str,
    status: u16,
    body: &[u8],
    allow_private: bool,
) -> Result<IpInfo, Failure> {
    let service = clean(host_of(url), TEXT_LIMIT);
    let failure = |kind, what: String| Failure {
        kind,
        text: clean(&format!("{service} {what}"), FAILURE_LIMIT),
    };
    if status != 200 {
        let what = format!("answered with HTTP status {status}");
        return Err(failure(ErrorKind::HttpStatus, what));
    }
    let place = read_body(body)
        .and_then(|fields| Place::of(&fields, allow_private))
        .map_err(|what| failure(ErrorKind::HttpMalformed, what))?;
    let Place {
        ip,
        country_code,
        region,
        city,
        asn,
        org,
    } = place;
    let ip = ip.to_string();
    let tls = is_tls(url);
    Ok(IpInfo {
        ip,
        country_code,
        region,
        city,
        asn,
        org,
        service,
        tls,
    })
}

/// What an answer tells, without who told it.
struct Place {
    ip: IpAddr,
    country_code: Option<String>,
    region: Option<String>,
    city: Option<String>,
    asn: Option<u32>,
    org: Option<String>,
}

impl Place {
    fn of(fields: &Value, allow_private: bool) -> Result<Self, String> {
        refuse_complaint(fields)?;
        let (asn, org) = network(fields);
        Ok(Self {
            ip: exit_address(fields, allow_private)?,
            country_code: first(fields, &COUNTRY, country),
            region: first(fields, &REGION, text),
            city: first(fields, &CITY, text),
            asn,
            org,
        })
    }
}

/// The fields of a body, whichever way they are written.
fn read_body(body: &[u8]) -> Result<Value, String> {
    if body.len() > BODY_LIMIT as usize {
        return Err(format!("sent more than {} KiB", BODY_LIMIT / 1024));
    }
    // A name in another encoding is no reason to lose the address.
    let body = String::from_utf8_lossy(body);
    let body = body.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if body.is_empty() {
        return Err("sent an empty body".to_string());
    }
    if body.starts_with('<') {
        return Err(format!("sent HTML: {}", quoted(body)));
    }
    if !body.starts_with(['{', '[', '"'])
        && let Some(fields) = read_trace(body)
    {
        return Ok(fields);
    }
    let value: Value = serde_json::from_str(body)
        .map_err(|error| format!("sent no JSON ({error}): {}", quoted(body)))?;
    match value {
        Value::Object(_) => Ok(value),
        _ => Err(format!("sent JSON that is no object: {}", quoted(body))),
    }
}

/// Cloudflare's `key=value` lines, as fields named like those of the others.
fn read_trace(body: &str) -> Option<Value> {
    let mut fields = serde_json::Map::new();
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        let (key, value) = line.split_once('=')?;
        let name = match key.trim() {
            "ip" => "ip",
            "loc" => "country",
            _ => continue,
        };
        fields.entry(name).or_insert_with(|| Value::from(value));
    }
    Some(Value::Object(fields))
}

/// Services that answer 200 and say in the body that they failed (SPEC I-3).
fn refuse_complaint(fields: &Value) -> Result<(), String> {
    let is = |name: &str, flag: bool| fields.get(name) == Some(&Value::Bool(flag));
    let status = fields.get("status");
    let failed = status
        .and_then(Value::as_str)
        .is_some_and(|s| s.eq_ignore_ascii_case("fail"));
    let sign = if is("error", true) {
        "`error` is true"
    } else if is("success", false) {
        "`success` is false"
    } else if is("bogon", true) {
        "`bogon` is true"
    } else if failed {
        "`status` is \"fail\""
    } else if status.is_some_and(Value::is_number) {
        "`status` is a number"
    } else {
        return Ok(());
    };
    Err(match first(fields, &COMPLAINT, text) {
        Some(why) => format!("reports a failure ({sign}): {}", quoted(&why)),
        None => format!("reports a failure ({sign})"),
    })
}

/// The address that counts, or what is wrong with the one that came.
fn exit_address(fields: &Value, allow_private: bool) -> Result<IpAddr, String> {
    let Some(ip) = first(fields, &IP, |value| address::parse(value.as_str()?.trim())) else {
        return Err(match first(fields, &IP, text) {
            Some(other) => format!("sent {}, which is no IP address", quoted(&other)),
            None => "sent no IP address".to_string(),
        });
    };
    if address::is_public(ip) || (allow_private && !address::is_for_many(ip)) {
        Ok(ip)
    } else {
        Err(format!("sent {ip}, which is no public address"))
    }
}

/// The number and the name of the network. One text may hold both.
fn network(fields: &Value) -> (Option<u32>, Option<String>) {
    let both = ASN_AND_ORG
        .iter()
        .filter_map(|place| fields.pointer(place)?.as_str())
        .find_map(split_asn);
    let asn = first(fields, &ASN, asn).or(both.map(|(number, _)| number));
    let name = first(fields, &ORG, text).filter(|org| match split_asn(org) {
        // Not `AS1 Name`, but a name that begins alike (`AS24 Ltd`).
        Some((number, _)) => asn != Some(number),
        None => true,
    });
    let rest = both
        .map(|(_, name)| clean(name, TEXT_LIMIT))
        .filter(|name| !name.is_empty());
    (asn, name.or(rest))
}

/// What `read` makes of the first place that it can read.
fn first<T>(fields: &Value, places: &[&str], read: impl Fn(&Value) -> Option<T>) -> Option<T> {
    places
        .iter()
        .filter_map(|place| fields.pointer(place))
        .find_map(read)
}

/// A text worth keeping (SPEC I-4).
fn text(value: &Value) -> Option<String> {
    let cleaned = clean(value.as_str()?, TEXT_LIMIT);
    (!cleaned.is_empty()).then_some(cleaned)
}

/// Two letters that stand for a country (SPEC I-4).
fn country(value: &Value) -> Option<String> {
    let code = value.as_str()?.trim();
    let letters = code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic());
    let code = code.to_ascii_uppercase();
    (letters && !matches!(code.as_str(), "XX" | "ZZ")).then_some(code)
}

/// A network's number, as number or text (SPEC I-4).
fn asn(value: &Value) -> Option<u32> {
    match value {
        Value::Number(number) => u32::try_from(number.as_u64()?).ok().filter(|n| *n != 0),
        Value::String(text) => split_asn(text)
            .map(|(number, _)| number)
            .or_else(|| number(text.trim())),
        _ => None,
    }
}

/// The parts of `AS1` and `AS1 Name`.
fn split_asn(text: &str) -> Option<(u32, &str)> {
    let (prefix, rest) = text.trim().split_at_checked(2)?;
    let (digits, name) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_asn = prefix.eq_ignore_ascii_case("AS");
    Some((number(digits).filter(|_| is_asn)?, name.trim()))
}

/// Digits and nothing else; 0 stands for no network.
fn number(digits: &str) -> Option<u32> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| plain && *number != 0)
}

/// The beginning of something foreign, for a message.
fn quoted(text: &str) -> String {
    format!("`{}`", clean(text, QUOTE_LIMIT))
}

#[cfg(test)]
mod tests;
