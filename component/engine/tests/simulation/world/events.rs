//! The kinds of things that happen to a core and its monitor. It must not know what
//! the monitor should make of them.

use outwatch_engine::{
    Answer, Cause, Input, ProbeId, ProbeOutcome, Scope, Selection, SubscriberId, Ticket, View,
};

use super::World;
use super::core::tag;
use super::options::options;

/// A kind of event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Ask,
    AskForGroup,
    AskTwiceAtOnce,
    AskForAll,
    Activity,
    NetworkChange,
    NetworkFlaps,
    ConnectionFails,
    ConnectionsFailInBursts,
    DestinationFails,
    Select,
    SelectNothing,
    SelectForUdpOnly,
    SelectTheSame,
    Ready,
    Pause,
    Resume,
    PauseAndResumeAtOnce,
    Subscribe,
    Resubscribe,
    Unsubscribe,
    TakeLate,
    TakeWhatIsTaken,
    OtherOutbounds,
    NoOutbounds,
    OutboundAdded,
    OutboundRemoved,
    ServerChanged,
    KindChanged,
    TypeChanged,
    DetourRewired,
    LoopOfDetours,
    MembersChanged,
    LoopOfGroups,
    OrderChanged,
    TagTwice,
    SameOutbounds,
    ClockRunsAhead,
    ClockGoesBack,
    ClockAtZero,
    DeviceSleeps,
    StepOutOfTurn,
    ManyAtOnce,
    UnknownProbeEnds,
    ProbeEndsAgain,
    WeatherChanges,
    KilledAndStarted,
    StoppedAndStarted,
    Replaced,
}

impl Event {
    /// Every kind, and how often it happens.
    pub(crate) const ALL: [(Self, u64); 49] = [
        (Self::Ask, 12),
        (Self::AskForGroup, 4),
        (Self::AskTwiceAtOnce, 2),
        (Self::AskForAll, 1),
        (Self::Activity, 14),
        (Self::NetworkChange, 4),
        (Self::NetworkFlaps, 2),
        (Self::ConnectionFails, 8),
        (Self::ConnectionsFailInBursts, 2),
        (Self::DestinationFails, 1),
        (Self::Select, 8),
        (Self::SelectNothing, 1),
        (Self::SelectForUdpOnly, 1),
        (Self::SelectTheSame, 1),
        (Self::Ready, 5),
        (Self::Pause, 2),
        (Self::Resume, 3),
        (Self::PauseAndResumeAtOnce, 1),
        (Self::Subscribe, 4),
        (Self::Resubscribe, 1),
        (Self::Unsubscribe, 2),
        (Self::TakeLate, 3),
        (Self::TakeWhatIsTaken, 1),
        (Self::OtherOutbounds, 1),
        (Self::NoOutbounds, 1),
        (Self::OutboundAdded, 2),
        (Self::OutboundRemoved, 2),
        (Self::ServerChanged, 2),
        (Self::KindChanged, 1),
        (Self::TypeChanged, 1),
        (Self::DetourRewired, 3),
        (Self::LoopOfDetours, 1),
        (Self::MembersChanged, 2),
        (Self::LoopOfGroups, 1),
        (Self::OrderChanged, 1),
        (Self::TagTwice, 1),
        (Self::SameOutbounds, 1),
        (Self::ClockRunsAhead, 1),
        (Self::ClockGoesBack, 1),
        (Self::ClockAtZero, 1),
        (Self::DeviceSleeps, 2),
        (Self::StepOutOfTurn, 3),
        (Self::ManyAtOnce, 4),
        (Self::UnknownProbeEnds, 1),
        (Self::ProbeEndsAgain, 3),
        (Self::WeatherChanges, 3),
        (Self::KilledAndStarted, 1),
        (Self::StoppedAndStarted, 1),
        (Self::Replaced, 2),
    ];
}

impl World {
    pub(super) fn happen(&mut self, event: Event) {
        match event {
            Event::NetworkFlaps => {
                for _ in 0..self.random.below(4) + 2 {
                    self.step(vec![Input::NetworkChanged]);
                    let pause = self.random.below(2_500);
                    self.run_to(self.now_ms + pause);
                }
            }
            Event::TakeLate => self.take_updates(),
            Event::ClockRunsAhead => {
                self.wall_ms += self.random.pick(&[900, 60_000, 40 * 86_400_000]);
            }
            Event::ClockGoesBack => {
                let back = self.random.pick(&[1_000, 3_600_000]);
                self.wall_ms = self.wall_ms.saturating_sub(back);
            }
            Event::ClockAtZero => self.wall_ms = 0,
            Event::DeviceSleeps => {
                // Whether the monotonic clock goes on while it sleeps, cores differ.
                let slept = self.random.pick(&[2_000, 400_000, 8 * 3_600_000]);
                if self.random.one_in(2) {
                    self.now_ms += slept;
                } else {
                    self.wall_ms += slept;
                }
                self.step(Vec::new());
            }
            Event::StepOutOfTurn => self.step(Vec::new()),
            Event::WeatherChanges => self.weather.change(&mut self.random),
            Event::KilledAndStarted => {
                self.leave();
                self.spoil_pairs();
                self.options = options(&mut self.random);
                self.make();
                self.begin();
            }
            Event::StoppedAndStarted => {
                self.stop();
                self.restart();
                self.begin();
            }
            Event::Replaced => {
                self.stop();
                let paused = self.replace();
                if paused {
                    self.step(vec![Input::Pause]);
                }
                self.begin();
            }
            Event::ManyAtOnce => {
                let mut inputs = Vec::new();
                while inputs.len() < 5 {
                    let event = self.random.weighted(&Event::ALL);
                    inputs.extend(self.inputs(event));
                }
                self.step(inputs);
            }
            event => {
                let inputs = self.inputs(event);
                self.step(inputs);
            }
        }
    }

    /// What the monitor is told; nothing of an event that is more than that.
    fn inputs(&mut self, event: Event) -> Vec<Input> {
        let tag = tag(&mut self.random);
        let failed = |tag: String, cause| Input::ConnectionFailed {
            tag,
            group: None,
            cause,
        };
        match event {
            Event::Ask => vec![self.ask(tag)],
            Event::AskForGroup => {
                let group = self.group().unwrap_or(tag);
                vec![self.ask(group)]
            }
            Event::AskTwiceAtOnce => vec![self.ask(tag.clone()), self.ask(tag)],
            Event::AskForAll => {
                let tags: Vec<String> = self.core.entries().map(|one| one.tag.clone()).collect();
                tags.into_iter().map(|tag| self.ask(tag)).collect()
            }
            Event::Activity => vec![Input::Activity],
            Event::NetworkChange => vec![Input::NetworkChanged],
            Event::ConnectionFails => vec![failed(tag, Cause::Member)],
            Event::ConnectionsFailInBursts => vec![failed(tag, Cause::Member); 200],
            Event::DestinationFails => {
                vec![
                    failed(tag.clone(), Cause::Destination),
                    failed(tag, Cause::Client),
                ]
            }
            Event::Ready => vec![Input::OutboundReady(tag)],
            Event::Pause => vec![Input::Pause],
            Event::Resume => vec![Input::Resume],
            Event::PauseAndResumeAtOnce => vec![Input::Pause, Input::Resume],
            Event::Subscribe => {
                let group = self.group().unwrap_or_else(|| tag.clone());
                let scopes = [Scope::All, Scope::Tag(tag), Scope::Group(group)];
                let scope = self.random.pick(&scopes);
                let view = self.random.pick(&[View::Confirmed, View::Display]);
                vec![self.subscription(scope, view)]
            }
            Event::Resubscribe => {
                let subscriber = self.subscriber();
                let Input::Subscribe { filter, .. } =
                    self.subscription(Scope::Tag(tag), View::Display)
                else {
                    return Vec::new();
                };
                vec![Input::Subscribe { subscriber, filter }]
            }
            Event::Unsubscribe => vec![Input::Unsubscribe(self.subscriber())],
            Event::TakeWhatIsTaken => vec![Input::Taken(self.idle_subscriber())],
            Event::UnknownProbeEnds => vec![ended(ProbeId(u64::MAX))],
            Event::ProbeEndsAgain => {
                let over = self.over.clone();
                let many = usize::try_from(self.random.below(4)).expect("small");
                over.into_iter().rev().take(many).map(ended).collect()
            }
            Event::Select
            | Event::SelectNothing
            | Event::SelectForUdpOnly
            | Event::SelectTheSame => self.selections(event, tag),
            event => self.other_core(event).into_iter().collect(),
        }
    }

    fn ask(&mut self, tag: String) -> Input {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        Input::Ask { ticket, tag }
    }

    fn group(&mut self) -> Option<String> {
        let groups = self.core.groups();
        (!groups.is_empty()).then(|| self.random.pick(&groups))
    }

    /// One of those who came, gone or not.
    fn subscriber(&mut self) -> SubscriberId {
        SubscriberId(self.random.below(self.subscribers + 1))
    }

    /// One who has nothing to take.
    fn idle_subscriber(&mut self) -> SubscriberId {
        let subscriber = self.subscriber();
        if self.untaken.contains(&subscriber) {
            SubscriberId(u64::MAX)
        } else {
            subscriber
        }
    }

    fn selections(&mut self, event: Event, tag: String) -> Vec<Input> {
        let group = self.group().unwrap_or(tag);
        let (tcp, udp) = match self.core.selected(&group) {
            Some(selection) => (selection.tcp.clone(), selection.udp.clone()),
            None => (None, None),
        };
        let new = self.core.selection(&mut self.random, group.clone());
        vec![Input::Selected(match event {
            Event::SelectNothing => Selection {
                group,
                tcp: None,
                udp: None,
            },
            Event::SelectForUdpOnly => Selection { tcp, ..new },
            Event::SelectTheSame => Selection { group, tcp, udp },
            _ => new,
        })]
    }
}

fn ended(probe: ProbeId) -> Input {
    Input::ProbeEnded {
        probe,
        outcome: ProbeOutcome::Answered(Answer {
            status: 204,
            ..Answer::default()
        }),
    }
}
