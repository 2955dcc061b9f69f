//! The binary in a process of its own: its config, what it says, how it ends. It must
//! not know what a test hopes to read.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use outwatch::store::Opened;
use outwatch::{Cache as _, FileCache};
use serde_json::Value;
use tempfile::TempDir;

/// Far beyond what a loaded machine needs for anything here.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often the disk is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A folder with a config, and a place for results.
pub(crate) struct Scene(TempDir);

impl Scene {
    pub(crate) fn new(config: &Value) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let scene = Self(folder);
        scene.has_config(&config.to_string());
        scene
    }

    /// Has the config be this from now on.
    pub(crate) fn has_config(&self, text: &str) {
        std::fs::write(self.path("config.json"), text).expect("a config");
    }

    /// Has a file be this from now on, in one moment.
    pub(crate) fn has_file(&self, name: &str, contents: &[u8]) {
        let new = self.path("new");
        std::fs::write(&new, contents).expect("a file");
        std::fs::rename(new, self.path(name)).expect("a file");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What is saved, once nobody has it open any more.
    ///
    /// # Panics
    /// When the file is not as a run must leave it.
    pub(crate) fn saved(&self) -> Vec<(String, Vec<u8>)> {
        let cache = FileCache::open(self.path("results.redb")).expect("a file that opens");
        assert_eq!(cache.opened(), &Opened::Existing);
        cache.get_prefix("").expect("what is saved")
    }

    /// Waits until so many results with these words in them are on the disk, where a
    /// running process writes them.
    pub(crate) fn wait_until_saved(&self, count: usize, words: &str) {
        let deadline = Instant::now() + PATIENCE;
        let (file, copy) = (self.path("results.redb"), self.path("copy.redb"));
        while Instant::now() < deadline {
            // The file itself is locked. A copy taken while it is written may be torn,
            // which opening it tells.
            let copied = std::fs::copy(&file, &copy);
            let cache = copied.ok().and_then(|_| FileCache::open(&copy).ok());
            let saved = cache.and_then(|cache| cache.get_prefix("").ok());
            let fits = |value: &[u8]| String::from_utf8_lossy(value).contains(words);
            let saved = saved.unwrap_or_default();
            if saved.iter().filter(|(_, value)| fits(value)).count() == count {
                return;
            }
            thread::sleep(LOOK_EVERY);
        }
        panic!("{count} results with {words} were never saved");
    }

    /// `outwatch test` to its end.
    pub(crate) fn test(&self) -> Tested {
        self.test_with(&[])
    }

    /// The same with more arguments.
    pub(crate) fn test_with(&self, more: &[&str]) -> Tested {
        let args = [
            "test",
            "-c",
            "config.json",
            "--no-cache",
            "--format",
            "jsonl",
            "--log-level",
            "info",
        ];
        let mut running = Running::start(self.0.path(), &[&args, more].concat());
        let mut reports = Vec::new();
        while let Some(report) = running.next_report() {
            reports.push(report);
        }
        let status = running.child.wait().expect("a process of ours");
        Tested {
            code: status.code(),
            reports,
            logged: running.log.iter().collect(),
        }
    }

    /// `outwatch run` with its results in lines.
    pub(crate) fn run(&self) -> Running {
        self.run_with(&[])
    }

    /// The same with more arguments.
    pub(crate) fn run_with(&self, more: &[&str]) -> Running {
        let args = ["run", "-c", "config.json", "--cache", "results.redb"];
        let args = [&args[..], &["--format", "jsonl"], more].concat();
        Running::start(self.0.path(), &args)
    }

    /// A program in the folder that does what this shell script says.
    pub(crate) fn program(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt as _;

        let path = self.path(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
        let runs = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, runs).expect("a script that runs");
    }

    /// The names of all that is in the folder.
    pub(crate) fn files(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.0.path()).expect("a temporary folder");
        let mut names: Vec<String> = files
            .flatten()
            .map(|file| file.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// What a verb prints that ends by itself: its code and both streams.
    pub(crate) fn output(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let output = command(self.0.path(), args).output().expect("the binary");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    }
}

/// What came of `outwatch test`.
pub(crate) struct Tested {
    pub(crate) code: Option<i32>,
    pub(crate) reports: Vec<Value>,
    pub(crate) logged: Vec<String>,
}

/// What of a log should not be there.
pub(crate) fn complaints(logged: &[String]) -> Vec<&String> {
    let bad = |line: &&String| line.contains("WARN") || line.contains("ERROR");
    logged.iter().filter(bad).collect()
}

/// A running `outwatch`, killed when dropped.
pub(crate) struct Running {
    child: Child,
    reports: Receiver<String>,
    log: Receiver<String>,
    logged: Vec<String>,
}

impl Running {
    fn start(folder: &Path, args: &[&str]) -> Self {
        let mut child = command(folder, args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary");
        let reports = lines(child.stdout.take().expect("a pipe"));
        let log = lines(child.stderr.take().expect("a pipe"));
        Self {
            child,
            reports,
            log,
            logged: Vec::new(),
        }
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next report on standard output; none when it has ended.
    pub(crate) fn next_report(&mut self) -> Option<Value> {
        match self.reports.recv_timeout(PATIENCE) {
            Ok(line) => Some(serde_json::from_str(&line).expect("JSON")),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => self.fail("reports nothing more"),
        }
    }

    /// Reads reports up to the first that is as wanted, and gives that.
    pub(crate) fn until_report(
        &mut self,
        what: &str,
        mut wanted: impl FnMut(&Value) -> bool,
    ) -> Value {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            match self.next_report() {
                Some(report) if wanted(&report) => return report,
                Some(_) => {}
                None => break,
            }
        }
        self.fail(&format!("never reported {what}"))
    }

    /// The first line of the whole log with these words, read up to it if need be.
    pub(crate) fn logged(&mut self, words: &str) -> String {
        let earlier = self.logged.iter().find(|line| line.contains(words));
        match earlier {
            Some(line) => line.clone(),
            None => self.until_logged(words),
        }
    }

    /// Reads the log up to the first new line with these words, and gives that.
    pub(crate) fn until_logged(&mut self, words: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.log.recv_timeout(left) {
                Ok(line) => {
                    self.logged.push(line.clone());
                    if line.contains(words) {
                        return line;
                    }
                }
                Err(_) => self.fail(&format!("never logged {words}")),
            }
        }
    }

    /// Asks it to end, as `kill` does, and waits until it has; gives its code.
    pub(crate) fn terminate(mut self) -> Option<i32> {
        self.signal("TERM");
        self.child.wait().expect("a process of ours").code()
    }

    /// The same; gives all that it has logged.
    pub(crate) fn terminated(mut self) -> Vec<String> {
        self.signal("TERM");
        let mut logged = std::mem::take(&mut self.logged);
        // The pipe ends with the process.
        logged.extend(self.log.iter());
        logged
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("sh")
            .args(["-c", &format!("kill -{name} {}", self.id())])
            .status();
        assert!(sent.expect("a shell").success());
    }

    /// Kills it, as `kill -9` does, and gives all that it has logged.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.end();
        let mut logged = std::mem::take(&mut self.logged);
        // The pipe ends with the process.
        logged.extend(self.log.iter());
        logged
    }

    fn end(&mut self) {
        // Both fail only for a process that is gone, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn fail(&mut self, what: &str) -> ! {
        self.end();
        let mut logged = std::mem::take(&mut self.logged);
        logged.extend(self.log.iter());
        panic!("outwatch {what}; it logged:\n{}", logged.join("\n"));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// The binary in a folder, which is also where it would leave temporary files, and where
/// it finds programs first.
fn command(folder: &Path, args: &[&str]) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [folder.to_owned()]
        .into_iter()
        .chain(std::env::split_paths(&path));
    let mut command = Command::new(env!("CARGO_BIN_EXE_outwatch"));
    command
        .args(args)
        .current_dir(folder)
        .env("TMPDIR", folder)
        .env("PATH", std::env::join_paths(path).expect("a PATH"));
    command
}

/// The lines of a pipe, read on a thread so that waiting for one can have a bound.
fn lines(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
