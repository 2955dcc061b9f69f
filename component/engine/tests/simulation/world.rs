//! A random core and random users around one monitor. It must not know any rule;
//! those are among the invariants.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use outwatch_engine::{
    Action, ExpectedStatus, Filter, Input, Instant, Monitor, Now, Options, ProbeId, ProbeOutcome,
    Scope, Setup, SubscriberId, View,
};

use crate::invariants::{Invariants, saved};
use crate::random::Random;

mod bodies;
mod cache;
mod changes;
mod core;
mod events;
mod options;
mod replies;
mod run;

pub(crate) use self::cache::{CacheFault, NEWER};
pub(crate) use self::core::{Core, is_testable};
pub(crate) use self::events::Event;
pub(crate) use self::replies::Fault;
use self::replies::Weather;

/// How many random events a story has at most.
const EVENTS: u64 = 140;
/// No story needs more steps.
const STEPS_AT_MOST: u32 = 60_000;

/// What became of a seed.
#[derive(Default)]
pub(crate) struct Story {
    /// The log of the engine.
    pub(crate) trace: Vec<String>,
    /// The kinds of events and faults.
    pub(crate) happened: BTreeSet<String>,
}

pub(crate) struct World {
    random: Random,
    options: Options,
    core: Core,
    weather: Weather,
    monitor: Monitor,
    now_ms: u64,
    /// Wall time beside the monotonic clock; it may jump.
    wall_ms: u64,
    wake_at: Option<Instant>,
    coming: BTreeMap<(u64, ProbeId), ProbeOutcome>,
    /// Probes that are over or were canceled.
    over: Vec<ProbeId>,
    pairs: BTreeMap<String, Vec<u8>>,
    tickets: u64,
    subscribers: u64,
    /// Updates that nobody has taken.
    untaken: Vec<SubscriberId>,
    steps: u32,
    check: Invariants,
    story: Story,
    aloud: bool,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        Self::of(seed, Weather::Mixed)
    }

    /// A world in which every outbound answers soon.
    pub(crate) fn calm(seed: u64) -> Self {
        let mut world = Self::of(seed, Weather::Calm);
        world.options.idle_timeout = Duration::from_secs(600);
        world.options.expected_status = ExpectedStatus::Any;
        world.make();
        world
    }

    fn of(seed: u64, weather: Weather) -> Self {
        let mut random = Random(seed);
        let options = options::options(&mut random);
        let core = Core::random(&mut random);
        let mut world = Self {
            monitor: Monitor::new(Setup::default(), Now::default()),
            check: Invariants::new(&options, &core),
            options,
            core,
            weather,
            random,
            now_ms: 0,
            wall_ms: 1_800_000_000_000,
            wake_at: None,
            coming: BTreeMap::new(),
            over: Vec::new(),
            pairs: BTreeMap::new(),
            tickets: 0,
            subscribers: 0,
            untaken: Vec::new(),
            steps: 0,
            story: Story::default(),
            aloud: false,
        };
        world.make();
        world
    }

    /// Says all that happens when it happens.
    pub(crate) fn aloud(mut self) -> Self {
        self.aloud = true;
        self.say(|world| format!("{:#?}", world.options));
        self.say(|world| format!("{:#?}", world.core));
        self
    }

    /// Plays the story to its end.
    pub(crate) fn play(mut self) -> Story {
        self.begin();
        for _ in 0..self.random.below(EVENTS) + 20 {
            self.pass_time();
            let event = self.random.weighted(&Event::ALL);
            self.note(&event);
            self.happen(event);
            if self.random.one_in(3) {
                self.take_updates();
            }
        }
        self.come_to_rest();
        self.stop();
        self.restart();
        self.story
    }

    /// Nothing happens but tests: each outbound must have a result soon.
    pub(crate) fn play_calm(mut self) {
        self.begin();
        // D-1: a loop of detours is broken after ten waits; then each has its turn.
        self.run_to(33_000 + 250 * self.core.outbounds.len() as u64);
        self.check.all_answered(&self.monitor, self.now());
    }

    /// A monitor over the core as it is and what is saved, before its first step.
    fn make(&mut self) {
        let setup = Setup {
            options: self.options.clone(),
            outbounds: self.core.outbounds.clone(),
            selections: self.core.selections(),
            saved: self.pairs.clone().into_iter().collect(),
            seed: self.random.below(u64::MAX),
        };
        self.monitor = Monitor::new(setup, self.now());
        self.check = Invariants::new(&self.options, &self.core);
    }

    fn begin(&mut self) {
        self.step(Vec::new());
        for view in [View::Confirmed, View::Display] {
            self.subscribe(Scope::All, view);
        }
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
        assert!(self.coming.is_empty());
        self.check
            .at_rest(&self.monitor, self.now(), self.wake_at, &self.core);
    }

    fn subscribe(&mut self, scope: Scope, view: View) {
        let input = self.subscription(scope, view);
        self.step(vec![input]);
    }

    fn subscription(&mut self, scope: Scope, view: View) -> Input {
        self.subscribers += 1;
        Input::Subscribe {
            subscriber: SubscriberId(self.subscribers),
            filter: Filter { scope, view },
        }
    }

    fn take_updates(&mut self) {
        while !self.untaken.is_empty() {
            let taken = self.untaken.drain(..).map(Input::Taken).collect();
            self.step(taken);
        }
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Probe(probe) => {
                self.check
                    .sent(&probe, &self.monitor, self.now(), &self.core);
                self.reply(&probe);
            }
            Action::Cancel(id) => {
                self.check.canceled(id);
                self.coming.retain(|(_, probe), _| *probe != id);
                self.over.push(id);
            }
            Action::Answer { ticket, result } => self.check.answered(ticket, &result),
            Action::Publish { subscriber, update } => {
                self.check.published(subscriber, &update, self.now());
                self.untaken.push(subscriber);
            }
            Action::Save { delete, set } => {
                saved::is_sound(&delete, &set);
                for key in delete {
                    self.pairs.remove(&key);
                }
                self.pairs.extend(set);
            }
            Action::Log { line, .. } => {
                self.check.logged(&line);
                self.story.trace.push(format!("{} {line}", self.now_ms));
            }
            Action::Stopped => {}
        }
    }

    fn note(&mut self, kind: &dyn std::fmt::Debug) {
        let name = format!("{kind:?}");
        self.say(|_| format!("# {name}"));
        self.story.happened.insert(name);
    }

    #[allow(clippy::print_stdout, reason = "a replay shows its trace")]
    fn say(&self, line: impl FnOnce(&Self) -> String) {
        if self.aloud {
            println!("{:>9} {}", self.now_ms, line(self));
        }
    }
}
