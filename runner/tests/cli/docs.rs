//! What README.md and `docs/CLI.md` show is what the program prints.

use std::path::Path;

use crate::scene::{Scene, VERBS};

const BEGIN: &str =
    "<!-- help: begin. OUTWATCH_UPDATE_DOCS=1 in the test's environment rewrites it -->\n";
const END: &str = "<!-- help: end -->\n";

#[test]
fn the_help_in_the_reference_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/CLI.md");
    let page = std::fs::read_to_string(&path).expect("docs/CLI.md");
    let (before, rest) = page.split_once(BEGIN).expect("where the help begins");
    let (written, after) = rest.split_once(END).expect("where the help ends");
    let current = help();
    if std::env::var_os("OUTWATCH_UPDATE_DOCS").is_some() {
        let page = [before, BEGIN, &current, END, after].concat();
        std::fs::write(&path, page).expect("the page can be written");
    } else {
        assert!(
            written == current,
            "the help in docs/CLI.md is old; {}",
            BEGIN.trim()
        );
    }
}

#[test]
fn the_table_in_the_readme_is_the_demos() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let page = std::fs::read_to_string(path).expect("README.md");
    let shown = page.split_once("```text\nTAG").expect("a table").1;
    let shot = Scene::new().run(["demo", "--once"]);
    let printed = shot.stdout.strip_prefix("TAG").expect("a table");
    assert_eq!(
        facts(shown.split_once("```").expect("its end").0),
        facts(printed.split_once("\n\n").expect("words below it").0)
    );
}

/// The words of each row that are the same in every run.
fn facts(table: &str) -> Vec<String> {
    let row = |line: &str| {
        let line = line.split("timeout:").next().unwrap_or_default();
        let words = line.split_whitespace();
        let lasts = |word: &&str| word.parse::<u32>().is_err() && !word.contains("127.0.0.1:");
        words.filter(lasts).collect::<Vec<_>>().join(" ")
    };
    let mut rows: Vec<_> = table.lines().map(row).collect();
    rows.sort_unstable();
    rows
}

/// The help of every verb, as the page shows it.
fn help() -> String {
    let mut page = String::new();
    for verb in [""].into_iter().chain(VERBS) {
        let shot = match verb {
            "" => Scene::new().run(["--help"]),
            verb => Scene::new().run([verb, "--help"]),
        };
        let name = format!("outwatch {verb}");
        page += &format!("\n### {}\n\n```text\n{}```\n", name.trim(), shot.stdout);
    }
    page + "\n"
}
