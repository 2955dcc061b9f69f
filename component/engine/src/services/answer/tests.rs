//! What the tests of the reader share: one line for an answer, or why it is none.
//! It must not hold an expectation.

mod counts;
mod fields;

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::*;

const URL: &str = "https://ipapi.co/json/";

/// One line for all that was found.
fn told(info: &IpInfo) -> String {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or("-".to_owned());
    let asn = info.asn.map_or("-".to_owned(), |asn| format!("{asn}"));
    let [country, region] = [&info.country_code, &info.region].map(or_dash);
    let [city, org] = [&info.city, &info.org].map(or_dash);
    format!(
        "{} | {country} | {region} | {city} | {asn} | {org}",
        info.ip
    )
}

#[track_caller]
fn check(body: &str, expected: &str) {
    match read_answer(URL, 200, body.as_bytes(), false) {
        Ok(info) => assert_eq!(told(&info), expected, "from {body}"),
        Err(failure) => panic!("{} from {body}", failure.text),
    }
}

/// The answer does not count, and the text contains `why`.
#[track_caller]
fn refuse(body: impl AsRef<[u8]>, why: &str) {
    let body = body.as_ref();
    let shown = String::from_utf8_lossy(body);
    match read_answer(URL, 200, body, false) {
        Ok(info) => panic!("{info:?} from {shown}"),
        Err(Failure { kind, text }) => {
            assert_eq!(kind, ErrorKind::HttpMalformed, "from {shown}");
            assert!(text.starts_with("ipapi.co "), "{text:?} names the service");
            assert!(text.contains(why), "{text:?} says {why:?}");
            assert!(
                text.chars().count() <= 256 && !text.contains(char::is_control),
                "{text:?}"
            );
        }
    }
}
