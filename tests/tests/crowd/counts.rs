//! What this process has open. It must not know why.

use std::fs;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep};

/// How long what has ended may take to be gone.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often it is counted again.
const EVERY: Duration = Duration::from_millis(20);

static ALONE: Mutex<()> = Mutex::const_new(());

/// Descriptors and tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    descriptors: usize,
    tasks: usize,
}

impl Counts {
    pub(crate) fn now() -> Self {
        let open = fs::read_dir("/proc/self/fd").expect("Linux says what is open");
        Self {
            descriptors: open.count(),
            tasks: Handle::current().metrics().num_alive_tasks(),
        }
    }

    /// Fails unless there soon are no more than these.
    pub(crate) async fn come_back(self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let now = Self::now();
            if now.descriptors <= self.descriptors && now.tasks <= self.tasks {
                return;
            }
            assert!(Instant::now() < deadline, "before {self:?}, after {now:?}");
            sleep(EVERY).await;
        }
    }
}

/// Waits until no other test counts, and allows this process as many descriptors as it
/// may have.
pub(crate) async fn alone() -> MutexGuard<'static, ()> {
    let guard = ALONE.lock().await;
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit of descriptors");
    setrlimit(Resource::RLIMIT_NOFILE, most, most).expect("up to the hard limit");
    guard
}

/// Allows this process so many descriptors more than it has, until the next test.
pub(crate) fn allow(more: u64) {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit of descriptors");
    let limit = Counts::now().descriptors as u64 + more;
    setrlimit(Resource::RLIMIT_NOFILE, limit, most).expect("below the hard limit");
}
