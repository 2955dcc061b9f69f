//! What one sing-box has said so far, kept short: where it listens, why connections came
//! to nothing, what outbounds say of themselves. It must not know the process it reads.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::log_line::{Level, LogLine, Meaning, said_by};

/// Failed connections that are remembered. A dial asks for its own at once.
const FAILURES: usize = 1024;

/// Lines remembered for the words that it ends with.
const LINES: usize = 64;

/// Longer lines are cut.
const LINE: u64 = 8 * 1024;

/// What a line begins with by which an endpoint says that it is not ready.
const WAITING: &str = "waiting for ";

/// See the module.
#[derive(Debug)]
pub(super) struct Journal {
    tags: HashSet<String>,
    told: Mutex<Told>,
    /// Lines read.
    read: watch::Sender<u64>,
}

/// Where a sing-box is, as far as it has said so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Whereabouts {
    pub(super) socks: Option<SocketAddr>,
    pub(super) api: Option<SocketAddr>,
    pub(super) started: bool,
}

#[derive(Debug, Default)]
struct Told {
    whereabouts: Whereabouts,
    /// The last connection from each port of ours, so never more than there are ports.
    came_in: HashMap<u16, (u32, Instant)>,
    failures: VecDeque<(u32, String)>,
    /// The last words of an outbound, by tag.
    words: HashMap<String, Words>,
    lines: VecDeque<String>,
}

#[derive(Debug)]
struct Words {
    text: String,
    level: Level,
    at: Instant,
}

impl Journal {
    /// Of a sing-box with these outbounds and endpoints.
    pub(super) fn new(tags: HashSet<String>) -> Self {
        Self {
            tags,
            told: Mutex::default(),
            read: watch::Sender::new(0),
        }
    }

    /// Reads a log until it ends.
    pub(super) async fn follow(&self, mut log: impl AsyncBufRead + Unpin) {
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut log).take(LINE).read_until(b'\n', &mut line).await {
                // The rest of a line that is too long is read as lines of their own, which
                // mean nothing.
                Ok(1..) => self.line(String::from_utf8_lossy(&line).trim_end()),
                Ok(0) | Err(_) => return,
            }
        }
    }

    /// Waits until it is up; for ever if it never is.
    pub(super) async fn started(&self) -> Whereabouts {
        let mut read = self.read.subscribe();
        loop {
            let whereabouts = self.told().whereabouts;
            if whereabouts.started {
                return whereabouts;
            }
            if read.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Why the connection that was opened from `port` after `since` came to nothing. Waits
    /// until `deadline` for the log to say so.
    pub(super) async fn failure(
        &self,
        port: u16,
        since: Instant,
        deadline: Instant,
    ) -> Option<String> {
        let mut read = self.read.subscribe();
        loop {
            if let Some(words) = self.told().failure(port, since) {
                return Some(words);
            }
            // Never an error: the journal holds the sender.
            timeout_at(deadline, read.changed()).await.ok()?.ok()?;
        }
    }

    /// Why an outbound says it is not ready (D-4).
    pub(super) fn waits_for(&self, tag: &str) -> Option<String> {
        let told = self.told();
        let words = told.words.get(tag)?;
        let waits = words.text.get(..WAITING.len())?;
        waits
            .eq_ignore_ascii_case(WAITING)
            .then(|| words.text.clone())
    }

    /// What an outbound complained of after `since`.
    pub(super) fn complaint(&self, tag: &str, since: Instant) -> Option<String> {
        let told = self.told();
        let words = told.words.get(tag)?;
        (words.level >= Level::Warn && words.at >= since).then(|| words.text.clone())
    }

    /// The outbound works: what it waited for has come.
    pub(super) fn works(&self, tag: &str) {
        self.told().words.remove(tag);
    }

    /// The last lines.
    pub(super) fn last_lines(&self) -> String {
        let told = self.told();
        told.lines.iter().fold(String::new(), |mut all, line| {
            all.push_str(line);
            all.push('\n');
            all
        })
    }

    fn line(&self, text: &str) {
        self.told().line(text, &self.tags);
        self.read.send_modify(|read| *read += 1);
    }

    /// Whoever panicked held it for one line at most.
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    fn line(&mut self, text: &str, tags: &HashSet<String>) {
        let line = LogLine::read(text);
        let meaning = line.as_ref().map_or(Meaning::Other, LogLine::meaning);
        let (connection, level) = line
            .as_ref()
            .map_or((None, Level::Info), |line| (line.connection, line.level));
        match (meaning, connection) {
            // Later lines may hold what a server said, line breaks and all.
            (Meaning::Listens(_) | Meaning::ApiListens(_) | Meaning::Started, _)
                if self.whereabouts.started => {}
            (Meaning::Listens(at), _) => self.whereabouts.socks = Some(at),
            (Meaning::ApiListens(at), _) => self.whereabouts.api = Some(at),
            (Meaning::Started, _) => self.whereabouts.started = true,
            (Meaning::CameIn { port }, Some(id)) => {
                self.came_in.insert(port, (id, Instant::now()));
            }
            (Meaning::Failed { words }, Some(id)) => {
                push(&mut self.failures, FAILURES, (id, words.to_owned()));
            }
            (Meaning::Says { named }, _) => {
                if let Some((tag, words)) = said_by(named, |tag| tags.contains(tag)) {
                    let (text, at) = (words.to_owned(), Instant::now());
                    self.words.insert(tag.to_owned(), Words { text, level, at });
                }
            }
            _ => {}
        }
        // Connections would push out what matters when it ends.
        if connection.is_none() {
            push(&mut self.lines, LINES, text.to_owned());
        }
    }

    fn failure(&self, port: u16, since: Instant) -> Option<String> {
        let (id, at) = self.came_in.get(&port)?;
        if *at < since {
            return None;
        }
        let mut failures = self.failures.iter().rev();
        failures
            .find(|(failed, _)| failed == id)
            .map(|(_, words)| words.clone())
    }
}

fn push<T>(ring: &mut VecDeque<T>, size: usize, item: T) {
    if ring.len() == size {
        ring.pop_front();
    }
    ring.push_back(item);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn journal(log: &str) -> Journal {
        let journal = Journal::new(HashSet::from(["ts".to_owned(), "wg".to_owned()]));
        journal.follow(log.as_bytes()).await;
        journal
    }

    fn failed(port: u16, id: u32, why: &str) -> String {
        format!(
            "INFO[0001] [{id} 0ms] inbound/socks[outwatch]: inbound connection from 127.0.0.1:{port}\n\
             ERROR[0001] [{id} 0ms] connection: {why}\n"
        )
    }

    #[tokio::test(start_paused = true)]
    async fn t10_a_failed_dial_finds_its_own_words_among_those_of_others() {
        let before = Instant::now();
        let journal =
            journal(&(failed(1001, 7, "refused") + &failed(1002, 8, "no such host"))).await;
        let soon = Instant::now() + Duration::from_millis(100);
        assert_eq!(
            journal.failure(1001, before, soon).await.as_deref(),
            Some("refused")
        );
        assert_eq!(
            journal.failure(1002, before, soon).await.as_deref(),
            Some("no such host")
        );
        assert_eq!(journal.failure(1003, before, soon).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn t10_a_port_that_is_used_again_does_not_tell_what_failed_before() {
        let journal = journal(&failed(1001, 7, "refused")).await;
        tokio::time::advance(Duration::from_secs(1)).await;
        let now = Instant::now();
        let soon = now + Duration::from_millis(100);
        assert_eq!(journal.failure(1001, now, soon).await, None);
        journal
            .follow(failed(1001, 9, "unreachable").as_bytes())
            .await;
        assert_eq!(
            journal.failure(1001, now, soon).await.as_deref(),
            Some("unreachable")
        );
    }

    #[tokio::test(start_paused = true)]
    async fn t10_words_that_come_a_moment_after_the_failure_are_waited_for() {
        let journal = journal("").await;
        let now = Instant::now();
        let late = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            journal.follow(failed(1001, 7, "refused").as_bytes()).await;
        };
        let words = journal.failure(1001, now, now + Duration::from_millis(100));
        assert_eq!(tokio::join!(words, late).0.as_deref(), Some("refused"));
    }

    #[tokio::test]
    async fn d4_an_endpoint_that_waits_says_so_until_it_says_or_does_something_else() {
        let waits =
            "INFO[0001] endpoint/tailscale[ts]: Waiting for authentication: https://x.test\n";
        let journal = journal(waits).await;
        let text = "Waiting for authentication: https://x.test";
        assert_eq!(journal.waits_for("ts").as_deref(), Some(text));
        assert_eq!(journal.waits_for("wg"), None);
        journal.works("ts");
        assert_eq!(journal.waits_for("ts"), None);
    }

    #[tokio::test]
    async fn where_it_is_does_not_change_once_it_is_up() {
        let at = |port| {
            format!("INFO[0000] inbound/socks[outwatch]: tcp server started at 127.0.0.1:{port}\n")
        };
        let log = at(1) + "INFO[0000] sing-box started (0.03s)\n" + &at(2);
        let whereabouts = journal(&log).await.started().await;
        assert_eq!(whereabouts.socks, Some("127.0.0.1:1".parse().unwrap()));
    }

    #[tokio::test]
    async fn a_long_log_is_kept_short() {
        let mut log = String::new();
        for id in 0..5_000 {
            log += &failed(1001, id, "refused");
            log += &format!("INFO[0001] network: {id} {}\n", "x".repeat(id as usize * 4));
        }
        let journal = journal(&log).await;
        let told = journal.told();
        assert_eq!(told.failures.len(), FAILURES);
        assert_eq!(told.came_in.len(), 1);
        assert_eq!(told.lines.len(), LINES);
        assert!(told.lines.iter().all(|line| line.len() as u64 <= LINE));
    }
}
