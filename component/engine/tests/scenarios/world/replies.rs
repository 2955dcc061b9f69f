//! How outbounds and services treat a probe. It must not know what a probe is for.

use std::time::Duration;

use outwatch_engine::{Answer, ErrorKind, Failure, Probe, ProbeOutcome, Readiness};

/// How an outbound, or a service through it, treats one probe.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Answers with a status after so many milliseconds.
    Status {
        after: u64,
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: String,
    },
    /// Answers 204; the second round trip takes so long.
    Twice { first: u64, second: Option<u64> },
    /// Fails after so many milliseconds.
    Fail { after: u64, kind: ErrorKind },
    /// Never answers; the host says so at the deadline.
    Silent,
    /// Never comes back, or only after so many milliseconds.
    Stuck(Option<u64>),
    /// Is not ready, until it is forced.
    NotReady(Readiness),
}

/// Answers 204 after so many milliseconds.
pub(crate) fn ok(after: u64) -> Reply {
    status(after, 204)
}

pub(crate) fn status(after: u64, status: u16) -> Reply {
    Reply::Status {
        after,
        status,
        headers: Vec::new(),
        body: String::new(),
    }
}

/// Answers 200 with a body after so many milliseconds.
pub(crate) fn body(after: u64, body: &str) -> Reply {
    Reply::Status {
        after,
        status: 200,
        headers: Vec::new(),
        body: body.into(),
    }
}

pub(crate) fn refused(after: u64) -> Reply {
    Reply::Fail {
        after,
        kind: ErrorKind::DialRefused,
    }
}

pub(crate) fn silent() -> Reply {
    Reply::Silent
}

pub(crate) fn not_ready(text: &str) -> Reply {
    Reply::NotReady(Readiness::NotReady(text.into()))
}

/// What an IP service says of an address.
pub(crate) fn address(ip: &str) -> String {
    format!(r#"{{"ip":"{ip}","country":"DE","country_code":"DE"}}"#)
}

/// When a probe comes back, and how.
pub(super) fn outcome(reply: Reply, probe: &Probe) -> Option<(u64, ProbeOutcome)> {
    let deadline = u64::try_from(probe.request.deadline.as_millis()).expect("a short deadline");
    let timeout = || {
        let failure = Failure {
            kind: ErrorKind::Timeout,
            text: "deadline".into(),
        };
        Some((deadline, ProbeOutcome::Failed(failure)))
    };
    let answered = |after, status, headers, body: String, repeat: Option<u64>| {
        let answer = Answer {
            status,
            headers,
            body: body.into_bytes(),
            first_byte: Duration::from_millis(after),
            repeat: repeat.map(Duration::from_millis),
        };
        Some((after + repeat.unwrap_or(0), ProbeOutcome::Answered(answer)))
    };
    match reply {
        Reply::Status { after, .. }
        | Reply::Twice { first: after, .. }
        | Reply::Fail { after, .. }
            if after > deadline =>
        {
            timeout()
        }
        Reply::Status {
            after,
            status,
            headers,
            body,
        } => {
            let headers = headers
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect();
            answered(after, status, headers, body, None)
        }
        Reply::Twice { first, second } => answered(first, 204, Vec::new(), String::new(), second),
        Reply::Fail { after, kind } => {
            let failure = Failure {
                kind,
                text: format!("scripted {}", kind.as_str()),
            };
            Some((after, ProbeOutcome::Failed(failure)))
        }
        Reply::Silent => timeout(),
        Reply::Stuck(None) => None,
        Reply::Stuck(Some(after)) => answered(after, 204, Vec::new(), String::new(), None),
        Reply::NotReady(_) if probe.forced => {
            let failure = Failure {
                kind: ErrorKind::DialTimeout,
                text: "forced".into(),
            };
            Some((10, ProbeOutcome::Failed(failure)))
        }
        Reply::NotReady(readiness) => Some((0, ProbeOutcome::NotReady(readiness))),
    }
}
