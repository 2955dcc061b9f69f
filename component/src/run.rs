//! The loop of `run`: step the monitor, carry out its actions, wait for an answer,
//! an input or the next wake-up. It must not look into what an action is for.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::{AbortHandle, Abortable, Aborted};
use futures::stream::{FuturesUnordered, Stream};
use outwatch_engine::{Action, Input, Instant, Level, Probe, ProbeId, ProbeOutcome};

use crate::bindings::wasi::clocks::monotonic_clock;
use crate::shell::{self, Phase, Shell};
use crate::{convert, host};

/// How long the end waits for readers to take their last updates.
const FAREWELL: Duration = Duration::from_millis(250);

/// How often the host is asked who reads the log.
const READERS: Duration = Duration::from_secs(1);

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
    let mut readers = Readers::default();
    loop {
        let Some(step) = shell::with(|shell| turn(shell, &mut probes, &mut readers)) else {
            return Ok(());
        };
        match step {
            Step::Again => {}
            Step::Wait(wake_at) => {
                probes.wake_at(wake_at);
                poll_fn(|context| wait(context, &mut probes)).await;
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
fn turn(shell: &mut Shell, probes: &mut Probes, readers: &mut Readers) -> Step {
    let now = host::now();
    let mut inputs = std::mem::take(&mut shell.inbox);
    if let Some(least) = readers.news(now.mono) {
        inputs.insert(0, Input::LogFrom(least));
    }
    let outcome = shell.monitor.step(now, inputs);
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
fn wait(context: &mut Context<'_>, probes: &mut Probes) -> Poll<()> {
    // It is awake: waking it would have the host call it again for nothing.
    shell::with(|shell| shell.waker = None);
    let mut ready = false;
    while let Poll::Ready(Some(ended)) = Pin::new(&mut probes.running).poll_next(context) {
        match ended {
            Ok(Ended::Probe(probe, outcome)) if probes.handles.remove(&probe).is_some() => {
                shell::push(Input::ProbeEnded { probe, outcome });
                ready = true;
            }
            Ok(Ended::Alarm) => {
                probes.alarm = None;
                ready = true;
            }
            Ok(Ended::Probe(..)) | Err(Aborted) => {}
        }
    }
    shell::with(|shell| {
        ready |= !shell.inbox.is_empty();
        shell.waker = (!ready).then(|| context.waker().clone());
    });
    if ready {
        Poll::Ready(())
    } else {
        Poll::Pending
    }
}

/// Who reads the log: asked from time to time, since most lines are of tests, and the
/// host is called for each.
#[derive(Default)]
struct Readers {
    asked: Option<Instant>,
    least: Option<Level>,
}

impl Readers {
    /// The least level that is read, if it is another than before.
    fn news(&mut self, now: Instant) -> Option<Option<Level>> {
        let fresh = self.asked.is_some_and(|asked| now.since(asked) < READERS);
        if fresh {
            return None;
        }
        let first = self.asked.replace(now).is_none();
        let least = host::log_from();
        let before = std::mem::replace(&mut self.least, least);
        (first || before != least).then_some(least)
    }
}

type Running = Pin<Box<dyn Future<Output = Ended>>>;

enum Ended {
    Probe(ProbeId, ProbeOutcome),
    Alarm,
}

/// The probes on their way, and the alarm for the next wake-up. Each is polled only when
/// the host has news of it.
#[derive(Default)]
struct Probes {
    running: FuturesUnordered<Abortable<Running>>,
    handles: BTreeMap<ProbeId, AbortHandle>,
    alarm: Option<(Instant, AbortHandle)>,
}

impl Probes {
    fn start(&mut self, probe: Probe) {
        let id = probe.id;
        let fetch = async move { Ended::Probe(id, host::fetch(probe).await) };
        let handle = self.run(Box::pin(fetch));
        self.handles.insert(id, handle);
    }

    /// Drops the call, which the host sees as a cancellation.
    fn cancel(&mut self, probe: ProbeId) {
        if let Some(handle) = self.handles.remove(&probe) {
            handle.abort();
        }
    }

    /// Sets the alarm. An earlier one than needed is kept: one step for nothing costs less
    /// than a canceled and a new call into the host for every answer.
    fn wake_at(&mut self, wake_at: Option<Instant>) {
        if let (Some(at), Some((set, _))) = (wake_at, &self.alarm)
            && *set <= at
        {
            return;
        }
        // While idle nothing at all may wake the device (N-1).
        if let Some((_, handle)) = self.alarm.take() {
            handle.abort();
        }
        if let Some(at) = wake_at {
            let mark = convert::instant_out(at);
            let handle = self.run(Box::pin(async move {
                monotonic_clock::wait_until(mark).await;
                Ended::Alarm
            }));
            self.alarm = Some((at, handle));
        }
    }

    fn run(&mut self, running: Running) -> AbortHandle {
        let (handle, registration) = AbortHandle::new_pair();
        self.running.push(Abortable::new(running, registration));
        handle
    }
}
