//! The examples that are no configs: what they have the program do is something it does.

use std::path::Path;

use crate::scene::Scene;

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples")
        .join(name);
    std::fs::read_to_string(path).expect("an example")
}

/// The words after the program's name on the line that starts it.
fn command(text: &str, line: &str) -> Vec<String> {
    let start = text.lines().find_map(|found| found.strip_prefix(line));
    let words = start
        .expect("a line that starts it")
        .split([' ', ',', '[', ']', '"']);
    let words = words.filter(|word| !word.is_empty()).map(str::to_owned);
    words
        .skip_while(|word| !word.ends_with("outwatch"))
        .skip(1)
        .collect()
}

#[test]
fn every_flag_that_an_example_uses_is_one() {
    let commands = [
        command(&example("outwatch.service"), "ExecStart="),
        command(&example("Dockerfile"), "ENTRYPOINT "),
    ];
    for command in commands {
        let (verb, flags) = command.split_first().expect("a verb");
        let help = Scene::new().run([verb, "--help"]).stdout;
        let flags = flags.iter().filter(|word| word.starts_with("--"));
        let names: Vec<&str> = flags
            .map(|flag| flag.split('=').next().unwrap_or(flag))
            .collect();
        assert!(names.len() >= 2, "{names:?}");
        for name in names {
            assert!(
                help.contains(&format!("{name} <")) || help.contains(&format!("{name}\n")),
                "{name}"
            );
        }
    }
}

#[test]
fn the_unit_is_one_that_systemd_reads() {
    let unit = example("outwatch.service");
    for (section, fields) in [
        ("[Unit]", ["Description=", "After=network-online.target"]),
        (
            "[Service]",
            ["ExecReload=/bin/kill -HUP", "Restart=on-failure"],
        ),
        ("[Install]", ["WantedBy=multi-user.target", ""]),
    ] {
        let after = unit.split_once(section).expect("a section").1;
        let own = after.split("\n[").next().unwrap_or_default();
        assert!(
            fields.iter().all(|field| own.contains(field)),
            "{section} {own}"
        );
    }
}
