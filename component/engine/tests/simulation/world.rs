//! A random core and random users around one monitor. It must not know any rule;
//! those are among the invariants.

use std::collections::BTreeMap;
use std::time::Duration;

use outwatch_engine::{
    Action, Answer, Cause, ErrorKind, Failure, Filter, Input, Instant, Kind, Monitor, Now, Options,
    Outbound, Probe, ProbeId, ProbeOutcome, Readiness, Scope, Selection, Setup, SubscriberId,
    Ticket, View,
};

use crate::invariants::Invariants;
use crate::random::Random;

/// How many random events a story has.
const EVENTS: u32 = 120;
/// No story needs more steps.
const STEPS_AT_MOST: u32 = 60_000;

pub(crate) struct World {
    random: Random,
    options: Options,
    outbounds: Vec<Outbound>,
    monitor: Monitor,
    now_ms: u64,
    wall_ms: u64,
    wake_at: Option<Instant>,
    coming: BTreeMap<(u64, ProbeId), ProbeOutcome>,
    pairs: BTreeMap<String, Vec<u8>>,
    tickets: u64,
    subscribers: u64,
    /// Updates that nobody has taken.
    untaken: Vec<SubscriberId>,
    steps: u32,
    check: Invariants,
    trace: Vec<String>,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let options = options(&mut random);
        let outbounds = outbounds(&mut random);
        let mut world = Self {
            monitor: Monitor::new(Setup::default(), Now::default()),
            check: Invariants::new(&options),
            options,
            outbounds: outbounds.clone(),
            random,
            now_ms: 0,
            wall_ms: 1_800_000_000_000,
            wake_at: None,
            coming: BTreeMap::new(),
            pairs: BTreeMap::new(),
            tickets: 0,
            subscribers: 0,
            untaken: Vec::new(),
            steps: 0,
            trace: Vec::new(),
        };
        let setup = Setup {
            options: world.options.clone(),
            selections: world.selections(&outbounds),
            outbounds,
            saved: Vec::new(),
            seed,
        };
        world.monitor = Monitor::new(setup, world.now());
        world
    }

    /// Plays the story to its end; gives the log.
    pub(crate) fn play(mut self) -> Vec<String> {
        self.step(Vec::new());
        for view in [View::Confirmed, View::Display] {
            self.subscribe(Scope::All, view);
        }
        for _ in 0..EVENTS {
            let pause = self.random.pick(&[1, 20, 300, 3_000, 20_000]);
            let pause = self.random.below(pause) + 1;
            self.run_to(self.now_ms + pause);
            let event = self.event();
            self.step(vec![event]);
            if self.random.one_in(3) {
                self.take_updates();
            }
        }
        self.come_to_rest();
        self.step(vec![Input::Stop]);
        self.check.stopped();
        self.restart();
        self.trace
    }

    /// Nobody does anything any more: everything ends, and then nothing is asked for.
    fn come_to_rest(&mut self) {
        self.step(vec![Input::Resume]);
        let end = self.now_ms + 2 * 3_600_000;
        while self.now_ms < end {
            self.take_updates();
            self.run_to(self.now_ms + 60_000);
        }
        self.take_updates();
        self.check
            .at_rest(&self.monitor, self.now(), self.wake_at, &self.coming);
    }

    /// A new monitor on what the old one saved.
    fn restart(&mut self) {
        let setup = Setup {
            options: self.options.clone(),
            outbounds: self.outbounds.clone(),
            saved: self.pairs.clone().into_iter().collect(),
            ..Setup::default()
        };
        let next = Monitor::new(setup, self.now());
        self.check.restarted(&self.monitor, &next, self.now());
    }

    fn now(&self) -> Now {
        Now {
            mono: Instant((self.now_ms + 5_000) * 1_000_000),
            wall_ms: self.wall_ms + self.now_ms,
        }
    }

    fn run_to(&mut self, ms: u64) {
        loop {
            let wake = self
                .wake_at
                .map(|at| at.0.div_ceil(1_000_000).saturating_sub(5_000));
            let reply = self.coming.keys().next().map(|(at, _)| *at);
            let Some(next) = wake
                .into_iter()
                .chain(reply)
                .min()
                .filter(|&next| next <= ms)
            else {
                break;
            };
            self.now_ms = next.max(self.now_ms);
            let mut inputs = Vec::new();
            while let Some(((at, probe), _)) = self.coming.first_key_value() {
                if *at > self.now_ms {
                    break;
                }
                let key = (*at, *probe);
                let outcome = self.coming.remove(&key).expect("it is there");
                self.check.ended(key.1);
                inputs.push(Input::ProbeEnded {
                    probe: key.1,
                    outcome,
                });
            }
            self.step(inputs);
        }
        self.now_ms = ms;
    }

    fn step(&mut self, inputs: Vec<Input>) {
        self.steps += 1;
        assert!(self.steps < STEPS_AT_MOST, "it never comes to rest");
        let now = self.now();
        let outcome = self.monitor.step(now, inputs);
        self.check.wake_at(now, outcome.wake_at);
        self.wake_at = outcome.wake_at;
        for action in outcome.actions {
            self.carry_out(action);
        }
        self.check.after_step(&self.monitor, now);
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Probe(probe) => {
                self.check.sent(&probe, self.now_ms);
                self.reply(&probe);
            }
            Action::Cancel(id) => {
                self.check.canceled(id);
                self.coming.retain(|(_, probe), _| *probe != id);
            }
            Action::Answer { ticket, .. } => self.check.answered(ticket),
            Action::Publish { subscriber, update } => {
                self.check.published(subscriber, &update);
                self.untaken.push(subscriber);
            }
            Action::Save { delete, set } => {
                for key in delete {
                    self.pairs.remove(&key);
                }
                self.pairs.extend(set);
            }
            Action::Log { line, .. } => self.trace.push(format!("{} {line}", self.now_ms)),
            Action::Stopped => {}
        }
    }

    /// What comes of a probe, and when.
    fn reply(&mut self, probe: &Probe) {
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

    fn event(&mut self) -> Input {
        let tag = self.tag();
        match self.random.below(40) {
            0..=9 => {
                self.tickets += 1;
                self.check.asked(Ticket(self.tickets));
                Input::Ask {
                    ticket: Ticket(self.tickets),
                    tag,
                }
            }
            10..=13 => Input::Activity,
            14..=15 => Input::NetworkChanged,
            16..=20 => {
                let cause = self.random.pick(&[
                    Cause::Member,
                    Cause::Member,
                    Cause::Destination,
                    Cause::Client,
                ]);
                Input::ConnectionFailed {
                    tag,
                    group: None,
                    cause,
                }
            }
            21..=25 => Input::Selected(self.selection(tag)),
            26..=28 => Input::OutboundReady(tag),
            29 => Input::Pause,
            30..=31 => Input::Resume,
            32..=33 => {
                let outbounds = outbounds(&mut self.random);
                let selections = self.selections(&outbounds);
                self.check.reloaded();
                self.outbounds.clone_from(&outbounds);
                Input::Outbounds {
                    outbounds,
                    selections,
                }
            }
            34..=36 => {
                let scope =
                    self.random
                        .pick(&[Scope::All, Scope::Tag(tag.clone()), Scope::Group(tag)]);
                let view = self.random.pick(&[View::Confirmed, View::Display]);
                self.subscriber(scope, view)
            }
            37 => {
                let subscriber = SubscriberId(self.random.below(self.subscribers + 1));
                self.check.unsubscribed(subscriber);
                Input::Unsubscribe(subscriber)
            }
            38 => {
                // The device slept, or only its clock was set.
                let ahead = self.random.pick(&[0, 10_000, 3_600_000]);
                self.wall_ms += ahead;
                self.now_ms += self.random.pick(&[0, 0, ahead]);
                Input::Activity
            }
            _ => Input::ProbeEnded {
                probe: ProbeId(999_999),
                outcome: ProbeOutcome::Answered(Answer::default()),
            },
        }
    }

    fn subscribe(&mut self, scope: Scope, view: View) {
        let input = self.subscriber(scope, view);
        self.step(vec![input]);
    }

    fn subscriber(&mut self, scope: Scope, view: View) -> Input {
        self.subscribers += 1;
        let subscriber = SubscriberId(self.subscribers);
        let filter = Filter { scope, view };
        self.check.subscribed(subscriber, filter.clone());
        Input::Subscribe { subscriber, filter }
    }

    fn take_updates(&mut self) {
        while !self.untaken.is_empty() {
            let taken: Vec<Input> = self.untaken.drain(..).map(Input::Taken).collect();
            for input in &taken {
                if let Input::Taken(subscriber) = input {
                    self.check.taken(*subscriber);
                }
            }
            self.step(taken);
        }
    }

    fn tag(&mut self) -> String {
        format!("t{}", self.random.below(14))
    }

    fn selection(&mut self, group: String) -> Selection {
        let (tcp, udp) = (self.tag(), self.tag());
        Selection {
            group,
            tcp: (!self.random.one_in(5)).then_some(tcp),
            udp: Some(udp),
        }
    }

    fn selections(&mut self, outbounds: &[Outbound]) -> Vec<Selection> {
        let groups = outbounds.iter().filter(|one| one.kind == Kind::Group);
        groups
            .map(|group| self.selection(group.tag.clone()))
            .collect()
    }
}

fn options(random: &mut Random) -> Options {
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
fn outbounds(random: &mut Random) -> Vec<Outbound> {
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
            type_name: "simulated".into(),
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
