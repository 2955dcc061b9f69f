//! Config files as people write them, good and bad, through the library's own
//! door. It must not know how reading them works.

mod accepted;
mod examples;
mod fields;
mod foreign;
mod hostile;
mod references;
mod size;
mod syntax;

use outwatch::config::{self, Config, LoadOptions};

const PLAIN: LoadOptions = LoadOptions {
    strict: false,
    dedupe_tags: false,
};

/// What a person is shown for the file `c.json` with this text.
fn check(text: &str) -> String {
    check_bytes(text.as_bytes())
}

fn check_bytes(text: &[u8]) -> String {
    let loaded = config::read("c.json", text, &PLAIN);
    let shown = loaded.source.render(&loaded.problems);
    let failed = shown.contains(": error: ");
    assert_eq!(
        loaded.config.is_none(),
        failed,
        "a config is there if and only if nothing is an error:\n{shown}"
    );
    shown
}

/// The config in this text, which nothing is wrong with.
fn accept(text: &str) -> Config {
    accept_with(text, &PLAIN)
}

fn accept_with(text: &str, options: &LoadOptions) -> Config {
    let loaded = config::read("c.json", text.as_bytes(), options);
    let shown = loaded.source.render(&loaded.problems);
    assert_eq!(shown, "", "nothing is wrong with it");
    loaded
        .config
        .expect("there is a config when nothing is wrong")
}

/// The tags of a config, in order.
fn tags(config: &Config) -> Vec<&str> {
    config
        .entries
        .iter()
        .map(|entry| entry.tag.as_str())
        .collect()
}
