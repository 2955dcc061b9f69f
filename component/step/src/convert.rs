//! The types of `stepping` to the engine's and back. It must not call the monitor.

use std::time::Duration;

use outwatch_engine as engine;
use outwatch_words::{self as words, types};

use crate::bindings::exports::outwatch::monitor::stepping;

pub(crate) fn now_in(now: stepping::Now) -> engine::Now {
    engine::Now {
        mono: engine::Instant(now.mono),
        wall_ms: now.wall,
    }
}

pub(crate) fn outbounds_in(outbounds: Vec<types::Outbound>) -> Vec<engine::Outbound> {
    outbounds.into_iter().map(words::outbound_in).collect()
}

pub(crate) fn selections_in(selections: Vec<stepping::Selection>) -> Vec<engine::Selection> {
    selections.into_iter().map(selection_in).collect()
}

/// The pairs that are the engine's.
pub(crate) fn saved_in(mut saved: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    saved.retain(|(key, _)| key.starts_with(engine::SAVED_PREFIX));
    saved
}

pub(crate) fn input_in(input: stepping::Input) -> engine::Input {
    match input {
        stepping::Input::ProbeEnded(ended) => engine::Input::ProbeEnded {
            probe: engine::ProbeId(ended.probe),
            outcome: probe_outcome_in(ended.outcome),
        },
        stepping::Input::Ask(question) => engine::Input::Ask {
            ticket: engine::Ticket(question.ticket),
            tag: question.tag,
        },
        stepping::Input::Subscribe(subscription) => subscribe_in(subscription),
        stepping::Input::Taken(subscriber) => {
            engine::Input::Taken(engine::SubscriberId(subscriber))
        }
        stepping::Input::Unsubscribe(subscriber) => {
            engine::Input::Unsubscribe(engine::SubscriberId(subscriber))
        }
        stepping::Input::Activity => engine::Input::Activity,
        stepping::Input::NetworkChanged => engine::Input::NetworkChanged,
        stepping::Input::ConnectionFailed(failed) => engine::Input::ConnectionFailed {
            tag: failed.tag,
            group: failed.group,
            cause: match failed.cause {
                stepping::Cause::Member => engine::Cause::Member,
                stepping::Cause::Destination => engine::Cause::Destination,
                stepping::Cause::Client => engine::Cause::Client,
            },
        },
        stepping::Input::Selected(selection) => engine::Input::Selected(selection_in(selection)),
        stepping::Input::OutboundReady(tag) => engine::Input::OutboundReady(tag),
        stepping::Input::Outbounds(core) => engine::Input::Outbounds {
            outbounds: outbounds_in(core.outbounds),
            selections: selections_in(core.selections),
        },
        stepping::Input::Pause => engine::Input::Pause,
        stepping::Input::Resume => engine::Input::Resume,
        stepping::Input::LogFrom(least) => engine::Input::LogFrom(least.map(level_in)),
        stepping::Input::Stop => engine::Input::Stop,
    }
}

pub(crate) fn outcome_out(outcome: engine::Outcome) -> stepping::Outcome {
    stepping::Outcome {
        actions: outcome.actions.into_iter().map(action_out).collect(),
        wake_at: outcome.wake_at.map(|at| at.0),
    }
}

fn action_out(action: engine::Action) -> stepping::Action {
    match action {
        engine::Action::Probe(probe) => stepping::Action::Probe(probe_out(probe)),
        engine::Action::Cancel(probe) => stepping::Action::Cancel(probe.0),
        engine::Action::Answer { ticket, result } => stepping::Action::Answer(stepping::Reply {
            ticket: ticket.0,
            outcome: result.map(words::report_out).map_err(ask_error_out),
        }),
        engine::Action::Publish { subscriber, update } => {
            stepping::Action::Publish(stepping::Update {
                subscriber: subscriber.0,
                reports: update.reports.into_iter().map(words::report_out).collect(),
                removed: update.removed,
                urgent: update.urgent,
            })
        }
        engine::Action::Save { delete, set } => {
            stepping::Action::Save(stepping::Save { delete, set })
        }
        engine::Action::Log { level, line } => stepping::Action::Log(stepping::Line {
            level: level_out(level),
            text: line,
        }),
        engine::Action::Stopped => stepping::Action::Stopped,
    }
}

fn selection_in(selection: stepping::Selection) -> engine::Selection {
    engine::Selection {
        group: selection.group,
        tcp: selection.tcp,
        udp: selection.udp,
    }
}

fn subscribe_in(subscription: stepping::Subscription) -> engine::Input {
    let scope = match subscription.scope {
        stepping::Scope::All => engine::Scope::All,
        stepping::Scope::Tag(tag) => engine::Scope::Tag(tag),
        stepping::Scope::Group(tag) => engine::Scope::Group(tag),
    };
    engine::Input::Subscribe {
        subscriber: engine::SubscriberId(subscription.subscriber),
        filter: engine::Filter {
            scope,
            view: words::view_in(subscription.view),
        },
    }
}

fn probe_outcome_in(outcome: stepping::ProbeOutcome) -> engine::ProbeOutcome {
    use engine::{ProbeOutcome, Readiness};
    match outcome {
        stepping::ProbeOutcome::Answered(answer) => ProbeOutcome::Answered(engine::Answer {
            status: answer.status,
            headers: answer.headers,
            body: answer.body,
            first_byte: Duration::from_nanos(answer.first_byte),
            repeat: answer.repeat.map(Duration::from_nanos),
        }),
        stepping::ProbeOutcome::Failed(failure) => ProbeOutcome::Failed(words::failure_in(failure)),
        stepping::ProbeOutcome::NotReady(text) => ProbeOutcome::NotReady(Readiness::NotReady(text)),
        stepping::ProbeOutcome::Unsupported(text) => {
            ProbeOutcome::NotReady(Readiness::Unsupported(text))
        }
    }
}

fn probe_out(probe: engine::Probe) -> stepping::Probe {
    let request = probe.request;
    stepping::Probe {
        id: probe.id.0,
        tag: probe.tag,
        forced: probe.forced,
        request: stepping::Request {
            head: request.head,
            url: request.url,
            headers: words::request_headers(),
            deadline: u64::try_from(request.deadline.as_nanos()).unwrap_or(u64::MAX),
            body_limit: request.body_limit,
            response_headers: request
                .response_headers
                .into_iter()
                .map(str::to_owned)
                .collect(),
            repeat: request.repeat,
            ipv6_only: request.ipv6_only,
        },
    }
}

fn ask_error_out(error: engine::AskError) -> stepping::AskError {
    match error {
        engine::AskError::UnknownTag => stepping::AskError::UnknownTag,
        engine::AskError::Untestable => stepping::AskError::Untestable,
        engine::AskError::NotReady(text) => stepping::AskError::NotReady(text),
        engine::AskError::Stopped => stepping::AskError::Stopped,
    }
}

fn level_in(level: stepping::Level) -> engine::Level {
    match level {
        stepping::Level::Debug => engine::Level::Debug,
        stepping::Level::Info => engine::Level::Info,
        stepping::Level::Warn => engine::Level::Warn,
    }
}

fn level_out(level: engine::Level) -> stepping::Level {
    match level {
        engine::Level::Debug => stepping::Level::Debug,
        engine::Level::Info => stepping::Level::Info,
        engine::Level::Warn => stepping::Level::Warn,
    }
}
