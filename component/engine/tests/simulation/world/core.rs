//! A random core: its options, its outbounds, and how it answers a probe. It must not
//! know what has happened.

use std::time::Duration;

use outwatch_engine::{
    Answer, ErrorKind, Failure, Kind, Options, Outbound, Probe, ProbeOutcome, Readiness,
};

use super::World;
use crate::random::Random;

impl World {
    /// What comes of a probe, and when.
    pub(super) fn reply(&mut self, probe: &Probe) {
        let deadline = u64::try_from(probe.request.deadline.as_millis()).expect("short");
        let after = self.random.pick(&[5, 100, 1_000, 9_000]);
        let after = self.random.below(after);
        let kinds = [
            ErrorKind::DialRefused,
            ErrorKind::Timeout,
            ErrorKind::DnsFail,
            ErrorKind::TlsCert,
        ];
        let kind = self.random.pick(&kinds);
        let failed = |kind| {
            ProbeOutcome::Failed(Failure {
                kind,
                text: "simulated".into(),
            })
        };
        let (after, outcome) = match self.random.below(20) {
            // Lost, for a while or for ever.
            0 => return,
            1 => (after + 30_000, self.answer(probe, after)),
            2 if !probe.forced => (0, ProbeOutcome::NotReady(self.readiness())),
            2..=8 => (after.min(deadline), failed(kind)),
            _ if after > deadline => (deadline, failed(ErrorKind::Timeout)),
            _ => (after, self.answer(probe, after)),
        };
        self.coming.insert((self.now_ms + after, probe.id), outcome);
    }

    fn answer(&mut self, probe: &Probe, after: u64) -> ProbeOutcome {
        let status = if probe.request.head {
            [204, 204, 200, 502, 429]
        } else {
            [200, 200, 200, 500, 429]
        };
        let bodies = [
            r#"{"ip":"8.8.8.8","query":"8.8.8.8","status":"success","country_code":"US"}"#,
            r#"{"ip":"9.9.9.9","query":"9.9.9.9","status":"success"}"#,
            "ip=1.1.1.1\nloc=DE\n",
            "<html>",
        ];
        ProbeOutcome::Answered(Answer {
            status: self.random.pick(&status),
            headers: Vec::new(),
            body: self.random.pick(&bodies).into(),
            first_byte: Duration::from_millis(after),
            repeat: None,
        })
    }

    fn readiness(&mut self) -> Readiness {
        let texts = ["connecting", "registering"].map(String::from);
        self.random.pick(&[
            Readiness::NotReady(texts[0].clone()),
            Readiness::NotReady(texts[1].clone()),
            Readiness::Unsupported("no".into()),
        ])
    }
}

pub(super) fn options(random: &mut Random) -> Options {
    let urls = [
        "http://one.test/generate_204",
        "http://two.test/",
        "http://three.test/",
    ]
    .map(String::from);
    let many = usize::try_from(random.below(3) + 1).expect("small");
    Options {
        interval: Duration::from_secs(random.pick(&[10, 60, 300])),
        urls: urls[..many].to_vec(),
        verify_ipv6: random.one_in(2),
        workers: u32::try_from(random.below(4) + 1).expect("small"),
        idle_timeout: Duration::from_secs(random.pick(&[5, 60, 600])),
        ip_lookup: !random.one_in(3),
        immediate_limit: u32::try_from(random.below(4) + 1).expect("small"),
        ..Options::default()
    }
}

/// Tags `t0` to `t11`, some absent, all of any kind, leading and dialing anywhere.
pub(super) fn outbounds(random: &mut Random) -> Vec<Outbound> {
    let mut outbounds = Vec::new();
    for nth in 0..12 {
        if random.one_in(6) {
            continue;
        }
        let kinds = [
            Kind::Outbound,
            Kind::Outbound,
            Kind::Endpoint,
            Kind::Group,
            Kind::Untestable,
        ];
        let kind = random.pick(&kinds);
        let members = if kind == Kind::Group {
            random.below(5)
        } else {
            0
        };
        outbounds.push(Outbound {
            tag: format!("t{nth}"),
            type_name: random.pick(&["socks", "http"]).into(),
            kind,
            detour: random.one_in(4).then(|| format!("t{}", random.below(13))),
            members: (0..members)
                .map(|_| format!("t{}", random.below(13)))
                .collect(),
            fingerprint: format!("{}", random.below(2)),
            exit_follows_host: random.one_in(4),
        });
    }
    outbounds
}
