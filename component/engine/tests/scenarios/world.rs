//! A world around the engine that reads like a script: outbounds with scripted
//! answers, virtual time, and a record of all that happened. It must not know any
//! rule.

use std::collections::{BTreeMap, BTreeSet};

use outwatch_engine::{
    Action, AskError, Cause, Filter, Input, Instant, Monitor, Now, Options, Outbound, Probe,
    ProbeId, ProbeOutcome, Report, Scope, Selection, Setup, SubscriberId, Ticket, Update, View,
};

mod build;
mod look;
mod replies;

pub(crate) use build::{group, outbound, seconds, selection};
pub(crate) use replies::*;

/// Wall time at the start of every story.
pub(crate) const START_WALL_MS: u64 = 1_800_000_000_000;

/// No story needs more steps than this; more are a loop.
const STEPS_AT_MOST: u32 = 200_000;

/// A probe that was sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) at: u64,
    pub(crate) probe: Probe,
}

/// The world. Times are milliseconds since the start.
pub(crate) struct World {
    pub(crate) setup: Setup,
    monitor: Monitor,
    now_ms: u64,
    /// Wall time beside the monotonic clock.
    pub(crate) wall_ahead_ms: u64,
    wake_at: Option<Instant>,
    /// By outbound: the replies in turn, the last one again and again.
    replies: BTreeMap<String, Vec<Reply>>,
    /// By outbound and a part of the URL.
    by_url: BTreeMap<(String, String), Vec<Reply>>,
    /// Answers on their way.
    coming: BTreeMap<(u64, ProbeId), ProbeOutcome>,
    open: BTreeMap<ProbeId, Sent>,
    pub(crate) sent: Vec<Sent>,
    pub(crate) canceled: Vec<(u64, ProbeId)>,
    pub(crate) answers: BTreeMap<Ticket, (u64, Result<Report, AskError>)>,
    pub(crate) updates: Vec<(u64, SubscriberId, Update)>,
    pub(crate) log: Vec<(u64, String)>,
    pub(crate) pairs: BTreeMap<String, Vec<u8>>,
    pub(crate) saves: Vec<u64>,
    pub(crate) stopped: bool,
    /// Subscribers that do not take their updates by themselves.
    pub(crate) slow: BTreeSet<SubscriberId>,
    tickets: u64,
    subscribers: u64,
    steps: u32,
    /// The most probes out at once for URL tests, over all time.
    pub(crate) most_at_once: usize,
}

impl World {
    /// An empty world in which no IP service is asked.
    pub(crate) fn new() -> Self {
        let options = Options {
            ip_lookup: false,
            ..Options::default()
        };
        Self::with(options)
    }

    pub(crate) fn with(options: Options) -> Self {
        let setup = Setup {
            options,
            ..Setup::default()
        };
        Self {
            monitor: Monitor::new(Setup::default(), Now::default()),
            setup,
            now_ms: 0,
            wall_ahead_ms: 0,
            wake_at: None,
            replies: BTreeMap::new(),
            by_url: BTreeMap::new(),
            coming: BTreeMap::new(),
            open: BTreeMap::new(),
            sent: Vec::new(),
            canceled: Vec::new(),
            answers: BTreeMap::new(),
            updates: Vec::new(),
            log: Vec::new(),
            pairs: BTreeMap::new(),
            saves: Vec::new(),
            stopped: false,
            slow: BTreeSet::new(),
            tickets: 0,
            subscribers: 0,
            steps: 0,
            most_at_once: 0,
        }
    }

    /// Makes the monitor and takes the first step.
    pub(crate) fn start(mut self) -> Self {
        self.make();
        self.input([]);
        self
    }

    /// Makes the monitor without a step.
    pub(crate) fn make(&mut self) {
        let mut setup = self.setup.clone();
        setup.saved = self.pairs.clone().into_iter().collect();
        self.monitor = Monitor::new(setup, self.now());
    }

    /// Stops the monitor, and has another one take over: its first step is the caller's,
    /// so that those who ask and watch can be there.
    pub(crate) fn replace(&mut self) {
        self.input([Input::Stop]);
        let left = self.monitor.hand_over();
        (self.stopped, self.wake_at) = (false, None);
        self.open.clear();
        self.coming.clear();
        self.make();
        let taken = self.monitor.take_over(&left, self.now());
        assert_eq!(taken, Ok(()));
    }

    pub(crate) fn now(&self) -> Now {
        Now {
            mono: Instant((self.now_ms + 1_000) * 1_000_000),
            wall_ms: START_WALL_MS + self.now_ms + self.wall_ahead_ms,
        }
    }

    /// Lets everything happen that is due until then, that moment included.
    pub(crate) fn run_to(&mut self, ms: u64) -> &mut Self {
        while let Some(next) = self.next_event().filter(|&next| next <= ms) {
            self.now_ms = next.max(self.now_ms);
            let due: Vec<(u64, ProbeId)> = self
                .coming
                .keys()
                .take_while(|(at, _)| *at <= next)
                .copied()
                .collect();
            let mut inputs = Vec::new();
            for key in due {
                if let Some(outcome) = self.coming.remove(&key) {
                    self.open.remove(&key.1);
                    inputs.push(Input::ProbeEnded {
                        probe: key.1,
                        outcome,
                    });
                }
            }
            self.input(inputs);
        }
        self.now_ms = ms;
        self
    }

    /// The clock moves on and nobody steps, as when the device sleeps.
    pub(crate) fn sleep_to(&mut self, ms: u64) {
        self.now_ms = ms;
    }

    fn next_event(&self) -> Option<u64> {
        let wake = self
            .wake_at
            .map(|at| (at.0.div_ceil(1_000_000)).saturating_sub(1_000));
        let reply = self.coming.keys().next().map(|(at, _)| *at);
        wake.into_iter().chain(reply).min()
    }

    /// When the engine wants to be woken.
    pub(crate) fn wake_at_ms(&self) -> Option<u64> {
        self.wake_at.map(|at| at.0 / 1_000_000 - 1_000)
    }

    /// One step with these inputs, now.
    pub(crate) fn input(&mut self, inputs: impl IntoIterator<Item = Input>) {
        self.steps += 1;
        assert!(self.steps < STEPS_AT_MOST, "the engine never comes to rest");
        let outcome = self.monitor.step(self.now(), inputs);
        self.wake_at = outcome.wake_at;
        let mut taken = Vec::new();
        for action in outcome.actions {
            self.carry_out(action, &mut taken);
        }
        let tests = self
            .open
            .values()
            .filter(|sent| sent.probe.request.head && !sent.probe.request.ipv6_only);
        self.most_at_once = self.most_at_once.max(tests.count());
        if !taken.is_empty() {
            self.input(taken);
        }
    }

    fn carry_out(&mut self, action: Action, taken: &mut Vec<Input>) {
        assert!(!self.stopped, "nothing follows `Stopped`");
        match action {
            Action::Probe(probe) => self.send(probe),
            Action::Cancel(id) => {
                assert!(
                    self.open.remove(&id).is_some(),
                    "a probe that is not out is canceled"
                );
                self.coming.retain(|(_, probe), _| *probe != id);
                self.canceled.push((self.now_ms, id));
            }
            Action::Answer { ticket, result } => {
                let earlier = self.answers.insert(ticket, (self.now_ms, result));
                assert!(earlier.is_none(), "a question is answered once");
            }
            Action::Publish { subscriber, update } => {
                assert!(
                    !update.reports.is_empty() || !update.removed.is_empty(),
                    "an empty update"
                );
                self.updates.push((self.now_ms, subscriber, update));
                if !self.slow.contains(&subscriber) {
                    taken.push(Input::Taken(subscriber));
                }
            }
            Action::Save { delete, set } => {
                self.saves.push(self.now_ms);
                for key in delete {
                    self.pairs.remove(&key);
                }
                self.pairs.extend(set);
            }
            Action::Log { line, .. } => {
                assert!(!line.contains('\n'), "a log line is one line");
                self.log.push((self.now_ms, line));
            }
            Action::Stopped => self.stopped = true,
        }
    }

    fn send(&mut self, probe: Probe) {
        let url = &probe.request.url;
        let seen = |sent: &&Sent| {
            sent.probe.tag == probe.tag
                && sent.probe.request.url == *url
                && sent.probe.request.ipv6_only == probe.request.ipv6_only
        };
        let nth_of_url = self.sent.iter().filter(seen).count();
        let nth = self
            .sent
            .iter()
            .filter(|sent| sent.probe.tag == probe.tag && sent.probe.request.head)
            .count();
        let own = self
            .by_url
            .iter()
            .filter(|((tag, part), _)| *tag == probe.tag && url.contains(part));
        let own = own.max_by_key(|((_, part), _)| part.len());
        let (replies, nth) = match own {
            Some((_, replies)) => (replies, nth_of_url),
            None => (&self.replies[&probe.tag], nth),
        };
        let reply = replies
            .get(nth)
            .or(replies.last())
            .expect("a scripted reply")
            .clone();
        let at = self.now_ms;
        if let Some((after, outcome)) = outcome(reply, &probe) {
            self.coming.insert((at + after, probe.id), outcome);
        }
        self.open.insert(
            probe.id,
            Sent {
                at,
                probe: probe.clone(),
            },
        );
        self.sent.push(Sent { at, probe });
    }

    pub(crate) fn ask(&mut self, tag: &str) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.input([Input::Ask {
            ticket,
            tag: tag.into(),
        }]);
        ticket
    }

    pub(crate) fn subscribe(&mut self, scope: Scope, view: View) -> SubscriberId {
        self.subscribers += 1;
        let subscriber = SubscriberId(self.subscribers);
        self.input([Input::Subscribe {
            subscriber,
            filter: Filter { scope, view },
        }]);
        subscriber
    }

    pub(crate) fn select(&mut self, group: &str, member: &str) {
        self.input([Input::Selected(selection(group, Some(member)))]);
    }

    pub(crate) fn connection_failed(&mut self, tag: &str, cause: Cause) {
        self.input([Input::ConnectionFailed {
            tag: tag.into(),
            group: None,
            cause,
        }]);
    }

    /// The core has these outbounds now.
    pub(crate) fn reload(&mut self, outbounds: Vec<Outbound>, selections: Vec<Selection>) {
        self.input([Input::Outbounds {
            outbounds,
            selections,
        }]);
    }
}
