//! Lines of a log, passed on to whoever listens now; nothing is kept, and who reads slowly
//! misses some. It must not know how lines are made or shown.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tracing::Level;
use tracing::level_filters::LevelFilter;

/// How many lines a listener may be behind before it misses the oldest.
const BEHIND: usize = 512;

/// Passes lines on. Cheap to clone; all clones are one.
///
/// Whoever makes the log [pushes](Self::push) its lines, and needs to make none but those that
/// [`wanted`](Self::wanted) tells of: nothing at all while nobody listens.
#[derive(Clone, Debug)]
pub struct LogLines {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    lines: broadcast::Sender<LogLine>,
    /// How many listen at which level.
    listening: Mutex<BTreeMap<LevelFilter, usize>>,
    wanted: watch::Sender<LevelFilter>,
}

/// One line.
#[derive(Clone, Debug)]
pub(super) struct LogLine {
    pub(super) level: Level,
    pub(super) text: Arc<str>,
}

impl Default for LogLines {
    fn default() -> Self {
        let shared = Shared {
            lines: broadcast::Sender::new(BEHIND),
            listening: Mutex::default(),
            wanted: watch::Sender::new(LevelFilter::OFF),
        };
        Self {
            shared: Arc::new(shared),
        }
    }
}

impl LogLines {
    /// Passes a line on to those who listen at its level.
    pub fn push(&self, level: Level, text: &str) {
        let text = text.trim_end().into();
        // Nobody may listen, which is no fault.
        let _ = self.shared.lines.send(LogLine { level, text });
    }

    /// The most verbose level that anybody listens at, and its changes.
    pub fn wanted(&self) -> watch::Receiver<LevelFilter> {
        self.shared.wanted.subscribe()
    }

    /// Listens from now on at a level.
    pub(super) fn listen(&self, level: LevelFilter) -> Listening {
        let lines = self.shared.lines.subscribe();
        self.shared.count(level, |count| *count += 1);
        Listening {
            shared: Arc::clone(&self.shared),
            level,
            lines,
        }
    }
}

impl Shared {
    fn count(&self, level: LevelFilter, change: impl FnOnce(&mut usize)) {
        let listening = self.listening.lock();
        let mut listening = listening.unwrap_or_else(PoisonError::into_inner);
        change(listening.entry(level).or_default());
        listening.retain(|_, count| *count > 0);
        let most = listening.keys().last().copied();
        let most = most.unwrap_or(LevelFilter::OFF);
        self.wanted
            .send_if_modified(|wanted| std::mem::replace(wanted, most) != most);
    }
}

/// One who listens, until dropped.
pub(super) struct Listening {
    shared: Arc<Shared>,
    level: LevelFilter,
    lines: broadcast::Receiver<LogLine>,
}

impl Listening {
    /// The next line; none when there will be no more.
    pub(super) async fn next(&mut self) -> Option<LogLine> {
        loop {
            match self.lines.recv().await {
                Ok(line) if line.level <= self.level => return Some(line),
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.shared.count(self.level, |count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_wanted_is_the_most_verbose_level_that_somebody_listens_at() {
        let lines = LogLines::default();
        let wanted = lines.wanted();
        assert_eq!(*wanted.borrow(), LevelFilter::OFF);
        let warnings = lines.listen(LevelFilter::WARN);
        let all = lines.listen(LevelFilter::DEBUG);
        assert_eq!(*wanted.borrow(), LevelFilter::DEBUG);
        drop(all);
        assert_eq!(*wanted.borrow(), LevelFilter::WARN);
        drop(warnings);
        assert_eq!(*wanted.borrow(), LevelFilter::OFF);
    }

    #[tokio::test]
    async fn one_who_listens_hears_its_levels_and_misses_the_oldest_when_it_is_slow() {
        let lines = LogLines::default();
        let mut warnings = lines.listen(LevelFilter::WARN);
        lines.push(Level::INFO, "too quiet");
        lines.push(Level::ERROR, "loud\n");
        assert_eq!(&*warnings.next().await.unwrap().text, "loud");
        for nth in 0..3 * BEHIND {
            lines.push(Level::WARN, &nth.to_string());
        }
        let next = warnings.next().await.unwrap();
        let next: usize = next.text.parse().unwrap();
        assert_eq!(next, 2 * BEHIND, "the newest are kept");
    }
}
