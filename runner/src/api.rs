//! What a monitor knows and does, over HTTP: for programs, dashboards and people. It must
//! not know how anything is monitored, nor the CLI.
//!
//! ```no_run
//! # async fn example(monitor: outwatch::Monitor) -> Result<(), Box<dyn std::error::Error>> {
//! use outwatch::api::Api;
//!
//! let api = Api::new(&monitor).secret("correct horse battery staple");
//! let serving = api.serve("127.0.0.1:9090".parse()?)?;
//! println!("http://{}/api/v1/outbounds", serving.address());
//! serving.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! Who may ask:
//!
//! - An address that other hosts reach demands a secret; it is sent as
//!   `Authorization: Bearer SECRET`, or as `?token=SECRET` by what cannot set headers.
//! - On a loopback address the `Host` of a request must be a loopback name or an address, so
//!   that no name of a foreign page can be made to lead here (DNS rebinding).
//! - A web page of another origin is refused, unless its origin is
//!   [allowed](Api::allow_origins). With a secret and no list any may ask: there is nothing
//!   that a browser would send along by itself.
//!
//! `docs/API.md` describes every path.

mod answer;
mod clash;
mod events;
mod groups;
mod guard;
mod log_lines;
mod metrics;
mod server;
mod source;
mod ui;
mod v1;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use tokio::sync::watch;

#[cfg(feature = "compiler")]
use crate::engine::CodeCache;
use crate::group::Groups;
use crate::inbound::Connections;
use crate::monitor::Monitor;
use crate::web;

pub use log_lines::LogLines;
pub use server::{ServeError, Serving};

use answer::Refusal;
use guard::{Guard, Secret};
use server::Told;
use source::Source;

/// The largest body of a request, unless a path says otherwise: a tag, or a few options.
const BODY_LIMIT: usize = 64 * 1024;

/// Describes what is served of a monitor.
#[derive(Debug)]
pub struct Api {
    monitor: Monitor,
    groups: Option<Groups>,
    secret: Option<Secret>,
    origins: Vec<String>,
    private_network: bool,
    connections: Connections,
    final_tag: Option<String>,
    log_lines: LogLines,
    external_ui: Option<PathBuf>,
    #[cfg(feature = "compiler")]
    code: Option<CodeCache>,
}

impl Api {
    /// All that a monitor knows. Groups are those of its core, which are chosen in if the
    /// core lets them.
    pub fn new(monitor: &Monitor) -> Self {
        Self {
            monitor: monitor.clone(),
            groups: None,
            secret: None,
            origins: Vec::new(),
            private_network: false,
            connections: Connections::default(),
            final_tag: None,
            log_lines: LogLines::default(),
            external_ui: None,
            #[cfg(feature = "compiler")]
            code: None,
        }
    }

    /// Groups that choose by the monitor's results: what they decided is told, and a person
    /// chooses in them.
    #[must_use]
    pub fn groups(mut self, groups: Groups) -> Self {
        self.groups = Some(groups);
        self
    }

    /// Users' connections, which are told of and closed, and the outbound or group that they
    /// go through.
    #[must_use]
    pub fn connections(mut self, connections: Connections, final_tag: Option<String>) -> Self {
        self.connections = connections;
        self.final_tag = final_tag;
        self
    }

    /// Lines of the log, which are passed on to those who listen.
    #[must_use]
    pub fn log_lines(mut self, lines: LogLines) -> Self {
        self.log_lines = lines;
        self
    }

    /// A dashboard of the user's own choice: the files of this folder are served under
    /// `/ui/`, to everybody.
    #[must_use]
    pub fn external_ui(mut self, folder: impl Into<PathBuf>) -> Self {
        self.external_ui = Some(folder.into());
        self
    }

    /// Where the code is kept of components that are put in the place of the one that runs.
    #[cfg(feature = "compiler")]
    #[must_use]
    pub fn code_cache(mut self, code: CodeCache) -> Self {
        self.code = Some(code);
        self
    }

    /// What who asks must know; an empty one is none.
    #[must_use]
    pub fn secret(mut self, secret: &str) -> Self {
        self.secret = Secret::of(secret);
        self
    }

    /// Origins of web pages that may ask besides those served here, such as
    /// `https://dashboard.example`; `*` stands for all.
    #[must_use]
    pub fn allow_origins<T: Into<String>>(mut self, origins: impl IntoIterator<Item = T>) -> Self {
        self.origins.extend(origins.into_iter().map(Into::into));
        self
    }

    /// Lets browsers pass on what a page of a public address asks of this private one.
    #[must_use]
    pub fn allow_private_network(mut self) -> Self {
        self.private_network = true;
        self
    }

    /// Listens, and answers from now on. To be called within a tokio runtime, which does the
    /// work.
    ///
    /// # Errors
    /// When the address needs a secret and there is none, is taken, or is none of this host.
    pub fn serve(self, address: SocketAddr) -> Result<Serving, ServeError> {
        let Self {
            monitor,
            groups,
            secret,
            origins,
            private_network,
            connections,
            final_tag,
            log_lines,
            external_ui,
            #[cfg(feature = "compiler")]
            code,
        } = self;
        if secret.is_none() && !address.ip().to_canonical().is_loopback() {
            return Err(ServeError::NeedsSecret { address });
        }
        let guard = Guard::new(secret, &origins, private_network, address);
        let (groups, following) = watch::channel(groups);
        let (final_tag, leading) = watch::channel(final_tag);
        let source = Source::new(monitor, following, leading, connections, log_lines);
        #[cfg(feature = "compiler")]
        let source = source.keeping_code(code);
        let source = Arc::new(source);
        let router = router(&source, guard, external_ui.as_deref());
        server::serve(address, router, source, Told { groups, final_tag })
    }
}

/// Every path, behind the guard.
fn router(source: &Arc<Source>, guard: Guard, external_ui: Option<&Path>) -> Router {
    let guard = Arc::new(guard);
    // What holds data, or does something.
    let guarded = Router::new()
        .nest("/api/v1", v1::router())
        .route("/metrics", get(metrics::all))
        .layer(from_fn_with_state(guard.clone(), guard::with_secret));
    let clash = clash::router().layer(from_fn_with_state(guard.clone(), clash::with_secret));
    let ui = external_ui.map(ui::router).unwrap_or_default();
    guarded
        .merge(clash)
        .merge(ui)
        .merge(web::router())
        .fallback(no_such_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(from_fn_with_state(guard, guard::at_the_door))
        .layer(from_fn(answer::harden))
        .with_state(source.clone())
}

async fn no_such_path() -> Refusal {
    Refusal::not_found("no_such_path", "there is nothing at this path")
}

async fn wrong_method() -> Refusal {
    Refusal::wrong_method()
}
