//! Any story: bytes become what happens around a monitor, on virtual time. It must not
//! know a rule; those are in `check`.
//!
//! The first two bytes choose the options and the core. Then a letter is an event, with
//! its operands in the bytes after it, and every other byte lets time pass: `0` 1 ms,
//! `1` 20 ms, up to `9`, an hour.
//!
//! | letter | event | operands |
//! | --- | --- | --- |
//! | `a` | a test is asked for | tag |
//! | `c` | a connection failed | tag, cause |
//! | `s` | a group selects | group, member or none |
//! | `r` | an outbound finished connecting | tag |
//! | `n` `u` `p` `g` | network changed, use, pause, go on | |
//! | `o` | other outbounds | which core |
//! | `v` `x` | subscribe, unsubscribe | scope, tag, view; which |
//! | `t` | everyone takes their updates | |
//! | `w` | an outbound behaves otherwise from now on | tag, behaviour |
//! | `l` | an answer that nobody waits for | |
//! | `j` | only the wall clock jumps ahead | how far |
//! | `z` | the device sleeps | how long |

use std::collections::BTreeMap;

use outwatch_engine::{
    Action, Answer, Cause, Filter, Input, Instant, Monitor, Now, Outbound, ProbeId, ProbeOutcome,
    Scope, Selection, Setup, SubscriberId, Ticket, View,
};

use crate::script::Script;

mod check;
mod core;

use check::Check;

/// How long a story may be, in bytes: the rest is not read.
const BYTES_AT_MOST: usize = 400;
/// No story needs more steps.
const STEPS_AT_MOST: u32 = 200_000;
/// How far time moves.
const PAUSES_MS: [u64; 10] = [
    1, 20, 100, 500, 1_000, 3_000, 10_000, 60_000, 300_000, 3_600_000,
];

/// Plays the story to its end, then waits until nothing happens any more, and stops.
///
/// # Panics
///
/// When a rule that can be seen from outside does not hold.
pub fn inputs(data: &[u8]) {
    let data = &data[..data.len().min(BYTES_AT_MOST)];
    let mut script = Script::new(data);
    let mut story = Story::new(script.below(64), script.below(256));
    while let Some(byte) = script.next() {
        story.play(byte, &mut script);
    }
    story.end();
}

struct Story {
    monitor: Monitor,
    outbounds: Vec<Outbound>,
    now_ms: u64,
    wall_ahead_ms: u64,
    wake_at: Option<Instant>,
    /// How each tag behaves.
    behaviour: BTreeMap<String, usize>,
    coming: BTreeMap<(u64, ProbeId), ProbeOutcome>,
    untaken: Vec<SubscriberId>,
    names: u64,
    steps: u32,
    check: Check,
}

impl Story {
    fn new(options: usize, core: usize) -> Self {
        let options = core::options(options);
        let outbounds = core::outbounds(core);
        let mut story = Self {
            monitor: Monitor::new(Setup::default(), Now::default()),
            check: Check::new(&options),
            outbounds: outbounds.clone(),
            now_ms: 0,
            wall_ahead_ms: 0,
            wake_at: None,
            behaviour: BTreeMap::new(),
            coming: BTreeMap::new(),
            untaken: Vec::new(),
            names: 0,
            steps: 0,
        };
        let setup = Setup {
            options,
            selections: core::selections(&outbounds),
            outbounds,
            ..Setup::default()
        };
        story.monitor = Monitor::new(setup, story.now());
        story.step(Vec::new());
        story
    }

    fn play(&mut self, byte: u8, script: &mut Script<'_>) {
        let event = match byte {
            b'a' => self.ask(core::tag(script)),
            b'c' => Input::ConnectionFailed {
                tag: core::tag(script),
                group: None,
                cause: script.pick(&[Cause::Member, Cause::Destination, Cause::Client]),
            },
            b's' => {
                let (group, member) = (core::tag(script), core::tag(script));
                let member = Some(member).filter(|tag| *tag != core::NOBODY);
                Input::Selected(Selection {
                    group,
                    tcp: member.clone(),
                    udp: member,
                })
            }
            b'r' => Input::OutboundReady(core::tag(script)),
            b'n' => Input::NetworkChanged,
            b'u' => Input::Activity,
            b'p' => Input::Pause,
            b'g' => Input::Resume,
            b'o' => self.reload(script.below(256)),
            b'v' => self.subscribe(script),
            b'x' => {
                let subscriber = SubscriberId(script.below(10) as u64);
                self.check.unsubscribed(subscriber);
                Input::Unsubscribe(subscriber)
            }
            b't' => return self.take_updates(),
            b'w' => {
                let (tag, how) = (core::tag(script), script.below(10));
                self.behaviour.insert(tag, how);
                return;
            }
            b'l' => Input::ProbeEnded {
                probe: ProbeId(u64::MAX),
                outcome: ProbeOutcome::Answered(Answer::default()),
            },
            b'j' => {
                self.wall_ahead_ms += script.pick(&PAUSES_MS);
                Input::Activity
            }
            b'z' => {
                // Nothing runs meanwhile, whatever was promised.
                self.now_ms += script.pick(&PAUSES_MS);
                return self.step(Vec::new());
            }
            time => {
                let ms = Script::new(&[time]).pick(&PAUSES_MS);
                return self.run_to(self.now_ms + ms);
            }
        };
        self.step(vec![event]);
    }

    /// Nobody does anything any more: everything ends, and then nothing is asked for.
    fn end(mut self) {
        self.step(vec![Input::Resume]);
        for _ in 0..120 {
            self.take_updates();
            self.run_to(self.now_ms + 60_000);
        }
        self.take_updates();
        assert!(self.coming.is_empty(), "probes go on and on");
        self.check.at_rest(&self.monitor, self.now(), self.wake_at);
        self.step(vec![Input::Stop, Input::NetworkChanged]);
        self.check.stopped(self.wake_at);
        let late = self.ask("t0".into());
        let after = self.monitor.step(self.now(), [late, Input::Activity]);
        assert!(after.actions.is_empty() && after.wake_at.is_none(), "Stop");
    }

    fn now(&self) -> Now {
        Now {
            mono: Instant((self.now_ms + 5_000) * 1_000_000),
            wall_ms: 1_800_000_000_000 + self.now_ms + self.wall_ahead_ms,
        }
    }

    fn run_to(&mut self, ms: u64) {
        loop {
            let wake = self
                .wake_at
                .map(|at| at.0.div_ceil(1_000_000).saturating_sub(5_000));
            let reply = self.coming.keys().next().map(|(at, _)| *at);
            let next = wake.into_iter().chain(reply).min();
            let Some(next) = next.filter(|&next| next <= ms) else {
                break;
            };
            self.now_ms = next.max(self.now_ms);
            let mut inputs = Vec::new();
            while let Some(entry) = self.coming.first_entry() {
                let (at, probe) = *entry.key();
                if at > self.now_ms {
                    break;
                }
                let outcome = entry.remove();
                self.check.ended(probe);
                inputs.push(Input::ProbeEnded { probe, outcome });
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
        self.wake_at = outcome.wake_at;
        self.check.wakes(now, outcome.wake_at);
        for action in outcome.actions {
            self.carry_out(action);
        }
        self.check.reports(&self.monitor, now);
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Probe(probe) => {
                self.check.sent(&probe, self.now_ms);
                let how = self.behaviour.get(&probe.tag).copied().unwrap_or_default();
                if let Some((after, outcome)) = core::reply(&probe, how) {
                    self.coming.insert((self.now_ms + after, probe.id), outcome);
                }
            }
            Action::Cancel(probe) => {
                self.check.canceled(probe);
                self.coming.retain(|(_, coming), _| *coming != probe);
            }
            Action::Answer { ticket, .. } => self.check.answered(ticket),
            Action::Publish { subscriber, update } => {
                self.check.published(subscriber, &update);
                self.untaken.push(subscriber);
            }
            Action::Save { .. } => {}
            Action::Log { line, .. } => assert!(!line.contains(['\n', '\r']), "L-1: {line:?}"),
            Action::Stopped => self.check.said_stopped(),
        }
    }

    fn ask(&mut self, tag: String) -> Input {
        self.names += 1;
        let ticket = Ticket(self.names);
        self.check.asked(ticket);
        Input::Ask { ticket, tag }
    }

    fn reload(&mut self, core: usize) -> Input {
        self.outbounds = core::outbounds(core);
        self.check.reloaded();
        Input::Outbounds {
            outbounds: self.outbounds.clone(),
            selections: core::selections(&self.outbounds),
        }
    }

    fn subscribe(&mut self, script: &mut Script<'_>) -> Input {
        let (scope, tag) = (script.below(3), core::tag(script));
        let scope = match scope {
            0 => Scope::All,
            1 => Scope::Tag(tag),
            _ => Scope::Group(tag),
        };
        let view = script.pick(&[View::Confirmed, View::Display]);
        self.names += 1;
        let subscriber = SubscriberId(self.names);
        let filter = Filter { scope, view };
        self.check.subscribed(subscriber, filter.clone());
        Input::Subscribe { subscriber, filter }
    }

    fn take_updates(&mut self) {
        while !self.untaken.is_empty() {
            let taken = std::mem::take(&mut self.untaken);
            for &subscriber in &taken {
                self.check.taken(subscriber);
            }
            self.step(taken.into_iter().map(Input::Taken).collect());
        }
    }
}
