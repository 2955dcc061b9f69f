//! The core that a script pretends: what it has, what its groups select, and how each
//! fetch through it ends. It must not know the time, nor which side asks.

use std::collections::BTreeMap;
use std::time::Duration;

use outwatch::{Cause, FetchError, Outbound, Phase, Readiness, Request, Response, Timing};

use super::FetchKey;

/// How one fetch ends.
#[derive(Clone, Debug)]
pub enum Reply {
    /// With a response.
    Answers {
        /// After so many milliseconds, unless the deadline is before.
        after: u64,
        /// What comes; its timing is filled in.
        response: Response,
    },
    /// With an error.
    Fails {
        /// After so many milliseconds, unless the deadline is before.
        after: u64,
        /// Where.
        phase: Phase,
        /// Why.
        cause: Cause,
    },
    /// With a timeout at its deadline.
    Silent,
    /// Not at all.
    Stuck,
    /// With a 204 after so many milliseconds, whatever the deadline.
    Late(u64),
}

impl Reply {
    /// 204 after so many milliseconds.
    pub fn ok(after: u64) -> Self {
        Self::status(after, 204)
    }

    /// A status after so many milliseconds.
    pub fn status(after: u64, status: u16) -> Self {
        let response = Response {
            status,
            ..Response::default()
        };
        Self::Answers { after, response }
    }

    /// A status with one header.
    pub fn header(after: u64, status: u16, name: &str, value: &str) -> Self {
        let response = Response {
            status,
            headers: vec![(name.to_owned(), value.to_owned())],
            ..Response::default()
        };
        Self::Answers { after, response }
    }

    /// A 200 with a body.
    pub fn body(after: u64, body: impl Into<String>) -> Self {
        let response = Response {
            status: 200,
            body: body.into().into_bytes(),
            ..Response::default()
        };
        Self::Answers { after, response }
    }

    /// What any IP service says of an address.
    pub fn exit(after: u64, ip: &str, country: &str) -> Self {
        Self::body(
            after,
            format!(
                r#"{{"ip":"{ip}","query":"{ip}","status":"success","country_code":"{country}","countryCode":"{country}","city":"A City","asn":"AS64500","org":"An Org"}}"#
            ),
        )
    }

    /// A refused connection after so many milliseconds.
    pub fn refused(after: u64) -> Self {
        Self::fails(after, Phase::Dial, Cause::Refused)
    }

    /// An error after so many milliseconds.
    pub fn fails(after: u64, phase: Phase, cause: Cause) -> Self {
        Self::Fails {
            after,
            phase,
            cause,
        }
    }
}

/// Which fetches end how, one after the other; the last reply stays.
#[derive(Clone, Debug)]
pub struct Rule {
    tag: String,
    kind: Kind,
    /// Part of the URL.
    url: String,
    replies: Vec<Reply>,
    used: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Test,
    Lookup,
    Ipv6,
}

impl Rule {
    /// URL tests through `tag`.
    pub fn tests(tag: &str, replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::new(tag, Kind::Test, replies)
    }

    /// IP lookups through `tag`.
    pub fn lookups(tag: &str, replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::new(tag, Kind::Lookup, replies)
    }

    /// IPv6 checks through `tag`.
    pub fn ipv6(tag: &str, replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::new(tag, Kind::Ipv6, replies)
    }

    /// Only those whose URL has this in it.
    #[must_use]
    pub fn of(mut self, url: &str) -> Self {
        url.clone_into(&mut self.url);
        self
    }

    fn new(tag: &str, kind: Kind, replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            tag: tag.to_owned(),
            kind,
            url: String::new(),
            replies: replies.into_iter().collect(),
            used: 0,
        }
    }

    fn concerns(&self, tag: &str, request: &Request) -> bool {
        let kind = match (request.family, request.method.as_str()) {
            (Some(_), _) => Kind::Ipv6,
            (None, "HEAD") => Kind::Test,
            (None, _) => Kind::Lookup,
        };
        self.tag == tag && self.kind == kind && request.url.contains(&self.url)
    }

    fn next(&mut self) -> Option<Reply> {
        let last = self.replies.len().checked_sub(1)?;
        let nth = self.used.min(last);
        self.used += 1;
        self.replies.get(nth).cloned()
    }
}

/// What comes of one fetch.
pub(crate) struct Fetch {
    pub(crate) key: FetchKey,
    /// In milliseconds from its start; never, if absent.
    pub(crate) after: Option<u64>,
    pub(crate) end: Result<Response, FetchError>,
}

/// A core at one moment.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub(crate) outbounds: Vec<Outbound>,
    pub(crate) selected: BTreeMap<String, String>,
    pub(crate) statuses: BTreeMap<String, Readiness>,
    /// The latest that concerns a fetch counts.
    pub(crate) rules: Vec<Rule>,
    /// How far the wall clock ran ahead, in milliseconds.
    pub(crate) wall_ahead: u64,
    fetches: BTreeMap<String, u32>,
}

impl World {
    /// Milliseconds since 1970 at so many milliseconds from the start, in 2026.
    pub(crate) fn wall_ms(&self, at: u64) -> u64 {
        1_767_225_600_000 + self.wall_ahead + at
    }

    pub(crate) fn status(&self, tag: &str) -> Readiness {
        self.statuses.get(tag).cloned().unwrap_or(Readiness::Ready)
    }

    /// Begins a fetch.
    pub(crate) fn fetch(&mut self, tag: &str, request: &Request) -> Fetch {
        let nth = self.fetches.entry(tag.to_owned()).or_default();
        *nth += 1;
        let key = (tag.to_owned(), *nth);
        let rules = self.rules.iter_mut().rev();
        let mut concerned = rules.filter(|rule| rule.concerns(tag, request));
        let reply = concerned.next().and_then(Rule::next);
        let (after, end) = outcome(reply.unwrap_or(Reply::Silent), request);
        Fetch { key, after, end }
    }
}

/// How a request is shown in a trace.
pub(crate) fn shown(tag: &str, request: &Request) -> String {
    let Request {
        url,
        method,
        headers: _,
        deadline,
        body_limit,
        response_headers,
        repeat,
        family,
    } = request;
    format!(
        "{tag} {method} {url} within {deadline:?}, at most {body_limit} bytes, headers {response_headers:?}, repeat {repeat}, family {family:?}"
    )
}

fn outcome(reply: Reply, request: &Request) -> (Option<u64>, Result<Response, FetchError>) {
    let deadline = u64::try_from(request.deadline.as_millis()).unwrap_or(u64::MAX);
    let silence = || {
        let error = FetchError::new(Phase::Http, Cause::Timeout, "no answer by the deadline");
        (Some(deadline), Err(error))
    };
    match reply {
        Reply::Answers { after, .. } | Reply::Fails { after, .. } if after >= deadline => silence(),
        Reply::Silent => silence(),
        Reply::Answers { after, response } => (Some(after), Ok(timed(response, after, request))),
        Reply::Fails {
            after,
            phase,
            cause,
        } => {
            let error = FetchError::new(phase, cause, format!("{cause:?} at {phase:?}"));
            (Some(after), Err(error))
        }
        Reply::Stuck => (None, Err(FetchError::new(Phase::Dial, Cause::Other, ""))),
        Reply::Late(after) => {
            let response = Response {
                status: 204,
                ..Response::default()
            };
            (Some(after), Ok(timed(response, after, request)))
        }
    }
}

fn timed(response: Response, after: u64, request: &Request) -> Response {
    let whole = Duration::from_millis(after);
    let timing = Timing {
        dial: whole / 2,
        first_byte: whole,
        total: whole,
        repeat: request.repeat.then_some(whole / 3),
        ..Timing::default()
    };
    Response { timing, ..response }
}
