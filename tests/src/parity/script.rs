//! A script: a core, options, and what happens when. It must not know who plays it.

use outwatch::{Fault, Outbound, Readiness, Scope, View};

use super::world::{Reply, Rule, World};

/// What is played on both sides.
#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) options: String,
    pub(crate) seed: u64,
    pub(crate) world: World,
    pub(crate) paused: bool,
    /// By time in milliseconds from the start. Two at one time happen one millisecond
    /// after the other.
    pub(crate) events: Vec<(u64, Event)>,
}

/// How fast a subscriber reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Everything at once.
    Eager,
    /// One update at each [`Event::Read`].
    Slow,
}

/// Something that happens.
#[derive(Clone, Debug)]
pub enum Event {
    /// Someone asks for a test.
    Ask(String),
    /// A connection went through the core.
    Activity,
    /// The network changed.
    NetworkChanged,
    /// So many connections failed at once.
    Failed(String, Fault, usize),
    /// A group selects a member.
    Select(String, String),
    /// An outbound is ready.
    Ready(String),
    /// An outbound is as ready as this, and nobody is told.
    Status(String, Readiness),
    /// From now on fetches end so.
    Rule(Rule),
    /// The core has these outbounds now.
    Outbounds(Vec<Outbound>),
    /// The device goes to sleep.
    Pause,
    /// It wakes up.
    Resume,
    /// The wall clock runs ahead by so many milliseconds.
    WallJump(u64),
    /// Someone subscribes; they count from 0.
    Subscribe(Scope, View, Pace),
    /// The n-th subscriber may read one more update.
    Read(usize),
    /// The n-th subscriber goes away.
    Leave(usize),
    /// Every subscriber reads all there is from now on.
    ReadAll,
    /// Someone reads all reports.
    Reports(View),
    /// The monitor stops.
    Stop,
    /// Another monitor starts over the same core with what was saved.
    Start,
}

impl Event {
    /// What happens to the core itself.
    pub(crate) fn change(&self, world: &mut World) {
        match self {
            Self::Select(group, member) => {
                world.selected.insert(group.clone(), member.clone());
            }
            Self::Ready(tag) => {
                world.statuses.remove(tag);
            }
            Self::Status(tag, readiness) => {
                world.statuses.insert(tag.clone(), readiness.clone());
            }
            Self::Rule(rule) => world.rules.push(rule.clone()),
            Self::Outbounds(outbounds) => world.outbounds.clone_from(outbounds),
            Self::WallJump(ms) => world.wall_ahead += ms,
            _ => {}
        }
    }
}

impl Script {
    /// A script with these options and no outbound.
    pub fn new(options: &str) -> Self {
        Self {
            options: options.to_owned(),
            seed: 7,
            world: World::default(),
            paused: false,
            events: Vec::new(),
        }
    }

    /// Decides at which IP service lookups begin.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Starts paused.
    #[must_use]
    pub fn paused(mut self) -> Self {
        self.paused = true;
        self
    }

    /// One more outbound, whose URL tests end so.
    #[must_use]
    pub fn outbound(self, tag: &str, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.entry(Outbound::new(tag, "stub"))
            .rule(Rule::tests(tag, replies))
    }

    /// One more outbound behind another.
    #[must_use]
    pub fn behind(self, detour: &str, tag: &str, replies: impl IntoIterator<Item = Reply>) -> Self {
        let outbound = Outbound {
            detour: Some(detour.to_owned()),
            ..Outbound::new(tag, "stub")
        };
        self.entry(outbound).rule(Rule::tests(tag, replies))
    }

    /// One more group, which selects a member or none.
    #[must_use]
    pub fn group(mut self, tag: &str, members: &[&str], selected: Option<&str>) -> Self {
        let selected = selected.map(|member| (tag.to_owned(), member.to_owned()));
        self.world.selected.extend(selected);
        self.entry(Outbound::group(tag, "selector", members.iter().copied()))
    }

    /// One more entry of the core.
    #[must_use]
    pub fn entry(mut self, outbound: Outbound) -> Self {
        self.world.outbounds.push(outbound);
        self
    }

    /// Fetches end so.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.world.rules.push(rule);
        self
    }

    /// An outbound is as ready as this at the start.
    #[must_use]
    pub fn status(mut self, tag: &str, readiness: Readiness) -> Self {
        self.world.statuses.insert(tag.to_owned(), readiness);
        self
    }

    /// Two eager subscribers to everything from the start, one for each view.
    #[must_use]
    pub fn watched(self) -> Self {
        self.at(
            1,
            Event::Subscribe(Scope::All, View::Confirmed, Pace::Eager),
        )
        .at(2, Event::Subscribe(Scope::All, View::Display, Pace::Eager))
    }

    /// Something happens so many milliseconds after the start, not before what was
    /// said earlier.
    #[must_use]
    pub fn at(mut self, ms: u64, event: Event) -> Self {
        self.events.push((ms, event));
        self
    }

    /// The monitor stops, after everyone has read what there is.
    #[must_use]
    pub fn stop(self, ms: u64) -> Self {
        self.at(ms, Event::ReadAll).at(ms + 1, Event::Stop)
    }
}
