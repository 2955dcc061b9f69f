//! The live table as a person has it: the binary on a terminal that `script` plays and
//! `vt100` reads, with keys typed into it.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::scene::{Scene, Stage};

/// Far beyond what a loaded machine needs for anything here.
const PATIENCE: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A program on a terminal of 30 lines; it is killed when a test fails.
struct Played {
    script: Child,
    keys: ChildStdin,
    screen: Arc<Mutex<vt100::Parser>>,
    /// Everything that was written to it.
    raw: Arc<Mutex<Vec<u8>>>,
}

impl Played {
    /// Runs the binary with these arguments. The terminal's settings before and after it are
    /// in the files `before` and `after`, its exit code in `code`, its process in `pid` and
    /// the name of the terminal in `tty`.
    fn start(scene: &Scene, arguments: &str) -> Self {
        Self::with(scene, "", arguments)
    }

    /// The same, with a setting in its environment.
    fn with(scene: &Scene, setting: &str, arguments: &str) -> Self {
        let binary = env!("CARGO_BIN_EXE_outwatch");
        let command = format!(
            "stty cols 120 rows 30; tty >tty; stty -g >before; \
             sh -c 'echo $$ >pid; exec env {setting} {binary} {arguments}'; \
             echo $? >code; stty -g >after; echo over >over"
        );
        let mut script = scene.shell();
        let mut script = script
            .args([
                "TERM=xterm-256color",
                "script",
                "-qefc",
                &command,
                "/dev/null",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script");
        let keys = script.stdin.take().expect("piped");
        let mut stdout = script.stdout.take().expect("piped");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(30, 120, 0)));
        let raw = Arc::new(Mutex::new(Vec::new()));
        let (reads, keeps) = (screen.clone(), raw.clone());
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut piece) {
                let piece = &piece[..count];
                reads.lock().expect("read").process(piece);
                keeps.lock().expect("kept").extend_from_slice(piece);
            }
        });
        Self {
            script,
            keys,
            screen,
            raw,
        }
    }

    fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("it reads");
        self.keys.flush().expect("it reads");
    }

    fn text(&self) -> String {
        self.screen.lock().expect("read").screen().contents()
    }

    /// Waits until the screen is so.
    fn shows(&self, what: &str, so: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let text = self.text();
            if so(&text) {
                return text;
            }
            assert!(Instant::now() < end, "never so: {what}\n{text}");
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits until the screen shows a text.
    fn says(&self, text: &str) -> String {
        self.shows(text, |screen| screen.contains(text))
    }

    fn raw(&self) -> String {
        String::from_utf8_lossy(&self.raw.lock().expect("kept")).into_owned()
    }
}

impl Drop for Played {
    fn drop(&mut self) {
        // It has ended by itself where all is well.
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

fn file(scene: &Scene, name: &str) -> String {
    let text = std::fs::read_to_string(scene.path(name)).unwrap_or_default();
    text.trim().to_owned()
}

/// Asserts that it ended well and left the terminal as it was.
fn ended(scene: &Scene, played: &Played) {
    scene.wait_for("over", "over");
    assert_eq!(file(scene, "code"), "0", "{}", played.text());
    assert_eq!(
        file(scene, "before"),
        file(scene, "after"),
        "the terminal's settings"
    );
    let entered = |raw: &str| raw.rfind("\u{1b}[?1049h");
    let raw = played.raw();
    let left = raw.rfind("\u{1b}[?1049l");
    assert!(
        entered(&raw).is_some() && left > entered(&raw),
        "the screen is given back"
    );
    assert!(
        raw.rfind("\u{1b}[?25h") > raw.rfind("\u{1b}[?25l"),
        "the cursor is back"
    );
}

#[test]
fn a_live_table_shows_what_happens_and_does_what_keys_say() {
    let stage = Stage::demo();
    let mut table = Played::start(&stage.scene, "run -c config.json --no-cache");
    table.says("event=cycle_end");
    let screen = table.says("by delay");
    assert!(
        screen.contains("TAG") && screen.contains("q end"),
        "{screen}"
    );
    // Only what holds this is shown, and tested.
    table.types("/office\r");
    table.shows("the filter", |screen| {
        screen.contains("only") && !screen.contains("intercepted  ")
    });
    table.types("t");
    table.says("tag=\"office\" reason=asked");
    table.types("\r");
    table.says("office (http)");
    table.shows("its history", |screen| {
        screen.contains("measured") && screen.contains("newest first")
    });
    table.types("\u{1b}");
    table.shows("the log again", |screen| !screen.contains("newest first"));
    table.types("?");
    table.says("in a selector: lead to this member");
    table.types("xq");
    ended(&stage.scene, &table);
}

#[test]
fn a_member_is_chosen_in_the_table() {
    let stage = Stage::demo();
    let mut table = Played::start(&stage.scene, "run -c config.json --no-cache");
    table.says("choice");
    table.types("/choice\r");
    table.shows("the filter", |screen| {
        screen.contains("only") && !screen.contains("wrong password")
    });
    table.types("\r");
    table.says("in choice");
    table.types("/office\r");
    table.says("only \"office\"");
    table.types(" ");
    table.says("choice leads to office");
    table.says("● office");
    table.types("\u{3}");
    ended(&stage.scene, &table);
}

#[test]
fn another_size_and_a_signal_leave_no_trace() {
    let stage = Stage::demo();
    let table = Played::start(&stage.scene, "demo");
    table.says("q end");
    let terminal = file(&stage.scene, "tty");
    let resized = Command::new("stty")
        .args(["-F", &terminal, "cols", "50", "rows", "12"])
        .status();
    assert!(resized.expect("stty").success());
    // There is no room for a pane.
    table
        .screen
        .lock()
        .expect("read")
        .screen_mut()
        .set_size(12, 50);
    table.shows("a smaller table", |screen| {
        screen.contains("TAG") && !screen.contains(" log ")
    });
    let pid = file(&stage.scene, "pid");
    let sent = Command::new("sh")
        .args(["-c", &format!("kill -TERM {pid}")])
        .status();
    assert!(sent.expect("a shell").success());
    ended(&stage.scene, &table);
}

#[test]
fn no_color_is_respected() {
    let coloured = |setting: &str| {
        let scene = Scene::new();
        let mut table = Played::with(&scene, setting, "demo");
        table.says("dial_refused");
        table.types("q");
        ended(&scene, &table);
        table.raw().contains("\u{1b}[38;5;")
    };
    assert!(coloured(""));
    assert!(!coloured("NO_COLOR=1"));
}

#[test]
fn the_log_alone_takes_no_screen() {
    let stage = Stage::demo();
    let log = Played::start(&stage.scene, "run -c config.json --no-cache --format log");
    log.says("event=cycle_end");
    assert!(!log.raw().contains("\u{1b}[?1049h"), "{}", log.raw());
    let pid = file(&stage.scene, "pid");
    let sent = Command::new("sh")
        .args(["-c", &format!("kill -INT {pid}")])
        .status();
    assert!(sent.expect("a shell").success());
    stage.scene.wait_for("over", "over");
    assert_eq!(file(&stage.scene, "code"), "0");
}
