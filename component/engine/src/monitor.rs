//! The monitor: the rooms of the engine and the six phases of a step through them.
//! It must not know how a room does its part.

use alloc::vec::Vec;

use crate::action::{Action, Level, Outcome};
use crate::asks::Asks;
use crate::board::Board;
use crate::cycle::Cycle;
use crate::demand::{Demand, Lane};
use crate::followup::FollowUps;
use crate::input::{Input, ProbeOutcome, Setup};
use crate::journal::{Journal, Line};
use crate::life::{Life, Stage};
use crate::lookup::Services;
use crate::options::Options;
use crate::publisher::Publisher;
use crate::report::{Measurement, Reason, Report, View};
use crate::running::Running;
use crate::saved::Saved;
use crate::timers::{Timer, Timers};
use crate::topology::{Id, Switch, Topology};
use crate::urls::Urls;
use crate::{Now, ProbeId, Ticket};

mod absorb;
mod admit;
mod announce;
mod attempts;
mod follow;
mod handover;
mod network;
mod react;
mod reload;
mod results;
mod settle;

/// What a probe may take beyond all deadlines before it counts as lost (C-5).
const GRACE: core::time::Duration = core::time::Duration::from_secs(2);

/// The monitor of one proxy core. See the [crate] for how to run it.
#[derive(Debug)]
pub struct Monitor {
    options: Options,
    topology: Topology,
    board: Board,
    urls: Urls,
    demand: Demand,
    running: Running,
    cycle: Cycle,
    follow_ups: FollowUps,
    services: Services,
    asks: Asks,
    publisher: Publisher,
    saved: Saved,
    life: Life,
    timers: Timers,
    journal: Journal,
    /// The time of this step.
    now: Now,
    /// What this step came to so far.
    actions: Vec<Action>,
    /// From absorb to settle.
    ended: Vec<(ProbeId, ProbeOutcome)>,
    /// From absorb and settle to react.
    cues: Vec<Cue>,
}

/// Something that may call for tests.
#[derive(Debug)]
enum Cue {
    /// The first step (C-1).
    Started,
    /// A cycle is to run.
    Cycle(Reason),
    Asked(Ticket, Id),
    ConnectionFailed(Id),
    Switched(Id, Switch),
    Ready(Id),
    /// A test that the engine before this one did not finish.
    Again(Id, Reason, Lane),
    /// A test ended without a result.
    Left(Id),
    /// A test is over and its result stands on the board.
    Over {
        id: Id,
        ok: bool,
        recovered: bool,
    },
}

impl Monitor {
    /// Makes a monitor. Reports can be read at once: what was saved, or untested.
    /// The first [`step`](Self::step) starts the tests.
    pub fn new(setup: Setup, now: Now) -> Self {
        let Setup {
            options,
            outbounds,
            selections,
            saved,
            seed,
        } = setup;
        let mut monitor = Self {
            urls: Urls::new(&options.urls),
            options,
            topology: Topology::default(),
            board: Board::default(),
            demand: Demand::default(),
            running: Running::default(),
            cycle: Cycle::default(),
            follow_ups: FollowUps::default(),
            services: Services::new(seed),
            asks: Asks::default(),
            publisher: Publisher::default(),
            saved: Saved::default(),
            life: Life::new(now),
            timers: Timers::default(),
            journal: Journal::default(),
            now,
            actions: Vec::new(),
            ended: Vec::new(),
            cues: Vec::new(),
        };
        for problem in monitor.saved.load(saved) {
            monitor.log(
                monitor
                    .journal
                    .line(Level::Warn, "saved")
                    .text("text", &problem),
            );
        }
        monitor.install(outbounds, &selections);
        monitor.cues.clear();
        monitor
    }

    /// Takes the time and all that happened since the last step, in order, and says
    /// what to do. Never fails; what makes no sense is ignored. `now.mono` must not
    /// go back. After [`Action::Stopped`] every step comes to nothing.
    pub fn step(&mut self, now: Now, inputs: impl IntoIterator<Item = Input>) -> Outcome {
        if self.life.stage() == Stage::Stopped {
            return Outcome::default();
        }
        self.begin(now);
        for input in inputs {
            self.absorb(input);
        }
        self.settle();
        if self.life.stage() == Stage::Stopping {
            return self.stop();
        }
        self.react();
        self.admit();
        self.announce();
        self.rest()
    }

    /// The current report of a tag.
    pub fn report(&self, tag: &str, view: View, now: Now) -> Option<Report> {
        let id = self.topology.find(tag)?;
        Some(self.board.report(&self.topology, id, view, now))
    }

    /// All current reports in config order: groups too, and those that are never
    /// tested as untested.
    pub fn reports(&self, view: View, now: Now) -> Vec<Report> {
        self.board.reports(&self.topology, view, now)
    }

    /// The last measurements of an outbound in this run, oldest first, at most 32
    /// (SPEC R-7). Empty for a group and for an unknown tag.
    pub fn measurements(&self, tag: &str, now: Now) -> Vec<Measurement> {
        let Some(id) = self.topology.find(tag) else {
            return Vec::new();
        };
        let second_now = self.life.second(now.mono);
        let ring = self.board.get(id).ring.iter();
        ring.map(|(second, outcome)| {
            let age_ms = 1000 * u64::from(second_now.saturating_sub(second));
            let wall_ms = now.wall_ms.saturating_sub(age_ms);
            Measurement { wall_ms, outcome }
        })
        .collect()
    }

    /// The options in force.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Before the inputs: the time, and whether the device slept.
    fn begin(&mut self, now: Now) {
        let slept = self.life.slept(now, self.options.interval);
        self.now = now;
        if self.life.stage() == Stage::New {
            self.life.enter(Stage::Running);
            self.timers
                .set(Timer::Idle, now.mono + self.options.idle_timeout);
            self.cues.push(Cue::Started);
        }
        if slept {
            reached!("the device slept");
            // C-6: before any failure that the sleep caused is read.
            self.network_changed(Reason::Resume);
        }
    }

    /// The last phase: when to step again.
    fn rest(&mut self) -> Outcome {
        let wake_at = self.timers.next();
        self.life.promise(wake_at);
        Outcome {
            actions: core::mem::take(&mut self.actions),
            wake_at,
        }
    }

    /// Ends the monitor: gives up what is open, tells and saves what is known.
    fn stop(&mut self) -> Outcome {
        // What happened last calls for tests, too, which an engine that takes over runs.
        self.react();
        for probe in self.running.take_probes() {
            self.actions.push(Action::Cancel(probe));
        }
        for id in self.running.ids() {
            if let Some(test) = self.running.remove(id) {
                self.log_without_result("dropped", id, &test);
                self.demand.queue(id, test.want);
            }
            self.show_over(id);
        }
        self.asks.close(&crate::AskError::Stopped);
        self.saved.call();
        self.announce_all();
        self.log(self.journal.line(Level::Info, "stopped"));
        self.actions.push(Action::Stopped);
        self.life.enter(Stage::Stopped);
        Outcome {
            actions: core::mem::take(&mut self.actions),
            wake_at: None,
        }
    }

    fn log(&mut self, line: Line) {
        self.actions.extend(line.finish());
    }

    /// Starts a line about an outbound.
    fn line(&self, level: Level, event: &str, id: Id) -> Line {
        let line = self.journal.line(level, event);
        line.text("tag", self.topology.tag(id))
    }

    /// Only tests that were asked for start while idle (N-1, S-10) or paused (N-5).
    fn is_awake(&self) -> bool {
        !self.life.is_idle() && !self.life.is_paused()
    }
}
