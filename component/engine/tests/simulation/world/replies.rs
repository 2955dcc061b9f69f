//! What comes of a probe, and when: answers and faults of outbounds, servers and
//! services. It must not know what a probe is for.

use std::time::Duration;

use outwatch_engine::{Answer, ErrorKind, Failure, Probe, ProbeOutcome, Readiness};

use super::{World, bodies};
use crate::random::Random;

/// How the world treats probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weather {
    /// Any answer and any fault.
    Mixed,
    /// All works and answers soon.
    Calm,
    /// Nothing gets through.
    Outage,
    /// Nothing is ready.
    Connecting,
}

impl Weather {
    pub(super) fn change(&mut self, random: &mut Random) {
        *self = random.pick(&[
            Self::Mixed,
            Self::Mixed,
            Self::Calm,
            Self::Outage,
            Self::Connecting,
        ]);
    }
}

/// A kind of answer or fault.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    None,
    InNoTime,
    Slow,
    Fails,
    FailsWithHostileText,
    DeadlinePasses,
    NeverComesBack,
    ComesBackLate,
    ComesBackMuchLater,
    NotReady,
    NotReadyThoughForced,
    Unsupported,
    ReadyAndYetNot,
    OtherStatus,
    Redirect,
    TooMany,
    HostileBody,
    HostileHeaders,
    LongerThanItsDeadline,
    SecondRoundTrip,
}

impl Fault {
    /// Every kind, and how often it happens in mixed weather.
    pub(crate) const ALL: [(Self, u64); 20] = [
        (Self::None, 30),
        (Self::InNoTime, 3),
        (Self::Slow, 6),
        (Self::Fails, 12),
        (Self::FailsWithHostileText, 1),
        (Self::DeadlinePasses, 4),
        (Self::NeverComesBack, 2),
        (Self::ComesBackLate, 2),
        (Self::ComesBackMuchLater, 1),
        (Self::NotReady, 3),
        (Self::NotReadyThoughForced, 1),
        (Self::Unsupported, 1),
        (Self::ReadyAndYetNot, 1),
        (Self::OtherStatus, 3),
        (Self::Redirect, 2),
        (Self::TooMany, 4),
        (Self::HostileBody, 4),
        (Self::HostileHeaders, 1),
        (Self::LongerThanItsDeadline, 1),
        (Self::SecondRoundTrip, 2),
    ];
}

impl World {
    /// What comes of a probe, and when.
    pub(super) fn reply(&mut self, probe: &Probe) {
        let fault = match self.weather {
            Weather::Mixed => self.random.weighted(&Fault::ALL),
            Weather::Calm => Fault::None,
            Weather::Outage => Fault::Fails,
            Weather::Connecting => Fault::NotReady,
        };
        self.note(&fault);
        let deadline = u64::try_from(probe.request.deadline.as_millis()).expect("short");
        let soon = self.random.below(200);
        let (after, outcome) = match fault {
            Fault::NeverComesBack => return,
            Fault::None => (soon, self.answer(probe, fault, soon)),
            Fault::InNoTime => (0, self.answer(probe, fault, 0)),
            Fault::Slow => {
                let after = self.random.below(deadline + 1);
                (after, self.answer(probe, fault, after))
            }
            Fault::Fails | Fault::FailsWithHostileText => (soon.min(deadline), self.failure(fault)),
            Fault::DeadlinePasses => (deadline, failed(ErrorKind::Timeout, "deadline")),
            Fault::ComesBackLate => {
                let after = deadline * 3 + 1_000 + self.random.below(20_000);
                (after, self.answer(probe, fault, after))
            }
            Fault::ComesBackMuchLater => (deadline + 700_000, self.answer(probe, fault, soon)),
            Fault::NotReady if probe.forced => (soon, failed(ErrorKind::DialTimeout, "forced")),
            Fault::NotReady | Fault::NotReadyThoughForced => {
                let text = self.random.pick(&["connecting", "\u{1b}[2Jregistering\n"]);
                (0, ProbeOutcome::NotReady(Readiness::NotReady(text.into())))
            }
            Fault::Unsupported => {
                let text = "build it with WireGuard".into();
                (0, ProbeOutcome::NotReady(Readiness::Unsupported(text)))
            }
            Fault::ReadyAndYetNot => (0, ProbeOutcome::NotReady(Readiness::Ready)),
            Fault::OtherStatus
            | Fault::Redirect
            | Fault::TooMany
            | Fault::HostileBody
            | Fault::HostileHeaders
            | Fault::LongerThanItsDeadline
            | Fault::SecondRoundTrip => (soon, self.answer(probe, fault, soon)),
        };
        if let ProbeOutcome::Answered(answer) = &outcome
            && answer.status == 429
            && after <= deadline
        {
            let until = self.now_ms + after + rest_ms(answer);
            self.check.tired(probe, until);
        }
        self.coming.insert((self.now_ms + after, probe.id), outcome);
    }

    fn answer(&mut self, probe: &Probe, fault: Fault, after: u64) -> ProbeOutcome {
        let random = &mut self.random;
        let mut answer = Answer {
            status: if probe.request.head { 204 } else { 200 },
            headers: Vec::new(),
            body: bodies::good(random),
            first_byte: Duration::from_millis(after),
            repeat: None,
        };
        let mut header = |name: &str, values: &[&str]| {
            let value = random.pick(values);
            answer.headers.push((name.into(), value.into()));
        };
        match fault {
            Fault::OtherStatus => answer.status = random.pick(&[0, 100, 200, 403, 502, 65_535]),
            Fault::Redirect => {
                let to = [
                    "/x",
                    "http://one.test/x",
                    "http://portal.test/login",
                    "//b.test",
                    "::",
                ];
                header("Location", &to);
                answer.status = random.pick(&[301, 302, 307]);
            }
            Fault::TooMany => {
                header("retry-after", &["0", "7", "100", "99999999999"]);
                answer.status = 429;
                if random.one_in(3) {
                    answer.headers.clear();
                }
            }
            Fault::HostileHeaders => {
                header(
                    "retry-after",
                    &["-1", "", "Wed, 21 Oct 2015 07:28:00 GMT", "1e9"],
                );
                header(
                    "location",
                    &["http://", "http://[::1", "javascript:x", "\u{0}"],
                );
                answer.status = random.pick(&[302, 429]);
            }
            Fault::HostileBody => answer.body = bodies::hostile(random),
            Fault::LongerThanItsDeadline => answer.first_byte = Duration::MAX,
            Fault::SecondRoundTrip => {
                answer.repeat = Some(Duration::from_micros(random.below(9_000)));
            }
            _ => {}
        }
        ProbeOutcome::Answered(answer)
    }

    fn failure(&mut self, fault: Fault) -> ProbeOutcome {
        let kind = self.random.pick(&ErrorKind::ALL);
        let text = match fault {
            Fault::FailsWithHostileText => "\u{1b}]0;x\u{7}\n event=test".repeat(500),
            _ => "simulated".into(),
        };
        failed(kind, &text)
    }
}

fn failed(kind: ErrorKind, text: &str) -> ProbeOutcome {
    ProbeOutcome::Failed(Failure {
        kind,
        text: text.into(),
    })
}

/// How long a service wants to be left alone (I-7).
fn rest_ms(answer: &Answer) -> u64 {
    let after = answer
        .headers
        .iter()
        .find(|(name, _)| name == "retry-after");
    let seconds = after.and_then(|(_, value)| value.parse::<u64>().ok());
    seconds.unwrap_or(60).min(3_600) * 1_000
}
