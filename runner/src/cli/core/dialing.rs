//! The core that was started: what runs over it, its change to another config, its end.
//! It must not know how it was chosen.

use std::path::PathBuf;
use std::sync::Arc;

use outwatch::{CoreEvent, CoreEvents, Monitor, NativeCore, ProxyCore, SingBoxCore};
use tokio::task::JoinSet;

use super::{CoreArgs, Decided, failure, with_groups};
use crate::cli::config::Checked;
use crate::cli::current::Current;
use crate::cli::failure::Failure;

/// What dials, until it is stopped.
pub(crate) struct Dialing {
    current: Arc<Current<dyn ProxyCore>>,
    started: Started,
    /// Tells a monitor what becomes ready.
    telling: JoinSet<()>,
}

/// A core that was started.
pub(crate) struct Started {
    pub(crate) core: Arc<dyn ProxyCore>,
    sing_box: Option<SingBox>,
}

struct SingBox {
    core: Arc<SingBoxCore>,
    program: PathBuf,
    /// From its start on, until somebody listens.
    events: Option<CoreEvents>,
}

impl Dialing {
    pub(super) fn new(started: Started) -> Self {
        Self {
            current: Arc::new(Current::new(started.core.clone())),
            started,
            telling: JoinSet::new(),
        }
    }

    /// The core that dials now.
    pub(crate) fn core(&self) -> Arc<dyn ProxyCore> {
        self.started.core.clone()
    }

    /// What a monitor is to run over: the core that dials, whichever that is.
    pub(crate) fn current(&self) -> Arc<Current<dyn ProxyCore>> {
        self.current.clone()
    }

    /// Tells the monitor, from now on, when outbounds become ready.
    pub(crate) fn tell(&mut self, monitor: &Monitor) {
        self.telling = JoinSet::new();
        let sing_box = self.started.sing_box.as_mut();
        let Some(mut events) = sing_box.and_then(|sing_box| sing_box.events.take()) else {
            return;
        };
        let monitor = monitor.clone();
        self.telling.spawn(async move {
            while let Some(event) = events.next().await {
                if let CoreEvent::Ready(tags) = event {
                    for tag in tags {
                        monitor.outbound_ready(tag);
                    }
                }
            }
        });
    }

    /// Starts the core of another config; none where a sing-box that dials already has
    /// gone over to it.
    ///
    /// # Errors
    /// As [`CoreArgs::start`]; what dials now still does.
    pub(crate) async fn prepare(
        &self,
        args: &CoreArgs,
        checked: &Checked,
    ) -> Result<Option<Started>, Failure> {
        let decided = args.decide(checked)?;
        if let (Decided::SingBox { program, .. }, Some(now)) = (&decided, &self.started.sing_box)
            && *program == now.program
        {
            let told = SingBoxCore::check(program, &checked.config).await;
            let (_, problems) = told.map_err(|error| failure(checked, error))?;
            checked.report(with_groups(checked, problems))?;
            let reloaded = now.core.reload(&checked.config).await;
            reloaded.map_err(|error| failure(checked, error))?;
            return Ok(None);
        }
        decided.start(checked).await.map(Some)
    }

    /// Dials by another core from now on. Gives the one before, to be stopped when nothing
    /// is sent through it any more.
    pub(crate) fn go_over(&mut self, next: Started, monitor: &Monitor) -> Started {
        self.current.set(next.core.clone());
        let before = std::mem::replace(&mut self.started, next);
        self.tell(monitor);
        before
    }

    /// Passes on how the start of what needs this core went; it ends first on a failure.
    pub(crate) async fn or_stop<T>(&self, started: Result<T, Failure>) -> Result<T, Failure> {
        self.started.or_stop(started).await
    }

    /// Ends what was started.
    pub(crate) async fn stop(&self) {
        self.started.stop().await;
    }
}

impl Started {
    pub(super) fn native(core: NativeCore) -> Self {
        Self {
            core: Arc::new(core),
            sing_box: None,
        }
    }

    pub(super) fn sing_box(core: SingBoxCore, program: PathBuf) -> Self {
        let core = Arc::new(core);
        let events = Some(core.events());
        Self {
            core: core.clone(),
            sing_box: Some(SingBox {
                core,
                program,
                events,
            }),
        }
    }

    pub(super) async fn or_stop<T>(&self, then: Result<T, Failure>) -> Result<T, Failure> {
        if then.is_err() {
            self.stop().await;
        }
        then
    }

    /// Ends it, and waits until it has.
    pub(crate) async fn stop(&self) {
        if let Some(sing_box) = &self.sing_box {
            sing_box.core.stop().await;
        }
    }
}
