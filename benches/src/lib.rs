//! What the benches share: a core of any size around one monitor, in which everything
//! answers at once. It must not measure anything.

use std::time::Duration;

use outwatch_engine::{
    Action, Answer, Filter, Input, Instant, Kind, Monitor, Now, Options, Outbound, Outcome, Probe,
    ProbeOutcome, Report, Scope, Selection, Setup, SubscriberId, Ticket, View,
};

/// The numbers of outbounds that are compared.
pub const SIZES: [u32; 4] = [10, 1_000, 10_000, 100_000];
/// The group that has all outbounds as members and leads to the first.
pub const CHOSEN: &str = "chosen";
/// The group that has all outbounds as members and has not chosen: it shows the best.
pub const BEST: &str = "best";

/// A core of two groups with all outbounds, and somebody who watches all of them.
#[derive(Debug)]
pub struct World {
    monitor: Monitor,
    outbounds: u32,
    now_ms: u64,
    wake_at: Option<Instant>,
    turn: u32,
    tickets: u64,
}

impl World {
    /// A monitor of so many outbounds that has not done a step.
    #[must_use]
    pub fn new(outbounds: u32) -> Self {
        let options = Options {
            // No cycle but those that are run on purpose.
            interval: Duration::from_secs(1_000_000_000),
            idle_timeout: Duration::from_secs(1_000_000_000),
            ipinfo_url: Some("https://own.test/".into()),
            ..Options::default()
        };
        let setup = Setup {
            options,
            outbounds: (0..outbounds)
                .map(outbound)
                .chain([group(CHOSEN, outbounds), group(BEST, outbounds)])
                .collect(),
            selections: vec![selection(tag(0))],
            ..Setup::default()
        };
        let now = Now {
            mono: Instant(0),
            wall_ms: 1_800_000_000_000,
        };
        Self {
            monitor: Monitor::new(setup, now),
            outbounds,
            now_ms: 0,
            wake_at: None,
            turn: 0,
            tickets: 0,
        }
    }

    /// The same after the first cycle, with a subscriber that takes its updates at once.
    #[must_use]
    pub fn settled(outbounds: u32) -> Self {
        let mut world = Self::new(outbounds);
        let filter = Filter {
            scope: Scope::All,
            view: View::Display,
        };
        world.happens(Input::Subscribe {
            subscriber: SubscriberId(1),
            filter,
        });
        world.passes(Duration::from_secs(60));
        world
    }

    /// A cycle over all outbounds, from the change of the network that calls for it.
    pub fn whole_cycle(&mut self) {
        self.happens(Input::NetworkChanged);
        self.passes(Duration::from_secs(3));
    }

    /// Takes one input and carries out all that comes of it at once.
    pub fn happens(&mut self, input: Input) {
        let outcome = self.step(vec![input]);
        self.goes_on(outcome);
    }

    /// Takes one input alone.
    pub fn step(&mut self, inputs: Vec<Input>) -> Outcome {
        let outcome = self.monitor.step(self.now(), inputs);
        self.wake_at = outcome.wake_at;
        outcome
    }

    /// Carries out what a step came to, and what that comes to.
    pub fn goes_on(&mut self, mut outcome: Outcome) {
        loop {
            let inputs: Vec<Input> = outcome
                .actions
                .into_iter()
                .filter_map(consequence)
                .collect();
            if inputs.is_empty() {
                return;
            }
            outcome = self.step(inputs);
        }
    }

    /// Time passes, with all that is due meanwhile.
    pub fn passes(&mut self, time: Duration) {
        let end = self.now_ms + u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        while let Some(wake) = self
            .wake_at
            .map(|at| at.0.div_ceil(1_000_000))
            .filter(|&at| at <= end)
        {
            self.now_ms = self.now_ms.max(wake);
            let outcome = self.step(Vec::new());
            self.goes_on(outcome);
        }
        self.now_ms = end;
    }

    /// The next outbound in an order that visits all and is far from theirs in memory.
    pub fn turn(&mut self) -> String {
        self.turn = (self.turn + 7_919) % self.outbounds;
        tag(self.turn)
    }

    /// An asked-for test of an outbound.
    pub fn ask(&mut self, tag: String) -> Input {
        self.tickets += 1;
        Input::Ask {
            ticket: Ticket(self.tickets),
            tag,
        }
    }

    /// What people see of an outbound or a group of this world.
    ///
    /// # Panics
    /// When there is none of this tag.
    #[must_use]
    pub fn report(&self, tag: &str) -> Report {
        let report = self.monitor.report(tag, View::Display, self.now());
        report.expect("a tag of this world")
    }

    /// How many outbounds have a working result.
    #[must_use]
    pub fn working(&self) -> usize {
        let reports = self.monitor.reports(View::Confirmed, self.now());
        let works = |state| state == outwatch_engine::State::Ok;
        reports
            .iter()
            .filter(|report| report.kind != Kind::Group && works(report.state))
            .count()
    }

    fn now(&self) -> Now {
        Now {
            mono: Instant(self.now_ms * 1_000_000),
            wall_ms: 1_800_000_000_000 + self.now_ms,
        }
    }
}

/// The group leads to a member.
#[must_use]
pub fn selection(member: String) -> Selection {
    Selection {
        group: CHOSEN.into(),
        tcp: Some(member),
        udp: None,
    }
}

/// What the world does about an action: an answer to a probe, an update taken.
#[must_use]
pub fn consequence(action: Action) -> Option<Input> {
    match action {
        Action::Probe(Probe { id, request, .. }) => Some(Input::ProbeEnded {
            probe: id,
            outcome: ProbeOutcome::Answered(Answer {
                status: if request.head { 204 } else { 200 },
                body: BODY.into(),
                // One after the other is the fastest.
                first_byte: Duration::from_millis(40 + id.0 % 64),
                ..Answer::default()
            }),
        }),
        Action::Publish { subscriber, .. } => Some(Input::Taken(subscriber)),
        _ => None,
    }
}

/// What an IP service answers.
pub const BODY: &str = r#"{"ip":"8.8.8.8","country_code":"US","region":"California","city":"Mountain View","asn":"AS15169","org":"Google LLC"}"#;

fn tag(nth: u32) -> String {
    format!("outbound-{nth}")
}

fn outbound(nth: u32) -> Outbound {
    Outbound {
        tag: tag(nth),
        type_name: "shadowsocks".into(),
        kind: Kind::Outbound,
        detour: None,
        members: Vec::new(),
        fingerprint: format!("server-{nth}.example.com:8388 aes-256-gcm"),
        exit_follows_host: false,
    }
}

fn group(tag: &str, members: u32) -> Outbound {
    Outbound {
        tag: tag.into(),
        kind: Kind::Group,
        members: (0..members).map(self::tag).collect(),
        ..outbound(0)
    }
}

/// For people.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "a few digits of it are shown")]
pub fn mib(bytes: usize) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
