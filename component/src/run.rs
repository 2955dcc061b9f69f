//! The loop of `run`: step the monitor, carry out its actions, wait for an answer,
//! an input or the next wake-up. It must not look into what an action is for.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::{AbortHandle, Abortable};
use futures::stream::{FuturesUnordered, Stream};
use outwatch_engine::{Action, Input, Instant, Probe, ProbeId, ProbeOutcome};

use crate::bindings::wasi::clocks::monotonic_clock;
use crate::shell::{self, Phase, Shell};
use crate::{convert, host};

/// How long the end waits for readers to take their last updates.
const FAREWELL: Duration = Duration::from_millis(250);

/// Runs until the monitor has stopped.
pub(crate) async fn run() -> Result<(), String> {
    let began = shell::with(|shell| match shell.phase {
        Phase::Started => {
            shell.phase = Phase::Running;
            Ok(())
        }
        Phase::Running => Err("the monitor is already running"),
        Phase::Stopped => Err("the monitor has been stopped"),
    });
    began.unwrap_or(Err("the monitor is not started"))?;

    let mut probes = Probes::default();
    let mut alarm = Alarm::default();
    loop {
        let Some(step) = shell::with(|shell| turn(shell, &mut probes)) else {
            return Ok(());
        };
        match step {
            Step::Again => {}
            Step::Wait(wake_at) => {
                alarm.set(wake_at);
                poll_fn(|context| wait(context, &mut probes, &mut alarm)).await;
            }
            Step::Stopped => {
                see_streams_off().await;
                return Ok(());
            }
        }
    }
}

/// Waits until every stream is closed, but for no slow reader.
async fn see_streams_off() {
    let mut patience = Box::pin(monotonic_clock::wait_for(convert::duration_out(FAREWELL)));
    poll_fn(|context| {
        let streams = shell::with(|shell| {
            shell.waker = Some(context.waker().clone());
            shell.streams
        });
        let impatient = patience.as_mut().poll(context).is_ready();
        if streams.unwrap_or(0) == 0 || impatient {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// What comes after a step.
enum Step {
    /// Something happened already.
    Again,
    Wait(Option<Instant>),
    Stopped,
}

/// Steps once with all that has happened, and carries out what comes of it.
fn turn(shell: &mut Shell, probes: &mut Probes) -> Step {
    let inputs = std::mem::take(&mut shell.inbox);
    let outcome = shell.monitor.step(host::now(), inputs);
    for action in outcome.actions {
        match action {
            Action::Probe(probe) => start(shell, probes, probe),
            Action::Cancel(probe) => probes.cancel(probe),
            Action::Answer { ticket, result } => shell.answer(ticket, result),
            Action::Publish { subscriber, update } => shell.publish(subscriber, update),
            Action::Save { delete, set } => host::save(&delete, &set),
            Action::Log { level, line } => host::log(level, &line),
            Action::Stopped => {
                shell.close();
                return Step::Stopped;
            }
        }
    }
    if shell.inbox.is_empty() {
        Step::Wait(outcome.wake_at)
    } else {
        Step::Again
    }
}

/// Sends a probe on its way, unless the outbound cannot be tested now.
fn start(shell: &mut Shell, probes: &mut Probes, probe: Probe) {
    let not_ready = if probe.forced {
        None
    } else {
        host::not_ready(&probe.tag)
    };
    match not_ready {
        Some(readiness) => shell.push(Input::ProbeEnded {
            probe: probe.id,
            outcome: ProbeOutcome::NotReady(readiness),
        }),
        None => probes.start(probe),
    }
}

/// Collects everything that is ready, so that one step sees all of it.
fn wait(context: &mut Context<'_>, probes: &mut Probes, alarm: &mut Alarm) -> Poll<()> {
    let mut ready = alarm.poll(context);
    while let Poll::Ready(Some(ended)) = Pin::new(&mut probes.running).poll_next(context) {
        if let Ok((probe, outcome)) = ended
            && probes.handles.remove(&probe).is_some()
        {
            shell::push(Input::ProbeEnded { probe, outcome });
            ready = true;
        }
    }
    shell::with(|shell| {
        ready |= !shell.inbox.is_empty();
        shell.waker = Some(context.waker().clone());
    });
    if ready {
        Poll::Ready(())
    } else {
        Poll::Pending
    }
}

type Running = Pin<Box<dyn Future<Output = (ProbeId, ProbeOutcome)>>>;

/// The probes on their way.
#[derive(Default)]
struct Probes {
    running: FuturesUnordered<Abortable<Running>>,
    handles: BTreeMap<ProbeId, AbortHandle>,
}

impl Probes {
    fn start(&mut self, probe: Probe) {
        let (handle, registration) = AbortHandle::new_pair();
        self.handles.insert(probe.id, handle);
        let running: Running = Box::pin(async move {
            let outcome = host::fetch(&probe).await;
            (probe.id, outcome)
        });
        self.running.push(Abortable::new(running, registration));
    }

    /// Drops the call, which the host sees as a cancellation.
    fn cancel(&mut self, probe: ProbeId) {
        if let Some(handle) = self.handles.remove(&probe) {
            handle.abort();
        }
    }
}

/// The next wake-up. An earlier one than needed is kept: one step for nothing costs
/// less than a canceled and a new call into the host for every answer.
#[derive(Default)]
struct Alarm {
    set: Option<(Instant, Pin<Box<dyn Future<Output = ()>>>)>,
}

impl Alarm {
    fn set(&mut self, wake_at: Option<Instant>) {
        match (wake_at, &self.set) {
            // While idle nothing at all may wake the device (N-1).
            (None, _) => self.set = None,
            (Some(at), Some((set, _))) if *set <= at => {}
            (Some(at), _) => {
                let mark = convert::instant_out(at);
                self.set = Some((at, Box::pin(monotonic_clock::wait_until(mark))));
            }
        }
    }

    /// Whether it went off.
    fn poll(&mut self, context: &mut Context<'_>) -> bool {
        let rang = self
            .set
            .as_mut()
            .is_some_and(|(_, alarm)| alarm.as_mut().poll(context).is_ready());
        if rang {
            self.set = None;
        }
        rang
    }
}
