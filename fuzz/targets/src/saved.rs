//! Whatever stands in the cache when a monitor starts: a line for each key, and one for
//! its value. It must not know how a result is written.

use std::collections::BTreeMap;
use std::time::Duration;

use outwatch_engine::{
    Action, Answer, ErrorKind, Failure, Input, Instant, Kind, Monitor, Now, Options, Outbound,
    Outcome, Probe, ProbeOutcome, SAVED_PREFIX, Setup, State, View,
};

use crate::{answer, is_clean};

type Pairs = BTreeMap<String, Vec<u8>>;

/// Any pairs are taken or left; what is shown of them has the documented form, only
/// pairs of the engine's own are touched, and what a run found is known to the next (P).
///
/// # Panics
///
/// When that does not hold.
pub fn saved_pairs(data: &[u8]) {
    let mut pairs = Pairs::new();
    let mut lines = data.split(|&byte| byte == b'\n').take(200);
    while let (Some(key), Some(value)) = (lines.next(), lines.next()) {
        let key = format!("{SAVED_PREFIX}{}", String::from_utf8_lossy(key));
        pairs.insert(key, value.to_vec());
    }
    let mut now = Now {
        mono: Instant(1_000_000_000),
        wall_ms: 1_800_000_000_000,
    };
    let mut monitor = start(&pairs, now);
    for view in [View::Confirmed, View::Display] {
        for report in monitor.reports(view, now) {
            let known = [State::Cached, State::Untested].contains(&report.state);
            assert!(known && report.delay_ms != Some(0), "P-1: {report:?}");
            assert_eq!(report.from_cache, report.state == State::Cached, "R-5");
            assert!(is_clean(report.url.as_deref().unwrap_or_default(), 8192));
            assert_eq!(report.ip_from_cache, report.ip.is_some(), "{report:?}");
            if let Some(ip) = &report.ip {
                answer::is_sound(ip, true);
            }
        }
    }
    // A whole run: some answer, some fail, then it stops.
    let mut outcome = monitor.step(now, []);
    for _ in 0..60 {
        let inputs = carry_out(&outcome, &mut pairs);
        now.mono = now.mono + Duration::from_millis(40);
        outcome = monitor.step(now, inputs);
    }
    carry_out(&outcome, &mut pairs);
    let before = monitor.reports(View::Confirmed, now);
    carry_out(&monitor.step(now, [Input::Stop]), &mut pairs);
    let next = start(&pairs, now);
    for report in before.iter().filter(|one| one.state == State::Ok) {
        let after = next
            .report(&report.tag, View::Confirmed, now)
            .expect("a known tag");
        assert_eq!(after.state, State::Cached, "P-1: {}", report.tag);
        assert_eq!(
            (after.delay_ms, &after.url, &after.ip),
            (report.delay_ms, &report.url, &report.ip),
            "P-1: {}",
            report.tag
        );
    }
}

/// Four outbounds whose keys begin with `s0/t0`, `s1/t1`, and so on.
fn start(pairs: &Pairs, now: Now) -> Monitor {
    let outbound = |nth: u32| Outbound {
        tag: format!("t{nth}"),
        type_name: "socks".into(),
        kind: Kind::Outbound,
        detour: None,
        members: Vec::new(),
        fingerprint: format!("s{nth}"),
        exit_follows_host: nth == 1,
    };
    let setup = Setup {
        options: Options::default(),
        outbounds: (0..4).map(outbound).collect(),
        saved: pairs.clone().into_iter().collect(),
        ..Setup::default()
    };
    Monitor::new(setup, now)
}

fn carry_out(outcome: &Outcome, pairs: &mut Pairs) -> Vec<Input> {
    let mut inputs = Vec::new();
    for action in &outcome.actions {
        match action {
            Action::Probe(probe) => inputs.push(Input::ProbeEnded {
                probe: probe.id,
                outcome: reply(probe),
            }),
            Action::Save { delete, set } => {
                for key in delete {
                    assert!(pairs.remove(key).is_some(), "P-2: no pair {key:?}");
                }
                for (key, value) in set {
                    assert!(key.starts_with(SAVED_PREFIX), "P-2: {key:?}");
                    pairs.insert(key.clone(), value.clone());
                }
            }
            Action::Log { line, .. } => assert!(!line.contains(['\n', '\r']), "L-1: {line:?}"),
            _ => {}
        }
    }
    inputs
}

/// The even ones work.
fn reply(probe: &Probe) -> ProbeOutcome {
    if ["t1", "t3"].contains(&probe.tag.as_str()) {
        return ProbeOutcome::Failed(Failure {
            kind: ErrorKind::DialRefused,
            text: "refused".into(),
        });
    }
    ProbeOutcome::Answered(Answer {
        status: if probe.request.head { 204 } else { 200 },
        body: br#"{"ip":"8.8.8.8","query":"8.8.8.8","status":"success"}"#.to_vec(),
        first_byte: Duration::from_millis(40),
        ..Answer::default()
    })
}
