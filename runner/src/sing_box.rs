//! A proxy core over a sing-box that runs beside this process: for every outbound that
//! sing-box can dial. It must not know the monitor, nor where a config came from.

mod as_core;
mod associate;
mod attempt;
mod carriage;
mod cause;
mod child_config;
mod control;
mod dial;
mod events;
mod guard;
mod journal;
mod keeper;
mod log_line;
mod outbounds;
mod process;
mod program;
mod refusal;
mod secrets;
mod selections;
mod settle;
mod state;
#[cfg(test)]
mod testing;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use self::keeper::{Keeper, Order, bring_up};
use self::outbounds::Outbounds;
use self::program::Program;
use self::selections::Selections;
use self::settle::Settled;
use self::state::{Now, Shared, State};
use crate::config::Config;
use crate::core::certificate;
use crate::report::Problem;

pub use self::events::{CoreEvent, CoreEvents};

/// A proxy core whose outbounds are dialed by a sing-box that it runs.
///
/// sing-box gets the config's own outbounds, endpoints, DNS and certificates, and one
/// SOCKS inbound on loopback with a password that is made anew for each start. Its config
/// reaches it over a pipe; no file holds it. Groups are led by [`ProxyCore::select`](crate::ProxyCore::select); in
/// sing-box they are selectors, for those that dial through one.
///
/// An outbound that this sing-box refuses is not ready for good, with its words (D-6).
/// When it ends, it is started again after 1 s, 2 s … 60 s; until then nothing is ready.
/// It ends with this value, and also, on Unix, when this process is killed.
pub struct SingBoxCore {
    shared: Arc<Shared>,
    version: String,
    orders: mpsc::UnboundedSender<Order>,
    stop: watch::Sender<bool>,
    keeper: Mutex<Option<JoinHandle<()>>>,
}

/// Why there is no sing-box to dial through.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SingBoxError {
    /// The program cannot be run, or is none that can be used.
    #[error("cannot use `{}` as sing-box: {why}", path.display())]
    Unusable {
        /// What was to be run.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// It refuses the config, for more than some of its outbounds.
    #[error("sing-box refuses the config")]
    Refused(Vec<Problem>),
    /// It takes the config but does not come up.
    #[error("sing-box does not start: {0}")]
    NotStarted(String),
    /// The core was stopped.
    #[error("sing-box was stopped")]
    Stopped,
}

impl SingBoxCore {
    /// Where `sing-box` is on `PATH`.
    pub fn find() -> Option<PathBuf> {
        program::find()
    }

    /// Starts the sing-box at `program` with what `config` has for it, and waits until it
    /// is up. The problems tell which outbounds it refuses, and why.
    ///
    /// # Errors
    /// See [`SingBoxError`].
    pub async fn start(
        program: &Path,
        config: &Config,
    ) -> Result<(Self, Vec<Problem>), SingBoxError> {
        let program = Program::at(program).await?;
        let mut problems = Vec::new();
        let trust = certificate::trust(config.certificate.as_ref(), &mut problems);
        let selections = Selections::default();
        let mut settled = Settled::new(&program, Outbounds::new(config), &selections).await?;
        let (process, live) = bring_up(&program, &mut settled, &selections)
            .await
            .map_err(SingBoxError::NotStarted)?;
        problems.append(&mut settled.problems);
        let now = Now {
            outbounds: Arc::new(settled.outbounds.clone()),
            trust: trust.clone(),
            state: State::Up(live),
        };
        let shared = Arc::new(Shared::new(now, selections));
        let (orders, received) = mpsc::unbounded_channel();
        let (stop, stopping) = watch::channel(false);
        let version = program.version().to_owned();
        let keeper = Keeper::new(program, settled, trust, shared.clone(), received, process);
        let core = Self {
            shared,
            version,
            orders,
            stop,
            keeper: Mutex::new(Some(tokio::spawn(keeper.run(stopping)))),
        };
        Ok((core, problems))
    }

    /// Has the sing-box at `program` check what `config` has for it, and starts nothing. The
    /// core tells what there is and what is refused, and cannot be dialed through.
    ///
    /// # Errors
    /// See [`SingBoxError`].
    pub async fn check(
        program: &Path,
        config: &Config,
    ) -> Result<(Self, Vec<Problem>), SingBoxError> {
        let program = Program::at(program).await?;
        let mut problems = Vec::new();
        let trust = certificate::trust(config.certificate.as_ref(), &mut problems);
        let selections = Selections::default();
        let settled = Settled::new(&program, Outbounds::new(config), &selections).await?;
        problems.extend(settled.problems);
        let now = Now {
            outbounds: Arc::new(settled.outbounds),
            trust,
            state: State::Stopped,
        };
        let core = Self {
            shared: Arc::new(Shared::new(now, selections)),
            version: program.version().to_owned(),
            orders: mpsc::unbounded_channel().0,
            stop: watch::Sender::new(true),
            keeper: Mutex::new(None),
        };
        Ok((core, problems))
    }

    /// Goes over to another config: sing-box checks it, is started with it, and only then
    /// takes the place of the one before. Selections stay. Tell the monitor by its hook
    /// `outbounds_changed`.
    ///
    /// A config with endpoints is an exception: two ends of one tunnel cannot be up at
    /// once, so nothing is ready for the moment in between.
    ///
    /// # Errors
    /// As [`start`](Self::start); the config before then stays in force.
    pub async fn reload(&self, config: &Config) -> Result<Vec<Problem>, SingBoxError> {
        let mut problems = Vec::new();
        let trust = certificate::trust(config.certificate.as_ref(), &mut problems);
        let (reply, answer) = oneshot::channel();
        let order = Order::Reload {
            outbounds: Box::new(Outbounds::new(config)),
            trust,
            reply,
        };
        self.orders.send(order).map_err(|_| SingBoxError::Stopped)?;
        let mut refused = answer.await.map_err(|_| SingBoxError::Stopped)??;
        problems.append(&mut refused);
        Ok(problems)
    }

    /// What the program calls its version, such as `1.14.4`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The process id of the sing-box that is up now.
    pub fn process_id(&self) -> Option<u32> {
        self.shared.live()?.id
    }

    /// What happens to it from now on.
    pub fn events(&self) -> CoreEvents {
        CoreEvents::of(&self.shared)
    }

    /// Ends sing-box, and waits until its process is gone. Dropping the core ends it too,
    /// a moment later.
    pub async fn stop(&self) {
        self.stop.send_replace(true);
        if let Some(keeper) = self.keeper.lock().await.take() {
            // An error is a panic in there, which has ended sing-box as well.
            let _ = keeper.await;
        }
    }
}

impl fmt::Debug for SingBoxCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingBoxCore")
            .field("version", &self.version)
            .field("live", &self.shared.live())
            .finish_non_exhaustive()
    }
}
