//! What people see: the binary on a terminal, which `script` (Debian's bsdutils)
//! plays.

use outwatch_demo_world::{Proxy, World};
use unicode_width::UnicodeWidthStr;

use crate::scene::{Running, Scene, Shot, Stage};

/// Runs a shell command on a terminal of so many columns.
fn on_terminal(scene: &Scene, columns: u16, command: &str) -> Shot {
    let binary = env!("CARGO_BIN_EXE_outwatch");
    let command = format!(
        "stty cols {columns} rows 40; {}",
        command.replace("outwatch", binary)
    );
    let mut script = scene.shell();
    script.args(["script", "-qefc", &command, "/dev/null"]);
    Shot::of(&mut script)
}

/// The lines without styles.
fn lines(shot: &Shot) -> Vec<String> {
    let plain = anstream::adapter::strip_str(&shot.stdout).to_string();
    plain
        .lines()
        .map(|line| line.trim_end_matches('\r').to_owned())
        .collect()
}

#[test]
fn a_table_is_no_wider_than_the_terminal() {
    let stage = Stage::demo();
    for columns in [200, 100, 60, 40] {
        let shot = on_terminal(&stage.scene, columns, "outwatch test -c config.json 2>log");
        let lines = lines(&shot);
        assert_eq!((shot.code, lines.len()), (Some(0), 12), "{shot}");
        let widest = lines
            .iter()
            .map(|line| line.width())
            .max()
            .unwrap_or_default();
        assert!(
            widest <= usize::from(columns),
            "{widest} of {columns}: {shot}"
        );
        assert!(
            lines.iter().any(|line| line.starts_with("behind fast")),
            "{shot}"
        );
    }
}

#[test]
fn colour_shows_on_a_terminal_but_not_with_no_color() {
    let stage = Stage::demo();
    let colour = |command| {
        on_terminal(&stage.scene, 100, command)
            .stdout
            .contains("\u{1b}[38;5;")
    };
    assert!(colour(
        "TERM=xterm outwatch test -c config.json --no-ip fast 2>log"
    ));
    assert!(!colour(
        "TERM=xterm NO_COLOR=1 outwatch test -c config.json --no-ip fast 2>log"
    ));
}

#[test]
fn progress_shows_on_a_terminal_alone() {
    let stage = Stage::demo();
    let command = "TERM=xterm outwatch test -c config.json --no-ip fast >result";
    let watched = on_terminal(&stage.scene, 100, command);
    assert!(watched.stdout.contains("tested"), "{watched}");
    let piped = stage.test(["fast", "--no-ip"]);
    assert_eq!(piped.stderr, "");
}

#[test]
fn tags_of_all_sorts_keep_the_columns_in_line() {
    let tags = [
        "plain",
        "🇩🇪 Berlin",
        "東京",
        "سرور",
        "\u{1b}[2J\u{7}",
        "gpj\u{202e}exe",
        "a\tb\nc",
    ];
    let stage = Stage::of(async {
        let mut world = World::start().await?;
        for tag in tags {
            world.add(Proxy::socks(tag)).await?;
        }
        Ok(world)
    });
    let shot = on_terminal(
        &stage.scene,
        120,
        "outwatch test -c config.json --no-ip 2>log",
    );
    let lines = lines(&shot);
    assert_eq!(lines.len(), 1 + tags.len(), "{shot}");
    let unsafe_chars = |line: &String| line.contains(['\u{7}', '\u{202e}', '\t', '\u{1b}']);
    assert!(!lines.iter().any(unsafe_chars), "{lines:#?}");
    // The delays stand flush right, so that all end in the same column.
    let ends: Vec<usize> = lines[1..]
        .iter()
        .filter_map(|line| line.split_once(" ms").map(|(before, _)| before.width()))
        .collect();
    assert_eq!(ends, vec![ends[0]; tags.len()], "{lines:#?}");
}

#[test]
fn one_round_of_the_demo_leaves_the_table_and_its_story() {
    let command = "TERM=xterm outwatch demo --once";
    let shot = on_terminal(&Scene::new(), 100, command);
    assert_eq!(shot.code, Some(0), "{shot}");
    let lines = lines(&shot);
    let begins = |word: &str| lines.iter().any(|line| line.trim_start().starts_with(word));
    assert!(
        begins("behind fast") && begins("With a config of your own"),
        "{lines:#?}"
    );
}

/// Without a terminal the signal asks for the config to be read again.
#[test]
fn a_run_ends_well_when_its_terminal_is_closed() {
    let stage = Stage::demo();
    let binary = env!("CARGO_BIN_EXE_outwatch");
    let command = format!("exec {binary} run -c config.json 2>log");
    let mut script = stage.scene.shell();
    let terminal = Running::start(script.args(["script", "-qefc", &command, "/dev/null"]));
    stage.scene.wait_for("log", "event=cycle_end");
    // Killed, with the terminal that it plays.
    drop(terminal);
    stage.scene.wait_for("log", "event=stopped");
}
