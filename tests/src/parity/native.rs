//! The engine alone on virtual time, driven as `component/src/run.rs` drives it. It
//! must not use the component or a clock.

mod reader;

use std::collections::BTreeMap;

use outwatch_engine::{
    Action, Filter, Input, Instant, Monitor, Now, Probe, ProbeId, ProbeOutcome, SAVED_PREFIX,
    Setup, SubscriberId, Ticket, Update,
};

use super::script::{Event, Script};
use super::trace::{Lane, Line, Trace};
use super::world::{self, World};
use super::{FetchKey, Times, words};

pub(super) use reader::{ALL, permits};

use reader::Reader;

/// The host lets activity through once in this time (N-2).
const ACTIVITY_EVERY: u64 = 1000;

pub(super) fn play(script: &Script) -> (Vec<Line>, Times) {
    let mut native = Native {
        script,
        world: script.world.clone(),
        trace: Trace::default(),
        times: Times::default(),
        pairs: BTreeMap::new(),
        readers: Vec::new(),
        now: 0,
        asked: 0,
        run: None,
    };
    native.start();
    for (at, event) in &script.events {
        native.run_until_free(*at);
        native.times.events.push(native.now);
        native.perform(event);
    }
    (native.trace.lines(), native.times)
}

struct Native<'a> {
    script: &'a Script,
    world: World,
    trace: Trace,
    times: Times,
    pairs: BTreeMap<String, Vec<u8>>,
    /// All of the script, in order.
    readers: Vec<Reader>,
    now: u64,
    /// How many tests were asked for.
    asked: usize,
    run: Option<Run>,
}

/// One monitor from its start to its stop.
struct Run {
    monitor: Monitor,
    began: u64,
    inbox: Vec<Input>,
    /// Comes into the inbox once the loop waits.
    later: Vec<Input>,
    alarm: Option<u64>,
    /// By their end; two never end in one millisecond.
    coming: BTreeMap<u64, Coming>,
    /// They never end.
    lost: BTreeMap<ProbeId, String>,
    /// Which test of the script was asked for with which ticket.
    tickets: BTreeMap<Ticket, usize>,
    first_reader: usize,
    last_id: u64,
    last_activity: Option<u64>,
}

struct Coming {
    probe: ProbeId,
    key: FetchKey,
    outcome: ProbeOutcome,
}

impl Native<'_> {
    fn start(&mut self) {
        let (options, _) = outwatch_options::read(&self.script.options).expect("right options");
        let saved = self
            .pairs
            .iter()
            .filter(|(key, _)| key.starts_with(SAVED_PREFIX));
        let setup = Setup {
            options,
            outbounds: self.world.outbounds.iter().map(words::outbound).collect(),
            selections: words::selections(&self.world),
            saved: saved
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            seed: self.script.seed,
        };
        let now = Now {
            mono: Instant(0),
            wall_ms: self.world.wall_ms(self.now),
        };
        let paused = self.script.paused.then_some(Input::Pause);
        self.run = Some(Run {
            monitor: Monitor::new(setup, now),
            began: self.now,
            inbox: paused.into_iter().collect(),
            later: Vec::new(),
            alarm: None,
            coming: BTreeMap::new(),
            lost: BTreeMap::new(),
            tickets: BTreeMap::new(),
            first_reader: self.readers.len(),
            last_id: 0,
            last_activity: None,
        });
        self.turn();
    }

    /// Comes to the first millisecond from `at` on in which nothing else happens.
    fn run_until_free(&mut self, at: u64) {
        let mut at = at.max(self.now + 1);
        loop {
            self.run_until(at);
            let taken = |run: &Run| run.alarm == Some(at) || run.coming.contains_key(&at);
            if !self.run.as_ref().is_some_and(taken) {
                break;
            }
            at += 1;
        }
        self.now = at;
    }

    /// Does all that is due before `end`.
    fn run_until(&mut self, end: u64) {
        while let Some(run) = &mut self.run {
            let reply = run.coming.keys().next().copied();
            let alarm = run.alarm.map(|at| at.max(self.now));
            let Some(next) = reply.into_iter().chain(alarm).min().filter(|&at| at < end) else {
                return;
            };
            self.now = next;
            if alarm == Some(next) {
                run.alarm = None;
                if let Some(reply) = run.coming.remove(&next) {
                    run.expect(reply, next + 1, &mut self.times);
                }
            } else if let Some(reply) = run.coming.remove(&next) {
                let Coming { probe, outcome, .. } = reply;
                run.inbox.push(Input::ProbeEnded { probe, outcome });
            }
            self.turn();
        }
    }

    /// Steps until nothing is left to do but to wait.
    fn turn(&mut self) {
        while let Some(run) = &mut self.run {
            let inputs = std::mem::take(&mut run.inbox);
            let now = Now {
                mono: Instant((self.now - run.began) * 1_000_000),
                wall_ms: self.world.wall_ms(self.now),
            };
            let outcome = run.monitor.step(now, inputs);
            for action in outcome.actions {
                self.carry_out(action);
            }
            let Some(run) = &mut self.run else { return };
            if !run.inbox.is_empty() {
                continue;
            }
            run.set_alarm(outcome.wake_at);
            run.inbox.append(&mut run.later);
            if run.inbox.is_empty() {
                return;
            }
        }
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Probe(probe) => self.send(&probe),
            Action::Cancel(probe) => self.cancel(probe),
            Action::Answer { ticket, result } => {
                let nth = self
                    .run
                    .as_mut()
                    .and_then(|run| run.tickets.remove(&ticket));
                let text = match result {
                    Ok(report) => words::report(&report).to_string(),
                    Err(error) => words::ask_error(&error).to_string(),
                };
                let nth = nth.expect("asked, and not yet answered");
                self.note(Lane::Answer(nth), text);
            }
            Action::Publish { subscriber, update } => self.publish(subscriber, update),
            Action::Save { delete, set } => {
                self.note(Lane::Saved, saved(&delete, &set));
                for key in delete {
                    self.pairs.remove(&key);
                }
                self.pairs.extend(set);
            }
            Action::Log { level, line } => {
                let level = words::level(level);
                self.note(Lane::Log, format!("outwatch::monitoring {level} {line}"));
            }
            Action::Stopped => self.stopped(),
        }
    }

    fn send(&mut self, probe: &Probe) {
        let Some(run) = &mut self.run else { return };
        let not_ready = words::not_ready(self.world.status(&probe.tag));
        if let Some(readiness) = not_ready.filter(|_| !probe.forced) {
            run.inbox.push(Input::ProbeEnded {
                probe: probe.id,
                outcome: ProbeOutcome::NotReady(readiness),
            });
            return;
        }
        let request = words::request(&probe.request);
        let fetch = self.world.fetch(&probe.tag, &request);
        match fetch.after {
            Some(after) => {
                let coming = Coming {
                    probe: probe.id,
                    key: fetch.key,
                    outcome: words::ended(fetch.end),
                };
                run.expect(coming, self.now + after.max(1), &mut self.times);
            }
            None => {
                run.lost.insert(probe.id, probe.tag.clone());
            }
        }
        self.note(Lane::Fetch, world::shown(&probe.tag, &request));
    }

    fn cancel(&mut self, probe: ProbeId) {
        let Some(run) = &mut self.run else { return };
        let end = run.coming.iter().find(|(_, coming)| coming.probe == probe);
        let end = end.map(|(&end, _)| end);
        let coming = end.and_then(|end| run.coming.remove(&end));
        let tag = coming
            .map(|coming| coming.key.0)
            .or_else(|| run.lost.remove(&probe));
        if let Some(tag) = tag {
            self.note(Lane::Dropped, tag);
        }
    }

    fn publish(&mut self, subscriber: SubscriberId, update: Update) {
        let Some(run) = &mut self.run else { return };
        let readers = self.readers.iter_mut().enumerate().skip(run.first_reader);
        let mut named = readers.filter(|(_, reader)| reader.id == subscriber);
        if let Some((nth, reader)) = named.next() {
            run.later.extend(reader.offer(update));
            self.read(nth);
        }
    }

    /// The n-th subscriber reads what it may.
    fn read(&mut self, nth: usize) {
        while let Some((update, taken)) = self.readers[nth].read() {
            if let Some(run) = &mut self.run {
                run.later.extend(taken);
            }
            self.note(Lane::Reader(nth), shown(&update));
        }
    }

    /// The instance is gone, and with it all that ran in it.
    fn stopped(&mut self) {
        let Some(run) = self.run.take() else { return };
        let coming = run.coming.into_values().map(|coming| coming.key.0);
        for tag in coming.chain(run.lost.into_values()) {
            self.note(Lane::Dropped, tag);
        }
        for &nth in run.tickets.values() {
            let error = outwatch::TestError::Stopped.to_string();
            self.note(Lane::Answer(nth), error);
        }
        for nth in run.first_reader..self.readers.len() {
            if !self.readers[nth].gone {
                self.note(Lane::Reader(nth), "the end");
            }
        }
    }

    fn perform(&mut self, event: &Event) {
        event.change(&mut self.world);
        if let Event::Start = event {
            self.start();
        }
        let inputs = self.inputs(event);
        if let Some(run) = &mut self.run {
            run.inbox.extend(inputs);
            run.inbox.append(&mut run.later);
            if !run.inbox.is_empty() {
                self.turn();
            }
        }
    }

    /// What the engine hears of an event.
    fn inputs(&mut self, event: &Event) -> Vec<Input> {
        let Some(run) = &mut self.run else {
            return Vec::new();
        };
        let input = match event {
            Event::Ask(tag) => {
                let ticket = Ticket(run.next_id());
                run.tickets.insert(ticket, self.asked);
                self.asked += 1;
                let tag = tag.clone();
                Input::Ask { ticket, tag }
            }
            Event::Activity if run.has_heard_of_activity(self.now) => return Vec::new(),
            Event::Activity => Input::Activity,
            Event::NetworkChanged => Input::NetworkChanged,
            Event::Failed(tag, fault, times) => {
                let failed = Input::ConnectionFailed {
                    tag: tag.clone(),
                    group: None,
                    cause: words::cause(*fault),
                };
                return vec![failed; *times];
            }
            Event::Select(group, _) => Input::Selected(words::selection(&self.world, group)),
            Event::Ready(tag) => Input::OutboundReady(tag.clone()),
            Event::Outbounds(outbounds) => Input::Outbounds {
                outbounds: outbounds.iter().map(words::outbound).collect(),
                selections: words::selections(&self.world),
            },
            Event::Pause => Input::Pause,
            Event::Resume => Input::Resume,
            Event::Subscribe(scope, view, pace) => {
                let subscriber = SubscriberId(run.next_id());
                self.readers.push(Reader::new(subscriber, *pace));
                let (scope, view) = (words::scope(scope), words::view(*view));
                let filter = Filter { scope, view };
                Input::Subscribe { subscriber, filter }
            }
            Event::Read(nth) => {
                self.readers[*nth].permit(1);
                self.read(*nth);
                return Vec::new();
            }
            Event::ReadAll => {
                for nth in 0..self.readers.len() {
                    self.readers[nth].permit(ALL);
                    self.read(nth);
                }
                return Vec::new();
            }
            Event::Leave(nth) => return self.readers[*nth].leave().into_iter().collect(),
            Event::Reports(view) => {
                let now = Now {
                    mono: Instant((self.now - run.began) * 1_000_000),
                    wall_ms: self.world.wall_ms(self.now),
                };
                for report in run.monitor.reports(words::view(*view), now) {
                    let text = words::report(&report).to_string();
                    self.trace.note(self.now, Lane::Reports, text);
                }
                return Vec::new();
            }
            Event::Stop => Input::Stop,
            Event::Start | Event::Status(..) | Event::Rule(_) | Event::WallJump(_) => {
                return Vec::new();
            }
        };
        vec![input]
    }

    fn note(&self, lane: Lane, text: impl Into<String>) {
        self.trace.note(self.now, lane, text);
    }
}

impl Run {
    /// A fetch will end at `end`, or in the next millisecond in which no other does.
    fn expect(&mut self, coming: Coming, mut end: u64, times: &mut Times) {
        while self.coming.contains_key(&end) {
            end += 1;
        }
        times.fetches.insert(coming.key.clone(), end);
        self.coming.insert(end, coming);
    }

    /// As the component does: an earlier alarm than needed is kept.
    fn set_alarm(&mut self, wake_at: Option<Instant>) {
        let wake_at = wake_at.map(|at| self.began + at.0.div_ceil(1_000_000));
        self.alarm = match (wake_at, self.alarm) {
            (Some(at), Some(set)) => Some(at.min(set)),
            (wake_at, _) => wake_at,
        };
    }

    fn has_heard_of_activity(&mut self, now: u64) -> bool {
        let heard = self
            .last_activity
            .is_some_and(|last| now - last < ACTIVITY_EVERY);
        if !heard {
            self.last_activity = Some(now);
        }
        heard
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}

/// An update, a report a line.
fn shown(update: &Update) -> String {
    let reports = update.reports.iter().map(words::report).collect();
    shown_parts(reports, &update.removed, update.urgent)
}

pub(super) fn shown_parts(
    reports: Vec<serde_json::Value>,
    removed: &[String],
    urgent: bool,
) -> String {
    let reports: Vec<String> = reports
        .into_iter()
        .map(|report| format!("\n         {report}"))
        .collect();
    format!("urgent {urgent}, removed {removed:?}{}", reports.concat())
}

/// A change of the saved pairs.
pub(super) fn saved(delete: &[String], set: &[(String, Vec<u8>)]) -> String {
    let set: Vec<String> = set
        .iter()
        .map(|(key, value)| format!("\n         {key} = {}", String::from_utf8_lossy(value)))
        .collect();
    format!("removed {delete:?}, set{}", set.concat())
}
