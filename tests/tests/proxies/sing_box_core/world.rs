//! A core over a real sing-box, and what is seen of its process from outside. It must not
//! know which servers a config leads to.

use std::fs;
use std::path::Path;
use std::time::Duration;

use outwatch::{FetchError, Problem, ProxyCore as _, Request, Response, SingBoxCore};
use outwatch_tests::peers::sing_box_program;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::proxies::world::{head, read};

/// Far beyond what a loaded machine needs for anything here.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// The core of a config with these outbounds, none of which is refused.
pub(super) async fn core(outbounds: impl IntoIterator<Item = Value>) -> SingBoxCore {
    core_of(&json!({ "outbounds": Vec::from_iter(outbounds) })).await
}

/// The core of a whole config, no outbound of which is refused.
pub(super) async fn core_of(config: &Value) -> SingBoxCore {
    let (core, problems) = core_and_problems(config).await;
    assert_eq!(problems, []);
    core
}

/// The core of a whole config, and which of its outbounds are refused.
pub(super) async fn core_and_problems(config: &Value) -> (SingBoxCore, Vec<Problem>) {
    let started = SingBoxCore::start(&sing_box_program(), &read(config)).await;
    started.unwrap_or_else(|error| panic!("{error:?}"))
}

/// The response to a HEAD through `tag`.
pub(super) async fn answer(core: &SingBoxCore, tag: &str, url: &str) -> Response {
    fetch(core, tag, &head(url)).await
}

/// The response to any request through `tag`.
pub(super) async fn fetch(core: &SingBoxCore, tag: &str, request: &Request) -> Response {
    let fetched = core.fetch(tag, request).await;
    fetched.unwrap_or_else(|error| panic!("`{tag}` to {}: {error:?}", request.url))
}

/// Why any request through `tag` fails.
pub(super) async fn fail(core: &SingBoxCore, tag: &str, request: &Request) -> FetchError {
    match core.fetch(tag, request).await {
        Ok(response) => panic!("`{tag}` to {} answers: {response:?}", request.url),
        Err(error) => error,
    }
}

/// Waits until something is so. The processes that are watched here tell nobody when
/// they end, so they are looked at again and again.
pub(super) async fn until(what: &str, so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < deadline, "never so: {what}");
        sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process is there, and more than a name that waits to be forgotten.
pub(super) fn runs(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

/// The processes whose arguments hold `word`.
pub(super) fn with_argument(word: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("Linux");
    processes
        .flatten()
        .filter(|process| {
            arguments(&process.path())
                .iter()
                .any(|argument| argument == word)
        })
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        .collect()
}

/// The arguments of a process, by its folder in `/proc`.
pub(super) fn arguments(process: &Path) -> Vec<String> {
    let line = fs::read(process.join("cmdline")).unwrap_or_default();
    let words = line.split(|byte| *byte == 0);
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// Kills a process without warning.
pub(super) fn kill(id: u32) {
    let killed = std::process::Command::new("sh")
        .args(["-c", &format!("kill -s KILL {id}")])
        .status();
    assert!(killed.expect("a shell").success());
}
