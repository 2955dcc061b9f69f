//! What an embedder holds: starting a monitor over a core, asking it, watching it,
//! telling it. It must not touch the component; the driver does.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use futures::StreamExt as _;
use futures::channel::mpsc as bounded;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::driver::{Command, Driver, Ended, Stand};
use crate::engine::limits::{Limits, Memory};
use crate::engine::track::Hook;
use crate::engine::{Component, LoadError};
use crate::host::{MonotonicClock, WallClock, World};
use crate::proxy_core::ProxyCore;
use crate::report::{Measurement, Problem, Report, Scope, Update, View};
use crate::store::{Cache, MemoryCache};

mod activity;
mod errors;
mod replace;

use self::activity::Activity;
pub use self::errors::{StartError, StopError, TestError};
pub use self::replace::{ReplaceError, Replaced};

/// A running monitor. Cheap to clone; it stops when told to, or when the last clone
/// is dropped.
#[derive(Clone)]
pub struct Monitor {
    shared: Arc<Shared>,
}

struct Shared {
    commands: mpsc::UnboundedSender<Command>,
    stop: watch::Sender<bool>,
    ended: watch::Receiver<Option<Ended>>,
    warnings: Vec<Problem>,
    activity: Activity,
    memory: Memory,
    component: watch::Receiver<Component>,
    /// The driver's; it goes with it.
    stand: Weak<Stand>,
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ended = self.shared.ended.borrow();
        f.debug_struct("Monitor")
            .field("ended", &*ended)
            .finish_non_exhaustive()
    }
}

impl Monitor {
    /// Begins to describe a monitor over `core`.
    pub fn builder(core: impl ProxyCore) -> Builder {
        Builder::over(Arc::new(core))
    }

    /// Tests an outbound in stages, or every leaf of a group, and gives the confirmed
    /// report when that is over. A report of state [`Failed`](crate::State::Failed) is
    /// an answer, not an error.
    ///
    /// # Errors
    /// When there is nothing to test: see [`TestError`].
    pub async fn test(&self, tag: impl Into<String>) -> Result<Report, TestError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Test {
            tag: tag.into(),
            reply,
        });
        answer.await.unwrap_or(Err(TestError::Stopped))
    }

    /// Updates from now on, beginning with the current state of all in `scope`. Ends
    /// when the monitor does. One who reads slowly misses states in between, never the
    /// last.
    pub fn subscribe(&self, scope: Scope, view: View) -> Updates {
        let (sender, updates) = bounded::channel(0);
        self.send(Command::Subscribe {
            scope,
            view,
            sender,
        });
        Updates { updates }
    }

    /// The current report of a tag; none when unknown or stopped.
    pub async fn report(&self, tag: impl Into<String>, view: View) -> Option<Report> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Report {
            tag: tag.into(),
            view,
            reply,
        });
        answer.await.ok().flatten()
    }

    /// All current reports, in config order; none when stopped.
    pub async fn reports(&self, view: View) -> Vec<Report> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Reports { view, reply });
        answer.await.unwrap_or_default()
    }

    /// For each of these tags its last measurements of this run, at most 32, oldest
    /// first (SPEC R-7); none for a group and for an unknown tag, and when stopped.
    pub async fn measurements(&self, tags: Vec<String>) -> Vec<Vec<Measurement>> {
        let count = tags.len();
        let (reply, answer) = oneshot::channel();
        self.send(Command::Measurements { tags, reply });
        let mut all = answer.await.unwrap_or_default();
        // One for each, whatever the engine answers.
        all.resize(count, Vec::new());
        all
    }

    /// The options in force, with all defaults filled in, as JSON.
    pub async fn options(&self) -> Option<String> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Options { reply });
        answer.await.ok()
    }

    /// Host names that the IP lookups use, for a host that routes them.
    pub async fn service_hosts(&self) -> Vec<String> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::ServiceHosts { reply });
        answer.await.unwrap_or_default()
    }

    /// The component that runs, or ran last.
    pub fn component(&self) -> Component {
        self.shared.component.borrow().clone()
    }

    /// The core that is monitored; none when stopped.
    pub(crate) fn core(&self) -> Option<Arc<dyn ProxyCore>> {
        Some(self.shared.stand.upgrade()?.core().clone())
    }

    /// What was doubtful about the options.
    pub fn warnings(&self) -> &[Problem] {
        &self.shared.warnings
    }

    /// The memory of the component in bytes, in pages of 64 KiB; it grows as needed and
    /// is not given back while the component runs. 0 when there is none: stopped, or
    /// between a failed one and the next.
    pub fn memory(&self) -> usize {
        self.shared.memory.bytes()
    }

    /// A user's connection went through the core. Cheap enough for every connection:
    /// the engine hears of it at most once a second.
    pub fn activity(&self) {
        if self.shared.activity.is_news(Instant::now()) {
            self.send(Command::Hook(Hook::Activity));
        }
    }

    /// The host's network changed.
    pub fn network_changed(&self) {
        self.send(Command::Hook(Hook::NetworkChanged));
    }

    /// A user's connection through `tag` failed; `group` had chosen it, if any.
    pub fn connection_failed(&self, tag: impl Into<String>, group: Option<String>, fault: Fault) {
        let tag = tag.into();
        self.send(Command::Hook(Hook::ConnectionFailed { tag, group, fault }));
    }

    /// A group selects another member.
    pub fn selection_changed(&self, group: impl Into<String>) {
        self.send(Command::Hook(Hook::SelectionChanged(group.into())));
    }

    /// An outbound that was not ready is ready now.
    pub fn outbound_ready(&self, tag: impl Into<String>) {
        self.send(Command::Hook(Hook::OutboundReady(tag.into())));
    }

    /// The core's list of outbounds changed.
    pub fn outbounds_changed(&self) {
        self.send(Command::Hook(Hook::OutboundsChanged));
    }

    /// The device goes to sleep: no tests but those asked for, until
    /// [`resume`](Self::resume).
    pub fn pause(&self) {
        self.send(Command::Hook(Hook::Pause));
    }

    /// The device woke up.
    pub fn resume(&self) {
        self.send(Command::Hook(Hook::Resume));
    }

    /// Ends the monitor and waits until its results are saved.
    ///
    /// # Errors
    /// When the component had failed for good before.
    pub async fn stop(&self) -> Result<(), StopError> {
        // Whoever ended already needs no word.
        let _ = self.shared.stop.send(true);
        self.ended().await
    }

    /// Waits until the monitor has ended, by [`stop`](Self::stop) or by itself.
    ///
    /// # Errors
    /// When the component failed for good.
    pub async fn ended(&self) -> Result<(), StopError> {
        let mut ended = self.shared.ended.clone();
        match ended.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(Ended::Stopped)) => Ok(()),
            Ok(Some(Ended::GaveUp(reason))) => Err(StopError::GaveUp(reason.clone())),
            Ok(None) | Err(_) => Err(StopError::Lost),
        }
    }

    fn send(&self, command: Command) {
        // After the end every question is answered by its dropped reply.
        let _ = self.shared.commands.send(command);
    }
}

/// Describes a monitor before it starts.
pub struct Builder {
    core: Arc<dyn ProxyCore>,
    cache: Arc<dyn Cache>,
    component: Option<Component>,
    options: String,
    wall: WallClock,
    seed: Option<u64>,
    limits: Limits,
    paused: bool,
}

impl Builder {
    fn over(core: Arc<dyn ProxyCore>) -> Self {
        Self {
            core,
            cache: Arc::new(MemoryCache::default()),
            component: None,
            options: String::new(),
            wall: WallClock::default(),
            seed: None,
            limits: Limits::default(),
            paused: false,
        }
    }

    /// Where results are kept between runs. The default forgets them.
    #[must_use]
    pub fn cache(mut self, cache: impl Cache) -> Self {
        self.cache = Arc::new(cache);
        self
    }

    /// Which engine runs. The default is the embedded one.
    #[must_use]
    pub fn component(mut self, component: Component) -> Self {
        self.component = Some(component);
        self
    }

    /// The text of a config's `experimental.monitoring` block. The default is `{}`.
    #[must_use]
    pub fn options(mut self, json: impl Into<String>) -> Self {
        self.options = json.into();
        self
    }

    /// The time of day that results are stamped with. The default is the system's.
    #[must_use]
    pub fn wall_clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.wall = WallClock::new(now);
        self
    }

    /// The random number that decides at which IP service lookups begin, so that a test
    /// sees the same every time. The default is another one at each start.
    #[must_use]
    pub fn random_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// What the component may use. See [`Limits`] for the defaults.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Starts as if [`Monitor::pause`] had been called: only what is asked for is
    /// tested, until [`Monitor::resume`].
    #[must_use]
    pub fn paused(mut self) -> Self {
        self.paused = true;
        self
    }

    /// Starts the monitor on the current tokio runtime.
    ///
    /// # Errors
    /// When the options are wrong or the component cannot run.
    pub async fn start(self) -> Result<Monitor, StartError> {
        let paused = self.paused;
        let memory = Memory::default();
        let (component, stand) = self.into_parts(memory.clone())?;
        let stand = Arc::new(stand);
        let (first, warnings) = stand.first(&component).await?;
        let (commands, requests) = mpsc::unbounded_channel();
        let (stop, stopping) = watch::channel(false);
        let (ending, ended) = watch::channel(None);
        let (component, running) = watch::channel(component);
        let shared = Shared {
            commands,
            stop,
            ended,
            warnings,
            activity: Activity::new(Instant::now()),
            memory,
            component: running,
            stand: Arc::downgrade(&stand),
        };
        let driver = Driver::new(stand, component, requests, stopping, ending, paused);
        tokio::spawn(driver.run(first));
        Ok(Monitor {
            shared: Arc::new(shared),
        })
    }

    /// Reads the options as [`start`](Self::start) would and starts nothing. Gives the
    /// options in force as JSON, and the warnings.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub async fn check(self) -> Result<(String, Vec<Problem>), StartError> {
        let (component, stand) = self.into_parts(Memory::default())?;
        stand.check(&component).await
    }

    fn into_parts(self, memory: Memory) -> Result<(Component, Stand), LoadError> {
        let component = match self.component {
            Some(component) => component,
            None => Component::default()?,
        };
        let world = World {
            core: self.core,
            cache: self.cache,
            clock: MonotonicClock::new(self.wall.clone()),
            wall: self.wall,
            seed: self.seed,
            memory,
            limits: self.limits,
        };
        Ok((component, Stand::new(world, self.options)))
    }
}

/// The updates of one subscription.
#[derive(Debug)]
pub struct Updates {
    updates: bounded::Receiver<Update>,
}

impl Updates {
    /// Waits for the next update; none when the monitor has ended.
    pub async fn next(&mut self) -> Option<Update> {
        self.updates.next().await
    }
}

/// Whose fault a failed connection was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The outbound's or its way's: refused, timed out, reset in the handshake.
    Outbound,
    /// The destination's; ignored.
    Destination,
    /// The client's, who went away; ignored.
    Client,
}
