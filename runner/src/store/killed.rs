//! What a killed process leaves behind, and what a running one keeps from others:
//! these tests run themselves again as a child. They must not know how a file is
//! written.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::{env, io};

use super::file::Opened;
use super::{Cache, FileCache, OpenError};

/// Set for a child, to where it works.
const CHILD: &str = "OUTWATCH_TEST_CHILD";
/// A child ends by itself after so many rounds, should nobody kill it.
const ROUNDS: u32 = 20_000;

/// Where to work, if this is a child.
fn as_child() -> Option<PathBuf> {
    env::var_os(CHILD).map(PathBuf::from)
}

/// This process again, running one test as a child.
struct Process {
    child: Child,
    lines: io::Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(test: &str, place: &Path) -> Self {
        let mut child = Command::new(env::current_exe().expect("this binary"))
            .args([&format!("store::killed::{test}"), "--exact", "--nocapture"])
            .env(CHILD, place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let output = child.stdout.take().expect("piped");
        Self {
            child,
            lines: BufReader::new(output).lines(),
        }
    }

    /// Waits for the next `said: <number>` of the child.
    fn said(&mut self) -> u32 {
        loop {
            let line = self
                .lines
                .next()
                .expect("the child still runs")
                .expect("text");
            if let Some((_, number)) = line.split_once("said: ") {
                return number.parse().expect("a number");
            }
        }
    }
}

/// SIGKILL on unix.
impl Drop for Process {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

fn say(number: u32) {
    println!("said: {number}");
}

/// One change of several pairs of different sizes that belong together.
fn write_round(cache: &FileCache, round: u32) {
    let text = round.to_string();
    let large = text.repeat(20_000);
    let set = [
        ("a", text.as_str()),
        ("b", &large),
        (&format!("only/{round}"), ""),
    ];
    let set = set.map(|(key, value)| (key.to_owned(), value.as_bytes().to_vec()));
    cache
        .update(&[format!("only/{}", round.wrapping_sub(1))], &set)
        .expect("written");
}

/// The round a cache is at, which every pair must agree with.
fn round_of(cache: &FileCache) -> u32 {
    let Some(a) = cache.get("a").expect("read") else {
        assert_eq!(
            cache.keys(),
            Ok(vec![]),
            "nothing at all, or all of the first round"
        );
        return 0;
    };
    let text = String::from_utf8(a).expect("text");
    let b = cache.get("b").expect("read").expect("b is there with a");
    assert!(
        b == text.repeat(20_000).into_bytes(),
        "b is of round {text} too"
    );
    let keys = cache.keys().expect("read");
    assert_eq!(
        keys,
        ["a".to_owned(), "b".to_owned(), format!("only/{text}")]
    );
    text.parse().expect("a round")
}

#[test]
fn p3_a_kill_at_any_moment_leaves_the_old_or_the_new_state() {
    if let Some(path) = as_child() {
        let cache = FileCache::open(path).expect("opens");
        let first = round_of(&cache) + 1;
        for round in first..first + ROUNDS {
            write_round(&cache, round);
            // Every other time it goes on while the thread still writes.
            if round % 2 == 0 {
                cache.flush().expect("flushed");
                say(round);
            }
        }
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cache");
    drop(FileCache::open(&path).expect("opens"));
    for kill in 0..12 {
        let mut process = Process::start(
            "p3_a_kill_at_any_moment_leaves_the_old_or_the_new_state",
            &path,
        );
        let mut flushed = process.said();
        for _ in 0..kill % 4 {
            flushed = process.said();
        }
        drop(process);
        let cache = FileCache::open(&path).expect("opens after a kill");
        assert_eq!(cache.opened(), &Opened::Existing, "after kill {kill}");
        let round = round_of(&cache);
        assert!(
            round >= flushed,
            "{round} is not older than {flushed}, which was flushed"
        );
    }
}

#[test]
fn p3_a_kill_while_a_file_is_made_leaves_no_file_or_a_whole_one() {
    if let Some(folder) = as_child() {
        for n in 0..ROUNDS {
            say(n);
            drop(FileCache::open(folder.join(n.to_string())).expect("made"));
        }
        return;
    }
    for kill in 0..12 {
        let folder = tempfile::tempdir().expect("a folder");
        let mut process = Process::start(
            "p3_a_kill_while_a_file_is_made_leaves_no_file_or_a_whole_one",
            folder.path(),
        );
        let mut last = process.said();
        for _ in 0..kill % 4 {
            last = process.said();
        }
        drop(process);
        for n in 0..last + 3 {
            let path = folder.path().join(n.to_string());
            let existed = path.exists();
            let cache = FileCache::open(path).expect("opens after a kill");
            let expected = if existed {
                Opened::Existing
            } else {
                Opened::New
            };
            assert_eq!(cache.opened(), &expected, "file {n} after kill {kill}");
        }
    }
}

#[test]
fn p3_a_file_in_use_by_another_process_is_refused_with_what_to_do() {
    if let Some(path) = as_child() {
        let cache = FileCache::open(path).expect("opens");
        write_round(&cache, 7);
        cache.flush().expect("flushed");
        say(7);
        // Until the test is over, or its input is.
        let _line = io::stdin().lines().next();
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cache");
    let mut process = Process::start(
        "p3_a_file_in_use_by_another_process_is_refused_with_what_to_do",
        &path,
    );
    process.said();
    let error = FileCache::open(&path).expect_err("in use");
    assert!(matches!(error, OpenError::Locked { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("in use by another process") && text.contains("stop that one"),
        "{text}"
    );
    drop(process);

    let cache = FileCache::open(&path).expect("free again");
    assert_eq!(round_of(&cache), 7, "and nothing was touched");
    let names: Vec<_> = folder
        .path()
        .read_dir()
        .expect("a folder")
        .flatten()
        .collect();
    assert!(
        names
            .iter()
            .all(|entry| entry.file_name() == OsStr::new("cache")),
        "{names:?}"
    );
}
