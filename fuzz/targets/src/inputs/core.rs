//! The cores and behaviours that a story chooses from, all by number. It must not know
//! what happened before.

use std::time::Duration;

use outwatch_engine::{
    Answer, ErrorKind, Failure, Kind, Options, Outbound, Probe, ProbeOutcome, Readiness, Selection,
};

use crate::script::Script;

/// A tag that no core has.
pub(super) const NOBODY: &str = "nobody";
/// What a hostile server may say.
const HOSTILE: &str = "\u{1b}[31mred\u{202e}\r\nMONITORING event=\u{9b}2J";

/// One of the cores' tags, one of which is odd, or nobody's.
pub(super) fn tag(script: &mut Script<'_>) -> String {
    match script.below(10) {
        8 => tag_of(8),
        9 => NOBODY.into(),
        nth => tag_of(nth),
    }
}

fn tag_of(nth: usize) -> String {
    match nth {
        8 => "t8 \"\n\u{202e}🇩🇪/%".into(),
        nth => format!("t{nth}"),
    }
}

/// Each bit is an option.
pub(super) fn options(bits: usize) -> Options {
    let bit = |nth: u32| bits >> nth & 1 == 1;
    let mut urls = vec!["http://one.test/generate_204".into()];
    if bit(0) {
        urls.push("https://two.test/".into());
    }
    Options {
        urls,
        verify_ipv6: bit(1),
        ip_lookup: !bit(2),
        workers: if bit(3) { 1 } else { 3 },
        immediate_limit: if bit(4) { 1 } else { 4 },
        interval: Duration::from_secs(if bit(5) { 10 } else { 60 }),
        idle_timeout: Duration::from_secs(90),
        ..Options::default()
    }
}

/// A core: 0 is three plain outbounds; any other number has up to nine entries of all
/// kinds, which lead and dial anywhere.
pub(super) fn outbounds(number: usize) -> Vec<Outbound> {
    if number == 0 {
        return (0..3)
            .map(|nth| outbound(nth, Kind::Outbound, None, Vec::new()))
            .collect();
    }
    // Any scattering will do, as long as it stays the same.
    let mut state = number as u64;
    let mut below = |count: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((state >> 33) % count).expect("small")
    };
    let kinds = [
        Kind::Outbound,
        Kind::Outbound,
        Kind::Endpoint,
        Kind::Group,
        Kind::Untestable,
    ];
    let mut outbounds = Vec::new();
    for nth in 0..9 {
        if below(7) == 0 {
            continue;
        }
        let kind = kinds[below(5)];
        let detour = (below(3) == 0).then(|| tag_of(below(10)));
        let members = if kind == Kind::Group { below(5) } else { 0 };
        let members = (0..members).map(|_| tag_of(below(10))).collect();
        outbounds.push(outbound(nth, kind, detour, members));
    }
    outbounds
}

fn outbound(nth: usize, kind: Kind, detour: Option<String>, members: Vec<String>) -> Outbound {
    Outbound {
        tag: tag_of(nth),
        type_name: "socks".into(),
        kind,
        detour,
        members,
        fingerprint: format!("s{}", nth / 2),
        exit_follows_host: nth == 1,
    }
}

/// Every second group has chosen its first member.
pub(super) fn selections(outbounds: &[Outbound]) -> Vec<Selection> {
    let groups = outbounds.iter().filter(|one| one.kind == Kind::Group);
    groups
        .step_by(2)
        .map(|group| Selection {
            group: group.tag.clone(),
            tcp: group.members.first().cloned(),
            udp: None,
        })
        .collect()
}

/// What comes of a probe, and after how many milliseconds; nothing ever, if absent.
pub(super) fn reply(probe: &Probe, behaviour: usize) -> Option<(u64, ProbeOutcome)> {
    let deadline = u64::try_from(probe.request.deadline.as_millis()).expect("short");
    let failed = |kind, text: &str| {
        ProbeOutcome::Failed(Failure {
            kind,
            text: text.into(),
        })
    };
    let hostile = || HOSTILE.to_string();
    Some(match behaviour {
        0 => (40, answer(probe, 40, 204)),
        1 if deadline > 1_500 => (1_500, answer(probe, 1_500, 204)),
        1 | 2 => (deadline, failed(ErrorKind::Timeout, "no answer in time")),
        3 => (5, failed(ErrorKind::DialRefused, HOSTILE)),
        4 => return None,
        5 => (30_000, answer(probe, 30_000, 204)),
        6 if !probe.forced => (0, ProbeOutcome::NotReady(Readiness::NotReady(hostile()))),
        7 if !probe.forced => (0, ProbeOutcome::NotReady(Readiness::Unsupported(hostile()))),
        8 => (0, answer(probe, 0, 502)),
        _ => (300, answer(probe, 300, 429)),
    })
}

fn answer(probe: &Probe, after: u64, head_status: u16) -> ProbeOutcome {
    let body = r#"{"ip":"8.8.8.8","query":"8.8.8.8","status":"success","country_code":"US"}"#;
    ProbeOutcome::Answered(Answer {
        status: match head_status {
            204 if !probe.request.head => 200,
            status => status,
        },
        headers: vec![("retry-after".into(), HOSTILE.into())],
        body: body.into(),
        first_byte: Duration::from_millis(after),
        repeat: None,
    })
}
