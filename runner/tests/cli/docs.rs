//! `docs/CLI.md` shows the help as it is.

use std::path::Path;

use crate::scene::Scene;

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

/// The help of every verb, as the page shows it.
fn help() -> String {
    let mut page = String::new();
    for verb in ["", "check", "test", "run", "demo", "component"] {
        let shot = match verb {
            "" => Scene::new().run(["--help"]),
            verb => Scene::new().run([verb, "--help"]),
        };
        let name = format!("outwatch {verb}");
        page += &format!("\n### {}\n\n```text\n{}```\n", name.trim(), shot.stdout);
    }
    page + "\n"
}
