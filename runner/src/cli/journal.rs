//! What is told beside the results: on standard error as it comes, or kept for the screen
//! while one takes the whole terminal. It must not know who tells it.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::output::text;
use super::terminal;

/// How many lines are kept.
const KEPT: usize = 1000;

/// The process has one standard error, and one screen at most.
static PANE: Mutex<Option<Kept>> = Mutex::new(None);

struct Kept {
    lines: VecDeque<String>,
    news: Arc<Notify>,
}

/// Tells whole lines.
///
/// # Errors
/// When standard error cannot be written.
pub(crate) fn tell(told: &[u8]) -> io::Result<()> {
    if let Some(kept) = &mut *pane() {
        kept.keep(&String::from_utf8_lossy(told));
        // It is on its way to somewhere else than the screen.
        if io::stderr().is_terminal() {
            return Ok(());
        }
    }
    terminal::stderr().write_all(told)
}

/// While it lives, what is told is kept for a screen.
pub(crate) struct Pane {
    news: Arc<Notify>,
}

impl Pane {
    /// Keeps what is told from now on.
    pub(crate) fn open() -> Self {
        let news = Arc::new(Notify::new());
        *pane() = Some(Kept {
            lines: VecDeque::new(),
            news: news.clone(),
        });
        Self { news }
    }

    /// The last lines, the newest last; harmless to a terminal.
    pub(crate) fn last(&self, count: usize) -> Vec<String> {
        let pane = pane();
        let lines = pane.iter().flat_map(|kept| kept.lines.iter().rev());
        let mut last: Vec<String> = lines.take(count).cloned().collect();
        last.reverse();
        last
    }

    /// Waits for something to be told.
    pub(crate) async fn news(&self) {
        self.news.notified().await;
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        *pane() = None;
    }
}

impl Kept {
    fn keep(&mut self, told: &str) {
        let plain = anstream::adapter::strip_str(told).to_string();
        self.lines.extend(plain.lines().map(text::line));
        let too_many = self.lines.len().saturating_sub(KEPT);
        self.lines.drain(..too_many);
        self.news.notify_one();
    }
}

fn pane() -> MutexGuard<'static, Option<Kept>> {
    PANE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_while_a_screen_is_up_is_kept_for_it_and_cannot_move_its_cursor() {
        let pane = Pane::open();
        for nth in 0..KEPT {
            tell(format!("line {nth}\n").as_bytes()).expect("kept");
        }
        tell("\u{1b}[31mred\u{1b}[0m and \u{7}\ntwo\n".as_bytes()).expect("kept");
        assert_eq!(pane.last(2), ["red and ", "two"]);
        assert_eq!(pane.last(5000).len(), KEPT);
        drop(pane);
        assert!(Pane::open().last(1).is_empty());
    }
}
