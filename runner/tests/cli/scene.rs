//! A folder of its own for each test, with the binary in it, and what became of it.
//! It must not know what any verb prints.

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use outwatch_demo_world::World;
use tempfile::TempDir;

/// Every verb.
pub(crate) const VERBS: [&str; 9] = [
    "check",
    "test",
    "run",
    "explain",
    "import",
    "demo",
    "component",
    "completions",
    "man",
];

/// No test waits longer than this for anything.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often a file is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A folder that is working directory and home of what runs in it.
pub(crate) struct Scene {
    folder: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    /// A folder with a file in it.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let scene = Self::new();
        scene.write(name, content);
        scene
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("the folder can be written");
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The binary in this folder, with nothing of the outside in its environment.
    pub(crate) fn outwatch<const N: usize>(&self, args: [&str; N]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_outwatch"));
        command.args(args);
        command
    }

    /// Runs what its arguments say, looked up as a shell does.
    pub(crate) fn shell(&self) -> Command {
        let mut command = self.command("/usr/bin/env");
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// All files in the folder but compiled code, which any verb may keep.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.path("")];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            let entries = std::fs::read_dir(folder).expect("a folder");
            for path in entries.map(|entry| entry.expect("an entry").path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if !path.components().any(|part| part.as_os_str() == "code") {
                    files.push(path);
                }
            }
        }
        files
    }

    /// Waits until a file holds this text.
    pub(crate) fn wait_for(&self, name: &str, text: &str) {
        let end = Instant::now() + PATIENCE;
        loop {
            let file = std::fs::read_to_string(self.folder.path().join(name));
            let written = file.unwrap_or_default();
            if written.contains(text) {
                return;
            }
            assert!(Instant::now() < end, "no {text:?} in {name}:\n{written}");
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Runs it to its end.
    pub(crate) fn run<const N: usize>(&self, args: [&str; N]) -> Shot {
        Shot::of(&mut self.outwatch(args))
    }
}

/// A world that lives while the test does, and a folder with its config.
pub(crate) struct Stage {
    pub(crate) scene: Scene,
    _world: World,
    _runtime: tokio::runtime::Runtime,
}

impl Stage {
    /// Any world.
    pub(crate) fn of(world: impl Future<Output = std::io::Result<World>>) -> Self {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let world = runtime.block_on(world).expect("loopback");
        Self {
            scene: Scene::with("config.json", world.config()),
            _world: world,
            _runtime: runtime,
        }
    }

    /// The demo's world.
    pub(crate) fn demo() -> Self {
        Self::of(World::demo())
    }

    /// `outwatch test` on that config.
    pub(crate) fn test<const N: usize>(&self, more: [&str; N]) -> Shot {
        let mut command = self.scene.outwatch(["test", "-c", "config.json"]);
        Shot::of(command.args(more))
    }
}

/// What became of one run.
#[derive(Debug)]
pub(crate) struct Shot {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Shot {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the binary runs");
        Self::from(output)
    }

    /// The rows of its table by tag: which of two is faster is for the machine to say.
    pub(crate) fn by_tag(mut self) -> Self {
        let mut lines: Vec<_> = self.stdout.lines().collect();
        let rows = lines.iter().position(|line| line.is_empty());
        let rows = rows.unwrap_or(lines.len());
        lines[1..rows].sort_unstable();
        self.stdout = lines.join("\n") + "\n";
        self
    }
}

impl From<Output> for Shot {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl fmt::Display for Shot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => writeln!(f, "exit code: {code}")?,
            None => writeln!(f, "ended by a signal")?,
        }
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                write!(f, "----- {name}\n{text}")?;
            }
        }
        Ok(())
    }
}

/// One that is watched while it runs; it is killed when a test fails.
pub(crate) struct Running {
    child: Child,
    stdout: Lines,
    stderr: Lines,
}

/// The lines of a stream, as they come.
struct Lines {
    lines: Receiver<String>,
    seen: String,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let stdout = Lines::of(child.stdout.take().expect("piped"));
        let stderr = Lines::of(child.stderr.take().expect("piped"));
        Self {
            child,
            stdout,
            stderr,
        }
    }

    /// Waits for a line of standard output with this in it.
    pub(crate) fn says(&mut self, text: &str) -> String {
        self.stdout.wait_for(text)
    }

    /// Waits for a line of standard error with this in it.
    pub(crate) fn logs(&mut self, text: &str) -> String {
        self.stderr.wait_for(text)
    }

    /// Sends a signal, such as `INT`.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &kill]).status();
        assert!(sent.expect("a shell").success(), "the process is there");
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Shot {
        self.stdout.finish();
        self.stderr.finish();
        let status = self.child.wait().expect("it ended");
        Shot {
            code: status.code(),
            stdout: std::mem::take(&mut self.stdout.seen),
            stderr: std::mem::take(&mut self.stderr.seen),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended by itself where all is well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Lines {
    fn of(stream: impl Read + Send + 'static) -> Self {
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let lines = BufReader::new(stream).lines();
            lines
                .map_while(Result::ok)
                .all(|line| sender.send(line).is_ok())
        });
        Self {
            lines,
            seen: String::new(),
        }
    }

    fn wait_for(&mut self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            match self
                .lines
                .recv_timeout(end.saturating_duration_since(Instant::now()))
            {
                Ok(line) => {
                    self.seen += &(line.clone() + "\n");
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(why) => panic!("no line with {text:?} ({why}), only:\n{}", self.seen),
            }
        }
    }

    fn finish(&mut self) {
        let end = Instant::now() + PATIENCE;
        loop {
            match self
                .lines
                .recv_timeout(end.saturating_duration_since(Instant::now()))
            {
                Ok(line) => self.seen += &(line + "\n"),
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    panic!("it does not end; so far:\n{}", self.seen)
                }
            }
        }
    }
}

/// Asserts what a run looks like, with what differs from run to run taken out.
macro_rules! assert_shot {
    ($shot:expr, @$expected:literal) => {
        insta::with_settings!({ filters => $crate::scene::FILTERS.to_vec() }, {
            insta::assert_snapshot!($shot, @$expected);
        });
    };
}
pub(crate) use assert_shot;

/// What differs from run to run, and what stands for it.
pub(crate) const FILTERS: [(&str, &str); 8] = [
    (r"\b\d+ ms\b", "[n] ms"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:[port]"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[time]"),
    (r"\b[0-9a-f]{64}\b", "[sha256]"),
    (r"\b\d{5,} bytes", "[n] bytes"),
    (
        r"outwatch-monitor \d+\.\d+\.\d+",
        "outwatch-monitor [version]",
    ),
    // The host's deadline and the engine's are the same moment: either may tell.
    (r"\btimeout: .*", "timeout: [why]"),
    // Columns are as wide as what stands in them.
    (r" {2,}", "  "),
];
