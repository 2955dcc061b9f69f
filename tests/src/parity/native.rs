//! The engine alone on virtual time, driven as `component/src/run.rs` drives it. It
//! must not use the component or a clock.

mod hear;
mod reader;
mod run;

use std::collections::BTreeMap;

use outwatch_engine::{
    Action, Input, Instant, Monitor, Now, Probe, ProbeId, ProbeOutcome, SAVED_PREFIX, Setup,
    SubscriberId, Update,
};

use super::script::Script;
use super::trace::{Lane, Line, Trace, saved_text, update_text};
use super::world::{self, World};
use super::{Times, words};

pub(super) use reader::{ALL, permits};

use reader::Reader;
use run::{Coming, Run};

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
        let monitor = Monitor::new(setup, now);
        let mut run = Run::new(monitor, self.now, self.readers.len());
        run.inbox.extend(paused);
        self.run = Some(run);
        self.turn();
    }

    /// Comes to the first millisecond from `at` on in which nothing else happens.
    fn run_until_free(&mut self, at: u64) {
        let mut at = at.max(self.now + 1);
        loop {
            self.run_until(at);
            let (now, world) = (self.now, &self.world);
            let taken = |run: &Run| {
                let alarm = run.alarm;
                let rings =
                    alarm.is_some_and(|it| it.rings_at(now, world) == at || it.looks_at(at));
                rings || run.coming.contains_key(&at)
            };
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
            let alarm = run.alarm;
            let alarm = alarm.map(|alarm| alarm.rings_at(self.now, &self.world));
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
            let outcome = run.monitor.step(run.clocks(self.now, &self.world), inputs);
            for action in outcome.actions {
                self.carry_out(action);
            }
            let Some(run) = &mut self.run else { return };
            if !run.inbox.is_empty() {
                continue;
            }
            run.set_alarm(outcome.wake_at, self.now, &self.world);
            if run.rings(self.now) {
                continue;
            }
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
                self.note(Lane::Saved, saved_text(&delete, &set));
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
            let taken = self.read(nth);
            if let Some(run) = &mut self.run {
                run.later.extend(taken);
            }
        }
    }

    /// The n-th subscriber reads what it may; gives what the engine hears of it.
    fn read(&mut self, nth: usize) -> Vec<Input> {
        let mut inputs = Vec::new();
        while let Some((update, taken)) = self.readers[nth].read() {
            inputs.extend(taken);
            let reports = update.reports.iter().map(words::report).collect();
            let text = update_text(reports, &update.removed, update.urgent);
            self.note(Lane::Reader(nth), text);
        }
        inputs
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

    fn note(&self, lane: Lane, text: impl Into<String>) {
        self.trace.note(self.now, lane, text);
    }
}
