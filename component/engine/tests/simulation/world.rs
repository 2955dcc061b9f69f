//! A random core and random users around one monitor. It must not know any rule;
//! those are among the invariants.

use std::collections::BTreeMap;

use outwatch_engine::{
    Action, Answer, Cause, Filter, Input, Instant, Kind, Monitor, Now, Options, Outbound, ProbeId,
    ProbeOutcome, Scope, Selection, Setup, SubscriberId, Ticket, View,
};

use crate::invariants::Invariants;
use crate::random::Random;

mod core;

use self::core::{options, outbounds};

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
