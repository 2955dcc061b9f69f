//! What every [`ProxyCore`] promises, checked on a core of yours. It must not know which
//! core that is, nor any framework of tests.
//!
//! Describe a few outbounds of a core, and [`check`] says which promises it breaks. The
//! core must be set up so that what is described is true: a test of yours starts the
//! servers. What is dialed through the outbounds are servers that the check starts itself,
//! on 127.0.0.1.
//!
//! ```
//! use outwatch::NativeCore;
//! use outwatch::config::{self, LoadOptions};
//! use outwatch::conformance::{Scene, check};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Bound and not listened on: nobody answers there.
//! let nobody = tokio::net::TcpSocket::new_v4()?;
//! nobody.bind(([127, 0, 0, 1], 0).into())?;
//! let text = format!(
//!     r#"{{ "outbounds": [
//!         {{ "type": "direct", "tag": "works" }},
//!         {{ "type": "socks", "tag": "dead", "server": "127.0.0.1", "server_port": {} }},
//!         {{ "type": "selector", "tag": "choice", "outbounds": ["works", "dead"] }}
//!     ] }}"#,
//!     nobody.local_addr()?.port()
//! );
//! let loaded = config::read("mine.json", text.as_bytes(), &LoadOptions::default());
//! let config = loaded.config.ok_or("a config that can be used")?;
//! let (core, _) = NativeCore::new(&config.entries, None);
//!
//! let scene = Scene::of("works").refusing("dead").group("choice");
//! let broken = check(&core, &scene).await;
//! assert!(broken.is_empty(), "{broken:?}");
//! # Ok(())
//! # }
//! ```

mod datagrams;
mod dialing;
mod fetching;
mod listing;
mod servers;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::proxy_core::ProxyCore;

pub use datagrams::datagrams;
pub use dialing::{crowds, deadlines, drops, refusals, streams};
pub use fetching::fetches;
pub use listing::{answers_at_once, lists, selections, strangers};

/// How late after its deadline an answer may be, on a machine busy with other tests.
const GRACE: Duration = Duration::from_secs(1);

/// Far beyond what anything takes that is to succeed.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a test waits for an answer that never comes.
const SHORT: Duration = Duration::from_millis(300);

/// Outbounds of a core, and what they do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    working: String,
    refusing: Option<String>,
    hanging: Option<String>,
    group: Option<String>,
}

impl Scene {
    /// `working` leads to 127.0.0.1 of this machine, and is ready; it carries datagrams
    /// there if it lists UDP.
    pub fn of(working: impl Into<String>) -> Self {
        Self {
            working: working.into(),
            refusing: None,
            hanging: None,
            group: None,
        }
    }

    /// An outbound whose own server refuses connections.
    #[must_use]
    pub fn refusing(mut self, tag: impl Into<String>) -> Self {
        self.refusing = Some(tag.into());
        self
    }

    /// An outbound whose own server takes connections and never says a word.
    #[must_use]
    pub fn hanging(mut self, tag: impl Into<String>) -> Self {
        self.hanging = Some(tag.into());
        self
    }

    /// A group of two members or more that may be led to any of them. It is left leading
    /// to its first.
    #[must_use]
    pub fn group(mut self, tag: impl Into<String>) -> Self {
        self.group = Some(tag.into());
        self
    }
}

/// A promise that a core does not keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// What every core promises.
    pub promise: &'static str,
    /// What this one did.
    pub found: String,
}

impl Broken {
    fn new(promise: &'static str, found: impl Into<String>) -> Self {
        let found = found.into();
        Self { promise, found }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; found: {}", self.promise, self.found)
    }
}

/// Checks every promise, one after the other. A panic in the core breaks one too.
///
/// It takes some seconds, and the clock of tokio must run.
pub async fn check<C: ProxyCore + ?Sized>(core: &C, scene: &Scene) -> Vec<Broken> {
    let checks: [(&'static str, BoxFuture<'_, Vec<Broken>>); 11] = [
        ("lists", Box::pin(async { lists(core) })),
        ("answers_at_once", Box::pin(async { answers_at_once(core) })),
        ("strangers", Box::pin(strangers(core))),
        ("streams", Box::pin(streams(core, scene))),
        ("refusals", Box::pin(refusals(core, scene))),
        ("deadlines", Box::pin(deadlines(core, scene))),
        ("drops", Box::pin(drops(core, scene))),
        ("crowds", Box::pin(crowds(core, scene))),
        ("datagrams", Box::pin(datagrams(core, scene))),
        ("fetches", Box::pin(fetches(core, scene))),
        ("selections", Box::pin(async { selections(core, scene) })),
    ];
    let mut broken = Vec::new();
    for (name, check) in checks {
        match AssertUnwindSafe(check).catch_unwind().await {
            Ok(found) => broken.extend(found),
            Err(_) => broken.push(Broken::new(
                "a core never panics",
                format!("it did in `{name}`"),
            )),
        }
    }
    broken
}

#[cfg(feature = "native-core")]
#[cfg(test)]
mod tests;
