//! Reads the answer of a URL test: is it one (T-5), and how long did it take (T-3,
//! T-4). It must not know whose test it was.

use alloc::format;
use core::time::Duration;

use crate::input::Answer;
use crate::options::ExpectedStatus;
use crate::report::{ErrorKind, Failure};
use crate::text::clean;

/// A delay as it was read from an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) delay_ms: u32,
    /// It is a second round trip on the same connection.
    pub(crate) warm: bool,
}

/// Judges the answer to a URL test.
pub(crate) fn read(
    expected: &ExpectedStatus,
    url: &str,
    answer: &Answer,
    deadline: Duration,
) -> Result<Reading, Failure> {
    let redirect = redirect_host(url, answer);
    let fits = match expected {
        ExpectedStatus::Any => true,
        ExpectedStatus::List(ranges) => ranges
            .iter()
            .any(|range| (range.first..=range.last).contains(&answer.status)),
        // 429: the test host is only tired of the exit.
        ExpectedStatus::Auto if matches!(answer.status, 204 | 429) => true,
        ExpectedStatus::Auto if path(url).ends_with("generate_204") => false,
        ExpectedStatus::Auto => (200..400).contains(&answer.status) && redirect.is_none(),
    };
    if !fits {
        reached!("an answer has a status that does not count");
        let text = match redirect {
            Some(host) => format!("status {}, a redirect to {host}", answer.status),
            None => format!("status {}", answer.status),
        };
        return Err(Failure {
            kind: ErrorKind::HttpStatus,
            text: clean(&text, TEXT_LIMIT),
        });
    }
    let (time, warm) = match answer.repeat {
        Some(repeat) => (repeat, true),
        None => (answer.first_byte, false),
    };
    Ok(Reading {
        delay_ms: delay_ms(time, deadline),
        warm,
    })
}

/// The longest text of a failure, in characters.
pub(crate) const TEXT_LIMIT: usize = 256;

/// Whole milliseconds, at least 1 (T-4), at most the deadline (T-2).
pub(crate) fn delay_ms(time: Duration, deadline: Duration) -> u32 {
    u32::try_from(time.min(deadline).as_millis())
        .unwrap_or(u32::MAX)
        .max(1)
}

/// The other host that a redirect leads to.
fn redirect_host<'a>(url: &str, answer: &'a Answer) -> Option<&'a str> {
    if !(300..400).contains(&answer.status) {
        return None;
    }
    let (_, location) = answer
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("location"))?;
    let target = host(location.trim())?;
    (!host(url).is_some_and(|own| own.eq_ignore_ascii_case(target))).then_some(target)
}

/// The host of an absolute address or of one that starts with `//`, without port.
fn host(address: &str) -> Option<&str> {
    let rest = match address.find("//") {
        Some(0) => address.get(2..)?,
        Some(at)
            if address.get(..at)?.ends_with(':')
                && !address.get(..at)?.contains(['/', '?', '#']) =>
        {
            address.get(at + 2..)?
        }
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host_port = authority.rsplit('@').next()?;
    if host_port.starts_with('[') {
        return host_port.split_inclusive(']').next();
    }
    host_port.split(':').next()
}

/// The path of an absolute address.
fn path(url: &str) -> &str {
    let rest = url.split_once("//").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    rest.find('/')
        .and_then(|at| rest.get(at..))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;
    use crate::options::StatusRange;

    fn verdict(
        expected: &ExpectedStatus,
        url: &str,
        status: u16,
        location: Option<&str>,
    ) -> Result<(), String> {
        let headers = location.map(|to| (String::from("location"), String::from(to)));
        let answer = Answer {
            status,
            headers: headers.into_iter().collect(),
            body: Vec::new(),
            first_byte: Duration::from_millis(80),
            repeat: None,
        };
        let read = read(expected, url, &answer, Duration::from_secs(5));
        read.map(|_| ()).map_err(|failure| failure.text)
    }

    #[test]
    fn t5_auto_takes_only_204_from_generate_204() {
        for url in [
            "https://a.test/generate_204",
            "http://a.test/x/generate_204?q=1#f",
        ] {
            assert!(verdict(&ExpectedStatus::Auto, url, 204, None).is_ok());
            assert_eq!(
                verdict(&ExpectedStatus::Auto, url, 200, None),
                Err("status 200".into())
            );
        }
        assert!(
            verdict(
                &ExpectedStatus::Auto,
                "https://a.test/?generate_204",
                200,
                None
            )
            .is_ok()
        );
    }

    #[test]
    fn t5_auto_refuses_a_redirect_to_another_host_and_names_it() {
        let url = "http://a.test/";
        assert!(
            verdict(
                &ExpectedStatus::Auto,
                url,
                301,
                Some("https://A.test:8443/x")
            )
            .is_ok()
        );
        assert!(
            verdict(
                &ExpectedStatus::Auto,
                url,
                301,
                Some("/other?to=http://b.test")
            )
            .is_ok()
        );
        for location in [
            "http://portal.test/login",
            "//portal.test",
            "http://a.test@portal.test/",
        ] {
            let expected = Err("status 302, a redirect to portal.test".into());
            assert_eq!(
                verdict(&ExpectedStatus::Auto, url, 302, Some(location)),
                expected
            );
        }
    }

    #[test]
    fn t5_auto_takes_429_as_an_answer() {
        assert!(
            verdict(
                &ExpectedStatus::Auto,
                "https://a.test/generate_204",
                429,
                None
            )
            .is_ok()
        );
        assert!(verdict(&ExpectedStatus::Auto, "https://a.test/", 500, None).is_err());
    }

    #[test]
    fn t5_a_list_and_any_are_taken_by_the_word() {
        let list = ExpectedStatus::List(Vec::from([
            StatusRange {
                first: 204,
                last: 204,
            },
            StatusRange {
                first: 400,
                last: 499,
            },
        ]));
        assert!(verdict(&list, "https://a.test/", 404, None).is_ok());
        assert!(verdict(&list, "https://a.test/", 200, None).is_err());
        assert!(
            verdict(
                &ExpectedStatus::Any,
                "https://a.test/generate_204",
                503,
                None
            )
            .is_ok()
        );
    }

    #[test]
    fn t4_a_delay_is_at_least_1_and_t2_at_most_the_deadline() {
        let deadline = Duration::from_secs(5);
        assert_eq!(delay_ms(Duration::from_micros(300), deadline), 1);
        assert_eq!(delay_ms(Duration::from_micros(2999), deadline), 2);
        assert_eq!(delay_ms(Duration::from_secs(60), deadline), 5000);
    }
}
