//! Random scripts by seed. It must not expect anything but parity.

use outwatch::{Cause, Fault, Kind, Outbound, Phase, Readiness, Scope, View};
use outwatch_tests::parity::{Event, Pace, Reply, Rule, Script, check};

/// How many seeds a run looks at, unless `SEEDS` says another number.
const SEEDS: u64 = 40;
/// How many events a script has.
const EVENTS: u64 = 70;

/// What all of them together come to.
const REACHED: [&str; 21] = [
    "event=joined",
    "event=miss",
    "event=mark",
    "event=late",
    "event=again",
    "event=gated",
    "event=not_ready",
    "event=idle",
    "event=wake",
    "event=pause",
    "event=next_url",
    "event=network_changed",
    "event=skipped",
    "event=ip ",
    "event=ip_failed",
    "event=ipv6",
    "event=attempt_failed",
    "event=selected",
    "reason=recovered",
    "reason=reload",
    "reason=resume",
];

#[test]
fn random_scripts_leave_the_same_trace_and_reach_what_matters() {
    let seeds = match (number("SEED"), number("SEEDS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, many) => 0..many.unwrap_or(SEEDS),
    };
    let many = seeds.end - seeds.start;
    let mut missing = Vec::from(REACHED);
    for seed in seeds {
        let played = std::panic::catch_unwind(|| check(&script(&mut Random(seed))));
        let Ok(trace) = played else {
            panic!("replay with SEED={seed}");
        };
        missing.retain(|word| !trace.iter().any(|line| line.text.contains(word)));
    }
    // A few seeds alone need not reach everything.
    assert!(
        many < SEEDS || missing.is_empty(),
        "no seed reached {missing:?}"
    );
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn script(random: &mut Random) -> Script {
    let mut script = Script::new(&options(random)).seed(random.below(u64::MAX));
    if random.one_in(8) {
        script = script.paused();
    }
    for outbound in outbounds(random) {
        if outbound.kind == Kind::Group && !random.one_in(4) {
            let members: Vec<&str> = outbound.members.iter().map(String::as_str).collect();
            let selected = tag(random);
            script = script.group(&outbound.tag, &members, Some(&selected));
        } else {
            script = script.entry(outbound);
        }
    }
    for nth in 0..10 {
        for rule in [Rule::tests, Rule::lookups, Rule::ipv6] {
            script = script.rule(rule(&format!("t{nth}"), replies(random)));
        }
    }
    script = script.watched();
    let (mut at, mut readers) = (10, 2);
    for _ in 0..EVENTS {
        let most = random.pick(&[20, 400, 4_000, 40_000]);
        at += random.below(most);
        let event = event(random, &mut readers);
        script = script.at(at, event);
    }
    if random.one_in(2) {
        script = script.stop(at + 100).at(at + 5_000, Event::Start);
        at += 5_000 + random.below(60_000);
    }
    script.stop(at + 100)
}

fn options(random: &mut Random) -> String {
    let urls = [
        r#"["http://one.test/generate_204"]"#,
        r#"["http://one.test/generate_204", "https://two.test/", "http://three.test/"]"#,
    ];
    format!(
        r#"{{"interval": "{}s", "urls": {}, "verify_ipv6": {}, "workers": {}, "idle_timeout": "{}s",
            "debounce_window": "{}ms", "ip_lookup": {}, "immediate_limit": {}, "unified_delay": {}}}"#,
        random.pick(&[10, 60, 300]),
        random.pick(&urls),
        random.one_in(2),
        random.below(4) + 1,
        random.pick(&[5, 60, 600]),
        random.pick(&[50, 500, 3_000]),
        !random.one_in(3),
        random.below(4) + 1,
        random.one_in(3),
    )
}

/// Tags `t0` to `t9`, some absent, all of any kind, leading and dialing anywhere.
fn outbounds(random: &mut Random) -> Vec<Outbound> {
    let mut outbounds = Vec::new();
    for nth in 0..10 {
        if random.one_in(6) {
            continue;
        }
        let kind = random.pick(&[
            Kind::Outbound,
            Kind::Outbound,
            Kind::Outbound,
            Kind::Endpoint,
            Kind::Group,
            Kind::Untestable,
        ]);
        let members = if kind == Kind::Group {
            random.below(5)
        } else {
            0
        };
        outbounds.push(Outbound {
            kind,
            detour: random.one_in(4).then(|| tag(random)),
            members: (0..members).map(|_| tag(random)).collect(),
            fingerprint: random.below(2).to_string(),
            exit_follows_host: random.one_in(4),
            ..Outbound::new(format!("t{nth}"), "stub")
        });
    }
    outbounds
}

fn tag(random: &mut Random) -> String {
    format!("t{}", random.below(11))
}

fn replies(random: &mut Random) -> Vec<Reply> {
    let many = random.below(5) + 1;
    (0..many).map(|_| reply(random)).collect()
}

fn reply(random: &mut Random) -> Reply {
    let most = random.pick(&[5, 100, 1_000, 9_000]);
    let after = random.below(most);
    let cause = random.pick(&[
        (Phase::Dial, Cause::Refused),
        (Phase::Dial, Cause::DnsFailed),
        (Phase::Proxy, Cause::ProxyAuth),
        (Phase::Http, Cause::Reset),
    ]);
    match random.below(20) {
        0 => Reply::Stuck,
        1 => Reply::Silent,
        2 => Reply::Late(after + 30_000),
        3..=5 => Reply::fails(after, cause.0, cause.1),
        6 => Reply::status(after, random.pick(&[200, 403, 502])),
        7 => Reply::header(after, 429, "retry-after", "30"),
        8..=10 => Reply::exit(
            after,
            random.pick(&["8.8.8.8", "9.9.9.9", "10.1.1.1"]),
            "us",
        ),
        11 => Reply::body(after, "ip=1.1.1.1\nloc=DE\n"),
        _ => Reply::ok(after),
    }
}

fn event(random: &mut Random, readers: &mut usize) -> Event {
    let tag = tag(random);
    match random.below(40) {
        0..=8 => Event::Ask(tag),
        9..=12 => Event::Activity,
        13..=14 => Event::NetworkChanged,
        15..=17 => {
            let fault = random.pick(&[Fault::Outbound, Fault::Outbound, Fault::Client]);
            Event::Failed(tag, fault, random.pick(&[1, 2, 20]))
        }
        18..=20 => Event::Select(tag, format!("t{}", random.below(10))),
        21..=22 => Event::Ready(tag),
        23..=24 => {
            let texts = ["connecting", "registering"].map(String::from);
            let [first, second] = texts;
            let readiness = [
                Readiness::NotReady(first),
                Readiness::NotReady(second),
                Readiness::Unsupported("no".into()),
            ];
            Event::Status(tag, random.pick(&readiness))
        }
        25..=27 => Event::Rule(Rule::tests(&tag, replies(random))),
        28 => Event::Outbounds(outbounds(random)),
        29 => Event::Pause,
        30 => Event::Resume,
        31 => Event::WallJump(random.pick(&[500, 10_000, 3_600_000])),
        32 => Event::Reports(random.pick(&[View::Confirmed, View::Display])),
        33..=34 => {
            *readers += 1;
            let scopes = [Scope::All, Scope::Tag(tag.clone()), Scope::Group(tag)];
            let view = random.pick(&[View::Confirmed, View::Display]);
            Event::Subscribe(
                random.pick(&scopes),
                view,
                random.pick(&[Pace::Eager, Pace::Slow]),
            )
        }
        35 => Event::Leave(random.index(*readers)),
        _ => Event::Read(random.index(*readers)),
    }
}

/// The generator of splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn one_in(&mut self, cases: u64) -> bool {
        self.below(cases) == 0
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("a small list")
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())].clone()
    }
}
