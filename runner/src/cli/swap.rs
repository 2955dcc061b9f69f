//! The engine in the file of `--component`, taken up while the monitor runs: at once when
//! asked for, and when the file has become another. It must not know what an engine does.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use outwatch::{Problem, ReplaceError, StartError};
use tokio::time::sleep;
use tracing::{debug, error, warn};

use super::memory;
use super::monitoring::ComponentArgs;
use super::reload::Running;

/// How often the file is looked at. Renaming and copying look the same this way, and on
/// every file system.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Looks at the file of `--component`.
pub(crate) struct Watch {
    path: Option<PathBuf>,
    /// As it was when it was last taken for whole.
    known: Option<Stamp>,
}

/// What changes with a file's contents.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    written: Option<SystemTime>,
    length: u64,
    /// Another file may have been renamed to it.
    number: u64,
}

impl Watch {
    /// Begins with the file as it is. It has to be begun before the file is read, so that
    /// no change is missed.
    pub(crate) async fn begin(args: &ComponentArgs) -> Self {
        let mut watch = Self {
            path: args.path().cloned(),
            known: None,
        };
        watch.known = watch.stamp().await;
        watch
    }

    /// Waits until the file is another, and has been the same for two looks: one that is
    /// still being written is left alone.
    pub(crate) async fn changed(&mut self) {
        if self.path.is_none() {
            return std::future::pending().await;
        }
        let mut before = None;
        loop {
            sleep(LOOK_EVERY).await;
            let now = self.stamp().await;
            if now.is_some() && now != self.known && now == before {
                self.known = now;
                return;
            }
            before = now;
        }
    }

    /// None while there is no such file.
    async fn stamp(&self) -> Option<Stamp> {
        let file = tokio::fs::metadata(self.path.as_ref()?).await.ok()?;
        Some(Stamp {
            written: file.modified().ok(),
            length: file.len(),
            #[cfg(unix)]
            number: std::os::unix::fs::MetadataExt::ino(&file),
            #[cfg(not(unix))]
            number: 0,
        })
    }
}

impl Running<'_> {
    /// Has the engine in the file take the place of the one that runs, unless it is the
    /// same. What became of it stands in the log.
    pub(crate) async fn take_engine(&self) {
        if self.args.component.path().is_none() {
            // The one built in does not change; another may have come by the API.
            return;
        }
        let code = self.args.cache.code();
        let component = match self.args.component.load_apart(code).await {
            Ok(component) => component,
            Err(failure) => {
                return error!(
                    "the engine was not taken up, and the one before goes on: {failure}"
                );
            }
        };
        if component.sha256() == self.monitor.component().sha256() {
            return debug!("the engine in the file is the one that runs");
        }
        match self.monitor.replace_component(component).await {
            Ok(replaced) => {
                for problem in replaced.warnings() {
                    warn!("{}", told(problem));
                }
            }
            Err(ReplaceError::Start(StartError::Options(problems))) => {
                for problem in &problems {
                    error!("{}", told(problem));
                }
                error!(
                    "the engine was not taken up, and the one before goes on: it refuses the monitoring options"
                );
            }
            Err(why) => error!("the engine was not taken up, and the one before goes on: {why}"),
        }
        memory::give_back();
    }
}

fn told(problem: &Problem) -> String {
    let Problem { path, message, .. } = problem;
    format!("the engine says of `experimental.monitoring`, `{path}`: {message}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// What stands in the file when it is next taken for another; none if it is not.
    async fn taken(watch: &mut Watch, path: &Path) -> Option<String> {
        // More than it takes to see the last of five changes twice.
        let looks = LOOK_EVERY * 6;
        tokio::time::timeout(looks, watch.changed()).await.ok()?;
        std::fs::read_to_string(path).ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_is_taken_once_it_is_whole_and_once_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engine.wasm");
        std::fs::write(&path, "one").unwrap();
        let args = ComponentArgs::of_file(&path);
        let mut watch = Watch::begin(&args).await;
        assert_eq!(taken(&mut watch, &path).await, None, "it is as it was");

        let next = folder.path().join("next");
        std::fs::write(&next, "two").unwrap();
        std::fs::rename(&next, &path).unwrap();
        assert_eq!(taken(&mut watch, &path).await.as_deref(), Some("two"));
        assert_eq!(taken(&mut watch, &path).await, None);

        let mut growing = String::new();
        let writing = async {
            for _ in 0..5 {
                growing.push_str("part");
                std::fs::write(&path, &growing).unwrap();
                sleep(LOOK_EVERY / 2).await;
            }
        };
        let (taken_now, ()) = tokio::join!(taken(&mut watch, &path), writing);
        assert_eq!(taken_now.as_deref(), Some("partpartpartpartpart"));

        std::fs::remove_file(&path).unwrap();
        assert_eq!(taken(&mut watch, &path).await, None, "nothing is no engine");
        std::fs::write(&path, "three").unwrap();
        assert_eq!(taken(&mut watch, &path).await.as_deref(), Some("three"));
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_file_there_is_nothing_to_take() {
        let mut watch = Watch::begin(&ComponentArgs::default()).await;
        let day = Duration::from_secs(86_400);
        assert!(tokio::time::timeout(day, watch.changed()).await.is_err());
    }
}
